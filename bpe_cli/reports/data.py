"""Measure ids that were written: how long the documents are, what ends them, and what some of them hold."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import TYPE_CHECKING

from bpe_cli.reports.text.segmentation import Contents, PlacedToken, Segmentation, TextReader
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.tokenizer.encoded import CharacterOffsets, Placed

if TYPE_CHECKING:
    from bpe_cli.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class Row:
    """A row of ids as it is read: a document, or a sequence; or a part of one that is long.

    Attributes:
        ids: Its ids, with what ends it.
        ended: Whether the id that ends documents ends it, and was not looked for among ``ids``.
        done: Whether the row ends here.
    """

    ids: array[int]
    ended: bool = False
    done: bool = True


@dataclass(frozen=True, slots=True)
class Lengths:
    """How many ids rows have.

    Attributes:
        shortest: The least.
        median: The lower one of the middle two, if they are an even number.
        longest: The most.
        histogram: How many rows have from so many ids up to so many, both included: 0, 1, 2-3, 4-7 and so on, as far
            as there are such lengths.
    """

    shortest: int
    median: int
    longest: int
    histogram: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True)
class Ends:
    """What ends the rows.

    Attributes:
        eot: The id that ends a document; None if none does.
        ended: How many rows end with it.
        first_open: The first row that does not, counted from 1; None if all do.
        inside: How often it stands elsewhere in a row.
    """

    eot: int | None
    ended: int
    first_open: int | None
    inside: int


@dataclass(frozen=True, slots=True)
class ShownRow:
    """A row with its tokens.

    Attributes:
        number: Its number, counted from 1.
        length: How many ids it has.
        segmentation: Its tokens, or the first ones.
    """

    number: int
    length: int
    segmentation: Segmentation


@dataclass(frozen=True, slots=True)
class DataReport:
    """Ids that were written, looked at.

    Attributes:
        name: The file or folder.
        format: How the ids lie there.
        dtype: How a number is stored; None where numbers are text.
        tokenizer: The name of the tokenizer by which they are read.
        unit: What a row is: ``document`` or ``sequence``.
        rows: How many there are.
        tokens: How many ids they have, with what ends them.
        lengths: How long they are; None if there are none.
        ends: What ends them.
        unknown: How many ids have no token.
        first_unknown: The first of these: the row, counted from 1, and the id; None if there is none.
        shown: The rows that were asked for.
        is_marked: Whether something marks where rows end. If not, only their number is known: there are no lengths, and
            the one row that is shown holds the ids of all.
    """

    name: str
    format: str
    dtype: str | None
    tokenizer: str | None
    unit: str
    rows: int
    tokens: int
    lengths: Lengths | None
    ends: Ends
    unknown: int
    first_unknown: tuple[int, int] | None
    shown: tuple[ShownRow, ...]
    is_marked: bool = True


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of ids before they are read: see ``DataReport``; and the number of rows that nothing divides."""

    name: str
    format: str
    dtype: str | None
    unit: str
    eot: int | None
    unmarked: int | None = None


class Meter:
    """Measure rows one after the other, in bounded memory."""

    def __init__(self, tokenizer: Tokenizer, eot: int | None, wanted: range, most: int | None) -> None:
        """Begin.

        Args:
            tokenizer: The tokenizer whose ids they are.
            eot: The id that ends a document; None if none does.
            wanted: The numbers of the rows to show, counted from 1.
            most: How many ids of a row are shown; None for all.
        """
        self._tokenizer = tokenizer
        self._eot = eot
        self._wanted = wanted
        self._most = most
        self._lengths: Counter[int] = Counter()
        self._rows = self._tokens = self._ended = self._inside = self._unknown = 0
        self._length = 0
        self._last = -1
        self._first_open: int | None = None
        self._first_unknown: tuple[int, int] | None = None
        self._kept = array("I")
        self._shown: list[ShownRow] = []
        vocabulary = tokenizer.model.vocabulary
        self._known = vocabulary.among(range(vocabulary.size)).union(tokenizer.special_table[0])
        self._highest = max(self._known, default=-1)
        self._has_all = len(self._known) == self._highest + 1

    def add(self, row: Row) -> None:
        """Measure a row, or a part of one."""
        ids = row.ids
        if len(ids):
            self._look(ids, ended=row.ended)
        if self._rows + 1 in self._wanted:
            self._kept.extend(ids if self._most is None else ids[: max(0, self._most - len(self._kept))])
        self._length += len(ids)
        if row.done:
            self._finish()

    def _look(self, ids: array[int], *, ended: bool) -> None:
        if self._last == self._eot and self._eot is not None:
            self._inside += 1  # it ended a part that goes on
        self._last = ids[-1]
        if self._eot is not None and not ended:
            self._inside += ids.count(self._eot) - (ids[-1] == self._eot)
        if not self._has_all or max(ids) > self._highest:
            for each in ids:
                if each not in self._known:
                    self._unknown += 1
                    if self._first_unknown is None:
                        self._first_unknown = self._rows + 1, each

    def _finish(self) -> None:
        self._rows += 1
        self._tokens += self._length
        self._lengths[self._length] += 1
        if self._eot is not None and self._last == self._eot:
            self._ended += 1
        elif self._first_open is None:
            self._first_open = self._rows
        if self._rows in self._wanted:
            self._shown.append(ShownRow(self._rows, self._length, of_ids(self._tokenizer, self._kept)))
            self._kept = array("I")
        self._length, self._last = 0, -1

    def report(self, facts: Facts) -> DataReport:
        """Return what was measured."""
        ends = Ends(self._eot, self._ended, self._first_open, self._inside)
        is_marked = facts.unmarked is None
        rows = self._rows if facts.unmarked is None else facts.unmarked
        return DataReport(
            facts.name, facts.format, facts.dtype, self._tokenizer.name, facts.unit, rows, self._tokens,
            lengths_of(self._lengths) if is_marked else None, ends, self._unknown, self._first_unknown,
            tuple(self._shown), is_marked,
        )  # fmt: skip


