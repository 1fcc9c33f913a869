"""Show a conversation message by message: the role, the number of tokens, and the tokens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bpe_cli.views.blocks import Gap, Hanging, Line
from bpe_cli.views.labels import TOKEN_LIMIT, count, whole
from bpe_cli.views.tokens import NO_NOTES, Notes, TokenView
from bpe_cli.views.visible import harmless

if TYPE_CHECKING:
    from bpe_cli.reports.text.conversation import ConversationPart, ConversationReport
    from bpe_cli.views.blocks import Block, Screen


def part_title(part: ConversationPart) -> str:
    """Return the title of a part: its messages with their roles, or its kind. Roles come from outside, unescaped.

    >>> from bpe_cli.reports.text.conversation import ConversationPart
    >>> def title(kind, messages, roles):
    ...     return part_title(ConversationPart(kind, messages, roles, 0, 0, 0, 0, None))
    >>> title("messages", (2, 3), ("user",)), title("messages", (0, 2), ("system", "user"))
    ('message 2  user', 'messages 0 to 1  system, user')
    >>> title("prompt", (3, 3), ()), title("before", (0, 0), ())
    ('generation prompt', 'before all messages')
    """
    first, stop = part.messages
    if part.kind != "messages":
        return "generation prompt" if part.kind == "prompt" else "before all messages"
    numbers = f"message {first}" if stop - first == 1 else f"messages {first} to {stop - 1}"
    return f"{numbers}  {', '.join(part.roles)}"


def part_counts(part: ConversationPart) -> str:
    """Describe the tokens of a part: how many there are, how many of them are of its text, and how many special."""
    kinds = [f"{whole(part.said_count)} of its text"] if part.kind == "messages" else []
    if part.special_count:
        kinds.append(f"{whole(part.special_count)} special")
    total = count(part.token_count, "token")
    return f"{total}: {', '.join(kinds)}" if kinds else total


def conversation_totals(report: ConversationReport) -> str:
    """Describe the tokens of a conversation: how many are of its messages, how many of the template."""
    total, said = report.whole.token_count, report.said_count
    return (
        f"{count(total, 'token')}: {whole(said)} of the messages' text, {whole(total - said)} of {report.template}; "
        f"{whole(report.special_count)} special, {count(report.whole.byte_count, 'byte')}"
    )


@dataclass(frozen=True)
class ConversationView:
    """A conversation, each message with its tokens.

    Attributes:
        report: What to show.
        notes: What to print under each token.
        limit: The most tokens of a message to show; None for all.
        marked: Whether to keep in its place what reads from the right, for a terminal; see ``visible``.
    """

    report: ConversationReport
    notes: Notes = NO_NOTES
    limit: int | None = TOKEN_LIMIT
    marked: bool = False

    def blocks(self, screen: Screen) -> Iterator[Block]:
        """Yield the blocks for a screen."""
        for part in self.report.parts:
            yield Hanging(Line((harmless(part_title(part)), "bold"), f"  {part_counts(part)}"))
            if part.token_count:
                yield from TokenView(
                    part.segmentation, notes=self.notes, limit=self.limit, totals=False, marked=self.marked
                ).blocks(screen)
            yield Gap()
        yield Hanging(Line(harmless(conversation_totals(self.report))))
