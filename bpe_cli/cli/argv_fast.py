"""Parse a command line that is unambiguous, in a hundredth of the time that importing typer takes.

What this understands it understands as typer does: the tests hold it to that with random command lines. Of anything
else it says so, and typer reads the line from its beginning: abbreviated or joined options, values out of range,
``--help``, whatever is wrong. So this has no messages, and nothing here decides what a command line means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bpe_cli.cli.options import (
    Argument,
    Option,
    choices_of,
    defaults_of,
    given_once,
    inner,
    is_list,
    is_number,
    parameters_of,
    without_none,
)
from bpe_cli.support.fast_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


class Unclear(Exception):
    """Signal that typer has to parse the command line."""


def read(
    function: Callable[..., object],
    words: Sequence[str],
    environment: Mapping[str, str],
    project: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the values of a command's parameters, for ``call``.

    Args:
        function: The command.
        words: What stands behind its name.
        environment: The environment's variables.
        project: Other defaults than the options' own.

    Raises:
        Unclear: if the words are not clear enough for this.
    """
    parameters = parameters_of(function)
    defaults = defaults_of(function) | dict(project or {})
    texts, flags = _sort(words, parameters)
    values: dict[str, Any] = {}
    for name, (kind, each) in parameters.items():
        given = texts.get(name) or _of_environment(each, environment)
        if len(given) > 1 and name in given_once(parameters):
            raise Unclear(name)
        if name in flags:
            values[name] = flags[name]
        elif given:
            values[name] = _value(given, kind, each)
        elif name in defaults:
            values[name] = defaults[name]
        else:
            raise Unclear(name)
        if "callback" in each.settings:
            values[name] = each.settings["callback"](values[name])
    return values


def _sort(
    words: Sequence[str], parameters: Mapping[str, tuple[Any, Option | Argument]]
) -> tuple[dict[str, list[str]], dict[str, bool]]:
    """Return what is given for each parameter: the texts of its values in order, or the value of its flag.

    Raises:
        Unclear: if a word has no clear place.
    """
    switches = {switch: taker for name, (_, each) in parameters.items() for switch, taker in _switches(name, each)}
    texts: dict[str, list[str]] = {}
    flags: dict[str, bool] = {}
    bare: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            bare += rest
        elif word == "-" or not word.startswith("-"):
            bare.append(word)
        else:
            switch, equals, value = word.partition("=")
            if switch not in switches or (equals and not switch.startswith("--")):
                raise Unclear(word)
            name, flag = switches[switch]
            if not is_flag(parameters[name][0]):
                following = value if equals else next(rest, None)
                if following is None:
                    raise Unclear(word)
                texts.setdefault(name, []).append(following)
            elif equals:
                raise Unclear(word)
            else:
                flags[name] = flag
    if bare:
        arguments = [name for name, (_, each) in parameters.items() if isinstance(each, Argument)]
        if len(arguments) != 1:
            raise Unclear(bare[0])
        texts[arguments[0]] = bare
    return texts, flags


def places_of_values(words: Sequence[str], parameters: Mapping[str, tuple[Any, Option | Argument]]) -> set[int]:
    """Return at which places words stand that are values of the options before them, whatever they look like.

    Args:
        words: What stands behind the command's name.
        parameters: Those of the command.
    """
    switches = {switch: taker for name, (_, each) in parameters.items() for switch, taker in _switches(name, each)}
    takers = {switch for switch, (name, _) in switches.items() if not is_flag(parameters[name][0])}
    places: set[int] = set()
    for place, word in enumerate(words):
        if place in places:
            continue
        if word == "--":
            break
        joined = word[1:] if word.startswith("-") and not word.startswith("--") else ""
        # Of joined letters the first that takes a value takes the rest of the word, if there is any.
        first = next((at for at, letter in enumerate(joined, 1) if f"-{letter}" in takers), None)
        if word in takers or (first is not None and first == len(joined)):
            places.add(place + 1)
    return places


def answer(function: Callable[..., object], word: str) -> Callable[[], None] | None:
    """Return the answer to a flag that replaces the command (``--version``); None for other words."""
    options = (each for _, each in parameters_of(function).values() if isinstance(each, Option))
    return next((each.answer for each in options if each.answer and word in each.names), None)


def _switches(name: str, declared: Option | Argument) -> list[tuple[str, tuple[str, bool]]]:
    """Return the spellings of all options, each with the option's name, and its value if it is a flag."""
    if isinstance(declared, Argument):
        return []
    return [(switch, (name, place == 0)) for names in declared.names for place, switch in enumerate(names.split("/"))]


def is_flag(kind: Any) -> bool:
    """Return whether a parameter of this type is set by its name alone."""
    return without_none(kind) is bool


def _of_environment(declared: Option | Argument, environment: Mapping[str, str]) -> list[str]:
    text = environment.get(declared.settings.get("envvar", ""))
    return [text] if text else []


def _value(texts: Sequence[str], kind: Any, declared: Option | Argument) -> Any:
    """Return the value that texts stand for.

    Raises:
        Unclear: if it is not certain that the texts stand for a value.
    """
    kind = without_none(kind)
    if is_list(kind):
        return [_one(text, inner(kind), declared) for text in texts]
    if isinstance(declared, Argument) and len(texts) > 1:
        raise Unclear(texts[1])
    return _one(texts[-1], kind, declared)


def _one(text: str, kind: Any, declared: Option | Argument) -> object:
    choices = choices_of(kind, declared)
    if choices is not None:
        if text in choices:
            return text
    elif kind is str:
        return text
    elif kind is int:
        return _integer(text, declared)
    elif kind is float:
        whole, point, part = text.partition(".")
        if not (is_number(whole) and (is_number(part) if point else not part)):
            raise Unclear(text)
        return float(text)
    raise Unclear(text)


def _integer(text: str, declared: Option | Argument) -> int:
    number = int(text) if is_number(text) else -1
    if number < declared.settings.get("min", 0) or number > declared.settings.get("max", number):
        raise Unclear(text)
    return number
