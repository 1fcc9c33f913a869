"""Write and read OUT.json, which describes the numbers in a binary OUT."""

from __future__ import annotations

import os
from collections.abc import Sequence

from bpe_cli.errors import InputError, UsageError
from bpe_cli.sinks.base import ANOTHER_RUN, HIGHEST_ID, Dtype, ReadOptions, SinkOptions
from bpe_cli.sinks.numbers import choose_dtype
from bpe_cli.support.fast_dataclass import dataclass, replace
from bpe_cli.support.fast_typing import TYPE_CHECKING
from bpe_cli.support.json_text import name_value
from bpe_cli.support.messages import cannot_read, show_path
from bpe_cli.tokenizer.usage import Edges

if TYPE_CHECKING:
    from typing import Any

    from bpe_cli.sinks.numbers import BinSink
    from bpe_cli.tokenizer import Tokenizer

SCHEMA = "bpe-ids/1"

_HEAD_BYTES = 1 << 10
"""Of these, the first say whether a file is a sidecar."""

_FEW = 500
"""So many inputs are written by the standard library before orjson is imported, which takes as long."""


@dataclass(frozen=True, slots=True)
class Sidecar:
    """The description of the numbers in a binary file.

    Attributes:
        dtype: How a number lies in the file; always little-endian.
        tokens: How many numbers there are, eots too.
        documents: How many documents they make.
        bos: The id that begins each document, or None.
        eot: The id that ends each document, or None.
        sha256: The hash of the numbers, or None when unknown.
        tokenizer_sha256: The fingerprint of the tokenizer, or None when unknown.
        tokenizer_name: What it was called, or None.
    """

    dtype: Dtype
    tokens: int
    documents: int
    bos: int | None
    eot: int | None
    sha256: str | None
    tokenizer_sha256: str | None
    tokenizer_name: str | None

    @property
    def width(self) -> int:
        """How many bytes a number has."""
        return 2 if self.dtype == "u16" else 4

    def is_of(self, tokenizer: Tokenizer) -> bool:
        """Return whether the ids were made by an equal tokenizer, as far as is known."""
        from bpe_cli.tokenizer import fingerprint

        return self.tokenizer_sha256 in (None, fingerprint(tokenizer))


def sidecar_path(path: str) -> str:
    """Return the path of a file's sidecar."""
    return f"{path}.json"


