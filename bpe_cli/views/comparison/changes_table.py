"""Show what has changed since a stored comparison, or from the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from bpe_cli.views.comparison.values import change_text, value_text
from bpe_cli.views.layout import table as new_table
from bpe_cli.views.numbers import count
from bpe_cli.views.visible import harmless

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import RenderableType

    from bpe_cli.reports.comparison.changes import Change, Changes

MOST = 60
"""How many changes are listed, those for the worse first."""


def heading(changes: Changes, show: Callable[[str], str] = harmless) -> str:
    """Say what the changes are from."""
    return f"Changes {'since' if changes.stored else 'from'} {show(changes.reference)}"


def listed(changes: Changes) -> list[Change]:
    """Give what has changed: the worst first, and what stands together in the order of the inputs."""
    differ = [change for change in changes.changes if change.relative != 0]
    return sorted(differ, key=lambda change: -max(change.worsening, 0))


def notes(changes: Changes, show: Callable[[str], str] = harmless) -> list[str]:
    """Say what could not be compared, or was matched though its name differs.

    Args:
        changes: The changes.
        show: Makes a name from outside harmless where the notes go.
    """
    same = sum(change.relative == 0 for change in changes.changes)
    lines = [f"{count(same, 'value')} as before"] if same and changes.stored else []
    if same and not changes.stored:
        lines = [f"{count(same, 'value')} as with the baseline"]
    lines += [f"{show(old)} is now {show(new)}" for old, new in changes.renamed]
    lines += not_compared(changes, show)
    if changes.stored and changes.changes:
        lines.append("whether a change is beyond noise only a comparison of both tokenizers tells (-t OLD -t NEW)")
    return lines


def not_compared(changes: Changes, show: Callable[[str], str] = harmless) -> list[str]:
    """Say what has no counterpart, so that a check says nothing about it."""
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


def changes_view(changes: Changes) -> RenderableType:
    """Show changes as a table, and what there is to say about them."""
    parts: list[RenderableType] = [Text(f"\n{heading(changes)}", style="bold")]
    found = listed(changes)
    if found:
        table = new_table()
        for header in ("tokenizer", "input", "metric"):
            table.add_column(header, overflow="fold")
        for header in ("before", "now", "change"):
            table.add_column(header, justify="right", no_wrap=True)
        table.add_column("")
        for change in found[:MOST]:
            noise = {True: ", beyond noise", False: ", within noise", None: ""}[change.beyond_noise]
            table.add_row(
                Text(harmless(change.tokenizer)),
                Text("all" if change.source is None else harmless(change.source)),
                Text(change.metric.label),
                value_text(change.metric, change.before),
                value_text(change.metric, change.now),
                change_text(change),
                Text(f"{change.verdict}{noise}", style="bold" if change.verdict == "worse" else ""),
            )
        parts.append(table)
    else:
        parts.append(Text("none"))
    if len(found) > MOST:
        parts.append(Text(f"and {count(len(found) - MOST, 'more change')}", style="italic"))
    parts.extend(Text(line) for line in notes(changes))
    return Group(*parts)
