"""The built-in layouts of conversations: they do what a template does, without Jinja.

``chatml`` is OpenAI's ChatML, as many open models have it. ``gpt-3.5`` and ``gpt-4-32k`` are those that the
page Tiktokenizer shows for these models; their special tokens stand in no published table, so the layouts
bring them along. ``mistral-v3`` is mistral-common's InstructTokenizerV3 for text. ``harmony`` is that of gpt-oss: turns
with channels, recipients and types of content.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bpe_cli.chat.messages import ASSISTANTS, Conversation, text_of
from bpe_cli.chat.provenance import Traced
from bpe_cli.chat.writer import Writer
from bpe_cli.errors import InputError, UsageError
from bpe_cli.stages import SpecialToken
from bpe_cli.tokenizer import Tokenizer, named_encodings


@dataclass(frozen=True, slots=True)
class Layout:
    """A built-in layout.

    Attributes:
        write: Writes a conversation; the last argument tells whether to open the model's turn.
        tokens: The special tokens that it writes.
        of: The encoding that the layout was made for: it has the tokens, or is the one whose ids ``added`` are.
        added: Special tokens that it brings along to that encoding, with their ids.
        marks_generation: Whether it says what the model generates: it does.
    """

    marks_generation = True

    write: Callable[[Writer, Conversation, bool], None]
    tokens: tuple[str, ...]
    of: str | None = None
    added: Mapping[str, int] = field(default_factory=dict)

    def render(self, conversation: Conversation, *, add_generation_prompt: bool) -> Traced:
        """Return the text of a conversation, and which parts of it the layout wrote.

        Raises:
            InputError: if the layout has no place for something in it; the message says where.
        """
        writer = Writer(conversation.size)
        self.write(writer, conversation, add_generation_prompt)
        return writer.text()

    def fit(self, tokenizer: Tokenizer, name: str) -> Tokenizer:
        """Return the tokenizer with all special tokens that the layout needs.

        Raises:
            UsageError: if the tokenizer lacks a token whose id the layout does not define.
        """
        missing = self._missing(tokenizer)
        if (
            missing
            and self.added
            and self.of
            and tokenizer.model.vocabulary == named_encodings.named(self.of).model.vocabulary
        ):
            tokenizer = tokenizer.with_special_tokens(
                SpecialToken(text.encode(), token_id) for text, token_id in self.added.items()
            )
            missing = self._missing(tokenizer)
        if not missing:
            return tokenizer
        raise UsageError(
            f"the layout {name} needs the special token {missing[0]}, which this tokenizer lacks",
            hint=f"`tokenizer={self.of}` has it" if self.of else "`with_special_tokens` adds it",
        )

    def _missing(self, tokenizer: Tokenizer) -> list[str]:
        """Return the special tokens of the layout that a tokenizer lacks."""
        present = {token.content for token in tokenizer.special_tokens}
        return [token for token in self.tokens if token.encode() not in present]


def _write_turn(writer: Writer, message: Mapping[str, Any], where: str) -> None:
    """Write the text of a message and the end of its turn, which the model writes if it is its own."""
    is_models = message["role"] in ASSISTANTS
    if is_models:
        writer.begin_generated()
    writer.message(text_of(message, where)).template("<|im_end|>")
    if is_models:
        writer.end_generated()


def _write_chatml(writer: Writer, conversation: Conversation, prompt: bool) -> None:
    for where, message in _plain_messages(conversation, "chatml"):
        writer.template("<|im_start|>").role(message["role"]).template("\n")
        _write_turn(writer, message, where)
        writer.template("\n")
    if prompt:
        writer.template("<|im_start|>assistant\n")


def _write_separated(writer: Writer, conversation: Conversation, prompt: bool) -> None:
    for where, message in _plain_messages(conversation, "gpt-4-32k"):
        writer.template("<|im_start|>").role(message["role"]).template("<|im_sep|>")
        _write_turn(writer, message, where)
    if prompt:
        writer.template("<|im_start|>assistant<|im_sep|>")


def _write_mistral(writer: Writer, conversation: Conversation, _: bool) -> None:
    """Write instructions and answers; the system message is put before the last instruction.

    The end of an instruction opens the model's turn in any case.
    """
    system: list[str] = []
    turns: list[tuple[str, str]] = []
    last_role = ""
    for where, message in _plain_messages(conversation, "mistral-v3"):
        role, text = message["role"], text_of(message, where)
        if role == "system":
            if text:
                system.append(text)
        elif role not in ("user", "assistant"):
            raise InputError(f"{where}.role is {role!r}, for which the layout mistral-v3 has no place")
        elif role == last_role:
            turns[-1] = role, "\n\n".join(filter(None, (turns[-1][1], text)))
        else:
            turns.append((role, text))
        last_role = role
    if not turns or turns[0][0] != "user":
        turns.insert(0, ("user", ""))
    last = max(place for place, (role, _) in enumerate(turns) if role == "user")
    writer.template("<s>")
    for place, (role, text) in enumerate(turns):
        if role == "user":
            whole = "\n\n".join([*system, text]) if place == last and system else text
            writer.template("[INST]").message(whole).template("[/INST]")
        elif not text:
            raise InputError(f"{conversation.where}: the layout mistral-v3 has no place for an assistant's empty text")
        else:
            writer.begin_generated().message(text.rstrip(" ")).template("</s>").end_generated()


def _plain_messages(conversation: Conversation, layout: str) -> list[tuple[str, Mapping[str, str]]]:
    """Return each message with its place, refusing what a layout for text alone cannot write."""
    for name in ("tools", "functions", "documents"):
        if getattr(conversation, name):
            raise InputError(f"{conversation.where}: the layout {layout} has no place for {name}", hint=_OWN)
    _refuse_arguments(conversation, layout)
    placed = []
    for number, message in enumerate(conversation.messages):
        where = f"{conversation.where}: messages[{number}]"
        _refuse_others(message, where, layout, _PLAIN_KEYS)
        placed.append((where, message))
    return placed


def _refuse_others(message: Mapping[str, Any], where: str, layout: str, keys: frozenset[str]) -> None:
    """Refuse what a message holds besides these keys, unless it is empty or about the message."""
    for key, value in message.items():
        if value and key not in keys and key not in _ABOUT_A_MESSAGE:
            raise InputError(f"{where}.{key}: the layout {layout} has no place for it", hint=_OWN)


def _refuse_arguments(conversation: Conversation, layout: str) -> None:
    """Refuse arguments, none of which a layout knows; those that ask for nothing pass."""
    for name, value in conversation.arguments.items():
        if value not in (None, "", [], {}) and not (value is False and name in _SWITCHES):
            raise InputError(
                f"{conversation.where}: the layout {layout} has no place for the argument {name}",
                hint="leave it out, or name a template that uses it: see `chat_template`",
            )


_OWN = "a template of the tokenizer's own may have one: see `chat_template`"

_PLAIN_KEYS = frozenset({"role", "content"})
_ABOUT_A_MESSAGE = frozenset({"id", "metadata", "timestamp", "weight"})
"""What data sets say about a message, which no template writes."""

_SWITCHES = frozenset(
    {"continue_final_message", "padding", "return_assistant_tokens_mask", "return_dict", "truncation"}
)
"""Arguments of transformers' ``apply_chat_template`` that ask for nothing if they are False."""

