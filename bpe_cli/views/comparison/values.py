"""Format the values of metrics, their certainty, and changes since a stored comparison or from a baseline."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Literal

from rich.cells import cell_len

from bpe_cli.reports.comparison.changes import SIGNIFICANT
from bpe_cli.reports.comparison.checks import badness, sentence
from bpe_cli.reports.comparison.comparison import best_of, differences_of
from bpe_cli.reports.comparison.measures import LEAST_UNITS
from bpe_cli.reports.text import clusters
from bpe_cli.reports.text.characters import excerpt
from bpe_cli.tokenizer.inference import FEWEST
from bpe_cli.views.blocks import Blocks, Heading, Line, Name, Sheet, Value, Words, text_column
from bpe_cli.views.labels import ABSENT, count, fraction, whole
from bpe_cli.views.sheets import GAP
from bpe_cli.views.visible import harmless

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from bpe_cli.reports.comparison.changes import Change, Changes
    from bpe_cli.reports.comparison.comparison import Comparison, Metric, Row
    from bpe_cli.reports.comparison.measures import Difference
    from bpe_cli.views.blocks import Block, Cell, Screen


MARK = "*"
"""Stands after a ratio that is beyond noise."""

DOUBT = "?"
"""Stands after a value that is not a merit: text was lost."""

UNKNOWN_TEXT = f"{DOUBT}: some of the tokens stand for unknown text; that they are few is not a merit"
"""Explains the mark below values of a probe."""

_WORDS = "a word is a stretch without whitespace; Chinese, Japanese and Thai write few of them"


def value_text(metric: Metric, value: float | None, digits: int = 2) -> str:
    """Write a value as tables do, a ratio with as many decimals as ``digits_of`` says.

    >>> from bpe_cli.reports.comparison.comparison import METRICS
    >>> value_text(METRICS["tokens"], 1234), value_text(METRICS["ratio"], 0.914), value_text(METRICS["ratio"], None)
    ('1,234', '0.91', '–')
    """
    if value is None:
        return ABSENT
    if metric.kind == "count":
        return whole(int(value)) if float(value).is_integer() else fraction(value)
    if metric.kind == "share":
        return share_text(value)
    return fraction(value, 1 if metric.kind == "speed" else digits if metric.name == "ratio" else 2)


def share_text(share: float) -> str:
    """Write a share in per cent, so that a small one is told from none.

    >>> share_text(0.1234), share_text(0.00031), share_text(0.0), share_text(0.9999999)
    ('12.3%', '0.031%', '0%', '100.0%')
    """
    if share == 0:
        return "0%"
    return f"{share:.1%}" if share >= 0.001 else f"{share * 100:.2g}%"


def digits_of(rows: Iterable[Row]) -> int:
    """Return the decimals that ratios need, so that no interval is narrower than the last one: two to four."""
    values = (each for row in rows for each in differences_of(row) if each is not None)
    width = min((each.high - each.low for each in values if each.high > each.low), default=1.0)
    return next((digits for digits in (2, 3) if width >= 10**-digits), 4)


def interval_text(difference: Difference | None, digits: int = 2) -> str:
    """Write an interval behind its ratio.

    >>> interval_text(None)
    ''
    """
    return "" if difference is None else f"[{difference.low:.{digits}f}, {difference.high:.{digits}f}]"


def certainty_text(difference: Difference | None, digits: int) -> tuple[str, ...]:
    """Describe how certain the ratio of a tokenizer is; empty where nothing is known."""
    if difference is None:
        return ()
    p = f"p {difference.p_adjusted:.3f}" if difference.p_adjusted >= 0.001 else "p < 0.001"
    return (f"{interval_text(difference, digits)}{mark_of(difference)} {p}",)


def mark_of(difference: Difference | None) -> str:
    """Return the mark of a ratio that is beyond noise, else nothing."""
    return MARK if difference is not None and difference.p_adjusted < SIGNIFICANT else ""


@dataclass(frozen=True, slots=True)
class MetricCell:
    """What one tokenizer has of one metric, in words; each form of a report sets them its own way.

    Attributes:
        value: The value.
        doubt: The mark of a value that unknown tokens flatter, else nothing.
        is_best: Whether it is the best of its row.
        difference: How sure a ratio is; None for other metrics, and where there is nothing to tell.
        digits: The decimals of ratios.
    """

    value: str
    doubt: str
    is_best: bool
    difference: Difference | None
    digits: int

    @property
    def interval(self) -> str:
        """The interval of a ratio, else nothing."""
        return interval_text(self.difference, self.digits)

    @property
    def mark(self) -> str:
        """The mark of a ratio that is beyond noise, else nothing."""
        return mark_of(self.difference)


def metric_cells(row: Row, metric: Metric, digits: int | None = None) -> list[MetricCell]:
    """Return a cell for each tokenizer; ratios with as many decimals as the row needs, unless ``digits`` says more."""
    digits = digits_of([row]) if digits is None else digits
    best = best_of(row, metric)
    differences = differences_of(row) if metric.name == "ratio" else [None] * len(row.measures)
    return [
        MetricCell(
            value_text(metric, metric.of(measure), digits),
            DOUBT if metric.doubtful(measure) else "",
            number in best,
            difference,
            digits,
        )
        for number, (measure, difference) in enumerate(zip(row.measures, differences, strict=True))
    ]


def change_text(change: Change) -> str:
    """Write a relative change with its sign.

    >>> from bpe_cli.reports.comparison.changes import Change
    >>> from bpe_cli.reports.comparison.comparison import METRICS
    >>> [change_text(Change(METRICS["tokens"], "a", None, 200, now)) for now in (203, 200, 190, 199.999)]
    ['+1.50%', '0%', '-5.00%', '-0.00050%']
    """
    relative = change.relative
    if relative is None:
        return ABSENT
    if relative == 0:
        return "0%"
    if relative == float("inf"):
        return "from 0"
    return f"{relative:+.2%}" if abs(relative) >= 0.0001 else f"{relative * 100:+#.2g}%"


def sums(report: Comparison) -> str:
    """Describe how much was read."""
    total = report.total
    documents = count(total.document_count, "document")
    full = total.document_count - total.empty_count
    if total.empty_count:
        empty = "empty" if total.document_count == 1 else "all empty"
        documents += f" ({whole(full)} of them not empty)" if full else f" ({empty})"
    return f"{documents}, {count(total.byte_count, 'byte')}, {count(total.character_count, 'character')}"


def certainty(report: Comparison, names: Sequence[str]) -> list[str]:
    """Describe what the intervals and marks of all inputs together mean, or why there are none."""
    if len(names) < 2:
        return []
    lines = [f"ratio: tokens per token of {names[report.baseline]}"]
    difference = next((each for each in differences_of(report.total) if each is not None), None)
    if difference is None:
        return [*lines, *_no_interval(report)]
    units = count(difference.units, "document")
    if difference.unit_documents == 1 and difference.units < report.total.document_count:
        units += " that are not empty"
    if difference.unit_documents > 1:
        units = f"{whole(difference.units)} batches of {whole(difference.unit_documents)} documents"
    method = "paired bootstrap" if difference.method == "bootstrap" else difference.method
    lines.append(f"[low, high]: 95% interval of the ratio, {method} over {units}")
    return [*lines, meaning_of_marks([report.total])]


def meaning_of_marks(rows: Sequence[Row]) -> str:
    """Describe what the mark of the ratios of some rows means, whose p were adjusted together."""
    every = [each for row in rows for each in differences_of(row) if each is not None]
    meaning = f"more than chance among documents: p < {SIGNIFICANT} (sign-flip test"
    meaning += f", Holm over {count(len(every), 'comparison')})" if len(every) > 1 else ")"
    return f"{MARK} {meaning}" if any(map(mark_of, every)) else f"no ratio is {meaning}"


def _no_interval(report: Comparison) -> list[str]:
    """Explain why there is no interval."""
    total = report.total
    if not total.document_count or len({measure.token_count for measure in total.measures}) == 1:
        return []
    few = "too few for an interval" if total.document_count < LEAST_UNITS else "too few have tokens for an interval"
    few = "no interval" if total.document_count == 1 else few
    lines = report.settings is not None and report.settings.documents == "whole"
    way_out = "; --lines makes each line a document" if lines else ""
    return [f"{count(total.document_count, 'document')}: {few}{way_out}"]


def remarks(
    report: Comparison, metrics: Sequence[Metric], names: Sequence[str], show: Callable[[str], str] = harmless
) -> list[str]:
    """List the remarks that a reader of some metrics needs.

    Tokenizers have the names that are shown; ``show`` makes the names of inputs harmless.
    """
    lines = [*losses(report, metrics, names), *_unchecked(report, names), *_cuts(report, names, show)]
    if any(metric.name == "ratio" for metric in metrics):
        lines += certainty(report, names)
        lines += _above_least(report, names)
    if any("word" in metric.meaning for metric in metrics):
        lines.append(_WORDS)
    if any(metric.kind == "speed" for metric in metrics):
        lines.append("speed is by the clock of this machine, so it differs from run to run")
    return lines


def losses(report: Comparison, metrics: Sequence[Metric], names: Sequence[str]) -> list[str]:
    """Name the tokenizers that lose text, whose few tokens are therefore not a merit."""
    lines = []
    shown = any(metric.flattered for metric in metrics)
    for number, name in enumerate(names):
        measures = [row.measures[number] for row in (*report.rows, report.total)]
        if not shown or not any(measure.loses_text for measure in measures):
            continue
        became = (measures[-1].unknown_bytes, "became unknown tokens"), (measures[-1].left_out_bytes, "were left out")
        lost = " and ".join(f"{count(size, 'byte')} {fate}" for size, fate in became if size)
        lines.append(f"{DOUBT} {name}: {lost}; that its tokens are few is not a merit")
        if number == report.baseline and len(names) > 1 and any(metric.name == "ratio" for metric in metrics):
            lines.append(f"{DOUBT} ratios are to {name}, which loses text: the others look worse than they are")
    return lines


def _unchecked(report: Comparison, names: Sequence[str]) -> Iterator[str]:
    """Yield a line for each tokenizer that could not decode all documents again, as some are too long."""
    for name, measure in zip(names, report.total.measures, strict=True):
        if measure.checked_documents < measure.document_count:
            checked = f"{whole(measure.checked_documents)} of {count(measure.document_count, 'document')}"
            yield f"{name}: {checked} could be decoded again; a larger block size allows longer ones"


def _cuts(report: Comparison, names: Sequence[str], show: Callable[[str], str]) -> Iterator[str]:
    """Name the tokenizers whose split pattern cuts characters that readers see, with the input that suffers most."""
    for number, several in groupby(report.cut_clusters, attrgetter("tokenizer")):
        worst, *others = several
        where = f" in {show(worst.source)}" if len(report.rows) > 1 else ""
        if others:
            where += f" (and some of {count(len(others), 'more input')})"
        said = clusters.sentence(worst.share, harmless(excerpt(worst.example)), where)
        yield f"{names[number]}: {said}; {clusters.advice(worst.pattern)}"


def _above_least(report: Comparison, names: Sequence[str]) -> Iterator[str]:
    """Say how far each tokenizer is above the fewest tokens that its vocabulary allows, where both are compared."""
    # Names may be shown shorter, each in its own way.
    tokens = {name: measure.token_count for name, measure in zip(report.tokenizers, report.total.measures, strict=True)}
    for name, shown in zip(report.tokenizers, names, strict=True):
        if least := tokens.get(f"{name}{FEWEST}"):
            yield f"{shown}: {tokens[name] / least - 1:.1%} above the fewest tokens that its vocabulary allows"


def best_lines(row: Row, metrics: Sequence[Metric], names: Sequence[str]) -> list[str]:
    """Name the best of each metric, those that agree together."""
    groups: dict[tuple[int, ...], list[Metric]] = {}
    for metric in metrics:
        if best := best_of(row, metric):
            groups.setdefault(best, []).append(metric)
    lines = []
    for best, agreeing in groups.items():
        who = ", ".join(names[number] for number in best)
        if len(groups) == 1:
            what = "fewest tokens" if agreeing[0].name == "tokens" else "best"
        else:
            what = f"best {'; '.join(metric.label for metric in agreeing)}"
        lines.append(f"{what}: {who}")
    return lines


MOST_CHANGES = 60
"""How many changes are listed, those for the worse first."""

CHANGE_COLUMNS = ("tokenizer", "input", "metric", "before", "now", "change", "")

_NAME_CELLS = 24  # a longer name is folded in a table


def changes_heading(changes: Changes, show: Callable[[str], str] = harmless) -> str:
    """Describe the reference that changes are measured from."""
    return f"Changes {'since' if changes.stored else 'from'} {show(changes.reference)}"


def worst_first(changes: Changes) -> list[Change]:
    """Return what has changed or lost its value: the worst first, and the rest in the order of the inputs."""
    differ = [change for change in changes.changes if change.incomparable or change.relative]
    return sorted(differ, key=badness)


def _verdict_text(change: Change) -> str:
    """State which way a change went."""
    return "cannot be compared" if change.verdict == "unknown" else change.verdict


def _is_bad(change: Change) -> bool:
    """Return whether a change must be highlighted."""
    return change.verdict in ("worse", "unknown")


def changes_notes(changes: Changes, show: Callable[[str], str] = harmless) -> list[str]:
    """Describe what could not be compared, or was matched though its name differs; ``show`` makes names harmless."""
    same = sum(change.relative == 0 for change in changes.changes)
    lines = [f"{count(same, 'value')} as {'before' if changes.stored else 'with the baseline'}"] if same else []
    if absent := sum(change.before is None and change.now is None for change in changes.changes):
        lines.append(f"{count(absent, 'value')} missing before and now")
    lines += [f"{show(old)} is now {show(new)}" for old, new in changes.renamed]
    lines += not_compared(changes, show)
    if changes.stored and same < len(changes.changes):
        lines.append("whether a change is beyond noise only a comparison of both tokenizers tells (-t OLD -t NEW)")
    return lines


def not_compared(changes: Changes, show: Callable[[str], str] = harmless) -> list[str]:
    """Describe what has no counterpart, so that a check says nothing about it."""
    lines = []
    for what, names in (
        ("not in the report", (*changes.new_tokenizers, *changes.new_inputs)),
        ("only in the report", (*changes.gone_tokenizers, *changes.gone_inputs)),
    ):
        if names:
            more = f" and {len(names) - 10:,} more" if len(names) > 10 else ""
            lines.append(f"{what}, so not compared: {', '.join(map(show, names[:10]))}{more}")
    if not changes.same_inputs:
        lines.append("all inputs together are not compared: they are others than in the report")
    return lines


def changes_sheet(changes: Sequence[Change], *, form: Literal["console", "markdown", "page"]) -> Sheet:
    """Lay out changes, one a line, however wide; a page's columns are all alike, and Markdown has names of metrics."""
    noise = {True: ", beyond noise", False: ", within noise", None: ""}
    rows: list[Sequence[Cell]] = []
    for each in changes:
        metric = each.metric.name if form == "markdown" else each.metric.label
        verdict = _verdict_text(each) + (noise[each.beyond_noise] if form == "console" else "")
        values = (metric, value_text(each.metric, each.before), value_text(each.metric, each.now), change_text(each))
        source = "total" if each.source is None else Name(harmless(each.source))
        tokenizer = Name(harmless(each.tokenizer))
        rows.append((tokenizer, source, *map(Value, values), Value(verdict, "bad" if _is_bad(each) else "")))
    columns = (
        text_column(Words(header), right=3 <= number <= 5 or form == "page", no_wrap=number > 1)
        for number, header in enumerate(CHANGE_COLUMNS)
    )
    return Sheet(*columns, rows=rows)


