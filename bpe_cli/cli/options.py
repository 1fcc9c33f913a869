"""The options that several commands share, each defined once, and how options are declared without typer.

A command is a function ``run`` whose annotations say all of it: ``Annotated[TYPE, Option(...)]``. Options that belong
together, and those that several commands share, are fields of a class of values, annotated in the same way, each with a
default: a group. ``run`` gets a value of it by a parameter that is annotated with the class.

Two things read the annotations. ``argv_fast`` runs an entirely clear command line at once; ``argv_typer`` makes typer's
application of them, for help, completion, and whatever is not clear. Neither knows of groups: ``parameters_of`` and
``defaults_of`` list all fields among the parameters, and ``call`` puts the values back into their groups. So modules
that define ``run`` or a group do without ``from __future__ import annotations``: their annotations are values.

Length: a list of what commands share, of which each entry is short.
"""

import os
import sys
from functools import partial
from types import NoneType, UnionType

from bpe_cli.errors import UsageError
from bpe_cli.support.fast_dataclass import dataclass, replace
from bpe_cli.support.fast_typing import TYPE_CHECKING, Annotated, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from typing import Any, TypedDict, Unpack

    from bpe_cli.corpus import Source
    from bpe_cli.jobs.parts import Share
    from bpe_cli.jobs.tokenizers import TokenizerChoice
    from bpe_cli.stages import SpecialToken
    from bpe_cli.tokenizer import Specials

    class Settings(TypedDict, total=False):
        """What typer's parameters know, by typer's names; and the words that an option may have, if they are few."""

        help: str
        metavar: str
        rich_help_panel: str
        show_default: str
        min: int
        max: int
        envvar: str
        callback: "Callable[[Any], object]"
        choices: Collection[str]


class Argument:
    """Declare a positional argument."""

    __slots__ = ("settings",)

    def __init__(self, **settings: "Unpack[Settings]") -> None:
        self.settings = settings


class Option:
    """Declare an option.

    Attributes:
        names: ``--long``, ``-s``, or ``--this/--no-this``.
        settings: As typer has them. A callback gets the value, or the default, and gives another.
        answer: What is done instead of anything else if this flag is given.
    """

    __slots__ = ("answer", "names", "settings")

    def __init__(self, *names: str, answer: "Callable[[], None] | None" = None, **settings: "Unpack[Settings]") -> None:
        self.names = names
        self.settings = settings
        self.answer = answer


_ONE_PLACE = frozenset(
    ("text", "tokenizer", "add_tokens", "merge", "output", "html", "counts_out", "id_map", "write_vocabulary")
)
"""The options that name one thing that is read or written."""
_NAMES = frozenset(("allow_loss", "columns", "keep", "normalizer", "pre_tokenizer", "with_"))
"""The options whose value is several names with commas between them."""


def given_once(parameters: "Mapping[str, tuple[Any, Option | Argument]]") -> "dict[str, str]":
    """Return the options of which the last may not replace the others in silence, with what to do instead.

    A text would not be read, a file not written, a name passed over. Of other options, the last value counts: scripts
    have defaults, which who runs them replaces.
    """
    ways = {}
    for name, (kind, declared) in parameters.items():
        kind = without_none(kind)
        if isinstance(declared, Argument) or is_list(kind) or choices_of(kind, declared) is not None:
            continue
        if name in _ONE_PLACE:
            ways[name] = "leave one of them out"
        elif name in _NAMES:
            ways[name] = f"give the names with commas: {declared.names[0]} {declared.settings['metavar']}"
    return ways


def choices_of(kind: "Any", declared: Option | Argument) -> "Collection[str] | None":
    """Return the words that a value of a type may be; None for any."""
    return kind.__args__ if _origin(kind) is Literal else declared.settings.get("choices")


_PATHS = frozenset(("FILE", "FOLDER", "OUT", "INPUT", "SOURCE", "CORPUS", "TOKENIZER", "OTHER", "REPORT", "LIBRARY"))
"""What stands in the help for a value that is, or may be, a path."""
_BETWEEN = str.maketrans("=[]", "|||")
"""What stands between the words of a metavar."""


def may_be_path(declared: Option | Argument) -> bool:
    """Return whether a value is a path, may be one, or has one in it: ``FILE``, ``NAME|FILE``, ``[NAME=]FILE``."""
    return not _PATHS.isdisjoint(declared.settings.get("metavar", "").translate(_BETWEEN).split("|"))


def inner(kind: "Any") -> "Any":
    """Return the type of one value: ``Literal[...]`` of ``list[Literal[...]] | None``."""
    kind = without_none(kind)
    return kind.__args__[0] if is_list(kind) else kind


def without_none(kind: "Any") -> "Any":
    """Return the type of a value that is not None: ``int`` of ``int | None``."""
    return next(each for each in kind.__args__ if each is not NoneType) if isinstance(kind, UnionType) else kind


