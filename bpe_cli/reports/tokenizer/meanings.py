"""Work out what text a token stands for, which is not how it is written: marks, prefixes, suffixes, names of bytes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from bpe_cli.stages.byte_alphabet import from_visible
from bpe_cli.stages.normalizers import ByteLevelNormalizer, Replace, SpaceMarks
from bpe_cli.stages.pre_tokenizers import ByteLevel, Metaspace

if TYPE_CHECKING:
    from bpe_cli.stages import Normalizer, PreTokenizer
    from bpe_cli.tokenizer import Tokenizer

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
