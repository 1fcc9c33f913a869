"""Read parallel texts: the same lines in several languages, in one file or a file for each."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Sequence
from typing import TYPE_CHECKING, BinaryIO

from bpe_cli.corpus.kinds import JSONL, MAGIC_ENOUGH, kind_of_head, kind_of_name, may_be_json_lines
from bpe_cli.corpus.opening import SNIFF_BYTES, open_stream
from bpe_cli.errors import InputError, UsageError
from bpe_cli.support.messages import show_path

if TYPE_CHECKING:
    from typing import Any

LARGEST = 256 << 20
"""Bytes that one file may have: it is held whole."""

_LONGEST_NAME = 64
"""Characters of a language's name at most."""

_MOST_LANGUAGES = 2000
"""FLORES+ has 228."""

_NAMED = re.compile(r"([\w-]{1,32})=(.+)", re.ASCII | re.DOTALL)
_HINT = 'as in {"en": "Good morning.", "de": "Guten Morgen."} on each line, or a line of names with tabs between'


def read_parallel(paths: Sequence[str], stdin: BinaryIO, *, plain: bool = False) -> dict[str, list[bytes]]:
    """Read parallel texts.

    Args:
        paths: One file of JSON lines (a language per key; ``id`` is none) or of values between tabs (the first line
            names the languages); or ``LANGUAGE=FILE`` for each language, line by line the same.
        stdin: The stream that ``-`` stands for.
        plain: Whether each ``FILE`` of a language is text, whatever it holds.

    Returns:
        The lines of each language, as many in each.

    Raises:
        UsageError: if the two ways are mixed, or a language comes twice.
        InputError: if a file cannot be read or is not text, a line lacks a language, or files have different numbers of
            lines.
    """
    named = [_NAMED.fullmatch(path) for path in paths]
    if all(named):
        texts: dict[str, list[bytes]] = {}
        for match in named:
            if match is None or match[1] in texts:
                raise UsageError(f"the language {match and match[1]} is given twice")
            texts[match[1]] = _lines(_text(match[2], stdin, plain))
        _check_counts(texts, {match[1]: match[2] for match in named if match})
        return texts
    if len(paths) > 1:
        raise UsageError(
            "parallel texts are one file, or LANGUAGE=FILE for each language",
            hint="for example: `parallel=en=english.txt` `parallel=de=german.txt`",
        )
    data = _contents(paths[0], stdin)
    return parse_parallel(data, show_path(paths[0]))


def parse_parallel(data: bytes, name: str) -> dict[str, list[bytes]]:
    r"""Read one file of parallel texts, of JSON lines or of values between tabs.

    >>> parse_parallel(b'{"id": 1, "en": "a", "de": "b"}\n', "x")
    {'en': [b'a'], 'de': [b'b']}
    >>> parse_parallel(b"en\tde\na\tb\n", "x")
    {'en': [b'a'], 'de': [b'b']}

    Raises:
        InputError: if the file is neither, a line lacks a language, or there are no lines.
    """
    lines = _lines(data.removeprefix(BOM_UTF8))
    if not lines:
        raise InputError(f"{name} is empty", hint=_HINT)
    texts = _json_lines(lines, name) if lines[0].lstrip().startswith(b"{") else _tabs(lines, name)
    if not any(texts.values()):
        raise InputError(f"{name} has no lines of text", hint=_HINT)
    return texts


def _json_lines(lines: list[bytes], name: str) -> dict[str, list[bytes]]:
    texts: dict[str, list[bytes]] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{name}:{number}"
        row = _object(line, where)
        sentences = {key: value for key, value in row.items() if key != "id" and isinstance(value, str)}
        if not texts:
            _check_languages(list(sentences), where)
            texts = {key: [] for key in sentences}
        for key in texts or row:  # without a text yet, any may have been meant for one
            if key != "id" and key in row and key not in sentences:
                raise InputError(f"{where}: the value of {key[:_LONGEST_NAME]} is not text", hint=_HINT)
        if sentences.keys() != texts.keys():
            odd = ", ".join(key[:_LONGEST_NAME] for key in sorted(sentences.keys() ^ texts.keys())[:10])
            raise InputError(f"{name}:{number} does not have the languages of the first line: {odd}", hint=_HINT)
        for key, value in sentences.items():
            texts[key].append(value.encode("utf-8", "replace"))  # a lone surrogate is not text
    return texts


