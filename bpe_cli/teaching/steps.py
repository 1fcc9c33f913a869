"""The steps of a training run as values: what a trainer returns, and what ``record`` makes of it for ``views``.

``bpe.Training``, ``wordpiece.Training`` and ``picky.Training`` are also such values: they train as their steps are
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
    """Sort pieces: the most frequent first, equally frequent ones by their bytes.

    >>> by_count({"b": 1, "c": 2, "a": 1})
    [('c', 2), ('a', 1), ('b', 1)]
    """
    return sorted(counts.items(), key=lambda item: (-item[1], item[0].encode("utf-8", "surrogateescape")))


@dataclass(frozen=True, slots=True)
class NumberedPieces:
    """Pieces that were counted and numbered.

    Attributes:
        counts: How often each piece occurs.
        chosen: The pieces that become tokens, in the order of their ids.
        specials: The special tokens before them.
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
    """The pieces learnt by SentencePiece's rules, with their scores, by id."""

    pieces: Sequence[tuple[str, float]]


@dataclass(frozen=True, slots=True)
class ThresholdSearch:
    """The search for the threshold that gives the requested vocabulary size.

    Attributes:
        tried: The thresholds with the tokens that they give, as ``wordpiece.learn`` tries them.
        vocab_size: The requested size.
    """

    tried: Iterator[tuple[int, list[str]]]
    vocab_size: int


@dataclass(frozen=True, slots=True)
class Joining:
    """The rounds of ``maxmatch``.

    Attributes:
        lines: The lines, from ``maxmatch.prepare``.
        rounds: The number of rounds.
        rules: How frequent a pair must be.
        tokens: The final vocabulary.
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
        rounds: The tokens that are left after each round.
        reserved: The tokens that are not learnt.
        tokens: The learnt tokens, with their scores.
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
        tokens: The learnt tokens, with their scores.
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
        tokens: The learnt tokens, by id, with how often each is used.
    """

    words: Mapping[str, int]
    rounds: Iterable[tuple[Literal["seeds", "expectation", "pruning"], Mapping[str, int]]]
    reserved: Sequence[str]
    tokens: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Covering:
    """The tokens that GreedTok chooses.

    Attributes:
        cover: The words, which are covered step by step.
        tokens: The number of tokens to choose.
        first_id: The id of the first one.
    """

    cover: Cover
    tokens: int
    first_id: int = 0


Steps: TypeAlias = (
    bpe.Training[str] | bpe.Training[bytes] | wordpiece.Training | picky.Training | NumberedPieces | ByteIds
    | ScoredPieces | ThresholdSearch | Joining | Pruning | Estimation | UseCounts | Covering
)  # fmt: skip
"""What a trainer can show."""

Uncontested: TypeAlias = NumberedPieces | ByteIds | ScoredPieces | ThresholdSearch
"""The training runs without candidates: they count or sort once."""


# -- what is recorded of them (``record``) -----------------------------------------------------------

Symbol = str | bytes

Family = Literal[
    "merges", "events", "scores", "rounds", "losses", "estimation", "cover", "thresholds",
    "pieces", "bytes", "scored-pieces",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a step could take: a pair to merge, or a token to split, place or drop.

    Attributes:
        parts: The two symbols of a pair, the parts that a token is split into, or the token itself.
        product: The symbol that the pair becomes; otherwise the token.
        count: How often the pair or the split token occurs; by how many pieces a placed token makes the words shorter;
            None for a dropped token.
        left_count: How often the left symbol occurs, where pairs have scores.
        right_count: How often the right symbol occurs.
        score: The pair's score.
        loss: How much less likely the corpus is without the token.
        taken: Whether the step takes it: merges, splits, places or drops it.
        tied: Whether it is as good as the last one that is taken, but is not taken itself.
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
    """Symbols in order (a word, or a single token), and how often they occur."""

    symbols: tuple[Symbol, ...]
    count: int


@dataclass(frozen=True, slots=True)
class Change:
    """A word that a step changes.

    Attributes:
        merged_from: For each symbol after the step, the symbols that it was made from, in order; itself if it is old.
            If a token is split, its first part has the token, and the others have nothing.
        after: The symbols after the step.
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
        """Yield each symbol after the step, and the symbols that it was made from."""
        return zip(self.after, self.merged_from, strict=True)


@dataclass(frozen=True, slots=True)
class Entry:
    """A token of the final vocabulary: its id, and its count or score if it has one."""

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
        number: From 1; an expectation has the number of the pruning that follows it, and the seeds have 0.
        taken: The merged pair, the split or placed token, the joined pairs, or the dropped tokens.
        candidates: The best candidates, in order.
        candidate_count: The number of all candidates.
        tied_count: How many of those that are not taken are as good as the last one taken.
        changes: The words that change.
        tokens: The tokens in use after the step, with their counts; in an estimation, the tokens that are left.
        size: The number of tokens in use, or left.
        size_change: The change in that number.
        token_id: The id of the new token.
        threshold: The value that a count must exceed (joining) or reach.
        cost: The cost of the corpus: the sum of the negative logarithms of its tokens' probabilities.
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
        """The number of candidates that are not kept."""
        return self.candidate_count - len(self.candidates)

    @property
    def more_tied(self) -> int:
        """How many of these are tied."""
        return self.tied_count - sum(1 for each in self.candidates if each.tied)


@dataclass(frozen=True, slots=True)
class Record:
    """A training run.

    Attributes:
        words: The corpus at the start, with how often each word (line, piece) occurs.
        steps: The steps, which are made as they are consumed.
        tokens: The tokens in use at the start, with their counts, if steps merge them.
        vocabulary: The final vocabulary, if the steps do not make it token by token.
        tie: Which of several equal candidates is taken, if that rule has a name.
    """

    family: Family
    words: tuple[Counted, ...]
    steps: Iterator[RecordedStep]
    tokens: tuple[Counted, ...] = ()
    vocabulary: tuple[Entry, ...] = ()
    tie: str | None = None
