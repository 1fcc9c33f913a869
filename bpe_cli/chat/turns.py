"""Find the part of a rendered conversation that each message has: what rendering one message more adds.

Some templates write the past differently when more follows, or one message inside another (a system prompt in the
user's turn). Such messages cannot be told apart, so they share one part. Nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from bpe_cli.chat.provenance import ASSISTANT, MESSAGE, UNKNOWN, plain_origins
from bpe_cli.errors import FormatError, InputError
from bpe_cli.support.fast_dataclass import dataclass, replace

if TYPE_CHECKING:
    from bpe_cli.chat.learning import Renders
    from bpe_cli.chat.messages import Conversation
    from bpe_cli.chat.provenance import Traced

MOST_MESSAGES = 1000
"""The most messages that are told apart, as the conversation is rendered once for each. The others share one part."""

_WORDS = frozenset(MESSAGE + ASSISTANT + UNKNOWN)


@dataclass(frozen=True, slots=True)
class Turn:
    """A stretch of a rendered conversation: what comes before all messages, some messages, or the opened turn.

    Attributes:
        kind: ``before``, ``messages`` or ``prompt``.
        first: Number of the first message, from 0.
        stop: Number after the last message; equal to ``first`` if the stretch has none.
        end: Where the stretch ends, in characters.
    """

    kind: Literal["before", "messages", "prompt"]
    first: int
    stop: int
    end: int


def turns_of(renderer: Renders, conversation: Conversation, text: Traced) -> Iterator[Turn]:
    """Yield the stretches of a rendered conversation, in order; together they cover all of it.

    Args:
        renderer: What rendered it.
        conversation: The conversation.
        text: The rendered conversation.
    """
    count = len(conversation.messages)
    written = str.__str__(text)
    done = place = 0
    for number in range(min(count, MOST_MESSAGES) + 1):
        try:
            first = replace(conversation, messages=conversation.messages[:number])
            before = str.__str__(renderer.render(first, add_generation_prompt=False))
        except (InputError, FormatError):
            continue  # the template needs more messages than these
        if not written.startswith(before) or len(before) < place:
            continue
        if not number:
            if before:
                yield Turn("before", 0, 0, len(before))
            place = len(before)
            continue
        added = plain_origins(text.origins[place : len(before)])
        if len(before) == place or (_says(conversation.messages[number - 1]) and _WORDS.isdisjoint(added)):
            continue  # what the message says is written elsewhere
        yield Turn("messages", done, number, len(before))
        done, place = number, len(before)
    if done < count:
        yield Turn("messages", done, count, len(written))
    elif place < len(written):
        yield Turn("prompt", count, count, len(written))


def _says(message: Mapping[str, Any]) -> bool:
    """Return whether a message has words."""
    content = message.get("content")
    parts = [part.get("text") for part in content] if isinstance(content, list) else [content]
    return any(isinstance(part, str) and part.strip() for part in parts)
