"""Encode the inputs of a part: texts, or conversations; what comes out goes to whoever takes documents."""

from __future__ import annotations

from array import array
from codecs import BOM_UTF8
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from bpe_cli.corpus.rows import ALL_WHOLE, BrokenRow, Place, RowFault, Rows
from bpe_cli.errors import FormatError, InputError
from bpe_cli.support.blocks import Block, whole_documents
from bpe_cli.support.fast_dataclass import dataclass, replace
from bpe_cli.support.messages import show_path

if TYPE_CHECKING:
    from bpe_cli.chat import ChatEncoder, Conversation
    from bpe_cli.chat.provenance import Traced
    from bpe_cli.corpus import InputHash
    from bpe_cli.corpus.rows import KeptField, TableRow
    from bpe_cli.jobs.chat_template import RendererOf
    from bpe_cli.jobs.origins import Origins
    from bpe_cli.jobs.parts import Part
    from bpe_cli.jobs.prepare.conversations import Conversations
    from bpe_cli.jobs.prepare.part import PartJob
    from bpe_cli.sinks.base import TakesRows
    from bpe_cli.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class EncodedPart:
    """What is known of the inputs of a part when they are encoded.

    Attributes:
        inputs: What its record says of them.
        divided: How often the token that ends documents stands in them too, where the sink does not count it.
    """

    inputs: list[dict[str, Any]]
    divided: int = 0


def encode_part(
    job: PartJob, part: Part, model: Tokenizer, taker: TakesRows, threads: int,
    advance: Callable[[int], None] | None, rows: Rows | None = None,
) -> EncodedPart:  # fmt: skip
    """Encode the inputs of a part.

    Args:
        job: What every part has in common.
        part: The part.
        model: The tokenizer of the job, loaded, with all special tokens.
        taker: Who takes the ids of documents, with the tokens around them but for what its sink writes itself.
        threads: How many threads work; they change no result.
        advance: Called with the number of bytes read since the last call.
        rows: What becomes of broken rows, and of other fields; None for an error, and nothing.

    Raises:
        InputError: if an input cannot be read, has another size than the plan says, or holds what cannot be encoded;
            the message says which.
    """
    from bpe_cli.corpus import Inputs
    from bpe_cli.jobs.origins import Origins
    from bpe_cli.jobs.parts.changed import refuse_resized

    hashes: list[InputHash] = []
    origins = Origins.of_inputs(job.source, Inputs(part.inputs))
    divided = 0
    if job.conversations is None:
        _encode_texts(job, part, model, taker, threads, advance, hashes, origins, rows)
    else:
        divided = _encode_conversations(job, part, model, taker, advance, hashes, origins, rows)
    refuse_resized(part, hashes)
    described = zip(part.described(), hashes, strict=True)
    return EncodedPart([each | ({"sha256": sha256} if sha256 else {}) for each, (_, sha256, _) in described], divided)


def _blocks(
    job: PartJob, part: Part, advance: Callable[[int], None] | None, hashes: list[InputHash],
    begin: Callable[[str, int], None], rows: Rows | None = None,
) -> Iterator[Block]:  # fmt: skip
    from bpe_cli.corpus import Inputs, read_blocks
    from bpe_cli.corpus.opening import NO_STDIN
    from bpe_cli.sinks.draft import touch_drafts
    from bpe_cli.support.ordered_threads import BLOCK_BYTES

    for block in read_blocks(
        job.source.at_most(BLOCK_BYTES), stdin=NO_STDIN, inputs=Inputs(part.inputs), on_bytes=advance,
        on_input=begin, hashes=hashes, rows=rows or ALL_WHOLE,
    ):  # fmt: skip
        touch_drafts()  # some of a part's files are written at its end
        yield block


def _encode_texts(
    job: PartJob, part: Part, model: Tokenizer, taker: TakesRows, threads: int,
    advance: Callable[[int], None] | None, hashes: list[InputHash], origins: Origins, rows: Rows | None,
) -> None:  # fmt: skip
    from bpe_cli.jobs.documents import BlockEncoding, Places, refusing
    from bpe_cli.jobs.origins import Budget
    from bpe_cli.support.ordered_threads import Ordered, keep_freed_memory

    matcher = model.matcher(job.options.specials)
    takes: Any = taker
    edges, budget, places = job.edges_of_sink(model), Budget(None, origins), Places()
    way = BlockEncoding(model, matcher, None, edges, takes, budget, origins)
    keep_freed_memory()
    with Ordered(way.encode, way.write, threads) as ordered:
        settled = model.settle(_blocks(job, part, advance, hashes, origins.begin, rows), matcher, whole_pieces=False)
        for block in refusing(settled, matcher, origins) if job.options.refuse_specials else settled:
            ordered.put((block, places.of(block)))


# -- conversations -----------------------------------------------------------------------------------


