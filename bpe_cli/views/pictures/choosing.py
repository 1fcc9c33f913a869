"""Choose pictures by their names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from bpe_cli.errors import UsageError
from bpe_cli.views.pictures.svg import svg_file

if TYPE_CHECKING:
    from bpe_cli.views.pictures.charts import Chart


def chosen_svg(charts: Iterable[Chart], name: str | None = None, *, adaptive: bool = True) -> str:
    """Write one picture of a report as SVG, or all of them below each other.

    Raises:
        UsageError: if the report has no picture of that name, or none at all.
    """
    shown = list(charts) if name is None else [_named(charts, name)]
    if not shown:
        raise UsageError("this report has no pictures")
    return svg_file(shown, adaptive=adaptive)


def chosen_png(charts: Iterable[Chart], name: str | None = None) -> bytes:
    """Return the same as PNG, in light colours.

    Raises:
        UsageError: likewise, or if what makes it is not installed.
        OutputError: if there is no font.
    """
    from bpe_cli.views.pictures.png import png

    return png(chosen_svg(charts, name, adaptive=False))


def _named(charts: Iterable[Chart], name: str) -> Chart:
    """Return the chart of a name; those behind it are not made."""
    others = []
    for chart in charts:
        if chart.name == name:
            return chart
        others.append(chart.name)
    raise UsageError(f"this report has no picture {name!r}", hint=f"it has {', '.join(others) or 'none'}")
