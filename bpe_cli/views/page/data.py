"""Write a report on ids as a page: a picture of the lengths, the tables, and some rows token by token."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from bpe_cli.views.data import DataView, heading_of
from bpe_cli.views.labels import count
from bpe_cli.views.page.markup import rendered
from bpe_cli.views.page.page import foot, head
from bpe_cli.views.page.tokens import section
from bpe_cli.views.pictures.of_tokenizer import data_charts
from bpe_cli.views.pictures.section import figures

if TYPE_CHECKING:
    from bpe_cli.reports.data import DataReport


def data_page(report: DataReport, eot: str | None = None) -> Iterator[str]:
    """Write the page, as it comes; ``eot`` is the name of the token that ends documents."""
    yield from head(report.name, "wide")
    yield from figures(data_charts(report))
    yield from rendered(DataView(replace(report, shown=()), eot).blocks())
    for row in report.shown:
        heading = heading_of(row, report)
        yield f'<section aria-label="{heading}">\n<h2>{heading}</h2>\n'
        yield from section(row.segmentation, str(row.number), None, summed=False)
        if row.length > row.segmentation.token_count:
            yield f'<p class="note">and {count(row.length - row.segmentation.token_count, "more token")}</p>\n'
        yield "</section>\n"
    yield from foot()
