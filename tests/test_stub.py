"""The stub of the core says what the compiled module does (with mypy.stubtest in `make lint`)."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

from bpe_cli import _core

STUB = ast.parse((Path(__file__).parent.parent / "bpe_cli" / "_core.pyi").read_text(encoding="utf-8"))
FUNCTIONS = {node.name: node for node in STUB.body if isinstance(node, ast.FunctionDef)}
# What begins with "_" is there for type checkers alone.
CLASSES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef) and node.name[0] != "_"}
METHODS = {
    (name, method.name): method
    for name, node in CLASSES.items()
    for method in node.body
    if isinstance(method, ast.FunctionDef) and not method.name.startswith("__")
}
CONSTRUCTORS = {
    name: method
    for name, node in CLASSES.items()
    for method in node.body
    if isinstance(method, ast.FunctionDef) and method.name in {"__init__", "__new__"}
}


def parameters(node: ast.FunctionDef, *, bound: bool) -> list[tuple[str, bool, bool]]:
    """Return (name, keyword only, has a default) for each parameter of a definition in the stub."""
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    first_default = len(positional) - len(arguments.defaults)
    found = [(argument.arg, False, place >= first_default) for place, argument in enumerate(positional)]
    found += [
        (argument.arg, True, default is not None)
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    found += [(argument.arg, False, False) for argument in (arguments.vararg, arguments.kwarg) if argument is not None]
    return found[1:] if bound else found


def runtime_parameters(thing: object) -> list[tuple[str, bool, bool]]:
    """Return the same for something compiled, by its text signature."""
    return [
        (parameter.name, parameter.kind is parameter.KEYWORD_ONLY, parameter.default is not parameter.empty)
        for parameter in inspect.signature(thing).parameters.values()  # type: ignore[arg-type]
        if parameter.name != "self"
    ]


def is_decorated(node: ast.FunctionDef, decorator: str) -> bool:
    return any(isinstance(mark, ast.Name) and mark.id == decorator for mark in node.decorator_list)


def test_stub_and_module_have_the_same_names():
    constants = {node.target.id for node in STUB.body if isinstance(node, ast.AnnAssign) and node.target.id[0] != "_"}
    public = {name for name in vars(_core) if not name.startswith("_")}
    assert public == constants | FUNCTIONS.keys() | CLASSES.keys()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_takes_what_the_stub_says(name):
    assert runtime_parameters(getattr(_core, name)) == parameters(FUNCTIONS[name], bound=False)


@pytest.mark.parametrize("name", CLASSES)
def test_class_has_the_methods_of_the_stub(name):
    public = {method for method in vars(getattr(_core, name)) if not method.startswith("__")}
    assert public == {method for owner, method in METHODS if owner == name}


@pytest.mark.parametrize("name", CONSTRUCTORS)
def test_constructor_takes_what_the_stub_says(name):
    assert runtime_parameters(getattr(_core, name)) == parameters(CONSTRUCTORS[name], bound=True)


@pytest.mark.parametrize(("owner", "name"), METHODS)
def test_method_takes_what_the_stub_says(owner, name):
    node = METHODS[owner, name]
    method = getattr(getattr(_core, owner), name)
    if is_decorated(node, "property"):
        assert inspect.isgetsetdescriptor(method)
    else:
        assert runtime_parameters(method) == parameters(node, bound=not is_decorated(node, "staticmethod"))


@pytest.mark.parametrize("node", [*FUNCTIONS.values(), *CLASSES.values()], ids=lambda node: node.name)
def test_border_is_documented(node):
    assert ast.get_docstring(node), f"_core.pyi says nothing about {node.name}"


def test_arrays_are_read_only_buffers_of_the_promised_format():
    blob, ends = _core.embedded_tokens(_core.embedded_tables()[0])
    view = memoryview(ends)
    assert (view.format, view.itemsize, view.readonly, view.ndim) == ("I", 4, True, 1)
    assert len(view) == len(ends)
    assert view[-1] == len(blob)
    pieces = memoryview(_core.Splitter("null").split(b"abc"))
    assert (pieces.format, pieces.itemsize, pieces.readonly, pieces.tolist()) == ("Q", 8, True, [3])
