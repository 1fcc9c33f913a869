"""Whether texts can overlap: as a plain search says it, in time and memory that are linear."""

from __future__ import annotations

import random
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.formats.overlaps import overlap
from tests.work import assert_little_work

TEXTS = st.lists(st.text("abc", max_size=6).map(str.encode), max_size=4)


@given(ones=TEXTS, others=TEXTS)
def test_it_is_as_a_plain_search_says(ones, others):
    expected = any(
        one[start:].startswith(other) or other.startswith(one[start:])
        for one in ones
        for other in others
        for start in range(len(one))
    )
    assert overlap(ones, others) == expected


@pytest.mark.parametrize(
    ("ones", "others"),
    [
        ([b"a" * 5_000 + b"b"], [b"a" * 5_000 + b"c"]),
        ([random.Random(1).randbytes(5_000) + b"\0"], [b"ab"] * 9),
    ],
    ids=["runs", "random"],
)
def test_long_texts_are_little_work(ones, others):
    size = sum(map(len, (*ones, *others)))
    found = []
    tracemalloc.start()
    try:
        found.append(overlap(ones, others))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 400 * size
    assert_little_work(lambda: found.append(overlap(ones, others)), size=size, most_lines=40 * size, most_cost=25)
    assert len(set(found)) == 1
