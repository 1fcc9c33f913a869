"""Write a comparison as plain JSON, with a ``schema`` field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bpe_cli.reports.comparison.changes import SCHEMA
from bpe_cli.reports.comparison.comparison import METRICS, Settings, differences_of
from bpe_cli.reports.comparison.probe_code import FRAGMENTS, INDENTS
from bpe_cli.reports.comparison.probe_data import LAYOUTS
from bpe_cli.reports.comparison.probe_numbers import EXAMPLES
from bpe_cli.support.version import __version__
from bpe_cli.views.json_values import JsonWalker, Shape
from bpe_cli.views.text.as_json import SHAPES as TEXT_SHAPES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bpe_cli.reports.comparison.changes import Changes
    from bpe_cli.reports.comparison.checks import Check
    from bpe_cli.reports.comparison.comparison import Comparison
    from bpe_cli.reports.comparison.measures import Measure
    from bpe_cli.reports.comparison.probe_languages import LanguageProbe

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
    "comparison.Metric": Shape("name better kind meaning"),
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
    "comparison.Probes": Shape("languages code data numbers"),
    "probe_languages.LanguageProbe": Shape(
        "source languages pivot line_count byte_counts results",
        pivot=lambda probe: probe.languages[probe.pivot],
        results=_languages,
    ),
    "probe_languages.LanguageCost": Shape("token_count premium median_premium mean_premium unknown_count"),
    "probe_code.CodeProbe": Shape(
        "source names byte_count blank_bytes blank_share fragments results", fragments=lambda _: FRAGMENTS
    ),
    "probe_code.CodeResult": Shape(
        "token_count blank_tokens blank_share as_written reindented tabs_per_spaces indents fragments lossless",
        reindented=lambda result: _keyed([*INDENTS], result.reindented),
        indents=lambda result: _keyed([*INDENTS], result.indents),
    ),
    "probe_data.DataProbe": Shape(
        "source names byte_counts results", byte_counts=lambda probe: _keyed(LAYOUTS, probe.byte_counts)
    ),
    "probe_data.DataResult": Shape(
        "token_counts objects yaml_per_json yaml_per_compact lossless",
        token_counts=lambda result: _keyed(LAYOUTS, result.sums),
        objects=lambda result: [_keyed(LAYOUTS, counts) for counts in result.counts],
    ),
    "probe_numbers.NumberResult": Shape(
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
        probes, overlaps, disagreements: Where they were asked for; see below.

    probes.languages: What parallel lines cost.

        source: Where the lines are from.
        languages: Their names; ``byte_counts`` and ``costs`` stand in their order.
        pivot: The name of the language that the others are compared with.
        line_count: Lines that each has.
        byte_counts: Bytes that each has.
        results: Per tokenizer ``gini``, ``worst`` (names of the languages with the most tokens) and ``costs``: each
            with ``token_count``, ``premium`` (tokens per token of the pivot, a ratio of sums), ``median_premium`` and
            ``mean_premium`` (of the lines' ratios), and ``unknown_count`` (tokens that stand for unknown text).

    probes.code: What code costs.

        source: Where the files are from.
        names: The files; counts of files stand in their order.
        byte_count, blank_bytes, blank_share: Bytes of all, and how many of them are white space.
        fragments: The operators, brackets and line ends that were asked.
        results: Per tokenizer ``token_count``, ``blank_tokens`` and ``blank_share`` (tokens that are only white
            space), ``as_written`` (tokens of each file), ``reindented`` (for each indentation the tokens of each
            file), ``tabs_per_spaces`` (tokens with tabs per token with four spaces), ``indents`` (for each
            indentation what 1 to 8 levels add to a line), ``fragments`` (tokens of each) and ``lossless`` (whether
            the tokens decode to the files).

    probes.data: What formats cost.

        source: Where the objects are from.
        names: What the objects are called.
        byte_counts: Bytes in each layout: ``json`` and ``yaml`` as they are written, ``json_compact`` without white
            space, ``json_2_spaces``, ``json_4_spaces`` and ``json_tabs`` indented.
        results: Per tokenizer ``token_counts`` (in each layout), ``objects`` (the same for each object),
            ``yaml_per_json`` and ``yaml_per_compact`` (ratios of sums) and ``lossless`` (whether the tokens decode to
            the texts).

    probes.numbers: How numbers are cut.

        results: Per tokenizer ``one_token`` and ``one_token_spaced`` (of 0 to 9999), ``grouping`` (``left to right``,
            ``right to left``, ``single digits`` or ``irregular``), ``group_size`` (null where irregular),
            ``consistency`` (share of numbers that are cut as is usual for their length), ``lengths`` (each with
            ``digits``, ``numbers`` asked, ``mean_tokens``, ``fewest``, ``most``, ``usual`` cut and its share
            ``consistency``) and ``examples`` (each with ``text`` and its ``parts``).

    overlaps: What two vocabularies have in common, one per tokenizer after the first. Lists of two are of the
        first tokenizer and of the other.

        first, second: Numbers of the tokenizers.
        sizes: Different texts that tokens stand for.
        shared: Texts that both have a token for.
        jaccard: Shared ones among all.
        containment: Share of each's own that the other has too.
        weighted: Share of each's tokens on the inputs whose text the other has a token for; null without inputs.
        rank_correlation: Kendall's tau-b of the ids of shared tokens.
        equal_merges: How many merges agree from the first on; null unless both are byte pair encoding.
        alone: What each has alone: ``count``, ``scripts`` (by the first letter; ``none`` without one, ``bytes`` where
            it is not UTF-8, ``other``; each with ``script``, ``count`` and ``examples``) and the ``longest``.

    disagreements: How differently two tokenizers cut the same texts, one per tokenizer after the first. Lists of
        two are of the first and of the other.

        first, second: Numbers of the tokenizers.
        byte_count: Bytes of the texts; ``whole`` tells whether that is all of the inputs, or their beginnings.
        boundaries, common_boundaries: Offsets inside a text at which a token ends, of each and of both.
        jaccard, precision, recall, f1: Of the other's boundaries against the first's.
        words, words_alike, words_finer, words_coarser: Stretches without white space; those cut at the same places,
            those in which the other has all the first's boundaries, and the other way round.
        segments, kinds: Segments cut differently (a segment lies between two common boundaries), and how many
            different ones.
        unknown_counts: Tokens of each that stand for unknown text.
        differences: The most costly: ``text`` (its beginning, if ``byte_count`` says that there is more),
            ``ends`` (where each's tokens end in it), ``token_counts``, ``times``, ``cost`` (tokens more, times
            ``times``), and of the first occurrence ``input``, ``document``, ``offset``, ``before`` and ``after``.

    Names are strings, or ``{"bytes": "61ff"}`` where they are not UTF-8. ``reports.comparison.stored`` reads it.
    """
    value = {**_value(report), "changes": _value(changes), "checks": _value(checks)}
    if report.probes is not None:
        value["probes"] = {name: each for name, each in _value(report.probes).items() if each is not None}
    if report.overlaps:
        value["overlaps"] = _value(report.overlaps)
    if report.disagreements:
        value["disagreements"] = _value(report.disagreements)
    return value
