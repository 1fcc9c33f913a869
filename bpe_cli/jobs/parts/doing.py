"""Do the parts of inputs whose results are kept in a folder, as far as they are not there yet.

The folder holds a plan beside them. Parts are runs of the inputs in their order. How the inputs are divided changes no
result, so when there are more of them, the parts of the plan are kept as they are, and only the others are divided:
more data later costs the new parts alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from bpe_cli.engines.base import Engine, Work
from bpe_cli.errors import InputError, UsageError
from bpe_cli.jobs.parts import PART_BYTES, Part, Share, divide
from bpe_cli.jobs.parts.changed import Made, changed_inputs
from bpe_cli.jobs.parts.folder import PLAN, check_inputs, folder_of_run
from bpe_cli.jobs.parts.kept import Described, Found, KeptParts, Kind
from bpe_cli.support.fast_dataclass import dataclass, replace
from bpe_cli.support.json_files import dumped, read_json
from bpe_cli.support.listening import SILENCE, Listener
from bpe_cli.support.messages import listed, show_path

if TYPE_CHECKING:
    from bpe_cli.corpus import Input, Inputs, Source


@dataclass(frozen=True, slots=True)
class PartsFolder:
    """Where the results of parts are kept, and how they are made.

    Attributes:
        path: The folder; it is made if there is none.
        share: Which parts are done, where several machines share them; None for all.
        part_bytes: How many bytes of input a new part has.
        overwrite: Whether what is damaged, was done otherwise, or is of other inputs, is done again.
    """

    path: str
    share: Share | None = None
    part_bytes: int = PART_BYTES
    overwrite: bool = False


@dataclass(frozen=True, slots=True)
class DoneParts:
    """What stands in a folder of parts.

    Attributes:
        folder: The folder.
        parts: How many parts the inputs have.
        made: How many of them this run did.
        kept: How many were there already.
        total: How many pieces, or documents, the parts have that are there.
    """

    folder: str
    parts: int
    made: int
    kept: int
    total: int

    @property
    def is_whole(self) -> bool:
        """Whether all parts are there."""
        return self.made + self.kept == self.parts


def do_parts(
    place: PartsFolder,
    kind: Kind,
    settings: dict[str, Any],
    inputs: Inputs,
    source: Source | None,
    work: Callable[[KeptParts], Work[Any, Part, int]],
    engine: Engine,
    *,
    task: str,
    listener: Listener = SILENCE,
    inner: Sequence[str] = (),
) -> DoneParts:
    """Do the parts that are not in a folder yet.

    Args:
        place: The folder.
        kind: What is kept of parts.
        settings: All that changes the results, as JSON values.
        inputs: The inputs.
        source: How documents are made of them; None if no input may be cut.
        work: Returns what is done with each part; its result is the number that the record has.
        engine: Who does the parts.
        task: What the listener hears that is done, as ``counting``.
        listener: Receives progress and notes.
        inner: The folders that may be within the folder.

    Raises:
        UsageError: if an input cannot be divided, or the folder holds something else.
        InputError: if an input was replaced while its parts were done: not all may be of the same version.
        BpeError: what the work raises.
    """
    from bpe_cli.sinks.atomic import write_file

    check_inputs(inputs.items, place.path, f"the {kind.noun}")
    kept = KeptParts.of(kind, place.path, settings)
    with folder_of_run(place.path, alone=place.share is None, inner=inner):
        there = _plan_there(place, kind, settings, inputs)
        parts = extended(there, inputs, source, place.part_bytes)
        plan = [part.described() for part in parts]
        by_name = {kept.name(described): part for described, part in zip(plan, parts, strict=True)}
        waiting, found = _what_is_left(place, kept, by_name, listener)
        content = {"schema": kind.schemas[0], "settings": settings, "parts": plan}
        if read_plan(place.path, kind, damaged=None) != content:
            kept.remove_others(by_name)
            write_file(os.path.join(place.path, PLAN), dumped(content))
        mine = [part for part in waiting if place.share is None or place.share.takes(part)]
        total = sum(each.number for each in found)
        with listener.task(task, sum(part.size for part in mine)) as advance:
            for number in engine.run(work(kept), mine, advance, listener.note):
                total += number
        if waiting and len(mine) + len(found) == len(by_name):
            _refuse_changed(place, kept, by_name.values(), listener)
    return DoneParts(place.path, len(by_name), len(mine), len(found), total)


def extended(plan: Iterable[Described], inputs: Inputs, source: Source | None, part_bytes: int) -> list[Part]:
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


_OTHERWISE = "name another folder, or use `overwrite`"


def read_plan(folder: str, kind: Kind, *, damaged: str | None = _OTHERWISE) -> dict[str, Any] | None:
    """Return the plan in a folder; None if there is none, or, without a hint for that, if it is damaged."""
    path = os.path.join(folder, PLAN)
    try:
        plan = read_json(path)
    except InputError:
        if damaged is None:
            return None
        raise
    if plan is None or _is_plan(plan, kind):
        return plan
    if damaged is None:
        return None
    raise InputError(f"{show_path(path)} is not the plan of {kind.noun} of this version", hint=damaged)


def _is_plan(plan: dict[str, Any], kind: Kind) -> bool:
    parts = plan.get("parts")
    return (
        plan.get("schema") == kind.schemas[0]
        and isinstance(plan.get("settings"), dict)
        and isinstance(parts, list)
        and all(isinstance(part, list) and part and all(map(_is_input, part)) for part in parts)
    )


def _is_input(each: object) -> bool:
    if not isinstance(each, dict) or not isinstance(each.get("path"), str):
        return False
    numbers = [each.get("bytes"), each.get("from", 0), each.get("to", 0)]
    return isinstance(each.get("version", ""), str) and all(type(number) is int for number in numbers)


def _plan_there(place: PartsFolder, kind: Kind, settings: dict[str, Any], inputs: Inputs) -> list[Described]:
    """Return the parts of the plan that is there; none if they are of other settings, and may be overwritten.

    Raises:
        UsageError: if the folder holds something else, or what was made otherwise or of other inputs, and
            nothing may be overwritten.
    """
    folder, hint, noun = place.path, _OTHERWISE, kind.noun
    plan = read_plan(folder, kind, damaged=None if place.overwrite else hint)
    if plan is None:
        names = [name for name in sorted(os.listdir(folder)) if not name.startswith(".")]
        if names and not place.overwrite:
            found = listed(names, separator=", ")
            raise UsageError(
                f"the folder {show_path(folder)} is not empty, and has no {noun} in it: {found}", hint=hint
            )
        return []
    if plan["settings"] != settings:
        if not place.overwrite:
            keys = dict.fromkeys((*settings, *plan["settings"]))  # not all have all of them
            other = ", ".join(key for key in keys if settings.get(key) != plan["settings"].get(key))
            raise UsageError(f"the {noun} in {show_path(folder)} were made with other settings: {other}", hint=hint)
        return []
    parts: list[Described] = plan["parts"]
    now = {each["path"]: _identity(each) for item in inputs.items for each in Part(0, (item,)).described()}
    known = {each["path"]: _identity(each) for part in parts for each in part}
    changed = [path for path, identity in known.items() if path in now and now[path] != identity]
    gone = [path for path in known if path not in now]
    for which, what in ((changed, _CHANGED), (gone, "also of files that are not named now")):
        if which and not place.overwrite:
            raise _of_other_files(place, kind, what, [show_path(path) for path in which])
    return parts


_CHANGED = "of files that have changed"


def _of_other_files(place: PartsFolder, kind: Kind, what: str, names: Sequence[str]) -> UsageError:
    return UsageError(
        f"the {kind.noun} in {show_path(place.path)} are {what}: {listed(names, separator=', ')}",
        hint=f"name another folder, or use `overwrite`, which keeps the {kind.noun} of all others",
    )


def _what_is_left(
    place: PartsFolder, kept: KeptParts, parts: dict[str, Part], listener: Listener
) -> tuple[list[Part], list[Found]]:
    """Return the parts that are to be done, numbered anew, and what the records of the others say.

    With ``overwrite``, the inputs of all own parts are compared with what they were, whenever they were written.
    """
    numbered = [Part(number, part.inputs) for number, part in enumerate(parts.values())]
    done: dict[int, Found] = {}
    made: dict[int, Made] = {}
    damaged: list[str] = []
    for name, part in zip(parts, numbered, strict=True):
        described = part.described()
        there = kept.find(described)
        if isinstance(there, Found):
            done[part.number] = there
            is_read = place.overwrite and (place.share is None or place.share.takes(part))
            made[part.number] = Made(part, there.inputs, None if is_read else kept.record_path(described))
        elif there is not None:
            damaged.append(f"{name}: {there}")
    if damaged and not place.overwrite:
        raise UsageError(kept.listed(damaged), hint=f"with `overwrite` they are {kept.kind.verb} again")
    changed = changed_inputs(made, listener)
    if changed and not place.overwrite:
        names = dict.fromkeys(name for number in sorted(changed) for name in changed[number])
        raise _of_other_files(place, kept.kind, _CHANGED, list(names))
    waiting = [part for part in numbered if part.number not in done or part.number in changed]
    return waiting, [there for number, there in done.items() if number not in changed]


def _refuse_changed(place: PartsFolder, kept: KeptParts, parts: Iterable[Part], listener: Listener) -> None:
    """Check, when all parts are there, that no input has changed since: its other parts may be of another version."""
    made: dict[int, Made] = {}
    for number, part in enumerate(parts):
        described = part.described()
        if isinstance(there := kept.find(described), Found):
            made[number] = Made(part, there.inputs, kept.record_path(described))
    if changed := changed_inputs(made, listener):
        names = dict.fromkeys(name for number in sorted(changed) for name in changed[number])
        raise InputError(
            f"{listed(list(names))} changed while the {kept.kind.noun} in {show_path(place.path)} were made",
            hint="run the same command with `overwrite` when nobody writes to the inputs",
        )
