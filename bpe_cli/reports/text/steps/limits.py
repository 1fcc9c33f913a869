"""What the walks of all models share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from bpe_cli.errors import InputError
from bpe_cli.reports.text.steps.values import Spelling, StepToken, Symbols

if TYPE_CHECKING:
    from bpe_cli.reports.text.steps.values import Walk
    from bpe_cli.tokenizer import Tokenizer

LONGEST_PIECE = 1 << 14
"""Bytes of a piece whose steps are told."""
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
    """How much to tell.

    Attributes:
        rows: Pieces and special tokens of a text; None for all.
        steps: Steps of a piece; None for all.
        nbest: Segmentations of a piece to rank.
    """

    rows: int | None = 20
    steps: int | None = 40
    nbest: int = 5


class TooMuchToTell(Exception):
    """State that the steps of a piece are too many; no error, for the sentence is what is told instead."""


def check_length(piece: bytes) -> None:
    """Refuse to tell the steps of a piece that is too long.

    Raises:
        TooMuchToTell: if the piece is too long.
    """
    if len(piece) > LONGEST_PIECE:
        raise TooMuchToTell(f"the piece has {len(piece):,} bytes, and those of up to {LONGEST_PIECE:,} are shown")


def check_work(characters: int, lengths: Iterable[int]) -> None:
    """Refuse to look up tokens of so many lengths at so many places.

    Raises:
        TooMuchToTell: That would take minutes.
    """
    if characters * sum(length for length in lengths if length <= characters) > MOST_LOOKED_UP:
        raise TooMuchToTell(f"{characters:,} characters, with tokens of so many lengths, are too many to look up")


class Walker(Protocol):
    """Tells how a model comes to the tokens of a piece."""

    def walk(self, piece: bytes) -> Walk:
        """Return the steps of one piece, which the model can encode.

        Raises:
            TooMuchToTell: if there are too many.
        """


class Names:
    """Gives tokens by their ids."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._known: dict[int, StepToken] = {}

    def token(self, token_id: int) -> StepToken:
        """Return a token; one without a text (an unknown one can be so) has none."""
        found = self._known.get(token_id)
        if found is None:
            try:
                content = self._tokenizer.token_bytes(token_id)
            except InputError:
                content = b""
            found = self._known[token_id] = StepToken(token_id, content)
        return found


def text_of(content: bytes) -> str:
    """Read bytes as characters, what is not UTF-8 each as one."""
    return content.decode("utf-8", "surrogateescape")


def bytes_of(text: str) -> bytes:
    """Write characters as bytes, the inverse of ``text_of``."""
    return text.encode("utf-8", "surrogateescape")


def collected(spellings: Iterable[Spelling]) -> tuple[Spelling, ...]:
    """Put spellings that are the same together, in order of first occurrence."""
    times = Counter(spellings)
    return tuple(replace(spelling, times=count) for spelling, count in times.items())


def window(symbols: Sequence[bytes], at: int | None = None) -> Symbols:
    """Return symbols, or those around one of them where there are many.

    >>> window([b"a", b"b"], 1)
    Symbols(contents=(b'a', b'b'), before=0, after=0, at=1)
    """
    if len(symbols) <= SHOWN:
        return Symbols(tuple(symbols), at=at)
    start = max(0, min((at or 0) - AROUND, len(symbols) - SHOWN))
    shown = tuple(symbols[start : start + SHOWN])
    return Symbols(shown, start, len(symbols) - start - len(shown), None if at is None else at - start)
