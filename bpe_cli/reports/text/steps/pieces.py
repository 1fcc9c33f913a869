"""Find the pieces of a text as the model gets them, with the special and added tokens between.

The way is that of the tokenizer: special tokens are found in the text; each stretch between them is
normalized; tokens that are looked for in normalized text are found in what came out; the rest is cut.
Where no token of the model goes over a blank, pieces are cut there too, as the core does: it changes no
token, and a text without a pre-tokenizer is recorded word by word.

Here is also what the walks of all models share: their limits, the names of tokens, and the symbols that are shown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, TypeVar

from bpe_cli import _core
from bpe_cli.errors import InputError
from bpe_cli.reports.text.characters import text_of
from bpe_cli.reports.text.steps import Spelling, StepToken, Symbols
from bpe_cli.stages import ByteLevel, ByteLevelNormalizer, CharacterBpe, ScoredBpe, Unigram
from bpe_cli.stages.spelling import CHAR_TO_BYTE
from bpe_cli.stages.splitters import segments

if TYPE_CHECKING:
    from bpe_cli.reports.text.steps import Walk
    from bpe_cli.stages import Model, SpecialToken
    from bpe_cli.tokenizer import Specials, Tokenizer
    from bpe_cli.tokenizer.engine.compiled import Engine


LONGEST_PIECE = 1 << 14
"""The most bytes of a piece whose steps are recorded."""
AROUND = 20
"""Symbols shown on each side of the one at issue, where there are many."""
SHOWN = 2 * AROUND + 1
"""Symbols that are shown without leaving any out."""
MOST_LOOKED_UP = 1 << 28
"""Characters that are looked up at most for one piece, all of its beginnings together."""
LONGEST_REST = 40
"""Characters of a rest that are shown."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How many pieces of a text to record, steps of a piece, segmentations to rank, pairs of a step; None for all."""

    rows: int | None = 20
    steps: int | None = 40
    nbest: int = 5
    pairs: int | None = 0


class TooMuchToTell(Exception):
    """Signal that a piece has too many steps; its sentence is shown in their place."""


def check_length(piece: bytes) -> None:
    """Refuse to record the steps of a piece that is too long."""
    if len(piece) > LONGEST_PIECE:
        raise TooMuchToTell(f"the piece has {len(piece):,} bytes, and those of up to {LONGEST_PIECE:,} are shown")


def check_work(characters: int, lengths: Iterable[int]) -> None:
    """Refuse to look up tokens of so many lengths at so many places."""
    if characters * sum(length for length in lengths if length <= characters) > MOST_LOOKED_UP:
        raise TooMuchToTell(f"{characters:,} characters, with tokens of so many lengths, are too many to look up")


Symbol = TypeVar("Symbol")


class Walker(Protocol):
    """Record how a model arrives at the tokens of a piece."""

    def walk(self, piece: bytes) -> Walk:
        """Return the steps of one piece, which the model can encode.

        Raises:
            TooMuchToTell: if there are too many.
        """


