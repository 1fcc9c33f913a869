"""Which lines of the program inputs reach: for making corpora small, and for a table by module."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from tests.proof.attempts import ROOT
from tests.proof.fuzzing.targets import Target

PACKAGE = str(ROOT / "bpe_cli") + "/"

Lines = frozenset[tuple[str, int]]
"""Files and numbers of lines."""


def lines_reached(target: Target, data: bytes) -> Lines:
    """Return the lines in functions of the program that a target reaches with an input, on its own thread."""
    reached: set[tuple[str, int]] = set()

    def follow(frame: FrameType, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        if event == "line":
            reached.add((frame.f_code.co_filename, frame.f_lineno))
        return follow

    before = sys.gettrace()
    sys.settrace(follow)
    try:
        target(data)
    finally:
        sys.settrace(before)
    return frozenset(reached)


def smallest(target: Target, inputs: Iterable[bytes]) -> tuple[list[bytes], Lines]:
    """Return those inputs, the short ones first, that reach a line which none before them does, and all the lines."""
    kept, reached = [], frozenset[tuple[str, int]]()
    for data in sorted(set(inputs), key=lambda each: (len(each), each)):
        lines = lines_reached(target, data)
        if not lines <= reached:
            kept.append(data)
            reached |= lines
    return kept, reached


@cache
def lines_of_functions(path: str) -> frozenset[int]:
    """Return the lines of a file that run when its functions do."""
    found: set[int] = set()
    for code in _codes(compile(Path(path).read_bytes(), path, "exec", dont_inherit=True)):
        if code.co_flags & inspect.CO_OPTIMIZED:  # neither a module nor the body of a class
            found |= {line for _, _, line in code.co_lines() if line is not None and line != code.co_firstlineno}
    return frozenset(found)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _codes(each)


def table(reached: Lines) -> str:
    """Return how many lines of each module's functions are reached, of those of which any is."""
    by_file: dict[str, set[int]] = {}
    for path, line in reached:
        by_file.setdefault(path, set()).add(line)
    rows = []
    for path, lines in sorted(by_file.items()):
        there = lines_of_functions(path)
        rows.append((str(Path(path).relative_to(ROOT)), len(lines & there), len(there)))
    rows.append(("together", sum(row[1] for row in rows), sum(row[2] for row in rows)))
    return "\n".join(f"{name:60} {have:5,} of {most:5,}  {have / max(1, most):4.0%}" for name, have, most in rows)
