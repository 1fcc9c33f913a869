"""``bpe compare``: compare tokenizers on the same texts; ``compare_output`` has the options of the output."""

import os
from functools import partial

from bpe_cli.cli import options
from bpe_cli.cli.compare_output import Checks, CompareOutput, Measured, Written, show
from bpe_cli.cli.console import ConsoleListener, note, process_streams
from bpe_cli.cli.idle import as_typed, given_in, refuse_idle
from bpe_cli.cli.options import Option
from bpe_cli.cli.parts_folder import counted_parts, parts_folder
from bpe_cli.errors import UsageError
from bpe_cli.support.fast_dataclass import dataclass, replace
from bpe_cli.support.fast_typing import TYPE_CHECKING, Annotated
from bpe_cli.support.messages import plural as count
from bpe_cli.support.ordered_threads import usable_threads
from bpe_cli.views.pictures import COMPARISON_PICTURES

if TYPE_CHECKING:
    from bpe_cli.jobs import compare as job
    from bpe_cli.jobs.tally_parts import ByParts
    from bpe_cli.jobs.tokenizers import TokenizerChoice


EPILOG = "Ratios are ratios of sums. Exit status: 0 fine, 1 a check fails, 2 bad usage or input."

COMMON = {
    "inputs": "Files, folders, patterns or URLs; - is stdin.",
    "text": "Compare on this text.",
    "tokenizer": "A tokenizer; repeat it for each.",
    "baseline": "What the others are compared with. [the first]",
    "metric": "What to show; all shows every metric.",
    "probe": "languages, code, data, numbers: what they cost.",
    "diff": "Show where tokenizers split differently.",
    "overlap": "Compare the vocabularies.",
    "ids": "Verify that two tokenizers give the same ids.",
    "fail_if": "Fail if this is true: 'bytes_per_token < 4'.",
    "against": "Show what has changed since a stored report.",
    "max_regression": "Fail if a tokenizer is worse by more than this.",
    "lines": "",
    "jsonl": "",
    "field": "",
    "json": "Print one JSON object.",
    "markdown": "Print Markdown, for a pull request.",
    "html": "Write an HTML page.",
    "output": "The file to write. [stdout]",
    "threads": "Threads to use. [all]",
    "quiet": "",
}
"""The options that people use most, and what the short help says of them; nothing: the first sentence of the long."""

# What declares an option, by the panel of the help that it stands in.
_probe_option = partial(Option, rich_help_panel="Probes and differences")
_parts_option = partial(Option, rich_help_panel="Parts")


DEFAULT_TOKENIZERS = ["gpt2", "cl100k_base", "o200k_base"]


@dataclass(frozen=True, slots=True)
class Compared:
    """The options about what is compared, and by which metrics."""

    tokenizer: Annotated[
        list[str] | None,
        options.tokenizer_option(
            "--tokenizer", "-t", metavar="TOKENIZER", show_default=", ".join(DEFAULT_TOKENIZERS),
            help="A file or folder, an encoding or a model; repeat it for each. LABEL=TOKENIZER names it.",
        ),
    ] = None  # fmt: skip
    baseline: Annotated[
        str | None,
        options.tokenizer_option(
            "--baseline", metavar="TOKENIZER", show_default="the first -t",
            help="What the others are compared with; listed first.",
        ),
    ] = None  # fmt: skip
    fewest: Annotated[
        bool, options.tokenizer_option("--fewest", help="Also list each with the fewest tokens its vocabulary allows.")
    ] = False

    def choices(self, pattern: str | None) -> "tuple[TokenizerChoice, ...]":
        """Return the tokenizers, without loading them."""
        named = [_labelled(name, pattern) for name in self.tokenizer or DEFAULT_TOKENIZERS]
        return tuple(each for one in named for each in ((one, one.with_fewest_tokens()) if self.fewest else (one,)))

    def baseline_choice(self, pattern: str | None) -> "TokenizerChoice | None":
        """Return what the others are compared with: one of them by its label or its name, or one more; None: the first.

        A label is what the name of a tokenizer is not: it goes first.
        """
        if self.baseline is None:
            return None
        named = (each for each in self.choices(pattern) if self.baseline in (each.label, each.name))
        return next(named, None) or _labelled(self.baseline, pattern)


