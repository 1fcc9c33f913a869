"""What a proof is: attempts that are numbered, counts of what they tried, and what is found."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
SHARED = ROOT.parent / "shared"
"""Real tokenizers and long texts that cannot be distributed; a proof does without where they are absent."""


class Found(Exception):
    """What is wrong, with all that is needed to see it again.

    Attributes:
        sentence: What was done, and what came of it instead of what should.
        files: Contents by name, each one file beside the report: the text, the mutant, what was printed.
    """

    def __init__(self, sentence: str, files: Mapping[str, bytes] | None = None) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.files = dict(files or {})


@dataclass(frozen=True)
class Proof:
    """One kind of proof.

    Attributes:
        title: Its heading on the page.
        claim: What holds if nothing is found: sentences for the page.
        begin: Makes, in an empty folder, what all attempts share; it is cleaned up at the end.
        attempt: Tries one thing with what ``begin`` made, the attempt's own random numbers and its number (from 1);
            returns how much was tried, by kind. It raises ``Found``, or anything else that it did not foresee.
        notes: Returns, after the last attempt, what is worth telling beside counts: a number and a text by name, of
            which the largest number is kept.
        over_life: Whether what older programs did counts too, because each round goes on with what those kept.
        more: Returns what the page says below the figures, in Markdown.
    """

    title: str
    claim: str
    begin: Callable[[Path], AbstractContextManager[Any]]
    attempt: Callable[[Any, Random, int], Counter[str]]
    notes: Callable[[Any], dict[str, tuple[float, str]]] = lambda _: {}
    over_life: bool = False
    more: Callable[[], str] = lambda: ""


def chance_of(seed: int, number: int) -> Random:
    """Return the random numbers of an attempt, which depend on no other attempt.

    >>> chance_of(0, 7).random() == chance_of(0, 7).random() != chance_of(0, 8).random()
    True
    """
    return Random(f"{seed} {number}")


def quick_place() -> Path | None:
    """Return a folder in memory, where files that live for a millisecond cost less; None where there is none."""
    place = Path("/dev/shm")
    return place if os.access(place, os.W_OK | os.X_OK) else None


def named(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return files under names that can stand in one folder: the output path itself, ``""``, is called ``file``.

    >>> named({"": b"a", "x/y": b"b"})
    {'file': b'a', 'x_y': b'b'}
    """
    return {(name or "file").replace("/", "_").replace(os.sep, "_"): content for name, content in files.items()}
