"""A list of tokens, applied by longest match."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_cli
from bpe_cli.errors import BpeError, InputError, UsageError
from bpe_cli.trainers import token_list
from bpe_cli.trainers.token_list import TokenListOptions
from tests.cli_runner import call
from tests.oracle.longest_match import segment

NOTEBOOK = {"n": 4150, "s</w>": 4698, "in": 3363, "ta": 1009, "ou": 3936, "m": 7476}
SHOWN = ["in", "m", "ou", "n", "ta", "in", "s</w>"]


def tokens_of(tokenizer: bpe_cli.Tokenizer, text: str) -> list[str]:
    return [tokenizer.token_bytes(token_id).decode() for token_id in tokenizer.encode(text)]


def make(lines: str, **options: Any) -> bpe_cli.Tokenizer:
    return bpe_cli.train([lines], "list", **options)


@pytest.mark.parametrize(
    "lines",
    [
        json.dumps(NOTEBOOK),
        str(NOTEBOOK),
        json.dumps(NOTEBOOK, indent=2),
        "".join(f"{token} {count}\n" for token, count in NOTEBOOK.items()),
        "".join(f"{token}\t{count}\r\n" for token, count in NOTEBOOK.items()),
        json.dumps(sorted(NOTEBOOK, key=lambda token: -NOTEBOOK[token])),
        "['s</w>', 'ou', 'in', 'ta', 'm', 'n']",
        "s</w>\nou\nin\nta\nm\nn\n",
    ],
)
def test_the_notebook(lines):
    """Its order: by length, of equals the most frequent; where there are no counts, the order of the list."""
    assert tokens_of(make(lines), "inmountains") == SHOWN


def test_equal_lengths_and_counts_keep_the_order_of_the_list():
    assert tokens_of(make("ab 1\nbc 1\na 1\nc 1"), "abc") == ["ab", "c"]
    assert tokens_of(make("bc 1\nab 1\na 1\nc 1"), "abc") == ["a", "bc"]
    assert tokens_of(make("ab 1\nbc 2\na 1\nc 1"), "abc") == ["a", "bc"]


def test_counts_of_several_lists_add_up(tmp_path):
    (tmp_path / "1").write_text("ab\t2\na\t1\nc\t1\n")
    (tmp_path / "2").write_text("bc\t3\nab\t2\n")
    assert call("train", "1", "2", "-a", "list", "-o", "own.json", "-q", cwd=tmp_path).status == 0
    assert call("encode", "-T", "abc", "-t", "own.json", "--to", "tokens", cwd=tmp_path).text == "ab c\n"
    for options in (("-j", "1"), ("-j", "4", "--block-size", "3")):
        again = call("train", "1", "2", "-a", "list", *options, cwd=tmp_path)
        assert again.out == (tmp_path / "own.json").read_bytes()


def test_from_the_left():
    tokenizer = make("ab\nbcd\na\nc\nd", match="left-to-right")
    assert tokens_of(tokenizer, "abcd") == ["ab", "c", "d"]
    assert tokens_of(make("ab\nbcd\na\nc\nd"), "abcd") == ["a", "bcd"]


@given(
    st.lists(st.text("他是一位声", min_size=1, max_size=3), min_size=1, max_size=6),
    st.text("他是一位声誉", max_size=12),
)
def test_max_match_is_that_of_the_textbook(words, text):
    tokenizer = make("\n".join(words), match="max-match")
    known = {*words}
    assert tokens_of(tokenizer, text) == [part if part in known else "<unk>" for part in segment(text, known)]


def test_what_no_token_is_in_is_kept_as_text(tmp_path):
    words = "我们\n相信\n".encode()
    file = tmp_path / "d.json"
    assert call("train", "-a", "list", "--set", "match=max-match", "-q", "-o", file, input=words).status == 0
    assert call("encode", "-T", "我们吗相信", "-t", file, "--to", "segmented").text == "我们 吗 相信\n"
    assert call("encode", "-T", "我们吗", "-t", file, "--to", "tokens").text == "我们 <unk>\n"


def test_the_round_files_of_the_segmenter(shared, tmp_path):
    """Four dictionaries, a round each, cut its hundred lines as it did."""
    recorded = shared / "expected" / "train" / "pluveto"
    files = [recorded / "output" / f"vocab_BPE.txt_{number}" for number in (1, 2, 3, 4)]
    expected = (recorded / "output" / "tokenized.txt").read_bytes().splitlines(keepends=True)
    text = b"".join((recorded / "test.txt").read_bytes().splitlines(keepends=True)[: len(expected)]).replace(b" ", b"")
    options = ("-a", "list", "--set", "match=max-match", "-q", "-o", "own.json")
    assert call("train", *files, *options, cwd=tmp_path).status == 0
    cut = call("encode", "-t", "own.json", "--lines", "--to", "segmented", input=text, cwd=tmp_path)
    assert cut.out == b"".join(expected)


def test_the_end_of_a_word():
    assert make("a\nb").model.end_of_word_suffix == ""
    assert make("a\nb</w>").model.end_of_word_suffix == "</w>"
    assert make("a\nb</w>", end_of_word_suffix="").model.end_of_word_suffix == ""
    marked = make("in\nks_\n_", end_of_word_suffix="_")
    assert tokens_of(marked, "inks in") == ["in", "ks_", "in", "_"]
    assert marked.decode(marked.encode("inks in")) == "inks in"


def test_ids_and_sizes():
    tokenizer = make("<unk>\na\nb\na", special_tokens=["<s>"], vocab_size=3)
    assert [tokenizer.token_bytes(token_id) for token_id in range(3)] == [b"<unk>", b"<s>", b"a"]
    shown = call("train", "-a", "list", "-T", "a 2\nb", "-s", "9")
    assert shown.err == (
        "2 pieces, 2 different -> 3 tokens: 2 of 2 tokens in the list, 1 special\n"
        "note: the vocabulary has 3 tokens, not 9: there are no more tokens\n"
    )
    assert call("train", "-a", "list", "-T", "a 2\nb", "--steps", "-q").text == (
        "start: 2 different pieces, 2 in all\n  tokens  a:2  b:0\n\n"
        "vocabulary: 3 tokens\n       0  <unk>\n       1  a  2 times\n       2  b  0 times\n"
    )


@pytest.mark.parametrize(
    ("lines", "options", "kind", "message"),
    [
        ("low lower", {}, InputError, "is not a word, a blank and a count"),
        ('["a", 3]', {}, InputError, "is not words and counts as in JSON: '3'"),
        ('["a", ["b"]]', {}, InputError, "is not words and counts as in JSON"),
        ('[""]', {}, InputError, "is not words"),
        ("", {}, BpeError, "the corpus has no tokens"),
        ("a", {"match": "shortest"}, UsageError, "match must be one of"),
        ("a", {"split_special": True}, UsageError, "a list has none"),
        ("a", {"match": "max-match", "end_of_word_suffix": "_"}, UsageError, "does not cut text into words"),
    ],
)
def test_what_is_refused(lines, options, kind, message):
    with pytest.raises(kind, match=message):
        make(lines, **options)


def test_a_bracket_may_be_a_token():
    assert make("[\n]\na").encode("a[]") == [3, 1, 2]
    assert make("[ 5\na 2").encode("[a") == [1, 2]
    with pytest.raises(UsageError, match="are not matched by"):
        TokenListOptions(match="x")  # type: ignore[arg-type]
    assert token_list.TRAINER.untrained(TokenListOptions()).vocab_size == 2
