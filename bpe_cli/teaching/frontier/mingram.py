"""Learn tokens with which text takes as few of them as possible (MinGram).

Source: Land, "MinGram", arXiv:2606.27019; sanderland/script_tok at 0e24de7, ``script_bpe/tokenizers/mingram``.

Byte-pair encoding makes a tenth more tokens than are wanted. Then each piece is segmented into as few of them as
possible, and uses are counted (hard expectation maximisation): unused tokens are dropped. After two rounds, the least
used tokens are dropped, and two more rounds settle the scores, which decide between equally short segmentations: the
sum over a segmentation of delta * ln(p) - 1, where p is a token's share of all uses.

Here a score is a *cost*, a whole number: 10^12 * (1 - delta * ln(p)), rounded. Sums are then exact, and equally good
segmentations are equal. The code adds floating-point numbers, and treats differences below 10^-12 as ties.

Two rules differ from the code on purpose:

- Among equally good segmentations, the one whose last token is longest wins, and so on to the left. The code takes the
  shortest last token. A unigram model, as it is stored in files, decides as here, so training matches encoding.
- A byte that is never used gets 100 for -ln(p), as in the code when it reads a file. In training, the
  code uses infinity, so that all segmentations with that byte are equal, and it may take one with more tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Literal

from bpe_cli.teaching import bpe

UNIT = 10**12
"""The cost of a token, before its probability is added."""

NEVER = 100.0
"""The value of -ln(p) for a byte that is never used."""


@dataclass(frozen=True, slots=True)
class Round:
    """The result of a step.

    Attributes:
        kind: The ``seeds``; an ``expectation``, which counts uses; or the ``pruning``.
        uses: The tokens, bytes first and then the others in the order learnt, with how often each is used.
        costs: The cost of each.
    """

    kind: Literal["seeds", "expectation", "pruning"]
    uses: Mapping[bytes, int]
    costs: Mapping[bytes, int]

    def tokens(self) -> list[bytes]:
        """Return the tokens in the order of their ids: single bytes, then by use; equals in the order learnt."""
        return sorted(self.uses, key=lambda token: (len(token) > 1, -self.uses[token] * (len(token) > 1)))


def costs_of(uses: Mapping[bytes, int], delta: float = 1e-5) -> dict[bytes, int]:
    """Return the costs of tokens.

    >>> costs_of({b"a": 1, b"ab": 3, b"b": 0})
    {b'a': 1000013862944, b'ab': 1000002876821, b'b': 1001000000000}
    """
    total = sum(uses.values())
    surprises = {token: -log(count / total) if count else NEVER for token, count in uses.items()}
    return {token: UNIT + int(UNIT * delta * surprise + 0.5) for token, surprise in surprises.items()}


def segment(piece: bytes, costs: Mapping[bytes, int]) -> list[bytes]:
    """Return the tokens of the segmentation that costs least; among equals, the one with the longest last token.

    Args:
        piece: Any bytes.
        costs: The cost of each token; every byte of the piece must be one.

    >>> segment(b"abc", {b"a": 9, b"b": 9, b"c": 9, b"ab": 10, b"bc": 10})
    [b'a', b'bc']
    """
    longest = max(map(len, costs))
    best = [(0, 0)]  # at each end: the least cost up to there, and where the last token begins
    for end in range(1, len(piece) + 1):
        starts = range(max(0, end - longest), end)
        # Of equal costs the lowest start wins, which makes the last token the longest.
        best.append(
            min((best[start][0] + costs[piece[start:end]], start) for start in starts if piece[start:end] in costs)
        )
    tokens = []
    end = len(piece)
    while end:
        start = best[end][1]
        tokens.append(piece[start:end])
        end = start
    return tokens[::-1]


def seeds_of(
    pieces: Mapping[bytes, int],
    initial: Sequence[bytes],
    vocab_size: int,
    *,
    min_frequency: int = 1,
    max_token_length: int | None = None,
    allow: Callable[[bytes], bool] | None = None,
) -> dict[bytes, int]:
    """Return the tokens of byte-pair encoding, with how often each occurs in the pieces at the end; at least 1.

    >>> seeds_of({b"abc": 6, b"bc": 3, b"ab": 1}, [b"a", b"b", b"c"], 6)
    {b'a': 1, b'b': 1, b'c': 1, b'bc': 3, b'abc': 6, b'ab': 1}
    """
    training = bpe.train(
        bpe.byte_words(pieces),
        initial=initial,
        vocab_size=vocab_size,
        min_frequency=min_frequency,
        max_token_length=max_token_length,
        allow=allow,
    )
    tokens, words = list(initial), training.words
    for step in training:
        words = step.words
        if step.token_id == len(tokens):
            tokens.append(step.product)
    counts = bpe.count_symbols(words)
    return {token: max(1, counts.get(token, 0)) for token in tokens}


def expectation(pieces: Mapping[bytes, int], before: Round, delta: float) -> Round:
    """Segment all pieces, count the uses of each token, and drop unused tokens; bytes stay."""
    uses = dict.fromkeys(before.uses, 0)
    for piece, count in pieces.items():
        for token in segment(piece, before.costs):
            uses[token] += count
    left = {token: count for token, count in uses.items() if count or len(token) == 1}
    return Round("expectation", left, costs_of(left, delta))


def pruning(before: Round, vocab_size: int) -> Round:
    """Drop the least used tokens, among equals those learnt last; bytes stay. Costs do not change."""
    kept = set(before.tokens()[:vocab_size])
    uses = {token: count for token, count in before.uses.items() if token in kept}
    return Round("pruning", uses, {token: before.costs[token] for token in uses})


def train(
    pieces: Mapping[bytes, int],
    vocab_size: int,
    seeds: Mapping[bytes, int],
    *,
    rounds: int = 2,
    delta: float = 1e-5,
) -> Iterator[Round]:
    """Yield each step of a training run; the last one has the tokens and their costs.

    Args:
        pieces: The pieces to segment, with how often each occurs.
        vocab_size: The maximum number of tokens at the end.
        seeds: The tokens to begin with, each with how often it is used; they include all bytes of the pieces.
        rounds: How many times uses are counted before pruning, and again after it.
        delta: The cost of one unit of -ln(p), in tokens.

    Byte-pair encoding makes ``bc``, ``abc`` and ``ab``. All are used, ``ab`` least; without it, the piece ``ab`` is two
    bytes:

    >>> pieces = {b"abc": 6, b"bc": 3, b"ab": 1}
    >>> for step in train(pieces, 5, seeds_of(pieces, [b"a", b"b", b"c"], 6), rounds=1):
    ...     print(step.kind, step.uses)
    seeds {b'a': 1, b'b': 1, b'c': 1, b'bc': 3, b'abc': 6, b'ab': 1}
    expectation {b'a': 0, b'b': 0, b'c': 0, b'bc': 3, b'abc': 6, b'ab': 1}
    pruning {b'a': 0, b'b': 0, b'c': 0, b'bc': 3, b'abc': 6}
    expectation {b'a': 1, b'b': 1, b'c': 0, b'bc': 3, b'abc': 6}
    >>> step.tokens()
    [b'a', b'b', b'c', b'abc', b'bc']
    """
    step = Round("seeds", seeds, costs_of(seeds, delta))
    yield step
    for _ in range(rounds):
        step = expectation(pieces, step, delta)
        yield step
    if len(step.uses) <= vocab_size:
        return
    step = pruning(step, vocab_size)
    yield step
    for _ in range(rounds):
        step = expectation(pieces, step, delta)
        yield step
