"""A line that is longer than an extent is read bit by bit."""

from __future__ import annotations

import io
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.corpus import extents
from bpe_cli.corpus.extents import read_lines_in


class BoundedLines(io.BufferedReader):
    """A file that reads no line of any length into memory."""

    def readline(self, size: int | None = -1, /) -> bytes:
        assert size is not None
        assert 0 < size <= extents.CHUNK_BYTES
        return super().readline(size)


@given(st.lists(st.binary(max_size=12), max_size=12), st.integers(1, 20), st.integers(1, 5))
def test_long_lines_are_read_bit_by_bit(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], size: int, chunk_bytes: int
) -> None:
    path = tmp_path_factory.mktemp("long") / "x.txt"
    data = b"\n".join([*lines, b"long " * 8, b"end"])
    path.write_bytes(data)
    read, begun = [], list[int]()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(extents, "CHUNK_BYTES", chunk_bytes)
        patched.setattr(extents, "open", lambda path, _: BoundedLines(io.FileIO(path)), raising=False)
        for start in range(0, len(data), size):
            end = min(start + size, len(data))
            chunks = list(read_lines_in(str(path), start, end, on_begin=begun.append))
            assert all(0 < len(chunk) <= chunk_bytes for chunk in chunks)
            read.append(b"".join(chunks))
    assert b"".join(read) == data
    assert begun == [0, *(data.find(b"\n", start - 1) + 1 or len(data) for start in range(size, len(data), size))]
    assert all(text.endswith(b"\n") for text in read if text and not data.endswith(text))
    shutil.rmtree(path.parent)
