"""The folder of the counts of parts: how a corpus is divided, what of it is there, and what is wrong with that."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bpe_cli.errors import FormatError, InputError, UsageError
from bpe_cli.jobs.parts import PART_BYTES, Part, Share, divide
from bpe_cli.jobs.parts.folder import PLAN
from bpe_cli.support.fast_dataclass import dataclass, replace
from bpe_cli.support.json_files import dumped, read_json
from bpe_cli.support.messages import MOST_NAMED, show_path

if TYPE_CHECKING:
    from bpe_cli.corpus import Input, Inputs, Source
    from bpe_cli.trainers.base import Options

PLAN_SCHEMA, PART_SCHEMA = "bpe-counts-plan/1", "bpe-counts-part/1"

Described = list[dict[str, Any]]
"""The inputs of a part: of each its path, its bytes, and the extent if it has one."""


@dataclass(frozen=True, slots=True)
class CountsFolder:
    """Where the counts of parts lie, and how they are made.

    Attributes:
        path: The folder; it is made if there is none.
        share: Which parts are counted, where several machines share them; None for all.
        part_bytes: How many bytes of input a new part has.
        overwrite: Whether what is damaged, was counted otherwise, or is of other inputs, is counted again.
    """

    path: str
    share: Share | None = None
    part_bytes: int = PART_BYTES
    overwrite: bool = False


@dataclass(frozen=True, slots=True)
class CountJob:
    """What every part has in common: what a worker gets once. A plain value, which can be pickled.

    Attributes:
        source: How documents are made of inputs; its paths are not read.
        options: What is to be trained.
        max_memory: Bytes that the counts of a part may take.
        folder: Where.
        settings: The hash of all that changes counts.
    """

    source: Source
    options: Options
    max_memory: int
    folder: str
    settings: str

    def name(self, described: Described) -> str:
        """Return how the files of a part are called, without their endings."""
        return "part-" + hashlib.sha256(dumped({"settings": self.settings, "inputs": described})).hexdigest()[:16]

    def path(self, described: Described, ending: str) -> str:
        """Return where a file of a part lies."""
        return os.path.join(self.folder, self.name(described) + ending)


def settings_of(source: Source, options: Options) -> dict[str, Any]:
    """Return all that changes counts, as JSON values.

    Raises:
        UsageError: if a sample is to be drawn, which is one of the whole corpus.
        FormatError: if something of it cannot be written as JSON.
    """
    from dataclasses import asdict

    from bpe_cli.trainers import trainer_for

    trainer = trainer_for(options)
    chosen = trainer.choosing(options)
    if "input_sentence_size" in chosen:
        raise UsageError("`input_sentence_size` draws a sample of the whole corpus, and each part is counted by itself")
    cutting = trainer.cutting(options)
    settings = {
        "cutting": asdict(cutting) | {"special_tokens": list(cutting.special_tokens)},
        "chosen": chosen,
        "documents": source.documents,
        "field": source.field,
        "decompress": source.decompress,
        "plain": source.plain,
        **({} if source.ending == "txt" else {"member": source.ending}),
    }
    try:
        dumped(settings)
    except TypeError as error:  # a text that is not UTF-8
        raise FormatError(f"the options cannot be written as JSON: {error}") from error
    return settings


def extended(plan: Iterable[Described], inputs: Inputs, source: Source, part_bytes: int) -> list[Part]:
    """Divide inputs into parts, and keep the parts of a plan whose inputs still follow each other.

    The same inputs give the same parts again, whatever ``part_bytes`` is then.

    >>> from bpe_cli.corpus import Input, Inputs, Source
    >>> items = [Input(name, 40) for name in "abcd"]
    >>> first = extended([], Inputs(tuple(items[:3])), Source(("x",)), 90)
    >>> [[item.path for item in part.inputs] for part in first]
    [['a', 'b'], ['c']]
    >>> more = extended([part.described() for part in first], Inputs(tuple(items)), Source(("x",)), 90)
    >>> [[item.path for item in part.inputs] for part in more]
    [['a', 'b'], ['c'], ['d']]
    """
    groups: dict[tuple[Any, ...], list[Described]] = {}
    extents: dict[tuple[Any, ...], list[tuple[int, int]]] = {}
    for described in plan:
        key = _identity(described[0])
        if "from" in described[0]:
            extents.setdefault(key, []).append((described[0]["from"], described[0]["to"]))
        else:
            groups.setdefault(key, []).append(described)
    found: list[tuple[Input, ...]] = []
    new: list[Input] = []
    items = inputs.items
    own: Described = [each for item in items for each in Part(0, (item,)).described()]

    def divide_new() -> None:
        found.extend(part.inputs for part in divide(type(inputs)(tuple(new)), source, part_bytes))
        new.clear()

    place = 0
    while place < len(items):
        key = _identity(own[place])
        cuts = sorted(set(extents.get(key, ())))
        there = [each for each in groups.get(key, ()) if own[place : place + len(each)] == each]
        group = max(there, key=len, default=[])
        if cuts and [start for start, _ in cuts] == [0, *(end for _, end in cuts[:-1])] and cuts[-1][1] == key[1]:
            divide_new()
            found.extend((replace(items[place], extent=cut),) for cut in cuts)
            place += 1
        elif group:
            divide_new()
            found.append(items[place : place + len(group)])
            place += len(group)
        else:
            new.append(items[place])
            place += 1
    divide_new()
    return [Part(number, group) for number, group in enumerate(found)]


def _identity(described: dict[str, Any]) -> tuple[Any, ...]:
    """Return what a file or an object is known by: its path, its bytes, and its version if it has one."""
    return described["path"], described["bytes"], described.get("version")


def pieces_of(job: CountJob, described: Described) -> int | str | None:
    """Return how many pieces a part has that is there, by its record; what is wrong with it; or None if none is there.

    Its hash is not computed: whoever adds the counts up does that.
    """
    path = job.path(described, ".json")
    try:
        record = read_json(path)
    except InputError as error:
        if isinstance(error.__cause__, OSError):
            raise
        return "its record is damaged"
    if record is None:
        return None
    inputs, file, pieces = record.get("inputs"), record.get("file"), record.get("pieces")
    is_ours = record.get("schema") == PART_SCHEMA and isinstance(file, dict) and type(pieces) is int
    if not is_ours or not isinstance(inputs, list) or not all(isinstance(each, dict) for each in inputs):
        return "its record is damaged"
    without = [{key: value for key, value in each.items() if key != "sha256"} for each in inputs]
    if record.get("settings") != job.settings or without != described:
        return "it was counted otherwise"
    try:
        size = os.stat(job.path(described, ".counts")).st_size
    except OSError:
        return "its counts are missing"
    if not isinstance(file, dict) or size != file.get("bytes"):
        return f"its counts have {size:,} bytes, and its record says otherwise"
    return int(pieces or 0)


def read_plan(folder: str, *, damaged: str | None = "name another folder, or use `overwrite`") -> dict[str, Any] | None:
    """Return the plan in a folder; None if there is none, or, without a hint for that, if it is damaged."""
    path = os.path.join(folder, PLAN)
    try:
        plan = read_json(path)
    except InputError:
        if damaged is None:
            return None
        raise
    if plan is None or _is_plan(plan):
        return plan
    if damaged is None:
        return None
    raise InputError(f"{show_path(path)} is not the plan of counts of this version", hint=damaged)


def _is_plan(plan: dict[str, Any]) -> bool:
    parts = plan.get("parts")
    return (
        plan.get("schema") == PLAN_SCHEMA
        and isinstance(plan.get("settings"), dict)
        and isinstance(parts, list)
        and all(isinstance(part, list) and part and all(map(_is_input, part)) for part in parts)
    )


def _is_input(each: object) -> bool:
    if not isinstance(each, dict) or not isinstance(each.get("path"), str):
        return False
    numbers = [each.get("bytes"), each.get("from", 0), each.get("to", 0)]
    return isinstance(each.get("version", ""), str) and all(type(number) is int for number in numbers)


def plan_there(counts: CountsFolder, settings: dict[str, Any], inputs: Inputs) -> list[Described]:
    """Return the parts of the plan that is there; none if they are of other settings, and may be overwritten.

    Raises:
        UsageError: if the folder holds something else, or counts that were made otherwise or of other inputs, and
            nothing may be overwritten.
    """
    folder, hint = counts.path, "name another folder, or use `overwrite`"
    plan = read_plan(folder, damaged=None if counts.overwrite else hint)
    if plan is None:
        names = [name for name in sorted(os.listdir(folder)) if not name.startswith(".")]
        if names and not counts.overwrite:
            found = ", ".join(names[:MOST_NAMED])
            raise UsageError(f"the folder {show_path(folder)} is not empty, and holds no counts: {found}", hint=hint)
        return []
    if plan["settings"] != settings:
        if not counts.overwrite:
            other = ", ".join(key for key in settings if settings[key] != plan["settings"].get(key))
            raise UsageError(f"the counts in {show_path(folder)} were made with other settings: {other}", hint=hint)
        return []
    parts: list[Described] = plan["parts"]
    now = {each["path"]: _identity(each) for item in inputs.items for each in Part(0, (item,)).described()}
    known = {each["path"]: _identity(each) for part in parts for each in part}
    changed = [path for path, identity in known.items() if path in now and now[path] != identity]
    gone = [path for path in known if path not in now]
    for which, what in ((changed, "of files that have changed"), (gone, "also of files that are not named now")):
        if which and not counts.overwrite:
            more = f"; and {len(which) - MOST_NAMED:,} more" if len(which) > MOST_NAMED else ""
            raise UsageError(
                f"the counts in {show_path(folder)} are {what}: {', '.join(map(show_path, which[:MOST_NAMED]))}{more}",
                hint="name another folder, or use `overwrite`, which keeps the counts of all others",
            )
    return parts


def what_is_left(job: CountJob, parts: dict[str, Part], counts: CountsFolder) -> tuple[list[Part], list[int]]:
    """Return the parts that are to be counted, numbered anew, and how many pieces each of the others has."""
    waiting: list[Part] = []
    kept: list[int] = []
    damaged: list[str] = []
    for number, (name, part) in enumerate(parts.items()):
        there = pieces_of(job, part.described())
        if isinstance(there, int):
            kept.append(there)
            continue
        if there is not None:
            damaged.append(f"{name}: {there}")
        waiting.append(Part(number, part.inputs))
    if damaged and not counts.overwrite:
        raise UsageError(listed(job.folder, damaged), hint="`overwrite` counts them again")
    return waiting, kept


def listed(folder: str, reasons: Sequence[str]) -> str:
    """Return the sentence about what is wrong with counts; it names the first places."""
    more = f"; and {len(reasons) - MOST_NAMED:,} more" if len(reasons) > MOST_NAMED else ""
    return f"the counts in {show_path(folder)}: {'; '.join(reasons[:MOST_NAMED])}{more}"


def remove_others(folder: str, names: Iterable[str]) -> None:
    """Remove the counts of parts that are none of these: records first."""
    kept = set(names)
    found = [name for name in os.listdir(folder) if re.fullmatch(r"part-[0-9a-f]{16}\.(json|counts)", name)]
    for name in sorted(found, key=lambda name: (name.endswith(".counts"), name)):
        if name.partition(".")[0] not in kept:
            Path(folder, name).unlink(missing_ok=True)
