"""What typer has against a command line, in our words, with a way out."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Collection

from bpe_cli.cli import other_names
from bpe_cli.errors import UsageError
from bpe_cli.support.messages import nearest


def usage_error(error: Exception, words: list[str], commands: Collection[str]) -> UsageError:
    """Convert an error of typer's parser to our own form."""
    message, _, near = _objection(error).partition(". Did you mean ")
    near = near.replace("'", "").replace(", ", " or ")
    command = next((word for word in words if word in commands), None)
    otherwise = f"{f'bpe {command}' if command else 'bpe'} --help explains it"
    # The parser writes the word as Python does, with escapes.
    place = next((place for place, word in enumerate(words) if message == f"No such command {word!r}"), None)
    if place is not None:
        found = _no_command(words[place], words[place + 1 :], known=bool(near))
        if found is not None:
            return found
    if similar := getattr(error, "possibilities", None) or ():
        message = message.partition(" (Possible options")[0]
        near = " or ".join(sorted(similar)) + "?"
    if missing := re.fullmatch(r"No such option: (--?\S+)", message):
        if (dashed := missing[1].replace("_", "-")) in similar:
            near = f"{dashed}?"
        elif ours := other_names.option_of(command, missing[1]):
            near, otherwise = "", ours
    if chosen := re.search(r"'([^']*)' is not one of (.*)", message):
        option = re.search(r"'(--[a-z-]+)'", message)
        choices = nearest(chosen[1].lower(), re.findall(r"'([^']*)'", chosen[2]))
        ours = other_names.value_of(command, option[1], chosen[1]) if option else None
        if choices or ours:
            message = f"{message[: chosen.start()]}there is no '{chosen[1]}'"
            near, otherwise = ("", ours) if ours else (" or ".join(choices) + "?", otherwise)
    # The parser quotes another one: "Invalid value for '-s': Value error, ...".
    message = re.sub(r"(?<=[')]: )(Value error, )?([A-Z]?)", lambda match: match[2].lower(), message, count=1)
    return UsageError(message[:1].lower() + message[1:], hint=f"did you mean {near}" if near else otherwise)


def _objection(error: Exception) -> str:
    said = str(getattr(error, "format_message", lambda: error)()).rstrip(".")
    if (about := _about_a_number(error.__cause__)) is None:
        return said
    return said.removesuffix(str(getattr(error, "message", ""))) + about


_LIMITS = {"ge": "is less than", "le": "is more than", "gt": "is not more than", "lt": "is not less than"}


def _about_a_number(cause: BaseException | None) -> str | None:
    """Return what is wrong with a number, which the parser does not show; None of anything else."""
    errors = getattr(cause, "errors", None)
    found = errors()[0] if callable(errors) else {}
    value, kind = found.get("input"), str(found.get("type", ""))
    limit = next(((way, found["ctx"][name]) for name, way in _LIMITS.items() if name in found.get("ctx", {})), None)
    if limit is not None:
        return f"{value!r} {limit[0]} {limit[1]}"
    return f"{value!r} is not a {'whole ' * (kind[:3] == 'int')}number" if kind[:3] in ("int", "flo") else None


def _no_command(name: str, rest: list[str], *, known: bool) -> UsageError | None:
    """Return the error of a word that is no command, if it is clear what to type; ``known``: a command is like it."""
    theirs = name.replace("_", "-").lower()
    if template := other_names.TEMPLATES.get(theirs):
        return UsageError(f"there is no command '{name}'", hint=f"here it is `bpe {template}`")
    if way := other_names.COMMANDS.get(theirs):
        return UsageError(f"there is no command '{name}'", hint=_instead(way, rest))
    if known or not (os.path.exists(name) or any(map(str.isspace, name))):
        return None
    rest = [name, *rest] if os.path.exists(name) else ["-T", name, *rest]
    return UsageError(f"there is no command before {shlex.quote(name)}", hint=_instead(("encode", ""), rest))


def _instead(way: tuple[str, str], rest: list[str]) -> str:
    """Return the hint at a command, with the words that follow the one that there is not."""
    command, options = way
    return f"`{' '.join(['bpe', command, *map(shlex.quote, rest), *options.split()])}` does it"
