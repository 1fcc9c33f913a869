"""Write the help of a command from its declarations: the options that most people use, or all of them.

``--help`` has two examples and the options that the command's module names in ``COMMON``, each with what that says of
it; ``--help --all`` has everything that is declared. The text is plain, and its making imports nothing.
"""

import os
import sys

from bpe_cli.cli.console import is_dumb, requested_columns
from bpe_cli.cli.options import Argument, Option, choices_of, defaults_of, inner, parameters_of
from bpe_cli.support.fast_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import ModuleType
    from typing import Any

    Declared = tuple[Any, Option | Argument]

_WIDEST = 100
_USUAL = 80
_INDENT = 2
_BESIDE = 26
"""An option that takes more columns has its description below it."""
_SHORT_CHOICES = 22
_EXAMPLES = 2
_GOES_ON = " \\"
"""What a shell takes at the end of a line for a command that goes on."""
_BOLD = ("\x1b[1m", "\x1b[0m")


def text_of(
    name: str | None, root: "Callable[..., object]", commands: "Mapping[str, ModuleType]", *, whole: bool
) -> str:
    """Return the help of a command as this screen shows it, or that of the program if no command is named."""
    bold = _BOLD if sys.stdout.isatty() and not is_dumb() else ("", "")
    return "\n".join(lines(name, root, commands, whole=whole, width=_width(), bold=bold))


def lines(
    name: str | None,
    root: "Callable[..., object]",
    commands: "Mapping[str, ModuleType]",
    *,
    whole: bool,
    width: int = _USUAL,
    bold: tuple[str, str] = ("", ""),
) -> "Iterator[str]":
    """Yield the lines of the help.

    Args:
        name: The command; None for the program.
        root: What stands before the commands.
        commands: The modules of the commands by name.
        whole: Whether to describe all options, and those in full.
        width: The columns that there are.
        bold: What is written before and behind a heading.
    """
    on, off = bold
    function = root if name is None else commands[name].run
    parameters = parameters_of(function)
    text, _, examples = (function.__doc__ or "").partition("[bold]Examples[/bold]")
    first, *more = [" ".join(part.split()) for part in text.split("\n\n") if part.strip()] or [""]  # python -OO
    usage = "bpe [OPTION]... COMMAND [ARGUMENT]..." if name is None else _usage(name, parameters)
    yield from _folded(f"{on}Usage:{off} {usage}", width)
    for paragraph in (first, *(more if whole else ())):
        yield ""
        yield from _folded(_plain(paragraph), width)
    if shown := [_plain(line.strip()) for line in examples.splitlines() if line.strip()]:
        yield from ("", f"{on}Examples:{off}")
        for example in shown if whole else shown[:_EXAMPLES]:
            yield from _command(example, width)
    if name is None:
        yield from ("", f"{on}Commands:{off}")
        for each, module in commands.items():
            summary = (module.run.__doc__ or "").strip().partition("\n")[0]
            yield from _entry(each, summary, width, beside=len("completions"))
    common = {} if name is None else commands[name].COMMON
    panels = _short(parameters, common) if common and not whole else _panels(parameters, defaults_of(function))
    for panel, entries in panels.items():
        yield from ("", f"{on}{panel}:{off}")
        for option, meaning in entries:
            yield from _entry(option, meaning, width)
    if name is None:
        yield ""
        yield from _folded("bpe COMMAND --help describes the usual options; --help --all describes all.", width)
        return
    yield ""
    yield from _folded(commands[name].EPILOG, width)
    if not whole and len(common) < len(parameters):
        count = sum(isinstance(each, Option) for _, each in parameters.values())
        yield from ("", *_folded(f"bpe {name} --help --all describes all {count} options.", width))


def _usage(name: str, parameters: "Mapping[str, Declared]") -> str:
    words = ["bpe", name, "[OPTION]..."]
    for kind, each in parameters.values():
        if isinstance(each, Argument):
            metavar = each.settings["metavar"]
            words.append(f"[{metavar}]..." if "list" in str(kind) else metavar)
    return " ".join(words)


def _short(parameters: "Mapping[str, Declared]", common: "Mapping[str, str]") -> dict[str, list[tuple[str, str]]]:
    """Return the usual arguments and options, each with what there is to say in short."""
    panels: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
    for name, brief in common.items():
        kind, declared = parameters[name]
        panel = "Arguments" if isinstance(declared, Argument) else "Options"
        first = _plain(declared.settings.get("help", "")).partition(". ")[0].removesuffix(".")
        panels[panel].append((_written(name, kind, declared), brief or f"{first}."))
    return {panel: entries for panel, entries in panels.items() if entries}


