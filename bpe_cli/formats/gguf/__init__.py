"""Read and write llama.cpp's GGUF files: the tokenizer in their metadata; tensors are never touched.

A tokenizer that is read follows what llama.cpp makes of the file; docs/reference/formats/gguf.md lists where it does
otherwise than the models' own tokenizers. What is written is a file of metadata alone, as llama.cpp's own
vocabulary files are. Keys that are no tokenizer's, such as ``general.*``, are carried along.
"""

from __future__ import annotations

from array import array
from dataclasses import replace
from pathlib import Path

from bpe_cli.errors import FormatError
from bpe_cli.formats.added_tokens import effective_tokens, flag_differences, name_flags, name_tokens
from bpe_cli.formats.features import EDGES, losses, refuse_losses
from bpe_cli.formats.gguf import fixed_point
from bpe_cli.formats.gguf.container import MAGIC, Metadata, parse, read, write
from bpe_cli.formats.gguf.to_tokenizer import tokenizer_of
from bpe_cli.formats.gguf.tokens import stands_for_itself
from bpe_cli.formats.gguf.writing import HOLDER, HOLDS, MODELS, Keys, keys_of
from bpe_cli.stages import BertNormalizer, Charsmap, MergeBpe, Normalizer, ScoredBpe, Unigram, WordPiece
from bpe_cli.stages.spelling import UNUSED, USER_DEFINED
from bpe_cli.support.messages import quote
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.post_processor import process
from bpe_cli.tokenizer.usage import Origin

NAME = "gguf"
FILES = ("*.gguf",)
__all__ = ["FILES", "HOLDS", "MODELS", "NAME", "dump", "load", "loads", "sniff"]


WRITTEN = "what was written"

PHI_3 = "phi-3"
"""The name of a model whose special tokens take the whitespace behind them along, to llama.cpp."""


def sniff(head: bytes) -> bool:
    """Return whether a file begins as GGUF files do."""
    return head.startswith(MAGIC) and len(head) >= 24


def load(path: Path, pattern: str | None = None) -> Tokenizer:
    """Read the tokenizer of a GGUF file; for byte-level BPE an expression can replace the split that it names."""
    return _tokenizer(read(path), pattern)


def loads(data: bytes, source: str = "GGUF", pattern: str | None = None) -> Tokenizer:
    """Read the content of a GGUF file."""
    return _tokenizer(parse(data, source), pattern)


def _tokenizer(metadata: Metadata, pattern: str | None) -> Tokenizer:
    tokenizer = tokenizer_of(metadata, pattern)
    facts = tuple((key, metadata.shown(key)) for key in metadata.fields if key.startswith(("tokenizer.", "general.")))
    carried = []
    for key in metadata.fields:
        value = None if stands_for_itself(key, metadata.text("tokenizer.ggml.model")) else metadata.encoded(key)
        if value is not None:
            carried.append((key, value))
    origin = Origin(NAME, (("GGUF.version", metadata.version), *facts), tuple(carried))
    return replace(tokenizer, origin=origin)


def dump(tokenizer: Tokenizer, allow_loss: frozenset[str] = frozenset()) -> dict[str, bytes]:
    """Write a tokenizer as a GGUF file of version 3 without tensors.

    What is written is read back before it is given, and compared: what would come back otherwise is a loss that is
    named, or an error.
    """
    keys = keys_of(tokenizer)
    content, again = _written(keys)
    lost = losses(keys.tokenizer, HOLDS) | keys.edges | changed(keys.tokenizer, again) | keys.lost
    refuse_losses(lost, allow_loss, HOLDER)
    return {"": content}


def _written(keys: Keys) -> tuple[bytes, Tokenizer]:
    """Return the file, and the tokenizer that comes back from it.

    llama.cpp goes by a model's name for which tokens take the whitespace behind them along; a name that
    a file brought is left alone.
    """
    content = write(keys.fields())
    again = tokenizer_of(parse(content, WRITTEN))
    stripping = _taking_white_space(keys.tokenizer)
    if stripping and stripping != _taking_white_space(again) and not keys.has_model_name:
        keys.model_name = PHI_3
        named = write(keys.fields())
        renamed = tokenizer_of(parse(named, WRITTEN))
        if stripping == _taking_white_space(renamed):
            return named, renamed
    return content, again


def _taking_white_space(tokenizer: Tokenizer) -> set[int]:
    """Return the ids of the tokens that take the whitespace behind them along."""
    return {token.token_id for token in tokenizer.special_tokens if token.rstrip}


def changed(tokenizer: Tokenizer, again: Tokenizer) -> dict[str, str]:
    """Return the changed features that change ids or text: feature -> its name in messages.

    The split is not looked at: whoever writes it knows whether it has a name.
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
    elif USER_DEFINED in kinds and isinstance(tokenizer.model, ScoredBpe):
        lost["token-flags"] = "that user-defined pieces are parts of words (llama.cpp cuts the text at them)"
    elif USER_DEFINED in kinds:
        lost["token-flags"] = "that user-defined pieces are always found (llama.cpp takes them for ordinary ones)"
    elif UNUSED in kinds and not tokenizer.model.fixed_point:
        lost["token-flags"] = "that unused pieces are never tokens"
    return lost


def _flags(tokenizer: Tokenizer, again: Tokenizer) -> str | None:
    """Name the tokens that llama.cpp matches differently, besides pieces of a user's own; None if there are none."""
    ours, theirs = ({token.token_id: token for token in effective_tokens(each)} for each in (tokenizer, again))
    for number, kind in enumerate(tokenizer.model.kinds):
        if kind == USER_DEFINED and number in theirs and number not in ours and not theirs[number].special:
            del theirs[number]
    more = [ours[number].content for number in ours if number not in theirs]
    fewer = [theirs[number].content for number in theirs if number not in ours]
    reasons = [f"llama.cpp takes {name_tokens(fewer)} for special"] if fewer else []
    reasons += [f"llama.cpp takes {name_tokens(more)} for ordinary"] if more else []
    flags = flag_differences((ours[number], theirs[number]) for number in ours if number in theirs)
    return name_flags(flags, *reasons) if flags or reasons else None


def _normalizer(tokenizer: Tokenizer) -> tuple[Normalizer, ...]:
    """Return the normalizer in its simplest equal form."""
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
            raise FormatError("llama.cpp would not take the same tokens for ones that are only decoded")
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
            "llama.cpp has no model that works like this one: its rules for unknown characters or bytes differ",
            hint="tokenizer.json can hold it",
        )
