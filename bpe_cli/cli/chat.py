"""``bpe encode --chat``: conversations to ids."""

from __future__ import annotations

import os
import sys
from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Protocol

from bpe_cli.cli import options
from bpe_cli.cli.console import note, on_terminal, progress, say_slow, say_unspelt
from bpe_cli.cli.inputs import find_inputs
from bpe_cli.cli.parameters import Option
from bpe_cli.errors import InputError, UsageError
from bpe_cli.jobs.documents import Budget, Origins, Places
from bpe_cli.support.fast_dataclass import dataclass, replace
from bpe_cli.views.numbers import count

if TYPE_CHECKING:
    import datetime

    from bpe_cli.chat import Conversation
    from bpe_cli.chat.provenance import Traced
    from bpe_cli.corpus import InputHash, Inputs, Source
    from bpe_cli.sinks import Sink, SinkOptions
    from bpe_cli.support.blocks import Block
    from bpe_cli.tokenizer import Specials, Tokenizer
    from bpe_cli.tokenizer.engine import Sampling

_CHAT = "Conversations"
BILLED = "openai"
"""What --chat-template calls the way in which OpenAI counts."""

Chat = Annotated[
    bool,
    Option(
        "--chat", rich_help_panel=_CHAT, help="Each input is a conversation, a JSON array of messages; with --jsonl, "
        "each line.",
    ),
]  # fmt: skip
Template = Annotated[
    str | None,
    Option(
        "--chat-template", metavar="NAME|FILE", rich_help_panel=_CHAT, show_default="the tokenizer's own",
        help="How messages become text: a template of the tokenizer's, a Jinja file, chatml, gpt-3.5, gpt-4-32k, "
        "harmony, mistral-v3, or openai (with --to count, as it bills).",
    ),
]  # fmt: skip
GenerationPrompt = Annotated[
    bool | None,
    Option(
        "--generation-prompt/--no-generation-prompt", rich_help_panel=_CHAT,
        show_default="unless the model spoke last", help="Open the model's turn at the end.",
    ),
]  # fmt: skip
Tools = Annotated[
    str | None,
    Option(
        "--tools", metavar="FILE", rich_help_panel=_CHAT, help="A JSON array of tools, for conversations without any."
    ),
]
Date = Annotated[
    str | None,
    Option(
        "--date", metavar="YYYY-MM-DD", rich_help_panel=_CHAT, show_default="now",
        help="The date that templates write.",
    ),
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """What was said about conversations; see the options."""

    wanted: bool = False
    template: str | None = None
    prompt: bool | None = None
    tools: str | None = None
    date: str | None = None

    def check(
        self, to: str, *, lines: bool, plain: bool, spans: bool, add_special_tokens: bool, bos: bool, eot: bool
    ) -> None:
        """Make sure that no option is given that has no effect, or none that is clear.

        Raises:
            UsageError: One is.
        """
        if not self.wanted:
            if self != ChatOptions():
                raise UsageError(
                    "--chat-template, --generation-prompt, --tools and --date are about conversations",
                    hint="--chat reads them",
                )
            if to == "text":
                raise UsageError("--to text writes the text of conversations", hint="--chat reads them")
            return
        if to == "segmented":
            raise UsageError("a conversation is no segmented text", hint="--to text writes what a template makes of it")
        if lines:
            raise UsageError("--chat reads JSON, not lines of text", hint="--jsonl takes a conversation from each line")
        if plain:
            raise UsageError("--chat reads JSON, not text as it is", hint="leave --plain out")
        if spans:
            raise UsageError("spans are places in a text, and a conversation is none", hint="leave spans out")
        if add_special_tokens or bos:
            raise UsageError(
                "a chat template itself writes what belongs around a conversation",
                hint=f"leave {'--add-special-tokens' if add_special_tokens else '--bos'} out",
            )
        if to == "text" and eot:
            raise UsageError("--eot is about ids, and --to text writes none", hint="leave it out")
        if self.template == BILLED and to != "count":
            raise UsageError("openai says what OpenAI bills, not which ids there are", hint="--to count gives it")


class _Renders(Protocol):
    def render(self, conversation: Conversation, *, add_generation_prompt: bool) -> Traced: ...


@dataclass(frozen=True, slots=True)
class ChatWork:
    """What ``encode`` knows when it hands over to this module."""

    source: Source
    to: str
    output: str | None
    written: Sequence[tuple[str, str | None]]
    specials: Specials
    refuse: bool
    sampling: Sampling | None
    max_tokens: int | None
    threads: int
    quiet: bool
    sink_options: SinkOptions
    eot: str | None


def encode_chat(chat: ChatOptions, work: ChatWork, model: Tokenizer, asked: str | None) -> None:
    """Encode conversations, or count or write their text.

    Args:
        chat: What was said of conversations.
        work: What was said besides.
        model: The tokenizer.
        asked: What the user called it, which may be the name of a model.

    Raises:
        BpeError: An input, a template or the tokenizer is at fault.
    """
    from bpe_cli.chat import is_billed

    asked = asked or os.environ.get("BPE_TOKENIZER") or options.DEFAULT_TOKENIZER
    named = asked if _is_named(model) else ""
    source = replace(
        work.source,
        documents="lines" if work.source.documents == "jsonl" else "whole",
        field="messages" if work.source.field == "text" else work.source.field,
        json=True,
    )
    billed = chat.template == BILLED or (
        chat.template is None and work.to == "count" and is_billed(named) and not model.usage.chat_templates
    )
    found = find_inputs(source, work.quiet, work.written)
    reader = _Reader(chat, source, found)
    if billed:
        _write_counts(chat, work, model, named, reader)
        return
    renderer, model = _renderer(chat, model, named)
    say_slow(model.slow_patterns, work.quiet)
    say_unspelt(model, work.specials, work.quiet)
    if work.to == "text":
        _write_text(work, renderer, reader)
    else:
        _write_ids(work, model, renderer, reader)


def _is_named(model: Tokenizer) -> bool:
    """Return whether a tokenizer is one of those that need no file."""
    from bpe_cli.tokenizer.named_encodings import ENCODINGS

    return model.name in ENCODINGS


def _renderer(chat: ChatOptions, model: Tokenizer, named: str) -> tuple[_Renders, Tokenizer]:
    """Return what renders conversations, and the tokenizer with the special tokens that it needs.

    Raises:
        UsageError: There is no such template, or the tokenizer does not fit it.
        InputError: Its file cannot be read.
    """
    from bpe_cli.chat import LAYOUTS, ChatTemplate, is_billed, layout_of_model, special_names

    own = dict(model.usage.chat_templates)
    name = chat.template or next(iter(own), None) or (layout_of_model(named) if named else None)
    date = _date(chat.date)
    if name is None:
        counts = "; --to count counts as OpenAI bills" if is_billed(named) else ""
        raise UsageError(
            "this tokenizer comes with no chat template, so --chat-template is to name one",
            hint=f"built in are {', '.join(LAYOUTS)}; or a file, such as chat_template.jinja{counts}",
        )
    if name in own:
        title = "the tokenizer's chat template" + ("" if name == "default" else f" {name}")
        return ChatTemplate(own[name], title, special_names(model), date), model
    if name in LAYOUTS:
        return LAYOUTS[name], LAYOUTS[name].fit(model, name)
    if not os.path.exists(name) and not name.endswith((".jinja", ".jinja2", ".j2")) and os.sep not in name:
        known = ", ".join((*own, *LAYOUTS))
        raise UsageError(f"there is no chat template {name!r}", hint=f"there are {known}; or give a file")
    try:
        text = options.contents_of(name).decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is not UTF-8 (byte {error.start:,})") from error
    return ChatTemplate(text, name, special_names(model), date), model


def _date(text: str | None) -> datetime.date | None:
    import datetime

    if text is None:
        return None
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"--date {text!r} is no date", hint="as in --date 2025-06-28") from None


