"""Fill a template's format strings, ``%`` and ``{}``, and follow who wrote which part of the result.

A format string is filled twice: the second time, each character that is not the template's is replaced by one that
stands for it. Where the two results do not run side by side nothing is known of the result, nor where a text is written
otherwise than it stands there: quoted (``%r``), in a list, as the key of an object, as a number (``%c``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, SupportsIndex, cast

from jinja2 import Undefined
from jinja2.sandbox import SandboxedEnvironment, SandboxedFormatter

from bpe_cli.chat.provenance import (
    ASSISTANT,
    MESSAGE,
    TEMPLATE,
    UNKNOWN,
    TooMuch,
    Traced,
    expanded,
    origins_of,
    plain_origins,
)

_SHADOWS = {TEMPLATE[0]: "", MESSAGE[0]: "\uffff", UNKNOWN[0]: "\uffff", ASSISTANT[0]: "\ufffe"}
_SHADOWED = {"\uffff": MESSAGE[0], "\ufffe": ASSISTANT[0]}

_WIDE_PLACE = re.compile(r"\d{4}|\*")
"""In a place of ``%``, where a star takes the width from the values."""

_WIDE_FIELD = re.compile(r"\d{4}|\{")
"""In a field of ``{}``, where a star only fills."""

_PARENTHESIS = re.compile(r"[()]")
_TO_LETTER = re.compile(r"([^a-zA-Z%]*)[hlL]?([a-zA-Z%]?)")


def filled(pattern: Traced, arguments: Any) -> Traced:
    """Return ``pattern % arguments``.

    Raises:
        TypeError: if a value is neither text nor a number, nor made of such.
        TooMuch: if it writes something very wide.
    """
    places = list(_places(_plain(pattern)))
    if any(_WIDE_PLACE.search(shape) for shape, _ in places):
        raise TooMuch("it has a format with a very large width")
    return _formatted(
        pattern, arguments, lambda text, given: text % given, of_numbers=any(letter == "c" for _, letter in places)
    )


class FormatMethod:
    """The method ``format`` of a template's string, or ``format_map``.

    Args:
        sandbox: What says which attributes a place may name.
        pattern: The string.
        of_map: Whether it is ``format_map``, which takes an object with the values by name.

    Raises:
        TooMuch: if it writes something very wide.
    """

    def __init__(self, sandbox: SandboxedEnvironment, pattern: Traced, *, of_map: bool = False) -> None:
        self._pattern = pattern
        self._of_map = of_map
        self._formatter = _Formatter(sandbox)
        specs = [spec for _, _, spec, _ in self._formatter.parse(_plain(pattern)) if spec]
        if any(map(_WIDE_FIELD.search, specs)):
            raise TooMuch("it has a format with a very large width")
        self._of_numbers = any(spec.endswith("c") for spec in specs)

    def __call__(self, *args: Any, **names: Any) -> Traced:
        """Fill the string.

        Raises:
            TypeError: if a value is neither text nor a number, nor made of such; or the values are given otherwise.
        """
        given: tuple[Any, Any] = args, names
        if self._of_map:
            if len(args) != 1 or names or type(args[0]) is not dict:
                raise TypeError("format_map takes one object")
            given = (), args[0]
        return _formatted(
            self._pattern,
            given,
            lambda text, values: self._formatter.vformat(text, values[0], values[1]),
            of_numbers=self._of_numbers,
        )


class _Formatter(SandboxedFormatter):
    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, str]:
        value, first = super().get_field(field_name, args, kwargs)
        if not isinstance(value, (str, tuple, list, dict, int, float, Undefined, type(None))):
            raise TypeError(f"a {type(value).__name__} is neither text nor a number")
        return value, first


def _places(pattern: str) -> Iterator[tuple[str, str]]:
    """Yield what each place of a ``%`` pattern has before its letter, flags and width, and the letter.

    >>> list(_places("%s %-5d %(a(b)c)9.3f %%"))
    [('', 's'), ('-5', 'd'), ('9.3', 'f'), ('', '%')]
    """
    place = pattern.find("%")
    while place >= 0:
        place += 1
        if pattern.startswith("(", place):
            depth = 0
            for each in _PARENTHESIS.finditer(pattern, place):
                depth += 1 if each[0] == "(" else -1
                if not depth:
                    place = each.end()
                    break
            else:
                return  # it never ends, which is an error
        match = cast("re.Match[str]", _TO_LETTER.match(pattern, place))  # it matches nothing too
        yield match[1], match[2]
        place = pattern.find("%", match.end())


def _formatted(pattern: Traced, arguments: Any, apply: Callable[[str, Any], str], *, of_numbers: bool) -> Traced:
    """Fill a format string; ``of_numbers`` says that it may write numbers as characters."""
    plain = _plain(pattern)
    expanded(arguments, pattern.meter)
    shadows = _shadowed(arguments)  # refuses what is not to be written out
    text = apply(plain, arguments)
    if of_numbers or not _is_templates(pattern):
        return Traced.of(text, UNKNOWN, pattern.meter)
    try:
        shadow = apply(plain, shadows)
    except _WrittenOtherwise:
        return Traced.of(text, UNKNOWN, pattern.meter)
    if len(shadow) != len(text):
        return Traced.of(text, UNKNOWN, pattern.meter)
    return Traced.of(text, bytes(_SHADOWED.get(c, TEMPLATE[0]) for c in shadow), pattern.meter)


def _plain(text: Traced) -> str:
    return "".join(("", str.__str__(text)))


def _is_templates(value: Any) -> bool:
    """Return whether the template wrote all strings of a value."""
    if isinstance(value, str):
        return not set(plain_origins(origins_of(value))) - set(TEMPLATE)
    return all(map(_is_templates, value)) if isinstance(value, tuple) else True  # what a key can be


class _WrittenOtherwise(Exception):  # it never leaves this module
    """A text that is not the template's is quoted."""


class _Shadow(str):
    """What stands for a text that is not all the template's; it cannot be quoted."""

    __slots__ = ()

    def __repr__(self) -> str:
        raise _WrittenOtherwise

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        return _Shadow(str.__getitem__(self, key))


class _ShadowedKeys(dict[Any, Any]):
    """What stands for an object with keys that are not the template's: they are looked up, and cannot be written."""

    __slots__ = ()

    def __repr__(self) -> str:
        raise _WrittenOtherwise


def _shadowed(value: Any) -> Any:
    """Return what stands for a value.

    Raises:
        TypeError: if a value is neither text nor a number, nor made of such.
    """
    if isinstance(value, str):
        if _is_templates(value):
            return _plain(value) if isinstance(value, Traced) else value
        origins = plain_origins(origins_of(value))
        return _Shadow("".join(_SHADOWS[origin] or c for c, origin in zip(value, origins, strict=True)))
    if type(value) in (tuple, list):
        return type(value)(map(_shadowed, value))
    if type(value) is dict:
        kind: type[dict[Any, Any]] = dict if all(map(_is_templates, value)) else _ShadowedKeys
        return kind((key, _shadowed(each)) for key, each in value.items())
    if value is None or isinstance(value, (int, float, Undefined)):
        return value
    raise TypeError(f"a {type(value).__name__} is neither text nor a number")
