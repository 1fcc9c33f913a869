"""Conversations as JSON: what is read, and what is said of what cannot be."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.chat import read_conversation, read_tools
from bpe_cli.errors import InputError
from tests.counted import at_least, compared
from tests.work import assert_little_work


def test_array_and_object():
    message = {"role": "user", "content": "hi"}
    assert read_conversation(b'\xef\xbb\xbf[{"role": "user", "content": "hi"}]', "x").messages == (message,)
    found = read_conversation(
        b'{"turns": [{"role": "user", "content": "hi"}], "tools": [1], "documents": null, "model": "m",'
        b'"add_generation_prompt": false, "chat_template_kwargs": {"a": 1}}',
        "x", "turns",
    )  # fmt: skip
    assert (found.messages, found.tools, found.documents, found.wants_answer) == ((message,), [1], None, False)
    assert found.arguments == {"a": 1}


@pytest.mark.parametrize(
    ("roles", "wanted"),
    [(["user"], True), (["user", "assistant"], False), (["model"], False), ([], True), (["tool"], True)],
)
def test_the_models_turn_is_opened_unless_it_spoke_last(roles, wanted):
    messages = ", ".join(f'{{"role": "{role}"}}' for role in roles)
    assert read_conversation(f"[{messages}]".encode(), "x").wants_answer is wanted


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "m.json:1:1: invalid JSON: "),
        (b"[1]", "m.json: messages[0] is not an object with a role and a content"),
        (b"5", "m.json must be an array, not the value 5"),
        (b'{"a": 1}', "m.json: there is no member 'messages'"),
        (b'{"messages": null}', "m.json: messages must be an array, not null"),
        (b'{"messages": {}}', "m.json: messages must be an array, not an object"),
        (b'[{"content": "x"}]', "m.json: messages[0].role is missing"),
        (b'[{"role": "user"}, {"role": 5}]', "m.json: messages[1].role is not a string"),
        (b'[{"role": "user", "content": 5}]', "m.json: messages[0].content is neither text nor a list of parts"),
        (
            b'[{"role": "user", "content": [5]}]',
            "m.json: messages[0].content[0] is not an object with a type and a text",
        ),
        (b'[{"role": "user", "name": 5}]', "m.json: messages[0].name is not a string"),
        (b'[{"role": "user", "tool_calls": 5}]', "m.json: messages[0].tool_calls must be an array, not the value 5"),
        (b'{"messages": [], "tools": 5}', "m.json: tools must be an array, not the value 5"),
        (b'{"messages": [], "chat_template_kwargs": 5}', "m.json: chat_template_kwargs is not an object"),
        (b'{"messages": [], "add_generation_prompt": 5}', "m.json: add_generation_prompt is neither true nor false"),
        (b'[{"role": "\\ud800"}]', "m.json:1:12: invalid JSON: "),
        (b'[{"role": "u", "x": ' + b"[" * 100 + b"]" * 100 + b"}]", "m.json: messages is nested deeper than 64 levels"),
        (b"[" * 1_000_000, "invalid JSON: "),
        (b'[{"role": "u",\n "x": ' + b"1" * 5000 + b"}]", "m.json:2:7: invalid JSON: number is infinity"),
    ],
)  # fmt: skip
def test_what_is_no_conversation(data, message):
    def refuse():
        with pytest.raises(InputError) as caught:
            read_conversation(data, "m.json")
        assert message in caught.value.message

    most_lines = 1_500 if len(data) == 222 else 120  # it looks at each level
    assert_little_work(refuse, size=len(data), most_lines=most_lines, most_cost=2)


def test_json_lines_are_recognised():
    with pytest.raises(InputError) as caught:
        read_conversation(b'[{"role": "user"}]\n[{"role": "user"}]\n', "m.jsonl")
    assert caught.value.hint == '`documents="jsonl"` reads a conversation from each line'


def test_tools():
    assert read_tools(b'[{"type": "function"}]', "t.json") == [{"type": "function"}]
    for data in (b"{}", b"[", b"[" * 70 + b"]" * 70):
        with pytest.raises(InputError, match=r"t\.json"):
            read_tools(data, "t.json")


MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.text(max_size=3)},
        optional={"content": st.text() | st.none() | st.lists(st.text()), "x": st.integers()},
    ),
    max_size=3,
)


@at_least(10)
@given(data=st.binary(max_size=40) | MESSAGES.map(lambda messages: json.dumps(messages).encode()))
def test_any_bytes_are_read_or_refused(data):
    try:
        found = read_conversation(data, "x")
    except InputError:
        return
    assert all(isinstance(message["role"], str) for message in found.messages)
    compared()
