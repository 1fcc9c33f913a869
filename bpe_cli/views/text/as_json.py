"""Give a text as tokens as plain JSON, with a ``schema`` field that says which version of which form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bpe_cli.views.json_values import name_value, text_value

if TYPE_CHECKING:
    from bpe_cli.reports.text.segmentation import Segmentation

SEGMENTATION_SCHEMA = "bpe.inspect.text/1"
TEXTS_SCHEMA = "bpe.inspect.texts/1"


def segmentation_json(report: Segmentation) -> dict[str, Any]:
    """Give a text as tokens.

    Fields:
        schema: ``bpe.inspect.text/1``.
        tokenizer: Its name, or null.
        token_count, byte_count, character_count: Totals.
        bytes_per_token, characters_per_token: Numbers, or null.
        round_trip: Whether decoding gives exactly the text; if not, ``differs_at`` is the first byte
            that differs (else null).
        tokens: In order, each with ``id``, ``token``, ``bytes`` and ``characters`` ([start, end) in
            the text), ``special`` and ``piece`` (number of its piece; null for special tokens).
        split: Grapheme clusters that lie in several tokens, each with ``text``, ``tokens``
            ([first, end) numbers) and ``contents`` (hexadecimal, one per token).
    """
    return {
        "schema": SEGMENTATION_SCHEMA,
        "tokenizer": name_value(report.tokenizer),
        "token_count": report.token_count,
        "byte_count": report.byte_count,
        "character_count": report.character_count,
        "bytes_per_token": report.bytes_per_token,
        "characters_per_token": report.characters_per_token,
        "round_trip": report.round_trip,
        "differs_at": report.differs_at,
        "tokens": [
            {
                "id": token.token_id,
                "token": text_value(token.content),
                "bytes": [token.start, token.end],
                "characters": [token.character_start, token.character_end],
                "special": token.special,
                "piece": token.piece,
            }
            for token in report.tokens
        ],
        "split": [
            {
                "text": name_value(split.text),
                "tokens": [split.first, split.first + len(split.contents)],
                "contents": [content.hex() for content in split.contents],
            }
            for split in report.splits
        ],
    }


def texts_json(reports: Sequence[Segmentation]) -> dict[str, Any]:
    """Write one text as ``segmentation_json`` does, and several as one object.

    Schema ``bpe.inspect.texts/1``: ``texts`` is a list of ``bpe.inspect.text/1`` objects, in order.
    """
    if len(reports) == 1:
        return segmentation_json(reports[0])
    return {"schema": TEXTS_SCHEMA, "texts": [segmentation_json(report) for report in reports]}
