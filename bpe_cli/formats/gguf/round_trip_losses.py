"""Find what a tokenizer lacks that was written as GGUF and read again."""

from __future__ import annotations

from array import array
from dataclasses import replace

from bpe_cli.errors import FormatError
from bpe_cli.formats import token_flags
from bpe_cli.formats.features import EDGES
from bpe_cli.formats.gguf import fixed_point
from bpe_cli.stages import BertNormalizer, Charsmap, MergeBpe, Normalizer, ScoredBpe, Unigram, WordPiece
from bpe_cli.stages.spelling import UNUSED, USER_DEFINED
from bpe_cli.support.messages import quote
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.post_processor import process


def changed(tokenizer: Tokenizer, again: Tokenizer) -> dict[str, str]:
    """Return what has changed that changes ids or text: feature -> how a message calls it.

    The split is not looked at: whoever writes it knows whether it has a name.

    Raises:
        FormatError: if the model has become another.
    """
    _compare_models(tokenizer, again)
    lost = {}
    if _normalizer(tokenizer) != _normalizer(again):
        lost["normalizer"] = "the normalizer as it is (llama.cpp has its own for each model)"
    if tokenizer.decoder != again.decoder:
        lost["decoder"] = "the decoder as it is (llama.cpp has its own for each model)"
    if isinstance(tokenizer.model, Unigram) and tokenizer.model.single_precision:
        lost[EDGES] = "in which precision scores are added (llama.cpp adds in double, SentencePiece in single)"
    if _around(tokenizer) != _around(again):
        lost["post-processor"] = "the post-processor (llama.cpp puts at most one token on each side of a text)"
    kinds = tokenizer.model.kinds
    flags = _flags(tokenizer, again)
    if flags is not None:
        lost["token-flags"] = flags
    elif USER_DEFINED in kinds:
        lost["token-flags"] = "that pieces of a user's own are parts of words (llama.cpp cuts the text at them)"
    elif UNUSED in kinds and not tokenizer.model.fixed_point:
        lost["token-flags"] = "that unused pieces are never tokens"
    return lost


def _flags(tokenizer: Tokenizer, again: Tokenizer) -> str | None:
    """Name the tokens that llama.cpp looks for in another way; None where there is none."""
    ours, theirs = ({token.token_id: token for token in token_flags.effective(each)} for each in (tokenizer, again))
    more = [ours[number].content for number in ours if number not in theirs]
    fewer = [theirs[number].content for number in theirs if number not in ours]
    reasons = [f"llama.cpp takes {token_flags.shown(fewer)} for special"] if fewer else []
    reasons += [f"llama.cpp takes {token_flags.shown(more)} for ordinary"] if more else []
    flags = token_flags.differences((ours[number], theirs[number]) for number in ours if number in theirs)
    return token_flags.named(flags, *reasons) if flags or reasons else None


def _normalizer(tokenizer: Tokenizer) -> tuple[Normalizer, ...]:
    """Return the normalizer with all that is equal to something simpler written so."""
    stages: list[Normalizer] = []
    for stage in tokenizer.normalizer:
        if isinstance(stage, Charsmap):
            if not stage.precompiled_charsmap:
                continue
            stage = replace(stage, user_defined=tuple(sorted(stage.user_defined)))
        if isinstance(stage, BertNormalizer) and stage.strip_accents is None:
            stage = replace(stage, strip_accents=stage.lowercase)
        stages.append(stage)
    return tuple(stages)


def _around(tokenizer: Tokenizer) -> object:
    """Return what a post-processor makes of a text, and of a pair; None where it cannot be told."""
    try:
        single = process(tokenizer.post_processor, [-1])
        pair = process(tokenizer.post_processor, [-1], [-2])
    except FormatError:
        return None
    return single.ids, single.type_ids, pair.ids, pair.type_ids


def _compare_models(tokenizer: Tokenizer, again: Tokenizer) -> None:
    ours, theirs = tokenizer.model, again.model
    special = tokenizer.special_ids | again.special_ids  # what is special to one alone, ``_flags`` tells
    before, after = (
        {number: text for number, text in model.vocabulary.items() if number not in special} for model in (ours, theirs)
    )
    if before != after:
        number = min(number for number in before.keys() | after.keys() if before.get(number) != after.get(number))
        raise FormatError(
            f"a GGUF file cannot hold the token {quote(before.get(number, b''))} (id {number}): it would come back as "
            f"{quote(after.get(number, b''))}"
        )
    if isinstance(ours, MergeBpe) and isinstance(theirs, MergeBpe):
        if ours.texts != theirs.texts:
            raise FormatError("llama.cpp does not read the same entries as only decoded")
        same = ours.merges == theirs.merges and theirs.codebook in (None, ours.codebook)
    elif isinstance(ours, ScoredBpe) and isinstance(theirs, ScoredBpe):
        same = (ours.unk_id, ours.byte_fallback) == (theirs.unk_id, theirs.byte_fallback)
    elif isinstance(ours, Unigram) and isinstance(theirs, Unigram) and ours.fixed_point:
        same = theirs.fixed_point and fixed_point.same(ours, theirs)
    elif isinstance(ours, Unigram) and isinstance(theirs, Unigram):
        same = (ours.unk_id, ours.byte_fallback, ours.fuse_unk) == (theirs.unk_id, theirs.byte_fallback, True)
        same = same and array("f", ours.scores) == array("f", theirs.scores)[: len(ours.scores)]
    elif isinstance(ours, WordPiece) and isinstance(theirs, WordPiece):
        same = (ours.unk_id, ours.max_input_chars_per_word) == (theirs.unk_id, theirs.max_input_chars_per_word)
    else:
        same = theirs.kind == "bpe-merges"  # of ranks
    if not same:
        raise FormatError(
            "llama.cpp has no model that does as this one: it has other rules for unknown characters or bytes",
            hint="tokenizer.json can hold it",
        )
