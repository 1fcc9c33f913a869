"""Divide texts into parts of at most so many tokens, or keep so many of each: text in, text out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from bpe_cli.errors import InputError, UsageError
from bpe_cli.jobs.documents import Encoded
from bpe_cli.jobs.files import Streams, Target, check_kept, check_text_name, check_text_output
from bpe_cli.jobs.origins import Origins
from bpe_cli.support.core_arguments import whole_number
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.json_text import name_value, text_value
from bpe_cli.support.listening import SILENCE, Listener
from bpe_cli.tokenizer.parts import BREAKS

if TYPE_CHECKING:
    from bpe_cli.corpus import Source
    from bpe_cli.jobs.files import Destination
    from bpe_cli.jobs.origins import Origin
    from bpe_cli.jobs.tokenizers import AnyTokenizer
    from bpe_cli.tokenizer import Specials, Tokenizer
    from bpe_cli.tokenizer.parts import Break, Side

Keep = Literal["head", "tail", "middle"]
"""What of a text stays."""

SIDES: dict[Keep, Side] = {"head": "right", "tail": "left", "middle": "both"}
"""At which end of a text is cut, by what of it stays."""

Written = tuple[list[bytes], int, int]
"""What is written of some documents, how many parts that is, and how many tokens they have."""


@dataclass(frozen=True, slots=True)
class ChunkOptions:
    """How texts are divided into parts.

    Attributes:
        size: The most tokens in a part.
        overlap: How many tokens of a part the next one repeats.
        break_at: After what a part ends if it can: see ``Tokenizer.chunks``.
        specials: The special tokens to recognize in the text; none unless asked.
        threads: Number of threads; None uses all processors. Never changes the result.

    Raises:
        UsageError: if a part has no room or too much, or repeats all of the one before.
    """

    size: int
    overlap: int = 0
    break_at: Break = "token"
    specials: Specials = ()
    threads: int | None = None

    def __post_init__(self) -> None:
        if self.size < 1:
            raise UsageError(f"`size` must be 1 or more, not {self.size:,}")
        whole_number("`size`", self.size)
        if not 0 <= self.overlap < self.size:
            raise UsageError(f"`overlap` must be less than `size`, which is {self.size:,}, not {self.overlap:,}")
        if self.break_at not in BREAKS:
            raise UsageError(f"a part cannot end at a {self.break_at!r}", hint=f"there are {', '.join(BREAKS)}")

    def parts_of(self, model: Tokenizer, document: bytes, origin: Origin, *, whole: bool) -> Written:
        """Return the JSON lines of the parts of a document.

        Raises:
            InputError: if one character alone has more tokens than a part, or a byte has none.
        """
        from bpe_cli.support.safe_orjson import orjson

        lines, tokens = [], 0
        for each in model.chunks(
            document, self.size, overlap=self.overlap, break_at=self.break_at, specials=self.specials
        ):
            value = {
                "text": text_value(document[each.start : each.end]),
                "start": each.start,
                "end": each.end,
                "tokens": len(each.ids),
                "input": name_value(origin.path),
                "document": origin.document,
            }
            lines.append(orjson.dumps(value) + b"\n")
            tokens += len(each.ids)
        return lines, len(lines), tokens


@dataclass(frozen=True, slots=True)
class TruncateOptions:
    """How much of each text is kept.

    Attributes:
        size: The most tokens of what is kept.
        keep: Which part of it: its ``head``, its ``tail`` or its ``middle``.
        specials: The special tokens to recognize in the text; none unless asked.
        threads: Number of threads; None uses all processors. Never changes the result.

    Raises:
        UsageError: if there is no such part.
    """

    size: int
    keep: Keep = "head"
    specials: Specials = ()
    threads: int | None = None

    def __post_init__(self) -> None:
        if self.size < 0:
            raise UsageError("`truncate` must be 0 or more")
        whole_number("`truncate`", self.size)
        if self.keep not in SIDES:
            raise UsageError(f"a text has no {self.keep!r}", hint=f"there are {', '.join(SIDES)}")

    def parts_of(self, model: Tokenizer, document: bytes, origin: Origin, *, whole: bool) -> Written:
        """Return what is kept of a document: as it is if it is a whole input, else in a line.

        Raises:
            InputError: if a byte has no token.
        """
        kept = model.truncate(document, self.size, side=SIDES[self.keep], specials=self.specials)
        count = model.count(kept, specials=self.specials)
        if whole:
            return [kept], 1, count
        if origin.line is not None:
            return [kept, b"\n"], 1, count
        from bpe_cli.support.safe_orjson import orjson

        return [orjson.dumps({"text": text_value(kept)}) + b"\n"], 1, count


def divide(
    source: Source,
    tokenizer: AnyTokenizer,
    options: ChunkOptions | TruncateOptions,
    *,
    output: Destination,
    listener: Listener = SILENCE,
    streams: Streams | None = None,
) -> Encoded:
    r"""Write parts of the documents of a source: a JSON object for each, or the beginning of each text.

    >>> import io
    >>> from bpe_cli.corpus import Source
    >>> lines = io.BytesIO()
    >>> divide(Source(text="one two three"), "gpt2", ChunkOptions(2), output=lines).chunks
    2
    >>> lines.getvalue().split(b"\n")[1]
    b'{"text":" three","start":7,"end":13,"tokens":1,"input":"--text","document":1}'
    >>> text = io.BytesIO()
    >>> divide(Source(text="one two three"), "gpt2", TruncateOptions(2, "tail"), output=text).tokens, text.getvalue()
    (2, b' two three')

    Args:
        source: The texts.
        tokenizer: A tokenizer, its file, or its name.
        options: How they are divided.
        output: A file, which appears only when it is complete, or a binary stream.
        listener: Receives progress and notes.
        streams: The streams around the job.

    Raises:
        UsageError: if the options contradict each other, or the tokenizer, or an output would replace an input.
        InputError: if an input cannot be read, or a character has more tokens than a part, or a byte has none.
        OutputError: if the output cannot be written.
    """
    from bpe_cli.corpus import reading
    from bpe_cli.jobs.files import find_documents
    from bpe_cli.jobs.tokenizers import files_of, load_tokenizer, note_oddities
    from bpe_cli.support.blocks import whole_documents
    from bpe_cli.support.ordered_threads import BLOCK_BYTES, Ordered, usable_threads

    streams, target = streams or Streams(), Target.of(output)
    as_chunks = isinstance(options, ChunkOptions)
    if target.path is not None:
        check_text_output(target.path, jsonl=as_chunks or source.documents == "jsonl" or None)
    model = load_tokenizer(tokenizer)
    model.matcher(options.specials)  # what is no special token is said before anything is read
    written = [("`output`", target.path)]
    check_kept(written, files_of(tokenizer), streams, target)
    note_oddities(model, options.specials, listener)
    files = find_documents(source, written, listener=listener, streams=streams, target=target)
    if target.path is not None and not as_chunks and source.documents != "jsonl":
        # What is kept of a row, or of a member of an archive, is written as JSON.
        tables = any(item.kind is not None and item.kind.is_table for item in files.items)
        check_text_name(target.path, jsonl=tables)
    origins = Origins.of_inputs(source, files)
    documents, chunks, tokens = 0, 0, 0

    def divided(item: tuple[int, list[bytes]]) -> Written:
        lines: list[bytes] = []
        parts = ids = 0
        for number, document in enumerate(item[1], item[0] + 1):
            origin = origins.origin_of(number)
            try:
                each = options.parts_of(model, document, origin, whole=not origin.of_several)
            except InputError as error:
                raise InputError(f"{origins.of(number)}: {error.message}", hint=error.hint) from error
            lines += each[0]
            parts, ids = parts + each[1], ids + each[2]
        return lines, parts, ids

    def write(_: object, result: Written) -> None:
        nonlocal chunks, tokens
        out.write(b"".join(result[0]))
        out.flush()
        chunks, tokens = chunks + result[1], tokens + result[2]

    with (
        target.open() as out,
        Ordered(divided, write, usable_threads(options.threads)) as ordered,
        reading(
            source.at_most(BLOCK_BYTES), files, "dividing", listener, stdin=streams.read, on_input=origins.begin,
            on_wait=ordered.drain,
        ) as blocks,
    ):  # fmt: skip
        for several in whole_documents(blocks):
            ordered.put((documents, several))
            documents += len(several)
    made = (target.path,) if target.path else ()
    return Encoded(documents, tokens, files=made, chunks=chunks if as_chunks else None)
