"""Prove that no piece of the pre-tokenizer holds a token's text."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from bpe_cli import _core
from bpe_cli.reports.tokenizer.reachability.completions import is_text
from bpe_cli.reports.tokenizer.reachability.merge_factors import Factors, factors_of, is_settled
from bpe_cli.reports.tokenizer.reachability.searching import Search
from bpe_cli.stages import (
    BertNormalizer,
    BertPreTokenizer,
    ByteLevel,
    ByteLevelNormalizer,
    CharDelimiterSplit,
    Digits,
    Metaspace,
    PrefixSpace,
    Punctuation,
    Split,
    Whitespace,
    WhitespaceSplit,
    WordPiece,
)
from bpe_cli.stages.component_json import core_spec
from bpe_cli.support.messages import plural, quote
from bpe_cli.tokenizer import Tokenizer

if TYPE_CHECKING:
    from bpe_cli.stages import PreTokenizer

_LOCAL = (BertPreTokenizer, Whitespace, WhitespaceSplit, Punctuation, Digits, CharDelimiterSplit)
"""Stages that cut, and leave out, by two neighbouring characters alone: cut once, cut everywhere."""

_NEIGHBOURS = ("x", "é", "1", "²", "!", "_", "☃", "中")
"""A character of each kind that those stages tell apart."""


class Pieces:
    """What is known of the pieces that a tokenizer cuts text into."""

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
        prefix = model.continuing_subword_prefix if isinstance(model, WordPiece) else ""
        inside = bool(prefix) and symbols.startswith(prefix.encode())
        if self._mark and is_text(symbols) and symbols.decode().find(self._mark, 1) > 0:
            if self._cuts_at_marks:
                return f"pieces are cut before each {self._mark}, and it holds one behind its beginning"
            return None
        suffix = model.end_of_word_suffix.encode()
        not_last = bool(suffix) and not symbols.endswith(suffix) and is_text(text)
        inner = _inner(text)
        for part in inner:
            if not part:
                continue
            found = self._why_cut(part, inside and len(inner) == 1)
            if found:
                return found
        for factors, invert in self._splits:
            if not self._covered(factors, inner, invert):
                continue
            for part in inner:
                if part and is_settled(part) and not factors.may_hold(part):
                    return f"no match of the split pattern holds {quote(part)}"
            if inner and not_last and is_settled(inner[-1]) and not factors.may_go_on(inner[-1]):
                return f"it is no end of a piece, and no match of the split pattern goes on behind {quote(inner[-1])}"
            if whole and is_text(text) and is_settled(text.decode()) and not factors.matches_somehow(text.decode()):
                return f"merging does not come to it, and no match of the split pattern is {quote(text)} as a whole"
        return None

    def holding(self, text: bytes) -> list[bytes]:
        """Return all pieces that can hold a text, if they are few and known; else none."""
        stages = [stage for stage in self._tokenizer.pre_tokenizer if not isinstance(stage, PrefixSpace)]
        if len(self._splits) != 1 or len(stages) != 1 or not is_text(text) or not is_settled(text.decode()):
            return []
        factors, invert = self._splits[0]
        if not self._covered(factors, [text.decode()], invert):
            return []
        return [piece.encode() for piece in factors.beginning_with(text.decode()) or ()]

    def why_not_kept(self, token_id: int, pieces: list[bytes]) -> str | None:
        """State that the model gives a token for none of all the pieces that can hold it."""
        found = list(self._bare.encoded(pieces))
        if not pieces or any(ids is None or token_id in ids for ids in found):
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
    return not spelt and all(is_text(token.content) for token in tokenizer.special_tokens)


def _inner(text: bytes) -> list[str]:
    r"""Return the stretches of whole characters, without bytes that others may complete.

    >>> _inner(b"\x80ab\xe4c"), _inner(b"ab")
    (['ab', 'c'], ['ab'])
    """
    return list(_stretches(text)) if not is_text(text) else [text.decode()]


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
