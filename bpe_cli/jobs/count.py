"""Count the pieces of a corpus; save the counts to a file, and load them from there.

What was kept is held against the options, so that nobody trains on what was cut otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from bpe_cli.errors import InputError, UsageError
from bpe_cli.jobs.cluster_notes import noting_clusters
from bpe_cli.jobs.files import Streams, Target, find_documents
from bpe_cli.jobs.spilling import Counted, CountsOnDisk, Spilling, count_within
from bpe_cli.stages.counting import ALL_MEMORY
from bpe_cli.stages.splitters import as_seen, show_pattern, slow_patterns_notes
from bpe_cli.support.listening import SILENCE, Listener
from bpe_cli.support.messages import listed, quote
from bpe_cli.trainers import trainer_for
from bpe_cli.trainers.base import Options, SplittingOptions, sample
from bpe_cli.trainers.counts import DEFAULT_MAX_MEMORY, new_counts

if TYPE_CHECKING:
    from bpe_cli import _core
    from bpe_cli.corpus import Source
    from bpe_cli.jobs.mixing import Sampled
    from bpe_cli.stages.counting import Cutting
    from bpe_cli.support.blocks import Block
    from bpe_cli.tokenizer import Tokenizer

    Outputs: TypeAlias = Sequence[tuple[str, str | None]]


def count_corpus(
    source: Source,
    options: Options,
    *,
    max_memory: int = DEFAULT_MAX_MEMORY,
    threads: int = 1,
    outputs: Outputs = (),
    target: Target | None = None,
    sampled: Sampled | None = None,
    trains: bool = True,
    otherwise: str | None = None,
    listener: Listener = SILENCE,
    streams: Streams | None = None,
) -> Counted:
    """Count the pieces of a corpus as its trainer cuts it.

    Args:
        source: The corpus; its documents are lines where the trainer learns from those.
        options: What is to be trained.
        max_memory: Bytes that the counts may take; more of them go to temporary files.
        threads: Number of threads. Never changes the result.
        outputs: The options that name files to write, and the files: no input may be one of them.
        target: Where the job writes, if that may be a stream.
        sampled: How many documents are drawn; None to count all of them.
        trains: Whether the counts are trained on at once, so that there must be some.
        otherwise: The hint for a file that is missing: None for the usual one, empty for none.
        listener: Receives progress and notes.
        streams: The streams around the job.

    Raises:
        InputError: if an input cannot be read.
        UsageError: if an output is an input.
        OutputError: if the temporary files cannot be written.
        TrainingError: if the text cannot be cut, or no document is left to train on.
    """
    trainer = trainer_for(options)
    if trainer.takes_lines(options):
        source = source.by_lines()
    patterns, streams = trainer.slow_patterns(options), streams or Streams()
    untrained = trainer.untrained(options)
    with reading_to_count(
        source, patterns, outputs, target, tokenizer=untrained, otherwise=otherwise, listener=listener, streams=streams
    ) as blocks:
        drawn = blocks if sampled is None else sample(blocks, sampled.size, sampled.seed)
        return count_within(
            trainer, drawn, options, max_memory=max_memory, threads=threads, trains=trains, listener=listener
        )


@contextmanager
def reading_to_count(
    source: Source,
    slow_patterns: Sequence[str],
    outputs: Outputs,
    target: Target | None = None,
    *,
    tokenizer: Tokenizer | None = None,
    otherwise: str | None = None,
    listener: Listener,
    streams: Streams,
) -> Iterator[Iterator[Block]]:
    """Read a corpus whose pieces are counted; which of the patterns that cut it are slow is noted before.

    Raises:
        InputError: if an input cannot be read.
        UsageError: if an output is an input.
    """
    from bpe_cli.corpus import reading

    files = find_documents(source, outputs, listener=listener, streams=streams, target=target, otherwise=otherwise)
    for note in slow_patterns_notes(slow_patterns):
        listener.note(note)
    with reading(source, files, "counting", listener, stdin=streams.read) as blocks:
        if tokenizer is None:
            yield blocks
        else:
            with noting_clusters(tokenizer, blocks, listener) as watched:
                yield watched


def save_counts(counts: Counted, options: Options, path: str) -> None:
    """Write counts, with how their text was cut.

    Raises:
        OutputError: if the file cannot be written.
    """
    from bpe_cli.formats import counts_file
    from bpe_cli.sinks.atomic import open_output

    cutting = trainer_for(options).cutting(options)
    with open_output(path) as out:
        if isinstance(counts, CountsOnDisk):
            out.write(counts_file.header(cutting, counts.unique, counts.total, counts.sha256))
        for part in counts.chunks() if isinstance(counts, CountsOnDisk) else counts_file.dump(counts, cutting):
            out.write(part)


def load_counts(
    paths: Iterable[str], options: Options, max_memory: int, *, listener: Listener = SILENCE
) -> tuple[Counted, Options]:
    """Add up saved counts; the way their text was cut becomes part of the trained tokenizer.

    Args:
        paths: The files.
        options: What is to be trained.
        max_memory: Bytes that the counts of a file may take, and their sum; more of it goes to temporary files.
        listener: Receives notes.

    Raises:
        UsageError: if an option says that it was cut otherwise.
        InputError, FormatError, TrainingError: as for ``counts_file.load_all``.
        OutputError: if the temporary files cannot be written.
    """
    from bpe_cli.formats import counts_file

    total, cutting = new_counts(ALL_MEMORY), None
    with Spilling(total, max_memory, listener) as spilling:
        for path, own, each in counts_file.load_each(map(Path, paths), max_memory):
            cutting = own
            counts_file.add(total, each, path)
            spilling.check()
        counts = spilling.finish()
    if cutting is None:
        raise InputError("no counts file is given")
    return counts, adopted(options, cutting, listener=listener)


def adopted(options: Options, cutting: Cutting, *, listener: Listener = SILENCE) -> Options:
    """Return options with which counts can be trained on that were cut in some way.

    Args:
        options: What is to be trained.
        cutting: How the text was cut.
        listener: Receives a note of what the counts were made with that the options do not say.

    Raises:
        UsageError: if an option says that text was cut otherwise.
    """
    splits = isinstance(options, SplittingOptions) and options.split_special
    if splits and set(options.special_tokens) != set(cutting.special_tokens):
        made = " ".join(f"`special_tokens={token}`" for token in cutting.special_tokens)
        raise UsageError(
            f"the counts were made with {f'`split_special` {made}' if made else 'no `split_special`'}",
            hint="count again with the special tokens to split off",
        )
    chosen: Options = trainer_for(options).adopt(options, cutting)
    for note in _differences(cutting, trainer_for(options).cutting(chosen)):
        listener.note(note)
    return chosen


def _differences(made: Cutting, chosen: Cutting) -> Iterator[str]:
    """Name what the counts were made with that the options of the training lack."""
    if made.special_tokens and not chosen.special_tokens:
        tokens = listed([quote(token) for token in made.special_tokens], separator=", ")
        yield f"the counts were made with `split_special`, which leaves {tokens} out"
    before, now = made.unicode_version, chosen.unicode_version
    if before and now and before != now and (made.pattern or made.stages):
        yield (
            f"the counts were cut by {_tables(before)}, and the tokenizer cuts by {_tables(now)}: characters that are "
            "new in one of them may be cut otherwise"
        )


def _tables(version: str) -> str:
    """Return the name of a version of Unicode's tables; that of the ``regex`` module says so itself."""
    return version if version.startswith("regex") else f"Unicode {version}"


_LOOKS_AROUND = re.compile(r"\(\?<?[=!]|\\[bBAZzGKmM]|\$|(?<!\[)\^")


def check_matches(counts: _core.Counts, pattern: str) -> None:
    """Check that the pattern that cuts the corpus matched anything in it.

    A pattern that looks around itself can match in a text and not in what it cut out, so nothing is
    said of such a one.

    Raises:
        UsageError: if the pattern matched nothing.
    """
    import regex

    if not counts.unique or _LOOKS_AROUND.search(pattern):
        return
    try:
        expression = regex.compile(pattern)
    except (regex.error, ValueError):  # another dialect, which the core knows
        return
    step = 1 << 12
    for start in range(0, counts.unique, step):
        for piece, _ in counts.items(start, step):
            if expression.search(as_seen(piece.decode("utf-8", "surrogateescape"))) is not None:
                return
    raise UsageError(
        f"the pattern {show_pattern(pattern)} matches nothing in the corpus, so that nothing is cut",
        hint='`pattern="none"` is the way to leave documents whole',
    )
