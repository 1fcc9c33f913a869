"""Values of other fields that are kept beside the text of a row: each of the type that its field has.

The type is settled before anything is read. What a field of it cannot hold exactly is a fault of the row. A string
holds what is not one as its JSON.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, get_args

from bpe_cli.corpus.json_paths import follow
from bpe_cli.corpus.rows import KeptField, RowFault

TypeName = Literal["string", "int64", "double", "bool"]
"""The types that can be named, as Arrow calls them."""

TYPES: tuple[str, ...] = get_args(TypeName)


def exactly(kind: str, value: Any) -> bool | int | float | None:
    """Return a number or a truth value as one of a type that can be named; None if the type cannot hold it exactly.

    >>> exactly("int64", 3.0), exactly("int64", 3.5), exactly("double", 1 << 62), exactly("double", (1 << 53) + 1)
    (3, None, 4.611686018427388e+18, None)
    >>> exactly("bool", True), exactly("bool", 1), exactly("int64", True), exactly("int64", "3")
    (True, None, None, None)
    """
    if isinstance(value, bool) or kind == "bool":
        return value if isinstance(value, bool) and kind == "bool" else None
    if isinstance(value, float) and kind == "double":
        return value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int):
        return None
    if kind == "int64":
        return value if -(1 << 63) <= value < 1 << 63 else None
    return float(value) if abs(value) < 1 << 1023 and float(value) == value else None


def not_of_type(field: KeptField) -> RowFault:
    """Return the fault of a row whose value the type of a field cannot hold."""
    return RowFault("type", f"the field {field.name!r}, which is kept, is not of the type {field.type}")


# -- values of JSON -------------------------------------------------------------------------------------


def json_value(field: KeptField, value: Any, line: bytes) -> Any:
    """Return a value of a line of JSON as one of the type of a field; None for null.

    Raises:
        RowFault: if it is not of that type.
    """
    if value is None:
        return None
    if field.type == "string":
        return value if isinstance(value, str) else _text(value, field, line)
    if isinstance(value, float) and abs(value) >= 1 << 63 and value.is_integer():
        try:
            value = _exact(field, line)  # orjson reads an integer that is longer than 64 bits as a float
        except (RecursionError, ValueError) as error:
            raise not_of_type(field) from error
    held = exactly(field.type, value)
    if held is None:
        raise not_of_type(field)
    return held


def _text(value: Any, field: KeptField, line: bytes) -> str:
    """Return the JSON of a value; what may hold a number that was rounded is read again."""
    from bpe_cli.support.safe_orjson import orjson

    if isinstance(value, (int, float)) and abs(value) < 1 << 53:
        return orjson.dumps(value).decode()
    import json

    try:
        return json.dumps(_exact(field, line), ensure_ascii=False, separators=(",", ":"))
    except (RecursionError, ValueError) as error:
        raise RowFault("type", f"the field {field.name!r}, which is kept, cannot be written as JSON") from error


def _exact(field: KeptField, line: bytes) -> Any:
    """Read the value of a field again, without rounding integers."""
    import json

    return follow(json.loads(line), field.name, field.name.split("."))


def kept_of(value: Any, keep: Sequence[KeptField], line: bytes) -> list[Any]:
    """Return the values of the fields that are kept of a line of JSON; None for those that it lacks.

    Raises:
        RowFault: if a value is not of the type of its field.
    """
    values = []
    for field in keep:
        try:
            found = follow(value, field.name, field.name.split("."))
        except RowFault:
            found = None
        values.append(json_value(field, found, line))
    return values


# -- values of text, as CSV has them -----------------------------------------------------------------------------------

_BOOLS = {"true": True, "false": False}
_INTEGER = re.compile(r"([+-]?)0*([0-9]{1,400})", re.ASCII)  # no double is longer
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)


def _number(text: str) -> int | float | None:
    if integer := _INTEGER.fullmatch(text):
        return int(integer[1] + integer[2])
    value = float(text) if _NUMBER.fullmatch(text) else float("inf")
    return None if value in (float("inf"), float("-inf")) else value


def parsed(kind: str, text: str) -> bool | int | float | None:
    """Return the number or truth value that a text stands for, as ``exactly`` does.

    >>> parsed("int64", "+3"), parsed("int64", "0x3"), parsed("bool", "True"), parsed("bool", "1")
    (3, None, True, None)
    """
    return _BOOLS.get(text.lower()) if kind == "bool" else exactly(kind, _number(text))


def csv_value(field: KeptField, data: bytes) -> Any:
    """Return a field of a CSV file as a value of its type; None for an empty one that is not a string.

    Raises:
        RowFault: if it is not of that type.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise RowFault("utf-8", f"the field {field.name!r}, which is kept, is not UTF-8 ({error.reason})") from error
    if field.type == "string" or field.schema is not None:
        return text
    if not text:
        return None
    value = parsed(field.type, text)
    if value is None:
        raise not_of_type(field)
    return value
