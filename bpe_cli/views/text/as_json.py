"""Write a text as tokens as plain JSON, with a ``schema`` field that says which version of which form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bpe_cli.views.json_values import name_value, one_or_several, text_value

if TYPE_CHECKING:
    from bpe_cli.reports.text.segmentation import Segmentation
    from bpe_cli.reports.text.stages import StagesReport
    from bpe_cli.reports.text.warnings import TextWarning

SEGMENTATION_SCHEMA = "bpe.inspect.text/1"
TEXTS_SCHEMA = "bpe.inspect.texts/1"


def segmentation_json(
    report: Segmentation, warnings: Sequence[TextWarning] | None = None, stages: StagesReport | None = None
) -> dict[str, Any]:
    """Return a text as tokens.

    Fields:
        schema: ``bpe.inspect.text/1``.
        tokenizer: Its name, or null.
        token_count, byte_count, character_count: Totals.
        bytes_per_token, characters_per_token: Numbers, or null.
        round_trip: Whether decoding gives exactly the text; if not, ``differs_at`` is the first byte
            that differs (else null).
        tokens: In order, each with ``id``, ``token`` (as the vocabulary spells it), ``bytes`` and
            ``characters`` ([start, end) in the text), ``special``, ``piece`` (number of its piece; null
            for special tokens, and where pieces are rewritten) and ``score`` (a natural logarithm for a
            unigram model; null where there is none).
        split: Grapheme clusters that lie in several tokens, each with ``text``, ``tokens``
            ([first, end) numbers) and ``contents`` (hexadecimal, one per token).
        warnings: If the text was looked at for them: each with ``kind`` (``reports.text.warnings.KINDS``),
            ``message``, ``hint``, ``bytes`` ([start, end) of the first place) and ``count`` of places.
        stages: If asked for, what each stage makes of the text; see ``stages_json``.
    """
    value: dict[str, Any] = {
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
                "score": token.score,
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
    if warnings is not None:
        value["warnings"] = [
            {
                "kind": warning.kind,
                "message": warning.message,
                "hint": warning.hint,
                "bytes": [warning.start, warning.end],
                "count": warning.count,
            }
            for warning in warnings
        ]
    if stages is not None:
        value["stages"] = stages_json(stages)
    return value


def stages_json(report: StagesReport) -> dict[str, Any]:
    """Return what each stage makes of a text; offsets are [start, end) in bytes of the text as given.

    Fields:
        normalizer: Each normalizer in order, with ``type``, ``text`` (what it made) and ``changes``, each
            with ``bytes``, ``before`` and ``after``.
        pre_tokenizer: Their types, in order.
        pieces: In order, each with ``text`` (what the model gets), ``bytes``, ``tokens`` ([first, end)
            numbers) and ``special``: whether it is a special token found in the text, and no piece.
        model: What the model is called.
        post_processor: ``types`` of its parts, and what they give: ``ids``, ``tokens``, ``type_ids`` and
            ``special_mask`` (1 for what they put in).
        decoder: ``types`` of its parts, and the ``text`` that the tokens read as.
    """
    return {
        "normalizer": [
            {
                "type": stage.name,
                "text": text_value(stage.content),
                "changes": [
                    {
                        "bytes": [change.start, change.end],
                        "before": text_value(change.before),
                        "after": text_value(change.after),
                    }
                    for change in stage.changes
                ],
            }
            for stage in report.normalizers
        ],
        "pre_tokenizer": list(report.pre_tokenizers),
        "pieces": [
            {
                "text": text_value(piece.content),
                "bytes": [piece.start, piece.end],
                "tokens": [piece.first, piece.token_end],
                "special": piece.special,
            }
            for piece in report.pieces
        ],
        "model": report.model,
        "post_processor": {
            "types": list(report.post_processor),
            "ids": report.processed.ids,
            "tokens": [text_value(content) for content in report.contents],
            "type_ids": report.processed.type_ids,
            "special_mask": report.processed.special_mask,
        },
        "decoder": {"types": list(report.decoders), "text": text_value(report.decoded)},
    }


def texts_json(texts: Sequence[dict[str, Any]], origins: Sequence[tuple[str, int]]) -> dict[str, Any]:
    """Write one text as ``segmentation_json`` gave it, and several as one object.

    Schema ``bpe.inspect.texts/1``: ``texts`` is a list of ``bpe.inspect.text/1`` objects, in order, each with
    ``input`` (the name of the input it is of) and ``document`` (its number there, from 1) besides.
    """
    return one_or_several(texts, origins, TEXTS_SCHEMA)
