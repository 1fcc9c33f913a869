"""Describe a rendered conversation token by token: by message, and by author, the template or a message."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from bpe_cli.reports.text.segmentation import Segmentation
from bpe_cli.tokenizer.encoded import Placed

if TYPE_CHECKING:
    from bpe_cli.reports.text.characters import SplitGrapheme


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a conversation to be described.

    Attributes:
        kind: What comes ``before`` all messages, some ``messages``, or the model's opened turn, the ``prompt``.
        messages: The number of the first message, from 0, and of the one after the last.
        roles: Their roles.
        end: Where it ends, in bytes of the rendered text.
    """

    kind: Literal["before", "messages", "prompt"]
    messages: tuple[int, int]
    roles: tuple[str, ...]
    end: int


@dataclass(frozen=True, slots=True)
class ConversationPart:
    """A part of a conversation.

    Attributes:
        kind: As of a ``Stretch``, as are ``messages`` and ``roles``.
        start: Where its first token begins, in bytes of the rendered text.
        end: Where its last one ends.
        special_count: How many of its tokens are special.
        said_count: How many of its tokens have text of a message; the others are the template's.
        segmentation: Its tokens. Their offsets are those in the whole text.
    """

    kind: Literal["before", "messages", "prompt"]
    messages: tuple[int, int]
    roles: tuple[str, ...]
    start: int
    end: int
    special_count: int
    said_count: int
    segmentation: Segmentation

    @property
    def token_count(self) -> int:
        """How many tokens it has."""
        return self.segmentation.token_count


@dataclass(frozen=True, slots=True)
class ConversationReport:
    """A conversation as tokens.

    Attributes:
        template: The name of the template.
        whole: The tokens of the rendered text.
        parts: The same by message.
    """

    template: str
    whole: Segmentation
    parts: tuple[ConversationPart, ...]

    @property
    def special_count(self) -> int:
        """How many tokens are special."""
        return sum(part.special_count for part in self.parts)

    @property
    def said_count(self) -> int:
        """How many tokens have text of a message."""
        return sum(part.said_count for part in self.parts)


def describe_conversation(
    template: str, whole: Segmentation, stretches: Sequence[Stretch], said: Sequence[tuple[int, int]]
) -> ConversationReport:
    """Divide the tokens of a rendered conversation: each belongs to the part in which it begins.

    Args:
        template: The name of the template.
        whole: All tokens, with their details.
        stretches: The parts, in order.
        said: The stretches of text that messages wrote, in bytes, ascending.
    """
    if not stretches:  # the template writes nothing
        return ConversationReport(template, whole, ())
    borders = [0]
    for stretch in stretches[:-1]:
        border = bisect_left(whole.placed.starts, stretch.end)
        for split in whole.splits:  # a character is shown whole, in the part in which it begins
            if split.first < border < split.first + len(split.contents):
                border = split.first + len(split.contents)
        borders.append(max(border, borders[-1]))
    borders.append(whole.token_count)
    parts = []
    for stretch, (first, end) in zip(stretches, pairwise(borders), strict=True):
        segmentation = _part(whole, first, end)
        spans = list(zip(whole.placed.starts[first:end], whole.placed.ends[first:end], strict=True))
        parts.append(
            ConversationPart(
                stretch.kind, stretch.messages, stretch.roles, spans[0][0] if spans else stretch.end,
                max((stop for _, stop in spans), default=stretch.end), sum(whole.placed.special[first:end]),
                _said(spans, said), segmentation,
            )
        )  # fmt: skip
    return ConversationReport(template, whole, tuple(parts))


def _said(spans: Sequence[tuple[int, int]], said: Sequence[tuple[int, int]]) -> int:
    """Count the tokens that have a byte of a message; both lists ascend."""
    count = place = 0
    for start, end in spans:
        while place < len(said) and said[place][1] <= start:
            place += 1
        count += place < len(said) and said[place][0] < end and start < end
    return count


def _part(whole: Segmentation, first: int, end: int) -> Segmentation:
    """Return some of the tokens of a text as if they were all."""
    placed = whole.placed
    starts, ends = placed.starts[first:end], placed.ends[first:end]
    tokens = whole.tokens[first:end]
    splits: list[SplitGrapheme] = [
        replace(split, first=split.first - first) for split in whole.splits if first <= split.first < end
    ]
    return Segmentation(
        whole.tokenizer,
        Placed(placed.ids[first:end], starts, ends, placed.special[first:end]),
        tokens,
        tuple(splits),
        max(ends, default=0) - (starts[0] if len(starts) else 0),
        max((token.character_end for token in tokens), default=0) - (tokens[0].character_start if tokens else 0),
        None,
    )
