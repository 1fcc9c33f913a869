"""Find inputs whose bytes have changed since a part was made of them, though their size has not.

An input is read again, and its hash compared with that in the record of the part, if its file was written or moved
there after the part was begun, which is the time that the record has, or if the caller says so. Objects are not: the
plan has their versions. One whose size changes before it is read is refused when its part is made.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bpe_cli.corpus.opening import is_url
from bpe_cli.errors import InputError
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.messages import cannot_read, listed, show_path

if TYPE_CHECKING:
    from bpe_cli.corpus import Input, InputHash
    from bpe_cli.jobs.parts import Part
    from bpe_cli.support.listening import Listener


@dataclass(frozen=True, slots=True)
class Made:
    """A part that was made.

    Attributes:
        part: The part.
        hashes: The hash of each of its inputs when it was made; None if nobody took it.
        record: Where its record lies; None if all inputs are to be read, whenever they were written.
    """

    part: Part
    hashes: Sequence[str | None]
    record: str | None


def changed_inputs(made: Mapping[int, Made], listener: Listener) -> dict[int, list[str]]:
    """Return the names of the inputs that have changed, of each part that has such.

    Args:
        made: The parts that are there, by their numbers.
        listener: Receives progress.

    Raises:
        InputError: if an input or a record cannot be read.
    """
    written: dict[str, int] = {}
    doubtful: list[tuple[int, Input, str]] = []
    for number, each in made.items():
        since = 0 if each.record is None else _status(each.record).st_mtime_ns
        for item, sha256 in zip(each.part.inputs, each.hashes, strict=False):
            if not sha256 or is_url(item.path):
                continue
            if item.path not in written:
                status = _status(item.path)
                # A file that was moved here may have been written long before, but its status changed with the move.
                written[item.path] = max(status.st_mtime_ns, status.st_ctime_ns)
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


def refuse_resized(part: Part, hashes: Sequence[InputHash]) -> None:
    """Check that the files of a part had the size that the plan says when they were read.

    Args:
        part: The part.
        hashes: What was read of each of its inputs. Objects have a version, and are not asked.

    Raises:
        InputError: if a file was longer or shorter.
    """
    for item, (_, _, size) in zip(part.inputs, hashes, strict=True):
        if item.size is None or is_url(item.path):
            continue
        # Of an extent only some lines were read: those of another part may be another version's.
        there = size if item.extent is None else _status(item.path).st_size
        if there == item.size:
            continue
        if item.size or _status(item.path).st_size:  # files of /proc have a size of 0, and something in them
            raise InputError(
                f"{item.name} has {there:,} bytes in place of {item.size:,}: it changed since its parts were made",
                hint="run the same command with `overwrite` when nobody writes to the file",
            )


def other_inputs(before: Sequence[Sequence[Any]], now: Sequence[Sequence[Mapping[str, Any]]]) -> str:
    """Return how the inputs of a plan, as it lies in a folder, differ from those of now, for a message.

    >>> a, b, longer = ({"path": "a", "bytes": 1}, {"path": "b", "bytes": 1}, {"path": "a", "bytes": 2})
    >>> other_inputs([[a]], [[longer], [b]]), other_inputs([[a, b]], [[b, a]])
    ('b is new; a has 2 bytes in place of 1', 'they come in another order, or not the same number of times')
    """
    named = ([each for part in parts for each in part if isinstance(each, dict)] for parts in (before, now))
    then, there = ({str(each.get("path")): each for each in inputs} for inputs in named)
    changed = [f"{show_path(path)} is missing" for path in then if path not in there]
    changed += [f"{show_path(path)} is new" for path in there if path not in then]
    for path, old in then.items():
        new = there.get(path, old)
        if new.get("bytes") != old.get("bytes"):
            size = f" in place of {old['bytes']:,}" if type(old.get("bytes")) is int else ""
            changed.append(f"{show_path(path)} has {new['bytes']:,} bytes{size}")
        elif new.get("version") != old.get("version"):
            changed.append(f"{show_path(path)} is another version of the object")
    return listed(changed) if changed else "they come in another order, or not the same number of times"


def _status(path: str) -> os.stat_result:
    try:
        return os.stat(path)
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
