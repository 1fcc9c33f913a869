"""Encode conversations: to ids in any output format, to counts as they are billed, or to their text."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bpe_cli.chat.messages import MAX_BYTES
from bpe_cli.corpus.opening import read_whole
from bpe_cli.errors import InputError, UsageError
from bpe_cli.jobs.chat_template import find_template
from bpe_cli.jobs.documents import Encoded, EncodeOptions, Places, check_output, encoded, kind_written, outputs_of
from bpe_cli.jobs.files import Streams, Target, check_kept, find_inputs
from bpe_cli.jobs.origins import Budget, Origin, Origins
from bpe_cli.jobs.read_once import check_read_once
from bpe_cli.jobs.tokenizers import check_sampling, files_of, load_tokenizer, name_of, note_oddities
from bpe_cli.support.blocks import Block, whole_documents
from bpe_cli.support.fast_dataclass import dataclass, replace
from bpe_cli.support.listening import SILENCE, Listener

if TYPE_CHECKING:
    import datetime

    from bpe_cli.chat import Conversation
    from bpe_cli.corpus import InputHash, Inputs, Source
    from bpe_cli.jobs.chat_template import RendererOf
    from bpe_cli.jobs.files import Destination
    from bpe_cli.jobs.tokenizers import AnyTokenizer
    from bpe_cli.tokenizer import Specials, Tokenizer

BILLED = "openai"
"""The name of the way in which OpenAI counts."""


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """How conversations become text.

    Attributes:
        template: A template of the tokenizer's, a Jinja file, one of ``chat.LAYOUTS``, or ``openai``, which counts
            what OpenAI bills; None for the tokenizer's own.
        generation_prompt: Whether the model's turn is opened at the end; None: unless the model spoke last.
        tools: A file with a JSON array of tools, for conversations that bring none.
        date: The date for templates that write one; today if None.
    """

    template: str | None = None
    generation_prompt: bool | None = None
    tools: str | None = None
    date: datetime.date | None = None


def encode_chat(
    source: Source,
    tokenizer: AnyTokenizer,
    chat: ChatOptions | None = None,
    options: EncodeOptions | None = None,
    *,
    output: Destination,
    listener: Listener = SILENCE,
    streams: Streams | None = None,
) -> Encoded:
    """Encode the conversations of a source: a JSON array of messages in each input, or in each line of JSON lines.

    >>> import io
    >>> from bpe_cli.corpus import Source
    >>> text, source = io.BytesIO(), Source(text='[{"role": "user", "content": "hello"}]')
    >>> encode_chat(source, "gpt-3.5-turbo", ChatOptions(), EncodeOptions("text"), output=text).documents
    1
    >>> print(text.getvalue().decode())
    <|im_start|>user
    hello<|im_end|>
    <|im_start|>assistant
    <BLANKLINE>

    Args:
        source: The conversations.
        tokenizer: A tokenizer, its file, or its name, which may be that of a model whose layout is known.
        chat: How conversations become text.
        options: What is written.
        output: A file, which appears only when it is complete, or a binary stream.
        listener: Receives progress and notes.
        streams: The streams around the job.

    Raises:
        CheckFailed: if a conversation has more tokens than it may have; the output is complete then.
        UsageError: if the options contradict each other, or the tokenizer, or an output would replace an input.
        InputError: if an input or a template cannot be read, or holds what cannot be encoded.
        OutputError: if the output cannot be written.
    """
    work = _Work(
        chat or ChatOptions(), options or EncodeOptions(), source, Target.of(output), listener, streams or Streams()
    )
    work.check()
    check_output(work.to, work.target, jsonl=source.documents == "jsonl", json=work.options.counts == "json")
    model = load_tokenizer(tokenizer)
    check_sampling(model, work.options.sampling)
    read = [("the chat template", work.chat.template or ""), ("the list of tools", work.chat.tools or "")]
    check_read_once(source, read, work.streams.read)
    check_kept(work.written, [*files_of(tokenizer), *read], work.streams, work.target)
    named = known_name(tokenizer, model)
    reader = work.reader()
    if work.is_billed(model, named):
        return _write_counts(work, model, named, reader)
    template = find_template(work.chat.template, model, named=named, stdin=work.streams.read, to=work.to)
    model = template.fit(model)
    renderer_of = template.renderers(model, work.chat.date)
    note_oddities(model, work.specials, listener)
    if work.to == "text":
        return _write_text(work, model, renderer_of, reader)
    return _write_ids(work, model, renderer_of, reader)


def known_name(tokenizer: AnyTokenizer, model: Tokenizer) -> str:
    """Return the name by which a tokenizer was asked for that needs no file; empty for all others."""
    from bpe_cli.tokenizer.named_encodings import ENCODINGS

    return name_of(tokenizer) if model.name in ENCODINGS else ""


@dataclass(frozen=True, slots=True)
class _Work:
    """A job's options, read together."""

    chat: ChatOptions
    options: EncodeOptions
    source: Source
    target: Target
    listener: Listener
    streams: Streams

    @property
    def to(self) -> str:
        """What is written."""
        return kind_written(self.options.to, self.target)

    @property
    def written(self) -> list[tuple[str, str | None]]:
        """The files that are written."""
        return outputs_of(self.to, self.target)

    @property
    def specials(self) -> Specials:
        """The special tokens that messages may hold."""
        return () if self.options.refuse_specials else self.options.specials

    def check(self) -> None:
        """Check that every given option has an effect, and a clear one."""
        from bpe_cli.sinks import SINKS

        options, to = self.options, self.to
        if to not in (*SINKS, "text"):
            raise UsageError(f"conversations cannot be encoded to {to!r}", hint=f"there are {', '.join(SINKS)}, text")
        check_json(self.source)
        if options.spans:
            raise UsageError("spans are places in a text, not in a conversation", hint="leave spans out")
        if options.add_special_tokens or options.bos is not None:
            raise UsageError(
                "a chat template itself writes what belongs around a conversation",
                hint=f"leave {'`add_special_tokens`' if options.add_special_tokens else '`bos`'} out",
            )
        if to == "text":
            self._check_text()
        if self.chat.template == BILLED and to != "count":
            raise UsageError("openai counts what OpenAI bills, and gives no ids", hint='`to="count"` gives it')

    def _check_text(self) -> None:
        """Check that nothing is said about ids where text is written; what a message may not hold is about both."""
        options = self.options
        if options.tokens:
            raise UsageError("tokens and spans go into jsonl only, not into text", hint='use `to="jsonl"`')
        about_ids = {
            "`eot`": options.eot is not None,
            "`max_tokens`": options.max_tokens is not None,
            "`specials`": options.specials and not options.refuse_specials,
            "sampling": options.sampling is not None,
        }
        idle = next((name for name, given in about_ids.items() if given), None)
        if idle is not None:
            raise UsageError(f'{idle} is for ids, and `to="text"` writes none', hint="leave it out")

    def reader(self) -> ConversationReader:
        """Find the conversations."""
        source = as_conversations(self.source)
        files = find_inputs(source, self.written, listener=self.listener, streams=self.streams, target=self.target)
        return ConversationReader(self.chat, source, files, self.listener, self.streams)

    def is_billed(self, model: Tokenizer, named: str) -> bool:
        """Return whether the tokens that OpenAI bills are counted."""
        from bpe_cli.chat import is_billed

        return self.chat.template == BILLED or (
            self.chat.template is None and self.to == "count" and is_billed(named) and not model.usage.chat_templates
        )


