"""How the steps of a text look, and what of them is JSON."""

from __future__ import annotations

import json
import math
from array import array
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from bpe_cli.formats import subword_nmt
from bpe_cli.reports.text.steps.pieces import Limits
from bpe_cli.stages import (
    ALGORITHMS,
    BertPreTokenizer,
    ByteLevelNormalizer,
    CharacterBpe,
    EventBpe,
    FewestTokens,
    GreedyCover,
    MaxMatch,
    NGram,
    ScoredBpe,
    SpecialToken,
    Unigram,
    WhitespaceSplit,
    WordLevel,
    WordPiece,
)
from bpe_cli.stages.models import SPLIT as APART
from bpe_cli.stages.spelling import CHAR_TO_BYTE
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.named_encodings import named
from bpe_cli.views.as_json import all_steps_json
from bpe_cli.views.steps import RULES, StepsView
from tests.unit.reports.text.telling import tell
from tests.unit.views.golden import CONSOLES, check, render

SPLIT = (WhitespaceSplit(),)
HUG = {"h": 15, "u": 36, "g": 20, "hu": 15, "ug": 20, "p": 17, "pu": 17, "n": 16, "hug": 15}


def vocabulary(*tokens: str) -> Vocabulary:
    return Vocabulary.from_tokens([token.encode() for token in tokens])


def tokenizers():
    """Return a small tokenizer of every family, and a text."""
    scores = array("d", [0.0, *(math.log(count / 210) for count in HUG.values())])
    codes = subword_nmt.load_codes(b"#version: 0.2\ne s\nes t</w>\nl o\nlo w\nn e\nne w\nw e\ne r</w>\n")
    in_bytes = [f"<0x{byte:02X}>" for byte in range(256)]
    scored = ScoredBpe(
        vocabulary("", "\u2581", "a", "b", "c", "ab", "\u2581ab", "abc", *in_bytes),
        array("d", [0, -9, -9, -9, -9, -1, -2.5, -3, *[0] * 256]),
        unk_id=0,
        kinds=bytes([2, 1, 1, 1, 1, 1, 1, 5, *[6] * 256]),
        byte_fallback=True,
    )
    events = EventBpe(
        vocabulary("<unk>", "a", "b", "c", "ab", "abb", "bc"),
        array("I", [1, 2, 4, 4, 2, 5, 4, APART, APART, 2, 3, 6, 5, APART, APART, 1, 2, 4]),
        0,
        ignore_merges=False,
    )
    longest = Tokenizer(
        CharacterBpe(
            vocabulary("<unk>", "est</w>", "ne", "we", "n", "w"), Merges.from_pairs([]), 0, end_of_word_suffix="</w>"
        ),
        SPLIT,
    )
    return {
        "ranks": (named("gpt2"), "hello naïve\t谁 hello 谁<|endoftext|>\n"),
        "subword-nmt": (subword_nmt.tokenizer_of(codes), "lower newest lower xyxl"),
        "events": (Tokenizer(events, SPLIT), "abab abbc xab aab"),
        "scores": (Tokenizer(scored), "\u2581abcé\u2581\u2581ab"),
        "wordpiece": (
            Tokenizer(
                WordPiece(vocabulary("[UNK]", "un", "u", "##aff", "##able", "##a"), 0, max_input_chars_per_word=20),
                (BertPreTokenizer(),),
            ),
            "unaffable unaffe x " + "una" * 9,
        ),
        "unigram": (Tokenizer(Unigram(vocabulary("<unk>", *HUG), scores, unk_id=0), SPLIT), "hug pug hüüg"),
        "unigram-from-end": (
            Tokenizer(Unigram(vocabulary("<unk>", *HUG), scores, unk_id=0, fixed_point=True), SPLIT),
            "hug pug hüüg",
        ),
        "words": (Tokenizer(WordLevel(vocabulary("<unk>", "a"), 0, fuse_unk=True), SPLIT), "a x y a"),
        "max-match": (Tokenizer(MaxMatch(vocabulary("ab", "abc", "c"), 9)), "abcx|c"),
        "greedy-cover": (
            Tokenizer(GreedyCover(vocabulary("e", "r", "s", "l", "low", "er", "lower"), 9)),
            "slowerlowerre",
        ),
        "fewest-tokens": (
            Tokenizer(
                FewestTokens(
                    vocabulary("abc", "a", "##d", "##bcd", "##e"),
                    5,
                    continuing_subword_prefix="##",
                    max_input_chars_per_word=6,
                ),
                SPLIT,
            ),
            "abcde abxd abcdede",
        ),
        "fewest-tokens-at-ends": (
            Tokenizer(
                FewestTokens(vocabulary("<unk>", "a", "ab", "b</w>", "</w>"), 0, True, "</w>", separate_suffix=True),
                SPLIT,
            ),
            "aab xxa",
        ),
        "n-gram": (Tokenizer(NGram(vocabulary("<unk>", "ab", "c"), 2, 0)), "abc"),
        "anywhere": (longest.with_longest_match(left_to_right=False), "newest xnew"),
        "from-left": (longest.with_longest_match(left_to_right=True), "newest xxnew"),
    }


