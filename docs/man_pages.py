"""Man pages of ``bpe`` and its commands, from the declarations that ``--help`` is made of.

docs/generate.py writes them to docs/man/, which the wheel installs (``data`` in [tool.maturin]).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, get_args

DOCS = Path(__file__).resolve().parent
FOLDER = DOCS / "man" / "data" / "share" / "man" / "man1"

STATUS = (
    ("0", "All is well."),
    ("1", "A requested check failed."),
    ("2", "Bad usage, or bad input or output."),
    ("130", "Interrupted."),
    ("141", "The reader of the output went away."),
)
PRECEDENCE = (
    "An option comes first, then a variable of the environment (BPE_TOKENIZER, BPE_THREADS), then [tool.bpe_cli] in "
    "the nearest pyproject.toml, unless --no-config is given."
)


def pages() -> dict[Path, str]:
    """Return the text of each page by its path."""
    from bpe_cli.cli.app import COMMANDS, load, root

    version = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    names = {name: f"bpe-{name}" for name in COMMANDS}
    found = {FOLDER / "bpe.1": "\n".join(_main_page(version, root, {each: load(each).run for each in COMMANDS})) + "\n"}
    for name, title in names.items():
        others = ["bpe", *(other for other in names.values() if other != title)]
        found[FOLDER / f"{title}.1"] = "\n".join(_page(version, name, load(name), others)) + "\n"
    return found


def _main_page(version: str, root: Callable[..., object], commands: dict[str, Callable[..., object]]) -> Iterator[str]:
    """Yield the lines of bpe(1)."""
    yield from _head(version, "bpe", root)
    yield from (".SH SYNOPSIS", ".B bpe", r"[\fIOPTION\fR] \fICOMMAND\fR [\fIARGUMENT\fR]...")
    yield ".SH COMMANDS"
    for name, function in commands.items():
        yield from (".TP", rf"\fBbpe\-{name}\fR(1)", _text(_first_line(function)) + ".")
    yield from _options(root)
    yield from _examples(root)
    yield ".SH EXIT STATUS"
    for number, meaning in STATUS:
        yield from (".TP", rf"\fB{number}\fR", _text(meaning))
    yield from (".SH ENVIRONMENT AND FILES", _text(PRECEDENCE))
    yield from _see_also(f"bpe-{name}" for name in commands)


def _placed(argument: str, *, several: bool) -> str:
    """Return an argument as a synopsis shows it: what may be left out is in brackets."""
    return f"[{argument}]..." if several else argument


def _page(version: str, name: str, module: Any, others: Iterable[str]) -> Iterator[str]:
    """Yield the lines of the page of a command."""
    from bpe_cli.cli.options import Argument, parameters_of

    function = module.run
    yield from _head(version, f"bpe-{name}", function)
    arguments = [
        _placed(rf"\fI{_text(str(each.settings.get('metavar', '')))}\fR", several="list" in str(kind))
        for kind, each in parameters_of(function).values()
        if isinstance(each, Argument)
    ]
    yield from (".SH SYNOPSIS", rf"\fBbpe {name}\fR [\fIOPTION\fR]... {' '.join(arguments)}".rstrip())
    if more := _description(function):
        yield ".SH DESCRIPTION"
        for number, paragraph in enumerate(more):
            yield from ([".PP"] if number else [])
            yield _text(paragraph)
    yield from _options(function)
    yield from _examples(function)
    status = module.EPILOG.partition("Exit status: ")
    yield from (".SH EXIT STATUS", _text(status[2] or "0 fine, 2 bad usage, input or output."))
    if status[0].strip():
        yield from (".SH NOTES", _text(status[0].strip()))
    yield from _see_also(others)


def _head(version: str, title: str, function: Callable[..., object]) -> Iterator[str]:
    yield r".\" Made by docs/generate.py."
    yield f'.TH {title.upper().replace("-", chr(92) + "-")} 1 "" "bpe {version}" "bpe"'
    yield from (".SH NAME", rf"{_text(title)} \- {_text(_first_line(function)[0].lower() + _first_line(function)[1:])}")


def _first_line(function: Callable[..., object]) -> str:
    return _paragraphs(function)[0].rstrip(".")


def _paragraphs(function: Callable[..., object]) -> list[str]:
    """Return the paragraphs of a docstring up to its examples."""
    text, _, _ = (function.__doc__ or "").partition("[bold]Examples[/bold]")
    return [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]


def _description(function: Callable[..., object]) -> list[str]:
    return [re.sub(r"\[/?\w+\]", "", each) for each in _paragraphs(function)[1:]]


def _options(function: Callable[..., object]) -> Iterator[str]:
    """Yield the sections of options: those of no panel first, as in the help."""
    from bpe_cli.cli.options import Argument, defaults_of, parameters_of

    defaults = defaults_of(function)
    sections: dict[str, list[str]] = {}
    for name, (kind, each) in parameters_of(function).items():
        settings = each.settings
        argument = isinstance(each, Argument)
        panel = "Arguments" if argument else str(settings.get("rich_help_panel", "Options"))
        lines = sections.setdefault(panel, [])
        lines += [".TP", _heading(kind, each), _text(str(settings.get("help", "")))]
        lines += _facts(settings, defaults.get(name))
    sections.setdefault("Options", []).extend([".TP", r"\fB\-\-help\fR, \fB\-h\fR", "Show the help and exit."])
    for panel in sorted(sections, key=lambda each: (each != "Arguments", each != "Options")):
        yield f".SH {panel.upper()}"
        yield from sections[panel]


def _heading(kind: Any, each: Any) -> str:
    """Return an option as one writes it, with what stands for its value."""
    from bpe_cli.cli.argv_fast import is_flag
    from bpe_cli.cli.options import Argument, choices_of, inner

    shown = _text(str(each.settings.get("metavar", "")))
    choices = choices_of(inner(kind), each)
    if isinstance(each, Argument):
        return rf"\fI{shown}\fR"
    if choices is not None:
        shown = _text("|".join(choices))
    elif not shown and not is_flag(kind):
        shown = "N" if int in get_args(kind) or kind is int else "TEXT"
    names = ", ".join(rf"\fB{_text(part)}\fR" for names in each.names for part in names.split("/"))
    return f"{names} \\fI{shown}\\fR" if shown and not is_flag(kind) else names


def _facts(settings: Any, default: object) -> list[str]:
    """Return what else the help says: the variable, the default, the range."""
    facts = []
    if "envvar" in settings:
        facts.append(f"Environment: {settings['envvar']}.")
    if "show_default" in settings:
        facts.append(f"Default: {settings['show_default']}.")
    elif default not in (None, False, True, "", []):
        facts.append(f"Default: {default}.")
    if "min" in settings:
        most = f", at most {settings['max']}" if "max" in settings else ""
        facts.append(f"At least {settings['min']}{most}.")
    return [_text(" ".join(facts))] if facts else []


def _examples(function: Callable[..., object]) -> Iterator[str]:
    _, found, examples = (function.__doc__ or "").partition("[bold]Examples[/bold]")
    if found:
        yield from (".SH EXAMPLES", ".nf")
        yield from (_text(line.strip()) for line in examples.splitlines() if line.strip())
        yield ".fi"


def _see_also(others: Iterable[str]) -> Iterator[str]:
    yield ".SH SEE ALSO"
    yield ", ".join(rf"\fB{_text(other)}\fR(1)" for other in others)


def _text(text: str) -> str:
    """Return text as roff shows it unchanged: no backslash, dash or dot means anything."""
    text = re.sub(r"(?<!\\)\[/?(?:bold|dim|italic)\]", "", text).replace("\\[", "[")
    text = (
        text.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq").replace("^", r"\(ha").replace("~", r"\(ti")
    )
    return "".join(letter if ord(letter) < 128 else f"\\[u{ord(letter):04X}]" for letter in _guarded(text))


def _guarded(text: str) -> str:
    """Keep a line from being taken for a request."""
    return rf"\&{text}" if text[:1] == "." else text
