"""The tests themselves, read from their sources: each asserts something, of something else than itself, and counts it.

What cannot be read from a source is a mutant's to find: that what is asserted would be false if the code were wrong.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TypeVar

import pytest

from tests.counted import at_least, compared
from tests.syntax import nodes_of, tree_of, written

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests"
MODULES = sorted(TESTS.rglob("*.py"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "bpe_cli").rglob("*.py"))]

Function = ast.FunctionDef | ast.AsyncFunctionDef
Node = TypeVar("Node", bound=ast.AST)


@cache
def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def functions_that_test(tree: ast.Module) -> list[ast.FunctionDef]:
    """Return the test functions, those in classes too."""
    return [node for node in nodes_of(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test")]


@cache
def own_nodes(function: Function) -> list[ast.AST]:
    """Return what runs when a function is called, without the bodies of the functions in it."""
    found: list[ast.AST] = []
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        found.append(node)
        if not isinstance(node, (*Function.__args__, ast.Lambda, ast.ClassDef)):
            waiting.extend(ast.iter_child_nodes(node))
    return found


@cache
def called(node: ast.AST) -> str:
    """Return the dotted name of what a call calls, "" for what is none."""
    return written(node.func) if isinstance(node, ast.Call) else ""


# -- every test asserts something ------------------------------------------------------------------


@cache
def asserts_itself(function: Function) -> bool:
    """Return whether a function, or one in it, may fail by its own words."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assert) or called(node) in ("pytest.raises", "pytest.fail", "pytest.warns"):
            return True
        if isinstance(node, ast.Raise) and node.exc is not None and "AssertionError" in ast.unparse(node.exc):
            return True
        if isinstance(node, ast.keyword) and node.arg == "check" and ast.unparse(node.value) == "True":
            return True  # of subprocess.run, which raises then
    return False


@cache
def functions_of(tree: ast.Module) -> dict[str, Function]:
    """Return a module's functions and methods by their bare names."""
    return {node.name: node for node in nodes_of(tree) if isinstance(node, Function)}


