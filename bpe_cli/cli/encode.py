"""``bpe encode``: encode text to ids; its options, in groups."""

import sys
from functools import partial

from bpe_cli.cli import options
from bpe_cli.cli.console import ConsoleListener, note, on_terminal, process_streams
from bpe_cli.cli.conversations import Conversations
from bpe_cli.cli.idle import as_typed
from bpe_cli.cli.options import Option
from bpe_cli.cli.parts import Parts
from bpe_cli.errors import UsageError
from bpe_cli.jobs.tokenizers import Inference
from bpe_cli.sinks import SINKS
from bpe_cli.support.fast_dataclass import dataclass, replace
from bpe_cli.support.fast_typing import TYPE_CHECKING, Annotated, Literal
from bpe_cli.support.messages import listed
from bpe_cli.support.messages import plural as count

if TYPE_CHECKING:
    from bpe_cli.jobs.chunk import ChunkOptions, TruncateOptions
    from bpe_cli.jobs.documents import Encoded, EncodeOptions
    from bpe_cli.jobs.segment import SegmentOptions
    from bpe_cli.jobs.tokenizers import TokenizerChoice
    from bpe_cli.tokenizer.engine import Sampling


EPILOG = "Exit status: 0 fine, 1 --max-tokens was exceeded, 2 bad usage, input or output."

COMMON = {
    "inputs": "Files, folders, patterns or URLs; - is stdin.",
    "text": "Encode this text.",
    "tokenizer": "A file, an encoding or a model. [o200k_base]",
    "to": "What to write: ids, tokens, count, jsonl, npy, bin, chunks, text, segmented. [ids]",
    "output": "The file to write; its name can say --to.",
    "lines": "",
    "jsonl": "",
    "field": "",
    "special": "Recognize special tokens: all, or TEXT.",
    "bos": "Begin each document with this token.",
    "eot": "End each document with this token.",
    "max_tokens": "Fail if a document has more tokens than N.",
    "json": "With --to count: print one JSON object.",
    "size": "With --to chunks: put at most N tokens in a chunk.",
    "overlap": "Number of tokens that a chunk repeats from the one before.",
    "truncate": "With --to text: keep N tokens of each text.",
    "chat": "Inputs are conversations: JSON with messages.",
    "threads": "Threads to use. [all]",
    "quiet": "",
}
"""The options that people use most, and what the short help says of them; nothing: the first sentence of the long."""

# What declares an option, by the panel of the help that it stands in.
_sampling_option = partial(Option, rich_help_panel="Sampling")
_segmented_option = partial(Option, rich_help_panel="Segmented text")


@dataclass(frozen=True, slots=True)
class Inferred:
    """The options about how a vocabulary is applied."""

    inference: Annotated[
        Inference | None,
        options.tokenizer_option(
            "--inference", show_default="merges",
            help="How a vocabulary is applied: by its merges; by the longest token anywhere, then what is left and"
            " right of it; by the longest token from the left; or by as few tokens as possible.",
        ),
    ] = None  # fmt: skip
    frequencies: Annotated[
        str | None,
        options.tokenizer_option(
            "--frequencies", metavar="FILE", show_default="the lowest id first",
            help="A token and its count on each line: with --inference longest, the most frequent of equally long "
            "tokens is tried first.",
        ),
    ] = None  # fmt: skip

    def choice(self, choice: "TokenizerChoice") -> "TokenizerChoice":
        """Return the choice of a tokenizer, applied so.

        Raises:
            UsageError: if there are frequencies that nobody asks for.
        """
        return replace(choice, inference=self.inference or choice.inference, frequencies=self.frequencies)


@dataclass(frozen=True, slots=True)
class Written:
    """The options about what is written."""

    to: Annotated[
        str | None,
        options.output_option(
            "--to", choices=(*SINKS, "segmented", "chunks", "text"), show_default="by OUT's name, else ids",
            help="ids: a line of numbers per document. tokens: a line of tokens. jsonl: an object per document. npy, "
            "bin: numbers as u16 or u32, described in OUT.json. count: the number of tokens of each document; with "
            "several inputs, names and a total too, but with -q only the numbers. segmented: each line with spaces "
            "between its tokens. chunks: JSON lines of parts, see --size. text: conversations as text, or with "
            "--truncate the start of each text.",
        ),
    ] = None  # fmt: skip
    output: options.Output = None
    with_: Annotated[str, options.output_option("--with", metavar="tokens,spans", help="Add these to jsonl.")] = ""
    max_tokens: Annotated[
        int | None,
        options.output_option(
            "--max-tokens", metavar="N", min=0, help="Fail with status 1 if a document has more tokens."
        ),
    ] = None

    json: Annotated[
        bool, options.output_option("--json", help="Print counts as one JSON object, with names and the total.")
    ] = False

    @property
    def more(self) -> set[str]:
        """What --with adds to the output."""
        return {word.strip() for word in self.with_.split(",") if word.strip()}