_IM = ("<|im_start|>", "<|im_end|>")
_IM_IDS = {"<|im_start|>": 100264, "<|im_end|>": 100265, "<|im_sep|>": 100266}

# -- harmony ---------------------------------------------------------------------------------------
#
# As ``openai-harmony`` 0.0.8 renders a conversation in its own JSON form. A message whose content is a text is
# written as it is; ``system_content`` and ``developer_content`` parts are spelt out as there. Descriptions of
# tools are not written: the Jinja template that comes with gpt-oss does that.


HARMONY_TOKENS = (
    "<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|constrain|>", "<|call|>",
)  # fmt: skip

_CONSTRAIN = "<|constrain|>"
_HARMONY_KEYS = frozenset({"role", "content", "name", "recipient", "channel", "content_type"})
_ROLES = ("system", "developer", "user", "assistant", "tool")
_IDENTITY = "You are ChatGPT, a large language model trained by OpenAI."


def write_harmony(writer: Writer, conversation: Conversation, prompt: bool) -> None:
    """Write a conversation.

    Raises:
        InputError: if the conversation holds something that this layout has no place for.
    """
    for name in ("tools", "functions", "documents"):
        if getattr(conversation, name):
            raise InputError(
                f"{conversation.where}: the built-in layout harmony does not describe {name}",
                hint="the Jinja template that comes with the model, chat_template.jinja, does: see `chat_template`",
            )
    _refuse_arguments(conversation, "harmony")
    for number in _kept(conversation.messages):
        _write_message(writer, conversation.messages[number], f"{conversation.where}: messages[{number}]")
    if prompt:
        writer.template("<|start|>assistant")


def _kept(messages: tuple[Mapping[str, Any], ...]) -> list[int]:
    """Leave out the reasoning before the first final answer, once the last turn is a final answer."""
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
    _refuse_others(message, where, "harmony", _HARMONY_KEYS)
    if role == "tool" and not name:
        raise InputError(f"{where}.name is missing: harmony names the tool that speaks")
    writer.template("<|start|>")
    if role == "tool" and name:
        writer.message(name)
    else:
        writer.role(role)
    if role == "assistant":
        writer.begin_generated()
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
    writer.template("<|call|>" if role == "assistant" and recipient is not None else "<|end|>").end_generated()


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
    """Describe who the model is and how it is to answer, with harmony's usual values as defaults."""
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


# -- the layouts ------------------------------------------------------------------------------------

LAYOUTS: dict[str, Layout] = {
    "chatml": Layout(_write_chatml, _IM),
    "gpt-3.5": Layout(_write_chatml, _IM, "cl100k_base", _IM_IDS),
    "gpt-4-32k": Layout(_write_separated, (*_IM, "<|im_sep|>"), "cl100k_base", _IM_IDS),
    "harmony": Layout(write_harmony, HARMONY_TOKENS, "o200k_harmony"),
    "mistral-v3": Layout(_write_mistral, ("<s>", "</s>", "[INST]", "[/INST]")),
}
"""The layouts by name."""


def layout_of_model(model: str) -> str | None:
    """Return the name of the layout that a model or encoding is known to use, or None.

    >>> layout_of_model("gpt-3.5-turbo"), layout_of_model("gpt-4-32k-0613"), layout_of_model("gpt-oss-20b")
    ('gpt-3.5', 'gpt-4-32k', 'harmony')
    """
    model, encoding = named_encodings.canonical(model), named_encodings.encoding_of(model)
    if encoding == "o200k_harmony":
        return "harmony"
    if encoding != "cl100k_base" or model == encoding:
        return None
    if model.startswith(("gpt-3.5", "gpt-35", "ft:gpt-3.5")):
        return "gpt-3.5"
    return "gpt-4-32k" if model.startswith(("gpt-4", "ft:gpt-4")) else None
