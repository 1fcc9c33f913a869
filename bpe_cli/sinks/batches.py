"""What the readers of ids share: the batches that they yield, and what they must be told."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import IO, TYPE_CHECKING, NamedTuple

from bpe_cli.sinks.base import Dtype
from bpe_cli.support.fast_dataclass import dataclass

if TYPE_CHECKING:
    from bpe_cli.tokenizer import Tokenizer


ANOTHER_RUN = (
    "one of the two is from another run; encode again, or move OUT.json away and say what it is for: --dtype, --eot"
)
"""The way out where a file and its description do not belong together."""


class Batch(NamedTuple):
    """Ids of one document, all or some of them (u32), whether it ends after them, and how many beside are left out."""

    ids: array[int]
    done: bool
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Describe what the data itself does not.

    Attributes:
        tokenizer: Whose tokens they are (tokens only).
        dtype: How a number lies in the file (bin only).
        bos: The id that begins each document, and is left out.
        eot: The id that ends each document, and is left out; without one all numbers of npy and bin are one document.
        sha256: The hash that the numbers must have (npy and bin only), or None when it is unknown.
    """

    tokenizer: Tokenizer | None = None
    dtype: Dtype | None = None
    bos: int | None = None
    eot: int | None = None
    sha256: str | None = None


def without_edges(batches: Iterable[Batch], bos: int | None, eot: int | None) -> Iterator[Batch]:
    """Leave out what begins and what ends each document, where it stands there.

    >>> whole = [Batch(array("I", [1, 5]), False), Batch(array("I", [6, 2]), True), Batch(array("I", [2]), True)]
    >>> [(batch.ids.tolist(), batch.done, batch.left_out) for batch in without_edges(whole, 1, 2)]
    [([5], False, 1), ([6], True, 1), ([], True, 1)]
    """
    fresh, held = True, array("I")  # held: an eot that is left out if its document ends behind it
    for batch in batches:
        ids, left_out = held + batch.ids if held else batch.ids, batch.left_out
        held = array("I")
        if fresh and len(batch.ids) and ids[0] == bos:
            ids, left_out = ids[1:], left_out + 1
        if len(ids) and ids[-1] == eot:
            ids, held = ids[:-1], ids[-1:]
        if batch.done:
            left_out += len(held)
            held = array("I")
        fresh = batch.done or (fresh and not len(batch.ids))
        yield Batch(ids, batch.done, left_out)


def chunks_of(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield what a stream gives, at most 1 MiB at a time; what a pipe has, without waiting for more."""
    read = getattr(stream, "read1", stream.read)
    while chunk := read(1 << 20):
        yield chunk
