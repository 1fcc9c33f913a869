"""``bpe train``: text to a tokenizer."""

import sys
from typing import TYPE_CHECKING

from bpe_cli.cli import options
from bpe_cli.cli.console import ConsoleListener, note, process_streams
from bpe_cli.cli.train_flags import Algorithm, Compat, Counts, Format, Model, Stages, Written
from bpe_cli.errors import UsageError
from bpe_cli.views.numbers import count

if TYPE_CHECKING:
    from bpe_cli.jobs.train import TrainedFile

EPILOG = "Counting on many machines and training on one (--counts-out, --from-counts) gives the same file as one does."

_ANY_SIZE = 1 << 20  # for counting, which no size of the vocabulary changes


def run(
    model: Model,
    written: Written,
    stages: Stages,
    counts: Counts,
    documents: options.Documents,
    running: options.Running,
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
    from bpe_cli.cli.train_options import help_of, options_of
    from bpe_cli.jobs.train import TrainJob, check_compat, train_file
    from bpe_cli.sinks.naming import check_name
    from bpe_cli.support.ordered_threads import usable_threads
    from bpe_cli.trainers import trainer_of
    from bpe_cli.trainers.base import DEFAULT_MAX_MEMORY

    check_compat(model.algorithm.value, model.rules)
    trainer = trainer_of(model.algorithm.value, model.rules)
    if model.help_algorithm:
        print(help_of(model.name, trainer))
        return
    output = written.output
    counting_only = model.vocab_size is None and counts.counts_out is not None and not written.steps and output is None
    any_size = counting_only and model.algorithm != Algorithm.byte  # whose size is no choice
    settings = options_of(model.name, trainer, _given(model, stages, any_size=any_size), model.set_ or ())
    if output is None and not counting_only and not written.steps and sys.stdout.isatty():
        raise UsageError("a tokenizer is not for a terminal", hint="name a file: -o tokenizer.json")
    check_name("--counts-out", counts.counts_out, "counts", (".counts",))
    if counts.from_counts and (documents.inputs or documents.text is not None):
        raise UsageError("--from-counts takes the place of text: give one or the other")
    job = TrainJob(
        settings,
        None if counts.from_counts else documents.source(running.block_size),
        tuple(counts.from_counts or ()),
        counts.counts_out,
        None if counting_only else _file_format(model, written),
        written.steps,
        stages.expression,
        DEFAULT_MAX_MEMORY if counts.max_memory is None else counts.max_memory << 20,
        usable_threads(running.threads),
    )
    done = train_file(
        job,
        output if output is not None or written.steps else sys.stdout.buffer,
        listener=ConsoleListener(quiet=running.quiet),
        streams=process_streams(),
        on_counted=lambda counted: note(f"{_pieces(counted)} -> {counts.counts_out}", quiet=running.quiet),
    )
    _show(done, output, running.quiet)


def _given(model: Model, stages: Stages, *, any_size: bool) -> dict[str, object]:
    """Return what flags say of the algorithm's options, by the option's name."""
    from bpe_cli.stages import named_normalizers, named_pre_tokenizers
    from bpe_cli.trainers import trainer_of

    return {
        "vocab_size": _ANY_SIZE if any_size else model.vocab_size,
        "special_tokens": tuple(model.special) if model.special else None,
        "split_special": model.split_special or None,
        "min_frequency": model.min_frequency,
        "initial_alphabet": model.initial_alphabet and model.initial_alphabet.value,
        "max_token_length": model.max_token_length,
        "normalizer": None if stages.normalizer is None else named_normalizers.named(stages.normalizer),
        "pre_tokenizer": None if stages.pre_tokenizer is None else named_pre_tokenizers.named(stages.pre_tokenizer),
        "pattern": stages.expression,
        "prefix_space": stages.prefix_space or None,
        **trainer_of(model.algorithm.value, model.rules).chosen_by(model.algorithm.value, model.rules),
    }


def _file_format(model: Model, written: Written) -> str:
    """Return the format of the file: as it is asked for, or as its name says.

    Raises:
        UsageError: if the name of a file says that it is another thing.
    """
    from bpe_cli.jobs.files import check_tokenizer_name, format_asked_for

    codes = model.algorithm == Algorithm.bpe and model.compat == Compat.subword_nmt
    usual = "subword-nmt" if codes else "bpe.json"
    formats = [each.value for each in Format]
    file_format = written.format_.value if written.format_ else format_asked_for(written.output, formats, usual)
    check_tokenizer_name(written.output, file_format)
    return file_format


def _show(done: "TrainedFile", output: str | None, quiet: bool) -> None:
    """Print the steps, and note what was made and what the user might not expect."""
    if done.steps is not None:
        from bpe_cli.views.training_steps import training_lines

        for line in training_lines(done.steps):
            print(line)
    if done.trained is None:
        return
    size = count(done.trained.tokenizer.vocab_size, "token")
    note(f"{_pieces(done)} -> {size}: {', '.join(done.trained.summary)}", quiet=quiet)
    for sentence in done.notes:
        note(f"note: {sentence}", quiet=quiet)
    if output is not None:
        note(f"-> {output}", quiet=quiet)


def _pieces(done: "TrainedFile") -> str:
    return f"{count(done.pieces, 'piece')}, {done.different:,} different"
