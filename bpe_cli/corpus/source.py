"""Turn a description of a corpus into blocks of documents.

Length: one value with its checks, and the ways from each kind of file to blocks.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bpe_cli.corpus.documents import Packer, pack_lines, pack_whole
from bpe_cli.corpus.inputs import Input, Inputs
from bpe_cli.corpus.meter import Meter, digest
from bpe_cli.corpus.opening import SNIFF_BYTES, is_url, read_chunks
from bpe_cli.corpus.rows import ALL_WHOLE, Place, Rows
from bpe_cli.corpus.stdin import idleness
from bpe_cli.errors import UsageError
from bpe_cli.support.blocks import Block
from bpe_cli.support.fast_dataclass import dataclass, replace
from bpe_cli.support.fast_typing import TYPE_CHECKING, Literal
from bpe_cli.support.listening import SILENCE, Listener

if TYPE_CHECKING:
    from typing import BinaryIO


Documents = Literal["whole", "lines", "jsonl"]
"""What a document is: a whole input, a line, or a field of a line of JSON."""

TEXT_NAME = "text"
"""What a comparison calls a text that is not a file."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a corpus comes from, and what its documents are.

    Attributes:
        paths: Files, folders, glob patterns, ``-`` for stdin; none means stdin.
        text: The text itself, in place of paths.
        documents: What a document is. A row of a CSV, TSV, Parquet or Arrow file is one in any case, and a
            member of a tar archive cannot be divided.
        field: The field of a JSON line, or the column of a table, that holds the text; None for ``text``, or
            ``messages`` where conversations are read.
        block_bytes: The most bytes a block holds, at least 1. It changes no document.
        decompress: False to take the bytes of compressed files as they are; all is taken as ``plain`` then.
        plain: True to take all inputs for text, whatever they hold: JSON lines, tables, archives.
        member: How the members of tar archives end that are documents, as ``txt``; None for that, and to leave archives
            of a folder out.
        json: True if a whole input, or a line, is JSON by itself, as a conversation is: JSON lines are right then.
        field_is_default: True if the field is a project's default, which means nothing for inputs without fields.
        documents_are_default: True if nobody has said what a document is in this very run, which then means nothing for
            tar archives: a member is one document.
        otherwise: The hint for a file that is missing, as whoever names files may give a text itself; None for none.

    Raises:
        UsageError: if there are both paths and a text, or ``block_bytes`` is less than 1.
    """

    paths: tuple[str, ...] = ()
    text: str | None = None
    documents: Documents = "whole"
    field: str | None = None
    block_bytes: int = 8 << 20
    decompress: bool = True
    plain: bool = False
    json: bool = False
    member: str | None = None
    field_is_default: bool = False
    documents_are_default: bool = False
    otherwise: str | None = None

    def __post_init__(self) -> None:
        if self.text is not None and self.paths:
            raise UsageError("a text and files cannot be used together", hint="drop `text`, or the names of the files")
        if self.block_bytes < 1:
            raise UsageError("a block holds at least 1 byte")
        if self.member is not None and (not self.ending or "/" in self.ending):
            raise UsageError(
                f"`member` must be the end of a file name, not {self.member!r}", hint="for example: txt or json"
            )
        if self.member is not None:
            from bpe_cli.corpus.archive import check_ending

            check_ending(self.ending)

    def at_most(self, block_bytes: int) -> Source:
        """Return the same in blocks of no more bytes than that."""
        return replace(self, block_bytes=min(self.block_bytes, block_bytes))

    def by_lines(self) -> Source:
        """Return the same with lines for documents where whole inputs are those; members of archives stay whole."""
        return replace(self, documents="lines", documents_are_default=True) if self.documents == "whole" else self

    @property
    def text_field(self) -> str:
        """The field or the column that holds the text."""
        return "text" if self.field is None else self.field

    @property
    def ending(self) -> str:
        """How the members of archives end that are documents, without a dot."""
        return "txt" if self.member is None else self.member.lower().lstrip(".")

    def inputs(
        self,
        *,
        stdin: BinaryIO | None = None,
        on_skip: Callable[[str], None] | None = None,
        otherwise: str | None = None,
        leave_out: str | None = None,
    ) -> Inputs:
        """Find the files, none for a text, and check that they hold what they are to be read as.

        See ``Inputs.resolve`` and ``judge``.

        Raises:
            InputError: if a file is missing, or is not text, or the like.
            UsageError: if there are lines of JSON that would be taken for text, inputs of several kinds, or archives
                where lines are asked for.
        """
        if self.text is not None:
            return Inputs(())
        inputs = Inputs.resolve(
            self.paths, stdin=stdin, on_skip=on_skip, otherwise=self.otherwise if otherwise is None else otherwise,
            examined=self.is_judged, archives=self.member is not None, leave_out=leave_out,
        )  # fmt: skip
        if not self.is_judged or all(item.kind is None or item.kind.is_text for item in inputs.items):
            return inputs
        from bpe_cli.corpus.judging import judge, refuse_archives

        judged = judge(inputs.items, json=self.takes_json, on_skip=on_skip or (lambda _: None))
        if self.documents != "whole" and not self.documents_are_default:
            refuse_archives(judged, json=self.takes_json)
        return replace(inputs, items=judged)

    @property
    def is_judged(self) -> bool:
        """Whether inputs that are not text are refused."""
        return self.decompress and not self.plain

    @property
    def takes_json(self) -> bool:
        """Whether JSON is asked for."""
        return self.json or self.documents == "jsonl"


InputHash = tuple[str, str, int]
"""What identifies an input that was read: its plain name, the sha256 of its bytes on disk, their number.

