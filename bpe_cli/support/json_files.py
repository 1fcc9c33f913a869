"""Read and write JSON objects that lie in files: the same content is the same bytes."""

from __future__ import annotations

import os

from bpe_cli.errors import InputError, UsageError
from bpe_cli.support.fast_typing import TYPE_CHECKING
from bpe_cli.support.messages import cannot_read, show_path

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_LARGEST = 1 << 30


def dumped(content: dict[str, Any]) -> bytes:
    """Write JSON as it lies in a file: indented, the keys sorted.

    >>> dumped({"b": 1, "a": []})
    b'{\\n  "a": [],\\n  "b": 1\\n}\\n'

    Raises:
        UsageError: if JSON cannot hold it: a text that is not UTF-8, which arguments and names of files can be, or a
            number of more than 64 bits. The message names the text.
    """
    from bpe_cli.support.safe_orjson import dumps, orjson

    try:
        return dumps(content, orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE | orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError as error:
        odd = next((text for text in _texts(content) if any("\ud800" <= each <= "\udfff" for each in text)), None)
        if odd is None:
            raise UsageError(f"the options cannot be written as JSON: {error}") from error
        raise UsageError(f"{show_path(odd)} is not UTF-8, and JSON cannot hold it") from error


def _texts(value: object) -> Iterator[str]:
    """Yield all texts in a JSON value, the keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _texts(key)
            yield from _texts(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _texts(each)


def read_json(path: str) -> dict[str, Any] | None:
    """Read a file; None if there is none.

    Raises:
        InputError: if the file cannot be read, is larger than 1 GiB, or is not a JSON object.
    """
    try:
        with open(path, "rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            data = file.read(size) if size <= _LARGEST else b""
    except FileNotFoundError:
        return None
    except OSError as error:
        raise cannot_read(path, error) from error
    if size > _LARGEST:
        raise InputError(f"{show_path(path)} has {size:,} bytes, and at most {_LARGEST:,} are read")
    return json_in(data, path)


def json_in(data: bytes, path: str) -> dict[str, Any]:
    """Parse the contents of a file.

    Raises:
        InputError: if they are not a JSON object.
    """
    from bpe_cli.support.safe_orjson import orjson

    try:
        content = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise InputError(f"{show_path(path)} is damaged: {error}") from error
    if not isinstance(content, dict):
        raise InputError(f"{show_path(path)} is damaged: it is not a JSON object")
    return content
