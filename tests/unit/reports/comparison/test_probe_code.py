"""What code costs: indentation by hand, files indented anew and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.reports.comparison.probe_code import FRAGMENTS, INDENTS, LEVELS, indent_of, probe_code, reindented
from bpe_cli.support.samples import samples
from bpe_cli.tokenizer.named_encodings import named
from tests.unit.reports.comparison.tiny import tiny
from tests.unit.reports.published import published

CODE = b"if x:\n    y\n    if z:\n        w\n"


def test_by_hand():
    probe = probe_code([tiny()], {"a.py": CODE}, source="here")
    (result,) = probe.results  # every byte is a token
    assert (probe.source, probe.names, probe.byte_count, probe.blank_bytes) == ("here", ("a.py",), 32, 22)
    assert probe.blank_share == 22 / 32
    assert result.as_written == (32,)
    assert (result.blank_tokens, result.blank_share) == (22, 22 / 32)
    assert dict(zip(INDENTS, result.reindented_sums, strict=True)) == {"2 spaces": 24, "4 spaces": 32, "tabs": 20}
    assert result.tabs_per_spaces == 20 / 32
    two, four, tabs = result.indents
    levels = range(1, LEVELS + 1)
    assert (two, four, tabs) == (tuple(2 * n for n in levels), tuple(4 * n for n in levels), tuple(levels))
    assert result.fragments == tuple(map(len, FRAGMENTS))
    assert result.one_token_fragments == 0
    assert result.lossless


def test_an_indentation_that_is_one_token_with_the_line_feed():
    pattern = r"\n[ \t]*|[^\n]+"
    merged = tiny(b"\n\t", b"\n\t\t", pattern=pattern)
    (result,) = probe_code([merged], {}).results
    assert result.indents[2][:3] == (0, 0, 1)
    assert result.fragments[FRAGMENTS.index("\n\t")] == 1
    assert (result.blank_share, result.tabs_per_spaces) == (None, None)


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        (CODE, 4),
        (b"a\n\tb\n\t\tc\n", 0),
        (b"a\n  b\n    c\n        d(x,\n          y)\n", 2),
        (b"/*\n * a\n */\nx\n    y\nz\n    w\n", 4),  # a star's column is no level
        (b"a\n b\n", 1),
        (b"a\nb\n", None),
        (b"", None),
        (b"a\n   \n\t\n", None),
        (b"a\n  b\nc\n    d\n", 2),  # as frequent as 4: the smaller
    ],
)
def test_units_by_hand(text, unit):
    assert indent_of(text) == unit


def test_alignment_stays_spaces_and_blank_lines_stay():
    text = b"f(a,\n  b)\n  c\n    d\n     e\n   \n"
    assert reindented(text, b"\t") == b"f(a,\n\tb)\n\tc\n\t\td\n\t\t e\n   \n"


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from([b"x", b"y z", b"", b"\xff"])), max_size=12))
def test_there_and_back(lines):
    """Lines in whole levels come back from any unit, once the unit can be told."""
    text = b"\n".join(
        b"    " * level + content for level, content in [(0, b"a"), (1, b"b"), (0, b"a"), (1, b"b"), *lines]
    )
    for unit in INDENTS.values():
        there = reindented(text, unit)
        assert [line.lstrip() for line in there.split(b"\n")] == [line.lstrip() for line in text.split(b"\n")]
    tabs = reindented(text, b"\t")
    if indent_of(text) == 4:
        assert reindented(tabs, b"    ") == text


@given(st.binary(max_size=60))
def test_any_bytes_can_be_indented(text):
    for unit in INDENTS.values():
        assert reindented(text, unit).translate(None, b" \t") == text.translate(None, b" \t")


def test_the_built_in_files():
    units = {name: indent_of(text) for name, text in samples("code").items()}
    assert units["Makefile"] == units["dirsum.go"] == 0
    assert units["tide_table.py"] == units["interval_set.rs"] == 4
    probe = probe_code([named("gpt2"), named("o200k_base")], samples("code"))
    gpt2, o200k = probe.results
    assert gpt2.token_count == sum(len(named("gpt2").encode(text)) for text in samples("code").values())
    assert gpt2.blank_share > 2 * o200k.blank_share  # gpt2 has no long runs of spaces
    assert o200k.indents[1] == (1,) * LEVELS


def test_white_space_that_is_lost_costs_nothing_and_is_told(shared):
    bert = published(shared / "vocabs" / "bert-base-uncased").tokenizer
    (result,) = probe_code([bert], {"a": CODE}).results
    assert (result.indents, result.blank_tokens, result.lossless) == (((0,) * LEVELS,) * 3, 0, False)
