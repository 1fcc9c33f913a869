"""Read and write counts of pieces: what ``train --counts-out`` keeps for ``train --from-counts``.

A line of JSON that says how the text was cut, then the counts as the core serialises them::

    {"format":"bpe-counts","version":1,"pattern":...,"prefix_space":...,"special_tokens":[...],
     "unicode_version":...,"pieces":...,"total":...,"sha256":...}

Counts can be added up when they were cut in the same way: that is checked, not assumed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from bpe_cli import _core
from bpe_cli.errors import FormatError, InputError, TrainingError
from bpe_cli.formats.read_file import Node
from bpe_cli.stages.counting import ALL_MEMORY, Cutting
from bpe_cli.support.messages import cannot_read, quote, show_path

MAGIC = b'{"format":"bpe-counts"'
MAX_HEADER_BYTES = 1 << 24
_CUTTING = ("pattern", "prefix_space", "special_tokens", "unicode_version", "stages")
_KEYS = ("format", "version", *_CUTTING, "pieces", "total", "sha256")


def sniff(head: bytes) -> bool:
    """Return whether a file begins like a counts file."""
    return head.startswith(MAGIC)


def dump(counts: _core.Counts, cutting: Cutting) -> tuple[bytes, bytes]:
    """Serialise counts."""
    import hashlib

    payload = counts.dump()
    return header(cutting, counts.unique, counts.total, hashlib.sha256(payload).hexdigest()), payload


def header(cutting: Cutting, unique: int, total: int, sha256: str) -> bytes:
    """Return the line that stands before counts.

    Args:
        cutting: How the text was cut.
        unique: Number of different pieces.
        total: Number of pieces, repetitions counted.
        sha256: The hash of what comes behind the line.
    """
    from bpe_cli.support.safe_orjson import orjson

    fields_of = {
        "format": "bpe-counts",
        "version": 1,
        "pattern": cutting.pattern,
        "prefix_space": cutting.prefix_space,
        "special_tokens": list(cutting.special_tokens),
        "unicode_version": cutting.unicode_version,
        **({} if cutting.stages is None else {"stages": cutting.stages}),
        "pieces": unique,
        "total": total,
        "sha256": sha256,
    }
    try:
        return orjson.dumps(fields_of, option=orjson.OPT_APPEND_NEWLINE)
    except orjson.JSONEncodeError as error:
        raise FormatError(f"the counts' header cannot be written as JSON: {error}") from error


def load(path: Path, max_bytes: int) -> tuple[Cutting, _core.Counts]:
    """Read counts, after checking their checksum."""
    import hashlib

    name = show_path(path)
    try:
        with path.open("rb") as file:
            line = file.readline(MAX_HEADER_BYTES)
            if not sniff(line):
                raise FormatError(f"{name} is not a counts file", hint="`bpe train --counts-out` writes them")
            if not line.endswith(b"\n"):
                raise FormatError(f"{name}: the header is cut short")
            payload = file.read()
    except MemoryError:
        raise InputError(f"{name} does not fit into memory") from None
    except (OSError, ValueError) as error:
        raise cannot_read(path, error) from error
    node = Node.parse(line, name)
    node.only(*_KEYS)
    if node.get("version").value != 1:
        raise node.get("version").error("must be 1", hint="a newer version of this program may have written it")
    cutting = Cutting(
        node.get("pattern").text_or_none(),
        node.get("prefix_space").boolean(),
        tuple(item.text() for item in node.get("special_tokens").items()),
        node.get("unicode_version").text_or_none(),
        node.get("stages").text_or_none(),
    )
    pieces, total = node.get("pieces").integer(below=1 << 64), node.get("total").integer(below=1 << 64)
    if hashlib.sha256(payload).hexdigest() != node.get("sha256").text():
        raise FormatError(
            f"{name}: the counts do not have the checksum that the header gives; they were changed or cut short"
        )
    try:
        counts = _core.Counts.load(payload, min(max_bytes, ALL_MEMORY))
    except _core.MemoryBoundError as error:
        raise TrainingError(f"{name}: {error}", hint="give more memory with `max_memory`") from error
    except ValueError as error:
        raise FormatError(f"{name}: {error}") from error
    if (counts.unique, counts.total) != (pieces, total):
        raise FormatError(
            f"{name}: the header says {pieces:,} pieces, {total:,} with repetitions; "
            f"the file has {counts.unique:,} and {counts.total:,}"
        )
    return cutting, counts


def load_all(paths: Iterable[Path], max_bytes: int) -> tuple[Cutting, _core.Counts]:
    """Read several files of counts and add them up, in the order given.

    Raises:
        InputError: if a file cannot be read, or there is none.
        FormatError: if a file is broken, their texts were not cut in the same way, or their counts are too large.
        TrainingError: if the counts together need more memory than that.
    """
    total: _core.Counts | None = None
    for path, cutting, counts in load_each(paths, max_bytes):
        if total is None:
            common, total = cutting, counts
        else:
            add(total, counts, path)
    if total is None:
        raise InputError("no counts file is given")
    return common, total


def add(total: _core.Counts, counts: _core.Counts, path: Path) -> None:
    """Add the counts of a file to those of others.

    Raises:
        FormatError: if they pass 2^64 together.
        TrainingError: if they need more memory together than the total may take.
    """
    try:
        total.merge(counts)
    except _core.MemoryBoundError as error:
        raise TrainingError(f"{show_path(path)}: {error}", hint="give more memory with `max_memory`") from error
    except ValueError as error:
        raise FormatError(
            f"{show_path(path)}: with the files before it, {error}", hint="no corpus is that large: count again"
        ) from error


def load_each(paths: Iterable[Path], max_bytes: int) -> Iterator[tuple[Path, Cutting, _core.Counts]]:
    """Read several files of counts, one after the other, whose texts were cut in the same way.

    Raises:
        InputError: if a file cannot be read.
        FormatError: if a file is broken, or its text was not cut as that of the first.
        TrainingError: if the counts of a file need more memory than that.
    """
    first: tuple[Path, Cutting] | None = None
    for path in paths:
        own, counts = load(path, max_bytes)
        first = first or (path, own)
        for field in Cutting.__match_args__:
            ours, theirs = getattr(first[1], field), getattr(own, field)
            if ours != theirs:
                raise FormatError(
                    f"{show_path(first[0])} and {show_path(path)} were not cut in the same way: {field} is "
                    f"{_show(ours)} in the first and {_show(theirs)} in the second",
                    hint="counts can be added up only if all that decides about pieces is equal",
                )
        yield path, own, counts


def _show(value: object) -> str:
    from bpe_cli.support.safe_orjson import orjson

    return quote(value) if isinstance(value, str) else orjson.dumps(value).decode()