The hash of a table in an object store is empty: it would cost a second download, of columns that nobody asked for.
"""


def waits_for_keyboard(source: Source, stdin: BinaryIO) -> bool:
    """Return whether reading would wait for the keyboard: stdin is to be read, and is a terminal."""
    takes_stdin = source.text is None and (not source.paths or "-" in source.paths)
    return takes_stdin and stdin.isatty()


def read_blocks(
    source: Source,
    *,
    stdin: BinaryIO,
    inputs: Inputs | None = None,
    on_skip: Callable[[str], None] | None = None,
    on_note: Callable[[str], None] | None = None,
    on_bytes: Callable[[int], None] | None = None,
    on_input: Callable[[str, int], None] | None = None,
    hashes: list[InputHash] | None = None,
    on_wait: Callable[[], None] | None = None,
    rows: Rows = ALL_WHOLE,
    threads: int = 1,
) -> Iterator[Block]:
    r"""Read a corpus as blocks of documents, in bounded memory, one file open at a time.

    The files are found when this is called, and read when the result is iterated over. A document
    that does not fit into a block arrives in several, flagged ``unfinished`` and ``continued``;
    small ones share a block, across inputs too.

    >>> import io
    >>> blocks = read_blocks(Source(text="one\ntwo", documents="lines"), stdin=io.BytesIO())
    >>> [bytes(document) for block in blocks for document in block.documents()]
    [b'one', b'two']

    Args:
        source: What to read.
        stdin: The stream that ``-`` stands for.
        inputs: What ``source.inputs()`` gave, so that it need not be found again.
        on_skip: Called with a sentence for each file of a folder that is left out.
        on_note: Called with a sentence for what the user may not expect: a binary file that was named, one that grows.
        on_bytes: Called with the number of bytes read from disk since the last call.
        on_input: Called with the plain name of each input and the number of documents before it.
        hashes: Is given the hash of each input, once that was read to its end.
        on_wait: Called before each read that may wait for somebody to write: of what is not a regular file. Whoever
            holds back what it made of earlier blocks gives it out then.
        rows: What becomes of broken rows, and what is kept beside the texts.
        threads: How many there may be: with more than one, another hashes what this one reads.

    Raises:
        InputError: if an input cannot be read; the message says which, where and why.
        UsageError: if ``-`` is given twice; or as ``Source.inputs``, of a pipe when its bytes are there.
    """
    files = inputs if inputs is not None else source.inputs(stdin=stdin, on_skip=on_skip)
    return _read(source, files, stdin, on_note, on_bytes, on_input, hashes, on_wait, rows, threads)


@contextmanager
def reading(
    source: Source,
    inputs: Inputs,
    what: str,
    listener: Listener = SILENCE,
    *,
    stdin: BinaryIO | None = None,
    on_input: Callable[[str, int], None] | None = None,
    hashes: list[InputHash] | None = None,
    on_wait: Callable[[], None] | None = None,
    threads: int = 1,
) -> Iterator[Iterator[Block]]:
    """Open the inputs of a job as one task: its listener hears how many bytes were read, and every note.

    Args:
        source: What to read.
        inputs: What ``source.inputs()`` gave.
        what: What is done with it, as in ``encoding``.
        listener: Who hears of it.
        stdin: The stream that ``-`` stands for; None for the process's own.
        on_input: As for ``read_blocks``.
        hashes: As for ``read_blocks``.
        on_wait: As for ``read_blocks``.
        threads: As for ``read_blocks``.

    Raises:
        InputError: if an input cannot be read, while its blocks are iterated over.
    """
    with listener.task(what, inputs.total_bytes) as advance:
        yield read_blocks(
            source, stdin=stdin or sys.stdin.buffer, inputs=inputs, on_bytes=advance, on_note=listener.note,
            on_input=on_input, hashes=hashes, on_wait=on_wait, threads=threads,
        )  # fmt: skip


@contextmanager
def reading_each(
    source: Source, inputs: Inputs, what: str, listener: Listener = SILENCE, *, stdin: BinaryIO | None = None
) -> Iterator[Iterator[tuple[str, Iterator[Block]]]]:
    r"""Open the inputs of a job as one task, as ``reading`` does, and keep them apart.

    Yields:
        For each input its path, as it is, and its blocks; ``text`` for a text, ``stdin`` for stdin.

    >>> with reading_each(Source(text="one"), Inputs(()), "reading") as each:
    ...     [(name, [bytes(block.data) for block in blocks]) for name, blocks in each]
    [('text', [b'one'])]
    """

    def blocks(part: Source, items: Inputs) -> Iterator[Block]:
        return read_blocks(part, stdin=stdin or sys.stdin.buffer, inputs=items, on_bytes=advance, on_note=listener.note)

    def each() -> Iterator[tuple[str, Iterator[Block]]]:
        if source.text is not None:
            yield TEXT_NAME, blocks(source, inputs)
        for item in inputs.items:
            yield item.plain_name, blocks(replace(source, paths=(item.path,)), Inputs((item,)))

    with listener.task(what, inputs.total_bytes) as advance:
        yield each()


def _read(
    source: Source,
    inputs: Inputs,
    stdin: BinaryIO,
    on_note: Callable[[str], None] | None,
    on_bytes: Callable[[int], None] | None,
    on_input: Callable[[str, int], None] | None,
    hashes: list[InputHash] | None,
    on_wait: Callable[[], None] | None,
    rows: Rows,
    threads: int,
) -> Iterator[Block]:
    packer = Packer(source.block_bytes)
    if source.text is not None:
        if on_input is not None:
            on_input("--text", 0)
        data = source.text.encode("utf-8", "surrogateescape")
        if hashes is not None:
            meter = Meter(digest(), None)
            meter(data)
            hashes.append(("--text", meter.hexdigest(), meter.size))
        yield from _pack(source, Input("--text"), iter((data,)), packer, [], rows)
    noted: set[str] = set()
    for item in inputs.items:
        if on_input is not None:
            on_input(item.plain_name, packer.closed)
        meter = Meter(None if hashes is None else digest(threads), on_bytes)
        if item.kind is not None and item.kind.is_table and not item.kind.is_stream:
            yield from _pack_table(item, packer, source.text_field, on_bytes, rows)
            if hashes is not None and is_url(item.path):
                hashes.append((item.plain_name, "", item.size or 0))
                meter.digest = None
            elif hashes is not None:
                meter.on_bytes = None  # told already
                for _ in read_chunks(item.path, stdin=stdin, decompressed=False, on_raw=meter):
                    pass
        else:
            chunks: Iterator[bytes]
            begun: list[int] = []  # where the first line of an extent begins
            if item.extent is not None:
                from bpe_cli.corpus.extents import read_lines_in

                chunks = read_lines_in(
                    item.path, *item.extent, on_raw=meter, on_begin=begun.append, version=item.version, size=item.size
                )
            else:
                chunks = read_chunks(
                    item.path,
                    stdin=stdin,
                    decompressed=source.decompress,
                    on_raw=meter,
                    on_wait=on_wait if item.size is None else None,
                    version=item.version,
                    size=item.size if item.version is not None else None,
                )
            if source.is_judged and item.kind is None:
                from bpe_cli.corpus.judging import watched

                chunks = watched(chunks, item.name, json=source.takes_json)
            is_stream = item.kind is not None and item.kind.is_stream
            if on_note is not None and source.documents != "jsonl" and not is_stream and item.path not in noted:
                noted.add(item.path)
                chunks = _watched(chunks, item, on_note)
            packer.is_idle = idleness(stdin) if item.path == "-" and item.size is None else None
            yield from _pack(source, item, chunks, packer, begun, rows)
            packer.is_idle = None
            if on_note is not None and item.size is not None and not item.extent and _has_grown(item, meter.size):
                on_note(f"{item.name} has grown; what came after its first {meter.size:,} bytes is not read")
        if hashes is not None and meter.digest is not None:
            hashes.append((item.plain_name, meter.digest.hexdigest(), meter.size))
    yield from packer.flush()


def _pack_table(
    item: Input, packer: Packer, field: str, on_bytes: Callable[[int], None] | None, rows: Rows
) -> Iterator[Block]:
    from bpe_cli.corpus.kinds import ARROW

    if item.kind == ARROW:
        from bpe_cli.corpus.columns import pack_arrow

        return pack_arrow(item.path, packer, field, on_bytes, rows, item.version)
    from bpe_cli.corpus.columns import pack_parquet

    return pack_parquet(item.path, packer, field, on_bytes, rows, item.version)


def _has_grown(item: Input, size: int) -> bool:
    """Return whether a file has more bytes than were read."""
    try:
        return item.path != "-" and not is_url(item.path) and os.stat(item.path).st_size > size
    except OSError:
        return False


def _pack(
    source: Source, item: Input, chunks: Iterator[bytes], packer: Packer, begun: list[int], rows: Rows
) -> Iterator[Block]:
    if item.kind is not None and item.kind.is_stream:
        from bpe_cli.corpus.delimited import DELIMITERS, pack_delimited

        begin = Place(item.name, item.plain_name, 1, 0)
        if item.kind not in DELIMITERS:
            from bpe_cli.corpus.archive import pack_archive

            field = None if source.json else source.text_field
            return pack_archive(chunks, packer, begin, source.ending, field, rows)
        return pack_delimited(chunks, packer, begin, DELIMITERS[item.kind], source.text_field, rows)
    if source.documents == "lines":
        return pack_lines(chunks, packer)
    if source.documents == "jsonl":
        from bpe_cli.corpus.jsonl import pack_jsonl

        def begin_of() -> Place:
            offset = begun[0] if begun else 0
            return Place(item.name, item.plain_name, None if offset else 1, offset)

        return pack_jsonl(chunks, packer, begin_of, source.text_field, rows)
    return pack_whole(chunks, packer)


def _watched(chunks: Iterator[bytes], item: Input, on_note: Callable[[str], None]) -> Iterator[bytes]:
    """Pass chunks on, and note when the first bytes hold a NUL."""
    place = 0
    for chunk in chunks:
        zero = chunk.find(b"\0", 0, SNIFF_BYTES - place)
        if zero >= 0:
            on_note(f"{item.name} looks binary (NUL at byte {place + zero}); its bytes are taken as they are")
        place += len(chunk)
        yield chunk
        if zero >= 0 or place >= SNIFF_BYTES:
            break
    yield from chunks
