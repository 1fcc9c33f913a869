"""Fuzzing that coverage guides: searches of the core's targets and of the Python parsers, one after the other.

An attempt searches one target for ``SECONDS``. It begins with what earlier searches kept, so it is another search each
time; what it finds is repeated with the input alone.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from tests.needs import NO_FUZZER, NO_LIMITS, posix, skip
from tests.proof.attempts import Found, Proof
from tests.proof.fuzzing import libfuzzer, reached
from tests.proof.fuzzing.sides import FOUND, Search, Side, sides

SECONDS = 120
"""How long an attempt searches."""

TAIL = 20_000
"""Characters of what libFuzzer said at its end that are kept with a finding."""

ABOUT = 300
"""Characters of it that the page shows."""


@dataclass
class Desk:
    """What all attempts share.

    Attributes:
        sides: What can be searched here.
        edges: Side and target -> edges reached, and of how many.
        search: Runs a command of libFuzzer.
    """

    sides: list[Side]
    edges: dict[str, tuple[float, str]] = field(default_factory=dict)
    search: Callable[[list[str]], libfuzzer.Ended] = libfuzzer.ended


@contextmanager
def begin(_: Path) -> Iterator[Desk]:
    """Look for what searches; a side without is left out."""
    posix("resource", NO_LIMITS)
    found = sides()
    if not found:
        skip(NO_FUZZER)
    yield Desk(found)


def attempt(desk: Desk, chance: Random, number: int) -> Counter[str]:
    """Search the next target: those of each side take turns, and so do the sides."""
    turn, place = divmod(number - 1, len(desk.sides))
    side = desk.sides[place]
    name = side.targets[turn % len(side.targets)]
    seed = chance.randrange(1, 1 << 31)
    search = side.prepare(name)
    FOUND.mkdir(parents=True, exist_ok=True)
    prefix = FOUND / f"{side.name.split()[0].lower()}-{name}-"
    given = libfuzzer.options(prefix, SECONDS, search.longest, libfuzzer.BY_THE_CLOCK, seed)
    done = desk.search([*search.program, *given, *map(str, search.corpora)])
    said = libfuzzer.said(done.output)
    counts = Counter({
        "searches": 1, f"CPU seconds: {side.name}": round(done.cpu), "inputs tried": said.inputs,
        f"inputs of {side.name}: {name}": said.inputs,
    })  # fmt: skip
    there = f"of {said.counters:,}, " if said.counters else ""  # atheris does not say how many there are
    kept = f"{there}with {sum(1 for _ in search.corpora[0].iterdir()):,} inputs kept"
    key = f"edges reached by {side.name}: {name}"
    desk.edges[key] = max(desk.edges.get(key, (0.0, "")), (float(said.edges), kept))
    return counts if done.status == 0 else counts + judged(desk, f"{side.name}: {name}", search, done, said.written)


def judged(desk: Desk, target: str, search: Search, done: libfuzzer.Ended, written: Path | None) -> Counter[str]:
    """Return what is to be counted of a search that ended early, if nothing is wrong.

    Raises:
        Found: if an input breaks a law, ends the process, or takes too much memory or too long.
    """
    files = {"report.txt": done.output[-TAIL:].encode()}
    if written is None or not written.exists():
        raise Found(f"{target}: the search ended with status {done.status}: {about(done.output)}", files)
    files |= {"input": written.read_bytes()}
    if written.name.startswith("timeout-") or "-timeout-" in written.name:
        took = cpu_of(desk, search, written)
        if took < libfuzzer.LONGEST_RUN:
            written.unlink()
            return Counter({"runs that took long by the clock, and little of the processor": 1})
        raise Found(f"{target}: an input takes {took:.0f} seconds of a processor; {search.again}", files)
    raise Found(f"{target}: {about(done.output)}; the input alone: {search.again}", files)


def cpu_of(desk: Desk, search: Search, path: Path) -> float:
    """Return the seconds of a processor that an input takes, without what comes before the first input."""
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "plain"
        plain.write_bytes(bytes(8))  # long enough to enter a target, which may make tables once
        most = f"-timeout={10 * libfuzzer.BY_THE_CLOCK}"
        alone, before = (desk.search([*search.program, most, str(each)]).cpu for each in (path, plain))
    return alone - before


def about(output: str) -> str:
    """Return what a search found: the line of a panic or an exception, or of the sanitizer.

    >>> about("INFO: x\\nthread 'a' panicked at a.rs:3:1:\\nleft != right\\n==7== ERROR: libFuzzer: deadly\\n")
    "thread 'a' panicked at a.rs:3:1: left != right"
    >>> about("==7==ERROR: AddressSanitizer: heap-use-after-free\\nframes\\n")
    'ERROR: AddressSanitizer: heap-use-after-free'
    """
    lines = output.splitlines()
    for number, line in enumerate(lines):
        if " panicked at " in line:
            return f"{line} {' '.join(lines[number + 1 : number + 2])}"[:ABOUT]
        if "Uncaught Python exception" in line:
            return " ".join(lines[number + 1 : number + 2])[:ABOUT]
    errors = [line[line.index("ERROR: ") :] for line in lines if "ERROR: " in line]
    return (errors or lines[-1:] or ["it said nothing"])[0][:ABOUT]


PROOF = Proof(
    title="Fuzzing, guided by coverage",
    claim="libFuzzer mutates inputs and keeps those that reach new code. The targets in core/fuzz hold the core's "
    "scanners and readers, under AddressSanitizer, to their oracles and laws; those in tests/proof/fuzzing call the "
    "Python parsers, with atheris. No input may break a law, end the process, or take 2 GB of memory or 20 seconds "
    "of CPU time. The targets take turns of two minutes. A search starts from what earlier ones kept, so none can "
    "be repeated as a whole; a finding is repeated from its input alone. The CPU seconds say how much was searched: "
    "the time above includes waiting for other work. A finding stays on this page after it is fixed, or after it "
    "proves to be the fault of the library that we compare with; its input stays in tests/proof/fuzzing/finds, and "
    "every run of the tests tries it.",
    begin=begin,
    attempt=attempt,
    notes=lambda desk: desk.edges,
    over_life=True,
    more=reached.section,
)
