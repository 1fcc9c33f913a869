"""Write the tallies of inputs as bytes, and read them back, so that one process adds up what others have tallied.

A line of JSON that describes the inputs and the lengths of what follows, and then of each input and tokenizer what was
counted (as the core serialises it), and how many tokens each document has (u64, the lowest byte first, compressed):
the units of all inputs together are made of neighbouring documents, across the ends of inputs.
"""

from __future__ import annotations

import sys
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from bpe_cli.errors import FormatError
from bpe_cli.reports.comparison.input_accounts import TextSize
from bpe_cli.reports.comparison.tallies import InputTally, TalliedInput, TokenizerTally
from bpe_cli.support.fast_dataclass import dataclass

_FORMAT, _VERSION = "bpe-tallies", 2
_CHUNK = 1 << 20


class DocumentCounts:
    """The numbers of tokens of documents, in few bytes.

    >>> kept = DocumentCounts()
    >>> kept.extend(array("Q", [3, 1]))
    >>> kept.extend(array("Q", [2]))
    >>> [list(each) for each in counts_in(kept.close())]
    [[3, 1, 2]]
    """

    def __init__(self) -> None:
        self._compressor = zlib.compressobj(1)
        self._data = bytearray()

    def extend(self, counts: Any) -> None:
        """Add the next documents (u64)."""
        self._data += self._compressor.compress(_swapped(memoryview(counts).cast("B")))

    def close(self) -> bytes:
        """Return all of them; no more may be added."""
        self._data += self._compressor.flush()
        return bytes(self._data)


def _swapped(data: Any) -> Any:
    """Return numbers (u64) with their lowest bytes first; or such as this machine has them."""
    if sys.byteorder == "little":
        return data
    numbers = array("Q", bytes(data))
    numbers.byteswap()
    return numbers.tobytes()


def counts_in(data: bytes) -> Iterator[array[int]]:
    """Yield the numbers of tokens of documents in blocks, as ``DocumentCounts`` got them.

    Raises:
        ValueError: if they are damaged.
    """
    decompressor, left, waiting = zlib.decompressobj(), b"", data
    try:
        while not decompressor.eof:
            piece = left + decompressor.decompress(waiting, _CHUNK)
            waiting, whole = decompressor.unconsumed_tail, len(piece) & ~7
            if len(piece) == len(left) and not waiting and not decompressor.eof:
                break
            numbers = array("Q", _swapped(piece[:whole]))
            left = piece[whole:]
            if numbers:
                yield numbers
    except zlib.error as error:
        raise ValueError(f"the documents are damaged: {error}") from error
    if left or not decompressor.eof or decompressor.unused_data:
        raise ValueError("the documents are cut")


@dataclass(frozen=True, slots=True)
class StoredInput:
    """What is stored of an input.

    Attributes:
        name: Its name.
        size: How much text it has.
        sha256: The hash of its documents' bytes.
        short: The documents themselves, if they are short together; else None.
        tallies: For each tokenizer its counts, its tally as the core serialises it, and its documents.
    """

    name: str
    size: TextSize
    sha256: str | None
    short: tuple[bytes, ...] | None
    tallies: tuple[tuple[dict[str, int], bytes, bytes], ...]

    @classmethod
    def of(cls, tallied: TalliedInput, documents: Sequence[DocumentCounts]) -> StoredInput:
        """Make it of an input that was tallied, and the documents of each tokenizer, which are closed."""
        tallies = tuple(
            (*tally.dump(), counts.close()) for tally, counts in zip(tallied.tallies, documents, strict=True)
        )
        return cls(tallied.name, tallied.size, tallied.sha256, tallied.short, tallies)

    def restore(self, tallies: Sequence[TokenizerTally], places: Sequence[int]) -> TalliedInput:
        """Return the input as it was tallied; its documents are added to the totals.

        Args:
            tallies: The tokenizers.
            places: For each of them which of the stored tallies is its own.

        Raises:
            ValueError: if something is damaged.
        """
        restored: list[InputTally] = []
        for tally, place in zip(tallies, places, strict=True):
            counts, data, documents = self.tallies[place]
            own = InputTally.load(tally, counts, data, tally.total.take_lengths)
            for numbers in counts_in(documents):
                own.take_documents(numbers)
            restored.append(own)
        return TalliedInput(self.name, self.size, self.sha256, self.short, tuple(restored))


def dump(inputs: Iterable[StoredInput]) -> bytes:
    """Write inputs as bytes."""
    from base64 import b64encode

    from bpe_cli.support.safe_orjson import orjson

    described: list[dict[str, Any]] = []
    payload: list[bytes] = []
    for each in inputs:
        tallies = []
        for counts, tally, documents in each.tallies:
            tallies.append({"counts": counts, "tally": len(tally), "documents": len(documents)})
            payload += (tally, documents)
        short = None if each.short is None else [b64encode(text).decode() for text in each.short]
        described.append(
            {"name": each.name, "size": list(each.size), "sha256": each.sha256, "short": short, "tallies": tallies}
        )
    header = {"format": _FORMAT, "version": _VERSION, "inputs": described}
    return b"".join([orjson.dumps(header, option=orjson.OPT_APPEND_NEWLINE), *payload])


def load(data: bytes, name: str) -> list[StoredInput]:
    """Read inputs from bytes.

    Args:
        data: What ``dump`` returned.
        name: Its name in messages.

    Raises:
        FormatError: if it is damaged, or of another version.
    """
    from bpe_cli.support.safe_orjson import orjson

    line, end, payload = data.partition(b"\n")
    try:
        header = orjson.loads(line)
        if header["format"] != _FORMAT or header["version"] != _VERSION:
            raise FormatError(f"{name} does not hold tallies of this version")
        at = 0
        inputs: list[StoredInput] = []
        for each in header["inputs"]:
            tallies = []
            for tally in each["tallies"]:
                ends = at + _length(tally, "tally"), at + _length(tally, "tally") + _length(tally, "documents")
                tallies.append((dict(tally["counts"]), payload[at : ends[0]], payload[ends[0] : ends[1]]))
                at = ends[1]
            inputs.append(_stored(each, tuple(tallies)))
        if at != len(payload) or not end:
            raise ValueError("it has another length")
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"{name} is damaged: {error}") from error
    return inputs


def _length(tally: Mapping[str, Any], what: str) -> int:
    length = tally[what]
    if type(length) is not int or length < 0:
        raise ValueError(f"{length!r} is not a length")
    return length


def _stored(each: Mapping[str, Any], tallies: tuple[tuple[dict[str, int], bytes, bytes], ...]) -> StoredInput:
    from base64 import b64decode

    name, sha256, short = each["name"], each["sha256"], each["short"]
    size = TextSize(*each["size"])
    if not isinstance(name, str) or not (sha256 is None or isinstance(sha256, str)):
        raise ValueError("its names are damaged")
    if not all(type(number) is int and number >= 0 for number in size):
        raise ValueError("its sizes are damaged")
    texts = None if short is None else tuple(b64decode(text, validate=True) for text in short)
    return StoredInput(name, size, sha256, texts, tallies)
