"""Search the targets one after the other for inputs that break a law.

What is found lies in build/fuzz/found/, and the next target follows; the exit status is 1 if anything was found. What a
search keeps lies in build/fuzz/NAME/, and the next one begins with it. With ``--keep``, the inputs that reach a line no
shorter one reaches go into tests/proof/fuzzing/corpora/, and a table says which lines of which modules they reach; of
all targets it goes into reached.json too.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from tests.proof.attempts import ROOT
from tests.proof.fuzzing import libfuzzer
from tests.proof.fuzzing.reached import PATH as REACHED
from tests.proof.fuzzing.reached import Lines, by_module, smallest, table
from tests.proof.fuzzing.seeds import CORPORA, LONGEST, corpus_of, finds_of, seeds_of
from tests.proof.fuzzing.sides import BUILD, of_python
from tests.proof.fuzzing.targets import TARGETS


def search(name: str, seconds: int, build: Path) -> int:
    """Search a target in a process of its own; return its status."""
    found = build / "found"
    found.mkdir(parents=True, exist_ok=True)
    target = of_python(name, build)
    given = libfuzzer.options(found / f"{name}-", seconds, target.longest, libfuzzer.LONGEST_RUN)
    command = [*target.program, *given, *map(str, target.corpora)]
    with libfuzzer.surroundings() as around:
        return subprocess.run(command, cwd=ROOT, check=False, env=around).returncode


def keep(name: str, build: Path) -> Lines:
    """Write the small corpus of a target; return the lines that it reaches."""
    files = [path.read_bytes() for path in (build / name).iterdir()] if (build / name).is_dir() else []
    for data in seeds_of(name):  # what runs once, runs before the lines count
        TARGETS[name](data)
    kept, reached = smallest(TARGETS[name], (*files, *seeds_of(name), *corpus_of(name)))
    known = (*seeds_of(name), *finds_of(name))
    fresh = [data for data in kept if data not in known and len(data) <= LONGEST]
    (CORPORA / f"{name}.txt").write_text("".join(f"{data.hex()}\n" for data in fresh))
    print(f"{name}: {len(files):,} inputs, {len(fresh)} kept beside {len(known)} that stay", flush=True)
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
        modules = by_module(frozenset().union(*(keep(name, asked.build) for name in names)))
        print(table(modules))
        if names == list(TARGETS):
            REACHED.write_text(json.dumps(modules, indent=1) + "\n", encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
