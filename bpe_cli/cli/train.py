"""``bpe train``: text to a tokenizer."""

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from bpe_cli.cli import options
from bpe_cli.cli.console import ConsoleListener, note
from bpe_cli.cli.inputs import inputs_of
from bpe_cli.cli.output_checks import check_kept, check_outputs
from bpe_cli.cli.parameters import Option
from bpe_cli.errors import UsageError
from bpe_cli.views.numbers import count

if TYPE_CHECKING:
    from bpe_cli.jobs.train import TrainedFile

EPILOG = "Counting on many machines and training on one (--counts-out, --from-counts) gives the same file as one does."

_MODEL = "Model"
_STAGES = "Normalizer and pre-tokenizer"
_COUNTS = "Counts"
_ANY_SIZE = 1 << 20  # for counting, which no size of the vocabulary changes


class Algorithm(StrEnum):
    """What to train."""

    bbpe = "bbpe"
    bpe = "bpe"
    wordpiece = "wordpiece"
    unigram = "unigram"
    char = "char"
    word = "word"
    ngram = "ngram"
    byte = "byte"
    maxmatch = "maxmatch"


class Compat(StrEnum):
    """Whose rules to follow."""

    hf = "hf"
    rustbpe = "rustbpe"
    minbpe = "minbpe"
    subword_nmt = "subword-nmt"
    sentencepiece = "sentencepiece"
    tensorflow = "tensorflow"


class Format(StrEnum):
    """What kind of file to write."""

    bpe_json = "bpe.json"
    tokenizer_json = "tokenizer.json"
    subword_nmt = "subword-nmt"
    sentencepiece = "sentencepiece"


class Alphabet(StrEnum):
    """Which bytes are tokens from the start."""

    all = "all"
    seen = "seen"


