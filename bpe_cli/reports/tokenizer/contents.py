"""Read what the ordinary tokens of a tokenizer stand for: what every other part of the health report counts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bpe_cli.stages.components import ByteLevel, ByteLevelNormalizer, Metaspace, Replace, SpaceMarks
from bpe_cli.stages.spelling import from_visible

if TYPE_CHECKING:
    from bpe_cli.stages import Normalizer, PreTokenizer
    from bpe_cli.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class NamedToken:
    """A token as an example: its id, and the bytes of text that it stands for."""

    token_id: int
    content: bytes


@dataclass(frozen=True)
class Contents:
    """What the ordinary tokens stand for, by id in ascending order.

    Attributes:
        meanings: The bytes of text of every ordinary token (see ``meaning_of``).
        texts: The same as text, without the tokens that are not UTF-8.
    """

    meanings: dict[int, bytes]
    texts: dict[int, str]

    def example(self, token_id: int) -> NamedToken:
        """Return a token as an example."""
        return NamedToken(token_id, self.meanings[token_id])

    def examples(self, token_ids: list[int], limit: int) -> tuple[NamedToken, ...]:
        """Return the first tokens of a list as examples."""
        return tuple(map(self.example, token_ids[:limit]))


def read_contents(tokenizer: Tokenizer) -> Contents:
    """Read what the ordinary tokens stand for; ids that a special token has are left out."""
    meaning, special_ids = meaning_of(tokenizer), tokenizer.special_ids
    meanings = {
        token_id: meaning(token)
        for token_id, token in tokenizer.model.vocabulary.items()
        if token_id not in special_ids
    }
    texts = {}
    for token_id, content in meanings.items():
        try:
            texts[token_id] = content.decode()
        except UnicodeDecodeError:
            continue
    return Contents(meanings, texts)


Step = Callable[[bytes], bytes]
"""One step of the way back from a token to text."""

_BYTE = re.compile(rb"<0x([0-9A-F]{2})>")
_BLANK_MARK = "\u2581".encode()


def meaning_of(tokenizer: Tokenizer) -> Step:
    """Return what tells the bytes of text that an ordinary token stands for.

    That a blank is put before a text, or that text was folded, is not undone. A token that is nothing but a
    mark of the model's (an end of a word by itself) stands for no text, and is given as it is written.
    """
    model = tokenizer.model
    if model.kind in ("bpe-ranks", "bpe-merges"):
        return lambda token: token
    steps: list[Step] = []
    if prefix := model.continuing_subword_prefix:
        steps.append(lambda token: token.removeprefix(prefix.encode()))
    if suffix := model.end_of_word_suffix:
        steps.append(lambda token: token.removesuffix(suffix.encode()))
    steps += _undo(tokenizer.normalizer, tokenizer.pre_tokenizer)
    byte_fallback = model.byte_fallback

    def meaning(token: bytes) -> bytes:
        if byte_fallback and (named := _BYTE.fullmatch(token)):
            return bytes.fromhex(named[1].decode())
        content = token
        for step in steps:
            content = step(content)
        return content or token

    return meaning


def _undo(normalizer: tuple[Normalizer, ...], pre_tokenizer: tuple[PreTokenizer, ...]) -> Iterator[Step]:
    """Yield the way back through the stages that spell text otherwise, the last one first."""
    for stage in reversed((*normalizer, *pre_tokenizer)):
        if isinstance(stage, (ByteLevel, ByteLevelNormalizer)):
            yield _spelt_bytes
        elif isinstance(stage, Metaspace):
            yield _blanks(stage.replacement.encode())
        elif isinstance(stage, SpaceMarks) and stage.escape_whitespaces:
            yield _blanks(_BLANK_MARK)
        elif isinstance(stage, Replace) and stage.pattern == " " and stage.content:
            yield _blanks(stage.content.encode())


def _blanks(mark: bytes) -> Step:
    return lambda content: content.replace(mark, b" ")


def _spelt_bytes(content: bytes) -> bytes:
    """Read the byte alphabet; a text outside it (a user's own token) is itself."""
    try:
        spelt = from_visible(content.decode())
    except UnicodeDecodeError:
        return content
    return content if spelt is None else spelt


_NAMED_BYTE = re.compile(rb"<0x[0-9A-F]{2}>")
_FIRST_OF_SEVERAL = 0x80
"""From this byte on, a byte is one of several that make a character of UTF-8."""
_LONGEST_SPELT_BYTE = 2
"""Bytes that the visible alphabet of byte-level models takes for one byte, at most."""


@dataclass(frozen=True, slots=True)
class Fallback:
    """The ids that stand for text the vocabulary has nothing better for.

    Attributes:
        unknown: The model's unknown token; empty if it has none.
        bytes: The tokens of byte fallback (``<0xE4>``, those of ASCII too), and in byte-level models the
            tokens that are one byte from 0x80 on: less than a character.
    """

    unknown: frozenset[int]
    bytes: frozenset[int]


def fallback_ids(tokenizer: Tokenizer) -> Fallback:
    """Classify a tokenizer's ids.

    >>> from bpe_cli.stages import RankBpe
    >>> from bpe_cli.tokenizer import Tokenizer
    >>> from bpe_cli.stages.vocabulary import Vocabulary
    >>> fallback_ids(Tokenizer(RankBpe(Vocabulary.from_tokens([b"a", b"\\xe4", b"\\xe4\\xb8"]))))
    Fallback(unknown=frozenset(), bytes=frozenset({1}))

    Complexity: linear in the vocabulary.
    """
    model = tokenizer.model
    unknown = model.unk_id
    if model.byte_fallback:
        named = (token_id for token_id, token in model.vocabulary.items() if _NAMED_BYTE.fullmatch(token))
        found = frozenset(named)
    else:
        found = frozenset(_single_bytes(tokenizer))
    return Fallback(frozenset() if unknown is None else frozenset({unknown}), found)


def _single_bytes(tokenizer: Tokenizer) -> list[int]:
    """List the ids of tokens that stand for one byte of a longer character."""
    model = tokenizer.model
    around = model.continuing_subword_prefix, model.end_of_word_suffix
    longest = _LONGEST_SPELT_BYTE + sum(len(mark.encode()) for mark in around)
    meaning = meaning_of(tokenizer)
    found = []
    for token_id, token in model.vocabulary.items():
        if len(token) <= longest:
            content = meaning(token)
            if len(content) == 1 and content[0] >= _FIRST_OF_SEVERAL:
                found.append(token_id)
    return found
