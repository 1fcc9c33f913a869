"""Measure what reports cost and write reports.json: ``python benchmarks/reports.py``.

Two claims are held to figures: comparing several tokenizers takes about as long as encoding with each of them, and
a health report of a large vocabulary takes a few seconds. Each is a whole process, one thread, started anew; CPU
seconds count, and the median of the runs.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import machine, texts
from benchmarks.processes import children_cpu

ROOT = Path(__file__).resolve().parent.parent
STORED = Path(__file__).with_name("reports.json")
COMPARED = ("gpt2", "p50k_base", "cl100k_base", "o200k_base")
EXAMINED = ("gpt2", "cl100k_base", "o200k_base")


def timed(arguments: list[str], runs: int) -> dict[str, float]:
    """Run ``bpe`` so many times; give the medians of its CPU and wall seconds."""
    cpu, wall = [], []
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "bpe_cli", *arguments]
    for _ in range(runs):
        cpu_before, wall_before = children_cpu(), time.perf_counter()
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
        cpu.append(children_cpu() - cpu_before)
        wall.append(time.perf_counter() - wall_before)
    return {"cpu": round(statistics.median(cpu), 2), "wall": round(statistics.median(wall), 2)}


def measure(text: texts.Text, runs: int) -> dict[str, Any]:
    """Return the contents of reports.json."""
    common = [str(text.path), "-j", "1", "-q"]
    load, free = machine.load_average(), machine.free_cores()
    encoding = {
        name: timed(["encode", *common, "-t", name, "--to", "bin", "-o", os.devnull], runs) for name in COMPARED
    }
    comparing = timed(["compare", *common, *(part for name in COMPARED for part in ("-t", name)), "--json"], runs)
    encoded = sum(figures["cpu"] for figures in encoding.values())
    return {
        "machine": machine.describe(),
        "load_average": load,
        "free_cores": free,
        "core": machine.core_build(),
        "runs": runs,
        "text": {"source": text.source, "bytes": text.size, "sha256": text.sha256},
        "encode": encoding,
        "compare": comparing | {"per_encoding": round(comparing["cpu"] / encoded, 2)},
        "health": {name: timed(["inspect", name, "--json"], runs) for name in EXAMINED},
    }


def main() -> None:
    """Measure, store and show."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3, help="how many times each process is run [default: 3]")
    parser.add_argument("-o", "--output", type=Path, default=STORED, help="where the figures go")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        (text,) = texts.prepare([texts.EVERYWHERE], Path(folder), ROOT, None)
        figures = measure(text, options.runs)
    shown = json.dumps(figures, indent=1) + "\n"
    options.output.write_text(shown, encoding="utf-8")
    sys.stdout.write(shown)


if __name__ == "__main__":
    main()
