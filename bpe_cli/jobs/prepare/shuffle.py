"""Put documents, or sequences, into a random order in two passes.

The order: each item has a key, the first eight bytes of BLAKE2b over the seed, its part, the set that it is of and its
number there, and the data set is in the order of the keys. So all orders are equally likely, as far as the hash is as
good as random, and the order depends on nothing but the seed and the plan. There are as many parts as without: the keys
are divided into equal ranges, and a part has the items whose keys are in its range.

The first pass encodes each part and writes its items, in buckets by their key, into a file in ``shuffle/``, with a
record. The second, which begins when all of the first is done, reads for each part its buckets from all those files,
one bucket at a time, sorts each and writes it. The files of the first pass are removed when the manifest is there.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, cast

from bpe_cli.corpus.rows import Rows
from bpe_cli.errors import InputError
from bpe_cli.jobs.prepare.broken import ENDING as QUARANTINE
from bpe_cli.jobs.prepare.broken import BrokenRows
from bpe_cli.jobs.prepare.documents import Documents, is_validation
from bpe_cli.jobs.prepare.encoding import encode_part
from bpe_cli.jobs.prepare.keeping import KeptValues
from bpe_cli.jobs.prepare.output import PartOutput, publish
from bpe_cli.jobs.prepare.records import Record, read_record
from bpe_cli.jobs.prepare.scratch import BucketWriter, Item, read_bucket
from bpe_cli.jobs.prepare.scratch_folder import ITEMS as ENDING
from bpe_cli.jobs.prepare.scratch_folder import SCRATCH
from bpe_cli.jobs.prepare.scratch_kept import ENDING as KEPT
from bpe_cli.jobs.prepare.scratch_kept import KeptReader, KeptWriter
from bpe_cli.jobs.prepare.sequences import Sequences, sequences
from bpe_cli.jobs.prepare.sides import PartFile, Side
from bpe_cli.sinks.beside import Beside, Pieces, Strip
from bpe_cli.support.blocks import Block
from bpe_cli.support.fast_dataclass import replace

if TYPE_CHECKING:
    from bpe_cli.corpus.rows import TableRow
    from bpe_cli.jobs.parts import Part
    from bpe_cli.jobs.prepare.part import PartJob
    from bpe_cli.sinks.base import TakesRows
    from bpe_cli.tokenizer import Tokenizer

BUCKETS_OF_PART = 8
"""How many buckets a part has: a bucket at a time is in memory."""

_AT_ONCE = 1 << 16


def key_of(seed: int, part: int, side: int, number: int) -> int:
    """Return what an item is sorted by."""
    from hashlib import blake2b

    text = b"".join(value.to_bytes(8, "little") for value in (seed, part, side, number))
    return int.from_bytes(blake2b(text, digest_size=8, person=b"bpe shuffle").digest(), "big")


def first_pass(job: PartJob) -> PartJob:
    """Return the job of the first pass: the same, in its own folder."""
    return replace(job, folder=os.path.join(job.folder, SCRATCH))


# -- the first pass --------------------------------------------------------------------------------------


class _Scatter:
    """Take documents, or sequences, of one set, and put each into its bucket."""

    is_binary = True

    def __init__(
        self, writer: BucketWriter, job: PartJob, part: Part, side: int, only: Collection[int] | None = None
    ) -> None:
        self._writer = writer
        self._job = job
        self._part = part.number
        self._side = side
        self._only = only
        self.numbers: KeptValues | None = None  # of the documents of sequences, if values are kept of them
        self.items = 0
        self.tokens = 0

    def add(self, strip: Strip, pieces: array[int] | None = None, kept: int | None = None) -> None:
        key = key_of(self._job.options.seed, self._part, self._side, self.items)
        if self._only is None or key * self._job.parts >> 64 in self._only:
            self._writer.add(Item(key, self._part, self.items, self._side, strip, pieces, kept))
        self.items += 1
        self.tokens += len(strip)

    def write(self, block: Block, ids: memoryview, ends: memoryview, beside: Beside | None = None) -> None:
        """Take sequences."""
        whole, start = Strip(ids, None if beside is None else beside.mask), 0
        pieces = None if beside is None or beside.pieces is None else beside.pieces.rows()
        for end in ends:
            kept = None
            if self.numbers is not None:
                (kept,) = cast("Sequence[int]", self.numbers.next_row())
            self.add(whole.cut(start, end), None if pieces is None else next(pieces), kept)
            start = end


class _WholeDocuments:
    """Take documents, make them whole, and hand each to the set that it is of."""

    is_binary = True

    def __init__(self, job: PartJob, sets: list[_Scatter]) -> None:
        self._documents = Documents(masked=job.options.mask is not None, hashed=job.options.val is not None)
        self._share = job.options.val
        self._sets = sets
        self._is_kept = bool(job.keep)
        self._number = 0

    def write(self, block: Block, ids: memoryview, ends: memoryview, beside: Beside | None = None) -> None:
        for digest, strip in self._documents.of(block, ids, ends, beside):
            side = self._share is not None and is_validation(digest, self._share)
            self._sets[side].add(strip, kept=self._number if self._is_kept else None)
            self._number += 1


def scatter_part(
    job: PartJob, part: Part, model: Tokenizer, threads: int = 1, advance: Callable[[int], None] | None = None,
    only: Collection[int] | None = None,
) -> Record:  # fmt: skip
    """Encode the inputs of a part and write its items into buckets: see ``run_part``.

    With ``only``, no other items are written than those that come into parts of these numbers.

    Raises:
        InputError: if an input cannot be read, or holds what cannot be encoded; the message says which.
        OutputError: if a file cannot be written.
    """
    from bpe_cli.jobs.prepare.documents import divided_by_hash
    from bpe_cli.sinks.atomic import HashedOutput
    from bpe_cli.sinks.draft import Draft

    options = job.options
    path = os.path.join(job.folder, part.name + ENDING)
    with ExitStack() as stack:
        draft = stack.enter_context(Draft(path))
        output = HashedOutput(draft.stream, path, path)
        writer = BucketWriter(output, job.parts * BUCKETS_OF_PART)
        sets = [_Scatter(writer, job, part, number, only) for number, _ in enumerate(options.sides)]
        asked = options.sequences(model)
        made: list[Sequences] = []
        taker: TakesRows
        kept = _Kept(job, path.removesuffix(ENDING), stack) if job.keep else None
        if options.shuffle == "sequences" and asked is not None:
            masked = options.mask is not None
            numbers = {name: KeptValues((), in_sequences=True) for name in options.sides if kept is not None}
            for name, each in zip(options.sides, sets, strict=True):
                each.numbers = numbers.get(name)
                made.append(sequences(each, asked, each.numbers, masked=masked, pieces=True))
            takers = dict(zip(options.sides, made, strict=True))
            taker, numbered = divided_by_hash(takers, options.val, masked=masked, kept=numbers)
            if kept is not None:
                kept.numbers = numbered
        else:
            taker = _WholeDocuments(job, sets)
        broken = BrokenRows(options.on_error, path.removesuffix(ENDING) + QUARANTINE, stack)
        rows = Rows(
            None if broken.counts is None else broken.take, job.keep, None if kept is None else kept.take
        )  # fmt: skip
        done = encode_part(job, part, model, taker, threads, advance, rows)
        for one in made:
            one.finish()
        writer.finish()
        sides = [
            Side(name, each.items, each.tokens)
            if not made
            else Side(name, made[n].documents, each.tokens, 0, each.items, made[n].left_out, made[n].padding)
            for n, (name, each) in enumerate(zip(options.sides, sets, strict=True))
        ]
        files = [PartFile(part.name + ENDING, *output.size_and_hash())]
        drafts = [draft]
        if kept is not None:
            kept.writer.finish()
            files.append(PartFile(part.name + KEPT, *kept.output.size_and_hash()))
            drafts.append(kept.draft)
        record = Record.of_sides(part.number, job.plan, job.dtype, done.inputs, tuple(files), sides)
        record = replace(
            record, divided=record.divided + done.divided, broken=broken.counts, quarantine=broken.file()
        )  # fmt: skip
        publish(job, part, record, drafts, stack, broken)
    return record


class _Kept:
    """The file of the values that are kept of the documents of a part.

    Attributes:
        numbers: Who takes the number of each document, where sequences are to know it.
    """

    def __init__(self, job: PartJob, stem: str, stack: ExitStack) -> None:
        from bpe_cli.sinks.atomic import HashedOutput
        from bpe_cli.sinks.draft import Draft

        self.draft = stack.enter_context(Draft(stem + KEPT))
        self.output = HashedOutput(self.draft.stream, stem + KEPT, stem + KEPT)
        self.writer = KeptWriter(self.output, job.keep)
        self.numbers: KeptValues | None = None
        self._count = 0

    def take(self, values: Sequence[Any] | TableRow) -> None:
        """Take the values of the next document."""
        self.writer.add(values)
        if self.numbers is not None:
            self.numbers.add((self._count,))
        self._count += 1


# -- the second pass -----------------------------------------------------------------------------------------


def gather_part(job: PartJob, part: Part, model: Tokenizer, advance: Callable[[int], None] | None = None) -> Record:
    """Write the items whose keys are in the range of a part, in their order: see ``run_part``.

    The record has the inputs that the first pass read for the part of this number: so those of all parts together are
    all inputs, each once. Where the first pass made sequences, the same is true of the documents.

    Raises:
        InputError: if a file of the first pass is damaged.
        OutputError: if a file cannot be written.
    """
    from bpe_cli.sinks.draft import touch_drafts

    options = job.options
    folder = first_pass(job).folder
    place = first_pass(job).record_path(part)
    first = read_record(place)
    if first is None:
        raise InputError(f"the first pass of {part.name} is gone", hint="run the same command again")
    since = os.stat(place).st_mtime_ns
    stems = [os.path.join(folder, f"part-{number:05}") for number in range(job.parts)]
    paths, kept_paths = ([stem + end for stem in stems] for end in (ENDING, KEPT))
    in_sequences = options.shuffle == "sequences"
    buckets = job.parts * BUCKETS_OF_PART
    with PartOutput(job, part, model, packed=in_sequences) as output:
        kept, reader = [*output.kept.values()], KeptReader(kept_paths)
        batches = [_Batch(each, pieces=in_sequences and options.needs_pieces) for each in output.takers().values()]
        for bucket in range(part.number * BUCKETS_OF_PART, (part.number + 1) * BUCKETS_OF_PART):
            touch_drafts()
            items = read_bucket(paths, bucket, buckets)
            for group, values in reader.groups(items) if job.keep else [(items, [])]:
                for number, item in enumerate(group):
                    if values:
                        kept[item.side].add(values[number])
                    batches[item.side].add(item)
                for batch in batches:
                    batch.flush()  # its ids are those of the bucket, which is gone before the next one is read
        if advance is not None:
            advance(part.size)
        if output.broken is not None:
            where = None if first.quarantine is None else os.path.join(folder, first.quarantine.name)
            output.broken.take_over(first.broken, where)
        if not in_sequences:
            return output.publish(first.inputs, divided=first.divided, since=since)
        made: dict[str, Side | Record] = {"": first, **{each.name: each for each in first.sides}}
        sides = [
            Side(
                name, made[name].documents, each.sink.tokens, each.sink.divided, each.sink.documents,
                made[name].left_out, batch.padding,
            )
            for (name, each), batch in zip(output.written.items(), batches, strict=True)
        ]  # fmt: skip
        return output.publish(first.inputs, sides, divided=first.divided, since=since)


class _Batch:
    """Hand items on, many at a time."""

    def __init__(self, taker: TakesRows, *, pieces: bool) -> None:
        self._taker = taker
        self._pieces = pieces
        self.padding = 0
        self._held: list[Item] = []
        self._size = 0

    def add(self, item: Item) -> None:
        self._held.append(item)
        self._size += len(item.strip)
        if item.pieces is not None:
            self.padding += len(item.strip) - sum(item.pieces)
        if self._size >= _AT_ONCE:
            self.flush()

    def flush(self) -> None:
        if not self._held:
            return
        masked = self._held[0].strip.mask is not None
        strip, ends = Strip.empty(masked=masked), array("Q")
        counts, lengths = array("I"), array("Q")
        for item in self._held:
            strip.extend(item.strip)
            ends.append(len(strip))
            if item.pieces is not None:
                counts.append(len(item.pieces))
                lengths.extend(item.pieces)
        pieces = Pieces(counts, lengths) if self._pieces else None
        beside = Beside(memoryview(strip.mask) if masked else None, pieces) if masked or pieces else None
        self._taker.write(Block(b"", ends), memoryview(strip.ids), memoryview(ends), beside)
        self._held, self._size = [], 0
