"""Train a tokenizer on a corpus or on saved counts, and write it to a file.

Length: the job, and the library's call of it, whose options are checked one by one.
"""

from __future__ import annotations

import os
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from bpe_cli.errors import UsageError
from bpe_cli.jobs.count import check_matches, count_corpus, load_counts, save_counts
from bpe_cli.jobs.files import Streams, Target, check_kept, check_outputs
from bpe_cli.jobs.languages import (
    Languages,
    are_chosen,
    by_language,
    check_alone,
    choices,
    load_languages,
    with_languages,
)
from bpe_cli.jobs.mixing import Mixture, NamedCorpus, Sampled, Weight, mixed, number_of
from bpe_cli.jobs.spilling import Counted, CountsOnDisk, count_within, in_memory
from bpe_cli.jobs.train_sizes import held_out_read, measured_curve, paths_of_sizes, trained_sizes
from bpe_cli.support.core_arguments import list_of, one_of, pair_of, whole_number, wrong_type
from bpe_cli.support.listening import SILENCE, Listener, by_totals, heard
from bpe_cli.support.messages import did_you_mean, nearest, plural
from bpe_cli.support.ordered_threads import usable_threads
from bpe_cli.trainers import ALGORITHMS, TRAINERS, compats_of, trainer_for, trainer_of
from bpe_cli.trainers.base import Options, Trained, Trainer, check_numbers, sized
from bpe_cli.trainers.base import sample as sampled
from bpe_cli.trainers.counts import DEFAULT_MAX_MEMORY
from bpe_cli.trainers.presets import preset_of, with_preset

if TYPE_CHECKING:
    from bpe_cli import _core
    from bpe_cli.corpus import Source
    from bpe_cli.corpus.source import Documents
    from bpe_cli.engines.base import Engine
    from bpe_cli.jobs.files import Destination
    from bpe_cli.jobs.parts.doing import DoneParts, PartsFolder
    from bpe_cli.reports.vocabulary_curve import VocabularyCurve
    from bpe_cli.results import SizesReport
    from bpe_cli.support.blocks import Block
    from bpe_cli.teaching.steps import Steps
    from bpe_cli.tokenizer import Tokenizer

    Corpus: TypeAlias = Iterable[str | bytes] | os.PathLike[str] | Iterable[os.PathLike[str]]


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
            size = plural(self.trained.tokenizer.vocab_size, "token")
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
    read = [*(("the counts", path) for path in kept_counts), *held_out_read(job.held_out, streams)]
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
        counts, options = add_up(place, options, job.max_memory, engine=engine, listener=listener)
    elif are_chosen(options):
        counts, options = _counted_languages(job, outputs, target, listener, streams)
    elif job.from_counts:
        counts, options = load_counts(job.from_counts, options, job.max_memory, listener=listener)
    else:

        def counted_in(source: Source) -> Counted:
            return _counted(source, options, job, outputs, target, listener, streams)

        if job.corpora:
            named = [(each.name, counted_in(each.source)) for each in job.corpora]
            counts = mixed(named, job.mixture, job.max_memory, listener=listener)
        else:
            counts = counted_in(job.source or Source())
    with counts if isinstance(counts, CountsOnDisk) else nullcontext():
        return _with_counts(counts, options, job, target, listener, streams, on_counted)


def _counted(
    source: Source,
    options: Options,
    job: TrainJob,
    outputs: list[tuple[str, str | None]],
    target: Target | None,
    listener: Listener,
    streams: Streams,
) -> Counted:
    """Count a corpus, or what is drawn of it."""
    return count_corpus(
        source, options, max_memory=job.max_memory, threads=job.threads, outputs=outputs, target=target,
        sampled=job.sampled, listener=listener, streams=streams,
    )  # fmt: skip


