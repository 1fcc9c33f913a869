"""Read what the page asks for: JSON from outside, of which everything is checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bpe_cli.errors import InputError
from bpe_cli.playground.escapes import read
from bpe_cli.support.safe_orjson import orjson

LARGEST_TEXT = 1 << 18
"""Bytes of a text at most: what is typed is shown again with every key."""
LARGEST_REQUEST = 1 << 21
"""Bytes of a request at most: JSON may write a byte of the text as six."""
MOST_MESSAGES = 256
BESIDE = 2
"""Tokenizers that are shown side by side."""

_FIELDS = {"tokenizers", "text", "messages", "escapes", "specials", "template", "open"}


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be shown.

    Attributes:
        tokenizers: Places in the list of tokenizers.
        text: The text; None in a conversation.
        messages: The role and the content of each message; empty for a text.
        specials: Whether special tokens are looked for in the text, or in messages.
        template: The name of the template by which messages become text; None for the tokenizer's own.
        open_turn: Whether the model's turn is opened at the end; None: unless it spoke last.
    """

    tokenizers: tuple[int, ...]
    text: bytes | None
    messages: tuple[tuple[str, str], ...] = ()
    specials: bool = False
    template: str | None = None
    open_turn: bool | None = None


def read_request(body: bytes, tokenizers: int) -> Request:
    """Read a request of the page, which has the choice among so many tokenizers.

    >>> read_request(b'{"tokenizers": [0], "text": "hi"}', 1).text
    b'hi'

    Raises:
        InputError: if it is not such JSON, or too much.
    """
    try:
        given = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise InputError(f"the request is not JSON: {error.msg}") from error
    if not isinstance(given, dict) or given.keys() - _FIELDS:
        raise InputError("the request is not an object of the fields that are known")
    places = given.get("tokenizers")
    if (
        not isinstance(places, list)
        or not 1 <= len(places) <= BESIDE
        or not all(type(each) is int and 0 <= each < tokenizers for each in places)
    ):
        raise InputError("tokenizers does not name one or two of those that are offered")
    escapes, specials = _flag(given, "escapes"), _flag(given, "specials")
    if "messages" not in given:
        if not isinstance(given.get("text"), str):
            raise InputError("text is not a string")
        text = _content(given["text"], escapes)
        check_size(len(text))
        return Request(tuple(places), text, specials=specials)
    template = given.get("template")
    if not (template is None or isinstance(template, str)):
        raise InputError("template is not a string")
    messages = _messages(given["messages"], escapes)
    open_turn = None if given.get("open") is None else _flag(given, "open")
    return Request(tuple(places), None, messages, specials, template, open_turn)


def _flag(given: dict[str, Any], name: str) -> bool:
    value = given.get(name, False)
    if not isinstance(value, bool):
        raise InputError(f"{name} is not true or false")
    return value


def _content(text: str, escapes: bool) -> bytes:
    return read(text) if escapes else text.encode()


def _messages(given: Any, escapes: bool) -> tuple[tuple[str, str], ...]:
    if not isinstance(given, list) or len(given) > MOST_MESSAGES:
        raise InputError(f"messages is not a list of at most {MOST_MESSAGES}")
    messages, size = [], 0
    for number, each in enumerate(given, start=1):
        if not isinstance(each, dict) or each.keys() != {"role", "content"}:
            raise InputError(f"message {number} is not an object with a role and a content")
        if not all(isinstance(value, str) for value in each.values()):
            raise InputError(f"the role or the content of message {number} is not a string")
        content = _content(each["content"], escapes)
        size += len(each["role"].encode()) + len(content)
        try:
            messages.append((each["role"], content.decode()))
        except UnicodeDecodeError as error:
            raise InputError(f"message {number} is not UTF-8 (byte {error.start:,}), and messages are JSON") from error
    check_size(size)
    return tuple(messages)


def check_size(size: int) -> None:
    """Check that a text is not too long.

    Raises:
        InputError: if it has more than ``LARGEST_TEXT`` bytes.
    """
    if size > LARGEST_TEXT:
        raise InputError(
            f"the text has {size:,} bytes, and the playground takes {LARGEST_TEXT:,}",
            hint="bpe inspect FILE --html PAGE shows a longer one",
        )
