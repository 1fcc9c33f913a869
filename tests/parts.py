"""What the tests of engines have done: parts that are told what becomes of them. Worker processes import this."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bpe_cli.engines.base import Work
from bpe_cli.errors import InputError
from bpe_cli.support.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Job:
    """Where parts leave marks, whether workers begin, and what makes it as large as the job of a tokenizer."""

    folder: str
    beginning: str = "well"
    ballast: bytes = b""


@dataclass(frozen=True, slots=True)
class Part:
    """A number, and what becomes of the part: see ``run``."""

    number: int
    fate: str = "well"

    def name(self) -> str:
        return f"part {self.number}"

    def size(self) -> int:
        return 10


class Strange(Exception):
    """An error that cannot be made again of its words alone."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")


def begin(job: Job) -> int:
    if job.beginning == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if job.beginning == "raises":
        raise InputError("there is no tokenizer", hint="name another")
    Path(job.folder, f"{os.getpid()}.worker").touch(exist_ok=False)
    return os.getpid()


def run(job: Job, kept: int, part: Part, advance: Callable[[int], None]) -> tuple[int, bool]:
    """Return the square, and whether this process is the one that began."""
    advance(4)
    mark = Path(job.folder, f"{part.number}.begun")
    is_again = mark.exists()
    with open(mark, "a") as file:
        file.write(f"{os.getpid()}\n")
    if part.fate == "killed" or (part.fate == "killed once" and not is_again):
        os.kill(os.getpid(), signal.SIGKILL)
    if part.fate == "killed late":  # when others have nothing to do any more
        time.sleep(0 if is_again else 0.5)
        if not is_again:
            os.kill(os.getpid(), signal.SIGKILL)
    if part.fate == "exits":
        os._exit(3)
    if part.fate == "sleeps":
        for _ in range(600):  # as blocks do: Ray's way to cancel waits for the end of one
            time.sleep(0.1)
        Path(job.folder, f"{part.number}.woke").touch()
    if part.fate == "naps":
        time.sleep(1)
    errors: dict[str, BaseException] = {
        "raises": InputError("a broken line", hint="mend it"),
        "raises of Python": MemoryError("no room"),
        "raises strangely": Strange(1, 2),
    }
    if part.fate in errors:
        raise errors[part.fate]
    advance(6)
    return part.number**2, kept == os.getpid()


def work_in(folder: object, **settings: Any) -> Work[Job, Part, tuple[int, bool]]:
    return Work(Job(str(folder), **settings), begin, run, Part.name, Part.size)
