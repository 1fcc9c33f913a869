"""What libFuzzer is asked for and what it says, whether it searches a target of the core or, in atheris, of Python."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.needs import NO_LIMITS, posix
from tests.proof.attempts import ROOT, quick_place

LONGEST_RUN = 20
"""Seconds of a processor after which an input is a finding."""

BY_THE_CLOCK = 120
"""Seconds after which libFuzzer ends a run: it has no other clock, and a busy machine has to come to its end too."""

MEMORY = 2048
"""Megabytes of a search."""

FOLDER = "FUZZ_FOLDER"
"""The variable that names a folder for the files of a target: libFuzzer ends a search where nobody can remove any."""

LOADED = re.compile(r"^INFO: Loaded \d+ modules? +\((\d+) inline 8-bit counters\)", re.MULTILINE)
EDGES = re.compile(r"^#\d+\s.*\bcov: (\d+)", re.MULTILINE)
INPUTS = re.compile(r"^stat::number_of_executed_units:\s*(\d+)", re.MULTILINE)
WRITTEN = re.compile(r"Test unit written to (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Said:
    """What libFuzzer said about a search.

    Attributes:
        inputs: How many it tried.
        edges: How many edges of the program they reached, those of the corpus among them.
        counters: How many edges there are; 0 if it is not said.
        written: The input that it found, as it lies in a file; None if it found none.
    """

    inputs: int
    edges: int
    counters: int
    written: Path | None


@dataclass(frozen=True)
class Ended:
    """How a search ended.

    Attributes:
        status: Of its process: 0 if nothing was found.
        output: What it wrote.
        cpu: Seconds of a processor that it took.
    """

    status: int
    output: str
    cpu: float


def options(prefix: Path, seconds: int, longest: int, most: int, seed: int = 0) -> list[str]:
    """Return the options of a search.

    Args:
        prefix: How the path of an input that is found begins.
        seconds: How long it searches.
        longest: How many bytes an input has.
        most: Seconds after which one run is a finding.
        seed: What is drawn follows from it, and from the corpus; 0 for the time of day.
    """
    limits = {
        "max_total_time": seconds, "max_len": longest, "timeout": most, "report_slow_units": most,
        "rss_limit_mb": MEMORY, "artifact_prefix": prefix, "print_final_stats": 1, "seed": seed,
    }  # fmt: skip
    return [f"-{option}={value}" for option, value in limits.items()]


def said(output: str) -> Said:
    """Return what stands in the output of a search.

    >>> said("#2\\tINITED cov: 7 ft: 8 corp: 1/1b\\nstat::number_of_executed_units: 9\\n")
    Said(inputs=9, edges=7, counters=0, written=None)
    """
    tried, edges = INPUTS.findall(output), EDGES.findall(output)
    counters, written = LOADED.search(output), WRITTEN.findall(output)
    return Said(
        int(tried[-1]) if tried else 0, max(map(int, edges), default=0), int(counters[1]) if counters else 0,
        Path(written[-1]) if written else None,
    )  # fmt: skip


@contextmanager
def surroundings() -> Iterator[dict[str, str]]:
    """Yield the environment for a search; its folder is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="fuzz-", dir=quick_place(), ignore_cleanup_errors=True) as folder:
        yield os.environ | {FOLDER: folder}


THROUGH_A_SHELL = ["sh", "-c", '"$@"; exit $?', "sh"]
"""A process's peak of memory begins with that of whoever started it, and libFuzzer goes by it: a small one does."""


def ended(command: list[str], env: Mapping[str, str] | None = None) -> Ended:
    """Run a search to its end, and measure what it takes of a processor."""
    resource = posix("resource", NO_LIMITS)

    def taken() -> float:
        used: Any = resource.getrusage(resource.RUSAGE_CHILDREN)
        return float(used.ru_utime + used.ru_stime)

    before = taken()
    with surroundings() as around:
        done = subprocess.run(
            [*THROUGH_A_SHELL, *command], cwd=ROOT, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, env=around | (env or {}),
        )  # fmt: skip
    return Ended(done.returncode, done.stdout.decode(errors="replace"), taken() - before)
