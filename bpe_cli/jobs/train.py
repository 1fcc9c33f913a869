"""Train a tokenizer on a corpus or on saved counts, and write it to a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from bpe_cli.errors import UsageError
from bpe_cli.jobs.count import check_matches, count_corpus, load_counts, save_counts
from bpe_cli.jobs.files import Streams, Target, check_kept, check_outputs
from bpe_cli.jobs.languages import Languages, are_chosen, check_alone, choices, counted_languages
from bpe_cli.jobs.mixing import Mixture, NamedCorpus, Sampled, mixed
from bpe_cli.jobs.spilling import Counted, CountsOnDisk
from bpe_cli.jobs.train_sizes import held_out_read, measured_curve, paths_of_sizes, trained_sizes
from bpe_cli.support.listening import SILENCE, Listener, by_totals
from bpe_cli.support.messages import plural
from bpe_cli.trainers import trainer_for
from bpe_cli.trainers.base import Options, Trained, sized
from bpe_cli.trainers.counts import DEFAULT_MAX_MEMORY

if TYPE_CHECKING:
    from bpe_cli import _core
    from bpe_cli.corpus import Source
    from bpe_cli.engines.base import Engine
    from bpe_cli.jobs.files import Destination
    from bpe_cli.jobs.parts.doing import DoneParts, PartsFolder
    from bpe_cli.reports.vocabulary_curve import VocabularyCurve
    from bpe_cli.teaching.steps import Steps


@dataclass(frozen=True, slots=True)
class TrainJob:
    """What is trained on what, and what is kept of it.

    Attributes:
        options: What to train; they choose the algorithm.
        source: The corpus; None if there are counts, or corpora.
        corpora: Corpora with names, in place of one without.
        mixture: How much each of them counts.
        sampled: How many documents are drawn of each corpus; None for all.
        languages: What is said of languages that choose the merges, besides their corpora.
        from_counts: Files of counts to add up in place of a corpus.
        counts_folder: The folder in which parts of the corpus are counted, of which those that are there are not
            counted again. Without a corpus all its parts are added up. None to count in one run.
        counts_out: Where to save the counts; None for nowhere.
        file_format: The format of the tokenizer; None to count only.
        target: The reader whose file must hold it exactly: one of ``targets.TARGETS``; None for any.
        sizes: The sizes of several vocabularies, ascending, in place of the options' one. Their files are called by the
            output, in which each size stands for ``{size}``.
        held_out: Text to measure the vocabularies on; None for none.
        d_model: The dimension of an embedding, whose cost is measured too; None to leave it out.
        pictures: The files that pictures of these measurements will be written to.
        steps: Whether to write the textbook's training down.
        pairs: The number of candidates to show for each step; None if not requested.
        page: The file that a page of the steps will be written to; None for none.
        pattern: The split pattern that was asked for: it must match something in the corpus; None if none was.
        max_memory: Bytes of memory that the counts may take; more of them go to temporary files.
        threads: Number of threads. Never changes the result.
        engine: What counts the parts; None for processes of this machine, as many as ``threads``. Never changes the
            result.
    """

    options: Options
    source: Source | None = None
    from_counts: tuple[str, ...] = ()
    counts_folder: PartsFolder | None = None
    counts_out: str | None = None
    file_format: str | None = "bpe.json"
    steps: bool = False
    pairs: int | None = None
    page: str | None = None
    pattern: str | None = None
    max_memory: int = DEFAULT_MAX_MEMORY
    threads: int = 1
    engine: Engine | None = None
    target: str | None = None
    sizes: tuple[int, ...] = ()
    held_out: Source | None = None
    d_model: int | None = None
    pictures: tuple[str, ...] = ()
    corpora: tuple[NamedCorpus, ...] = ()
    mixture: Mixture = field(default_factory=lambda: Mixture({}))
    sampled: Sampled | None = None
    languages: Languages = field(default_factory=Languages)

    @property
    def losses(self) -> list[str]:
        """What its file need not hold: ids, which nobody knows yet, and what a program gives the reader."""
        if self.target is None:
            return ["ids"]
        from bpe_cli.jobs.targets import target_named

        target = target_named(self.target)
        return sorted({"ids", *(target.given if self.file_format == target.format else ())})


@dataclass(frozen=True, slots=True)
class TrainedFile:
    """What was trained, and on how much.

    Attributes:
        pieces: How many pieces the corpus has.
        different: How many of them are different; None if parts were counted, and not added up.
        trained: The tokenizer, with what it is made of; None if only counting was asked for.
        wanted: How many tokens it was to have; None for any number.
        dead_merges: How many merges make or use a special token, so that no text is merged by them.
        steps: The textbook's training, if it was asked for; ``views.training_steps`` writes it out.
        parts: What stands in the folder of counts, if parts were counted.
        path: The file of the tokenizer; None if there is none.
        sizes: What was trained of each of several sizes, ascending; ``trained`` is None then.
        curve: What the held-out text tells; None if there is none.
    """

    pieces: int
    different: int | None
    trained: Trained | None = None
    wanted: int | None = None
    dead_merges: int = 0
    steps: Steps | None = None
    parts: DoneParts | None = None
    path: str | None = None
    sizes: tuple[TrainedFile, ...] = ()
    curve: VocabularyCurve | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user might not expect, a sentence each."""
        notes = []
        if self.trained is not None and self.trained.shortfall is not None:
            asked = f", not {self.wanted:,}" if self.wanted else ""
            size = plural(self.trained.size, "token")
            notes.append(f"the vocabulary has {size}{asked}: {self.trained.shortfall}")
        if self.dead_merges:
            verb = "makes or uses a special token and is" if self.dead_merges == 1 else (
                "make or use a special token and are"
            )  # fmt: skip
            merges = plural(self.dead_merges, "merge")
            notes.append(f"{merges} {verb} dead; `split_special` keeps its text out of training")
        return tuple(notes)


