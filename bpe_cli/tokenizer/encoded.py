"""The results of encoding besides lists of ids: in columns, without an object for each token.

The ids of many texts in one buffer; where the tokens and the pieces of one text lie in it; and the vocabulary as a
mapping.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, overload

from bpe_cli.errors import InputError, UsageError
from bpe_cli.support.core_arguments import bytes_of, pack
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.lazy_modules import numpy_to

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Ids = npt.NDArray[np.uint32]
    Offsets = npt.NDArray[np.uint64]


class EncodedBatch:
    """The ids of several texts, one after the other, in buffers that NumPy, Arrow and ``array`` read without copying.

    It is a sequence of lists of ids: ``len``, iteration, indexing and slicing work as on a list of lists, and it
    compares equal to one. Lists are made on demand; ``ids`` and ``offsets`` cost nothing.

    Attributes:
        ids: The ids of all texts (u32, read-only).
        offsets: Where each text begins in ``ids`` (u64): text ``i`` has ``ids[offsets[i]:offsets[i + 1]]``. There is
            one more offset than there are texts.

    >>> import bpe_cli
    >>> batch = bpe_cli.load("gpt2").encode_batch(["hello world", "", "hello"])
    >>> len(batch), batch[0], batch.to_lists()
    (3, [31373, 995], [[31373, 995], [], [31373]])
    >>> batch.ids.tolist(), batch.offsets.tolist()
    ([31373, 995, 31373], [0, 2, 2, 3])
    """

    __slots__ = ("ids", "offsets")

    def __init__(self, ids: memoryview, offsets: memoryview) -> None:
        self.ids = ids
        self.offsets = offsets

    @classmethod
    def of(cls, ids: memoryview, ends: memoryview | array[int]) -> EncodedBatch:
        """Make a batch from ids and the offset where each text's ids end."""
        offsets = array("Q", [0])
        offsets.frombytes(memoryview(ends).cast("B"))
        return cls(ids.toreadonly(), memoryview(offsets).toreadonly())

    @classmethod
    def packed(cls, lists: Iterable[Iterable[int]]) -> EncodedBatch:
        """Make a batch from lists of ids.

        Raises:
            TypeError: if one of them is a text, or cannot be iterated over.
            InputError: if a value is not an id.
        """
        ids, offsets = array("I"), array("Q", [0])
        for number, each in enumerate(lists):
            try:
                ids.extend(pack(each))
            except InputError as error:
                raise InputError(f"batch[{number}]: {error.message}", hint=error.hint) from error
            offsets.append(len(ids))
        return cls(memoryview(ids).toreadonly(), memoryview(offsets).toreadonly())

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[list[int]]:
        start = 0
        for end in self.offsets[1:]:
            yield self.ids[start:end].tolist()
            start = end

    @overload
    def __getitem__(self, place: int) -> list[int]: ...
    @overload
    def __getitem__(self, place: slice) -> EncodedBatch: ...
    def __getitem__(self, place: int | slice) -> list[int] | EncodedBatch:
        if isinstance(place, slice):
            start, stop, step = place.indices(len(self))
            if step != 1:
                raise UsageError(f"a batch has no slices of step {step}", hint="to_lists() gives a list, which has")
            stop = max(start, stop)
            first, last = self.offsets[start], self.offsets[stop]
            moved = memoryview(array("Q", [each - first for each in self.offsets[start : stop + 1]])).toreadonly()
            return EncodedBatch(self.ids[first:last], moved)
        number = range(len(self))[place]
        return self.ids[self.offsets[number] : self.offsets[number + 1]].tolist()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, EncodedBatch):
            return self.ids == other.ids and self.offsets == other.offsets
        return self.to_lists() == other if isinstance(other, list) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # as a list has none

    def __repr__(self) -> str:
        return f"<{len(self):,} texts, {len(self.ids):,} ids>"

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuilt, (bytes(self.ids), bytes(self.offsets))

    def to_lists(self) -> list[list[int]]:
        """Return the ids of each text as a separate list."""
        return list(self)

    def numpy(self) -> tuple[Ids, Offsets]:
        """Return ``ids`` and ``offsets`` as NumPy arrays that share their memory.

        >>> import bpe_cli
        >>> ids, offsets = bpe_cli.load("gpt2").encode_batch(["hello world", "hello"]).numpy()
        >>> ids.dtype, ids.tolist(), offsets.tolist()
        (dtype('uint32'), [31373, 995, 31373], [0, 2, 3])
        """
        np = numpy_to("make NumPy arrays")
        return np.frombuffer(self.ids, np.uint32), np.frombuffer(self.offsets, np.uint64)

    def pad(
        self,
        pad_id: int,
        *,
        length: int | None = None,
        side: Literal["left", "right"] = "right",
        multiple_of: int = 1,
    ) -> PaddedBatch:
        """Return the batch as a rectangle, all texts padded to the same length, with a mask.

        Args:
            pad_id: The id to pad with.
            length: The length to pad to; the length of the longest text if None.
            side: The side to pad on.
            multiple_of: Round the length up to a multiple of this.

        >>> import bpe_cli
        >>> padded = bpe_cli.load("gpt2").encode_batch(["hello world", "hello"]).pad(0)
        >>> padded.ids.tolist(), padded.mask.tolist()
        ([[31373, 995], [31373, 0]], [[1, 1], [1, 0]])

        Raises:
            UsageError: if a text is longer than ``length``.
        """
        from bpe_cli.support.core_arguments import one_of, whole_number

        one_of("side", side, ("left", "right"))
        pad_id = whole_number("pad_id", pad_id, most=(1 << 32) - 1)
        sizes = [end - start for start, end in zip(self.offsets, self.offsets[1:], strict=False)]
        longest = max(sizes, default=0)
        width = longest if length is None else whole_number("length", length)
        width += -width % whole_number("multiple_of", multiple_of, 1)
        if longest > width:
            raise UsageError(
                f"a text has {longest:,} tokens, which is more than the length {width:,}",
                hint="encode_batch(texts, max_tokens=...) cuts them",
            )
        ids, mask, start = array("I"), bytearray(), 0
        for size in sizes:
            fill = width - size
            own = self.ids[start : start + size]
            for part in (own, None) if side == "right" else (None, own):
                if part is None:
                    ids.extend(array("I", [pad_id]) * fill)
                    mask += bytes(fill)
                else:
                    ids.frombytes(part.cast("B"))
                    mask += b"\1" * size
            start += size
        return PaddedBatch(ids, mask, len(sizes), width)