class _Reader:
    """Read conversations from inputs, and know where each stands; a blank line is none."""

    def __init__(self, chat: ChatOptions, source: Source, found: Inputs) -> None:
        from bpe_cli.chat import read_tools

        self._source = source
        self._chat = chat
        self._tools = read_tools(options.contents_of(chat.tools), chat.tools) if chat.tools is not None else None
        self._lines = Origins(whole=source.documents == "whole")
        self._numbers = array("Q")
        self.found = found
        self.hashes: list[InputHash] = []

    def of(self, number: int) -> str:
        """Name a conversation by its number among all, counted from 1."""
        return self._name(self._numbers[number - 1])

    def _name(self, number: int) -> str:
        return self._lines.of(number) if self._source.documents == "whole" else self._lines.line_of(number)

    def batches(self, advance: Callable[[int], None]) -> Iterator[list[Conversation]]:
        """Yield the conversations, as many at a time as a block of the input ends.

        Raises:
            InputError: One cannot be read; the message says where.
        """
        from bpe_cli.chat import read_conversation
        from bpe_cli.corpus import read_blocks

        blocks = read_blocks(
            self._source, stdin=sys.stdin.buffer, inputs=self.found, on_bytes=advance, on_input=self._lines.begin,
            hashes=self.hashes,
        )  # fmt: skip
        number = 0
        for data in _whole(blocks):
            batch = []
            for document in data:
                number += 1
                if self._source.documents == "whole" or document.strip():
                    self._numbers.append(number)
                    conversation = read_conversation(document, self._name(number), self._source.field)
                    if conversation.tools is None and self._tools is not None:
                        conversation = replace(conversation, tools=self._tools)
                    if self._chat.prompt is not None:
                        conversation = replace(conversation, add_generation_prompt=self._chat.prompt)
                    batch.append(conversation)
            if batch:
                yield batch


