"""The steps of a training as values: what a trainer returns, and what ``record`` makes of it for ``views``.

``bpe.Training``, ``wordpiece.Training`` and ``picky.Training`` are such values, too: they train as their steps are
consumed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Literal, TypeAlias

from bpe_cli.teaching import bpe, wordpiece
from bpe_cli.teaching.frontier import picky
from bpe_cli.teaching.frontier.greedy_cover import Cover
from bpe_cli.teaching.maxmatch import Rules


def by_count(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Sort pieces: the most frequent first, equals by their bytes.

    >>> by_count({"b": 1, "c": 2, "a": 1})
    [('c', 2), ('a', 1), ('b', 1)]
    """
    return sorted(counts.items(), key=lambda item: (-item[1], item[0].encode("utf-8", "surrogateescape")))


@dataclass(frozen=True, slots=True)
class NumberedPieces:
    """Pieces that were counted and numbered.

    Attributes:
        counts: How often each piece occurs.
        chosen: Those that become tokens, in order of their ids.
        specials: The tokens before them.
    """

    counts: Mapping[str, int]
    chosen: Sequence[str]
    specials: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ByteIds:
    """The 256 bytes: nothing is learnt.

    Attributes:
        specials: The special tokens.
        special_first: Whether they come before the bytes.
    """

    specials: Sequence[str]
    special_first: bool


@dataclass(frozen=True, slots=True)
class ScoredPieces:
    """The pieces that SentencePiece's rules give, with their scores, by id."""

    pieces: Sequence[tuple[str, float]]


@dataclass(frozen=True, slots=True)
class ThresholdSearch:
    """The search for the threshold that gives a vocabulary its size.

    Attributes:
        tried: Thresholds with the tokens that they give, as ``wordpiece.learn`` tries them.
        vocab_size: The size.
    """

    tried: Iterator[tuple[int, list[str]]]
    vocab_size: int


@dataclass(frozen=True, slots=True)
class Joining:
    """The rounds of ``maxmatch``.

    Attributes:
        lines: As ``maxmatch.prepare`` gives them.
        rounds: How many rounds.
        rules: How frequent a pair must be.
        tokens: The vocabulary in the end.
    """

    lines: Sequence[Sequence[str]]
    rounds: int
    rules: Rules
    tokens: Sequence[str]


@dataclass(frozen=True, slots=True)
class Pruning:
    """The rounds of the course's unigram training.

    Attributes:
        words: The corpus.
        rounds: The tokens that each round leaves.
        reserved: The tokens that are not learnt.
        tokens: Those that are, with their scores.
    """

    words: Mapping[str, int]
    rounds: Sequence[Mapping[str, int]]
    reserved: Sequence[str]
    tokens: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Estimation:
    """The steps of expectation maximisation.

    Attributes:
        words: The corpus.
        rounds: ``seeds``, ``expectation`` or ``pruning``, and the tokens after it with their scores.
        reserved: The tokens that are not learnt.
        tokens: Those that are, with their scores.
    """

    words: Mapping[str, int]
    rounds: Iterable[tuple[str, Mapping[str, float]]]
    reserved: Sequence[str]
    tokens: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class UseCounts:
    """The rounds of MinGram; words and tokens are in visible characters, one for each byte.

    Attributes:
        words: The corpus.
        rounds: ``seeds``, ``expectation`` or ``pruning``, and the tokens after it with how often each is used.
        reserved: The tokens that are not learnt.
        tokens: Those that are, by id, with how often each is used.
    """

    words: Mapping[str, int]
    rounds: Iterable[tuple[Literal["seeds", "expectation", "pruning"], Mapping[str, int]]]
    reserved: Sequence[str]
    tokens: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Covering:
    """The tokens that GreedTok chooses.

    Attributes:
        cover: The words, which are covered as the steps are made.
        tokens: How many to choose.
        first_id: The id of the first.
    """

    cover: Cover
    tokens: int
    first_id: int = 0


Steps: TypeAlias = (
    bpe.Training[str] | bpe.Training[bytes] | wordpiece.Training | picky.Training | NumberedPieces | ByteIds
    | ScoredPieces | ThresholdSearch | Joining | Pruning | Estimation | UseCounts | Covering
)  # fmt: skip
"""What any trainer can show."""

Uncontested: TypeAlias = NumberedPieces | ByteIds | ScoredPieces | ThresholdSearch
"""The trainings without candidates: they count or sort once."""


# -- what is recorded of them (``record``) -----------------------------------------------------------

Symbol = str | bytes