class PaddedBatch:
    """Texts of equal length, as input for a model.

    Attributes:
        ids: The ids (u32), one row per text.
        mask: 1 for ids of the text, 0 for padding (u8), in the same shape.
        shape: The number of texts, and the length of each.
    """

    __slots__ = ("ids", "mask", "shape")

    def __init__(self, ids: array[int], mask: bytearray, rows: int, length: int) -> None:
        self.shape = rows, length
        if rows and length:
            self.ids = memoryview(ids).cast("B").cast("I", (rows, length))
            self.mask = memoryview(mask).cast("B", (rows, length))
        else:  # a shape with a zero is none to memoryview
            self.ids, self.mask = memoryview(ids), memoryview(mask)

    def __reduce__(self) -> tuple[object, ...]:
        return _padded, (self.ids.tobytes(), self.mask.tobytes(), *self.shape)

    def numpy(self) -> tuple[Ids, npt.NDArray[np.uint8]]:
        """Return ``ids`` and ``mask`` as two-dimensional NumPy arrays that share their memory."""
        np = numpy_to("make NumPy arrays")
        return np.asarray(self.ids).reshape(self.shape), np.asarray(self.mask).reshape(self.shape)

    def __repr__(self) -> str:
        return f"<{self.shape[0]:,} x {self.shape[1]:,} ids with their mask>"


def _owned(column: Sequence[int]) -> Sequence[int]:
    """Return a column that can be pickled."""
    return array(column.format, column) if isinstance(column, memoryview) else column


def _placed_again(ids: array[int], starts: Sequence[int], ends: Sequence[int], special: bytes) -> Placed:
    starts, ends = (memoryview(each) if isinstance(each, array) else each for each in (starts, ends))
    return Placed(memoryview(ids), starts, ends, special)


def _rebuilt(ids: bytes, offsets: bytes) -> EncodedBatch:
    return EncodedBatch(memoryview(ids).cast("I"), memoryview(offsets).cast("Q"))


