"""Keep what the proofs tried in results.json: a part for each proof, with a round for each seed.

Rounds of one state of the program add up. A run on another state begins its part anew, and a run that repeats attempts
of earlier rounds replaces those: nothing is counted twice, and nothing that an older program did is counted at all.
Two runners at once would overwrite each other's parts.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.results import replace_file
from tests.proof.attempts import ROOT
from tests.proof.running import Round

SCHEMA = "bpe-proof/1"
PATH = Path(__file__).resolve().parent / "results.json"

Results = dict[str, Any]


def empty() -> Results:
    """Return results without any part."""
    return {"schema": SCHEMA, "proofs": {}}


def load(path: Path = PATH) -> Results:
    """Read the results; without a file there are none yet.

    Raises:
        ValueError: if it is of another schema.
    """
    try:
        contents = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return empty()
    if not isinstance(contents, dict) or contents.get("schema") != SCHEMA:
        raise ValueError(f"{path.name} does not hold results of {SCHEMA}")
    return contents


def described(done: Round, repeat: str) -> dict[str, Any]:
    """Return a round as the file holds it; ``repeat`` is the command that repeats its last attempt."""
    what = (done.finding or "").replace(str(ROOT), ".")
    found = {"attempt": done.last, "what": what, "repeat": repeat, "files": sorted(done.files)}
    return {
        "machine": machine.describe(),
        "core": machine.core_build(),
        "seed": done.seed,
        "first": done.first,
        "attempts": done.attempts,
        "seconds": round(done.seconds, 1),
        "counts": dict(sorted(done.counts.items())),
        "notes": {name: list(note) for name, note in sorted(done.notes.items())},
        "findings": [] if done.finding is None else [found],
    }


def with_round(results: Results, name: str, program: str | None, described_round: dict[str, Any]) -> Results:
    """Return the results with one more round of a proof.

    Args:
        results: What is there.
        name: Of the proof.
        program: The commit that last changed the program; None where nobody knows.
        described_round: As ``described`` gives it.
    """
    part = results["proofs"].get(name)
    known = program is not None and not program.endswith("+")  # a changed program may have changed again
    same = part is not None and known and part["program"] == program
    kept = [each for each in part["rounds"] if not overlap(each, described_round)] if same else []
    rounds = sorted([*kept, described_round], key=lambda each: (each["seed"], each["first"]))
    proofs = results["proofs"] | {name: {"program": program, "rounds": rounds}}
    return results | {"proofs": dict(sorted(proofs.items()))}


def overlap(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether two rounds have attempts in common."""
    ends = [each["first"] + each["attempts"] for each in (one, other)]
    return one["seed"] == other["seed"] and one["first"] < ends[1] and other["first"] < ends[0]


def store(name: str, described_round: dict[str, Any], path: Path = PATH) -> None:
    """Add a round to the file: all of it or nothing."""
    program = machine.last_change(ROOT)
    results = with_round(load(path), name, program, described_round)
    replace_file(path, json.dumps(results, indent=1) + "\n")


def totals(part: dict[str, Any]) -> Counter[str]:
    """Return how much all rounds of a part tried, by kind."""
    counts: Counter[str] = Counter()
    for each in part["rounds"]:
        counts.update(each["counts"])
    return counts


def notes(part: dict[str, Any]) -> dict[str, tuple[float, str]]:
    """Return the largest of each note that the rounds of a part made."""
    found: dict[str, tuple[float, str]] = {}
    for each in part["rounds"]:
        for name, (number, text) in each["notes"].items():
            found[name] = max(found.get(name, (number, text)), (number, text))
    return found


def findings(part: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what all rounds of a part found."""
    return [found for each in part["rounds"] for found in each["findings"]]