def _whole(blocks: Iterator[Block]) -> Iterator[list[bytes]]:
    """Yield the documents of blocks, those that are spread over several put together."""
    from bpe_cli.chat.messages import MAX_BYTES

    held: list[bytes] = []
    for block in blocks:
        documents = [bytes(document) for document in block.documents()]
        held.append(documents.pop(0))
        if documents or not block.unfinished:
            documents.insert(0, b"".join(held))
            held = [documents.pop()] if block.unfinished else []
            yield documents
        elif sum(map(len, held)) > MAX_BYTES:
            raise InputError(f"a conversation has at most {MAX_BYTES:,} bytes; this one goes on")


def _write_ids(work: ChatWork, model: Tokenizer, renderer: _Renders, reader: _Reader) -> None:
    from bpe_cli import sinks
    from bpe_cli.chat import ChatEncoder
    from bpe_cli.cli.encoding import counts_of, with_edges, with_edges_counted
    from bpe_cli.sinks.count import CountSink
    from bpe_cli.support.blocks import Block
    from bpe_cli.tokenizer.edges import edges_of

    encoder = ChatEncoder(model, work.specials, refuse=work.refuse)
    edges = edges_of(model, eot=work.eot)
    budget = Budget(work.max_tokens, reader)
    places = Places()
    with (
        progress(reader.found.total_bytes, "encoding", quiet=work.quiet, printing=on_terminal(work.output)) as advance,
        sinks.open_sink(
            work.to, work.output, stdout=sys.stdout.buffer, tokenizer=model,
            options=replace(work.sink_options, edges=edges), inputs=reader.hashes,
        ) as sink,
    ):  # fmt: skip
        for batch in reader.batches(advance):
            block = Block.of(
                encoder.prepare(renderer.render(each, add_generation_prompt=each.wants_answer), each.where)
                for each in batch
            )
            # What is encoded is no text that a sink could show.
            shown = Block(b"", array("Q", bytes(8 * len(batch))))
            if isinstance(sink, CountSink) and work.sampling is None:
                counts = model.count_block(block, encoder.matcher, work.threads)
                counts = with_edges_counted(shown, counts, edges)
                budget.spend(counts, shown)
                sink.write_counts(shown, counts)
                continue
            ids, ends = model.encode_block(block, encoder.matcher, work.threads, work.sampling, places.of(block))
            ids, ends = with_edges(shown, ids, ends, edges, sink)
            budget.spend(counts_of(shown, ends, edges, sink), shown)
            sink.write(shown, ids, ends)
    budget.check()
    _tell(work, sink)


def _tell(work: ChatWork, sink: Sink) -> None:
    if work.output is not None:
        told = f"{count(sink.documents, 'conversation')}, {count(sink.tokens, 'token')} -> {work.output}"
        note(told, quiet=work.quiet)


def _write_counts(chat: ChatOptions, work: ChatWork, model: Tokenizer, named: str, reader: _Reader) -> None:
    """Write what OpenAI bills."""
    from bpe_cli import sinks
    from bpe_cli.chat import count_billed
    from bpe_cli.sinks.count import CountSink
    from bpe_cli.support.blocks import Block

    if chat.prompt is False or work.specials or work.refuse or work.sampling is not None or work.eot:
        raise UsageError(
            "OpenAI bills text as it is, and for the answer's beginning in any case",
            hint="leave --special, --eot, --no-generation-prompt and sampling out, or name a layout by --chat-template",
        )
    budget = Budget(work.max_tokens, reader)
    with (
        progress(reader.found.total_bytes, "counting", quiet=work.quiet, printing=on_terminal(work.output)) as advance,
        sinks.open_sink(
            work.to, work.output, stdout=sys.stdout.buffer, tokenizer=model, options=work.sink_options
        ) as sink,
    ):
        for batch in reader.batches(advance):
            counts = memoryview(array("Q", [count_billed(model, each, named) for each in batch]))
            shown = Block(b"", array("Q", bytes(8 * len(batch))))
            budget.spend(counts, shown)
            if isinstance(sink, CountSink):
                sink.write_counts(shown, counts)
    budget.check()
    _tell(work, sink)


def _write_text(work: ChatWork, renderer: _Renders, reader: _Reader) -> None:
    """Write the text of conversations: as it is, or with --jsonl an object a line."""
    import json

    from bpe_cli.sinks.atomic import open_stdout
    from bpe_cli.sinks.compressing import open_packed

    with (
        progress(reader.found.total_bytes, "rendering", quiet=work.quiet, printing=on_terminal(work.output)) as advance,
        open_stdout(sys.stdout.buffer) if work.output is None else open_packed(work.output) as out,
    ):
        for batch in reader.batches(advance):
            for each in batch:
                text = str.__str__(renderer.render(each, add_generation_prompt=each.wants_answer))
                if work.source.documents == "jsonl":
                    text = json.dumps({"text": text}, ensure_ascii=False) + "\n"
                try:
                    out.write(text.encode())
                except UnicodeEncodeError as error:
                    raise InputError(f"{each.where}: the chat template writes half a character") from error
            out.flush()
