"""Track documents through an encoding job: how blocks are encoded, and what is asked for.

Blocks are encoded on any thread, and what comes out is written in order.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from bpe_cli.errors import InputError, NoTokenError, UsageError
from bpe_cli.jobs.files import Target, check_text_output
from bpe_cli.sinks.lines import CountSink
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.fast_typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from bpe_cli import _core
    from bpe_cli.corpus import Inputs, Source
    from bpe_cli.corpus.inputs import Input
    from bpe_cli.jobs.origins import Budget, Named, Origins
    from bpe_cli.sinks import Sink, SinkOptions
    from bpe_cli.sinks.base import TakesIds
    from bpe_cli.support.blocks import Block
    from bpe_cli.tokenizer import Specials, Tokenizer
    from bpe_cli.tokenizer.engine import Place, Sampling
    from bpe_cli.tokenizer.usage import Edges


class Places:
    """Keep track of where each block stands in the whole input, for what is drawn at random."""

    def __init__(self) -> None:
        self._document = self._offset = 0

    def of(self, block: Block) -> Place:
        """Return the place of the next block."""
        from bpe_cli.tokenizer.engine import Place

        place = Place(self._document, self._offset)
        self._offset = block.open_bytes + (0 if block.ended or not block.ends else self._offset)
        self._document += block.ended
        return place


def refusing(blocks: Iterable[Block], matcher: _core.SpecialMatcher | None, origins: Origins) -> Iterator[Block]:
    """Yield blocks unchanged, and refuse the first special token in a document.

    Raises:
        InputError: if a document holds a special token; the message says where.
    """
    number, offset = 0, 0
    for block in blocks:
        for document, begins, _ in block.parts():
            if begins:
                number, offset = number + 1, 0
            match = None if matcher is None else matcher.find(document)
            if match is not None:
                start, end, _ = match
                text = bytes(document[start:end]).decode("utf-8", "backslashreplace")
                raise InputError(
                    f"{origins.of(number)}, byte {offset + start:,}: the text contains the special token {text}",
                    hint='`specials="all"` makes it that token; without `specials`, it is plain text',
                )
            offset += len(document)
        yield block


def refuse_too_long(model: Tokenizer, matcher: _core.SpecialMatcher | None, source: Source, inputs: Inputs) -> None:
    """Refuse files of which it is known before they are read that they are one document, and too long for that.

    Raises:
        InputError: if a file is one document, longer than a text may be, and nothing divides it.
    """
    engine = model.engine
    if source.documents != "whole" or engine.longest_text is None or matcher is not None:
        return
    if any(engine.safe_cut(text) or engine.cut_in_piece(text) for text in _CUT_IF_ANY):
        return
    longest = engine.longest_text
    for item in inputs.items:
        if item.size is not None and item.size > longest and _is_text_as_it_is(item, source):
            raise InputError(
                f"{item.name} is one document of {item.size:,} bytes; this tokenizer has no safe place to cut it, "
                f"and one document may have at most {longest:,}",
                hint='`documents="lines"` makes a document of each line',
            )


def _is_text_as_it_is(item: Input, source: Source) -> bool:
    """Return whether the bytes of a file are a text, and not those of a table or compressed."""
    if item.path == "-" or (item.kind is not None and item.kind.is_table):
        return False
    from bpe_cli.corpus.compression import MAGIC_BYTES, codec_of

    try:
        with open(item.path, "rb") as file:
            return not source.decompress or codec_of(file.read(MAGIC_BYTES), item.name) is None
    except OSError:
        return False  # whoever reads it says so


_CUT_IF_ANY = b"a a", b"a.b, c-1\nA b"
"""Texts that stages and a model cut, if they cut any: at a space, and between characters of other kinds."""


def _failing(model: Tokenizer, block: Block, matcher: _core.SpecialMatcher | None) -> tuple[int, InputError] | None:
    """Return the number of the first document of a block, from 0, that cannot be encoded, and why; None if each can.

    It is asked for once all has failed: the core does not say where a piece stands that has no token.
    """
    from bpe_cli.support.blocks import Block

    for number, (document, begins, ends) in enumerate(block.parts()):
        part = Block(document, array("Q", [len(document)]), continued=not begins, unfinished=not ends)
        try:
            model.count_block(part, matcher)
        except InputError as error:
            return number, error
    return None


@contextmanager
def naming(
    model: Tokenizer, block: Block, matcher: _core.SpecialMatcher | None, names: Sequence[str]
) -> Iterator[None]:
    """Name the document that fails while a block of whole documents is encoded.

    Args:
        model: The tokenizer.
        block: What is encoded.
        matcher: What is looked for in the text.
        names: The name of each document of the block.

    Raises:
        InputError: if a document cannot be encoded; the message begins with its name.
    """
    try:
        yield
    except InputError:
        found = _failing(model, block, matcher)
        if found is None:
            raise
        number, error = found
        what = error.elsewhere if isinstance(error, NoTokenError) else error.message
        raise InputError(f"{names[number]}: {what}", hint=error.hint) from error


Item = tuple["Block", "Place"]
"""A block, and where it stands in the whole input."""

Result = tuple["memoryview | None", memoryview]
"""The ids of a block's documents (u32) and where each document's end (u64); or None and their counts (u64)."""


def with_edges(
    block: Block, ids: memoryview, ends: memoryview, edges: Edges, sink: TakesIds
) -> tuple[memoryview, memoryview]:
    """Put the edge tokens around the documents of a block, except those that the sink itself adds."""
    after = edges.after[:-1] if _puts_eot(edges, sink) else edges.after
    if not (edges.before or after):
        return ids, ends
    from bpe_cli.tokenizer.post_processor import surround

    return surround(block, ids, ends, edges.before, after)


def with_edges_counted(block: Block, counts: memoryview, edges: Edges) -> memoryview:
    """Add the edge tokens to the counts of a block's documents (u64)."""
    if not len(edges) or not len(counts):
        return counts
    more = array("Q", (count + len(edges) for count in counts))
    if block.begun < len(more):
        more[0] -= len(edges.before)
    if block.ended < len(more):
        more[-1] -= len(edges.after)
    return memoryview(more)


