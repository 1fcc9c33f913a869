"""What is kept of a value does not depend on the kind of file that it stands in: JSON lines, CSV, Parquet or Arrow."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from bpe_cli.corpus.kept import csv_value, kept_of
from bpe_cli.corpus.rows import KeptField, RowFault
from tests.needs import needs

BROKEN = "broken"

VALUES: list[tuple[Any, Any, Any, Any]] = [  # what is written; what is kept of it as int64, double, bool
    (None, None, None, None),
    (True, BROKEN, BROKEN, True),
    (False, BROKEN, BROKEN, False),
    (0, 0, 0.0, BROKEN),
    (1, 1, 1.0, BROKEN),
    (-7, -7, -7.0, BROKEN),
    (7.0, 7, 7.0, BROKEN),
    (0.1, BROKEN, 0.1, BROKEN),
    (1e300, BROKEN, 1e300, BROKEN),
    (-1e18, -(10**18), -1e18, BROKEN),
    (1 << 53, 1 << 53, float(1 << 53), BROKEN),
    ((1 << 53) + 1, (1 << 53) + 1, BROKEN, BROKEN),
    (1 << 62, 1 << 62, float(1 << 62), BROKEN),
    ((1 << 63) - 1, (1 << 63) - 1, BROKEN, BROKEN),
    (-(1 << 63), -(1 << 63), -float(1 << 63), BROKEN),
    (1 << 63, BROKEN, float(1 << 63), BROKEN),
    ((1 << 64) - 1, BROKEN, BROKEN, BROKEN),
    (1 << 64, BROKEN, float(1 << 64), BROKEN),
    ((1 << 64) + 1, BROKEN, BROKEN, BROKEN),
    (-(1 << 63) - 1, BROKEN, BROKEN, BROKEN),
    (10**400, BROKEN, BROKEN, BROKEN),
    (10**500, BROKEN, BROKEN, BROKEN),
]
TYPES = "int64", "double", "bool"
CASES = [(kind, row[0], row[1 + at]) for row in VALUES for at, kind in enumerate(TYPES)]


def same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and one == other


@pytest.mark.parametrize(("kind", "value", "expected"), CASES)
def test_values_of_json(kind: str, value: Any, expected: Any) -> None:
    from bpe_cli.support.safe_orjson import orjson

    line = json.dumps({"v": value}).encode()
    try:
        (kept,) = kept_of(orjson.loads(line), [KeptField("v", kind)], line)
    except (RowFault, orjson.JSONDecodeError):  # the reader takes no number with so many digits
        kept = BROKEN
    assert same(kept, expected)


@pytest.mark.parametrize(("kind", "value", "expected"), CASES)
def test_values_of_csv(kind: str, value: Any, expected: Any) -> None:
    text = "" if value is None else json.dumps(value)
    try:
        kept = csv_value(KeptField("v", kind), text.encode())
    except RowFault:
        kept = BROKEN
    assert same(kept, expected)


def in_arrow(value: Any) -> list[tuple[Any, Any]]:
    """Return a value as all types of Arrow have it that hold it."""
    arrow = needs("pyarrow")
    kinds = [arrow.bool_()] if isinstance(value, bool) else []
    if value is None:
        kinds = [arrow.null(), arrow.bool_(), arrow.int8(), arrow.float32(), arrow.string()]
    elif isinstance(value, float):
        kinds = [each for each in (arrow.float16(), arrow.float32()) if arrow.scalar(value, each).as_py() == value]
        kinds.append(arrow.float64())
    elif type(value) is int:
        names = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
        kinds = [getattr(arrow, name)() for name in names if fits(value, name)]
    found = [(arrow.array([value], kind), kind) for kind in kinds]
    if type(value) is int and abs(value) < 10**36:
        found.append((arrow.array([Decimal(value)], arrow.decimal128(38, 1)), "decimal"))
    return found


def fits(value: int, name: str) -> bool:
    bits = int(name.partition("int")[2])
    return 0 <= value < 1 << bits if name.startswith("u") else -(1 << bits - 1) <= value < 1 << bits - 1


@pytest.mark.parametrize(("kind", "value", "expected"), CASES)
def test_values_of_tables(kind: str, value: Any, expected: Any) -> None:
    arrow = needs("pyarrow")
    from bpe_cli.corpus.kept_columns import kept_column

    field = KeptField("v", kind)
    for array, what in in_arrow(value):
        for each in (array, array if what in ("decimal", arrow.null()) else array.dictionary_encode()):
            faults: dict[int, RowFault] = {}
            (kept,) = kept_column(each, field.arrow_type(arrow), field, faults, "x.parquet", arrow=arrow).to_pylist()
            assert same(BROKEN if faults else kept, expected), what


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize(
    "text", ["3", "+3", "0x3", "1_0", " 3", "3.0", "1.5", "1e400", "inf", "nan", "true", "False", "1"]
)
def test_texts_of_tables_are_those_of_csv(text: str, kind: str) -> None:
    arrow = needs("pyarrow")
    from bpe_cli.corpus.kept_columns import kept_column

    field = KeptField("v", kind)
    try:
        expected = csv_value(field, text.encode())
    except RowFault:
        expected = BROKEN
    with pytest.raises(RowFault):  # JSON has numbers of its own
        kept_of({"v": text}, [field], json.dumps({"v": text}).encode())
    for values in (arrow.array([text]), arrow.array([text.encode()]), arrow.array([text]).dictionary_encode()):
        faults: dict[int, RowFault] = {}
        (kept,) = kept_column(values, field.arrow_type(arrow), field, faults, "x", arrow=arrow).to_pylist()
        assert same(BROKEN if faults else kept, expected)


def test_a_text_that_is_empty_or_not_utf8_is_no_value_of_a_table() -> None:
    arrow = needs("pyarrow")
    from bpe_cli.corpus.kept_columns import kept_column

    for kind in TYPES:
        field, faults = KeptField("v", kind), dict[int, RowFault]()
        kept_column(arrow.array([b"", b"3\xff"]), field.arrow_type(arrow), field, faults, "x", arrow=arrow)
        assert list(faults) == [0, 1]


def test_what_json_has_no_number_for_is_a_double() -> None:
    arrow = needs("pyarrow")
    from bpe_cli.corpus.kept_columns import kept_column

    for kind, broken in (("double", []), ("int64", [0, 1]), ("bool", [0, 1, 2])):
        field, faults = KeptField("v", kind), dict[int, RowFault]()
        values = arrow.array([float("nan"), float("inf"), 2.0, None], arrow.float32())
        kept_column(values, field.arrow_type(arrow), field, faults, "x", arrow=arrow)
        assert list(faults) == broken
