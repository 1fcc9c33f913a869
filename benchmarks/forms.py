"""The forms in which numbers, rows and circumstances are shown; nothing is computed here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from benchmarks import results

MADE = "<!-- Made by benchmarks/render.py from benchmarks/results*.json (make bench): not to be edited. -->"

Cell = dict[str, Any]
"""A cell or a comparison, as results.json holds it."""

TEXT_NAMES = {
    "english": "English", "chinese": "Chinese", "python": "Python sources", "packages": "Python packages",
    "messages": "100,000 short messages",
}  # fmt: skip
TOKENIZER_NAMES = {"gpt2-file": "gpt2 from a file", "own-pattern": "gpt2's table with a pattern of one's own"}
PHASES = {"cold": "first pass", "warm": "later passes", "": ""}
UNITS = {
    "short": "µs a call", "decode": "M tokens/s", "decode_batch": "M tokens/s", "stream": "µs a token", "train": "s",
    "learn": "s", "start": "ms", "load": "ms",
}  # fmt: skip
"""Of what operations show that is not MB/s."""

ONE_RUN = "¹"
"""Stands at a figure of one run."""

VECTORS = {"avx512bw": "AVX-512", "avx2": "AVX2"}
"""Instruction sets as people call them."""

OLDER = "**These figures were measured with an older version of the program; `make bench` measures it again.**"

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


def ratio_text(ratio: float | None) -> str:
    """Describe how our speed stands to the best other's.

    >>> ratio_text(2.5), ratio_text(0.25), ratio_text(1.004), ratio_text(None)
    ('2.50× faster', '4.00× slower', 'level', '–')
    """
    if ratio is None:
        return "–"
    if results.is_level(ratio):
        return "level"
    return f"{number(ratio)}× faster" if ratio > 1 else f"{number(1 / ratio)}× slower"


def against(comparison: Cell) -> str:
    """Describe how we stand in a row: by how much, or at least, and whether it is ranked."""
    words = ratio_text(comparison["ratio"])
    words = f"more than {words}" if comparison["at_least"] else words
    return f"({words}: not ranked)" if comparison["verdict"] == "one run" else words


def runs_text(comparison: Cell) -> str:
    """Return the number of runs of both sides."""
    ours, theirs = comparison["runs"]
    return f"{ours} / {theirs}" if comparison["best_rival"] else str(ours)


def shown(cell: Cell) -> str:
    """Return a cell's figure in its unit, or why it has none."""
    if cell["status"] == results.TOO_SLOW:
        return f"> {cell['limit']} s"
    if cell["speed"] is None:
        return str(cell["status"])
    unit = UNITS.get(cell["operation"], "")
    if unit in ("s", "ms"):
        figure = number(cell["seconds"] * (1 if unit == "s" else 1000))
    else:
        figure = number(1e6 / cell["speed"] if unit.startswith("µs") else cell["speed"] / 1e6)
    figure += ONE_RUN if cell["runs"] == 1 else ""
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
    cells = [cell for cell in round_["cells"] if measurement(cell) == measurement(comparison)]
    ours = [cell for cell in cells if name_of(cell) == comparison["ours"]]
    return ours + [cell for cell in cells if cell["library"] != results.OURS]


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
    text, tokenizer = text_name(comparison["text"]), TOKENIZER_NAMES.get(tokenizer, tokenizer)
    way = comparison["ours"].partition("(")[2].rstrip(")")
    what = {
        "avx2": f"encode {text}, {tokenizer}, AVX2 without AVX-512",
        "no-avx": f"encode {text}, {tokenizer}, without AVX",
        "start": f"start-up, {'`bpe encode -T`' if 'command' in comparison['ours'] else 'library'}, {tokenizer}",
        "load": f"load the {text} of {tokenizer}",
        "whole": f"`bpe encode FILE --to bin`, {text}, {tokenizer}",
        "tokens": f"tokens of {text} with their places{', in columns' * bool(way)}, {tokenizer}",
        "short": f"encode {text}, a call each, {tokenizer}",
        "decode_batch": f"decode {text}, {tokenizer}",
        "stream": f"decode {text} token by token, {tokenizer}",
        "train": f"train BPE {tokenizer} on {text}",
        "learn": f"learn {tokenizer} on {text}" + ", by the rival's rules" * bool(way),
    }
    parts = " as separate byte strings" * (operation == "encode" and way == "buffers")
    words = [what.get(operation, f"{operation} {text}{parts}, {tokenizer}")]
    words += [PHASES[comparison["phase"]]] if comparison["phase"] and operation != "load" else []
    words += [f"{threads} threads"] if threads > 1 else []
    return ", ".join([*words, UNITS.get(operation, "MB/s")])


