"""Do or refuse what transformers' ``apply_chat_template`` takes beside the variables of a template.

A template would pass over these arguments in silence, and the result would be another than the one that was asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bpe_cli.chat.messages import REASONING, Conversation, as_transformers_gives_it
from bpe_cli.chat.provenance import Meter, Traced
from bpe_cli.errors import InputError, UsageError
from bpe_cli.support.core_arguments import wrong_type

_ASKS_NOTHING: Mapping[str, tuple[object, ...]] = {
    "max_length": (None,),
    "padding": (None, False, True, "longest", "do_not_pad"),  # one conversation is the longest
    "return_assistant_tokens_mask": (None, False),
    "return_dict": (None, False),
    "return_tensors": (None,),
    "sanitize_control_tokens": (None, False, True),  # `specials` says whether messages hold special tokens
    "tokenizer_kwargs": (None, {}),
    "truncation": (None, False, "do_not_truncate"),
}
"""Arguments of theirs that are about ids, with the values that ask for nothing else than is done here."""

_TAG = "CONTINUE_FINAL_MESSAGE_TAG "
"""The mark that transformers puts behind the text to continue; the space tells whether a template strips it."""


def for_template(arguments: Mapping[str, Any], *, tokenize: bool) -> dict[str, Any]:
    """Return the arguments that a template is to find, without those that are about ids.

    Args:
        arguments: What was given beside the conversation.
        tokenize: Whether ids are asked for: nothing about them counts if not.

    Raises:
        UsageError: if one asks for what is not done here.
    """
    for name, value in arguments.items():
        if not tokenize or name not in _ASKS_NOTHING:
            continue
        # By type as well: 1 is not True.
        if not any(type(value) is type(each) and value == each for each in _ASKS_NOTHING[name]):
            raise UsageError(
                f"apply_chat_template does not know {name}={value!r}: it returns a list of all ids",
                hint="cut the list, fill it up, or make an array of it; `bpe_cli.compat.transformers` has a tokenizer "
                "that takes all arguments of transformers",
            )
    return {name: value for name, value in arguments.items() if name not in _ASKS_NOTHING}


def field_to_continue(asked: bool | str, *, add_generation_prompt: bool) -> str | None:
    """Return which member of the last message is to be continued; None if none is.

    Args:
        asked: What ``continue_final_message`` is.
        add_generation_prompt: Whether the model's turn is to be opened, which leaves nothing to continue.

    Raises:
        TypeError: if it is neither a bool nor a str.
        UsageError: if both are asked for.
    """
    if not isinstance(asked, (bool, str)):
        raise wrong_type("continue_final_message", "a bool or a str", asked)
    if asked and add_generation_prompt:
        raise UsageError(
            "continue_final_message goes on with the last message, and add_generation_prompt begins a new one",
            hint="give one of them",
        )
    return ("content" if asked is True else asked) or None


def with_mark(conversation: Conversation, field: str) -> tuple[Conversation, str]:
    """Return a conversation with a mark behind the text of its last message, and that text, for ``up_to_mark``.

    Args:
        conversation: The conversation.
        field: The member of the message that holds the text, such as ``content``.

    Raises:
        InputError: if there is no such text.
    """
    last = dict(conversation.messages[-1]) if conversation.messages else {}
    text = as_transformers_gives_it(last).get(field)
    marked, said = text, ""
    if isinstance(text, str):
        marked, said = text + _TAG, text
    elif isinstance(text, list):
        place = max((at for at, part in enumerate(text) if _has_text(part)), default=None)
        if place is not None:
            said = text[place]["text"]
            marked = [*text[:place], text[place] | {"text": said + _TAG}, *text[place + 1 :]]
    if marked == text:
        raise InputError(f"{conversation.where}: the last message has no {field} to continue")
    names = REASONING if field in REASONING else (field,)  # a template may read any of them
    last |= {name: marked for name in names if last.get(name) == text}
    return replace(conversation, messages=(*conversation.messages[:-1], last)), said


def _has_text(part: Any) -> bool:
    return isinstance(part, Mapping) and isinstance(part.get("text"), str)


def up_to_mark(text: Traced, said: str, where: str) -> Traced:
    """Return a rendered conversation up to the mark.

    Raises:
        InputError: if the mark is not in it, or the text before the mark is not what was said.
    """
    written = str.__str__(text)
    end = written.rfind(_TAG.rstrip())
    if end < 0 or said.strip() not in written:
        raise InputError(
            f"{where}: the chat template does not write the text of the last message as it is, "
            "so the message cannot be continued"
        )
    if not written.startswith(_TAG, end):  # the template strips texts
        end = len(written[:end].rstrip())
    meter = Meter()
    meter.start(len(written))
    return Traced.of(written[:end], text.origins[:end], meter)
