"""What encoding many texts at once returns: all ids in one buffer, and where each text's ids lie in it."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, overload

from bpe_cli.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Ids = npt.NDArray[np.uint32]
    Offsets = npt.NDArray[np.uint64]


class EncodedBatch:
    """The ids of several texts, one after the other, in buffers that NumPy, Arrow and ``array`` read without a copy.

    It is a sequence of lists of ids: ``len``, iteration, indexing and slices work as on a list of lists, and it
    equals one. Lists are made when they are asked for; ``ids`` and ``offsets`` cost nothing.

    Attributes:
        ids: The ids of all texts (u32), not to be written to.
        offsets: Where they lie (u64): text ``i`` has ``ids[offsets[i]:offsets[i + 1]]``; one more than there are texts.

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
        """Make a batch of ids and of where each text's ids end."""
        return cls(ids.toreadonly(), memoryview(array("Q", [0]) + array("Q", ends)).toreadonly())

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
        """Return the ids of each text as a list of its own."""
        return list(self)

    def numpy(self) -> tuple[Ids, Offsets]:
        """Return ``ids`` and ``offsets`` as NumPy arrays, which share their memory.

        >>> import bpe_cli
        >>> ids, offsets = bpe_cli.load("gpt2").encode_batch(["hello world", "hello"]).numpy()
        >>> ids.dtype, ids.tolist(), offsets.tolist()
        (dtype('uint32'), [31373, 995, 31373], [0, 2, 3])
        """
        import numpy as np

        return np.frombuffer(self.ids, np.uint32), np.frombuffer(self.offsets, np.uint64)

    def pad(
        self,
        pad_id: int,
        *,
        length: int | None = None,
        side: Literal["left", "right"] = "right",
        multiple_of: int = 1,
    ) -> PaddedBatch:
        """Return the batch as a rectangle, every text filled up to one length, with a mask of what is real.

        Args:
            pad_id: What it is filled with.
            length: How long each text becomes; that of the longest if None.
            side: The end at which it is filled.
            multiple_of: The length is rounded up to a multiple of this.

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
        wanted = longest if length is None else whole_number("length", length)
        wanted += -wanted % whole_number("multiple_of", multiple_of, 1)
        if longest > wanted:
            raise UsageError(
                f"a text has {longest:,} tokens, which is more than the length {wanted:,}",
                hint="encode_batch(texts, max_tokens=...) cuts them",
            )
        ids, mask, start = array("I"), bytearray(), 0
        for size in sizes:
            fill = wanted - size
            own = self.ids[start : start + size]
            for part in (own, None) if side == "right" else (None, own):
                if part is None:
                    ids.extend(array("I", [pad_id]) * fill)
                    mask += bytes(fill)
                else:
                    ids.frombytes(part.cast("B"))
                    mask += b"\1" * size
            start += size
        return PaddedBatch(ids, mask, len(sizes), wanted)


class PaddedBatch:
    """Texts of one length, as a model takes them.

    Attributes:
        ids: The ids (u32), a row for each text.
        mask: 1 for each id of the text, 0 for what fills it up (u8), in the same shape.
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

    def numpy(self) -> tuple[Ids, npt.NDArray[np.uint8]]:
        """Return ``ids`` and ``mask`` as NumPy arrays of two dimensions, which share their memory."""
        import numpy as np

        return np.asarray(self.ids).reshape(self.shape), np.asarray(self.mask).reshape(self.shape)

    def __repr__(self) -> str:
        return f"<{self.shape[0]:,} x {self.shape[1]:,} ids with their mask>"


def _rebuilt(ids: bytes, offsets: bytes) -> EncodedBatch:
    return EncodedBatch(memoryview(ids).cast("I"), memoryview(offsets).cast("Q"))
