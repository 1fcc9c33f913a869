"""Compare tokenizers: on texts, on probes that need none, and as vocabularies."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, BinaryIO, Literal

from bpe_cli.errors import InputError, UsageError
from bpe_cli.reports.comparison.compare import compare as measure
from bpe_cli.reports.comparison.comparison import Comparison, Settings
from bpe_cli.reports.comparison.input_accounts import Sample
from bpe_cli.reports.comparison.probes import Probes
from bpe_cli.support.listening import SILENCE, Listener

if TYPE_CHECKING:
    from bpe_cli.corpus import Inputs, Source
    from bpe_cli.reports.comparison.disagreements import Disagreement
    from bpe_cli.reports.comparison.overlap import Overlap
    from bpe_cli.support.blocks import Block
    from bpe_cli.tokenizer import Specials, Tokenizer

Probe = Literal["languages", "code", "data", "numbers"]

PROBES: tuple[Probe, ...] = ("languages", "code", "data", "numbers")
"""What tokenizers can be asked without a text of one's own."""

BUILT_IN = "built in"
"""Where texts are from that nobody named."""


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """What a comparison holds, and how it is made.

    Attributes:
        specials: Which special tokens are looked for in the texts.
        threads: How many threads work; changes no result.
        speed: Whether to measure how long encoding takes.
        probes: What to ask of ``PROBES``.
        parallel: Files of parallel texts for the languages; empty for those that are built in.
        pivot: The language that others are compared with; None for English, else the first.
        pairs: A folder of objects in two formats for the data; None for those that are built in.
        overlap: Whether to compare vocabularies.
        differences: How many differences to list between how tokenizers cut the texts; None to look for none.
        plain: Whether the files of ``LANG=FILE`` are text, whatever they hold.
    """

    specials: Specials = ()
    threads: int = 1
    speed: bool = False
    probes: frozenset[Probe] = frozenset()
    parallel: tuple[str, ...] = ()
    pivot: str | None = None
    pairs: str | None = None
    overlap: bool = False
    differences: int | None = None
    plain: bool = False


def compare(
    tokenizers: Sequence[Tokenizer],
    source: Source | None,
    options: CompareOptions | None = None,
    *,
    inputs: Inputs | None = None,
    listener: Listener = SILENCE,
    stdin: BinaryIO | None = None,
) -> Comparison:
    """Compare tokenizers with the first of them.

    Args:
        tokenizers: At least one.
        source: The texts; None if probes or vocabularies alone are to be compared.
        options: What to compare besides, and how.
        inputs: What ``source.inputs()`` gave, so that it need not be found again.
        listener: Who hears how many bytes were read, and of what might not be expected.
        stdin: What ``-`` stands for; None for the process's own.

    Raises:
        UsageError: If something needs a second tokenizer and there is one, a pivot is not among the languages, or a
            name in ``specials`` is unknown to a tokenizer.
        InputError: If a file cannot be read, or a byte of a text has no token.

    >>> from bpe_cli.corpus import Source
    >>> from bpe_cli.tokenizer.named_encodings import named
    >>> found = compare([named("gpt2"), named("o200k_base")], Source(text="hello world"))
    >>> [measure.token_count for measure in found.total.measures]
    [2, 2]
    """
    options = options or CompareOptions()
    if len(tokenizers) < 2 and (options.overlap or options.differences is not None):
        raise UsageError("tokenizers are compared with the first, and there is one", hint="add another tokenizer")
    stdin = stdin or sys.stdin.buffer
    if source is None:
        sample, measured = None, _measured(tokenizers, (), Settings(specials=_kept(options.specials)), options)
    else:
        from bpe_cli.corpus import reading_each

        inputs = inputs if inputs is not None else source.inputs(stdin=stdin, on_skip=listener.note)
        is_sampled = options.differences is not None or "code" in options.probes
        sample = Sample.shared(len(inputs.items)) if is_sampled else None
        field = source.field if source.documents == "jsonl" else None
        settings = Settings(source.documents, field, _kept(options.specials))
        with reading_each(source, inputs, "comparing", listener, stdin=stdin) as entries:
            measured = _measured(tokenizers, _sampled(entries, sample), settings, options)
    return replace(
        measured,
        probes=_probes(tokenizers, sample, options, stdin) if options.probes else None,
        overlaps=_overlaps(tokenizers, measured) if options.overlap else (),
        disagreements=_disagreements(tokenizers, sample, options),
    )


