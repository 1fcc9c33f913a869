"""Count a corpus part by part into a folder, and add the parts up: what is counted once is not counted again.

The folder holds a plan, and the counts of each part with a record beside them. Parts are runs of the inputs in their
order, so adding them up in that order gives the counts of the corpus as one run gives them, byte for byte. How the
inputs are divided changes nothing; so when there are more of them, the parts of the plan are kept as they are, and
only the others are divided. Parts are called by the hash of what they are made of, since their numbers change.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from bpe_cli.errors import CheckFailed, FormatError, InputError, UsageError
from bpe_cli.jobs.counts_folder import (
    PART_SCHEMA,
    PLAN_SCHEMA,
    CountJob,
    CountsFolder,
    extended,
    listed,
    pieces_of,
    plan_there,
    read_plan,
    remove_others,
    settings_of,
    what_is_left,
)
from bpe_cli.jobs.parts import Part
from bpe_cli.jobs.parts.folder import PLAN, check_folder, check_inputs, folder_of_run
from bpe_cli.support.fast_dataclass import dataclass, replace
from bpe_cli.support.json_files import dumped
from bpe_cli.support.listening import SILENCE, Listener
from bpe_cli.support.messages import show_path

if TYPE_CHECKING:
    from bpe_cli import _core
    from bpe_cli.corpus import InputHash, Source
    from bpe_cli.jobs.files import Streams, Target
    from bpe_cli.trainers.base import Options

__all__ = ["CountedParts", "CountsFolder", "add_up", "count_parts"]


@dataclass(frozen=True, slots=True)
class CountedParts:
    """What stands in a folder of counts.

    Attributes:
        folder: The folder.
        parts: How many parts the corpus has.
        made: How many of them this run counted.
        kept: How many were there already.
        pieces: How many pieces the parts have that are there.
    """

    folder: str
    parts: int
    made: int
    kept: int
    pieces: int

    @property
    def is_whole(self) -> bool:
        """Whether all parts are there."""
        return self.made + self.kept == self.parts


def count_parts(
    source: Source,
    options: Options,
    counts: CountsFolder,
    *,
    max_memory: int,
    processes: int,
    outputs: Sequence[tuple[str, str | None]] = (),
    target: Target | None = None,
    listener: Listener = SILENCE,
    streams: Streams | None = None,
) -> CountedParts:
    """Count the parts of a corpus that are not in a folder yet.

    Args:
        source: The corpus; stdin cannot be divided, and is refused.
        options: What is to be trained.
        counts: Where the counts lie.
        max_memory: Bytes that the counts of a part may take.
        processes: How many processes count at a time; they change no result.
        outputs: The options that name files to write, and the files: no input may be one of them.
        target: Where the job writes, if that may be a stream.
        listener: Who hears how it goes on.
        streams: The streams around the job.

    Raises:
        UsageError: if an input cannot be divided, a sample is to be drawn, or the folder holds other counts.
        InputError: if an input cannot be read.
        OutputError: if the folder cannot be written to.
        TrainingError: if the counts of a part take more memory.
    """
    from bpe_cli.engines import engine_named
    from bpe_cli.engines.base import Work
    from bpe_cli.jobs.files import Streams, find_documents
    from bpe_cli.sinks.atomic import write_file
    from bpe_cli.stages.splitters import slow_patterns_notes
    from bpe_cli.trainers import trainer_for

    trainer = trainer_for(options)
    if not source.paths or "-" in source.paths or source.text is not None:
        raise UsageError("parts are counted of files, not of stdin or a text", hint="name files or folders")
    if trainer.takes_lines(options) and source.documents == "whole":
        source = replace(source, documents="lines")
    settings = settings_of(source, options)
    check_folder(counts.path)
    inputs = find_documents(source, outputs, listener=listener, streams=streams or Streams(), target=target)
    check_inputs(inputs.items, counts.path, "the counts")
    for note in slow_patterns_notes(trainer.slow_patterns(options)):
        listener.note(note)
    fingerprint = hashlib.sha256(dumped(settings)).hexdigest()
    job = CountJob(replace(source, paths=()), options, max_memory, counts.path, fingerprint)
    work = Work(job, _begin, count_part, _name_of, _size_of)
    with folder_of_run(counts.path, alone=counts.share is None):
        there = plan_there(counts, settings, inputs)
        parts = extended(there, inputs, source, counts.part_bytes)
        plan = [part.described() for part in parts]
        by_name = {job.name(described): part for described, part in zip(plan, parts, strict=True)}
        waiting, kept = what_is_left(job, by_name, counts)
        content = {"schema": PLAN_SCHEMA, "settings": settings, "parts": plan}
        if read_plan(counts.path, damaged=None) != content:
            remove_others(counts.path, by_name)
            write_file(os.path.join(counts.path, PLAN), dumped(content))
        mine = [part for part in waiting if counts.share is None or counts.share.takes(part)]
        made = 0
        with listener.task("counting", sum(part.size for part in mine)) as advance:
            for pieces in engine_named("local", processes).run(work, mine, advance, listener.note):
                made += pieces
    return CountedParts(counts.path, len(by_name), len(mine), len(kept), made + sum(kept))


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
        InputError: if an input cannot be read.
        OutputError: if a file cannot be written.
        TrainingError: if there are more different pieces than the memory holds.
    """
    from bpe_cli.corpus import Inputs, read_blocks
    from bpe_cli.corpus.opening import NO_STDIN
    from bpe_cli.formats import counts_file
    from bpe_cli.sinks.atomic import write_together
    from bpe_cli.trainers import trainer_for
    from bpe_cli.trainers.counts import new_counts

    trainer, counts = trainer_for(job.options), new_counts(job.max_memory)
    hashes: list[InputHash] = []
    inputs = Inputs(part.inputs)
    blocks = read_blocks(job.source, stdin=NO_STDIN, inputs=inputs, on_bytes=advance, hashes=hashes)
    trainer.count(blocks, job.options, counts)
    content = b"".join(counts_file.dump(counts, trainer.cutting(job.options)))
    described = part.described()
    path = job.path(described, ".counts")
    record = {
        "schema": PART_SCHEMA,
        "settings": job.settings,
        "inputs": [
            each | ({"sha256": sha256} if sha256 else {})
            for each, (_, sha256, _) in zip(described, hashes, strict=True)
        ],
        "pieces": counts.total,
        "different": counts.unique,
        "file": {
            "name": os.path.basename(path),
            "bytes": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
        },
    }
    write_together({path: content, job.path(described, ".json"): dumped(record)})
    return counts.total


