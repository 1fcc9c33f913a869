"""Lists of tokens to add: lines, JSON, and what is neither."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.errors import FormatError
from bpe_cli.formats import added_tokens
from bpe_cli.stages import SpecialToken
from bpe_cli.surgery import add_tokens
from bpe_cli.tokenizer.named_encodings import named
from tests.work import assert_little_work


def test_lines():
    given = added_tokens.read_token_list("\ufefflow\r\n\n  new est \n[x\n".encode(), "list")
    assert given.tokens == tuple(
        SpecialToken(content, 0, special=False, normalized=True) for content in (b"low", b"  new est ", b"[x")
    )
    assert given.ids == {}
    braces = added_tokens.read_token_list(b"{\n{name}\n}\n", "list")
    assert [token.content for token in braces.tokens] == [b"{", b"{name}", b"}"]


def test_json():
    data = b"""["tok", {"content": "<|user|>", "special": true, "lstrip": true}, {"content": "x"},
               {"content": "y", "normalized": false}]"""
    assert added_tokens.read_token_list(data, "list").tokens == (
        SpecialToken(b"tok", 0, special=False, normalized=True),
        SpecialToken(b"<|user|>", 0, special=True, lstrip=True),
        SpecialToken(b"x", 0, special=False, normalized=True),
        SpecialToken(b"y", 0, special=False),
    )


@pytest.mark.parametrize("data", [b'["tok", {"content": "x"}]', b'{"tok": 7, "x": 8}', b"tok\nx\n"])
def test_a_byte_order_mark_is_no_part_of_a_list(data):
    assert added_tokens.read_token_list(b"\xef\xbb\xbf" + data, "list") == added_tokens.read_token_list(data, "list")


def test_lines_in_brackets_are_tokens():
    """The first begins and the last ends as an array does."""
    for lines in ([b"[PAD]", b"[CLS]", b"[SEP]"], [b"[MASK]"], [b"[x", b"y]"], [b"[-]", b"[\xc3\xa9]"]):
        given = added_tokens.read_token_list(b"\n".join(lines) + b"\n", "list")
        assert [token.content for token in given.tokens] == lines


def test_added_tokens_json():
    given = added_tokens.read_token_list('{"<foo>": 8, "\\n": 7, "é": 6}\n'.encode(), "added_tokens.json")
    assert given.tokens == tuple(
        SpecialToken(content, 0, special=False, normalized=True) for content in ("é".encode(), b"\n", b"<foo>")
    )
    assert given.ids == {"é".encode(): 6, b"\n": 7, b"<foo>": 8}


def test_ids_are_held_to_what_the_file_says():
    gpt2 = named("gpt2")
    good = added_tokens.read_token_list(b'{"<b>": 50258, "<a>": 50257, "<|endoftext|>": 50256, "a": 64}', "list")
    grown = add_tokens(gpt2, good.tokens).tokenizer
    good.check(grown)
    assert [(token.content, token.token_id) for token in grown.special_tokens[1:]] == [(b"<a>", 50257), (b"<b>", 50258)]
    for data, message in [
        (b'{"<a>": 50259}', 'list gives the token "<a>" the id 50259, and it would get 50257'),
        (b'{"<a>": 50257, "<b>": 50257}', 'the token "<b>" the id 50257, and it would get 50258'),
        (b'{"a": 50257}', 'the token "a" the id 50257, and it would get 64'),
    ]:
        other = added_tokens.read_token_list(data, "list")
        with pytest.raises(FormatError, match=message):
            other.check(add_tokens(gpt2, other.tokens).tokenizer)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "list has no tokens"),
        (b"\n\r\n", "list has no tokens"),
        (b"[]", "list has no tokens"),
        (b"a\n\xff\n", "list:2: the token is not UTF-8"),
        (b'[""]', r"list: \[0\] is empty"),
        (b"[3]", r"list: \[0\] must be an object, not 3"),
        (b'[{"content": ""}]', "is empty"),
        (b'[{"content": "a", "colour": 1}]', 'does not know: "colour"'),
        (b'[{"content": "a", "id": 3}]', "gives the token an id"),
        (b'{"": 3}', "list has an empty token"),
        (b'{"a": "b"}', "list: a is not an id"),
        (b'{"content": "a", "special": true}', "list: content is not an id"),
        (b'{"a": true}', "list: a is not an id"),
        (b'{"a": -1}', "list: a must be an integer from 0"),
        (b'{"a": 1,}', "not valid JSON"),
        (b'{"content": "a"}\n{"content": "b"}\n', "not valid JSON"),
        (b'["a",]', "not valid JSON"),
        (b"['a', 'b']", "not valid JSON"),
        (b"[\n  a,\n  b\n]\n", "not valid JSON"),
        (b"[-3]", r"list: \[0\] must be an object, not -3"),
        (b"[" * 1_000_000 + b"]" * 1_000_000, "not valid JSON|too large or too deep"),
    ],
)
def test_what_is_wrong_is_named(data, message):
    with pytest.raises(FormatError, match=message):
        added_tokens.read_token_list(data, "list")


@pytest.mark.parametrize(
    "data",
    [
        b'["alpha",\n "beta",\n "gam', b'["alpha", "beta"', b'[{"content": "<|user|>"', b'\n [ "a\\"b" ,\n"c"',
        b'{"alpha": 300,', b'{"alpha": 300, "beta"',
    ],
)  # fmt: skip
def test_json_that_is_cut_off_is_no_list_of_lines(data):
    with pytest.raises(FormatError, match=r"added\.json begins as JSON and is cut off"):
        added_tokens.read_token_list(data, "added.json")


@pytest.mark.parametrize("line", [b"[PAD]", b'["', b"[", b'{"', b"{", b'["a"', b'{"a"', b"[[", b'[ "x'])
def test_lines_that_look_a_little_like_json_are_tokens(line):
    assert [token.content for token in added_tokens.read_token_list(line + b"\nb\n", "list").tokens] == [line, b"b"]


ARRAY = re.compile(rb"\s*\[(?=[\s\"{\[\]1]).*\]\s*", re.DOTALL)
OBJECT = re.compile(rb"\s*\{\s*\"[^\n]*\".*\}\s*", re.DOTALL)


@given(st.lists(st.sampled_from(['"', "{", "}", "[", "]", "\n", " ", "\v", ":", "1", "a"]), max_size=10).map("".join))
def test_what_is_json_is_told_by_its_ends_and_what_follows_a_bracket(text):
    data = text.encode()
    expected = "array" if ARRAY.fullmatch(data) else "object" if OBJECT.fullmatch(data) else None
    assert added_tokens.kind_of_json(data) == expected


@pytest.mark.parametrize(
    "data", [b'{"' + b'"}' * 20_000 + b"x\n", b"[" + b"] " * 20_000 + b"x\n", b'{"' * 20_000, b'["' + b"\\" * 40_001]
)
def test_a_line_of_quotes_and_braces_is_little_work(data):
    given = []
    work = lambda: given.append(added_tokens.read_token_list(data, "list").tokens)  # noqa: E731
    assert_little_work(work, size=len(data), most_lines=1_000, most_cost=50)
    assert given[0][0].content == data.removesuffix(b"\n")
