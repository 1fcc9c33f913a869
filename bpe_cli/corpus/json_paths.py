"""Follow a field path, as ``a.b`` or ``a.0.b``, into a JSON value; say what is wrong with JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bpe_cli.corpus.rows import RowFault

if TYPE_CHECKING:
    from bpe_cli.support.safe_orjson import orjson


def select(value: Any, field: str, path: list[str]) -> str:
    """Follow a field path into a JSON value, to a string.

    Raises:
        RowFault: if it leads nowhere, or to something else.
    """
    value = follow(value, field, path)
    if not isinstance(value, str):
        raise RowFault("type", f"the field {field!r} is {_kind(value)}, not a string")
    return value


def follow(value: Any, field: str, path: list[str]) -> Any:
    """Follow a field path into a JSON value.

    Args:
        value: The value.
        field: The path, as it is spelt: a key of the value that is spelt so goes first.
        path: Its keys.

    Raises:
        RowFault: if it leads nowhere.
    """
    if isinstance(value, dict) and field in value:
        path = [field]
    for depth, key in enumerate(path):
        inside = f" in {'.'.join(path[:depth])!r}" if depth else ""
        if isinstance(value, dict):
            if key not in value:
                keys = ", ".join(map(repr, list(value)[:10])) + (", ..." if len(value) > 10 else "")
                raise RowFault(
                    "field",
                    f"there is no field {key!r}{inside}",
                    hint=f"`field` names it; the keys{inside} are {keys}" if value else "the object is empty",
                )
            value = value[key]
        elif isinstance(value, list) and key.isascii() and key.isdigit():
            number = key.lstrip("0") or "0"
            if len(number) > 20 or int(number) >= len(value):
                raise RowFault("field", f"there is no element {key}{inside}, a list of {len(value)}")
            value = value[int(number)]
        else:
            what = f"the field {'.'.join(path[:depth])!r}" if depth else "the line"
            raise RowFault("type", f"{what} is {_kind(value)}, which has no field {key!r}")
    return value


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, list) else "a string" if isinstance(value, str) else "a number"


def invalid_json(line: bytes, error: orjson.JSONDecodeError) -> RowFault:
    """Describe what is wrong with a line of JSON, and at which byte of it."""
    try:
        text = line.decode()
    except UnicodeDecodeError as bad:
        return RowFault("utf-8", f"invalid JSON: not UTF-8 ({bad.reason})", byte=bad.start)
    return RowFault("json", f"invalid JSON: {error.msg}", byte=len(text[: error.pos].encode()))
