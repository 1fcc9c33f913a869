"""A disk that is full at any byte: a small one in memory, which root may mount, of another size for each run."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from tests.cli_runner import COMMAND, surroundings
from tests.interrupting import RUNS
from tests.needs import skip
from tests.proof.attempts import Found, Proof, named
from tests.proof.kinds.failing import fault
from tests.proof.kinds.runs import Runs

WRITERS = {name: arguments for name, arguments in RUNS.items() if "-o" in arguments}
"""The runs that write a file."""

LARGE = 64 << 20
"""Bytes of the disk where no run is short of room."""

PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


@contextmanager
def begin(folder: Path) -> Iterator[Runs]:
    """Mount the disk, and write what the runs read onto it."""
    disk = folder / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={LARGE}", "tmpfs", str(disk)]
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    if not is_root or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        skip("needs the right to mount a small disk")
    try:
        yield Runs(disk / "runs")
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def resize(disk: Path, size: int) -> None:
    """Change the size of the disk, on which everything that is there still has room."""
    subprocess.run(["mount", "-o", f"remount,size={size}", str(disk)], check=True)


def attempt(runs: Runs, chance: Random, number: int) -> Counter[str]:
    """Run a command with room for nothing, for a part of what it writes, or for all of it."""
    name = list(WRITERS)[number % len(WRITERS)]
    whole, disk = runs.whole(name), runs.folder.parent
    older = {"out": b"what was here before\n"} if chance.random() < 0.5 else {}
    for file, content in older.items():
        (runs.folder / file).write_bytes(content)
    there = os.statvfs(disk)
    used = (there.f_blocks - there.f_bfree) * there.f_frsize
    pages = sum(2 + len(content) // PAGE for content in whole.made.values())
    room = chance.randrange(pages + 3) * PAGE
    resize(disk, used + room)
    try:
        done = subprocess.run(
            [*COMMAND, *WRITERS[name]], cwd=runs.folder, env=surroundings(None), stdin=subprocess.DEVNULL,
            capture_output=True, check=False, timeout=120,
        )  # fmt: skip
        left = runs.left(name)
    finally:
        resize(disk, LARGE)
        whole.clean()
    wrong = fault(whole, done, left, older, "write")
    if wrong is None and done.returncode == 2 and b"no space left on device" not in done.stderr:
        wrong = f"it does not say that the disk is full: {done.stderr[-300:]!r}"
    if wrong:
        evidence = named(left) | {"stderr.txt": done.stderr, "stdout.txt": done.stdout}
        raise Found(f"`bpe {' '.join(WRITERS[name])}` with {room:,} bytes of room: {wrong}", evidence)
    ended = "had room enough" if done.returncode == 0 else "said that the disk is full"
    return Counter({"runs": 1, f"runs that {ended}": 1, "runs over an older file": bool(older)})


PROOF = Proof(
    title="A full disk",
    claim="Commands write to a small disk of random size, with and without an older file in place. Either there is "
    "room and the file is complete, or the run ends with status 2 and says that the disk is full. An older file "
    "is then untouched or completely replaced, and nothing else is left behind.",
    begin=begin,
    attempt=attempt,
)
