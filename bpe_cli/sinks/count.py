"""Write the number of tokens of each document, a decimal number a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bpe_cli.sinks.base import Sink

if TYPE_CHECKING:
    from bpe_cli.blocks import Block


class CountSink(Sink):
    """Write counts as text; ``Tokenizer.count_block`` gives them without any ids."""

    needs_ids = False
    _so_far = 0  # tokens of the document that goes on from the block before

    def write_counts(self, block: Block, counts: memoryview) -> None:
        """Write how many tokens each document of a block has (u64), and flush.

        Raises:
            OutputError: They cannot be written.
        """
        numbers = counts.tolist()
        self.tokens += sum(numbers)
        self.documents += len(numbers) - block.unfinished
        self._write_numbers(block, numbers)
        self.output.flush()

    def _write(self, block: Block, ids: memoryview, ends: memoryview) -> None:
        self._write_numbers(block, [end - start for start, end in zip([0, *ends], ends, strict=False)])

    def _write_numbers(self, block: Block, numbers: list[int]) -> None:
        if numbers:
            numbers[0] += self._so_far
            self._so_far = numbers.pop() if block.unfinished else 0
        self.output.write("".join(f"{number}\n" for number in numbers).encode())


make = CountSink
