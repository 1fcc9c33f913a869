"""``bpe train``: text to a tokenizer."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bpe_cli.cli import options
from bpe_cli.cli.console import note, progress, say_slow
from bpe_cli.errors import UsageError
from bpe_cli.views.numbers import count

if TYPE_CHECKING:
    from bpe_cli import _core
    from bpe_cli.corpus import Source
    from bpe_cli.trainers.bbpe import BbpeOptions, BbpeResult

NAME = "train"
EPILOG = (
    "Counting on many machines and training on one (--counts-out, --from-counts) gives the same file as one machine."
)

_MODEL = "Model"
_COUNTS = "Counts"

STEPS_SYMBOLS = 20_000
"""Bytes of different pieces up to which --steps may be asked for: it counts all pairs anew at each step."""


class Algorithm(StrEnum):
    """What to train."""

    bbpe = "bbpe"


class Compat(StrEnum):
    """Whose rules to follow."""

    hf = "hf"
    rustbpe = "rustbpe"
    minbpe = "minbpe"
    subword_nmt = "subword-nmt"


class Alphabet(StrEnum):
    """Which bytes are tokens from the start."""

    all = "all"
    seen = "seen"


def run(
    inputs: options.Inputs = None,
    algorithm: Annotated[
        Algorithm, typer.Option("--algorithm", "-a", help="bbpe: byte-level BPE.", rich_help_panel=_MODEL)
    ] = Algorithm.bbpe,
    vocab_size: Annotated[
        int | None,
        typer.Option(
            "--vocab-size",
            "-s",
            metavar="N",
            min=1,
            rich_help_panel=_MODEL,
            help="Tokens to end with, bytes and special tokens counted.",
        ),
    ] = None,
    output: options.Output = None,
    pattern: Annotated[
        str | None,
        typer.Option(
            "--pattern",
            metavar="NAME|REGEX",
            rich_help_panel=_MODEL,
            show_default="o200k; with --compat, its own",
            help="How text is cut into pieces that no token crosses: gpt2, cl100k, llama3, o200k, qwen2, tekken, "
            "nanochat, or an expression; none: not at all.",
        ),
    ] = None,
    prefix_space: Annotated[
        bool, typer.Option("--prefix-space", help="Put a space before each document.", rich_help_panel=_MODEL)
    ] = False,
    min_frequency: Annotated[
        int | None,
        typer.Option(
            "--min-frequency",
            metavar="N",
            min=0,
            rich_help_panel=_MODEL,
            show_default="1; subword-nmt: 2",
            help="Merge no pair that occurs less often.",
        ),
    ] = None,
    special: Annotated[
        list[str] | None,
        typer.Option(
            "--special",
            metavar="TEXT",
            rich_help_panel=_MODEL,
            help="Add a special token. Can be repeated; ids are given in this order.",
        ),
    ] = None,
    split_special: Annotated[
        bool,
        typer.Option(
            "--split-special",
            rich_help_panel=_MODEL,
            help="Take special tokens in the corpus for what they are, instead of text to learn from.",
        ),
    ] = False,
    initial_alphabet: Annotated[
        Alphabet,
        typer.Option(
            "--initial-alphabet",
            rich_help_panel=_MODEL,
            help="Begin with all 256 bytes, so that any text can be encoded, or with those that occur.",
        ),
    ] = Alphabet.all,
    max_token_length: Annotated[
        int | None,
        typer.Option(
            "--max-token-length", metavar="BYTES", min=1, rich_help_panel=_MODEL, help="Make no longer token."
        ),
    ] = None,
    compat: Annotated[
        Compat,
        typer.Option(
            "--compat",
            rich_help_panel=_MODEL,
            help="Whose merges to give, tie by tie: Hugging Face's, rustbpe's, minbpe's, subword-nmt's.",
        ),
    ] = Compat.hf,
    steps: Annotated[
        bool, typer.Option("--steps", help="Print every merge as a textbook does (small corpora).")
    ] = False,
    counts_out: Annotated[
        str | None,
        typer.Option("--counts-out", metavar="FILE", help="Save the counts of pieces.", rich_help_panel=_COUNTS),
    ] = None,
    from_counts: Annotated[
        list[str] | None,
        typer.Option(
            "--from-counts",
            metavar="FILE",
            rich_help_panel=_COUNTS,
            help="Train on saved counts instead of text. Can be repeated: they are added up, in this order.",
        ),
    ] = None,
    max_memory: Annotated[
        int | None,
        typer.Option(
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
    field: options.Field = "text",
    threads: options.Threads = None,
    block_size: options.BlockSize = options.BLOCK_BYTES,
    quiet: options.Quiet = False,
) -> None:
    """Train a tokenizer on text.

    [bold]Examples[/bold]

        bpe train corpus.txt -s 32000 -o tokenizer.json

        bpe train data/*.jsonl.gz --jsonl --field text -s 50000 --special '<|endoftext|>' -o tokenizer.json

        bpe train part1.txt --counts-out 1.counts

        bpe train --from-counts 1.counts --from-counts 2.counts -s 32000 -o tokenizer.json

        bpe train -T "low low lower newest" -s 262 --steps
    """
    from bpe_cli.formats import resolve_pattern
    from bpe_cli.sinks.atomic import check_writable
    from bpe_cli.trainers.bbpe import DEFAULT_MAX_MEMORY, BbpeOptions

    counting_only = vocab_size is None and counts_out is not None and not steps
    if vocab_size is None and not counting_only:
        raise UsageError("how many tokens? --vocab-size is missing", hint="32000 is usual for one language: -s 32000")
    if output is None and not counting_only and not steps and sys.stdout.isatty():
        raise UsageError("a tokenizer is not for a terminal", hint="name a file: -o tokenizer.json")
    if from_counts and (inputs or text is not None):
        raise UsageError("--from-counts takes the place of text: give one or the other")
    for path in (output, counts_out):
        if path is not None:
            check_writable(path)
    settings = BbpeOptions(
        vocab_size=vocab_size or 0,
        pattern="" if pattern == "none" else None if pattern is None else resolve_pattern(pattern),
        prefix_space=prefix_space,
        min_frequency=min_frequency,
        special_tokens=tuple(special or ()),
        split_special=split_special,
        initial_alphabet=initial_alphabet.value,
        max_token_length=max_token_length,
        compat=compat.value,
    )
    if not counting_only:
        _rehearse(settings)
    memory = DEFAULT_MAX_MEMORY if max_memory is None else max_memory << 20
    if from_counts:
        counts, settings = _load_counts(from_counts, settings, memory)
    else:
        source = options.source_of(inputs, text, lines, jsonl, field, block_size)
        counts = _count(source, settings, memory, options.threads_of(threads), quiet)
    if counts_out is not None:
        _save_counts(counts, settings, counts_out, quiet)
    if not counting_only:
        _train(algorithm, counts, settings, output, steps, quiet)


def _rehearse(settings: BbpeOptions) -> None:
    """Make sure, before the work begins, that its result can be written.

    Raises:
        FormatError: The file cannot hold such a pattern, or a special token that is no text.
    """
    from bpe_cli.formats import dump
    from bpe_cli.trainers.bbpe import untrained

    dump(untrained(settings), "tokenizer.json")


def _train(
    algorithm: Algorithm, counts: _core.Counts, settings: BbpeOptions, output: str | None, steps: bool, quiet: bool
) -> None:
    from bpe_cli.formats import dump
    from bpe_cli.sinks.atomic import open_output, open_stdout
    from bpe_cli.trainers import TRAINERS

    if steps:
        _print_steps(counts, settings)
    with progress(settings.vocab_size, "merging", quiet=quiet, unit="token") as advance:
        done = 0

        def on_progress(tokens: int, _: int) -> None:
            nonlocal done
            advance(tokens - done)
            done = tokens

        result = TRAINERS[algorithm].train(counts, settings, on_progress)
    if output is not None or not steps:
        content = dump(result.tokenizer, "tokenizer.json")[""]
        with open_stdout(sys.stdout.buffer) if output is None else open_output(output) as out:
            out.write(content)
    _summarise(counts, settings, result, output, quiet)


def _summarise(
    counts: _core.Counts, settings: BbpeOptions, result: BbpeResult, output: str | None, quiet: bool
) -> None:
    merges = len(result.merge_counts)
    size = result.tokenizer.vocab_size
    note(
        f"{_pieces(counts)} -> {count(size, 'token')}: {count(result.alphabet_size, 'byte')}, "
        f"{count(merges, 'merge')}, {len(settings.special_tokens)} special",
        quiet=quiet,
    )
    if result.exhausted:
        wanted = [f"occurs {result.minimum:,} times or more"] if result.minimum > 1 else []
        if settings.max_token_length is not None:
            wanted.append(f"makes a token of at most {count(settings.max_token_length, 'byte')}")
        conditions = f"that {' and '.join(wanted)}" if wanted else "to merge"
        note(
            f"note: the vocabulary has {count(size, 'token')}, not {settings.vocab_size:,}: "
            f"no pair is left {conditions}",
            quiet=quiet,
        )
    if output is not None:
        note(f"-> {output}", quiet=quiet)


def _count(source: Source, settings: BbpeOptions, memory: int, threads: int, quiet: bool) -> _core.Counts:
    from bpe_cli.corpus import read_blocks
    from bpe_cli.splitting import RegexSplitter, compile_splitter
    from bpe_cli.trainers import bbpe

    if isinstance(compile_splitter(settings.patterns), RegexSplitter):
        say_slow(settings.patterns, quiet)
    found = source.inputs(stdin=sys.stdin.buffer, on_skip=lambda message: note(f"note: {message}", quiet=quiet))
    counts = bbpe.new_counts(memory)
    with progress(found.total_bytes, "counting", quiet=quiet) as advance:
        blocks = read_blocks(
            source, stdin=sys.stdin.buffer, inputs=found, on_bytes=advance,
            on_note=lambda message: note(f"note: {message}", quiet=quiet),
        )  # fmt: skip
        bbpe.count(blocks, settings, counts, threads)
    return counts


def _save_counts(counts: _core.Counts, settings: BbpeOptions, path: str, quiet: bool) -> None:
    from bpe_cli.formats import counts_file
    from bpe_cli.sinks.atomic import open_output
    from bpe_cli.trainers.bbpe import unicode_version

    cutting = counts_file.Cutting(
        pattern=settings.patterns[0] if settings.patterns else None,
        prefix_space=settings.prefix_space,
        special_tokens=settings.special_tokens if settings.split_special else (),
        unicode_version=unicode_version(settings),
    )
    with open_output(path) as out:
        for part in counts_file.dump(counts, cutting):
            out.write(part)
    note(f"{_pieces(counts)} -> {path}", quiet=quiet)


def _pieces(counts: _core.Counts) -> str:
    return f"{count(counts.total, 'piece')}, {counts.unique:,} different"


def _load_counts(paths: list[str], settings: BbpeOptions, memory: int) -> tuple[_core.Counts, BbpeOptions]:
    """Add up saved counts; how their text was cut is part of what is trained.

    Raises:
        UsageError: An option says that it was cut otherwise.
    """
    from dataclasses import replace

    from bpe_cli.formats import counts_file

    cutting, counts = counts_file.load_all([Path(path) for path in paths], memory)
    pattern = cutting.pattern or ""
    if settings.pattern not in (None, pattern):
        raise UsageError(
            f"the counts were cut with {_pattern(pattern)}, not with {_pattern(settings.pattern)}",
            hint="leave --pattern out, or count again",
        )
    if settings.prefix_space and not cutting.prefix_space:
        raise UsageError("the counts were made without --prefix-space", hint="count again with it")
    if settings.split_special and set(settings.special_tokens) != set(cutting.special_tokens):
        made = " ".join(f"--special {token}" for token in cutting.special_tokens)
        raise UsageError(
            f"the counts were made with {f'--split-special {made}' if made else 'no --split-special'}",
            hint="count again with the special tokens that are to be split off",
        )
    return counts, replace(settings, pattern=pattern, prefix_space=cutting.prefix_space)


def _pattern(expression: str) -> str:
    from bpe_cli.splitting import show_pattern

    return f"the pattern {show_pattern(expression)}" if expression else "no pattern"


def _print_steps(counts: _core.Counts, settings: BbpeOptions) -> None:
    """Print the textbook's training, step by step.

    Raises:
        UsageError: The corpus is too large for it.
    """
    from bpe_cli.teaching import bpe as textbook
    from bpe_cli.teaching.steps import render
    from bpe_cli.trainers.bbpe import initial_tokens

    pieces = dict(counts.items(0, STEPS_SYMBOLS))
    if sum(map(len, pieces)) > STEPS_SYMBOLS or counts.unique > len(pieces):
        raise UsageError(
            f"--steps is for small corpora: up to {STEPS_SYMBOLS:,} bytes of different pieces",
            hint="leave --steps out, or train on a sample",
        )
    initial, _, _ = initial_tokens(settings, counts)
    reserved = len(settings.special_tokens) if not settings.rules.special_first else 0
    training = textbook.train(
        textbook.byte_words(pieces),
        initial=initial,
        vocab_size=settings.vocab_size - reserved,
        min_frequency=settings.minimum,
        tie=settings.rules.tie,
        max_token_length=settings.max_token_length,
    )
    for line in render(training):
        print(line)
