"""The options that several commands share, each defined once: name, help, check and place in the help."""

import os
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from bpe_cli.cli.parameters import Argument, Option
from bpe_cli.errors import UsageError
from bpe_cli.support.fast_dataclass import dataclass, replace

if TYPE_CHECKING:
    from bpe_cli.corpus import Source
    from bpe_cli.jobs.tokenizers import TokenizerChoice
    from bpe_cli.stages import SpecialToken
    from bpe_cli.tokenizer import Specials

DEFAULT_TOKENIZER = "o200k_base"

_INPUT = "Input"
_TOKENIZER = "Tokenizer"
_RUNNING = "Running"


class Color(StrEnum):
    """When to colour."""

    auto = "auto"
    always = "always"
    never = "never"


Inputs = Annotated[
    list[str] | None,
    Argument(metavar="INPUT", help="Files, folders, glob patterns, or - for stdin (the default)."),
]
Text = Annotated[
    str | None, Option("--text", "-T", metavar="TEXT", help="Take the text from here.", rich_help_panel=_INPUT)
]
Lines = Annotated[bool, Option("--lines", help="Each line is a document.", rich_help_panel=_INPUT)]
Jsonl = Annotated[
    bool, Option("--jsonl", help="Each line is a JSON object with a document in a field.", rich_help_panel=_INPUT)
]
Plain = Annotated[
    bool,
    Option(
        "--plain", help="Take inputs for text whatever they hold, JSON lines or tables too.", rich_help_panel=_INPUT
    ),
]
Field = Annotated[str, Option("--field", metavar="A.B", help="The field that holds the text.", rich_help_panel=_INPUT)]
BlockSize = Annotated[
    int,
    Option(
        "--block-size",
        metavar="BYTES",
        min=1,
        help="Bytes read at a time; changes no result.",
        rich_help_panel=_RUNNING,
    ),
]
TokenizerName = Annotated[
    str | None,
    Option(
        "--tokenizer", "-t", metavar="TOKENIZER", rich_help_panel=_TOKENIZER, show_default=DEFAULT_TOKENIZER,
        help="A file or folder, an encoding (gpt2, cl100k_base), a model (gpt-4o), or hf:ORG/NAME of the local cache. "
        "Else $BPE_TOKENIZER.",
    ),
]  # fmt: skip
PatternName = Annotated[
    str | None,
    Option(
        "--pattern", metavar="NAME|REGEX", rich_help_panel=_TOKENIZER,
        help="The split pattern, for a tokenizer file that holds none.",
    ),
]  # fmt: skip
AddSpecial = Annotated[
    list[str] | None,
    Option(
        "--add-special", metavar="TEXT=ID", rich_help_panel=_TOKENIZER,
        help="Add a special token to the tokenizer. Can be repeated.",
    ),
]  # fmt: skip
Special = Annotated[
    list[str] | None,
    Option(
        "--special", metavar="all|error|TEXT", rich_help_panel=_TOKENIZER,
        help="Find special tokens in the text: all, or the one named (repeatable). They are plain text "
        "otherwise; error refuses them.",
    ),
]  # fmt: skip
Bos = Annotated[
    str | None,
    Option(
        "--bos", metavar="TEXT|ID|auto", rich_help_panel=_TOKENIZER,
        help="Begin each document with this special token; auto: with the one that the tokenizer says begins a text.",
    ),
]  # fmt: skip
Eot = Annotated[
    str | None,
    Option(
        "--eot", metavar="TEXT|ID|auto", rich_help_panel=_TOKENIZER,
        help="End each document with this special token, as readers that divide by it expect; auto: with the one that "
        "the tokenizer says ends a text.",
    ),
]  # fmt: skip
SpecialInText = Annotated[
    list[str] | None,
    Option(
        "--special", metavar="all|TEXT", rich_help_panel=_TOKENIZER,
        help="Find special tokens in the text: all, or the one named (repeatable). They are plain text otherwise.",
    ),
]  # fmt: skip
Threads = Annotated[
    int | None,
    Option(
        "--threads", "-j", metavar="N", min=1, envvar="BPE_THREADS", rich_help_panel=_RUNNING,
        show_default="all that may be used", help="Threads to use; changes no result.",
    ),
]  # fmt: skip
Quiet = Annotated[
    bool, Option("--quiet", "-q", help="No progress, notes or summary on stderr.", rich_help_panel=_RUNNING)
]
ColorWhen = Annotated[
    Color, Option("--color", help="When to colour; NO_COLOR and FORCE_COLOR count.", rich_help_panel=_RUNNING)
]


def _file_or_stdout(path: str | None) -> str | None:
    return None if path == "-" else path


Output = Annotated[
    str | None,
    Option(
        "--output",
        "-o",
        metavar="OUT",
        help="Write to a file.",
        show_default="stdout",
        rich_help_panel="Output",
        callback=_file_or_stdout,
    ),
]
Json = Annotated[bool, Option("--json", help="Print one JSON object with a schema field.")]

