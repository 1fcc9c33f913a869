"""Make the options of a training algorithm out of what the command line says."""

from __future__ import annotations

import re
import textwrap
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

from bpe_cli.errors import UsageError
from bpe_cli.stages import Split
from bpe_cli.support.failures import every
from bpe_cli.support.messages import cannot_read

if TYPE_CHECKING:
    from bpe_cli import _core

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

_NOT_GIVEN = "not given"
_LOOKS_AROUND = re.compile(r"\(\?<?[=!]|\\[bBAZzGKmM]|\$|(?<!\[)\^")


def check_compat(algorithm: str, compat: str | None) -> None:
    """Make sure that an algorithm can follow somebody's rules.

    Raises:
        UsageError: It cannot; the hint names whose it can follow, and which algorithms can follow these.
    """
    from bpe_cli.trainers import TRAINERS

    known = compats_of(algorithm)
    if compat is not None and compat not in known:
        own = f"it has {', '.join(known)}" if known else "there are no other rules for it"
        others = ", ".join(f"-a {other}" for other in TRAINERS if compat in compats_of(other))
        raise UsageError(f"-a {algorithm} has no --compat {compat}", hint=f"{own}; {others} can follow {compat}")


def compats_of(algorithm: str) -> tuple[str, ...]:
    """Name whose rules an algorithm can follow.

    >>> compats_of("char"), compats_of("byte")
    (('sentencepiece',), ())
    """
    from bpe_cli.trainers import TRAINERS, sentencepiece

    kind = typing.get_type_hints(TRAINERS[algorithm].Options).get("compat")
    own = [name for each in (kind, *typing.get_args(kind)) for name in typing.get_args(each) if isinstance(name, str)]
    return tuple(dict.fromkeys([*own, *(["sentencepiece"] if algorithm in sentencepiece.MODELS else [])]))


def options_of(algorithm: str, trainer: ModuleType, flags: Mapping[str, Any], settings: Iterable[str]) -> Any:
    """Make an algorithm's options.

    Args:
        algorithm: Its name.
        trainer: Its module.
        flags: What was given by flags, by the option's name; None for what was not given.
        settings: What was given by --set, as ``NAME=VALUE``.

    Raises:
        UsageError: The algorithm has no such option, or a value is not of its kind or too large.
    """
    from bpe_cli.trainers.base import check_numbers

    known = {each.name: each for each in fields(trainer.Options)}
    values: dict[str, Any] = {}
    for name, value in flags.items():
        if value is None:
            continue
        if name == "pattern" and name not in known and "pre_tokenizer" in known:
            name, value = "pre_tokenizer", (Split(value),) if value else ()
        if name not in known:
            flags_of = [FLAGS[each] for each in known if each in FLAGS and each != "model"]
            raise UsageError(
                f"-a {algorithm} has no {FLAGS[name]}",
                hint=f"it has {', '.join(flags_of)}, and what `bpe train -a {algorithm} --help-algorithm` lists",
            )
        if name in values:
            raise UsageError(
                "--pattern and --pre-tokenizer both say how text is cut",
                hint="give one of them, and leave the other out",
            )
        values[name] = value
    kinds = typing.get_type_hints(trainer.Options)

    def setting_of(setting: str) -> tuple[str, Any]:
        name, equals, text = setting.partition("=")
        name = name.replace("-", "_")
        if not equals:
            raise UsageError(f"--set {setting} is not NAME=VALUE", hint="as in --set seed_size=100000")
        if name in FLAGS or name not in known:
            others = ", ".join(each for each in known if each not in FLAGS) or "none"
            raise UsageError(
                f"-a {algorithm} has no option {name!r} for --set",
                hint=f"it has {others}" if name not in FLAGS else f"there is {FLAGS[name]}",
            )
        return name, parse(name, text, kinds[name])

    values.update(every(setting_of, settings))
    needed = [each.name for each in known.values() if _is_needed(each) and each.name not in values]
    if needed == ["vocab_size"]:
        raise UsageError("how many tokens? --vocab-size is missing", hint="32000 is usual for one language: -s 32000")
    if needed:
        raise UsageError(f"-a {algorithm} needs {', '.join(FLAGS.get(each, f'--set {each}=...') for each in needed)}")
    made = trainer.Options(**values)
    check_numbers(made)
    _compile(trainer, made)
    return made


