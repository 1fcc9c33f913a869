"""Death at any moment of every command that writes: each file is the old one or the new one, whole, and nothing else.

When a signal comes is up to the clock, so an attempt that is repeated draws the same moment and may meet another line.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from random import Random

from tests.cli_runner import COMMAND, call, signals, surroundings
from tests.interrupting import RUNS, Finished, before_our_first_line, files
from tests.killing import VICTIMS, Job
from tests.needs import posix
from tests.proof.attempts import Found, Proof, named
from tests.proof.kinds.runs import Runs

WRITERS = {name: arguments for name, arguments in RUNS.items() if "-o" in arguments}
"""The runs that write a file."""

OTHER_TEXT = b"the quick brown fox jumps over the lazy dog, and sleeps\n" * 300
"""Of which the older files are made that a run is to replace."""

PART = re.compile(r"\..+-\d+(\.\d+)?\.part")
"""What a file is called that is not whole yet, where the system has no nameless files."""

OF_DATA_SETS = 6
"""One in so many attempts kills the making of a data set, which takes seconds."""


class Desk:
    """What all attempts share: the runs, the same on another text, and the making of a data set."""

    def __init__(self, folder: Path) -> None:
        """Write what the runs read."""
        self.runs = Runs(folder / "runs")
        self._folder = folder

    @cached_property
    def older(self) -> Runs:
        """The runs on another text: what they make is to be replaced."""
        return Runs(self._folder / "older", OTHER_TEXT)

    @cached_property
    def data_set(self) -> Job:
        """The making of a data set, when nothing disturbs it."""
        place = self._folder / "sets"
        place.mkdir()
        return Job(place)


@contextmanager
def begin(folder: Path) -> Iterator[Desk]:
    """Write what the runs read."""
    posix("fcntl", "needs signals that end a process, which Windows has not")
    yield Desk(folder)


def attempt(desk: Desk, chance: Random, number: int) -> Counter[str]:
    """Send one signal to one run."""
    if number % OF_DATA_SETS == 0:
        return kill_a_data_set(desk.data_set, chance, number)
    name = chance.choice(list(WRITERS))
    to_send = chance.choice((signal.SIGKILL, signal.SIGKILL, *signals("SIGINT", "SIGTERM", "SIGHUP")))
    folder, whole = desk.runs.folder, desk.runs.whole(name)
    older = desk.older.whole(name).made if chance.random() < 0.5 else {}
    for file, content in older.items():
        (folder / file).write_bytes(content)
    moment = chance.random()
    what = f"{signal.Signals(to_send).name} after {moment:.3f} of `bpe {' '.join(WRITERS[name])}`"
    try:
        status, early, err = signalled(folder, WRITERS[name], moment * whole.seconds, to_send)
        evidence = named(files(folder)) | {"stderr.txt": err}
        if wrong := fault(folder, whole, older, status, to_send):
            raise Found(f"{what}: {wrong}", evidence)
        if not early and (wrong := wrong_words(status, err, to_send)):
            raise Found(f"{what}: {wrong}", evidence)
        done = call(*WRITERS[name], cwd=folder)
        again = {file: (folder / file).read_bytes() for file in whole.made if (folder / file).exists()}
        if done.status != 0 or again != whole.made:
            raise Found(f"{what}, and run again: status {done.status}, {done.err[-300:]!r}", evidence)
    finally:
        whole.clean()
    over = "over an older file" if older else "where nothing was"
    ended = "before our first line" if early else "ended before" if status == 0 else "killed at work"
    return Counter({f"{signal.Signals(to_send).name} {over}": 1, f"runs {ended}": 1, "signals sent": 1})


def signalled(folder: Path, arguments: tuple[str, ...], seconds: float, number: int) -> tuple[int, bool, bytes]:
    """Start a run and send it a signal; return its status, whether it was not ours yet, and what it said."""
    process = subprocess.Popen(
        [*COMMAND, *arguments], cwd=folder, env=surroundings(None), stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    with process:
        time.sleep(seconds)
        early = before_our_first_line(process.pid)
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, number)
        _, err = process.communicate(timeout=120)
    return process.returncode, early, err


def fault(folder: Path, whole: Finished, older: dict[str, bytes], status: int, number: int) -> str | None:
    """Return what is wrong with the files that a run left; None if nothing is."""
    now = files(folder)
    if changed := sorted(name for name, content in whole.before.items() if now.get(name) != content):
        return f"it changed {changed}, which it only reads"
    left = {name: content for name, content in now.items() if name not in whole.before}
    parts = {name for name in left if PART.fullmatch(name)}
    if parts and number != signal.SIGKILL:
        return f"it left {sorted(parts)}"
    which: dict[str, str] = {}
    for name in left.keys() - parts:
        which[name] = "new" if left[name] == whole.made.get(name) else "old" if left[name] == older.get(name) else "?"
    if broken := sorted(name for name, state in which.items() if state == "?"):
        return f"{broken} are neither the old files nor the new ones"
    if len(older) == 1 and not which:
        return "the older file is gone, and there is no new one"
    if status == 0 and left != whole.made:
        return f"status 0, but it left {which}, and made {sorted(whole.made)} undisturbed"
    # A file may be both, of two runs that write the same bytes.
    not_new, not_old = ({name for name in which if left[name] != one.get(name)} for one in (whole.made, older))
    if not_new and not_old:  # of a pair, one half is new: a reader has to be told
        read = call("decode", "out", "-t", "gpt2", cwd=folder)
        if read.status == 0:
            return f"{which} are of two runs, and `bpe decode` reads them"
    return None


def wrong_words(status: int, err: bytes, number: int) -> str | None:
    """Return what is wrong with how a run ended; None if nothing is."""
    expected = 130 if number == signal.SIGINT else -number
    if status not in (0, expected):
        return f"status {status}, and not {expected}: {err[-300:]!r}"
    if b"Traceback" in err or (status == 130 and not err.endswith(b"interrupted\n")):
        return f"status {status}, and it says {err[-300:]!r}"
    return None


def kill_a_data_set(job: Job, chance: Random, number: int) -> Counter[str]:
    """Kill the making of a data set, or one of its workers, and let it go on to its end."""
    victim = VICTIMS[number // OF_DATA_SETS % len(VICTIMS)]
    processes = 2 if victim == "worker" else chance.choice((1, 2))
    nameless = chance.random() < 0.5
    random.seed(chance.getrandbits(32))  # by which it chooses among workers
    became, wrong = job.fault(victim, processes, chance.random(), nameless=nameless)
    if wrong is not None:
        raise Found(f"SIGKILL to the {victim} of a `bpe prepare` with {processes} processes: {wrong}")
    return Counter({f"data sets: {victim} killed": 1, f"data sets: {became}": 1, "signals sent": 1})


PROOF = Proof(
    title="Killed at any moment",
    claim="Commands that write files get SIGKILL, SIGINT, SIGTERM or SIGHUP at a random moment, with and without an "
    "older file in place. Afterwards each file is complete: the old one or the new one. If the two files of one "
    "output come from different runs, reading them is an error. Only SIGKILL leaves other files behind, under "
    "names of their own. The exit status and the message are those of the signal, and the same command then "
    "succeeds. When `bpe prepare`, one of its workers, or all of them are killed, the same command completes "
    "the data set, with the same bytes.",
    begin=begin,
    attempt=attempt,
)
