"""OpenAI's harmony, the layout of gpt-oss: turns with channels, recipients and types of content.

As ``openai-harmony`` 0.0.8 renders a conversation in its own JSON form. A message whose content is a text is
written as it is; ``system_content`` and ``developer_content`` parts are spelt out as there. Descriptions of
tools are not written: the Jinja template that comes with gpt-oss does that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bpe_cli.chat.messages import Conversation
from bpe_cli.chat.provenance import Writer
from bpe_cli.errors import InputError

TOKENS = (
    "<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|constrain|>", "<|call|>",
)  # fmt: skip

_CONSTRAIN = "<|constrain|>"
_ROLES = ("system", "developer", "user", "assistant", "tool")
_IDENTITY = "You are ChatGPT, a large language model trained by OpenAI."


def write_harmony(writer: Writer, conversation: Conversation, prompt: bool) -> None:
    """Write a conversation.

    Raises:
        InputError: if it has what this layout has no place for.
    """
    for name in ("tools", "functions", "documents"):
        if getattr(conversation, name):
            raise InputError(
                f"{conversation.where}: the built-in layout harmony does not describe {name}",
                hint="the Jinja template that comes with the model does: --chat-template chat_template.jinja",
            )
    for number in _kept(conversation.messages):
        _write_message(writer, conversation.messages[number], f"{conversation.where}: messages[{number}]")
    if prompt:
        writer.template("<|start|>assistant")


def _kept(messages: tuple[Mapping[str, Any], ...]) -> list[int]:
    """Leave out what was thought before the first final answer, once the last turn is a final answer."""
    channels = [message.get("channel") for message in messages]
    last = max((n for n, message in enumerate(messages) if message["role"] == "assistant"), default=None)
    first_final = channels.index("final") if last is not None and channels[last] == "final" else 0
    return [n for n, channel in enumerate(channels) if not (channel == "analysis" and n < first_final)]


def _write_message(writer: Writer, message: Mapping[str, Any], where: str) -> None:
    role, name = message["role"], message.get("name")
    recipient, channel, kind = (_string(message, key, where) for key in ("recipient", "channel", "content_type"))
    if role not in _ROLES:
        raise InputError(f"{where}.role is {role!r}; harmony has {', '.join(_ROLES)}")
    if message.get("tool_calls") or message.get("function_call"):
        raise InputError(
            f"{where}: harmony writes a call as a message of its own, with recipient, channel and content_type"
        )
    if role == "tool" and not name:
        raise InputError(f"{where}.name is missing: harmony names the tool that speaks")
    writer.template("<|start|>").message(name if role == "tool" and name else role)
    if role != "tool" and name:
        writer.message(f":{name}")
    if recipient is not None and recipient != "all":
        writer.message(f" to={recipient}")
    if channel is not None:
        writer.template("<|channel|>").message(channel)
    if kind is not None and kind.startswith(_CONSTRAIN):
        writer.template(f" {_CONSTRAIN}").message(kind.removeprefix(_CONSTRAIN))
    elif kind is not None:
        writer.message(f" {kind}")
    writer.template("<|message|>").message(_content(message.get("content"), where))
    writer.template("<|call|>" if role == "assistant" and recipient is not None else "<|end|>")


def _string(value: Mapping[str, Any], key: str, where: str) -> str | None:
    text = value.get(key)
    if text is not None and not isinstance(text, str):
        raise InputError(f"{where}.{key} is not a string")
    return text


def _content(content: Any, where: str) -> str:
    if content is None:
        raise InputError(f"{where}.content is missing")
    if isinstance(content, str):
        return content
    texts = []
    for number, part in enumerate(content):
        place = f"{where}.content[{number}]"
        if part.get("tools"):
            raise InputError(f"{place}.tools: the built-in layout harmony does not describe tools")
        kind = part.get("type")
        if kind == "text" and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif kind == "system_content":
            texts.append(_system(part, place))
        elif kind == "developer_content":
            instructions = _string(part, "instructions", place)
            texts.append("" if instructions is None else f"# Instructions\n\n{instructions}")
        else:
            raise InputError(f"{place} is not text, system_content or developer_content")
    return "".join(texts)


def _system(part: Mapping[str, Any], where: str) -> str:
    """Spell out who the model is and how it is to answer; what is not said has harmony's usual value."""
    usual = {"model_identity": _IDENTITY, "knowledge_cutoff": "2024-06", "reasoning_effort": "Medium"}
    said = {key: _string({**usual, **part}, key, where) for key in (*usual, "conversation_start_date")}
    head = [
        said["model_identity"],
        said["knowledge_cutoff"] and f"Knowledge cutoff: {said['knowledge_cutoff']}",
        said["conversation_start_date"] and f"Current date: {said['conversation_start_date']}",
    ]
    sections = ["\n".join(filter(None, head))]
    if said["reasoning_effort"]:
        sections.append(f"Reasoning: {said['reasoning_effort'].lower()}")
    channels = part.get("channel_config", {"valid_channels": ["analysis", "commentary", "final"]})
    if channels is not None:
        names = channels.get("valid_channels") if isinstance(channels, dict) else None
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise InputError(f"{where}.channel_config names no valid_channels")
        if names:
            required = " Channel must be included for every message." * bool(channels.get("channel_required", True))
            sections.append(f"# Valid channels: {', '.join(names)}.{required}")
    return "\n\n".join(filter(None, sections))
