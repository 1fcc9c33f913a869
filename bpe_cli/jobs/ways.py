"""Find the ways to write a tokenizer that a format refuses: another format, a loss to agree to, another training.

Every way was tried before a hint names it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from bpe_cli.errors import FormatError, LossError, OutputError
from bpe_cli.jobs.targets import TARGETS
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.messages import accepting

if TYPE_CHECKING:
    from bpe_cli.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class Way:
    """A way to write a tokenizer.

    Attributes:
        format: The format.
        losses: What is lost, by the names of ``features.LOSSES``; none if the format holds all of it.
    """

    format: str
    losses: tuple[str, ...] = ()


_RANKS = ("tiktoken", "tekken")
_NEAR: Mapping[str, tuple[str, ...]] = {
    "sentencepiece": ("tiktoken",),
    "sentencepiece-vocab": ("sentencepiece",),
    "llama2c": ("sentencepiece", "tiktoken"),
    "tiktoken": ("tekken",),
    "tekken": ("tiktoken",),
    "minbpe": _RANKS,
    "rwkv": _RANKS,
    "subword-nmt": ("fastbpe", "sentencepiece"),
    "fastbpe": ("subword-nmt", "sentencepiece"),
    "youtokentome": ("sentencepiece",),
}
"""The formats that readers of a format are likely to read as well, or to be glad of, the nearest first."""

_FOR_ALL = ("tokenizer.json", "bpe.json")
"""Those that hold most, and everything."""

_BESIDE: Mapping[tuple[str, str], frozenset[str]] = {
    ("sentencepiece", "tiktoken"): frozenset({"pattern", "special-tokens"}),
}
"""What may go where one format is written for another: a program says it beside the file, as Llama 3's does."""


def hint_at_ways(tokenizer: Tokenizer, format_name: str, allowed: Collection[str], refusal: FormatError) -> str | None:
    """Return the hint at what works where a conversion is refused.

    >>> from bpe_cli import load
    >>> from bpe_cli.errors import FormatError
    >>> print(hint_at_ways(load("cl100k_base"), "sentencepiece", (), FormatError("it cannot")).replace("; ", ";\\n"))
    write tiktoken, which holds everything (`format="tiktoken"`);
    what is trained with `target="sentencepiece"` fits exactly

    Args:
        tokenizer: What is to be written.
        format_name: The format that refuses it.
        allowed: The losses that were agreed to.
        refusal: What the format says, with its own hint.
    """
    found = list(ways(tokenizer, format_name, allowed, refusal))
    if not found:
        return refusal.hint
    parts = []
    for way in found:
        agreed = f"`{accepting(way.losses)}`"
        if way.format == format_name:
            parts.append(f"agree to lose it: {agreed}")
        elif way.losses:
            lost = " and ".join(way.losses)
            parts.append(f'write {way.format}, which holds all but {lost} (`format="{way.format}"` with {agreed})')
        else:
            parts.append(f'write {way.format}, which holds everything (`format="{way.format}"`)')
    hint = ", or ".join(parts)
    if (reader := _reader(format_name, refusal)) is not None:
        return f'{hint}; what is trained with `target="{reader}"` fits exactly'
    own = refusal.hint
    return hint if own is None or "json" in own else f"{hint}; {own}"


def _reader(format_name: str, refusal: FormatError) -> str | None:
    """Return the reader of a format for which one can train; None where that would lose the same."""
    lost = frozenset(refusal.losses if isinstance(refusal, LossError) else ())
    readers = (name for name, each in TARGETS.items() if each.format == format_name and each.chosen)
    return next((name for name in readers if not lost & TARGETS[name].given), None)


def ways(tokenizer: Tokenizer, format_name: str, allowed: Collection[str], refusal: FormatError) -> Iterator[Way]:
    """Yield the ways that work, the nearest first: another format that holds it, and the format with losses.

    Args:
        tokenizer: What is to be written.
        format_name: The format that refuses it.
        allowed: The losses that were agreed to.
        refusal: What the format says.
    """
    for name in dict.fromkeys((*_NEAR.get(format_name, ()), *_FOR_ALL)):
        if name == format_name:
            continue
        losses = _losses(tokenizer, name)
        if losses is not None and set(losses) <= {*allowed, *_BESIDE.get((format_name, name), ())}:
            yield Way(name, losses)
            break
    if isinstance(refusal, LossError):
        losses = _losses(tokenizer, format_name, () if allowed else refusal.losses)
        if losses is not None:
            yield Way(format_name, losses)


def _losses(tokenizer: Tokenizer, format_name: str, agreed: tuple[str, ...] = ()) -> tuple[str, ...] | None:
    """Return what has to be agreed to so that a format holds a tokenizer; None if nothing helps.

    ``agreed`` is what is known to be needed: a large tokenizer takes a second to be refused again.
    """
    from bpe_cli.formats import dump

    while True:
        try:
            dump(tokenizer, format_name, agreed)
        except LossError as error:
            if set(error.losses) <= set(agreed):
                return None
            agreed += error.losses
        except (FormatError, OutputError):  # it cannot hold the model, or there is no place for the proof
            return None
        else:
            return agreed
