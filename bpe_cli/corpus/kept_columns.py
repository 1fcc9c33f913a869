"""Values of columns of tables that are kept beside the text, each of the type that its field has. Needs pyarrow.

What a type that was named cannot hold exactly is a fault of the row, as in JSON, and texts are parsed as in CSV.
Arrow's own casts make true of each number but zero, and 3 of ``0x3``.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from bpe_cli.corpus.kept import exactly, not_of_type, parsed
from bpe_cli.corpus.rows import KeptField, RowFault
from bpe_cli.errors import InputError
from bpe_cli.support.messages import show_path


def kept_column(array: Any, kind: Any, field: KeptField, faults: dict[int, RowFault], path: str, *, arrow: Any) -> Any:
    """Return values as those of the type of a field; what that cannot hold is null, and its row has a fault.

    Args:
        array: The values of some rows.
        kind: The type of the field, as Arrow has it.
        field: The field.
        faults: Is given the faults, by the place of the row among these.
        path: The table.
        arrow: The library.

    Raises:
        InputError: if no value of such a column can be of that type.
    """
    if array.type == kind:
        return array
    if arrow.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if arrow.types.is_float16(array.type):
        array = array.cast(arrow.float64())
    by_value = field.type != "string" and field.schema is None and _is_value(array.type, arrow)
    try:
        if not by_value or _casts_exactly(array.type, kind, arrow):
            return array.cast(kind)
    except arrow.ArrowNotImplementedError as error:
        what = f"the column {field.name!r} holds {array.type}, which cannot be {field.type}"
        raise InputError(f"{show_path(path)}: {what}") from error
    except arrow.ArrowInvalid:
        pass
    if by_value:
        given = array.to_pylist()
        held = [_exact(value, field.type) for value in given]
        faults |= {
            at: not_of_type(field)
            for at, (value, one) in enumerate(zip(given, held, strict=True))
            if one is None and value is not None
        }
        return arrow.array(held, kind)
    values = []
    for at in range(len(array)):
        try:
            values.append(array.slice(at, 1).cast(kind))
        except arrow.ArrowInvalid:
            faults[at] = not_of_type(field)
            values.append(arrow.nulls(1, kind))
    return arrow.concat_arrays(values)


def _is_value(kind: Any, arrow: Any) -> bool:
    """Return whether a type is of what JSON has too: numbers, truth values, texts."""
    test = arrow.types
    views = (getattr(test, each, None) for each in ("is_string_view", "is_binary_view"))  # from pyarrow 16
    tests = (
        test.is_integer, test.is_floating, test.is_decimal, test.is_boolean, test.is_string, test.is_large_string,
        test.is_binary, test.is_large_binary, *filter(None, views),
    )  # fmt: skip
    return any(each(kind) for each in tests)


def _casts_exactly(kind: Any, to: Any, arrow: Any) -> bool:
    """Return whether Arrow's cast from one type of values to another fails where a value would be another one."""
    test = arrow.types
    return not test.is_boolean(to) and (test.is_integer(kind) or test.is_floating(kind))


def _exact(value: Any, name: str) -> bool | int | float | None:
    """Return a value as one of a type that can be named; None if there is none, or that type cannot hold it exactly."""
    if isinstance(value, Decimal):
        value = int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")  # no number has what replaces a byte
    return parsed(name, value) if isinstance(value, str) else exactly(name, value)