def _counted_languages(
    job: TrainJob,
    outputs: list[tuple[str, str | None]],
    target: Target | None,
    listener: Listener,
    streams: Streams,
) -> tuple[Counted, Options]:
    """Count languages and their development sets, or load their counts."""
    said = job.languages
    names, developed = said.names(job.corpora), [each.name for each in said.development]
    options = with_languages(job.options, names, ratios=said.ratios, development=developed)

    def counted(corpora: Sequence[NamedCorpus], job: TrainJob) -> list[tuple[str, Counted]]:
        return [
            (each.name, _counted(each.source, options, job, outputs, target, listener, streams)) for each in corpora
        ]

    if said.counts:
        training, options = load_languages(said.counts, options, job.max_memory)
    else:
        training = counted(job.corpora, job)
    development = counted(said.development, replace(job, sampled=None))
    table = by_language(training, development, names, job.max_memory, listener=listener)
    return table, options


def _check_corpora(job: TrainJob) -> None:
    """Check that what is said of corpora can be done.

    Raises:
        UsageError: if not.
    """
    names = [each.name for each in job.corpora]
    job.mixture.check_names(names)
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
            raise UsageError(f"{name} lies in the folder of the counts", hint="name another file")
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
        done = replace(_written(trained, options, job, target, counts), steps=steps)
        return replace(done, curve=_curve(job, [(trained.tokenizer.vocab_size, trained)], listener, streams))
    each_size = trained_sizes(counts, options, job.sizes, threads=job.threads, listener=listener)
    targets = [None if path is None else Target(path) for path in paths_of_sizes(job.sizes, target)]
    files = tuple(
        _written(trained, sized(options, size), job, own, counts)
        for size, own, trained in zip(job.sizes, targets, each_size, strict=True)
    )
    trained_files = [(size, each.trained) for size, each in zip(job.sizes, files, strict=True) if each.trained]
    return TrainedFile(counts.total, counts.unique, sizes=files, curve=_curve(job, trained_files, listener, streams))


def _curve(
    job: TrainJob, trained: Sequence[tuple[int, Trained]], listener: Listener, streams: Streams
) -> VocabularyCurve | None:
    if job.held_out is None:
        return None
    tokenizers = [(size, each.tokenizer) for size, each in trained]
    return measured_curve(
        tokenizers, job.held_out, job.d_model, threads=job.threads, listener=listener, streams=streams
    )


