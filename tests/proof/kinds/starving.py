"""Little memory, few descriptors, no threads, odd surroundings: a sentence or the same bytes, never an abort."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from random import Random

from tests.cli_runner import COMMAND, surroundings
from tests.interrupting import RUNS, Finished
from tests.needs import NO_LIMITS, posix
from tests.proof.attempts import Found, Proof, named
from tests.proof.kinds.failing import build
from tests.proof.kinds.runs import Runs

MEGABYTE = 1 << 20

LITTLE = 64 * MEGABYTE
"""Address space in which Python starts, and hardly more."""

LONGER_TEXT = b" ".join(b"%x" % (number * 0x9E3779B97F4A7C15 % 2**44) for number in range(150_000))
"""Words of which no two are alike, so that caches and tables grow."""

ODD_VARIABLES = {
    "COLUMNS": ("", "0", "-1", "1", "99999999999", "x"),
    "LINES": ("0", "x"),
    "LANG": ("C", "xx_XX.UTF-8", "ru_RU.KOI8-R", ""),
    "TERM": ("", "dumb", "\x1b[2J"),
    "TZ": ("", "../../etc/passwd", "UTC+99"),
    "PYTHONUTF8": ("0", "1"),
    "PYTHONHASHSEED": ("0", "1", "4294967295"),
    "PYTHONIOENCODING": ("ascii", "latin-1:strict"),
    "NO_COLOR": ("", "1"),
    "FORCE_COLOR": ("", "3"),
    "XDG_CACHE_HOME": ("/dev/null", "", "/nowhere/at/all"),
    "HF_HOME": ("/dev/null", ""),
    "TIKTOKEN_CACHE_DIR": ("/dev/null", ""),
}
"""Variables of the environment, with values that make no sense or little; no command may depend on them here."""


@dataclass(frozen=True)
class Starved:
    """What a run lacks.

    Attributes:
        kind: What, in a few words.
        detail: How much of it there is.
        env: Variables of its environment; None takes one away.
        begin: Runs in its process before it begins.
        mute: Whether nobody sees what it says: stderr is closed.
        restyled: Whether what it shows may look otherwise: its width, colours and characters are others.
        longer: Whether it has more to do than the others.
    """

    kind: str
    detail: str = ""
    env: dict[str, str | None] = field(default_factory=dict)
    begin: Callable[[], None] | None = None
    mute: bool = False
    restyled: bool = False
    longer: bool = False


def limited(name: str, most: int) -> Callable[[], None]:
    """Return what limits a process to so much of something."""
    import resource

    number = getattr(resource, name)
    return lambda: resource.setrlimit(number, (most, most))


def starts(limit: str, most: int) -> bool:
    """Return whether Python itself starts with so much, with the modules that any program has."""
    done = subprocess.run(
        [sys.executable, "-c", "import importlib.metadata"], preexec_fn=limited(limit, most), env=surroundings(None),
        capture_output=True, check=False,
    )  # fmt: skip
    return done.returncode == 0


@cache
def least(limit: str, low: int, high: int) -> int:
    """Return the least with which Python itself starts, between two bounds, to a sixteenth of it."""
    while high - low > max(1, low // 16):
        middle = (low + high) // 2
        low, high = (low, middle) if starts(limit, middle) else (middle, high)
    return high


def little_memory(chance: Random, _: Path) -> Starved:
    """Limit the address space: to what Python itself hardly starts with, or to what a longer text may not fit into."""
    longer = chance.random() < 0.5
    most = int(chance.uniform(1, 4) * LITTLE if longer else chance.uniform(0.5, 2) * LITTLE)
    return Starved(
        "address space for a longer text" if longer else "address space", f"{most >> 20} MB",
        begin=limited("RLIMIT_AS", most), longer=longer,
    )  # fmt: skip


def few_descriptors(chance: Random, _: Path) -> Starved:
    """Limit open files to hardly more than Python needs."""
    most = least("RLIMIT_NOFILE", 2, 64) + chance.randrange(12)
    return Starved("descriptors", str(most), begin=limited("RLIMIT_NOFILE", most))


def small_files(chance: Random, _: Path) -> Starved:
    """Limit how long a file may get."""
    most = chance.choice((0, 1, 100, 4096, 65536, 1 << 20))
    return Starved("length of files", f"{most} bytes", begin=limited("RLIMIT_FSIZE", most))


def small_stack(chance: Random, _: Path) -> Starved:
    """Limit the stack."""
    most = chance.choice((1024, 2048)) << 10
    return Starved("stack", f"{most >> 10} kB", begin=limited("RLIMIT_STACK", most))


def few_threads(chance: Random, library: Path) -> Starved:
    """Let the system refuse threads after some."""
    most = chance.choice((0, 0, 1, 2, 3))
    return Starved("threads", str(most), {"LD_PRELOAD": str(library), "FAIL_THREADS": str(most)})


def wild_clock(chance: Random, library: Path) -> Starved:
    """Let the time of day jump."""
    jump = chance.choice((1, 3600, 86_400 * 365 * 20))
    return Starved("a clock that jumps", f"{jump} s", {"LD_PRELOAD": str(library), "FAIL_CLOCK": str(jump)})


def no_home(chance: Random, _: Path) -> Starved:
    """Take the home folder away, or the folder for temporary files."""
    name = chance.choice(("HOME", "TMPDIR"))
    value = chance.choice((None, "", "/nowhere/at/all", "/dev/null", "/proc"))
    return Starved("home and temporary files", f"{name}={value}", {name: value})


def odd_environment(chance: Random, _: Path) -> Starved:
    """Set a few variables to what makes no sense."""
    chosen = chance.sample(sorted(ODD_VARIABLES), 3)
    env: dict[str, str | None] = {name: chance.choice(ODD_VARIABLES[name]) for name in chosen}
    env["LC_ALL"] = chance.choice(("C", None, "C.UTF-8"))
    return Starved("environment", str(env), env, restyled=True)


def closed_stream(chance: Random, _: Path) -> Starved:
    """Close one of the three streams before the run begins."""
    number = chance.choice((0, 2))
    return Starved("streams", f"{number} closed", begin=lambda: os.close(number), mute=number == 2)


KINDS = (
    little_memory, few_descriptors, small_files, small_stack, few_threads, wild_clock, no_home, odd_environment,
    closed_stream,
)  # fmt: skip


class Desk:
    """What all attempts share: the runs, those on a longer text, and what refuses threads."""

    def __init__(self, folder: Path) -> None:
        """Compile what refuses threads."""
        self._folder = folder
        self.library = build(folder)
        self.runs = Runs(folder / "runs")

    @cached_property
    def longer(self) -> Runs:
        """The runs on a longer text."""
        return Runs(self._folder / "longer", LONGER_TEXT)


@contextmanager
def begin(folder: Path) -> Iterator[Desk]:
    """Write what the runs read."""
    posix("resource", NO_LIMITS)
    yield Desk(folder)


def attempt(desk: Desk, chance: Random, number: int) -> Counter[str]:
    """Run a command that lacks something."""
    lacking = KINDS[number % len(KINDS)](chance, desk.library)
    name = chance.choice(list(RUNS))
    runs = desk.longer if lacking.longer else desk.runs
    whole = runs.whole(name)
    try:
        done = subprocess.run(
            [*COMMAND, *RUNS[name]], cwd=runs.folder, env=surroundings(lacking.env), stdin=subprocess.DEVNULL,
            capture_output=True, check=False, timeout=120, preexec_fn=lacking.begin,
        )  # fmt: skip
        left = runs.left(name)
    finally:
        whole.clean()
    if wrong := fault(whole, done, left, lacking):
        evidence = named(left) | {"stderr.txt": done.stderr, "stdout.txt": done.stdout}
        raise Found(f"`bpe {' '.join(RUNS[name])}` with {lacking.kind}: {lacking.detail}: {wrong}", evidence)
    ended = "did their work" if done.returncode == 0 else "said what they lack"
    return Counter({"runs": 1, f"runs short of: {lacking.kind}": 1, f"runs that {ended}": 1})


def fault(
    whole: Finished, done: subprocess.CompletedProcess[bytes], left: dict[str, bytes], lacking: Starved
) -> str | None:
    """Return what is wrong with a run that lacked something; None if nothing is."""
    unloaded = done.returncode == 70 and done.stderr.startswith(b"error: bpe cannot be loaded: ")
    if not (done.returncode in (0, 2) or unloaded) or b"Traceback" in done.stderr:
        return f"status {done.returncode}, {done.stderr[-400:]!r}"
    if done.returncode == 0:
        same = left == whole.made and (done.stdout == whole.out or lacking.restyled)
        return None if same else f"status 0, but it left {sorted(left)}, not all of them as they should be"
    if not lacking.mute and done.stderr.count(b"error: ") != 1:
        return f"status {done.returncode}, but it says {done.stderr[-400:]!r}"
    return f"status {done.returncode}, and it left {sorted(left)}" if left else None


PROOF = Proof(
    title="Starved",
    claim="Every command runs in 32 MB to 256 MB of address space, with few descriptors, a limit on file sizes, a "
    "small stack, no more threads, a clock that jumps, no home, no folder for temporary files, variables that make "
    "no sense, or closed streams. It does its work, byte for byte, or ends with status 2, one message and nothing "
    "left behind; the status is 70 if Python cannot load all modules. Half of the runs with little memory have a "
    "longer text: 2 MB of words that are all different.",
    begin=begin,
    attempt=attempt,
)
