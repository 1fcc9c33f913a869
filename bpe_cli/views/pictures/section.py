"""Write charts as figures of a page, each with a table of its values below it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from bpe_cli.views.page.markup import escape, table
from bpe_cli.views.pictures.svg import svg_part

if TYPE_CHECKING:
    from bpe_cli.views.pictures.charts import Chart


def figures(charts: Iterable[Chart]) -> Iterator[str]:
    """Write each chart with its values."""
    for chart in charts:
        title = escape(chart.title)
        yield f'<figure aria-label="{title}">\n<div class="scroll">'
        yield from svg_part(chart)
        yield "</div>\n<details><summary>The values of this picture</summary>\n"
        yield from table(chart.sheet(), title)
        yield "</details>\n</figure>\n"