def _labelled(name: str, pattern: str | None) -> "TokenizerChoice":
    """Return the choice of a tokenizer, with a label in front of its name if it has one: ``LABEL=TOKENIZER``."""
    label, equals, rest = name.partition("=")
    if not (equals and label and rest) or "/" in label or os.path.lexists(name):
        return options.choice_of(name, pattern)
    return replace(options.choice_of(rest, pattern), label=label)


@dataclass(frozen=True, slots=True)
class Probes:
    """The options about what is compared besides texts."""

    probe: Annotated[
        list[str] | None,
        _probe_option(
            "--probe", metavar="WHAT", choices=("languages", "code", "data", "numbers", "all"),
            help="Measure what languages, code, data, numbers or all of them cost; needs no INPUT. Can be repeated.",
        ),
    ] = None  # fmt: skip
    parallel: Annotated[
        list[str] | None,
        _probe_option(
            "--parallel", metavar="FILE|LANG=FILE",
            help="Parallel texts for the languages: JSON lines with a key per language, or tab-separated columns; or "
            "one file per language, with the same lines (repeatable).",
        ),
    ] = None  # fmt: skip
    pivot: Annotated[
        str | None,
        _probe_option(
            "--pivot", metavar="LANG", show_default="en, else the first",
            help="The language that others are compared with.",
        ),
    ] = None  # fmt: skip
    pairs: Annotated[
        str | None,
        _probe_option(
            "--pairs", metavar="FOLDER",
            help="Objects for the data probe: NAME.json and NAME.yaml with the same content (not checked).",
        ),
    ] = None  # fmt: skip
    words: Annotated[
        list[str] | None,
        _probe_option(
            "--words", metavar="FILE",
            help="Measure tokens against words marked in a file, for languages without spaces: one text per line, its "
            "words separated by spaces or tabs; needs no INPUT. Can be repeated.",
        ),
    ] = None  # fmt: skip
    overlap: Annotated[
        bool, _probe_option("--overlap", help="Compare vocabularies with the first one's; needs no INPUT.")
    ] = False
    ids: Annotated[
        bool,
        _probe_option(
            "--ids",
            help="Verify that two tokenizers give the same ids: on INPUT, on tricky texts, over the whole vocabulary; "
            "status 1 if not. Without -t the first two INPUTs are the tokenizers. --against LIBRARY reads the last "
            "one with transformers, sentencepiece, tiktoken or llama.cpp.",
        ),
    ] = False  # fmt: skip
    diff: Annotated[
        bool,
        _probe_option(
            "--diff",
            help="Show where tokenizers split the inputs differently from the first, the most costly places first.",
        ),
    ] = False
    diff_limit: Annotated[
        int | None,
        _probe_option("--diff-limit", metavar="N", min=1, show_default="10", help="How many differences --diff lists."),
    ] = None

    def names(self) -> "frozenset[job.Probe]":
        """Return the probes that are asked for; texts for a probe ask for it.

        Raises:
            UsageError: if there is a pivot, and no probe that it is for.
        """
        from bpe_cli.jobs.compare import PROBES

        words = (
            set(self.probe or ())
            | ({"languages"} if self.parallel else set())
            | ({"data"} if self.pairs is not None else set())
        )
        probes = frozenset(each for each in PROBES if each in words or "all" in words)
        if options.typed("pivot", self.pivot) is not None and "languages" not in probes:
            raise UsageError("--pivot is for --probe languages and --parallel")
        return probes

    @property
    def asked(self) -> str | None:
        """An option that asks for something besides texts; None if there is none."""
        values = {
            "--parallel": self.parallel,
            "--pairs": self.pairs is not None,
            "--probe": self.probe,
            "--words": self.words,
            "--overlap": self.overlap,
            "--diff": self.diff,
        }
        return next((option for option, value in values.items() if value), None)


