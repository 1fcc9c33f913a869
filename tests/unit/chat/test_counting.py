"""What OpenAI bills: the cookbook's numbers, and those that the API gave for functions."""

from __future__ import annotations

import json

import pytest

from bpe_cli.chat import Conversation, count_billed, is_billed, read_conversation
from bpe_cli.errors import InputError
from bpe_cli.tokenizer.named_encodings import named

JARGON = Conversation((
    {"role": "system",
     "content": "You are a helpful, pattern-following assistant that translates corporate jargon into plain English."},
    {"role": "system", "name": "example_user", "content": "New synergies will help drive top-line growth."},
    {"role": "system", "name": "example_assistant", "content": "Things working well together will increase revenue."},
    {"role": "system", "name": "example_user",
     "content": "Let's circle back when we have more bandwidth to touch base on opportunities for increased leverage."},
    {"role": "system", "name": "example_assistant",
     "content": "Let's talk later when we're less busy about how to do better."},
    {"role": "user",
     "content": "This late pivot means we don't have time to boil the ocean for the client deliverable."},
))  # fmt: skip


@pytest.mark.parametrize(
    ("encoding", "model", "tokens"),
    [("cl100k_base", "gpt-4", 129), ("o200k_base", "gpt-4o", 124), ("cl100k_base", "gpt-3.5-turbo-0301", 127)],
)
def test_cookbook(encoding, model, tokens):
    assert count_billed(named(encoding), JARGON, model) == tokens


def billed(text: str) -> int:
    return count_billed(named("o200k_base"), read_conversation(text.encode(), "x.json"), "gpt-4o")


HELLO = '"messages": [{"role": "user", "content": "hello"}]'
FOO = '"functions": [{"name": "foo", "parameters": {"type": "object", "properties": {}}}]'
SCHEMA = """{"name": "bing_bong", "description": "Do a bing bong", "parameters": {"type": "object", "properties": {
"foo": {"type": "object", "properties": {"bar": {"type": "string", "enum": ["a", "b", "c"]},
"baz": {"type": "boolean"}}}}}}"""


TANGO = r'{"role": "function", "name": "dance_the_tango", "content": "{\"a\": { \"b\" : { \"c\": false}}}"}'
STUFF = r"""{"role": "assistant", "content": "",
"function_call": {"name": "do_stuff", "arguments": "{\"foo\": \"bar\", \"baz\": 1.5}"}}"""
GREETING = '{"role": "system", "content": "Hello:"}, {"role": "user", "content": "Hi there"}'


@pytest.mark.parametrize(
    ("given", "tokens"),
    [
        (f"{{{HELLO}}}", 8),
        (f"{{{HELLO}, {FOO}}}", 31),
        (f'{{{HELLO}, {FOO}, "function_call": "auto"}}', 31),
        (f'{{{HELLO}, {FOO}, "function_call": "none"}}', 32),
        (f'{{{HELLO}, {FOO}, "function_call": {{"name": "foo"}}}}', 36),
        (f'{{{HELLO}, "functions": [{SCHEMA}]}}', 64),
        (f'{{{HELLO}, "tools": [{{"type": "function", "function": {SCHEMA}}}]}}', 64),
        (f'{{"messages": [{TANGO}]}}', 25),
        (f'{{"messages": [{STUFF}]}}', 27),
        (f'{{"messages": [{GREETING}], "functions": [{{"name": "do_stuff"}}]}}', 36),
    ],
)  # fmt: skip
def test_functions(given, tokens):
    assert billed(given) == tokens


def test_special_tokens_in_messages_are_text():
    assert billed('[{"role": "user", "content": "<|endoftext|>"}]') > billed('[{"role": "user", "content": "a"}]')


def test_numbers_of_the_api(shared):
    cases = json.loads((shared / "expected" / "chat" / "openai_chat_counts_gpt4o.json").read_text("utf-8"))["cases"]
    found = [billed(json.dumps(case)) for case in cases]
    assert found == [case["tokens"] for case in cases]
    assert len(cases) > 30


def requiring(names: str) -> str:
    parameters = f'{{"properties": {{"a": {{"type": "string"}}}}, "required": {names}}}'
    return f'{{{HELLO}, "functions": [{{"name": "f", "parameters": {parameters}}}]}}'


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ('[{"role": "assistant", "tool_calls": [{"id": "x"}]}]', r"messages\[0\]\.tool_calls: it is not known"),
        ('[{"role": "tool", "tool_call_id": "x", "content": "y"}]', r"messages\[0\]\.tool_call_id: it is not known"),
        ('[{"role": "user", "content": [{"type": "image_url"}]}]', r"content\[0\] is of type 'image_url'"),
        ('[{"role": "assistant", "function_call": 5}]', "is not an object with a name"),
        (f'{{{HELLO}, "tools": [{{"type": "browser"}}]}}', r"tools\[0\] is not a function"),
        (f'{{{HELLO}, "functions": [5]}}', r"functions\[0\] is not an object with a name"),
        (f'{{{HELLO}, "functions": [{{"name": "f", "parameters": 5}}]}}', "is not a JSON Schema"),
        (f'{{{HELLO}, "functions": [{{"name": "f", "parameters": {{"properties": {{"a": {{"type": "x"}}}}}}}}]}}',
         "properties.a has the type 'x'"),
        (f'{{{HELLO}, "functions": [{{"name": "f", "parameters": {{"properties": 5}}}}]}}', "is not a JSON Schema"),
        (requiring("true"), "functions.0.\\.parameters\\.required is not a list of names"),
        (requiring('"abc"'), "required is not a list of names"),
        (requiring("[1]"), "required is not a list of names"),
        (f'{{{HELLO}, "function_call": 5}}', "function_call is not an object"),
    ],
)  # fmt: skip
def test_what_costs_nobody_knows(given, message):
    with pytest.raises(InputError, match=message):
        billed(given)


def test_which_models_are_billed():
    assert all(map(is_billed, ("gpt-4o", "gpt-4", "gpt-3.5-turbo-0301", "o3", "chatgpt-4o-latest")))
    assert not any(map(is_billed, ("cl100k_base", "text-embedding-3-small", "davinci-002", "gpt-oss-20b", "gpt2", "x")))