@dataclass(frozen=True, slots=True)
class Subwords:
    """The options about segmented text."""

    separator: Annotated[
        str,
        _segmented_option("--separator", metavar="TEXT", help="The mark after a subword that does not end its word."),
    ] = "@@"
    glossary: Annotated[
        list[str] | None,
        _segmented_option("--glossary", metavar="REGEX", help="Do not segment text that this matches. Repeatable."),
    ] = None
    vocabulary: Annotated[
        str | None,
        _segmented_option(
            "--vocabulary", metavar="FILE", help="A subword and its count on each line; split all other subwords again."
        ),
    ] = None
    vocabulary_threshold: Annotated[
        int, _segmented_option("--vocabulary-threshold", metavar="N", min=0, help="Ignore subwords with a lower count.")
    ] = 0
    write_vocabulary: Annotated[
        str | None,
        _segmented_option(
            "--write-vocabulary", metavar="FILE",
            help="Write what --vocabulary reads: the subwords of the text and their counts, most frequent first.",
        ),
    ] = None  # fmt: skip

    def job_options(self, sampling: "Sampling | None", threads: int | None) -> "SegmentOptions":
        """Return the options as the library takes them.

        Raises:
            UsageError: if options contradict each other.
        """
        from bpe_cli.jobs.segment import SegmentOptions

        return SegmentOptions(
            self.separator, tuple(self.glossary or ()), self.vocabulary, self.vocabulary_threshold,
            self.write_vocabulary, sampling, threads,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Drawing:
    """The options that vary an encoding at random."""

    dropout: Annotated[
        float | None, _sampling_option("--dropout", metavar="P", help="Drop each merge with this probability.")
    ] = None
    dropout_mode: Annotated[
        Literal["paper", "spm"],
        _sampling_option(
            "--dropout-mode",
            help="Draw again at every step, as in the paper, or drop a merge for good, as SentencePiece does.",
        ),
    ] = "paper"  # fmt: skip
    sample: Annotated[
        float | None,
        _sampling_option(
            "--sample",
            metavar="ALPHA",
            help="Sample a segmentation, with probabilities raised to this power (unigram).",
        ),
    ] = None
    nbest: Annotated[
        int,
        _sampling_option(
            "--nbest", metavar="N", min=0, max=1024, show_default="all", help="Sample among the N best only."
        ),
    ] = 0
    seed: Annotated[
        int | None,
        _sampling_option(
            "--seed", metavar="N", min=0, show_default="0",
            help="The seed. The same seed gives the same result with any number of threads and any block size.",
        ),
    ] = None  # fmt: skip

    def sampling(self) -> "Sampling | None":
        """Return the options as the library takes them.

        Raises:
            UsageError: if options contradict each other.
        """
        from bpe_cli.tokenizer.engine import Sampling

        if self.dropout is not None and self.sample is not None:
            raise UsageError(
                "--dropout and --sample cannot be used together", hint="dropout is for BPE, --sample for unigram"
            )
        if options.typed("nbest", self.nbest) and self.sample is None:
            raise UsageError("--nbest needs --sample", hint="for example: --sample 0.1 --nbest 64")
        if options.typed("dropout_mode", self.dropout_mode) not in (None, "paper") and self.dropout is None:
            raise UsageError("--dropout-mode needs --dropout", hint="for example: --dropout 0.1")
        seed = self.seed or 0
        if self.dropout is not None:
            return Sampling("dropout" if self.dropout_mode == "paper" else "lasting-dropout", self.dropout, seed=seed)
        if self.sample is not None:
            return Sampling("segmentation", self.sample, self.nbest, seed)
        if options.typed("seed", self.seed) is not None:
            raise UsageError("--seed needs --dropout or --sample", hint="for example: --dropout 0.1 --seed 7")
        return None


_RUNNING = options.Running(block_size=1 << 20)
"""A block and its ids stay in a processor's cache; what is done once a block costs nothing beside it."""


def run(
    applied: options.Applied,
    inferred: Inferred,
    written: Written,
    documents: options.Documents,
    conversations: Conversations,
    subwords: Subwords,
    parts: Parts,
    drawing: Drawing,
    running: options.Running = _RUNNING,
) -> None:
    """Encode text into token ids.

    [bold]Examples[/bold]

        bpe encode -T "hello world" -t gpt-4o

        bpe encode corpus.txt -t tokenizer.json -o corpus.bin

        bpe encode prompts/ -t gpt-4o --to count

        bpe encode prompt.md -t gpt-4o --to count --max-tokens 8000

        bpe encode docs/ -t gpt-4o --to chunks --size 256 --overlap 32 --break paragraph -o chunks.jsonl

        bpe encode --chat messages.json -t gpt-4o --to count
    """
    from bpe_cli.jobs.encode import encode

    if inferred.inference == "fewest" and drawing.sampling() is not None:
        raise UsageError(
            "--inference fewest gives one segmentation of a text, so none can be drawn",
            hint="leave out --sample or --dropout",
        )
    segmented, output = written.to == "segmented", written.output
    applied, written, documents, drawing = _without_idle_defaults(
        applied, written, documents, drawing, chat=conversations.chat
    )
    subwords = subwords if segmented else as_typed(subwords)
    parts = parts.without_idle_defaults(None if conversations.chat else written.to)
    _check_idle(written.to, applied, written, conversations, subwords)
    if conversations.chat:
        parts.check_idle()
    divided = not conversations.chat and (written.to in ("chunks", "text") or parts != Parts())
    listener = ConsoleListener(quiet=running.quiet, printing=on_terminal(output))
    done = encode(
        documents.source(running.block_size, lines=segmented),
        inferred.choice(applied.choice()),
        _job_options(applied, written, drawing, running),
        chat=conversations.job_options() if conversations.chat else None,
        words=subwords.job_options(drawing.sampling(), running.threads) if segmented else None,
        parts=_parts(parts, applied, written.to, running.threads) if divided else None,
        output=sys.stdout.buffer if output is None else output,
        listener=listener,
        streams=process_streams(),
    )
    what = "line" if segmented else "conversation" if conversations.chat else "document"
    _show(done, what, output, subwords.write_vocabulary, listener, applied.counted_too)


def _without_idle_defaults(
    applied: options.Applied, written: Written, documents: options.Documents, drawing: Drawing, *, chat: bool
) -> tuple[options.Applied, Written, options.Documents, Drawing]:
    """Return the options without what a project's file says of other things than are read and written here."""
    from bpe_cli.jobs.documents import kind_written
    from bpe_cli.jobs.files import Target

    to = written.to
    if to != "count":
        written = as_typed(written, "json")
    if kind_written(to, Target(written.output)) != "jsonl":
        written = as_typed(written, "with_")
    if chat:  # JSON, and what a template makes of it
        documents = as_typed(documents, "lines", "plain")
        applied = as_typed(applied, "bos", "add_special_tokens")
    if to == "text" or (to in ("segmented", "chunks") and not chat):  # no ids
        written = as_typed(written, "max_tokens")
        applied = as_typed(applied, "bos", "eot", "add_special_tokens", *(["special"] if to == "segmented" else []))
        drawing = drawing if to == "segmented" else as_typed(drawing)
    return applied, written, documents, drawing


def _parts(
    parts: Parts, applied: options.Applied, to: str | None, threads: int | None
) -> "ChunkOptions | TruncateOptions | None":
    """Return the options of a job that writes parts of texts."""
    specials, refuse = options.specials_of(applied.special)
    made = parts.job_options(to, () if refuse else specials, threads)
    if refuse:
        raise UsageError("--special error is for ids, and text is written")
    return made


def _job_options(
    applied: options.Applied, written: Written, drawing: Drawing, running: options.Running
) -> "EncodeOptions":
    """Return the options of a job."""
    from bpe_cli.jobs.documents import EncodeOptions

    if unknown := written.more - {"tokens", "spans"}:
        raise UsageError(f"--with knows tokens and spans, not {listed(sorted(unknown), separator=', ')}")
    specials, refuse = options.specials_of(applied.special)
    return EncodeOptions(
        to=written.to,
        tokens="tokens" in written.more,
        spans="spans" in written.more,
        specials=specials,
        refuse_specials=refuse,
        add_special_tokens=applied.add_special_tokens,
        bos=applied.bos,
        eot=applied.eot,
        max_tokens=written.max_tokens,
        counts="json" if written.json else "numbers" if running.quiet and not options.quiet_project else "named",
        sampling=drawing.sampling(),
        threads=running.threads,
    )


def _check_idle(
    to: str | None, applied: options.Applied, written: Written, conversations: Conversations, subwords: Subwords
) -> None:
    """Check that every given option has an effect."""
    if written.json and to != "count":
        raise UsageError("--json is for counts", hint="--to count writes them; --to jsonl writes ids as JSON lines")
    if not conversations.chat:
        conversations.check_idle()
    elif to in ("segmented", "chunks"):
        what = "written as segmented text" if to == "segmented" else "divided into chunks"
        raise UsageError(f"a conversation cannot be {what}", hint="--to text writes what a template makes of it")
    if to != "segmented":
        if subwords != Subwords():
            raise UsageError(
                "--separator, --glossary, --vocabulary, --vocabulary-threshold and --write-vocabulary are for "
                "segmented text only",
                hint="--to segmented writes it",
            )
        return
    if applied.special:
        raise UsageError("segmented text has no ids, and --special is only for ids", hint="leave it out")


def _show(
    done: "Encoded", what: str, output: str | None, vocabulary: str | None, listener: ConsoleListener, around: str
) -> None:
    """Note what was written, and what its readers may not expect."""
    quiet = listener.quiet
    counted = [count(done.documents, what), *([] if done.chunks is None else [count(done.chunks, "chunk")])]
    if done.tokens is not None:
        counted.append(count(done.tokens, "token") + around)
    if output is not None and (done.tokens is not None or what == "line"):
        note(f"{', '.join(counted)} -> {output}{listener.took()}", quiet=quiet)
    if done.subwords is not None:
        note(f"{count(done.subwords, 'subword')} -> {vocabulary}", quiet=quiet)
    if done.divided:
        note(
            f"note: the token of --eot also occurs inside documents, {count(done.divided, 'time')}: "
            "readers that split at it find more documents",
            quiet=quiet,
        )
