"""Measure how many tokens a format needs for the same objects: JSON, laid out in several ways, and YAML."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bpe_cli.errors import InputError
from bpe_cli.reports.comparison.boundaries import Cutter

if TYPE_CHECKING:
    from bpe_cli.tokenizer import Tokenizer

LAYOUTS = ("json", "json_compact", "json_2_spaces", "json_4_spaces", "json_tabs", "yaml")
"""The ways an object is written: JSON as it is, without whitespace, indented; and YAML as it is."""

_LEXEME = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.ASCII)


@dataclass(frozen=True, slots=True)
class Pair:
    """The same object twice."""

    name: str
    json: bytes
    yaml: bytes


@dataclass(frozen=True, slots=True)
class DataResult:
    """What one tokenizer makes of the objects.

    Attributes:
        counts: For each object its tokens in each of ``LAYOUTS``.
        sums: Tokens of all objects in each of ``LAYOUTS``.
        lossless: Whether the tokens decode to the texts; where not, whitespace may cost nothing and be lost.
    """

    counts: tuple[tuple[int, ...], ...]
    sums: tuple[int, ...]
    lossless: bool = True

    @property
    def yaml_per_json(self) -> float | None:
        """Tokens of YAML per token of JSON as it is written: a ratio of sums."""
        return _yaml_per("json", self.sums)

    @property
    def yaml_per_compact(self) -> float | None:
        """Tokens of YAML per token of JSON without whitespace: a ratio of sums."""
        return _yaml_per("json_compact", self.sums)


@dataclass(frozen=True, slots=True)
class DataProbe:
    """Objects as JSON and as YAML.

    Attributes:
        byte_counts: Bytes of all of them in each of ``LAYOUTS``.
    """

    source: str
    names: tuple[str, ...]
    byte_counts: tuple[int, ...]
    results: tuple[DataResult, ...]

    @property
    def yaml_per_json(self) -> float | None:
        """Bytes of YAML per byte of JSON as it is written."""
        return _yaml_per("json", self.byte_counts)

    @property
    def yaml_per_compact(self) -> float | None:
        """Bytes of YAML per byte of JSON without whitespace."""
        return _yaml_per("json_compact", self.byte_counts)


def _yaml_per(layout: str, sums: Sequence[int]) -> float | None:
    other = sums[LAYOUTS.index(layout)]
    return sums[LAYOUTS.index("yaml")] / other if other else None


def pairs_of(files: dict[str, bytes], folder: str = "") -> list[Pair]:
    """Pair the files of a folder: ``a.json`` with ``a.yaml`` (or ``a.yml``); others are left alone.

    Raises:
        InputError: if a file is not UTF-8, or is not the JSON that it should be.

    >>> [pair.name for pair in pairs_of({"a.json": b"1", "a.yml": b"1", "b.json": b"2"})]
    ['a']
    """
    pairs = []
    for name in sorted(files):
        stem, dot, ending = name.rpartition(".")
        if dot and ending.lower() == "json":
            yaml = next((each for each in (f"{stem}.yaml", f"{stem}.yml") if each in files), None)
            if yaml is not None:
                _check_json(_text(files[name], os.path.join(folder, name)), os.path.join(folder, name))
                _text(files[yaml], os.path.join(folder, yaml))
                pairs.append(Pair(stem, files[name], files[yaml]))
    return pairs


def _text(data: bytes, name: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is not UTF-8 from byte {error.start:,} on") from error


def _check_json(text: str, name: str) -> None:
    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is no value")

    try:
        json.loads(text, parse_constant=refuse, parse_int=float)  # float: an integer may have any number of digits
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name} is not JSON: {error}") from error


def probe_data(
    tokenizers: Sequence[Tokenizer], pairs: Sequence[Pair], *, source: str = "pairs", threads: int = 1
) -> DataProbe:
    """Count the tokens of objects in several formats.

    That the two files of a pair say the same is the caller's word: YAML is counted, not read.
    """
    written = [_written(pair) for pair in pairs]
    texts = [text for each in written for text in each]
    results = []
    for tokenizer in tokenizers:
        cutter = Cutter(tokenizer, threads=threads)
        counts = cutter.count(texts)
        rows = tuple(tuple(counts[start : start + len(LAYOUTS)]) for start in range(0, len(counts), len(LAYOUTS)))
        results.append(DataResult(rows, _sums(rows), cutter.keeps(texts)))
    sizes = _sums([[len(text) for text in each] for each in written])
    return DataProbe(source, tuple(pair.name for pair in pairs), sizes, tuple(results))


def _sums(rows: Sequence[Sequence[int]]) -> tuple[int, ...]:
    return tuple(sum(row[number] for row in rows) for number in range(len(LAYOUTS)))


def _written(pair: Pair) -> list[bytes]:
    """Return an object in each of ``LAYOUTS``."""
    text = _text(pair.json, f"{pair.name}.json")
    _check_json(text, f"{pair.name}.json")
    laid_out = (lay_out(text, indent).encode() for indent in (None, "  ", "    ", "\t"))
    return [pair.json, *laid_out, pair.yaml]


def lay_out(text: str, indent: str | None) -> str:
    r"""Write JSON with other whitespace; every string and number stays as it was spelt.

    Args:
        text: JSON.
        indent: What a level is indented by; None for no whitespace at all.

    >>> lay_out('{"a": [1.10, {}]}', None)
    '{"a":[1.10,{}]}'
    >>> lay_out('{"a":[1.10,{}]}', "  ")
    '{\n  "a": [\n    1.10,\n    {}\n  ]\n}'
    """
    if indent is None:
        return "".join(_LEXEME.findall(text))
    return "".join(_indented(_LEXEME.findall(text), indent))


def _indented(lexemes: list[str], indent: str) -> Iterator[str]:
    level = 0
    before = ""
    for lexeme in lexemes:
        closes = lexeme in "}]"
        level -= closes
        opened = before in ("{", "[")
        if (opened and not closes) or (closes and not opened) or before == ",":
            yield "\n" + indent * level
        yield ": " if lexeme == ":" else lexeme
        level += lexeme in ("{", "[")
        before = lexeme