@pytest.mark.parametrize("name", tokenizers())
def test_golden(name):
    tokenizer, text = tokenizers()[name]
    steps = tell(tokenizer, text.encode(), "all")
    check(f"steps-{name}", render(StepsView(steps), width=80))
    check(f"steps-{name}-json", json.dumps(all_steps_json([steps], [("a", 1)]), indent=1) + "\n")


@pytest.mark.parametrize("console", ["narrow", "256", "truecolor", "no-color"])
def test_golden_consoles(console):
    tokenizer, text = tokenizers()["subword-nmt"]
    check(f"steps-{console}", render(StepsView(tell(tokenizer, text.encode())), **CONSOLES[console]))


def test_what_is_left_out_is_said():
    steps = tell(named("gpt2"), b"abracadabra simsalabim one two three", (), Limits(rows=2, steps=1))
    shown = render(StepsView(steps), width=80)
    check("steps-limits", shown)
    check("steps-limits-json", json.dumps(all_steps_json([steps], [("a", 1)]), indent=1) + "\n")
    assert "and 3 more pieces: --full shows all" in shown
    long = tell(named("gpt2"), ("é" * 200).encode())
    assert "more tokens" in render(StepsView(long))
    assert "more tokens" not in render(StepsView(long, full=True))


def test_steps_that_end_elsewhere_are_an_error_of_ours():
    steps = replace(tell(named("gpt2"), b"a b"), differs_at=1)
    assert "piece 1: the steps and the tokenizer give different tokens" in render(StepsView(steps), width=200)


def test_every_model_has_its_rule():
    assert RULES.keys() == ALGORITHMS.keys()


@given(text=st.text("low \u202e\0\x1b|\\é谁👩\u200d</w>", max_size=20), width=st.integers(20, 90))
def test_lines_keep_to_the_width_and_are_harmless(text, width):
    added = SpecialToken(b"\x1b[31m<x>", 50256, special=False)
    tokenizer = replace(named("gpt2"), special_tokens=(added,))
    shown = render(StepsView(tell(tokenizer, text.encode() + added.content)), width=width)
    assert not set(shown) & {"\x1b", "\0", "\u202e", "\u200d"}
    assert max(map(cell_len, shown.splitlines())) <= width
    assert not any(line.endswith(" ") for line in shown.splitlines())


