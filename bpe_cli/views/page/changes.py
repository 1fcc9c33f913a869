"""Write as parts of a page what was checked, and what has changed: in the words of the Markdown view."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from bpe_cli.views.comparison import changes_table
from bpe_cli.views.labels import count
from bpe_cli.views.page.markup import escape, name
from bpe_cli.views.visible import harmless

if TYPE_CHECKING:
    from bpe_cli.reports.comparison.changes import Change, Changes
    from bpe_cli.reports.comparison.checks import Check

MOST = 1000
"""Failures of a check, and changes, that are listed."""


def checks_section(checks: Sequence[Check]) -> Iterator[str]:
    """Write what each check came to."""
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
    found = changes_table.listed(changes)
    yield f"<h2>{escape(changes_table.heading(changes, harmless))}</h2>\n"
    if found:
        yield '<div class="scroll" role="region" tabindex="0" aria-label="Changes"><table><thead><tr>'
        yield "".join(f'<th scope="col">{column}</th>' for column in changes_table.COLUMNS)
        yield "</tr></thead><tbody>\n"
        yield from map(_row, found[:MOST])
        yield "</tbody></table></div>\n"
    else:
        yield "<p>none</p>\n"
    if len(found) > MOST:
        yield f'<p class="note">and {count(len(found) - MOST, "more change")}</p>\n'
    for line in changes_table.notes(changes, harmless):
        yield f'<p class="note">{escape(line)}</p>\n'


def _row(change: Change) -> str:
    verdict = escape(changes_table.verdict_text(change))
    first, *cells = changes_table.cells(change, escape(change.metric.label), name)
    cells.append(f"<strong>{verdict}</strong>" if changes_table.is_bad(change) else verdict)
    return f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>\n'