def check_json(source: Source) -> None:
    """Check that a source is read as JSON.

    Raises:
        UsageError: if it is read as text.
    """
    if source.documents == "lines":
        raise UsageError(
            "`chat` reads JSON, not lines of text", hint='`documents="jsonl"` takes a conversation from each line'
        )
    if source.plain:
        raise UsageError("`chat` reads JSON, not text as it is", hint="leave `plain` out")


def as_conversations(source: Source) -> Source:
    """Return a source whose documents are conversations: whole inputs, or lines of JSON."""
    return replace(
        source,
        documents="lines" if source.documents == "jsonl" else "whole",
        field="messages" if source.field is None else source.field,
        json=True,
    )


class ConversationReader:
    """Read conversations from inputs, and know the place of each; blank lines are skipped."""

    def __init__(self, chat: ChatOptions, source: Source, inputs: Inputs, listener: Listener, streams: Streams) -> None:
        from bpe_cli.chat import read_tools

        self._source = source
        self._chat = chat
        self._listener = listener
        self._streams = streams
        tools = chat.tools
        self._tools = None if tools is None else read_tools(read_whole(tools, stdin=streams.read), tools)
        self._origins = Origins.of_inputs(source, inputs)
        self._number = 0
        self._numbers = array("Q")
        self._inputs = inputs
        self.hashes: list[InputHash] = []

    def of(self, number: int) -> str:
        """Name a conversation by its number among all, counted from 1."""
        return self._name(self._numbers[number - 1])

    def origin_of(self, number: int) -> Origin:
        """Return where a conversation is from, by its number among all, counted from 1."""
        return self._origins.origin_of(self._numbers[number - 1])

    @property
    def inputs(self) -> Inputs:
        """The inputs that have the conversations."""
        return self._inputs

    def _name(self, number: int) -> str:
        return str(self._origins.origin_of(number))

    @contextmanager
    def batches(self, what: str) -> Iterator[Iterator[list[Conversation]]]:
        """Open the inputs as one task; yield the conversations, as many at a time as a block of the input ends."""
        from bpe_cli.corpus import reading

        with reading(
            self._source, self._inputs, what, self._listener, stdin=self._streams.read,
            on_input=self._origins.begin, hashes=self.hashes,
        ) as blocks:  # fmt: skip
            yield filter(None, map(self._batch, whole_documents(blocks, MAX_BYTES, _too_long)))

    def _batch(self, documents: list[bytes]) -> list[Conversation]:
        from bpe_cli.chat import read_conversation

        batch = []
        for document in documents:
            self._number += 1
            if self._source.documents == "whole" or document.strip():
                self._numbers.append(self._number)
                conversation = read_conversation(document, self._name(self._number), self._source.text_field)
                if conversation.tools is None and self._tools is not None:
                    conversation = replace(conversation, tools=self._tools)
                if self._chat.generation_prompt is not None:
                    conversation = replace(conversation, add_generation_prompt=self._chat.generation_prompt)
                batch.append(conversation)
        return batch


