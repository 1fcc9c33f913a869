"""The folder of a data set: whether it may be written to, what of it is there, and what is wrong with that."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from bpe_cli.errors import CheckFailed, InputError, UsageError
from bpe_cli.jobs.parts.changed import other_inputs
from bpe_cli.jobs.parts.folder import PLAN
from bpe_cli.jobs.prepare.broken import ENDING as QUARANTINE
from bpe_cli.jobs.prepare.broken import is_made_with, leaves_out_more, with_count
from bpe_cli.jobs.prepare.part import damage_of
from bpe_cli.jobs.prepare.records import (
    MANIFEST,
    Manifest,
    Plan,
    Record,
    has_sides,
    hash_of_inputs,
    index_of,
    made_of_others,
    manifest_of,
    read_manifest,
    read_plan,
    read_record,
    remove_file,
    remove_files,
)
from bpe_cli.jobs.prepare.scratch_folder import SCRATCH
from bpe_cli.jobs.prepare.sides import SIDES, file_names
from bpe_cli.support.json_files import dumped
from bpe_cli.support.messages import cannot_read, listed, show_path

if TYPE_CHECKING:
    from bpe_cli.jobs.parts import Part
    from bpe_cli.jobs.prepare.part import PartJob
    from bpe_cli.jobs.prepare.sides import PartFile


INNER = (*SIDES, SCRATCH)
"""The folders within that of a data set."""

AN_INPUT = "an input of the data set"
"""What is said to have changed where nobody knows which: the record of the part that had its hash is gone."""


MADE_AGAIN = "prepare it again: that makes missing parts, and with `overwrite` damaged ones too"
"""The way out of a data set that was checked."""


def make_inner(folder: str, names: Sequence[str]) -> None:
    """Make folders within that of a data set, which has a plan already; drafts of the dead in them are removed."""
    from bpe_cli.sinks.atomic import made_folder
    from bpe_cli.sinks.draft import remove_leftovers

    for name in names:
        with made_folder(os.path.join(folder, name)):
            remove_leftovers(os.path.join(folder, name))


def free_bytes(folder: str) -> int | None:
    """Return how many bytes are free where a folder is, or would be made; None if the system does not say."""
    import shutil

    place = os.path.abspath(folder)
    while not os.path.isdir(place) and place != os.path.dirname(place):
        place = os.path.dirname(place)
    try:
        return shutil.disk_usage(place).free
    except OSError:
        return None


def check_plan(folder: str, plan: Plan, *, overwrite: bool) -> None:
    """Check that a folder holds nothing, or the same data set, or what may be overwritten."""
    # Listed first: a plan comes before all else, and runs that share the parts may begin at this very moment.
    names = [name for name in sorted(os.listdir(folder)) if not name.startswith(".")]
    try:
        there = read_plan(folder)
    except InputError:
        if overwrite:
            return
        raise
    if there is None:
        if names and not overwrite:
            raise UsageError(
                f"the folder {show_path(folder)} is not empty, and has no data set in it: "
                f"{listed(names, separator=', ')}",
                hint="name another folder, or use `overwrite`",
            )
        return
    if there == plan or overwrite or leaves_out_more(there, plan):
        return
    keys = dict.fromkeys((*plan.settings, *there.settings))  # not all have all of them
    other = [key for key in keys if plan.settings.get(key) != there.settings.get(key)]
    what = (
        f"with other settings: {', '.join(other)}"
        if other
        else f"of other inputs: {other_inputs(there.parts, plan.parts)}"
    )
    raise UsageError(
        f"the data set in {show_path(folder)} was made {what}", hint="name another folder, or use `overwrite`"
    )


def what_is_left(
    job: PartJob, parts: Sequence[Part], *, overwrite: bool, plan: Plan | None = None
) -> tuple[list[Part], dict[int, Record]]:
    """Return the parts that are to be made, and the records of those that are there.

    Args:
        job: What every part has in common.
        parts: All parts.
        overwrite: Whether damaged parts may be made again.
        plan: The plan, by which records name files; None for those of the first pass of a shuffle.

    Raises:
        UsageError: if parts are damaged, and may not be made again.
    """
    waiting: list[Part] = []
    kept: dict[int, Record] = {}
    damaged: list[str] = []
    sizes = sizes_in(job.folder)
    for part in parts:
        path = job.record_path(part)
        if os.path.basename(path) not in sizes and not os.path.lexists(path):
            waiting.append(part)
            continue
        record = read_record(path)
        reason = damage_of(job, part, record, sizes)
        if reason is None and record is not None and plan is not None and not _is_of(record, part.name, plan.settings):
            reason = "its record is damaged"
        if reason:
            damaged.append(f"{part.name}: {reason}")
            waiting.append(part)
        elif record is not None:
            kept[part.number] = with_count(record, job.options.on_error)
    if not waiting:
        mixed = made_of_others(kept, hash_of_inputs(kept[part.number] for part in parts))
        damaged += [f"{parts[number].name}: {AN_INPUT} changed since it was made" for number in mixed]
        waiting += [parts[number] for number in mixed]
        kept = {number: record for number, record in kept.items() if number not in mixed}
    if damaged and not overwrite:
        raise UsageError(listed_damage(job.folder, damaged), hint="`overwrite` makes them again")
    return waiting, kept


def all_are_there(job: PartJob, parts: Sequence[Part]) -> bool:
    """Return whether all parts have a record, whatever it says: a look at names alone, which costs little."""
    names = set(os.listdir(job.folder))
    return all(f"{part.name}.json" in names for part in parts)


def records_of(folder: str) -> tuple[Plan, list[Record]]:
    """Read the plan and all records of a data set that is to be checked, and check the sizes of its files.

    Raises:
        InputError: if there is no data set.
        CheckFailed: if a part is missing or damaged.
    """
    plan = read_plan(folder)
    if plan is None:
        raise InputError(f"there is no data set in {show_path(folder)}: it has no {PLAN}")
    fingerprint, sizes, on_error = plan.fingerprint(), sizes_in(folder), plan.settings.get("on_error", "fail")
    records: list[Record] = []
    damaged: list[str] = []
    for number, inputs in enumerate(plan.parts):
        name = f"part-{number:05}"
        record = read_record(os.path.join(folder, f"{name}.json"))
        if record is None:
            damaged.append(f"the record of {name} is damaged" if f"{name}.json" in sizes else f"{name} is missing")
            continue
        described = [{key: value for key, value in each.items() if key != "sha256"} for each in record.inputs]
        is_same = record.plan == fingerprint and described == inputs and record.part == number
        if not is_same or not is_made_with(record, on_error):
            damaged.append(f"{name} was made with other options or inputs")
        elif not _is_of(record, name, plan.settings):
            damaged.append(f"the record of {name} is damaged")
        damaged.extend(f"{file.name} {reason}" for file in record.all_files if (reason := _size_damage(sizes, file)))
        records.append(with_count(record, on_error))
    if not damaged and records:
        mixed = made_of_others(dict(enumerate(records)), hash_of_inputs(records))
        damaged = [f"part-{number:05}: {AN_INPUT} changed since it was made" for number in mixed]
    if damaged:
        raise damaged_set(folder, damaged, MADE_AGAIN)
    return plan, records


def _is_of(record: Record, name: str, settings: Mapping[str, Any]) -> bool:
    """Return whether a record names the files that the settings ask for, and has what else an index is made of."""
    from bpe_cli.sinks.dataset import DATASETS

    endings = DATASETS[settings["format"]].endings_with(settings["columns"])
    sides = SIDES if "val" in settings else ("",)
    files = [file for side in sides for file in file_names(side, name, endings)]
    if record.dtype != settings["dtype"] or (len(sides) > 1 and not has_sides(record)):
        return False
    return [file.name for file in record.files] == files


def _size_damage(sizes: Mapping[str, int], file: PartFile) -> str | None:
    size = sizes.get(file.name)
    if size is None:
        return "is missing"
    return None if size == file.size else f"has {size:,} bytes in place of {file.size:,}"


def open_whole(folder: str) -> Manifest:
    """Read the manifest of a data set that is whole, and check that its files are there and as long as it says.

    Raises:
        InputError: if there is no data set, or it is not whole, or files are missing or damaged; the message names the
            first ones.
    """
    manifest = read_manifest(folder)
    if manifest is None:
        if read_plan(folder) is None:
            raise InputError(f"there is no data set in {show_path(folder)}: it has no {PLAN}")
        raise InputError(
            f"the data set in {show_path(folder)} is not complete: there is no {MANIFEST}",
            hint="run `bpe prepare` again, or `bpe prepare --finish FOLDER` if all parts are there",
        )
    sizes = sizes_in(folder)
    damaged = [
        f"{file.name} {reason}"
        for record in manifest.records
        for file in record.all_files
        if (reason := _size_damage(sizes, file))
    ]
    if damaged:
        raise InputError(listed_damage(folder, damaged))
    return manifest


def sizes_in(folder: str) -> dict[str, int]:
    """Return how many bytes each file of a data set has: a listing, in place of a look at each of many files.

    Raises:
        InputError: if the folder cannot be read.
    """
    sizes = {}
    for inner in ("", *SIDES):
        place = os.path.join(folder, inner)
        if inner and not os.path.isdir(place):
            continue
        try:
            with os.scandir(place) as entries:
                for entry in entries:
                    with contextlib.suppress(FileNotFoundError):  # it went away meanwhile, or is a link to nothing
                        sizes[f"{inner}/{entry.name}" if inner else entry.name] = entry.stat().st_size
        except OSError as error:
            raise cannot_read(place, error) from error
    return sizes


def damaged_set(folder: str, reasons: Sequence[str], hint: str | None = None) -> CheckFailed:
    """Return the error of a data set that was to be checked, and has something missing or damaged: the first places."""
    return CheckFailed(listed_damage(folder, reasons), hint=hint)


def listed_damage(folder: str, reasons: Sequence[str]) -> str:
    """Return the sentence that names the first places where a data set is not as it should be."""
    return f"the data set in {show_path(folder)}: {listed(reasons)}"


def write_manifest(folder: str, plan: Plan, records: Sequence[Record]) -> None:
    """Write the files that cover all parts, and then the manifest; those that are right already stay as they are.

    So do records, but for those of parts that were made while broken rows were errors: they get the count of them.
    """
    from bpe_cli.sinks.atomic import write_file
    from bpe_cli.sinks.draft import remove_leftovers

    remove_leftovers(folder)  # of workers that were lost while others went on
    if "on_error" in plan.settings:
        records = [with_count(record, plan.settings["on_error"]) for record in records]
        for record in records:
            _write_record(os.path.join(folder, f"part-{record.part:05}.json"), dumped(record.to_json()))
    index = index_of(plan, records)
    for name, content in (*index.items(), (MANIFEST, dumped(manifest_of(plan, records, index)))):
        path = os.path.join(folder, name)
        if not _holds(path, content):
            write_file(path, content)


def _write_record(path: str, content: bytes) -> None:
    """Write a record anew where it says something else; its time stays: that at which its inputs began to be read."""
    from bpe_cli.sinks.atomic import Output
    from bpe_cli.sinks.draft import Draft

    if _holds(path, content):
        return
    with Draft(path) as draft:
        Output(draft.stream, show_path(path), path).write(content)
        draft.since = os.stat(path).st_mtime_ns
        draft.prepare()
        draft.publish()


def index_damage(folder: str, index: Mapping[str, bytes]) -> list[str]:
    """Return what is wrong with the files that cover all parts."""
    return [
        f"{name} does not belong to these parts" if os.path.lexists(path) else f"there is no {name}"
        for name, content in index.items()
        if not _holds(path := os.path.join(folder, name), content)
    ]


def _holds(path: str, content: bytes) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(len(content) + 1) == content
    except OSError:
        return False


def remove_parts_from(folder: str, count: int) -> None:
    """Remove the parts of an older data set whose numbers are ``count`` or more: their files, then their records."""
    with os.scandir(folder) as entries:
        names = sorted(entry.name for entry in entries if re.fullmatch(r"part-\d{5,}\.json", entry.name))
    for name in names:
        if int(name[5:-5]) >= count and (record := read_record(os.path.join(folder, name))) is not None:
            remove_files(folder, name[:-5], record)
            remove_file(os.path.join(folder, name))


def strays_in(folder: str, known: Collection[str] = ()) -> list[str]:
    """Return the files that are called like one of a part, in whatever format, and are not among those that are known.

    A run that was killed leaves such files, and so does a record that was lost. Trainers that read all files with an
    ending would read them too.
    """
    return [
        name
        for name in sorted(sizes_in(folder))
        if _number_in(name) is not None and name not in known and os.path.isfile(os.path.join(folder, name))
    ]


def remove_strays(folder: str, parts: Sequence[Part], takes: Callable[[Part], bool]) -> None:
    """Remove files of parts that no record names: of those that ``takes`` says, and of those beyond the last one.

    Other files stay, and so must all in a folder without a plan: there they are somebody else's.
    """
    named: dict[int, set[str]] = {}
    for name in strays_in(folder):
        number = _number_in(name) or 0
        if number < len(parts) and not takes(parts[number]):
            continue
        if number not in named:
            record = read_record(os.path.join(folder, f"part-{number:05}.json"))
            named[number] = set() if record is None else {file.name for file in record.all_files}
        if name not in named[number]:
            remove_file(os.path.join(folder, name))


def _number_in(name: str) -> int | None:
    """Return the number of the part that a file is of, by its name alone; None if it is another file."""
    stem, dot, ending = name.rpartition("/")[2].partition(".")
    if not re.fullmatch("part-[0-9]{5,}", stem) or stem != f"part-{int(stem[5:]):05}":
        return None
    return int(stem[5:]) if f"{dot}{ending}" in _endings() else None


@cache
def _endings() -> frozenset[str]:
    """Return how the files of parts end, in all formats."""
    from bpe_cli.sinks.dataset import DATASETS

    return frozenset((QUARANTINE, *(end for kind in DATASETS.values() for end in kind.endings_with(kind.all_columns))))


def withdraw_manifest(folder: str) -> None:
    """Remove what covers all parts: the manifest first, then the files that the plan in the folder has beside it."""
    plan = plan_in(folder)
    for name in (MANIFEST, *(() if plan is None else index_of(plan, []))):
        remove_file(os.path.join(folder, name))


def plan_in(folder: str) -> Plan | None:
    """Return the plan in a folder; None if there is none, or it is damaged."""
    try:
        return read_plan(folder)
    except InputError:
        return None
