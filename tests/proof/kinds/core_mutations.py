"""Mutants of the compiled core: cargo-mutants says what may be another, and the module's own tests must notice.

A mutant is made in a copy of the crate, which is compiled as it is first; for each mutant only the crate itself is
compiled again. What a mutant does is done by unit tests, which touch no file; it gets limited memory and time.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from tests.needs import NO_CARGO_MUTANTS, NO_LIMITS, posix, skip
from tests.proof.attempts import ROOT, Found, Proof
from tests.proof.kinds.mutation_reasons import CORE_REASONS
from tests.proof.kinds.mutations import end_of, ended

MODULES = (
    "leb128", "random", "special", "text/utf8", "text/lines", "tables/pair_filter", "count/places", "count/packed",
    "count/table", "memory/key", "memory/ring", "memory/shares", "memory/reserve", "memory/huge_pages", "models/trie",
    "models/word_level", "models/unigram/backward", "models/unigram/written", "normalize/double_array",
    "boundaries/seams", "encode/gather", "trainers/heap", "documents", "measure/frequencies", "measure/words",
    "measure/tally", "memory/asking", "models/max_match", "models/fewest_tokens", "models/ngram", "normalize/charsmap",
    "normalize/form", "normalize/inert", "split/pattern/pairs", "stages/stretches",
)  # fmt: skip
"""Modules of ``core/src`` whose own tests take a second or two."""

TIMEOUT = 60
"""Seconds after which a mutant hangs."""
MEMORY = 4 << 30
"""Address space of a mutant's tests."""
HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@")
MARK = " /* ~ changed by cargo-mutants ~ */"
"""What cargo-mutants writes beside a change."""


@dataclass
class Desk:
    """What the attempts share.

    Attributes:
        crate: The copy.
        mutants: Those of each module that was looked at, as cargo-mutants lists them.
        tried: Those that were tried.
        survived: Those that no test noticed, and no reason is given for: module, line and change.
    """

    crate: Path
    mutants: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    tried: set[str] = field(default_factory=set)
    survived: dict[str, tuple[float, str]] = field(default_factory=dict)


def changed(source: str, diff: str) -> str:
    """Return a source with a change, given as a diff of one hunk.

    >>> changed("a\\nb\\nc\\n", "--- x\\n+++ y\\n@@ -2,2 +2,2 @@\\n-b\\n+d\\n c\\n")
    'a\\nd\\nc\\n'
    """
    lines = source.splitlines(keepends=True)
    head, *body = diff.partition("@@")[2].splitlines(keepends=True)
    found = HUNK.match("@@" + head)
    if found is None:
        raise ValueError(f"this is no hunk: @@{head}")
    first = int(found[1]) - 1
    old = [line[1:] for line in body if line[0] in " -"]
    new = [line[1:] for line in body if line[0] in " +"]
    if lines[first : first + len(old)] != old:
        raise ValueError("the diff is of another source")
    return "".join([*lines[:first], *new, *lines[first + len(old) :]])


def change_of(mutant: dict[str, Any]) -> str:
    """Describe a mutant: the first line that it changes, and its name without the place."""
    lines = [" ".join(line[1:].split()) for line in mutant["diff"].splitlines()[3:] if line.startswith("-")]
    return f"{lines[0] if lines else ''}: {mutant['name'].split(': ', 1)[1]}"[:200]


QUICKLY = {
    "RUSTFLAGS": "--cap-lints=allow",
    "CARGO_INCREMENTAL": "1",
    **{f"CARGO_PROFILE_{name}_{what}": "0" for name in ("DEV", "TEST") for what in ("OPT_LEVEL", "DEBUG")},
}
"""Variables with which a mutant is compiled in seconds."""


def compiled(crate: Path) -> Path | None:
    """Compile the crate's unit tests and return the program; None if they cannot be compiled."""
    done = subprocess.run(
        ["cargo", "test", "--lib", "--no-run", "--quiet", "--offline", "--message-format=json"], cwd=crate,
        stdin=subprocess.DEVNULL, capture_output=True, check=False, env=os.environ | QUICKLY,
    )  # fmt: skip
    programs = [json.loads(line).get("executable") for line in done.stdout.splitlines() if line.startswith(b"{")]
    return next((Path(program) for program in programs if program), None) if done.returncode == 0 else None


def status_of(program: Path, *modules: str) -> int | None:
    """Run the tests of modules; None if they did not end in time."""
    import resource

    filters = [module.replace("/", "::") + "::" for module in modules]
    return ended(
        [str(program), "--quiet", *filters], TIMEOUT,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
    )  # fmt: skip


@contextmanager
def begin(folder: Path) -> Iterator[Desk]:
    """Copy the crate and compile it."""
    posix("resource", NO_LIMITS)
    if shutil.which("cargo-mutants") is None:
        skip(NO_CARGO_MUTANTS)
    crate = folder / "core"
    shutil.copytree(ROOT / "core", crate, ignore=shutil.ignore_patterns("target", "fuzz"))
    program = compiled(crate)
    status = None if program is None else status_of(program, *MODULES)
    if status != 0:
        raise Found(f"the core's tests do not pass as they are: status {status}")
    yield Desk(crate)


def attempt(desk: Desk, chance: Random, number: int) -> Counter[str]:
    """Make a mutant of the next module and run the module's tests."""
    module = MODULES[number % len(MODULES)]
    path = desk.crate / "src" / f"{module}.rs"
    if module not in desk.mutants:
        listed = subprocess.run(
            ["cargo", "mutants", "--list", "--json", "--file", f"src/{module}.rs"], cwd=desk.crate, check=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        )  # fmt: skip
        desk.mutants[module] = json.loads(listed.stdout)
    mutant = chance.choice(desk.mutants[module])
    if mutant["name"] in desk.tried:
        return Counter({"drawn again, and not counted": 1})
    desk.tried.add(mutant["name"])
    sound = path.read_text(encoding="utf-8")
    try:
        path.write_text(changed(sound, mutant["diff"]).replace(MARK, ""), encoding="utf-8")
        program = compiled(desk.crate)
        status = None if program is None else status_of(program, module)
    finally:
        path.write_text(sound, encoding="utf-8")
    change = change_of(mutant)
    if program is None:
        return Counter({"changes that the compiler refuses": 1})
    end = end_of(status, is_excused=(module, change) in CORE_REASONS)
    if end == "survived":
        desk.survived[f"survived: core/src/{module}.rs:{mutant['span']['start']['line']}"] = (1.0, change)
    return Counter({"mutants": 1, f"mutants of {module}": 1, f"mutants: {end}": 1})


PROOF = Proof(
    title="Mutants of the core",
    claim="Each attempt changes one operator, condition or function body of the compiled core, as cargo-mutants "
    "chooses, and runs the tests of that module. If none of them fails, the change has survived: a test is missing. "
    "Survivors are listed below; they are not findings. Changes that make no difference are not listed: "
    "tests/proof/kinds/mutation_reasons.py gives the reasons. tests/proof/kinds/core_mutations.py lists the "
    "modules. Other tests, which would catch more, do not run.",
    begin=begin,
    attempt=attempt,
    notes=lambda desk: desk.survived,
)
