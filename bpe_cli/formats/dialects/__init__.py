"""Express a tokenizer in Hugging Face's terms, or in SentencePiece's, where both say the same.

Each project has its own words for one thing: a table of rules, blanks as marks, pieces with scores. The
stages of both are kept apart in ``stages``, since each does exactly what its library does. Here one is
put into the words of the other, so that a ``.model`` becomes a ``tokenizer.json`` that Hugging Face's
library loads, and the other way round.

What is exact is done without asking. What differs on rare texts only (how a table is applied, in which
precision scores are added, ...) is a loss, ``sentencepiece-edges``, that a caller has to agree to. What has
no form at all is refused. One thing is left to each library's habits: special tokens among ids to be
decoded read as nothing in SentencePiece's words, and as their texts in Hugging Face's.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from bpe_cli.errors import FormatError
from bpe_cli.formats.dialects import models as dialect_models
from bpe_cli.formats.dialects import text as dialect_text
from bpe_cli.formats.dialects.models import SENTENCEPIECE, Reader
from bpe_cli.formats.features import EDGES, LOSSES, losses, refuse_losses, without_codebook
from bpe_cli.stages import (
    ALGORITHMS,
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
from bpe_cli.support.messages import quote
from bpe_cli.tokenizer import Tokenizer

FIXED_POINT = "Unigram that adds rounded scores from the end of a text"
HUGGING_FACE = "a tokenizer.json for Hugging Face's library"
HINT = "it holds what --compat sentencepiece trains"


def is_sentencepiece(tokenizer: Tokenizer) -> bool:
    """Return whether any part of a tokenizer is in SentencePiece's words.

    >>> from bpe_cli.stages import WordLevel
    >>> from bpe_cli.stages.vocabulary import Vocabulary
    >>> is_sentencepiece(Tokenizer(WordLevel(Vocabulary.from_tokens([b"a"]))))
    False
    """
    model = tokenizer.model
    return (
        isinstance(model, ScoredBpe)
        or (isinstance(model, Unigram) and (model.single_precision or bool(model.kinds)))
        or (isinstance(model, WordLevel) and model.fuse_unk)
        or any(isinstance(stage, (SpaceMarks, Charsmap)) for stage in tokenizer.normalizer)
        or any(isinstance(stage, SpaceMarksDecoder) for stage in tokenizer.decoder)
    )


def to_hugging_face(tokenizer: Tokenizer, allow_loss: Collection[str] = ()) -> Tokenizer:
    """Put what is in SentencePiece's words into those of Hugging Face.

    Args:
        tokenizer: The tokenizer; given back itself if there is nothing to translate.
        allow_loss: ``sentencepiece-edges`` agrees to differences on rare texts, ``codebook`` to do without one.

    Raises:
        FormatError: if there is no exact form, and nobody agreed; or none at all. Names the part.
    """
    if tokenizer.model.codebook is not None:
        refuse_losses(losses(tokenizer, LOSSES - {"codebook"}), allow_loss, HUGGING_FACE)
        tokenizer = without_codebook(tokenizer)
    if not is_sentencepiece(tokenizer) or tokenizer.model.fixed_point:
        _refuse_own(tokenizer)
        return tokenizer
    _refuse_bytes(tokenizer)
    edges: list[str] = []
    model = tokenizer.model
    cuts = tokenizer.pre_tokenizer
    if isinstance(model, WordLevel) and model.fuse_unk:
        raise FormatError(
            "Hugging Face's word model gives each of several unknown words a token, and SentencePiece's all of "
            "them one",
            hint="write bpe.json or a .model",
        )
    if isinstance(model, ScoredBpe):
        model, own_cuts = dialect_models.merging_model(model, edges)
        cuts = (*cuts, *own_cuts)
    elif isinstance(model, Unigram):
        model = dialect_models.double_precision(model, edges)
    normalizer = dialect_text.hugging_face_normalizer(tokenizer.normalizer, edges)
    decoder = dialect_text.hugging_face_decoder(tokenizer.decoder, *_texts(tokenizer), edges)
    translated = replace(tokenizer, model=model, normalizer=normalizer, pre_tokenizer=cuts, decoder=decoder)
    _refuse_own(translated)
    refuse_losses(_lost(edges), allow_loss, HUGGING_FACE)
    return translated


def _refuse_own(tokenizer: Tokenizer) -> None:
    """Refuse what only this project has, and neither of the two libraries."""
    model = tokenizer.model
    own = None
    if isinstance(model, (LongestMatch, MaxMatch, NGram)):
        own = ALGORITHMS[model.kind]
    elif isinstance(model, CharacterBpe) and model.separate_suffix:
        own = "BPE whose end of a word is a symbol of its own"
    elif isinstance(model, CharacterBpe) and model.whole_runs_of:
        own = f"BPE that takes runs of {quote(model.whole_runs_of)} as a whole, and nothing else"
    elif isinstance(model, Unigram) and not model.fuse_unk:
        own = "Unigram that leaves unknown characters apart"
    elif isinstance(model, Unigram) and model.unk_id is not None and _is_ordinary(model, model.unk_id):
        own = "Unigram whose unknown token is an ordinary piece too"
    elif model.fixed_point:
        own = FIXED_POINT
    if own:
        raise FormatError(
            f"Hugging Face's library has no {own}",
            hint="write bpe.json, which holds everything (--format bpe.json)",
        )


def _is_ordinary(model: Unigram, unk_id: int) -> bool:
    return unk_id < model.vocabulary.size and bool(model.vocabulary.token(unk_id))


def to_sentencepiece(tokenizer: Tokenizer, reader: Reader = SENTENCEPIECE) -> tuple[Tokenizer, dict[str, str]]:
    """Put what is in Hugging Face's words into those of SentencePiece.

    Args:
        tokenizer: The tokenizer; given back itself if there is nothing to translate.
        reader: For whom.

    Returns:
        The tokenizer, and what differs on rare texts as ``features.losses`` has it: ``sentencepiece-edges``
        -> how a message calls it.

    Raises:
        FormatError: if there is no such form at all. Names the part.
    """
    *before, marks = tokenizer.normalizer or (None,)
    model = tokenizer.model
    if model.fixed_point:
        raise FormatError(
            f"{reader.holder} cannot hold a {FIXED_POINT}",
            hint="write bpe.json, which holds everything (--format bpe.json)",
        )
    tables = all(isinstance(stage, Charsmap) for stage in before) and len(before) < 2
    if isinstance(marks, SpaceMarks) and tables and not isinstance(model, CharacterBpe):
        if isinstance(model, Unigram) and reader.single_precision and not model.single_precision:
            edge = "its scores, which SentencePiece adds in single and this tokenizer in double precision"
            return replace(tokenizer, model=replace(model, single_precision=True)), _lost([edge])
        return tokenizer, {}  # what else is wrong with it, the writer says
    _refuse_bytes(tokenizer)
    edges: list[str] = []
    cuts = tokenizer.pre_tokenizer
    if isinstance(model, CharacterBpe):
        model, cuts = dialect_models.scoring_model(model, tokenizer.special_tokens, cuts, edges, reader)
    elif isinstance(model, Unigram):
        model = dialect_models.scored_unigram(model, tokenizer.special_tokens, edges, reader)
    elif not isinstance(model, ScoredBpe):
        raise FormatError(f"{reader.holder} cannot hold {ALGORITHMS[model.kind]}", hint=HINT)
    unknown, texts = _texts(tokenizer)
    normalizer = tokenizer.normalizer
    if not (isinstance(marks, SpaceMarks) and tables) or cuts:
        normalizer = dialect_text.sentencepiece_normalizer(normalizer, cuts, texts, edges, reader)
    handled = normalizer[-1]
    if isinstance(handled, SpaceMarks):
        decoder = dialect_text.sentencepiece_decoder(tokenizer.decoder, handled, unknown, texts, edges, reader)
    translated = replace(tokenizer, model=model, normalizer=normalizer, pre_tokenizer=(), decoder=decoder)
    return translated, _lost(edges)


def _refuse_bytes(tokenizer: Tokenizer) -> None:
    """Refuse tokens that are no text: neither library's files can hold them."""
    for token_id, token in tokenizer.model.vocabulary.items():
        try:
            token.decode()
        except UnicodeDecodeError:
            raise FormatError(
                f"the token {quote(token)} (id {token_id}) is not UTF-8, and both libraries' tokens are texts"
            ) from None


def _texts(tokenizer: Tokenizer) -> tuple[str | None, list[str]]:
    """Return the text of the unknown token, if encoding can give it, and those of the ordinary ones."""
    model = tokenizer.model
    unk_id = model.unk_id
    texts = [token.decode("utf-8", "replace") for token_id, token in model.vocabulary.items() if token_id != unk_id]
    if unk_id is None or model.byte_fallback:
        return None, texts
    return tokenizer.token_bytes(unk_id).decode("utf-8", "replace"), texts


def _lost(edges: list[str]) -> dict[str, str]:
    """Return differences on rare texts as a loss."""
    return {EDGES: f"what becomes of rare texts ({'; '.join(dict.fromkeys(edges))})"} if edges else {}
