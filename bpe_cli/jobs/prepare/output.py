"""What a part of a data set writes: the sinks of its files, what makes sequences for them, and the record at the end.

With a validation set there are two of each: one for the files in ``train/``, one for those in ``val/``.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from bpe_cli.jobs.prepare.broken import ENDING, BrokenRows
from bpe_cli.jobs.prepare.keeping import KeptValues
from bpe_cli.jobs.prepare.records import Record, read_record, remove_files
from bpe_cli.jobs.prepare.sequences import Sequences, sequences
from bpe_cli.jobs.prepare.sides import PartFile, Side, file_names
from bpe_cli.support.fast_dataclass import dataclass, replace
from bpe_cli.support.json_files import dumped

if TYPE_CHECKING:
    from typing import Self

    from bpe_cli.jobs.parts import Part
    from bpe_cli.jobs.prepare.part import PartJob
    from bpe_cli.sinks.atomic import HashedOutput
    from bpe_cli.sinks.base import TakesRows
    from bpe_cli.sinks.dataset.side_files import WithSideFiles
    from bpe_cli.sinks.draft import Draft
    from bpe_cli.sinks.numbers import BinSink
    from bpe_cli.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class Written:
    """One of the sets that a part writes to.

    Attributes:
        name: The folder of its files in that of the data set; empty for that one itself.
        sink: What writes rows.
        taker: What takes documents: the sink, or what makes sequences for it.
    """

    name: str
    sink: BinSink | WithSideFiles
    taker: BinSink | WithSideFiles | Sequences

    def finish(self) -> None:
        """Complete what was handed on."""
        if self.taker is not self.sink:
            self.taker.finish()
        self.sink.finish()

    def side(self) -> Side:
        """Return its numbers."""
        made = self.taker if isinstance(self.taker, Sequences) else None
        rows = None if made is None else self.sink.documents
        left_out, padding = (0, 0) if made is None else (made.left_out, made.padding)
        return Side(self.name, self.taker.documents, self.sink.tokens, self.sink.divided, rows, left_out, padding)


class PartOutput:
    """The files of a part, which appear together."""

    def __init__(self, job: PartJob, part: Part, model: Tokenizer, *, packed: bool = False) -> None:
        """Open the files of a part; ``packed`` says that rows come as they are to be written."""
        self._job = job
        self._part = part
        self._model = model
        self._packed = packed
        self._stack = ExitStack()
        self._names: list[str] = []
        self._drafts: list[Draft] = []
        self._outputs: list[HashedOutput] = []
        self.written: dict[str, Written] = {}
        self.broken: BrokenRows | None = None
        self.kept: dict[str, KeptValues] = {}

    def __enter__(self) -> Self:
        job = self._job
        with ExitStack() as stack:
            path = os.path.join(job.folder, self._part.name + ENDING)
            self.broken = BrokenRows(job.options.on_error, path, stack)
            for name in job.options.sides:
                if job.keep:
                    in_sequences = job.options.length is not None and not self._packed
                    self.kept[name] = KeptValues(job.keep, in_sequences=in_sequences)
                self.written[name] = self._open(name, stack)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def takers(self) -> dict[str, TakesRows]:
        """Return what takes the documents of each set."""
        return {name: each.taker for name, each in self.written.items()}

    def _open(self, name: str, stack: ExitStack) -> Written:
        from bpe_cli.sinks.atomic import HashedOutput
        from bpe_cli.sinks.base import SinkOptions
        from bpe_cli.sinks.dataset import DATASETS
        from bpe_cli.sinks.draft import Draft

        job, model, options = self._job, self._model, self._job.options
        kind, columns = DATASETS[options.to], options.all_columns
        names = file_names(name, self._part.name, kind.endings_with(columns))
        paths = [os.path.join(job.folder, *each.split("/")) for each in names]
        drafts = [stack.enter_context(Draft(path)) for path in paths]
        outputs = [HashedOutput(draft.stream, path, path) for draft, path in zip(drafts, paths, strict=True)]
        sink_options = SinkOptions(
            specials=job.specials_written, edges=job.edges_of_sink(model), dtype=job.dtype, columns=columns,
            positions=options.positions, kept=self.kept.get(name),
        )  # fmt: skip
        sink = kind.open(outputs, model, sink_options)
        asked = options.sequences(model)
        pieces = options.needs_pieces
        made = asked is not None and not self._packed
        kept, masked = self.kept.get(name), options.mask is not None
        taker = sequences(sink, asked, kept, masked=masked, pieces=pieces) if made and asked else sink
        self._names += names
        self._drafts += drafts
        self._outputs += outputs
        return Written(name, sink, taker)

    def publish(
        self, inputs: list[dict[str, Any]], sides: list[Side] | None = None, divided: int = 0, since: int | None = None
    ) -> Record:
        """Complete the files, write the record, and let all of them appear, the record last.

        Args:
            inputs: What the record says of the inputs.
            sides: The numbers of each set, where they are not those of its sink.
            divided: How often the token that ends documents stands in them too, beside what sinks have counted.
            since: When the inputs began to be read, if that was before the files were opened.

        Raises:
            OutputError: if a file cannot be written.
        """
        for each in self.written.values():
            each.finish()
        sides = sides or [each.side() for each in self.written.values()]
        files = tuple(
            PartFile(name, *each.size_and_hash()) for name, each in zip(self._names, self._outputs, strict=True)
        )
        record = Record.of_sides(self._part.number, self._job.plan, self._job.dtype, inputs, files, sides)
        nulls = [each.nulls for each in self.kept.values()]
        added = {name: sum(each[name] for each in nulls) for name in nulls[0]} if nulls else None
        counts, quarantine = (None, None) if self.broken is None else (self.broken.counts, self.broken.file())
        record = replace(
            record, divided=record.divided + divided, nulls=added, broken=counts, quarantine=quarantine,
            all_inputs=self._job.all_inputs,
        )  # fmt: skip
        publish(self._job, self._part, record, self._drafts, self._stack, self.broken, since)
        return record


def publish(
    job: PartJob, part: Part, record: Record, drafts: list[Draft], stack: ExitStack, broken: BrokenRows | None = None,
    since: int | None = None,
) -> None:  # fmt: skip
    """Let the files of a part appear, and its record last.

    The time of the record is when the inputs began to be read: that at which the first draft was opened, if nothing
    else is said. An input that is written later may not be what was read.
    """
    from bpe_cli.sinks.atomic import Output
    from bpe_cli.sinks.draft import Draft
    from bpe_cli.support.unfinished import UNFINISHED

    place = job.record_path(part)
    last = stack.enter_context(Draft(place))
    Output(last.stream, place, place).write(dumped(record.to_json()))
    last.since = drafts[0].began if since is None else since
    drafts = [*drafts, *(() if broken is None else broken.drafts()), last]
    for draft in drafts:
        draft.prepare()
    with UNFINISHED:
        remove_files(job.folder, part.name, read_record(place), but=[file.name for file in record.files])
        last.withdraw()
        if broken is not None:
            broken.withdraw()
        for draft in drafts:
            draft.publish()