@dataclass(frozen=True, slots=True)
class Parts:
    """The options about parts: who tallies them, and where."""

    tallies_dir: Annotated[
        str | None,
        _parts_option(
            "--tallies-dir", metavar="FOLDER",
            help="Keep tallies in this folder, part by part, and tally nothing twice; the report is the same.",
        ),
    ] = None  # fmt: skip
    part_size: Annotated[
        int | None,
        _parts_option(
            "--part-size", metavar="MIB", min=1, show_default="256",
            help="With --tallies-dir: the size of a part. Inputs are not cut.",
        ),
    ] = None  # fmt: skip
    part: Annotated[
        str | None,
        _parts_option(
            "--part", metavar="K/N",
            help="With --tallies-dir: tally every N-th part, starting with the K-th, and compare nothing.",
        ),
    ] = None  # fmt: skip
    engine: Annotated[
        str,
        _parts_option(
            "--engine", metavar="local|ray|ray://HOST:PORT",
            help="With --tallies-dir: what tallies the parts: processes of this machine, or a Ray cluster.",
        ),
    ] = "local"  # fmt: skip
    processes: Annotated[
        int | None,
        _parts_option(
            "--processes", metavar="N", min=1, show_default="as many as --threads",
            help="With --tallies-dir: the number of parts tallied at a time; changes no result.",
        ),
    ] = None  # fmt: skip
    overwrite: Annotated[
        bool,
        _parts_option(
            "--overwrite",
            help="With --tallies-dir: redo parts that are damaged, whose inputs have changed, or that were tallied "
            "with other options.",
        ),
    ] = False  # fmt: skip

    def how(self, threads: int | None) -> "ByParts | None":
        """Return how inputs are compared part by part; None if all are in one run.

        Raises:
            UsageError: if something is said of parts, and there is no folder; or there is no such engine.
        """
        place = parts_folder("--tallies-dir", self.tallies_dir, self)
        if place is None:
            return None
        from bpe_cli.engines import engine_named
        from bpe_cli.jobs.tally_parts import ByParts

        return ByParts(place, engine_named(self.engine, self.processes or threads))