def _compile(trainer: ModuleType, made: Any) -> None:
    """Make sure, before any text is read, that its stages can be run.

    Raises:
        UsageError: An expression does not compile.
    """
    from bpe_cli.trainers import bbpe

    if trainer is bbpe:
        from bpe_cli.stages.splitters import compile_splitter

        compile_splitter(made.patterns)
        return
    try:
        trainer.front(made).compile()
    except ValueError as error:
        raise UsageError(
            str(error),
            hint="the core's regular expressions are those of Hugging Face's files; names: see `bpe train --help`",
        ) from error


def check_matches(counts: _core.Counts, pattern: str) -> None:
    """Make sure that a pattern, which was to cut the corpus, matched anything in it.

    A pattern that looks around itself can match in a text and not in what it cut out, so nothing is
    said of such a one.

    Raises:
        UsageError: It cuts nothing.
    """
    import regex

    from bpe_cli.stages.splitters import show_pattern

    if not counts.unique or _LOOKS_AROUND.search(pattern):
        return
    try:
        expression = regex.compile(pattern)
    except (regex.error, ValueError):  # another dialect, which the core knows
        return
    step = 1 << 12
    for start in range(0, counts.unique, step):
        for piece, _ in counts.items(start, step):
            found = expression.search(piece.decode("utf-8", "surrogateescape"))
            if found is not None:
                return
    raise UsageError(
        f"the pattern {show_pattern(pattern)} matches nothing in the corpus, so that nothing is cut",
        hint="--pattern none is the way to leave documents whole",
    )


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
        raise cannot_read(path, error) from error


_BOOLEANS = {"true": True, "yes": True, "false": False, "no": False}


def _describe(kind: Any) -> str:
    if typing.get_origin(kind) is Literal:
        return "one of " + ", ".join(map(str, typing.get_args(kind)))
    names = {bool: "yes or no", int: "a whole number", float: "a number", str: "a text"}
    if typing.get_origin(kind) is tuple and typing.get_args(kind)[0] in (int, float):
        return "a list of numbers with commas"
    return names.get(kind, "a list with commas")


def help_of(algorithm: str, trainer: ModuleType) -> str:
    """List an algorithm's options with their defaults, from the docstring of its options."""
    from inspect import cleandoc

    doc = cleandoc(trainer.Options.__doc__ or "")
    described = dict(re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", doc, re.MULTILINE))
    known = {each.name: each for each in fields(trainer.Options)}
    by_sentencepiece = "model" in known  # the algorithm's name says which
    title = f"-a {algorithm} --compat sentencepiece" if by_sentencepiece else f"-a {algorithm}"
    lines = [f"Options of {title}: flags, and NAME=VALUE for --set", ""]
    for name, each in known.items():
        if name == "model":
            continue
        label = FLAGS.get(name, f"--set {name}=...")
        default = "needed" if _is_needed(each) else f"default: {_show_default(each)}"
        text = _in_words(" ".join(described.get(name, "").split()), is_flag=name in FLAGS)
        wrapped = textwrap.wrap(text, 94, break_long_words=False, break_on_hyphens=False)
        lines += [f"  {label}  ({default})", *(f"      {line}" for line in wrapped), ""]
    if not by_sentencepiece and "sentencepiece" in compats_of(algorithm):
        lines += [f"`bpe train -a {algorithm} --compat sentencepiece --help-algorithm` lists what it has there.", ""]
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
        return ",".join(map(_show_item, value)) or "none"
    if value == "":
        return "empty"
    shown = str(value)
    # White space around it would be lost among the brackets.
    return shown if shown == shown.strip() else repr(shown)


def _show_item(value: object) -> str:
    """Write one of several: a text or number as it is, a stage by its name and what makes it special."""
    if not is_dataclass(value):
        return str(value)
    if isinstance(value, Split):
        return f"split at {value.pattern}"
    return type(value).__name__
