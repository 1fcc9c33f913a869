"""Add the rounds of another results file to results.json: ``python -m tests.proof.merge FILE``.

This is for proofs that go on over the life of the project, which may run for days elsewhere. A file may be added again
when it has more rounds: nothing is counted twice.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from benchmarks.results import replace_file
from tests.proof import results
from tests.proof.registry import PROOFS


def merged(found: results.Results, other: results.Results) -> results.Results:
    """Return results with the rounds of others, of those proofs whose rounds add up over programs."""
    for name, part in other["proofs"].items():
        if PROOFS[name].over_life:
            for each in results.rounds_of(part):
                found = results.with_round(found, name, each["program"], each, over_life=True)
    return found


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.proof.merge", description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path, help="results that were written with --results FILE")
    parser.add_argument("--results", type=Path, default=results.PATH, help="default: tests/proof/results.json")
    asked = parser.parse_args(arguments)
    found = merged(results.load(asked.results), results.load(asked.file))
    replace_file(asked.results, json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
