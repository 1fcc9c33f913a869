"""``bpe train``: train a tokenizer on text; its options, in groups.

Length: a list of options, of which each entry is short.
"""

import sys
from functools import partial

from bpe_cli.cli import options
from bpe_cli.cli.console import ConsoleListener, check_page_name, note, print_json, process_streams, write_page
from bpe_cli.cli.idle import as_typed, given_in
from bpe_cli.cli.options import Option
from bpe_cli.cli.parts_folder import parts_folder
from bpe_cli.cli.train_corpora import Corpora
from bpe_cli.cli.train_curve import HeldOut
from bpe_cli.cli.train_parity import Parity
from bpe_cli.errors import UsageError
from bpe_cli.formats.registry import TRAINED
from bpe_cli.jobs.files import STDOUT, check_outputs
from bpe_cli.jobs.targets import TARGETS
from bpe_cli.support.fast_dataclass import dataclass, replace
from bpe_cli.support.fast_typing import TYPE_CHECKING, Annotated
from bpe_cli.support.messages import plural as count
from bpe_cli.trainers import ALGORITHMS, COMPATS, SUMMARIES, trainer_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bpe_cli.jobs.parts.doing import PartsFolder
    from bpe_cli.jobs.train import TrainedFile
    from bpe_cli.teaching.steps import Steps


EPILOG = "Counting on many machines and training on one (--counts-out, --from-counts) gives the same file as one run."

COMMON = {
    "inputs": "Files, folders, patterns or URLs; - is stdin.",
    "algorithm": "bbpe, bpe, wordpiece, unigram, char, ... [bbpe]",
    "vocab_size": "The size of the vocabulary, all tokens counted.",
    "output": "The file to write: tokenizer.json, .model, ...",
    "target": "llama.cpp, transformers, tiktoken, sentencepiece: train what it can read exactly.",
    "format_": "The format to write. [by OUT's name]",
    "special": "Add a special token. Can be repeated.",
    "pattern": "How text is split: gpt2, o200k, or a regex.",
    "normalizer": "Rewrite text first: nfkc, lowercase, bert, ...",
    "pre_tokenizer": "Split text by: bert, whitespace, metaspace, ...",
    "min_frequency": "Learn no token that occurs less often.",
    "set_": "Set another option of the algorithm.",
    "help_algorithm": "List those of the algorithm that -a names.",
    "steps": "Print each step of a small training.",
    "text": "Train on this text.",
    "lines": "",
    "jsonl": "",
    "field": "",
    "threads": "Threads to use. [all]",
    "quiet": "",
}
"""The options that people use most, and what the short help says of them; nothing: the first sentence of the long."""

# What declares an option, by the panel of the help that it stands in.
_model_option = partial(Option, rich_help_panel="Model")
_stage_option = partial(Option, rich_help_panel="Normalizer and pre-tokenizer")
_count_option = partial(Option, rich_help_panel="Counts")


