"""Write a comparison as plain JSON, with a ``schema`` field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bpe_cli import __version__
from bpe_cli.reports.comparison.metric_names import differences_of
from bpe_cli.reports.comparison.metrics import METRICS
from bpe_cli.reports.comparison.stored import SCHEMA, finite
from bpe_cli.views.comparison.extras_json import extras_json
from bpe_cli.views.json_values import name_value
from bpe_cli.views.text.as_json import segmentation_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bpe_cli.reports.comparison.changes import Changes
    from bpe_cli.reports.comparison.checks import Check
    from bpe_cli.reports.comparison.comparison import Comparison, Row
    from bpe_cli.reports.comparison.measures import Difference, Measure

WORD = "a stretch without white space (Unicode's White_Space)"
"""What a word is, in every metric that counts words."""


def comparison_json(
    report: Comparison, *, changes: Changes | None = None, checks: Sequence[Check] = ()
) -> dict[str, Any]:
    """Return a comparison.

    Args:
        report: The comparison.
        changes: What has changed since another comparison.
        checks: What was checked.

    Fields:
        schema: ``bpe.compare/2``. It changes when a field goes or changes its meaning; more fields and metrics may
            come without that.
        bpe_version: The version of bpe.
        settings: ``documents`` (``whole``, ``lines`` or ``jsonl``), ``field`` (of the JSON lines, or null),
            ``specials`` (which special tokens were looked for in the text: ``"all"`` or their texts) and ``word``
            (what a word is).
        metrics: What each metric in the results means: ``name``, ``better`` (``less``, ``more`` or null), ``kind``
            (``count``, ``ratio``, ``share``: a part of one, ``speed``) and ``meaning``.
        tokenizers: Each with ``name``, ``vocab_size`` (its highest id plus one), ``vocabulary`` (how many ids have a
            token: what tables show, and what ``vocabulary_used`` is a share of) and ``fingerprint`` (a sha256 of its
            value, or null); results stand in their order.
        baseline: The number of the tokenizer that the others are compared with.
        inputs: Each with ``name``, ``document_count``, ``empty_document_count``, ``byte_count``, ``character_count``,
            ``sha256`` (of its documents' bytes, or null), ``results`` (per tokenizer ``token_count``, ``loses_text``
            and every metric by its name; null where there is no value), ``differences`` (per tokenizer null, as for
            the baseline, or the ``ratio`` of tokens to the baseline's, its 95% interval ``low`` to ``high``, ``p``,
            ``p_adjusted`` by Holm's method, ``units`` drawn from, ``unit_documents`` in each, and ``method``) and
            ``best`` (numbers of the tokenizers with the fewest tokens; empty when all are equal). A tokenizer that
            loses text (``loses_text``: unknown tokens stand for more than 0.1% of the bytes) is never among the
            ``best``: few tokens are no merit then.
        total: The same for all inputs together: ratios of sums.
        changes: With ``--against`` or ``--max-regression``, else null: ``reference``, ``stored`` (whether that is a
            stored report or a tokenizer), ``changes`` (each with ``metric``, ``tokenizer``, ``input`` or null for all
            together, ``before``, ``now``, ``relative``: null from 0 or without a value, and ``verdict``: ``worse``,
            ``better`` or ``same``), ``new_tokenizers``, ``gone_tokenizers``, ``new_inputs``, ``gone_inputs``.
        checks: Each with ``option``, ``value``, ``passed`` and ``failures`` (``tokenizer``, ``input`` or null,
            ``statement``).
        passages: Short texts, each with ``input``, ``document`` (its number there) and
            ``segmentations``, each as in ``bpe.inspect.text/1``.
        probes, overlaps, disagreements: Where they were asked for; see ``extras_json``.

    Names are strings, or ``{"bytes": "61ff"}`` where they are not UTF-8. ``reports.comparison.stored`` reads it.
    """
    settings = report.settings
    fingerprints: Sequence[str | None] = report.fingerprints or (None,) * len(report.tokenizers)
    return {
        "schema": SCHEMA,
        "bpe_version": __version__,
        "settings": {
            "documents": settings.documents if settings else "whole",
            "field": settings.field if settings else None,
            "specials": _specials(settings.specials if settings else ()),
            "word": WORD,
        },
        "metrics": [
            {"name": each.name, "better": each.better, "kind": each.kind, "meaning": each.meaning}
            for each in METRICS.values()
        ],
        "tokenizers": [
            {"name": name_value(name), "vocab_size": size, "vocabulary": each.vocab_size, "fingerprint": fingerprint}
            for name, size, each, fingerprint in zip(
                report.tokenizers, report.vocab_sizes, report.total.measures, fingerprints, strict=True
            )
        ],
        "baseline": report.baseline,
        "inputs": [_row(row) for row in report.rows],
        "total": _row(report.total),
        "changes": None if changes is None else _changes(changes),
        "checks": [
            {
                "option": check.option,
                "value": name_value(check.value),
                "passed": not check.failures,
                "failures": [
                    {
                        "tokenizer": name_value(each.tokenizer),
                        "input": name_value(each.source),
                        "statement": each.statement,
                    }
                    for each in check.failures
                ],
            }
            for check in checks
        ],
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


def _specials(specials: str | Sequence[str]) -> Any:
    return specials if isinstance(specials, str) else [name_value(each) for each in specials]


def _row(row: Row) -> dict[str, Any]:
    return {
        "name": name_value(row.name),
        "document_count": row.document_count,
        "empty_document_count": row.empty_count,
        "byte_count": row.byte_count,
        "character_count": row.character_count,
        "sha256": row.sha256,
        "results": [_result(measure) for measure in row.measures],
        "differences": [_difference(each) for each in differences_of(row)],
        "best": list(row.best),
    }


def _result(measure: Measure) -> dict[str, Any]:
    values = {name: finite(metric.of(measure)) for name, metric in METRICS.items()}
    return {"token_count": measure.token_count, "loses_text": measure.loses_text, **values}


def _difference(difference: Difference | None) -> dict[str, Any] | None:
    if difference is None:
        return None
    return {
        "ratio": finite(difference.ratio),
        "low": finite(difference.low),
        "high": finite(difference.high),
        "p": finite(difference.p),
        "p_adjusted": finite(difference.p_adjusted),
        "units": difference.units,
        "unit_documents": difference.unit_documents,
        "method": difference.method,
    }


def _changes(changes: Changes) -> dict[str, Any]:
    return {
        "reference": name_value(changes.reference),
        "stored": changes.stored,
        "changes": [
            {
                "metric": change.metric.name,
                "tokenizer": name_value(change.tokenizer),
                "input": name_value(change.source),
                "before": change.before,
                "now": change.now,
                "relative": finite(change.relative),
                "verdict": change.verdict,
            }
            for change in changes.changes
        ],
        **{
            field: [name_value(name) for name in getattr(changes, field)]
            for field in ("new_tokenizers", "gone_tokenizers", "new_inputs", "gone_inputs")
        },
    }