def check_replaced(path: str) -> None:
    """Check that what lies where the sidecar of a file will be written is a sidecar, or empty, or nothing.

    Args:
        path: The path of the binary file itself.

    Raises:
        UsageError: if it is something else.
        InputError: if it cannot be read.
    """
    place = sidecar_path(path)
    if not os.path.isfile(place):
        return
    try:
        with open(place, "rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError as error:
        raise cannot_read(place, error) from error
    if head and not is_sidecar(head):
        raise UsageError(
            f"the record of `output` would replace {show_path(place)}, which is not a description of ids",
            hint="give the output another name; its record is called so too, with .json at the end",
        )


def is_sidecar(head: bytes) -> bool:
    """Return whether a file that begins so is a sidecar."""
    return b"".join(head[:_HEAD_BYTES].split()).startswith(b'{"schema":"bpe-ids/')


def describe(sink: BinSink, inputs: Sequence[tuple[str, str, int]]) -> bytes:
    """Make the sidecar of a sink's output."""
    from bpe_cli.tokenizer import fingerprint

    name = sink.tokenizer.name
    content = {
        "schema": SCHEMA,
        "dtype": sink.dtype,
        "byteorder": "little",
        "tokens": sink.tokens,
        "documents": sink.documents,
        "eot": sink.options.edges.eot,
        "bos": sink.options.edges.bos,
        "bytes": sink.byte_count,
        "sha256": sink.sha256,
        "tokenizer": {"name": name and show_path(name), "sha256": fingerprint(sink.tokenizer)},
        "inputs": [{"name": name_value(name), "sha256": sha256, "bytes": size} for name, sha256, size in inputs],
    }
    if len(inputs) <= _FEW:
        import json

        return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()
    from bpe_cli.support.safe_orjson import orjson

    return orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def load_sidecar(path: str) -> Sidecar | None:
    """Read the sidecar of a binary file; None when there is none.

    Args:
        path: The path of the binary file itself.

    Raises:
        InputError: if the sidecar cannot be read or is damaged, or belongs to a file of another length.
    """
    from bpe_cli.support.json_files import read_json

    place = sidecar_path(path)
    content = read_json(place)
    return None if content is None else _checked(content, show_path(place))


def _checked(content: dict[str, Any], place: str) -> Sidecar:
    """Check what a sidecar says, member by member."""
    if content.get("schema") != SCHEMA:
        raise InputError(f"{place}: this is not a description of ids: its schema is not {SCHEMA!r}")
    if content.get("dtype") not in ("u16", "u32") or content.get("byteorder") != "little":
        raise InputError(f"{place}: the numbers must be u16 or u32, and little-endian")
    for key in ("tokens", "documents"):
        if type(content.get(key)) is not int or content[key] < 0:
            raise InputError(f"{place}: {key!r} is not a number of {key}")
    for key in ("bos", "eot"):
        edge = content.get(key)
        if edge is not None and (type(edge) is not int or not 0 <= edge <= HIGHEST_ID):
            raise InputError(f"{place}: {key!r} is not an id")
    digest = content.get("sha256")
    if digest is not None and not _is_sha256(digest):
        raise InputError(f"{place}: 'sha256' is not a hash")
    tokenizer = content.get("tokenizer")
    sha256, name = (tokenizer.get("sha256"), tokenizer.get("name")) if isinstance(tokenizer, dict) else (None, None)
    return Sidecar(
        content["dtype"],
        content["tokens"],
        content["documents"],
        content.get("bos"),
        content.get("eot"),
        digest,
        sha256 if isinstance(sha256, str) else None,
        name if isinstance(name, str) else None,
    )


def _is_sha256(value: object) -> bool:
    """Return whether a value is a hash as the sidecar writes it."""
    return isinstance(value, str) and len(value) == 64 and not value.strip("0123456789abcdef")


def check_length(sidecar: Sidecar, path: str) -> None:
    """Check that a sidecar and the raw file that it describes belong together.

    Raises:
        InputError: if the file has another length.
    """
    size = os.path.getsize(path)
    if size != sidecar.width * sidecar.tokens:
        raise InputError(
            f"{show_path(path)} has {size:,} bytes, but {show_path(sidecar_path(path))} speaks of {sidecar.tokens:,} "
            f"ids of {sidecar.width} bytes",
            hint=ANOTHER_RUN,
        )


def complete(
    source_format: str, path: str, asked: ReadOptions, tokenizer: Tokenizer
) -> tuple[ReadOptions, Sidecar | None]:
    """Fill in missing options: from the sidecar of a binary file, else from the tokenizer.

    Raises:
        InputError: if the sidecar is damaged or belongs to another file.
    """
    if source_format not in ("npy", "bin"):
        return asked, None
    sidecar = None if path == "-" else load_sidecar(path)
    if sidecar is None:
        edges = Edges(bos=asked.bos, eot=asked.eot)
        return replace(asked, dtype=choose_dtype(tokenizer, SinkOptions(edges=edges, dtype=asked.dtype))), None
    if source_format == "bin" and asked.dtype in (None, sidecar.dtype):
        check_length(sidecar, path)
    return replace(
        asked,
        dtype=asked.dtype or sidecar.dtype,
        bos=sidecar.bos if asked.bos is None else asked.bos,
        eot=sidecar.eot if asked.eot is None else asked.eot,
        sha256=sidecar.sha256,
        documents=sidecar.documents,
    ), sidecar


def is_as_described(path: str) -> bool:
    """Return whether a file has the size of the numbers that its sidecar describes: then it is bin, however it begins.

    An array, or compressed data, has another size.
    """
    if path == "-" or not os.path.isfile(sidecar_path(path)):
        return False
    try:
        sidecar = load_sidecar(path)
        return sidecar is not None and os.path.getsize(path) == sidecar.width * sidecar.tokens
    except (InputError, OSError):  # whoever reads it says so
        return False


def is_described(path: str) -> bool:
    """Return whether there is a sidecar of a file."""
    try:
        return load_sidecar(path) is not None
    except InputError:  # what lies there is something else's
        return False
