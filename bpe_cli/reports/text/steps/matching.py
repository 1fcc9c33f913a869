"""Record how a piece is cut into its longest tokens, covered by tokens in their order, or looked up as a whole."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING, Literal

from bpe_cli.reports.text.characters import bytes_of, text_of
from bpe_cli.reports.text.steps import CutStep, CutWalk, LookUp, LookUpWalk, MatchStep, MatchWalk, Spelling, StepToken
from bpe_cli.reports.text.steps.pieces import LONGEST_REST, check_length, check_work, collected, contents_around
from bpe_cli.teaching.frontier.greedy_cover import beginnings_of, laid, stretches_of
from bpe_cli.teaching.longest_match import Marks, Match, Units, Word, anywhere, from_left, lengths_of, stretches
from bpe_cli.teaching.longest_match import text_of as written

if TYPE_CHECKING:
    from bpe_cli.reports.text.steps import Symbols
    from bpe_cli.reports.text.steps.pieces import Limits, Names
    from bpe_cli.stages import GreedyCover, LongestMatch, MaxMatch, NGram, WordLevel, WordPiece


Way = Literal["token", "unknown", "fused", "left out"]


class WordPieces:
    """Record the steps of WordPiece: the longest token again and again, or the whole piece is unknown."""

    def __init__(self, model: WordPiece, names: Names, limits: Limits) -> None:
        self._model = model
        self._names = names
        self._limits = limits
        self._ids = {text_of(token): token_id for token_id, token in model.vocabulary.items()}
        self._lengths = lengths_of(self._ids, model.continuing_subword_prefix)

    def walk(self, piece: bytes) -> MatchWalk:
        """Return the steps of one piece."""
        word, model = text_of(piece), self._model
        unknown = self._names.token(model.unk_id)
        limit = model.max_input_chars_per_word
        if len(word) > limit:
            return MatchWalk((), 0, None, len(word), limit, False, (unknown,))
        check_length(piece)
        check_work(len(word), {*self._lengths.first, *self._lengths.inside})
        prefix = model.continuing_subword_prefix
        matches = []
        for match in from_left(word, self._ids, self._lengths, prefix=prefix):
            matches.append(match)
            if not match.fits:
                break
        steps = tuple(self._step(word, match) for match in matches[: self._limits.steps])
        dead_end = bool(matches) and not matches[-1].fits
        tokens = (self._names.token(self._ids[match.fits[0]]) for match in matches if match.fits)
        return MatchWalk(
            steps, len(matches) - len(steps), None, None, limit, dead_end, (unknown,) if dead_end else tuple(tokens)
        )

    def _step(self, word: str, match: Match[str]) -> MatchStep:
        prefix = self._model.continuing_subword_prefix if match.start else ""
        fits = tuple(self._names.token(self._ids[token]) for token in match.fits)
        stop = _end_of_rest(match)
        rest = prefix + word[match.start : stop]
        cut = max(len(word) - stop, 0)
        return _step(rest, cut, match.tried, word[match.start : match.end], fits, fits[0] if fits else None,
                     "token" if fits else "unknown")  # fmt: skip


def marks_of(model: MaxMatch | LongestMatch) -> Marks:
    """Return the marks that a model writes around words; a dictionary writes none."""
    if model.kind == "max-match":
        return Marks("")
    return Marks(model.end_of_word_suffix, not model.separate_suffix, model.continuing_subword_prefix)


class FromLeft:
    """Record the longest token at each place: ``MaxMatch``, and ``LongestMatch`` from the left."""

    def __init__(self, model: MaxMatch | LongestMatch, names: Names, limits: Limits) -> None:
        self._names = names
        self._limits = limits
        self._unk_id = model.unk_id
        self._marks = marks_of(model)
        # A dictionary's unknown characters are tokens one by one, a tutorial's together with their neighbours.
        self._fuses = model.kind == "longest-match"
        self._ids: dict[Units, int] = {}
        for token_id, token in model.vocabulary.items():
            if not (self._fuses and token_id == model.unk_id):
                self._ids.setdefault(self._marks.token(text_of(token)), token_id)  # of equal ones the first counts
        self._lengths = lengths_of(self._ids)
        self._longest = max(self._lengths.first, default=1)

    def walk(self, piece: bytes) -> MatchWalk:
        """Return the steps of one piece."""
        check_length(piece)
        word = self._marks.word(text_of(piece))
        check_work(len(word), self._lengths.first)
        steps: list[MatchStep] = []
        tokens: list[StepToken] = []
        count = 0
        after_unknown = False
        for match in from_left(word, self._ids, self._lengths, longest=self._longest):
            fits = tuple(self._names.token(self._ids[token]) for token in match.fits)
            taken: StepToken | None = None
            way: Way = "left out"
            if fits:
                taken, way = fits[0], "token"
            elif self._unk_id is not None and self._fuses and after_unknown:
                way = "fused"
            elif self._unk_id is not None:
                taken, way = self._names.token(self._unk_id), "unknown"
            after_unknown = not fits
            if taken is not None:
                tokens.append(taken)
            if self._limits.steps is None or len(steps) < self._limits.steps:
                stop = _end_of_rest(match)
                rest, cut = written(word[match.start : stop]), max(len(word) - stop, 0)
                text = written(word[match.start : match.end])
                steps.append(_step(rest, cut, match.tried, text, fits, taken, way))
            count += 1
        return MatchWalk(tuple(steps), count - len(steps), self._longest, None, None, False, tuple(tokens))


class Anywhere:
    """Record the steps of ``LongestMatch`` that is not from the left: tokens are cut out, the longest first."""

    def __init__(self, model: LongestMatch, names: Names, limits: Limits) -> None:
        self._names = names
        self._limits = limits
        self._unk_id = model.unk_id
        self._marks = marks_of(model)
        known = ((text_of(token), token_id) for token_id, token in model.vocabulary.items() if token_id != model.unk_id)
        counts = model.frequencies

        def order(each: tuple[str, int]) -> tuple[int, float, int]:
            text, token_id = each
            return -self._marks.length(text), -counts[token_id] if counts else 0.0, token_id

        ordered = [(self._marks.token(text), token_id) for text, token_id in sorted(known, key=order)]
        self._numbers = {units: number for number, (units, _) in enumerate(ordered)}
        self._ids = dict(ordered)
        self._longest = max(map(len, self._ids), default=1)

    def walk(self, piece: bytes) -> CutWalk:
        """Return the steps of one piece."""
        check_length(piece)
        word = self._marks.word(text_of(piece))
        check_work(len(word), range(self._longest))
        cuts = list(anywhere(word, self._numbers, self._longest))
        parts = _Parts(len(word))
        steps = []
        for cut in islice(cuts, self._limits.steps):
            token, place = self._names.token(self._ids[cut.token]), parts.cut(cut.start, cut.end)
            steps.append(CutStep(cut.number, token, parts.around(place, lambda start, end: written(word[start:end]))))
        named = {cut.start: cut.token for cut in cuts}
        tokens: list[StepToken] = []
        unknown = []
        for start, end, is_token in stretches(len(word), {cut.start: cut.end for cut in cuts}):
            if is_token:
                tokens.append(self._names.token(self._ids[named[start]]))
                continue
            stands = () if self._unk_id is None else (self._names.token(self._unk_id),)
            tokens += stands
            unknown.append(Spelling(bytes_of(written(word[start:end])), "unknown" if stands else "left out", stands))
        return CutWalk(tuple(steps), len(cuts) - len(steps), collected(unknown), tuple(tokens))


class _Parts:
    """The parts that a piece is cut into: tokens, and the stretches between them."""

    def __init__(self, length: int) -> None:
        self._edges = [0, length]

    def cut(self, start: int, end: int) -> int:
        """Make one part of a stretch that cuts no token, and return its place."""
        at, stop = bisect_left(self._edges, start), bisect_left(self._edges, end)
        self._edges[at:stop] = [start] if self._edges[stop] == end else [start, end]
        return at

    def around(self, place: int, text: Callable[[int, int], str]) -> Symbols:
        """Return the parts around one of them; stretches have these texts."""
        edges = self._edges
        return contents_around(range(len(edges) - 1), place, lambda at: bytes_of(text(edges[at], edges[at + 1])))


class Covered:
    """Record the steps of ``GreedyCover``: tokens are laid in the order of their ids, over others, too."""

    def __init__(self, model: GreedyCover, names: Names, limits: Limits) -> None:
        self._names = names
        self._limits = limits
        self._unk_id = model.unk_id
        self._ids: dict[str, int] = {}
        for token_id, token in model.vocabulary.items():
            self._ids.setdefault(text_of(token), token_id)  # of equal ones the first counts
        self._several = {text: token_id for text, token_id in self._ids.items() if len(text) > 1}
        self._numbers = {token_id: number for number, token_id in enumerate(sorted(self._several.values()))}
        self._longest = max(map(len, self._several), default=1)
        self._beginnings = beginnings_of(self._several)

    def walk(self, piece: bytes) -> CutWalk:
        """Return the steps of one piece."""
        check_length(piece)
        word = text_of(piece)
        check_work(len(word), range(self._longest))
        steps: list[CutStep] = []
        count = 0
        ends: dict[int, int] = {}
        parts = _Parts(len(word))
        for first, last in stretches_of(word, self._beginnings):
            for token_id, start, end in laid(word[first:last], self._several, self._longest):
                for inside in range(start, end):
                    ends.pop(first + inside, None)
                ends[first + start] = first + end
                count += 1
                if self._limits.steps is None or len(steps) < self._limits.steps:
                    token, number = self._names.token(token_id), self._numbers[token_id]
                    place = parts.cut(first + start, first + end)
                    steps.append(CutStep(number, token, parts.around(place, lambda a, b: word[a:b])))
        tokens: list[StepToken] = []
        unknown = []
        for start, end, is_token in stretches(len(word), ends):
            for text in [word[start:end]] if is_token else word[start:end]:
                known_id = self._ids.get(text, self._unk_id)
                stands = () if known_id is None else (self._names.token(known_id),)
                tokens += stands
                if text not in self._ids:
                    unknown.append(Spelling(bytes_of(text), "unknown", stands))
        return CutWalk(tuple(steps), count - len(steps), collected(unknown), tuple(tokens), "cover")


def from_left_or_anywhere(model: LongestMatch, names: Names, limits: Limits) -> FromLeft | Anywhere:
    """Choose the walker of a ``LongestMatch``."""
    return FromLeft(model, names, limits) if model.left_to_right else Anywhere(model, names, limits)


def _end_of_rest(match: Match[Word]) -> int:
    """Return where a rest that is shown ends: behind all of the token that is taken."""
    return max(match.start + LONGEST_REST, match.end)


def _step(
    rest: str, cut: int, tried: int, text: str, fits: tuple[StepToken, ...], taken: StepToken | None, way: Way
) -> MatchStep:
    return MatchStep(bytes_of(rest), cut, tried, fits, taken, way, bytes_of(text))


class WholePieces:
    """Record the steps of ``WordLevel``: a piece is a token, or unknown."""

    def __init__(self, model: WordLevel, names: Names, limits: Limits) -> None:
        self._model = model
        self._names = names

    def walk(self, piece: bytes) -> LookUpWalk:
        """Return the one step of a piece."""
        known_id = self._model.vocabulary.id_of(piece)
        token_id = self._model.unk_id if known_id is None else known_id
        steps = () if token_id is None else (LookUp(piece, self._names.token(token_id), known_id is not None),)
        return LookUpWalk(None, steps, 0, tuple(step.token for step in steps))


class NGrams:
    """Record the steps of ``NGram``: every n neighbouring characters are looked up."""

    def __init__(self, model: NGram, names: Names, limits: Limits) -> None:
        self._n = model.n
        self._unk_id = model.unk_id
        self._names = names
        self._limits = limits
        self._ids: dict[bytes, int] = {}
        for token_id, token in model.vocabulary.items():
            self._ids.setdefault(token, token_id)  # of equal ones the first counts

    def walk(self, piece: bytes) -> LookUpWalk:
        """Return the steps of one piece."""
        check_length(piece)
        steps = []
        piece_text = text_of(piece)
        check_work(len(piece_text), [min(self._n, len(piece_text))])
        for start in range(len(piece_text)):
            text = bytes_of(piece_text[start : start + self._n])
            known_id = self._ids.get(text)
            token_id = self._unk_id if known_id is None else known_id
            if token_id is not None:
                steps.append(LookUp(text, self._names.token(token_id), known_id is not None))
        shown = tuple(steps[: self._limits.steps])
        return LookUpWalk(self._n, shown, len(steps) - len(shown), tuple(step.token for step in steps))
