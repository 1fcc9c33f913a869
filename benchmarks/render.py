"""Show results.json: a table in README.md between its markers, docs/explanation/benchmarks.md and its two plots.

A ``results-NAME.json`` beside it is a round of another machine, which has a page ``benchmarks-NAME.md`` of its own. It
was measured there (``run.py -o``), so its core may be another; if it is not the core of results.json, the page says so.

``python benchmarks/render.py`` writes them, if they are of the core that is compiled here; ``--older`` writes them all
the same, and says so. ``--check`` tells whether they are what it would write, which other machines' cores can do too.
Nothing is computed here but the form of numbers.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import forms, machine, page, plots, results

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- benchmarks:begin -->", "<!-- benchmarks:end -->"
README, PAGE = ROOT / "README.md", ROOT / "docs" / "explanation" / "benchmarks.md"

README_ROWS: tuple[tuple[str, str, str, str, int, str], ...] = (
    ("encode", "cold", "english", "cl100k_base", 1, "bpe (buffers)"),
    ("encode", "warm", "english", "cl100k_base", 1, "bpe (buffers)"),
    ("whole", "", "english", "cl100k_base", 2, "bpe"),
    ("short", "", "one short text", "cl100k_base", 1, "bpe"),
    ("decode_batch", "", "messages", "cl100k_base", 1, "bpe"),
    ("train", "", "english", "32k", 2, "bpe"),
    ("learn", "", "english", "SentencePiece's BPE 32k", 2, "bpe (compat)"),
    ("start", "", "one line", "cl100k_base", 1, "bpe (command)"),
)
"""The eight rows of the README, chosen before they were measured, and not exchanged when one is lost.

One for each thing that people do with a tokenizer: documents in a list to ids, the first time and again; a file to a
file with all processors; a text in a call; answers back to text; a tokenizer trained, ours and SentencePiece's; a
command started. English, as it is what others show, and with the encoding that all libraries have.
"""

NAMES = ("operation", "phase", "text", "tokenizer", "threads", "ours")

MORE = (
    " The eight rows above were chosen before they were measured. [Every row that is lost]"
    "(docs/explanation/benchmarks.md#lost); with bytes, tokens, CPU time, memory, every library and encoding: "
    "[all benchmarks](docs/explanation/benchmarks.md)."
)


def readme_block(round_: dict[str, Any]) -> str:
    """Return what stands between the README's markers."""
    compared = {tuple(item[name] for name in NAMES): item for item in round_["comparisons"]}
    absent = sum(row not in compared for row in README_ROWS)
    return "\n".join(
        [
            forms.MADE,
            "MB/s of UTF-8 text and M tokens/s: more is better; s, ms and µs: less is better. bpe is compared with the "
            "fastest other library whose results are correct, used in its fastest way. The last column has "
            f"the number of our runs and of theirs; {forms.ONE_RUN} marks a figure of a single run. With one thread, "
            "libraries that take more CPU time than wall time (fastokens and tokie use all processors) are ranked by "
            "CPU time. " + forms.circumstances(round_),
            "",
            forms.summary_table(round_, [compared[row] for row in README_ROWS if row in compared]),
            "",
            "Of all rows: "
            + forms.standing(round_["comparisons"])
            + MORE
            + (f" {absent} of the eight rows are not in this round." if absent else ""),
        ]
    )


def with_block(text: str, block: str) -> str | None:
    """Return a text with the block between its markers, or None if it has no markers."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    return f"{before}{BEGIN}\n{block}\n{END}{after}" if begin and end else None


def others(results_path: Path, page_path: Path) -> dict[Path, dict[str, Any]]:
    """Return the rounds of other machines by their pages.

    Raises:
        ValueError: if a file is not of the schema.
    """
    found = sorted(results_path.parent.glob(f"{results_path.stem}-*.json"))
    ending = {path: path.stem.removeprefix(results_path.stem) for path in found}
    return {page_path.with_stem(page_path.stem + end): results.load(path) for path, end in ending.items()}


def pages_of(rounds: dict[Path, dict[str, Any]]) -> dict[Path, str]:
    """Return the page of each round, and its plots, with their contents; that of this machine is the first."""
    contents, title = {}, "Benchmarks"
    for path, round_ in rounds.items():
        beside = {forms.processor(other): there.name for there, other in rounds.items() if there != path}
        contents |= {
            path: page.render(round_, path.stem, title, beside),
            path.with_name(f"{path.stem}-speed.svg"): plots.speed(round_),
            path.with_name(f"{path.stem}-growth.svg"): plots.growth(round_),
        }
        title = "Benchmarks of another machine"
    return contents


def contents_of(
    round_: dict[str, Any], readme: Path, page_path: Path, elsewhere: dict[Path, dict[str, Any]]
) -> dict[Path, str]:
    """Return the files that rounds are shown in, with their contents; the README only if it has the markers.

    Args:
        round_: The round of this machine, which the README shows.
        readme: The README.
        page_path: The page of this round.
        elsewhere: The rounds of other machines by their pages.
    """
    dated = {path: other | {"older": other["core"] != round_["core"]} for path, other in elsewhere.items()}
    contents = pages_of({page_path: round_} | dated)
    written = with_block(readme.read_text(encoding="utf-8"), readme_block(round_)) if readme.exists() else None
    if written is not None:
        contents[readme] = written
    return contents


def main(arguments: list[str] | None = None) -> int:
    """Write the files, or check them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 if a file is not up to date")
    parser.add_argument("--older", action="store_true", help="render results of another core, and say so")
    parser.add_argument("--results", type=Path, default=results.PATH, help="default: benchmarks/results.json")
    parser.add_argument("--readme", type=Path, default=README, help="default: README.md")
    parser.add_argument("--page", type=Path, default=PAGE, help="default: docs/explanation/benchmarks.md")
    options = parser.parse_args(arguments)
    try:
        round_ = results.load(options.results)
        elsewhere = others(options.results, options.page)
    except FileNotFoundError:
        print(f"error: there is no {options.results.name}\n\nhint: run make bench", file=sys.stderr)
        return 2
    except ValueError as error:
        print(f"error: {error}\n\nhint: run make bench", file=sys.stderr)
        return 2
    here = machine.core_build()
    if options.check:
        is_older = options.page.exists() and forms.OLDER in options.page.read_text(encoding="utf-8")
    elif round_["core"] != here and not options.older:
        measured = f"{round_['core']} of commit {round_['commit'] or 'not noted'}"
        print(
            f"error: {options.results.name} was measured with another core: {measured}; here is {here}\n\n"
            "hint: run make bench to measure this one, or render with --older, which says so in the tables",
            file=sys.stderr,
        )
        return 1
    else:
        is_older = options.older
    contents = contents_of(round_ | {"older": is_older}, options.readme, options.page, elsewhere)
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
