"""Where lines, sentences and paragraphs end: as the rules say, in linear time."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_cli.tokenizer.parts import breaks
from tests.work import assert_little_work

MARKS, CLOSERS, BLANKS = ".!?…؟۔।॥։", "\"')]’”»", " \t\r\n\f\v"
WIDE_MARKS, WIDE_CLOSERS = "。！？", "」』）’”"


def sentence_ends(text: str) -> list[int]:
    """Return where sentences end, by the rule, character by character."""
    ends, place = [], 0
    while place < len(text):
        wide = text[place] in WIDE_MARKS
        marks, closers = (WIDE_MARKS, WIDE_CLOSERS) if wide else (MARKS, CLOSERS)
        if text[place] not in marks or (not wide and place and text[place - 1] in MARKS):
            place += 1
            continue
        after = place
        for kind in (marks, closers):
            while after < len(text) and text[after] in kind:
                after += 1
        rest = after
        while rest < len(text) and text[rest] in BLANKS:
            rest += 1
        if wide or ((rest > after or after == len(text)) and not "a" <= text[rest : rest + 1] <= "z"):
            ends.append(after)
            place = rest
        else:
            place += 1
    return ends


@settings(max_examples=300)
@given(st.text(MARKS[:4] + CLOSERS[:2] + CLOSERS[-3:] + " \n" + WIDE_MARKS[:2] + WIDE_CLOSERS + "aZ中", max_size=14))
def test_sentences_end_where_the_rule_says(text):
    offsets = [len(text[:place].encode()) for place in range(len(text) + 1)]
    assert breaks(text.encode(), offsets, "sentence") == sentence_ends(text)


@pytest.mark.parametrize("text", ["e.g. this", "e.g.  this", "e.g. \n this", "(e.g.)   this"])
def test_no_sentence_ends_before_a_small_letter_however_many_blanks_there_are(text):
    assert breaks(text.encode(), range(len(text) + 1), "sentence") == []


@pytest.mark.parametrize("kind", ["line", "sentence", "paragraph"])
@pytest.mark.parametrize("unit", [".", "…", ".)", "). ", "。", "」", " ", "\t", "\n", "\n \r", ". a", "…”"])
def test_runs_take_linear_time(kind, unit):
    data = (unit * 20_000 + "a").encode()
    assert_little_work(lambda: breaks(data, [], kind), size=len(data), most_lines=500_000, most_cost=50)
