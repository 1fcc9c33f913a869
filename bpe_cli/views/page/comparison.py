"""Write a comparison as a page: what all metrics say, checks, changes, each input, and short texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from bpe_cli.reports.comparison.boundaries import deviation, stretches
from bpe_cli.reports.comparison.comparison import METRICS
from bpe_cli.views.comparison.additions import additions_view
from bpe_cli.views.comparison.tables import input_sheet, metric_has_values, page_metrics
from bpe_cli.views.comparison.values import changes_heading, changes_notes, changes_sheet, remarks, sums, worst_first
from bpe_cli.views.labels import count, full_names, short_names, whole
from bpe_cli.views.page.markup import escape, name, rendered, table
from bpe_cli.views.page.page import foot, head
from bpe_cli.views.page.tokens import TokenWriter, deviation_note, rows
from bpe_cli.views.pictures.of_comparison import comparison_charts
from bpe_cli.views.pictures.section import figures
from bpe_cli.views.visible import harmless

if TYPE_CHECKING:
    from bpe_cli.reports.comparison.changes import Changes
    from bpe_cli.reports.comparison.checks import Check
    from bpe_cli.reports.comparison.comparison import Comparison, Metric, Passage


DETAILED_INPUTS = 100
"""Up to so many inputs, each has its own table of all metrics."""


def comparison_page(
    comparison: Comparison,
    *,
    metrics: Sequence[Metric] | None = None,
    changes: Changes | None = None,
    checks: Sequence[Check] = (),
) -> Iterator[str]:
    """Write the page, as it comes: some metrics, or all that have values, what has changed, and what was checked."""
    yield from head(f"{count(len(comparison.tokenizers), 'tokenizer')} compared", "wide")
    additions = additions_view(comparison, full=True)
    drawn = next((each for each in metrics or () if each.kind != "speed"), None)
    metrics = metrics or tuple(METRICS.values())
    yield from checks_section(checks)
    if comparison.rows or additions is None:
        yield from _measures(comparison, metrics)
    yield from figures(comparison_charts(comparison, drawn))
    yield from changes_section(changes)
    if len(comparison.rows) > 1:
        yield from _inputs(comparison, metrics)
    several = {passage.source for passage in comparison.passages if passage.document}
    if comparison.passages and len(comparison.tokenizers) > 1:
        yield from _legend(comparison)
    for number, passage in enumerate(comparison.passages):
        yield from _passage(comparison, passage, number, passage.source in several)
    yield from rendered(additions)
    yield from foot()


def _measures(comparison: Comparison, metrics: Sequence[Metric]) -> Iterator[str]:
    """Write the sums of the texts, and all metrics of them."""
    total = comparison.total
    single = len(comparison.rows) == 1
    source = name(comparison.rows[0].name) if single else count(len(comparison.rows), "input")
    yield f'<p class="note">{source}: {sums(comparison)}</p>\n'
    if not comparison.rows:
        return
    yield from table(page_metrics(comparison, total, metrics, vocabulary=True), "Metrics")
    names = short_names(comparison.tokenizers)
    shown = [metric for metric in metrics if metric_has_values(total, metric)]
    for line in (*full_names(comparison.tokenizers, names), *remarks(comparison, shown, names)):
        yield f'<p class="note">{escape(line)}</p>\n'
    if len(names) > 1:
        yield '<p class="note">★ the best of a line</p>\n'


def _inputs(comparison: Comparison, metrics: Sequence[Metric]) -> Iterator[str]:
    """Write a table of inputs and, for few of them, all metrics of each."""
    yield "<h2>Tokens by input</h2>\n"
    yield from table(input_sheet(comparison, METRICS["tokens"], form="page"), "Tokens by input")
    if len(comparison.rows) <= DETAILED_INPUTS:
        yield "<details><summary>All metrics of each input</summary>\n"
        for row in comparison.rows:
            yield f"<h3>{name(row.name)}</h3>\n"
            yield from table(page_metrics(comparison, row, metrics), "Metrics")
        yield "</details>\n"


def _legend(comparison: Comparison) -> Iterator[str]:
    yield f"<h2>Short texts</h2>\n{deviation_note(short_names(comparison.tokenizers)[0])}"


def _passage(comparison: Comparison, passage: Passage, number: int, numbered: bool) -> Iterator[str]:
    """Write one text as each tokenizer cuts it, side by side, aligned where all of them have a boundary."""
    where = name(passage.source)
    if numbered:
        where += f", document {whole(passage.document + 1)}"
    yield f"<section>\n<h2>{where}</h2>\n"
    segmentations = passage.segmentations
    groups = [list(segmentation.groups()) for segmentation in segmentations]
    writers = [
        TokenWriter(
            segmentation.tokens, f"{number}-{place}", deviation(segmentation, segmentations[0]) if place else None
        )
        for place, segmentation in enumerate(segmentations)
    ]
    names = list(map(escape, short_names(comparison.tokenizers)))
    titles = [
        f"{each}: {count(segmentation.token_count, 'token')}"
        for each, segmentation in zip(names, segmentations, strict=True)
    ]
    yield _side([f"<h3>{title}</h3>" for title in titles], "side heads")
    for stretch in stretches(segmentations):
        cells = []
        for place, (first, end) in enumerate(stretch.groups):
            who = f'<div class="who">{names[place]}</div>' if len(writers) > 1 else ""
            written = "".join(map(writers[place].group, groups[place][first:end]))
            label = f"As {names[place]} cuts it"
            cells.append(f'<div>{who}<div class="text" role="group" aria-label="{label}">{written}</div></div>')
        yield _side(cells, "side")
    for place, segmentation in enumerate(segmentations):
        yield f"<details><summary>{titles[place]}, one by one</summary>\n"
        yield from rows(segmentation.tokens, f"{number}-{place}")
        yield "</details>\n"
    yield "</section>\n"


def _side(cells: Sequence[str], kind: str) -> str:
    return f'<div class="{kind} of{len(cells)}">{"".join(cells)}</div>\n'


MOST = 1000
"""Failures of a check, and changes, that are listed."""


def checks_section(checks: Sequence[Check]) -> Iterator[str]:
    """Write the result of each check."""
    if checks:
        yield f'<ul aria-label="Checks">\n{"".join(map(_check, checks))}</ul>\n'


def _check(check: Check) -> str:
    asked = f"<code>{name(f'{check.option} {check.value!r}')}</code>"
    if not check.failures:
        return f"<li>{asked}: passed</li>\n"
    items = [
        f"<li>{name(each.tokenizer)}{'' if each.source is None else f' on {name(each.source)}'}: "
        f"{escape(each.statement)}</li>\n"
        for each in check.failures[:MOST]
    ]
    if len(check.failures) > MOST:
        items.append(f"<li>and {len(check.failures) - MOST:,} more</li>\n")
    return f"<li>{asked}: <strong>failed</strong><ul>\n{''.join(items)}</ul></li>\n"


def changes_section(changes: Changes | None) -> Iterator[str]:
    """Write a table of what has changed, and what there is to say about it."""
    if changes is None:
        return
    ordered = worst_first(changes)
    yield f"<h2>{escape(changes_heading(changes, harmless))}</h2>\n"
    if ordered:
        yield from table(changes_sheet(ordered[:MOST], form="page"), "Changes")
    else:
        yield "<p>none</p>\n"
    if len(ordered) > MOST:
        yield f'<p class="note">and {count(len(ordered) - MOST, "more change")}</p>\n'
    for line in changes_notes(changes, harmless):
        yield f'<p class="note">{escape(line)}</p>\n'
