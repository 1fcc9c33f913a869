"""Mutants of the program itself: one operator, number or condition is another, and the module's own tests must notice.

A mutant is made from a module's syntax tree, in memory and in a file elsewhere, never in the checkout. The tests that
belong to the module run in a process of their own, which reads the mutant in the module's place (tests/proof/mutated).
A mutant may write or remove anything, devices too: its process sees all of the system read-only but one folder.
"""

from __future__ import annotations

import ast
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Any

from tests.needs import NO_SEAL, skip
from tests.proof.attempts import ROOT, Found, Proof
from tests.proof.kinds.mutation_reasons import REASONS

TESTS: dict[str, tuple[str, ...]] = {
    "bpe_cli/formats/huggingface/own_json.py": (
        "tests/unit/formats/test_own_json.py", "tests/unit/formats/test_hf_json_dump.py",
    ),
    "bpe_cli/sinks/atomic.py": ("tests/unit/sinks",),
    "bpe_cli/sinks/sidecar.py": ("tests/unit/sinks",),
    "bpe_cli/sinks/numbers.py": ("tests/unit/sinks",),
    "bpe_cli/stages/vocabulary.py": (
        "tests/unit/stages/test_vocabulary.py", "tests/unit/stages/test_components.py",
        "tests/unit/formats/test_tiktoken_ranks.py", "tests/unit/surgery/test_additions.py",
    ),
    "bpe_cli/support/blocks.py": ("tests/unit/support/test_blocks.py",),
    "bpe_cli/support/json_files.py": ("tests/unit/support/test_json_files.py",),
    "bpe_cli/surgery/pruning.py": (
        "tests/unit/surgery/test_pruning.py", "tests/unit/surgery/test_tokenizer_extension.py",
    ),
    "bpe_cli/trainers/counts.py": (
        "tests/unit/formats/test_counts_file.py", "tests/unit/stages/test_counting.py",
        "tests/unit/jobs/test_spilling.py",
    ),
    "bpe_cli/corpus/rows.py": (
        "tests/unit/corpus/test_corpus_judging.py", "tests/unit/corpus/test_corpus_documents.py",
        "tests/unit/corpus/test_corpus_jsonl.py", "tests/unit/jobs/test_prepare_keep.py",
    ),
    "bpe_cli/chat/counting.py": ("tests/unit/chat/test_counting.py",),
    "bpe_cli/chat/messages.py": ("tests/unit/chat/test_messages.py",),
    "bpe_cli/jobs/prepare/sequences.py": ("tests/unit/jobs/test_sequences.py",),
    "bpe_cli/reports/comparison/checks.py": ("tests/unit/reports/comparison/test_checks.py",),
    "bpe_cli/reports/distributions.py": ("tests/unit/reports/test_distributions.py",),
    "bpe_cli/support/ordered_threads.py": ("tests/unit/support/test_ordered_threads.py",),
    "bpe_cli/surgery/replacing.py": ("tests/unit/surgery/test_replacing.py",),
    "bpe_cli/tokenizer/model_inputs.py": ("tests/unit/tokenizer/test_model_inputs.py",),
    "bpe_cli/tokenizer/post_processor.py": ("tests/unit/tokenizer/test_post_processor.py",),
    "bpe_cli/tokenizer/streaming.py": ("tests/unit/tokenizer/test_streaming.py",),
}  # fmt: skip
"""Module -> the tests that belong to it, beside the examples in it."""

TIMEOUT = 120
"""Seconds after which a mutant hangs; its tests take a few."""

SEAL = """
mount --make-rprivate /
mount --bind "$0" "$0"
while read -r _ place _; do
  [ "$place" = "$0" ] || mount -o remount,bind,ro "$place" 2>/dev/null || :
done < /proc/mounts
if touch "$1" 2>/dev/null || touch /dev/full.mutant 2>/dev/null; then exit 99; fi
shift
exec "$@"
"""
"""Run a command with a folder that it may write to, and with another that it must not be able to."""

OTHER: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.Break: ast.Continue, ast.Continue: ast.Break,
}  # fmt: skip
"""What stands in the place of an operator, and of a word that ends a turn of a loop."""


@dataclass(frozen=True)
class Mutant:
    """A module with one change.

    Attributes:
        path: The module's, from the checkout.
        line: Where the change is.
        change: The line, what of it stood there and what stands there now.
        source: The whole module.
    """

    path: str
    line: int
    change: str
    source: bytes


def changes_of(node: ast.AST) -> Iterator[str]:
    """Yield what may stand in the place of a part of a module."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in OTHER:
            yield ast.unparse(ast.Compare(node.left, [OTHER[type(op)]()], node.comparators))  # type: ignore[list-item]
        case ast.BoolOp():
            yield ast.unparse(ast.BoolOp(OTHER[type(node.op)](), node.values))  # type: ignore[arg-type]
        case ast.BinOp() if type(node.op) in OTHER:
            yield ast.unparse(ast.BinOp(node.left, OTHER[type(node.op)](), node.right))  # type: ignore[arg-type]
        case ast.UnaryOp(op=ast.Not()):
            yield ast.unparse(node.operand)
        case ast.Constant(value=bool()):
            yield repr(not node.value)
        case ast.Constant(value=int()):
            yield repr(node.value + 1)
        case ast.Return(value=ast.AST() as value) if not (isinstance(value, ast.Constant) and value.value is None):
            yield "return None"
        case ast.Break() | ast.Continue():
            yield ast.unparse(OTHER[type(node)]())
        case ast.Expr(value=ast.Call()):
            yield "pass"
        case ast.AugAssign() if type(node.op) in OTHER:
            yield ast.unparse(ast.AugAssign(node.target, OTHER[type(node.op)](), node.value))  # type: ignore[arg-type]


def parts_of(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what runs: no annotations, decorators (of data classes) and texts with values in them (for people)."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.AST) and not isinstance(part, ast.JoinedStr) and not for_types(part):
                yield part
                yield from parts_of(part)


def for_types(node: ast.AST) -> bool:
    """Return whether something is for checkers of types alone."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


