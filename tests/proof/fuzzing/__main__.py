"""Search the targets one after the other for inputs that break a law.

What is found lies in build/fuzz/found/, and the next target follows; the exit status is 1 if anything was found. What a
search keeps lies in build/fuzz/NAME/, and the next one begins with it. With ``--keep``, the inputs that reach a line no
shorter one reaches go into tests/proof/fuzzing/corpora/, and a table says which lines of which modules they reach.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
from pathlib import Path

from tests.proof.attempts import ROOT
from tests.proof.fuzzing.reached import Lines, smallest, table
from tests.proof.fuzzing.seeds import CORPORA, LONGEST, corpus_of, seeds_of
from tests.proof.fuzzing.targets import TARGETS

BUILD = ROOT / "build" / "fuzz"

LONGEST_RUN = 20
"""Seconds after which an input is a finding; a busy machine has to come to its end within them."""


def search(name: str, seconds: int, build: Path) -> int:
    """Search a target in a process of its own; return its status."""
    corpus, found = build / name, build / "found"
    for place in (corpus, found):
        place.mkdir(parents=True, exist_ok=True)
    known = (*seeds_of(name), *corpus_of(name))
    for data in known:
        (corpus / hashlib.sha1(data, usedforsecurity=False).hexdigest()).write_bytes(data)
    limits = {
        "max_total_time": seconds, "max_len": max(LONGEST, *(len(data) + 500 for data in known)),
        "timeout": LONGEST_RUN, "rss_limit_mb": 2048, "artifact_prefix": f"{found}/{name}-", "print_final_stats": 1,
        "verbosity": 1, "close_fd_mask": 0,
    }  # fmt: skip
    options = [f"-{option}={value}" for option, value in limits.items()]
    command = [sys.executable, "-m", "tests.proof.fuzzing.search", name, *options, str(corpus)]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def keep(name: str, build: Path) -> Lines:
    """Write the small corpus of a target; return the lines that it reaches."""
    files = [path.read_bytes() for path in (build / name).iterdir()] if (build / name).is_dir() else []
    for data in seeds_of(name):  # what runs once, runs before the lines count
        TARGETS[name](data)
    kept, reached = smallest(TARGETS[name], (*files, *seeds_of(name), *corpus_of(name)))
    fresh = [data for data in kept if data not in seeds_of(name) and len(data) <= LONGEST]
    (CORPORA / f"{name}.txt").write_text("".join(f"{data.hex()}\n" for data in fresh))
    print(f"{name}: {len(files):,} inputs, {len(fresh)} kept beside {len(seeds_of(name))} seeds", flush=True)
    return reached


def main() -> int:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.proof.fuzzing", description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", choices=TARGETS, help="this target; may be given several times")
    parser.add_argument("--seconds", type=int, default=60, help="for each target (default: 60); 0 searches none")
    parser.add_argument("--keep", action="store_true", help="write small corpora, and show which lines they reach")
    parser.add_argument("--build", type=Path, default=BUILD, help="default: build/fuzz")
    asked = parser.parse_args()
    names = asked.only or list(TARGETS)
    failed = [name for name in names if asked.seconds and search(name, asked.seconds, asked.build)]
    if failed:
        print(f"\nFOUND: {', '.join(failed)}; see {asked.build / 'found'}", file=sys.stderr)
    if asked.keep:
        CORPORA.mkdir(exist_ok=True)
        print(table(frozenset().union(*(keep(name, asked.build) for name in names))))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
