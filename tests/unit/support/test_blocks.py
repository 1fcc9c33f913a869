"""Documents are made whole in one place: held to a plain join over every way to cut them into blocks."""

from __future__ import annotations

import tracemalloc
from array import array
from collections.abc import Iterator
from contextlib import nullcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.errors import InputError
from bpe_cli.support import blocks as blocks_module
from bpe_cli.support.blocks import Block, settle, whole_documents


def cut(documents: list[bytes], cuts: list[int]) -> list[Block]:
    """Lay documents into blocks that end at some offsets of all their bytes, inside of documents or not."""
    text = b"".join(documents)
    borders = sorted({cut % (len(text) + 1) for cut in cuts} | {len(text)})
    blocks, parts, ends = [], bytearray(), array("Q")
    offset, is_open, continued = 0, False, False
    for document in documents:
        begin = 0
        while inside := [b for b in borders if offset + begin < b < offset + len(document)]:
            parts += document[begin : inside[0] - offset]
            ends.append(len(parts))
            blocks.append(Block(bytes(parts), ends, continued, unfinished=True))
            parts, ends, continued = bytearray(), array("Q"), True
            begin = inside[0] - offset
        parts += document[begin:]
        ends.append(len(parts))
        offset += len(document)
        if offset in borders:
            blocks.append(Block(bytes(parts), ends, continued))
            parts, ends, continued = bytearray(), array("Q"), False
        elif continued:
            is_open = False
    if ends:
        blocks.append(Block(bytes(parts), ends, continued))
    assert not is_open
    return blocks


@given(st.lists(st.binary(max_size=6), max_size=6), st.lists(st.integers(0, 60), max_size=8))
def test_documents_come_back_whole(documents, cuts):
    assert [each for batch in whole_documents(cut(documents, cuts)) for each in batch] == documents


def test_a_document_of_many_blocks_is_one():
    blocks = [Block(b"ab", array("Q", [2]), continued=n > 0, unfinished=n < 3) for n in range(4)]
    assert list(whole_documents(blocks)) == [[b"abababab"]]


@pytest.mark.parametrize("size", [5, 100])
def test_a_document_that_is_too_large_is_refused_before_it_is_whole(size):
    blocks = (Block(b"abc", array("Q", [3]), continued=n > 0, unfinished=True) for n in range(size))
    with pytest.raises(InputError, match="too large"):
        list(whole_documents(blocks, 5, lambda: InputError("too large")))
    assert next(blocks, None) is not None


@given(st.lists(st.binary(max_size=12), max_size=6), st.lists(st.integers(0, 80), max_size=8), st.integers(0, 8))
def test_of_long_documents_so_much_is_held_as_tells_that_they_are_long(documents, cuts, largest):
    whole = [each for batch in whole_documents(cut(documents, cuts), largest) for each in batch]
    assert len(whole) == len(documents)
    for found, document in zip(whole, documents, strict=True):
        assert found == document if len(document) <= largest else len(found) > largest


def test_a_document_of_just_so_many_bytes_is_not_too_large():
    blocks = [Block(b"abc", array("Q", [3]), unfinished=True), Block(b"de", array("Q", [2]), continued=True)]
    assert list(whole_documents(blocks, 5, lambda: InputError("too large"))) == [[b"abcde"]]
    with pytest.raises(InputError, match="too large"):
        list(whole_documents(blocks, 4, lambda: InputError("too large")))


def test_no_more_is_held_of_a_document_that_is_left_out():
    part = bytes(1000)
    blocks = [Block(part, array("Q", [1000]), continued=n > 0, unfinished=n < 99) for n in range(100)]
    assert [len(each) for batch in whole_documents(blocks, 10) for each in batch] == [11 + 1000]


def test_nothing_is_held_of_a_document_that_was_given_out():
    def blocks() -> Iterator[Block]:
        for part in range(8):
            yield Block(bytes(1 << 20), array("Q", [1 << 20]), continued=part > 0, unfinished=part < 7)
        yield Block(b"a", array("Q", [1]))

    tracemalloc.start()
    try:
        for documents in whole_documents(blocks()):
            size = len(documents.pop())
            held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size == 1
    assert held < 4 << 20


@given(st.lists(st.binary(max_size=6), max_size=6), st.lists(st.integers(0, 60), max_size=8))
def test_parts_say_what_begins_and_ends(documents, cuts):
    blocks = cut(documents, cuts)
    parts = [part for block in blocks for part in block.parts()]
    assert b"".join(bytes(data) for data, _, _ in parts) == b"".join(documents)
    assert sum(begins for _, begins, _ in parts) == sum(ends for _, _, ends in parts) == len(documents)
    assert sum(block.begun for block in blocks) == sum(block.ended for block in blocks) == len(documents)
    for block in blocks:
        assert block.open_bytes == sum(len(data) for data, _, ends in block.parts() if not ends)


def after_blank(data: bytes | memoryview) -> int:
    return bytes(data).rfind(b" ") + 1


