"""Read files that may be broken or hostile: of bounded size, and with errors that say what is wrong."""

from __future__ import annotations

import os
import stat
from array import array
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from bpe_cli import _core
from bpe_cli.errors import FormatError, InputError, UsageError
from bpe_cli.stages import Split
from bpe_cli.stages.splitters import compile_splitter
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.messages import cannot_read, quote, show_path
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.usage import Fact

MAX_FILE_BYTES = 1 << 30
"""Largest tokenizer file that is read (1 GiB; the largest in use are about 30 MB)."""


def read(path: Path, limit: int = MAX_FILE_BYTES) -> bytes:
    """Read a whole regular file of at most ``limit`` bytes."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            kind = "a directory" if stat.S_ISDIR(status.st_mode) else "not a regular file"
            raise InputError(
                f"{show_path(path)} is {kind}", hint="a tokenizer is read more than once: give a file on disk"
            )
        if status.st_size > limit:
            shown = f"{limit >> 30} GiB" if limit >> 30 else f"{limit >> 20} MiB"
            raise FormatError(
                f"{show_path(path)} has {status.st_size:,} bytes; a tokenizer file may have {limit:,} ({shown})"
            )
        return path.read_bytes()
    except MemoryError:
        raise InputError(f"{show_path(path)} does not fit into memory") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise cannot_read(path, error) from error


def lies(path: Path, *, folder: bool = False) -> bool:
    """Return whether a file that may be missing is there.

    Raises:
        InputError: if something else has its name, so that it would be passed over in silence.
    """
    is_kind, what = (stat.S_ISDIR, "a folder") if folder else (stat.S_ISREG, "a regular file")
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        if not os.path.lexists(path):
            return False
        if isinstance(error, FileNotFoundError):
            raise InputError(
                f"{show_path(path)} is a broken link", hint="the file was not completely fetched: fetch it again"
            ) from None
        raise cannot_read(path, error) from error
    if not is_kind(mode):
        raise InputError(
            f"{show_path(path)} is not {what}, and its name is that of a tokenizer's file",
            hint="move the tokenizer into a folder of its own, or remove the other file",
        )
    return True


def refuse_pattern(pattern: str | None, path: Path, why: str) -> None:
    """Refuse a split pattern for a format that has no choice of one; the message says why."""
    if pattern is not None:
        raise UsageError(f"{show_path(path)} {why}; no pattern can be given with it")


def reader_of(loads: Callable[[bytes, str], Tokenizer], why: str) -> Callable[..., Tokenizer]:
    """Return the ``load`` function of a one-file format without a choice of split pattern.

    ``loads`` reads the content of a file, given what to call it in errors; ``why`` is as in "says itself how text is
    split".
    """

    def load(path: Path, pattern: str | None = None) -> Tokenizer:
        refuse_pattern(pattern, path, why)
        return loads(read(path), str(path))

    return load


# --------------------------------------------------------------------------------------------------
# Read formats that are lines of text: numbers, expressions, and merges that are given by ids.


MAX_SPELT_BYTES = 1 << 25
"""Most bytes that the tokens of a file may have together (32 MiB; the largest in use have about 3 MB).

A merge of ids can double a token, so thirty lines could ask for gigabytes."""


def text_lines(data: bytes, source: str) -> list[str]:
    """Cut a text into its lines, without their ends (LF or CR LF), and without an empty one at the end."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        raise FormatError(f"byte {error.start} is not UTF-8 ({source}:{row})") from None
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def number(text: str, below: int, where: str) -> int:
    """Read a decimal number from 0 to ``below - 1``."""
    # The length is looked at first: int() of a million digits takes seconds.
    if len(text) <= 10 and text.isascii() and text.isdigit() and int(text) < below:
        return int(text)
    raise FormatError(f"not a number from 0 to {below - 1:,}: {quote(text)} ({where})")


def split_of(pattern: str, where: str) -> Split:
    """Return the stage that splits by a file's expression."""
    try:
        compile_splitter((pattern,))
    except UsageError as error:
        raise FormatError(f"{where}: {error.message}") from None
    return Split(pattern)