@cache
def helpers_of(path: Path) -> dict[str, Function]:
    """Return the functions that a module's tests can call by a name of theirs: its own, and those of tests/."""
    found: dict[str, Function] = {}
    for node in nodes_of(tree_of(path)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "tests":
            source = ROOT.joinpath(*node.module.split(".")).with_suffix(".py")
            if source.is_file():
                others = functions_of(tree_of(source))
                found |= {
                    alias.asname or alias.name: others[alias.name] for alias in node.names if alias.name in others
                }
                found |= {name: function for name, function in others.items() if name not in found}
    return found | functions_of(tree_of(path))


@cache
def names_in(function: Function) -> frozenset[str]:
    """Return the names that a function, or one in it, speaks of."""
    return frozenset(
        node.id if isinstance(node, ast.Name) else node.attr
        for node in ast.walk(function)
        if isinstance(node, (ast.Name, ast.Attribute))
    )


def asserts_something(function: Function, helpers: dict[str, Function]) -> bool:
    """Return whether a function asserts, or one that it calls, or one that those call."""
    seen, waiting = {function.name}, [function]
    while waiting:
        each = waiting.pop()
        if asserts_itself(each):
            return True
        for name in names_in(each):
            if name in helpers and name not in seen:
                seen.add(name)
                waiting.append(helpers[name])
    return False


# -- no assertion is true whatever happens -----------------------------------------------------------


def says_nothing(test: ast.expr) -> bool:
    """Return whether an asserted expression is true by its form.

    >>> [says_nothing(ast.parse(text, mode="eval").body) for text in ("a == a", "(a, 'text')", "a or 1", "len(a) >= 0")]
    [True, True, True, True]
    >>> [says_nothing(ast.parse(text, mode="eval").body) for text in ("a == b", "a or b", "a", "len(a) > 0", "()")]
    [False, False, False, False, False]
    """
    match test:
        case ast.Constant(value=value):
            return bool(value)
        case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
            return bool(elements)
        case ast.Dict(keys=keys):
            return bool(keys)
        case ast.JoinedStr() | ast.Lambda() | ast.GeneratorExp():
            return True
        case ast.BoolOp(op=ast.Or(), values=values):
            denied = {ast.dump(value.operand) for value in values if isinstance(value, ast.UnaryOp)}
            return any(says_nothing(value) or ast.dump(value) in denied for value in values)
        case ast.BoolOp(op=ast.And(), values=values):
            return any(says_nothing(value) for value in values)
        case ast.Compare(left=left, ops=operators, comparators=right):
            sides = [ast.dump(side) for side in (left, *right)]
            at_least_nothing = isinstance(operators[0], ast.GtE) and ast.unparse(right[0]) == "0"
            return len({*sides}) < len(sides) or (at_least_nothing and called(left) in ("len", "abs", "sum"))
    return False


# -- what ends early counts what it compared -----------------------------------------------------------


def leaves_cases_out(function: Function) -> bool:
    """Return whether a test can pass over what it would compare, or end before it."""
    return any(isinstance(node, (ast.Return, ast.Continue)) or swallows(node) for node in own_nodes(function))


def asserts_only_at_times(function: Function, helpers: dict[str, Function]) -> bool:
    """Return whether every assertion of a test stands under a condition that may never hold."""
    return asserts_something(function, helpers) and not surely_asserts(function.body, helpers)


def surely_asserts(statements: list[ast.stmt], helpers: dict[str, Function]) -> bool:
    """Return whether statements assert something whatever holds; loops are taken to run."""
    return any(surely(statement, helpers) for statement in statements)


def surely(statement: ast.stmt, helpers: dict[str, Function]) -> bool:
    match statement:
        case ast.If(body=body, orelse=otherwise):
            return surely_asserts(body, helpers) and surely_asserts(otherwise, helpers)
        case ast.FunctionDef() | ast.ClassDef():
            return False
        case ast.For(body=body) | ast.While(body=body):
            return surely_asserts(body, helpers)
        case ast.With(items=items, body=body):
            return any(asserts(item, helpers) for item in items) or surely_asserts(body, helpers)
        case ast.Try(body=body, handlers=handlers, orelse=otherwise, finalbody=last):
            handled = surely_asserts(otherwise, helpers) and all(
                surely_asserts(each.body, helpers) for each in handlers
            )
            return handled or surely_asserts([*body, *last], helpers)
    return asserts(statement, helpers)


def asserts(node: ast.AST, helpers: dict[str, Function]) -> bool:
    """Return whether a statement or an expression asserts, itself or by a helper."""
    as_function = ast.FunctionDef("", ast.arguments([], [], None, [], [], None, []), [ast.Expr(node)], [])
    return asserts_something(as_function, helpers)


def swallows(node: ast.AST) -> bool:
    """Return whether errors of the code that is tested are passed over."""
    if isinstance(node, ast.ExceptHandler):
        return all(isinstance(statement, ast.Pass) for statement in node.body)
    return called(node) in ("contextlib.suppress", "suppress") and "OSError" not in ast.unparse(node)


def gives_up(function: Function) -> bool:
    """Return whether a helper asserts something unless an error comes first, of which it says nothing."""
    handlers = [node for node in own_nodes(function) if isinstance(node, ast.ExceptHandler)]
    silent = [each for each in handlers if isinstance(each.body[-1], ast.Return) and each.body[-1].value is None
              and not any(isinstance(node, ast.Assert) for node in ast.walk(each))]  # fmt: skip
    return bool(silent) and any(isinstance(node, ast.Assert) for node in own_nodes(function))


def counts(function: Function) -> bool:
    """Return whether a test asserts how much it compared: by ``at_least``, or by a variable that it adds to."""
    if any(called(decorator) == "at_least" for decorator in function.decorator_list):
        return any(called(node) == "compared" for node in own_nodes(function))
    added = {ast.unparse(node.target) for node in own_nodes(function) if isinstance(node, ast.AugAssign)}
    asserted = [node.test for node in own_nodes(function) if isinstance(node, ast.Assert)]
    return any(isinstance(node, ast.Name) and node.id in added for test in asserted for node in ast.walk(test))


# -- the laws ------------------------------------------------------------------------------------------


def all_tests() -> Iterator[tuple[Path, ast.FunctionDef]]:
    return ((path, test) for path in MODULES for test in functions_that_test(tree_of(path)))


@cache
def statements_of(path: Path) -> list[ast.Assert | ast.Call]:
    """Return the assertions and calls of a module, which the laws are about."""
    return [node for node in nodes_of(tree_of(path)) if isinstance(node, (ast.Assert, ast.Call))]


def nodes(kind: type[Node]) -> Iterator[tuple[str, Node]]:
    """Yield the assertions or the calls of all modules, with their places."""
    for path in MODULES:
        for node in statements_of(path):
            if isinstance(node, kind):
                yield f"{name_of(path)}:{node.lineno}", node


def test_every_test_asserts_something():
    assert len([*all_tests()]) > 2_000
    blind = [
        f"{name_of(path)}: {test.name}" for path, test in all_tests() if not asserts_something(test, helpers_of(path))
    ]
    assert blind == []


def test_no_assertion_is_true_by_its_form():
    assert [place for place, node in nodes(ast.Assert) if says_nothing(node.test)] == []


def test_not_any_error_will_do():
    raising = [(place, node) for place, node in nodes(ast.Call) if called(node) == "pytest.raises"]
    assert len(raising) > 400
    wide = [place for place, node in raising if ast.unparse(node.args[0]) in ("Exception", "BaseException")
            and not any(keyword.arg == "match" for keyword in node.keywords)]  # fmt: skip
    assert wide == []


def test_no_example_compares_a_value_with_itself():
    example = re.compile(r"^\s*>>> (.+)$", re.MULTILINE)
    examples = [(name_of(page), found) for page in PAGES for found in example.findall(page.read_text(encoding="utf-8"))]
    assert len(examples) > 500
    halves = [(name, found.partition(" == ")) for name, found in examples]
    assert [name for name, (before, sign, behind) in halves if sign and before.strip() == behind.strip()] == []


def test_what_ends_early_counts_what_it_compared():
    wrong = [(path, test) for path, test in all_tests() if not counts(test)
             and (leaves_cases_out(test) or asserts_only_at_times(test, helpers_of(path)))]  # fmt: skip
    names = [f"{name_of(path)}: {test.name}" for path, test in wrong]
    assert names == [], "decorate it with tests.counted.at_least, or use else"


def test_a_helper_that_gives_up_counts_too():
    helpers = [(name_of(path), each) for path in MODULES for each in functions_of(tree_of(path)).values()
               if not each.name.startswith("test")]  # fmt: skip
    giving_up = [(name, each) for name, each in helpers if gives_up(each)]
    assert len(giving_up) > 5
    assert [f"{name}: {each.name}" for name, each in giving_up
            if not any(called(node) == "compared" for node in own_nodes(each))] == []  # fmt: skip


def test_only_one_helper_skips():
    raw = re.compile(r"importorskip|pytest\.skip|mark\.skip|skipif|unittest\.skip|SkipTest|xfail")
    # The helper; the test of it, which has such skips in the text of a program; and this line.
    exempt = {TESTS / "needs.py", TESTS / "unit" / "test_needs.py", Path(__file__)}
    assert all(raw.search(path.read_text(encoding="utf-8")) for path in exempt)
    lines = [(name_of(path), number, line) for path in MODULES if path not in exempt
             for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)]  # fmt: skip
    assert [(name, number) for name, number, line in lines if raw.search(line)] == []


