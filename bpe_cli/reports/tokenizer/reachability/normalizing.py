"""Prove that no normalized text holds a token's text.

A normalizer that rewrites each character for itself, and what it has written no further (lower case, leaving
accents out), never writes a character that it would rewrite: neither does the whole, if what follows only leaves
characters out or puts in fixed ones. Texts in one of Unicode's normal forms have only parts in that form (Unicode
Standard Annex 15, "closed under substringing"), so a text that the form would rewrite is no part of one. A table of
SentencePiece writes its replacements and what none of its rules begin with.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from bpe_cli import _core
from bpe_cli.reports.tokenizer.reachability.completions import is_text
from bpe_cli.stages import (
    NFC,
    NFD,
    NFKC,
    NFKD,
    BertNormalizer,
    ByteLevelNormalizer,
    Charsmap,
    Lowercase,
    Precompiled,
    Prepend,
    Replace,
    SpaceMarks,
    Strip,
    StripAccents,
)
from bpe_cli.stages.component_json import core_spec
from bpe_cli.support.messages import quote

if TYPE_CHECKING:
    from bpe_cli.stages import Normalizer
    from bpe_cli.tokenizer import Tokenizer

_POINTS = 6
_FORMS = (NFC, NFD, NFKC, NFKD)
_FIXED = (StripAccents, Strip, Prepend, Replace, SpaceMarks, Lowercase)
"""Stages that write no characters but those that they are given, their settings' and, the last, small letters."""


_BY_CHARACTER = (Lowercase, StripAccents, BertNormalizer, Charsmap, Precompiled, SpaceMarks)
"""Stages that never leave some characters as they are."""


class Normal:
    """What is known of the texts that a tokenizer's normalizer writes."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._stages = tokenizer.normalizer
        # What comes behind a stage that spells bytes is about that spelling.
        if any(isinstance(stage, ByteLevelNormalizer) for stage in self._stages):
            self._stages = ()

    @cached_property
    def _runs(self) -> list[_core.Stages]:
        plain = (
            replace(stage, handle_chinese_chars=False) if isinstance(stage, BertNormalizer) else stage
            for stage in self._stages
        )
        return [_core.Stages(core_spec((stage,), ())) for stage in plain]

    @cached_property
    def _written(self) -> list[frozenset[str]]:
        """The characters that each stage may put in, whatever it is given."""
        return [_written(stage) for stage in self._stages]

    def why_none(self, text: bytes) -> str | None:
        """Explain why no normalized text holds a text; None where that is not proven."""
        if not self._stages or not is_text(text):
            return None
        decoded = text.decode()
        for number, stage in enumerate(self._stages):
            behind = self._stages[number + 1 :]
            if not all(isinstance(each, _FIXED) for each in behind):
                continue
            if isinstance(stage, _FORMS):
                if behind:
                    continue
                form = self._run(number, text)
                if form != text:
                    name = type(stage).__name__
                    return f"the normalizer writes it as {_points(form)}: its own {_points(text)} is not in {name}"
            elif isinstance(stage, _BY_CHARACTER) or (isinstance(stage, Replace) and stage.literal):
                for character in dict.fromkeys(decoded):
                    if reason := self._never(number, character, behind):
                        return reason
        return None

    def _never(self, number: int, character: str, behind: Sequence[Normalizer]) -> str | None:
        """Explain why a stage and those behind it never leave a character."""
        stage = self._stages[number]
        if any(character in written for written in self._written[number:]):
            return None
        if any(isinstance(each, Lowercase) for each in behind):
            return None  # it may be another character's small letter
        if isinstance(stage, SpaceMarks):
            if character == " " and stage.escape_whitespaces:
                return "the normalizer writes blanks as marks"
            return None
        if isinstance(stage, Replace) and stage.pattern != character:
            return None
        made = self._run(number, character.encode())
        if made == character.encode():
            return None
        return (
            f"the normalizer makes {quote(made)} of {quote(character)}"
            if made
            else f"the normalizer leaves {quote(character)} out"
        )

    def _run(self, number: int, text: bytes) -> bytes:
        return self._runs[number].normalize(text)[0]

    def leaves_no_stray_bytes(self) -> bool:
        """Return whether bytes that no UTF-8 has are rewritten."""
        tables = [number for number, stage in enumerate(self._stages) if isinstance(stage, (Charsmap, Precompiled))]
        return any(is_text(self._run(number, b"\xff")) for number in tables)


def _points(text: bytes) -> str:
    """Name the first characters of a text by their numbers, which can look alike otherwise.

    >>> _points("e\u0301".encode())
    'U+0065 U+0301'
    """
    decoded = text.decode()
    shown = " ".join(f"U+{ord(character):04X}" for character in decoded[:_POINTS])
    return f"{shown} …" if len(decoded) > _POINTS else shown


def _written(stage: Normalizer) -> frozenset[str]:
    """Return the characters that a stage may put in on its own account."""
    if isinstance(stage, (Charsmap, Precompiled)):
        table = base64.b64decode(stage.precompiled_charsmap)
        if len(table) < 4:
            return frozenset()
        kept = "".join(stage.user_defined) if isinstance(stage, Charsmap) else ""
        replacements = table[4 + int.from_bytes(table[:4], "little") :]
        return frozenset(replacements.decode("utf-8", "replace") + kept)
    if isinstance(stage, Replace):
        return frozenset(stage.content)
    if isinstance(stage, Prepend):
        return frozenset(stage.prepend)
    if isinstance(stage, SpaceMarks):
        return frozenset("\u2581" if stage.escape_whitespaces else " ")
    return frozenset()
