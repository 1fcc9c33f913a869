"""Take a field of each line of a JSONL file as a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from bpe_cli.corpus.documents import Packer
from bpe_cli.errors import InputError
from bpe_cli.support.blocks import Block
from bpe_cli.support.safe_orjson import orjson

_BOM = b"\xef\xbb\xbf"
_SPACE = b" \t\r\n"


def pack_jsonl(chunks: Iterable[bytes], packer: Packer, name: str, field: str) -> Iterator[Block]:
    """Make a document of a field of each line; blank lines are skipped.

    Args:
        chunks: The bytes of the file.
        packer: Where the documents go.
        name: What messages call the file.
        field: The key, or a path as ``a.b`` or ``a.0.b`` (a number is a place in a list). A key of the
            object that is spelt so, with its dots, goes first.

    Raises:
        InputError: if a line is not JSON, or has no such field, or that is not a string; the message
            says where, as name:line or name:line:byte, counted from 1.
    """
    path = field.split(".")
    number = 0
    for lines in _lines(chunks):
        texts: list[bytes] = []
        for line in lines:
            number += 1
            if number == 1 and line.startswith(_BOM):
                line = line[len(_BOM) :]
            if not line.strip(_SPACE):
                continue
            try:
                value = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                raise _invalid(line, error, f"{name}:{number}") from error
            text = value.get(field) if isinstance(value, dict) else None
            if not isinstance(text, str):
                text = _select(value, field, path, f"{name}:{number}")
            texts.append(text.encode())
        if sum(map(len, texts)) <= packer.block_bytes:
            yield from packer.add((*texts, b""))
        else:
            for text in texts:
                yield from packer.document(text)


def _lines(chunks: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Yield the lines that each chunk completes; the last one counts without a line end."""
    held: list[bytes] = []
    for chunk in chunks:
        if b"\n" not in chunk:
            held.append(chunk)
            continue
        first, *lines = chunk.split(b"\n")
        held.append(first)
        lines.insert(0, b"".join(held))
        held = [lines.pop()]
        yield lines
    yield [b"".join(held)]


def _select(value: Any, field: str, path: list[str], where: str) -> str:
    """Follow a field path into a JSON value.

    Raises:
        InputError: if there is no such field, or it is not a string.
    """
    if isinstance(value, dict) and field in value:
        path = [field]
    for depth, key in enumerate(path):
        inside = f" in {'.'.join(path[:depth])!r}" if depth else ""
        if isinstance(value, dict):
            if key not in value:
                keys = ", ".join(map(repr, list(value)[:10])) + (", ..." if len(value) > 10 else "")
                raise InputError(
                    f"{where}: there is no field {key!r}{inside}",
                    hint=f"`field` names it; the keys{inside} are {keys}" if value else "the object is empty",
                )
            value = value[key]
        elif isinstance(value, list) and key.isascii() and key.isdigit():
            number = key.lstrip("0") or "0"
            if len(number) > 20 or int(number) >= len(value):
                raise InputError(f"{where}: there is no element {key}{inside}, a list of {len(value)}")
            value = value[int(number)]
        else:
            what = f"the field {'.'.join(path[:depth])!r}" if depth else "the line"
            raise InputError(f"{where}: {what} is {_kind(value)}, which has no field {key!r}")
    if not isinstance(value, str):
        raise InputError(f"{where}: the field {field!r} is {_kind(value)}, not a string")
    return str(value)


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, list) else "a string" if isinstance(value, str) else "a number"


def _invalid(line: bytes, error: orjson.JSONDecodeError, where: str) -> InputError:
    """Describe what is wrong with a line of JSON, and at which byte of it (from 1)."""
    try:
        text = line.decode()
    except UnicodeDecodeError as bad:
        return InputError(f"{where}:{bad.start + 1}: invalid JSON: not UTF-8 ({bad.reason})")
    return InputError(f"{where}:{len(text[: error.pos].encode()) + 1}: invalid JSON: {error.msg}")
