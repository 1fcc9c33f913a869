"""The plots of a round as SVG: speed by text, and growth.

Written by hand: bars and two lines need no library, and the same results must give the same bytes
everywhere.

Colours are told apart on light and dark pages and by those who see fewer of them; every bar has its
number beside it, so that colour is never the only sign.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Any

from benchmarks import forms

Cell = dict[str, Any]

WIDTH = 760
OURS_FILL, OTHER_FILL, INK, FAINT = "#0072b2", "#9aa5b1", "#57606a", "#d0d7de"
FONT = "font-family='system-ui, sans-serif'"


def text(x: float, y: float, words: str, *, size: int = 12, anchor: str = "start", weight: str = "400") -> str:
    """Return a line of words."""
    return (
        f"<text x='{x:.1f}' y='{y:.1f}' font-size='{size}' text-anchor='{anchor}' font-weight='{weight}' "
        f"fill='{INK}' {FONT}>{escape(words)}</text>"
    )


def picture(height: float, title: str, parts: Iterable[str]) -> str:
    """Return a whole SVG."""
    name = escape(title, quote=True)
    lines = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height:.0f}' role='img' aria-label='{name}'>",
        f"<title>{escape(title)}</title>",
        *parts,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def speed(round_: dict[str, Any]) -> str:
    """Draw the speed of encoding by text: ours and the others' beside it, first and later passes."""
    wanted = [
        item for item in round_["comparisons"]
        if item["operation"] == "encode" and item["threads"] == 1 and item["tokenizer"] == "cl100k_base"
    ]  # fmt: skip
    names = forms.versions(round_)
    parts, y = [], 24.0
    top = max((cell["speed"] or 0 for item in wanted for cell in forms.beside(round_, item)), default=1) or 1
    for phase in ("cold", "warm"):
        rows = {item["text"]: item for item in wanted if item["phase"] == phase}  # one for all ways of ours
        if not rows:
            continue
        parts.append(text(0, y, f"cl100k_base, one thread, {forms.PHASES[phase]}: MB/s", size=14, weight="600"))
        y += 14
        for name, item in rows.items():
            parts.append(text(0, y + 13, forms.text_name(name), weight="600"))
            cells = [cell for cell in round_["cells"] if forms.measurement(cell) == forms.measurement(item)]
            ranked = [cell for cell in cells if cell["status"] == "same" and cell["speed"]]
            best: dict[str, Cell] = {}
            for cell in sorted(ranked, key=lambda cell: -cell["speed"]):
                best.setdefault(cell["library"], cell)
            for library, cell in best.items():
                length = 430 * cell["speed"] / top
                fill = OURS_FILL if library == "bpe" else OTHER_FILL
                parts.append(text(212, y + 12, names.get(library, library), anchor="end", size=11))
                parts.append(
                    f"<rect x='218' y='{y + 2:.1f}' width='{max(length, 1):.1f}' height='12' rx='2' fill='{fill}'/>"
                )
                parts.append(text(224 + length, y + 12, forms.number(cell["speed"] / 1e6), size=11))
                y += 16
            y += 6
        y += 22
    return picture(y, "Speed of encoding by text", parts)


def growth(round_: dict[str, Any]) -> str:
    """Draw wall time and memory against the size of the input, both axes logarithmic."""
    cells = [cell for cell in round_["cells"] if cell["operation"] == "growth" and cell["wall"]]
    series = {
        "bpe encode": [cell for cell in cells if cell["phase"] == "encode"],
        "bpe train": [cell for cell in cells if cell["phase"] == "train"],
    }
    seconds = chart("seconds", series, lambda cell: cell["wall_seconds"]["median"])
    memory = chart("peak MB", series, lambda cell: cell["peak_bytes"] / 1e6)
    shifted = f"<g transform='translate({WIDTH / 2}, 0)'>" + "".join(memory) + "</g>"
    return picture(310, "Time and memory against the size of the input", [*seconds, shifted])


def chart(title: str, series: dict[str, list[Cell]], height_of: Callable[[Cell], float]) -> list[str]:
    """Draw a line for each series of cells on logarithmic axes; x is in MB."""
    lines = {name: [(cell["bytes"] / 1e6, height_of(cell)) for cell in cells] for name, cells in series.items()}
    points = [point for line in lines.values() for point in line]
    if not points:
        return []
    left, right, top, bottom = 50.0, WIDTH / 2 - 24, 40.0, 260.0
    xs, ys = decades([x for x, _ in points]), decades([y for _, y in points])

    def place(x: float, y: float) -> tuple[float, float]:
        across = (math.log10(x) - xs[0]) / (xs[-1] - xs[0])
        up = (math.log10(y) - ys[0]) / (ys[-1] - ys[0])
        return left + across * (right - left), bottom - up * (bottom - top)

    parts = [text(left, 22, title, size=14, weight="600"), text(right, 296, "MB of text", anchor="end", size=11)]
    for exponent in ys:
        _, y = place(10.0 ** xs[0], 10.0**exponent)
        parts.append(f"<line x1='{left}' x2='{right}' y1='{y:.1f}' y2='{y:.1f}' stroke='{FAINT}'/>")
        parts.append(text(left - 6, y + 4, f"{10.0**exponent:g}", anchor="end", size=11))
    for exponent in xs:
        x, _ = place(10.0**exponent, 10.0 ** ys[0])
        parts.append(text(x, 278, f"{10.0**exponent:g}", anchor="middle", size=11))
    for (name, line), fill, dash in zip(lines.items(), (OURS_FILL, INK), ("", "6 4"), strict=True):
        if not line:
            continue
        placed = [place(x, y) for x, y in sorted(line)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
        parts.append(
            f"<polyline points='{path}' fill='none' stroke='{fill}' stroke-width='2' stroke-dasharray='{dash}'/>"
        )
        parts += [f"<circle cx='{x:.1f}' cy='{y:.1f}' r='3' fill='{fill}'/>" for x, y in placed]
        parts.append(text(placed[-1][0], placed[-1][1] - 8, name, anchor="end", size=11, weight="600"))
    return parts


def decades(values: Sequence[float]) -> list[int]:
    """Return the powers of ten that enclose all values, at least two.

    >>> decades([0.2, 15])
    [-1, 0, 1, 2]
    """
    lowest = math.floor(math.log10(min(values)))
    highest = max(math.ceil(math.log10(max(values))), lowest + 1)
    return list(range(lowest, highest + 1))
