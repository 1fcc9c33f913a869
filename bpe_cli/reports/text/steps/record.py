"""Record the steps of a text piece by piece, and check that they end at the tokens that the tokenizer makes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from bpe_cli.errors import InputError
from bpe_cli.reports.text.steps import Row, Steps, StepToken, TagWalk, TooMuch, Walk
from bpe_cli.reports.text.steps.events import ByEvents
from bpe_cli.reports.text.steps.fewest import OverUnits
from bpe_cli.reports.text.steps.lattice import OverLattice
from bpe_cli.reports.text.steps.matching import (
    Covered,
    FromLeft,
    NGrams,
    WholePieces,
    WordPieces,
    from_left_or_anywhere,
)
from bpe_cli.reports.text.steps.merging import ByList, ByRanks, ByScores, OverCharacters
from bpe_cli.reports.text.steps.pieces import Limits, Names, Pieces, TooMuchToTell, Walker
from bpe_cli.reports.tokenizer.contents import read_visible
from bpe_cli.support.blocks import Block

if TYPE_CHECKING:
    from bpe_cli.reports.text.steps.pieces import Part
    from bpe_cli.tokenizer import Specials, Tokenizer


LARGEST_TEXT = 1 << 18
"""The most bytes of a text of which all pieces are recorded: each costs some kilobytes."""

WALKERS = {
    "bpe-ranks": ByRanks,
    "bpe-merges": ByList,
    "bpe-characters": OverCharacters,
    "bpe-events": ByEvents,
    "bpe-scores": ByScores,
    "wordpiece": WordPieces,
    "word-level": WholePieces,
    "unigram": OverLattice,
    "longest-match": from_left_or_anywhere,
    "fewest-tokens": OverUnits,
    "max-match": FromLeft,
    "greedy-cover": Covered,
    "n-gram": NGrams,
}
"""What tells each kind of model."""


def teller_of(tokenizer: Tokenizer, specials: Specials = (), limits: Limits | None = None) -> Callable[[bytes], Steps]:
    """Return what tells how a tokenizer arrives at the tokens of a text; its tables are laid out once for all texts.

    What is returned fails with an InputError if a byte of the text has no token, or the text is too long to tell all
    of it.

    Raises:
        UsageError: if a name in ``specials`` is unknown.

    Complexity: of a text, that of encoding it, and n log n in each recorded piece.
    """
    limits = limits or Limits()
    pieces = Pieces(tokenizer, specials)
    names = Names(tokenizer)
    walker: Walker = WALKERS[tokenizer.model.kind](tokenizer.live_model, names, limits)  # type: ignore[operator]  # its own

    def tell_one(text: bytes) -> Steps:
        if limits.rows is None and len(text) > LARGEST_TEXT:
            raise InputError(
                f"the text is longer than the {LARGEST_TEXT >> 10} KiB of which all steps can be shown",
                hint="show a part of it (head -c 100000), or its first pieces, without `full`",
            )
        ids = tokenizer.encode(text, specials=specials)  # what it cannot encode is refused here
        teller = _Teller(tokenizer, names, walker)
        rows: list[Row] = []
        count = piece_count = place = 0
        words = False
        differs_at = None
        for part in pieces.of(text):
            number = piece_count if part.special_id is None else None
            count, piece_count = count + 1, piece_count + (number is not None)
            words |= part.word
            if limits.rows is not None and count > limits.rows:
                continue
            row = teller.row(number, part)
            rows.append(row)
            row_ids = [token.token_id for token in row.tokens]
            if differs_at is None and ids[place : place + len(row_ids)] != row_ids:
                differs_at = count - 1
            place += len(row_ids)
        if differs_at is None and len(rows) == count and place != len(ids):
            differs_at = max(count - 1, 0)
        return Steps(
            tokenizer.name, tokenizer.model.kind, len(text), len(ids), count, piece_count, tuple(rows),
            pieces.spelt, words, differs_at,
        )  # fmt: skip

    return tell_one


class _Teller:
    """Record the pieces of one text, each different piece once."""

    def __init__(self, tokenizer: Tokenizer, names: Names, walker: Walker) -> None:
        self._tokenizer = tokenizer
        self._names = names
        self._walker = walker
        self._first_rows: dict[bytes, tuple[int | None, tuple[StepToken, ...]]] = {}
        model = tokenizer.model
        self._fuses = model.unk_id if model.kind == "word-level" and model.fuse_unk else None
        self._last: StepToken | None = None

    def row(self, number: int | None, part: Part) -> Row:
        """Record one part of a text; parts come in order."""
        if part.special_id is not None:
            token = self._names.token(part.special_id)
            self._last = None
            tag = None if part.special_id in self._tokenizer.special_ids else TagWalk((token,))
            return Row(number, part.text, token, tag, None, False, (token,))
        walk: Walk | None = None
        first = self._first_rows.get(part.text)
        if first is None:
            walk = self._walk(part.text)
            self._first_rows[part.text] = first = number, walk.tokens
        same_as = first[0] if walk is None else None
        tokens = first[1]
        fused = (
            part.joins
            and self._last is not None
            and [token.token_id for token in tokens] == [self._fuses]
            and self._last.token_id == self._fuses
        )
        self._last = tokens[-1] if tokens else self._last
        return Row(number, part.text, None, walk, same_as, fused, () if fused else tokens)

    def _walk(self, piece: bytes) -> Walk:
        try:
            return self._walker.walk(piece)
        except TooMuchToTell as much:
            return TooMuch(str(much), self._encode(piece))

    def _encode(self, piece: bytes) -> tuple[StepToken, ...]:
        """Let the tokenizer's model encode one piece."""
        ids, _ = self._tokenizer.engine.bare.encode(Block.of([piece]))
        return tuple(self._names.token(token_id) for token_id in ids)


Value = TypeVar("Value")


def readable(steps: Steps) -> Steps:
    """Return steps whose texts are the bytes that they stand for; as they are where they are written so already."""
    if not steps.spelt:
        return steps
    return replace(steps, spelt=False, rows=tuple(map(_read_row, steps.rows)))


def _read_row(row: Row) -> Row:
    # The text of a special token is no spelling of bytes.
    return row if row.special is not None else _read(row)


def _read(value: Value) -> Value:
    """Read all bytes in a value."""
    read: Any = value
    if isinstance(value, bytes):
        read = read_visible(value)
    elif isinstance(value, tuple):
        read = tuple(map(_read, value))
    elif is_dataclass(value) and not isinstance(value, type):
        read = replace(value, **{each.name: _read(getattr(value, each.name)) for each in fields(value)})
    return read  # type: ignore[no-any-return]  # what goes in comes out
