"""Text whose split patterns the core cannot run: the ``regex`` module cuts it, the core encodes the pieces.

Such patterns allow no cuts: the documents of a block are whole.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from bpe_cli import _core
from bpe_cli.stages.splitters import RegexSplitter, segments
from bpe_cli.support.blocks import Block
from bpe_cli.support.core_arguments import cannot_encode

if TYPE_CHECKING:
    from bpe_cli.tokenizer.encoded import Placed


class ByRegex:
    """Cut by ``regex``, and encode and count what was cut; ``Engine`` says what the methods do."""

    def __init__(self, splitter: RegexSplitter, prefix_space: bool) -> None:
        self._splitter = splitter
        self._prefix_space = prefix_space

    def encode(
        self, encoder: _core.Encoder, block: Block, matcher: _core.SpecialMatcher | None
    ) -> tuple[memoryview, memoryview]:
        """Encode a block piece by piece."""
        ids, ends = array("I"), array("Q")
        for number, text, special_id, offset in self._stretches(block, matcher):
            ends.extend([len(ids)] * (number - len(ends)))
            if special_id is not None:
                ids.append(special_id)
                continue
            try:
                pieces = encoder.encode_pieces(text, self._splitter.split(text))
            except ValueError as error:
                raise cannot_encode(error, text, offset) from error
            ids.frombytes(memoryview(pieces).cast("B"))
        ends.extend([len(ids)] * (len(block.ends) - len(ends)))
        return memoryview(ids), memoryview(ends)

    def _stretches(
        self, block: Block, matcher: _core.SpecialMatcher | None
    ) -> Iterator[tuple[int, bytes, int | None, int]]:
        """Yield the stretches of a block's documents as they are split.

        Yields:
            (number of the document, stretch, id if it is a special token, offset of the stretch in the block): the
            offset is one less than that of its text where a space is put before that.
        """
        offset = 0
        for number, document in enumerate(block.documents()):
            continued = block.continued and number == 0
            for segment, special_id in segments(bytes(document), matcher):
                spaced = special_id is None and self._prefix_space and not continued and not segment.startswith(b" ")
                yield number, b" " + segment if spaced else segment, special_id, offset - spaced
                offset += len(segment)
                continued = False

    def tally(self, tally: _core.Tally, block: Block, ids: memoryview, ends: memoryview) -> None:
        """Count a block whose tokens are the text's bytes."""
        tally.add(block, ids, ends, prefix_space=self._prefix_space)

    @staticmethod
    def tally_placed(
        tally: _core.Tally, block: Block, place: Callable[[bytes], Placed]
    ) -> tuple[memoryview, memoryview]:
        """Count a block by the places of its tokens."""
        ids, ends, starts, stops = array("I"), array("Q"), array("Q"), array("Q")
        begin = 0
        for document in block.documents():
            placed = place(bytes(document))
            ids.frombytes(placed.ids.cast("B"))
            starts.extend(begin + start for start in placed.starts)
            stops.extend(begin + stop for stop in placed.ends)
            ends.append(len(ids))
            begin += len(document)
        tally.add(block, ids, ends, (starts, stops))
        return memoryview(ids), memoryview(ends)
