"""Prepare a data set: encode inputs part by part into a folder that a trainer reads, and whose work is never lost.

The folder holds a plan, the files of each part with a record beside them, and at the end a manifest made of the
records. Run again, what is there and right is not done again; what is damaged or made otherwise is named, and refused
unless it may be overwritten. All of it is the same whatever ran the parts, byte for byte.

Length: a function for each thing that ``bpe prepare`` does, with the sections of its docstring.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from bpe_cli.errors import UsageError
from bpe_cli.jobs.parts import Share
from bpe_cli.jobs.parts.folder import PLAN, check_folder, check_inputs, folder_of_run
from bpe_cli.jobs.prepare.broken import leaves_out_more
from bpe_cli.jobs.prepare.changed import drop_changed, drop_damaged, drop_mixed, refuse_changed, unlike_their_records
from bpe_cli.jobs.prepare.folder import (
    INNER,
    MADE_AGAIN,
    all_are_there,
    check_plan,
    damaged_set,
    free_bytes,
    index_damage,
    make_inner,
    plan_in,
    records_of,
    remove_parts_from,
    remove_strays,
    strays_in,
    what_is_left,
    withdraw_manifest,
    write_manifest,
)
from bpe_cli.jobs.prepare.part import PrepareOptions
from bpe_cli.jobs.prepare.records import (
    MANIFEST,
    Plan,
    Record,
    hash_of_inputs,
    index_of,
    manifest_of,
    total_of,
)
from bpe_cli.jobs.prepare.resolving import resolve
from bpe_cli.jobs.prepare.scratch_folder import check_scratch, remove_scratch
from bpe_cli.jobs.prepare.shuffle import first_pass
from bpe_cli.jobs.prepare.work import do_first_pass, second_pass, work_of
from bpe_cli.support.fast_dataclass import dataclass, replace
from bpe_cli.support.json_files import dumped, read_json
from bpe_cli.support.listening import SILENCE, Listener, announce

if TYPE_CHECKING:
    from bpe_cli.corpus import Source
    from bpe_cli.engines.base import Engine
    from bpe_cli.jobs.files import Streams
    from bpe_cli.jobs.parts import Part
    from bpe_cli.jobs.prepare.estimating import Planned
    from bpe_cli.jobs.tokenizers import AnyTokenizer

__all__ = ["PrepareOptions", "Prepared", "check", "check_deep", "estimate", "finish", "prepare"]


@dataclass(frozen=True, slots=True)
class Prepared:
    """What stands in the folder of a data set.

    Attributes:
        folder: The folder.
        parts: How many parts the data set has.
        made: How many of them this run made.
        kept: How many were there already.
        documents: How many documents the parts have that are there.
        tokens: How many ids they have, with what stands around documents.
        bytes: How many bytes their files have.
        divided: How often the id that ends documents stands in documents too.
        sequences: How many sequences the documents became; None if they were left as they are.
        left_out: How many ids are in none, because documents were truncated.
        padding: The number of padding ids.
        is_whole: Whether all parts are there, and so the manifest.
        scattered: Of how many parts the first pass of a shuffle is done; None if this run had no need of it.
        broken: How many rows were left out, by what is wrong with them; None if the first would have been an error.
        quarantined: How many files hold rows that were left out.
        nulls: In how many rows each column that is kept is null; None if none is kept.
        again: How many parts were made again to compare them.
    """

    folder: str
    parts: int
    made: int
    kept: int
    documents: int
    tokens: int
    bytes: int
    divided: int
    sequences: int | None
    left_out: int
    padding: int
    is_whole: bool
    scattered: int | None = None
    broken: dict[str, int] | None = None
    quarantined: int = 0
    nulls: dict[str, int] | None = None
    again: int = 0


def prepare(
    source: Source,
    tokenizer: AnyTokenizer,
    options: PrepareOptions | None = None,
    *,
    folder: str | os.PathLike[str],
    share: Share | None = None,
    overwrite: bool = False,
    engine: Engine | None = None,
    processes: int | None = None,
    listener: Listener = SILENCE,
    streams: Streams | None = None,
) -> Prepared:
    """Encode the documents of a source into the folder of a data set.

    Args:
        source: The texts; stdin cannot be divided, and is refused.
        tokenizer: A tokenizer, its file, or its name.
        options: What is written.
        folder: The folder; it is made if it does not exist.
        share: Which parts are made, where several machines share them; whoever makes the last one writes the manifest,
            and ``finish`` does. None for all.
        overwrite: Whether to make again the parts that are damaged or were made with other settings, and to remove
            files of parts that no record names.
        engine: Who makes the parts; None for processes of this machine. It changes no result.
        processes: How many of those work at a time; None for as many as there are processors. They change no result.
        listener: Receives progress and notes.
        streams: The streams around the job.

    Raises:
        UsageError: if the options contradict each other or the tokenizer, an input cannot be divided, or the folder
            holds what was made otherwise.
        InputError: if an input cannot be read, or holds what cannot be encoded.
        OutputError: if the folder cannot be written to.
    """
    from bpe_cli.engines import engine_named
    from bpe_cli.jobs.files import Streams
    from bpe_cli.jobs.tokenizers import note_oddities

    runner = engine or engine_named("local", processes)
    options, streams, folder = options or PrepareOptions(), streams or Streams(), os.fspath(folder)
    check_folder(folder)
    _check_source(source)
    resolved = resolve(source, tokenizer, options, folder, listener=listener, streams=streams)
    note_oddities(resolved.model, options.specials, listener)
    check_inputs(resolved.inputs, folder, "the data set")
    parts, plan = resolved.parts, resolved.plan()
    job = resolved.job(folder, plan)
    work, ours = work_of(job), (share or Share()).takes
    with folder_of_run(folder, alone=share is None, inner=INNER):
        check_plan(folder, plan, overwrite=overwrite)
        waiting, kept = what_is_left(job, parts, overwrite=overwrite, plan=plan)
        if waiting and options.shuffle is not None:
            check_scratch(folder)  # before anything of an older data set goes
        had_plan = os.path.lexists(os.path.join(folder, PLAN))
        _put_plan(folder, plan, len(parts))
        if overwrite and had_plan:
            remove_strays(folder, parts, ours)
        again, first = ours if overwrite else None, first_pass(job) if options.shuffle is not None else None
        changed = drop_changed(job, parts, kept, overwrite=overwrite, again=again, listener=listener, first=first)
        if overwrite:
            changed += drop_damaged(job, [part for part in parts if ours(part)], kept, listener)
        waiting = sorted(waiting + changed, key=lambda part: part.number)
        make_inner(folder, [name for name in options.sides if name])
        scattered = None
        if waiting and options.shuffle is not None:
            done_first = [*do_first_pass(runner, job, parts, ours, listener, again).values()]
            scattered = len(done_first)
            if scattered < len(parts):
                waiting = []
            else:
                waiting += drop_mixed(job, parts, kept, done_first, overwrite=overwrite, listener=listener)
                waiting.sort(key=lambda part: part.number)
                work = second_pass(job, hash_of_inputs(done_first))
        mine = [part for part in waiting if ours(part)]
        total = sum(part.size for part in mine)
        announce(listener, "plan", folder=folder, parts=len(parts), kept=len(kept), to_do=len(mine), bytes=total)
        with listener.task("preparing", total) as advance:
            made = _announced(runner.run(work, mine, advance, listener.note), parts, listener)
            records = kept | {record.part: record for record in made}
        if len(records) < len(parts) and all_are_there(job, parts):
            # Others who share them have made the rest by now.
            records = what_is_left(job, parts, overwrite=True, plan=plan)[1]
        whole = len(records) == len(parts)
        if whole:
            if waiting:
                refuse_changed(job, parts, records, listener, first)
            write_manifest(folder, plan, [records[part.number] for part in parts])
            remove_scratch(folder)
    done = _prepared(folder, plan, records.values(), made=len(mine), whole=whole, scattered=scattered)
    announce(
        listener, "end", folder=folder, parts=done.parts, made=done.made, kept=done.kept, documents=done.documents,
        tokens=done.tokens, bytes=done.bytes, is_whole=done.is_whole,
    )  # fmt: skip
    return done


def _put_plan(folder: str, plan: Plan, count: int) -> None:
    """Put the plan of so many parts into a folder; what another plan made there is no data set any more."""
    from bpe_cli.sinks.atomic import write_file

    there = plan_in(folder)
    if there == plan:
        return
    withdraw_manifest(folder)
    remove_parts_from(folder, count)
    if there is None or not leaves_out_more(there, plan):
        remove_scratch(folder)
    write_file(os.path.join(folder, PLAN), dumped(plan.to_json()))


def _announced(records: Iterable[Record], parts: Sequence[Part], listener: Listener) -> Iterator[Record]:
    """Pass on the records of parts as they are made, and let the listener hear of each."""
    for record in records:
        announce(
            listener, "part", part=record.part, bytes=parts[record.part].size, documents=record.documents,
            tokens=record.tokens, sequences=record.sequences, files=[file.name for file in record.all_files],
        )  # fmt: skip
        yield record


def estimate(
    source: Source,
    tokenizer: AnyTokenizer,
    options: PrepareOptions | None = None,
    *,
    folder: str | os.PathLike[str] | None = None,
    share: Share | None = None,
    processes: int | None = None,
    listener: Listener = SILENCE,
    streams: Streams | None = None,
) -> Planned:
    """Return what a data set would have: its parts, and how many documents and tokens, estimated from a sample.

    Args:
        source: The texts, as for ``prepare``.
        tokenizer: A tokenizer, its file, or its name.
        options: What would be written.
        folder: Where; nothing is made there. None if that is not known yet.
        share: Which parts would be made, where several machines share them; None for all.
        processes: How many processes would work at a time; None for as many as there are processors.
        listener: Who hears of what the caller might not expect.
        streams: The streams around the job.

    Raises:
        UsageError, InputError: as ``prepare``; the files of the sample are read.
    """
    from bpe_cli.jobs.files import Streams
    from bpe_cli.jobs.prepare.estimating import estimate as estimated
    from bpe_cli.support.ordered_threads import usable_threads

    options = options or PrepareOptions()
    place = None if folder is None else os.fspath(folder)
    _check_source(source)
    resolved = resolve(source, tokenizer, options, place, listener=listener, streams=streams or Streams())
    if resolved.conversations is not None:
        listener.note("tokens are counted in the JSON of conversations, not in what a template makes of it")
    count = usable_threads() if processes is None else processes
    width = 2 if resolved.settings["dtype"] == "u16" else 4
    free = None if place is None else free_bytes(place)
    parts = [part for part in resolved.parts if share is None or share.takes(part)]
    return estimated(parts, resolved.source, resolved.model, options, width=width, processes=count, free=free)


def finish(folder: str | os.PathLike[str]) -> Prepared:
    """Write the manifest of a data set whose parts were made by several runs.

    Raises:
        InputError: if there is no data set.
        CheckFailed: if parts are missing or damaged; the message names the first ones.
        OutputError: if the manifest cannot be written.
    """
    folder = os.fspath(folder)
    plan, records = records_of(folder)
    write_manifest(folder, plan, records)
    remove_scratch(folder)
    return _prepared(folder, plan, records, made=0, whole=True)


def check(folder: str | os.PathLike[str], listener: Listener = SILENCE) -> Prepared:
    """Verify a data set: that all parts are there, and every file has the bytes that its record and the manifest say.

    Raises:
        InputError: if there is no data set in the folder, or a file of it cannot be read.
        CheckFailed: if something of it is missing or damaged, or a file is there that is called like one of a part, and
            no record names it; the message names the first ones.
    """
    folder = os.fspath(folder)
    plan, records = records_of(folder)
    unlike = unlike_their_records(folder, records, "checking", listener)
    damaged = [f"{file.name} does not match its record" for _, file in unlike]
    index = index_of(plan, records)
    manifest = read_json(os.path.join(folder, MANIFEST))
    if manifest is None:
        damaged.append(f"there is no {MANIFEST}")
    elif manifest != manifest_of(plan, records, index):
        damaged.append(f"{MANIFEST} does not belong to these parts")
    damaged.extend(index_damage(folder, index))
    strays = strays_in(folder, {file.name for record in records for file in record.all_files})
    damaged.extend(f"{name} does not belong to these parts" for name in strays)
    if damaged:
        of_strays = "`overwrite` removes files of parts that no record names" if strays else None
        raise damaged_set(folder, damaged, MADE_AGAIN if unlike else of_strays)
    return _prepared(folder, plan, records, made=0, whole=True)


def check_deep(
    source: Source,
    tokenizer: AnyTokenizer,
    options: PrepareOptions | None = None,
    *,
    folder: str | os.PathLike[str],
    parts: int | None = 1,
    threads: int | None = None,
    listener: Listener = SILENCE,
    streams: Streams | None = None,
) -> Prepared:
    """Verify a data set as ``check`` does, and then make some parts again from the inputs, and compare all of it.

    Where documents or sequences are shuffled, all inputs are encoded again, and what is not of these parts is dropped.

    Args:
        source: The texts that it was made of.
        tokenizer: The tokenizer that it was made with.
        options: What was written.
        folder: The folder of the data set.
        parts: How many parts are made again, drawn by a fixed hash; None for all. One at a time lies in the folder for
            temporary files.
        threads: How many threads encode; None for all processors. They change no result.
        listener: Receives progress and notes.
        streams: The streams around the job.

    Raises:
        UsageError: if the data set was made of other inputs, or with another tokenizer or other options.
        InputError: if there is no data set, or an input cannot be read.
        CheckFailed: if something is missing or damaged, or a part is not what its inputs make; the message names it.
    """
    from bpe_cli.jobs.files import Streams
    from bpe_cli.jobs.prepare.deep import check_same_plan, differing, differing_of_shuffled, drawn
    from bpe_cli.support.ordered_threads import usable_threads

    options, folder = options or PrepareOptions(), os.fspath(folder)
    there, records = records_of(folder)
    _check_source(source)
    resolved = resolve(source, tokenizer, options, folder, listener=listener, streams=streams or Streams())
    divided = resolved.parts
    check_same_plan(folder, there, resolved.plan())
    done = check(folder, listener)
    job = resolved.job(folder, there)
    again = drawn(divided, there, parts)
    count = usable_threads() if threads is None else threads
    read = again if options.shuffle is None else divided
    with listener.task("encoding again", sum(part.size for part in read)) as advance:
        if options.shuffle is None:
            pairs = [(part, records[part.number]) for part in again]
            wrong = differing(job, resolved.model, pairs, count, advance)
        else:
            wrong = differing_of_shuffled(job, resolved.model, divided, records, again, count, advance)
    if wrong:
        raise damaged_set(folder, wrong)
    return replace(done, made=0, again=len(again))


def _check_source(source: Source) -> None:
    if source.text is not None:
        raise UsageError("a data set needs files, not a text")
    if not source.paths or "-" in source.paths:
        raise UsageError(
            "a data set is made of files: stdin cannot be divided, or read again",
            hint="name files or folders; `bpe encode` takes a stream",
        )


def _prepared(
    folder: str,
    plan: Plan,
    records: Iterable[Record],
    *,
    made: int,
    whole: bool,
    scattered: int | None = None,
) -> Prepared:
    there = list(records)
    return Prepared(
        folder,
        parts=len(plan.parts),
        made=made,
        kept=len(there) - made,
        documents=sum(record.documents for record in there),
        tokens=sum(record.tokens for record in there),
        bytes=sum(file.size for record in there for file in record.files),
        divided=sum(record.divided for record in there),
        sequences=None if plan.settings.get("length") is None else sum(record.sequences or 0 for record in there),
        left_out=sum(record.left_out for record in there),
        padding=sum(record.padding for record in there),
        is_whole=whole,
        scattered=scattered,
        broken=total_of(there, "broken"),
        quarantined=sum(record.quarantine is not None for record in there),
        nulls=total_of(there, "nulls"),
    )
