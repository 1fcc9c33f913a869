"""Every call to the system fails once: a sentence, and files that are the old ones or the new ones, whole.

A small library (failing_calls.c) stands between the program and the system's own. A server of files that fails some of
its requests, or ends them in their middle, does the same to what is read over HTTP.
"""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random
from unittest import mock
from urllib.parse import urlsplit

from bpe_cli.corpus.objects import reading
from tests.cli_runner import COMMAND, call, surroundings
from tests.failing_proxy import failing
from tests.interrupting import RUNS, Finished
from tests.needs import NO_FAILING_CALLS, skip
from tests.object_store import Shelf, serving
from tests.proof.attempts import Found, Proof, named
from tests.proof.kinds.runs import Runs

SOURCE = Path(__file__).with_name("failing_calls.c")

ERRORS = ("EIO", "ENOSPC", "EDQUOT", "EACCES", "EROFS", "EMFILE", "ENOMEM", "EINTR", "EINVAL")
"""What calls fail with; the last but one means that they are to be made again."""

OVER_HTTP = 8
"""One in so many attempts reads over HTTP."""

OBJECT = "bucket/data/text.txt"


def build(folder: Path) -> Path:
    """Return the library that makes calls fail; skip where it cannot be compiled."""
    library = folder / "failing_calls.so"
    library.write_bytes(compiled())
    return library


@cache
def compiled() -> bytes:
    """Compile it, once for all proofs of a process."""
    how = ["-O1", "-U_FORTIFY_SOURCE", "-shared", "-fPIC"]
    if sys.platform != "linux":
        skip(NO_FAILING_CALLS)
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, "failing_calls.so")
        command = [os.environ.get("CC", "cc"), *how, "-o", str(library), str(SOURCE), "-ldl"]
        try:
            subprocess.run(command, check=True, capture_output=True)
        except OSError:
            skip(NO_FAILING_CALLS)
        return library.read_bytes()


class Desk:
    """What all attempts share: the library, the runs, all calls of each of them, and a server of a file."""

    def __init__(self, folder: Path, shelf: Shelf) -> None:
        """Compile the library."""
        self._library, self._log = build(folder), folder / "calls.log"
        self._calls: dict[str, int] = {}
        self.runs, self.shelf = Runs(folder / "runs"), shelf
        shelf.objects[OBJECT] = (self.runs.folder / "text").read_bytes()

    def calls(self, name: str) -> int:
        """Return how many calls a run makes that is not disturbed."""
        if name not in self._calls:
            whole = self.runs.whole(name)
            self.run(name, 0, "EIO")
            self._calls[name] = len(self.log())
            whole.clean()
        return self._calls[name]

    def log(self) -> list[str]:
        """Return the calls of the last run."""
        return self._log.read_text(encoding="utf-8", errors="replace").splitlines() if self._log.exists() else []

    def run(self, name: str, at: int, error: str) -> subprocess.CompletedProcess[bytes]:
        """Run one of ``RUNS``, of which a call fails; 0 lets none fail."""
        self._log.unlink(missing_ok=True)
        env: dict[str, str | None] = {
            "LD_PRELOAD": str(self._library), "FAIL_UNDER": str(self.runs.folder), "FAIL_LOG": str(self._log),
            "FAIL_AT": str(at), "FAIL_ERRNO": str(getattr(errno, error)),
        }  # fmt: skip
        return subprocess.run(
            [*COMMAND, *RUNS[name]], cwd=self.runs.folder, env=surroundings(env), stdin=subprocess.DEVNULL,
            capture_output=True, check=False, timeout=120,
        )  # fmt: skip


@contextmanager
def begin(folder: Path) -> Iterator[Desk]:
    """Serve a file; what fails over HTTP is tried again at once."""
    with mock.patch.multiple(reading, FIRST_PAUSE=0.001, LONGEST_PAUSE=0.002), serving(Shelf({})) as shelf:
        yield Desk(folder, shelf)


