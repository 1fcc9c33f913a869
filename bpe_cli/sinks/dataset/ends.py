"""Write the numbers of all documents in one file, and in another where each document ends.

``datatrove`` is the format of its ``DocumentTokenizer``, which nanotron reads: raw numbers in OUT.ds; in OUT.ds.index
the end of each document, counted in ids (uint64); in OUT.ds.metadata three lines of text: the tokenizer and the bytes
of a number, the count of ids, and the same count for human readers.

``npy-offsets`` are two NumPy arrays: the ids, and in OUT.offsets.npy (int64) a 0 and the end of each document, so that
document i is ``ids[offsets[i]:offsets[i + 1]]``.
"""

from __future__ import annotations

import sys
from array import array
from itertools import accumulate
from typing import TYPE_CHECKING

from bpe_cli.errors import InputError
from bpe_cli.sinks.dataset.documents import EndsSink
from bpe_cli.sinks.numbers import HEADER_BYTES, NpySink, header
from bpe_cli.support.messages import cannot_read, show_path

if TYPE_CHECKING:
    from bpe_cli.sinks.atomic import Output
    from bpe_cli.sinks.base import SinkOptions
    from bpe_cli.tokenizer import Tokenizer


class DatatroveSink(EndsSink):
    """Write the numbers, and at the end where documents end, and the text about them."""

    def __init__(
        self, output: Output, index: Output, metadata: Output, tokenizer: Tokenizer, options: SinkOptions
    ) -> None:
        super().__init__(output, tokenizer, options)
        self._index = index
        self._metadata = metadata
        self._total = 0
        self._ends = array("Q")

    def _end(self, lengths: list[int]) -> None:
        ends = [*accumulate(lengths, initial=self._total)]
        self._ends.extend(ends[1:])
        self._total = ends[-1]

    def finish(self) -> None:
        """Write the index and the text, and flush all."""
        self._index.write(_little_endian(self._ends))
        self._index.flush()
        # The reader cuts the first line at "|"; a name can be that of any file.
        name = " ".join((self.tokenizer.name or "").replace("|", " ").split()) or "unknown tokenizer"
        width = 2 if self.dtype == "u16" else 4
        text = f"{name}|{width}\n{self.tokens}\n{with_prefix(self.tokens)}T"
        self._metadata.write(text.encode("utf-8", "backslashreplace"))  # the name of a file can be any bytes
        self._metadata.flush()
        super().finish()


def with_prefix(number: int) -> str:
    """Write a number with three digits and a prefix, as that file has it.

    >>> [with_prefix(number) for number in (0, 7, 42, 999, 1234, 999_999, 5_000_000_000)]
    ['0.00 ', '7.00 ', '42.0 ', '999 ', '1.23 k', '1.00 M', '5.00 G']
    """
    digits = f"{number:.2e}"  # the exponent is that of the rounded number
    exponent = int(digits.partition("e")[2])
    power = exponent // 3 * 3
    return f"{number / 10**power:.{2 - exponent % 3}f} {' kMGTPE'[power // 3].strip()}"


class NpyOffsetsSink(EndsSink, NpySink):
    """Write the ids as an array, and at the end where documents end as another."""

    def __init__(self, output: Output, offsets: Output, tokenizer: Tokenizer, options: SinkOptions) -> None:
        super().__init__(output, tokenizer, options)
        self._beside = offsets
        self._offsets = array("q", [0])

    def _end(self, lengths: list[int]) -> None:
        self._offsets.extend(accumulate(lengths, initial=self._offsets.pop()))

    def finish(self) -> None:
        """Write the offsets, complete the header of the ids, and flush both."""
        self._beside.write(header("i64", len(self._offsets)))
        self._beside.write(_little_endian(self._offsets))
        self._beside.flush()
        super().finish()


def read_ends(path: str, to: str) -> array[int]:
    """Read where each row ends, from the second file of one of these formats.

    Raises:
        InputError: if the file cannot be read, or is damaged.
    """
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise cannot_read(path, error) from error
    if to == "npy-offsets":
        data = data[HEADER_BYTES + 8 :]  # the first is 0, where the first row begins
    if len(data) % 8:
        raise InputError(f"{show_path(path)} is damaged: it does not hold whole numbers")
    return _little_endian(array("Q", data))


def _little_endian(numbers: array[int]) -> array[int]:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
