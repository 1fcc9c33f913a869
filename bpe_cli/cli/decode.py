"""``bpe decode``: decode ids to text."""

import sys

from bpe_cli.cli import options
from bpe_cli.cli.console import ConsoleListener, note, on_terminal, process_streams
from bpe_cli.errors import UsageError
from bpe_cli.sinks.base import Dtype
from bpe_cli.sinks.read import READERS
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.fast_typing import Annotated, Literal
from bpe_cli.support.messages import plural as count

EPILOG = "Exit status: 0 fine, 2 bad usage, input or output."

COMMON = {
    "inputs": "Files that bpe encode wrote; - is stdin.",
    "tokenizer": "A file, an encoding or a model. [by INPUT.json or o200k_base]",
    "from_": "ids, tokens, jsonl, npy, bin. [by the file]",
    "output": "The file to write. [stdout]",
    "errors": "What to do with bytes that are not UTF-8.",
    "lines": "End each document with a newline.",
    "bos": "Leave this token out at the start of a document.",
    "eot": "Leave this token out at the end of a document.",
    "quiet": "",
}
"""The options that people use most, and what the short help says of them; nothing: the first sentence of the long."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """The options about what is read."""

    from_: Annotated[
        str | None,
        options.input_option(
            "--from",
            choices=READERS,
            show_default="detected from the file's name and content",
            help="What `bpe encode --to` wrote.",
        ),
    ] = None
    bos: Annotated[
        str | None,
        options.input_option(
            "--bos",
            metavar="TEXT|ID|auto",
            show_default="as INPUT.json says",
            help="The token that begins each document; it is left out.",
        ),
    ] = None
    eot: Annotated[
        str | None,
        options.input_option(
            "--eot",
            metavar="TEXT|ID|auto",
            show_default="as INPUT.json says",
            help="The token that ends each document; it is left out.",
        ),
    ] = None
    dtype: Annotated[
        Dtype | None,
        options.input_option(
            "--dtype",
            show_default="as INPUT.json says, else what the vocabulary needs",
            help="The type of the numbers in a bin file.",
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class Written:
    """The options about what is written."""

    output: options.Output = None
    errors: Annotated[
        Literal["strict", "replace", "ignore"] | None,
        options.output_option(
            "--errors", show_default="write the bytes as they are",
            help="Make the output valid UTF-8: fail on invalid bytes, replace them with U+FFFD, or leave them out and "
            "keep as many characters as possible.",
        ),
    ] = None  # fmt: skip
    lines: Annotated[bool, options.output_option("--lines", help="End each document with a newline.")] = False


def run(
    tokenizer: options.NamedTokenizer,
    numbers: Numbers,
    written: Written,
    inputs: options.Inputs = None,
    quiet: options.Quiet = False,
) -> None:
    """Decode token ids into the bytes that were encoded.

    [bold]Examples[/bold]

        bpe encode corpus.txt | bpe decode > copy.txt

        bpe decode corpus.bin -t tokenizer.json -o copy.txt

        echo 24912 2375 | bpe decode -t gpt-4o
    """
    from bpe_cli.corpus import Source, waits_for_keyboard
    from bpe_cli.jobs.decode import DecodeOptions, decode

    if not inputs and waits_for_keyboard(Source(), sys.stdin.buffer):
        raise UsageError("there are no ids: stdin is a terminal", hint="name files, or pipe ids in")
    output = written.output
    listener = ConsoleListener(quiet=quiet, printing=on_terminal(output))
    done = decode(
        inputs or (),
        tokenizer.choice(),
        DecodeOptions(
            format=numbers.from_,
            errors=written.errors,
            lines=written.lines,
            bos=numbers.bos,
            eot=numbers.eot,
            dtype=numbers.dtype,
        ),
        output=sys.stdout.buffer if output is None else output,
        otherwise="ids can be piped in: echo 24912 2375 | bpe decode",
        listener=listener,
        streams=process_streams(),
    )
    if output is not None:
        note(
            f"{count(done.documents, 'document')}, {count(done.tokens, 'token')} -> {output}{listener.took()}",
            quiet=quiet,
        )
