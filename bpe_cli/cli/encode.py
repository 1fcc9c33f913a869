"""``bpe encode``: text to ids."""

import sys
from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Annotated

from bpe_cli.cli import chat as chats
from bpe_cli.cli import options
from bpe_cli.cli.console import note, on_terminal, progress, say_slow, say_unspelt
from bpe_cli.cli.inputs import inputs_of
from bpe_cli.cli.output_checks import check_kept, check_text_output
from bpe_cli.cli.parameters import Option
from bpe_cli.cli.sampling import DropoutMode, check_sampling, sampling_of
from bpe_cli.cli.segmented import Segmenting, check_options, read_counts, write_segmented
from bpe_cli.errors import UsageError
from bpe_cli.jobs.documents import Budget, Origins, Places, refusing
from bpe_cli.support.messages import listed
from bpe_cli.views.numbers import count

if TYPE_CHECKING:
    from bpe_cli.corpus import InputHash
    from bpe_cli.sinks import SinkOptions
    from bpe_cli.tokenizer import Specials
    from bpe_cli.tokenizer.edges import Edges

EPILOG = "Exit status: 0 fine, 1 --max-tokens was passed, 2 bad usage, input or output."

_OUTPUT = "Output"
_SAMPLING = "Sampling"
_SEGMENTED = "Segmented text"

_BLOCK_BYTES = 1 << 20
"""A block and its ids stay in a processor's cache; what is done once a block costs nothing beside it."""


class Inference(StrEnum):
    """How a BPE vocabulary is applied."""

    merges = "merges"
    longest = "longest"
    left_to_right = "left-to-right"


class To(Enum):
    """What to write."""

    ids = "ids"
    tokens = "tokens"
    jsonl = "jsonl"
    npy = "npy"
    bin = "bin"
    count = "count"
    segmented = "segmented"
    text = "text"


