"""Compile chat templates with Jinja so that strings stay traced and every repetition is metered.

Changed is what is written for literals, for ``~``, for lists and the like, and for loops; and there are no
other templates that one could include. The code calls the methods of ``sandbox.Sandbox``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from jinja2 import Environment, nodes
from jinja2.compiler import CodeGenerator, Frame, operators
from jinja2.ext import Extension
from jinja2.parser import Parser

GENERATION = "(generation)"
"""What a block of generation is filtered with; no template can name it."""


class Generation(Extension):
    """Accept ``{% generation %}``, which marks what a model is trained on and changes no text."""

    tags = {"generation"}  # noqa: RUF012  # as Jinja has it

    def parse(self, parser: Parser) -> nodes.Node:
        """Parse the block."""
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        if isinstance(self.environment, LiteralKeeper):
            self.environment.marks_generation = True
        return nodes.FilterBlock(body, nodes.Filter(None, GENERATION, [], [], None, None, lineno=line), lineno=line)


class LiteralKeeper(Environment, ABC):
    """An environment that keeps the literals of a template, traced.

    Attributes:
        marks_generation: Whether the template says what the model generates.
    """

    marks_generation: bool

    @abstractmethod
    def literal(self, text: str) -> str:
        """Keep a literal, and return the code for it."""


class Tracing(CodeGenerator):
    """Generate code in which literals are traced, and loops and concatenations are metered."""

    environment: LiteralKeeper

    def visit_Const(self, node: nodes.Const, frame: Frame) -> None:  # noqa: N802  # Jinja's names, here and below
        """Write a literal."""
        if isinstance(node.value, str):
            self.write(self.environment.literal(node.value))
        else:
            super().visit_Const(node, frame)

    def visit_TemplateData(self, node: nodes.TemplateData, frame: Frame) -> None:  # noqa: N802
        """Write text between tags."""
        self.write(self.environment.literal(node.data))

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:  # noqa: N802
        """Write ``a ~ b``."""
        self._wrapped("environment.concatenated((", node.nodes, frame, "))")

    def visit_List(self, node: nodes.List, frame: Frame) -> None:  # noqa: N802
        """Write a list."""
        self._wrapped("environment.made([", node.items, frame, "])")

    def visit_Tuple(self, node: nodes.Tuple, frame: Frame) -> None:  # noqa: N802
        """Write a tuple, unless it is the target of an assignment."""
        if node.ctx == "store":
            super().visit_Tuple(node, frame)
        else:
            self._wrapped("environment.made((", node.items, frame, "))")

    def visit_Dict(self, node: nodes.Dict, frame: Frame) -> None:  # noqa: N802
        """Write a dictionary."""
        self.write("environment.made(")
        super().visit_Dict(node, frame)
        self.write(")")

    def _wrapped(self, opening: str, items: Iterable[nodes.Node], frame: Frame, closing: str) -> None:
        self.write(opening)
        for item in items:
            self.visit(item, frame)
            self.write(", ")
        self.write(closing)

    def visit_For(self, node: nodes.For, frame: Frame) -> None:  # noqa: N802
        """Write a loop."""
        if node.recursive:
            self.fail("chat templates have no recursive loops", node.lineno)
        node.iter = _call("metered", node.iter, _steps(node))
        super().visit_For(node, frame)

    def visit_Macro(self, node: nodes.Macro, frame: Frame) -> None:  # noqa: N802
        """Write a macro, which accounts for its body."""
        node.body.insert(0, nodes.ExprStmt(_call("accounted", _steps(node)), lineno=node.lineno))
        super().visit_Macro(node, frame)

    def visit_CallBlock(self, node: nodes.CallBlock, frame: Frame) -> None:  # noqa: N802
        """Write a block that a macro calls."""
        node.body.insert(0, nodes.ExprStmt(_call("accounted", _steps(node)), lineno=node.lineno))
        super().visit_CallBlock(node, frame)

    def visit_Compare(self, node: nodes.Compare, frame: Frame) -> None:  # noqa: N802
        """Write a comparison; the longer its sides, the longer it takes."""
        self.write("(")
        self._wrapped("environment.weighed(", [node.expr], frame, ")")
        for operand in node.ops:
            self._wrapped(f" {operators[operand.op]} environment.weighed(", [operand.expr], frame, ")")
        self.write(")")

    def visit_Getitem(self, node: nodes.Getitem, frame: Frame) -> None:  # noqa: N802
        """Write ``a[b]``; a slice costs the length of its copy."""
        if isinstance(node.arg, nodes.Slice):
            self._wrapped("environment.sliced(", [node.node], frame, ")[")
            self.visit(node.arg, frame)
            self.write("]")
        else:
            super().visit_Getitem(node, frame)

    def _other_file(self, node: nodes.Node, frame: Frame) -> None:
        self.fail("a chat template has no other templates beside it", node.lineno)

    visit_Extends = visit_Include = visit_Import = visit_FromImport = _other_file  # noqa: N815

    def _output_const_repr(self, group: Iterable[Any]) -> str:
        return self.environment.literal("".join(group))

    def _output_child_to_const(self, node: nodes.Expr, frame: Frame, finalize: Any) -> str:
        if isinstance(node, nodes.TemplateData):
            return node.data
        raise nodes.Impossible

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        self.write("environment.written(")


def _steps(node: nodes.Node) -> nodes.Const:
    """Return how many steps a round of a loop or a call of a macro costs, by the size of its body."""
    return nodes.Const(1 + sum(1 for _ in node.find_all(nodes.Node)) // 4, lineno=node.lineno)


def _call(name: str, *arguments: nodes.Node) -> nodes.Call:
    """Return a call of the sandbox's; a template has no way to write this node, so none calls it by itself."""
    line = arguments[0].lineno
    return nodes.Call(nodes.EnvironmentAttribute(name, lineno=line), [*arguments], [], None, None, lineno=line)