def train_file(
    job: TrainJob,
    output: Destination | None = None,
    *,
    listener: Listener = SILENCE,
    streams: Streams | None = None,
    on_counted: Callable[[TrainedFile], None] | None = None,
) -> TrainedFile:
    """Count a corpus, train on it, and write the tokenizer.

    Args:
        job: What is done.
        output: A file, which appears when all of it is there, or a binary stream; None to write no tokenizer.
        listener: Receives progress and notes.
        streams: The streams around the job.
        on_counted: Called when parts were counted, and when the counts were saved, with the numbers of pieces.

    Raises:
        UsageError: if the pattern matches nothing in the corpus, saved counts were made with other options, or an
            output would replace what is read.
        TrainingError: if there is nothing to train on, or the vocabulary has no room.
        FormatError: if the file cannot hold such a tokenizer; that is found out before the work begins.
        InputError: if an input cannot be read.
        OutputError: if a file cannot be written.
    """
    from bpe_cli.corpus import Source

    options, trainer, streams = job.options, trainer_for(job.options), streams or Streams()
    target = None if output is None else Target.of(output)
    if job.sizes and job.steps:
        raise UsageError("`steps` shows the training of one size, and there are several", hint="leave `steps` out")
    _check_corpora(job)
    paths = paths_of_sizes(job.sizes, target) if job.sizes else [target.path if target else None]
    outputs = [
        *(("`output`", path) for path in paths), ("`counts_out`", job.counts_out), ("`page`", job.page),
        *(("`pictures`", path) for path in job.pictures),
    ]  # fmt: skip
    check_outputs(outputs)
    kept_counts = [*job.from_counts, *(path for _, path in job.languages.counts)]
    held_out = held_out_read(job.held_out, streams, several=len(job.sizes) > 1)
    read = [*(("the counts", path) for path in kept_counts), *held_out]
    check_kept(outputs, read, streams, target)
    if job.file_format is not None:
        from bpe_cli.formats import rehearse

        for size in job.sizes or (options.vocab_size,):
            untrained = trainer.untrained(sized(options, size))
            if job.target is not None:
                from bpe_cli.jobs.targets import check_target

                check_target(untrained, job.target, finished=False)
            rehearse(untrained, job.file_format, job.losses)
    if job.counts_folder is not None:
        from bpe_cli.engines.local import Local

        engine = job.engine or Local(job.threads)
        parts = _counted_parts(job, job.counts_folder, engine, outputs, target, listener, streams)
        if parts is not None:
            counted = TrainedFile(parts.total, None, parts=parts)
            if on_counted is not None:
                on_counted(counted)
            if job.file_format is None and job.counts_out is None:
                return counted
        from bpe_cli.jobs.count_parts import add_up

        place = job.counts_folder.path
        trains = job.file_format is not None
        counts, options = add_up(place, options, job.max_memory, engine=engine, trains=trains, listener=listener)
    elif job.from_counts:
        counts, options = load_counts(job.from_counts, options, job.max_memory, listener=listener)
    else:

        def counted_in(source: Source, sampled: Sampled | None, options: Options) -> Counted:
            return count_corpus(
                source, options, max_memory=job.max_memory, threads=job.threads, outputs=outputs, target=target,
                sampled=sampled, trains=job.file_format is not None, otherwise="" if job.corpora else None,
                listener=listener, streams=streams,
            )  # fmt: skip

        if are_chosen(options):
            counts, options = counted_languages(
                job.languages, job.corpora, options, counted_in, job.sampled, job.max_memory, listener=listener
            )
        elif job.corpora:
            named = ((each.name, counted_in(each.source, job.sampled, options)) for each in job.corpora)
            counts = mixed(named, job.mixture, options, job.max_memory, listener=listener)
        else:
            counts = counted_in(job.source or Source(), job.sampled, options)
    with counts if isinstance(counts, CountsOnDisk) else nullcontext():
        return _with_counts(counts, options, job, target, listener, streams, on_counted)


