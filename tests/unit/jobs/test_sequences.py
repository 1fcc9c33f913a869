"""Sequences hold the ids of documents, in order, none twice and none lost, however the blocks are cut."""

from __future__ import annotations

from array import array
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.errors import UsageError
from bpe_cli.jobs.prepare import sequences as module
from bpe_cli.jobs.prepare.sequences import SequenceOptions, best_fit, sequences
from bpe_cli.sinks.beside import Beside
from bpe_cli.support.blocks import Block

DOCUMENTS = st.lists(st.lists(st.integers(0, 9), max_size=12), max_size=12)
PAD = 99


class Kept:
    """A sink that keeps what it gets."""

    is_binary = True

    def __init__(self) -> None:
        self.rows: list[list[int]] = []
        self.masks: list[list[int]] = []
        self.pieces: list[list[int]] = []

    def write(self, block: Block, ids: memoryview, ends: memoryview, beside: Beside | None = None) -> None:
        assert (block.ended, len(ids)) == (len(ends), ends[-1])
        for start, end in zip([0, *ends], ends, strict=False):
            self.rows.append(ids[start:end].tolist())
            if beside is not None and beside.mask is not None:
                self.masks.append(beside.mask[start:end].tolist())
        if beside is not None and beside.pieces is not None:
            self.pieces += [row.tolist() for row in beside.pieces.rows()]


def learnt(id_: int) -> int:
    """Return the mask of an id, for the tests."""
    return int(id_ % 3 == 0 and id_ != PAD)


def made(
    documents: list[list[int]], options: SequenceOptions, cuts: list[int], *, beside: bool = False
) -> tuple[list[list[int]], module.Sequences]:
    """Make sequences of documents whose ids come in blocks that are cut at random places."""
    kept = Kept()
    way = sequences(kept, options, masked=beside, pieces=beside)
    ids = array("I", chain.from_iterable(documents))
    mask = array("B", map(learnt, ids))
    ends, end = [], 0
    for document in documents:
        end += len(document)
        ends.append(end)
    start = done = 0
    for cut in sorted({min(cut, len(ids)) for cut in cuts} | {len(ids)}):
        last = cut == len(ids)
        closed = [end - start for end in ends[done:] if end < cut or (end == cut and last)]
        is_open = not last and (start + closed[-1] if closed else ends[done - 1] if done else 0) < cut
        block_ends = array("Q", [*closed, *([cut - start] if is_open else [])])
        begun = start > (ends[done - 1] if done else 0)
        if block_ends:
            block = Block(b"", block_ends, begun, is_open)
            masked = Beside(memoryview(mask)[start:cut]) if beside else None
            way.write(block, memoryview(ids)[start:cut], memoryview(block_ends), masked)
            done += len(closed)
            start = cut
    way.finish()
    assert way.documents == len(documents)
    if beside:
        assert kept.masks == [[learnt(id_) for id_ in row] for row in kept.rows]
        way.pieces = kept.pieces  # type: ignore[attr-defined]
    return kept.rows, way


def pieces(document: list[int], length: int) -> list[list[int]]:
    return [document[at : at + length] for at in range(0, len(document), length)]


@pytest.mark.parametrize("pad", [None, PAD])
@pytest.mark.parametrize("way", ["truncate", "split", "concatenate", "best-fit"])
@given(documents=DOCUMENTS, length=st.integers(1, 10), cuts=st.lists(st.integers(0, 100), max_size=5))
def test_sequences_are_those_of_the_plain_way(
    way: module.Way, pad: int | None, documents: list[list[int]], length: int, cuts: list[int]
) -> None:
    rows, made_by = made(documents, SequenceOptions(length, way, pad), cuts)
    if way == "truncate":
        expected = [document[:length] for document in documents if document]
    elif way == "split":
        expected = [piece for document in documents for piece in pieces(document, length)]
    elif way == "concatenate":
        expected = pieces(list(chain.from_iterable(documents)), length)
    else:
        all_pieces = [piece for document in documents for piece in pieces(document, length)]
        together = best_fit([len(piece) for piece in all_pieces], length)
        expected = [list(chain.from_iterable(all_pieces[number] for number in numbers)) for numbers in together]
    tokens = sum(map(len, documents))
    assert made_by.left_out == tokens - sum(map(len, expected))
    assert made_by.left_out == 0 or way == "truncate"
    if pad is not None:
        assert made_by.padding == sum(length - len(row) for row in expected)
        expected = [row + [pad] * (length - len(row)) for row in expected]
    assert rows == expected
    assert made(documents, SequenceOptions(length, way, pad), cuts, beside=True)[0] == expected


