"""Count the tokens of a conversation as OpenAI bills them.

Messages by the rule of OpenAI's cookbook, *How to count tokens with tiktoken*: each costs three tokens and
those of its values, a name one more, and the answer's beginning three. What functions cost is not published;
here it is as the tests of gpt-tokenizer (MIT) record it of the API: their declarations in TypeScript and some
fixed costs. Ids of such conversations are OpenAI's secret, so there are none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bpe_cli.chat.messages import Conversation, text_of
from bpe_cli.errors import InputError
from bpe_cli.support.blocks import Block
from bpe_cli.tokenizer import Tokenizer, named_encodings

_OLD = "gpt-3.5-turbo-0301"
"""The model whose messages cost four tokens, and a name none: it replaces the role."""

_LEGACY = ("davinci", "babbage", "curie", "ada", "text-", "code-", "ft:davinci", "ft:babbage", "gpt2", "gpt-2")


def is_billed(model: str) -> bool:
    """Return whether a name is that of a chat model of OpenAI's API.

    >>> is_billed("gpt-4o-mini"), is_billed("o200k_base"), is_billed("davinci-002"), is_billed("gpt-oss-20b")
    (True, False, False, False)
    """
    model = named_encodings.canonical(model)
    if model in named_encodings.ENCODINGS or model.startswith(_LEGACY):
        return False
    return named_encodings.encoding_for_model(model) in ("cl100k_base", "o200k_base")


def count_billed(tokenizer: Tokenizer, conversation: Conversation, model: str = "") -> int:
    """Count the tokens of a conversation as OpenAI bills them.

    >>> from bpe_cli.tokenizer.named_encodings import named
    >>> count_billed(named("o200k_base"), Conversation(({"role": "user", "content": "hello world"},)))
    9

    Args:
        tokenizer: The model's.
        conversation: What is sent.
        model: Its name; one old model counts otherwise.

    Raises:
        InputError: if there is something of which it is not known what it costs.
    """
    functions = _functions(conversation)
    texts: list[str] = []
    total = 3
    padded = not functions
    for number, message in enumerate(conversation.messages):
        where = f"{conversation.where}: messages[{number}]"
        system = message["role"] == "system"
        total += _fixed(message, where, old=model == _OLD)
        texts += (message["role"], text_of(message, where) + ("\n" if system and not padded else ""))
        padded = padded or system
        texts += (message.get("name") or "", *_call(message.get("function_call"), f"{where}.function_call"))
    if functions:
        texts.append("\n".join(_declarations(functions, conversation.where)))
        total += 9 - 4 * any(message["role"] == "system" for message in conversation.messages)
    chosen = conversation.function_call
    if chosen == "none":
        total += 1
    elif chosen not in (None, "auto"):
        name, _ = _call({"arguments": "", **chosen} if isinstance(chosen, dict) else chosen, "function_call")
        texts.append(name)
        total += 4
    return total + sum(tokenizer.count_block(Block.of(text.encode() for text in texts)))


def _fixed(message: Mapping[str, Any], where: str, *, old: bool) -> int:
    """Return the number of tokens that a message costs beside its texts."""
    for key in ("tool_calls", "tool_call_id"):
        if message.get(key):
            raise InputError(
                f"{where}.{key}: it is not known what OpenAI bills for it",
                hint="`chat=NAME` with another name or a file counts what that layout writes",
            )
    cost = 4 if old else 3
    if message.get("name"):
        cost += -1 if old else 1
    if message["role"] == "function":
        cost -= 2
    return cost + 3 * bool(message.get("function_call"))


def _call(value: Any, where: str) -> tuple[str, str]:
    if not value:
        return "", ""
    name, arguments = (value.get("name"), value.get("arguments")) if isinstance(value, dict) else (None, None)
    if not isinstance(name, str) or not isinstance(arguments, str):
        raise InputError(f"{where} is not an object with a name and, as a string, arguments")
    return name, arguments


def _functions(conversation: Conversation) -> list[Any]:
    """Return the functions that are offered, however they are offered."""
    functions = list(conversation.functions or ())
    for number, tool in enumerate(conversation.tools or ()):
        if not isinstance(tool, dict) or tool.get("type", "function") != "function" or "function" not in tool:
            raise InputError(
                f"{conversation.where}: tools[{number}] is not a function, so it is not known what OpenAI bills for it"
            )
        functions.append(tool["function"])
    return functions


def _declarations(functions: list[Any], where: str) -> Iterator[str]:
    """Yield the lines that declare functions in TypeScript."""
    yield "namespace functions {"
    yield ""
    for number, function in enumerate(functions):
        place = f"{where}: functions[{number}]"
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise InputError(f"{place} is not an object with a name")
        if function.get("description"):
            yield f"// {function['description']}"
        parameters = function.get("parameters") or {}
        if isinstance(parameters, dict) and not parameters.get("properties"):
            yield f"type {function['name']} = () => any;"
        else:
            yield f"type {function['name']} = (_: {{"
            yield _properties(parameters, 0, f"{place}.parameters")
            yield "}) => any;"
        yield ""
    yield "} // namespace functions"


def _properties(schema: Any, indent: int, where: str) -> str:
    """Declare the properties of an object; outer objects have comments."""
    properties = schema.get("properties", {}) if isinstance(schema, dict) else None
    if not isinstance(properties, dict):
        raise InputError(f"{where} is not a JSON Schema of an object")
    required = schema.get("required") or []
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        raise InputError(f"{where}.required is not a list of names")
    lines = []
    for name, each in properties.items():
        place = f"{where}.properties.{name}"
        if not isinstance(each, dict):
            raise InputError(f"{place} is not a JSON Schema")
        if each.get("description") and indent < 2:
            lines.append(f"// {each['description']}")
        lines.append(f"{name}{'' if name in required else '?'}: {_type(each, indent, place)},")
    return "\n".join(" " * indent + line for line in lines)


def _type(schema: dict[str, Any], indent: int, where: str) -> str:
    """Spell a type in TypeScript."""
    kind, choices = schema.get("type"), schema.get("enum")
    if kind in ("string", "number", "integer"):
        if isinstance(choices, list):
            return " | ".join(f'"{choice}"' if kind == "string" else str(choice) for choice in choices)
        return "string" if kind == "string" else "number"
    if kind in ("boolean", "null"):
        return str(kind)
    if kind == "array":
        items = schema.get("items")
        return f"{_type(items, indent, f'{where}.items')}[]" if isinstance(items, dict) else "any[]"
    if kind == "object":
        return "\n".join(("{", _properties(schema, indent + 2, where), "}"))
    raise InputError(f"{where} has the type {kind!r}, of which it is not known what OpenAI bills for it")
