"""An algorithm's options, made from keywords: each is checked to be of its kind."""

from __future__ import annotations

import os
import types
import typing
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import MISSING, Field, fields
from functools import cache
from numbers import Real
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from bpe_cli.errors import UsageError
from bpe_cli.support.core_arguments import plain_number
from bpe_cli.support.messages import did_you_mean, nearest
from bpe_cli.trainers import ALGORITHMS, TRAINERS, compats_of, trainer_of
from bpe_cli.trainers.base import Options, Trainer
from bpe_cli.trainers.option_checks import check_options
from bpe_cli.trainers.presets import preset_of, with_preset

if TYPE_CHECKING:
    Corpus: TypeAlias = Iterable[str | bytes] | os.PathLike[str] | Iterable[os.PathLike[str]]


def is_needed(each: Field[Any]) -> bool:
    """Return whether an option has no default."""
    return each.default is MISSING and each.default_factory is MISSING


def kinds_of(options: type[Options]) -> Mapping[str, Any]:
    """Return the types of an algorithm's options by their names; they are read once."""
    return _kinds_of(typing.cast(Hashable, options))  # a class is, though mypy says that this one is not


@cache
def _kinds_of(options: Hashable) -> Mapping[str, Any]:
    return MappingProxyType(typing.get_type_hints(options))


def check_compat(algorithm: str, compat: str | None) -> None:
    """Check that an algorithm can follow the rules of another library.

    Raises:
        UsageError: if it cannot; the hint lists the libraries that it can follow, and the algorithms that can
            follow these rules.
    """
    known = compats_of(algorithm)
    if compat is not None and compat not in known:
        own = f"it has {', '.join(known)}" if known else "there are no other rules for it"
        others = ", ".join(f'`algorithm="{other}"`' for other in ALGORITHMS if compat in compats_of(other))
        able = f"; {others} can follow {compat}" if others else ""
        raise UsageError(f'`algorithm="{algorithm}"` has no `compat="{compat}"`', hint=own + able)


def options_for(algorithm: str, given: dict[str, Any]) -> Options:
    """Make an algorithm's options from keywords, as ``train`` takes them.

    Raises:
        UsageError: if there is no such algorithm or option, or a value is not of its kind.
    """
    if algorithm not in TRAINERS:
        hint = did_you_mean(nearest(str(algorithm), TRAINERS), f"there are {', '.join(TRAINERS)}")
        raise UsageError(f"there is no algorithm {algorithm!r} to train", hint=hint)
    compat = given.get("compat")
    if compat is not None:
        check_compat(algorithm, compat)
    trainer, preset = trainer_of(algorithm, compat), preset_of(algorithm, compat)
    values = {name: value for name, value in given.items() if name != "compat"}
    values = values | trainer.chosen_by(algorithm, compat) if preset is None else with_preset(preset, values)
    return options_by(trainer, algorithm, values)


def options_by(trainer: Trainer[Any], algorithm: str, given: dict[str, Any]) -> Options:
    """Make a trainer's options; ``algorithm`` is what messages call it.

    Raises:
        UsageError: if there is no such option, a value is not of its kind, too large or not UTF-8, or one is missing.
    """
    known = {each.name: each for each in fields(trainer.Options)}
    values = dict(given)
    if "pattern" in values and "pattern" not in known and "pre_tokenizer" in known:
        if "pre_tokenizer" in values:
            raise UsageError(
                "`pattern` and `pre_tokenizer` both say how text is cut",
                hint="give one of them, and leave the other out",
            )
        values["pre_tokenizer"] = _split_by(values.pop("pattern"))
    kinds = kinds_of(trainer.Options)
    for name, value in values.items():
        if name not in known:
            raise UsageError(f"{algorithm} has no option {name!r}", hint=f"it has {', '.join(known)}")
        values[name] = _of_kind(name, value, kinds[name])
    needed = [each.name for each in known.values() if is_needed(each) and each.name not in values]
    if needed:
        raise UsageError(f"{algorithm} needs {', '.join(needed)}", hint=f"{needed[0]}=..., as in vocab_size=32000")
    made: Options = trainer.Options(**values)
    check_options(made)
    trainer.cutter(made)  # an expression that does not compile is refused before a corpus is read
    return made


def _split_by(pattern: object) -> tuple[object, ...]:
    """Return the pre-tokenizer for a pattern, for algorithms without an option for patterns."""
    from bpe_cli.stages import Split

    expression = _of_kind("pattern", pattern, str | None)
    return (Split(str(expression)),) if expression else ()


_KINDS: dict[object, str] = {
    bool: "True or False", int: "a whole number", float: "a number", str: "a text", type(None): "None",
}  # fmt: skip


def _of_kind(name: str, value: object, kind: Any) -> object:
    """Return the value of an option: patterns and stages by their names, lists as tuples."""
    if isinstance(value, str) and name in ("normalizer", "pre_tokenizer"):
        from bpe_cli.stages.named_stages import normalizers_named, pre_tokenizers_named

        return (normalizers_named if name == "normalizer" else pre_tokenizers_named)(value)
    if isinstance(value, str) and name in ("pattern", "run_pattern"):
        from bpe_cli.stages.patterns import resolve_pattern

        return "" if value in ("", "none") else resolve_pattern(value)
    if not isinstance(value, (bool, int, float)) and isinstance(value, Real):  # of NumPy's
        value = plain_number(name, value)
    if not _fits(value, kind):
        raise UsageError(f"{name} must be {_described(kind)}, not {value!r}")
    return tuple(value) if isinstance(value, list) else value


def _is_union(kind: Any) -> bool:
    return isinstance(kind, types.UnionType) or typing.get_origin(kind) is typing.Union


def _fits(value: object, kind: Any) -> bool:
    if _is_union(kind):
        return any(_fits(value, each) for each in typing.get_args(kind))
    if typing.get_origin(kind) is tuple:
        return isinstance(value, (list, tuple)) and all(_fits(each, typing.get_args(kind)[0]) for each in value)
    if typing.get_origin(kind) is Literal:
        return value in typing.get_args(kind)
    if kind in (int, float):
        return isinstance(value, (int, kind)) and not isinstance(value, bool)
    return isinstance(value, kind)


def _described(kind: Any) -> str:
    if _is_union(kind):
        return " or ".join(map(_described, typing.get_args(kind)))
    if typing.get_origin(kind) is Literal:
        return "one of " + ", ".join(map(repr, typing.get_args(kind)))
    if typing.get_origin(kind) is tuple:
        return {str: "a list of texts", float: "a list of numbers"}.get(typing.get_args(kind)[0], "a list of stages")
    return _KINDS.get(kind, "a stage")