def _too_long() -> InputError:
    return InputError(f"a conversation has at most {MAX_BYTES:,} bytes; this one goes on")


def _write_ids(work: _Work, model: Tokenizer, renderer_of: RendererOf, reader: ConversationReader) -> Encoded:
    from bpe_cli import sinks
    from bpe_cli.chat import ChatEncoder
    from bpe_cli.jobs.documents import counts_of, naming, with_edges, with_edges_counted
    from bpe_cli.sinks.lines import CountSink
    from bpe_cli.support.ordered_threads import usable_threads
    from bpe_cli.tokenizer.special_tokens import edges_of

    options, target, threads = work.options, work.target, usable_threads(work.options.threads)
    encoder = ChatEncoder(model, work.specials, refuse=options.refuse_specials)
    edges = edges_of(model, eot=options.eot)
    budget, places = Budget(options.max_tokens, reader), Places()
    with (
        reader.batches("encoding") as batches,
        sinks.open_sink(
            work.to, target.path, stdout=target.stream, tokenizer=model,
            # A template may write any special token.
            options=replace(options, specials="all").sink_options(edges, reader.inputs, reader),
            inputs=reader.hashes,
        ) as sink,
    ):  # fmt: skip
        for batch in batches:
            block = Block.of(
                encoder.prepare(renderer_of(each).render(each, add_generation_prompt=each.wants_answer), each.where)
                for each in batch
            )
            shown, names = _shown(batch), [each.where for each in batch]
            if isinstance(sink, CountSink) and options.sampling is None:
                with naming(model, block, encoder.matcher, names):
                    counts = model.count_block(block, encoder.matcher, threads)
                counts = with_edges_counted(shown, counts, edges)
                budget.spend(counts, shown)
                sink.write_counts(shown, counts)
                continue
            with naming(model, block, encoder.matcher, names):
                ids, ends = model.encode_block(block, encoder.matcher, threads, options.sampling, places.of(block))
            ids, ends = with_edges(shown, ids, ends, edges, sink)
            budget.spend(counts_of(shown, ends, edges, sink), shown)
            sink.write(shown, ids, ends)
    budget.check()
    return encoded(sink, work.to, target)


def _shown(batch: list[Conversation]) -> Block:
    """Return the documents that a sink may show for conversations: the rendered text is not any user's own."""
    return Block.of([b""] * len(batch))


def _write_counts(work: _Work, model: Tokenizer, named: str, reader: ConversationReader) -> Encoded:
    """Write the counts that OpenAI bills."""
    from bpe_cli import sinks
    from bpe_cli.chat import count_billed
    from bpe_cli.sinks.lines import CountSink
    from bpe_cli.tokenizer.usage import NO_EDGES

    options, target = work.options, work.target
    varied = options.specials or options.refuse_specials or options.sampling is not None or options.eot is not None
    if work.chat.generation_prompt is False or varied:
        raise UsageError(
            "OpenAI bills text as it is, and always bills the beginning of the answer",
            hint="leave `specials`, `eot`, `generation_prompt=False` and sampling out, or name a layout by `chat=NAME`",
        )
    budget = Budget(options.max_tokens, reader)
    with (
        reader.batches("counting") as batches,
        sinks.open_sink(
            work.to,
            target.path,
            stdout=target.stream,
            tokenizer=model,
            options=options.sink_options(NO_EDGES, reader.inputs, reader),
        ) as sink,
    ):
        for batch in batches:
            counts = memoryview(array("Q", [count_billed(model, each, named) for each in batch]))
            budget.spend(counts, _shown(batch))
            if isinstance(sink, CountSink):
                sink.write_counts(_shown(batch), counts)
    budget.check()
    return encoded(sink, work.to, target)


def _write_text(work: _Work, model: Tokenizer, renderer_of: RendererOf, reader: ConversationReader) -> Encoded:
    """Write the text of conversations: as it is, or of JSON lines an object a line."""
    import json

    from bpe_cli.chat import ChatEncoder

    refusing = ChatEncoder(model, refuse=True) if work.options.refuse_specials else None
    documents = 0
    with reader.batches("rendering") as batches, work.target.open() as out:
        for batch in batches:
            for each in batch:
                rendered = renderer_of(each).render(each, add_generation_prompt=each.wants_answer)
                if refusing is not None:
                    refusing.prepare(rendered, each.where)
                text = str.__str__(rendered)
                if work.source.documents == "jsonl":
                    text = json.dumps({"text": text}, ensure_ascii=False) + "\n"
                try:
                    out.write(text.encode())
                except UnicodeEncodeError as error:
                    raise InputError(f"{each.where}: the chat template writes half a character") from error
            documents += len(batch)
            out.flush()
    return Encoded(documents, files=(work.target.path,) if work.target.path else ())