@given(st.lists(st.text("a ", max_size=9).map(str.encode), max_size=6), st.lists(st.integers(0, 60), max_size=12))
def test_settled_blocks_hold_the_same_documents_and_are_cut_at_safe_places(documents, cuts):
    settled = list(settle(cut(documents, cuts), after_blank, 100))
    assert all(type(block.data) in (bytes, memoryview) and block.ends[-1] == len(block.data) for block in settled)
    open_ends = [bytes(part) for block in settled for part, _, ends in block.parts() if not ends]
    assert all(part.endswith(b" ") for part in open_ends)
    assert [each for batch in whole_documents(settled) for each in batch] == documents


@pytest.mark.parametrize("size", [2, 100])
def test_a_text_without_a_safe_place_is_refused_while_it_is_read(size):
    blocks = (Block(b"abc", array("Q", [3]), continued=n > 0, unfinished=True) for n in range(size + 3))
    with pytest.raises(InputError, match="a text without a safe place to cut it is longer than 4 GiB"):
        list(settle(blocks, after_blank, 5))
    assert next(blocks, None) is not None


def between_bars(data: bytes | memoryview) -> tuple[int, int]:
    parts = bytes(data).split(b"|")
    return max(map(len, parts)), len(data) - len(parts[-1])


@given(st.text("ab|", max_size=60).map(str.encode), st.lists(st.integers(0, 60), max_size=20))
def test_a_text_is_refused_as_soon_as_a_stretch_of_it_is_too_long(text, cuts):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks_module, "_LONGEST_MARK", 0)
        parts = [*sorted({min(each, len(text)) for each in cuts}), len(text)]
        given_bytes = 0

        def given_blocks():
            nonlocal given_bytes
            for block in cut([text], parts):
                given_bytes += len(block.data)
                yield block

        try:
            settled = list(settle(given_blocks(), lambda _: 0, 5, between_bars))
        except InputError:
            # What had come was too long, and what had come before it was not.
            assert between_bars(text[:given_bytes])[0] > 5
            before = max((each for each in parts if each < given_bytes), default=0)
            assert between_bars(text[:before])[0] <= 5
        else:
            assert b"".join(bytes(block.data) for block in settled) == text
            last = max((each for each in parts if each < len(text)), default=0)
            assert between_bars(text[:last])[0] <= 5


def pieces_of_one_text(*parts: bytes) -> Iterator[Block]:
    for number, part in enumerate(parts):
        yield Block(part, array("Q", [len(part)]), continued=number > 0, unfinished=True)


def test_what_is_held_goes_on_where_something_of_its_text_was_given_out():
    """So it is, however many blocks come before another place to cut."""
    settled = list(settle(pieces_of_one_text(b"a b", b"ccc", b"dddddd"), after_blank))
    assert [(bytes(block.data), block.continued) for block in settled] == [(b"a ", False), (b"bcccdddddd", True)]
    blocks = [
        Block(b"a b", array("Q", [3]), unfinished=True),
        Block(b"c", array("Q", [1, 1]), continued=True, unfinished=True),  # its text ends, and another begins
        Block(b"d", array("Q", [1]), continued=True),
    ]
    assert [block.continued for block in settle(blocks, after_blank)] == [False, True, False]


def test_one_byte_more_than_may_be_held_is_too_much():
    pieces = pieces_of_one_text(b"a" * 5, b"a", b"b")
    with pytest.raises(InputError, match="without a safe place"):
        next(settle(pieces, lambda _: 0, 5))
    assert [block.data for block in pieces] == [b"b"], "nothing is read after it"
    assert b"".join(block.data for block in settle(pieces_of_one_text(b"aa", b"aaa"), lambda _: 0, 5)) == b"a" * 5


@pytest.mark.parametrize(("over", "is_refused"), [(0, False), (1, True)])
def test_a_stretch_may_be_longer_by_what_can_divide_it(over, is_refused):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks_module, "_LONGEST_MARK", 3)
        held = settle(pieces_of_one_text(b"a" * (5 + 3 + over)), lambda _: 0, 5, between_bars)
        with pytest.raises(InputError) if is_refused else nullcontext():
            assert [bytes(block.data) for block in held] == [b"a" * 8]


def test_what_is_held_is_counted_from_the_last_safe_place():
    blocks = (Block(b"a bcd", array("Q", [5]), continued=n > 0, unfinished=n < 9) for n in range(10))
    assert sum(len(block.data) for block in settle(blocks, after_blank, 5)) == 50


@pytest.mark.parametrize("at", range(4))
def test_a_document_that_is_held_ends_where_it_ends(at):
    """The next begins in the block in which it ends, and goes on in another."""
    blocks = [
        Block(b"aaaa", array("Q", [4]), unfinished=True),
        Block(b"bcc", array("Q", [1, 3]), continued=True, unfinished=True),
        Block(b"cd", array("Q", [1, 2]), continued=True),
    ]
    documents: list[bytes] = []
    for block in settle(blocks, lambda text: min(at, len(text))):
        for number, part in enumerate(block.documents()):
            if number == 0 and block.continued:
                documents[-1] += bytes(part)
            else:
                documents.append(bytes(part))
    assert documents == [b"aaaab", b"ccc", b"d"]
