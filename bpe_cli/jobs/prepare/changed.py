"""Remove parts that are there but were made of other bytes than their inputs hold now."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from bpe_cli.errors import UsageError
from bpe_cli.jobs.parts.changed import Made, changed_inputs
from bpe_cli.jobs.prepare.folder import listed_damage, withdraw_manifest
from bpe_cli.jobs.prepare.records import Record, read_record, remove_file, remove_files
from bpe_cli.support.messages import listed

if TYPE_CHECKING:
    from bpe_cli.jobs.parts import Part
    from bpe_cli.jobs.prepare.part import PartJob
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
    changed = _changed(job, parts, kept, again, listener)
    if first is not None:
        records = {part.number: read_record(first.record_path(part)) for part in parts}
        same = {number: record for number, record in records.items() if record and record.plan == job.plan}
        changed = _changed(first, parts, same, None, listener) | changed
        if changed:
            changed = dict.fromkeys(sorted(kept), _names(changed))
    if not changed:
        return []
    if not overwrite:
        reasons = [
            f"{parts[number].name}: {listed(names)} changed since it was made"
            for number, names in sorted(changed.items())
        ]
        raise UsageError(listed_damage(job.folder, reasons), hint="`overwrite` makes them again")
    withdraw_manifest(job.folder)
    for number in sorted(changed):
        remove_files(job.folder, parts[number].name, kept[number])
        remove_file(job.record_path(parts[number]))
        del kept[number]
    count = "1 part is" if len(changed) == 1 else f"{len(changed):,} parts are"
    listener.note(f"{listed(_names(changed))} changed since: {count} made again")
    return [parts[number] for number in sorted(changed)]


def _names(changed: Mapping[int, Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(name for each in changed.values() for name in each))


def _changed(
    job: PartJob, parts: Sequence[Part], kept: Mapping[int, Record], again: Takes | None, listener: Listener
) -> dict[int, list[str]]:
    """Return the names of the inputs that have changed, of each part that has such."""

    def made(number: int, record: Record) -> Made:
        is_read = again is not None and again(parts[number])
        hashes = [described.get("sha256") for described in record.inputs]
        return Made(parts[number], hashes, None if is_read else job.record_path(parts[number]))

    return changed_inputs({number: made(number, record) for number, record in kept.items()}, listener)
