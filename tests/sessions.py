"""Run the commands of a session, as a page shows them: in bash, or in this process where that is the same.

A line that is nothing but ``bpe`` and plain words asks nothing of a shell, so ``main`` can run it right here: it starts
in no time, and what an earlier line has read is still there. Words that bash makes others of, patterns of names say, it
is asked for. What stands in a pipe is run one after the other: ``bpe`` here, the usual other programs by bash, each
given what the one before it wrote when all of it is there; and what stands behind ``&&`` if all before it went well.
Whatever else a shell takes part in, variables, loops, programs that might be anything, is run by bash and starts the
real command.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple
from unittest import mock

from bpe_cli.cli.app import main

WORD = r"""(?:[\w./:=,@%+^-]|'[^']*'|"[^"$`\\]*")+"""
"""What bash takes as it stands, but for the quotes; a script has no history that a ``!`` might speak of."""

PLAIN = re.compile(rf"bpe(?: {WORD})*")

WORDS = re.compile(r"""bpe(?:(?: |\\\n)+(?:[\w./:=,@%+^{}*?-]|\[[\w-]+\]|'[^']*'|"(?:\\[^"]|[^"$`\\])*")+)*""")
"""A command whose words bash makes others of, with nothing that depends on what ran before."""

OTHERS = ("cat", "cmp", "cut", "echo", "grep", "head", "printf", "python", "python3", "sed", "sort", "tail", "tr", "wc")
"""Programs that leave nothing to the command behind them but what they write."""

PART = r"""(?:[^'"|&;<>()$`\\\n]|\\[^\n]|\\\n|'[^']*'|"(?:\\.|[^"\\])*")+"""
"""What may stand between two pipes: no sign that means something to a shell, but in quotes."""

PIPELINE = rf"{PART}(?:\|[ \n]{PART})*(?:(?<= )> [\w./-]+ *)?"

STEPS = re.compile(rf"{PIPELINE}(?:&& {PIPELINE})*", re.DOTALL)
"""One pipeline after the other, each but the last followed by ``&&``."""

SIGNS = re.compile(rf"(?P<part>{PART})|(?P<sign>&&|\||> (?P<file>[\w./-]+) *)", re.DOTALL)


class Printed(NamedTuple):
    """What a command left behind: its exit status, and what it printed on either stream."""

    status: int
    text: str


class Pipeline(NamedTuple):
    """Commands of which each reads what the one before it writes, and the file that the last one writes to, if any."""

    commands: list[str]
    file: str | None


def run(command: str, folder: Path, before: int) -> Printed:
    """Run a command in a folder; nobody answers what it asks.

    Args:
        command: As the page shows it.
        folder: Where it runs.
        before: The exit status of the command before, which ``$?`` tells.
    """
    if Path.cwd() == folder and (steps := steps_of(command)):
        return run_steps(steps, folder)
    return in_bash(command, folder, before)


def steps_of(command: str) -> list[Pipeline]:
    """Return the pipelines that a command is made of; none if it is no ``bpe`` or takes more of a shell."""
    if not STEPS.fullmatch(command):
        return []
    steps: list[Pipeline] = [Pipeline([], None)]
    for found in SIGNS.finditer(command):
        if found["part"]:
            steps[-1].commands.append(found["part"].strip())
        elif found["file"]:
            steps[-1] = steps[-1]._replace(file=found["file"])
        elif found["sign"] == "&&":
            steps.append(Pipeline([], None))
    commands = [each for step in steps for each in step.commands]
    known = all(WORDS.fullmatch(each) or each.partition(" ")[0] in OTHERS for each in commands)
    return steps if known and any(map(is_bpe, commands)) else []


def is_bpe(command: str) -> bool:
    """Return whether a command is ``bpe``."""
    return WORDS.fullmatch(command) is not None


def in_bash(command: str, folder: Path, before: int) -> Printed:
    """Run a command as bash does."""
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; (exit {before}); {command}"], cwd=folder, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", timeout=300, check=False,
    )  # fmt: skip
    return Printed(done.returncode, done.stdout)


def words_of(command: str) -> list[str]:
    """Return the words of ``bpe`` that bash makes of a command in the current folder."""
    if PLAIN.fullmatch(command):
        return shlex.split(command)
    done = subprocess.run(["bash", "-c", f"printf '%s\\0' {command}"], capture_output=True, check=True)
    return os.fsdecode(done.stdout).split("\0")[:-1]


def run_steps(steps: list[Pipeline], folder: Path) -> Printed:
    """Run one pipeline after the other, as long as they go well."""
    status, text = 0, ""
    for step in steps:
        status, printed = run_pipeline(step, folder)
        text += printed
        if status:
            break
    return Printed(status, text)


def run_pipeline(step: Pipeline, folder: Path) -> Printed:
    """Run ``bpe`` in this process and folder, and other programs by bash; its status is the last one that is not 0."""
    status, said = 0, b""
    with contextlib.ExitStack() as files:
        read: IO[bytes] = files.enter_context(open(os.devnull, "rb"))
        for number, command in enumerate(step.commands):
            last = number == len(step.commands) - 1
            # As they are in a process, both streams go to one file, unless one of them is somebody else's.
            err = files.enter_context(tempfile.TemporaryFile())
            if not last:
                out: IO[bytes] = files.enter_context(tempfile.TemporaryFile())
            else:
                out = err if step.file is None else files.enter_context(open(folder / step.file, "wb"))
            ended = (run_here if is_bpe(command) else run_there)(command, read, out, err)
            status = ended or status
            err.seek(0)
            said += err.read()
            read = out
            if not last:
                read.seek(0)
    return Printed(status, said.decode("utf-8", "replace"))


def run_there(command: str, stdin: IO[bytes], stdout: IO[bytes], stderr: IO[bytes]) -> int:
    """Run another program in the current folder."""
    done = subprocess.run(["bash", "-c", command], stdin=stdin, stdout=stdout, stderr=stderr, timeout=300, check=False)
    return done.returncode


def run_here(command: str, stdin: IO[bytes], stdout: IO[bytes], stderr: IO[bytes]) -> int:
    """Run ``bpe`` in this process; its streams are buffered as they are in one of its own."""
    with (
        piped(stdin) as given,
        open(os.dup(stdout.fileno()), "w", encoding="utf-8") as out,
        open(os.dup(stderr.fileno()), "w", encoding="utf-8", errors="backslashreplace", buffering=1) as err,
        mock.patch.multiple(sys, stdin=given, stdout=out, stderr=err),
    ):
        return main(words_of(command)[1:])


@contextlib.contextmanager
def piped(file: IO[bytes]) -> Iterator[IO[str]]:
    """Yield the content of a file as a pipe, which can be read only once; ``/dev/null`` is yielded as it is."""
    if file.name == os.devnull:
        with open(os.devnull, encoding="utf-8") as nothing:
            yield nothing
        return
    reading, writing = os.pipe()

    def write() -> None:
        with contextlib.suppress(BrokenPipeError), open(writing, "wb") as pipe:
            pipe.write(file.read())

    writer = threading.Thread(target=write)
    writer.start()
    try:
        with open(reading, encoding="utf-8") as given:
            yield given
    finally:
        writer.join()
