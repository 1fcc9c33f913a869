"""Find parts that are there but were made of other bytes than their inputs hold now, with the same number of them.

An input is read again, and its hash compared with that of the record, if its file was written since the record was, or
if the caller says so. Objects are not: their versions stand in the plan.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from bpe_cli.corpus.opening import is_url
from bpe_cli.errors import UsageError
from bpe_cli.jobs.prepare.folder import listed_damage, withdraw_manifest
from bpe_cli.jobs.prepare.records import Record, read_record, remove_file, remove_files
from bpe_cli.support.messages import cannot_read, listed

if TYPE_CHECKING:
    from bpe_cli.corpus import Input
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
    written: dict[str, int] = {}
    doubtful: list[tuple[int, Input, str]] = []
    for number, record in kept.items():
        is_read = again is not None and again(parts[number])
        since = 0 if is_read else _written(job.record_path(parts[number]))
        for item, described in zip(parts[number].inputs, record.inputs, strict=False):
            sha256 = described.get("sha256")
            if not sha256 or is_url(item.path):
                continue
            if item.path not in written:
                written[item.path] = _written(item.path)
            if written[item.path] >= since:
                doubtful.append((number, item, sha256))
    changed: dict[int, list[str]] = {}
    if not doubtful:
        return changed
    from concurrent.futures import ThreadPoolExecutor

    from bpe_cli.jobs.parts import size_of
    from bpe_cli.support.ordered_threads import usable_threads

    total = sum(size_of(item) for _, item, _ in doubtful)
    with listener.task("comparing inputs", total) as advance, ThreadPoolExecutor(usable_threads()) as pool:
        hashes = pool.map(_hash_of, [item for _, item, _ in doubtful])
        for (number, item, sha256), now in zip(doubtful, hashes, strict=True):
            if now != sha256:
                changed.setdefault(number, []).append(item.name)
            advance(size_of(item))
    return changed


def _written(path: str) -> int:
    """Return when a file was last written."""
    try:
        return os.stat(path).st_mtime_ns
    except OSError as error:
        raise cannot_read(path, error) from error


def _hash_of(item: Input) -> str:
    """Return the hash of the bytes that a part reads of an input, as they are on disk."""
    from bpe_cli.corpus.extents import read_lines_in
    from bpe_cli.corpus.meter import Meter, digest
    from bpe_cli.corpus.opening import NO_STDIN, read_chunks

    meter = Meter(digest(), None)
    if item.extent is None:
        chunks = read_chunks(item.path, stdin=NO_STDIN, decompressed=False, on_raw=meter)
    else:
        chunks = read_lines_in(item.path, *item.extent, on_raw=meter)
    for _ in chunks:
        pass
    return meter.hexdigest()
