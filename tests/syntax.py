"""Read sources as syntax trees: each is parsed once, and what laws ask of them takes less than ``ast`` does."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path


@cache
def tree_of(path: Path) -> ast.Module:
    """Return the tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


@cache
def nodes_of(tree: ast.Module) -> list[ast.AST]:
    """Return all nodes of a tree, in the order of ``ast.walk``.

    >>> tree = tree_of(Path(__file__))
    >>> nodes_of(tree) == [*ast.walk(tree)]
    True
    """
    found: list[ast.AST] = [tree]
    for node in found:  # which get more meanwhile
        for value in vars(node).values():
            if isinstance(value, list):
                found += [each for each in value if isinstance(each, ast.AST)]
            elif isinstance(value, ast.AST):
                found.append(value)
    return found


def written(node: ast.expr) -> str:
    """Return an expression as ``ast.unparse`` writes it, which takes long for the names with dots that most are.

    >>> [written(ast.parse(text, mode="eval").body) for text in ("a", "a.b.c", "a().b", "'a'.b")]
    ['a', 'a.b.c', 'a().b', "'a'.b"]
    """
    names = []
    inner = node
    while isinstance(inner, ast.Attribute):
        names.append(inner.attr)
        inner = inner.value
    return ".".join((inner.id, *reversed(names))) if isinstance(inner, ast.Name) else ast.unparse(node)
