"""Hold outputs against what is read: ``jobs.outputs`` with the streams of this process."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from bpe_cli.jobs import outputs as job_outputs
from bpe_cli.jobs.outputs import STDOUT, Streams, check_outputs

__all__ = ["STDOUT", "check_kept", "check_outputs", "process_streams"]


def process_streams() -> Streams:
    """Return the streams of this process."""
    return Streams(sys.stdin.buffer, sys.stdout, sys.stderr)


def check_kept(outputs: Iterable[tuple[str, str | None]], read: Iterable[tuple[str, str]]) -> None:
    """Make sure that no output, nor stdout, nor stderr, is a file that is read.

    Raises:
        UsageError: If one is.
    """
    job_outputs.check_kept(outputs, read, process_streams())
