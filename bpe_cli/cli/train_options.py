"""Build the options of a training algorithm from the command line."""

from __future__ import annotations

import re
import textwrap
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, Literal

from bpe_cli.errors import InputError, UsageError
from bpe_cli.jobs.train_options import is_needed, kinds_of, options_by
from bpe_cli.stages import Split
from bpe_cli.support.messages import cannot_read, every, show_path
from bpe_cli.trainers import TRAINERS
from bpe_cli.trainers.base import Options, Trainer
from bpe_cli.trainers.presets import PRESETS, with_preset

FLAGS = {
    "vocab_size": "--vocab-size",
    "special_tokens": "--special",
    "split_special": "--split-special",
    "normalizer": "--normalizer",
    "pre_tokenizer": "--pre-tokenizer",
    "pattern": "--pattern",
    "prefix_space": "--prefix-space",
    "min_frequency": "--min-frequency",
    "initial_alphabet": "--initial-alphabet",
    "max_token_length": "--max-token-length",
    "superwords": "--superwords",
    "switch": "--switch",
    "parity": "--parity",
    "window": "--window",
    "ratios": "--ratio",
    "languages": "--language",
    "compat": "--compat",
    "model": "--algorithm",
}
"""Options that have a flag of their own, where an algorithm has them; all others go through --set."""

_NOT_GIVEN = "not given"


def options_of(
    algorithm: str,
    trainer: Trainer[Any],
    flags: Mapping[str, Any],
    settings: Iterable[str],
    preset: Mapping[str, object] | None = None,
) -> Options:
    """Make an algorithm's options.

    Args:
        algorithm: Its name.
        trainer: The trainer.
        flags: What was given by flags, by the option's name; None for what was not given.
        settings: What was given by --set, as ``NAME=VALUE``.
        preset: The options that --compat stands for; what was given counts more.

    Raises:
        UsageError: if the algorithm has no such option, or a value is not of its kind or too large.
    """
    known = {each.name: each for each in fields(trainer.Options)}
    values: dict[str, Any] = {}
    for name, value in flags.items():
        if value is None:
            continue
        if name not in known and not (name == "pattern" and "pre_tokenizer" in known):
            flags_of = [FLAGS[each] for each in known if each in FLAGS and each != "model"]
            raise UsageError(
                f"-a {algorithm} has no {FLAGS[name]}",
                hint=f"it has {', '.join(flags_of)}, and what `bpe train -a {algorithm} --help-algorithm` lists",
            )
        values[name] = value
    kinds = kinds_of(trainer.Options)

    def setting_of(setting: str) -> tuple[str, Any]:
        name, equals, text = setting.partition("=")
        name = name.replace("-", "_")
        if not equals:
            raise UsageError(f"--set {setting} is not NAME=VALUE", hint="for example: --set seed_size=100000")
        if name in FLAGS or name not in known:
            others = ", ".join(each for each in known if each not in FLAGS) or "none"
            raise UsageError(
                f"-a {algorithm} has no option {name!r} for --set",
                hint=f"it has {others}" if name not in FLAGS else f"there is {FLAGS[name]}",
            )
        return name, parse(name, text, kinds[name])

    values.update(every(setting_of, settings))
    needed = [each.name for each in known.values() if is_needed(each) and each.name not in values]
    if needed == ["vocab_size"]:
        raise UsageError("how many tokens? --vocab-size is missing", hint="32000 is usual for one language: -s 32000")
    if needed:
        raise UsageError(f"-a {algorithm} needs {', '.join(FLAGS.get(each, f'--set {each}=...') for each in needed)}")
    return options_by(trainer, algorithm, values if preset is None else with_preset(preset, values))


def parse(name: str, text: str, kind: Any) -> Any:
    """Read a value by the type of its field.

    >>> parse("n", "3", int), parse("n", "none", int | None), parse("n", "a,b", tuple[str, ...])
    (3, None, ('a', 'b'))

    Raises:
        UsageError: if the value is not of that type.
    """
    is_union = isinstance(kind, types.UnionType) or typing.get_origin(kind) is typing.Union
    kinds = typing.get_args(kind) if is_union else (kind,)
    if type(None) in kinds and text == "none":
        return None
    for each in kinds:
        try:
            return _parse_as(text, each)
        except ValueError:
            continue
    expected = " or ".join(_describe(each) for each in kinds if each is not type(None))
    raise UsageError(f"--set {name}={text} is not {expected}")


def _parse_as(text: str, kind: Any) -> Any:
    if kind is bool:
        if text not in _BOOLEANS:
            raise ValueError(text)
        return _BOOLEANS[text]
    if kind is int:
        if not re.fullmatch(r"-?[0-9][0-9_]{0,99}", text):  # what does not fit is refused by name later
            raise ValueError(text)
        return int(text)
    if kind is float:
        return float(text)
    if kind is str:
        return text
    if typing.get_origin(kind) is Literal and text in typing.get_args(kind):
        return text
    if typing.get_origin(kind) is tuple and typing.get_args(kind)[0] is str:
        if text.startswith("@"):
            return _lines_of(text[1:])
        return tuple(text.split(",")) if text else ()
    if typing.get_origin(kind) is tuple and typing.get_args(kind)[0] in (int, float):
        return tuple(_parse_as(part, typing.get_args(kind)[0]) for part in text.split(","))
    raise ValueError(text)


