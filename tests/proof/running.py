"""Run a proof for a time or a count, until something is found: the only clock of the proofs is here."""

from __future__ import annotations

import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.proof.attempts import Found, Proof, chance_of

LONGEST_SENTENCE = 600
"""Characters of a finding that the results keep; its files hold the rest."""


@dataclass
class Round:
    """What a run of a proof tried and found.

    Attributes:
        seed: Whose attempts these are.
        first: The number of the first of them.
        attempts: How many there were, the one with the finding too.
        seconds: How long they took, without what ``begin`` did.
        counts: How much was tried, by kind.
        notes: What the proof tells beside counts.
        finding: What is wrong, None if nothing is.
        files: What repeats the finding.
        interrupted: Whether it ended because somebody interrupted it.
    """

    seed: int
    first: int
    attempts: int = 0
    seconds: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)
    notes: dict[str, tuple[float, str]] = field(default_factory=dict)
    finding: str | None = None
    files: dict[str, bytes] = field(default_factory=dict)
    interrupted: bool = False

    @property
    def last(self) -> int:
        """The number of the last attempt."""
        return self.first + self.attempts - 1


def run(
    proof: Proof,
    seed: int,
    *,
    first: int = 1,
    most: int | None = None,
    seconds: float | None = None,
) -> Round:
    """Try until the time is over, the count is reached, something is found or somebody interrupts.

    Args:
        proof: What to try.
        seed: What is drawn follows from it, and from the number of the attempt.
        first: The number of the first attempt.
        most: How many attempts; None for any number.
        seconds: For how long; an attempt that began goes on to its end. None for any time.
    """
    done = Round(seed, first)
    with (
        tempfile.TemporaryDirectory(prefix="proof-", ignore_cleanup_errors=True) as folder,
        proof.begin(Path(folder)) as desk,
    ):
        began = time.monotonic()
        while most is None or done.attempts < most:
            number = first + done.attempts
            try:
                counts = proof.attempt(desk, chance_of(seed, number), number)
            except KeyboardInterrupt:
                done.interrupted = True
                break
            except Found as found:
                done.finding, done.files = found.sentence[:LONGEST_SENTENCE], found.files
            except (Exception, pytest.fail.Exception) as error:  # what nobody foresaw is a finding too
                done.finding = f"{type(error).__name__}: {error}"[:LONGEST_SENTENCE]
                done.files = {"traceback.txt": traceback.format_exc().encode(errors="backslashreplace")}
            else:
                done.counts += counts
            done.attempts += 1
            done.seconds = time.monotonic() - began
            if done.finding is not None or (seconds is not None and done.seconds >= seconds):
                break
        done.notes = proof.notes(desk)
    return done
