"""Tokens and merges as packed arrays: no Python object per token until somebody asks for one."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import accumulate, count
from operator import eq

from bpe_cli import _core
from bpe_cli.support.cached import cached_property
from bpe_cli.support.fast_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MAX_ID = 1 << 32
"""Ids of special tokens lie below this (u32); those of ordinary ones below ``_core.MAX_TOKENS``."""


class Vocabulary:
    """Hold the bytes of every ordinary token by id; ids may have gaps. Compares by value.

    Layout: token ``i`` is ``blob[ends[i - 1]:ends[i]]`` (``ends[-1]`` counts as 0); an id that no
    token has is an empty range. Special tokens are not in here.

    >>> vocabulary = Vocabulary.from_tokens([b"a", b"b", b"ab"])
    >>> vocabulary.token(2), vocabulary.id_of(b"b"), len(vocabulary)
    (b'ab', 1, 3)
    """

    __slots__ = ("__dict__", "embedded", "written")

    def __init__(self, blob: bytes, ends: array[int]) -> None:
        self._table = blob, ends
        self.embedded: str | None = None
        self.written: _core.WrittenTables | None = None

    @classmethod
    def from_tokens(cls, tokens: Iterable[bytes]) -> Vocabulary:
        """Number tokens from 0 in the order given; an empty one leaves its id unused."""
        parts = list(tokens)
        # What is joined costs ten times a reference: so not the empty ones, of which there may be two million.
        return cls(b"".join(filter(None, parts)), array("I", accumulate(map(len, parts))))

    @classmethod
    def from_ids(cls, ids: Mapping[bytes, int]) -> Vocabulary:
        """Build from token -> id.

        Raises:
            ValueError: if two tokens share an id, an id is negative or over 2,097,151, or a token is empty.
        """
        size = max(ids.values(), default=-1) + 1
        if size > _core.MAX_TOKENS or min(ids.values(), default=0) < 0:
            raise ValueError(f"ids must be between 0 and {_core.MAX_TOKENS - 1:,}")
        if b"" not in ids and all(map(eq, ids.values(), count())):
            return cls.from_tokens(ids)
        tokens: list[bytes] = [b""] * size
        for token, token_id in ids.items():
            if not token:
                raise ValueError("a token is empty")
            if tokens[token_id]:
                raise ValueError(f"id {token_id} is given to {tokens[token_id]!r} and to {token!r}")
            tokens[token_id] = token
        return cls.from_tokens(tokens)

    @classmethod
    def from_embedded(cls, sha256: str) -> Vocabulary:
        """Refer to a rank table that is embedded in the compiled module, by the sha256 of its file."""
        vocabulary = cls.__new__(cls)
        vocabulary.embedded, vocabulary.written = sha256, None
        return vocabulary

    @classmethod
    def from_written(cls, tables: _core.WrittenTables) -> Vocabulary:
        """Refer to the tables that the core has made of a document."""
        vocabulary = cls.__new__(cls)
        vocabulary.embedded, vocabulary.written = None, tables
        return vocabulary

    def __reduce__(self) -> tuple[Callable[..., Vocabulary], tuple[object, ...]]:
        """Pickle without cached values; an embedded table goes by its name alone."""
        if self.embedded is not None:
            return Vocabulary.from_embedded, (self.embedded,)
        return Vocabulary, self._table

    @property
    def blob(self) -> bytes:
        """All tokens' bytes, one after the other."""
        return self._table[0]

    @property
    def ends(self) -> array[int]:
        """Where each token ends in ``blob`` (u32, one per id)."""
        return self._table[1]

    @cached_property
    def _table(self) -> tuple[bytes, array[int]]:
        """Take the table out of the core; any other table is stored here when it is made."""
        blob, ends = _core.embedded_tokens(self.embedded or "") if self.written is None else self.written.tokens()
        return blob, array("I", bytes(ends))

    def token(self, token_id: int) -> bytes:
        """Return the bytes of a token; ``b""`` for an id that no token has.

        Raises:
            IndexError: if the id lies outside the table.
        """
        if token_id < 0:
            raise IndexError(token_id)
        blob, ends = self._table
        return blob[ends[token_id - 1] if token_id else 0 : ends[token_id]]

    def id_of(self, token: bytes) -> int | None:
        """Return the id of a token, or None."""
        return self._ids.get(token)

    @cached_property
    def _ids(self) -> dict[bytes, int]:
        return {token: token_id for token_id, token in self.items()}

    def among(self, token_ids: Iterable[int]) -> set[int]:
        """Return the given ids that have a token, without reading an embedded table."""
        if self.embedded is not None and "_table" not in self.__dict__:
            return set(_core.embedded_among(self.embedded, [*token_ids]))
        ends = self.ends
        size = len(ends)
        return {each for each in token_ids if each < size and ends[each] > (ends[each - 1] if each else 0)}

    def tokens(self) -> Iterator[bytes]:
        """Yield the bytes of every id in order; ``b""`` for an unused one."""
        blob, start = self.blob, 0
        for end in self.ends:
            yield blob[start:end]
            start = end

    def without(self, token_ids: Collection[int]) -> Vocabulary:
        """Return a vocabulary of the same ids in which some are unused."""
        gone = sorted(self.among(token_ids))
        if not gone:
            return self
        parts: list[bytes] = []
        ends: array[int] = array("I")
        after = lost = 0
        for token_id in gone:
            start, end = self.ends[token_id - 1] if token_id else 0, self.ends[token_id]
            parts.append(self.blob[after:start])
            ends.extend(place - lost for place in self.ends[len(ends) : token_id])
            ends.append(start - lost)
            after, lost = end, lost + end - start
        ends.extend(place - lost for place in self.ends[len(ends) :])
        return Vocabulary(b"".join([*parts, self.blob[after:]]), ends)

    def items(self) -> Iterator[tuple[int, bytes]]:
        """Return (id, bytes) in order of id, without the unused ids."""
        blob, start = self.blob, 0
        for token_id, end in enumerate(self.ends):  # two million of them, perhaps, of which few have a token
            if end > start:
                yield token_id, blob[start:end]
                start = end

    def short(self, most: int) -> Iterator[tuple[int, bytes]]:
        """Return (id, bytes) of the tokens of at most so many bytes, in order of id; of the others nothing is made.

        >>> list(Vocabulary.from_tokens([b"abc", b"a", b"", b"ab"]).short(2))
        [(1, b'a'), (3, b'ab')]
        """
        blob, start = self.blob, 0
        for token_id, end in enumerate(self.ends):
            if start < end <= start + most:
                yield token_id, blob[start:end]
            start = end

    @property
    def size(self) -> int:
        """The highest id plus one."""
        return len(self.ends)

    def __len__(self) -> int:
        """The number of tokens (unused ids not counted)."""
        return sum(1 for _ in self.items())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        if self.embedded is not None and self.embedded == other.embedded:
            return True
        return self.ends == other.ends and self.blob == other.blob

    def __hash__(self) -> int:
        return hash((self.size, self.blob))

    def __repr__(self) -> str:
        return f"Vocabulary({len(self)} tokens)"