def is_list(kind: "Any") -> bool:
    """Return whether values of a type are lists."""
    return _origin(kind) is list


def _origin(kind: "Any") -> "Any":
    return getattr(kind, "__origin__", None)


def parameters_of(declared: "Callable[..., object] | type") -> "dict[str, tuple[Any, Option | Argument]]":
    """Return the type and the declaration of each parameter that has one, by name; those of groups in their places."""
    parameters: dict[str, tuple[Any, Option | Argument]] = {}
    for name, annotation in declared.__annotations__.items():
        if _origin(annotation) is Annotated:
            kind, declaration = annotation.__args__
            parameters[name] = kind, declaration
        elif isinstance(annotation, type):
            parameters |= parameters_of(annotation)
    return parameters


def defaults_of(function: "Callable[..., object]") -> dict[str, object]:
    """Return the defaults of parameters, including those in groups: of the group's default, if it has one."""
    code, defaults = function.__code__, function.__defaults__ or ()
    given = dict(zip(code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount], defaults, strict=True))
    given |= function.__kwdefaults__ or {}
    values: dict[str, object] = {}
    for name, annotation in function.__annotations__.items():
        if isinstance(annotation, type):
            group = given[name] if name in given else annotation()
            values |= {field: getattr(group, field) for field in annotation.__annotations__}
        elif name in given:
            values[name] = given[name]
    return values


def call(function: "Callable[..., object]", values: "Mapping[str, object]") -> object:
    """Call a command with the values of all its parameters, those of groups among them."""
    return function(
        **{
            name: annotation(**{field: values[field] for field in annotation.__annotations__})
            if isinstance(annotation, type)
            else values[name]
            for name, annotation in function.__annotations__.items()
            if annotation is not None
        }
    )


DEFAULT_TOKENIZER = "o200k_base"
HELP = ("--help", "-h")
HELP_ALL = "--all"

# What declares an option, by the panel of the help that it stands in.
input_option = partial(Option, rich_help_panel="Input")
tokenizer_option = partial(Option, rich_help_panel="Tokenizer")
running_option = partial(Option, rich_help_panel="Running")
output_option = partial(Option, rich_help_panel="Output")


Color = Literal["auto", "always", "never"]

Inputs = Annotated[
    list[str] | None,
    Argument(metavar="INPUT", help="Files, folders, glob patterns, URLs, @LIST of them, or - for stdin (the default)."),
]
Text = Annotated[str | None, input_option("--text", "-T", metavar="TEXT", help="Take the text from here.")]
Lines = Annotated[bool, input_option("--lines", help="Each line is a document.")]
Jsonl = Annotated[bool, input_option("--jsonl", help="Each line is a JSON object that holds a document.")]
Plain = Annotated[
    bool, input_option("--plain", help="Treat inputs as text whatever they hold, even JSON lines or tables.")
]
Field = Annotated[
    str | None,
    input_option("--field", metavar="A.B", show_default="text", help="The field or column that holds the text."),
]
Member = Annotated[
    str | None,
    input_option(
        "--member", metavar="EXT", show_default="txt",
        help="Read the members of tar archives with this ending: txt and other text, or json with --field.",
    ),
]  # fmt: skip
BlockSize = Annotated[
    int, running_option("--block-size", metavar="BYTES", min=1, help="Bytes read at a time; changes no result.")
]
TOKENIZER_HELP = (
    "A file or folder, an encoding (gpt2, cl100k_base), a model (gpt-4o), or hf:ORG/NAME from the local cache. If not "
    "given, $BPE_TOKENIZER."
)
TokenizerName = Annotated[
    str | None,
    tokenizer_option(
        "--tokenizer", "-t", metavar="TOKENIZER", show_default=DEFAULT_TOKENIZER, help=TOKENIZER_HELP,
    ),
]  # fmt: skip
RecordedTokenizerName = Annotated[
    str | None,
    tokenizer_option(
        "--tokenizer", "-t", metavar="TOKENIZER", show_default=f"as INPUT.json says, else {DEFAULT_TOKENIZER}",
        help=TOKENIZER_HELP,
    ),
]  # fmt: skip
PatternName = Annotated[
    str | None,
    tokenizer_option("--pattern", metavar="NAME|REGEX", help="The split pattern, for a tokenizer file that has none."),
]
AddSpecial = Annotated[
    list[str] | None,
    tokenizer_option("--add-special", metavar="TEXT=ID", help="Add a special token to the tokenizer. Can be repeated."),
]
Special = Annotated[
    list[str] | None,
    tokenizer_option(
        "--special", metavar="all|error|TEXT",
        help="Recognize special tokens in the text: all, or the one named (repeatable). Otherwise they are plain text;"
        " error refuses them.",
    ),
]  # fmt: skip
Bos = Annotated[
    str | None,
    tokenizer_option(
        "--bos", metavar="TEXT|ID|auto",
        help="Begin each document with this special token; auto: the tokenizer's own.",
    ),
]  # fmt: skip
Eot = Annotated[
    str | None,
    tokenizer_option(
        "--eot", metavar="TEXT|ID|auto",
        help="End each document with this special token, which many readers use to separate documents; auto: the "
        "tokenizer's own.",
    ),
]  # fmt: skip
SpecialInText = Annotated[
    list[str] | None,
    tokenizer_option(
        "--special", metavar="all|TEXT",
        help="Recognize special tokens in the text: all, or the one named (repeatable). Otherwise they are plain text.",
    ),
]  # fmt: skip
Threads = Annotated[
    int | None,
    running_option(
        "--threads", "-j", metavar="N", min=1, envvar="BPE_THREADS", show_default="all available",
        help="Threads to use; changes no result.",
    ),
]  # fmt: skip
Quiet = Annotated[bool, running_option("--quiet", "-q", help="No progress, notes or summary on stderr.")]
ColorWhen = Annotated[
    Color, running_option("--color", help="When to use colour; NO_COLOR and FORCE_COLOR are respected.")
]


