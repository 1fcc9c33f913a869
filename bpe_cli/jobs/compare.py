"""Compare tokenizers: on texts, on probes that need no texts, and by their vocabularies.

Length: one job and its options, which are those of every probe.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, BinaryIO, Literal

from bpe_cli.errors import InputError, UsageError
from bpe_cli.jobs.files import Streams, check_kept, find_documents
from bpe_cli.jobs.read_once import check_read_once
from bpe_cli.jobs.tokenizers import files_of, load_tokenizer, note_oddities
from bpe_cli.reports.comparison.compare import compare as measure
from bpe_cli.reports.comparison.comparison import Comparison, Probes, Settings
from bpe_cli.reports.comparison.cut_clusters import MOST_INPUTS, beginnings, cut_clusters
from bpe_cli.reports.comparison.input_accounts import Sample
from bpe_cli.support.core_arguments import ordered_specials
from bpe_cli.support.listening import SILENCE, Listener
from bpe_cli.support.messages import cannot_read, every

if TYPE_CHECKING:
    from bpe_cli.corpus import Inputs, Source
    from bpe_cli.jobs.parts.doing import DoneParts
    from bpe_cli.jobs.tally_parts import ByParts
    from bpe_cli.jobs.tokenizers import AnyTokenizer
    from bpe_cli.reports.comparison.changes import Changes, StoredComparison
    from bpe_cli.reports.comparison.checks import Check, Condition, Limit
    from bpe_cli.reports.comparison.comparison import Metric
    from bpe_cli.reports.comparison.disagreements import Disagreement
    from bpe_cli.reports.comparison.overlap import Overlap
    from bpe_cli.support.blocks import Block
    from bpe_cli.tokenizer import Specials, Tokenizer

Probe = Literal["languages", "code", "data", "numbers"]

PROBES: tuple[Probe, ...] = ("languages", "code", "data", "numbers")
"""What tokenizers can be asked without a text of one's own."""

_LARGEST_REPORT = 1 << 28
"""Bytes that a stored report may have."""