_LARGEST_LIST = 1 << 28
"""The maximum number of characters of a list in a file: more than any vocabulary has, and not all of the memory."""


def _lines_of(path: str) -> tuple[str, ...]:
    """Read a list from a file, an item a line."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            text = file.read(_LARGEST_LIST + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise cannot_read(path, error) from error
    if len(text) > _LARGEST_LIST:
        raise InputError(f"{show_path(path)} is too long: a list has at most {_LARGEST_LIST:,} characters")
    return tuple(line for line in (each.removesuffix("\r") for each in text.split("\n")) if line)


_BOOLEANS = {"true": True, "yes": True, "false": False, "no": False}


def _describe(kind: Any) -> str:
    if typing.get_origin(kind) is Literal:
        return "one of " + ", ".join(map(str, typing.get_args(kind)))
    names = {bool: "yes or no", int: "a whole number", float: "a number", str: "a text"}
    if typing.get_origin(kind) is tuple and typing.get_args(kind)[0] in (int, float):
        return "a list of numbers with commas"
    return names.get(kind, "a list with commas")


def help_of(algorithm: str, trainer: Trainer[Any]) -> str:
    """List an algorithm's options with their defaults, from the docstrings of its options.

    Args:
        algorithm: Its name, and whose rules it follows, as they are given.
        trainer: The trainer.
    """
    from inspect import cleandoc

    described: dict[str, str] = {}
    for kind in reversed(trainer.Options.__mro__):
        doc = cleandoc(kind.__doc__ or "")
        described |= re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", doc, re.MULTILINE)
    known = {each.name: each for each in fields(trainer.Options)}
    kinds = kinds_of(trainer.Options)
    lines = [f"Options of -a {algorithm}: flags, and NAME=VALUE for --set", ""]
    for name, each in known.items():
        if name == "model":  # the algorithm's name says which
            continue
        label = FLAGS.get(name, f"--set {name}=...")
        default = "needed" if is_needed(each) else f"default: {_show_default(each)}"
        if name not in FLAGS and kinds[name] == tuple[str, ...]:
            default += "; with commas, or @FILE, an item a line"
        text = _in_words(" ".join(described.get(name, "").split()), is_flag=name in FLAGS)
        wrapped = textwrap.wrap(text, 94, break_long_words=False, break_on_hyphens=False)
        lines += [f"  {label}  ({default})", *(f"      {line}" for line in wrapped), ""]
    for preset, of_algorithms in PRESETS.items():
        if algorithm in of_algorithms:
            set_by = ", ".join(f"{each}={_show_setting(value)}" for each, value in of_algorithms[algorithm].items())
            lines += textwrap.wrap(f"`--compat {preset}` sets {set_by}; an explicit option takes precedence.", 98)
            lines.append("")
    for name, other in TRAINERS.items():
        if algorithm in other.follows:
            lines += [f"`bpe train -a {algorithm} --compat {name} --help-algorithm` lists what it has there.", ""]
    return "\n".join(lines[:-1])


def _in_words(text: str, *, is_flag: bool) -> str:
    """Write a description of a field for somebody who types: None is left out as a flag, or ``none``."""
    text = text.replace("``", "`")
    if not is_flag:
        return re.sub(r"\bNone\b", "`none`", text)
    text = text.replace('`""`', "`none`")
    return re.sub(r"\bNone\b", _NOT_GIVEN, re.sub(r"(^|\. )None\b", rf"\1{_NOT_GIVEN.capitalize()}", text))


def _show_default(each: Field[Any]) -> str:
    """Write a default as it would be given, or describe it.

    >>> from dataclasses import field, make_dataclass
    >>> kind = make_dataclass("Kind", [("a", tuple, field(default=(1.5, 2))), ("b", bool, True), ("c", str, "")])
    >>> [_show_default(each) for each in fields(kind)]
    ['1.5,2', 'yes', 'empty']
    """
    value = each.default if each.default_factory is MISSING else each.default_factory()
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return _NOT_GIVEN if each.name in FLAGS else "none"
    if isinstance(value, tuple):
        return _whole(",".join(map(_show_item, value))) or "none"
    return "empty" if value == "" else _whole(str(value))


def _whole(shown: str) -> str:
    """Put quotes around a text with white space around it, which would be lost among the brackets."""
    return shown if shown == shown.strip() else repr(shown)


def _show_setting(value: object) -> str:
    """Write what a preset sets an option to.

    >>> [_show_setting(each) for each in ("seen", "", False, None)]
    ['seen', 'empty', 'no', 'none']
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value) or "empty"


def _show_item(value: object) -> str:
    """Write one of several: a text or number as it is, a stage by its name and what makes it special."""
    if not is_dataclass(value):
        return str(value)
    if isinstance(value, Split):
        return f"split at {value.pattern}"
    return type(value).__name__
