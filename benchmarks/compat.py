"""Time compat.tiktoken beside tiktoken and write compat.json: ``python benchmarks/compat.py``.

Programs that change one import call the same methods with the same arguments, and that is what is timed: both in one
process, in turn, so that whatever else the machine does falls on both; the first call of each is not counted. A row is
a ratio of medians, theirs by ours: more than 1 is faster than tiktoken. Results are compared before anything is timed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import tiktoken

from benchmarks import machine, texts
from bpe_cli.compat import tiktoken as ours

ROOT = Path(__file__).resolve().parent.parent
STORED = Path(__file__).with_name("compat.json")
ENCODINGS = ("cl100k_base", "o200k_base")
LINES = 20_000
"""So many short texts: what a call costs, whatever the text."""


def theirs(mine: Any) -> Any:
    """Return tiktoken's encoding of the same ranks, which it would fetch."""
    return tiktoken.Encoding(
        mine.name, pat_str=mine._pat_str, mergeable_ranks=mine._mergeable_ranks, special_tokens=mine._special_tokens
    )


def calls(encoding: Any, documents: list[str]) -> dict[str, Callable[[], Any]]:
    """Return what is timed: the name of a row and the call."""
    whole = "".join(documents)
    lines = [line for line in whole.splitlines() if line][:LINES]
    ids = encoding.encode_ordinary(whole)
    short = encoding.encode_ordinary_batch(lines, num_threads=1)
    return {
        "encode_ordinary, one text": lambda: encoding.encode_ordinary(whole),
        "encode_ordinary, documents": lambda: [encoding.encode_ordinary(each) for each in documents],
        "encode_ordinary, lines": lambda: [encoding.encode_ordinary(each) for each in lines],
        "encode, lines": lambda: [encoding.encode(each) for each in lines],
        "encode_ordinary_batch, documents, 1 thread": lambda: encoding.encode_ordinary_batch(documents, num_threads=1),
        "encode_ordinary_batch, documents, 8 threads": lambda: encoding.encode_ordinary_batch(documents),
        "encode_ordinary_batch, lines, 8 threads": lambda: encoding.encode_ordinary_batch(lines),
        "decode, one text": lambda: encoding.decode(ids),
        "decode, lines": lambda: [encoding.decode(each) for each in short],
        "decode_batch, lines": lambda: encoding.decode_batch(short),
    }


def measure(documents: list[str], runs: int) -> dict[str, Any]:
    """Return the rows of every encoding: medians of wall and CPU seconds of both, and their ratios."""
    found: dict[str, Any] = {}
    for name in ENCODINGS:
        mine = ours.get_encoding(name)
        both = {"ours": calls(mine, documents), "tiktoken": calls(theirs(mine), documents)}
        rows = {}
        for row in both["ours"]:
            taken: dict[str, list[tuple[float, float]]] = {who: [] for who in both}
            if both["ours"][row]() != both["tiktoken"][row]():
                raise SystemExit(f"{name}, {row}: the results differ")
            for _ in range(runs):
                for who, known in both.items():
                    wall, cpu = time.perf_counter(), time.process_time()
                    result = known[row]()
                    taken[who].append((time.perf_counter() - wall, time.process_time() - cpu))
                    del result
            rows[row] = {
                who: {
                    kind: round(statistics.median(times), 5)
                    for kind, times in zip(("wall", "cpu"), zip(*each, strict=True), strict=True)
                }
                for who, each in taken.items()
            }
            for kind in ("wall", "cpu"):
                rows[row][f"{kind}_ratio"] = round(rows[row]["tiktoken"][kind] / rows[row]["ours"][kind], 2)
        found[name] = rows
    return found


def table(figures: dict[str, Any]) -> str:
    """Return the ratios as Markdown."""
    names = list(figures["rows"])
    head = "| | " + " | ".join(f"{name}, {kind}" for name in names for kind in ("wall", "CPU")) + " |\n"
    lines = [head, "|---|" + "---:|" * (2 * len(names)) + "\n"]
    for row in figures["rows"][names[0]]:
        ratios = [figures["rows"][name][row][f"{kind}_ratio"] for name in names for kind in ("wall", "cpu")]
        lines.append(f"| {row} | " + " | ".join(f"{ratio:.2f}" for ratio in ratios) + " |\n")
    return "".join(lines)


def main() -> None:
    """Measure, store and show."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7, help="how many times each call is timed [default: 7]")
    parser.add_argument("--megabytes", type=float, default=4, help="how much text [default: 4]")
    parser.add_argument("-o", "--output", type=Path, default=STORED, help="where the figures go")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        (text,) = texts.prepare([texts.EVERYWHERE], Path(folder), ROOT, int(options.megabytes * 1e6))
        documents = text.path.read_bytes().decode().split(texts.SEPARATOR.decode())
    load, free = machine.load_average(), machine.free_cores()
    figures = {
        "machine": machine.describe(),
        "load_average": load,
        "free_cores": free,
        "core": machine.core_build(),
        "tiktoken": tiktoken.__version__,
        "runs": options.runs,
        "text": {"source": text.source, "bytes": text.size, "sha256": text.sha256},
        "rows": measure(documents, options.runs),
    }
    options.output.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(table(figures))


if __name__ == "__main__":
    main()
