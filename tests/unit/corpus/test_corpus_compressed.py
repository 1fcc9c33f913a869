"""Compressed data is known by its first bytes, streamed, and never cut short in silence."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import tracemalloc

import pytest

from bpe_cli.corpus import Source, compression, read_blocks
from bpe_cli.errors import InputError
from tests.needs import needs

zstandard = needs("zstandard")

TEXT = b"".join(b"line %d of the text\n" % number for number in range(20_000))
PACK = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": lambda data: zstandard.ZstdCompressor().compress(data),
}

QUICKLY = PACK | {
    "gzip": lambda data: gzip.compress(data, 1),
    "bzip2": lambda data: bz2.compress(data, 1),
    "xz": lambda data: lzma.compress(data, preset=0),
}
"""The same formats, for what is large and soon compressed."""


@pytest.fixture(params=[*PACK, "gzip by zlib"])
def kind(request, monkeypatch):
    if request.param == "gzip by zlib":
        monkeypatch.setattr(compression, "optional", lambda module: None)
        return "gzip"
    return request.param


def read(data: bytes, **options) -> bytes:
    blocks = read_blocks(Source(**options), stdin=io.BytesIO(data))
    return b"".join(bytes(block.data) for block in blocks)


def message_of(data: bytes) -> str:
    with pytest.raises(InputError) as caught:
        read(data)
    return caught.value.message


def test_text_comes_back(kind):
    assert read(PACK[kind](TEXT)) == TEXT
    assert read(PACK[kind](b"")) == b""


def test_members_follow_each_other(kind):
    assert read(PACK[kind](b"one ") + PACK[kind](b"") + PACK[kind](TEXT)) == b"one " + TEXT


def test_data_that_is_cut_is_refused(kind):
    data = PACK[kind](TEXT)
    for length in (17, len(data) // 2, len(data) - 1):
        assert f"cannot read stdin: its {kind} data ends too early, after " in message_of(data[:length])


def test_damaged_data_is_refused(kind):
    data = bytearray(PACK[kind](TEXT))
    for place in range(len(data) // 2, len(data) // 2 + 40):
        data[place] ^= 0xA5
    message = message_of(bytes(data))
    assert message.startswith(f"cannot read stdin: its {kind} data is damaged, after ") or "ends too early" in message


def test_what_follows_must_be_a_member(kind):
    assert "bytes of text" in message_of(PACK[kind](b"one") + b"trailing garbage, of some length")


def test_zeros_pad_gzip_and_xz():
    assert read(gzip.compress(b"a") + bytes(512)) == b"a"
    assert read(lzma.compress(b"a") + bytes(4) + lzma.compress(b"b")) == b"ab"


def test_skippable_frames_are_skipped():
    frame = b"\x50\x2a\x4d\x18" + (4).to_bytes(4, "little") + b"skip"
    assert read(frame + PACK["zstd"](b"text")) == b"text"


def test_a_window_that_takes_too_much_memory_is_no_damage():
    def frame(window_log: int) -> bytes:  # of one block, which is stored: x
        return b"\x28\xb5\x2f\xfd" + bytes((0, (window_log - 10) << 3)) + b"\x09\0\0x"

    assert read(frame(27)) == b"x"
    for window_log in (28, 31):
        with pytest.raises(InputError) as caught:
            read(frame(window_log))
        assert (caught.value.message, caught.value.hint) == (
            "cannot read stdin: its zstd data takes a window of more than 128 MiB, as `zstd --long` makes it",
            "decompress it: zstd -dc --long=31 FILE | bpe ...",
        )


def test_a_bomb_is_read_in_bounded_memory(kind):
    data = QUICKLY[kind](bytes(32 << 20))
    tracemalloc.start()
    blocks = read_blocks(Source(block_bytes=1 << 20), stdin=io.BytesIO(data))
    assert sum(len(block.data) for block in blocks) == 32 << 20
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 << 20


def test_compression_can_be_left_alone(kind):
    data = PACK[kind](b"text")
    assert read(data, decompress=False) == data


@pytest.mark.parametrize("data", [b"\x1f\x8b", b"BZh9 is text", b"BZh", b"\xfd7z", b"PAR1 text PAR1", b"P*M\x17"])
def test_text_that_only_begins_so_is_text(data):
    assert read(data) == data


def test_a_text_from_the_command_line_is_never_decompressed():
    text = gzip.compress(b"x", mtime=0).decode("utf-8", "surrogateescape")
    (block,) = read_blocks(Source(text=text), stdin=io.BytesIO())
    assert block.data == gzip.compress(b"x", mtime=0)


def test_zstd_without_a_library_says_how_to_get_one(monkeypatch):
    monkeypatch.setattr(compression, "optional", lambda module: None)
    with pytest.raises(InputError, match="compressed with zstd") as caught:
        read(PACK["zstd"](b"x"))
    assert "pip install zstandard" in caught.value.hint


def test_folders_look_through_compression(tmp_path):
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"text"))
    (tmp_path / "b.gz").write_bytes(gzip.compress(b"\0binary"))
    skipped = []
    blocks = list(read_blocks(Source((str(tmp_path),)), stdin=io.BytesIO(), on_skip=skipped.append))
    assert [bytes(block.data) for block in blocks] == [b"text"]
    assert len(skipped) == 1


def test_optional_gives_none_for_what_is_not_there(monkeypatch):
    monkeypatch.setitem(sys.modules, "isal.igzip_lib", None)
    assert compression.optional("isal.igzip_lib") is None
