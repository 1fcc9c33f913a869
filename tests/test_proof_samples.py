"""A little of each proof of tests/proof: nothing is found, and what it is to try is tried."""

from __future__ import annotations

import importlib.util
from collections import Counter

import pytest

from tests.needs import NO_ATHERIS, only_where
from tests.proof.fuzzing.sides import Side, of_python
from tests.proof.kinds import fuzzing, worst
from tests.proof.registry import PROOFS
from tests.proof.running import Round, run

SAMPLES = {
    "equality": (1, 6, ("bytes compared",)),
    "real": (1, 3, ("bytes compared",)),
    "round-trips": (1, 2, ("files written and read", "texts compared")),
    "mutants": (1, 24, ("mutants refused", "mutants loaded and written back")),
    "mutations": (14, 1, ("mutants: killed",)),
    "kills": (1, 3, ("signals sent",)),
    "failing": (103, 2, ("calls that failed", "runs over HTTP")),
    "full-disk": (1, 5, ("runs that said that the disk is full", "runs that had room enough")),
    "order": (1, 3, ("runs that write", "files that got their name")),
    "starving": (198, 5, ("runs short of: address space", "runs short of: threads")),
    "long": (7, 5, ("tiny documents", "odd names", "bytes: a stream of one document")),
    "races": (2, 2, ("interpreters that ended in the middle", "tokenizers shared by 16 threads")),
    "trust": (1, 12, ("texts that spell special tokens", "messages that spell special tokens", "templates")),
}
"""Proof -> the number of the first attempt, how many there are, and what they are to have tried.

``worst`` measures time, which a test does not: what it is made of is tried below. Of ``commands`` there is a sample in
tests/cli/test_random_commands.py. ``core-mutations`` compiles the core for minutes: test_proofs.py has its parts.
``fuzzing`` searches for a second below, and is tried without a fuzzer in test_proof_fuzzing.py.
"""


def test_every_proof_has_a_sample():
    assert {*SAMPLES, "worst", "commands", "core-mutations", "fuzzing"} == PROOFS.keys()


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_finds_nothing(name):
    first, most, kinds = SAMPLES[name]
    done = run(PROOFS[name], 0, first=first, most=most)
    assert done.finding is None, (done.finding, done.last, done.files.keys())
    assert done.attempts == most
    assert [kind for kind in kinds if done.counts[kind] == 0] == [], done.counts


@only_where(importlib.util.find_spec("atheris") is not None, NO_ATHERIS)
def test_a_search_finds_nothing(monkeypatch, tmp_path):
    monkeypatch.setattr(fuzzing, "SECONDS", 1)
    monkeypatch.setattr(fuzzing, "FOUND", tmp_path / "found")
    side = Side("Python parsers", ("sidecar",), lambda name: of_python(name, tmp_path))
    monkeypatch.setattr(fuzzing, "sides", lambda: [side])
    done = run(PROOFS["fuzzing"], 0, most=1)
    assert (done.finding, done.counts["searches"]) == (None, 1)
    assert done.counts["inputs tried"] == done.counts["inputs of Python parsers: sidecar"] > 50
    assert done.counts["CPU seconds: Python parsers"] > 0
    assert done.notes["edges reached by Python parsers: sidecar"][0] > 50


# -- the climber, which measures by another yardstick here ------------------------------------------


def climb(monkeypatch, most: float) -> Round:
    """Climb a few times; the more of a text is not ASCII, the longer it is said to take: as many times as English."""
    cost = {False: 1.0, True: most}
    monkeypatch.setattr(worst, "measured", lambda _, text: sum(cost[byte >= 128] for byte in text[:2000]) / 2000)
    monkeypatch.setattr(worst, "KINDS", {"gpt2": worst.KINDS["gpt2"]})
    monkeypatch.setattr(worst, "SIZE", 4000)
    return run(PROOFS["worst"], 0, most=8)


def test_a_climb_finds_what_takes_longer(monkeypatch):
    done = climb(monkeypatch, 4.0)
    assert (done.finding, done.counts) == (
        None, Counter({"climbs": 8, "climbs with gpt2": 8, "texts measured": 8 * (worst.STEPS + 1)}),
    )  # fmt: skip
    assert done.notes["gpt2"][0] > 1.0


def test_a_text_that_takes_too_long_is_shown(monkeypatch):
    done = climb(monkeypatch, 20.0)
    assert done.finding is not None
    assert "times as long as English with gpt2, and may take 5" in done.finding
    assert max(done.files["unit"]) >= 128
