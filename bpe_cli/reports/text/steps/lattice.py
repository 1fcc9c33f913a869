"""Record Viterbi's algorithm over the lattice of a unigram model, and the best segmentations."""

from __future__ import annotations

from array import array
from dataclasses import replace
from math import exp
from typing import TYPE_CHECKING

from bpe_cli.reports.text.characters import bytes_of, text_of
from bpe_cli.reports.text.scores import FIXED_UNKNOWN
from bpe_cli.reports.text.steps import (
    LatticePlace,
    LatticeWalk,
    RankedPath,
    Spelling,
    StepToken,
    Way,
)
from bpe_cli.reports.text.steps.pieces import TooMuchToTell, check_length, check_work, collected
from bpe_cli.stages.spelling import BYTE, NORMAL, USER_DEFINED
from bpe_cli.teaching.bpe import byte_token
from bpe_cli.teaching.unigram import (
    UNKNOWN_PENALTY,
    Arrival,
    Edge,
    arrivals,
    best,
    best_path,
    best_segmentations,
    departures,
    log_total,
    onward_path,
    ten_thousandths,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bpe_cli.reports.text.steps.pieces import Limits, Names
    from bpe_cli.stages import Unigram

MOST_WAYS = 1 << 18
"""The most tokens of a lattice that is recorded."""
MOST_KEPT = 1 << 21
"""The same times the segmentations that are ranked: of so many each is kept, in the worst case."""


class OverLattice:
    """Record the steps of ``Unigram``."""

    def __init__(self, model: Unigram, names: Names, limits: Limits) -> None:
        self._model = model
        self._names = names
        self._limits = limits
        self._rounded = _single if model.single_precision else float
        read = _single if model.single_precision else as_read
        # Scores that are rounded to ten-thousandths are added as integers.
        self._unit = 10_000 if model.fixed_point else 1
        self._ids: dict[str, int] = {}
        self._scores: dict[str, float] = {}
        # What a piece of a user's own scores in the lattice that is ranked, where SentencePiece counts its
        # characters; in the search for the best segmentation it counts its bytes.
        self._own: dict[str, float] = {}
        self._byte_ids: dict[bytes, int] = {}
        normal = {
            token_id: read(score) for token_id, score in enumerate(model.scores) if self._kind(token_id) == NORMAL
        }
        lowest = min(normal.values(), default=0.0)
        self._unknown = FIXED_UNKNOWN if model.fixed_point else self._rounded(lowest - UNKNOWN_PENALTY)
        for token_id, token in model.vocabulary.items():
            kind = self._kind(token_id)
            if kind == BYTE or not model.kinds:
                self._byte_ids[token] = token_id
            text = text_of(token)
            if model.fixed_point and kind in (NORMAL, USER_DEFINED):
                self._scores[text] = ten_thousandths(model.scores[token_id])
            elif kind == NORMAL:
                self._scores[text] = normal[token_id]
            elif kind == USER_DEFINED:
                self._scores[text] = model.user_defined_score(len(token))
                self._own[text] = self._rounded(model.user_defined_score(len(text)))
            else:
                continue
            self._ids[text] = token_id  # of equal ones the last counts
        self._lengths = sorted({len(text) for text in self._scores})
        self._all_bytes = all(byte_token(byte).encode() in self._byte_ids for byte in range(256))

    def walk(self, piece: bytes) -> LatticeWalk:
        """Return the steps of one piece."""
        check_length(piece)
        text = text_of(piece)
        check_work(len(text), self._lengths)
        last: list[Edge[str]] = []
        totals: list[float] = []
        edges: list[list[Edge[str]]] = []
        places = []
        count = 0
        for done, (place, ways) in enumerate(self._ways(text), start=1):
            count += len(ways)
            if count > MOST_WAYS or count * self._limits.nbest > MOST_KEPT:
                raise TooMuchToTell(f"{count:,} tokens fit in its {self._end} {done:,} characters alone")
            chosen = best(ways)
            last.append(chosen.edge)
            totals.append(chosen.total)
            edges.append([way.edge for way in ways])
            if self._limits.steps is None or done <= self._limits.steps:
                places.append(LatticePlace(place, tuple(map(self._way, ways)), ways.index(chosen)))
        if self._model.fixed_point:
            last.reverse()
            totals.reverse()
            edges = _by_end(edges, len(text))
        path = onward_path(last) if self._model.fixed_point else best_path(last)
        reached = [totals[edge.start if self._model.fixed_point else edge.end - 1] for edge in path]
        tokens, ends = self._emit(path)
        return LatticeWalk(
            self._unknown,
            0.0 if self._model.fixed_point else UNKNOWN_PENALTY,
            tuple(places),
            len(last) - len(places),
            tuple(self._way(Arrival(edge, total)) for edge, total in zip(path, reached, strict=True)),
            (totals[0 if self._model.fixed_point else -1] if totals else 0.0) / self._unit,
            collected(ends),
            self._rank(edges, path),
            self._limits.nbest,
            tuple(tokens),
            self._model.fixed_point,
        )

    @property
    def _end(self) -> str:
        return "last" if self._model.fixed_point else "first"

    def _ways(self, text: str) -> Iterator[tuple[int, list[Arrival[str]]]]:
        """Yield each place that the search comes to, and the ways to or from it."""
        if self._model.fixed_point:
            every = departures(text, self._scores, self._unknown * self._unit, self._lengths)
            return zip(range(len(text) - 1, -1, -1), every, strict=True)
        return enumerate(arrivals(text, self._scores, self._unknown, self._rounded, self._lengths), start=1)

    def _kind(self, token_id: int) -> int:
        return self._model.kinds[token_id] if self._model.kinds else NORMAL

    def _way(self, arrival: Arrival[str]) -> Way:
        edge = arrival.edge
        token_id = self._ids[edge.token] if edge.known else None
        score, total = edge.score / self._unit, arrival.total / self._unit
        return Way(bytes_of(edge.token), token_id, edge.start, score, total)

    def _emit(self, path: Sequence[Edge[str]]) -> tuple[list[StepToken], list[Spelling]]:
        """Make tokens of a segmentation: unknown characters become bytes, or the unknown token."""
        tokens: list[StepToken] = []
        ends = []
        after_unknown = False
        for edge in path:
            if edge.known:
                tokens.append(self._names.token(self._ids[edge.token]))
                after_unknown = False
                continue
            content = bytes_of(edge.token)
            if self._model.byte_fallback and self._all_bytes:
                in_bytes = tuple(self._names.token(self._byte_ids[byte_token(byte).encode()]) for byte in content)
                ends.append(Spelling(content, "bytes", in_bytes))
            elif after_unknown and self._model.fuse_unk:
                ends.append(Spelling(content, "fused", ()))
            else:
                stands = () if self._model.unk_id is None else (self._names.token(self._model.unk_id),)
                ends.append(Spelling(content, "unknown", stands))
            tokens += ends[-1].tokens
            after_unknown = ends[-1].way != "bytes"
        return tokens, ends

    def _rank(self, edges: Sequence[Sequence[Edge[str]]], taken: Sequence[Edge[str]]) -> tuple[RankedPath, ...]:
        """Rank the best segmentations, with their shares of the probability of all.

        Sums are not rounded to single precision here: the rounding of a long text's would be more than shares. Where
        sums are exact, the one that is taken comes first of equals.
        """
        if self._own:
            edges = [[self._in_ranking(edge) for edge in here] for here in edges]
        ranked = best_segmentations(edges, self._limits.nbest)
        if self._model.fixed_point and ranked:
            others = [each for each in ranked if [*each[1]] != [*taken]]
            ranked = [(ranked[0][0], [*taken]), *others][: len(ranked)]
        if self._unit != 1:
            edges = [[replace(edge, score=edge.score / self._unit) for edge in here] for here in edges]
        whole = log_total(edges)
        return tuple(
            RankedPath(
                tuple(self._emit(path)[0]), total / self._unit, min(1.0, exp(min(0.0, total / self._unit - whole)))
            )
            for total, path in ranked
        )

    def _in_ranking(self, edge: Edge[str]) -> Edge[str]:
        score = self._own.get(edge.token)
        return edge if score is None or not edge.known else Edge(edge.start, edge.end, edge.token, score)


def _by_end(edges: Sequence[Sequence[Edge[str]]], length: int) -> list[list[Edge[str]]]:
    """Put the tokens that begin at each place, the last place first, in the order of their ends, and from the left."""
    ending: list[list[Edge[str]]] = [[] for _ in range(length)]
    for here in reversed(edges):
        for edge in here:
            ending[edge.end - 1].append(edge)
    return ending


def _single(number: float) -> float:
    """Round to single precision.

    >>> _single(0.1)
    0.10000000149011612
    """
    return array("f", [number])[0]


_POWERS = tuple(float(f"1e{power}") for power in range(309))


def as_read(score: float) -> float:
    """Return what Hugging Face's library makes of a score in a tokenizer.json, which may be off by the last bit.

    It takes all digits for a whole number and divides that by a power of ten: two roundings instead of one.

    >>> as_read(-12.130167007446289), as_read(-1.5)
    (-12.130167007446287, -1.5)
    """
    digits, _, power = repr(score).partition("e")
    before, _, behind = digits.partition(".")
    whole, exponent = float(before + behind), int(power or 0) - len(behind)
    if exponent >= 0:
        return whole * _POWERS[exponent]
    return whole / _POWERS[min(-exponent, 308)] / _POWERS[max(-exponent - 308, 0)]
