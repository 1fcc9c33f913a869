"""Show what has changed since a stored comparison, or from the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Group
from rich.text import Text

from bpe_cli.reports.comparison.checks import badness, sentence
from bpe_cli.views.comparison.values import change_text, value_text
from bpe_cli.views.labels import count
from bpe_cli.views.on_console import table as new_table
from bpe_cli.views.visible import harmless

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from bpe_cli.reports.comparison.changes import Change, Changes

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


def where(change: Change, show: Callable[[str], str] = harmless) -> str:
    """Name the input of a change."""
    return "total" if change.source is None else show(change.source)


def cells(change: Change, metric: str, show: Callable[[str], str] = harmless) -> list[str]:
    """Write a change: tokenizer, input, metric, before, now and the difference; ``verdict_text`` comes behind.

    Args:
        change: The change.
        metric: What the metric is called.
        show: Makes a name from outside harmless where the cells go.
    """
    before, now = value_text(change.metric, change.before), value_text(change.metric, change.now)
    return [show(change.tokenizer), where(change, show), metric, before, now, change_text(change)]


def changes_view(changes: Changes) -> RenderableType:
    """Show changes as a table, and what there is to say about them."""
    parts: list[RenderableType] = [Text(f"\n{heading(changes)}", style="bold")]
    found = listed(changes)
    parts.append(_Changes(found[:MOST]) if found else Text("none"))
    if len(found) > MOST:
        parts.append(Text(f"and {count(len(found) - MOST, 'more change')}", style="italic"))
    parts.extend(Text(line) for line in notes(changes))
    return Group(*parts)


class _Changes:
    """Show changes as a table, or as sentences where that would be too narrow for names."""

    def __init__(self, changes: Sequence[Change]) -> None:
        self._rows = [(change, self._cells(change)) for change in changes]

    @staticmethod
    def _cells(change: Change) -> list[str]:
        noise = {True: ", beyond noise", False: ", within noise", None: ""}[change.beyond_noise]
        return [*cells(change, change.metric.label), f"{verdict_text(change)}{noise}"]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        widths = [
            max(map(cell_len, column)) for column in zip(COLUMNS, *(cells for _, cells in self._rows), strict=True)
        ]
        names = sum(min(width, _NAME_CELLS) for width in widths[:2])
        if names + sum(widths[2:]) + 3 * len(widths) > options.max_width:
            for change, cells in self._rows:
                text = f"{cells[0]} on {cells[1]}: {sentence(change)}"
                yield Text(text, style="bold" if is_bad(change) else "")
            return
        table = new_table()
        for number, header in enumerate(COLUMNS):
            table.add_column(
                header, justify="right" if 3 <= number <= 5 else "left", overflow="fold", no_wrap=number > 1
            )
        for change, cells in self._rows:
            table.add_row(*map(Text, cells[:-1]), Text(cells[-1], style="bold" if is_bad(change) else ""))
        yield table