def test_nothing_is_timed():
    """A clock says how fast a machine is and how busy; ``tests.work`` counts instead."""
    clock = re.compile(r"\btime\.(perf_counter|process_time|thread_time|monotonic|time)\b|from time import|it hangs")
    # These two draw moments of a run at random, and are no tests: they have to know how long a run takes. The third
    # tries things for as long as it is told.
    drawing = {TESTS / "interrupting.py", TESTS / "killing.py"}
    exempt = {TESTS / "work.py", *drawing, TESTS / "proof" / "running.py", Path(__file__)}
    lines = [(name_of(path), number, line) for path in MODULES if path not in exempt
             for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)]  # fmt: skip
    assert [(name, number) for name, number, line in lines if clock.search(line)] == []


# -- these laws see what they are to see -------------------------------------------------------------------

BLIND = {
    "asserts nothing": "def test_it():\n    run()\n",
    "compares nothing by a helper": "def helper():\n    run()\n\ndef test_it():\n    helper()\n",
}
SEEING = {
    "asserts": "def test_it():\n    assert run() == 1\n",
    "expects an error": "def test_it():\n    with pytest.raises(ValueError):\n        run()\n",
    "asserts by a helper": "def a():\n    b()\n\ndef b():\n    assert run()\n\ndef test_it():\n    a()\n",
    "raises if a process fails": "def test_it():\n    subprocess.run([], check=True)\n",
}
EARLY = {
    "returns": "def test_it():\n    if rare:\n        return\n    assert run()\n",
    "goes on": "def test_it():\n    for each in all:\n        if rare:\n            continue\n        assert run()\n",
    "swallows": "def test_it():\n    try:\n        assert run()\n    except ValueError:\n        pass\n",
    "suppresses": "def test_it():\n    with contextlib.suppress(InputError):\n        assert run()\n",
    "asserts under a condition": "def test_it():\n    for each in all:\n        if rare:\n            assert run()\n",
    "asserts in one branch": "def test_it():\n    if rare:\n        assert run()\n    else:\n        run()\n",
    "asserts in a handler": "def test_it():\n    try:\n        run()\n    except E as e:\n        assert e.args\n",
    "is decorated and counts nothing": "@at_least(5)\ndef test_it():\n    if rare:\n        return\n    assert run()\n",
    "counts and does not assert": "def test_it():\n    for x in y:\n        if x: continue\n        n += 1\n",
}
COUNTED = {
    "is decorated": "@at_least(5)\ndef test_it():\n    if rare:\n        return\n    compared()\n",
    "asserts in both branches": "def test_it():\n    if rare:\n        assert a\n    else:\n        assert b\n",
    "counts": "def test_it():\n    n = 0\n    for x in y:\n        if x: continue\n        n += 1\n    assert n > 5\n",
}


