"""Look up the score that a model gives each token of a text, and rank segmentations by their probability.

Of a unigram model a score is the natural logarithm of the token's probability, and ranks segmentations (Kudo,
arXiv:1804.10959); of SentencePiece's BPE, a number that only orders merges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from bpe_cli.errors import InputError, UsageError
from bpe_cli.stages import ScoredBpe, Unigram
from bpe_cli.stages.spelling import NORMAL, USER_DEFINED
from bpe_cli.stages.splitters import segments
from bpe_cli.teaching.unigram import UNKNOWN_PENALTY
from bpe_cli.tokenizer.engine.compiled import Engine

if TYPE_CHECKING:
    from bpe_cli import _core
    from bpe_cli.tokenizer import Specials, Tokenizer


FIXED_UNKNOWN = -1000.0
"""What an unknown character scores where scores are rounded to ten-thousandths."""


def scores_of(tokenizer: Tokenizer) -> Callable[[int], float | None] | None:
    """Return a function from ids to scores; None for a model without scores.

    The score is None for a token that no score decided on: special tokens, and bytes that a character
    fell back on. An unknown token has the score of one unknown character, however many it stands for.
    """
    model = tokenizer.model
    if not isinstance(model, (Unigram, ScoredBpe)):
        return None
    scores, kinds, special = model.scores, model.kinds, tokenizer.special_ids
    unknown_id = unknown = None
    taken: tuple[int, ...] = (NORMAL,)
    if isinstance(model, Unigram):
        normal = [score for number, score in enumerate(scores) if not kinds or kinds[number] == NORMAL]
        unknown_id, unknown = model.unk_id, min(normal, default=0.0) - UNKNOWN_PENALTY
        if model.fixed_point:
            unknown, taken = FIXED_UNKNOWN, (NORMAL, USER_DEFINED)

    def score(token_id: int) -> float | None:
        if token_id == unknown_id:
            return unknown
        kind = kinds[token_id] if token_id < len(kinds) else NORMAL
        if kind == USER_DEFINED and isinstance(model, Unigram) and not model.fixed_point:
            characters = len(model.vocabulary.token(token_id).decode("utf-8", "surrogateescape"))
            return model.user_defined_score(characters)
        if kind not in taken or token_id in special or token_id >= len(scores):
            return None
        return scores[token_id]

    return score


def check_scores(tokenizer: Tokenizer) -> None:
    """Refuse a tokenizer whose model has no scores."""
    if not isinstance(tokenizer.model, (Unigram, ScoredBpe)):
        raise UsageError(
            f"tokens have scores in unigram models and in SentencePiece's BPE, and this is {tokenizer.model.kind}",
            hint="leave out `scores`; the ids of merges (`ids`) say which came first",
        )


MOST = 1024
"""How many segmentations can be asked for, as many as can be drawn among."""
LARGEST_TEXT = 1 << 20
"""Bytes of a text: each of its pieces is ranked by itself, and each rank keeps what it was made of."""

Choice = tuple[tuple[int, ...], float]
"""The ids of a part of the text, and their score."""


@dataclass(frozen=True, slots=True)
class RankedToken:
    """A token of a segmentation: its id, its bytes, and whether it is a special token found in the text."""

    token_id: int
    content: bytes
    special: bool = False


@dataclass(frozen=True, slots=True)
class RankedSegmentation:
    """A segmentation and the sum of its tokens' scores, which are natural logarithms of probabilities."""

    score: float
    tokens: tuple[RankedToken, ...]


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best segmentations of a text."""

    tokenizer: str | None
    byte_count: int
    wanted: int
    segmentations: tuple[RankedSegmentation, ...]


def rank(tokenizer: Tokenizer, text: bytes, count: int, specials: Specials = ()) -> Ranking:
    """Return the best segmentations of one text. No token of any goes over the end of a piece.

    Raises:
        UsageError: if the model is another one, or a name in ``specials`` is unknown.
        InputError: if the text is too long, or a byte of it has no token.
    """
    check_rankable(tokenizer)
    if not 1 <= count <= MOST:
        raise UsageError(f"from 1 to {MOST:,} segmentations can be ranked, not {count:,}")
    if len(text) > LARGEST_TEXT:
        raise InputError(f"the text is longer than the {LARGEST_TEXT >> 20} MiB whose segmentations can be ranked")
    matcher = tokenizer.matcher(specials)
    special_ids = tokenizer.special_ids
    ranked = []
    for ids, score in best_sums(_parts(tokenizer.engine, text, matcher, count), count):
        tokens = (RankedToken(each, tokenizer.token_bytes(each), each in special_ids) for each in ids)
        ranked.append(RankedSegmentation(score, tuple(tokens)))
    return Ranking(tokenizer.name, len(text), count, tuple(ranked))


def check_rankable(tokenizer: Tokenizer) -> None:
    """Refuse a tokenizer whose segmentations cannot be ranked."""
    refuse_without_scores(tokenizer)
    if any(token.normalized for token in tokenizer.special_tokens):
        raise UsageError("segmentations cannot be ranked where added tokens are looked for in normalized text")


def refuse_without_scores(tokenizer: Tokenizer) -> None:
    """Refuse a model that gives no scores to rank by."""
    if not isinstance(tokenizer.model, Unigram):
        raise UsageError(
            f"only a unigram model ranks segmentations, and this is {tokenizer.model.kind}",
            hint='`algorithm="unigram"` trains such a tokenizer',
        )


def _parts(engine: Engine, text: bytes, matcher: _core.SpecialMatcher | None, count: int) -> Iterator[Sequence[Choice]]:
    """Yield the choices that each special token and each piece of a text leaves."""
    known: dict[bytes, list[Choice]] = {}
    position = 0
    for segment, special_id in segments(text, matcher):
        if special_id is not None:
            yield [((special_id,), 0.0)]
        else:
            for piece in engine.pieces(segment, first=position == 0).contents():
                if piece not in known:
                    known[piece] = engine.nbest(piece, count)
                yield known[piece]
        position += len(segment)


def best_sums(parts: Iterable[Sequence[Choice]], count: int) -> list[Choice]:
    """Choose one of every part's choices, and return the ways of choosing with the highest sums.

    Of equal sums the one comes first whose earlier parts rank higher. Rounding cannot change the order
    of what grows by the same number, so the best of all ways grow from the best of their beginnings.

    Complexity: O(parts * count * log(count)).

    >>> best_sums([[((1,), -1.0), ((2,), -3.0)], [((3,), -1.0), ((4,), -1.5)]], 3)
    [((1, 3), -2.0), ((1, 4), -2.5), ((2, 3), -4.0)]
    """
    # A way is its score, the way without its last part, and the ids of that.
    ways: list[tuple[float, object, tuple[int, ...]]] = [(0.0, None, ())]
    for part in parts:
        heap = [(-(ways[0][0] + part[0][1]), 0, 0)] if part else []
        longer: list[tuple[float, object, tuple[int, ...]]] = []
        while heap and len(longer) < count:
            cost, way, choice = heappop(heap)
            longer.append((-cost, ways[way], part[choice][0]))
            # Each pair is reached once: by way along the first choice, by choice along every way.
            if choice == 0 and way + 1 < len(ways):
                heappush(heap, (-(ways[way + 1][0] + part[0][1]), way + 1, 0))
            if choice + 1 < len(part):
                heappush(heap, (-(ways[way][0] + part[choice + 1][1]), way, choice + 1))
        ways = longer
    return [(_ids(way), way[0]) for way in ways]


def _ids(way: tuple[float, object, tuple[int, ...]]) -> tuple[int, ...]:
    stretches = []
    current: object = way
    while isinstance(current, tuple):
        _, before, ids = current
        stretches.append(ids)
        current = before
    return tuple(token_id for ids in reversed(stretches) for token_id in ids)
