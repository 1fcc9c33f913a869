"""Take a column of a table as documents: what Parquet and Arrow files have in common. Needs pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

from bpe_cli.errors import InputError
from bpe_cli.support.lazy_modules import optional
from bpe_cli.support.messages import cannot_read, show_path

ROWS = 1024
"""As many rows are made into documents at a time."""


def library(path: str, kind: str, module: str) -> tuple[Any, Any]:
    """Import pyarrow, and a module of it.

    Raises:
        InputError: It is not installed.
    """
    found = optional(module)
    if found is None:
        raise InputError(
            f"cannot read {show_path(path)}: it is {kind}, and pyarrow is not installed", hint="pip install pyarrow"
        )
    return optional("pyarrow"), found


def damaged(path: str, kind: str, error: Exception) -> InputError:
    """Make the error of a file that pyarrow cannot read."""
    line = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
    return cannot_read(path, ValueError(f"its {kind} data is damaged ({line})"))


class Column:
    """A column of strings or binaries, which may lie inside structs (``a.b``).

    Attributes:
        keys: Its name, and the names on the way to it.
    """

    def __init__(self, path: str, schema: Any, field: str, arrow: ModuleType) -> None:
        """Find the column in a schema.

        Raises:
            InputError: There is none, or it does not hold text.
        """
        self.keys = [field] if field in schema.names else field.split(".")
        self._name, self._field, self._row = show_path(path), field, 0
        _check(self._name, schema, self.keys, field, arrow)

    def texts(self, column: Any) -> Iterator[bytes]:
        """Yield the text of each row, given the outermost column of some rows.

        Raises:
            InputError: A row is null; the message says which, from 1.
        """
        for key in self.keys[1:]:
            column = column.field(key)
        for value in column.to_pylist():
            self._row += 1
            if value is None:
                raise InputError(f"{self._name}: row {self._row} of the column {self._field!r} is null")
            yield value.encode() if isinstance(value, str) else value


def _check(name: str, schema: Any, keys: list[str], field: str, arrow: Any) -> None:
    kind: Any = arrow.struct(list(schema))
    for key in keys:
        names = [kind.field(place).name for place in range(kind.num_fields)] if arrow.types.is_struct(kind) else []
        if key not in names:
            raise InputError(
                f"{name}: there is no column {field!r}",
                hint=f"--field names it; there is {', '.join(map(repr, names[:10]))}" if names else None,
            )
        kind = kind.field(key).type
    if arrow.types.is_dictionary(kind):
        kind = kind.value_type
    test = arrow.types
    views = (getattr(test, each, None) for each in ("is_string_view", "is_binary_view"))  # from pyarrow 16
    tests = (
        test.is_null,
        test.is_string,
        test.is_large_string,
        test.is_binary,
        test.is_large_binary,
        *filter(None, views),
    )
    if not any(each(kind) for each in tests):
        raise InputError(f"{name}: the column {field!r} holds {kind}, not strings")
