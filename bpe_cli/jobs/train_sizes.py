"""Train vocabularies of several sizes on the same counts, and measure them on held-out text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from bpe_cli.errors import UsageError
from bpe_cli.jobs.files import Streams, find_documents
from bpe_cli.support.listening import SILENCE, Listener, by_totals
from bpe_cli.support.messages import plural
from bpe_cli.trainers import trainer_for

if TYPE_CHECKING:
    from bpe_cli import _core
    from bpe_cli.corpus import Source
    from bpe_cli.jobs.files import Target
    from bpe_cli.reports.vocabulary_curve import VocabularyCurve
    from bpe_cli.support.blocks import Block
    from bpe_cli.trainers.base import Options, Trained

SIZE = "{size}"
"""What stands for the size in the name of the files of several sizes."""


def paths_of_sizes(sizes: Sequence[int], target: Target | None) -> list[str | None]:
    """Return the file of each size; None for none.

    Raises:
        UsageError: if the output does not say how each file is called.
    """
    if target is None:
        return [None for _ in sizes]
    if target.path is None or SIZE not in target.path:
        raise UsageError(
            f"{plural(len(sizes), 'size')} need a file each, and `output` is one",
            hint=f"put {SIZE} where the size should be in the name: tokenizer-{SIZE}.json",
        )
    return [target.path.replace(SIZE, str(size)) for size in sizes]


def trained_sizes(
    counts: _core.Counts, options: Options, sizes: Sequence[int], *, threads: int = 1, listener: Listener = SILENCE
) -> Iterator[Trained]:
    """Yield a tokenizer of each size: all of one training if they nest, else each of its own.

    Raises:
        TrainingError: if there is nothing to train on, or a vocabulary has no room.
    """
    trainer = trainer_for(options)
    nests = trainer.nests(options)
    if not nests:
        listener.note("the sizes do not nest in this algorithm: each is trained by itself, on the same counts")
    for run in (sizes,) if nests else ((size,) for size in sizes):
        with listener.task("training", max(run), "token") as advance:
            yield from trainer.train_sizes(counts, options, run, by_totals(advance), threads)


def held_out_read(source: Source | None, streams: Streams, *, several: bool) -> list[tuple[str, str]]:
    """Return the held-out files for ``check_kept``.

    Raises:
        UsageError: if the text is stdin, or is read for several sizes and comes through a pipe, which can be read only
            once.
        InputError: if a file is missing.
    """
    from bpe_cli.corpus.opening import is_url
    from bpe_cli.corpus.stdin import is_stdin
    from bpe_cli.jobs.files import read_inputs

    if source is None:
        return []
    if any(is_stdin(path, streams.read) for path in source.paths):
        raise UsageError("held-out text is read once for each size, and stdin cannot be", hint="name a file")
    inputs = source.inputs(stdin=streams.read, otherwise="")
    pipe = next((each.name for each in inputs.items if each.size is None and not is_url(each.path)), None)
    if several and pipe is not None:
        raise UsageError(
            f"held-out text is read once for each size, and {pipe} can be read only once", hint="name a file"
        )
    return list(read_inputs(inputs))


def measured_curve(
    trained: Iterable[tuple[int, Trained]],
    held_out: Source | Sequence[Block],
    d_model: int | None = None,
    *,
    threads: int = 1,
    listener: Listener = SILENCE,
    streams: Streams | None = None,
) -> VocabularyCurve:
    """Encode held-out text with each tokenizer, and put the numbers together.

    Args:
        trained: Sizes asked for, ascending, and what was trained.
        held_out: Where the text is, or the text itself.
        d_model: The dimension of an embedding; None to leave its cost out.
        threads: Number of threads. Never changes the result.
        listener: Receives progress and notes.
        streams: The streams around the job.

    Raises:
        InputError: if a file cannot be read, the text is empty, or a byte of it has no token.
    """
    from bpe_cli.corpus import Source, reading
    from bpe_cli.reports.tokenizer.corpus_report import count_frequencies
    from bpe_cli.reports.vocabulary_curve import vocabulary_curve

    streams = streams or Streams()
    measured = []
    for asked, each in trained:
        tokenizer = each.tokenizer
        if isinstance(held_out, Source):
            inputs = find_documents(held_out, streams=streams, otherwise="")
            with reading(held_out, inputs, "encoding", listener, stdin=streams.read) as blocks:
                found = count_frequencies(tokenizer, blocks, threads=threads)
        else:
            found = count_frequencies(tokenizer, held_out, threads=threads)
        measured.append((asked, each.size, found, tokenizer.model.unk_id))
    return vocabulary_curve(measured, d_model)