@cache
def mutants_of(path: str) -> list[Mutant]:
    """Return all mutants of a module."""
    source = (ROOT / path).read_bytes()
    lines = source.splitlines(keepends=True)
    starts = [0, *accumulate(map(len, lines))]
    found = []
    for node in parts_of(ast.parse(source)):
        for other in changes_of(node):
            begin = starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
            end = starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
            line, shown = (" ".join(text.decode().split()) for text in (lines[node.lineno - 1], source[begin:end]))  # type: ignore[attr-defined]
            put = other if isinstance(node, ast.stmt) else f"({other})"
            changed = source[:begin] + put.encode() + source[end:]
            found.append(Mutant(path, node.lineno, f"{line}: {shown} -> {other}", changed))  # type: ignore[attr-defined]
    return found


@dataclass
class Desk:
    """What the attempts share.

    Attributes:
        folder: For the mutants.
        sound: The modules whose tests pass as they are.
        tried: The mutants that were tried.
        survived: Those that no test noticed, and no reason is given for: module, line and change.
    """

    folder: Path
    sound: set[str] = field(default_factory=set)
    tried: set[Mutant] = field(default_factory=set)
    survived: dict[str, tuple[float, str]] = field(default_factory=dict)


def sealed(folder: Path, *command: str) -> list[str]:
    """Return the command that runs another one, which can write nowhere but below a folder."""
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    new = ["--mount"] if root else ["--user", "--map-root-user", "--mount"]
    return ["unshare", *new, "sh", "-ec", SEAL, str(folder), str(ROOT / "mutant"), *command]


def status_of(desk: Desk, path: str, source: bytes) -> int | None:
    """Run a module's tests with a source in its place; None if they did not end in time."""
    (desk.folder / "mutant.py").write_bytes(source)
    name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    mutated = json.dumps([name, str(ROOT / path), str(desk.folder / "mutant.py")])
    command = [
        sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", "-p", "tests.proof.mutated",
        "--assert=plain", "--basetemp", str(desk.folder / "pytest"), path, *TESTS[path],
    ]  # fmt: skip
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}
    environment |= {"MUTATED": mutated, "TMPDIR": str(desk.folder)}
    return ended(sealed(desk.folder, *command), TIMEOUT, cwd=ROOT, env=environment)


def ended(command: list[str], seconds: float, **options: Any) -> int | None:
    """Run a command without a word and return its status; None if it had to be killed, with all that it started."""
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True, **options,
    ) as process:  # fmt: skip
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None


def end_of(status: int | None, *, is_excused: bool) -> str:
    """Describe how the tests of a mutant ended."""
    if status is None:
        return "did not end, which is noticed"
    if status != 0:
        return "killed"
    return "survived, for a reason that is given" if is_excused else "survived"


@contextmanager
def begin(folder: Path) -> Iterator[Desk]:
    """Make a place for the mutants, if they can be kept in it."""
    try:
        subprocess.run(sealed(folder, "true"), check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        skip(NO_SEAL)
    yield Desk(folder)


def attempt(desk: Desk, chance: Random, number: int) -> Counter[str]:
    """Make a mutant of the next module and run the module's tests."""
    path = list(TESTS)[number % len(TESTS)]
    mutant = chance.choice(mutants_of(path))
    if mutant in desk.tried:
        return Counter({"drawn again, and not counted": 1})
    desk.tried.add(mutant)
    if path not in desk.sound:
        status = status_of(desk, path, (ROOT / path).read_bytes())
        if status != 0:
            raise Found(f"the tests of {path} do not pass as it is: status {status}")
        desk.sound.add(path)
    status = status_of(desk, path, mutant.source)
    end = end_of(status, is_excused=(path, mutant.change) in REASONS)
    if end == "survived":
        desk.survived[f"survived: {path}:{mutant.line}"] = (1.0, mutant.change[:200])
    return Counter({"mutants": 1, f"mutants of {path}": 1, f"mutants: {end}": 1})


PROOF = Proof(
    title="Mutants of the program",
    claim="Each attempt changes one operator, comparison, number, condition, call or result in a module and runs "
    "the tests that belong to it, for a few seconds. If none of them fails, the change has survived: a test is "
    "missing. Survivors are listed below; they are not findings. Changes that make no difference are not listed: "
    "tests/proof/kinds/mutation_reasons.py gives the reasons. tests/proof/kinds/mutations.py lists the modules and "
    "their tests. Other tests, which would catch more, do not run.",
    begin=begin,
    attempt=attempt,
    notes=lambda desk: desk.survived,
)
