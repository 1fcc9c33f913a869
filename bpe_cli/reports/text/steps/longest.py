"""Tell how a piece is cut by its longest tokens: from the left, or wherever they stand."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Literal

from bpe_cli.reports.text.steps.base import LONGEST_REST, bytes_of, check_length, check_work, collected, text_of, window
from bpe_cli.reports.text.steps.values import CutStep, CutWalk, MatchStep, MatchWalk, Spelling, StepToken
from bpe_cli.teaching.longest_match import token_length
from bpe_cli.teaching.longest_steps import Cut, Match, anywhere, from_left, lengths_of, stretches

if TYPE_CHECKING:
    from bpe_cli.reports.text.steps.base import Limits, Names
    from bpe_cli.stages import LongestMatch, MaxMatch, WordPiece

Way = Literal["token", "unknown", "fused", "left out"]


class WordPieces:
    """Tell WordPiece: the longest token again and again, or the whole piece is unknown."""

    def __init__(self, model: WordPiece, names: Names, limits: Limits) -> None:
        self._model = model
        self._names = names
        self._limits = limits
        self._ids = {text_of(token): token_id for token_id, token in model.vocabulary.items()}
        self._lengths = lengths_of(self._ids, model.continuing_subword_prefix)

    def walk(self, piece: bytes) -> MatchWalk:
        """Tell the steps of one piece.

        Raises:
            TooMuchToTell: There are too many.
        """
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

    def _step(self, word: str, match: Match) -> MatchStep:
        prefix = self._model.continuing_subword_prefix if match.start else ""
        fits = tuple(self._names.token(self._ids[token]) for token in match.fits)
        return _step(word, match, prefix, fits, fits[0] if fits else None, "token" if fits else "unknown")


class FromLeft:
    """Tell the longest token at each place: ``MaxMatch``, and ``LongestMatch`` from the left."""

    def __init__(self, model: MaxMatch | LongestMatch, names: Names, limits: Limits) -> None:
        self._names = names
        self._limits = limits
        self._unk_id = model.unk_id
        self._suffix = getattr(model, "end_of_word_suffix", "")
        # A dictionary's unknown characters are tokens one by one, a tutorial's together with their neighbours.
        self._fuses = model.kind == "longest-match"
        self._ids: dict[str, int] = {}
        for token_id, token in model.vocabulary.items():
            if not (self._fuses and token_id == model.unk_id):
                self._ids.setdefault(text_of(token), token_id)  # of equal ones the first counts
        self._lengths = lengths_of(self._ids)
        self._longest = max(self._lengths.first, default=1)

    def walk(self, piece: bytes) -> MatchWalk:
        """Tell the steps of one piece.

        Raises:
            TooMuchToTell: It is too long.
        """
        check_length(piece)
        word = text_of(piece) + self._suffix
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
                steps.append(_step(word, match, "", fits, taken, way))
            count += 1
        return MatchWalk(tuple(steps), count - len(steps), self._longest, None, None, False, tuple(tokens))


class Anywhere:
    """Tell ``LongestMatch`` that is not from the left: tokens are cut out, the longest first."""

    def __init__(self, model: LongestMatch, names: Names, limits: Limits) -> None:
        self._names = names
        self._limits = limits
        self._unk_id = model.unk_id
        self._suffix = model.end_of_word_suffix
        known = ((text_of(token), token_id) for token_id, token in model.vocabulary.items() if token_id != model.unk_id)
        ordered = sorted(known, key=lambda each: (-token_length(each[0], self._suffix), each[1]))
        self._tokens = [text for text, _ in ordered]
        self._ids = dict(ordered)

    def walk(self, piece: bytes) -> CutWalk:
        """Tell the steps of one piece.

        Raises:
            TooMuchToTell: It is too long.
        """
        check_length(piece)
        word = text_of(piece) + self._suffix
        cuts = list(anywhere(word, self._tokens))
        ends: dict[int, int] = {}
        steps = []
        for cut in islice(cuts, self._limits.steps):
            ends[cut.start] = cut.end
            steps.append(self._step(word, cut, ends))
        named = {cut.start: cut.token for cut in cuts}
        tokens: list[StepToken] = []
        unknown = []
        for start, end, is_token in stretches(len(word), {cut.start: cut.end for cut in cuts}):
            if is_token:
                tokens.append(self._names.token(self._ids[named[start]]))
                continue
            stands = () if self._unk_id is None else (self._names.token(self._unk_id),)
            tokens += stands
            unknown.append(Spelling(bytes_of(word[start:end]), "unknown" if stands else "left out", stands))
        return CutWalk(tuple(steps), len(cuts) - len(steps), collected(unknown), tuple(tokens))

    def _step(self, word: str, cut: Cut, ends: dict[int, int]) -> CutStep:
        parts = list(stretches(len(word), ends))
        at = next(number for number, (start, _, _) in enumerate(parts) if start == cut.start)
        shown = window([bytes_of(word[start:end]) for start, end, _ in parts], at)
        return CutStep(cut.number, self._names.token(self._ids[cut.token]), shown)


def from_left_or_anywhere(model: LongestMatch, names: Names, limits: Limits) -> FromLeft | Anywhere:
    """Choose what tells a ``LongestMatch``."""
    return FromLeft(model, names, limits) if model.left_to_right else Anywhere(model, names, limits)


def _step(
    word: str, match: Match, prefix: str, fits: tuple[StepToken, ...], taken: StepToken | None, way: Way
) -> MatchStep:
    rest = word[match.start : match.start + LONGEST_REST]
    cut = len(word) - match.start - len(rest)
    text = bytes_of(word[match.start : match.end])
    return MatchStep(bytes_of(prefix + rest), cut, match.tried, fits, taken, way, text)