def run(
    inputs: options.Inputs = None,
    algorithm: Annotated[
        Algorithm,
        Option(
            "--algorithm",
            "-a",
            rich_help_panel=_MODEL,
            help="bbpe: byte-level BPE. bpe: BPE over characters. wordpiece, unigram. char, word, ngram, byte: simple "
            "ones. maxmatch: dictionaries of Chinese words.",
        ),
    ] = Algorithm.bbpe,
    vocab_size: Annotated[
        int | None,
        Option(
            "--vocab-size",
            "-s",
            metavar="N",
            min=1,
            rich_help_panel=_MODEL,
            help="Tokens to end with, the alphabet and special tokens counted.",
        ),
    ] = None,
    output: options.Output = None,
    special: Annotated[
        list[str] | None,
        Option(
            "--special",
            metavar="TEXT",
            rich_help_panel=_MODEL,
            help="Add a special token. Can be repeated; ids are given in this order.",
        ),
    ] = None,
    split_special: Annotated[
        bool,
        Option(
            "--split-special",
            rich_help_panel=_MODEL,
            help="Take special tokens in the corpus for what they are, instead of text to learn from.",
        ),
    ] = False,
    min_frequency: Annotated[
        int | None,
        Option(
            "--min-frequency",
            metavar="N",
            min=0,
            rich_help_panel=_MODEL,
            show_default="bbpe: 1; with --compat, its own",
            help="Learn nothing that occurs less often.",
        ),
    ] = None,
    initial_alphabet: Annotated[
        Alphabet | None,
        Option(
            "--initial-alphabet",
            rich_help_panel=_MODEL,
            show_default="all",
            help="Begin with all symbols (bbpe: 256 bytes), so that any text can be encoded, or with those seen.",
        ),
    ] = None,
    max_token_length: Annotated[
        int | None,
        Option(
            "--max-token-length",
            metavar="N",
            min=1,
            rich_help_panel=_MODEL,
            help="Make no longer token (bbpe: in bytes, else in characters).",
        ),
    ] = None,
    compat: Annotated[
        Compat | None,
        Option(
            "--compat",
            rich_help_panel=_MODEL,
            show_default="bbpe: hf",
            help="Whose result to give, tie by tie, as far as the algorithm has such rules.",
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        Option(
            "--set",
            metavar="NAME=VALUE",
            rich_help_panel=_MODEL,
            help="Set another option of the algorithm; --help-algorithm lists them. Can be repeated.",
        ),
    ] = None,
    help_algorithm: Annotated[
        bool,
        Option(
            "--help-algorithm", rich_help_panel=_MODEL, help="List all options of the algorithm named by -a, and exit."
        ),
    ] = False,
    normalizer: Annotated[
        str | None,
        Option(
            "--normalizer",
            metavar="NAME,...",
            rich_help_panel=_STAGES,
            show_default="the algorithm's own",
            help="How text is rewritten before it is cut: nfc, nfkc, lowercase, strip-accents, bert, nmt_nfkc, "
            "several with commas, or none.",
        ),
    ] = None,
    pre_tokenizer: Annotated[
        str | None,
        Option(
            "--pre-tokenizer",
            metavar="NAME,...",
            rich_help_panel=_STAGES,
            show_default="the algorithm's own",
            help="How text is cut into pieces that no token crosses: bert, whitespace, metaspace, digits, "
            "several with commas, or none.",
        ),
    ] = None,
    pattern: Annotated[
        str | None,
        Option(
            "--pattern",
            metavar="NAME|REGEX",
            rich_help_panel=_STAGES,
            show_default="bbpe: o200k; with --compat, its own",
            help="The same by an expression: gpt2, cl100k, llama3, o200k, qwen2, tekken, nanochat, or your own; "
            "none: not at all.",
        ),
    ] = None,
    prefix_space: Annotated[
        bool, Option("--prefix-space", help="Put a space before each document.", rich_help_panel=_STAGES)
    ] = False,
    steps: Annotated[bool, Option("--steps", help="Print every step as a textbook does (small corpora).")] = False,
    format_: Annotated[
        Format | None,
        Option(
            "--format",
            rich_help_panel="Output",
            show_default="by OUT's name, else bpe.json",
            help="The file's format: bpe.json is tokenizer.json, and more where Hugging Face's library lacks it. "
            "With -a bpe --compat subword-nmt it is its codes file unless this says otherwise.",
        ),
    ] = None,
    counts_out: Annotated[
        str | None,
        Option("--counts-out", metavar="FILE", help="Save the counts of pieces.", rich_help_panel=_COUNTS),
    ] = None,
    from_counts: Annotated[
        list[str] | None,
        Option(
            "--from-counts",
            metavar="FILE",
            rich_help_panel=_COUNTS,
            help="Train on saved counts instead of text. Can be repeated: they are added up, in this order.",
        ),
    ] = None,
    max_memory: Annotated[
        int | None,
        Option(
            "--max-memory",
            metavar="MIB",
            min=1,
            rich_help_panel=_COUNTS,
            show_default="4096",
            help="Memory that counts may take; more different pieces than fit are an error.",
        ),
    ] = None,
    text: options.Text = None,
    lines: options.Lines = False,
    jsonl: options.Jsonl = False,
    plain: options.Plain = False,
    field: options.Field = "text",
    threads: options.Threads = None,
    block_size: options.BlockSize = options.BLOCK_BYTES,
    quiet: options.Quiet = False,
) -> None:
    """Train a tokenizer on text.

    [bold]Examples[/bold]

        bpe train corpus.txt -s 32000 -o tokenizer.json

        bpe train data/*.jsonl.gz --jsonl --field text -s 50000 --special '<|endoftext|>' -o tokenizer.json

        bpe train corpus.txt -a unigram -s 8000 -o tokenizer.json

        bpe train part1.txt --counts-out 1.counts

        bpe train --from-counts 1.counts --from-counts 2.counts -s 32000 -o tokenizer.json

        bpe train -T "low low lower newest" -s 262 --steps
    """
    from bpe_cli.cli.tokenizer_names import check_tokenizer_name, format_asked_for
    from bpe_cli.cli.train_options import help_of, options_of
    from bpe_cli.jobs.train import TrainJob, train_file
    from bpe_cli.jobs.train_options import check_compat
    from bpe_cli.sinks.naming import check_name
    from bpe_cli.stages import named_normalizers, named_pre_tokenizers
    from bpe_cli.stages.patterns import resolve_pattern
    from bpe_cli.trainers import trainer_of
    from bpe_cli.trainers.base import DEFAULT_MAX_MEMORY

    check_compat(algorithm, compat)
    trainer = trainer_of(algorithm, compat)
    named = f"{algorithm} --compat {compat}" if trainer.follows else algorithm.value
    if help_algorithm:
        print(help_of(named, trainer))
        return
    counting_only = vocab_size is None and counts_out is not None and not steps and output is None
    any_size = counting_only and algorithm != Algorithm.byte  # whose size is no choice
    expression = "" if pattern == "none" else None if pattern is None else resolve_pattern(pattern)
    given: dict[str, object] = {
        "vocab_size": _ANY_SIZE if any_size else vocab_size,
        "special_tokens": tuple(special) if special else None,
        "split_special": split_special or None,
        "min_frequency": min_frequency,
        "initial_alphabet": initial_alphabet and initial_alphabet.value,
        "max_token_length": max_token_length,
        "normalizer": None if normalizer is None else named_normalizers.named(normalizer),
        "pre_tokenizer": None if pre_tokenizer is None else named_pre_tokenizers.named(pre_tokenizer),
        "pattern": expression,
        "prefix_space": prefix_space or None,
        **trainer.chosen_by(algorithm.value, compat and compat.value),
    }
    settings = options_of(named, trainer, given, set_ or ())
    if output is None and not counting_only and not steps and sys.stdout.isatty():
        raise UsageError("a tokenizer is not for a terminal", hint="name a file: -o tokenizer.json")
    if from_counts and (inputs or text is not None):
        raise UsageError("--from-counts takes the place of text: give one or the other")
    check_name("--counts-out", counts_out, "counts", (".counts",))
    outputs = [("-o", output), ("--counts-out", counts_out)]
    check_outputs(outputs)
    check_kept(outputs, (("the counts", path) for path in from_counts or ()))
    codes = algorithm == Algorithm.bpe and compat == Compat.subword_nmt
    usual = "subword-nmt" if codes else "bpe.json"
    file_format = format_.value if format_ else format_asked_for(output, [each.value for each in Format], usual)
    check_tokenizer_name(output, file_format)
    job = TrainJob(
        settings,
        None if from_counts else options.source_of(inputs, text, lines, jsonl, plain, field, block_size),
        tuple(from_counts or ()),
        counts_out,
        None if counting_only else file_format,
        steps,
        expression,
        DEFAULT_MAX_MEMORY if max_memory is None else max_memory << 20,
        options.threads_of(threads),
    )
    done = train_file(
        job,
        output if output is not None or steps else sys.stdout.buffer,
        inputs=lambda source: inputs_of(source, quiet, outputs),
        listener=ConsoleListener(quiet=quiet),
        on_counted=lambda counted: note(f"{_pieces(counted)} -> {counts_out}", quiet=quiet),
    )
    for line in done.steps:
        print(line)
    if done.trained is not None:
        size = count(done.trained.tokenizer.vocab_size, "token")
        note(f"{_pieces(done)} -> {size}: {', '.join(done.trained.summary)}", quiet=quiet)
        for sentence in done.notes:
            note(f"note: {sentence}", quiet=quiet)
        if output is not None:
            note(f"-> {output}", quiet=quiet)


def _pieces(done: "TrainedFile") -> str:
    return f"{count(done.pieces, 'piece')}, {done.different:,} different"