def _file_or_stdout(path: str | None) -> str | None:
    return None if path == "-" else path


Output = Annotated[
    str | None,
    output_option(
        "--output", "-o", metavar="OUT", show_default="stdout", callback=_file_or_stdout, help="Write to a file."
    ),
]
Json = Annotated[bool, Option("--json", help="Print one JSON object with a schema field.")]

Html = Annotated[
    str | None,
    output_option(
        "--html", metavar="FILE",
        help="Write an HTML page instead: one file for any browser, which loads nothing and is readable without "
        "scripts; - for stdout.",
    ),
]  # fmt: skip
Svg = Annotated[
    list[str] | None,
    output_option(
        "--svg", metavar="[NAME=]FILE",
        help="Write SVG pictures instead: the tokens of a text, or all charts of a report in one file. NAME=FILE "
        "writes one chart, FOLDER/ each into a file of its own, - to stdout. Can be repeated.",
    ),
]  # fmt: skip
Png = Annotated[
    list[str] | None,
    output_option("--png", metavar="[NAME=]FILE", help="The same as PNG, in light colours; needs the extra png."),
]
Plot = Annotated[bool, output_option("--plot", help="Draw small pictures on the terminal, below the tables.")]

BLOCK_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class Documents:
    """The options that say what is read, and what a document is."""

    inputs: Inputs = None
    text: Text = None
    lines: Lines = False
    jsonl: Jsonl = False
    plain: Plain = False
    field: Field = None
    member: Member = None

    def source(self, block_size: int = BLOCK_BYTES, *, lines: bool = False) -> "Source":
        """Build the description of a corpus; ``lines`` says what a document is where no option does.

        Raises:
            UsageError: if options cannot be used together, or nobody would ever type the input.
        """
        from bpe_cli.corpus import Source, waits_for_keyboard

        if self.jsonl and self.lines:
            raise UsageError("--lines and --jsonl cannot be used together")
        if self.jsonl and self.plain:
            raise UsageError("--plain and --jsonl cannot be used together", hint="--plain takes lines of JSON for text")
        if typed("plain", self.plain) and self.text is not None:
            message = "--plain says how inputs are taken, and --text is text in any case"
            raise UsageError(message, hint="leave --plain out")
        source = Source(
            paths=tuple(self.inputs or ()),
            text=self.text,
            documents="jsonl" if self.jsonl else "lines" if self.lines or lines else "whole",
            field=self.field,
            block_bytes=block_size,
            plain=self.plain,
            member=self.member,
            field_is_default=self.field is not None and typed("field", self.field) is None,
            documents_are_default=not (typed("lines", self.lines) or typed("jsonl", self.jsonl)),
            otherwise="--text takes a text itself",
        )
        if not self.inputs and waits_for_keyboard(source, sys.stdin.buffer):
            raise UsageError(
                "there is no input: stdin is a terminal",
                hint="name files, give -T TEXT, or pipe text in (- reads what you type)",
            )
        return source


@dataclass(frozen=True, slots=True)
class Running:
    """The options that change no result."""

    threads: Threads = None
    block_size: BlockSize = BLOCK_BYTES
    quiet: Quiet = False


@dataclass(frozen=True, slots=True)
class Screen:
    """The options about what the screen shows."""

    color: ColorWhen = "auto"
    quiet: Quiet = False


@dataclass(frozen=True, slots=True)
class NamedTokenizer:
    """The options that say which tokenizer decodes ids."""

    tokenizer: RecordedTokenizerName = None
    add_special: AddSpecial = None
    pattern: PatternName = None

    def choice(self) -> "TokenizerChoice":
        """Return which it is, without loading it.

        Raises:
            UsageError: if a special token is not TEXT=ID.
        """
        return choice_of(self.tokenizer, self.pattern, self.add_special)


