"""Record what is looked up as it is: whole pieces, and n-grams."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bpe_cli.reports.text.steps.limits import bytes_of, check_length, check_work, text_of
from bpe_cli.reports.text.steps.values import LookUp, LookUpWalk

if TYPE_CHECKING:
    from bpe_cli.reports.text.steps.limits import Limits, Names
    from bpe_cli.stages import NGram, WordLevel


class WholePieces:
    """Record the steps of ``WordLevel``: a piece is a token, or unknown."""

    def __init__(self, model: WordLevel, names: Names, limits: Limits) -> None:
        self._model = model
        self._names = names

    def walk(self, piece: bytes) -> LookUpWalk:
        """Return the one step of a piece."""
        found = self._model.vocabulary.id_of(piece)
        token_id = self._model.unk_id if found is None else found
        steps = () if token_id is None else (LookUp(piece, self._names.token(token_id), found is not None),)
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
        """Return the steps of one piece.

        Raises:
            TooMuchToTell: if there are too many.
        """
        check_length(piece)
        steps = []
        piece_text = text_of(piece)
        check_work(len(piece_text), [min(self._n, len(piece_text))])
        for start in range(len(piece_text)):
            text = bytes_of(piece_text[start : start + self._n])
            found = self._ids.get(text)
            token_id = self._unk_id if found is None else found
            if token_id is not None:
                steps.append(LookUp(text, self._names.token(token_id), found is not None))
        shown = tuple(steps[: self._limits.steps])
        return LookUpWalk(self._n, shown, len(steps) - len(shown), tuple(step.token for step in steps))
