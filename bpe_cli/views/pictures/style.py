"""The style sheet of pictures: by classes, so that a page and a file can colour them as the reader's system is."""

from __future__ import annotations

from collections.abc import Mapping

_DASHES = ("none", "8 3", "3 3", "10 3 3 3", "14 4", "2 2", "6 2 2 2 2 2", "12 2 2 2")
"""How the lines of series are broken, which differ without colours too."""

_SHAPES = (
    ".title,.group{font-weight:600}\n"
    ".grid,.axis,.one,.leader,.whisker,.interval,.curve{fill:none}\n"
    ".one{stroke-width:1.5;stroke-dasharray:5 3}\n"
    ".whisker,.interval{stroke-width:1.4}\n"
    ".curve{stroke-width:2}\n"
    ".leader{stroke-width:0.8}\n"
    ".open{stroke-width:2}\n"
    "text{paint-order:stroke;stroke-width:3px;stroke-linejoin:round}\n"  # lines go on behind it
)


def rules(colors: Mapping[str, str]) -> str:
    """Return the rules of pictures with these colours, named as ``palette.variables`` names them."""
    ink, faint, line, paper = (colors[each] for each in ("ink", "faint", "line", "paper"))
    parts = [
        _SHAPES,
        *(f".d{number}{{stroke-dasharray:{dash}}}\n" for number, dash in enumerate(_DASHES)),
        f"text{{fill:{ink};stroke:{paper}}}\n.faint{{fill:{faint}}}\n.paper{{fill:{paper}}}\n.grid{{stroke:{line}}}\n",
        f".axis,.leader{{stroke:{faint}}}\n.one,.whisker{{stroke:{ink}}}\n",
    ]
    for number in range(len(_DASHES)):
        color = colors[f"series-{number}"]
        parts.append(f".bar.c{number},.mark.c{number}{{fill:{color}}}\n")
        parts.append(f".mark.c{number},.interval.c{number},.curve.c{number}{{stroke:{color}}}\n")
    return "".join([*parts, ".mark.open{fill:none}\n"])
