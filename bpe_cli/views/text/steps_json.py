"""Write the steps of texts as plain JSON values."""

from __future__ import annotations

from dataclasses import fields
from math import isfinite
from typing import TYPE_CHECKING, Any

from bpe_cli.reports.text.steps.values import StepToken
from bpe_cli.views.json_values import name_value, one_or_several, text_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bpe_cli.reports.text.steps.values import Steps

STEPS_SCHEMA = "bpe.inspect.steps/1"
ALL_STEPS_SCHEMA = "bpe.inspect.all-steps/1"


def steps_json(steps: Steps) -> dict[str, Any]:
    """Return how a tokenizer arrived at the tokens of a text.

    Texts are strings, or ``{"bytes": "e8b0"}`` where they are no UTF-8. A token is ``{"id": 3, "token": "a"}``.

    Fields:
        schema: ``bpe.inspect.steps/1``.
        tokenizer: Its name, or null.
        model: The kind of its model.
        byte_count, token_count, row_count, piece_count: Of the whole text; a row is a piece or a special token.
        spelt: Whether texts are written in GPT-2's alphabet, a character for each byte.
        words: Whether a "piece" is a word of a piece here: some are cut, for no token goes over a blank.
        differs_at: Place (from 0) of the first row whose steps end elsewhere than the tokenizer: null, or an error
            of bpe.
        rows: The first ones, each with ``number`` (of the piece, from 0; null for a special token), ``text``,
            ``special`` (a token or null), ``walk`` (null for a special token and for a piece that stood before),
            ``same_as`` (the number of that), ``fused`` (it is one unknown token with the row before) and
            ``tokens``.

    A walk says its ``family``, what the piece becomes (``tokens``), the first ``steps`` (or ``places``) and how
    many ``more`` there are; the other fields are those of the classes in ``reports/text/steps/values.py``:

        merges: ``whole`` (the piece is a token: the steps are those that there would be), ``spelt`` and ``ends``
            (what is no token before and after merging), ``start``, ``merged``; a step has ``rank`` or ``score``,
            ``left``, ``right``, ``product`` and the ``symbols`` afterwards.
        longest-from-left: a step has the ``rest`` (``cut`` by so many characters), how many beginnings were
            ``tried``, the tokens that ``fits``, longest first, and the one ``taken``.
        longest-anywhere: a step has the ``token`` cut out and the ``parts`` afterwards.
        look-up: a step has the ``text``, the ``token``, and whether it is ``known``.
        lattice: a place has the ``ways`` that end there (``text``, ``token_id`` or null, ``start``, ``score``,
            ``total``) and which of them is ``best``; then ``path``, ``score``, and ``ranked``: the best
            segmentations with ``score`` and ``probability``.
        left-out: ``reason``.

    A score without end, which a broken file can have, is the string ``inf`` or ``-inf``.
    """
    return {
        "schema": STEPS_SCHEMA,
        "tokenizer": name_value(steps.tokenizer),
        **{each.name: _value(getattr(steps, each.name)) for each in fields(steps) if each.name != "tokenizer"},
    }


def all_steps_json(steps: Sequence[Steps], origins: Sequence[tuple[str, int]]) -> dict[str, Any]:
    """Write one text's steps as ``steps_json`` does, and those of several as ``one_or_several`` does."""
    return one_or_several([steps_json(each) for each in steps], origins, ALL_STEPS_SCHEMA)


def _value(value: Any) -> Any:
    """Write a value of a report: its fields, each text as ``text_value`` does."""
    if isinstance(value, bytes):
        return text_value(value)
    if isinstance(value, tuple):
        return [_value(each) for each in value]
    if isinstance(value, float) and not isfinite(value):
        return str(value)  # JSON has no number for it
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, StepToken):
        return {"id": value.token_id, "token": text_value(value.content)}
    return {each.name: _value(getattr(value, each.name)) for each in fields(value)}
