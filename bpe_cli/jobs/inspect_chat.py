"""Inspect conversations: rendered by a chat template, token by token and message by message."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from bpe_cli.errors import InputError, UsageError
from bpe_cli.jobs.chat_template import find_template
from bpe_cli.jobs.encode_chat import (
    BILLED,
    ChatOptions,
    ConversationReader,
    as_conversations,
    check_json,
    known_name,
)
from bpe_cli.jobs.files import Streams, check_kept, find_inputs
from bpe_cli.jobs.read_once import check_read_once
from bpe_cli.jobs.tokenizers import files_of, load_tokenizer
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.listening import SILENCE, Listener

if TYPE_CHECKING:
    from bpe_cli.chat import ChatEncoder, Conversation
    from bpe_cli.chat.learning import Renders
    from bpe_cli.corpus import Source
    from bpe_cli.jobs.tokenizers import AnyTokenizer
    from bpe_cli.reports.text.conversation import ConversationReport
    from bpe_cli.tokenizer import Specials, Tokenizer

LARGEST_CONVERSATION = 4 << 20
"""The most bytes of a rendered conversation that is inspected."""


@dataclass(frozen=True, slots=True)
class InspectedConversations:
    """Conversations with their tokens, one after the other as they are read.

    Attributes:
        documents: The input and the number in it of each (from 1), what to call it, and what was found.
    """

    tokenizer: Tokenizer
    documents: Iterator[tuple[tuple[str, int], str, ConversationReport]]


def inspect_chat(
    source: Source,
    tokenizer: AnyTokenizer,
    chat: ChatOptions | None = None,
    specials: Specials = (),
    *,
    outputs: Sequence[tuple[str, str | None]] = (),
    listener: Listener = SILENCE,
    streams: Streams | None = None,
) -> InspectedConversations:
    """Report on conversations: a JSON array of messages in each input, or in each line of JSON lines.

    >>> from bpe_cli.corpus import Source
    >>> source = Source(text='[{"role": "user", "content": "hello"}]')
    >>> for _, _, report in inspect_chat(source, "gpt-3.5-turbo").documents:
    ...     print([(part.kind, part.roles, part.token_count, part.said_count) for part in report.parts])
    [('messages', ('user',), 6, 1), ('prompt', (), 3, 0)]

    Args:
        source: The conversations.
        tokenizer: A tokenizer, its file, or its name, which may be that of a model whose layout is known.
        chat: How conversations become text.
        specials: The special tokens that messages may hold; in all others they are text.
        outputs: The options that name files to write, and the files: nothing that is read may be one of them.
        listener: Receives progress and notes.
        streams: The streams around the job.

    Raises:
        UsageError: if the template does not exist, or the tokenizer lacks a token that it needs.
        InputError: if an input or a template cannot be read, or a conversation cannot be rendered.
    """
    from bpe_cli.chat import ChatEncoder

    chat, streams = chat or ChatOptions(), streams or Streams()
    check_json(source)
    if chat.template == BILLED:
        raise UsageError("openai counts what OpenAI bills, and gives no ids", hint="name a layout by `chat=NAME`")
    read = [("the chat template", chat.template or ""), ("the list of tools", chat.tools or "")]
    check_read_once(source, read, streams.read)
    check_kept(outputs, [*files_of(tokenizer), *read], streams)
    model = load_tokenizer(tokenizer)
    conversations = as_conversations(source)
    files = find_inputs(conversations, outputs, listener=listener, streams=streams)
    reader = ConversationReader(chat, conversations, files, listener, streams)
    template = find_template(chat.template, model, named=known_name(tokenizer, model), stdin=streams.read)
    model = template.fit(model)
    renderer_of, encoder = template.renderers(model, chat.date), ChatEncoder(model, specials)

    def report_of(conversation: Conversation) -> ConversationReport:
        return _report(conversation, model, renderer_of(conversation), encoder, template.of(conversation).title)

    return InspectedConversations(model, _reports(reader, report_of))


def _reports(
    reader: ConversationReader, report_of: Callable[[Conversation], ConversationReport]
) -> Iterator[tuple[tuple[str, int], str, ConversationReport]]:
    """Read, render and encode the conversations."""
    number = 0
    with reader.batches("reading") as batches:
        for batch in batches:
            for conversation in batch:
                number += 1
                report = report_of(conversation)
                origin = reader.origin_of(number)
                yield (origin.name, origin.line or origin.document), conversation.where, report


def _report(
    conversation: Conversation, model: Tokenizer, renderer: Renders, encoder: ChatEncoder, title: str
) -> ConversationReport:
    from bpe_cli.chat.encoding import said_in
    from bpe_cli.chat.turns import turns_of
    from bpe_cli.reports.text.conversation import Stretch, describe_conversation
    from bpe_cli.reports.text.segmentation import TextReader

    text = renderer.render(conversation, add_generation_prompt=conversation.wants_answer)
    data = text.encode("utf-8", "surrogatepass")  # a lone surrogate is refused when it is encoded
    if len(data) > LARGEST_CONVERSATION:
        raise InputError(
            f"{conversation.where}: the conversation has {len(data):,} bytes as it is rendered, and "
            f"{LARGEST_CONVERSATION >> 20} MiB can be shown",
            hint="count its tokens with bpe encode --chat --to count",
        )
    whole = TextReader(model).describe(data, encoder.place(model, text, conversation.where))
    roles = [str(message["role"]) for message in conversation.messages]
    stretches: list[Stretch] = []
    place = size = 0
    written = str.__str__(text)
    for turn in turns_of(renderer, conversation, text):
        size += len(written[place : turn.end].encode())
        place = turn.end
        stretches.append(Stretch(turn.kind, (turn.first, turn.stop), tuple(roles[turn.first : turn.stop]), size))
    return describe_conversation(title, whole, stretches, said_in(text))
