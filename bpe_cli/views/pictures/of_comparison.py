"""Make the charts of a comparison: values by input, ratios, lengths of documents, a vocabulary's use, premiums."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from bpe_cli.reports.comparison.comparison import METRICS, interval_of
from bpe_cli.views.comparison.values import UNKNOWN_TEXT, certainty, digits_of, losses, value_text
from bpe_cli.views.labels import count, fraction, short_names, whole
from bpe_cli.views.pictures.charts import MOST_GROUPS, Curve, Histogram, Mark, Rows
from bpe_cli.views.visible import harmless

if TYPE_CHECKING:
    from bpe_cli.reports.comparison.comparison import Comparison, Metric, Row
    from bpe_cli.reports.comparison.probe_languages import LanguageProbe
    from bpe_cli.views.pictures.charts import Chart


def comparison_charts(report: Comparison, metric: Metric | None = None) -> Iterator[Chart]:
    """Yield the pictures that a comparison has; ``metric`` is what is drawn of each input, else the tokens."""
    names = tuple(short_names(report.tokenizers))
    metric = metric or METRICS["tokens"]
    if report.rows:
        yield _inputs(report, names, metric)
        if len(names) > 1:
            yield _ratios(report, names)
        if report.lengths:
            yield _lengths(report, names)
        if report.frequencies:
            yield _use(report, names)
    if report.probes is not None and report.probes.languages is not None:
        yield _premiums(names, report.probes.languages)


def _shown(report: Comparison, *, total: bool) -> tuple[list[Row], list[str], list[str]]:
    """Return the rows to draw, their names, and what is left out; all inputs together only where sums compare."""
    rows = list(report.rows[:MOST_GROUPS])
    labels = _labels([row.name for row in rows])
    more = len(report.rows) - len(rows)
    if total and len(report.rows) > 1:
        rows, labels = [*rows, report.total], [*labels, "total"]
    return rows, labels, [f"and {count(more, 'more input')}: the tables have all"] if more else []


def _labels(names: Sequence[str]) -> list[str]:
    """Write the names of inputs without the folder that all of them are in.

    >>> _labels(["texts/a/en.txt", "texts/b/en.txt"]), _labels(["texts/en.txt"])
    (['a/en.txt', 'b/en.txt'], ['texts/en.txt'])
    """
    shown = [harmless(name) for name in names]
    if len(shown) < 2:
        return shown
    first, last = min(shown), max(shown)
    same = next((place for place in range(min(len(first), len(last))) if first[place] != last[place]), 0)
    folder = first.rfind("/", 0, same) + 1
    return [name[folder:] for name in shown]


def _inputs(report: Comparison, names: tuple[str, ...], metric: Metric) -> Rows:
    rows, groups, notes = _shown(report, total=metric.kind != "count")
    digits = digits_of(rows)
    marks = tuple(tuple(_mark(row, metric, number, digits) for number in range(len(names))) for row in rows)
    if any(mark.interval is not None for row in marks for mark in row):
        notes.append(
            f"[low, high]: the 95% interval of the ratio to {names[report.baseline]}, converted to {metric.label}"
        )
    label = metric.label[0].upper() + metric.label[1:]
    return Rows(
        "inputs", f"{label} by input", metric.label, "bars", "input", tuple(groups), names, marks,
        notes=(*notes, *losses(report, [metric], names)),
    )  # fmt: skip


def _mark(row: Row, metric: Metric, number: int, digits: int) -> Mark:
    measure = row.measures[number]
    interval = interval_of(row, metric, number)
    ends = "" if interval is None else ", ".join(value_text(metric, _rounded(metric, end), digits) for end in interval)
    return Mark(
        metric.of(measure), value_text(metric, metric.of(measure), digits), interval, f"[{ends}]" if ends else "",
        metric.doubtful(measure),
    )  # fmt: skip


def _rounded(metric: Metric, value: float) -> float:
    return round(value) if metric.kind == "count" else value


def _ratios(report: Comparison, names: tuple[str, ...]) -> Rows:
    metric = METRICS["ratio"]
    rows, groups, notes = _shown(report, total=True)
    digits = digits_of(rows)
    others = [number for number in range(len(names)) if number != report.baseline]
    marks = tuple(tuple(_mark(row, metric, number, digits) for number in others) for row in rows)
    base = names[report.baseline]
    said = [line.replace("[low, high]:", "lines:", 1) for line in certainty(report, names)[1:2]]
    return Rows(
        "ratios", f"Tokens per token of {base}", f"ratio: tokens per token of {base}", "dots", "input", tuple(groups),
        tuple(names[number] for number in others), marks, f"1: as many as {base}",
        (*notes, *said, *losses(report, [metric], names)), tuple(others),
    )  # fmt: skip


def _lengths(report: Comparison, names: tuple[str, ...]) -> Histogram:
    spans = sorted({(first, last) for each in report.lengths for first, last, _ in each})
    counts = []
    for each in report.lengths:
        found = {first: number for first, _, number in each}
        counts.append(tuple(found.get(first, 0) for first, _ in spans))
    return Histogram(
        "lengths", "Lengths of documents in tokens", "tokens per document", "documents", tuple(spans), names,
        tuple(counts), notes=(count(report.total.document_count, "document"),),
    )  # fmt: skip


def _use(report: Comparison, names: tuple[str, ...]) -> Curve:
    used = [f"{name} {whole(row.used_ids)}" for name, row in zip(names, report.total.measures, strict=True)]
    return Curve(
        "use", "Share of the text that the most frequent tokens make up", "most frequent tokens",
        "share of all tokens", names, report.use,
        (f"different tokens that occur: {', '.join(used)}",),
    )  # fmt: skip


def _premiums(names: tuple[str, ...], probe: LanguageProbe) -> Rows:
    pivot = harmless(probe.languages[probe.pivot])
    marks = tuple(
        tuple(
            Mark(cost.premium, fraction(cost.premium), doubtful=bool(cost.unknown_count))
            for cost in (result.costs[number] for result in probe.results)
        )
        for number in range(len(probe.languages))
    )
    notes = [f"the same {count(probe.line_count, 'line')}: {harmless(probe.source)}"]
    if any(result.loses_text for result in probe.results):
        notes.append(UNKNOWN_TEXT)
    return Rows(
        "premiums", f"Premium by language: tokens per token of {pivot}", f"tokens per token of {pivot}", "dots",
        "language", tuple(map(harmless, probe.languages)), names, marks, f"1: as many as {pivot}", tuple(notes),
    )  # fmt: skip