def attempt(desk: Desk, chance: Random, number: int) -> Counter[str]:
    """Let the next call fail, or requests of the next run."""
    if number % OVER_HTTP == 0:
        return read_over_http(desk, chance)
    turn = number - number // OVER_HTTP  # of those that let a call fail: all calls of all runs have theirs
    name = list(RUNS)[turn % len(RUNS)]
    at = 1 + turn // len(RUNS) % desk.calls(name)
    error = chance.choice(ERRORS)
    whole = desk.runs.whole(name)
    older = chance.random() < 0.5 and "-o" in RUNS[name]
    old = b"what was here before\n"
    if older:
        (desk.runs.folder / "out").write_bytes(old)
    try:
        done = desk.run(name, at, error)
        log = desk.log()
        failed = log[at - 1] if len(log) >= at else "no call"
        what = f"`bpe {' '.join(RUNS[name])}` whose call {at}, {failed}, fails with {error}"
        left = desk.runs.left(name)
        evidence = named(left)
        evidence |= {"stderr.txt": done.stderr, "stdout.txt": done.stdout, "calls.txt": "\n".join(log).encode()}
        if wrong := fault(whole, done, left, {"out": old} if older else {}, failed):
            raise Found(f"{what}: {wrong}", evidence)
    finally:
        whole.clean()
    ended = "made all the same" if done.returncode == 0 else "refused with a message"
    return Counter({"calls that failed": 1, f"calls that failed: {failed.split(' ')[0]}": 1, f"runs {ended}": 1})


def fault(
    whole: Finished,
    done: subprocess.CompletedProcess[bytes],
    left: dict[str, bytes],
    older: dict[str, bytes],
    failed: str,
) -> str | None:
    """Return what is wrong with a run of which a call failed; None if nothing is.

    Args:
        whole: The run when nothing fails.
        done: The run.
        left: The files that are there and were not among its inputs.
        older: Those that it was to replace.
        failed: The call that failed, and its path.
    """
    if done.returncode not in (0, 2) or b"Traceback" in done.stderr:
        return f"status {done.returncode}, {done.stderr[-400:]!r}"
    if done.returncode == 0:
        same = left == whole.made and done.stdout == whole.out
        return None if same else f"status 0, but it left {sorted(left)}, not all of them as they should be"
    if done.stderr.count(b"error: ") != 1:
        return f"status 2, but it says {done.stderr[-400:]!r}"
    for name, content in left.items():
        is_part = name.startswith(".") and name.endswith(".part")
        if not (content in (older.get(name), whole.made.get(name)) or (is_part and failed.startswith("unlink"))):
            return f"status 2, and {name} is neither as it was nor as it should become"
    return "the older file is gone" if len(whole.made) == 1 and older and "out" not in left else None


def read_over_http(desk: Desk, chance: Random) -> Counter[str]:
    """Encode what a failing server has: the same ids, or a message."""
    data = desk.shelf.objects[OBJECT]
    expected = call("encode", "-t", "gpt2", "--lines", input=data)
    address = urlsplit(desk.shelf.url)
    faults = tuple(chance.choices(("500", "503", "reset", "cut"), k=4))
    with failing((address.hostname or "", address.port or 0), chance.randint(1, 6), faults) as proxy:
        done = call("encode", f"{proxy.url}/{OBJECT}", "-t", "gpt2", "--lines")
        failed = sum(proxy.failed.values())
    if done.status not in (0, 2) or (done.status == 0 and done.out != expected.out) or "Traceback" in done.err:
        raise Found(
            f"a server fails each {proxy.every}th request by {faults}: status {done.status}, {done.err[-400:]!r}",
            {"stdout.txt": done.out, "expected.txt": expected.out},
        )
    return Counter({"runs over HTTP": 1, "requests that failed": failed})


PROOF = Proof(
    title="Calls that fail",
    claim="Each system call of a run that opens, reads, writes, syncs, links, renames, removes or maps a file fails "
    "in turn: for lack of room, rights, memory or descriptors, or because of a broken disk. The run then either "
    "succeeds anyway or ends with status 2 and one message; the older file is untouched or completely replaced, and "
    "nothing else is left behind. HTTP requests that fail or end early give the same ids or a message.",
    begin=begin,
    attempt=attempt,
)
