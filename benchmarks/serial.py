"""Measure what one thread alone must do: ``python benchmarks/serial.py --megabytes 72``.

Each job runs in a process of its own on two threads. In the core both take tasks until none is left, and the one that
called does what comes before and after besides: what it needs more CPU time for than the other is the serial part. In
a whole process (``bpe encode``) the first thread reads and writes, and the others encode: all of its time is serial.
The table says how many CPU seconds all threads take, which part of them is serial, and by how many times more threads
would be faster than one if nothing else stood in the way (Amdahl). What was found: notes/threads.md.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.worst import english

THREADS = 2
DOCUMENT_BYTES = 8192
CURVE = (2, 4, 8, 16, 32, 64)


def documents_of(text: Path) -> list[bytes]:
    """Cut a text into documents of 8 kB."""
    data = text.read_bytes()
    return [data[start : start + DOCUMENT_BYTES] for start in range(0, len(data), DOCUMENT_BYTES)]


def calls(text: Path, name: str) -> dict[str, Callable[[], object]]:
    """Return the jobs that the core does in one call, by name."""
    from bpe_cli import load
    from bpe_cli.support.blocks import Block
    from bpe_cli.trainers import bbpe

    tokenizer, documents = load(name), documents_of(text)
    tokenizer.encode("a")
    block, lines = Block.of(documents), text.read_bytes().splitlines()
    options = bbpe.BbpeOptions(vocab_size=300)
    return {
        "encode, a block": lambda: tokenizer.encode_block(block, None, THREADS),
        "encode, one document": lambda: tokenizer.encode_block(Block.of([block.data]), None, THREADS),
        "encode, separate bytes": lambda: tokenizer.encode_batch(documents, threads=THREADS),
        "encode, separate lines": lambda: tokenizer.encode_batch(lines, threads=THREADS),
        "count, a block": lambda: tokenizer.count_block(block, None, THREADS),
        "train: counting": lambda: bbpe.TRAINER.count([block], options, bbpe.new_counts(), THREADS),
    }


def measure_call(text: Path, name: str, job: str, passes: int) -> list[tuple[float, float, float]]:
    """Return CPU seconds of all threads, serial ones, and wall seconds of each pass."""
    call = calls(text, name)[job]
    found = []
    for _ in range(passes):
        wall, both, own = time.perf_counter(), time.process_time(), time.thread_time()
        result = call()
        wall, both, own = time.perf_counter() - wall, time.process_time() - both, time.thread_time() - own
        del result
        found.append((both, max(0.0, own - (both - own)), wall))
    return found


RUN = """
import sys, tempfile, time
from pathlib import Path
from bpe_cli.__main__ import main

with tempfile.TemporaryDirectory() as folder:
    sys.argv += ["-q", "-o", str(Path(folder) / "ids")]
    wall, code = time.perf_counter(), main()
    print(time.process_time(), time.thread_time(), time.perf_counter() - wall, flush=True)
    sys.exit(code)
"""
"""A whole run of ``bpe encode``, from the start of its process, that says what it needed."""


def measure_process(text: Path, name: str, to: str) -> tuple[float, ...]:
    """Return the same of a whole run of ``bpe encode``."""
    arguments = ["encode", str(text), "-t", name, "--to", to, "--threads", str(THREADS)]
    done = subprocess.run([sys.executable, "-c", RUN, *arguments], check=True, stdout=subprocess.PIPE)
    return tuple(map(float, done.stdout.split()))


JOBS = (
    "encode, a block",
    "encode, one document",
    "encode, separate bytes",
    "encode, separate lines",
    "count, a block",
    "train: counting",
    "process: bin",
    "process: count",
)


def measured(text: Path, name: str, job: str, passes: int) -> list[Any]:
    """Do a job in a process of its own, or in several; return what each pass needed."""
    kind, _, to = job.partition(": ")
    if kind == "process":
        return [measure_process(text, name, to) for _ in range(passes)]
    command = [sys.executable, __file__, "--job", job, "--text", str(text), "-t", name, "--passes", str(passes)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return list(json.loads(done.stdout.splitlines()[-1]))


def speedup(serial: float, threads: int) -> float:
    """Return how many times faster so many threads are than one.

    >>> round(speedup(0.02, 64), 1)
    28.3
    """
    return 1 / (serial + (1 - serial) / threads)


def row(job: str, runs: list[tuple[float, float, float]]) -> str:
    """Return the row of a job: medians."""
    both, alone, wall = (statistics.median(each) for each in zip(*runs, strict=True))
    curve = " | ".join(f"{speedup(alone / both, threads):.1f}" for threads in CURVE)
    return f"| {job} | {both:.3f} | {alone * 1000:.1f} | {alone / both:.1%} | {wall:.3f} | {curve} |"


def main() -> None:
    """Measure each job, or the one that is asked for, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-t", "--tokenizer", default="cl100k_base")
    parser.add_argument("--megabytes", type=int, default=72)
    parser.add_argument("--passes", type=int, default=9)
    parser.add_argument("--text", type=Path, help="a file, instead of English")
    parser.add_argument("--job", choices=JOBS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        print(json.dumps(measure_call(options.text, options.tokenizer, options.job, options.passes)))
        return
    with tempfile.TemporaryDirectory() as folder:
        text = options.text or Path(folder) / "english.txt"
        if options.text is None:
            text.write_bytes(english(options.megabytes * 1_000_000))
        print("| job | CPU s | serial ms | serial | wall s |", " | ".join(map(str, CURVE)), "|")
        print("|---|" + "--:|" * (4 + len(CURVE)))
        for job in JOBS:
            runs = measured(text, options.tokenizer, job, options.passes)
            if job.startswith("process"):
                print(row(job, runs))
            else:
                print(row(f"{job}, first pass", runs[:1]))
                print(row(f"{job}, later passes", runs[1:]))


if __name__ == "__main__":
    main()
