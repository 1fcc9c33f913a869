"""Encode texts: inputs in, ids, tokens, numbers or counts out, in order and in bounded memory."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from bpe_cli.errors import UsageError
from bpe_cli.jobs.files import Streams, Target, check_kept, check_text_output
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.listening import SILENCE, Listener

if TYPE_CHECKING:
    from bpe_cli.corpus import InputHash, Source
    from bpe_cli.jobs.files import Destination
    from bpe_cli.jobs.tokenizers import AnyTokenizer
    from bpe_cli.sinks import Sink, SinkOptions
    from bpe_cli.tokenizer import Specials
    from bpe_cli.tokenizer.engine import Sampling
    from bpe_cli.tokenizer.usage import Edges


@dataclass(frozen=True, slots=True)
class EncodeOptions:
    """State what is written, and how texts are encoded.

    Attributes:
        to: ``ids``, ``tokens``, ``jsonl``, ``npy``, ``bin``, ``count``, and ``text`` of conversations; None for what
            the output's name says, else ids.
        tokens: Whether jsonl has the tokens too.
        spans: Whether jsonl has the byte span of each token too.
        specials: Which special tokens are looked for in the text: ``all``, or those that are named.
        refuse_specials: Whether a text that holds one of them is refused instead.
        add_special_tokens: Whether the post-processor puts around each document what it has.
        bos: What begins each document: the text of a special token, an id, or ``auto``.
        eot: What ends each document, likewise.
        max_tokens: How many tokens a document may have.
        sampling: How encodings are varied at random.
        threads: How many threads work; None for as many as may be used. They change no result.
    """

    to: str | None = None
    tokens: bool = False
    spans: bool = False
    specials: Specials = ()
    refuse_specials: bool = False
    add_special_tokens: bool = False
    bos: str | int | None = None
    eot: str | int | None = None
    max_tokens: int | None = None
    sampling: Sampling | None = None
    threads: int | None = None

    def sink_options(self, edges: Edges) -> SinkOptions:
        """Return what a sink has to know of it."""
        from bpe_cli.sinks import SinkOptions

        return SinkOptions(self.tokens, self.spans, self.specials, edges)


@dataclass(frozen=True, slots=True)
class Encoded:
    """State what was encoded.

    Attributes:
        documents: How many documents there were, or conversations.
        tokens: How many ids they have, with what stands around them; None where only text was written.
        divided: How often the token that ends documents stands in texts too, so that readers find more documents.
        files: The files that were written: the output, and what describes it.
    """

    documents: int
    tokens: int | None = None
    divided: int = 0
    files: tuple[str, ...] = ()


def encode(
    source: Source,
    tokenizer: AnyTokenizer,
    options: EncodeOptions | None = None,
    *,
    output: Destination,
    listener: Listener = SILENCE,
    streams: Streams | None = None,
) -> Encoded:
    """Encode the documents of a source.

    >>> import io
    >>> from bpe_cli.corpus import Source
    >>> ids = io.BytesIO()
    >>> encode(Source(text="hello world"), "gpt2", output=ids)
    Encoded(documents=1, tokens=2, divided=0, files=())
    >>> ids.getvalue()
    b'31373 995\\n'

    Args:
        source: The texts.
        tokenizer: A tokenizer; or its file, or its name.
        options: What is written.
        output: A file, which appears when all of it is there, or a binary stream.
        listener: Who hears how it goes on.
        streams: The streams around it.

    Raises:
        CheckFailed: if a document has more tokens than it may have; the output is complete then.
        UsageError: if the options contradict each other, or the tokenizer, or an output would replace an input.
        InputError: if an input cannot be read, or holds what cannot be encoded.
        OutputError: if the output cannot be written.
    """
    from bpe_cli import sinks
    from bpe_cli.corpus import reading
    from bpe_cli.jobs.documents import BlockEncoding, Budget, Origins, Places, refusing
    from bpe_cli.jobs.files import find_documents
    from bpe_cli.jobs.tokenizers import check_sampling, files_of, load_tokenizer, note_oddities
    from bpe_cli.support.ordered_threads import Ordered, keep_freed_memory, usable_threads
    from bpe_cli.tokenizer.post_processor import edges_of

    options, streams, target = options or EncodeOptions(), streams or Streams(), Target.of(output)
    to = kind_written(options.to, target)
    if to not in sinks.SINKS:
        raise UsageError(f"documents cannot be encoded to {to!r}", hint=f"there are {', '.join(sinks.SINKS)}")
    check_output(to, target)
    model = load_tokenizer(tokenizer)
    check_sampling(model, options.sampling, spans=options.spans)
    written = outputs_of(to, target)
    check_kept(written, files_of(tokenizer), streams, target)
    edges = edges_of(model, add_special_tokens=options.add_special_tokens, bos=options.bos, eot=options.eot)
    matcher = model.matcher(options.specials)
    note_oddities(model, options.specials, listener)
    found = find_documents(source, written, listener=listener, streams=streams, target=target)
    hashes: list[InputHash] | None = [] if sinks.is_binary(to) and target.path is not None else None
    origins = Origins(whole=source.documents == "whole")
    budget, places = Budget(options.max_tokens, origins), Places()
    with sinks.open_sink(
        to, target.path, stdout=target.stream, tokenizer=model, options=options.sink_options(edges),
        inputs=hashes if hashes is not None else (),
    ) as sink:  # fmt: skip
        keep_freed_memory()
        way = BlockEncoding(model, matcher, options.sampling, edges, sink, budget)
        with (
            Ordered(way.encode, way.write, usable_threads(options.threads)) as ordered,
            reading(
                source, found, "encoding", listener, stdin=streams.read, on_input=origins.begin, hashes=hashes,
                on_wait=ordered.drain,
            ) as blocks,
        ):  # fmt: skip
            settled = model.settle(blocks, matcher)
            for block in refusing(settled, matcher, origins) if options.refuse_specials else settled:
                ordered.put((block, places.of(block)))
    budget.check()
    return encoded(sink, to, target)


def encoded(sink: Sink, to: str, target: Target) -> Encoded:
    """Return the account of what a sink has written."""
    from bpe_cli import sinks

    files = (target.path, sinks.record_of(to, target.path)) if os.path.isfile(target.path or "") else ()
    return Encoded(sink.documents, sink.tokens, getattr(sink, "divided", 0), tuple(each for each in files if each))


def kind_written(to: str | None, target: Target) -> str:
    """Return what is written: as asked, else as the name of the output says, else ids."""
    from bpe_cli import sinks

    return to or sinks.sink_of_name(target.path) or "ids"


def check_output(to: str, target: Target, *, jsonl: bool = False) -> None:
    """Make sure that an output can be written, and is called as what it is.

    Raises:
        UsageError: if its name is that of another kind of file, or it is a terminal and the output is not text.
        OutputError: if it cannot be written.
    """
    from bpe_cli import sinks

    if target.path is None:
        if to in sinks.SINKS and sinks.is_binary(to) and target.stream is not None and target.stream.isatty():
            raise UsageError(f"{to} is not for a terminal", hint="name a file with -o, or pipe it into a program")
    elif to in sinks.SINKS:
        sinks.check_outputs(to, target.path)
    else:
        check_text_output(target.path, jsonl=jsonl)


def outputs_of(to: str, target: Target) -> list[tuple[str, str | None]]:
    """Return the files that are written, with what messages call them."""
    from bpe_cli import sinks

    return [("-o", target.path), ("the record of -o", sinks.record_of(to, target.path))]