@dataclass(frozen=True, slots=True)
class Applied:
    """The options about the tokenizer that encodes, and about special tokens."""

    tokenizer: TokenizerName = None
    bos: Bos = None
    eot: Eot = None
    special: Special = None
    add_special: AddSpecial = None
    add_special_tokens: Annotated[
        bool,
        tokenizer_option(
            "--add-special-tokens",
            help="Add the special tokens that the tokenizer's post-processor puts around a text; it is an error if "
            "there are none.",
        ),
    ] = False  # fmt: skip
    pattern: PatternName = None

    @property
    def counted_too(self) -> str:
        """What a summary says of the tokens around documents, which it counts; nothing if there are none."""
        around = {"--bos": self.bos, "--eot": self.eot, "--add-special-tokens": self.add_special_tokens}
        names = [name for name, given in around.items() if given]
        return f" (with those of {' and '.join(names)})" if names else ""

    def choice(self) -> "TokenizerChoice":
        """Return which tokenizer it is, without loading it.

        Raises:
            UsageError: if a special token is not TEXT=ID.
        """
        return choice_of(self.tokenizer, self.pattern, self.add_special)


def choice_of(name: str | None, pattern: str | None = None, add_special: list[str] | None = None) -> "TokenizerChoice":
    """Return the choice of a tokenizer that the options make, without loading it.

    Raises:
        UsageError: if the name is empty, or a special token is not TEXT=ID.
    """
    from bpe_cli.jobs.tokenizers import TokenizerChoice

    variable = os.environ.get("BPE_TOKENIZER") if name is None else None
    if name is None:
        name = variable or _of_project()
    if name == "":
        raise UsageError(
            "the name of a tokenizer is empty", hint='if a shell variable holds it, as in -t "$TOK", it may not be set'
        )
    origin = "BPE_TOKENIZER" if variable else None
    chosen = DEFAULT_TOKENIZER if name is None else name
    choice = TokenizerChoice(chosen, pattern, is_default=name is None, origin=origin)
    return replace(choice, added=additions_of(add_special)) if add_special else choice


project_tokenizer: "tuple[str, Callable[[], None]] | None" = None
"""The tokenizer that pyproject.toml names, and what notes that it is used."""

quiet_project = False
"""Whether pyproject.toml alone says ``quiet``: that silences notes, but changes no output."""


project_values: "Mapping[str, object]" = {}
"""The defaults that pyproject.toml sets, by parameter."""


def typed(name: str, value: object) -> object:
    """Return the value of a parameter; None if it is pyproject.toml's, which asks for nothing in this very run."""
    return None if name in project_values and value == project_values[name] else value


def _of_project() -> str | None:
    """Return the tokenizer of the project, and note it."""
    if project_tokenizer is None:
        return None
    name, say = project_tokenizer
    say()
    return name


def additions_of(add_special: list[str] | None) -> "tuple[SpecialToken, ...]":
    """Return the special tokens that are added.

    Raises:
        UsageError: if an addition is not TEXT=ID.
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
        raise UsageError(
            f"--add-special {text!r} is not TEXT=ID", hint="for example: --add-special '<|im_start|>=100264'"
        )
    return SpecialToken(content.encode("utf-8", "surrogateescape"), token_id)


def _id(text: str) -> int | None:
    """Read an id, a u32; None for anything else, however many digits it has."""
    if not (text.isascii() and text.isdigit() and len(text) <= 10):
        return None
    return int(text) if int(text) < 1 << 32 else None


def specials_of(special: list[str] | None) -> "tuple[Specials, bool]":
    """Return which special tokens to find, and whether to refuse them instead.

    Raises:
        UsageError: if ``error`` or ``all`` is given together with others.
    """
    names = special or []
    for word in ("error", "all"):
        if word in names and len(set(names)) > 1:
            raise UsageError(f"--special {word} excludes other special tokens")
    if "error" in names:
        return "all", True
    return ("all" if "all" in names else tuple(names)), False


def share_of(part: str | None) -> "Share | None":
    """Return which parts ``--part K/N`` means.

    Raises:
        UsageError: if it is not K/N.
    """
    from bpe_cli.jobs.parts import Share

    if part is None:
        return None
    number, _, of = part.partition("/")
    if not (is_number(number) and is_number(of)):
        raise UsageError(f"--part {part!r} is not K/N", hint="for example: --part 3/8")
    return Share(int(number), int(of))


_MOST_DIGITS = 18


def is_number(text: str) -> bool:
    """Return whether a text is a number: of some digits, as Python does not read thousands of them.

    >>> is_number("3"), is_number("-3"), is_number("9" * 5000)
    (True, False, False)
    """
    return text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