def changes_view(changes: Changes, *, full: bool = False) -> Blocks:
    """Show changes as a table, and what there is to say about them; ``full`` shows all changes, however many."""
    ordered = worst_first(changes)
    few = ordered if full else ordered[:MOST_CHANGES]
    shown = _Changes(few) if few else Line("none")
    heading = Heading(changes_heading(changes), apart=True)
    return Blocks(heading, shown, *left_out(len(ordered) - len(few), "change"), *map(Line, changes_notes(changes)))


def left_out(more: int, noun: str) -> list[Line]:
    """Return the line that counts what a table does not show; none if it shows everything."""
    return [Line(f"and {count(more, f'more {noun}')}; --full shows all", style="italic")] if more else []


@dataclass(frozen=True)
class _Changes:
    """Changes as a table, or as sentences where that would be too narrow for names."""

    changes: Sequence[Change]

    def blocks(self, screen: Screen) -> Iterator[Block]:
        shown = changes_sheet(self.changes, form="console")
        headers, _, rows = shown.plain()
        widths = [max(cell_len(str(cell)) for cell in column) for column in zip(headers, *rows, strict=True)]
        names = sum(min(width, _NAME_CELLS) for width in widths[:2])
        if names + sum(widths[2:]) + GAP * len(widths) <= screen.width:
            yield shown
            return
        for change in self.changes:
            source = "total" if change.source is None else harmless(change.source)
            text = f"{harmless(change.tokenizer)} on {source}: {sentence(change)}"
            yield Line(text, style="bold" if _is_bad(change) else "")
