"""Record how the fewest tokens of a word are found where tokens have marks: over a lattice of units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from bpe_cli.reports.text.characters import bytes_of, text_of
from bpe_cli.reports.text.steps import LatticePlace, LatticeWalk, MatchWalk, Spelling, StepToken, Way
from bpe_cli.reports.text.steps.pieces import check_length, check_work, collected
from bpe_cli.teaching.longest_match import Marks, Units
from bpe_cli.teaching.longest_match import text_of as written
from bpe_cli.teaching.unigram import Arrival, Edge, arrivals, best, best_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bpe_cli.reports.text.steps.pieces import Limits, Names
    from bpe_cli.stages import FewestTokens

TOKEN = -1.0
UNKNOWN = -float(1 << 20)
"""An unknown character: more than all tokens of a piece that is recorded."""


class OverUnits:
    """Record the steps of ``FewestTokens``: the best sum over all ways to cut a word, where each token scores -1."""

    def __init__(self, model: FewestTokens, names: Names, limits: Limits) -> None:
        self._model = model
        self._names = names
        self._limits = limits
        self._marks = Marks(model.end_of_word_suffix, not model.separate_suffix, model.continuing_subword_prefix)
        self._ids: dict[Units, int] = {}
        for token_id, token in model.vocabulary.items():  # of equal ones the last counts
            text = text_of(token)
            self._ids[self._marks.token(text)] = token_id
            if self._is_whole:
                # A word may begin with a token that has the prefix, if that stands in the text.
                self._ids[Marks("", prefix=self._marks.prefix).word(text)] = token_id
        self._scores = dict.fromkeys(self._ids, TOKEN)
        self._lengths = sorted({len(units) for units in self._ids})

    @property
    def _is_whole(self) -> bool:
        """Whether a word that cannot be spelt is unknown as a whole."""
        return self._model.max_input_chars_per_word is not None

    def walk(self, piece: bytes) -> LatticeWalk | MatchWalk:
        """Return the steps of one piece."""
        text = text_of(piece)
        limit = self._model.max_input_chars_per_word
        if limit is not None and len(text) > limit:
            return MatchWalk((), 0, None, len(text), limit, False, self._unknown())
        check_length(piece)
        word = self._marks.word(text)
        check_work(len(word), self._lengths)
        places = []
        last: list[Edge[Units]] = []
        totals: list[float] = []
        for place, ways in enumerate(arrivals(word, self._scores, UNKNOWN, lengths=self._lengths), start=1):
            chosen = best(ways)
            last.append(chosen.edge)
            totals.append(chosen.total)
            if self._limits.steps is None or place <= self._limits.steps:
                places.append(LatticePlace(place, tuple(map(self._way, ways)), ways.index(chosen)))
        path = best_path(last)
        ways_taken = tuple(self._way(Arrival(edge, totals[edge.end - 1])) for edge in path)
        tokens, ends = self._emit(piece, path)
        score = totals[-1] if totals else 0.0
        more = len(last) - len(places)
        return LatticeWalk(UNKNOWN, 0.0, tuple(places), more, ways_taken, score, collected(ends), (), 0, tuple(tokens))

    def _way(self, arrival: Arrival[Units]) -> Way:
        edge = arrival.edge
        token_id = self._ids[edge.token] if edge.known else None
        return Way(bytes_of(written(edge.token)), token_id, edge.start, edge.score, arrival.total)

    def _unknown(self) -> tuple[StepToken, ...]:
        return () if self._model.unk_id is None else (self._names.token(self._model.unk_id),)

    def _emit(self, piece: bytes, path: Sequence[Edge[Units]]) -> tuple[list[StepToken], list[Spelling]]:
        """Make tokens of the best way, with what becomes of unknown characters, or of the whole piece."""
        if self._is_whole and not all(edge.known for edge in path):
            unknown = Spelling(piece, "unknown", self._unknown())
            return [*unknown.tokens], [unknown]
        tokens: list[StepToken] = []
        ends: list[Spelling] = []
        after_unknown = False
        for edge in path:
            if edge.known:
                tokens.append(self._names.token(self._ids[edge.token]))
            else:
                fused = after_unknown and self._model.fuse_unk
                stands = () if fused else self._unknown()
                way: Literal["fused", "unknown", "left out"] = "fused" if fused else "unknown" if stands else "left out"
                ends.append(Spelling(bytes_of(written(edge.token)), way, stands))
                tokens += stands
            after_unknown = not edge.known
        return tokens, ends