Family = Literal[
    "merges", "events", "scores", "rounds", "losses", "estimation", "cover", "thresholds",
    "pieces", "bytes", "scored-pieces",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a step could take: a pair to merge, a token to split, or one to drop.

    Attributes:
        parts: The two symbols of a pair, what a token is split into, or the token.
        product: What the pair becomes; the token.
        count: How often the pair occurs, or the token that is split; how many pieces fewer there are by a token that
            is placed; None for one that is dropped.
        left_count: How often the left symbol occurs, where pairs have scores.
        right_count: How often the right one does.
        score: The pair's score.
        loss: By how much the corpus becomes less likely without the token.
        taken: Whether the step takes it: merges it, or drops it.
        tied: Whether it is worth as much as the last one that is taken, and is not taken itself.
    """

    parts: tuple[Symbol, ...]
    product: Symbol
    count: int | None = None
    left_count: int | None = None
    right_count: int | None = None
    score: Fraction | None = None
    loss: float | None = None
    taken: bool = False
    tied: bool = False


@dataclass(frozen=True, slots=True)
class Counted:
    """Symbols in order, a word or a single token, and how often they occur."""

    symbols: tuple[Symbol, ...]
    count: int


@dataclass(frozen=True, slots=True)
class Change:
    """A word that a step changes.

    Attributes:
        merged_from: For each symbol afterwards, the symbols that it was made of, in order; itself if it was there. The
            first part of what is split has that, the others have nothing.
        after: The symbols afterwards.
        count: How often the word occurs.
    """

    merged_from: tuple[tuple[Symbol, ...], ...]
    after: tuple[Symbol, ...]
    count: int

    @property
    def before(self) -> tuple[Symbol, ...]:
        """The symbols before the step."""
        return tuple(chain.from_iterable(self.merged_from))

    def aligned(self) -> Iterator[tuple[Symbol, tuple[Symbol, ...]]]:
        """Yield each symbol afterwards, and those that it was made of."""
        return zip(self.after, self.merged_from, strict=True)


@dataclass(frozen=True, slots=True)
class Entry:
    """A token of the vocabulary in the end: its id, and its count or score where it has one."""

    token_id: int
    token: Symbol
    count: int | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """One step.

    Attributes:
        kind: A ``merge`` or a ``split``; a ``placement`` of a token; a ``round`` of joining; the ``seeds``, an
            ``expectation`` or a ``pruning``; a ``threshold``.
        number: From 1; an expectation has that of the pruning that follows. The seeds have 0.
        taken: The pair that is merged, the token that is split or placed, the pairs that are joined, or the tokens that
            go.
        candidates: The best of those that could be taken, in order.
        candidate_count: How many could be taken.
        tied_count: How many of those that are not taken are worth as much as the last that is.
        changes: The words that change.
        tokens: The tokens in use afterwards, with their counts; of an estimation, those that are left.
        size: How many tokens are in use, or left.
        size_change: By how much that has changed.
        token_id: The id of what is made.
        threshold: What a count must exceed (joining) or reach.
        cost: What the corpus costs: the sum of the negative logarithms of its tokens' probabilities.
    """

    kind: Literal["merge", "split", "placement", "round", "seeds", "expectation", "pruning", "threshold"]
    number: int
    taken: tuple[Candidate, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    candidate_count: int = 0
    tied_count: int = 0
    changes: tuple[Change, ...] = ()
    tokens: tuple[Entry, ...] | tuple[Counted, ...] = ()
    size: int = 0
    size_change: int | None = None
    token_id: int | None = None
    threshold: float | None = None
    cost: float | None = None

    @property
    def more(self) -> int:
        """How many candidates there are besides those that are kept."""
        return self.candidate_count - len(self.candidates)

    @property
    def more_tied(self) -> int:
        """How many of these are tied."""
        return self.tied_count - sum(1 for each in self.candidates if each.tied)


@dataclass(frozen=True, slots=True)
class Record:
    """A training.

    Attributes:
        words: The corpus at the beginning, with how often each word (line, piece) occurs.
        steps: The steps, as they are made.
        tokens: The tokens in use at the beginning, with their counts, where steps merge them.
        vocabulary: The vocabulary in the end, where the steps do not make it token by token.
        tie: Which of equals is taken, where that is a rule with a name.
    """

    family: Family
    words: tuple[Counted, ...]
    steps: Iterator[RecordedStep]
    tokens: tuple[Counted, ...] = ()
    vocabulary: tuple[Entry, ...] = ()
    tie: str | None = None
