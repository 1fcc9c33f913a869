"""Read and write PLaMo 2's unigram model in GGUF metadata: scores rounded, added from the end of a text.

Source: ``llm_tokenizer_plamo2`` (src/llama-vocab.cpp as vendored in llama-cpp-python 0.3.36), and
``_set_vocab_plamo`` (conversion/base.py) for the ids that no token has.
"""

from __future__ import annotations

import re
from array import array
from typing import TYPE_CHECKING

from bpe_cli.errors import FormatError
from bpe_cli.stages import ByteFallback, Fuse, Replace, Unigram
from bpe_cli.stages.spelling import BYTE, BYTE_TEXTS, CONTROL, NORMAL, UNKNOWN, UNUSED
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.support.messages import quote
from bpe_cli.tokenizer import Tokenizer

if TYPE_CHECKING:
    from bpe_cli.formats.gguf.tokens import Vocab

NAME = "plamo2"
"""What ``tokenizer.ggml.model`` says."""

NORMALIZER = (Replace("\\A\ufeff", ""),)
"""A text, and what follows a special token, loses a byte order mark at its beginning."""

DECODER = (ByteFallback(), Fuse())

NEVER = -2000.0
"""A score at which llama.cpp takes no token."""

_UNITS = 10_000
_UNKNOWN = -1000 * _UNITS
"""What an unknown character scores, and how llama.cpp marks one in its tables."""
_MOST = (1 << 31) - 1

BYTE_LIKE = re.compile(rb"<0x[0-9A-Fa-f]{2}>")
"""A text that decoders take for a byte."""


def make(vocab: Vocab) -> Tokenizer:
    """Make the tokenizer of a file's vocabulary."""
    scores = vocab.scores()
    _check_bytes(vocab)
    special = {token.token_id for token in vocab.special_tokens if token.special}
    texts = [text or b"[EMPTY_%d]" % token_id for token_id, text in enumerate(vocab.written_texts)]
    kinds = bytes(
        CONTROL if token_id in special else _kind(vocab, token_id, text, units(scores[token_id]))
        for token_id, text in enumerate(texts)
    )
    tokens = [b"" if kind == CONTROL else text for text, kind in zip(texts, kinds, strict=True)]
    return Tokenizer(
        Unigram(Vocabulary.from_tokens(tokens), scores, None, byte_fallback=True, kinds=kinds, fixed_point=True),
        special_tokens=vocab.special_tokens,
        normalizer=NORMALIZER,
        decoder=DECODER,
        usage=vocab.usage,
    )


def _check_bytes(vocab: Vocab) -> None:
    texts = {text for text, kind in zip(vocab.texts, vocab.types, strict=True) if kind == BYTE}
    missing = [text for text in BYTE_TEXTS if text not in texts]
    if missing:
        raise FormatError(f"{vocab.source} has no token of the byte {missing[0].decode()}, and {NAME} needs all 256")
    other = texts.difference(BYTE_TEXTS)
    if other:
        raise FormatError(f"{vocab.source}: the token {quote(min(other))} is a byte, and is not written as <0x0A> is")


def units(score: float) -> int:
    """Round a score to ten-thousandths, a half away from 0; one too large for llama.cpp becomes the maximum plus 1.

    >>> units(-2.00005), units(-2.000049)
    (-20001, -20000)
    """
    exact = max(-_MOST - 1.0, min(_MOST + 1.0, score * _UNITS))
    whole = int(exact)
    return whole + (abs(exact - whole) >= 0.5) * (1 if exact > 0 else -1)


def _kind(vocab: Vocab, token_id: int, text: bytes, rounded: int) -> int:
    """Return a token's type in the model: text never becomes an unused token."""
    kind = vocab.types[token_id]
    if kind == BYTE:
        return BYTE
    if kind in (UNKNOWN, CONTROL) or rounded <= NEVER * _UNITS or (rounded < _UNKNOWN and len(text.decode()) == 1):
        return UNUSED
    if rounded == _UNKNOWN and kind == UNUSED:  # what the converter fills ids with
        return UNUSED
    token = f"{vocab.source}: the score of token {token_id}, {quote(text)},"
    if rounded == _UNKNOWN:
        raise FormatError(
            f"{token} is {_UNKNOWN / _UNITS:g}, by which llama.cpp knows where a list of tokens ends",
            hint="give the token another score",
        )
    if rounded > _MOST:
        raise FormatError(f"{token} is larger than {_MOST / _UNITS:g}, which is the most that {NAME} has room for")
    if BYTE_LIKE.fullmatch(text):
        raise FormatError(f"{vocab.source}: token {token_id}, {quote(text)}, is not a byte, and is written like one")
    return NORMAL


def check(model: Unigram) -> None:
    """Refuse to write a model on which llama.cpp would abort."""
    texts = {text for text, kind in zip(model.vocabulary.tokens(), model.kinds, strict=False) if kind == BYTE}
    if not model.byte_fallback or not texts.issuperset(BYTE_TEXTS):
        raise FormatError(
            "llama.cpp has this model only with tokens of all 256 bytes",
            hint='bpe.json can hold it (`format="bpe.json"`)',
        )
    if model.kinds[0] == BYTE:
        first = model.vocabulary.token(0).decode()
        raise FormatError(
            f"llama.cpp stops at a token of a byte with id 0, and {first} has it", hint="move it to another id"
        )


def scores(model: Unigram, size: int) -> array[float]:
    """Return the scores to write for ``size`` ids; an id without a token gets a score that is never chosen."""
    tokens = model.vocabulary.tokens()
    given = (
        score if token or kind == CONTROL else NEVER
        for score, token, kind in zip(model.scores, tokens, model.kinds, strict=True)
    )
    # What single precision would make another number of units is rounded before.
    kept = [score if units(score) == units(array("f", [score])[0]) else units(score) / _UNITS for score in given]
    return array("d", kept) + array("d", [NEVER] * (size - len(kept)))


def same(ours: Unigram, theirs: Unigram) -> bool:
    """Return whether two models take the same tokens of the same texts."""

    def compared(model: Unigram) -> dict[int, tuple[int, int]]:
        entries = enumerate(zip(model.kinds, model.scores, strict=True))
        return {number: (kind, units(score)) for number, (kind, score) in entries if kind not in (UNUSED, CONTROL)}

    return compared(ours) == compared(theirs)