def _panels(parameters: "Mapping[str, Declared]", defaults: "Mapping[str, object]") -> dict[str, list[tuple[str, str]]]:
    """Return each option as it is written, with its description, by the heading that it stands below."""
    panels: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
    for name, (kind, declared) in parameters.items():
        panel = "Arguments" if isinstance(declared, Argument) else declared.settings.get("rich_help_panel", "Options")
        entry = _written(name, kind, declared), _described(kind, declared, defaults.get(name))
        panels.setdefault(panel, []).append(entry)
    panels["Options"].append(("-h, --help", "Describe the usual options; with --all, all of them."))
    return {panel: entries for panel, entries in panels.items() if entries}


def _written(name: str, kind: "Any", declared: Option | Argument) -> str:
    """Return an option as one writes it, with what stands for its value.

    >>> _written("lines", bool, Option("--lines")), _written("size", int, Option("--size", "-s", metavar="N"))
    ('    --lines', '-s, --size N')
    """
    value = _value(name, kind, declared)
    if isinstance(declared, Argument):
        return value
    long = [each for each in declared.names if each.startswith("--")]
    short = [each for each in declared.names if not each.startswith("--")]
    if "/" in long[0]:
        long = [f"--[no-]{long[0].partition('/')[0][2:]}"]
    names = ", ".join([*short, *long])
    return f"{'' if short else '    '}{names}{f' {value}' if value else ''}"


def _value(name: str, kind: "Any", declared: Option | Argument) -> str:
    """Return what stands for the value of an option: the words that it may be, if they are few and short."""
    from bpe_cli.cli.argv_fast import is_flag

    if is_flag(kind):
        return ""
    choices = choices_of(inner(kind), declared)
    if choices is not None and len("|".join(choices)) <= _SHORT_CHOICES:
        return "|".join(choices)
    metavar = declared.settings.get("metavar")
    return metavar or (name.strip("_").upper().replace("_", "-") if choices is not None else "N")


def _described(kind: "Any", declared: Option | Argument, default: object) -> str:
    """Return the description of an option, with its choices, its default and its variable."""
    settings = declared.settings
    text = _plain(settings.get("help", ""))
    choices = choices_of(inner(kind), declared)
    if choices is not None and len("|".join(choices)) > _SHORT_CHOICES and not all(each in text for each in choices):
        text += f" One of {', '.join(choices)}."
    facts = []
    if "show_default" in settings:
        facts.append(f"default: {settings['show_default']}")
    elif default not in (None, False, True, "", []):
        facts.append(f"default: {default}")
    if "max" in settings:
        facts.append(f"at most {settings['max']}")
    if "envvar" in settings:
        facts.append(f"environment: {settings['envvar']}")
    return f"{text} [{'; '.join(facts)}]" if facts else text


def _entry(option: str, meaning: str, width: int, beside: int = _BESIDE) -> "Iterator[str]":
    """Yield an option with its description beside it, or below it if the option is long."""
    column = _INDENT + beside + 2
    described = list(_folded(meaning, width, indent=column, hanging=column))
    head = " " * _INDENT + option
    if len(head) + 2 <= column and described:
        yield head.ljust(column) + described[0][column:]
        described = described[1:]
    else:
        yield head
    yield from described


def _command(text: str, width: int) -> "Iterator[str]":
    """Yield an example in lines that a shell takes for one, for whoever copies it.

    >>> list(_command("bpe encode a.txt", 80)), list(_command("bpe encode a.txt", 16))
    (['  bpe encode a.txt'], ['  bpe encode \\\\', '    a.txt'])
    """
    fits = _INDENT + len(text) <= width
    *begun, last = _folded(text, width if fits else width - len(_GOES_ON), indent=_INDENT, hanging=2 * _INDENT)
    yield from (line + _GOES_ON for line in begun)
    yield last


def _folded(text: str, width: int, *, indent: int = 0, hanging: int = 0) -> "Iterator[str]":
    """Yield a text in lines of at most so many columns, cut at spaces.

    >>> list(_folded("one two three", 9, indent=1, hanging=3))
    [' one two', '   three']
    """
    line = " " * indent
    empty = True
    for word in text.split(" "):
        if not empty and len(line) + 1 + len(word) > width:
            yield line
            line, empty = " " * hanging, True
        line += word if empty else f" {word}"
        empty = False
    yield line


def _plain(text: str) -> str:
    """Return a text without rich's marks."""
    for mark in ("bold", "dim", "italic"):
        text = text.replace(f"[{mark}]", "").replace(f"[/{mark}]", "")
    return text.replace("\\[", "[")


def _width() -> int:
    """Return the columns of the screen, of which not all are used if it is very wide."""
    if columns := requested_columns():
        return min(columns, _WIDEST)
    for stream in (sys.stdout, sys.stderr):
        try:
            if found := os.get_terminal_size(stream.fileno()).columns:
                return min(found, _WIDEST)
        except (OSError, ValueError):  # no terminal, or no descriptor is behind the stream
            continue
    return _USUAL
