r"""Write a comparison for programs and pull requests: as CSV, as JSON with a ``schema`` field, as Markdown.

The CSV is that of RFC 4180, in UTF-8, with lines that end in CR LF: a row per input and tokenizer and, last, a row of
all inputs together per tokenizer, whose input is ``total``. Numbers are written as Python reads them back, and nothing
where there is no value. A name is the one that the JSON form has, so that the two can be joined, with these exceptions:
bytes that are not UTF-8 and control characters are written as ``\xff``, what changes the direction of text or ends a
line as ``\u202e``, and a name that begins with ``= + - @`` has an apostrophe before it, or a spreadsheet would run it
as a formula.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bpe_cli.errors import UsageError
from bpe_cli.reports.comparison.changes import SCHEMA, finite
from bpe_cli.reports.comparison.comparison import METRICS, USUAL, Settings, differences_of, metrics_named
from bpe_cli.reports.comparison.probe_code import FRAGMENTS, INDENTS
from bpe_cli.reports.comparison.probe_data import LAYOUTS
from bpe_cli.reports.comparison.probe_numbers import EXAMPLES
from bpe_cli.support import __version__
from bpe_cli.views.as_json import SHAPES as TEXT_SHAPES
from bpe_cli.views.as_json import JsonWalker, Shape
from bpe_cli.views.comparison.additions import additions_view
from bpe_cli.views.comparison.tables import input_sheet, summary_sheet
from bpe_cli.views.comparison.values import (
    changes_heading,
    changes_notes,
    changes_sheet,
    remarks,
    sums,
    worst_first,
)
from bpe_cli.views.labels import count, short_names
from bpe_cli.views.markdown import code, escaped, folded, table, written
from bpe_cli.views.visible import harmless

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bpe_cli.reports.comparison.changes import Changes
    from bpe_cli.reports.comparison.checks import Check
    from bpe_cli.reports.comparison.comparison import Comparison, Metric
    from bpe_cli.reports.comparison.measures import Measure
    from bpe_cli.reports.comparison.probe_languages import LanguageProbe


COUNTS = ("input", "tokenizer", "vocab_size", "document_count", "byte_count", "character_count")
INTERVAL = ("ratio_low", "ratio_high", "ratio_p", "ratio_p_adjusted")

TOTAL = "total"
"""What the input of all together is called, as in tables and conditions."""

_FORMULA = ("=", "+", "-", "@")
_UNWRITABLE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\udc80-\udcff"  # control characters, and bytes that are not UTF-8
    r"\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"  # Unicode's Bidi_Control, and its separators of lines
)


def comparison_csv(report: Comparison) -> str:
    """Return a header and the rows."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow((*COUNTS, *METRICS, *INTERVAL))
    for source, row in [*((row.name, row) for row in report.rows), (TOTAL, report.total)]:
        counts = (row.document_count, row.byte_count, row.character_count)
        for name, size, measure, difference in zip(
            report.tokenizers, report.vocab_sizes, row.measures, differences_of(row), strict=True
        ):
            values = [finite(metric.of(measure)) for metric in METRICS.values()]
            known = difference and (difference.low, difference.high, difference.p, difference.p_adjusted)
            writer.writerow((cell(source), cell(name), size, *counts, *values, *(known or (None,) * len(INTERVAL))))
    return out.getvalue()


def cell(name: str) -> str:
    r"""Write a name so that no spreadsheet takes it for a formula, no terminal for a command, no reader for another.

    >>> cell("日本.txt"), cell("=cmd|' /C calc'!A0"), cell("\x1b[2J\udcff")
    ('日本.txt', "'=cmd|' /C calc'!A0", '\\x1b[2J\\xff')
    >>> cell("a\u202etxt.exe")
    'a\\u202etxt.exe'
    """
    shown = _UNWRITABLE.sub(_escaped, name)
    return f"'{shown}" if shown.startswith(_FORMULA) else shown


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    if 0xDC80 <= code <= 0xDCFF:
        code -= 0xDC00
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}"


WORD = "a stretch without whitespace (Unicode's White_Space)"
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
    return {
        "token_count": measure.token_count,
        "checked_document_count": measure.checked_documents,
        "loses_text": measure.loses_text,
        **values,
    }


def _languages(probe: LanguageProbe) -> list[dict[str, Any]]:
    return [
        {"gini": each.gini, "worst": [probe.languages[number] for number in each.worst], "costs": each.costs}
        for each in probe.results
    ]