@dataclass(frozen=True, slots=True)
class Model:
    """The options about what is trained."""

    algorithm: Annotated[
        str | None,
        _model_option(
            "--algorithm", "-a", choices=ALGORITHMS, show_default="bbpe",
            help=" ".join(f"{name}: {summary}." for name, summary in SUMMARIES.items()),
        ),
    ] = None  # fmt: skip
    vocab_size: Annotated[
        str | None,
        _model_option(
            "--vocab-size", "-s", metavar="N,...", min=1,
            help="The number of tokens to end with, including the alphabet and special tokens. Several numbers write "
            "one file each, from a single training run if the sizes nest; {size} in OUT's name stands for the size.",
        ),
    ] = None  # fmt: skip
    special: Annotated[
        list[str] | None,
        _model_option(
            "--special", metavar="TEXT", help="Add a special token. Can be repeated; ids are given in this order."
        ),
    ] = None
    split_special: Annotated[
        bool,
        _model_option(
            "--split-special",
            help="Recognize special tokens in the corpus instead of learning from their text.",
        ),
    ] = False  # fmt: skip
    min_frequency: Annotated[
        int | None,
        _model_option(
            "--min-frequency", metavar="N", min=0, show_default="bbpe: 1; with --compat, its own",
            help="Learn nothing with a lower count.",
        ),
    ] = None  # fmt: skip
    initial_alphabet: Annotated[
        str | None,
        _model_option(
            "--initial-alphabet", choices=("all", "seen"), show_default="all",
            help="Start with all symbols (bbpe: 256 bytes), so that any text can be encoded, or only with those in the"
            " corpus.",
        ),
    ] = None  # fmt: skip
    max_token_length: Annotated[
        int | None,
        _model_option(
            "--max-token-length",
            metavar="N",
            min=1,
            help="Learn no longer tokens: in bytes for bbpe, mingram and greedtok; in characters for bpe and, with "
            "--compat sentencepiece, unigram. The others have no such limit.",
        ),
    ] = None
    superwords: Annotated[
        bool,
        _model_option(
            "--superwords",
            help="bbpe: learn tokens of several words in a second stage (SuperBPE). Learns from lines.",
        ),
    ] = False  # fmt: skip
    switch: Annotated[
        str | None,
        _model_option(
            "--switch", metavar="N|auto", show_default="9/10 of all tokens",
            help="With --superwords: begin the second stage after N merges inside words; auto: find N.",
        ),
    ] = None  # fmt: skip
    compat: Annotated[
        str | None,
        _model_option(
            "--compat", choices=COMPATS, show_default="bbpe: hf",
            help="Match the results of another library, tie by tie; course and textbook match tutorials.",
        ),
    ] = None  # fmt: skip
    set_: Annotated[
        list[str] | None,
        _model_option(
            "--set", metavar="NAME=VALUE",
            help="Set another option of the algorithm; --help-algorithm lists them. Can be repeated.",
        ),
    ] = None  # fmt: skip
    help_algorithm: Annotated[
        bool, _model_option("--help-algorithm", help="List all options of the algorithm named by -a, and exit.")
    ] = False

    @property
    def name(self) -> str:
        """What is trained, as it is asked for: the algorithm, and whose rules it follows if they have a trainer."""
        follows = trainer_of(self.kind, self.compat).follows
        return f"{self.kind} --compat {self.compat}" if follows else self.kind

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of the vocabulary, ascending; empty if none is given.

        Raises:
            UsageError: if one is not a number from 1, or is given twice.
        """
        if self.vocab_size is None:
            return ()
        words = self.vocab_size.split(",")
        if not all(_is_number(word) and int(word) for word in words):
            raise UsageError(
                f"--vocab-size {self.vocab_size} is neither a whole number above 0 nor several separated by commas",
                hint="for example: -s 32000, or -s 8000,16000,32000",
            )
        sizes = sorted(map(int, words))
        if len(set(sizes)) < len(sizes):
            raise UsageError(f"--vocab-size {self.vocab_size} names a size twice", hint="leave one of them out")
        return tuple(sizes)

    @property
    def merges_inside_words(self) -> int | str | None:
        """The number of merges inside words, or ``auto``; None if it is not given.

        Raises:
            UsageError: if it is neither.
        """
        given = self.switch
        if given is None or given == "auto":
            return given
        if not _is_number(given):
            raise UsageError(
                f"--switch {given} is not a whole number, and not auto", hint="for example: --switch 20000"
            )
        return int(given)

    @property
    def kind(self) -> str:
        """The algorithm."""
        return self.algorithm or "bbpe"

    def for_target(self, target: str | None, stages: "Stages") -> "tuple[Model, Stages]":
        """Return the options with what a reader asks for, where nothing is said of it.

        Raises:
            UsageError: if the reader reads nothing that the algorithm trains.
        """
        if target is None:
            return self, stages
        from bpe_cli.jobs.targets import as_typed, chosen_for

        algorithm, chosen = chosen_for(target, self.algorithm)
        pattern = chosen.pop("pattern", None)
        if stages.pattern is None and stages.pre_tokenizer is None:
            stages = replace(stages, pattern=pattern)
        compat = self.compat or chosen.pop("compat", None)
        settings = [f"{name}={as_typed(value)}" for name, value in chosen.items() if name != "compat"]
        given = self.set_ or []
        settings = [each for each in settings if not any(one.startswith(f"{each.split('=')[0]}=") for one in given)]
        return replace(
            self, algorithm=algorithm, compat=self.compat or compat, set_=[*settings, *given] or None
        ), stages


@dataclass(frozen=True, slots=True)
class Written:
    """The options about what is written."""

    output: Annotated[
        str | None,
        options.output_option("--output", "-o", metavar="OUT", show_default="stdout", help="Write to a file."),
    ] = None
    steps: Annotated[bool, Option("--steps", help="Print every step as a textbook does (small corpora).")] = False
    pairs: Annotated[
        int | None,
        Option(
            "--pairs", metavar="N", min=0, show_default="0; with --json and --html 10",
            help="With --steps: show the N best candidates for each step: pairs with their counts or scores, or tokens "
            "with their losses. Ties are marked.",
        ),
    ] = None  # fmt: skip
    full: Annotated[bool, Option("--full", help="With --steps: show all candidates, and shorten nothing.")] = False
    json: options.Json = False
    html: options.Html = None
    target: Annotated[
        str | None,
        options.output_option(
            "--target", choices=tuple(TARGETS),
            help="Train a tokenizer that this library can read exactly: sets --pattern, --compat and -a unless they "
            "are given. Writes the library's format if OUT is named like one of its files.",
        ),
    ] = None  # fmt: skip
    format_: Annotated[
        str | None,
        options.output_option(
            "--format", choices=TRAINED, show_default="by OUT's name, else bpe.json",
            help="The file's format. bpe.json is tokenizer.json with additions for what Hugging Face's library lacks. "
            "-a bpe --compat subword-nmt writes a codes file by default.",
        ),
    ] = None  # fmt: skip

    @property
    def path(self) -> str | None:
        """The file of the tokenizer; None for stdout, which it goes to if nothing else does."""
        return None if self.output == STDOUT else self.output

    @property
    def candidates(self) -> int | None:
        """How many candidates a step shows; None for all."""
        if self.full:
            return None
        usual = 10 if self.json or self.html is not None else 0
        return usual if self.pairs is None else self.pairs

    def check(self, *, is_measured: bool = False) -> None:
        """Check that what is said of steps has steps, and that no two outputs are one.

        Args:
            is_measured: Whether there is held-out text, of which ``--json`` prints the numbers.

        Raises:
            UsageError: if an option would do nothing, or two outputs are one.
        """
        of_steps = {"--pairs": self.pairs, "--full": self.full, "--json": self.json, "--html": self.html}
        given = [name for name, value in of_steps.items() if value not in (None, False)]
        if self.steps and is_measured:
            raise UsageError("--steps and --valid show different things", hint="ask for one at a time")
        if is_measured and self.json:
            given.remove("--json")
        if given and not self.steps:
            raise UsageError(f"{given[0]} is for --steps", hint="--steps shows the training step by step")
        if self.full and self.pairs is not None:
            raise UsageError("--full shows all pairs, and --pairs some", hint="give one of them")
        check_page_name(self.html)
        if self.json or self.html is not None:
            outputs = [("-o", self.path), ("--html", self.html)]
            check_outputs(outputs, stdout_taken="--json" if self.json else None)


@dataclass(frozen=True, slots=True)
class Stages:
    """The options about the normalizer and the pre-tokenizer."""

    normalizer: Annotated[
        str | None,
        _stage_option(
            "--normalizer", metavar="NAME,...", show_default="the algorithm's own",
            help="How text is rewritten before it is split: nfc, nfd, nfkc, nfkd, lowercase, strip-accents, strip, "
            "nmt, bert, bert-cased, nmt_nfkc, nmt_nfkc_cf, nfkc_cf, collapse-spaces, collapse-newlines, several "
            "separated by commas; identity or none for no change.",
        ),
    ] = None  # fmt: skip
    pre_tokenizer: Annotated[
        str | None,
        _stage_option(
            "--pre-tokenizer", metavar="NAME,...", show_default="the algorithm's own",
            help="How text is split into pieces that no token crosses: bert, whitespace, whitespace-split, "
            "punctuation, digits, metaspace, t5, xlnet, scripts, char or a --pattern's name, several separated by "
            "commas; none for no splitting.",
        ),
    ] = None  # fmt: skip
    pattern: Annotated[
        str | None,
        _stage_option(
            "--pattern", metavar="NAME|REGEX", show_default="bbpe, mingram, greedtok: o200k; with --compat, its own",
            help="Split by a regular expression instead: gpt2, cl100k, llama3, o200k, qwen2, tekken, nanochat, or your"
            " own; none for no splitting.",
        ),
    ] = None  # fmt: skip
    prefix_space: Annotated[bool, _stage_option("--prefix-space", help="Put a space before each document.")] = False

    @property
    def expression(self) -> str | None:
        """The split pattern, empty for none; None if nothing is said of it.

        Raises:
            UsageError: if the text looks like a name, and no pattern has this name.
        """
        from bpe_cli.stages.patterns import resolve_pattern

        if self.pattern is None:
            return None
        return "" if self.pattern == "none" else resolve_pattern(self.pattern)


@dataclass(frozen=True, slots=True)
class Counts:
    """The options about counts of pieces."""

    counts_out: Annotated[
        str | None, _count_option("--counts-out", metavar="FILE", help="Save the counts of pieces.")
    ] = None
    from_counts: Annotated[
        list[str] | None,
        _count_option(
            "--from-counts", metavar="FILE",
            help="Train on saved counts instead of text. Can be repeated: they are added up, in this order. With "
            "--parity: NAME=FILE.",
        ),
    ] = None  # fmt: skip
    counts_dir: Annotated[
        str | None,
        _count_option(
            "--counts-dir", metavar="FOLDER",
            help="Keep counts in this folder, part by part, and count nothing twice. Without INPUT, train on what is "
            "there.",
        ),
    ] = None  # fmt: skip
    part_size: Annotated[
        int | None,
        _count_option(
            "--part-size", metavar="MIB", min=1, show_default="256", help="With --counts-dir: the size of a part."
        ),
    ] = None
    part: Annotated[
        str | None,
        _count_option(
            "--part", metavar="K/N",
            help="With --counts-dir: count every N-th part, starting with the K-th, and train nothing.",
        ),
    ] = None  # fmt: skip
    engine: Annotated[
        str,
        _count_option(
            "--engine", metavar="local|ray|ray://HOST:PORT",
            help="With --counts-dir: what counts the parts: processes of this machine, or a Ray cluster.",
        ),
    ] = "local"  # fmt: skip
    processes: Annotated[
        int | None,
        _count_option(
            "--processes", metavar="N", min=1, show_default="as many as --threads",
            help="With --counts-dir: the number of parts counted at a time; changes no result.",
        ),
    ] = None  # fmt: skip
    overwrite: Annotated[
        bool,
        _count_option(
            "--overwrite",
            help="With --counts-dir: recount parts that are damaged, whose inputs have changed, or that were counted "
            "with other options.",
        ),
    ] = False
    max_memory: Annotated[
        int | None,
        _count_option(
            "--max-memory", metavar="MIB", min=1, show_default="4096",
            help="Memory for the counts; what does not fit goes to temporary files, in TMPDIR.",
        ),
    ] = None  # fmt: skip

    def folder(self) -> "PartsFolder | None":
        """Return the folder of the counts of parts.

        Raises:
            UsageError: if an option about parts is given without a folder.
        """
        return parts_folder("--counts-dir", self.counts_dir, self)

    def check(self, documents: options.Documents) -> None:
        """Check that counts can be read and written as it is asked.

        Raises:
            UsageError: if not.
        """
        from bpe_cli.sinks.naming import check_name

        for name, path in (
            ("--counts-out", self.counts_out),
            *(("--from-counts", each) for each in self.from_counts or ()),
        ):
            if path == "-":
                raise UsageError(f"{name} names a file: counts cannot be piped", hint="./- is a file of that name")
        check_name("--counts-out", self.counts_out, "counts", (".counts",))
        if self.from_counts and (documents.inputs or documents.text is not None):
            raise UsageError("--from-counts replaces the corpus: give one or the other")
        if self.from_counts and self.counts_dir is not None:
            raise UsageError("--from-counts and --counts-dir cannot be used together")


_MOST_DIGITS = 100  # what does not fit is refused by name later
_ANY_SIZE = 1 << 20  # for counting, which no size of the vocabulary changes


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) <= _MOST_DIGITS


def run(
    model: Model,
    written: Written,
    stages: Stages,
    counts: Counts,
    corpora: Corpora,
    parity: Parity,
    held_out: HeldOut,
    documents: options.Documents,
    running: options.Running,
) -> None:
    """Train a tokenizer on text.

    [bold]Examples[/bold]

        bpe train corpus.txt -s 32000 -o tokenizer.json

        bpe train data/*.jsonl.gz --jsonl --field text -s 50000 --special '<|endoftext|>' -o tokenizer.json

        bpe train corpus.txt -s 8000,16000,32000 -o 'tokenizer-{size}.json'

        bpe train corpus.txt -s 8000,16000,32000 --valid held-out.txt --d-model 1024 --svg curve.svg

        bpe train corpus.txt -a unigram -s 8000 -o tokenizer.json

        bpe train --language th=thai/ --language en=english/ --weight th=3 -s 32000 -o tokenizer.json

        bpe train --language th=thai/ --language en=english/ --parity -s 32000 -o tokenizer.json

        bpe train corpus.txt --lines --sample 1000000 -s 32000 -o tokenizer.json

        bpe train part1.txt --counts-out 1.counts

        bpe train --from-counts 1.counts --from-counts 2.counts -s 32000 -o tokenizer.json

        bpe train corpus.txt -s 32000 --target llama.cpp -o model.gguf

        bpe train -T "low low lower newest" -s 262 --steps
    """
    from bpe_cli.cli.train_options import help_of, options_of
    from bpe_cli.engines import engine_named
    from bpe_cli.jobs.train import TrainJob, train_file
    from bpe_cli.jobs.train_options import check_compat
    from bpe_cli.support.ordered_threads import usable_threads
    from bpe_cli.trainers import trainer_of
    from bpe_cli.trainers.counts import DEFAULT_MAX_MEMORY
    from bpe_cli.trainers.presets import preset_of

    held_out = as_typed(held_out) if held_out.valid is None else held_out
    parity = parity if parity.parity else as_typed(parity, "ratio", "window")
    if not written.steps:
        written = as_typed(written, "pairs", "full", *(["json"] if held_out.valid is None else []))
    model, stages = model.for_target(written.target, stages)
    check_compat(model.kind, model.compat)
    trainer = trainer_of(model.kind, model.compat)
    if model.help_algorithm:
        print(help_of(model.name, trainer))
        return
    written.check(is_measured=held_out.valid is not None)
    pictures = held_out.pictures()
    if held_out.markdown and written.json:
        raise UsageError("--json and --markdown cannot be used together")
    output, shows = written.path, written.steps or held_out.valid is not None
    if written.output == STDOUT and shows:
        shown = "--steps" if written.steps else "--valid"
        raise UsageError(f"-o - does not go with {shown}", hint="name a file: -o tokenizer.json")
    folder = counts.folder()
    keeps = counts.counts_out is not None or folder is not None
    counting_only = model.vocab_size is None and keeps and not shows and written.output is None
    any_size = counting_only and model.kind != "byte"  # whose size is no choice
    settings = options_of(
        model.name, trainer, _given(model, stages, parity, any_size=any_size), model.set_ or (),
        preset_of(model.kind, model.compat),
    )  # fmt: skip
    if output is None and not counting_only and not shows and sys.stdout.isatty():
        raise UsageError("a tokenizer cannot be written to a terminal", hint="name a file: -o tokenizer.json")
    counts.check(documents)
    is_there = folder is not None and not documents.inputs and documents.text is None
    reads_none = (counts.from_counts or (is_there and not corpora.language)) and not (held_out.valid or parity.dev)
    if reads_none and (idle := given_in(documents, but=("inputs", "text"))):
        why = "counts are read" if counts.from_counts else "the counts are in the folder"
        raise UsageError(f"{idle[0]} says how texts are read, and {why}", hint="leave it out")
    named = corpora.named(documents, running.block_size)
    languages = parity.languages(counts.from_counts or (), documents, running.block_size)
    job = TrainJob(
        settings,
        None if counts.from_counts or is_there or named else documents.source(running.block_size),
        () if parity.parity else tuple(counts.from_counts or ()),
        folder,
        counts.counts_out,
        None if counting_only else _file_format(model, written),
        written.steps,
        written.pairs,
        written.html,
        stages.expression,
        DEFAULT_MAX_MEMORY if counts.max_memory is None else counts.max_memory << 20,
        usable_threads(running.threads),
        None if folder is None else engine_named(counts.engine, counts.processes or running.threads),
        written.target,
        model.sizes if len(model.sizes) > 1 else (),
        held_out.source(documents, running.block_size),
        held_out.d_model,
        tuple(each.path for each in pictures),
        named,
        corpora.mixture(),
        corpora.sampled(),
        languages,
    )
    listener = ConsoleListener(quiet=running.quiet)
    done = train_file(
        job,
        sys.stdout.buffer if output is None and not shows else _named(output, model.sizes),
        listener=listener,
        streams=process_streams(),
        on_counted=lambda counted: note(
            f"{_pieces(counted)} -> {counts.counts_out if counted.parts is None else counted.parts.folder}"
            f"{listener.took()}",
            quiet=running.quiet,
        ),
    )
    _show(done, model.name, written, listener)
    if done.curve is not None:
        held_out.show(done.curve, pictures, json=written.json, quiet=running.quiet)


def _given(model: Model, stages: Stages, parity: Parity, *, any_size: bool) -> dict[str, object]:
    """Return what flags say of the algorithm's options, by the option's name."""
    from bpe_cli.stages.named_stages import normalizers_named, pre_tokenizers_named
    from bpe_cli.trainers.presets import preset_of

    trainer = trainer_of(model.kind, model.compat)
    is_preset = preset_of(model.kind, model.compat) is not None
    return {
        "vocab_size": _ANY_SIZE if any_size else max(model.sizes, default=None),
        "special_tokens": tuple(model.special) if model.special else None,
        "split_special": model.split_special or None,
        "min_frequency": model.min_frequency,
        "initial_alphabet": model.initial_alphabet,
        "max_token_length": model.max_token_length,
        "superwords": model.superwords or None,
        "switch": model.merges_inside_words,
        "parity": parity.parity or None,
        "window": parity.window,
        "normalizer": None if stages.normalizer is None else normalizers_named(stages.normalizer),
        "pre_tokenizer": None if stages.pre_tokenizer is None else pre_tokenizers_named(stages.pre_tokenizer),
        "pattern": stages.expression,
        "prefix_space": stages.prefix_space or None,
        **({} if is_preset else trainer.chosen_by(model.kind, model.compat)),
    }


def _file_format(model: Model, written: Written) -> str:
    """Return the format of the file: as it is asked for, or as its name says."""
    from bpe_cli.jobs.files import check_tokenizer_name, format_asked_for

    codes = model.kind == "bpe" and model.compat == "subword-nmt"
    usual = "subword-nmt" if codes else "bpe.json"
    formats = TRAINED if written.target is None else (TARGETS[written.target].format, *TRAINED)
    file_format = written.format_ or format_asked_for(written.path, formats, usual)
    check_tokenizer_name(written.path, file_format)
    return file_format


def _named(output: str | None, sizes: "Sequence[int]") -> str | None:
    """Return the file of a single size; of several, the name that they have in common."""
    return output.replace("{size}", str(sizes[0])) if output is not None and len(sizes) == 1 else output


def _show(done: "TrainedFile", name: str, written: Written, listener: ConsoleListener) -> None:
    """Print the steps, and note what was made and what the user might not expect."""
    quiet = listener.quiet
    if done.steps is not None:
        _show_steps(done.steps, name, written, quiet)
    for number, each in enumerate(done.sizes or (done,)):
        if each.trained is None:
            return
        size = count(each.trained.tokenizer.vocab_size, "token")
        begun, took = ("", "") if number else (f"{_pieces(done)} ", listener.took())
        note(f"{begun}-> {size}: {', '.join(each.trained.summary)}{took}", quiet=quiet)
        for sentence in each.notes:
            note(f"note: {sentence}", quiet=quiet)
        if each.path is not None:
            note(f"-> {each.path}", quiet=quiet)


def _show_steps(steps: "Steps", name: str, written: Written, quiet: bool) -> None:
    """Write the steps: as a page, as JSON, as both, or as text."""
    if written.html is not None:
        from bpe_cli.views.page.stepper import training_page

        write_page(written.html, training_page(steps, name, written.candidates), quiet)
    if written.json:
        from bpe_cli.views.as_json import training_json

        print_json(training_json(steps, name, written.candidates))
    elif written.html is None:
        from bpe_cli.views.training_steps import training_lines

        for line in training_lines(steps, written.candidates):
            print(line)


def _pieces(done: "TrainedFile") -> str:
    pieces = count(done.pieces, "piece")
    if (parts := done.parts) is not None:
        there = parts.made + parts.kept
        of_all = f"{there:,} of {count(parts.parts, 'part')}" if there < parts.parts else count(parts.parts, "part")
        return f"{of_all}{f' ({parts.made:,} new)' if parts.kept else ''}, {pieces}"
    return f"{pieces}, {done.different:,} different"
