"""Show what has changed since a stored comparison, or from the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from rich.cells import cell_len

from bpe_cli.reports.comparison.checks import badness, sentence
from bpe_cli.views.blocks import Blocks, Heading, Line, Name, Sheet, Value, Words, text_column
from bpe_cli.views.comparison.values import change_text, value_text
from bpe_cli.views.labels import count
from bpe_cli.views.sheets import GAP
from bpe_cli.views.visible import harmless

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from bpe_cli.reports.comparison.changes import Change, Changes
    from bpe_cli.views.blocks import Block, Cell, Screen

MOST = 60
"""How many changes are listed, those for the worse first."""

COLUMNS = ("tokenizer", "input", "metric", "before", "now", "change", "")

_NAME_CELLS = 24  # a longer name is folded in a table


def heading(changes: Changes, show: Callable[[str], str] = harmless) -> str:
    """Describe what the changes are from."""
    return f"Changes {'since' if changes.stored else 'from'} {show(changes.reference)}"


def listed(changes: Changes) -> list[Change]:
    """Return what has changed or lost its value: the worst first, and the rest in the order of the inputs."""
    differ = [change for change in changes.changes if change.missing or change.relative]
    return sorted(differ, key=badness)


def verdict_text(change: Change) -> str:
    """State which way a change went."""
    return "cannot be compared" if change.verdict == "unknown" else change.verdict


def is_bad(change: Change) -> bool:
    """Return whether a change is to be seen at once."""
    return change.verdict in ("worse", "unknown")


def notes(changes: Changes, show: Callable[[str], str] = harmless) -> list[str]:
    """Describe what could not be compared, or was matched though its name differs.

    Args:
        changes: The changes.
        show: Makes a name from outside harmless where the notes go.
    """
    same = sum(change.relative == 0 for change in changes.changes)
    lines = [f"{count(same, 'value')} as before"] if same and changes.stored else []
    if same and not changes.stored:
        lines = [f"{count(same, 'value')} as with the baseline"]
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


def sheet(changes: Sequence[Change], *, form: Literal["console", "markdown", "page"]) -> Sheet:
    """Lay out changes, one a line, however wide; a page's columns are all alike, and Markdown has names of metrics."""
    noise = {True: ", beyond noise", False: ", within noise", None: ""}
    rows: list[Sequence[Cell]] = []
    for each in changes:
        metric = each.metric.name if form == "markdown" else each.metric.label
        verdict = verdict_text(each) + (noise[each.beyond_noise] if form == "console" else "")
        values = (metric, value_text(each.metric, each.before), value_text(each.metric, each.now), change_text(each))
        source = "total" if each.source is None else Name(harmless(each.source))
        tokenizer = Name(harmless(each.tokenizer))
        rows.append((tokenizer, source, *map(Value, values), Value(verdict, "bad" if is_bad(each) else "")))
    columns = (
        text_column(Words(header), right=3 <= number <= 5 or form == "page", no_wrap=number > 1)
        for number, header in enumerate(COLUMNS)
    )
    return Sheet(*columns, rows=rows)


def changes_view(changes: Changes) -> Blocks:
    """Show changes as a table, and what there is to say about them."""
    found = listed(changes)
    parts: list[Block] = [Heading(heading(changes), apart=True), _Changes(found[:MOST]) if found else Line("none")]
    if len(found) > MOST:
        parts.append(Line(f"and {count(len(found) - MOST, 'more change')}", style="italic"))
    return Blocks(*parts, *map(Line, notes(changes)))


class _Changes:
    """Changes as a table, or as sentences where that would be too narrow for names."""

    def __init__(self, changes: Sequence[Change]) -> None:
        self._changes = changes

    def blocks(self, screen: Screen) -> Iterator[Block]:
        shown = sheet(self._changes, form="console")
        headers, _, rows = shown.plain()
        widths = [max(cell_len(str(cell)) for cell in column) for column in zip(headers, *rows, strict=True)]
        names = sum(min(width, _NAME_CELLS) for width in widths[:2])
        if names + sum(widths[2:]) + GAP * len(widths) <= screen.width:
            yield shown
            return
        for change in self._changes:
            source = "total" if change.source is None else harmless(change.source)
            text = f"{harmless(change.tokenizer)} on {source}: {sentence(change)}"
            yield Line(text, style="bold" if is_bad(change) else "")
