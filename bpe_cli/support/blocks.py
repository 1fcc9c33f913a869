"""Blocks of documents: the unit in which text flows through the library, in bounded memory."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from itertools import accumulate

from bpe_cli.errors import InputError
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.fast_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bpe_cli.errors import BpeError


def lines_of(data: bytes) -> list[bytes]:
    r"""Return the lines of a text as those of a file are read: each ends in ``\n`` or ``\r\n``, and no other does.

    >>> lines_of(b"one\r\ntwo\rthree\n"), lines_of(b"")
    ([b'one', b'two\rthree'], [])
    """
    *lines, last = data.split(b"\n")
    return [*(line.removesuffix(b"\r") for line in lines), *([last] if last else [])]


@dataclass(frozen=True, slots=True)
class Block:
    """Some documents, one after the other.

    Attributes:
        data: Their bytes.
        ends: Where each ends in ``data`` (u64, ascending; the last is ``len(data)``).
        continued: Whether the first document goes on from the block before.
        unfinished: Whether the last document goes on in the block after.
    """

    data: bytes | memoryview
    ends: array[int]
    continued: bool = False
    unfinished: bool = False

    @classmethod
    def of(cls, documents: Iterable[bytes]) -> Block:
        """Lay documents one after the other.

        >>> Block.of([b"ab", b"", b"c"]).ends
        array('Q', [2, 2, 3])
        """
        parts = list(documents)
        return cls(b"".join(parts), array("Q", accumulate(map(len, parts))))

    @property
    def begun(self) -> int:
        """How many documents begin in it; they are the last of its parts."""
        return len(self.ends) - self.continued

    @property
    def ended(self) -> int:
        """How many documents end in it; they are the first of its parts."""
        return len(self.ends) - self.unfinished

    @property
    def open_bytes(self) -> int:
        """How many bytes it has of the document that goes on in the block after."""
        return len(self.data) - (self.ends[-2] if len(self.ends) > 1 else 0) if self.unfinished else 0

    def document_at(self, offset: int) -> tuple[int, int]:
        """Return the number of the document that a byte is of, from 0, and the byte's offset in what there is of it.

        >>> Block.of([b"ab", b"", b"c"]).document_at(2)
        (2, 0)
        """
        number = bisect_right(self.ends, offset)
        return number, offset - (self.ends[number - 1] if number else 0)

    def documents(self) -> Iterator[memoryview]:
        """Yield the bytes of each document (or part of one, at an open end)."""
        view = memoryview(self.data)
        start = 0
        for end in self.ends:
            yield view[start:end]
            start = end

    def parts(self) -> Iterator[tuple[memoryview, bool, bool]]:
        """Yield the bytes that there are of each document, whether it begins with them and whether it ends with them.

        >>> block = Block(b"abc", array("Q", [1, 3]), unfinished=True)
        >>> [(bytes(data), begins, ends) for data, begins, ends in block.parts()]
        [(b'a', True, True), (b'bc', True, False)]
        """
        first, ended = int(self.continued), self.ended
        for number, document in enumerate(self.documents()):
            yield document, number >= first, number < ended


def whole_documents(
    blocks: Iterable[Block], largest: int | None = None, too_large: Callable[[], BpeError] | None = None
) -> Iterator[list[bytes]]:
    """Yield the documents that end in each block, each whole; nothing for a block in which none ends.

    Args:
        blocks: Blocks whose documents may be spread over several.
        largest: The most bytes that a document is to have; None for any number.
        too_large: Makes the error for a document with more. Without it, one that came in parts is cut after a byte
            more than that, so that not more of it is held.

    Raises:
        BpeError: if a document is larger: what ``too_large`` makes.

    >>> parts = [Block(b"abc", array("Q", [1, 3]), unfinished=True), Block(b"d", array("Q", [1]), continued=True)]
    >>> list(whole_documents(parts))
    [[b'a'], [b'bcd']]
    """
    held = bytearray()
    is_open = False
    for block in blocks:
        documents = [bytes(document) for document in block.documents()]
        if is_open and documents:
            held += documents[0]
            documents[0] = bytes(held) if len(documents) > 1 or not block.unfinished else b""
        if block.unfinished and documents:
            last = documents.pop()
            if len(documents) or not is_open:
                held = bytearray(last)
            is_open = True
        elif documents:
            held.clear()
            is_open = False
        if largest is not None:
            if too_large is None:
                del held[largest + 1 :]
            elif max(map(len, (held, *documents))) > largest:
                raise too_large()
        if documents:
            yield documents
    if is_open:
        yield [bytes(held)]


_LONGEST_MARK = 1 << 16
"""More bytes than what divides a text has: so much of it may be taken for text while its end has not come."""


def settle(
    blocks: Iterable[Block],
    safe_cut: Callable[[bytes | memoryview], int],
    longest: int | None = None,
    stretches: Callable[[bytes | memoryview], tuple[int, int]] | None = None,
) -> Iterator[Block]:
    """Move the cuts inside documents to where they change nothing.

    Args:
        blocks: Blocks whose documents may be cut anywhere.
        safe_cut: Gives the last offset at which a text can be cut, whatever follows; 0 for none.
        longest: The most bytes that a text without such an offset may have; None for any number.
        stretches: What else divides a text for ``longest``, though it allows no cut: gives how long the longest
            stretch of a text is, and where the last one begins. None: nothing does.

    Yields:
        Blocks with the same documents, cut at safe offsets only. What cannot be cut is held back
        until it can, so a document without a safe place is held whole.

    Raises:
        InputError: as soon as more than ``longest`` bytes of a stretch are held, and some more that may divide it.

    Complexity: linear; while no cut is found, the next is sought only when the text has doubled. Text is held once.
    """
    held = BytesIO()  # it grows in place, and gives its bytes without a copy
    held_bytes = 0
    held_continued = False
    next_try = 0
    most = longest  # so many bytes may be held before it is asked again whether a stretch of them is too long
    for block in blocks:
        data, ends, continued = block.data, block.ends, block.continued
        if continued:
            continued = held_continued
            if held_bytes:
                held.write(data)
                ends = array("Q", (end + held_bytes for end in ends))
                if len(ends) == 1 and block.unfinished and ends[0] < next_try:
                    held_bytes = ends[0]
                    continue
                data = held.getvalue()
        if not block.unfinished:
            held, held_bytes, held_continued, next_try, most = BytesIO(), 0, False, 0, longest
            yield Block(data, ends, continued)
            continue
        start = ends[-2] if len(ends) > 1 else 0
        tail = memoryview(data)[start:]
        cut = safe_cut(tail)
        rest = tail[cut:]
        if len(rest) != held.tell():
            held = BytesIO()
            held.write(rest)
        held_bytes = len(rest)
        if most is not None and longest is not None:
            if cut or len(ends) > 1:
                most = longest
            if held_bytes > most:
                size, last = stretches(rest) if stretches is not None else (held_bytes, 0)
                if size > longest + (_LONGEST_MARK if stretches is not None else 0):
                    raise InputError(
                        "a text without a safe place to cut it is longer than 4 GiB",
                        hint="what has no such place is hardly text; if it is, divide it into several documents",
                    )
                most = last + longest + _LONGEST_MARK
        del tail, rest
        next_try = 2 * held_bytes if most is None else min(2 * held_bytes, most + 1)
        held_continued = cut > 0 or (continued and len(ends) == 1)
        kept = ends[:-1]
        if cut:
            kept.append(start + cut)
        if kept:
            yield Block(memoryview(data)[: kept[-1]], kept, continued, unfinished=cut > 0)
        del data
    if held_bytes or held_continued:
        ends = array("Q", [held_bytes])
        data = held.getvalue()
        del held
        yield Block(data, ends, held_continued)
