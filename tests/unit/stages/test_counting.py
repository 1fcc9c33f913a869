"""Counting pieces: by a splitter and by stages it comes to the same, however text is laid into blocks."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli import _core
from bpe_cli.errors import FormatError, TrainingError, UsageError
from bpe_cli.stages import PrefixSpace, Split
from bpe_cli.stages.component_json import core_spec
from bpe_cli.stages.counting import SplitText, StagedText, count_blocks, matcher_of
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.stages.splitters import RegexSplitter, compile_splitter
from bpe_cli.support.blocks import Block
from bpe_cli.trainers.counts import (
    DEFAULT_MAX_MEMORY,
    STEPS_BYTES,
    counts_of,
    items_of,
    kept_characters,
    mark_pieces,
    new_counts,
    pieces_of,
    read_words,
    small,
)

PATTERN = PATTERNS["gpt2"].regex


def counted(cutter, blocks, specials=()):
    counts = new_counts()
    count_blocks(blocks, cutter, counts, 1, matcher_of(specials))
    return pieces_of(counts)


def test_a_worked_example():
    split = SplitText(compile_splitter((PATTERN,)), prefix_space=True)
    blocks = [Block.of([b"low low<s>low", b" low"])]
    assert counted(split, blocks) == {b" low": 3, b"<": 1, b"s": 1, b">": 1, b"low": 1}
    assert counted(split, blocks, ("<s>",)) == {b" low": 4}


@given(st.lists(st.text("ab <s>'1é\n", max_size=12), max_size=4), st.data(), st.booleans(), st.booleans())
def test_all_ways_agree_however_text_is_cut(texts, data, spaced, special):
    specials = ("<s>",) if special else ()
    stages = _core.Stages(core_spec((), ((PrefixSpace(),) if spaced else ()) + (Split(PATTERN),)))
    documents = [text.encode() for text in texts]
    expected = counted(StagedText(stages), [Block.of(documents)], specials)
    blocks = []
    for document in documents:
        at = data.draw(st.integers(0, len(document)))
        blocks.append(Block(document[:at], array("Q", [at]), unfinished=True))
        blocks.append(Block(document[at:], array("Q", [len(document) - at]), continued=True))
    for cutter in (
        StagedText(stages),
        SplitText(compile_splitter((PATTERN,)), spaced),
        SplitText(RegexSplitter((PATTERN,)), spaced),
    ):
        assert counted(cutter, blocks, specials) == expected


def test_what_does_not_fit_says_what_to_do():
    with pytest.raises(TrainingError, match="too many different pieces") as caught:
        count_blocks(
            [Block.of([b"%d" % number for number in range(50_000)])],
            SplitText(compile_splitter(()), prefix_space=False),
            new_counts(1000),
            smaller="take less",
        )
    assert caught.value.hint == "take less"


def test_coverage_that_is_reached_exactly_is_enough():
    counts = {"a": 8, "b": 1, "c": 1}
    kept = [kept_characters(counts, coverage=share) for share in (0.75, 0.8, 0.85, 0.9, 1.0)]
    assert kept == [["a"], ["a"], ["a", "b"], ["a", "b"], ["a", "b", "c"]]


def test_what_is_always_there_comes_by_its_count():
    assert kept_characters({"b": 1}, limit=1, always="ab") == ["b"]
    assert kept_characters({"b": 1, "c": 9}, limit=2, always="ab") == ["a", "b"]


def test_the_limit_of_memory_is_what_the_help_says():
    from bpe_cli.cli.app import load, root
    from bpe_cli.cli.help import text_of

    shown = text_of("train", root, {"train": load("train")}, whole=True)
    assert f"[default: {DEFAULT_MAX_MEMORY >> 20}]" in " ".join(shown.split("--max-memory MIB")[1].split()[:20])
    assert DEFAULT_MAX_MEMORY == 4096 * 1024 * 1024


@pytest.mark.parametrize(
    "pieces",
    [[b"a" * (STEPS_BYTES + 1)], [b"a" * (STEPS_BYTES // 2), b"b" * (STEPS_BYTES // 2 + 1)],
     [number.to_bytes(3, "big") for number in range(STEPS_BYTES + 1)]],
    ids=["one", "two", "many"],
)  # fmt: skip
def test_more_than_a_textbook_takes(pieces):
    with pytest.raises(UsageError, match="`steps` is for small corpora: up to 20,000 bytes"):
        small(counts_of([(piece, 1) for piece in pieces]))
    assert small(counts_of([(b"a" * STEPS_BYTES, 2)])) == {b"a" * STEPS_BYTES: 2}


@pytest.mark.parametrize("longest", [0, 1, 2, 3, 4])
def test_words_are_marked_with_what_no_piece_holds(longest):
    counts = counts_of([(b"undo", 2), (b"a" + b"\xff" * longest + b"b", 1), (b" undo", 3)])
    marked, mark = mark_pieces(counts, {"undo": ("un", "do")})
    assert mark == b"\xff" * (longest + 1)
    assert dict(items_of(marked)) == {
        b"un" + mark + b"do": 2, b"a" + b"\xff" * longest + b"b": 1, b" un" + mark + b"do": 3,
    }  # fmt: skip


def test_segmented_words_are_read_past_blank_lines():
    assert read_words(["un|do\n", "  \n", "re|do\n", "un|do"]) == {"undo": ("un", "do"), "redo": ("re", "do")}
    with pytest.raises(FormatError, match="line 3 of the segmented words cuts 'undo' in another way"):
        read_words(["un|do", "", "und|o"])
