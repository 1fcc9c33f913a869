"""Words with their counts in place of a corpus."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_cli
from bpe_cli.errors import InputError, TrainingError, UsageError
from bpe_cli.stages import NFKC
from bpe_cli.trainers.base import Front
from bpe_cli.trainers.counts import counts_of, pieces_of
from bpe_cli.trainers.dictionary import read_dictionary
from bpe_cli.trainers.token_list import read_tokens

WORDS = st.dictionaries(
    st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1, max_size=9),
    st.integers(0, 10**15 - 1).map(lambda number: number // 4 + 1),
    min_size=1,
    max_size=9,
)


def read(text: str, suffix: str = "") -> dict[str, int]:
    lines = ((line.encode(), 1) for line in text.splitlines() if line)
    return {word.decode(): count for word, count in pieces_of(read_dictionary(counts_of(lines), suffix)).items()}


@given(WORDS, st.sampled_from([None, 0, 1, 4]), st.booleans())
def test_json_is_read_however_it_is_laid_out(words, indent, ascii_only):
    text = json.dumps(words, indent=indent, ensure_ascii=ascii_only)
    assert read(text) == words
    assert list(read(text)) == list(words)  # first-seen ties need the order


@given(WORDS.filter(lambda words: not re.match(r"[{\[][\"'}\]]", next(iter(words)))), st.sampled_from([" ", "\t"]))
def test_lines_are_words_and_counts(words, between):
    """A first line such as ``{"`` would be JSON."""
    assert read("\n".join(f"{word}{between}{count}" for word, count in words.items())) == words


@pytest.mark.parametrize(
    "text",
    [
        "{'low':5,'lower':2}",
        '{"low":5,"lower":2}',
        '{"low": 5}\n{"lower": 2}',
        '{\n"low": 5,\n"lower": 2\n}\n',
        "{'l o w </w>': 5,\n 'l o w e r </w>':2}",
        "{'low': 5,\n 'lower': 1,\n 'l o w e r': 1}",
    ],
)
def test_as_tutorials_print_it(text):
    assert read(text, "</w>") == {"low": 5, "lower": 2}


def test_bytes_that_are_no_text_stay_as_they_are():
    for line in (b'{"a\xff": 2}', b"a\xff 2", b"{'a\xff': 2}"):
        assert pieces_of(read_dictionary(counts_of([(line, 1)]))) == {b"a\xff": 2}
    pair = counts_of([(b'{"\\ud83c\\udf75": 2}', 1)])
    assert pieces_of(read_dictionary(pair)) == {"🍵".encode(): 2}


def test_a_first_word_may_be_a_brace():
    assert read("{ 5\nlow 2") == {"{": 5, "low": 2}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("low", "is not a word, a blank and a count: b'low'"),
        ("low five", "is not a word"),
        ("low 5\n{'a': 3}", "is not a word"),
        ('{"low": 1.5}', "is not words and counts as in JSON: '\"low\": 1.5'"),
        ('{"low": {"a": 1}}', "is not words and counts as in JSON"),
        ('{"low": -1}', "is not words and counts as in JSON"),
        ('{"low" 1}', "is not words and counts as in JSON"),
        ('{"lo\\q": 1}', "is not words and counts as in JSON: '\"lo\\\\q\": 1'"),
        ('{"\\ud800": 1}', "is not words and counts as in JSON"),
        ('{"\\udc80": 1}', "is not words and counts as in JSON"),
        ('{"": 1}', "is not words and counts as in JSON"),
        ('{"lo w": 1}', "is not written character by character: 'lo w'"),
        ('{" ": 1}', "is not written character by character"),
    ],
)
def test_what_is_neither(text, message):
    with pytest.raises(InputError) as caught:
        read(text, "</w>")
    assert message in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("form", ["ab %d", '{"ab": %d}'])
@pytest.mark.parametrize("counts", [((10**15 - 1, 20_000),), ((10**15 - 1, 4000), (10**15 - 2, 4000))])
def test_counts_that_nothing_can_reckon_with_are_refused(form, counts):
    lines = [((form % count).encode(), times) for count, times in counts]
    for read_lines in (read_dictionary, read_tokens):
        with pytest.raises(InputError, match="are too large: with the line b") as caught:
            read_lines(counts_of(lines))
        assert f"which is there {counts[-1][1]:,} times" in caught.value.message
        assert caught.value.hint == "divide all counts by the same number"
    assert pieces_of(read_dictionary(counts_of([(form.replace("ab", "a").encode() % 10**14, 92_000)])))


@pytest.mark.parametrize(
    ("algorithm", "options"), [("bpe", {"merges": 9}), ("wordpiece", {"vocab_size": 20, "min_frequency": 1})]
)
def test_words_with_counts_are_worth_their_repetition(algorithm, options):
    words = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    counted = bpe_cli.train([json.dumps(words)], algorithm, dictionary=True, **options)
    assert counted == bpe_cli.train([f"{word}\n" * count for word, count in words.items()], algorithm, **options)


@pytest.mark.parametrize(
    ("algorithm", "options"),
    [
        ("wordpiece", {}),
        ("wordpiece", {"lowercase": False}),
        ("wordpiece", {"rule": "tensorflow", "min_frequency": 1}),
        ("wordpiece", {"normalizer": "nfkc", "pre_tokenizer": "whitespace"}),
        ("bpe", {"normalizer": "lowercase"}),
        ("bpe", {"pre_tokenizer": "bert", "tie": "first-seen"}),
        ("bpe", {"pattern": "[aeiou]|[^aeiou]+"}),
        ("bpe", {"normalizer": "lowercase", "by_byte": True, "vocab_size": 540}),
    ],
)
def test_words_go_through_the_stages_as_text_does(algorithm, options):
    """They become other words, several pieces or none."""
    words = {"Hug": 10, "hug": 3, "Pug's": 5, "PUN": 12, "Été": 4, "Ｈug": 2, "\u200b": 7, "don't": 6}
    options = {"vocab_size": 60, **options}
    lines = [f"{word} {count}" for word, count in words.items()]
    counted = bpe_cli.train(["\n".join(lines)], algorithm, dictionary=True, documents="lines", **options)
    assert counted == bpe_cli.train([word for word, count in words.items() for _ in range(count)], algorithm, **options)


def test_a_dictionary_of_which_the_stages_leave_nothing_has_no_text():
    with pytest.raises(TrainingError, match="the corpus has no text"):
        bpe_cli.train(["\u200b 5"], "wordpiece", dictionary=True, vocab_size=20)


def test_a_pattern_for_words_that_does_not_compile_is_refused():
    with pytest.raises(UsageError, match="does not compile"):
        bpe_cli.train(["a 5"], "bpe", dictionary=True, pattern="(", vocab_size=20)


def test_a_word_that_takes_too_long_to_cut_is_named():
    with pytest.raises(TrainingError, match=r"the word b'aaaaaa.*' of the dictionary cannot be cut"):
        bpe_cli.train([f"{'a' * 40}c 5"], "bpe", dictionary=True, pattern=r"(a*)*(\1)(?=d)b", vocab_size=20)


def test_words_that_stages_make_too_long_for_their_counts_are_refused():
    front = Front((NFKC(),))
    lines = counts_of([(f"ﷺ {10**14}".encode(), 9000)])
    assert pieces_of(read_dictionary(lines)) == {"ﷺ".encode(): 9 * 10**17}
    with pytest.raises(InputError, match=r"are too large: with what the word b'.*' becomes") as caught:
        read_dictionary(lines, front=front)
    assert caught.value.hint == "divide all counts by the same number"
