"""Encode texts to ids, tokens, numbers or counts, in order and in bounded memory."""

from __future__ import annotations

import os

from bpe_cli.errors import OutputError, UsageError
from bpe_cli.jobs.documents import Encoded, EncodeOptions, check_output, encoded, kind_written, outputs_of
from bpe_cli.jobs.files import Streams, Target, check_kept
from bpe_cli.support.fast_typing import TYPE_CHECKING
from bpe_cli.support.listening import SILENCE, Listener

if TYPE_CHECKING:
    from bpe_cli.corpus import InputHash, Source
    from bpe_cli.jobs.chunk import ChunkOptions, TruncateOptions
    from bpe_cli.jobs.encode_chat import ChatOptions
    from bpe_cli.jobs.files import Destination
    from bpe_cli.jobs.segment import SegmentOptions
    from bpe_cli.jobs.tokenizers import AnyTokenizer


def encode(
    source: Source,
    tokenizer: AnyTokenizer,
    options: EncodeOptions | None = None,
    *,
    chat: ChatOptions | None = None,
    words: SegmentOptions | None = None,
    parts: ChunkOptions | TruncateOptions | None = None,
    output: Destination,
    listener: Listener = SILENCE,
    streams: Streams | None = None,
) -> Encoded:
    """Encode the documents of a source.

    >>> import io
    >>> from bpe_cli.corpus import Source
    >>> ids = io.BytesIO()
    >>> encode(Source(text="hello world"), "gpt2", output=ids)
    Encoded(documents=1, tokens=2, divided=0, files=(), subwords=None, chunks=None)
    >>> ids.getvalue()
    b'31373 995\\n'

    Args:
        source: The texts.
        tokenizer: A tokenizer, its file, or its name.
        options: What is written.
        chat: How conversations become text, if that is what the source has: see ``encode_chat``.
        words: How words are cut, if the text itself is written, with blanks between its tokens: see ``segment``.
        parts: Which parts of the texts are written, in place of ids: see ``divide``.
        output: A file, which appears only when it is complete, or a binary stream.
        listener: Receives progress and notes.
        streams: The streams around the job.

    Raises:
        CheckFailed: if a document has more tokens than it may have; the output is complete then.
        UsageError: if the options contradict each other, or the tokenizer, or an output would replace an input.
        InputError: if an input cannot be read, or holds what cannot be encoded.
        OutputError: if the output cannot be written.
    """
    if options is not None and (parts is not None or words is not None):
        options.check_no_ids("segmented text has" if parts is None else "parts of texts have")
        if parts is not None and options.sampling is not None:
            raise UsageError("sampling is for ids, and text is written")
    if parts is not None:
        from bpe_cli.jobs.chunk import divide

        return divide(source, tokenizer, parts, output=output, listener=listener, streams=streams)
    if words is not None:
        from bpe_cli.jobs.segment import segment

        return segment(source, tokenizer, words, output=output, listener=listener, streams=streams)
    if chat is not None:
        from bpe_cli.jobs.encode_chat import encode_chat

        return encode_chat(source, tokenizer, chat, options, output=output, listener=listener, streams=streams)
    from bpe_cli import sinks
    from bpe_cli.corpus import reading
    from bpe_cli.jobs.documents import BlockEncoding, Places, refuse_too_long, refusing
    from bpe_cli.jobs.files import find_documents
    from bpe_cli.jobs.origins import Budget, Origins
    from bpe_cli.jobs.tokenizers import check_sampling, files_of, load_tokenizer, note_oddities
    from bpe_cli.support.ordered_threads import BLOCK_BYTES, Ordered, keep_freed_memory, usable_threads
    from bpe_cli.tokenizer.special_tokens import edges_of

    options, streams, target = options or EncodeOptions(), streams or Streams(), Target.of(output)
    to = kind_written(options.to, target)
    if to not in sinks.SINKS:
        raise UsageError(f"documents cannot be encoded to {to!r}", hint=f"there are {', '.join(sinks.SINKS)}")
    try:
        check_output(to, target, json=options.counts == "json")
    except OutputError as error:
        if target.path is not None and (os.path.isdir(target.path) or target.path.endswith(("/", os.sep))):
            raise OutputError(error.message, hint="`bpe prepare` makes a data set in a folder") from error
        raise
    model = load_tokenizer(tokenizer)
    check_sampling(model, options.sampling, spans=options.spans)
    written = outputs_of(to, target)
    check_kept(written, files_of(tokenizer), streams, target)
    edges = edges_of(model, add_special_tokens=options.add_special_tokens, bos=options.bos, eot=options.eot)
    matcher = model.matcher(options.specials)
    note_oddities(model, options.specials, listener)
    files = find_documents(source, written, listener=listener, streams=streams, target=target)
    refuse_too_long(model, matcher, source, files)
    hashes: list[InputHash] | None = [] if sinks.is_binary(to) and target.path is not None else None
    origins = Origins.of_inputs(source, files)
    budget, places = Budget(options.max_tokens, origins), Places()
    with sinks.open_sink(
        to, target.path, stdout=target.stream, tokenizer=model, options=options.sink_options(edges, files, origins),
        inputs=hashes if hashes is not None else (),
    ) as sink:  # fmt: skip
        keep_freed_memory()
        threads = usable_threads(options.threads)
        way = BlockEncoding(model, matcher, options.sampling, edges, sink, budget, origins)
        with (
            Ordered(way.encode, way.write, threads) as ordered,
            reading(
                source.at_most(BLOCK_BYTES), files, "encoding", listener, stdin=streams.read, on_input=origins.begin,
                hashes=hashes, on_wait=ordered.drain, threads=threads,
            ) as blocks,
        ):  # fmt: skip
            # What is drawn at random depends on where pieces begin.
            settled = model.settle(blocks, matcher, whole_pieces=options.sampling is not None)
            for block in refusing(settled, matcher, origins) if options.refuse_specials else settled:
                ordered.put((block, places.of(block)))
    budget.check()
    return encoded(sink, to, target)
