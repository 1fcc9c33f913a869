"""Make documents whole again, and divide them by the hash of their text into a training and a validation set.

Which side a document is on depends on nothing but its text: the first eight bytes of its BLAKE2b (16 bytes, with the
person ``bpe document``) are a number, and the document is of the validation set if that is below the share of 2**64.
So the same document is always on the same side, and what is there with a small share is there with a larger one.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from bpe_cli.jobs.prepare.keeping import KeptValues
from bpe_cli.sinks.beside import Beside, Strip
from bpe_cli.support.blocks import Block

if TYPE_CHECKING:
    from hashlib import blake2b

    from bpe_cli.sinks.base import TakesRows


class Documents:
    """Make the documents of blocks whole: one at a time is held in memory."""

    def __init__(self, *, masked: bool, hashed: bool = True) -> None:
        """Begin before the first block; texts are hashed where they are asked for."""
        self._masked = masked
        self._hashed = hashed
        self._strip: Strip | None = None  # of the document that goes on
        self._hash: blake2b | None = None

    def of(
        self, block: Block, ids: memoryview, ends: memoryview, beside: Beside | None
    ) -> Iterator[tuple[bytes, Strip]]:
        """Yield the documents that end in a block: the hash of each's text, empty if not asked for, and its ids."""
        whole, start, ended = Strip(ids, None if beside is None else beside.mask), 0, block.ended
        for number, (text, end) in enumerate(zip(block.documents(), ends, strict=True)):
            strip, start = whole.cut(start, end), end
            if number < ended and self._strip is None:
                yield text_hash(text).digest() if self._hashed else b"", strip
                continue
            if self._strip is None:
                self._strip = Strip.empty(masked=self._masked)
                self._hash = text_hash() if self._hashed else None
            self._strip.extend(strip)
            if self._hash is not None:
                self._hash.update(text)
            if number < ended:
                done, digest = self._strip, b"" if self._hash is None else self._hash.digest()
                self._strip = self._hash = None
                yield digest, done


def text_hash(text: bytes | memoryview = b"") -> blake2b:
    """Return the hash of a document's text, which more can be added to."""
    from hashlib import blake2b

    return blake2b(text, digest_size=16, person=b"bpe document")


def is_validation(digest: bytes, share: float) -> bool:
    """Return whether the document whose text has this hash is of the validation set.

    >>> is_validation(bytes(16), 0.001), is_validation(bytes([1]) + bytes(15), 0.001), is_validation(b"a" * 16, 0.5)
    (True, False, True)
    """
    return int.from_bytes(digest[:8], "big") < int(share * (1 << 64))


class Batches:
    """Hand whole documents on, many at a time."""

    def __init__(self, taker: TakesRows, *, masked: bool) -> None:
        """Hand them to ``taker``."""
        self._taker = taker
        self._masked = masked
        self._strip, self._ends = Strip.empty(masked=masked), array("Q")

    def add(self, strip: Strip) -> None:
        """Add a document."""
        self._strip.extend(strip)
        self._ends.append(len(self._strip))

    def flush(self) -> None:
        """Hand on what there is."""
        if self._ends:
            strip, ends = self._strip, self._ends
            beside = None if strip.mask is None else Beside(memoryview(strip.mask))
            self._taker.write(Block(b"", ends), memoryview(strip.ids), memoryview(ends), beside)
            self._strip, self._ends = Strip.empty(masked=self._masked), array("Q")


class _ByHash:
    """Take documents, and hand each to the set that it is of."""

    is_binary = True

    def __init__(
        self, takers: Mapping[str, TakesRows], share: float, kept: Mapping[str, KeptValues], *, masked: bool
    ) -> None:
        self.kept = KeptValues(next(iter(kept.values())).fields, in_sequences=False) if kept else None
        self._kept = [*kept.values()]
        self._documents = Documents(masked=masked)
        self._share = share
        self._sets = [Batches(taker, masked=masked) for taker in takers.values()]

    def write(self, block: Block, ids: memoryview, ends: memoryview, beside: Beside | None = None) -> None:
        for digest, strip in self._documents.of(block, ids, ends, beside):
            side = is_validation(digest, self._share)
            if self.kept is not None:
                self.kept.pass_on(self._kept[side])
            self._sets[side].add(strip)
        for each in self._sets:
            each.flush()


def divided_by_hash(
    takers: Mapping[str, TakesRows], share: float | None, *, masked: bool, kept: Mapping[str, KeptValues]
) -> tuple[TakesRows, KeptValues | None]:
    """Return what takes documents and hands them to one of two sets; or the only taker, without a share.

    Args:
        takers: Who takes the documents of each set.
        share: The share of the validation set, or None.
        masked: Whether a mask runs beside the ids.
        kept: Who takes the values that are kept of the documents of each set; none if none are.

    Returns:
        Who takes documents, and who takes what is kept of them, before.
    """
    if share is None:
        (taker,) = takers.values()
        return taker, next(iter(kept.values()), None)
    made = _ByHash(takers, share, kept, masked=masked)
    return made, made.kept
