"""The forms in which numbers, rows and circumstances are shown; nothing is computed here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from benchmarks import results

MADE = "<!-- Made by benchmarks/render.py from benchmarks/results.json (make bench): not to be edited. -->"

Cell = dict[str, Any]
"""A cell or a comparison, as results.json holds it."""

TEXT_NAMES = {"english": "English", "chinese": "Chinese", "python": "Python sources"}
PHASES = {"cold": "first pass", "warm": "later passes", "": ""}
UNITS = {"decode": "M tokens/s", "train": "s", "learn": "s", "start": "ms", "load": "ms"}
"""Of what operations show that is not MB/s."""

# -- numbers ---------------------------------------------------------------------------------------


def number(value: float) -> str:
    """Return a number with three digits that count, or all before the point.

    >>> [number(value) for value in (0.1234, 4.567, 45.67, 456.7, 4567.8)]
    ['0.123', '4.57', '45.7', '457', '4,568']
    """
    size = abs(value)
    return (
        f"{value:.3f}"
        if size < 1
        else f"{value:.2f}"
        if size < 10
        else f"{value:.1f}"
        if size < 100
        else f"{value:,.0f}"
    )


def is_level(ratio: float) -> bool:
    """Return whether two speeds are too close to call.

    >>> is_level(0.99), is_level(1.05)
    (True, False)
    """
    return 0.98 <= ratio <= 1.02


def ratio_text(ratio: float | None) -> str:
    """Describe how our speed stands to the best other's.

    >>> ratio_text(2.5), ratio_text(0.25), ratio_text(1.004), ratio_text(None)
    ('2.50× faster', '4.00× slower', 'level', '–')
    """
    if ratio is None:
        return "–"
    if is_level(ratio):
        return "level"
    return f"{number(ratio)}× faster" if ratio > 1 else f"{number(1 / ratio)}× slower"


def shown(cell: Cell) -> str:
    """Return a cell's figure in its unit, or why it has none."""
    if cell["speed"] is None:
        return str(cell["status"])
    unit = UNITS.get(cell["operation"])
    if unit in ("s", "ms"):
        figure = number(cell["seconds"] * (1 if unit == "s" else 1000))
    else:
        figure = number(cell["speed"] / 1e6)
    return figure if cell["status"] in ("same", "baseline") else f"({figure}: {cell['status']})"


def spread(cell: Cell) -> str:
    """Return the least and the most wall seconds."""
    wall = cell["wall_seconds"]
    return f"{number(wall['min'])}–{number(wall['max'])}" if wall else "–"


def table(head: Iterable[str], rows: Iterable[Iterable[str]], left: int = 1) -> str:
    """Return a Markdown table whose first columns are set left, the others right."""
    head = list(head)
    ruler = [" :--- " if column < left else " ---: " for column in range(len(head))]
    lines = [head, *rows]
    return "\n".join(["| " + " | ".join(lines[0]) + " |", "|" + "|".join(ruler) + "|"]
                     + ["| " + " | ".join(line) + " |" for line in lines[1:]])  # fmt: skip


# -- what stands where -----------------------------------------------------------------------------


def text_name(name: str) -> str:
    """Return a text's name as people write it."""
    return TEXT_NAMES.get(name, name)


def megabytes(size: float) -> str:
    """Return a size in MB.

    >>> megabytes(20_000_000)
    '20.0 MB'
    """
    return f"{number(size / 1e6)} MB"


def measurement(item: Cell) -> tuple[Any, ...]:
    """Return what cells that are compared have in common."""
    return tuple(item[name] for name in ("operation", "phase", "text", "tokenizer", "threads"))


def versions(round_: dict[str, Any]) -> dict[str, str]:
    """Return each library with its version."""
    return {name: f"{name} {version}" if version else name for name, version in round_["versions"].items()}


def beside(round_: dict[str, Any], comparison: Cell) -> list[Cell]:
    """Return the cells that a comparison is about: this way of ours, then the other libraries'."""
    key = measurement(comparison)
    theirs = ("encode", *key[1:]) if comparison["operation"] == "count" else key
    ours = [cell for cell in round_["cells"] if measurement(cell) == key and name_of(cell) == comparison["ours"]]
    others = [cell for cell in round_["cells"] if measurement(cell) == theirs and cell["library"] != results.OURS]
    return ours + others


def name_of(cell: Cell) -> str:
    """Return the library and its way."""
    return f"{cell['library']} ({cell['way']})" if cell["way"] else cell["library"]


def titled(cell: Cell, names: dict[str, str]) -> str:
    """Return the library with its version, and its way."""
    return names.get(cell["library"], cell["library"]) + (f" ({cell['way']})" if cell["way"] else "")


def best_of(cells: list[Cell]) -> Cell | None:
    """Return the fastest cell, one with the right result if there is any."""
    return max(cells, key=lambda cell: (cell["status"] == "same", cell["speed"] or 0), default=None)


def label(comparison: Cell) -> str:
    """Name a row."""
    operation, threads, tokenizer = comparison["operation"], comparison["threads"], comparison["tokenizer"]
    text = text_name(comparison["text"])
    what = {
        "start": f"start-up, {'`bpe encode -T`' if 'command' in comparison['ours'] else 'library'}, {tokenizer}",
        "load": f"load the {text} of {tokenizer}",
        "whole": f"`bpe encode FILE --to bin`, {text}, {tokenizer}",
        "train": f"train BPE {tokenizer} on {text}",
        "learn": f"learn {tokenizer} on {text}",
    }
    words = [what.get(operation, f"{operation} {text}, {tokenizer}")]
    words += [PHASES[comparison["phase"]]] if comparison["phase"] and operation != "load" else []
    words += [f"{threads} threads"] if threads > 1 else []
    return ", ".join([*words, UNITS.get(operation, "MB/s")])


def standing(chosen: list[Cell]) -> str:
    """Count in how many comparisons we are first and in how many we are not."""
    ratios = [item["ratio"] for item in chosen if item["ratio"] is not None]
    level = sum(map(is_level, ratios))
    lost = sum(ratio < 1 and not is_level(ratio) for ratio in ratios)
    words = [f"bpe is the fastest in {len(ratios) - level - lost} of {len(ratios)} rows, slower in {lost}"]
    words += [f"level in {level}"] if level else []
    words += [f"not compared in {len(chosen) - len(ratios)}"] if len(chosen) > len(ratios) else []
    return ", ".join(words) + "."


def circumstances(round_: dict[str, Any]) -> str:
    """Describe what was measured on, and what speaks against it."""
    box, load = round_["machine"], round_["load"]
    number_of = round_["repetitions"]
    rounds = "one round" if number_of == 1 else f"medians of {number_of} rounds"
    words = [
        f"{box['cpu']}, {box['cores']} cores ({box['architecture']}, {box['system']}),",
        f"Python {round_['versions']['python']}, {round_['date']}, {rounds}.",
    ]
    if round_["mode"] == "quick":
        words.append("**A quick round: a sanity check on little text, not for quoting.**")
    if load["start"] is not None:
        words.append(f"Load when it began {load['start']:.2f}.")
    free, waited = min(round_["free_cores"]), round_["disturbed"]
    if free < results.IDLE * box["cores"] or waited > 0.05:
        words.append(
            f"**Other programs ran: once only {free:.1f} of {box['cores']} processors were free, and "
            f"{100 * waited:.0f} % of the one-thread passes had to wait. Figures for two threads are too low, ratios "
            "doubtful.**"
        )
    return " ".join(words)
