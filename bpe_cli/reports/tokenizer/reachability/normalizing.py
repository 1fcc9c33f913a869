"""Prove that no normalized text holds a token's text, and find texts that become unknown or byte tokens.

A normalizer that rewrites each character for itself, and what it has written no further (lower case, leaving
accents out), never writes a character that it would rewrite: neither does the whole, if what follows only leaves
characters out or puts in fixed ones. Texts in one of Unicode's normal forms have only parts in that form (Unicode
Standard Annex 15, "closed under substringing"), so a text that the form would rewrite is no part of one. A table of
SentencePiece writes its replacements and what none of its rules begin with.

Where the model knows no better it gives the unknown token, and tokens that name bytes.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from bpe_cli import _core
from bpe_cli.reports.tokenizer.reachability import Verdict
from bpe_cli.stages import (
    NFC,
    NFD,
    NFKC,
    NFKD,
    BertNormalizer,
    ByteLevel,
    ByteLevelNormalizer,
    CharacterBpe,
    Charsmap,
    EventBpe,
    Lowercase,
    Metaspace,
    Precompiled,
    Prepend,
    Replace,
    ScoredBpe,
    SpaceMarks,
    Strip,
    StripAccents,
    Unigram,
)
from bpe_cli.stages.component_json import core_spec
from bpe_cli.stages.spelling import BYTE_TEXT, NORMAL, USER_DEFINED, from_visible, to_visible
from bpe_cli.support.cached import cached_property
from bpe_cli.support.messages import quote
from bpe_cli.support.texts import is_utf8

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
    """Facts about the texts that a tokenizer's normalizer writes."""

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
        if not self._stages or not is_utf8(text):
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
        return any(is_utf8(self._run(number, b"\xff")) for number in tables)


def _points(text: bytes) -> str:
    """Name the first characters of a text by their numbers, which can look alike otherwise.

    >>> _points("e\u0301".encode())
    'U+0065 U+0301'
    """
    decoded = text.decode()
    shown = " ".join(f"U+{ord(character):04X}" for character in decoded[:_POINTS])
    return f"{shown} …" if len(decoded) > _POINTS else shown


def _written(stage: Normalizer) -> frozenset[str]:
    """Return the characters that a stage may insert."""
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


_STRANGE = (
    "\u2603\U0010fffd\ue000\uffff\U000e0041\U0001f9ff\ua66e\U00012000\x01\x7f\ufdfd\u0378\u2460\u16a0\U0002f800"
    "\xe9\n\u4e2d\u3131\u200b"
)
"""Characters of which most vocabularies lack some."""

_SAMPLES = 64


def names_byte(tokenizer: Tokenizer, token: bytes) -> int | None:
    """Return the byte that a token stands for where the model falls back to bytes."""
    if tokenizer.model.byte_fallback and BYTE_TEXT.fullmatch(token):
        return int(token[3:5], 16)
    return None


def unknown_texts(tokenizer: Tokenizer) -> Iterator[bytes]:
    """Yield texts that a model may not know."""
    for character in _STRANGE:
        yield character.encode()
        yield b"a" + character.encode()
    longest = tokenizer.model.max_input_chars_per_word
    if longest is not None:
        yield b"a" * (min(longest, 1 << 20) + 1)
    for byte in (*range(0x20, 0x7F), 0x80, 0xC0, 0xFF):
        yield bytes([byte])


