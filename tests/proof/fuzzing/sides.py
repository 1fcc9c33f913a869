"""The two sides that are fuzzed, the core's targets and those of Python: how a search of a target is called.

What a search keeps lies where ``make fuzz`` and ``make fuzz-python`` keep it, and the next one begins with it; the
first one begins with the small corpora of the repository.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.proof.attempts import ROOT
from tests.proof.fuzzing.seeds import CORPORA, LONGEST, corpus_of, inputs_in, seeds_of
from tests.proof.fuzzing.targets import TARGETS

BUILD = ROOT / "build" / "fuzz"
FOUND = BUILD / "found"
CRATE = ROOT / "core" / "fuzz"
KEPT_OF_CORE = CORPORA / "core"
"""Small corpora of the core's targets, which ``small_core`` writes."""

LONGEST_OF_CORE = 1500
"""Bytes of an input of the core's targets."""


@dataclass(frozen=True)
class Search:
    """A search of one target, ready to be called.

    Attributes:
        program: What runs one input, or searches.
        corpora: Folders with inputs; what is kept goes into the first.
        longest: How many bytes an input has.
        again: How somebody runs one input.
    """

    program: list[str]
    corpora: list[Path]
    longest: int
    again: str


@dataclass(frozen=True)
class Side:
    """Targets that are searched in one way.

    Attributes:
        name: What the page calls it.
        targets: Their names.
        prepare: Makes a target ready.
    """

    name: str
    targets: tuple[str, ...]
    prepare: Callable[[str], Search]


def lay(inputs: Iterable[bytes], corpus: Path) -> None:
    """Write inputs into a folder under the names that libFuzzer gives them."""
    corpus.mkdir(parents=True, exist_ok=True)
    for data in inputs:
        (corpus / hashlib.sha1(data, usedforsecurity=False).hexdigest()).write_bytes(data)


def targets_of_core() -> list[str]:
    """Return the names of the core's targets."""
    return sorted(path.stem for path in (CRATE / "targets").glob("*.rs"))


def of_core(name: str) -> Search:
    """Compile a target of the core, as ``make fuzz`` does."""
    target = CRATE / "target"
    compiled = ["cargo", "fuzz", "build", "--fuzz-dir", str(CRATE), "--target-dir", str(target), name]
    subprocess.run(
        compiled, cwd=ROOT, check=True, env=os.environ | {"RUSTC_BOOTSTRAP": "1", "CARGO_TERM_QUIET": "true"},
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    program = max(target.glob(f"*/release/{name}"), key=lambda path: path.stat().st_mtime)
    corpus = CRATE / "corpus" / name
    lay(inputs_in(KEPT_OF_CORE / f"{name}.txt"), corpus)
    again = f"RUSTC_BOOTSTRAP=1 cargo fuzz run --fuzz-dir core/fuzz {name} FILE"
    return Search([str(program)], [corpus, CRATE / "seeds" / name], LONGEST_OF_CORE, again)


def of_python(name: str, build: Path = BUILD) -> Search:
    """Lay what a search of a target of Python begins with."""
    corpus = build / name
    known = (*seeds_of(name), *corpus_of(name))
    lay(known, corpus)
    longest = max(LONGEST, *(len(data) + 500 for data in known))
    search = ["-m", "tests.proof.fuzzing.search", name]
    return Search([sys.executable, *search], [corpus], longest, " ".join(["python", *search, "FILE"]))


def sides() -> list[Side]:
    """Return the sides that can be searched here."""
    found = []
    if shutil.which("cargo") and shutil.which("cargo-fuzz"):
        found.append(Side("core", tuple(targets_of_core()), of_core))
    if importlib.util.find_spec("atheris"):
        found.append(Side("Python parsers", tuple(TARGETS), of_python))
    return found
