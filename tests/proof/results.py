"""Keep what the proofs tried in results.json: a part for each proof, with a round for each seed.

Rounds of one state of the program add up. A run on another state begins its part anew, and a run that repeats attempts
of earlier rounds replaces those: nothing is counted twice, and nothing that an older program did is counted at all.
A proof that goes on over the life of the project keeps all rounds, each with the program that it was of; those that
follow each other are joined. Two runners at once would overwrite each other's parts.
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


def with_round(
    results: Results, name: str, program: str | None, described_round: dict[str, Any], *, over_life: bool = False
) -> Results:
    """Return the results with one more round of a proof.

    Args:
        results: What is there.
        name: Of the proof.
        program: The commit that last changed the program; None where nobody knows.
        described_round: As ``described`` gives it.
        over_life: Whether rounds of older programs stay.
    """
    part = results["proofs"].get(name)
    if over_life:
        rounds = added(rounds_of(part) if part else [], described_round | {"program": program})
    else:
        known = program is not None and not program.endswith("+")  # a changed program may have changed again
        same = part is not None and known and part["program"] == program
        kept = [each for each in part["rounds"] if not overlap(each, described_round)] if same else []
        rounds = sorted([*kept, described_round], key=lambda each: (each["seed"], each["first"]))
    proofs = results["proofs"] | {name: {"program": program, "rounds": rounds}}
    return results | {"proofs": dict(sorted(proofs.items()))}


def rounds_of(part: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rounds of a part, each with the program that it was of."""
    return [{"program": part["program"]} | each for each in part["rounds"]]


def added(rounds: list[dict[str, Any]], more: dict[str, Any]) -> list[dict[str, Any]]:
    """Return rounds of any programs with one more, in their order.

    Of rounds of one program that have attempts in common, the one with most attempts counts. Rounds that follow each
    other become one.
    """
    same = [each for each in rounds if each["program"] == more["program"]]
    again = [each for each in same if overlap(each, more)]
    if any(each["attempts"] > more["attempts"] for each in again):
        return rounds
    kept = [each for each in rounds if each not in again]
    for number, each in enumerate(kept):
        if follows(each, more):
            return [*kept[:number], joined(each, more), *kept[number + 1 :]]
    return [*kept, more]


def follows(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether a round begins where another ends, and all else is the same."""
    alike = all(one[key] == other[key] for key in ("program", "machine", "core", "seed"))
    return alike and one["first"] + one["attempts"] == other["first"]


def joined(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Return two rounds that follow each other as one."""
    both = {"rounds": [one, other]}
    return one | {
        "attempts": one["attempts"] + other["attempts"],
        "seconds": round(one["seconds"] + other["seconds"], 1),
        "counts": dict(sorted(totals(both).items())),
        "notes": {name: list(note) for name, note in sorted(notes(both).items())},
        "findings": findings(both),
    }


def overlap(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether two rounds have attempts in common."""
    ends = [each["first"] + each["attempts"] for each in (one, other)]
    return one["seed"] == other["seed"] and one["first"] < ends[1] and other["first"] < ends[0]


def store(name: str, described_round: dict[str, Any], path: Path = PATH, *, over_life: bool = False) -> None:
    """Add a round to the file: all of it or nothing."""
    program = machine.last_change(ROOT)
    results = with_round(load(path), name, program, described_round, over_life=over_life)
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
