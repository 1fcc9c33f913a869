"""Prove that no piece of the pre-tokenizer holds a token's text, and complete parts of characters to text.

A token of a byte-level model may begin within a character and end within another. Whether whole characters
ever become it depends on which: most of them are tokens of their own or are merged elsewhere.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, TypeVar

from bpe_cli import _core
from bpe_cli.reports.tokenizer.reachability import Search
from bpe_cli.reports.tokenizer.reachability.merge_factors import Factors, factors_of, is_settled
from bpe_cli.stages import (
    BertNormalizer,
    BertPreTokenizer,
    ByteLevel,
    ByteLevelNormalizer,
    CharDelimiterSplit,
    Digits,
    FewestTokens,
    Metaspace,
    PrefixSpace,
    Punctuation,
    Split,
    Whitespace,
    WhitespaceSplit,
    WordPiece,
)
from bpe_cli.stages.component_json import core_spec
from bpe_cli.support.cached import cached_property
from bpe_cli.support.messages import plural, quote
from bpe_cli.support.texts import is_utf8
from bpe_cli.tokenizer import Tokenizer

if TYPE_CHECKING:
    from bpe_cli.stages import PreTokenizer


Each = TypeVar("Each")

MOST = 4096
"""How many completions of a token are tried at most."""

FIRST = 64
"""How many of them in the first round."""

_CONTINUING = range(0x80, 0xC0)


def completions(token: bytes, first: int = 0, last: int = MOST) -> list[bytes]:
    r"""Return well-formed texts that hold a token, at most ``MOST`` of them, those spread widest first.

    Empty if there is none: a byte of it is in no text, or parts of characters stand in its middle. Of all texts those
    from ``first`` up to ``last`` are put together.

    >>> texts = completions(b"\xe8\xb0")
    >>> len(texts), texts[0].decode(), completions(b"\xe8\xb0", 2, 9) == texts[2:9]
    (64, '谀', True)
    >>> completions(b"\xff"), completions(b"\x80a\x80")
    ([], [])
    """
    start = 0
    while start < len(token) and token[start] in _CONTINUING:
        start += 1
    if start > 3:
        return []
    if start == len(token):  # nothing but the inside of a character
        return [head + token + tail for head, tail in _around(_alike(token))[first:last]]
    end = len(token)
    for length in (1, 2, 3):
        if length <= len(token) - start and token[-length] >= 0xC0:
            end -= length
            break
    if end < start:
        end = start
    middle, tail = token[start:end], token[end:]
    if not is_utf8(middle):
        return []
    if is_utf8(tail):
        middle, tail = middle + tail, b""
    if not middle and not tail:
        return []
    before = _heads(_alike(token[:start])) if start else (b"",)
    codes = _codes(tail) if tail else range(1)
    if not before or not codes:
        return []
    pairs = _paired(len(before), len(codes))[first:last]
    if not tail:
        return [before[head] + token for head, _ in pairs]
    whole = token[:end]
    return [before[head] + whole + chr(codes[number]).encode() for head, number in pairs]


@lru_cache(maxsize=64)
def _paired(before: int, after: int) -> Sequence[tuple[int, int]]:
    """Return the numbers of what goes before and of what follows, in an order of ``_spread``."""
    if before == 1 or after == 1:
        return [divmod(number, after) for number in _spread(range(before * after))]
    # Both at once: each goes on at its own pace.
    most = max(before, after)
    pairs = dict.fromkeys(
        (number % before, (number + shift) % after) for shift in range(max(1, MOST // most)) for number in range(most)
    )
    return _spread([*pairs])


def _spread(texts: Sequence[Each]) -> list[Each]:
    """Take at most ``MOST``, in an order in which the first few lie far apart."""
    most = texts[:: -(-len(texts) // MOST)] if texts else []
    step = max(1, len(most) // FIRST)
    return [text for first in range(step) for text in most[first::step]]


def _codes(beginning: bytes) -> range:
    r"""Return the characters that begin so: all of them, or of four bytes, of which two or more lack, each seventh.

    >>> [chr(code) for code in _codes(b"\xd0")[:3]], len(_codes(b"\xf0")), len(_codes(b"\xf0\x9f\x98")), _codes(b"\xc0")
    (['Ѐ', 'Ё', 'Ђ'], 28087, 64, range(0, 0))
    """
    lead = beginning[0]
    if 0xC2 <= lead <= 0xDF:
        length, number, least = 2, lead & 0x1F, 0x80
    elif 0xE0 <= lead <= 0xEF:
        length, number, least = 3, lead & 0xF, 0x800
    elif 0xF0 <= lead <= 0xF4:
        length, number, least = 4, lead & 7, 0x10000
    else:
        return range(0)
    missing = length - len(beginning)
    if missing <= 0 or any(byte not in _CONTINUING for byte in beginning[1:]):
        return range(0)
    bits = 6 * (length - 1)
    last = min(number + 1 << bits, 0xD800 if lead == 0xED else 0x110000)  # from there on surrogates, or nothing
    every = range(max(number << bits, least), last, 7 if length == 4 and missing > 1 else 1)
    for byte in beginning[1:]:
        number = number << 6 | byte & 0x3F
    return every[bisect_left(every, number << 6 * missing) : bisect_left(every, number + 1 << 6 * missing)]


def _alike(inside: bytes) -> bytes:
    r"""Return bytes from the inside of a character that the same bytes may stand before and behind.

    Of them the first may be the second of the character, of which some beginnings take a part only.

    >>> _alike(b"\x8f\xbf"), _alike(b"\x9f"), _alike(b"\xa1"), _alike(b"\xb1")
    (b'\x80\x80', b'\x90', b'\xa0', b'\xa0')
    """
    return bytes(min(byte & 0xF0, 0xA0) for byte in inside[:1]) + b"\x80" * len(inside[1:])


@cache
def _heads(ending: bytes) -> tuple[bytes, ...]:
    """Return what goes before the end of a character, from its beginning."""
    heads: list[bytes] = []
    for length in (2, 3, 4):
        missing = length - len(ending)
        if missing < 1:
            continue
        leads = (range(0xC2, 0xE0), range(0xE0, 0xF0), range(0xF0, 0xF5))[length - 2]
        if missing == 1:
            candidates = [bytes([lead]) for lead in leads]
        elif missing == 2:
            candidates = [bytes([lead, code]) for lead in leads for code in _CONTINUING]
        else:
            candidates = [bytes([lead, code, 0x80 + (code * 5) % 64]) for lead in leads for code in _CONTINUING]
        heads += [head for head in candidates if is_utf8(head + ending)]
    return tuple(heads)


@cache
def _around(inside: bytes) -> list[tuple[bytes, bytes]]:
    """Return what goes before and after bytes from the inside of a character, in an order of ``_spread``."""
    around = [(head, b"") for head in _heads(inside)]
    for length in (3, 4):
        missing = length - len(inside)
        if missing < 2:
            continue
        for lead in range(0xE0, 0xF0) if length == 3 else range(0xF0, 0xF5):
            for after in range(1, missing):
                before = missing - after - 1
                for code in _CONTINUING[:: 4 * after]:
                    head = bytes([lead]) + bytes([0x80 + (code * 7) % 64] * before)
                    tail = bytes([code] * after)
                    if is_utf8(head + inside + tail):
                        around.append((head, tail))
    return _spread(around)


_LOCAL = (BertPreTokenizer, Whitespace, WhitespaceSplit, Punctuation, Digits, CharDelimiterSplit)
"""Stages that cut, and leave out, by two neighbouring characters alone: cut once, cut everywhere."""

_NEIGHBOURS = ("x", "é", "1", "²", "!", "_", "☃", "中")
"""A character of each kind that those stages tell apart."""


class Pieces:
    """Facts about the pieces that a tokenizer cuts text into."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._local: list[PreTokenizer] = []
        self._splits: list[tuple[Factors, bool]] = []
        self._mark, self._cuts_at_marks = "", False
        for stage in tokenizer.pre_tokenizer:
            if isinstance(stage, _LOCAL):
                self._local.append(stage)
            elif isinstance(stage, Split):
                kept = (stage.behavior == "Isolated" and not stage.invert) or (
                    stage.behavior == "Removed" and stage.invert
                )
                factors = None if stage.literal or not kept else factors_of(stage.pattern)
                if factors is not None:
                    self._splits.append((factors, stage.invert))
            elif isinstance(stage, Metaspace):
                self._mark, self._cuts_at_marks = stage.replacement, stage.split
                break  # what comes behind sees marks
            elif isinstance(stage, ByteLevel):
                break  # what comes behind sees bytes as they are spelt
            elif isinstance(stage, PrefixSpace):  # stages before it did not see the blank
                self._local, self._splits = [], []
            else:
                break

    @cached_property
    def _stages(self) -> _core.Stages:
        return _core.Stages(core_spec((), self._local))

    @cached_property
    def _spaces_chinese(self) -> _core.Stages | None:
        """What puts spaces around Chinese characters, if a later stage cuts there."""
        cuts = any(isinstance(stage, (BertPreTokenizer, Whitespace, WhitespaceSplit)) for stage in self._local)
        spaces = any(
            isinstance(stage, BertNormalizer) and stage.handle_chinese_chars for stage in self._tokenizer.normalizer
        )
        normalizer = BertNormalizer(clean_text=False, strip_accents=False, lowercase=False)
        return _core.Stages(core_spec((normalizer,), ())) if cuts and spaces else None

    def why_none(self, symbols: bytes, text: bytes, *, whole: bool) -> str | None:
        """Explain why no piece holds a token's text; None where that is not proven.

        Args:
            symbols: The token as the model writes it.
            text: What of normalized text it stands for, without marks that the pre-tokenizer writes.
            whole: Whether it arises only as a whole piece.
        """
        model = self._tokenizer.model
        prefix = model.continuing_subword_prefix if isinstance(model, (WordPiece, FewestTokens)) else ""
        inside = bool(prefix) and symbols.startswith(prefix.encode())
        if self._mark and is_utf8(symbols) and symbols.decode().find(self._mark, 1) > 0:
            if self._cuts_at_marks:
                return f"pieces are cut before each {self._mark}, and it holds one behind its beginning"
            return None
        suffix = model.end_of_word_suffix.encode()
        ends_pieces = not suffix or model.separate_suffix or symbols.endswith(suffix)
        not_last = not ends_pieces and is_utf8(text)
        inner = _inner(text)
        for part in inner:
            if not part:
                continue
            reason = self._why_cut(part, inside and len(inner) == 1)
            if reason:
                return reason
        for factors, invert in self._splits:
            if not self._covered(factors, inner, invert):
                continue
            for part in inner:
                if part and is_settled(part) and not factors.may_hold(part):
                    return f"no match of the split pattern holds {quote(part)}"
            if inner and not_last and is_settled(inner[-1]) and not factors.may_go_on(inner[-1]):
                return f"it is no end of a piece, and no match of the split pattern goes on behind {quote(inner[-1])}"
            if whole and is_utf8(text) and is_settled(text.decode()) and not factors.matches_somehow(text.decode()):
                return f"merging does not come to it, and no match of the split pattern is {quote(text)} as a whole"
        return None

    def holding(self, text: bytes) -> list[bytes]:
        """Return all pieces that can hold a text, if they are few and known; else none."""
        stages = [stage for stage in self._tokenizer.pre_tokenizer if not isinstance(stage, PrefixSpace)]
        if len(self._splits) != 1 or len(stages) != 1 or not is_utf8(text) or not is_settled(text.decode()):
            return []
        factors, invert = self._splits[0]
        if not self._covered(factors, [text.decode()], invert):
            return []
        return [piece.encode() for piece in factors.beginning_with(text.decode()) or ()]

    def why_not_kept(self, token_id: int, pieces: list[bytes]) -> str | None:
        """State that the model gives a token for none of all the pieces that can hold it."""
        encoded = list(self._bare.encoded(pieces))
        if not pieces or any(ids is None or token_id in ids for ids in encoded):
            return None
        return f"{plural(len(pieces), 'piece')} can hold it, as {quote(pieces[0])}, and the model keeps it in none"

    @cached_property
    def _bare(self) -> Search:
        return Search(Tokenizer(self._tokenizer.live_model))

    def _why_cut(self, text: str, inside: bool) -> str | None:
        """State where stages that look at neighbours only cut a text, or before it when it stands inside a word."""
        if self._spaces_chinese is not None and (inside or len(text) > 1):
            for character in text:
                spaced, _, _ = self._spaces_chinese.normalize(character.encode())
                if spaced == f" {character} ".encode():
                    return f"the normalizer puts spaces around {quote(character)}, so it is a piece alone"
        if not self._local:
            return None
        data = text.encode()
        cut = self._cut(data)
        if cut != [data]:
            shown = " | ".join(quote(piece) for piece in cut[:4]) or "nothing"
            return f"the pre-tokenizer cuts it: {shown}{' | …' if len(cut) > 4 else ''}"
        if inside and all(self._cut((before + text).encode())[-1:] == [data] for before in _NEIGHBOURS):
            return f"the pre-tokenizer cuts before {quote(text[0])}, so nothing in a word goes on with it"
        return None

    def _cut(self, data: bytes) -> list[bytes]:
        rewritten, starts, ends, _, _ = self._stages.pre_tokenize(data)
        return [rewritten[start:end] for start, end in zip(memoryview(starts), memoryview(ends), strict=True)]

    @staticmethod
    def _covered(factors: Factors, inner: list[str], invert: bool) -> bool:
        """Return whether pieces that hold these characters are matches: no gap between matches holds them."""
        first = next((part[0] for part in inner if part), None)
        return first is not None and (invert or (is_settled(first) and factors.always_begins(first)))


def cuts_between_characters(tokenizer: Tokenizer) -> bool:
    """Return whether pieces of well-formed text hold whole characters.

    They may not where an added token begins or ends within one, or where a stage cuts text whose bytes are spelt
    as characters.
    """
    spelt = any(isinstance(stage, ByteLevelNormalizer) for stage in tokenizer.normalizer) or any(
        isinstance(stage, ByteLevel) for stage in tokenizer.pre_tokenizer[:-1]
    )
    return not spelt and all(is_utf8(token.content) for token in tokenizer.special_tokens)


def _inner(text: bytes) -> list[str]:
    r"""Return the stretches of whole characters, without bytes that others may complete.

    >>> _inner(b"\x80ab\xe4c"), _inner(b"ab")
    (['ab', 'c'], ['ab'])
    """
    return list(_stretches(text)) if not is_utf8(text) else [text.decode()]


def _stretches(text: bytes) -> Iterator[str]:
    stretch: list[str] = []
    for character in text.decode("utf-8", "surrogateescape"):
        if "\ud800" <= character <= "\udfff":
            if stretch:
                yield "".join(stretch)
            stretch = []
        else:
            stretch.append(character)
    if stretch:
        yield "".join(stretch)
