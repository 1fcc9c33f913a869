"""Run the commands of a session, as a page shows them: in bash, or in this process where that is the same.

A line that is nothing but ``bpe`` and plain words asks nothing of a shell, so ``main`` can run it right here: it starts
in no time, and what an earlier line has read is still there. Whatever a shell takes part in, pipes, redirections,
patterns of names, variables, is run by bash and starts the real command.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from bpe_cli.cli.app import main

WORD = r"""(?:[\w./:=,@%+^-]|'[^']*'|"[^"$`\\!]*")+"""
"""What bash takes as it stands, but for the quotes."""

PLAIN = re.compile(rf"bpe(?: {WORD})*")


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
    return run_here(command) if PLAIN.fullmatch(command) and Path.cwd() == folder else in_bash(command, folder, before)


def in_bash(command: str, folder: Path, before: int) -> Printed:
    """Run a command as bash does."""
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; (exit {before}); {command}"], cwd=folder, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", timeout=300, check=False,
    )  # fmt: skip
    return Printed(done.returncode, done.stdout)


def run_here(command: str) -> Printed:
    """Run ``bpe`` in this process and folder; both streams go to one file, buffered as they are in a process."""
    with tempfile.TemporaryFile() as file:
        with (
            open(os.devnull, encoding="utf-8") as nothing,
            open(os.dup(file.fileno()), "w", encoding="utf-8") as out,
            open(os.dup(file.fileno()), "w", encoding="utf-8", errors="backslashreplace", buffering=1) as err,
            mock.patch.multiple(sys, stdin=nothing, stdout=out, stderr=err),
        ):
            status = main(shlex.split(command)[1:])
        file.seek(0)
        return Printed(status, file.read().decode("utf-8", "replace"))