def _encode_conversations(
    job: PartJob, part: Part, model: Tokenizer, taker: TakesRows,
    advance: Callable[[int], None] | None, hashes: list[InputHash], origins: Origins, rows: Rows | None,
) -> int:  # fmt: skip
    """Encode conversations; return how often the token that ends documents stands in them, where that is counted."""
    from bpe_cli.chat import ChatEncoder
    from bpe_cli.chat.messages import MAX_BYTES

    chat, options = job.conversations, job.options
    if chat is None:
        return 0
    specials = () if options.refuse_specials else options.specials
    encoder = ChatEncoder(model, specials, refuse=options.refuse_specials)
    way = _Conversations(job, model, chat, chat.template.renderers(model, chat.date), encoder, taker, rows or ALL_WHOLE)
    number, blank_is_none = 0, job.source.documents != "whole"
    extent = part.inputs[0].extent if part.inputs else None
    ahead = _ReadAhead(rows or ALL_WHOLE, origins)

    def named(number: int) -> str:
        if not blank_is_none:
            return origins.of(number)
        if extent is not None and extent[0]:
            name, line = origins.place_of(number)
            return f"{name}, line {line:,} from byte {extent[0]:,} on"
        return origins.line_of(number)

    def place_of(number: int, row: int | Place | None) -> Place:
        if isinstance(row, Place):
            return row
        begun, line = origins.input_of(number)
        path = part.inputs[begun].plain_name
        if row is not None or not blank_is_none:
            return Place(show_path(path), path, row=row)
        return Place(path, path, line, counted_from=extent[0] if extent is not None and extent[0] else None)

    blocks = _blocks(job, part, advance, hashes, ahead.begin, ahead.reading)
    for documents in whole_documents(blocks, MAX_BYTES, _too_long):
        batch = []
        for document in documents:
            number += 1
            row: int | Place | None = None
            kept: Sequence[Any] | TableRow | None = None
            kind = part.inputs[origins.input_of(number)[0]].kind
            if kind is not None and kind.is_table:
                row, kept = ahead.next_place()
            if not blank_is_none or document.strip():
                where = named(number) if row is None else place_of(number, row).shown()
                made = way.read(document, where, partial(place_of, number, row), kept)
                batch += [] if made is None else [made]
        way.write(batch)
    ahead.finish()
    return way.divided


def _too_long() -> InputError:
    from bpe_cli.chat.messages import MAX_BYTES

    return InputError(f"a conversation has at most {MAX_BYTES:,} bytes; this one goes on")


class _ReadAhead:
    """The rows of tables, or members of archives, that conversations stand in.

    They are read ahead of these, and handed on with them, in their order.

    Attributes:
        reading: What is done with rows while they are read.
    """

    def __init__(self, rows: Rows, origins: Origins) -> None:
        self._rows = rows
        self._origins = origins
        self._row = 0  # of the table that is read
        self._read: deque[BrokenRow | tuple[int | Place, Sequence[Any] | TableRow | None]] = deque()
        broken = None if rows.on_broken is None else self._take_broken
        self.reading = Rows(broken, rows.keep, self._take, self._take_member)

    def begin(self, path: str, before: int) -> None:
        """Note that an input begins after some documents."""
        self._origins.begin(path, before)
        self._row = 0

    def _take(self, values: Sequence[Any] | TableRow) -> None:
        self._row += 1
        self._read.append((self._row, values))

    def _take_member(self, place: Place) -> None:
        self._read.append((place, None))

    def _take_broken(self, row: BrokenRow) -> None:
        self._row += 1
        self._read.append(row)

    def next_place(self) -> tuple[int | Place, Sequence[Any] | TableRow | None]:
        """Return the number of the next conversation's row, or the place of its member, and what is kept of a row.

        Broken ones before it are handed on.
        """
        while isinstance(row := self._read.popleft(), BrokenRow):
            self._hand_on(row)
        return row

    def finish(self) -> None:
        """Hand on the broken rows behind the last conversation."""
        for row in self._read:
            if isinstance(row, BrokenRow):
                self._hand_on(row)

    def _hand_on(self, row: BrokenRow) -> None:
        if self._rows.on_broken is not None:
            self._rows.on_broken(row)


@dataclass(frozen=True, slots=True)
class _Rendered:
    """A conversation as its template writes it.

    Attributes:
        where: Its name in messages.
        text: Its text.
        prepared: What is encoded for it.
        learnt: A byte for each of those: 1 in what the model is to learn; None if there is no mask.
    """

    where: str
    text: bytes
    prepared: bytes
    learnt: bytes | None = None