def run(
    inputs: options.Inputs = None,
    tokenizer: options.TokenizerName = None,
    to: Annotated[
        To | None,
        Option(
            "--to",
            rich_help_panel=_OUTPUT,
            show_default="by OUT's name, else ids",
            help="ids: a line of numbers per document. tokens: a line of tokens. jsonl: an object per document. npy, "
            "bin: numbers as u16 or u32, and OUT.json that describes them. count: the number of tokens per document. "
            "segmented: each line of text with blanks between its tokens. text: that of conversations.",
        ),
    ] = None,
    output: options.Output = None,
    with_: Annotated[
        str, Option("--with", metavar="tokens,spans", help="Add these to jsonl.", rich_help_panel=_OUTPUT)
    ] = "",
    bos: options.Bos = None,
    eot: options.Eot = None,
    max_tokens: Annotated[
        int | None,
        Option(
            "--max-tokens",
            metavar="N",
            min=0,
            rich_help_panel=_OUTPUT,
            help="Fail with status 1 if a document has more tokens.",
        ),
    ] = None,
    text: options.Text = None,
    lines: options.Lines = False,
    jsonl: options.Jsonl = False,
    plain: options.Plain = False,
    field: options.Field = "text",
    chat: chats.Chat = False,
    chat_template: chats.Template = None,
    generation_prompt: chats.GenerationPrompt = None,
    tools: chats.Tools = None,
    date: chats.Date = None,
    special: options.Special = None,
    add_special: options.AddSpecial = None,
    add_special_tokens: Annotated[
        bool,
        Option(
            "--add-special-tokens",
            rich_help_panel="Tokenizer",
            help="Put around each document what the tokenizer's post-processor puts there; it must be something.",
        ),
    ] = False,
    separator: Annotated[
        str,
        Option(
            "--separator",
            metavar="TEXT",
            rich_help_panel=_SEGMENTED,
            help="What stands after a subword that does not end its word.",
        ),
    ] = "@@",
    glossary: Annotated[
        list[str] | None,
        Option(
            "--glossary", metavar="REGEX", rich_help_panel=_SEGMENTED, help="Leave whole what this matches. Repeatable."
        ),
    ] = None,
    vocabulary: Annotated[
        str | None,
        Option(
            "--vocabulary",
            metavar="FILE",
            rich_help_panel=_SEGMENTED,
            help="Lines of a subword and its count: take others apart again.",
        ),
    ] = None,
    vocabulary_threshold: Annotated[
        int,
        Option(
            "--vocabulary-threshold",
            metavar="N",
            min=0,
            rich_help_panel=_SEGMENTED,
            help="The lowest count that counts.",
        ),
    ] = 0,
    write_vocabulary: Annotated[
        str | None,
        Option(
            "--write-vocabulary",
            metavar="FILE",
            rich_help_panel=_SEGMENTED,
            help="Write what --vocabulary reads: the subwords of the text and their counts, most frequent first.",
        ),
    ] = None,
    inference: Annotated[
        Inference | None,
        Option(
            "--inference",
            rich_help_panel="Tokenizer",
            show_default="merges",
            help="How a BPE vocabulary is applied: by its merges; by the longest token anywhere first, then what is "
            "left and right of it; by the longest token from the left.",
        ),
    ] = None,
    frequencies: Annotated[
        str | None,
        Option(
            "--frequencies",
            metavar="FILE",
            rich_help_panel="Tokenizer",
            show_default="the lowest id first",
            help="Lines of a token and its count: with --inference longest, of tokens of one length the most frequent "
            "is tried first.",
        ),
    ] = None,
    dropout: Annotated[
        float | None,
        Option("--dropout", metavar="P", rich_help_panel=_SAMPLING, help="Leave each merge out with this probability."),
    ] = None,
    dropout_mode: Annotated[
        DropoutMode,
        Option(
            "--dropout-mode",
            rich_help_panel=_SAMPLING,
            help="Draw anew at every step, as the paper does, or leave a merge out for good, as SentencePiece does.",
        ),
    ] = DropoutMode.paper,
    sample: Annotated[
        float | None,
        Option(
            "--sample",
            metavar="ALPHA",
            rich_help_panel=_SAMPLING,
            help="Draw a segmentation by its probability to this power (unigram).",
        ),
    ] = None,
    nbest: Annotated[
        int,
        Option(
            "--nbest",
            metavar="N",
            min=0,
            max=1024,
            rich_help_panel=_SAMPLING,
            show_default="all",
            help="Draw among the N best only.",
        ),
    ] = 0,
    seed: Annotated[
        int,
        Option(
            "--seed",
            metavar="N",
            min=0,
            rich_help_panel=_SAMPLING,
            help="The same seed draws the same, whatever the threads and blocks.",
        ),
    ] = 0,
    pattern: options.PatternName = None,
    threads: options.Threads = None,
    block_size: options.BlockSize = _BLOCK_BYTES,
    quiet: options.Quiet = False,
) -> None:
    """Encode text into token ids.

    [bold]Examples[/bold]

        bpe encode -T "hello world" -t gpt-4o

        bpe encode corpus.txt -t tokenizer.json -o corpus.bin

        bpe encode data.jsonl --jsonl --field text --to count

        bpe encode prompt.md -t gpt-4o --to count --max-tokens 8000

        bpe encode --chat messages.json -t gpt-4o --to count
    """
    from bpe_cli import sinks
    from bpe_cli.cli.encoding import BlockEncoding
    from bpe_cli.corpus import read_blocks
    from bpe_cli.sinks.bin import BinSink
    from bpe_cli.support.ordered_threads import Ordered, keep_freed_memory
    from bpe_cli.tokenizer.edges import NO_EDGES, edges_of

    conversations = chats.ChatOptions(chat, chat_template, generation_prompt, tools, date)
    to = to or To(sinks.sink_of_name(output) or To.ids.value)
    conversations.check(
        to.value, lines=lines, plain=plain, spans="spans" in _words(with_), add_special_tokens=add_special_tokens,
        bos=bos is not None, eot=eot is not None,
    )  # fmt: skip
    segmented = to == To.segmented
    how = Segmenting(separator, tuple(glossary or ()), vocabulary, vocabulary_threshold, write_vocabulary)
    check_options(
        segmented,
        how,
        {
            "--with": with_,
            "--bos": bos,
            "--eot": eot,
            "--max-tokens": max_tokens is not None,
            "--special": special,
            "--add-special-tokens": add_special_tokens,
        },
    )
    lines = lines or (segmented and not jsonl)
    source = options.source_of(inputs, text, lines, jsonl, plain, field, block_size)
    if to.value in sinks.SINKS and sinks.is_binary(to.value) and output is None and sys.stdout.isatty():
        raise UsageError(f"{to.value} is not for a terminal", hint="name a file with -o, or pipe it into a program")
    if output is not None:
        sinks.check_outputs(to.value, output) if to.value in sinks.SINKS else check_text_output(output, jsonl=jsonl)
    model = options.tokenizer_of(tokenizer, pattern, add_special)
    if frequencies is not None and inference != Inference.longest:
        raise UsageError("--frequencies says which of equally long tokens is tried first, with --inference longest")
    if inference is not None and inference != Inference.merges:
        counts = None if frequencies is None else {token.encode(): n for token, n in read_counts(frequencies).items()}
        model = model.with_longest_match(left_to_right=inference == Inference.left_to_right, frequencies=counts)
    sampling = sampling_of(dropout, dropout_mode, sample, nbest, seed)
    if sampling is not None:
        check_sampling(model, sampling, spans="spans" in _words(with_))
    specials, refuse = options.specials_of(special)
    record = sinks.record_of(to.value, output)
    written = [("-o", output), ("the record of -o", record), ("--write-vocabulary", write_vocabulary)]
    read = {
        "tokenizer": tokenizer, "vocabulary": vocabulary, "frequencies": frequencies, "chat template": chat_template,
        "list of tools": tools,
    }  # fmt: skip
    check_kept(written, [(f"the {what}", path or "") for what, path in read.items()])
    number = options.threads_of(threads)
    if conversations.wanted:
        work = chats.ChatWork(
            source, to.value, output, written, () if refuse else specials, refuse, sampling, max_tokens, number, quiet,
            _sink_options(with_, NO_EDGES, ()), eot,
        )  # fmt: skip
        chats.encode_chat(conversations, work, model, tokenizer)
        return
    edges = edges_of(model, add_special_tokens=add_special_tokens, bos=bos, eot=eot)
    matcher = model.matcher(specials)
    say_slow(model.slow_patterns, quiet)
    say_unspelt(model, specials, quiet)
    found = inputs_of(source, quiet, written)
    if segmented:
        write_segmented(model, source, found, how, sampling, output, number, quiet)
        return
    hashes: list[InputHash] | None = [] if sinks.is_binary(to.value) and output is not None else None
    origins = Origins(whole=source.documents == "whole")
    budget = Budget(max_tokens, origins)
    places = Places()
    with (
        progress(found.total_bytes, "encoding", quiet=quiet, printing=on_terminal(output)) as advance,
        sinks.open_sink(
            to.value, output, stdout=sys.stdout.buffer, tokenizer=model,
            options=_sink_options(with_, edges, specials), inputs=hashes if hashes is not None else (),
        ) as sink,
    ):  # fmt: skip
        keep_freed_memory()
        way = BlockEncoding(model, matcher, sampling, edges, sink, budget)
        with Ordered(way.encode, way.write, number) as ordered:
            blocks = read_blocks(
                source, stdin=sys.stdin.buffer, inputs=found, on_bytes=advance, on_input=origins.begin, hashes=hashes,
                on_note=lambda message: note(f"note: {message}", quiet=quiet), on_wait=ordered.drain,
            )  # fmt: skip
            settled = model.settle(blocks, matcher)
            for block in refusing(settled, matcher, origins) if refuse else settled:
                ordered.put((block, places.of(block)))
    budget.check()
    if output is not None:
        note(f"{count(sink.documents, 'document')}, {count(sink.tokens, 'token')} -> {output}", quiet=quiet)
    if isinstance(sink, BinSink) and sink.divided:
        note(
            f"note: the token of --eot stands in texts too, {count(sink.divided, 'time')}: "
            "readers that divide by it find more documents",
            quiet=quiet,
        )


def _words(with_: str) -> set[str]:
    return {word.strip() for word in with_.split(",") if word.strip()}


def _sink_options(with_: str, edges: "Edges", specials: "Specials") -> "SinkOptions":
    """Read --with.

    Raises:
        UsageError: A word of it is unknown.
    """
    from bpe_cli.sinks import SinkOptions

    words = _words(with_)
    if unknown := words - {"tokens", "spans"}:
        raise UsageError(f"--with knows tokens and spans, not {listed(sorted(unknown), separator=', ')}")
    return SinkOptions("tokens" in words, "spans" in words, specials, edges)
