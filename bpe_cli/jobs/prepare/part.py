"""Make one part of a data set: its files appear together, and its record last.

Whatever happens before, a lost machine or ``kill -9``, leaves no record, and so a part that is to be made again.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from bpe_cli.errors import UsageError
from bpe_cli.jobs.prepare.plan import Part
from bpe_cli.jobs.prepare.records import PartFile, Record, dumped, read_record, remove_files
from bpe_cli.jobs.prepare.sequences import SequenceOptions, Sequences, Way, sequences
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.tokenizer.usage import Edges

if TYPE_CHECKING:
    from bpe_cli.corpus import InputHash, Source
    from bpe_cli.jobs.tokenizers import AnyTokenizer
    from bpe_cli.sinks.base import Dtype
    from bpe_cli.tokenizer import Specials, Tokenizer


@dataclass(frozen=True, slots=True)
class PrepareOptions:
    """What is written, and how texts are encoded.

    Attributes:
        to: The format: a name from ``sinks.dataset.DATASETS``.
        dtype: How an id is stored; None for the smallest type that holds every id.
        columns: What a row of a table has beside its ids: ``attention_mask``, ``position_ids``.
        specials: Which special tokens are looked for in the text: ``all``, or those that are named.
        refuse_specials: Whether a text that holds one of them is refused instead.
        add_special_tokens: Whether the post-processor puts around each document what it has.
        bos: What begins each document: the text of a special token, an id, or ``auto``.
        eot: What ends each document, likewise.
        part_bytes: How many bytes of input a part has: see ``divide``.
        length: How many ids a sequence has at most; None for documents as they are.
        way: How documents become sequences: see ``SequenceOptions``.
        pad: What fills sequences up: the text of a special token, an id, or ``auto``; None for nothing.

    Raises:
        UsageError: if there is no length, and something else is said of sequences.
    """

    to: str = "bin"
    dtype: Dtype | None = None
    columns: tuple[str, ...] = ()
    specials: Specials = ()
    refuse_specials: bool = False
    add_special_tokens: bool = False
    bos: str | int | None = None
    eot: str | int | None = None
    part_bytes: int = 256 << 20
    length: int | None = None
    way: Way = "concatenate"
    pad: str | int | None = None

    def __post_init__(self) -> None:
        if self.length is None and self.pad is not None:
            raise UsageError("`pad` fills sequences, and documents are not made into sequences", hint="use `length`")

    def sequences(self, tokenizer: Tokenizer) -> SequenceOptions | None:
        """Return how documents become sequences; None if they do not.

        Raises:
            UsageError: if there is no such token as fills sequences.
        """
        from bpe_cli.tokenizer.special_tokens import token_named

        if self.length is None:
            return None
        pad = None if self.pad is None else token_named(tokenizer, self.pad, "pad")
        return SequenceOptions(self.length, self.way, pad)

    def edges(self, tokenizer: Tokenizer) -> Edges:
        """Return the tokens around each document.

        Raises:
            UsageError: if there is no such token.
        """
        from bpe_cli.tokenizer.special_tokens import edges_of

        return edges_of(tokenizer, add_special_tokens=self.add_special_tokens, bos=self.bos, eot=self.eot)


@dataclass(frozen=True, slots=True)
class PartJob:
    """What every part has in common: what a worker gets once. A plain value, which can be pickled.

    Attributes:
        tokenizer: The tokenizer, or what says which.
        source: How documents are made of inputs; its paths are not read.
        options: What is written.
        folder: Where.
        plan: The fingerprint of the plan.
        dtype: How an id is stored.
    """

    tokenizer: AnyTokenizer
    source: Source
    options: PrepareOptions
    folder: str
    plan: str
    dtype: Dtype

    def record_path(self, part: Part) -> str:
        """Return where the record of a part lies."""
        return os.path.join(self.folder, f"{part.name}.json")


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
    from bpe_cli.corpus import Inputs, read_blocks
    from bpe_cli.corpus.opening import NO_STDIN
    from bpe_cli.jobs.documents import BlockEncoding, Budget, Origins, Places, refusing
    from bpe_cli.sinks.atomic import HashedOutput, Output
    from bpe_cli.sinks.base import SinkOptions
    from bpe_cli.sinks.dataset import DATASETS
    from bpe_cli.sinks.draft import Draft
    from bpe_cli.support.ordered_threads import Ordered, keep_freed_memory
    from bpe_cli.support.unfinished import UNFINISHED

    kind = DATASETS[job.options.to]
    names = [part.name + ending for ending in kind.endings]
    edges = job.options.edges(model)
    matcher = model.matcher(job.options.specials)
    hashes: list[InputHash] = []
    with ExitStack() as stack:
        paths = [os.path.join(job.folder, name) for name in names]
        drafts = [stack.enter_context(Draft(path)) for path in paths]
        outputs = [HashedOutput(draft.stream, path, path) for draft, path in zip(drafts, paths, strict=True)]
        asked = job.options.sequences(model)
        # Sequences hold the tokens around documents already, so that the sink is told of none.
        around = edges if asked is None else Edges(edges.before, edges.after)
        columns = job.options.columns
        sink = kind.open(
            outputs, model, SinkOptions(specials=job.options.specials, edges=around, dtype=job.dtype, columns=columns)
        )
        taker = sink if asked is None else sequences(sink, asked)
        origins = Origins(whole=job.source.documents == "whole")
        way, places = BlockEncoding(model, matcher, None, around, taker, Budget(None, origins)), Places()
        keep_freed_memory()
        with Ordered(way.encode, way.write, threads) as ordered:
            blocks = read_blocks(
                job.source, stdin=NO_STDIN, inputs=Inputs(part.inputs), on_bytes=advance,
                on_input=origins.begin, hashes=hashes,
            )  # fmt: skip
            settled = model.settle(blocks, matcher)
            for block in refusing(settled, matcher, origins) if job.options.refuse_specials else settled:
                ordered.put((block, places.of(block)))
        if taker is not sink:
            taker.finish()
        sink.finish()
        files = tuple(PartFile(name, *each.size_and_hash()) for name, each in zip(names, outputs, strict=True))
        inputs = [
            described | {"sha256": sha256} for described, (_, sha256, _) in zip(part.described(), hashes, strict=True)
        ]
        record = Record(
            part.number, job.plan, taker.documents, sink.tokens, sink.divided, sink.dtype, inputs, files,
            *((sink.documents, taker.left_out, taker.padding) if isinstance(taker, Sequences) else ()),
        )  # fmt: skip
        place = job.record_path(part)
        last = stack.enter_context(Draft(place))
        Output(last.stream, place, place).write(dumped(record.to_json()))
        for draft in (*drafts, last):
            draft.prepare()
        with UNFINISHED:
            remove_files(job.folder, part.name, read_record(place), but=names)
            last.withdraw()
            for draft in (*drafts, last):
                draft.publish()
    return record


def damage_of(job: PartJob, part: Part, record: Record | None) -> str | None:
    """Return what is wrong with a part that is there, by its record and the sizes of its files; None if nothing is.

    Hashes are not computed: ``check`` does that.
    """
    if record is None:
        return "its record is damaged"
    if record.plan != job.plan:
        return "it was made with another tokenizer or other options"
    described = [{key: value for key, value in each.items() if key != "sha256"} for each in record.inputs]
    if record.part != part.number or described != part.described():
        return "it was made of other inputs"
    for file in record.files:
        try:
            size = os.stat(os.path.join(job.folder, file.name)).st_size
        except OSError:
            return f"{file.name} is missing"
        if size != file.size:
            return f"{file.name} has {size:,} bytes, and its record says {file.size:,}"
    return None