class Names:
    """The tokens by their ids."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._known: dict[int, StepToken] = {}

    def token(self, token_id: int) -> StepToken:
        """Return a token; one without a text (an unknown one can be so) has none."""
        token = self._known.get(token_id)
        if token is None:
            try:
                content = self._tokenizer.token_bytes(token_id)
            except InputError:
                content = b""
            token = self._known[token_id] = StepToken(token_id, content)
        return token


def collected(spellings: Iterable[Spelling]) -> tuple[Spelling, ...]:
    """Put spellings that are the same together, in order of first occurrence."""
    times = Counter(spellings)
    return tuple(replace(spelling, times=count) for spelling, count in times.items())


def window(symbols: Sequence[bytes], at: int | None = None) -> Symbols:
    """Return symbols, or those around one of them where there are many.

    >>> window([b"a", b"b"], 1)
    Symbols(contents=(b'a', b'b'), before=0, after=0, at=1)
    """
    return contents_around(symbols, at, bytes)


def contents_around(symbols: Sequence[Symbol], at: int | None, content: Callable[[Symbol], bytes]) -> Symbols:
    """Return what ``window`` does, of symbols that are not written out yet: only those that are shown are.

    >>> contents_around(range(1000), 3, lambda number: b"%d" % number).after
    959
    """
    start = max(0, min((at or 0) - AROUND, len(symbols) - SHOWN))
    shown = tuple(map(content, symbols[start : start + SHOWN]))
    return Symbols(shown, start, len(symbols) - start - len(shown), None if at is None else at - start)


MARK = "\u2581"


@dataclass(frozen=True, slots=True)
class Part:
    """A piece, or a special token.

    Attributes:
        text: The piece as the model gets it; the text of a special token.
        joins: Whether an unknown token of it becomes one with that of the piece before: they are of the
            same stretch.
        word: Whether it is only a part of a piece, which is cut where no token goes on.
    """

    text: bytes
    special_id: int | None = None
    joins: bool = False
    word: bool = False


class Pieces:
    """Find the pieces of texts for one tokenizer."""

    def __init__(self, tokenizer: Tokenizer, specials: Specials) -> None:
        """Prepare.

        Raises:
            UsageError: if a name in ``specials`` is unknown.
        """
        self._tokenizer = tokenizer
        self._engine = tokenizer.engine
        self._matcher = tokenizer.matcher(specials)
        self._border = border_of(tokenizer.live_model)
        self._reads_visible = tokenizer.has_bytes and any(
            isinstance(stage, ByteLevel) for stage in tokenizer.pre_tokenizer
        )
        # What looks for tokens in normalized text, and what cuts the rest of it.
        self._added: tuple[_core.SpecialMatcher, Engine] | None = None
        if self._matcher is not None and self._matcher.looks_in_normalized:
            self._added = self._matcher_of_normalized(specials), replace(tokenizer, normalizer=()).engine

    @property
    def spelt(self) -> bool:
        """Whether pieces are written in the visible alphabet of bytes."""
        stages = (*self._tokenizer.normalizer, *self._tokenizer.pre_tokenizer)
        return not self._tokenizer.has_bytes and any(isinstance(it, (ByteLevel, ByteLevelNormalizer)) for it in stages)

    def of(self, text: bytes) -> Iterator[Part]:
        """Yield the parts of a text in order."""
        position = 0
        for segment, special_id in segments(text, self._matcher):
            first = position == 0
            position += len(segment)
            if special_id is not None:
                yield Part(segment, special_id)
            elif self._added is None:
                yield from self._cut(self._engine, segment, first)
            else:
                yield from self._around_added(*self._added, segment, first)

    def _around_added(self, added: _core.SpecialMatcher, cutter: Engine, segment: bytes, first: bool) -> Iterator[Part]:
        """Yield the parts of a stretch in which tokens are looked for once it is normalized."""
        normalized = self._engine.normalize(segment, first=first)
        for stretch, token_id in segments(normalized, added):
            if token_id is None:
                yield from self._cut(cutter, stretch, first)
            else:
                yield Part(stretch, token_id)
                first = False

    def _cut(self, engine: Engine, stretch: bytes, first: bool) -> Iterator[Part]:
        """Yield the pieces that stages make of a stretch, cut where no token goes on."""
        for number, piece in enumerate(engine.pieces(stretch, first=first).contents()):
            if self._reads_visible:
                piece = bytes(CHAR_TO_BYTE[each] for each in text_of(piece) if each in CHAR_TO_BYTE)
            parts = [piece] if self._border is None else list(filter(None, self._border.split(piece)))
            for part in parts:
                yield Part(part, joins=number > 0, word=len(parts) > 1)

    def _matcher_of_normalized(self, specials: Specials) -> _core.SpecialMatcher:
        """Compile the tokens that are looked for in normalized text, themselves normalized."""
        tokens = [
            token for token in self._tokenizer.special_tokens if token.normalized and _is_enabled(token, specials)
        ]
        tokens.sort(key=lambda token: (not token.special, token.token_id))
        contents = ((self._engine.normalize(token.content), token) for token in tokens)
        patterns = [(content, token) for content, token in contents if content]
        return _core.SpecialMatcher(
            [content for content, _ in patterns],
            [token.token_id for _, token in patterns],
            bytes(token.lstrip | token.rstrip << 1 | token.single_word << 2 for _, token in patterns),
        )


def border_of(model: Model) -> re.Pattern[bytes] | None:
    """Find where pieces can be cut without changing any token; None if nowhere.

    As in the core: before each run of marks for blanks, or after each, if a mark is a token and no token
    goes on across such a place. Sums of scores in single precision depend on where they begin, so there
    nothing is cut.
    """
    if isinstance(model, Unigram):
        if model.single_precision:
            return None
        matching = {1, 4}
    elif isinstance(model, ScoredBpe):
        matching = {1, 4, 5}
    elif isinstance(model, CharacterBpe):
        if model.continuing_subword_prefix or model.end_of_word_suffix or model.ignore_merges:
            return None
        return _border(token for _, token in model.vocabulary.items())
    else:
        return None
    kinds = model.kinds
    return _border(token for token_id, token in model.vocabulary.items() if not kinds or kinds[token_id] in matching)


def _border(tokens: Iterable[bytes]) -> re.Pattern[bytes] | None:
    mark = MARK.encode()
    known = inside = before = False
    for token in tokens:
        if mark in token:
            # What stands before the first mark, then what stands after each; nothing between neighbours.
            head, *tails = token.split(mark)
            known |= token == mark
            inside |= bool(head) or any(tails[:-1])
            before |= any(tails)
    if not known or (inside and before):
        return None
    return re.compile(b"(?<=%b)(?!%b)" % (mark, mark) if inside else b"(?<!%b)(?=%b)" % (mark, mark))


def _is_enabled(token: SpecialToken, specials: Specials) -> bool:
    return not token.special or specials == "all" or text_of(token.content) in specials
