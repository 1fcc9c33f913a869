"""Check that no input is read as text that is not text, and that the inputs of a run are of one kind."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence

from bpe_cli.corpus.inputs import Input
from bpe_cli.corpus.kinds import EMPTY, JSONL, MAGIC_ENOUGH, OBJECT, TAR, TEXT, Kind, kind_of_head, may_be_json_lines
from bpe_cli.corpus.opening import NO_STDIN, read_chunks
from bpe_cli.errors import InputError, UsageError
from bpe_cli.support.fast_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from bpe_cli.corpus.jsonl import JsonLines

_COMPANIONS = frozenset(
    ("readme", "license", "licence", "_success", "state.json", "dataset_info.json", "dataset_infos.json",
     "dataset_dict.json")
)  # fmt: skip
"""What lies beside rows and tells about them, with any ending or with none."""

_SUMMARIES = frozenset(("_metadata", "_common_metadata"))
"""Parquet files that hold no rows of their own, and tell about those beside them."""


def judge(items: Sequence[Input], *, json: bool, on_skip: Callable[[str], None]) -> tuple[Input, ...]:
    """Check that inputs can be read in the requested way.

    Args:
        items: The inputs, each with its kind if that is known.
        json: Whether lines of JSON are asked for.
        on_skip: Called with a sentence for what is left out: what tells about the rows of a folder, or has none.

    Returns:
        What is to be read of them.

    Raises:
        UsageError: if there are lines of JSON that would be taken for text, or inputs of several kinds.
        InputError: if an input is an archive or the like.
    """
    if all(item.kind in (None, TEXT, EMPTY) for item in items):  # nearly always
        return _without_marks(items, on_skip)
    kept = _without_companions(items, on_skip)
    for item in kept:
        if item.kind is not None and item.kind.advice:
            raise _not_text(item.name, item.kind, json)
    kinds: dict[Kind, list[Input]] = {}
    for item in kept:
        kinds.setdefault(_read_as(item, json), []).append(item)
    empty = kinds.pop(EMPTY, [])
    if len(kinds) > 1:
        raise _mixture(kinds)
    if JSONL in kinds and not json:
        raise _json_lines(kinds[JSONL])
    return _without(empty, kept, on_skip) if any(kind.is_table for kind in kinds) else kept


def refuse_archives(items: Iterable[Input], *, json: bool) -> None:
    """Check that no input is an archive, where lines are asked for; ``json`` says whether lines of JSON are.

    Raises:
        UsageError: if one is: each of its members is one document.
    """
    first = next((item for item in items if item.kind == TAR), None)
    if first is not None:
        option = '`documents="jsonl"`' if json else '`documents="lines"`'
        raise UsageError(
            f"{option} reads the lines of files, and {first.name} is {TAR.title}, of which each member is one document",
            hint=f"leave {option} out, or unpack the archive, as in: tar -xf FILE",
        )


def _read_as(item: Input, json: bool) -> Kind:
    if item.kind is None:
        return JSONL if json else TEXT
    if item.kind == OBJECT and json:
        return JSONL
    return item.kind if item.kind in (EMPTY, JSONL) or item.kind.is_table else TEXT


def _without_marks(items: Sequence[Input], on_skip: Callable[[str], None]) -> tuple[Input, ...]:
    """Leave out the empty files by which a job says that a folder is complete."""
    marks = [each for each in items if each.folder and each.kind == EMPTY and _name(each) == "_SUCCESS"]
    if not 0 < len(marks) < len(items):
        return tuple(items)
    for item in marks:
        on_skip(f"{item.name} skipped: it is the empty mark of a job's end")
    return tuple(each for each in items if each not in marks)


def _without(empty: Sequence[Input], items: Sequence[Input], on_skip: Callable[[str], None]) -> tuple[Input, ...]:
    """Leave out empty files beside tables: they have no rows, and are no documents as they are among texts."""
    for item in empty:
        on_skip(f"{item.name} skipped: it is empty, so it has no rows")
    return tuple(each for each in items if each.kind != EMPTY)


def _without_companions(items: Sequence[Input], on_skip: Callable[[str], None]) -> tuple[Input, ...]:
    """Leave out the files that describe the rows of a folder."""
    rows = {
        item.folder: item.kind
        for item in items
        if item.folder and item.kind and (item.kind == JSONL or item.kind.is_table) and _name(item) not in _SUMMARIES
    }
    kept = []
    for item in items:
        kind = rows.get(item.folder) if item.folder else None
        is_companion = item.kind in (TEXT, OBJECT, EMPTY) and _is_companion(_name(item).lower())
        if kind is not None and _name(item) in _SUMMARIES:
            on_skip(f"{item.name} skipped: it tells about the files beside it")
        elif kind is not None and is_companion:
            on_skip(f"{item.name} skipped: it is not {kind.title}, unlike the files beside it")
        else:
            kept.append(item)
    return _without_marks(kept, on_skip)


def _is_companion(name: str) -> bool:
    return name in _COMPANIONS or os.path.splitext(name)[0] in _COMPANIONS


def _name(item: Input) -> str:
    return os.path.basename(item.path)


def _not_text(name: str, kind: Kind, json: bool) -> InputError:
    way_out = "name the file" if kind.is_table else kind.advice
    what = "which can only be read from a file" if kind.is_table else "not text"
    plainly = "" if json else "; `plain` takes its bytes as they are"
    return InputError(f"{name} is {kind.title}, {what}", hint=f"{way_out}{plainly}")


def _json_lines(items: Sequence[Input]) -> UsageError:
    first = items[0]
    what = f"{first.name} holds" if len(items) == 1 else f"{first.name} and {_others(len(items) - 1)} hold"
    return json_lines_error(what, first_object(first.path))


def json_lines_error(what: str, row: dict[str, Any] | None) -> UsageError:
    """Make the error for JSON lines in place of text; the hint names the field that looks like the text."""
    return UsageError(
        f"{what} JSON lines, which would be read as text with their keys and quotes",
        hint=f"{_reading(row)} takes the text of each; `plain` takes the lines as they are",
    )


def _reading(row: dict[str, Any] | None) -> str:
    """Format the options that read lines of JSON like an object."""
    import shlex

    from bpe_cli.corpus.jsonl import text_field

    field = None if row is None else text_field(row)
    if field is not None:
        return f'`documents="jsonl"` `field={shlex.quote(field)}`'
    keys = ", ".join(map(repr, list(row)[:10])) if row else ""
    return '`documents="jsonl"` `field=NAME`' + (f" (the keys are {keys})" if keys else "")


def _others(number: int) -> str:
    return "one more file" if number == 1 else f"{number:,} more files"


def _mixture(kinds: dict[Kind, list[Input]]) -> UsageError:
    groups = sorted(kinds.items(), key=lambda each: (each[0] == TEXT, -len(each[1])))
    listed = (f"{len(items):,} of {kind.title} ({_few(items)})" for kind, items in groups)
    kind, items = groups[0]
    looked_at = next((item for item in items if item.kind == JSONL), None)  # a pipe can be read once only
    row = None if looked_at is None else first_object(looked_at.path)
    reading = f", with {_reading(row)}" if kind == JSONL else ""
    pattern = _pattern(items[0])
    example = f", as in {pattern}{reading}" if pattern else reading
    return UsageError(
        f"the inputs are of several kinds: {', '.join(listed)}",
        hint=f"name those of one kind{example}; `plain` takes all as text",
    )


def _few(items: Sequence[Input]) -> str:
    return items[0].name + (", ..." if len(items) > 1 else "")


def _pattern(item: Input) -> str | None:
    """Return a pattern for the files like one of a folder; None for a file that was named."""
    import re
    import shlex

    ending = re.search(r"\.\w+(\.(gz|bz2|xz|zst|zstd))?$", _name(item))
    if item.folder is None or ending is None:
        return None

    deep = os.path.dirname(item.path) != item.folder.rstrip(os.sep)
    return shlex.quote(os.path.join(item.folder, *(["**"] if deep else []), f"*{ending[0]}"))


def first_object(path: str) -> dict[str, Any] | None:
    """Read the first object of a file of JSON lines; None for stdin, and where there is none."""
    from bpe_cli.corpus.jsonl import JsonLines

    lines = JsonLines()
    chunks = read_chunks(path, stdin=NO_STDIN)
    try:
        while lines.verdict is None and (chunk := next(chunks, b"")):
            lines.feed(chunk)
    finally:
        chunks.close()
    lines.finish()
    return lines.first


def watched(chunks: Iterable[bytes], name: str, *, json: bool) -> Iterator[bytes]:
    """Yield the bytes of a pipe, and raise once they turn out to be of another kind.

    Whole lines are not held back, so that a pipe that is written to slowly is kept up with.

    Raises:
        UsageError, InputError: as ``judge``; tables are read from files alone.
    """
    head = b""
    lines: JsonLines | None = None
    rest = iter(chunks)
    for chunk in rest:
        if not head and not json and may_be_json_lines(chunk):
            from bpe_cli.corpus.jsonl import JsonLines

            lines = JsonLines()
        if len(head) < MAGIC_ENOUGH:
            head += chunk[:MAGIC_ENOUGH]
            kind = kind_of_head(head)
            if kind is not None:
                raise _not_text(name, kind, json)
        if lines is not None and lines.feed(chunk):
            raise json_lines_error(f"{name} holds", lines.first)
        yield chunk
        if len(head) >= MAGIC_ENOUGH and (lines is None or lines.verdict is False):
            break
    yield from rest
    if lines is not None and lines.verdict is None and lines.finish():
        raise json_lines_error(f"{name} holds", lines.first)
