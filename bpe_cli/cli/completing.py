"""How a command line may go on: what a shell is answered that asks at a Tab.

A shell calls ``bpe`` with the words up to the cursor, the last of them unfinished, and its own name in
``_BPE_COMPLETE`` (see ``completions``). The answer is a line for each word that fits, behind a tab what it means;
``:files`` stands for the paths that fit, which the shell knows better. Nothing is read but the declarations.
"""

import sys

from bpe_cli.cli.options import Argument, Option, choices_of, inner, may_be_path, parameters_of
from bpe_cli.support.fast_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    Declared = tuple[Any, Option | Argument]

FILES = ":files"


def answer(
    shell: str, words: "Sequence[str]", root: "Callable[..., object]", commands: "Mapping[str, Callable[..., object]]"
) -> list[str]:
    """Return the lines for a shell.

    Args:
        shell: ``bash``, ``zsh`` or ``fish``; for others there are none.
        words: The words behind ``bpe`` up to the cursor.
        root: What stands before the commands.
        commands: The function of each command, by name.
    """
    if shell not in ("bash", "zsh", "fish"):
        return []
    cut = 0
    if shell == "bash":
        words, cut = _joined(words)
    found = dict(_fitting(list(words) or [""], root, commands))
    lines = []
    for word, meaning in found.items():
        text = word if word == FILES else word[cut:]
        lines.append(f"{text}\t{meaning}" if meaning and shell != "bash" and text != FILES else text)
    return lines


def _joined(words: "Sequence[str]") -> tuple[list[str], int]:
    """Join what bash divides at ``=`` and ``:``; return how much of the last word stands before bash's last one.

    >>> _joined(["encode", "--to", "=", "np"]), _joined(["-t", "hf", ":", ""])
    ((['encode', '--to=np'], 5), (['-t', 'hf:'], 3))
    """
    joined: list[str] = []
    glued, cut = False, 0
    for word in words:
        mark = bool(word) and not word.strip("=:")
        if joined and (mark or glued):
            cut = len(joined[-1]) + (len(word) if mark else 0)
            joined[-1] += word
        else:
            joined.append(word)
            cut = 0
        glued = mark
    return joined, cut


def _fitting(
    words: list[str], root: "Callable[..., object]", commands: "Mapping[str, Callable[..., object]]"
) -> "Iterator[tuple[str, str]]":
    *before, current = words
    name = next((word for word in before if not word.startswith("-")), None)
    if name is None:
        if current.startswith("-"):
            yield from _options(parameters_of(root), [*before], current)
        else:
            yield from ((name, _first_line(each)) for name, each in commands.items() if name.startswith(current))
        return
    if name not in commands:
        return
    parameters = parameters_of(commands[name])
    rest = before[before.index(name) + 1 :]
    waiting = _waiting(parameters, rest)
    if waiting is not None:
        yield from _values(waiting, parameters, current)
    elif "--" in rest:
        yield FILES, ""
    elif current.startswith("--") and "=" in current:
        switch, _, text = current.partition("=")
        taker = _that_takes_a_value(parameters, switch)
        if taker is not None:
            values = _values(taker, parameters, text)
            yield from ((word if word == FILES else f"{switch}={word}", meaning) for word, meaning in values)
    elif current.startswith("-"):
        yield from _options(parameters, rest, current)
    else:
        arguments = [each for each, (_, declared) in parameters.items() if isinstance(declared, Argument)]
        for each in arguments:
            yield from _values(each, parameters, current)


def _first_line(function: "Callable[..., object]") -> str:
    return (function.__doc__ or "").strip().partition("\n")[0].rstrip(".")


def _is_flag(declared: "Declared") -> bool:
    from bpe_cli.cli.argv_fast import is_flag

    return is_flag(declared[0])


def _taker(parameters: "Mapping[str, Declared]", switch: str) -> str | None:
    """Return the name of the parameter that an option sets."""
    for name, (_, declared) in parameters.items():
        if isinstance(declared, Option) and any(switch in names.split("/") for names in declared.names):
            return name
    return None


def _waiting(parameters: "Mapping[str, Declared]", words: "Iterable[str]") -> str | None:
    """Return the parameter whose option stands last and has no value yet."""
    waiting: str | None = None
    for word in words:
        if waiting is not None:
            waiting = None
        elif word == "--":
            return None
        elif word.startswith("--"):
            waiting = _that_takes_a_value(parameters, word)
        elif word.startswith("-"):
            # Of joined letters the first that takes a value takes the rest of the word, if there is any.
            takers = (_that_takes_a_value(parameters, f"-{letter}") for letter in word[1:])
            place, waiting = next(((at, each) for at, each in enumerate(takers, 1) if each is not None), (0, None))
            waiting = waiting if place == len(word) - 1 else None
    return waiting


