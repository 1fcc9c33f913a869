"""Read a comparison that was stored as JSON, and put one that was just made into the same form.

The form is what two comparisons of different days have in common: names, what identifies texts and tokenizers, and
the values of metrics. It is documented with ``views.comparison.as_json``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bpe_cli.errors import InputError
from bpe_cli.reports.comparison.comparison import Comparison, Row
from bpe_cli.reports.comparison.metrics import METRICS

SCHEMA = "bpe.compare/2"
"""The schema that is written and read."""

_KINDS = {dict: "an object", list: "an array", str: "a string", int: "a whole number", float: "a number"}

_AGAIN = "make the report anew with bpe compare --json"

_LARGEST = 1 << 63


@dataclass(frozen=True, slots=True)
class StoredTokenizer:
    """A tokenizer of a stored comparison.

    Attributes:
        name: Its name there, different from all others.
        vocab_size: Its highest id plus one.
        fingerprint: Of its value; None where nobody took it.
    """

    name: str
    vocab_size: int
    fingerprint: str | None


@dataclass(frozen=True, slots=True)
class StoredRow:
    """An input of a stored comparison, or all of them together.

    Attributes:
        name: The input's name.
        document_count: Documents.
        byte_count: Bytes.
        sha256: Of the documents' bytes; None where nobody took it.
        values: Per tokenizer its metrics by name; None where there is no value.
    """

    name: str
    document_count: int
    byte_count: int
    sha256: str | None
    values: tuple[Mapping[str, float | None], ...]


@dataclass(frozen=True, slots=True)
class StoredComparison:
    """A comparison as it is stored.

    Attributes:
        tokenizers: In order; values stand in the same.
        rows: One per input.
        total: All inputs together.
        specials: Which special tokens were looked for: ``all``, or their texts.
    """

    tokenizers: tuple[StoredTokenizer, ...]
    rows: tuple[StoredRow, ...]
    total: StoredRow
    specials: str | tuple[str, ...]

    @classmethod
    def of(cls, report: Comparison) -> StoredComparison:
        """Return what of a comparison is stored."""
        fingerprints: Sequence[str | None] = report.fingerprints or (None,) * len(report.tokenizers)
        tokenizers = zip(report.tokenizers, report.vocab_sizes, fingerprints, strict=True)
        return cls(
            tuple(StoredTokenizer(*each) for each in tokenizers),
            tuple(_row_of(row) for row in report.rows),
            _row_of(report.total),
            report.settings.specials if report.settings else (),
        )

    @classmethod
    def parse(cls, data: bytes, name: str) -> StoredComparison:
        """Read what ``bpe compare --json`` printed.

        Args:
            data: The JSON text.
            name: What messages call it.

        Raises:
            InputError: if it is no such thing; the message names the field.
        """
        from bpe_cli.support.safe_orjson import orjson

        try:
            value = orjson.loads(data)
        except orjson.JSONDecodeError as error:
            raise InputError(f"{name} is not JSON: {error}", hint="give what bpe compare --json printed") from error
        return _Reader(name).report(value)


def finite(value: float | None) -> float | None:
    """Return a value that JSON can hold."""
    return value if value is not None and math.isfinite(value) else None


def _row_of(row: Row) -> StoredRow:
    values = tuple({name: finite(metric.of(each)) for name, metric in METRICS.items()} for each in row.measures)
    return StoredRow(row.name, row.document_count, row.byte_count, row.sha256, values)


class _Reader:
    """Take a stored report apart; whatever is not as it must be is an error that says where it stands."""

    def __init__(self, name: str) -> None:
        self._name = name

    def report(self, value: Any) -> StoredComparison:
        if not isinstance(value, dict) or not isinstance(value.get("schema"), str):
            raise InputError(
                f"{self._name} is not a report of bpe compare: it has no schema", hint="give what --json printed"
            )
        if value["schema"] != SCHEMA:
            old = value["schema"].startswith("bpe.compare/")
            raise InputError(
                f"{self._name} has the schema {value['schema'][:60]!r}, not {SCHEMA!r}",
                hint=_AGAIN if old else "give what bpe compare --json printed",
            )
        tokenizers = tuple(
            self._tokenizer(each, f"tokenizers[{number}]")
            for number, each in enumerate(self._take(value, "tokenizers", list, ""))
        )
        if not tokenizers:
            raise self._wrong("tokenizers", "is empty")
        if len({each.name for each in tokenizers}) < len(tokenizers):
            raise self._wrong("tokenizers", "has a name twice")
        count = len(tokenizers)
        rows = self._take(value, "inputs", list, "")
        return StoredComparison(
            tokenizers,
            tuple(self._row(each, f"inputs[{number}]", count) for number, each in enumerate(rows)),
            self._row(self._take(value, "total", dict, ""), "total", count),
            self._specials(self._take(value, "settings", dict, "")),
        )

    def _tokenizer(self, value: Any, place: str) -> StoredTokenizer:
        value = self._checked(value, dict, place)
        fingerprint = value.get("fingerprint")
        return StoredTokenizer(
            self._text(value, "name", place),
            self._count(value, "vocab_size", place),
            None if fingerprint is None else self._checked(fingerprint, str, f"{place}.fingerprint"),
        )

    def _row(self, value: Any, place: str, tokenizers: int) -> StoredRow:
        value = self._checked(value, dict, place)
        results = self._take(value, "results", list, place)
        if len(results) != tokenizers:
            raise self._wrong(f"{place}.results", f"has {len(results):,} entries for {tokenizers:,} tokenizers")
        sha256 = value.get("sha256")
        return StoredRow(
            self._text(value, "name", place),
            self._count(value, "document_count", place),
            self._count(value, "byte_count", place),
            None if sha256 is None else self._checked(sha256, str, f"{place}.sha256"),
            tuple(self._values(each, f"{place}.results[{number}]") for number, each in enumerate(results)),
        )

    def _values(self, value: Any, place: str) -> dict[str, float | None]:
        """Read the metrics that this version knows; others are of no use."""
        value = self._checked(value, dict, place)
        return {name: self._metric(value[name], f"{place}.{name}") for name in METRICS if name in value}

    def _metric(self, value: Any, place: str) -> float | None:
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self._wrong(place, f"is not a number but {value!r}"[:100])
        if not 0 <= value < _LARGEST:
            raise self._wrong(place, "is out of range")
        return value

    def _specials(self, settings: dict[str, Any]) -> str | tuple[str, ...]:
        value = settings.get("specials")
        if value == "all":
            return "all"
        place = "settings.specials"
        each = self._checked(value, list, place)
        return tuple(self._string(one, f"{place}[{number}]") for number, one in enumerate(each))

    def _take(self, value: dict[str, Any], field: str, kind: type, place: str) -> Any:
        where = f"{place}.{field}" if place else field
        if field not in value:
            raise self._wrong(where, "is missing")
        return self._checked(value[field], kind, where)

    def _checked(self, value: Any, kind: type, place: str) -> Any:
        if not isinstance(value, kind) or isinstance(value, bool):
            raise self._wrong(place, f"is not {_KINDS[kind]}")
        return value

    def _count(self, value: dict[str, Any], field: str, place: str) -> int:
        number: int = self._take(value, field, int, place)
        if not 0 <= number < _LARGEST:
            raise self._wrong(f"{place}.{field}", "is out of range")
        return number

    def _text(self, value: dict[str, Any], field: str, place: str) -> str:
        where = f"{place}.{field}"
        if field not in value:
            raise self._wrong(where, "is missing")
        return self._string(value[field], where)

    def _string(self, value: Any, where: str) -> str:
        """Read a text, or its bytes where it is not UTF-8."""
        if isinstance(value, dict) and set(value) == {"bytes"} and isinstance(value["bytes"], str):
            try:
                return bytes.fromhex(value["bytes"]).decode("utf-8", "surrogateescape")
            except ValueError:
                raise self._wrong(where, "has bytes that are not hexadecimal") from None
        text: str = self._checked(value, str, where)
        return text

    def _wrong(self, place: str, what: str) -> InputError:
        return InputError(f"{self._name}: {place} {what}", hint=_AGAIN)
