"""Which lines of the program inputs reach: for making corpora small, and for a table by module.

reached.json holds what the kept corpora reach, which docs/reliability.md shows.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from tests.proof.attempts import ROOT
from tests.proof.fuzzing.targets import Target

PATH = Path(__file__).with_name("reached.json")

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


Modules = dict[str, tuple[int, int]]
"""Module -> lines of its functions that are reached, and how many there are."""


def by_module(reached: Lines) -> Modules:
    """Return how many lines of each module's functions are reached, of those of which any is."""
    by_file: dict[str, set[int]] = {}
    for path, line in reached:
        by_file.setdefault(path, set()).add(line)
    return {
        str(Path(path).relative_to(ROOT)): (len(lines & lines_of_functions(path)), len(lines_of_functions(path)))
        for path, lines in sorted(by_file.items())
    }


def together(modules: Modules) -> tuple[int, int]:
    """Return how many lines are reached in all modules, and how many there are."""
    return sum(have for have, _ in modules.values()), sum(most for _, most in modules.values())


def table(modules: Modules) -> str:
    """Return a line for each module.

    >>> print(table({"bpe_cli/a.py": (1, 2)}))
    bpe_cli/a.py                                                     1 of     2   50%
    together                                                         1 of     2   50%
    """
    rows = [*modules.items(), ("together", together(modules))]
    return "\n".join(f"{name:60} {have:5,} of {most:5,}  {have / max(1, most):4.0%}" for name, (have, most) in rows)


def section(path: Path = PATH) -> str:
    """Return what the page says of the kept corpora, in Markdown."""
    if not path.exists():
        return ""
    modules: Modules = json.loads(path.read_text(encoding="utf-8"))
    counted = {name: (f"{have:,} of {most:,}", f"{have / max(1, most):.0%}") for name, (have, most) in modules.items()}
    have, most = together(modules)
    head = (
        "Searches of the Python parsers keep in tests/proof/fuzzing/corpora the inputs that reach a line that no "
        f"shorter one does. In the functions of the modules that they enter, these reach {have:,} of {most:,} lines "
        f"({have / max(1, most):.0%}). Lines that run once, before an input is read, do not count."
    )
    rows = [f"| `{name}` | {lines} | {share} |" for name, (lines, share) in counted.items()]
    return "\n".join([head, "", "| module | lines reached | share |", "|---|--:|--:|", *rows]) + "\n"
