"""Extents of a plain file: several can read its lines, each of which belongs to the one with its first byte."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING

from bpe_cli.corpus.opening import CHUNK_BYTES, MAGIC_BYTES, NO_STDIN, codec_of, read_chunks
from bpe_cli.errors import InputError
from bpe_cli.support.fast_dataclass import replace
from bpe_cli.support.messages import cannot_read, show_path

if TYPE_CHECKING:
    from bpe_cli.corpus.inputs import Input


def holds_lines(item: Input, *, decompressed: bool = True) -> bool:
    """Return whether the lines of an input are those of its bytes as they are on disk: no table, nor compressed."""
    if item.kind is not None and item.kind.is_table:
        return False
    if not decompressed:
        return True
    chunks = read_chunks(item.path, stdin=NO_STDIN, chunk_bytes=MAGIC_BYTES, decompressed=False)
    try:
        return codec_of(next(chunks, b""), item.name) is None
    finally:
        chunks.close()


def extents_of(item: Input, most: int) -> Iterator[Input]:
    """Cut a file into extents of equal size, as few as are at most ``most`` bytes long."""
    size = item.size or 0
    count = -(-size // most)
    for number in range(count):
        yield replace(item, extent=(size * number // count, size * (number + 1) // count))


def read_lines_in(
    path: str,
    start: int,
    end: int,
    *,
    on_raw: Callable[[bytes], None] | None = None,
    on_begin: Callable[[int], None] | None = None,
) -> Generator[bytes, None, None]:
    """Stream the lines of a plain file whose first byte lies at ``start`` or after it, and before ``end``.

    Args:
        path: The file.
        start: The first offset.
        end: The last offset (exclusive).
        on_raw: Called with every chunk that is yielded.
        on_begin: Called with the offset of the first line.

    Raises:
        InputError: if the file cannot be opened or read, or ends before ``end``.
    """
    try:
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size < end:
                raise InputError(f"{show_path(path)} has become shorter than it was when its parts were made")
            if start:
                file.seek(start - 1)
                file.readline()  # the rest of a line that begins before, or the end of the last one
            if on_begin is not None:
                on_begin(file.tell())
            while (place := file.tell()) < end:
                chunk = file.read(min(CHUNK_BYTES, end - place))
                if place + len(chunk) >= end and not chunk.endswith(b"\n"):
                    chunk += file.readline()
                if not chunk:
                    return
                if on_raw is not None:
                    on_raw(chunk)
                yield chunk
    except OSError as error:
        raise cannot_read(path, error) from error