Html = Annotated[
    str | None,
    Option(
        "--html", metavar="FILE", rich_help_panel="Output",
        help="Write a page instead: one file for any browser, without network or need of scripts; - for stdout.",
    ),
]  # fmt: skip
Svg = Annotated[
    str | None,
    Option(
        "--svg", metavar="FILE", rich_help_panel="Output", help="Write a picture instead, for a README; - for stdout."
    ),
]

BLOCK_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class Documents:
    """The options that say what is read, and what a document is."""

    inputs: Inputs = None
    text: Text = None
    lines: Lines = False
    jsonl: Jsonl = False
    plain: Plain = False
    field: Field = "text"

    def source(self, block_size: int = BLOCK_BYTES, *, lines: bool = False) -> "Source":
        """Build the description of a corpus; ``lines`` says what a document is where no option does.

        Raises:
            UsageError: if options exclude each other, or nobody would ever type the input.
        """
        each_line = self.lines or (lines and not self.jsonl)
        return source_of(self.inputs, self.text, each_line, self.jsonl, self.plain, self.field, block_size)


@dataclass(frozen=True, slots=True)
class Running:
    """The options that change no result."""

    threads: Threads = None
    block_size: BlockSize = BLOCK_BYTES
    quiet: Quiet = False


@dataclass(frozen=True, slots=True)
class Screen:
    """The options about what the screen shows."""

    color: ColorWhen = Color.auto
    quiet: Quiet = False


@dataclass(frozen=True, slots=True)
class NamedTokenizer:
    """The options that say which tokenizer is used."""

    tokenizer: TokenizerName = None
    add_special: AddSpecial = None
    pattern: PatternName = None

    def choice(self) -> "TokenizerChoice":
        """Return which it is, without loading it.

        Raises:
            UsageError: if a special token is not TEXT=ID.
        """
        return choice_of(self.tokenizer, self.pattern, self.add_special)


def source_of(
    inputs: list[str] | None, text: str | None, lines: bool, jsonl: bool, plain: bool, field: str, block_size: int
) -> "Source":
    """Build the description of a corpus.

    Raises:
        UsageError: if options exclude each other, or nobody would ever type the input.
    """
    from bpe_cli.corpus import Source, waits_for_keyboard

    if lines and jsonl:
        raise UsageError("--lines and --jsonl exclude each other")
    if plain and jsonl:
        raise UsageError("--plain and --jsonl exclude each other", hint="--plain takes lines of JSON for text")
    if plain and text is not None:
        raise UsageError("--plain says how inputs are taken, and --text is text in any case", hint="leave --plain out")
    source = Source(
        paths=tuple(inputs or ()),
        text=text,
        documents="jsonl" if jsonl else "lines" if lines else "whole",
        field=field,
        block_bytes=block_size,
        plain=plain,
    )
    if not inputs and waits_for_keyboard(source, sys.stdin.buffer):
        raise UsageError(
            "there is no input: stdin is a terminal",
            hint="name files, give -T TEXT, or pipe text in (- reads what you type)",
        )
    return source


def choice_of(name: str | None, pattern: str | None = None, add_special: list[str] | None = None) -> "TokenizerChoice":
    """Return which tokenizer the options ask for, without loading it.

    Raises:
        UsageError: if a special token is not TEXT=ID.
    """
    from bpe_cli.jobs.tokenizers import TokenizerChoice

    choice = TokenizerChoice(name or os.environ.get("BPE_TOKENIZER") or DEFAULT_TOKENIZER, pattern)
    return replace(choice, added=additions_of(add_special)) if add_special else choice


def additions_of(add_special: list[str] | None) -> "tuple[SpecialToken, ...]":
    """Return the special tokens that are added.

    Raises:
        UsageError: if one is not TEXT=ID.
    """
    if not add_special:
        return ()
    from bpe_cli.support.messages import every

    return tuple(every(_addition, add_special))


def _addition(text: str) -> "SpecialToken":
    from bpe_cli.stages import SpecialToken

    content, _, number = text.rpartition("=")
    token_id = _id(number)
    if not content or token_id is None:
        raise UsageError(f"--add-special {text!r} is not TEXT=ID", hint="as in --add-special '<|im_start|>=100264'")
    return SpecialToken(content.encode(), token_id)


def _id(text: str) -> int | None:
    """Read an id, a u32; None for anything else, however many digits it has."""
    if not (text.isascii() and text.isdigit() and len(text) <= 10):
        return None
    return int(text) if int(text) < 1 << 32 else None


def specials_of(special: list[str] | None) -> "tuple[Specials, bool]":
    """Return which special tokens to find, and whether to refuse them instead.

    Raises:
        UsageError: ``error`` or ``all`` stands beside others.
    """
    names = special or []
    for word in ("error", "all"):
        if word in names and len(set(names)) > 1:
            raise UsageError(f"--special {word} excludes other special tokens")
    if "error" in names:
        return "all", True
    return ("all" if "all" in names else tuple(names)), False