def _check_corpora(job: TrainJob) -> None:
    """Check that what is said of corpora can be done.

    Raises:
        UsageError: if not.
    """
    names = [each.name for each in job.corpora]
    job.mixture.check_names(names)
    job.mixture.check_used(job.options)
    said = job.languages
    keeps = "`counts_dir`" if job.counts_folder is not None else "`counts_out`" if job.counts_out is not None else None
    check_alone(job.options, job.mixture, development=said.development, ratios=said.ratios, kept=keeps)
    loaded = job.from_counts or said.counts
    kept = "`from_counts`" if loaded else "`counts_dir`" if job.counts_folder is not None else None
    if kept is not None and names:
        raise UsageError(f"`corpora` are counted in one run, and {kept} are counts already", hint="give one of them")
    if kept is not None and job.sampled is not None:
        raise UsageError(f"`sample` draws documents, and {kept} has counts of pieces", hint="give one of them")
    if sum("-" in each.source.paths for each in (*job.corpora, *said.development)) > 1:
        raise UsageError("stdin can be one corpus only", hint="name files for the others")


def _with_counts(
    counts: Counted,
    options: Options,
    job: TrainJob,
    target: Target | None,
    listener: Listener,
    streams: Streams,
    on_counted: Callable[[TrainedFile], None] | None,
) -> TrainedFile:
    """Do with counts what is asked for: save them, train on them."""
    loaded = job.from_counts or job.languages.counts  # a shard may have nothing for it
    pattern = None if job.file_format is None or loaded else job.pattern
    if pattern and not isinstance(counts, CountsOnDisk):
        check_matches(counts, pattern)
    counted = TrainedFile(counts.total, counts.unique)
    if job.counts_out is not None:
        save_counts(counts, options, job.counts_out)
        if on_counted is not None:
            on_counted(counted)
    if job.file_format is None:
        return counted
    if isinstance(counts, CountsOnDisk):
        counts = counts.load(job.max_memory)
        if pattern:
            check_matches(counts, pattern)
    return _train(counts, options, job, target, listener, streams)