class _Conversations:
    """Read, render and encode conversations.

    Attributes:
        divided: How often the token that ends documents stands in conversations with a mask.
    """

    def __init__(
        self, job: PartJob, model: Tokenizer, chat: Conversations, renderer_of: RendererOf, encoder: ChatEncoder,
        taker: TakesRows, rows: Rows,
    ) -> None:  # fmt: skip
        self._job = job
        self._model = model
        self._chat = chat
        self._renderer_of = renderer_of
        self._encoder = encoder
        self._taker = taker
        self._rows = rows
        self.divided = 0

    def read(
        self, document: bytes, where: str, place: Callable[[], Place], kept: Sequence[Any] | TableRow | None = None
    ) -> _Rendered | None:
        """Read and render a conversation, and hand on what is kept of it; None if it is broken, and left out.

        What is ``kept`` comes from the row of a table; None for fields of the JSON.

        Raises:
            InputError, FormatError: if it is broken, and nobody takes broken rows, or a special token is refused.
        """
        from bpe_cli.chat.encoding import RefusedTokenError

        kind = "conversation"
        try:
            conversation = self._read(document, where)
            kind = "template"
            text, spans = self._render(conversation)
            if kept is None and self._rows.keep:
                kept = kept_of_conversation(document, self._rows.keep)
            made = self._prepare(text, where, spans)
        except RefusedTokenError:
            raise
        except (InputError, FormatError) as error:
            if self._rows.on_broken is None:
                raise
            reason = str(error).removeprefix(where).lstrip(": ")
            fault = RowFault(kind if kind == "template" else fault_of(document), reason)
            self._rows.meet(fault, place(), document)
            return None
        except RowFault as fault:
            if self._rows.on_broken is None:
                raise InputError(f"{where}: {fault.reason}", hint=fault.hint) from fault
            self._rows.meet(fault, place(), document)
            return None
        if kept is not None and self._rows.on_kept is not None:
            self._rows.on_kept(kept)
        return made

    def _read(self, document: bytes, where: str) -> Conversation:
        from bpe_cli.chat import read_conversation

        conversation = read_conversation(document, where, self._job.source.text_field)
        if conversation.tools is None and self._chat.tools is not None:
            conversation = replace(conversation, tools=list(self._chat.tools))
        if self._chat.generation_prompt is not None:
            conversation = replace(conversation, add_generation_prompt=self._chat.generation_prompt)
        return conversation

    def _render(self, conversation: Conversation) -> tuple[Traced, list[tuple[int, int]] | None]:
        """Return the text of a conversation, and what of it is to be learnt; None if there is no mask."""
        renderer = self._renderer_of(conversation)
        text = renderer.render(conversation, add_generation_prompt=conversation.wants_answer)
        if self._job.options.mask is None:
            return text, None
        from bpe_cli.chat.learning import learnt_spans

        return text, learnt_spans(renderer, self._encoder, conversation, text)

    def _prepare(self, text: Traced, where: str, spans: list[tuple[int, int]] | None) -> _Rendered:
        if spans is None:
            prepared, learnt = self._encoder.prepare(text, where), None
        else:
            prepared, learnt = self._encoder.prepare_learnt(text, where, spans)
        return _Rendered(where, text.encode(), prepared, learnt)

    def write(self, batch: list[_Rendered]) -> None:
        """Encode some conversations, and hand them on with their text."""
        if not batch:
            return
        if self._job.options.mask is not None:
            self._write_masked(batch)
            return
        from bpe_cli.jobs.documents import naming, with_edges

        shown, matcher = Block.of(each.text for each in batch), self._encoder.matcher
        prepared = Block.of(each.prepared for each in batch)
        with naming(self._model, prepared, matcher, [each.where for each in batch]):
            ids, ends = self._model.encode_block(prepared, matcher)
        takes: Any = self._taker
        ids, ends = with_edges(shown, ids, ends, self._job.edges_of_sink(self._model), takes)
        self._taker.write(shown, ids, ends)

    def _write_masked(self, batch: list[_Rendered]) -> None:
        from bpe_cli.jobs.documents import naming
        from bpe_cli.sinks.beside import Beside

        edges = self._job.edges_of_sink(self._model)
        ids, mask, ends = array("I"), array("B"), array("Q")
        for each in batch:
            with naming(self._model, Block.of([each.prepared]), self._encoder.matcher, [each.where]):
                mine, marks = self._encoder.learnt(self._model, each.prepared, each.learnt or b"")
            ids.extend(mine)
            mask.extend(marks)
            ids.extend(edges.after)
            # What ends the document ends the turn too, if nothing else does.
            mask.frombytes(bytes([marks[-1] if len(marks) else 0]) * len(edges.after))
            if edges.after:
                self.divided += sum(id_ == edges.after[-1] for id_ in mine)
            ends.append(len(ids))
        texts = Block.of(each.text for each in batch)
        self._taker.write(texts, memoryview(ids), memoryview(ends), Beside(memoryview(mask)))


def kept_of_conversation(document: bytes, keep: Sequence[KeptField]) -> list[Any]:
    """Return the values of the fields that are kept of the JSON of a conversation; None for those that it lacks.

    Raises:
        RowFault: if a value is not of the type of its field.
    """
    from bpe_cli.corpus.kept import kept_of
    from bpe_cli.support.safe_orjson import orjson

    data = document.removeprefix(BOM_UTF8)
    return kept_of(orjson.loads(data), keep, data)


def fault_of(document: bytes) -> str:
    """Return what is wrong with what was not read as a conversation: one of ``FAULTS``."""
    from bpe_cli.support.safe_orjson import orjson

    try:
        orjson.loads(document.removeprefix(BOM_UTF8))
    except orjson.JSONDecodeError:
        try:
            document.decode()
        except UnicodeDecodeError:
            return "utf-8"
        return "json"
    return "conversation"
