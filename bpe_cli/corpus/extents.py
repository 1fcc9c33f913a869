"""Extents of a plain file: several can read its lines, each of which belongs to the one with its first byte."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING

from bpe_cli.corpus.compression import MAGIC_BYTES, codec_of
from bpe_cli.corpus.opening import CHUNK_BYTES, NO_STDIN, is_url, read_chunks
from bpe_cli.errors import InputError
from bpe_cli.support.fast_dataclass import replace
from bpe_cli.support.messages import cannot_read, show_path

if TYPE_CHECKING:
    from bpe_cli.corpus.inputs import Input


def holds_lines(item: Input, *, decompressed: bool = True) -> bool:
    """Return whether the lines of an input are those of its bytes as they are on disk: no table, nor compressed.

    Those of an object are no such lines either, if its server gives no ranges of bytes.
    """
    if item.kind is not None and item.kind.is_table:
        return False
    if is_url(item.path):
        from bpe_cli.corpus.objects.reading import is_ranged

        if not is_ranged(item.path):
            return False
    if not decompressed:
        return True
    chunks = read_chunks(item.path, stdin=NO_STDIN, chunk_bytes=MAGIC_BYTES, decompressed=False)
    head = b""
    try:
        while len(head) < MAGIC_BYTES and (chunk := next(chunks, b"")):
            head += chunk
        return codec_of(head, item.name) is None
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
    version: str | None = None,
    size: int | None = None,
) -> Generator[bytes, None, None]:
    """Stream the lines of a plain file whose first byte lies at ``start`` or after it, and before ``end``.

    Args:
        path: The file, or the URL of an object.
        start: The first offset.
        end: The last offset (exclusive).
        on_raw: Called with every chunk that is yielded.
        on_begin: Called with the offset of the first line.
        version: The version of the object; None for that which is there.
        size: Its size, if that is known.

    Raises:
        InputError: if the file cannot be opened or read, or ends before ``end``.
    """
    if is_url(path):
        from bpe_cli.corpus.objects.reading import lines_in

        for chunk in lines_in(path, start, end, version=version, size=size, on_begin=on_begin):
            if on_raw is not None:
                on_raw(chunk)
            yield chunk
        return
    try:
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size < end:
                raise InputError(f"{show_path(path)} has become shorter than it was when its parts were made")
            if start:
                file.seek(start - 1)
                # The rest of a line that begins before, or the end of the last one: of any length, so bit by bit.
                while (piece := file.readline(CHUNK_BYTES)) and not piece.endswith(b"\n"):
                    pass
            if on_begin is not None:
                on_begin(file.tell())
            in_line = False
            while (place := file.tell()) < end or in_line:
                chunk = file.read(min(CHUNK_BYTES, end - place)) if place < end else file.readline(CHUNK_BYTES)
                if not chunk:
                    return
                in_line = not chunk.endswith(b"\n")
                if on_raw is not None:
                    on_raw(chunk)
                yield chunk
    except OSError as error:
        raise cannot_read(path, error) from error
