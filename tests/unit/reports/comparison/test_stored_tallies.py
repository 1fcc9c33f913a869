"""Tallies that are stored come back as they were, and what is damaged is refused by name."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.errors import FormatError
from bpe_cli.reports.comparison import stored_tallies
from bpe_cli.reports.comparison.input_accounts import TextSize
from bpe_cli.reports.comparison.stored_tallies import DocumentCounts, StoredInput, counts_in, dump, load

NUMBERS = st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=50), max_size=9)
INPUTS = st.lists(
    st.builds(
        StoredInput,
        st.text(st.characters(codec="utf-8")),
        st.builds(TextSize, *[st.integers(0, 1 << 50)] * 4),
        st.none() | st.just("abc"),
        st.none() | st.lists(st.binary()).map(tuple),
        st.lists(st.tuples(st.just({"type_count": 3}), st.binary(), st.binary()), max_size=3).map(tuple),
    ),
    max_size=4,
)


@given(NUMBERS, st.integers(1, 100))
def test_documents_come_back_in_order(numbers: list[list[int]], chunk: int) -> None:
    kept = DocumentCounts()
    for each in numbers:
        kept.extend(array("Q", each))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(stored_tallies, "_CHUNK", chunk)
        found = [number for block in counts_in(kept.close()) for number in block]
    assert found == [number for each in numbers for number in each]


@given(NUMBERS, st.data())
def test_documents_that_are_damaged_are_refused(numbers: list[list[int]], data: st.DataObject) -> None:
    kept = DocumentCounts()
    for each in numbers:
        kept.extend(array("Q", each))
    stored = kept.close()
    cut = stored[: data.draw(st.integers(0, len(stored) - 1))]
    for damaged in (cut, stored + b"x"):
        with pytest.raises(ValueError, match="the documents are"):
            list(counts_in(damaged))


@given(INPUTS)
def test_inputs_come_back(inputs: list[StoredInput]) -> None:
    stored = dump(inputs)
    assert load(stored, "x") == inputs
    for damaged in (stored[:-1], stored + b"x", b"", b"[1]\n", b'{"format": "bpe-tallies", "version": 1}\n'):
        with pytest.raises(FormatError, match=r"^x "):
            load(damaged, "x")


@given(INPUTS, st.data())
def test_whatever_is_damaged_is_an_error_or_other_tallies(inputs: list[StoredInput], data: st.DataObject) -> None:
    stored = bytearray(dump(inputs))
    for _ in range(data.draw(st.integers(1, 4))):
        stored[data.draw(st.integers(0, len(stored) - 1))] = data.draw(st.integers(0, 255))
    try:
        loaded = load(bytes(stored), "x")
    except FormatError:  # and no other error
        loaded = []
    assert all(isinstance(each, StoredInput) for each in loaded)
