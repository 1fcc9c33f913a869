"""Find out how the conversations of a data set become text, before the work begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bpe_cli.errors import UsageError
from bpe_cli.support.fast_dataclass import dataclass, replace

if TYPE_CHECKING:
    import datetime
    from typing import Any

    from bpe_cli.corpus import Source
    from bpe_cli.corpus.source import Documents
    from bpe_cli.jobs.chat_template import Template
    from bpe_cli.jobs.encode_chat import ChatOptions
    from bpe_cli.jobs.files import Streams
    from bpe_cli.jobs.tokenizers import AnyTokenizer
    from bpe_cli.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class Conversations:
    """How conversations become text, found out before the work begins: a plain value, which can be pickled.

    Attributes:
        template: The template.
        generation_prompt: Whether the model's turn is opened at the end; None: unless the model spoke last.
        tools: Tools for conversations without any (JSON), or None.
        date: The date that templates write, or None.
    """

    template: Template
    generation_prompt: bool | None = None
    tools: tuple[Any, ...] | None = None
    date: datetime.date | None = None

    def described(self) -> dict[str, Any]:
        """Return it as JSON values, texts by their hash."""
        from hashlib import sha256

        from bpe_cli.support import exact_json

        source, tools, with_tools = self.template.source, self.tools, self.template.with_tools
        described = {
            "layout": self.template.layout,
            "template": None if source is None else sha256(source.encode()).hexdigest(),
            "generation_prompt": self.generation_prompt,
            "tools": None if tools is None else sha256(exact_json.dumps(tools)).hexdigest(),
            "date": None if self.date is None else self.date.isoformat(),
        }
        if with_tools is not None and with_tools.source is not None:
            described["template_with_tools"] = sha256(with_tools.source.encode()).hexdigest()
        return described


def conversations_of(chat: ChatOptions, tokenizer: AnyTokenizer, model: Tokenizer, streams: Streams) -> Conversations:
    """Find out how conversations become text.

    Raises:
        UsageError: if there is no such template, or it writes what day it is and no date is given.
        InputError: if the template or the tools cannot be read.
    """
    from bpe_cli.chat import read_tools
    from bpe_cli.corpus.opening import read_whole
    from bpe_cli.jobs.chat_template import find_template
    from bpe_cli.jobs.encode_chat import BILLED, known_name
    from bpe_cli.jobs.read_once import check_read_once

    if chat.template == BILLED:
        raise UsageError("openai counts what OpenAI bills, and gives no ids", hint="name another template")
    read = [("the chat template", chat.template or ""), ("the list of tools", chat.tools or "")]
    check_read_once(None, read, streams.read)
    template = find_template(chat.template, model, named=known_name(tokenizer, model), stdin=streams.read)
    for each in filter(None, (template, template.with_tools)):
        if chat.date is None and "strftime_now" in (each.source or ""):
            raise UsageError(
                f"{each.title} writes what day it is, and a data set must not depend on that",
                hint="`date` says which day it writes",
            )
        each.renderer(template.fit(model), chat.date).marks_generation  # noqa: B018  # a broken one is refused now
    tools = None if chat.tools is None else tuple(read_tools(read_whole(chat.tools, stdin=streams.read), chat.tools))
    return Conversations(template, chat.generation_prompt, tools, chat.date)


def conversation_source(source: Source) -> Source:
    """Return how the inputs of conversations are read: JSON by itself, in each input or each line.

    Raises:
        UsageError: if texts are asked for.
    """
    if source.documents == "lines" or source.plain:
        what = "lines of text" if source.documents == "lines" else "text as it is"
        raise UsageError(
            f"`chat` reads JSON, not {what}", hint='`documents="jsonl"` takes a conversation from each line'
        )
    documents: Documents = "lines" if source.documents == "jsonl" else "whole"
    return replace(source, documents=documents, field="messages" if source.field is None else source.field, json=True)
