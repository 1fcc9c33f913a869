"""Make one part of a data set: its files appear together, and its record last.

Whatever happens before, a lost machine or ``kill -9``, leaves no record, and so a part that is to be made again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from bpe_cli.corpus.rows import Rows
from bpe_cli.jobs.prepare.documents import divided_by_hash
from bpe_cli.jobs.prepare.encoding import encode_part
from bpe_cli.jobs.prepare.output import PartOutput

if TYPE_CHECKING:
    from bpe_cli.jobs.parts import Part
    from bpe_cli.jobs.prepare.part import PartJob
    from bpe_cli.jobs.prepare.records import Record
    from bpe_cli.tokenizer import Tokenizer


def run_part(
    job: PartJob, part: Part, model: Tokenizer, threads: int = 1, advance: Callable[[int], None] | None = None
) -> Record:
    """Encode the inputs of a part, write its files, and then its record.

    Args:
        job: What every part has in common.
        part: The part.
        model: The tokenizer of the job, loaded.
        threads: How many threads work; they change no result.
        advance: Called with the number of bytes read since the last call.

    Raises:
        InputError: if an input cannot be read, or holds what cannot be encoded; the message says which.
        OutputError: if a file cannot be written.
    """
    with PartOutput(job, part, model) as output:
        masked = job.options.mask is not None
        taker, kept = divided_by_hash(output.takers(), job.options.val, masked=masked, kept=output.kept)
        broken = output.broken
        rows = Rows(
            None if broken is None or broken.counts is None else broken.take, job.keep,
            None if kept is None else kept.add,
        )  # fmt: skip
        done = encode_part(job, part, model, taker, threads, advance, rows)
        return output.publish(done.inputs, divided=done.divided)