def standing(compared: list[Cell]) -> str:
    """Count in how many rows we are first and in how many we are not, and what is not ranked."""
    count = {verdict: sum(item["verdict"] == verdict for item in compared) for verdict in results.VERDICTS}
    ranked = len(compared) - count["one run"] - count["alone"]
    stopped = sum(item["at_least"] and item["verdict"] == "won" for item in compared)
    words = [
        f"bpe is the fastest in {count['won']} of {ranked} rows, slower in {count['lost']}, equal in {count['level']}"
    ]
    words += [f"{stopped} of those won because nobody else was done within the limit"] if stopped else []
    words += [f"{count['one run']} more not ranked, as a side ran once and is within a factor of {results.ONE_RUN:g}"]
    rows = "row has" if count["alone"] == 1 else "rows have"
    words += [f"{count['alone']} more {rows} no other library to compare with"]
    return "; ".join(word for word in words if not word.startswith("0 ")) + "."


def summary_table(round_: dict[str, Any], compared: list[Cell]) -> str:
    """Return a table with a row for each of these comparisons."""
    names = versions(round_)
    rows = []
    for item in compared:
        cells = beside(round_, item)
        ours = best_of([cell for cell in cells if name_of(cell) == item["ours"]])
        rival = next((cell for cell in cells if name_of(cell) == item["best_rival"]), None)
        figures = ["–" if cell is None else shown(cell) for cell in (ours, rival)]
        if item["verdict"] in ("won", "lost"):
            better = 0 if item["verdict"] == "won" else 1
            figures[better] = f"**{figures[better]}**"
        which = "–" if rival is None else titled(rival, names)
        rows.append([label(item), *figures, which, against(item), runs_text(item)])
    return table(["", "bpe", "fastest other", "which", "bpe against it", "runs"], rows)


def processor(round_: dict[str, Any]) -> str:
    """Return the processor that was measured on, with the newest instructions for vectors that it has."""
    machine = round_["machine"]
    sets = [name for name in ("avx512bw", "avx2") if name in machine["instruction_sets"]]
    newest = f" with {VECTORS[sets[0]]}" if sets else ""
    return f"{machine['cpu']}, {machine['cores']} cores{newest}"


def circumstances(round_: dict[str, Any]) -> str:
    """Describe what was measured on, and what speaks against it."""
    box, load = round_["machine"], round_["load"]
    several = [max(row["runs"]) for row in round_["comparisons"] if row["operation"] not in results.ONCE]
    most = max([round_["repetitions"], *several])
    rounds = "one run each" if most == 1 else f"medians of up to {most} runs"
    words = [
        f"{box['cpu']}, {box['cores']} cores ({box['architecture']}, {box['system']}),",
        f"Python {round_['versions']['python']}, {round_['date']}, {rounds}.",
    ]
    if round_["mode"] == "part":
        words.append("**A part of a round: a sanity check, not for quoting.**")
    if round_.get("older"):
        words.append(OLDER)
    if round_.get("note"):
        words.append(round_["note"])
    if load["start"] is not None:
        words.append(f"The load average at the start was {load['start']:.2f}.")
    if round_.get("full_speed") is not None:
        words.append(
            f"The machine ran at full speed in {100 * round_['full_speed']:.0f} % of all passes. In a row in which "
            "every library that may be the fastest has at least three such passes, only those count."
        )
    if round_.get("worth_of_all") is not None and box["cores"] > 1:
        words.append(f"All processors together do {round_['worth_of_all']:.1f} times the work of one.")
    free, waited = min(round_["free_cores"]), round_["disturbed"]
    if free < results.IDLE * box["cores"] or waited > 0.05:
        words.append(
            f"**Other programs ran: once only {free:.1f} of {box['cores']} processors were free, and "
            f"{100 * waited:.0f} % of the one-thread passes had to wait. Figures for two threads are too low, ratios "
            "doubtful.**"
        )
    return " ".join(words)
