"""Count a corpus part by part into a folder, and add the parts up: what is counted once is not counted again.

Parts are runs of the inputs in their order, so adding them up in that order gives the counts of the corpus as one run
gives them, byte for byte.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from bpe_cli.engines.base import Engine, Work
from bpe_cli.errors import FormatError, InputError, OutputError, TrainingError, UsageError
from bpe_cli.jobs.merge_counts import MERGED, merge_in_tree, remove_merged
from bpe_cli.jobs.parts import Part
from bpe_cli.jobs.parts.changed import refuse_resized
from bpe_cli.jobs.parts.doing import DoneParts, PartsFolder, do_parts, read_plan
from bpe_cli.jobs.parts.folder import PLAN, check_folder
from bpe_cli.jobs.parts.kept import Found, KeptParts, Kind
from bpe_cli.support.fast_dataclass import dataclass, replace
from bpe_cli.support.json_files import dumped
from bpe_cli.support.listening import SILENCE, Listener
from bpe_cli.support.messages import show_path

if TYPE_CHECKING:
    from bpe_cli.corpus import InputHash, Source
    from bpe_cli.jobs.files import Streams, Target
    from bpe_cli.jobs.spilling import Counted
    from bpe_cli.trainers.base import Options
    from bpe_cli.trainers.left_out import LeftOut

COUNTS = Kind("counts", "counted", "pieces")
"""What is kept of each part."""


@dataclass(frozen=True, slots=True)
class CountJob:
    """What every part has in common: what a worker gets once. A plain value, which can be pickled.

    Attributes:
        source: How documents are made of inputs; its paths are not read.
        options: What is to be trained.
        max_memory: Bytes that the counts of a part may take.
        kept: Where the counts are kept.
    """

    source: Source
    options: Options
    max_memory: int
    kept: KeptParts


def count_parts(
    source: Source,
    options: Options,
    place: PartsFolder,
    *,
    max_memory: int,
    engine: Engine,
    outputs: Sequence[tuple[str, str | None]] = (),
    target: Target | None = None,
    listener: Listener = SILENCE,
    streams: Streams | None = None,
) -> DoneParts:
    """Count the parts of a corpus that are not in a folder yet.

    Args:
        source: The corpus; stdin cannot be divided, and is refused.
        options: What is to be trained.
        place: Where the counts are kept.
        max_memory: Bytes that the counts of a part may take.
        engine: What counts the parts. Never changes the result.
        outputs: The options that name files to write, and the files: no input may be one of them.
        target: Where the job writes, if that may be a stream.
        listener: Receives progress and notes.
        streams: The streams around the job.

    Raises:
        UsageError: if an input cannot be divided, a sample is to be drawn, or the folder holds other counts.
        InputError: if an input cannot be read.
        OutputError: if the folder cannot be written to.
        TrainingError: if the counts of a part take more memory.
    """
    from bpe_cli.jobs.files import Streams, find_documents
    from bpe_cli.stages.splitters import slow_patterns_notes
    from bpe_cli.trainers import trainer_for

    trainer = trainer_for(options)
    if not source.paths or "-" in source.paths or source.text is not None:
        raise UsageError("only files can be counted in parts, not stdin or a text", hint="name files or folders")
    if trainer.takes_lines(options):
        source = source.by_lines()
    settings = settings_of(source, options)
    check_folder(place.path)
    inputs = find_documents(
        source, outputs, listener=listener, streams=streams or Streams(), target=target, otherwise="",
        leave_out=place.path,
    )  # fmt: skip
    for note in slow_patterns_notes(trainer.slow_patterns(options)):
        listener.note(note)

    def work(kept: KeptParts) -> Work[CountJob, Part, int]:
        job = CountJob(replace(source, paths=()), options, max_memory, kept)
        return Work(job, _begin, count_part, _name_of, _size_of)

    done = do_parts(
        place, COUNTS, settings, inputs, source, work, engine, listener=listener, task="counting", inner=[MERGED]
    )
    plan = read_plan(place.path, COUNTS, damaged=None)
    if settings["chosen"] and plan is not None:
        kept = KeptParts.of(COUNTS, place.path, settings)
        for note in _left_out(map(kept.find, plan["parts"])).notes:
            listener.note(note)
    return done


def settings_of(source: Source, options: Options) -> dict[str, Any]:
    """Return all that changes counts, as JSON values.

    Raises:
        UsageError: if a sample is to be drawn, which is one of the whole corpus, or JSON cannot hold the options.
    """
    from dataclasses import asdict

    from bpe_cli.trainers import trainer_for

    trainer = trainer_for(options)
    chosen = trainer.choosing(options)
    if "input_sentence_size" in chosen:
        raise UsageError(
            "`input_sentence_size` draws a sample of the whole corpus, and each part is counted by itself",
            hint="leave it out, or `counts_dir`",
        )
    cutting = trainer.cutting(options)
    settings = {
        "cutting": asdict(cutting) | {"special_tokens": list(cutting.special_tokens)},
        "chosen": chosen,
        "documents": source.documents,
        "field": source.text_field,
        "decompress": source.decompress,
        "plain": source.plain,
        **({} if source.ending == "txt" else {"member": source.ending}),
    }
    dumped(settings)  # raises before anything is counted
    return settings


# -- a part -------------------------------------------------------------------------------------------


def _begin(job: CountJob) -> None:
    """Load nothing: the options say all."""


def _name_of(part: Part) -> str:
    return part.name


def _size_of(part: Part) -> int:
    return part.size


def count_part(job: CountJob, _: None, part: Part, advance: Callable[[int], None]) -> int:
    """Count a part, and write its counts and then its record; return how many pieces it has.

    Raises:
        InputError: if an input cannot be read, or has another size than the plan says.
        OutputError: if a file cannot be written.
        TrainingError: if there are more different pieces than the memory holds.
    """
    from dataclasses import asdict

    from bpe_cli.corpus import Inputs, read_blocks
    from bpe_cli.corpus.opening import NO_STDIN
    from bpe_cli.formats import counts_file
    from bpe_cli.trainers import trainer_for
    from bpe_cli.trainers.counts import new_counts

    trainer, counts = trainer_for(job.options), new_counts(job.max_memory)
    hashes: list[InputHash] = []
    began = job.kept.begin(part)
    inputs = Inputs(part.inputs)
    blocks = read_blocks(job.source, stdin=NO_STDIN, inputs=inputs, on_bytes=advance, hashes=hashes)
    left_out = trainer.count(blocks, job.options, counts)
    refuse_resized(part, hashes)
    content = b"".join(counts_file.dump(counts, trainer.cutting(job.options)))
    numbers: dict[str, Any] = {"pieces": counts.total, "different": counts.unique}
    if left_out.sentences:
        numbers["left_out"] = asdict(left_out)
    job.kept.write(part, content, hashes, numbers, began)
    return counts.total


def _left_out(parts: Iterable[object]) -> LeftOut:
    """Add up what the records of parts say of sentences that were left out; those that say nothing add nothing."""
    from dataclasses import fields

    from bpe_cli.trainers.left_out import LeftOut

    total = LeftOut()
    names = [each.name for each in fields(total)]
    for part in parts:
        said = part.record.get("left_out") if isinstance(part, Found) else None
        if isinstance(said, dict) and all(type(said.get(name)) is int for name in names):
            total.add(LeftOut(**{name: said[name] for name in names}))
    return total


# -- all parts ----------------------------------------------------------------------------------------


def add_up(
    folder: str,
    options: Options,
    max_memory: int,
    *,
    engine: Engine | None = None,
    trains: bool = True,
    listener: Listener = SILENCE,
) -> tuple[Counted, Options]:
    """Add up the counts of all parts: no more than the sum and one file are in memory.

    Args:
        folder: Where the counts are kept.
        options: What is to be trained.
        max_memory: Bytes that the counts of a file may take, and their sum; more of it goes to temporary files.
        engine: What merges files before that, several at a time, in a tree; None merges none. Never changes the result.
        trains: Whether the counts are trained on at once, so that there must be some.
        listener: Receives progress and notes.

    Returns:
        The counts, as counting all in one run gives them; and the options, to which the cutting was added.

    Raises:
        InputError: if there are no counts in the folder, or parts are missing or damaged; the message names the first
            ones.
        UsageError: if the options say that text is cut otherwise, or other documents are chosen.
        FormatError: if the counts of a part are damaged.
        TrainingError: if all of them take more memory, or no document is left to train on.
    """
    from bpe_cli.jobs.count import load_counts
    from bpe_cli.trainers import trainer_for

    plan = read_plan(folder, COUNTS)
    if plan is None or not plan["parts"]:
        raise InputError(f"there are no counts in {show_path(folder)}: it has no {PLAN}")
    if trainer_for(options).choosing(options) != plan["settings"].get("chosen"):
        raise UsageError(
            f"the counts in {show_path(folder)} are of documents chosen with other options",
            hint="count again, into another folder",
        )
    kept = KeptParts.of(COUNTS, folder, plan["settings"])
    found = kept.all_found(plan["parts"])
    files = [kept.path(described) for described in plan["parts"]]
    sums = files
    try:
        if engine is not None and engine.processes != 1:
            hashes = [each.sha256 for each in found]
            # Sums that do not fit are left to what follows; so are those that another run, which is done, has removed.
            with suppress(TrainingError, InputError, FileNotFoundError):
                sums = _merged(folder, files, hashes, max_memory, engine, listener)
        try:
            counted = load_counts(sums, options, max_memory, listener=listener)
        except InputError:
            if all(map(os.path.exists, sums)):
                raise
            counted = load_counts(files, options, max_memory, listener=listener)
    except FormatError as error:
        hint = "remove the file, and count again with `overwrite`"
        raise FormatError(error.message, hint=error.hint or hint) from error
    remove_merged(folder)
    if trains:
        _left_out(found).refuse_nothing(counted[0].unique)
    return counted


def _merged(
    folder: str, files: Sequence[str], hashes: Sequence[str], max_memory: int, engine: Engine, listener: Listener
) -> list[str]:
    """Merge files of counts, several at a time, or return them as they are where sums cannot be kept beside them."""
    try:
        return merge_in_tree(os.path.join(folder, MERGED), files, hashes, max_memory, engine, listener)
    except OutputError as error:
        listener.note(f"{error.message}; the parts are added up one after the other")
        return [*files]
