"""Bound how much longer stages can make a text, and refuse those that would fill the memory.

Five stages that each write a letter as a thousand make 10^15 letters of one. What is bounded here is how many
bytes can come of one byte, over all stages that follow each other. A stage that replaces a text works on what
an earlier one put in only if the two have a character in common; of any other it is assumed. What Unicode
prescribes (normalization forms, case) counts as no growth: it is elevenfold at most, and no more when done again.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterable
from dataclasses import dataclass

from bpe_cli.errors import FormatError
from bpe_cli.stages import (
    CTC,
    BertNormalizer,
    BPEDecoder,
    ByteLevel,
    ByteLevelNormalizer,
    Charsmap,
    Decoder,
    Metaspace,
    Normalizer,
    Precompiled,
    PrefixSpace,
    Prepend,
    PreTokenizer,
    Replace,
    ReplaceDecoder,
    SpaceMarks,
    SpaceMarksDecoder,
    WordPieceDecoder,
)
from bpe_cli.support.regex_size import measure

MAX_GROWTH = 1_000
"""How many bytes may come of one; of tokenizers in use it is 132 at most, by SentencePiece's tables."""

Stage = Normalizer | PreTokenizer | Decoder


@dataclass(frozen=True, slots=True)
class _Effect:
    """Describe what a stage does to a text.

    Attributes:
        factor: How many bytes it can make of one.
        takes: The characters that it can change; None for any.
        gives: The characters that can come of it; None for any.
    """

    factor: float
    takes: frozenset[str] | None = None
    gives: frozenset[str] | None = None


def check_growth(stages: Iterable[Stage], where: str) -> None:
    """Refuse stages that can make a text too long.

    Args:
        stages: Stages that follow each other.
        where: What they belong to, for the message.

    Raises:
        FormatError: More than ``MAX_GROWTH`` bytes can come of one.
    """
    grown = growth(stages)
    if grown > MAX_GROWTH:
        shown = f"{grown:,.0f}" if grown < 10**9 else "more than 1,000,000,000"
        raise FormatError(
            f"{where}: of one byte its stages can make {shown}; {MAX_GROWTH:,} is the most that is run",
            hint="a Replace, Prepend or table in it puts in far longer texts than it takes out",
        )


def growth(stages: Iterable[Stage]) -> float:
    """Return how many bytes can come of one.

    >>> growth([Replace(" ", "▁", literal=True)] * 9), growth([Replace("a", "aaa", literal=True)] * 9)
    (3.0, 19683.0)

    Complexity: linear in the texts that the stages name.
    """
    of_character: dict[str, float] = {}  # how much a character can have grown out of, by what put it there
    of_any = worst = 1.0
    for stage in stages:
        effect = _effect(stage)
        if effect.takes is None:
            before = worst
        else:
            before = max([of_any, *(of_character.get(character, 1.0) for character in effect.takes)])
        grown = before * max(1.0, effect.factor)
        if effect.gives is None:
            of_any = max(of_any, grown)
        else:
            for character in effect.gives:
                of_character[character] = max(of_character.get(character, 1.0), grown)
        worst = min(max(worst, grown), 1e300)
    return worst


def _effect(stage: Stage) -> _Effect:
    match stage:
        case Replace() | ReplaceDecoder():
            return _replacing(stage.pattern, stage.content, literal=stage.literal)
        case Prepend():
            return _Effect(1 + _bytes(stage.prepend))
        case Precompiled() | Charsmap():
            return _Effect(_longest_replacement(stage.precompiled_charsmap))
        case BertNormalizer():
            return _Effect(5 / 3)  # blanks around a Chinese character, which has three bytes
        case ByteLevel() | ByteLevelNormalizer() | PrefixSpace() | WordPieceDecoder():
            return _Effect(2)
        case Metaspace():
            return _Effect(1 + _bytes(stage.replacement))
        case SpaceMarks():
            return _Effect(4)
        case SpaceMarksDecoder():
            return _Effect(1 + _bytes(stage.unk_surface))
        case BPEDecoder():
            return _Effect(1 if stage.suffix else 2)
        case CTC():
            return _Effect(1 if stage.word_delimiter_token else 2)
    return _Effect(1)


def _replacing(pattern: str, content: str, *, literal: bool) -> _Effect:
    shortest = _bytes(pattern) if literal else measure(pattern).shortest
    if not shortest:  # it can match nothing, anywhere: what is there stays
        return _Effect(1 + _bytes(content))
    takes = frozenset(pattern) if literal else None
    return _Effect(_bytes(content) / shortest, takes, frozenset(content))


def _longest_replacement(table: str) -> int:
    """Return the bytes of the longest text that a table of SentencePiece puts in."""
    import base64

    try:
        data = base64.b64decode(table, validate=True)
    except (binascii.Error, ValueError):  # which is an error of its own where the table is read
        return 1
    texts = data[4 + int.from_bytes(data[:4], "little") :]
    return max((len(text) for text in re.findall(rb"[^\0]+", texts)), default=1)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