def counts_of(block: Block, ends: memoryview, edges: Edges, sink: TakesIds) -> list[int]:
    """Return how many ids each document of a block has in the output."""
    own = int(_puts_eot(edges, sink))
    counts = [end - start + own for start, end in zip([0, *ends], ends, strict=False)]
    if own and block.ended < len(counts):
        counts[-1] -= own
    return counts


def _puts_eot(edges: Edges, sink: TakesIds) -> bool:
    """Return whether a sink itself ends each document."""
    return sink.is_binary and edges.eot is not None


@dataclass(frozen=True, slots=True)
class BlockEncoding:
    """Encode blocks and write what comes out.

    Attributes:
        model: The tokenizer.
        matcher: What is looked for in the text.
        sampling: How the encoding is varied, or None.
        edges: What stands around each document.
        sink: Where it goes.
        budget: What watches the lengths of documents.
        origins: What names documents.
    """

    model: Tokenizer
    matcher: _core.SpecialMatcher | None
    sampling: Sampling | None
    edges: Edges
    sink: TakesIds
    budget: Budget
    origins: Named

    def encode(self, item: Item) -> Result:
        """Encode or count a block; several threads may do so at a time.

        Raises:
            InputError: if a byte of the text has no token; the message says where.
        """
        block, place = item
        try:
            if isinstance(self.sink, CountSink) and self.sampling is None:
                return None, with_edges_counted(block, self.model.count_block(block, self.matcher), self.edges)
            ids, ends = self.model.encode_block(block, self.matcher, 1, self.sampling, place)
        except NoTokenError as error:
            number, offset = block.document_at(error.offset)
            offset += 0 if number else place.offset
            where = f"{self.origins.of(place.document + number + 1)}, byte {offset:,}"
            raise InputError(f"{where}: {error.elsewhere}", hint=error.hint) from error
        except InputError as error:
            found = _failing(self.model, block, self.matcher)
            if found is None:
                raise
            name = self.origins.of(place.document + found[0] + 1)
            raise InputError(f"{name}: {error.message}", hint=error.hint) from error
        return with_edges(block, ids, ends, self.edges, self.sink)

    def write(self, item: Item, result: Result) -> None:
        """Write the result of a block; blocks come in order.

        Raises:
            OutputError: if the output cannot be written.
        """
        block, _ = item
        ids, ends = result
        if ids is None and isinstance(self.sink, CountSink):
            self.budget.spend(ends, block)
            self.sink.write_counts(block, ends)
        elif ids is not None:
            if self.budget.is_limited:
                self.budget.spend(counts_of(block, ends, self.edges, self.sink), block)
            self.sink.write(block, ids, ends)


# -- what is asked for, and what became of it ---------------------------------------------------------

Counts = Literal["numbers", "named", "json"]
"""How counts of tokens are written."""


