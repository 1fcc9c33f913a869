"""Find the template with which conversations are rendered: the tokenizer's own, a file, or a built-in layout."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, BinaryIO

from bpe_cli.corpus.opening import read_whole
from bpe_cli.errors import InputError, UsageError
from bpe_cli.support.fast_dataclass import dataclass, replace

if TYPE_CHECKING:
    import datetime
    from collections.abc import Callable

    from bpe_cli.chat import Conversation
    from bpe_cli.chat.learning import Renders
    from bpe_cli.tokenizer import Tokenizer

    RendererOf = Callable[[Conversation], Renders]
    """Returns what renders a conversation."""


@dataclass(frozen=True, slots=True)
class Template:
    """How conversations become text: a plain value, which can be pickled.

    Attributes:
        title: Its name in messages.
        layout: The built-in layout, or None.
        source: The text of the template, in Jinja; None of a layout.
        with_tools: The template for conversations with tools, if that is another.
    """

    title: str
    layout: str | None = None
    source: str | None = None
    with_tools: Template | None = None

    def of(self, conversation: Conversation) -> Template:
        """Return the template of a conversation."""
        return self if self.with_tools is None or conversation.tools is None else self.with_tools

    def fit(self, model: Tokenizer) -> Tokenizer:
        """Return the tokenizer with the special tokens that it needs.

        Raises:
            UsageError: if the tokenizer lacks one whose id is not known.
        """
        from bpe_cli.chat import LAYOUTS

        return model if self.layout is None else LAYOUTS[self.layout].fit(model, self.layout)

    def renderer(self, model: Tokenizer, date: datetime.date | None) -> Renders:
        """Return what renders conversations, for the tokenizer that fits."""
        from bpe_cli.chat import LAYOUTS, ChatTemplate, special_names

        if self.layout is not None:
            return LAYOUTS[self.layout]
        return ChatTemplate(self.source or "", self.title, special_names(model), date)

    def renderers(self, model: Tokenizer, date: datetime.date | None) -> RendererOf:
        """Return a function from a conversation to what renders it, for the tokenizer that fits."""
        usual = self.renderer(model, date)
        other = usual if self.with_tools is None else self.with_tools.renderer(model, date)
        return lambda conversation: usual if conversation.tools is None else other


def find_template(
    name: str | None, model: Tokenizer, *, named: str, stdin: BinaryIO, to: str | None = None
) -> Template:
    """Find the template that has a name, or that a tokenizer has.

    Args:
        name: One of the tokenizer's, a Jinja file, or one of ``chat.LAYOUTS``; None for the tokenizer's own.
        model: The tokenizer.
        named: The name by which it was asked for, if it needs no file.
        stdin: The stream that ``-`` stands for.
        to: What is written, if that may be counts as OpenAI bills, which take no template.

    Raises:
        UsageError: if there is no such template.
        InputError: if it cannot be read.
    """
    from bpe_cli.chat import LAYOUTS, is_billed, layout_of_model
    from bpe_cli.chat.templates import TOOL_USE

    own = {
        each: Template("the tokenizer's chat template" + ("" if each == "default" else f" {each}"), source=source)
        for each, source in model.usage.chat_templates
    }
    if not name and TOOL_USE in own:
        usual = next(iter(own.values()))
        return usual if usual is own[TOOL_USE] else replace(usual, with_tools=own[TOOL_USE])
    name = name or next(iter(own), None) or (layout_of_model(named) if named else None)
    if name is None:
        way = '`chat="openai"`' if to == "count" else '`to="count"`' if to and is_billed(named) else None
        counts = f"; {way} counts as OpenAI bills" if way else ""
        raise UsageError(
            "this tokenizer comes with no chat template, so `chat=NAME` must name one",
            hint=f"built in are {', '.join(LAYOUTS)}; or a file, such as chat_template.jinja{counts}",
        )
    if name in own:
        return own[name]
    if name in LAYOUTS:
        return Template(f"the layout {name}", layout=name)
    if not os.path.exists(name) and not name.endswith((".jinja", ".jinja2", ".j2")) and os.sep not in name:
        known = ", ".join((*own, *LAYOUTS))
        raise UsageError(f"there is no chat template {name!r}", hint=f"there are {known}; or give a file")
    try:
        return Template(name, source=read_whole(name, stdin=stdin).decode())
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is not UTF-8 (byte {error.start:,})") from error
