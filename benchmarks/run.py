"""Measure bpe against other libraries and write results.json: ``python benchmarks/run.py``.

Every measurement is a process of its own (worker.py). A round goes through all of them, then comes the
next round, so that whatever else the machine does falls on all libraries alike. What a library gave is
compared with the reference before its speed counts. See NOTES.md for what is measured how.
"""

from __future__ import annotations

import argparse
import compileall
import itertools
import signal
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import machine, page, results, texts
from benchmarks.again import MORE, MOST, lacking, near, unsettled
from benchmarks.entries import Entry
from benchmarks.journal import Journal
from benchmarks.operations import OPERATIONS
from benchmarks.pace import choose
from benchmarks.plan import TOKENIZERS, Options, Plan
from benchmarks.processes import WorkerFailed, children_cpu

ROOT = Path(__file__).resolve().parent.parent
TEXTS = (*texts.BENCH_TEXTS, texts.EVERYWHERE, *texts.COLLECTIONS)
REPETITIONS = 3
QUICK_MEGABYTES = 4


def say(message: str) -> None:
    """Report how far it is."""
    print(message, file=sys.stderr, flush=True)


def measure(options: Options, folder: Path, kept: Path | None = None) -> dict[str, Any]:
    """Measure everything and give the contents of results.json; ``kept`` is the file of the journal."""
    began, load = time.perf_counter(), machine.load_average()
    compileall.compile_dir(ROOT / "bpe_cli", quiet=1)  # as pip does for whatever it installs
    spent: defaultdict[str, float] = defaultdict(float)
    prepared = texts.prepare(options.texts, folder, ROOT, options.limit)
    if not prepared:
        raise WorkerFailed(f"there is no text called {' or '.join(options.texts)} on this machine")
    plan = Plan(options, prepared, folder, ROOT)
    entries = list(plan.entries())
    about = {
        "options": asdict(options),
        "machine": machine.describe(),
        "versions": {"python": sys.version.split()[0], **plan.versions},
        "core": machine.core_build(),
        "commit": machine.commit(ROOT),
        "texts": {text.name: text.describe() for text in prepared},
    }
    journal = Journal(kept or folder / "journal", about)
    journal.keep(entries)
    journal.note_free(machine.free_cores())
    if journal.free[-1] < results.IDLE * machine.cores():
        say(f"note: only {journal.free[-1]} of {machine.cores()} processors are free: wall times will suffer")
    spent["preparing"] = time.perf_counter() - began
    say(f"{len(entries)} processes a round; texts and tokenizers took {spent['preparing']:.0f} s")
    for number in range(options.repetitions):
        rounds_began = time.perf_counter()
        run_all([entry for entry in entries if entry.rounds > number], spent)
        journal.note_free(machine.free_cores())
        say(f"round {number + 1} of {options.repetitions}: {time.perf_counter() - rounds_began:.0f} s")
    checking = time.perf_counter()
    plan.judge(entries)
    spent["checking"] = time.perf_counter() - checking
    cells = [cell for entry in entries for cell in entry.cells.values()]
    full_speed = choose(cells)
    if options.repetitions > 1:
        again = near(entries)
        say(f"{len(again)} that ran once are too near to tell: they run as often as ours")
        for _ in range(options.repetitions - 1):
            run_all(again, spent)
        full_speed = choose(cells)
        settled: set[int] = set()
        while again := [entry for entry in unsettled(entries) if id(entry) not in settled]:
            say(f"{len(again)} have passes faster and slower than another's beside them: {MORE} rounds more of these")
            settled.update(map(id, again))
            for number in range(MOST):
                again = again if number < MORE else lacking(again, cells)
                run_all(again, spent)
            full_speed = choose(cells)
    head = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "mode": options.mode,
        "repetitions": options.repetitions,
        "load": {"start": load, "end": machine.load_average()},
        "free_cores": journal.free,
        "full_speed": full_speed,
        "worth_of_all": machine.worth_of_all(),
        "seconds": {name: round(seconds, 1) for name, seconds in spent.items()}
        | {"total": round(time.perf_counter() - began + journal.seconds, 1), "cpu": round(children_cpu(), 1)},
        **{name: about[name] for name in ("machine", "versions", "core", "commit", "texts")},
    }
    return results.build(head, cells)


def run_all(entries: Iterable[Entry], spent: defaultdict[str, float]) -> None:
    """Run each of these processes once more."""
    for operation, several in itertools.groupby(entries, key=lambda entry: entry.first.operation):
        began = time.perf_counter()
        for entry in several:
            entry.run()
            spent[operation] += entry.seconds
        say(f"  {operation}: {time.perf_counter() - began:.0f} s")


def options_of(arguments: argparse.Namespace) -> Options:
    """Turn the command line into what a round is to be."""
    megabytes = arguments.megabytes or (QUICK_MEGABYTES if arguments.quick else None)
    return Options(
        mode="part" if is_part(arguments) else "full",
        repetitions=arguments.repetitions or (1 if arguments.quick else REPETITIONS),
        operations=tuple(name for name in OPERATIONS if name in (arguments.only or OPERATIONS)),
        texts=tuple(name for name in TEXTS if name in (arguments.text or TEXTS)),
        tokenizers=tuple(name for name in TOKENIZERS if name in (arguments.tokenizer or TOKENIZERS)),
        limit=None if megabytes is None else int(megabytes * 1e6),
    )


def is_part(arguments: argparse.Namespace) -> bool:
    """Return whether the round leaves something out, and so must not be stored."""
    chosen = (arguments.only, arguments.text, arguments.tokenizer, arguments.megabytes, arguments.repetitions)
    return arguments.quick or any(each is not None for each in chosen)


def main() -> int:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="everything once, on 4 MB of each text: a sanity check")
    parser.add_argument("--megabytes", type=float, metavar="N", help="only so much of each text")
    parser.add_argument("--repetitions", type=int, metavar="N", help="rounds (3; what is slow gets one)")
    parser.add_argument("--only", action="append", choices=list(OPERATIONS), help="measure this only (repeatable)")
    parser.add_argument("--text", action="append", choices=TEXTS, help="repeatable")
    parser.add_argument("--tokenizer", action="append", choices=TOKENIZERS, help="repeatable")
    parser.add_argument("-o", "--output", type=Path, help="where to write (default: benchmarks/results.json)")
    parser.add_argument(
        "--journal", type=Path, metavar="FILE", help="keep what is measured there, and go on if it was interrupted"
    )
    arguments = parser.parse_args()
    output = arguments.output or (None if is_part(arguments) else results.PATH)
    if output is None:
        say("note: results.json holds whole rounds only; this one is shown and not stored (-o stores it)")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that the texts in the temporary folder go away
    try:
        with tempfile.TemporaryDirectory(prefix="bpe-bench-") as folder:
            round_ = measure(options_of(arguments), Path(folder), arguments.journal)
    except KeyboardInterrupt:
        kept = "the same command goes on" if arguments.journal else "--journal FILE would have kept it"
        say(f"interrupted: no results were written; {kept}")
        return 130
    except WorkerFailed as error:
        say(f"error: nothing was measured: {error}")
        return 1
    if output is not None:
        results.save(round_, output)
        if arguments.journal is not None:
            arguments.journal.unlink()
        say(f"wrote {output.name}: {len(round_['cells'])} cells in {round_['seconds']['total']:.0f} s")
    print(page.rows_of_round(round_))
    return 0


if __name__ == "__main__":
    sys.exit(main())
