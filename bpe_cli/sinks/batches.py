"""What the readers of ids share: the batches that they yield, and what they must be told."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, NamedTuple

from bpe_cli.sinks.base import Dtype
from bpe_cli.values import dataclass

if TYPE_CHECKING:
    from bpe_cli.tokenizer import Tokenizer


class Batch(NamedTuple):
    """Ids of one document, all or some of them (u32), and whether it ends after them."""

    ids: array[int]
    done: bool


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Say what the data itself does not.

    Attributes:
        tokenizer: Whose tokens they are (tokens only).
        dtype: How a number lies in the file (bin only).
        eot: The id that ends each document, and is left out; None: all is one document (npy and bin only).
    """

    tokenizer: Tokenizer | None = None
    dtype: Dtype | None = None
    eot: int | None = None


def chunks_of(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield what a stream gives, at most 1 MiB at a time; what a pipe has, without waiting for more."""
    read = getattr(stream, "read1", stream.read)
    while chunk := read(1 << 20):
        yield chunk
