"""Write ids: as text, JSON lines, NumPy arrays, raw numbers, or counts; ``read`` is the way back.

A sink is a class. Adding one takes a line here, and one in ``naming.py``, which says how its files are called.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module

from bpe_cli.errors import UsageError
from bpe_cli.sinks.atomic import Output, check_writable, is_direct, open_described, open_stdout
from bpe_cli.sinks.base import Sink, SinkOptions
from bpe_cli.sinks.naming import ENDINGS, IN_PLACE, TEXT, check_name, read_name, sink_of_name
from bpe_cli.support.fast_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import BinaryIO

    from bpe_cli.tokenizer import Tokenizer

__all__ = [
    "SINKS",
    "Output",
    "Sink",
    "SinkOptions",
    "check_outputs",
    "check_writable",
    "is_binary",
    "open_sink",
    "record_of",
    "sink_class",
    "sink_of_name",
]

SINKS: Mapping[str, tuple[str, str]] = {
    "ids": ("lines", "IdsSink"),
    "tokens": ("lines", "TokensSink"),
    "jsonl": ("jsonl", "JsonlSink"),
    "npy": ("numbers", "NpySink"),
    "bin": ("numbers", "BinSink"),
    "count": ("lines", "CountSink"),
}
"""What ``encode --to`` can write, by name: in which module, and its class."""


def sink_class(to: str) -> type[Sink]:
    """Import a sink of ``SINKS``."""
    module, name = SINKS[to]
    sink: type[Sink] = getattr(import_module(f"bpe_cli.sinks.{module}"), name)
    return sink


def is_binary(to: str) -> bool:
    """Return whether a sink's output is not text.

    >>> is_binary("npy"), is_binary("ids")
    (True, False)
    """
    return sink_class(to).is_binary


def record_of(to: str, path: str | None) -> str | None:
    """Name the file that is written beside an output to describe it; None if there is none."""
    if path is None or to not in SINKS or not is_binary(to) or is_direct(path):
        return None
    from bpe_cli.sinks.sidecar import sidecar_path

    return sidecar_path(path)


def check_outputs(to: str, path: str, *, json: bool = False) -> None:
    """Check before the work begins that a sink's files can be written, and that their names fit their contents.

    Args:
        to: A name from ``SINKS``.
        path: The file.
        json: Whether counts are written as one JSON object.

    Raises:
        OutputError: if a file cannot be written.
        UsageError: if the name is that of another kind of file.
    """
    if to in IN_PLACE and (packed := read_name(path).packed):
        raise UsageError(
            f"`output` {path} names a compressed file, and programs read {to} in place, without unpacking it",
            hint=f'leave {packed} out of the name, or use `to="jsonl"` or `to="ids"`, which are compressed',
        )
    own = (".json", *ENDINGS[to]) if json and to == "count" else ENDINGS[to]
    check_name("`output`", path, to, own if to in IN_PLACE else (*own, *TEXT), packable=True)
    from bpe_cli.sinks.compressing import check_compressing

    check_compressing(path)
    check_writable(path)
    if record := record_of(to, path):
        check_writable(record)


@contextmanager
def open_sink(
    to: str,
    path: str | None,
    *,
    stdout: BinaryIO | None,
    tokenizer: Tokenizer,
    options: SinkOptions | None = None,
    inputs: Sequence[tuple[str, str, int]] = (),
) -> Iterator[Sink]:
    """Open a sink; when the block ends well its files appear, after an exception none does.

    Args:
        to: A name from ``SINKS``.
        path: The file, or None for ``stdout``.
        stdout: The stream that the output goes to when there is no file.
        tokenizer: Whose ids they are.
        options: What is written beside ids.
        inputs: What is encoded, for the sidecar of a binary file: (name, sha256, bytes) each. It is
            read at the end, so a list that fills meanwhile will do.

    Raises:
        OutputError: if something cannot be written; BrokenPipeError when stdout's reader went away.
        UsageError: if the options do not fit the tokenizer, or a sidecar would replace what is none.
    """
    options = options or SinkOptions()
    if (options.tokens or options.spans) and to != "jsonl":
        raise UsageError(f"tokens and spans go into jsonl only, not into {to}", hint='use `to="jsonl"`')
    if path is not None and is_binary(to):
        from bpe_cli.sinks.numbers import BinSink, NpySink
        from bpe_cli.sinks.sidecar import check_replaced, describe, sidecar_path

        if not is_direct(path):
            check_replaced(path)
        with open_described(path, sidecar_path(path)) as (output, beside):
            numbers = (NpySink if to == "npy" else BinSink)(output, tokenizer, options)
            yield numbers
            numbers.finish()
            if beside is not None:
                beside.write(describe(numbers, inputs))
        return
    with _opened(path, stdout) as output:
        sink = sink_class(to)(output, tokenizer, options)
        yield sink
        sink.finish()


def _opened(path: str | None, stdout: BinaryIO | None) -> AbstractContextManager[Output]:
    if path is None and stdout is not None:
        return open_stdout(stdout)
    from bpe_cli.sinks.compressing import open_packed

    return open_packed(str(path))
