"""Write a comparison as plain JSON, with a ``schema`` field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bpe_cli.reports.comparison.comparison import Settings
from bpe_cli.reports.comparison.metrics import METRICS, differences_of
from bpe_cli.reports.comparison.probes.code import FRAGMENTS, INDENTS
from bpe_cli.reports.comparison.probes.data import LAYOUTS
from bpe_cli.reports.comparison.probes.numbers import EXAMPLES
from bpe_cli.reports.comparison.stored import SCHEMA
from bpe_cli.support import __version__
from bpe_cli.views.as_json import SHAPES as TEXT_SHAPES
from bpe_cli.views.as_json import JsonWalker, Shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bpe_cli.reports.comparison.changes import Changes
    from bpe_cli.reports.comparison.checks import Check
    from bpe_cli.reports.comparison.comparison import Comparison
    from bpe_cli.reports.comparison.measures import Measure
    from bpe_cli.reports.comparison.probes.languages import LanguageProbe

WORD = "a stretch without white space (Unicode's White_Space)"
"""What a word is, in every metric that counts words."""


def _keyed(keys: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
    return dict(zip(keys, values, strict=True))


def _tokenizers(report: Comparison) -> list[dict[str, Any]]:
    fingerprints: Sequence[str | None] = report.fingerprints or (None,) * len(report.tokenizers)
    return [
        {"name": name, "vocab_size": size, "vocabulary": each.vocab_size, "fingerprint": fingerprint}
        for name, size, each, fingerprint in zip(
            report.tokenizers, report.vocab_sizes, report.total.measures, fingerprints, strict=True
        )
    ]


def _results(measure: Measure) -> dict[str, Any]:
    values = {name: metric.of(measure) for name, metric in METRICS.items()}
    return {"token_count": measure.token_count, "loses_text": measure.loses_text, **values}


def _languages(probe: LanguageProbe) -> list[dict[str, Any]]:
    return [
        {"gini": each.gini, "worst": [probe.languages[number] for number in each.worst], "costs": each.costs}
        for each in probe.results
    ]


SHAPES = {
    **TEXT_SHAPES,
    "comparison.Comparison": Shape(
        "schema bpe_version settings metrics tokenizers baseline inputs=rows total changes checks passages",
        schema=lambda _: SCHEMA,
        bpe_version=lambda _: __version__,
        settings=lambda report: report.settings or Settings(),
        metrics=lambda _: METRICS.values(),
        tokenizers=_tokenizers,
        changes=lambda _: None,
        checks=lambda _: (),
    ),
    "comparison.Settings": Shape("documents field specials word", word=lambda _: WORD),
    "metrics.Metric": Shape("name better kind meaning"),
    "comparison.Row": Shape(
        "name document_count empty_document_count=empty_count byte_count character_count sha256 results "
        "differences best",
        results=lambda row: [_results(measure) for measure in row.measures],
        differences=differences_of,
    ),
    "changes.Changes": Shape("reference stored changes new_tokenizers gone_tokenizers new_inputs gone_inputs"),
    "changes.Change": Shape("metric=metric.name tokenizer input=source before now relative verdict"),
    "checks.Check": Shape("option value passed failures", passed=lambda check: not check.failures),
    "checks.Failure": Shape("tokenizer input=source statement"),
    "comparison.Passage": Shape("input=source document segmentations"),
    "probes.Probes": Shape("languages code data numbers"),
    "languages.LanguageProbe": Shape(
        "source languages pivot line_count byte_counts results",
        pivot=lambda probe: probe.languages[probe.pivot],
        results=_languages,
    ),
    "languages.LanguageCost": Shape("token_count premium median_premium mean_premium unknown_count"),
    "code.CodeProbe": Shape(
        "source names byte_count blank_bytes blank_share fragments results", fragments=lambda _: FRAGMENTS
    ),
    "code.CodeResult": Shape(
        "token_count blank_tokens blank_share as_written reindented tabs_per_spaces indents fragments lossless",
        reindented=lambda result: _keyed([*INDENTS], result.reindented),
        indents=lambda result: _keyed([*INDENTS], result.indents),
    ),
    "data.DataProbe": Shape(
        "source names byte_counts results", byte_counts=lambda probe: _keyed(LAYOUTS, probe.byte_counts)
    ),
    "data.DataResult": Shape(
        "token_counts objects yaml_per_json yaml_per_compact lossless",
        token_counts=lambda result: _keyed(LAYOUTS, result.sums),
        objects=lambda result: [_keyed(LAYOUTS, counts) for counts in result.counts],
    ),
    "numbers.NumberResult": Shape(
        "one_token one_token_spaced grouping group_size consistency lengths examples",
        examples=lambda result: [
            {"text": text, "parts": parts} for text, parts in zip(EXAMPLES, result.examples, strict=True)
        ],
    ),
    "overlap.Overlap": Shape(
        "first second sizes shared jaccard containment weighted rank_correlation equal_merges "
        "alone=first_alone,second_alone"
    ),
    "overlap.Alone": Shape("count scripts longest"),
    "disagreements.Disagreement": Shape(
        "first second byte_count whole boundaries common_boundaries=common jaccard precision recall f1 words "
        "words_alike words_finer words_coarser segments kinds unknown_counts=unknown differences"
    ),
    "disagreements.Difference": Shape(
        "text byte_count ends=first_ends,second_ends token_counts=first_tokens,second_tokens times cost input=source "
        "document offset before after"
    ),
}
"""What is called otherwise than in the report, what is left out, and what is derived."""

_value = JsonWalker(SHAPES)


def comparison_json(
    report: Comparison, *, changes: Changes | None = None, checks: Sequence[Check] = ()
) -> dict[str, Any]:
    """Return a comparison.

    Args:
        report: The comparison.
        changes: What has changed since another comparison.
        checks: What was checked.
    """
    value = {**_value(report), "changes": _value(changes), "checks": _value(checks)}
    if report.probes is not None:
        value["probes"] = {name: each for name, each in _value(report.probes).items() if each is not None}
    if report.overlaps:
        value["overlaps"] = _value(report.overlaps)
    if report.disagreements:
        value["disagreements"] = _value(report.disagreements)
    return value
