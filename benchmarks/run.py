"""Measure bpe against other libraries and write results.json: ``python benchmarks/run.py``.

Every measurement is a process of its own (worker.py). A round goes through all of them, then comes the
next round, so that whatever else the machine does falls on all libraries alike. What a library gave is
compared with the reference before its speed counts. See NOTES.md for what is measured how.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import machine, render, results, texts
from benchmarks.operations import OPERATIONS
from benchmarks.plan import TOKENIZERS, Options, Plan
from benchmarks.processes import WorkerFailed, children_cpu

ROOT = Path(__file__).resolve().parent.parent
TEXTS = (*texts.BENCH_TEXTS, texts.EVERYWHERE)


def say(message: str) -> None:
    """Report how far it is."""
    print(message, file=sys.stderr, flush=True)


def measure(options: Options, folder: Path) -> dict[str, Any]:
    """Measure everything and give the contents of results.json."""
    began, load = time.perf_counter(), machine.load_average()
    spent: defaultdict[str, float] = defaultdict(float)
    free = [machine.free_cores()]
    if free[0] < results.IDLE * machine.cores():
        say(f"note: only {free[0]} of {machine.cores()} processors are free: wall times will suffer")
    prepared = texts.prepare(options.texts, folder, ROOT, options.limit)
    if not prepared:
        raise WorkerFailed(f"there is no text called {' or '.join(options.texts)} on this machine")
    plan = Plan(options, prepared, folder, ROOT)
    entries = list(plan.entries())
    spent["preparing"] = time.perf_counter() - began
    say(f"{len(entries)} processes a round; texts and tokenizers took {spent['preparing']:.0f} s")
    rounds = 0
    for number in range(options.repetitions):
        due = [entry for entry in entries if entry.rounds > number]
        elapsed, estimate = time.perf_counter() - began, sum(entry.seconds for entry in due)
        if options.minutes is not None and number and elapsed + estimate > 60 * options.minutes:
            say(f"round {number + 1} would take {estimate:.0f} s more than there is time for: left out")
            break
        for entry in due:
            entry.run()
            spent[entry.first.operation] += entry.seconds
        rounds += 1
        free.append(machine.free_cores())
        say(f"round {rounds} of {options.repetitions}: {time.perf_counter() - began - elapsed:.0f} s")
    checking = time.perf_counter()
    plan.judge(entries)
    spent["checking"] = time.perf_counter() - checking
    head = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "mode": options.mode,
        "repetitions": rounds,
        "machine": machine.describe(),
        "load": {"start": load, "end": machine.load_average()},
        "free_cores": free,
        "seconds": {name: round(seconds, 1) for name, seconds in spent.items()}
        | {"total": round(time.perf_counter() - began, 1), "cpu": round(children_cpu(), 1)},
        "versions": {"python": sys.version.split()[0], **plan.versions},
        "core": machine.core_build(),
        "texts": {text.name: text.describe() for text in prepared},
    }
    return results.build(head, [cell for entry in entries for cell in entry.cells.values()])


def options_of(arguments: argparse.Namespace) -> Options:
    """Turn the command line into what a round is to be."""
    mode = "quick" if arguments.quick else "full" if arguments.full else "default"
    limits = {"quick": 4_000_000, "default": 20_000_000, "full": None}
    return Options(
        mode=mode,
        repetitions=arguments.repetitions or (1 if arguments.quick else 5),
        operations=tuple(name for name in OPERATIONS if name in (arguments.only or OPERATIONS)),
        texts=tuple(name for name in TEXTS if name in (arguments.text or TEXTS)),
        tokenizers=tuple(name for name in TOKENIZERS if name in (arguments.tokenizer or TOKENIZERS)),
        limit=limits[mode],
        minutes=arguments.minutes if mode == "default" else None,
    )


def main() -> int:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="one repetition on 4 MB of each text: a sanity check")
    size.add_argument("--full", action="store_true", help="all of each text, trained on too: takes long")
    parser.add_argument("--repetitions", type=int, metavar="N", help="rounds (5; what takes long gets fewer)")
    parser.add_argument("--only", action="append", choices=list(OPERATIONS), help="measure this only (repeatable)")
    parser.add_argument("--text", action="append", choices=TEXTS, help="repeatable")
    parser.add_argument("--tokenizer", action="append", choices=TOKENIZERS, help="repeatable")
    parser.add_argument("--minutes", type=float, default=9.0, help="drop rounds rather than take longer (9)")
    parser.add_argument("-o", "--output", type=Path, help="where to write (default: benchmarks/results.json)")
    arguments = parser.parse_args()
    partial = arguments.quick or arguments.only or arguments.text or arguments.tokenizer or arguments.repetitions
    output = arguments.output or (None if partial else results.PATH)
    if output is None:
        say("note: results.json holds whole rounds only; this one is shown and not stored (-o stores it)")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that the texts in the temporary folder go away
    try:
        with tempfile.TemporaryDirectory(prefix="bpe-bench-") as folder:
            round_ = measure(options_of(arguments), Path(folder))
    except KeyboardInterrupt:
        say("interrupted: nothing was written")
        return 130
    except WorkerFailed as error:
        say(f"error: nothing was measured: {error}")
        return 1
    if output is not None:
        results.save(round_, output)
        say(f"wrote {output.name}: {len(round_['cells'])} cells in {round_['seconds']['total']:.0f} s")
    print(render.readme_block(round_))
    return 0


if __name__ == "__main__":
    sys.exit(main())
