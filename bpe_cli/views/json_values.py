r"""Write what a report holds as plain JSON values: one walk over its dataclasses.

A dataclass is an object of its fields in their order, unless a table of shapes says how they are called, which of them
there are, and what is derived. A text from outside (a token, a name, a grapheme cluster) is a string when it is UTF-8,
else an object ``{"bytes": "e8b0"}`` with its bytes in hexadecimal. Strings are not made harmless for terminals: write
them with ``ensure_ascii``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from math import isfinite
from operator import attrgetter
from typing import Any


class Shape:
    """State which keys the object of a dataclass has, in order, and what their values are."""

    def __init__(self, keys: str, **derived: Callable[[Any], Any]) -> None:
        """Read the keys.

        Args:
            keys: Words: ``key`` for the field or property of that name, ``key=name`` for one of another name,
                ``key=name.name`` for one of a field's value, ``key=start,end`` for a list of several.
            derived: Functions of the whole for keys that are among the words.
        """
        self.columns: list[tuple[str, Callable[[Any], Any]]] = []
        for word in keys.split():
            key, _, names = word.partition("=")
            self.columns.append((key, derived.get(key) or attrgetter(*(names or key).split(","))))


_AS_IT_IS = (int, bool, type(None))


class JsonWalker:
    r"""Walk over reports.

    Shapes are found by the names of a class and of the module that it is in: nothing is imported that was not measured.

    >>> from bpe_cli.reports.tokenizer.contents import NamedToken
    >>> JsonWalker({})([NamedToken(7, b"a"), 0.5, None])
    [{'token_id': 7, 'content': 'a'}, 0.5, None]
    >>> shapes = {"contents.NamedToken": Shape("id=token_id text=content both=token_id,content")}
    >>> JsonWalker(shapes)(NamedToken(7, b"\xe8"))
    {'id': 7, 'text': {'bytes': 'e8'}, 'both': [7, {'bytes': 'e8'}]}
    """

    def __init__(self, shapes: Mapping[str, Shape], endless: Callable[[float], str | None] | None = None) -> None:
        """Walk by a table of shapes; ``endless`` writes a number that JSON has not, which is null otherwise."""
        self._shapes = shapes
        self._endless = endless
        self._known: dict[type, Shape | None] = {}

    def __call__(self, value: Any) -> Any:
        """Write a value of a report."""
        kind = type(value)
        if kind in _AS_IT_IS:
            return value
        if isinstance(value, str):
            return name_value(value)
        if isinstance(value, float):
            return value if isfinite(value) else self._endless and self._endless(value)
        if isinstance(value, bytes):
            return text_value(value)
        if isinstance(value, dict):
            return {key: self(each) for key, each in value.items()}
        if kind not in self._known:
            self._known[kind] = self._shape_of(kind)
        shape = self._known[kind]
        if shape is None:
            return [self(each) for each in value]
        found = ((key, column(value)) for key, column in shape.columns)
        return {key: each if type(each) in _AS_IT_IS else self(each) for key, each in found}

    def _shape_of(self, kind: type) -> Shape | None:
        """Return how a class is written; None for a sequence."""
        shape = self._shapes.get(f"{kind.__module__.rpartition('.')[2]}.{kind.__name__}")
        if shape is None and is_dataclass(kind):
            return Shape(" ".join(each.name for each in fields(kind)))
        return shape


def text_value(content: bytes) -> str | dict[str, str]:
    r"""Return bytes as a string, or as an object when they are not UTF-8.

    >>> text_value("谁".encode()), text_value(b"\xe8\xb0")
    ('谁', {'bytes': 'e8b0'})
    """
    try:
        return content.decode()
    except UnicodeDecodeError:
        return {"bytes": content.hex()}


def name_value(name: str) -> str | dict[str, str]:
    """Return a name, which may hold bytes that are not UTF-8 as lone surrogates."""
    return name if name.isascii() else text_value(name.encode("utf-8", "surrogateescape"))


def json_text(value: dict[str, Any]) -> str:
    """Write one JSON object, in ASCII: no control or bidirectional character reaches a terminal."""
    import json

    return json.dumps(value, indent=2, ensure_ascii=True) + "\n"


def one_or_several(values: Sequence[dict[str, Any]], origins: Sequence[tuple[str, int]], schema: str) -> dict[str, Any]:
    """Write one text's value as it is, and those of several as one object with a list ``texts`` of them.

    Each of several says besides which ``input`` it is of, and its number there (``document``, from 1).

    >>> one_or_several([{"a": 1}, {"a": 2}], [("x", 1), ("x", 2)], "s/1")["texts"][1]
    {'input': 'x', 'document': 2, 'a': 2}
    """
    if len(values) == 1:
        return values[0]
    named = zip(origins, values, strict=True)
    texts = [{"input": name_value(name), "document": number, **value} for (name, number), value in named]
    return {"schema": schema, "texts": texts}
