"""Show results.json: a table in README.md between its markers, docs/explanation/benchmarks.md and its two plots.

``python benchmarks/render.py`` writes them, ``--check`` tells whether they are what it would write.
Nothing is computed here but the form of numbers.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import forms, page, plots, results

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- benchmarks:begin -->", "<!-- benchmarks:end -->"
README, PAGE = ROOT / "README.md", ROOT / "docs" / "explanation" / "benchmarks.md"

README_ROWS: tuple[tuple[str, str, int], ...] = (
    ("encode", "cold", 1),
    ("encode", "warm", 1),
    ("whole", "", 1),
    ("whole", "", 2),
    ("count", "cold", 1),
    ("decode", "warm", 1),
    ("train", "", 2),
    ("learn", "", 2),
    ("start", "", 1),
    ("load", "cold", 1),
)
"""Operation, phase and threads of the rows that the README speaks of; the page has the rest."""

NOT_SHOWN = (("whole", "", 1), ("count", "cold", 1))
"""Those of which the README shows no row, unless one is lost."""

MORE = (
    " The first row of each kind and every lost one is here. With bytes, tokens, CPU time, memory, every library and "
    "encoding: [all benchmarks](docs/explanation/benchmarks.md)."
)
OTHER_ENCODINGS = ("o200k_base", "gpt2", "llama3")
"""Encodings whose rows of encoding are on the page alone."""


def readme_block(round_: dict[str, Any]) -> str:
    """Return what stands between the README's markers."""
    names = forms.versions(round_)
    chosen = [
        item
        for row in README_ROWS
        for item in round_["comparisons"]
        if (item["operation"], item["phase"], item["threads"]) == row
        and not (item["operation"] == "encode" and item["tokenizer"] in OTHER_ENCODINGS)
    ]
    rows = []
    for item in shown_of(chosen):
        cells = forms.beside(round_, item)
        ours = forms.best_of([cell for cell in cells if forms.name_of(cell) == item["ours"]])
        rival = next((cell for cell in cells if forms.name_of(cell) == item["best_rival"]), None)
        figures = ["" if cell is None else forms.shown(cell) for cell in (ours, rival)]
        if item["ratio"] is not None and not forms.is_level(item["ratio"]):
            better = 0 if item["ratio"] > 1 else 1
            figures[better] = f"**{figures[better]}**"
        which = "" if rival is None else forms.titled(rival, names)
        rows.append([forms.label(item), *figures, which, forms.ratio_text(item["ratio"])])
    return "\n".join(
        [
            forms.MADE,
            "MB/s of UTF-8 text and M tokens/s: more is better; s and ms: less is better. bpe is compared with the "
            "fastest other library whose results are correct, used in its fastest way; no other library can count "
            "without making ids. With one thread, libraries that take more CPU time than wall time (fastokens and "
            "tokie use all processors) are ranked by CPU time. " + forms.circumstances(round_),
            "",
            forms.table(["", "bpe", "fastest other", "which", "bpe against it"], rows),
            "",
            forms.standing(chosen) + MORE,
        ]
    )


def shown_of(chosen: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the README's rows: the first of each kind, and every one that is lost."""
    seen = set(NOT_SHOWN)
    rows = []
    for item in chosen:
        kind = (item["operation"], item["phase"], item["threads"])
        is_lost = item["ratio"] is None or (item["ratio"] < 1 and not forms.is_level(item["ratio"]))
        if kind not in seen or is_lost:
            rows.append(item)
        seen.add(kind)
    return rows


def with_block(text: str, block: str) -> str | None:
    """Return a text with the block between its markers, or None if it has no markers."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    return f"{before}{BEGIN}\n{block}\n{END}{after}" if begin and end else None


def contents_of(round_: dict[str, Any], readme: Path, page_path: Path) -> dict[Path, str]:
    """Return the files that a round is shown in, with their contents; the README only if it has the markers."""
    contents = {
        page_path: page.render(round_),
        page_path.with_name("benchmarks-speed.svg"): plots.speed(round_),
        page_path.with_name("benchmarks-growth.svg"): plots.growth(round_),
    }
    written = with_block(readme.read_text(encoding="utf-8"), readme_block(round_)) if readme.exists() else None
    if written is not None:
        contents[readme] = written
    return contents


def main(arguments: list[str] | None = None) -> int:
    """Write the files, or check them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 if a file is not up to date")
    parser.add_argument("--results", type=Path, default=results.PATH, help="default: benchmarks/results.json")
    parser.add_argument("--readme", type=Path, default=README, help="default: README.md")
    parser.add_argument("--page", type=Path, default=PAGE, help="default: docs/explanation/benchmarks.md")
    options = parser.parse_args(arguments)
    try:
        round_ = results.load(options.results)
    except FileNotFoundError:
        print(f"error: there is no {options.results.name}\n\nhint: run make bench", file=sys.stderr)
        return 2
    except ValueError as error:
        print(f"error: {error}\n\nhint: run make bench", file=sys.stderr)
        return 2
    contents = contents_of(round_, options.readme, options.page)
    if options.readme not in contents:
        print(f"note: {options.readme.name} has no {BEGIN} and {END}: left as it is", file=sys.stderr)
    stale = [path for path, text in contents.items() if not path.exists() or path.read_text("utf-8") != text]
    if options.check and stale:
        names = " and ".join(path.name for path in stale)
        print(f"error: {names}: not what {options.results.name} says\n\nhint: run make bench", file=sys.stderr)
        return 1
    if not options.check:
        for path in stale:
            results.replace_file(path, contents[path])
    return 0


if __name__ == "__main__":
    sys.exit(main())
