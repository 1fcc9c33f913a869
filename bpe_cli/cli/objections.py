"""What typer has against a command line, in our words, with a way out."""

from __future__ import annotations

import re
from collections.abc import Collection

from bpe_cli.errors import UsageError
from bpe_cli.support.messages import nearest

_ELSEWHERE = {
    "count": ("encode", "--to count"),
    "wc": ("encode", "--to count"),
    "tokenize": ("encode", ""),
    "detokenize": ("decode", ""),
    "chunk": ("encode", "--to chunks --size 256"),
    "chunks": ("encode", "--to chunks --size 256"),
    "truncate": ("encode", "--to text --truncate 256"),
    "verify": ("compare", "--ids"),
    "diff": ("compare", "--diff"),
    "play": ("inspect", "--live"),
    "show": ("inspect", ""),
    "steps": ("inspect", "--steps"),
    "extend": ("convert", "--extend"),
    "prune": ("convert", "--prune-to"),
    "merge": ("convert", "--merge"),
    "export": ("convert", ""),
}
"""Where what other tools have a command for is done: the command and its options."""


def _instead(way: tuple[str, str], rest: list[str]) -> str:
    """Return the hint at a command, with the words that follow the one that there is not."""
    import shlex

    command, options = way
    return f"`{' '.join(['bpe', command, *map(shlex.quote, rest), *options.split()])}` does it"


def _objection(error: Exception) -> str:
    return str(getattr(error, "format_message", lambda: error)()).rstrip(".")


def usage_error(error: Exception, words: list[str], commands: Collection[str]) -> UsageError:
    """Convert an error of typer's parser to our own form."""
    message, _, near = _objection(error).partition(". Did you mean ")
    near = near.replace("'", "").replace(", ", " or ")
    if (missing := re.fullmatch(r"No such command '([^']*)'", message)) and missing[1] in _ELSEWHERE:
        way = _ELSEWHERE[missing[1]]
        return UsageError(
            f"there is no command '{missing[1]}'", hint=_instead(way, words[words.index(missing[1]) + 1 :])
        )
    if options := getattr(error, "possibilities", None):
        message = message.partition(" (Possible options")[0]
        near = " or ".join(sorted(options)) + "?"
    if chosen := re.search(r"'([^']*)' is not one of (.*)", message):
        choices = nearest(chosen[1], re.findall(r"'([^']*)'", chosen[2]))
        if choices:
            message = f"{message[: chosen.start()]}there is no '{chosen[1]}'"
            near = " or ".join(choices) + "?"
    # The parser quotes another one: "Invalid value for '-s': Value error, ...", "...: Input should be ...".
    message = re.sub(r"(?<=[')]: )(Value error, )?([A-Z]?)", lambda match: match[2].lower(), message, count=1)
    command = next((word for word in words if word in commands), None)
    hint = f"did you mean {near}" if near else f"{f'bpe {command}' if command else 'bpe'} --help explains it"
    return UsageError(message[:1].lower() + message[1:], hint=hint)