def run(
    compared: Compared,
    measured: Measured,
    probes: Probes,
    written: Written,
    checks: Checks,
    documents: options.Documents,
    parts: Parts,
    special: options.SpecialInText = None,
    pattern: options.PatternName = None,
    threads: options.Threads = None,
    block_size: options.BlockSize = options.BLOCK_BYTES,
    screen: options.Screen = options.Screen(),  # noqa: B008  # a value
) -> None:
    """Compare tokenizers: tokens, bytes and characters per token, and how each splits short texts.

    [bold]Examples[/bold]

        bpe compare corpus.txt -t gpt2 -t o200k_base -t tokenizer.json

        bpe compare en.txt de.txt zh.txt -t mine.json -t gpt-4o --json -o report.json

        bpe compare -T "naïve Straße 東京" --html comparison.html

        bpe compare --probe languages --probe code -t gpt2 -t mine.json

        bpe compare -t gpt2 -t mine.json --words thai.txt

        bpe compare corpus.txt -t gpt2 -t mine.json --overlap --diff

        bpe compare tokenizer.json model.gguf --ids corpus/

        bpe compare corpus/ -t tokenizer.json --fail-if 'bytes_per_token < 4'

        bpe compare corpus/ -t tokenizer.json --against report.json --max-regression 1% --markdown
    """
    from bpe_cli.cli.tokenizer_inputs import check_texts
    from bpe_cli.jobs.compare import CompareJob, CompareOptions, compare_and_check, tally
    from bpe_cli.reports.comparison.disagreements import SHOWN

    if probes.ids:
        if parts.how(threads) is not None:
            raise UsageError("--ids and --tallies-dir are different comparisons", hint="ask for one at a time")
        _compare_ids(compared, measured, probes, written, checks, documents, special, pattern, threads, screen)
        return
    names, inputs, text = probes.names(), documents.inputs, documents.text
    check_texts(inputs or (), named=bool(given_in(compared, documents)), quiet=screen.quiet)
    idle = not inputs and text is None and bool(names or probes.words or probes.overlap) and not probes.diff
    checks = as_typed(checks) if idle else checks
    conditions, limits = checks.conditions(), checks.limits()
    output = CompareOutput.of(measured, written, _drawable(compared, names, idle=idle))
    if options.typed("diff_limit", probes.diff_limit) is not None and not probes.diff:
        raise UsageError("--diff-limit is for --diff")
    if written.csv and probes.asked:
        raise UsageError(f"--csv holds measurements of inputs only, not {probes.asked}", hint="--json holds both")
    if idle:
        if checks.asked:
            raise UsageError(f"{checks.asked} needs inputs", hint="name files, or - for stdin")
        unused = given_in(measured, documents, but={"plain"} if probes.parallel else ())
        unused += ["--special"] if options.typed("special", special) is not None else []
        refuse_idle(unused, "there are no inputs")
    by_parts = parts.how(threads)
    is_share = by_parts is not None and by_parts.place.share is not None
    if is_share and (
        other := probes.asked or checks.asked or written.asked or ("--metric" if measured.metric else None)
    ):
        raise UsageError(
            f"--part tallies and compares nothing, and {other} is for a comparison",
            hint="compare without --part when all parts are tallied",
        )
    if idle and by_parts is not None:
        raise UsageError("--tallies-dir needs inputs", hint="name files")
    source = None if idle else documents.source(block_size)
    specials, refuse = options.specials_of(special)
    if refuse:
        raise UsageError("--special error is for encode: compare counts special tokens as text, or with --special all")
    timed = any(each.kind == "speed" for each in (*output.metrics, *(condition.metric for condition in conditions)))
    how = CompareOptions(
        specials, usable_threads(threads), timed, names, tuple(probes.parallel or ()), probes.pivot,
        probes.pairs, tuple(probes.words or ()), probes.overlap,
        (probes.diff_limit or SHOWN) if probes.diff else None, documents.plain,
    )  # fmt: skip
    baseline = compared.baseline_choice(pattern)
    job = CompareJob(
        compared.choices(pattern), source, how, baseline, output.outputs, conditions, limits, checks.against,
        measured.judged(), by_parts,
    )  # fmt: skip
    if is_share:
        listener = ConsoleListener(quiet=screen.quiet)
        done_parts = tally(job, listener=listener, streams=process_streams())
        there = counted_parts(done_parts.made, done_parts.kept, done_parts.parts)
        counted = f"{there}, {count(done_parts.total, 'document')} -> {done_parts.folder}"
        note(f"{counted}{listener.took()}", quiet=screen.quiet)
        return
    done = compare_and_check(job, listener=ConsoleListener(quiet=screen.quiet), streams=process_streams())
    show(output, done, screen)


def _compare_ids(
    compared: Compared, measured: Measured, probes: Probes, written: Written, checks: Checks,
    documents: options.Documents, special: list[str] | None, pattern: str | None, threads: int | None,
    screen: options.Screen,
) -> None:  # fmt: skip
    """Verify a port: nothing else of a comparison is asked for then."""
    from bpe_cli.cli.compare_ids import show_ids
    from bpe_cli.cli.tokenizer_inputs import tokenizers_among

    if idle := given_in(probes, measured, written, checks, compared, but=("ids", "json", "against", "tokenizer")):
        raise UsageError(f"--ids and {idle[0]} are different comparisons", hint="ask for one at a time")
    tokenizers, texts = tokenizers_among(compared.tokenizer or (), documents.inputs or (), checks.against)
    show_ids(
        tuple(_labelled(name, pattern) for name in tokenizers), replace(documents, inputs=texts), special,
        checks.against, threads, json=written.json, screen=screen,
    )  # fmt: skip


def _drawable(compared: Compared, names: "frozenset[job.Probe]", *, idle: bool) -> tuple[str, ...]:
    """Return the pictures that there will be."""
    several = len(compared.tokenizer or DEFAULT_TOKENIZERS) > 1 or compared.baseline is not None
    there = {"inputs": not idle, "ratios": not idle and several, "lengths": not idle, "use": not idle}
    there["premiums"] = "languages" in names
    return tuple(name for name in COMPARISON_PICTURES if there[name])
