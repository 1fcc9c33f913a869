"""Read JSON that may be broken or hostile: nothing is used before it is checked.

Whatever stands in a file, what a user meets is an ``InputError`` (the file cannot be read) or a
``FormatError`` (it can, and is wrong), with the place in it.
"""

from __future__ import annotations

from collections.abc import Iterator

from bpe_cli.errors import FormatError
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.messages import quote
from bpe_cli.support.safe_orjson import orjson
from bpe_cli.tokenizer.usage import Fact


class NotJsonError(FormatError):
    """Report a document that cannot be parsed."""


@dataclass(frozen=True, slots=True)
class Node:
    """A value of a JSON document and its place there (``tokenizer.json: model.merges[3]``)."""

    value: object
    source: str
    path: str = ""

    @classmethod
    def parse(cls, data: bytes, source: str) -> Node:
        """Parse a JSON document.

        A key that stands twice counts with its last value, as in every common reader.

        Raises:
            FormatError: if it is not JSON, or nested deeper than 1,024 levels; with line and column.
        """
        try:
            return cls(orjson.loads(data), source)
        except orjson.JSONDecodeError as error:
            cut = "the file is cut short, or a bracket is missing" if "unexpected end" in error.msg else None
            raise NotJsonError(
                f"not valid JSON: {error.msg} ({source}:{error.lineno}:{error.colno})", hint=cut
            ) from None
        except (MemoryError, RecursionError):
            raise NotJsonError(f"{source}: the JSON is too large or too deep to be read") from None

    @property
    def where(self) -> str:
        """The place, for messages."""
        return f"{self.source}: {self.path}" if self.path else self.source

    @property
    def is_null(self) -> bool:
        """Whether the value is null or absent."""
        return self.value is None

    def error(self, message: str, hint: str | None = None) -> FormatError:
        """Make an error that names this place."""
        return FormatError(f"{self.where} {message}", hint=hint)

    def get(self, key: str) -> Node:
        """Return a member of an object; null when it is absent.

        Raises:
            FormatError: if this is not an object.
        """
        return Node(self.members().get(key), self.source, f"{self.path}.{key}" if self.path else key)

    def members(self) -> dict[str, object]:
        """Return the value as an object."""
        if not isinstance(self.value, dict):
            raise self._expected("an object")
        return self.value

    def elements(self) -> list[object]:
        """Return the value as an array."""
        if not isinstance(self.value, list):
            raise self._expected("an array")
        return self.value

    def items(self) -> Iterator[Node]:
        """Yield the elements of an array, each with its place."""
        for number, value in enumerate(self.elements()):
            yield Node(value, self.source, f"{self.path}[{number}]")

    def text(self) -> str:
        """Return the value as a string."""
        if not isinstance(self.value, str):
            raise self._expected("a string")
        return self.value

    def boolean(self, default: bool | None = None) -> bool:
        """Return the value as true or false; null gives the default, if there is one."""
        if self.value is None and default is not None:
            return default
        if not isinstance(self.value, bool):
            raise self._expected("true or false")
        return self.value

    def integer(self, below: int) -> int:
        """Return the value as an integer from 0 to ``below - 1``."""
        if type(self.value) is not int or not 0 <= self.value < below:
            raise self._expected(f"an integer from 0 to {below - 1:,}")
        return self.value

    def only(self, *known: str) -> None:
        """Refuse an object that has other members than these: they might change what it does.

        Raises:
            FormatError: if it has one.
        """
        for key in self.members():
            if key not in known:
                raise FormatError(
                    f"{self.where} has a field that this version does not know: {quote(key)}",
                    hint="known are " + ", ".join(known),
                )

    def _expected(self, what: str) -> FormatError:
        shown = {dict: "an object", list: "an array", type(None): "null", str: "a string", bool: "true or false"}
        kind = shown.get(type(self.value), repr(self.value)[:40])
        return self.error(f"is to be {what}, not {kind}")


def facts_of(node: Node, prefix: str = "") -> tuple[tuple[str, Fact], ...]:
    """Return the settings that an object states, in its order: members that are one string, number or boolean.

    Args:
        node: The object.
        prefix: What is put before their names.
    """
    return tuple(
        (prefix + name, value) for name, value in node.members().items() if isinstance(value, (str, int, float))
    )
