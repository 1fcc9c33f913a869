"""What ``Tokenizer.apply_chat_template`` does: a conversation that Python holds becomes ids or text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from bpe_cli.chat.encoding import ChatEncoder
from bpe_cli.chat.layouts import LAYOUTS, Layout, layout_of_model
from bpe_cli.chat.messages import Conversation, read_conversation
from bpe_cli.chat.templates import ChatTemplate, special_names
from bpe_cli.errors import InputError, UsageError
from bpe_cli.support.blocks import Block
from bpe_cli.support.core_arguments import list_of, wrong_type
from bpe_cli.support.safe_orjson import orjson
from bpe_cli.tokenizer import Specials, Tokenizer


def apply_chat_template(
    tokenizer: Tokenizer,
    messages: object,
    *,
    tools: object,
    documents: object,
    chat_template: str | None,
    add_generation_prompt: bool,
    tokenize: bool,
    specials: Specials,
    arguments: Mapping[str, Any],
) -> list[int] | str:
    """Return the ids of a conversation, or its text; the arguments are those of the method.

    Raises:
        UsageError: if there is no such template, or the tokenizer lacks a token that it needs.
        InputError: if the conversation is not one, or the template refuses it.
        FormatError: if the template is broken.
        TypeError: if an argument is of a wrong type.
    """
    if not isinstance(add_generation_prompt, bool):
        raise wrong_type("add_generation_prompt", "a bool", add_generation_prompt)
    conversation = _conversation(messages, tools, documents, arguments)
    renderer, tokenizer = _renderer(tokenizer, chat_template)
    text = renderer.render(conversation, add_generation_prompt=add_generation_prompt)
    if not tokenize:
        return str.__str__(text)
    encoder = ChatEncoder(tokenizer, specials)
    ids, _ = tokenizer.encode_block(Block.of([encoder.prepare(text, conversation.where)]), encoder.matcher)
    return ids.tolist()


def _conversation(messages: object, tools: object, documents: object, arguments: Mapping[str, Any]) -> Conversation:
    """Check a conversation as one that is read from a file, by way of the JSON that it would be there.

    Raises:
        InputError: if it is not one.
        TypeError: if something in it has no form in JSON.
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
            parts[name] = orjson.loads(orjson.dumps(value))
        except orjson.JSONEncodeError as error:
            if "surrogate" in str(error):
                raise InputError(f"{name}: a text has a lone surrogate, which stands for no character") from error
            what = f"{name}, the further arguments," if name == "chat_template_kwargs" else name
            raise TypeError(f"{what} must be of what JSON has: {error}") from error
    return read_conversation(orjson.dumps(parts), "the conversation")


def _renderer(tokenizer: Tokenizer, template: str | None) -> tuple[ChatTemplate | Layout, Tokenizer]:
    """Return what renders conversations, and the tokenizer with the special tokens that it needs.

    Raises:
        UsageError: if there is no such template, or the tokenizer does not fit it.
    """
    own = dict(tokenizer.usage.chat_templates)
    if template is None:
        named = layout_of_model(tokenizer.name) if tokenizer.name else None
        template = next(iter(own), None) or named
        if template is None:
            raise UsageError(
                "this tokenizer comes with no chat template",
                hint=f"chat_template= names one: {', '.join(LAYOUTS)}; or is one, in Jinja",
            )
    if not isinstance(template, str):
        raise wrong_type("chat_template", "a str", template)
    if template in own:
        title = "the tokenizer's chat template" + ("" if template == "default" else f" {template}")
        return ChatTemplate(own[template], title, special_names(tokenizer)), tokenizer
    if template in LAYOUTS:
        return LAYOUTS[template], LAYOUTS[template].fit(tokenizer, template)
    if "{" not in template:
        known = ", ".join((*own, *LAYOUTS))
        raise UsageError(f"there is no chat template {template!r}", hint=f"there are {known}; or give one in Jinja")
    return ChatTemplate(template, "the chat template", special_names(tokenizer)), tokenizer
