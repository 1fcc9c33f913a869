"""Which parts of a conversation a model is to learn: what it writes itself, to the end of its turn.

A template that marks this (``{% generation %}``), and a built-in layout, say it themselves. Of other templates it is
found by rendering the conversation up to each turn of the model. That, with the turn opened, is what the model would be
given: where it ends the turn begins. The turn ends with what the template writes behind the last of the model's words
when the conversation stops there, to the last special token of it: the line end behind ``<|im_end|>`` is nobody's. Of
several special tokens those behind the first count until one comes that opens turns: one of the generation prompt, or
without such one that stands before all words of the conversation. A template that writes the past otherwise once more
follows is not guessed at.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Protocol

from bpe_cli.chat.messages import ASSISTANTS
from bpe_cli.chat.provenance import ASSISTANT, Traced, plain_origins
from bpe_cli.errors import InputError
from bpe_cli.support.fast_dataclass import replace

if TYPE_CHECKING:
    from bpe_cli.chat.encoding import ChatEncoder
    from bpe_cli.chat.messages import Conversation


MOST_TURNS = 500
"""The most turns of the model in a conversation whose template marks none, as it is rendered twice for each."""

_WORDS = re.compile(rb"[ma]")


class Renders(Protocol):
    """The interface of what renders conversations: a template or a layout."""

    @property
    def marks_generation(self) -> bool:
        """Whether it says what the model generates."""

    def render(self, conversation: Conversation, *, add_generation_prompt: bool) -> Traced:
        """Return the text of a conversation."""


def learnt_spans(
    renderer: Renders, encoder: ChatEncoder, conversation: Conversation, text: Traced
) -> list[tuple[int, int]]:
    """Return the stretches of characters of a rendered conversation that the model is to learn, ascending.

    Args:
        renderer: What rendered it.
        encoder: What knows special tokens.
        conversation: The conversation.
        text: What became of it.

    Raises:
        InputError: if the template does not mark them, and writes turns otherwise when others follow, or there are
            too many.
        FormatError: if the template writes half a character.
    """
    if renderer.marks_generation:
        return text.generated_spans()
    turns = [number for number, each in enumerate(conversation.messages) if each["role"] in ASSISTANTS]
    if len(turns) > MOST_TURNS:
        raise InputError(
            f"{conversation.where} has {len(turns):,} turns of the model; what it is to learn is found for at most "
            f"{MOST_TURNS:,}, since the chat template does not mark it and all is rendered anew for each",
            hint=_HINT,
        )
    if not turns:
        return []
    starts = [
        _opened(renderer, conversation, number, text, f"{conversation.where}: messages[{number}]") for number in turns
    ]
    spans = []
    specials = encoder.specials_of(text, conversation.where)
    opening = _opening(renderer, conversation, turns[0], text, starts[0], specials)
    for number, start, stop in zip(turns, starts, [*starts[1:], len(text)][: len(turns)], strict=True):
        alone = _rendered(renderer, conversation, number + 1, opened=False)
        end_alone = _behind_words(alone, start, len(alone))
        closing = str.__str__(alone)[end_alone:]
        # What the model said may be told again before its next turn, as the name of the tool that it called.
        is_prefix = text.startswith(str.__str__(alone)[:end_alone])
        first = end_alone if is_prefix else _behind_words(text, start, stop)
        end = _end_of_turn(specials, opening, text, first, closing)
        if end is None or alone[:start] != text[:start]:
            raise _not_told(f"{conversation.where}: messages[{number}]")
        spans.append((start, end))
    return spans


def _opened(renderer: Renders, conversation: Conversation, number: int, text: Traced, where: str) -> int:
    """Return where the turn that is a message of the model begins."""
    before = _rendered(renderer, conversation, number, opened=True)
    if not text.startswith(before):
        raise _not_told(where)
    return len(before)


def _rendered(renderer: Renders, conversation: Conversation, count: int, *, opened: bool) -> Traced:
    """Render the first messages of a conversation."""
    first = replace(conversation, messages=conversation.messages[:count])
    try:
        return renderer.render(first, add_generation_prompt=opened)
    except InputError as error:
        raise InputError(
            f"{conversation.where}: what the model is to learn is found by rendering the first {count} messages alone, "
            f"and that fails: {error}",
            hint=_HINT,
        ) from error


def _behind_words(text: Traced, start: int, stop: int) -> int:
    """Return where the last of the model's words end; the start of the turn if it has none."""
    return start + plain_origins(text.origins[start:stop]).rfind(ASSISTANT) + 1


def _opening(
    renderer: Renders, conversation: Conversation, number: int, text: Traced, start: int,
    specials: list[tuple[int, int, int]],
) -> set[int]:  # fmt: skip
    """Return the ids of the special tokens that open turns.

    Args:
        renderer: What rendered the conversation.
        conversation: The conversation.
        number: The number of the first message of the model.
        text: The rendered conversation.
        start: Where the turn of that message begins.
        specials: The special tokens that the template wrote: the id, and where each begins and ends.
    """
    try:
        closed = _rendered(renderer, conversation, number, opened=False)
    except InputError:  # the template wants the turn to be opened
        before = start
    else:
        before = _same(str.__str__(text), str.__str__(closed))
    prompt = {token for token, _, end in specials if before < end <= start}
    words = _WORDS.search(plain_origins(text.origins))
    return prompt or {token for token, _, end in specials if end <= (words.start() if words else len(text))}


def _same(one: str, other: str) -> int:
    """Return how many characters two texts begin with alike."""
    if one.startswith(other):
        return len(other)
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))


def _end_of_turn(
    specials: list[tuple[int, int, int]], opening: set[int], text: Traced, first: int, closing: str
) -> int | None:
    """Return where a turn ends whose words have ended; None if the text does not go on as it was to.

    Args:
        specials: The special tokens that the template wrote: the id, and where each begins and ends.
        opening: The ids of those that open turns.
        text: The rendered conversation.
        first: Where the words of the turn have ended.
        closing: What follows them if the conversation stops there.
    """
    same = _same(str.__str__(text)[first : first + len(closing)], closing)
    found = []
    for token, _, end in specials[bisect_left(specials, first, key=lambda special: special[1]) :]:
        if end > first + same:
            break
        found.append((token, end))
    if found:
        count = next((at for at, (token, _) in enumerate(found) if at and token in opening), len(found))
        return found[count - 1][1]
    return first + same if same == len(closing) else None


_HINT = (
    "use a template that marks what the model generates with {% generation %}, or a built-in layout: "
    "see `chat_template`"
)


def _not_told(where: str) -> InputError:
    return InputError(
        f"{where}: the chat template writes this turn differently when others follow, so it cannot be found",
        hint=_HINT,
    )