def add_up(folder: str, options: Options, max_memory: int) -> tuple[_core.Counts, Options]:
    """Add up the counts of all parts: no more than the sum and one part are in memory.

    Returns:
        The counts, as counting all in one run gives them; and the options, to which the cutting was added.

    Raises:
        InputError: if there are no counts in the folder.
        CheckFailed: if parts are missing or damaged; the message names the first ones.
        UsageError: if the options say that text is cut otherwise, or other documents are chosen.
        FormatError: if the counts of a part are damaged.
        TrainingError: if all of them take more memory.
    """
    from bpe_cli.jobs.count import load_counts
    from bpe_cli.trainers import trainer_for

    plan = read_plan(folder)
    if plan is None or not plan["parts"]:
        raise InputError(f"there are no counts in {show_path(folder)}: it has no {PLAN}")
    fingerprint = hashlib.sha256(dumped(plan["settings"])).hexdigest()
    if trainer_for(options).choosing(options) != plan["settings"].get("chosen"):
        raise UsageError(
            f"the counts in {show_path(folder)} are of documents that were chosen otherwise than these options say",
            hint="count again, into another folder",
        )
    from bpe_cli.corpus import Source

    job = CountJob(Source(), options, max_memory, folder, fingerprint)
    damaged = []
    for described in plan["parts"]:
        there = pieces_of(job, described)
        if not isinstance(there, int):
            damaged.append(f"{job.name(described)}: {there or 'it is missing'}")
    if damaged:
        raise CheckFailed(listed(folder, damaged), hint="count them first, with the names of the inputs")
    try:
        return load_counts((job.path(described, ".counts") for described in plan["parts"]), options, max_memory)
    except FormatError as error:
        hint = "remove the file, and count again with `overwrite`"
        raise FormatError(error.message, hint=error.hint or hint) from error
