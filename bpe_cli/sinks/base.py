"""The interface and options that sinks share, also with the readers of ids, and how ids divide into documents."""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterable, Iterator

from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.fast_typing import TYPE_CHECKING, Literal, Protocol, TypeVar
from bpe_cli.tokenizer.usage import NO_EDGES, Edges

if TYPE_CHECKING:
    from typing import IO, Any, ClassVar

    from bpe_cli.sinks.atomic import Output
    from bpe_cli.sinks.beside import Beside
    from bpe_cli.support.blocks import Block
    from bpe_cli.tokenizer import Specials, Tokenizer


Key = TypeVar("Key")
Value = TypeVar("Value")

HIGHEST_ID = 0xFFFFFFFF
"""An id is a u32."""

IDS_AT_ONCE = 1 << 16
"""Python ints exist for at most so many ids at a time."""

Dtype = Literal["u16", "u32"]
"""How an id lies in a binary file: 2 or 4 bytes, little-endian."""

Positions = Literal["document", "sequence"]
"""What the column ``position_ids`` counts the ids of."""


class HasColumns(Protocol):
    """The interface of what has values for each row, in order."""

    def schema(self, arrow: Any) -> list[tuple[str, Any]]:
        """Return the names of the columns, and their Arrow types; ``arrow`` is pyarrow."""

    @property
    def is_full(self) -> bool:
        """Whether the rows that were taken are to become columns now: their values are many bytes."""

    def take_row(self) -> None:
        """Take the next row for ``columns``."""

    def columns(self, arrow: Any) -> list[Any]:
        """Return the values of the rows that were taken as Arrow arrays."""


class Origin(Protocol):
    """The interface of where a document is from; as a str it is its name."""

    @property
    def path(self) -> str:
        """The input, by its path."""

    @property
    def document(self) -> int:
        """Its number there, counted from 1."""


class HasOrigins(Protocol):
    """The interface of what knows where documents are from."""

    def origin_of(self, number: int) -> Origin:
        """Return where a document is from, by its number among all, counted from 1."""


@dataclass(frozen=True, slots=True)
class SinkOptions:
    """Options for what a sink writes beside ids.

    Attributes:
        tokens: Whether jsonl has the tokens.
        spans: Whether jsonl has each token's [start, end) in bytes of its document.
        specials: Which special tokens were looked for in the text (for spans).
        edges: What was put around each document by whoever encoded it. Binary formats put its eot there
            themselves.
        dtype: How binary formats store an id; None for u16 where every id fits, else u32.
        positions: What ``position_ids`` counts the ids of.
        columns: What a row of a table has beside its ids: ``attention_mask``, ``position_ids``.
        kept: The values of the source that each row of a table has too.
        origins: What names the documents whose tokens are counted; None for numbers alone.
        json: Whether counts are one JSON object.
        most_tokens: How many tokens a document may have, for that object.
        width: How many digits a count has at most, about: so that a column of them is even.
        threads: How many there may be: with more than one, another hashes what is written.
    """

    tokens: bool = False
    spans: bool = False
    specials: Specials = ()
    edges: Edges = NO_EDGES
    dtype: Dtype | None = None
    columns: tuple[str, ...] = ()
    positions: Positions = "document"
    kept: HasColumns | None = None
    origins: HasOrigins | None = None
    json: bool = False
    most_tokens: int | None = None
    width: int = 1
    threads: int = 1


class TakesIds(Protocol):
    """The interface of what takes the ids of documents: a sink, or what makes sequences for one."""

    @property
    def is_binary(self) -> bool:
        """Whether the output is not text."""

    def write(self, block: Block, ids: memoryview, ends: memoryview) -> None:
        """Take the ids of a block's documents: see ``Sink.write``."""


class TakesRows(Protocol):
    """The interface of what takes the rows of a data set, with what runs beside their ids."""

    def write(self, block: Block, ids: memoryview, ends: memoryview, beside: Beside | None = None) -> None:
        """Take rows: see ``Sink.write``; with ``beside`` the block has no open ends."""


class Sink(ABC):
    """Write the ids of documents, block after block, in order and in bounded memory.

    Attributes:
        is_binary: Whether the output is not text (a terminal should not get it).
        documents: How many documents are complete.
        tokens: How many ids were written, what stands around documents included: the only count there is.
    """

    is_binary: ClassVar[bool] = False

    def __init__(self, output: Output, tokenizer: Tokenizer, options: SinkOptions) -> None:
        self.output = output
        self.tokenizer = tokenizer
        self.options = options
        self.documents = 0
        self.tokens = 0

    def write(self, block: Block, ids: memoryview, ends: memoryview) -> None:
        """Write the ids of a block's documents, and flush.

        Args:
            block: The block: its open ends, and its bytes (for spans).
            ids: The ids of all its documents (u32).
            ends: Where each document's ids end (u64).
        """
        self.tokens += len(ids)
        self.documents += block.ended
        self._write(block, ids, ends)
        self.output.flush()

    @abstractmethod
    def _write(self, block: Block, ids: memoryview, ends: memoryview) -> None: ...

    def finish(self) -> None:
        """Complete the output after the last block, and flush; the output stays open."""
        self.output.flush()


def parts(
    block: Block, ids: memoryview, ends: memoryview, limit: int = IDS_AT_ONCE
) -> Iterator[tuple[memoryview, bool, bool]]:
    """Cut the ids of a block into its documents, and long documents into parts of ``limit`` ids.

    Yields:
        Ids of one document, all or some of them, and whether it begins before and ends after them.
    """
    start, first, ended = 0, len(block.ends) - block.begun, block.ended
    for number, end in enumerate(ends):
        begins, finishes = number >= first, number < ended
        if end - start <= limit:
            yield ids[start:end], begins, finishes
        else:
            for cut in range(start, end, limit):
                yield ids[cut : min(cut + limit, end)], begins and cut == start, finishes and cut + limit >= end
        start = end


class Table(dict[Key, Value]):
    """A table whose values are made when they are first asked for."""

    def __init__(self, make: Callable[[Key], Value]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, key: Key) -> Value:
        value = self[key] = self._make(key)
        return value


ANOTHER_RUN = (
    "one of the two is from another run: encode again, or move the .json file away and give `dtype` and `eot` yourself"
)
"""The way out where a file and its description do not belong together."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Ids of one document, all or some of them (u32), whether it ends after them, and how many beside are left out."""

    ids: array[int]
    done: bool
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Options for reading ids that the data itself does not state.

    Attributes:
        tokenizer: Whose tokens they are: what looks tokens up, and knows whether a text may become the bos.
        dtype: How a number lies in the file (bin only).
        bos: The id that begins each document, and is left out; without eot, numbers of npy and bin are cut before it.
        eot: The id that ends each document, and is left out; without both, numbers of npy and bin are one document.
        sha256: The hash that the numbers must have (npy and bin only), or None when it is unknown.
        documents: How many documents the numbers make (npy and bin only), or None when it is unknown.
    """

    tokenizer: Tokenizer | None = None
    dtype: Dtype | None = None
    bos: int | None = None
    eot: int | None = None
    sha256: str | None = None
    documents: int | None = None


def without_edges(batches: Iterable[Batch], bos: int | None, eot: int | None) -> Iterator[Batch]:
    """Leave out the tokens that begin and end each document, where they are present.

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
    """Yield the bytes of a stream, at most 1 MiB at a time; of a pipe what it has, without waiting for more."""
    read = getattr(stream, "read1", stream.read)
    while chunk := read(1 << 20):
        yield chunk
