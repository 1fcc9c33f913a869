"""Run the proofs one after the other, and keep in results.json what they tried and found.

What is found is laid into build/proof/, and the run goes on with the next proof. The exit status is 1 if anything was
found, 2 if a proof could not be tried here, 130 if somebody interrupted.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.cli_runner import heed_signals
from tests.needs import Skipped
from tests.proof import results
from tests.proof.attempts import ROOT, named
from tests.proof.registry import PROOFS
from tests.proof.running import Round, run

EVIDENCE = ROOT / "build" / "proof"


def repeat_command(name: str, seed: int, number: int) -> str:
    """Return the command that repeats one attempt."""
    return f"python -m tests.proof --only {name} --seed {seed} --first {number} --count 1 --dry-run"


def lay_evidence(name: str, done: Round, folder: Path) -> Path:
    """Write what a finding needs into a folder of its own; return it."""
    place = folder / f"{name}-{done.seed}-{done.last}"
    place.mkdir(parents=True, exist_ok=True)
    report = f"{done.finding}\n\nrepeat: {repeat_command(name, done.seed, done.last)}\n"
    (place / "finding.txt").write_text(report, encoding="utf-8", errors="backslashreplace")
    for file, content in named(done.files).items():
        (place / file).write_bytes(content)
    return place


def told(name: str, done: Round) -> str:
    """Return a line about a round."""
    tried = ", ".join(f"{number:,} {kind}" for kind, number in sorted(done.counts.items()))
    return f"{name}: {done.attempts:,} attempts in {done.seconds:,.0f} s: {tried or 'nothing'}"


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.proof", description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", choices=PROOFS, help="this proof; may be given several times")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each proof (default: 60)")
    parser.add_argument("--count", type=int, help="this many attempts of each proof, however long they take")
    parser.add_argument("--seed", type=int, default=0, help="what is drawn follows from it (default: 0)")
    parser.add_argument("--first", type=int, default=1, help="the number of the first attempt (default: 1)")
    parser.add_argument("--dry-run", action="store_true", help="keep nothing in results.json")
    parser.add_argument("--results", type=Path, default=results.PATH, help="default: tests/proof/results.json")
    parser.add_argument("--evidence", type=Path, default=EVIDENCE, help="default: build/proof")
    asked = parser.parse_args(arguments)
    heed_signals()
    status = 0
    for name in asked.only or PROOFS:
        seconds = None if asked.count is not None else asked.seconds
        try:
            done = run(PROOFS[name], asked.seed, first=asked.first, most=asked.count, seconds=seconds)
        except Skipped as reason:
            print(f"{name}: not tried: {reason}", file=sys.stderr)
            status = status or 2
            continue
        print(told(name, done), flush=True)
        if done.finding is not None:
            place = lay_evidence(name, done, asked.evidence)
            print(f"  FOUND: {done.finding}\n  see {place}\n  {repeat_command(name, done.seed, done.last)}", flush=True)
            status = 1
        if done.attempts and not asked.dry_run:
            described = results.described(done, repeat_command(name, done.seed, done.last))
            results.store(name, described, asked.results, over_life=PROOFS[name].over_life)
        if done.interrupted:
            return 130
    return status


if __name__ == "__main__":
    sys.exit(main())
