"""Other ways to apply a vocabulary than the one that it was learnt for."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping

from bpe_cli.errors import UsageError
from bpe_cli.stages import (
    ByteLevel,
    ByteLevelDecoder,
    CharacterBpe,
    Decoder,
    EventBpe,
    FewestTokens,
    GreedyCover,
    LongestMatch,
    MaxMatch,
    MergeBpe,
    Model,
    PreTokenizer,
    RankBpe,
    ScoredBpe,
    SpecialToken,
    Unigram,
    WordPiece,
)
from bpe_cli.stages.events import replayed
from bpe_cli.stages.spelling import BYTE, BYTE_TEXT, NORMAL, UNUSED, USER_DEFINED, to_visible
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.support.core_arguments import bytes_of, wrong_type
from bpe_cli.tokenizer.special_tokens import show_token


def longest_match(
    model: Model,
    special_tokens: Iterable[SpecialToken],
    left_to_right: bool,
    frequencies: Mapping[bytes, int] | Mapping[str, int] | None,
) -> LongestMatch:
    """Return the model that applies a BPE vocabulary by its longest tokens; see ``Tokenizer.with_longest_match``."""
    if not isinstance(model, CharacterBpe):
        raise UsageError(
            f"longest match is another way to apply a vocabulary of BPE over characters, and this is {model.kind}",
            hint='`algorithm="bpe"` trains one',
        )
    given = None if frequencies is None else _by_bytes(frequencies)
    special = {token.content for token in special_tokens}
    for token in given or ():
        if model.vocabulary.id_of(token) is None and token not in special:
            raise UsageError(
                f"the vocabulary has no token {show_token(token)}, which has a frequency",
                hint="name tokens as the vocabulary writes them, with their marks",
            )
    by_id = (model.vocabulary.token(token_id) for token_id in range(model.vocabulary.size))
    counts = None if given is None else array("d", (given.get(each, 0) for each in by_id))
    return LongestMatch(
        model.vocabulary,
        left_to_right,
        model.unk_id,
        model.end_of_word_suffix,
        separate_suffix=model.separate_suffix,
        continuing_subword_prefix=model.continuing_subword_prefix,
        frequencies=counts,
    )


def _by_bytes(frequencies: Mapping[bytes, int] | Mapping[str, int]) -> dict[bytes, int]:
    if not isinstance(frequencies, Mapping):
        raise wrong_type("frequencies", "a dict of numbers by token", frequencies)
    return {bytes_of(token, "token with a frequency"): count for token, count in frequencies.items()}


FEWEST = ", fewest"
"""What is put behind the name of a tokenizer that is applied by the fewest tokens."""

SCORE = -(2.0**-20)
"""What each token scores where the fewest are looked for: a power of two, so that sums are exact, and so small that no
number of tokens weighs as much as an unknown character, which scores 10 less."""


def fewest_tokens(
    model: Model, pre_tokenizer: tuple[PreTokenizer, ...], decoder: tuple[Decoder, ...]
) -> tuple[Unigram | FewestTokens, tuple[PreTokenizer, ...], tuple[Decoder, ...]]:
    """Return a model that finds the fewest tokens, and the stages around it; see ``Tokenizer.with_fewest_tokens``.

    Where tokens have no marks, that is a unigram model with equal scores. It goes from character to character: so the
    bytes of byte-level BPE become visible characters.
    """
    if isinstance(model, (RankBpe, MergeBpe)) or (isinstance(model, EventBpe) and model.byte_level):
        if model.texts:
            raise UsageError("the fewest tokens cannot be found where some tokens are not spelt in bytes")
        vocabulary = Vocabulary.from_tokens(to_visible(token).encode() for token in model.vocabulary.tokens())
        if not any(isinstance(stage, ByteLevel) for stage in pre_tokenizer):
            pre_tokenizer = (*pre_tokenizer, ByteLevel())
        if not any(isinstance(stage, ByteLevelDecoder) for stage in decoder):
            decoder = (ByteLevelDecoder(), *decoder)
        return Unigram(vocabulary, _equal_scores(vocabulary), kinds=_kinds(model)), pre_tokenizer, decoder
    if isinstance(model, WordPiece) or (isinstance(model, CharacterBpe) and _has_marks(model)):
        return _with_marks(model), pre_tokenizer, decoder
    if not isinstance(model, (CharacterBpe, EventBpe, ScoredBpe, Unigram, GreedyCover, MaxMatch)):
        raise UsageError(f"the fewest tokens cannot be found for a model of the kind {model.kind}")
    vocabulary, kinds = _up_to(model.vocabulary, model.unk_id), _kinds(model)
    fewest = Unigram(
        vocabulary,
        _equal_scores(vocabulary),
        model.unk_id,
        model.byte_fallback,
        fuse_unk=model.fuse_unk or isinstance(model, ScoredBpe),
        kinds=kinds and kinds.ljust(vocabulary.size, bytes([NORMAL])),
    )
    return fewest, pre_tokenizer, decoder


def _has_marks(model: CharacterBpe) -> bool:
    return bool(model.continuing_subword_prefix or model.end_of_word_suffix)


def _with_marks(model: WordPiece | CharacterBpe) -> FewestTokens:
    if isinstance(model, WordPiece):
        return FewestTokens(
            model.vocabulary,
            model.unk_id,
            continuing_subword_prefix=model.continuing_subword_prefix,
            max_input_chars_per_word=model.max_input_chars_per_word,
        )
    if model.byte_fallback:
        raise UsageError(
            "the fewest tokens cannot be found where tokens have marks and unknown characters become bytes",
            hint="a vocabulary for the fewest tokens has the one or the other",
        )
    return FewestTokens(
        model.vocabulary,
        model.unk_id,
        model.fuse_unk,
        model.end_of_word_suffix,
        model.separate_suffix,
        model.continuing_subword_prefix,
    )


def _up_to(vocabulary: Vocabulary, unk_id: int | None) -> Vocabulary:
    """Return a vocabulary that has the unknown token's id, if without its text: each id needs a score."""
    missing = 0 if unk_id is None else unk_id + 1 - vocabulary.size
    if missing <= 0:
        return vocabulary
    return Vocabulary(vocabulary.blob, vocabulary.ends + array("I", [len(vocabulary.blob)]) * missing)


def _equal_scores(vocabulary: Vocabulary) -> array[float]:
    return array("d", [SCORE]) * vocabulary.size


def _kinds(model: Model) -> bytes:
    """Return the types of tokens: none is preferred, and byte tokens and those split for good match no text."""
    if isinstance(model, EventBpe):
        removed = replayed(model).removed
        return bytes(UNUSED if token_id in removed else NORMAL for token_id in range(model.vocabulary.size))
    if model.kinds:
        return model.kinds.replace(bytes([USER_DEFINED]), bytes([NORMAL]))
    if not model.byte_fallback:
        return b""
    return bytes(BYTE if BYTE_TEXT.fullmatch(token) else NORMAL for token in model.vocabulary.tokens())
