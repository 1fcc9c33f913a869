"""Blocks hold the same documents whatever their size, and lines are what bytes.split says."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.corpus import Source, read_blocks
from bpe_cli.corpus.documents import Packer, limited, pack_lines, pack_whole
from bpe_cli.corpus.jsonl import pack_jsonl
from bpe_cli.corpus.rows import Place
from bpe_cli.errors import UsageError
from bpe_cli.support.blocks import Block

SMALL_BYTES = st.lists(st.sampled_from([b"\n", b"\r", b"\r\n", b"a", b"bc", b"\0", "é".encode()]), max_size=30).map(
    b"".join
)


def joined(blocks: list[Block]) -> list[bytes]:
    """Put documents together again, checking the flags on the way."""
    documents: list[bytes] = []
    is_open = False
    for block in blocks:
        assert block.continued == is_open
        assert block.ends[-1] == len(block.data)
        for number, part in enumerate(block.documents()):
            if number == 0 and block.continued:
                documents[-1] += part
            else:
                documents.append(bytes(part))
        is_open = block.unfinished
    assert not is_open
    return documents


def lines_oracle(data: bytes) -> list[bytes]:
    lines = data.split(b"\n")
    closed = [line.removesuffix(b"\r") for line in lines[:-1]]
    return closed + ([lines[-1]] if lines[-1] else [])


def packed(pack, inputs, block_bytes, chunk_bytes):
    packer = Packer(block_bytes)
    blocks = []
    for data in inputs:
        blocks += pack(limited([data] if data else [], chunk_bytes), packer)
    return [*blocks, *packer.flush()]


@given(st.lists(SMALL_BYTES, max_size=4), st.integers(1, 12), st.integers(1, 9))
def test_lines_are_those_of_split(inputs, block_bytes, chunk_bytes):
    blocks = packed(pack_lines, inputs, block_bytes, chunk_bytes)
    assert joined(blocks) == [line for data in inputs for line in lines_oracle(data)]
    assert all(len(block.data) <= block_bytes for block in blocks)


@given(st.lists(SMALL_BYTES, max_size=6), st.integers(1, 12), st.integers(1, 9))
def test_whole_inputs_are_documents_byte_for_byte(inputs, block_bytes, chunk_bytes):
    blocks = packed(pack_whole, inputs, block_bytes, chunk_bytes)
    assert joined(blocks) == inputs
    assert all(len(block.data) <= block_bytes for block in blocks)


@given(st.lists(st.text(max_size=8), max_size=6), st.integers(1, 12), st.integers(1, 9))
def test_jsonl_documents_do_not_depend_on_blocks_or_chunks(texts, block_bytes, chunk_bytes):
    import json

    data = "".join(json.dumps({"text": text}) + "\n" for text in texts).encode()

    def pack(chunks, packer):
        return pack_jsonl(chunks, packer, lambda: Place("x", "x", 1, 0), "text")

    blocks = packed(pack, [data], block_bytes, chunk_bytes)
    assert joined(blocks) == [text.encode() for text in texts]
    assert all(len(block.data) <= block_bytes for block in blocks)


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"\n", [b""]),
        (b"a", [b"a"]),
        (b"a\n", [b"a"]),
        (b"a\r\nb\rc\n\r\n", [b"a", b"b\rc", b""]),
        (b"a\r\r\n", [b"a\r"]),
        (b"\r", [b"\r"]),
        (b"\xef\xbb\xbfa", [b"\xef\xbb\xbfa"]),
    ],
)
@pytest.mark.parametrize("block_bytes", [1, 2, 3, 100])
def test_lines_by_hand(data, lines, block_bytes):
    source = Source(documents="lines", block_bytes=block_bytes)
    assert joined(list(read_blocks(source, stdin=io.BytesIO(data)))) == lines == lines_oracle(data)


def test_small_documents_share_a_block():
    (block,) = read_blocks(Source(documents="lines"), stdin=io.BytesIO(b"a\nbb\n\nc"))
    assert (block.data, list(block.ends), block.continued, block.unfinished) == (b"abbc", [1, 3, 3, 4], False, False)


def test_ends_of_empty_documents_are_bounded_too():
    blocks = list(read_blocks(Source(documents="lines", block_bytes=1 << 20), stdin=io.BytesIO(b"\n" * (5 << 20))))
    assert sum(len(block.ends) for block in blocks) == 5 << 20
    assert max(len(block.ends) for block in blocks) <= (1 << 20) + (1 << 17)


def test_a_block_holds_a_byte_at_least():
    with pytest.raises(UsageError, match="at least 1 byte"):
        Source(block_bytes=0)