BUILT_IN = "built in"
"""Where texts are from that nobody named."""


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """What a comparison holds, and how it is made.

    Attributes:
        specials: The special tokens to recognize in the texts; none unless asked.
        threads: How many threads work; changes no result.
        speed: Whether to measure how long encoding takes.
        probes: What to ask of ``PROBES``.
        parallel: Files of parallel texts for the languages; empty for those that are built in.
        pivot: The language that others are compared with; None for English, else the first.
        pairs: A folder of objects in two formats for the data; None for those that are built in.
        words: Files of texts whose words are marked, which tokens are measured against.
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
    words: tuple[str, ...] = ()
    overlap: bool = False
    differences: int | None = None
    plain: bool = False


@dataclass(frozen=True, slots=True)
class CompareJob:
    """State what is compared, and what of the result is checked.

    Attributes:
        tokenizers: What is compared.
        source: The texts; None if probes or vocabularies alone are to be compared.
        options: What to compare besides, and how.
        baseline: What the others are compared with: one of them, by whatever name, or one more; None for the first.
        outputs: The options that name files to write, and the files: nothing that is read may be one of them.
        conditions: What must not be true.
        limits: By how much nothing may have become worse.
        against: The file of a stored report, since which changes are listed; ``-`` is stdin.
        judged: The metrics that are held against that report, or against the baseline.
        by_parts: How inputs are compared part by part; None for all in one run. It changes no number.
    """

    tokenizers: tuple[AnyTokenizer, ...]
    source: Source | None
    options: CompareOptions
    baseline: AnyTokenizer | None = None
    outputs: tuple[tuple[str, str | None], ...] = ()
    conditions: tuple[Condition, ...] = ()
    limits: tuple[Limit, ...] = ()
    against: str | None = None
    judged: tuple[Metric, ...] = ()
    by_parts: ByParts | None = None


@dataclass(frozen=True, slots=True)
class CheckedComparison:
    """State what was measured, and what of it was checked.

    Attributes:
        comparison: What was measured.
        changes: What has changed since the stored report, or from the baseline where there are limits; else None.
        checks: Each condition and limit, with its failures.
    """

    comparison: Comparison
    changes: Changes | None
    checks: tuple[Check, ...]


def compare_and_check(
    job: CompareJob, *, listener: Listener = SILENCE, streams: Streams | None = None
) -> CheckedComparison:
    """Load tokenizers, compare them, and check what was measured.

    Args:
        job: What is done.
        listener: Receives progress and notes.
        streams: The streams around the job.

    Raises:
        UsageError: as ``compare``; or if there is no such tokenizer, an output would replace what is read, or a
            condition or limit names an input that is not there.
        InputError: as ``compare``; or if the stored report cannot be read, or is of other texts.
    """
    from bpe_cli.reports.comparison.changes import StoredComparison, changes_from_baseline, changes_since

    if job.by_parts is not None and job.by_parts.place.share is not None:
        raise UsageError(
            "a run that tallies some of the parts compares nothing",
            hint="compare when all are tallied, without `share`",
        )
    streams = streams or Streams()
    check_read_once(job.source, _read_by(job), streams.read)
    stored = None if job.against is None else _stored(job.against, streams.read)
    check_kept(job.outputs, _read_by(job), streams)
    chosen, models = _models(job)
    if len(models) < 2 and (job.options.overlap or job.options.differences is not None):
        option = "`overlap`" if job.options.differences is None else "`differences`"
        raise UsageError(
            f"{option} compares tokenizers with the first, but there is only one", hint="add another tokenizer"
        )
    for model in models:
        note_oddities(model, job.options.specials, listener)
    inputs = None
    if job.source is not None:
        tallies = job.by_parts.place.path if job.by_parts is not None else None
        inputs = find_documents(
            job.source, job.outputs, listener=listener, streams=streams, leave_out=tallies,
            otherwise=None if tallies is None else "",
        )  # fmt: skip
        _check_scopes(job, inputs)
    report = compare(
        models, job.source, job.options, inputs=inputs, listener=listener, stdin=streams.stdin, by_parts=job.by_parts,
        chosen=chosen,
    )  # fmt: skip
    changes = None
    if stored is not None:
        changes = changes_since(StoredComparison.of(report), stored[1], job.judged, stored[0])
    elif job.limits:
        changes = changes_from_baseline(report, job.judged)
    checks = [condition.check(report) for condition in job.conditions]
    checks += [limit.check(changes) for limit in job.limits if changes is not None]
    return CheckedComparison(report, changes, tuple(checks))


def tally(job: CompareJob, *, listener: Listener = SILENCE, streams: Streams | None = None) -> DoneParts:
    """Tally the parts of the inputs, or the share of them that the job names, and compare nothing.

    Args:
        job: What is done; its checks and outputs are not looked at.
        listener: Receives progress and notes.
        streams: The streams around the job.

    Raises:
        UsageError: if nothing is said of parts, or of inputs; or as for ``tally_parts``.
        InputError: as for ``tally_parts``.
        OutputError: as for ``tally_parts``.
    """
    from bpe_cli.jobs.tally_parts import tally_parts

    if job.by_parts is None or job.source is None:
        raise UsageError("parts are tallied of files, and into a folder", hint="name both")
    _check_by_parts(job.options)
    chosen, models = _models(job)
    for model in models:
        note_oddities(model, job.options.specials, listener)
    tallies = job.by_parts.place.path
    inputs = find_documents(
        job.source, listener=listener, streams=streams or Streams(), leave_out=tallies, otherwise=""
    )
    return tally_parts(
        chosen, models, job.source, inputs, job.options.specials, job.by_parts, threads=job.options.threads,
        listener=listener,
    )  # fmt: skip


def _check_by_parts(options: CompareOptions) -> None:
    if options.speed:
        raise UsageError("speed is measured in one run on all inputs, and not by parts", hint="leave the folder out")


def _stored(path: str, stdin: BinaryIO) -> tuple[str, StoredComparison]:
    """Return the name of a stored report for messages, and what is in it."""
    from bpe_cli.corpus.opening import read_whole
    from bpe_cli.reports.comparison.changes import StoredComparison
    from bpe_cli.support.messages import show_path

    name = show_path(path)
    return name, StoredComparison.parse(read_whole(path, stdin=stdin, most=_LARGEST_REPORT), name)


def _read_by(job: CompareJob) -> Iterator[tuple[str, str]]:
    """Yield what messages call the files that are read besides the inputs, and their paths."""
    if job.against is not None:
        yield "the report of `against`", job.against
    baseline = [] if job.baseline is None or job.baseline in job.tokenizers else [job.baseline]
    for tokenizer in (*job.tokenizers, *baseline):
        yield from (("a tokenizer", path) for _, path in files_of(tokenizer) if path)
    for each in job.options.parallel:
        yield from (("the parallel texts", path) for path in {each, each.partition("=")[2]})
    yield from (("the words of `words`", path) for path in job.options.words)
    folder = job.options.pairs
    if folder is not None and os.path.isdir(folder):
        try:
            names = os.listdir(folder)
        except OSError as error:
            raise cannot_read(folder, error) from error
        yield from (("an object of `pairs`", os.path.join(folder, each)) for each in names)


def _models(job: CompareJob) -> tuple[list[AnyTokenizer], list[Tokenizer]]:
    """Load the tokenizers, the baseline first; return what says which they are, too."""
    names, models = list(job.tokenizers), every(load_tokenizer, job.tokenizers)
    if job.baseline is None:
        return names, models
    first = models[names.index(job.baseline)] if job.baseline in names else load_tokenizer(job.baseline)
    place = next((number for number, model in enumerate(models) if model == first), None)
    others = [number for number in range(len(models)) if number != place]
    return [job.baseline, *(names[each] for each in others)], [first, *(models[each] for each in others)]


def _check_scopes(job: CompareJob, inputs: Inputs) -> None:
    """Make sure that there are the inputs that conditions and limits name."""
    from bpe_cli.corpus.source import TEXT_NAME
    from bpe_cli.reports.comparison.checks import check_scope

    is_text = job.source is not None and job.source.text is not None
    names = [TEXT_NAME] if is_text else [item.plain_name for item in inputs.items]
    scoped: list[Condition | Limit] = [*job.conditions, *job.limits]
    every(lambda each: check_scope(each.scope, each.text, names), scoped)


def compare(
    tokenizers: Sequence[Tokenizer],
    source: Source | None,
    options: CompareOptions | None = None,
    *,
    inputs: Inputs | None = None,
    listener: Listener = SILENCE,
    stdin: BinaryIO | None = None,
    by_parts: ByParts | None = None,
    chosen: Sequence[AnyTokenizer] | None = None,
) -> Comparison:
    """Compare tokenizers with the first of them.

    Args:
        tokenizers: At least one.
        source: The texts; None if probes or vocabularies alone are to be compared.
        options: What to compare besides, and how.
        inputs: What ``source.inputs()`` gave, so that it need not be found again.
        listener: Receives progress and notes.
        stdin: The stream that ``-`` stands for; None for the process's own.
        by_parts: How inputs are compared part by part; None for all in one run. It changes no number.
        chosen: What says which the tokenizers are, for workers to load; None for the tokenizers themselves.

    Raises:
        UsageError: if something needs a second tokenizer and there is one, a pivot is not among the languages, or a
            name in ``specials`` is unknown to a tokenizer.
        InputError: if a file cannot be read, or a byte of a text has no token.

    >>> from bpe_cli.corpus import Source
    >>> from bpe_cli.tokenizer.named_encodings import named
    >>> found = compare([named("gpt2"), named("o200k_base")], Source(text="hello world"))
    >>> [measure.token_count for measure in found.total.measures]
    [2, 2]
    """
    options = options or CompareOptions()
    if len(tokenizers) < 2 and (options.overlap or options.differences is not None):
        raise UsageError("tokenizers are compared with the first, but there is only one", hint="add another tokenizer")
    stdin = stdin or sys.stdin.buffer
    seen = None
    if source is None:
        settings = Settings(specials=ordered_specials(options.specials))
        sample, measured = None, _measured(tokenizers, (), settings, options)
    else:
        if inputs is None:
            tallies = by_parts.place.path if by_parts is not None else None
            inputs = source.inputs(stdin=stdin, on_skip=listener.note, leave_out=tallies)
        is_sampled = options.differences is not None or "code" in options.probes
        sample = Sample.shared(len(inputs.items)) if is_sampled else None
        seen = beginnings(len(inputs.items))
        field = source.text_field if source.documents == "jsonl" else None
        settings = Settings(source.documents, field, ordered_specials(options.specials))
        if by_parts is None:
            from bpe_cli.corpus import reading_each

            with reading_each(source, inputs, "comparing", listener, stdin=stdin) as entries:
                measured = _measured(tokenizers, _watched(entries, sample, seen), settings, options)
        else:
            from bpe_cli.jobs.tally_parts import measured_by_parts, sample_beginnings

            _check_by_parts(options)
            measured = measured_by_parts(
                tokenizers, chosen or tokenizers, source, inputs, settings, options.specials, options.threads,
                by_parts, listener,
            )  # fmt: skip
            sample_beginnings(seen, source, inputs.items[:MOST_INPUTS])
            if sample is not None:
                sample_beginnings(sample, source, inputs.items)
    return replace(
        measured,
        probes=_probes(tokenizers, sample, options, stdin) if options.probes or options.words else None,
        overlaps=_overlaps(tokenizers, measured) if options.overlap else (),
        disagreements=_disagreements(tokenizers, sample, options),
        cut_clusters=cut_clusters(tokenizers, seen) if seen is not None else (),
    )


def _measured(
    tokenizers: Sequence[Tokenizer],
    entries: Iterable[tuple[str, Iterable[Block]]],
    settings: Settings,
    options: CompareOptions,
) -> Comparison:
    return measure(
        tokenizers, entries, specials=options.specials, threads=options.threads, speed=options.speed, settings=settings
    )


def _watched(
    entries: Iterable[tuple[str, Iterable[Block]]], sample: Sample | None, seen: Sample
) -> Iterator[tuple[str, Iterable[Block]]]:
    """Pass on inputs, and keep the beginnings of the first ones; of all, more if that is asked for."""
    for number, (name, blocks) in enumerate(entries):
        watched = seen.watch(name, blocks) if number < MOST_INPUTS else blocks
        yield name, watched if sample is None else sample.watch(name, watched)


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
    from bpe_cli.reports.comparison.probe_code import probe_code
    from bpe_cli.reports.comparison.probe_data import pairs_of, probe_data
    from bpe_cli.reports.comparison.probe_languages import probe_languages
    from bpe_cli.reports.comparison.probe_numbers import probe_numbers
    from bpe_cli.support.samples import samples

    languages = code = data = numbers = words = None
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
        code = probe_code(tokenizers, files, specials=options.specials, source=origin, threads=threads)
    if "data" in options.probes:
        folder = options.pairs
        pairs = pairs_of(samples("pairs")) if folder is None else pairs_of(_files(folder, stdin), folder)
        if not pairs:
            raise InputError(f"{folder} has no NAME.json with a NAME.yaml beside it")
        data = probe_data(tokenizers, pairs, source=BUILT_IN if folder is None else folder, threads=threads)
    if "numbers" in options.probes:
        numbers = probe_numbers(tokenizers, threads=threads)
    if options.words:
        from bpe_cli.corpus.given_words import read_words
        from bpe_cli.reports.comparison.probe_words import probe_words

        words = probe_words(tokenizers, read_words(options.words, stdin), threads=threads)
    return Probes(languages, code, data, numbers, words)


def _files(folder: str, stdin: BinaryIO) -> dict[str, bytes]:
    """Read the JSON and YAML files of a folder."""
    from bpe_cli.corpus.opening import read_whole

    try:
        names = sorted(name for name in os.listdir(folder) if name.lower().endswith((".json", ".yaml", ".yml")))
    except OSError as error:
        raise cannot_read(folder, error) from error
    return {name: read_whole(os.path.join(folder, name), stdin=stdin) for name in names}