def _check_languages(names: Sequence[str], where: str) -> None:
    """Make sure that names can be those of languages: a file of something else has long lines."""
    if len(names) > _MOST_LANGUAGES:
        raise InputError(f"{where} has {len(names):,} languages, more than {_MOST_LANGUAGES:,}", hint=_HINT)
    long = next((name for name in names if len(name) > _LONGEST_NAME), None)
    if long is not None:
        raise InputError(
            f"{where}: {long[:20]!r}... is not a name of a language: it has {len(long):,} characters", hint=_HINT
        )


def _object(line: bytes, where: str) -> dict[str, Any]:
    """Read a JSON object, in which no key appears twice: one of the values would be lost."""
    import json

    from bpe_cli.support.safe_orjson import orjson

    def unique(items: list[tuple[str, Any]]) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for key, value in items:
            if key in members:
                raise InputError(f"{where} has the key {key[:_LONGEST_NAME]} twice", hint=_HINT)
            members[key] = value
        return members

    try:
        row = orjson.loads(line)
        json.loads(line, object_pairs_hook=unique, parse_int=float)
    except RecursionError as error:
        raise InputError(f"{where} is nested too deeply", hint=_HINT) from error
    except ValueError as error:
        raise InputError(f"{where} is not JSON: {error}", hint=_HINT) from error
    if not isinstance(row, dict):
        raise InputError(f"{where} is not a JSON object", hint=_HINT)
    return row


def _tabs(lines: list[bytes], name: str) -> dict[str, list[bytes]]:
    header = [cell.decode("utf-8", "backslashreplace").strip() for cell in lines[0].split(b"\t")]
    if len(header) < 2 or not all(header) or len(set(header)) < len(header):
        raise InputError(f"{name}:1 does not name the languages", hint=_HINT)
    _check_languages(header, f"{name}:1")
    columns: list[list[bytes]] = [[] for _ in header]
    for number, line in enumerate(lines[1:], 2):
        cells = line.split(b"\t")
        if len(cells) != len(header):
            raise InputError(f"{name}:{number} has {len(cells)} values for {len(header)} languages", hint=_HINT)
        for column, cell in zip(columns, cells, strict=True):
            column.append(cell)
    return {key: column for key, column in zip(header, columns, strict=True) if key != "id"}


def _text(path: str, stdin: BinaryIO, plain: bool) -> bytes:
    """Read a file that holds the lines of one language, without a byte order mark unless it is to be ``plain``."""
    data = _contents(path, stdin)
    kind = None if plain else kind_of_head(data[:MAGIC_ENOUGH]) or kind_of_name(path)
    if kind is None and not plain and may_be_json_lines(data[:SNIFF_BYTES]):
        from bpe_cli.corpus.jsonl import are_json_lines

        kind = JSONL if are_json_lines(data) else None
    if kind is not None:
        way_out = "a file with all languages stands alone: `parallel=FILE`" if kind == JSONL else kind.advice
        plainly = "`plain` takes its lines as they are"
        hint = f"{way_out}; {plainly}" if way_out else plainly
        raise InputError(f"{show_path(path)} holds {kind.title}, not the lines of a text", hint=hint)
    return data if plain else data.removeprefix(BOM_UTF8)


def _contents(path: str, stdin: BinaryIO) -> bytes:
    with open_stream(path, stdin=stdin) as stream:
        data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise InputError(f"{show_path(path)} has more than {LARGEST:,} bytes", hint="a part of it will do")
    return data


def _lines(data: bytes) -> list[bytes]:
    """Cut at line feeds; a carriage return before one belongs to the line's end."""
    lines = [line.removesuffix(b"\r") for line in data.split(b"\n")]
    if lines and not lines[-1]:
        lines.pop()
    return lines


def _check_counts(texts: dict[str, list[bytes]], paths: dict[str, str]) -> None:
    counts = {language: len(lines) for language, lines in texts.items()}
    fewest = min(counts, key=counts.__getitem__)
    most = max(counts, key=counts.__getitem__)
    if counts[fewest] != counts[most]:
        raise InputError(
            f"{show_path(paths[fewest])} has {counts[fewest]:,} lines and {show_path(paths[most])} has "
            f"{counts[most]:,}: line {counts[fewest] + 1:,} of {most} has no counterpart in {fewest}",
            hint="the files must say the same thing, line by line",
        )
    if not counts[fewest]:
        raise InputError(f"{show_path(paths[fewest])} has no lines")
