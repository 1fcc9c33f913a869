"""Make the options of a training algorithm out of what the command line says."""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, fields
from types import ModuleType
from typing import Any, Literal

from bpe_cli.errors import InputError, UsageError

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
    "compat": "--compat",
    "model": "--algorithm",
}
"""Options that have a flag of their own, where an algorithm has them; all others go through --set."""


def options_of(algorithm: str, trainer: ModuleType, flags: Mapping[str, Any], settings: Iterable[str]) -> Any:
    """Make an algorithm's options.

    Args:
        algorithm: Its name.
        trainer: Its module.
        flags: What was given by flags, by the option's name; None for what was not given.
        settings: What was given by --set, as ``NAME=VALUE``.

    Raises:
        UsageError: The algorithm has no such option, or a value is not of its kind.
    """
    known = {each.name: each for each in fields(trainer.Options)}
    values: dict[str, Any] = {}
    for name, value in flags.items():
        if value is None:
            continue
        if name == "pattern" and name not in known and "pre_tokenizer" in known:
            from bpe_cli.stages import Split

            name, value = "pre_tokenizer", (Split(value),) if value else ()
        if name not in known:
            raise UsageError(
                f"-a {algorithm} has no {FLAGS[name]}",
                hint=f"it has {', '.join(FLAGS[each] for each in known if each in FLAGS)}, and what "
                f"`bpe train -a {algorithm} --help-algorithm` lists",
            )
        if name in values:
            raise UsageError("--pattern and --pre-tokenizer both say how text is cut: give one of them")
        values[name] = value
    kinds = typing.get_type_hints(trainer.Options)
    for setting in settings:
        name, equals, text = setting.partition("=")
        name = name.replace("-", "_")
        if not equals:
            raise UsageError(f"--set {setting} is not NAME=VALUE", hint="as in --set seed_size=100000")
        if name in FLAGS or name not in known:
            listed = ", ".join(each for each in known if each not in FLAGS) or "none"
            raise UsageError(
                f"-a {algorithm} has no option {name!r} for --set",
                hint=f"it has {listed}" if name not in FLAGS else f"there is {FLAGS[name]}",
            )
        values[name] = parse(name, text, kinds[name])
    needed = [each.name for each in known.values() if _is_needed(each) and each.name not in values]
    if needed == ["vocab_size"]:
        raise UsageError("how many tokens? --vocab-size is missing", hint="32000 is usual for one language: -s 32000")
    if needed:
        raise UsageError(f"-a {algorithm} needs {', '.join(FLAGS.get(each, f'--set {each}=...') for each in needed)}")
    return trainer.Options(**values)


def _is_needed(each: Field[Any]) -> bool:
    return each.default is MISSING and each.default_factory is MISSING


def parse(name: str, text: str, kind: Any) -> Any:
    """Read a value by the type of its field.

    >>> parse("n", "3", int), parse("n", "none", int | None), parse("n", "a,b", tuple[str, ...])
    (3, None, ('a', 'b'))

    Raises:
        UsageError: It is not of that type.
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
        if not re.fullmatch(r"-?[0-9][0-9_]{0,18}", text):
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


def _lines_of(path: str) -> tuple[str, ...]:
    """Read a list from a file, an item a line."""
    try:
        with open(path, encoding="utf-8") as file:
            return tuple(line for line in file.read().splitlines() if line)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise InputError(f"cannot read {path}: {(reason or str(error)).lower()}") from error


_BOOLEANS = {"true": True, "yes": True, "false": False, "no": False}


def _describe(kind: Any) -> str:
    if typing.get_origin(kind) is Literal:
        return "one of " + ", ".join(map(str, typing.get_args(kind)))
    names = {bool: "yes or no", int: "a whole number", float: "a number", str: "a text"}
    return names.get(kind, "a list with commas")


def help_of(algorithm: str, trainer: ModuleType) -> str:
    """List an algorithm's options with their defaults, from the docstring of its options."""
    from inspect import cleandoc

    doc = cleandoc(trainer.Options.__doc__ or "")
    described = dict(re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", doc, re.MULTILINE))
    lines = [f"Options of -a {algorithm}: flags, and NAME=VALUE for --set", ""]
    for each in fields(trainer.Options):
        label = FLAGS.get(each.name, f"--set {each.name}=...")
        default = "needed" if _is_needed(each) else f"default: {_show_default(each)}"
        text = " ".join(described.get(each.name, "").split()).replace("``", "`")
        lines += [f"  {label}  ({default})", f"      {text}", ""]
    return "\n".join(lines)


def _show_default(each: Field[Any]) -> str:
    value = each.default if each.default_factory is MISSING else each.default_factory()
    if isinstance(value, tuple):
        names = [type(item).__name__ if not isinstance(item, str) else item for item in value]
        return ", ".join(names) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value in (None, "") else str(value)
