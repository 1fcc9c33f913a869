"""Zstandard's blocks are followed from header to header: no call gives more than what was asked for, and two blocks."""

from __future__ import annotations

import io
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.corpus.zstd_blocks import FrameBlocks, ZstandardDecompressor
from tests.needs import needs

zstandard = needs("zstandard")

BLOCK = 128 << 10


def text(size: int) -> bytes:
    """Return what can be compressed, but not to nothing."""
    return b" ".join(b"%d" % number for number in random.Random(size).choices(range(1000), k=size // 4))[:size]


contents = st.one_of(
    st.binary(max_size=2000),
    st.integers(0, 600_000).map(text),
    st.integers(0, 600_000).map(bytes),  # blocks of one byte again and again
    st.integers(0, 300_000).map(lambda size: random.Random(size).randbytes(size)),  # blocks that are stored
)


@st.composite
def frames(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """Draw a content, and a frame of it."""
    content = draw(contents)
    packer = zstandard.ZstdCompressor(
        level=draw(st.sampled_from((-5, 1, 3, 9))),
        write_checksum=draw(st.booleans()),
        write_content_size=draw(st.booleans()),
    )
    if draw(st.booleans()):
        return content, packer.compress(content)
    out = io.BytesIO()
    with packer.stream_writer(out, closefd=False) as stream:
        step = 1 + len(content) // draw(st.integers(1, 20))
        for start in range(0, len(content), step):
            stream.write(content[start : start + step])
            stream.flush()  # ends a block
    return content, out.getvalue()


def chunks(data: bytes, step: int) -> list[bytes]:
    return [data[start : start + step] for start in range(0, len(data), step)]


@given(frames(), st.integers(1, 200_000), st.sampled_from((1, 1000, BLOCK, 1 << 20)))
def test_content_comes_back_from_any_chunks(frame, step, most):
    content, packed = frame
    step = max(step, len(packed) // 200)  # not drawn: a packer may write a byte more or less the next time
    decompressor = ZstandardDecompressor(zstandard)
    given_out = []
    after = b"what follows"
    rest = b""
    for chunk in chunks(packed + after, step):
        if decompressor.eof:
            rest += chunk
            continue
        while True:
            part = decompressor.decompress(chunk, most)
            assert len(part) <= most + 2 * BLOCK  # the package may have held one back
            given_out.append(part)
            chunk = b""
            if decompressor.eof or decompressor.needs_input:
                break
        if decompressor.eof:
            rest += decompressor.unused_data
    assert decompressor.eof
    assert b"".join(given_out) == content
    assert rest == after


@given(frames(), st.integers(1, 5000))
def test_cuts_cover_the_frame_and_end_with_it(frame, most):
    _, packed = frame
    blocks, place = FrameBlocks(), 0
    while place < len(packed):
        end = blocks.cut(packed + b"more", place, most)
        assert place < end <= len(packed)
        place = end


def test_a_frame_to_be_skipped_is_a_frame():
    packed = b"\x50\x2a\x4d\x18" + (7).to_bytes(4, "little") + b"skipped"
    for step in (1, 4, 100):
        decompressor = ZstandardDecompressor(zstandard)
        assert b"".join(decompressor.decompress(chunk, 10) for chunk in chunks(packed, step)) == b""
        assert decompressor.needs_input


@pytest.mark.parametrize("content", [bytes(8 << 20), b"ab" * (4 << 20)])
def test_what_becomes_very_much_comes_bit_by_bit(content):
    decompressor = ZstandardDecompressor(zstandard)
    packed = zstandard.ZstdCompressor(level=19).compress(content)
    size = len(decompressor.decompress(packed, 1 << 20))
    assert size <= (1 << 20) + 2 * BLOCK
    while not decompressor.eof:
        part = decompressor.decompress(b"", 1 << 20)
        assert 0 < len(part) <= (1 << 20) + 2 * BLOCK
        size += len(part)
    assert size == len(content)


def test_what_is_not_understood_is_left_to_the_package():
    packed = bytearray(zstandard.ZstdCompressor().compress(text(5000)))
    start = 4 + 1 + 2  # magic number, descriptor, two bytes of the size
    packed[start] |= 6  # a kind of block that does not exist
    with pytest.raises(zstandard.ZstdError):
        ZstandardDecompressor(zstandard).decompress(bytes(packed), 1 << 20)