def the_test(source: str) -> tuple[ast.FunctionDef, dict[str, Function]]:
    tree = ast.parse(source)
    return functions_that_test(tree)[-1], functions_of(tree)


@pytest.mark.parametrize("kind", BLIND)
def test_the_blind_are_found(kind):
    assert not asserts_something(*the_test(BLIND[kind]))


@pytest.mark.parametrize("kind", SEEING)
def test_the_seeing_are_let_be(kind):
    assert asserts_something(*the_test(SEEING[kind]))


@pytest.mark.parametrize("kind", EARLY)
def test_what_ends_early_is_found(kind):
    test, helpers = the_test(EARLY[kind])
    assert leaves_cases_out(test) or asserts_only_at_times(test, helpers)
    assert not counts(test)


@pytest.mark.parametrize("kind", COUNTED)
def test_what_counts_is_let_be(kind):
    test, helpers = the_test(COUNTED[kind])
    assert counts(test) or not (leaves_cases_out(test) or asserts_only_at_times(test, helpers))


@pytest.mark.parametrize(("number", "passes"), [(0, True), (3, True), (4, False)])
def test_a_test_that_compares_too_little_fails(number, passes):
    @at_least(number)
    def three():
        compared()
        compared(2)

    if passes:
        assert three() is None
    else:
        with pytest.raises(AssertionError, match="3 cases were compared, not 4"):
            three()