@pytest.mark.parametrize("name", tokenizers())
def test_json(name):
    tokenizer, text = tokenizers()[name]
    steps = tell(tokenizer, text.encode(), "all")
    report = json.loads(json.dumps(all_steps_json([steps], [("a", 1)]), allow_nan=False))
    assert list(report) == [
        "schema", "tokenizer", "model", "byte_count", "token_count", "row_count", "piece_count", "rows",
        "spelt", "words", "differs_at",
    ]  # fmt: skip
    assert (report["schema"], report["differs_at"]) == ("bpe.inspect.steps/1", None)
    ids = [token["id"] for row in report["rows"] for token in row["tokens"]]
    assert ids == tokenizer.encode(text, specials="all")
    assert {row["walk"]["family"] for row in report["rows"] if row["walk"]} <= {
        "merges", "longest-from-left", "longest-anywhere", "cover", "look-up", "lattice",
    }  # fmt: skip
    several = all_steps_json([steps, steps], [("a", 1), ("b", 1)])
    assert (several["schema"], len(several["texts"])) == ("bpe.inspect.all-steps/1", 2)


@pytest.mark.parametrize("score", [1e308, -1e308, 3e38, 0.0])
@pytest.mark.parametrize("single", [False, True])
def test_scores_without_measure(score, single):
    """Sums that overflow are shown as they are; nothing fails."""
    model = Unigram(
        vocabulary("<unk>", "a", "b", "ab"), array("d", [0, score, -score, score]), 0, single_precision=single
    )
    steps = tell(Tokenizer(model), b"aabcabb")
    assert render(StepsView(steps)).endswith("7 bytes\n")
    json.dumps(all_steps_json([steps], [("a", 1)]), allow_nan=False)
    infinite = array("d", [0, -1, math.inf, -math.inf])
    steps = tell(Tokenizer(ScoredBpe(vocabulary("", "a", "aa", "aaaa"), infinite, 0)), b"aaaaa")
    assert steps.differs_at is None
    assert json.loads(json.dumps(all_steps_json([steps], [("a", 1)])))["rows"][0]["walk"]["steps"][0]["score"] == "inf"


def test_json_of_bytes_and_merges():
    report = all_steps_json([tell(named("gpt2"), "谁".encode())], [("a", 1)])
    assert report["rows"][0]["tokens"][0] == {"id": 164, "token": {"bytes": "e8"}}
    report = all_steps_json([tell(named("gpt2"), b"ow")], [("a", 1)])
    assert report["rows"][0]["walk"]["steps"] == [
        {
            "rank": 322, "score": None, "left": "o", "right": "w", "product": "ow",
            "symbols": {"contents": ["ow"], "before": 0, "after": 0, "at": 0}, "candidates": [], "candidate_count": 0,
        }
    ]  # fmt: skip


def test_bytes_are_shown_and_not_their_names():
    """What the alphabet of byte-level vocabularies spells is read, as in other views; JSON gives the spelling."""
    tokens = [*CHAR_TO_BYTE, "hé".encode().decode("latin-1")]
    tokenizer = Tokenizer(MaxMatch(vocabulary(*tokens), 1), normalizer=(ByteLevelNormalizer(),))
    steps = tell(tokenizer, "hé o\n".encode())
    shown = render(StepsView(steps), width=200)
    assert "piece 0: hé·o⏎" in shown
    assert not set(shown) & set("ÃĠĊ")
    assert all_steps_json([steps], [("a", 1)])["rows"][0]["text"] == "hÃ©ĠoĊ"


def test_words_of_a_piece_are_called_so():
    shown = render(StepsView(tell(tokenizers()["scores"][0], "\u2581ab\u2581c".encode())), width=80)
    assert "shown word by word" in shown
    assert "word 0: \u2581ab" in shown
    assert "word 1: \u2581c" in shown
    assert "piece 0" not in shown


def test_a_score_of_nothing_has_no_sign():
    model = ScoredBpe(vocabulary("", "a", "aa"), array("d", [0.0, -1.0, 0.0]), 0)
    assert "-> aa, score 0 " in render(StepsView(tell(Tokenizer(model), b"aa")), width=80)