class Merges:
    """Hold merges in order of priority: ``left, right -> product``, as packed u32 arrays.

    >>> merges = Merges.from_pairs([(0, 1, 2)])
    >>> list(merges)
    [(0, 1, 2)]
    """

    __slots__ = ("__dict__", "written")

    def __init__(self, triples: array[int]) -> None:
        self.triples = triples
        self.written: _core.WrittenTables | None = None

    @classmethod
    def from_written(cls, tables: _core.WrittenTables) -> Merges:
        """Refer to the tables that the core has made of a document."""
        merges = cls.__new__(cls)
        merges.written = tables
        return merges

    def __reduce__(self) -> tuple[Callable[..., Merges], tuple[object, ...]]:
        """Pickle as an array."""
        return Merges, (self.triples,)

    @cached_property
    def triples(self) -> array[int]:
        """Left id, right id and product of each merge (u32)."""
        return array("I", b"" if self.written is None else bytes(self.written.merges()))

    @classmethod
    def from_pairs(cls, merges: Iterable[Sequence[int]]) -> Merges:
        """Build from (left id, right id, product id) triples."""
        triples = array("I")
        for merge in merges:
            triples.extend(merge)
        return cls(triples)

    def __len__(self) -> int:
        return len(self.triples) // 3

    def __iter__(self) -> Iterator[tuple[int, int, int]]:
        numbers = iter(self.triples)
        return zip(numbers, numbers, numbers, strict=True)

    def __eq__(self, other: object) -> bool:
        return self.triples == other.triples if isinstance(other, Merges) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.triples.tobytes())

    def __repr__(self) -> str:
        return f"Merges({len(self)})"
