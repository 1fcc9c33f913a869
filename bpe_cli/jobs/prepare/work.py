"""What an engine does with each part: it makes it, or does one of the two passes of a shuffle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from bpe_cli.engines.base import Work
from bpe_cli.jobs.prepare.changed import drop_changed
from bpe_cli.jobs.prepare.folder import make_inner, what_is_left
from bpe_cli.jobs.prepare.making import run_part
from bpe_cli.jobs.prepare.scratch_folder import SCRATCH, check_scratch
from bpe_cli.jobs.prepare.shuffle import first_pass, gather_part, scatter_part
from bpe_cli.support.fast_dataclass import replace

if TYPE_CHECKING:
    from bpe_cli.engines.base import Engine
    from bpe_cli.jobs.parts import Part
    from bpe_cli.jobs.prepare.part import PartJob
    from bpe_cli.jobs.prepare.records import Record
    from bpe_cli.support.listening import Listener
    from bpe_cli.tokenizer import Tokenizer

PartWork = Work["PartJob", "Part", "Record"]


def work_of(job: PartJob) -> PartWork:
    """Return the work of making parts."""
    return Work(job, _begin, _run, _name_of, _size_of)


def second_pass(job: PartJob, all_inputs: str) -> PartWork:
    """Return the work of the second pass of a shuffle; ``all_inputs`` is the hash of what the first has read."""
    return replace(work_of(replace(job, all_inputs=all_inputs)), run=_gather)


def do_first_pass(
    engine: Engine, job: PartJob, parts: Sequence[Part], takes: Callable[[Part], bool], listener: Listener,
    again: Callable[[Part], bool] | None = None,
) -> dict[int, Record]:  # fmt: skip
    """Do the first pass of a shuffle, as far as it is not done.

    Args:
        engine: Who does it.
        job: What every part has in common.
        parts: All parts.
        takes: Says which of them are done by this run.
        listener: Receives progress and notes.
        again: Says of which parts that are done all inputs are compared; None for those written since.

    Returns:
        The records of the parts of which it is done, whoever did it.

    Raises:
        UsageError: if something else lies in the folder that it needs.
    """
    first = first_pass(job)
    check_scratch(job.folder)
    make_inner(job.folder, [SCRATCH])
    waiting, kept = what_is_left(first, parts, overwrite=True)
    waiting += drop_changed(first, parts, kept, overwrite=True, again=again, listener=listener)
    mine = sorted((part for part in waiting if takes(part)), key=lambda part: part.number)
    work = Work(first, _begin, _scatter, _name_of, _size_of)
    with listener.task("shuffling", sum(part.size for part in mine)) as advance:
        for _ in engine.run(work, mine, advance, listener.note):
            pass
    return what_is_left(first, parts, overwrite=True)[1]


def _begin(job: PartJob) -> Tokenizer:
    return job.load()


def _run(job: PartJob, model: Tokenizer, part: Part, advance: Callable[[int], None]) -> Record:
    return run_part(job, part, model, 1, advance)


def _scatter(job: PartJob, model: Tokenizer, part: Part, advance: Callable[[int], None]) -> Record:
    return scatter_part(job, part, model, 1, advance)


def _gather(job: PartJob, model: Tokenizer, part: Part, advance: Callable[[int], None]) -> Record:
    return gather_part(job, part, model, advance)


def _name_of(part: Part) -> str:
    return part.name


def _size_of(part: Part) -> int:
    return part.size