def _kept(specials: Specials) -> Literal["all"] | tuple[str, ...]:
    return "all" if specials == "all" else tuple(specials)


def _measured(
    tokenizers: Sequence[Tokenizer],
    entries: Iterable[tuple[str, Iterable[Block]]],
    settings: Settings,
    options: CompareOptions,
) -> Comparison:
    return measure(
        tokenizers, entries, specials=options.specials, threads=options.threads, speed=options.speed, settings=settings
    )


def _sampled(
    entries: Iterable[tuple[str, Iterable[Block]]], sample: Sample | None
) -> Iterator[tuple[str, Iterable[Block]]]:
    """Pass on inputs, and keep the beginnings of them if they are asked for."""
    for name, blocks in entries:
        yield name, blocks if sample is None else sample.watch(name, blocks)


def _overlaps(tokenizers: Sequence[Tokenizer], measured: Comparison) -> tuple[Overlap, ...]:
    from bpe_cli.reports.comparison.overlap import overlaps

    return tuple(overlaps(tokenizers, measured.frequencies if measured.rows else None))


def _disagreements(
    tokenizers: Sequence[Tokenizer], sample: Sample | None, options: CompareOptions
) -> tuple[Disagreement, ...]:
    if sample is None or options.differences is None:
        return ()
    from bpe_cli.reports.comparison.disagreements import disagreements

    shown, threads = options.differences, options.threads
    return tuple(disagreements(tokenizers, sample, specials=options.specials, shown=shown, threads=threads))


def _probes(tokenizers: Sequence[Tokenizer], sample: Sample | None, options: CompareOptions, stdin: BinaryIO) -> Probes:
    from bpe_cli.reports.comparison.probes.code import probe_code
    from bpe_cli.reports.comparison.probes.data import pairs_of, probe_data
    from bpe_cli.reports.comparison.probes.languages import probe_languages
    from bpe_cli.reports.comparison.probes.numbers import probe_numbers
    from bpe_cli.support.samples import samples

    languages = code = data = numbers = None
    threads = options.threads
    if "languages" in options.probes:
        from bpe_cli.corpus.parallel_texts import parse_parallel, read_parallel

        if options.parallel:
            texts, origin = read_parallel(options.parallel, stdin, plain=options.plain), "parallel texts"
        else:
            texts, origin = parse_parallel(samples("languages")["parallel.jsonl"], BUILT_IN), BUILT_IN
        languages = probe_languages(tokenizers, texts, pivot=options.pivot, source=origin, threads=threads)
    if "code" in options.probes:
        files = samples("code") if sample is None else sample.by_name()
        origin = BUILT_IN if sample is None else "the inputs"
        code = probe_code(tokenizers, files, source=origin, threads=threads)
    if "data" in options.probes:
        folder = options.pairs
        pairs = pairs_of(samples("pairs")) if folder is None else pairs_of(_files(folder, stdin), folder)
        if not pairs:
            raise InputError(f"{folder} has no NAME.json with a NAME.yaml beside it")
        data = probe_data(tokenizers, pairs, source=BUILT_IN if folder is None else folder, threads=threads)
    if "numbers" in options.probes:
        numbers = probe_numbers(tokenizers, threads=threads)
    return Probes(languages, code, data, numbers)


def _files(folder: str, stdin: BinaryIO) -> dict[str, bytes]:
    """Read the JSON and YAML files of a folder.

    Raises:
        InputError: If one cannot be read.
    """
    from bpe_cli.corpus.opening import read_whole
    from bpe_cli.support.messages import cannot_read

    try:
        names = sorted(name for name in os.listdir(folder) if name.lower().endswith((".json", ".yaml", ".yml")))
    except OSError as error:
        raise cannot_read(folder, error) from error
    return {name: read_whole(os.path.join(folder, name), stdin=stdin) for name in names}