def byte_texts(byte: int) -> Iterator[bytes]:
    """Yield texts with a byte: characters that a vocabulary may lack, and last the byte itself."""
    if byte < 0x80:
        yield bytes([byte])
        yield b"x" + bytes([byte]) + b"x"
        return
    if byte < 0xC0:
        yield from (chr(code + (byte & 0x3F)).encode() for code in (0x10FF80, 0xE0FC0, 0x12000, 0xA4C0, 0x1200))
    elif 0xC2 <= byte < 0xE0:
        yield from (chr(((byte & 0x1F) << 6) + low).encode() for low in range(0x40))
    elif 0xE0 <= byte < 0xF0:
        first = max(0x800, (byte & 0xF) << 12)
        last = ((byte & 0xF) + 1) << 12
        yield from (
            chr(code).encode() for code in range(first, last, (last - first) // _SAMPLES) if not 0xD800 <= code < 0xE000
        )
    elif 0xF0 <= byte <= 0xF4:
        first = max(0x10000, (byte & 7) << 18)
        last = min(0x110000, ((byte & 7) + 1) << 18)
        yield from (chr(code).encode() for code in range(first, last, (last - first) // _SAMPLES))
    yield bytes([byte])
    yield b"x" + bytes([byte])


def why_no_byte(tokenizer: Tokenizer, token_id: int, byte: int, normal: Normal) -> Verdict:
    """Explain why nothing falls back to a byte, or that it is open."""
    model = tokenizer.live_model
    vocabulary = model.vocabulary
    decorated = isinstance(model, CharacterBpe) and (model.continuing_subword_prefix or model.end_of_word_suffix)
    if (
        byte < 0x80
        and not decorated
        and not any(isinstance(stage, ByteLevelNormalizer) for stage in tokenizer.normalizer)
    ):
        character = bytes([byte])
        other = vocabulary.id_of(character)
        if other is not None and other != token_id and _is_matched(model.kinds, other):
            reason = f"{quote(character)} has a token of its own, id {other}, so nothing falls back to this one"
            return Verdict(token_id, False, "shadowed", None, reason)
        if why := normal.why_none(character):
            return Verdict(token_id, False, "shadowed", None, why)
    if byte in (0xC0, 0xC1, *range(0xF5, 0x100)) and normal.leaves_no_stray_bytes():
        reason = "no UTF-8 has this byte, and the normalizer replaces bytes that are not UTF-8"
        return Verdict(token_id, False, "shadowed", None, reason)
    return Verdict(token_id, None, "undecided", None, "no character was found that falls back to this byte")


def _is_matched(kinds: bytes, token_id: int) -> bool:
    """Return whether text becomes a token of its type at once."""
    return token_id >= len(kinds) or kinds[token_id] in (NORMAL, USER_DEFINED)


def spells_all_bytes(tokenizer: Tokenizer) -> bool:
    """Return whether a model over characters sees bytes as they are spelt, and has a token for each."""
    model = tokenizer.live_model
    over_characters = isinstance(model, (CharacterBpe, EventBpe)) and not model.byte_level
    if not over_characters or not any(isinstance(each, ByteLevel) for each in tokenizer.pre_tokenizer):
        return False
    ways = {
        (before, after) for before in ("", model.continuing_subword_prefix) for after in ("", model.end_of_word_suffix)
    }
    spelt = to_visible(bytes(range(256)))
    symbols = (f"{before}{each}{after}" for before, after in ways for each in spelt)
    return all(model.vocabulary.id_of(symbol.encode()) is not None for symbol in symbols)


def why_nothing_unknown(tokenizer: Tokenizer, token_id: int) -> Verdict:
    """Explain why nothing is unknown, or that it is open."""
    model = tokenizer.model
    if isinstance(model, (CharacterBpe, ScoredBpe, Unigram)) and model.byte_fallback:
        texts = {token for _, token in model.vocabulary.items() if BYTE_TEXT.fullmatch(token)}
        if len(texts) == 256:
            return Verdict(token_id, False, "special", None, "every unknown character becomes tokens of its bytes")
    if spells_all_bytes(tokenizer):
        return Verdict(token_id, False, "special", None, "every byte has a token, so nothing is unknown")
    return Verdict(token_id, None, "undecided", None, "no unknown text was found")


def normalized_text(tokenizer: Tokenizer, token: bytes) -> bytes:
    """Return the normalized text that a token stands for, without the marks of the pre-tokenizer."""
    if tokenizer.has_bytes:
        return token
    text = token.removeprefix(tokenizer.model.continuing_subword_prefix.encode())
    text = text.removesuffix(tokenizer.model.end_of_word_suffix.encode())
    for stage in tokenizer.pre_tokenizer:
        if isinstance(stage, Metaspace):
            return text.replace(stage.replacement.encode(), b"")
        if isinstance(stage, ByteLevel) and is_utf8(text):
            return from_visible(text.decode()) or text
    return text
