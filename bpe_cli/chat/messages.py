"""Read conversations: a JSON array of messages, or an object that holds it with tools and the like."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from bpe_cli.errors import InputError
from bpe_cli.support import exact_json
from bpe_cli.support.core_arguments import list_of, wrong_type
from bpe_cli.support.safe_orjson import orjson

MAX_BYTES = 1 << 28
"""A conversation is no longer; JSON takes several times its size in memory."""

MAX_DEPTH = 64
"""What is in a message is nested no deeper."""


ASSISTANTS = ("assistant", "model")
"""The roles in which the model speaks."""

ROLE = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
"""Matches a role that is a word, which no special token can hide in: ``templates`` counts it as their own."""

REASONING = ("reasoning_content", "thinking", "reasoning")
"""What the model's reasoning in a message is called; the first that is there counts."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """Messages, with the tools, documents and settings beside them.

    Attributes:
        messages: As they are in the JSON, each an object with a ``role``.
        where: Its name in errors.
        tools: Descriptions of tools (JSON), or None.
        documents: Documents to answer from (JSON), or None.
        add_generation_prompt: Whether the model's turn is opened at the end; None if that is not said.
        arguments: What else a template finds, by name (``chat_template_kwargs``).
        functions: OpenAI's older descriptions of functions, or None.
        function_call: Which function is to be called, in OpenAI's words, or None.
    """

    messages: tuple[Mapping[str, Any], ...]
    where: str = "the conversation"
    tools: list[Any] | None = None
    documents: list[Any] | None = None
    add_generation_prompt: bool | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    functions: list[Any] | None = None
    function_call: Any = None

    @property
    def size(self) -> int:
        """About how many characters there are in it."""
        waiting: list[Any] = [*self.messages, self.tools, self.documents, self.functions, self.arguments]
        size = 0
        while waiting:
            each = waiting.pop()
            size += 8
            if isinstance(each, str):
                size += len(each)
            elif isinstance(each, Mapping):
                waiting += (*each.keys(), *each.values())
            elif isinstance(each, list):
                waiting += each
        return size

    @property
    def wants_answer(self) -> bool:
        """Whether the model's turn is opened at the end: as the file says, else unless it has spoken last."""
        if self.add_generation_prompt is not None:
            return self.add_generation_prompt
        return not self.messages or self.messages[-1]["role"] not in ASSISTANTS


def text_of(message: Mapping[str, Any], where: str) -> str:
    """Return the text of a message: its content, or the parts of it one after the other.

    Raises:
        InputError: if a part is not text.
    """
    content = message.get("content")
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    texts = []
    for number, part in enumerate(content):
        if not isinstance(part.get("text"), str):
            kind = part.get("type")
            raise InputError(
                f"{where}.content[{number}] is {f'of type {kind!r}' if isinstance(kind, str) else 'not text'}, "
                "which no ids stand for here",
                hint="a template of the tokenizer's own may know what to do with it: see `chat_template`",
            )
        texts.append(part["text"])
    return "".join(texts)


def read_conversation(data: bytes, where: str, field_name: str = "messages") -> Conversation:
    """Read a conversation from JSON.

    >>> read_conversation(b'[{"role": "user", "content": "hi"}]', "x.json").messages
    ({'role': 'user', 'content': 'hi'},)

    Args:
        data: A JSON array of messages, or an object with ``messages`` and, if it has them, ``tools``,
            ``documents``, ``add_generation_prompt``, ``chat_template_kwargs``, ``functions``,
            ``function_call``; its other members are about other things.
        where: Its name in errors.
        field_name: The member that holds the messages.

    Raises:
        InputError: if the data is not such JSON; the message says where.
    """
    if len(data) > MAX_BYTES:
        raise InputError(f"{where}: a conversation has at most {MAX_BYTES:,} bytes, this one {len(data):,}")
    try:
        value = exact_json.loads(data.removeprefix(BOM_UTF8))
    except orjson.JSONDecodeError as error:
        lines = data.strip().splitlines()
        several = len(lines) > 1 and _is_json(lines[0])
        raise InputError(
            f"{where}:{error.lineno}:{error.colno}: invalid JSON: {error.msg}",
            hint='`documents="jsonl"` reads a conversation from each line' if several else None,
        ) from None
    members: dict[str, Any] = {}
    if isinstance(value, dict):
        if field_name not in value:
            keys = ", ".join(map(repr, list(value)[:10])) or "none"
            raise InputError(f"{where}: there is no member {field_name!r}", hint=f"`field` names it; there are {keys}")
        members, value = value, value[field_name]
    else:
        field_name = "messages"
    messages = tuple(_message(each, f"{where}: {field_name}[{number}]") for number, each in enumerate(
        _listed(value, f"{where}: {field_name}" if members else where)))  # fmt: skip
    _check_depth(value, f"{where}: {field_name}")
    for name in ("tools", "documents", "functions"):
        if members.get(name) is not None:
            _check_depth(_listed(members[name], f"{where}: {name}"), f"{where}: {name}")
    arguments = members.get("chat_template_kwargs") or {}
    if not isinstance(arguments, dict):
        raise InputError(f"{where}: chat_template_kwargs is not an object")
    _check_depth(arguments, f"{where}: chat_template_kwargs")
    prompt = members.get("add_generation_prompt")
    if prompt is not None and not isinstance(prompt, bool):
        raise InputError(f"{where}: add_generation_prompt is neither true nor false")
    return Conversation(
        messages, where, members.get("tools"), members.get("documents"), prompt, arguments,
        members.get("functions"), members.get("function_call"),
    )  # fmt: skip


