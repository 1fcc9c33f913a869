"""Give a comparison as plain JSON, with a ``schema`` field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bpe_cli.views.comparison.extras_json import extras_json
from bpe_cli.views.json_values import name_value
from bpe_cli.views.text.as_json import segmentation_json

if TYPE_CHECKING:
    from bpe_cli.reports.comparison.comparison import Comparison, Row

COMPARISON_SCHEMA = "bpe.compare/1"


def comparison_json(report: Comparison) -> dict[str, Any]:
    """Give a comparison.

    Fields:
        schema: ``bpe.compare/1``.
        tokenizers: Each with ``name`` and ``vocab_size``; results below stand in their order.
        inputs: Each with ``name``, ``document_count``, ``byte_count``, ``character_count``, ``results``
            (per tokenizer ``token_count``, ``bytes_per_token``, ``characters_per_token`` and ``ratio``,
            tokens per token of the first tokenizer) and ``best`` (numbers of the tokenizers with the
            fewest tokens; empty when all are equal).
        total: The same for all inputs together: ratios of sums.
        passages: Short texts, each with ``input``, ``document`` (its number there) and
            ``segmentations``, each as in ``bpe.inspect.text/1``.
        probes, overlaps, disagreements: Where they were asked for; see ``extras_json``.
    """
    return {
        "schema": COMPARISON_SCHEMA,
        "tokenizers": [
            {"name": name_value(name), "vocab_size": size}
            for name, size in zip(report.tokenizers, report.vocab_sizes, strict=True)
        ],
        "inputs": [_row(row) for row in report.rows],
        "total": _row(report.total),
        "passages": [
            {
                "input": name_value(passage.source),
                "document": passage.document,
                "segmentations": [segmentation_json(each) for each in passage.segmentations],
            }
            for passage in report.passages
        ],
        **extras_json(report),
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        "name": name_value(row.name),
        "document_count": row.document_count,
        "byte_count": row.byte_count,
        "character_count": row.character_count,
        "results": [
            {
                "token_count": measure.token_count,
                "bytes_per_token": measure.bytes_per_token,
                "characters_per_token": measure.characters_per_token,
                "ratio": measure.ratio,
            }
            for measure in row.measures
        ],
        "best": list(row.best),
    }