def _padded(ids: bytes, mask: bytes, rows: int, length: int) -> PaddedBatch:
    return PaddedBatch(array("I", ids), bytearray(mask), rows, length)


@dataclass(frozen=True, slots=True)
class Placed:
    """The tokens of a text in order, one column for each thing to know.

    Attributes:
        ids: Their ids (u32).
        starts: Byte offset in the text of the first byte of each (u64).
        ends: Byte offset after its last byte (u64).
        special: For each one byte: 1 for a special or added token that was found in the text, else 0.
    """

    ids: memoryview
    starts: Sequence[int]
    ends: Sequence[int]
    special: bytes

    def __len__(self) -> int:
        return len(self.ids)

    def __hash__(self) -> int:
        return hash((len(self.ids), self.special))  # as memory of numbers has none

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle and copy what memoryview refuses to."""
        return _placed_again, (*map(_owned, (self.ids, self.starts, self.ends)), self.special)


@dataclass(frozen=True, slots=True)
class PieceSpans:
    """The pieces of a text in order.

    Attributes:
        text: The text as the stages before the model made it.
        starts: Where each piece begins in that.
        ends: Where it ends in that.
        source_starts: Where what it stands for begins in the text as it was given.
        source_ends: Where that ends.
    """

    text: bytes
    starts: Sequence[int]
    ends: Sequence[int]
    source_starts: Sequence[int]
    source_ends: Sequence[int]

    def __len__(self) -> int:
        return len(self.ends)

    def contents(self) -> list[bytes]:
        """Return the bytes of each piece."""
        return [self.text[start:end] for start, end in zip(self.starts, self.ends, strict=True)]


def well_formed(text: bytes) -> bytes:
    r"""Replace the bytes of a text that are not part of well-formed UTF-8 by question marks.

    Then exactly the bytes inside a character (not its first) look like continuation bytes.

    >>> well_formed(b"a\xffb")
    b'a?b'
    """
    try:
        text.decode()
    except UnicodeDecodeError:
        return text.decode("utf-8", "surrogateescape").encode("utf-8", "replace")
    return text


class CharacterOffsets:
    """Turn byte spans of a text, ascending but for short steps back, into spans of characters.

    Characters are those of the text as decoded with ``surrogateescape``: a byte that is not part of well-formed UTF-8
    is one of its own. A character that is spread over several spans belongs to each of them.

    >>> offsets = CharacterOffsets("é你!".encode())
    >>> [offsets.span(start, end) for start, end in ((0, 2), (2, 4), (4, 5), (5, 6))], offsets.total()
    ([(0, 1), (1, 2), (1, 2), (2, 3)], 3)
    """

    _CONTINUATION = bytes(range(0x80, 0xC0))

    def __init__(self, text: bytes) -> None:
        self._data = well_formed(text)
        self._ascii = self._data.isascii()
        self._position = self._begun = 0

    def _begun_before(self, offset: int) -> int:
        """Count the characters that begin before an offset."""
        if offset < self._position:  # tokens that stand for one character have the same span
            return self._begun - len(self._data[offset : self._position].translate(None, self._CONTINUATION))
        stretch = self._data[self._position : offset]
        self._begun += len(stretch.translate(None, self._CONTINUATION))
        self._position = offset
        return self._begun

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the characters that bytes ``start`` to ``end`` are of; without bytes, it is between two characters."""
        if self._ascii:
            return start, end
        begun = self._begun_before(start)
        inside = start < end and 0x80 <= self._data[start] < 0xC0
        return begun - inside, self._begun_before(end)

    def total(self) -> int:
        """Count all characters."""
        return self._begun_before(len(self._data))


class Vocab(Mapping[str, int]):
    """Tokens by their text; bytes are looked up as well."""

    def __init__(self, ids: Mapping[bytes, int]) -> None:
        self._ids = ids

    def __getitem__(self, token: str | bytes) -> int:
        try:
            return self._ids[bytes_of(token, "token")]
        except (TypeError, InputError):
            raise KeyError(token) from None

    def __iter__(self) -> Iterator[str]:
        return (token.decode("utf-8", "surrogateescape") for token in self._ids)

    def __len__(self) -> int:
        return len(self._ids)

    def __repr__(self) -> str:
        return f"<{len(self):,} tokens>"