class MergesById:
    """Collect tokens and merges of a file that names the parts of each merge by their ids.

    What it begins with are the tokens that no merge makes, by id.
    """

    def __init__(self, tokens: Mapping[int, bytes], source: str) -> None:
        self._tokens = dict(tokens)
        self._owner: dict[bytes, int] = {}
        for token_id, token in self._tokens.items():
            if self._owner.setdefault(token, token_id) != token_id:
                raise FormatError(f"{source}: ids {self._owner[token]} and {token_id} are both {quote(token)}")
        self._bytes = sum(map(len, self._tokens.values()))
        self._triples = array("I")

    def add(self, left: int, right: int, product: int, where: str) -> None:
        """Add a merge, the next in order of priority."""
        for part in (left, right):
            if part not in self._tokens:
                raise FormatError(f"the merge uses id {part}, which is not a token so far ({where})")
        if product in self._tokens:
            raise FormatError(f"the merge makes id {product}, which is a token already ({where})")
        first, second = self._tokens[left], self._tokens[right]
        self._bytes += len(first) + len(second)
        if self._bytes > MAX_SPELT_BYTES:
            raise FormatError(f"the tokens have more than {MAX_SPELT_BYTES:,} bytes together ({where})")
        token = first + second
        if token in self._owner:
            raise FormatError(
                f"the merge makes {quote(token)} as id {product}, which is id {self._owner[token]} already ({where})",
                hint="a tokenizer cannot have two tokens of the same bytes",
            )
        self._tokens[product] = token
        self._owner[token] = product
        self._triples.extend((left, right, product))

    def result(self) -> tuple[Vocabulary, Merges]:
        """Return all tokens and all merges."""
        return Vocabulary.from_ids(self._owner), Merges(self._triples)


# --------------------------------------------------------------------------------------------------
# Read JSON that may be broken or hostile: nothing is used before it is checked.
#
# Whatever stands in a file, what a user meets is an ``InputError`` (the file cannot be read) or a
# ``FormatError`` (it can, and is wrong), with the place in it.


_SHORT = 1 << 16
"""Bytes of JSON that the standard library has read before orjson, with all that it brings along, is imported."""


def _parse_short(data: bytes) -> object:
    """Parse a short document that all readers read alike; None for any other, and for null."""
    if len(data) > _SHORT or not _core.is_plain_json(data):
        return None
    import json

    try:
        return json.loads(data.decode(), parse_int=_short_integer)
    except ValueError:
        return None


def _short_integer(digits: str) -> int | float:
    """Read an integer of fewer than 100 digits as orjson does: one that no machine's integer holds is a float."""
    number = int(digits)
    return number if -(1 << 63) <= number < 1 << 64 else float(digits)


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
        """Parse a JSON document, nested no deeper than 1,024 levels.

        A key that appears twice counts with its last value, as in every common reader.
        """
        short = _parse_short(data)
        if short is not None:
            return cls(short, source)
        from bpe_cli.support.safe_orjson import look_for_memory, orjson

        try:
            look_for_memory(data)
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

    def kept(self, level: int) -> bytes:
        """Return the value as JSON, to be written again where it is in so many other values.

        Raises:
            FormatError: if it is nested too deep to be written: less can be than is read.
        """
        from bpe_cli.support.safe_orjson import orjson

        around = self.value
        for _ in range(level):
            around = [around]
        try:
            orjson.dumps(around)
            return orjson.dumps(self.value)
        except orjson.JSONEncodeError:
            raise self.error("is nested too deep") from None

    def get(self, key: str) -> Node:
        """Return a member of an object; null when it is absent."""
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

    def text_or_none(self) -> str | None:
        """Return the value as a string; None for null."""
        return None if self.value is None else self.text()

    def flag(self, key: str, *, default: bool = False) -> bool:
        """Return a member of an object that is true or false; the default if it is absent."""
        return self.get(key).boolean(default)

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
        """Refuse an object that has other members than these: they might change what it does."""
        for key in self.members():
            if key not in known:
                raise FormatError(
                    f"{self.where} has a field that this version does not know: {quote(key)}",
                    hint="known are " + ", ".join(known),
                )

    def _expected(self, what: str) -> FormatError:
        shown = {dict: "an object", list: "an array", type(None): "null", str: "a string", bool: "true or false"}
        kind = shown.get(type(self.value), repr(self.value)[:40])
        return self.error(f"must be {what}, not {kind}")


def facts_of(node: Node, prefix: str = "") -> tuple[tuple[str, Fact], ...]:
    """Return the settings that an object states, in its order: members that are one string, number or boolean."""
    return tuple(
        (prefix + name, value) for name, value in node.members().items() if isinstance(value, (str, int, float))
    )
