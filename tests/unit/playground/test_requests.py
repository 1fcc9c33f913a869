from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.errors import InputError
from bpe_cli.playground.requests import LARGEST_TEXT, MOST_MESSAGES, Request, read_request
from tests.counted import at_least, compared


def request(**fields):
    return read_request(json.dumps({"tokenizers": [0], **fields}).encode(), 3)


def test_a_text():
    assert request(text="héllo\n") == Request((0,), "héllo\n".encode())
    assert request(text=r"\xff", escapes=True, specials=True, tokenizers=[2, 2]) == Request((2, 2), b"\xff", (), True)
    assert request(text=r"\xff").text == rb"\xff"


def test_a_conversation():
    messages = [{"role": "user", "content": r"a\n"}, {"role": "tool", "content": ""}]
    assert request(messages=messages, open=None) == Request((0,), None, (("user", r"a\n"), ("tool", "")))
    escaped = request(messages=messages, escapes=True, template="chatml", open=False)
    assert escaped == Request((0,), None, (("user", "a\n"), ("tool", "")), False, "chatml", False)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, "text is not a string"),
        ({"text": 1}, "text is not a string"),
        ({"text": "", "path": "/etc/passwd"}, "fields that are known"),
        ({"text": "", "tokenizers": []}, "tokenizers"),
        ({"text": "", "tokenizers": [0, 1, 2]}, "tokenizers"),
        ({"text": "", "tokenizers": [3]}, "tokenizers"),
        ({"text": "", "tokenizers": [-1]}, "tokenizers"),
        ({"text": "", "tokenizers": ["gpt2"]}, "tokenizers"),
        ({"text": "", "tokenizers": [True]}, "tokenizers"),
        ({"text": "", "tokenizers": "0"}, "tokenizers"),
        ({"text": "", "specials": 1}, "specials is not true or false"),
        ({"text": "", "escapes": "no"}, "escapes is not true or false"),
        ({"text": "\\", "escapes": True}, "not an escape"),
        ({"messages": {}}, "messages is not a list"),
        ({"messages": [{"role": "user", "content": ""}] * (MOST_MESSAGES + 1)}, "messages is not a list"),
        ({"messages": ["hi"]}, "message 1 is not an object"),
        ({"messages": [{"role": "user"}]}, "message 1 is not an object"),
        ({"messages": [{"role": "user", "content": "", "tool_calls": []}]}, "message 1 is not an object"),
        ({"messages": [{"role": "user", "content": None}]}, "the role or the content of message 1"),
        ({"messages": [{"role": "user", "content": r"\xff"}], "escapes": True}, "message 1 is not UTF-8"),
        ({"messages": [], "template": ["x"]}, "template is not a string"),
        ({"messages": [], "open": 0}, "open is not true or false"),
        ({"text": "é" * (LARGEST_TEXT // 2) + "x"}, f"{LARGEST_TEXT + 1:,} bytes"),
        ({"messages": [{"role": "r", "content": "x" * LARGEST_TEXT}]}, f"{LARGEST_TEXT + 1:,} bytes"),
    ],
)
def test_anything_else_is_refused(fields, reason):
    with pytest.raises(InputError) as caught:
        request(**fields)
    assert reason in caught.value.message


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[]", b"null", b"1", b'{"text": "\xff", "tokenizers": [0]}',
        b'{"text": "\\ud800", "tokenizers": [0]}',
        b"[" * 100_000, b'{"text": "", "tokenizers": [0], "open": NaN}', b'{"tokenizers": [1e400], "text": ""}',
    ],
)  # fmt: skip
def test_what_is_no_request_is_refused(body):
    with pytest.raises(InputError):
        read_request(body, 3)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
right = {"tokenizers": st.just([0]), "text": st.text(max_size=5), "messages": st.just([]), "escapes": st.just(False)}
fields = {name: right.get(name, st.booleans()) | json_values for name in ("tokenizers", "text", "messages", "open")}


@at_least(3)
@given(
    st.binary(max_size=60)
    | st.fixed_dictionaries({}, optional=fields).map(lambda each: json.dumps(each).encode())
    | st.fixed_dictionaries({name: right[name] for name in ("tokenizers", "text")}).map(
        lambda each: json.dumps(each).encode()
    )
)
def test_any_bytes_are_a_request_or_refused(body):
    try:
        found = read_request(body, 3)
    except InputError:
        return
    assert all(0 <= each < 3 for each in found.tokenizers)
    assert (found.text is None) == ("messages" in json.loads(body))
    compared()
