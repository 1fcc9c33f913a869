"""``bpe decode``: ids to text."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Annotated

from bpe_cli.cli import options
from bpe_cli.cli.console import note, on_terminal, progress
from bpe_cli.cli.inputs import find_inputs
from bpe_cli.cli.output_checks import check_kept
from bpe_cli.cli.parameters import Option
from bpe_cli.errors import InputError, UsageError
from bpe_cli.views.numbers import count

if TYPE_CHECKING:
    from bpe_cli.sinks.batches import Batch
    from bpe_cli.tokenizer import Tokenizer

EPILOG = "Exit status: 0 fine, 2 bad usage, input or output."


_HEAD_BYTES = 64
"""So much of a file tells in which format it is."""


class From(StrEnum):
    """What to read."""

    ids = "ids"
    tokens = "tokens"
    jsonl = "jsonl"
    npy = "npy"
    bin = "bin"


class Errors(Enum):
    """What to do with bytes that are not UTF-8."""

    strict = "strict"
    replace = "replace"
    ignore = "ignore"


class Dtype(StrEnum):
    """How a number lies in a binary file."""

    u16 = "u16"
    u32 = "u32"


def run(
    inputs: options.Inputs = None,
    tokenizer: options.TokenizerName = None,
    from_: Annotated[
        From | None,
        Option(
            "--from",
            rich_help_panel="Input",
            show_default="by the file's name and beginning",
            help="What `bpe encode --to` wrote.",
        ),
    ] = None,
    output: options.Output = None,
    errors: Annotated[
        Errors | None,
        Option(
            "--errors",
            rich_help_panel="Output",
            show_default="write the bytes as they are",
            help="Make the output valid UTF-8: fail on other bytes, replace them by U+FFFD, or leave them out, "
            "keeping as many characters as can be.",
        ),
    ] = None,
    lines: Annotated[
        bool, Option("--lines", rich_help_panel="Output", help="End each document with a line end.")
    ] = False,
    bos: Annotated[
        str | None,
        Option(
            "--bos",
            metavar="TEXT|ID|auto",
            rich_help_panel="Input",
            show_default="OUT.json",
            help="What begins each document, and is left out.",
        ),
    ] = None,
    eot: Annotated[
        str | None,
        Option(
            "--eot",
            metavar="TEXT|ID|auto",
            rich_help_panel="Input",
            show_default="OUT.json",
            help="What ends each document, and is left out.",
        ),
    ] = None,
    dtype: Annotated[
        Dtype | None,
        Option(
            "--dtype",
            rich_help_panel="Input",
            show_default="OUT.json, else what the vocabulary needs",
            help="How a number lies in a bin file.",
        ),
    ] = None,
    add_special: options.AddSpecial = None,
    pattern: options.PatternName = None,
    quiet: options.Quiet = False,
) -> None:
    """Decode token ids into the bytes that were encoded.

    [bold]Examples[/bold]

        bpe encode corpus.txt | bpe decode > copy.txt

        bpe decode corpus.bin -t tokenizer.json -o copy.txt

        echo 24912 2375 | bpe decode -t gpt-4o
    """
    from bpe_cli.corpus import Source, open_stream, waits_for_keyboard
    from bpe_cli.sinks.atomic import check_writable, open_stdout
    from bpe_cli.sinks.batches import ReadOptions
    from bpe_cli.sinks.compressing import check_compressing, open_packed
    from bpe_cli.sinks.read import kind_of, read_batches
    from bpe_cli.sinks.sidecar import complete, sidecar_path
    from bpe_cli.tokenizer.edges import edges_of
    from bpe_cli.tokenizer.streaming import CharacterStream

    if not inputs and waits_for_keyboard(Source(), sys.stdin.buffer):
        raise UsageError("there are no ids: stdin is a terminal", hint="name files, or pipe ids in")
    if output is not None:
        check_compressing(output)
        check_writable(output)
    model = options.tokenizer_of(tokenizer, pattern, add_special)
    edges = edges_of(model, bos=bos, eot=eot)
    asked = ReadOptions(model, dtype.value if dtype else None, edges.bos, edges.eot)
    written = [("-o", output)]
    source = Source(tuple(inputs or ()), plain=True)
    found = find_inputs(source, quiet, written, "ids can be piped in: echo 24912 2375 | bpe decode")
    records = ((f"the record of {item.name}", sidecar_path(item.path)) for item in found.items if item.path != "-")
    check_kept(written, [("the tokenizer", tokenizer or ""), *records])
    documents = tokens = 0
    with (
        progress(found.total_bytes, "decoding", quiet=quiet, printing=on_terminal(output)) as advance,
        open_stdout(sys.stdout.buffer) if output is None else open_packed(output) as out,
    ):
        for item in found.items:
            with open_stream(item.path, stdin=sys.stdin.buffer, on_bytes=advance) as stream:
                kind = from_.value if from_ else kind_of(item.path, stream.peek(_HEAD_BYTES))
                reading, sidecar = complete(kind, item.path, asked, model)
                if sidecar is not None and not sidecar.is_of(model):
                    name = sidecar.tokenizer_name or "another tokenizer"
                    note(f"note: {item.name} was encoded with {name}, whose value differs from this one's", quiet=quiet)
                characters = None if errors is None else CharacterStream(errors.value)
                place = _Place(item.name)
                for batch in _documents(read_batches(kind, stream, item.name, reading), whole=bool(model.decoder)):
                    tokens += len(batch.ids) + batch.left_out
                    with place.named(model, batch.ids):
                        data = model.decode_bytes(memoryview(batch.ids).toreadonly())  # nobody changes them meanwhile
                        out.write(data if characters is None else characters.feed(data).encode())
                        if batch.done and characters is not None:
                            out.write(characters.finish().encode())
                    if batch.done:
                        documents += 1
                        if lines:
                            out.write(b"\n")
                    place.advance(batch)
                out.flush()
    if output is not None:
        note(f"{count(documents, 'document')}, {count(tokens, 'token')} -> {output}", quiet=quiet)


def _documents(batches: "Iterator[Batch]", *, whole: bool) -> "Iterator[Batch]":
    """Join the batches of each document if decoders have to see it whole."""
    from bpe_cli.sinks.batches import Batch

    held: list[Batch] = []
    for batch in batches:
        if not whole or (batch.done and not held):
            yield batch
            continue
        held.append(batch)
        if batch.done:
            ids = held[0].ids[:]
            for more in held[1:]:
                ids.extend(more.ids)
            left_out = sum(each.left_out for each in held)
            held = []
            yield Batch(ids, True, left_out)


class _Place:
    """Keep where in an input the ids at hand stand, to name it when they cannot be decoded."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._document = 1
        self._tokens = 0  # of the document that goes on

    def advance(self, batch: "Batch") -> None:
        """Go past a batch."""
        self._document += batch.done
        self._tokens = 0 if batch.done else self._tokens + len(batch.ids)

    @contextmanager
    def named(self, model: "Tokenizer", ids: Sequence[int]) -> Iterator[None]:
        """Put the place before the message of what fails inside.

        Raises:
            InputError: What failed; of an id that has no token, with its number in the document.
        """
        try:
            yield
        except InputError as error:
            where = f"{self._name}, document {self._document:,}"
            for number, token_id in enumerate(ids, self._tokens + 1):
                try:
                    model.token_bytes(token_id)
                except InputError as missing:
                    message = f"{where}, token {number:,}: {missing.message}"
                    raise InputError(message, hint=error.hint) from error
            raise InputError(f"{where}: {error.message}", hint=error.hint) from error
