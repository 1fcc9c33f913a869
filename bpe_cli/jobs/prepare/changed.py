"""Remove parts that are there but were made of other bytes than their inputs hold now, or have changed themselves."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from bpe_cli.errors import InputError, UsageError
from bpe_cli.jobs.parts.changed import Made, changed_inputs
from bpe_cli.jobs.prepare.folder import AN_INPUT, listed_damage, withdraw_manifest
from bpe_cli.jobs.prepare.records import (
    Record,
    hash_of_inputs,
    made_of_others,
    read_record,
    remove_file,
    remove_files,
)
from bpe_cli.support.messages import cannot_read, listed, show_path

if TYPE_CHECKING:
    from bpe_cli.jobs.parts import Part
    from bpe_cli.jobs.prepare.part import PartJob
    from bpe_cli.jobs.prepare.sides import PartFile
    from bpe_cli.support.listening import Listener

Takes = Callable[["Part"], bool]


def drop_changed(
    job: PartJob, parts: Sequence[Part], kept: dict[int, Record], *, overwrite: bool, again: Takes | None,
    listener: Listener, first: PartJob | None = None,
) -> list[Part]:  # fmt: skip
    """Remove the parts whose inputs have changed since, from their folder and from those that are kept.

    Args:
        job: What every part has in common.
        parts: All parts.
        kept: The records of those that are there.
        overwrite: Whether they may be removed.
        again: Says of which parts all inputs are read again, whenever they were written; None for none.
        listener: Receives progress and notes.
        first: The job of the first pass of a shuffle, if these are the parts of the second: each depends on all inputs.

    Returns:
        The parts that are gone.

    Raises:
        UsageError: if there are such, and they may not be removed.
        InputError: if an input cannot be read.
        OutputError: if a part cannot be removed.
    """
    if not kept:
        return []
    changed = _changed(job, parts, kept, again, listener, first)
    if changed and first is not None:
        changed = dict.fromkeys(sorted(kept), _names(changed))
    return _drop(job, parts, kept, changed, overwrite, listener)


def drop_damaged(job: PartJob, parts: Sequence[Part], kept: dict[int, Record], listener: Listener) -> list[Part]:
    """Remove the parts of which a file has not the bytes that its record says, as ``drop_changed`` does.

    Args:
        job: What every part has in common.
        parts: The parts of which all files are read.
        kept: The records of those that are there; their files have the right sizes.
        listener: Receives progress and notes.

    Returns:
        The parts that are gone.

    Raises:
        InputError: if a file cannot be read.
        OutputError: if a part cannot be removed.
    """
    read = [kept[part.number] for part in parts if part.number in kept]
    damaged = unlike_their_records(job.folder, read, "comparing parts", listener)
    if not damaged:
        return []
    names = [file.name for _, file in damaged]
    gone = [part for part in parts if part.number in {record.part for record, _ in damaged}]
    _remove(job, gone, kept)
    do = "does" if len(names) == 1 else "do"
    listener.note(f"{listed(names)} {do} not match the record: {_are(gone)} made again")
    return gone


def unlike_their_records(
    folder: str, records: Sequence[Record], task: str, listener: Listener
) -> list[tuple[Record, PartFile]]:
    """Read all files of parts; return those that have other bytes than their records say.

    Raises:
        InputError: if one cannot be read.
    """
    import hashlib

    files = [(record, file) for record in records for file in record.all_files]
    damaged = []
    with listener.task(task, sum(file.size for _, file in files)) as advance:
        for record, file in files:
            path = os.path.join(folder, file.name)
            try:
                with open(path, "rb") as stream:
                    sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
            except OSError as error:
                raise cannot_read(path, error) from error
            if sha256 != file.sha256:
                damaged.append((record, file))
            advance(file.size)
    return damaged


def refuse_changed(
    job: PartJob, parts: Sequence[Part], made: Mapping[int, Record], listener: Listener, first: PartJob | None = None
) -> None:
    """Check, when all parts are there, that no input has changed since: its other parts may be of another version.

    Args:
        job: What every part has in common.
        parts: All parts.
        made: The records of all parts.
        listener: Receives progress.
        first: As in ``drop_changed``.

    Raises:
        InputError: if one has; the message names it. The parts stay, and the next run says the same.
        OutputError: if the manifest of an older data set cannot be removed.
    """
    changed = _changed(job, parts, made, None, listener, first)
    if changed:
        withdraw_manifest(job.folder)
        raise InputError(
            f"{listed(_names(changed))} changed while the data set in {show_path(job.folder)} was made",
            hint="run the same command with `overwrite` when nobody writes to the inputs",
        )


def drop_mixed(
    job: PartJob, parts: Sequence[Part], kept: dict[int, Record], first: Sequence[Record], *, overwrite: bool,
    listener: Listener,
) -> list[Part]:  # fmt: skip
    """Remove the parts of a shuffle with documents of other versions of the inputs than its first pass has read now.

    That of a whole data set is gone, and with a part goes what was known of its inputs; but the other parts have
    documents of them, and know the hash of all.

    Args:
        job: What every part has in common.
        parts: All parts.
        kept: The records of those that are there.
        first: The records of the first pass, of all parts in order.
        overwrite: Whether they may be removed.
        listener: Receives notes.

    Returns:
        The parts that are gone.

    Raises:
        UsageError: if there are such, and they may not be removed.
        OutputError: if a part cannot be removed.
    """
    all_inputs = hash_of_inputs(first)
    for number in made_of_others(kept, all_inputs):  # others may have made it again during the first pass
        if (record := read_record(job.record_path(parts[number]))) is not None:
            kept[number] = record
    mixed = {number: [AN_INPUT] for number in made_of_others(kept, all_inputs)}
    return _drop(job, parts, kept, mixed, overwrite, listener)


def _drop(
    job: PartJob, parts: Sequence[Part], kept: dict[int, Record], changed: Mapping[int, Sequence[str]],
    overwrite: bool, listener: Listener,
) -> list[Part]:  # fmt: skip
    """Remove the parts of which something changed, and return them; say what changed, and raise if they are to stay."""
    if not changed:
        return []
    if not overwrite:
        reasons = [
            f"{parts[number].name}: {listed(names)} changed since it was made"
            for number, names in sorted(changed.items())
        ]
        raise UsageError(listed_damage(job.folder, reasons), hint="`overwrite` makes them again")
    gone = [parts[number] for number in sorted(changed)]
    _remove(job, gone, kept)
    listener.note(f"{listed(_names(changed))} changed since: {_are(gone)} made again")
    return gone


def _remove(job: PartJob, gone: Sequence[Part], kept: dict[int, Record]) -> None:
    withdraw_manifest(job.folder)
    for part in gone:
        remove_files(job.folder, part.name, kept[part.number])
        remove_file(job.record_path(part))
        del kept[part.number]


def _are(gone: Sequence[Part]) -> str:
    return "1 part is" if len(gone) == 1 else f"{len(gone):,} parts are"


def _names(changed: Mapping[int, Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(name for each in changed.values() for name in each))


def _changed(
    job: PartJob, parts: Sequence[Part], kept: Mapping[int, Record], again: Takes | None, listener: Listener,
    first: PartJob | None = None,
) -> dict[int, list[str]]:  # fmt: skip
    """Return the names of the inputs that have changed, of each part that has such, and of those of a first pass."""
    changed = {}
    if first is not None:
        records = {part.number: read_record(first.record_path(part)) for part in parts}
        same = {number: record for number, record in records.items() if record and record.plan == job.plan}
        changed = _changed(first, parts, same, None, listener)

    def made(number: int, record: Record) -> Made:
        is_read = again is not None and again(parts[number])
        hashes = [described.get("sha256") for described in record.inputs]
        return Made(parts[number], hashes, None if is_read else job.record_path(parts[number]))

    return changed | changed_inputs({number: made(number, record) for number, record in kept.items()}, listener)