def lengths_of(counts: Counter[int]) -> Lengths | None:
    """Sum up lengths: how many rows there are of each.

    >>> lengths_of(Counter([0, 1, 5, 6, 9]))
    Lengths(shortest=0, median=5, longest=9, histogram=((0, 0, 1), (1, 1, 1), (2, 3, 0), (4, 7, 2), (8, 9, 1)))
    """
    if not counts:
        return None
    half, passed, median = (counts.total() - 1) // 2, 0, 0
    for length in sorted(counts):
        passed += counts[length]
        if passed > half:
            median = length
            break
    return Lengths(min(counts), median, max(counts), tuple(_buckets(counts)))


def _buckets(counts: Counter[int]) -> Iterator[tuple[int, int, int]]:
    """Yield the first and the last length of each class, and how many rows it has."""
    of_class: Counter[int] = Counter()
    for length, count in counts.items():
        of_class[length.bit_length()] += count
    for number in range(min(of_class), max(of_class) + 1):
        yield max((1 << number) >> 1, min(counts)), min((1 << number) - 1, max(counts)), of_class[number]


def measure(
    tokenizer: Tokenizer, rows: Iterable[Row], facts: Facts, *, wanted: range, most: int | None = None
) -> DataReport:
    """Measure rows of ids; show those that are wanted, each up to so many ids.

    >>> from bpe_cli import load
    >>> rows = [Row(array("I", [31373, 995, 50256])), Row(array("I", [31373]))]
    >>> found = measure(load("gpt2"), rows, Facts("x.bin", "bin", "u16", "document", 50256), wanted=range(1, 2))
    >>> found.rows, found.tokens, found.ends
    (2, 4, Ends(eot=50256, ended=1, first_open=2, inside=0))
    >>> [token.content for token in found.shown[0].segmentation.tokens]
    [b'hello', b' world', b'<|endoftext|>']
    """
    meter = Meter(tokenizer, facts.eot, wanted, most)
    for row in rows:
        meter.add(row)
    return meter.report(facts)


def of_ids(tokenizer: Tokenizer, ids: array[int]) -> Segmentation:
    """Describe ids that were written: each token where it lies in what they read as, special tokens as what they are.

    An id without a token stands as such, like a special token; there are no pieces.

    >>> from bpe_cli import load
    >>> found = of_ids(load("gpt2"), array("I", [31373, 50256, 60000]))
    >>> [(token.content, token.start, token.special) for token in found.tokens]
    [(b'hello', 0, False), (b'<|endoftext|>', 5, True), (b'no token 60000', 18, True)]
    """
    reader = TextReader(tokenizer)
    marked = {each.token_id for each in tokenizer.special_tokens}
    known = tokenizer.model.vocabulary.among(set(ids)).union(tokenizer.special_table[0])
    contents = Contents(tokenizer)
    special = bytearray()
    readings = []
    for token_id in ids:
        if token_id not in known:
            contents[token_id] = f"no token {token_id}".encode()
        special.append(token_id in marked or token_id not in known)
        readings.append(contents[token_id] if special[-1] else reader.read(contents[token_id]))
    ends = array("Q", accumulate(map(len, readings)))
    starts = array("Q", [0, *ends[:-1]]) if ends else array("Q")
    placed = Placed(memoryview(ids), starts, ends, bytes(special))
    splits, _ = reader.shared(placed, len(placed), contents)
    text = b"".join(readings)
    characters = CharacterOffsets(text)
    tokens = tuple(
        PlacedToken(
            token_id, contents[token_id], start, end, *characters.span(start, end), bool(mark), None, reading,
        )
        for token_id, start, end, mark, reading in zip(ids, starts, ends, special, readings, strict=True)
    )  # fmt: skip
    return Segmentation(tokenizer.name, placed, tokens, tuple(splits), len(text), characters.total(), None)
