"""Run the commands of a session, as a page shows them: in bash, or in this process where that is the same.

A line that is nothing but ``bpe`` and plain words asks nothing of a shell, so ``main`` can run it right here: it starts
in no time, and what an earlier line has read is still there. Words that bash makes others of, patterns of names say, it
is asked for. What is piped into other programs than ``bpe`` is given to them when all of it is there. Whatever else a
shell takes part in, pipes between processes, redirections, variables, is run by bash and starts the real command.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, NamedTuple
from unittest import mock

from bpe_cli.cli.app import main

WORD = r"""(?:[\w./:=,@%+^-]|'[^']*'|"[^"$`\\!]*")+"""
"""What bash takes as it stands, but for the quotes."""

PLAIN = re.compile(rf"bpe(?: {WORD})*")

EXPANDED = r"""bpe(?:(?: |\\\n)+(?:[\w./:=,@%+^{}*?-]|\[[\w-]+\]|'[^']*'|"(?:\\[^"]|[^"$`!\\])*")+)*"""
"""A command whose words bash makes others of, with nothing that depends on what ran before."""

WORDS = re.compile(EXPANDED)
PIPED = re.compile(rf"(?P<bpe>{EXPANDED}) \|[ \n](?P<rest>(?!.*\bbpe )[^;&<>$`]+)", re.DOTALL)
"""Such a command, and what its output is piped into: other programs, which are run whatever became of it."""


class Printed(NamedTuple):
    """What a command left behind: its exit status, and what it printed on either stream."""

    status: int
    text: str


def run(command: str, folder: Path, before: int) -> Printed:
    """Run a command in a folder; nobody answers what it asks.

    Args:
        command: As the page shows it.
        folder: Where it runs.
        before: The exit status of the command before, which ``$?`` tells.
    """
    if Path.cwd() == folder:
        if PLAIN.fullmatch(command):
            return run_here(shlex.split(command))
        if WORDS.fullmatch(command):
            return run_here(expanded(command))
        piped = PIPED.fullmatch(command)
        if piped and "||" not in piped["rest"]:
            return run_piped(expanded(piped["bpe"]), piped["rest"], folder)
    return in_bash(command, folder, before)


def in_bash(command: str, folder: Path, before: int, stdin: int | IO[bytes] = subprocess.DEVNULL) -> Printed:
    """Run a command as bash does."""
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; (exit {before}); {command}"], cwd=folder, stdin=stdin,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", timeout=300, check=False,
    )  # fmt: skip
    return Printed(done.returncode, done.stdout)


def expanded(command: str) -> list[str]:
    """Return the words that bash makes of those of a command, in the current folder."""
    done = subprocess.run(["bash", "-c", f"printf '%s\\0' {command}"], capture_output=True, check=True)
    return os.fsdecode(done.stdout).split("\0")[:-1]


def run_here(words: list[str]) -> Printed:
    """Run ``bpe`` in this process and folder; both streams go to one file, buffered as they are in a process."""
    with tempfile.TemporaryFile() as file:
        status = _call(words, file, file)
        return Printed(status, _read(file))


def run_piped(words: list[str], rest: str, folder: Path) -> Printed:
    """Run ``bpe`` likewise, and then what reads what it wrote, in bash."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        status = _call(words, out, err)
        out.seek(0)
        done = in_bash(rest, folder, 0, out)
        return Printed(done.status or status, _read(err) + done.text)


def _call(words: list[str], stdout: IO[bytes], stderr: IO[bytes]) -> int:
    with (
        open(os.devnull, encoding="utf-8") as nothing,
        open(os.dup(stdout.fileno()), "w", encoding="utf-8") as out,
        open(os.dup(stderr.fileno()), "w", encoding="utf-8", errors="backslashreplace", buffering=1) as err,
        mock.patch.multiple(sys, stdin=nothing, stdout=out, stderr=err),
    ):
        return main(words[1:])


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")