@pytest.mark.parametrize("pad", [None, PAD])
@pytest.mark.parametrize("way", ["truncate", "split", "concatenate", "best-fit"])
@given(sizes=st.lists(st.integers(0, 12), max_size=12), length=st.integers(1, 10), cuts=st.lists(st.integers(0, 100)))
def test_pieces_are_the_stretches_of_a_row_that_are_of_one_document(
    way: module.Way, pad: int | None, sizes: list[int], length: int, cuts: list[int]
) -> None:
    """Each id is the number of its document; a document may give one row several pieces only where it was cut."""
    documents = [[100 + number] * size for number, size in enumerate(sizes)]
    rows, made_by = made(documents, SequenceOptions(length, way, pad), cuts, beside=True)
    assert len(rows) == len(made_by.pieces)  # type: ignore[attr-defined]
    for row, pieces in zip(rows, made_by.pieces, strict=True):  # type: ignore[attr-defined]
        start = 0
        found = []
        for size in pieces:
            assert size
            assert len(set(row[start : start + size])) == 1
            found.append(row[start])
            start += size
        assert row[start:] == [PAD] * (len(row) - start)
        if way != "best-fit":  # there the rest of a document may stand beside one of its pieces
            assert len(found) == len(set(found))


@given(st.lists(st.integers(1, 20), max_size=40), st.integers(20, 30))
def test_best_fit_puts_every_piece_into_one_sequence(sizes: list[int], length: int) -> None:
    packed = best_fit(sizes, length)
    assert sorted(chain.from_iterable(packed)) == list(range(len(sizes)))
    assert all(sum(sizes[number] for number in numbers) <= length for numbers in packed)
    assert [numbers[0] for numbers in packed] == sorted(numbers[0] for numbers in packed)
    # The plain way: for each piece, the longest first, the sequence with the least room that is enough.
    rooms: list[int] = []
    for size in sorted(sizes, reverse=True):
        fitting = [room for room in rooms if room >= size]
        if fitting:
            rooms.remove(min(fitting))
            rooms.append(min(fitting) - size)
        else:
            rooms.append(length - size)
    assert len(packed) == len(rooms)
    assert sorted(length - sum(sizes[number] for number in numbers) for numbers in packed) == sorted(rooms)


def test_best_fit_keeps_to_its_window(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WINDOW", 10)
    rows, _ = made([[1] * 6, [2] * 4, [3] * 2, [4] * 6, [5] * 2], SequenceOptions(8, "best-fit"), [])
    assert rows == [[1] * 6, [2] * 4, [3] * 2 + [4] * 6, [5] * 2]


def test_a_sequence_has_an_id() -> None:
    with pytest.raises(UsageError, match="at least 1"):
        SequenceOptions(0)


def test_a_sequence_has_no_absurd_length() -> None:
    """The first was said to be no JSON, and the second not to fit into memory, however small the inputs were."""
    with pytest.raises(UsageError, match=r"a sequence has at most 9,223,\S* ids, not 9,999,999,\S*$") as caught:
        SequenceOptions(10**22 - 1)
    assert caught.value.hint == "use a smaller `length`"
    assert SequenceOptions((1 << 63) - 1).length == (1 << 63) - 1
    with pytest.raises(UsageError, match=r"a padded sequence has at most 2,147,483,647 ids, not 99,999,999,999$"):
        SequenceOptions(99_999_999_999, pad=0)
    assert SequenceOptions((1 << 31) - 1, pad=0).pad == 0


def test_padding_that_does_not_fit_into_memory_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(code: str, *values: list[int]) -> array[int]:
        if code == "B":
            raise MemoryError
        return array(code, *values)

    monkeypatch.setattr(module, "array", full)
    with pytest.raises(UsageError, match="there is not enough memory to pad a sequence to 8 ids"):
        made([[1] * 6], SequenceOptions(8, "truncate", pad=0), [])