def _counted_parts(
    job: TrainJob,
    folder: PartsFolder,
    engine: Engine,
    outputs: list[tuple[str, str | None]],
    target: Target | None,
    listener: Listener,
    streams: Streams,
) -> DoneParts | None:
    """Count the parts of the corpus that are not in the folder yet; None without a corpus."""
    from bpe_cli.jobs.count_parts import count_parts

    if folder.share is not None and (job.file_format is not None or job.counts_out is not None):
        raise UsageError(
            "a run that counts some of the parts trains nothing", hint="train when all are counted, without `share`"
        )
    inside = os.path.realpath(folder.path) + os.sep
    for name, path in outputs:
        if path is not None and os.path.realpath(path).startswith(inside):
            raise UsageError(f"{name} is in the folder of the counts", hint="name another file")
    if job.source is None:
        return None
    return count_parts(
        job.source, job.options, folder, max_memory=job.max_memory, engine=engine, outputs=outputs,
        target=target, listener=listener, streams=streams,
    )  # fmt: skip


def _train(
    counts: _core.Counts,
    options: Options,
    job: TrainJob,
    target: Target | None,
    listener: Listener,
    streams: Streams,
) -> TrainedFile:
    trainer = trainer_for(options)
    pieces = trainer.pieces(counts, options)
    steps = trainer.steps(counts, options) if job.steps else None
    if steps is not None and job.pairs:
        from bpe_cli.teaching.steps import Uncontested

        if isinstance(steps, Uncontested):
            raise UsageError("nothing competes in the steps of this algorithm", hint="leave `pairs` out")
    if not job.sizes:
        with listener.task("training", options.vocab_size or 0, "token") as advance:
            trained = trainer.train(counts, options, by_totals(advance), job.threads)
        for sentence in choices(trained, options):
            listener.note(sentence)
        done = replace(_written(trained, options, job, target, pieces), steps=steps)
        asked = options.vocab_size or trained.tokenizer.vocab_size
        return replace(done, curve=_curve(job, [(asked, trained)], listener, streams))
    each_size = trained_sizes(counts, options, job.sizes, threads=job.threads, listener=listener)
    targets = [None if path is None else Target(path) for path in paths_of_sizes(job.sizes, target)]
    files = tuple(
        _written(trained, sized(options, size), job, own, pieces)
        for size, own, trained in zip(job.sizes, targets, each_size, strict=True)
    )
    trained_files = [(size, each.trained) for size, each in zip(job.sizes, files, strict=True) if each.trained]
    return TrainedFile(*pieces, sizes=files, curve=_curve(job, trained_files, listener, streams))


def _curve(
    job: TrainJob, trained: Sequence[tuple[int, Trained]], listener: Listener, streams: Streams
) -> VocabularyCurve | None:
    if job.held_out is None:
        return None
    return measured_curve(trained, job.held_out, job.d_model, threads=job.threads, listener=listener, streams=streams)


def _written(
    trained: Trained, options: Options, job: TrainJob, target: Target | None, pieces: tuple[int, int]
) -> TrainedFile:
    """Write a tokenizer to its file."""
    from bpe_cli.formats import dump
    from bpe_cli.sinks.atomic import open_output, open_stdout
    from bpe_cli.tokenizer.special_tokens import dead_merges

    if job.target is not None:
        from bpe_cli.jobs.targets import check_target

        check_target(trained.tokenizer, job.target, finished=True)
    if target is not None:
        sources = [*([job.source] if job.source is not None else []), *(each.source for each in job.corpora)]
        paths = [path for source in sources for path in source.paths]
        signed = trainer_for(options).signed(trained.tokenizer, paths, target.path)
        content = dump(signed, job.file_format or "bpe.json", job.losses)[""]  # ids: nobody knows them yet
        with open_output(str(target.path)) if target.stream is None else open_stdout(target.stream) as out:
            out.write(content)
    dead = sum(1 for _ in dead_merges(trained.tokenizer.model, trained.tokenizer.withheld))
    return TrainedFile(*pieces, trained, options.vocab_size, dead, path=None if target is None else target.path)
