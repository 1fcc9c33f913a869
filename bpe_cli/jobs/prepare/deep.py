"""Make some parts of a data set again from their inputs, and compare them with what lies there.

Which parts is drawn by a fixed hash of the plan and the number of the part, so that nobody can know it by the data, and
the same parts are drawn again. They are made in a temporary folder, by the code that made them first, and must have the
same records: the same hashes of inputs and files. A part of a shuffled data set has documents of all inputs, so that
all of them are read for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from bpe_cli.errors import UsageError
from bpe_cli.jobs.parts.changed import other_inputs
from bpe_cli.jobs.prepare.folder import make_inner
from bpe_cli.jobs.prepare.making import run_part
from bpe_cli.jobs.prepare.part import PartJob
from bpe_cli.jobs.prepare.records import hash_of_inputs
from bpe_cli.jobs.prepare.scratch_folder import SCRATCH
from bpe_cli.jobs.prepare.shuffle import first_pass, gather_part, scatter_part
from bpe_cli.support.fast_dataclass import replace
from bpe_cli.support.messages import listed, show_path
from bpe_cli.support.unfinished import UNFINISHED

if TYPE_CHECKING:
    from bpe_cli.jobs.parts import Part
    from bpe_cli.jobs.prepare.records import Plan, Record
    from bpe_cli.tokenizer import Tokenizer


def check_same_plan(folder: str, there: Plan, now: Plan) -> None:
    """Check that the inputs and options are those that a data set was made with.

    Raises:
        UsageError: if they are not; the message says which differ.
    """
    if other := sorted(key for key in there.settings.keys() | now.settings.keys()
                       if there.settings.get(key) != now.settings.get(key)):  # fmt: skip
        raise UsageError(
            f"the data set in {show_path(folder)} was made with other settings: {', '.join(other)}",
            hint="give the tokenizer and the options that it was made with",
        )
    if there.parts != now.parts:
        raise UsageError(
            f"the data set in {show_path(folder)} was made of other inputs: {other_inputs(there.parts, now.parts)}",
            hint="give the inputs that it was made of, as they were",
        )


def drawn(parts: Sequence[Part], plan: Plan, count: int | None) -> list[Part]:
    """Return the parts that are made again; all if ``count`` is None."""
    if count is None or count >= len(parts):
        return list(parts)
    key = plan.fingerprint().encode()

    def place(part: Part) -> bytes:
        return blake2b(b"bpe deep %d" % part.number, key=key).digest()

    return sorted(sorted(parts, key=place)[:count], key=lambda part: part.number)


@contextmanager
def _temporary_folder() -> Iterator[str]:
    """Make a folder that goes at the end, also if a signal ends the process."""
    with UNFINISHED:
        folder = TemporaryDirectory(prefix="bpe-deep-")
        UNFINISHED.folders.add(folder.name)
    try:
        with folder as name:
            yield name
    finally:
        UNFINISHED.folders.discard(folder.name)


def differing(
    job: PartJob, model: Tokenizer, parts: Sequence[tuple[Part, Record]], threads: int, advance: Callable[[int], None]
) -> list[str]:
    """Make parts again, one after the other in a temporary folder; return what is not as their records say.

    Raises:
        InputError: if an input cannot be read any longer, or cannot be encoded.
        OutputError: if there is no room for a part.
    """
    wrong: list[str] = []
    for part, there in parts:
        with _temporary_folder() as folder:
            make_inner(folder, [name for name in job.options.sides if name])
            again = run_part(replace(job, folder=folder), part, model, threads, advance)
        wrong += _differences(part.name, there, again)
    return wrong


def differing_of_shuffled(
    job: PartJob, model: Tokenizer, parts: Sequence[Part], there: Sequence[Record], again: Sequence[Part], threads: int,
    advance: Callable[[int], None],
) -> list[str]:  # fmt: skip
    """Make parts of a shuffled data set again in a temporary folder; return what is not as their records say.

    All inputs are encoded, since the documents of a part come from all of them; but no others are written than those.

    Raises:
        InputError: if an input cannot be read any longer, or cannot be encoded.
        OutputError: if there is no room for the parts.
    """
    only = frozenset(part.number for part in again)
    wrong: list[str] = []
    with _temporary_folder() as folder:
        made = replace(job, folder=folder)
        make_inner(folder, [SCRATCH, *(name for name in job.options.sides if name)])
        for part, before in zip(parts, there, strict=True):
            wrong += _changed(part.name, before, scatter_part(first_pass(made), part, model, threads, advance, only))
        if not wrong:  # else nothing can be compared
            made = replace(made, all_inputs=hash_of_inputs(there))
            for part in again:
                wrong += _differences(part.name, there[part.number], gather_part(made, part, model))
    return wrong


def _changed(name: str, there: Record, again: Record) -> list[str]:
    """Return which inputs of a part have changed since."""
    changed = [
        str(before.get("path"))
        for before, after in zip(there.inputs, again.inputs, strict=True)
        if before.get("sha256") != after.get("sha256")
    ]
    return [f"{name} cannot be compared: {listed(changed)} changed since"] if changed else []


def _differences(name: str, there: Record, again: Record) -> list[str]:
    """Return what of a part is not as it was when it was made again."""
    if changed := _changed(name, there, again):
        return changed
    files = {file.name: file for file in again.all_files}
    other = [file.name for file in there.all_files if files.pop(file.name, None) != file] + sorted(files)
    if other:
        return [f"{each} is not what its inputs make" for each in other]
    return [] if there == again else [f"the record of {name} is not what its inputs make"]