SHAPES = {
    **TEXT_SHAPES,
    "comparison.Comparison": Shape(
        "schema bpe_version settings metrics tokenizers baseline inputs=rows total changes checks passages lengths use",
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
    "comparison.Probes": Shape("languages code data numbers words"),
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
    "probe_words.WordCost": Shape(
        "word_count token_count fertility uncut uncut_share one_token one_token_share border_count hit_borders recall "
        "boundary_count hit_boundaries precision f1 unknown_count"
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
    "cut_clusters.CutClusters": Shape("tokenizer input=source cluster_count cut_count share example pattern"),
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
    """Return a comparison, what has changed since another one, and what was checked."""
    value = {**_value(report), "changes": _value(changes), "checks": _value(checks)}
    if report.probes is not None:
        value["probes"] = {name: each for name, each in _value(report.probes).items() if each is not None}
    if report.overlaps:
        value["overlaps"] = _value(report.overlaps)
    if report.disagreements:
        value["disagreements"] = _value(report.disagreements)
    if report.cut_clusters:
        value["cut_clusters"] = _value(report.cut_clusters)
    return value


MOST_LINES = 100
"""Lines of a table; GitHub takes a comment of 65,536 characters."""

OPEN_CHANGES = 10
"""Changes that are shown without unfolding them."""


def comparison_latex(report: Comparison, *, metrics: Sequence[Metric] | None = None) -> str:
    """Return the table of tokenizers as LaTeX, with a comment that says of what it is.

    Raises:
        UsageError: if no text was compared: then there is no such table.
    """
    from bpe_cli.views import latex

    if not report.rows:
        raise UsageError("a LaTeX table is of what is measured of inputs, and there are none", hint="name files")
    source = harmless(report.rows[0].name) if len(report.rows) == 1 else count(len(report.rows), "input")
    comment = f"% {source}: {sums(report)}".replace("\n", " ")
    return f"{comment}\n{latex.table(summary_sheet(report, metrics or metrics_named(USUAL)))}\n"


def comparison_markdown(
    report: Comparison,
    *,
    metrics: Sequence[Metric] | None = None,
    changes: Changes | None = None,
    checks: Sequence[Check] = (),
    full: bool = False,
) -> str:
    """Return the checks, the table of tokenizers, what has changed, and the inputs folded in.

    Of each tokenizer ``metrics`` are shown (``USUAL``, unless others are named), and the first of them of each input.
    ``full`` shows all inputs, changes and failures, however many.
    """
    most = None if full else MOST_LINES
    metrics = metrics or metrics_named(USUAL)
    names = [code(name) for name in short_names(report.tokenizers)]
    source = code(report.rows[0].name) if len(report.rows) == 1 else count(len(report.rows), "input")
    view = additions_view(report, full=True)
    additions = "" if view is None else written(view)
    if additions and not report.rows:
        return f"### Tokenizers compared\n\n{additions}\n"
    parts = [f"### Tokenizers compared\n\n{source}: {sums(report)}"]
    if checks:
        parts.append("\n".join(_check(check, most) for check in checks))
    parts.append(table(summary_sheet(report, metrics)))
    if lines := _remarks(report, metrics, names):
        parts.append(lines)
    if changes is not None:
        parts.append(_changes(changes, most))
    if len(report.rows) > 1:
        parts.append(_by_input(report, metrics[0], most))
    if additions:
        parts.append(folded("Probes, vocabularies, differences", additions))
    return "\n\n".join(parts) + "\n"


def _remarks(report: Comparison, metrics: Sequence[Metric], names: Sequence[str]) -> str:
    """Describe what the values mean; in the lines only names are code, and all else is escaped."""
    marker = "\0"  # nothing harmless has one, so that names are told from words
    codes: list[str] = []

    def marked(name: str) -> str:
        codes.append(name)
        return f"{marker}{len(codes) - 1}{marker}"

    lines = remarks(report, metrics, list(map(marked, names)), lambda source: marked(code(source)))
    written = [re.sub(f"{marker}(\\d+){marker}", lambda match: codes[int(match[1])], escaped(line)) for line in lines]
    return "<br>\n".join(written)


def _check(check: Check, most: int | None) -> str:
    """Write the result of a check as an item of a list, with its failures below."""
    asked = f"{code(f'{check.option} {check.value!r}')}"
    if not check.failures:
        return f"- {asked}: passed"
    lines = [f"- {asked}: **failed**"]
    for each in check.failures[:most]:
        where = "" if each.source is None else f" on {code(each.source)}"
        lines.append(f"  - {code(each.tokenizer)}{where}: {escaped(each.statement)}")
    if most is not None and len(check.failures) > most:
        lines.append(f"  - and {len(check.failures) - most:,} more")
    return "\n".join(lines)


def _changes(changes: Changes, most: int | None) -> str:
    ordered = worst_first(changes)
    notes = "<br>\n".join(changes_notes(changes, code))
    heading = f"#### {changes_heading(changes, code)}"
    shown = table(changes_sheet(ordered[:most], form="markdown")) if ordered else "none"
    if most is not None and len(ordered) > most:
        shown += f"\n\nand {count(len(ordered) - most, 'more change')}"
    if len(ordered) > OPEN_CHANGES:
        shown = folded(f"{count(len(ordered), 'change')}, the worst first", shown)
    return "\n\n".join(each for each in (heading, shown, notes) if each)


def _by_input(report: Comparison, metric: Metric, most: int | None) -> str:
    shown = table(input_sheet(report, metric, most, form="markdown"))
    if most is not None and len(report.rows) > most:
        shown += f"\n\nand {count(len(report.rows) - most, 'more input')}"
    return folded(f"{metric.label} by input", shown)