@dataclass(frozen=True, slots=True)
class EncodeOptions:
    """What is written, and how texts are encoded.

    Attributes:
        to: ``ids``, ``tokens``, ``jsonl``, ``npy``, ``bin``, ``count``, and ``text`` of conversations; None for what
            the output's name says, else ids.
        tokens: Whether to write the tokens to jsonl too.
        spans: Whether to write the byte span of each token to jsonl too.
        specials: Which special tokens are looked for in the text: ``all``, or those that are named.
        refuse_specials: Whether a text that holds one of them is refused instead.
        add_special_tokens: Whether the post-processor puts around each document what it has.
        bos: What begins each document: the text of a special token, an id, or ``auto``.
        eot: The token to put after each document, given in the same way.
        max_tokens: How many tokens a document may have.
        counts: How ``count`` is written: ``numbers``, a line each; ``named``, each with the name of its document and a
            total, if there are several inputs; ``json``, one object with all of that.
        sampling: How encodings are varied at random.
        threads: Number of threads; None uses all processors. Never changes the result.
    """

    to: str | None = None
    tokens: bool = False
    spans: bool = False
    specials: Specials = ()
    refuse_specials: bool = False
    add_special_tokens: bool = False
    bos: str | int | None = None
    eot: str | int | None = None
    max_tokens: int | None = None
    counts: Counts = "numbers"
    sampling: Sampling | None = None
    threads: int | None = None

    def check_no_ids(self, what: str) -> None:
        """Check that nothing is said about ids where text is written; ``what`` begins the message.

        Raises:
            UsageError: if something is.
        """
        about_ids = {
            "tokens": self.tokens,
            "spans": self.spans,
            "bos": self.bos is not None,
            "eot": self.eot is not None,
            "max_tokens": self.max_tokens is not None,
            "add_special_tokens": self.add_special_tokens,
        }
        useless = [name for name, given in about_ids.items() if given]
        if useless:
            raise UsageError(f"{what} no ids, and `{useless[0]}` is only for ids", hint="leave it out")

    def sink_options(self, edges: Edges, inputs: Inputs | None = None, origins: Named | None = None) -> SinkOptions:
        """Return the options of a sink: of inputs, each document of which has an origin."""
        from bpe_cli.sinks import SinkOptions
        from bpe_cli.support.ordered_threads import usable_threads

        several = inputs is not None and len(inputs.items) > 1
        listed = origins if self.counts == "json" or (self.counts == "named" and several) else None
        sizes = [] if inputs is None else [item.size for item in inputs.items]
        return SinkOptions(
            self.tokens, self.spans, self.specials, edges, origins=listed, json=self.counts == "json",
            most_tokens=self.max_tokens, width=len(str(sum(size or 0 for size in sizes))),
            threads=usable_threads(self.threads),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Encoded:
    """The numbers of what was encoded.

    Attributes:
        documents: How many documents there were, or conversations, or lines of segmented text.
        tokens: How many ids they have, with what stands around them; None where only text was written.
        divided: How often the token that ends documents stands inside them too, so that readers find more of them.
        files: The files that were written: the output, and what describes it.
        subwords: How many subwords have a count in the vocabulary that was written; None where none was.
        chunks: How many parts of texts were written; None where none were.
    """

    documents: int
    tokens: int | None = None
    divided: int = 0
    files: tuple[str, ...] = ()
    subwords: int | None = None
    chunks: int | None = None


def encoded(sink: Sink, to: str, target: Target) -> Encoded:
    """Return the numbers of what a sink has written."""
    from bpe_cli import sinks

    files = (target.path, sinks.record_of(to, target.path)) if os.path.isfile(target.path or "") else ()
    return Encoded(sink.documents, sink.tokens, getattr(sink, "divided", 0), tuple(each for each in files if each))


def kind_written(to: str | None, target: Target) -> str:
    """Return the kind of output: as asked, else by the name of the output, else ids."""
    from bpe_cli import sinks

    return to or sinks.sink_of_name(target.path) or "ids"


def check_output(to: str, target: Target, *, jsonl: bool = False, json: bool = False) -> None:
    """Check that an output can be written, and that its name fits its contents; ``json``: that of counts is JSON.

    Raises:
        UsageError: if its name is that of another kind of file, or it is a terminal and the output is not text.
        OutputError: if the output cannot be written.
    """
    from bpe_cli import sinks

    if target.path is None:
        if to in sinks.SINKS and sinks.is_binary(to) and target.stream is not None and target.stream.isatty():
            raise UsageError(
                f"{to} cannot be written to a terminal", hint="name a file with `output`, or pipe it into a program"
            )
    elif to in sinks.SINKS:
        sinks.check_outputs(to, target.path, json=json)
    else:
        check_text_output(target.path, jsonl=jsonl)


def outputs_of(to: str, target: Target) -> list[tuple[str, str | None]]:
    """Return the files that are written, with what messages call them."""
    from bpe_cli import sinks

    return [("`output`", target.path), ("the record of `output`", sinks.record_of(to, target.path))]
