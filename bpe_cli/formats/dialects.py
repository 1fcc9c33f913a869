"""Say the same in another library's words: what one of two libraries has and the other has not."""

from __future__ import annotations

from collections.abc import Iterator

from bpe_cli.errors import FormatError
from bpe_cli.stages import (
    CharacterBpe,
    Charsmap,
    LongestMatch,
    MaxMatch,
    NGram,
    ScoredBpe,
    SpaceMarks,
    SpaceMarksDecoder,
    Unigram,
    WordLevel,
)
from bpe_cli.tokenizer import Tokenizer


def to_hugging_face(tokenizer: Tokenizer) -> Tokenizer:
    """Give a tokenizer that Hugging Face's library has all parts of, and that does the same.

    Returns:
        The same object if nothing is to be translated.

    Raises:
        FormatError: There is no such tokenizer; the part that stands in the way is named.
    """
    own = ", ".join(_own_parts(tokenizer))
    if own:
        raise FormatError(
            f"Hugging Face's library has no {own}",
            hint="write bpe.json, which holds everything (--format bpe.json)",
        )
    return tokenizer


def _own_parts(tokenizer: Tokenizer) -> Iterator[str]:
    """Name what only this project has."""
    for stage in (*tokenizer.normalizer, *tokenizer.decoder):
        if isinstance(stage, (Charsmap, SpaceMarks, SpaceMarksDecoder)):
            yield type(stage).__name__.removesuffix("Decoder")
    model = tokenizer.model
    if isinstance(model, (ScoredBpe, LongestMatch, MaxMatch, NGram)):
        yield f"model {type(model).__name__}"
    elif isinstance(model, CharacterBpe) and model.separate_suffix:
        yield "BPE whose end of a word is a symbol of its own"
    elif isinstance(model, WordLevel) and model.fuse_unk:
        yield "WordLevel that fuses unknown words"
    elif isinstance(model, Unigram):
        if model.kinds:
            yield "Unigram whose pieces have SentencePiece's types"
        elif model.single_precision:
            yield "Unigram that adds its scores in single precision"
        elif not model.fuse_unk:
            yield "Unigram that leaves unknown characters apart"
