"""Know where each document of a job is from, and check that none has more tokens than it may."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from bpe_cli.errors import CheckFailed
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.fast_typing import TYPE_CHECKING, Protocol
from bpe_cli.support.messages import MOST_NAMED, plural, show_path

if TYPE_CHECKING:
    from bpe_cli.corpus import Inputs, Source
    from bpe_cli.support.blocks import Block


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a document is from.

    Attributes:
        name: The input, as messages call it.
        path: The input as data has it: its path as it is, or its URL.
        document: The number of the document in it, counted from 1.
        line: The line that it is, counted from 1; None where a document is not a line.
        of_several: Whether an input may have several documents.
    """

    name: str
    path: str
    document: int
    line: int | None = None
    of_several: bool = False

    def __str__(self) -> str:
        if self.line is not None:
            return f"{self.name}:{self.line}"
        return f"{self.name}, document {self.document:,}" if self.of_several else self.name


class Origins:
    """Keep track of which input each document is from.

    >>> origins = Origins(whole=False)
    >>> origins.begin("a.txt", 0), origins.begin("b.txt", 2)
    (None, None)
    >>> origins.of(2), origins.of(3)
    ('a.txt, document 2', 'b.txt, document 1')
    """

    def __init__(self, *, whole: bool, lines: bool = False, starts: Sequence[int] = ()) -> None:
        """Start with no input.

        Args:
            whole: Whether each is one document.
            lines: Whether each of its lines is one.
            starts: The byte of each input from which its documents are counted; none if that is the first in all.
        """
        self._whole = whole
        self._lines = lines
        self._starts = starts
        self._names: list[str] = []
        self._paths: list[str] = []
        self._before: list[int] = []

    @classmethod
    def of_inputs(cls, source: Source, inputs: Inputs) -> Origins:
        """Begin for the documents of a source."""
        tables = any(item.kind is not None and item.kind.is_table for item in inputs.items)
        starts = [0 if item.extent is None else item.extent[0] for item in inputs.items]
        return cls(
            whole=source.documents == "whole" and not tables,
            lines=source.documents == "lines" and not tables,
            starts=starts if any(starts) else (),
        )

    def begin(self, path: str, before: int) -> None:
        """Record that an input begins after ``before`` documents."""
        self._names.append(show_path(path))
        self._paths.append(path)
        self._before.append(before)

    def place_of(self, number: int) -> tuple[str, int]:
        """Return the input of a document, and its number there, by its number among all; all counted from 1."""
        place, inside = self.input_of(number)
        return self._names[place], inside

    def input_of(self, number: int) -> tuple[int, int]:
        """Return the number of the input of a document, from 0 on, and the document's number there."""
        place = bisect_right(self._before, number - 1) - 1
        return place, number - self._before[place]

    def of(self, number: int) -> str:
        """Name a document by its number among all, counted from 1."""
        place, inside = self.input_of(number)
        if self._whole:
            return self._names[place]
        start = self._starts[place] if self._starts else 0
        return f"{self._names[place]}, document {inside:,}" + (f" from byte {start:,} on" if start else "")

    def line_of(self, number: int) -> str:
        """Name a document that is a line by its number among all lines, counted from 1."""
        name, inside = self.place_of(number)
        return f"{name}:{inside}"

    def origin_of(self, number: int) -> Origin:
        """Return where a document is from, by its number among all, counted from 1."""
        place, inside = self.input_of(number)
        name, path = self._names[place], self._paths[place]
        return Origin(name, path, inside, inside if self._lines else None, of_several=not self._whole)


class Named(Protocol):
    """The interface of objects that name documents in messages."""

    def of(self, number: int) -> str:
        """Name a document by its number among all, counted from 1."""

    def origin_of(self, number: int) -> Origin:
        """Return where a document is from, by its number among all, counted from 1."""


class TooLong:
    """The documents that have more tokens than they may, each as ``CheckFailed.places`` has it."""

    def __init__(self, origins: Named) -> None:
        self._origins = origins
        self._numbers = array("Q")
        self._tokens = array("Q")

    def append(self, number: int, tokens: int) -> None:
        """Add a document by its number among all, and how many tokens it has."""
        self._numbers.append(number)
        self._tokens.append(tokens)

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, place: object) -> bool:
        return any(each == place for each in self)

    def __iter__(self) -> Iterator[tuple[str, int | None, str]]:
        for number, tokens in zip(self._numbers, self._tokens, strict=True):
            origin = self._origins.origin_of(number)
            one_of_several = origin.of_several and origin.line is None
            name = f"document {origin.document:,} has " if one_of_several else ""
            yield origin.name, origin.line, f"{name}{plural(tokens, 'token')}"

    def first(self, most: int) -> list[str]:
        """Describe the first of them as parts of a sentence."""
        several = zip(self._numbers[:most], self._tokens[:most], strict=True)
        return [f"{self._origins.of(number)} has {plural(tokens, 'token')}" for number, tokens in several]


class Budget:
    """Check that no document has more tokens than allowed."""

    def __init__(self, limit: int | None, origins: Named) -> None:
        """Allow so many tokens a document; None for any number."""
        self._limit = limit
        self._open = 0  # tokens of the document that goes on
        self._number = 0
        self._over = TooLong(origins)

    @property
    def is_limited(self) -> bool:
        """Whether ``spend`` does anything."""
        return self._limit is not None

    def spend(self, counts: Sequence[int] | memoryview, block: Block) -> None:
        """Count the tokens of a block's documents."""
        if self._limit is None:
            return
        for place, tokens in enumerate(counts):
            self._open += tokens
            if place == block.ended:
                return
            self._number += 1
            if self._open > self._limit:
                self._over.append(self._number, self._open)
            self._open = 0

    def check(self) -> None:
        """Fail if documents had more tokens than allowed: ``CheckFailed.places`` has every one of them.

        Raises:
            CheckFailed: if a document had more.
        """
        over = len(self._over)
        if not over:
            return
        first = self._over.first(MOST_NAMED)
        if over == 1:
            raise CheckFailed(f"{first[0]}, more than {self._limit:,}", places=self._over)
        of_all = f"{over:,} of {self._number:,} documents have more than {plural(self._limit or 0, 'token')}"
        more = f"; and {over - len(first):,} more" if over > len(first) else ""
        raise CheckFailed(f"{of_all}: {'; '.join(first)}{more}", places=self._over, summary=of_all)
