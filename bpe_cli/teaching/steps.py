"""What trainings have to show, step by step: values that ``views.training_steps`` writes out.

``bpe.Training`` and ``wordpiece.Training`` are such values, too: they train while somebody takes their steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bpe_cli.teaching import bpe, wordpiece
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
    """The 256 bytes, of which nothing is learnt.

    Attributes:
        specials: The special tokens.
        special_first: Whether they stand before the bytes.
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
        rounds: ``seeds``, ``expectation`` or ``pruning``, and the tokens after it with their scores.
        reserved: The tokens that are not learnt.
        tokens: Those that are, with their scores.
    """

    rounds: Iterable[tuple[str, Mapping[str, float]]]
    reserved: Sequence[str]
    tokens: Mapping[str, float]


Steps: TypeAlias = (
    bpe.Training[str] | bpe.Training[bytes] | wordpiece.Training | NumberedPieces | ByteIds | ScoredPieces
    | ThresholdSearch | Joining | Pruning | Estimation
)  # fmt: skip
"""What any trainer can show."""