def conversation_of(messages: object, tools: object, documents: object, arguments: Mapping[str, Any]) -> Conversation:
    """Check a conversation like one from a file, by way of its JSON.

    Raises:
        InputError: as ``read_conversation``.
        TypeError: if there is something that JSON does not have.
    """
    if isinstance(messages, Mapping):
        raise wrong_type("messages", "a list of dicts with a role and a content", messages)
    given = {
        "messages": list_of("messages", cast("Iterable[Any]", messages), "messages"),
        "tools": tools,
        "documents": documents,
        "chat_template_kwargs": dict(arguments),
    }
    parts = {}
    for name, value in given.items():
        try:
            parts[name] = exact_json.loads(exact_json.dumps(value))
        except orjson.JSONEncodeError as error:
            if "surrogate" in str(error):
                raise InputError(f"{name}: a text has a lone surrogate, which stands for no character") from error
            what = f"{name}, the further arguments," if name == "chat_template_kwargs" else name
            raise TypeError(f"{what} must be of what JSON has: {error}") from error
    return read_conversation(exact_json.dumps(parts), "the conversation")


def as_transformers_gives_it(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message as transformers gives it to a template: nothing is null, and reasoning has two names.

    >>> as_transformers_gives_it({"role": "assistant", "content": None, "reasoning": "so"})
    {'thinking': 'so', 'role': 'assistant', 'reasoning': 'so', 'reasoning_content': 'so'}
    """
    present = {name: value for name, value in message.items() if value is not None}
    reasoning = next((present[name] for name in REASONING if name in present), None)
    return present if reasoning is None else {"thinking": reasoning, **present, "reasoning_content": reasoning}


def read_tools(data: bytes, where: str) -> list[Any]:
    """Read a JSON array of tools.

    Raises:
        InputError: if the data is not such an array.
    """
    try:
        value = exact_json.loads(data)
    except orjson.JSONDecodeError as error:
        raise InputError(f"{where}:{error.lineno}:{error.colno}: invalid JSON: {error.msg}") from None
    _check_depth(_listed(value, where), where)
    return list(value)


def _is_json(line: bytes) -> bool:
    try:
        orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return True


def _listed(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        kind = "an object" if isinstance(value, dict) else "null" if value is None else f"the value {str(value)[:40]}"
        raise InputError(f"{where} must be an array, not {kind}")
    return value


def _message(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{where} is not an object with a role and a content")
    role, content, name = value.get("role"), value.get("content"), value.get("name")
    if not isinstance(role, str):
        keys = ", ".join(map(repr, list(value)[:10])) or "none"
        what = "missing" if role is None else "not a string"
        raise InputError(f"{where}.role is {what}", hint=f"its keys are {keys}")
    if isinstance(content, list):
        for number, part in enumerate(content):
            if not isinstance(part, dict):
                raise InputError(f"{where}.content[{number}] is not an object with a type and a text")
    elif content is not None and not isinstance(content, str):
        raise InputError(f"{where}.content is neither text nor a list of parts")
    if name is not None and not isinstance(name, str):
        raise InputError(f"{where}.name is not a string")
    for key in ("tool_calls",):
        if value.get(key) is not None:
            _listed(value[key], f"{where}.{key}")
    return value


def _check_depth(value: Any, where: str) -> None:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for each in level
            if isinstance(each, (dict, list))
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return
    raise InputError(f"{where} is nested deeper than {MAX_DEPTH} levels")