def _that_takes_a_value(parameters: "Mapping[str, Declared]", switch: str) -> str | None:
    """Return the name of the parameter that an option sets by the word behind it; None if it takes none."""
    taker = _taker(parameters, switch)
    return None if taker is None or _is_flag(parameters[taker]) else taker


def _options(parameters: "Mapping[str, Declared]", given: "Sequence[str]", current: str) -> "Iterator[tuple[str, str]]":
    """Yield the options that may come now: long names, and short ones for ``-``."""
    used = {_taker(parameters, word.partition("=")[0]) for word in given if word.startswith("-")}
    for name, (kind, declared) in parameters.items():
        if isinstance(declared, Argument) or (name in used and "list[" not in str(kind)):
            continue
        for names in declared.names:
            for switch in names.split("/"):
                if switch.startswith(current) and (switch.startswith("--") or not current.startswith("--")):
                    yield switch, str(declared.settings.get("help", "")).partition(". ")[0].rstrip(".")
    if "--help".startswith(current):
        yield "--help", "Show this message and exit"


def _values(name: str, parameters: "Mapping[str, Declared]", current: str) -> "Iterator[tuple[str, str]]":
    """Yield the values that a parameter may have, and ``:files`` if it may be a path."""
    kind, declared = parameters[name]
    shown = str(declared.settings.get("metavar", ""))
    choices = choices_of(inner(kind), declared)
    # A list with commas goes on behind the last one.
    begun = current.rpartition(",")[0] + "," if ",..." in shown and "," in current else ""
    words = dict(_NAMED[name]()) if name in _NAMED else {}
    if choices is not None:
        words |= {word: words.get(word, "") for word in choices}
    elif "..." not in shown:
        words |= {
            word: "" for part in shown.split("|") for word in part.split(",") if word.islower() and word.isalpha()
        }
    yield from ((begun + word, meaning) for word, meaning in words.items() if (begun + word).startswith(current))
    if choices is None and may_be_path(declared):
        yield FILES, ""


def _tokenizers() -> "Iterator[tuple[str, str]]":
    from bpe_cli.tokenizer.named_encodings import ENCODINGS, MODELS

    yield from ((name, "encoding") for name in ENCODINGS)
    yield from ((model, f"model, {encoding}") for model, encoding in MODELS.items() if model not in ENCODINGS)


def _patterns() -> "Iterator[tuple[str, str]]":
    from bpe_cli.stages.patterns import PATTERNS

    yield from ((name, each.source.partition(",")[0]) for name, each in PATTERNS.items())


def _algorithms() -> "Iterator[tuple[str, str]]":
    from bpe_cli.trainers import SUMMARIES

    yield from SUMMARIES.items()


def _metrics() -> "Iterator[tuple[str, str]]":
    from bpe_cli.reports.comparison.comparison import METRICS

    yield from ((name, each.label) for name, each in METRICS.items())


def _features() -> "Iterator[tuple[str, str]]":
    from bpe_cli.formats.features import FEATURES

    yield from ((each.name, each.what) for each in FEATURES)


def _normalizers() -> "Iterator[tuple[str, str]]":
    from bpe_cli.stages.named_stages import NORMALIZERS

    yield from ((name, "") for name in NORMALIZERS)


def _pre_tokenizers() -> "Iterator[tuple[str, str]]":
    from bpe_cli.stages.named_stages import NAMED

    yield from ((name, "") for name in NAMED)


_NAMED: "dict[str, Callable[[], Iterator[tuple[str, str]]]]" = {
    "tokenizer": _tokenizers,
    "baseline": _tokenizers,
    "source": _tokenizers,
    "merge": _tokenizers,
    "pattern": _patterns,
    "algorithm": _algorithms,
    "metric": _metrics,
    "normalizer": _normalizers,
    "pre_tokenizer": _pre_tokenizers,
    "allow_loss": _features,
}
"""Parameter -> the names that its values may have, and what each means."""


def show(lines: "Iterable[str]") -> None:
    """Print the answer."""
    sys.stdout.write("".join(f"{line}\n" for line in lines))