def _written(
    trained: Trained, options: Options, job: TrainJob, target: Target | None, counts: _core.Counts
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
    return TrainedFile(
        counts.total, counts.unique, trained, options.vocab_size, dead, path=None if target is None else target.path
    )


# -- the library's call ----------------------------------------------------------------------------


@overload
def train(
    corpus: Corpus | Mapping[str, Corpus],
    algorithm: str = "bbpe",
    *,
    documents: Documents | None = None,
    field: str = "text",
    member: str | None = None,
    counts_dir: str | os.PathLike[str] | None = None,
    share: None = None,
    engine: str = "local",
    processes: int | None = None,
    max_memory: int = DEFAULT_MAX_MEMORY,
    threads: int = 1,
    target: str | None = None,
    weights: Mapping[str, Weight] | None = None,
    alpha: Weight | None = None,
    development: Mapping[str, Corpus] | None = None,
    ratios: Mapping[str, float] | None = None,
    sample: int | None = None,
    seed: int = 0,
    sizes: None = None,
    held_out: None = None,
    d_model: None = None,
    listener: Listener = SILENCE,
    **options: Any,
) -> Tokenizer: ...
@overload
def train(
    corpus: Corpus | Mapping[str, Corpus],
    algorithm: str = "bbpe",
    *,
    documents: Documents | None = None,
    field: str = "text",
    member: str | None = None,
    counts_dir: str | os.PathLike[str] | None = None,
    share: None = None,
    engine: str = "local",
    processes: int | None = None,
    max_memory: int = DEFAULT_MAX_MEMORY,
    threads: int = 1,
    target: str | None = None,
    weights: Mapping[str, Weight] | None = None,
    alpha: Weight | None = None,
    development: Mapping[str, Corpus] | None = None,
    ratios: Mapping[str, float] | None = None,
    sample: int | None = None,
    seed: int = 0,
    sizes: Sequence[int],
    held_out: Corpus | None = None,
    d_model: int | None = None,
    listener: Listener = SILENCE,
    **options: Any,
) -> SizesReport: ...
@overload
def train(
    corpus: Corpus,
    algorithm: str = "bbpe",
    *,
    documents: Documents | None = None,
    field: str = "text",
    member: str | None = None,
    counts_dir: str | os.PathLike[str],
    share: tuple[int, int],
    engine: str = "local",
    processes: int | None = None,
    max_memory: int = DEFAULT_MAX_MEMORY,
    threads: int = 1,
    target: str | None = None,
    weights: None = None,
    alpha: None = None,
    development: None = None,
    ratios: None = None,
    sample: None = None,
    seed: int = 0,
    sizes: None = None,
    held_out: None = None,
    d_model: None = None,
    listener: Listener = SILENCE,
    **options: Any,
) -> None: ...
def train(
    corpus: Corpus | Mapping[str, Corpus],
    algorithm: str = "bbpe",
    *,
    documents: Documents | None = None,
    field: str = "text",
    member: str | None = None,
    counts_dir: str | os.PathLike[str] | None = None,
    share: tuple[int, int] | None = None,
    engine: str = "local",
    processes: int | None = None,
    max_memory: int = DEFAULT_MAX_MEMORY,
    threads: int = 1,
    target: str | None = None,
    weights: Mapping[str, Weight] | None = None,
    alpha: Weight | None = None,
    development: Mapping[str, Corpus] | None = None,
    ratios: Mapping[str, float] | None = None,
    sample: int | None = None,
    seed: int = 0,
    sizes: Sequence[int] | None = None,
    held_out: Corpus | None = None,
    d_model: int | None = None,
    listener: Listener = SILENCE,
    **options: Any,
) -> Tokenizer | SizesReport | None:
    """Train a tokenizer on texts, or on files.

    >>> tokenizer = train(["low lower lowest"] * 3, vocab_size=258)
    >>> [tokenizer.token_bytes(token_id) for token_id in (256, 257)]
    [b'lo', b'low']
    >>> train(["hug pug hugs"], "bpe", vocab_size=20, compat="sentencepiece").model.kind
    'bpe-scores'
    >>> several = train(["low lower lowest"] * 3, sizes=[257, 258], held_out=["lowest"])
    >>> several.tokenizers[258] == tokenizer, [each.tokens for each in several.curve.sizes]
    (True, [5, 4])

    Args:
        corpus: Texts, each a document (``str``, or ``bytes`` in UTF-8), from a list or any iterable; or files: one
            ``pathlib.Path`` or several. A ``str`` is always a text, so files must be given as paths. Folders and glob
            patterns work as on the command line. Corpora with names are a mapping of these.
        algorithm: One of the algorithms of ``bpe train -a``. Its option ``compat`` follows another library's rules.
        documents: What counts as a document: the ``whole`` file, each of its ``lines``, or a field of each line of
            ``jsonl``. None means lines for the algorithms that learn from lines, and whole files for all others.
        field: The JSON field or the table column that holds the text.
        member: The ending of the tar members that are documents. None means ``txt``, and skips archives found in
            folders.
        counts_dir: A folder that keeps the counts of the files, part by part. Counts that are already there are used
            again; the tokenizer is the same.
        share: (K, N) counts every N-th part only, starting with the K-th, when N machines share the work. Nothing is
            trained then, and None is returned; a last call without it trains.
        engine: What runs the parts, as for ``prepare``: ``local``, ``ray`` or ``ray://HOST:PORT``. Never changes the
            result.
        processes: Number of parts counted at a time, each in a process of its own. None means one process with
            ``threads``, or as many as the cluster has room for.
        max_memory: Bytes of memory that the counts may take.
        threads: Number of threads. Never changes the result.
        target: The library that must be able to read the tokenizer exactly: ``llama.cpp``, ``transformers``,
            ``tiktoken`` or ``sentencepiece``. It sets the options that are not given.
        weights: How often a corpus with a name counts: a number such as 3, 1.5 or "3/2"; 1 if not given. Fractions
            are brought to whole numbers, by the same factor for all corpora.
        alpha: Count corpora so that their shares p of all text become proportional to p ** alpha (temperature
            sampling), 0 to 1, in place of weights.
        development: With the option ``parity``: the development set of each corpus, texts that say the same in all
            languages. The one that needs most tokens there chooses the next merge.
        ratios: With ``parity``, without development sets: what the compression of a corpus is divided by, 1 if not
            given. The one with the lowest result chooses.
        sample: The number of documents to draw from each corpus; None for all of them.
        seed: Where the draw begins.
        sizes: Train vocabularies of several sizes on the same counts, in one training where sizes nest, in place of
            ``vocab_size``.
        held_out: Texts or files to measure the vocabularies of several sizes on; they are not trained on.
        d_model: The dimension of an embedding, whose parameters are measured too.
        listener: Receives progress and notes.
        options: The algorithm's own options: ``bpe train -a ALGORITHM --help-algorithm`` lists them. Stages and
            patterns may be given by name, as on the command line.

    Returns:
        The tokenizer; None if only a share of the parts was counted. With ``sizes``, the ``tokenizers`` by their sizes,
        and the ``curve`` that the held-out text gives, with ``to_json()``, ``to_markdown()`` and ``to_svg()``.

    Raises:
        TypeError: if the corpus is a single str, or neither texts nor paths.
        UsageError: if the algorithm or an option does not exist, a value has the wrong type, or an option about parts
            is given without ``counts_dir``.
        TrainingError: if there is no text, or the vocabulary is too small for its initial tokens.
        InputError: if a file cannot be read.
    """
    for name, value in (("algorithm", algorithm), ("field", field), ("member", member or "")):
        if not isinstance(value, str):
            raise wrong_type(name, "a str", value)
    if documents is not None:
        one_of("documents", documents, ("whole", "lines", "jsonl"))
    threads = usable_threads(whole_number("threads", threads, 1))
    max_memory, listener = whole_number("max_memory", max_memory, 1), heard(listener)
    if target is not None:
        from bpe_cli.jobs.targets import chosen_for

        algorithm, chosen = chosen_for(target, algorithm)
        options = chosen | options
    wanted = None if sizes is None else _sizes_of(sizes, options)
    if wanted is None and (held_out is not None or d_model is not None):
        raise UsageError("`held_out` and `d_model` measure several sizes", hint="`sizes=[8000, 16000]` names them")
    made = options_for(algorithm, options if wanted is None else options | {"vocab_size": wanted[-1]})
    trainer, runner = trainer_for(made), _engine(engine, processes, threads)
    if counts_dir is None and (share is not None or engine != "local" or processes is not None):
        name = "share" if share is not None else "engine" if engine != "local" else "processes"
        raise UsageError(f"`{name}` needs `counts_dir`")
    named = corpus if isinstance(corpus, Mapping) else {}
    mixture = Mixture(
        {name: number_of(f"the weight of {name!r}", weight) for name, weight in (weights or {}).items()},
        None if alpha is None else number_of("`alpha`", alpha),
    )
    mixture.check_names(list(named))
    drawn = None if sample is None else Sampled(whole_number("sample", sample, 1), whole_number("seed", seed))
    kept = "`counts_dir`" if counts_dir is not None else None
    for name, value in (("development", development), ("ratios", ratios)):
        if value is not None and not isinstance(value, Mapping):
            raise wrong_type(name, "a mapping by the names of corpora", value)
    check_alone(made, mixture, development=development, ratios=ratios, kept=kept)
    if are_chosen(made):
        made = with_languages(made, list(named), ratios=ratios or {}, development=list(development or ()))
    if counts_dir is not None and (named or drawn is not None):
        raise UsageError("`counts_dir` keeps counts of all documents of one corpus", hint="leave it out")

    def source_of(items: Iterator[object]) -> Source:
        from bpe_cli.corpus import Source

        return Source(tuple(map(_path, items)), documents=documents or "whole", field=field, member=member)

    def counted_in(one: object, drawn: Sampled | None = drawn) -> Counted:
        first, items = _looked_into(one)
        if isinstance(first, os.PathLike):
            return count_corpus(
                source_of(items), made, max_memory=max_memory, threads=threads, sampled=drawn, listener=listener
            )
        blocks = _blocks(items, trainer.takes_lines(made))
        chosen = blocks if drawn is None else sampled(blocks, drawn.size, drawn.seed)
        return count_within(trainer, chosen, made, max_memory=max_memory, threads=threads, listener=listener)

    if are_chosen(made):
        training = [(name, counted_in(one)) for name, one in named.items()]
        tuned = [(name, counted_in(one, None)) for name, one in (development or {}).items()]
        counted = by_language(training, tuned, list(named), max_memory, listener=listener)
    elif named:
        each = [(name, counted_in(one)) for name, one in named.items()]
        counted = mixed(each, mixture, max_memory, listener=listener)
    elif counts_dir is not None:
        first, items = _looked_into(corpus)
        if not isinstance(first, os.PathLike):
            raise UsageError("`counts_dir` is for files, and the corpus is texts", hint="write them to a file")
        from bpe_cli.jobs.count_parts import add_up, count_parts
        from bpe_cli.jobs.parts import Share
        from bpe_cli.jobs.parts.doing import PartsFolder

        place = PartsFolder(os.fsdecode(counts_dir), None if share is None else Share(*pair_of("share", share)))
        source = source_of(items)
        count_parts(source, made, place, max_memory=max_memory, engine=runner, listener=listener)
        if share is not None:
            return None
        counted, made = add_up(place.path, made, max_memory, engine=runner, listener=listener)
    else:
        counted = counted_in(corpus)
    counts = in_memory(counted, max_memory)
    if wanted is None:
        tokenizer = trainer.train(counts, made, threads=threads).tokenizer
        _check_target(tokenizer, target)
        return tokenizer
    several = trained_sizes(counts, made, wanted, threads=threads, listener=listener)
    tokenizers = {size: trained.tokenizer for size, trained in zip(wanted, several, strict=True)}
    for tokenizer in tokenizers.values():
        _check_target(tokenizer, target)
    return _measured(tokenizers, held_out, d_model, source_of, threads, listener)


def _sizes_of(sizes: Sequence[int], options: dict[str, Any]) -> tuple[int, ...]:
    """Return several sizes, ascending."""
    wanted = tuple(sorted(whole_number("sizes", size, 1) for size in list_of("sizes", sizes, "numbers")))
    if not wanted or len(set(wanted)) < len(wanted):
        raise UsageError("`sizes` are different numbers, one at least", hint="sizes=[8000, 16000, 32000]")
    if "vocab_size" in options:
        raise UsageError("`sizes` and `vocab_size` both say how many tokens", hint="give one of them")
    return wanted


def _check_target(tokenizer: Tokenizer, target: str | None) -> None:
    if target is not None:
        from bpe_cli.jobs.targets import check_target

        check_target(tokenizer, target, finished=True)


def _measured(
    tokenizers: dict[int, Tokenizer],
    held_out: Corpus | None,
    d_model: int | None,
    source_of: Callable[[Iterator[object]], Source],
    threads: int,
    listener: Listener,
) -> SizesReport:
    """Return several tokenizers with what held-out text tells of them."""
    from bpe_cli.results import SizesReport

    if held_out is None:
        return SizesReport(tokenizers)
    first, items = _looked_into(held_out)
    text = source_of(items) if isinstance(first, os.PathLike) else list(_blocks(items, False))
    dimension = None if d_model is None else whole_number("d_model", d_model, 1)
    curve = measured_curve(tokenizers.items(), text, dimension, threads=threads, listener=listener)
    return SizesReport(tokenizers, curve)


def _engine(name: str, processes: int | None, threads: int) -> Engine:
    from bpe_cli.engines import engine_named

    if not isinstance(name, str):
        raise wrong_type("engine", "a str", name)
    count = None if processes is None else whole_number("processes", processes, 1)
    return engine_named(name, threads if count is None and name == "local" else count)


def _looked_into(corpus: object) -> tuple[object, Iterator[object]]:
    """Return the first text of a corpus, and an iterator over all of it."""
    if isinstance(corpus, (str, bytes, bytearray, memoryview)):
        raise TypeError(
            "the corpus is one text, and each of its letters would be a document: give a list of texts, [text], "
            "or a file as pathlib.Path(name)"
        )
    if isinstance(corpus, os.PathLike):
        return corpus, iter((corpus,))
    if not isinstance(corpus, Iterable):
        raise TypeError(f"the corpus is texts or paths, and not of type {type(corpus).__name__}")
    items = iter(corpus)
    first = next(items, None)
    return first, iter(()) if first is None else chain((first,), items)


def _path(item: object) -> str:
    if not isinstance(item, os.PathLike):
        raise TypeError(f"the corpus begins with a path, and goes on with a {type(item).__name__}: give paths alone")
    return os.fsdecode(item)


_BLOCK_BYTES = 1 << 23


def _blocks(texts: Iterator[object], as_lines: bool) -> Iterator[Block]:
    """Yield texts as blocks of documents."""
    from bpe_cli.support.blocks import Block

    waiting: list[bytes] = []
    size = 0
    for text in texts:
        if not isinstance(text, (str, bytes, bytearray, memoryview)):
            raise TypeError(f"a text of the corpus is a str or bytes, and not of type {type(text).__name__}")
        data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else bytes(text)
        waiting += data.splitlines() if as_lines else [data]
        size += len(data)
        if size >= _BLOCK_BYTES:
            yield Block.of(waiting)
            waiting, size = [], 0
    if waiting:
        yield Block.of(waiting)


def is_needed(each: Field[Any]) -> bool:
    """Return whether an option has no default."""
    return each.default is MISSING and each.default_factory is MISSING


def check_compat(algorithm: str, compat: str | None) -> None:
    """Check that an algorithm can follow the rules of another library.

    Raises:
        UsageError: if it cannot; the hint lists the libraries that it can follow, and the algorithms that can
            follow these rules.
    """
    known = compats_of(algorithm)
    if compat is not None and compat not in known:
        own = f"it has {', '.join(known)}" if known else "there are no other rules for it"
        others = ", ".join(f'`algorithm="{other}"`' for other in ALGORITHMS if compat in compats_of(other))
        able = f"; {others} can follow {compat}" if others else ""
        raise UsageError(f'`algorithm="{algorithm}"` has no `compat="{compat}"`', hint=own + able)


def options_for(algorithm: str, given: dict[str, Any]) -> Options:
    """Make an algorithm's options from keywords, as ``train`` takes them.

    Raises:
        UsageError: if there is no such algorithm or option, or a value is not of its kind.
    """
    if algorithm not in TRAINERS:
        hint = did_you_mean(nearest(str(algorithm), TRAINERS), f"there are {', '.join(TRAINERS)}")
        raise UsageError(f"there is no algorithm {algorithm!r} to train", hint=hint)
    compat = given.get("compat")
    if compat is not None:
        check_compat(algorithm, compat)
    trainer, preset = trainer_of(algorithm, compat), preset_of(algorithm, compat)
    values = {name: value for name, value in given.items() if name != "compat"}
    values = values | trainer.chosen_by(algorithm, compat) if preset is None else with_preset(preset, values)
    return options_by(trainer, algorithm, values)


def options_by(trainer: Trainer[Any], algorithm: str, given: dict[str, Any]) -> Options:
    """Make a trainer's options; ``algorithm`` is what messages call it.

    Raises:
        UsageError: if there is no such option, a value is not of its kind or too large, or one is missing.
    """
    known = {each.name: each for each in fields(trainer.Options)}
    values = dict(given)
    if "pattern" in values and "pattern" not in known and "pre_tokenizer" in known:
        if "pre_tokenizer" in values:
            raise UsageError(
                "`pattern` and `pre_tokenizer` both say how text is cut",
                hint="give one of them, and leave the other out",
            )
        values["pre_tokenizer"] = _split_by(values.pop("pattern"))
    kinds = typing.get_type_hints(trainer.Options)
    for name, value in values.items():
        if name not in known:
            raise UsageError(f"{algorithm} has no option {name!r}", hint=f"it has {', '.join(known)}")
        values[name] = _of_kind(name, value, kinds[name])
    needed = [each.name for each in known.values() if is_needed(each) and each.name not in values]
    if needed:
        raise UsageError(f"{algorithm} needs {', '.join(needed)}", hint=f"{needed[0]}=..., as in vocab_size=32000")
    made: Options = trainer.Options(**values)
    check_numbers(made)
    trainer.cutter(made)  # an expression that does not compile is refused before a corpus is read
    return made


def _split_by(pattern: object) -> tuple[object, ...]:
    """Return the pre-tokenizer for a pattern, for algorithms without an option for patterns."""
    from bpe_cli.stages import Split

    expression = _of_kind("pattern", pattern, str | None)
    return (Split(str(expression)),) if expression else ()


_KINDS: dict[object, str] = {
    bool: "True or False", int: "a whole number", float: "a number", str: "a text", type(None): "None",
}  # fmt: skip


def _of_kind(name: str, value: object, kind: Any) -> object:
    """Return the value of an option: patterns and stages by their names, lists as tuples."""
    if isinstance(value, str) and name in ("normalizer", "pre_tokenizer"):
        from bpe_cli.stages.named_stages import normalizers_named, pre_tokenizers_named

        return (normalizers_named if name == "normalizer" else pre_tokenizers_named)(value)
    if isinstance(value, str) and name in ("pattern", "run_pattern"):
        from bpe_cli.stages.patterns import resolve_pattern

        return "" if value in ("", "none") else resolve_pattern(value)
    if not _fits(value, kind):
        raise UsageError(f"{name} is {_described(kind)}, not {value!r}")
    return tuple(value) if isinstance(value, list) else value


def _is_union(kind: Any) -> bool:
    return isinstance(kind, types.UnionType) or typing.get_origin(kind) is typing.Union


def _fits(value: object, kind: Any) -> bool:
    if _is_union(kind):
        return any(_fits(value, each) for each in typing.get_args(kind))
    if typing.get_origin(kind) is tuple:
        return isinstance(value, (list, tuple)) and all(_fits(each, typing.get_args(kind)[0]) for each in value)
    if typing.get_origin(kind) is Literal:
        return value in typing.get_args(kind)
    if kind in (int, float):
        return isinstance(value, (int, kind)) and not isinstance(value, bool)
    return isinstance(value, kind)


def _described(kind: Any) -> str:
    if _is_union(kind):
        return " or ".join(map(_described, typing.get_args(kind)))
    if typing.get_origin(kind) is Literal:
        return "one of " + ", ".join(map(repr, typing.get_args(kind)))
    if typing.get_origin(kind) is tuple:
        return {str: "a list of texts", float: "a list of numbers"}.get(typing.get_args(kind)[0], "a list of stages")
    return _KINDS.get(kind, "a stage")
