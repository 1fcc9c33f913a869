"""Find texts for what a model gives where it knows no better: the unknown token, and tokens that name bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bpe_cli.reports.tokenizer.reachability.verdicts import Verdict
from bpe_cli.stages import ByteLevel, ByteLevelNormalizer, CharacterBpe, ScoredBpe, Unigram, WordPiece
from bpe_cli.stages.spelling import BYTE_TEXT, NORMAL, USER_DEFINED, to_visible
from bpe_cli.support.messages import quote

if TYPE_CHECKING:
    from bpe_cli.reports.tokenizer.reachability.normalizing import Normal
    from bpe_cli.tokenizer import Tokenizer

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
    model = tokenizer.model
    if isinstance(model, WordPiece):
        yield b"a" * (min(model.max_input_chars_per_word, 1 << 20) + 1)
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
    if not isinstance(model, CharacterBpe) or not any(isinstance(each, ByteLevel) for each in tokenizer.pre_tokenizer):
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
