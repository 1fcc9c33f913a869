"""Values of other fields that are kept beside the text of a row: each of the type that its field has.

The type is settled before anything is read. What a field of it cannot hold exactly is a fault of the row. A string
holds what is not one as its JSON.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args

from bpe_cli.corpus.json_paths import follow
from bpe_cli.corpus.rows import KeptField, RowFault

TypeName = Literal["string", "int64", "double", "bool"]
"""The types that can be named, as Arrow calls them."""

TYPES: tuple[str, ...] = get_args(TypeName)


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
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if field.type == "bool" and isinstance(value, bool):
        return value
    if field.type == "int64" and isinstance(value, int) and is_number and -(1 << 63) <= value < 1 << 63:
        return value
    if field.type == "double" and is_number and float(value) == value:
        return float(value)
    raise RowFault("type", f"the field {field.name!r}, which is kept, is not of the type {field.type}")


def _text(value: Any, field: KeptField, line: bytes) -> str:
    """Return the JSON of a value; what may hold a number that was rounded is read again."""
    from bpe_cli.support.safe_orjson import orjson

    if isinstance(value, (int, float)) and abs(value) < 1 << 53:
        return orjson.dumps(value).decode()
    import json

    try:
        exact = follow(json.loads(line), field.name, field.name.split("."))
        return json.dumps(exact, ensure_ascii=False, separators=(",", ":"))
    except (RecursionError, ValueError) as error:
        raise RowFault("type", f"the field {field.name!r}, which is kept, cannot be written as JSON") from error


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


# -- values of CSV --------------------------------------------------------------------------------------

_INTEGER = re.compile(r"[+-]?[0-9]{1,19}", re.ASCII)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)


def _integer(text: str) -> int | None:
    value = int(text) if _INTEGER.fullmatch(text) else 1 << 63
    return value if -(1 << 63) <= value < 1 << 63 else None


def _double(text: str) -> float | None:
    value = float(text) if _NUMBER.fullmatch(text) else float("inf")
    return None if value in (float("inf"), float("-inf")) else value


_READ: Mapping[str, Callable[[str], Any]] = {
    "int64": _integer,
    "double": _double,
    "bool": lambda text: {"true": True, "false": False}.get(text.lower()),
}


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
    value = _READ[field.type](text) if text else None
    if value is None and text:
        raise RowFault("type", f"the field {field.name!r}, which is kept, is not of the type {field.type}")
    return value
