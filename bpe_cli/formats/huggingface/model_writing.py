"""Write the models of a ``tokenizer.json`` whose tokens are text: all but byte-level BPE; ``models`` reads them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any

from bpe_cli.errors import FormatError
from bpe_cli.formats import byte_level
from bpe_cli.stages import (
    ALGORITHMS,
    CharacterBpe,
    LongestMatch,
    MaxMatch,
    NGram,
    ScoredBpe,
    Unigram,
    WordLevel,
    WordPiece,
)
from bpe_cli.stages.spelling import NORMAL
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.support.messages import quote
from bpe_cli.tokenizer import Tokenizer


def write(tokenizer: Tokenizer) -> dict[str, Any]:
    """Write a model whose tokens are text.

    Raises:
        FormatError: if two tokens would be written alike, a token is not UTF-8, or scores lack an id.
    """
    model = tokenizer.model
    if isinstance(model, (Unigram, ScoredBpe)):
        return _write_scored(tokenizer, model)
    tokens = _texts(model.vocabulary)
    vocab = byte_level.write_vocabulary(tokenizer, tokens)
    names = {token_id: text for text, token_id in vocab.items()}
    names |= {token.token_id: byte_level.special_text(token) for token in tokenizer.special_tokens}
    if isinstance(model, CharacterBpe):
        content: dict[str, Any] = {
            "type": "BPE",
            "dropout": None,
            "unk_token": _name(names, model.unk_id),
            "continuing_subword_prefix": model.continuing_subword_prefix or None,
            "end_of_word_suffix": model.end_of_word_suffix or None,
            "fuse_unk": model.fuse_unk,
            "byte_fallback": model.byte_fallback,
            "ignore_merges": model.ignore_merges,
        }
        if model.separate_suffix:
            content["type"] = "SuffixBpe"
        if model.whole_runs_of:
            content["whole_runs_of"] = model.whole_runs_of
        return content | {"vocab": vocab, "merges": [(tokens[left], tokens[right]) for left, right, _ in model.merges]}
    if isinstance(model, WordPiece):
        return {
            "type": "WordPiece",
            "unk_token": _name(names, model.unk_id),
            "continuing_subword_prefix": model.continuing_subword_prefix,
            "max_input_chars_per_word": model.max_input_chars_per_word,
            "vocab": vocab,
        }
    if isinstance(model, WordLevel):
        # Hugging Face's library needs a name here, also of a token that is not there.
        missing = next(name for number in count() if (name := "<unk>" * (number + 1)) not in vocab)
        content = {"type": "WordLevel", "vocab": vocab, "unk_token": _name(names, model.unk_id) or missing}
        return content | ({"fuse_unk": True} if model.fuse_unk else {})
    if isinstance(model, LongestMatch):
        content = {
            "type": "LongestMatch",
            "unk_token": _name(names, model.unk_id),
            "left_to_right": model.left_to_right,
            "end_of_word_suffix": model.end_of_word_suffix or None,
        }
        # What is as it always was is not written: older versions read it.
        if not model.separate_suffix:
            content["separate_suffix"] = False
        if model.continuing_subword_prefix:
            content["continuing_subword_prefix"] = model.continuing_subword_prefix
        if model.frequencies is not None:
            content["frequencies"] = [int(count) for count in model.frequencies]
        return content | {"vocab": vocab}
    if isinstance(model, MaxMatch):
        return {"type": "MaxMatch", "unk_token": _name(names, model.unk_id), "vocab": vocab}
    if isinstance(model, NGram):
        return {"type": "NGram", "unk_token": _name(names, model.unk_id), "n": model.n, "vocab": vocab}
    raise FormatError(f"tokenizer.json has no form for {ALGORITHMS[model.kind]}")


def _name(names: Mapping[int, str], token_id: int | None) -> str | None:
    return None if token_id is None else names[token_id]


def _texts(vocabulary: Vocabulary) -> list[str]:
    """Return every token by id as text; ``""`` for an unused id."""
    tokens = [""] * vocabulary.size
    for token_id, token in vocabulary.items():
        try:
            tokens[token_id] = token.decode()
        except UnicodeDecodeError:
            raise FormatError(
                f"the token {quote(token)} (id {token_id}) is not UTF-8, and JSON holds only text"
            ) from None
    return tokens


def _write_scored(tokenizer: Tokenizer, model: Unigram | ScoredBpe) -> dict[str, Any]:
    entries: list[str] = _texts(model.vocabulary)
    for token in tokenizer.special_tokens:
        if token.token_id < len(entries):
            entries[token.token_id] = byte_level.special_text(token)
    if len(model.scores) != len(entries):
        raise FormatError(f"there are {len(model.scores):,} scores for {len(entries):,} tokens")
    if "" in entries:
        raise FormatError(f"id {entries.index('')} has no token, and a list of tokens has no gaps")
    content: dict[str, Any] = {"type": "Unigram" if isinstance(model, Unigram) else "ScoredBpe"}
    content["unk_id"] = model.unk_id
    content["vocab"] = list(zip(entries, model.scores, strict=True))
    content["byte_fallback"] = model.byte_fallback
    unk_id = model.unk_id
    unknown_is_ordinary = unk_id is not None and unk_id < len(entries) and model.vocabulary.token(unk_id)
    if model.kinds or unknown_is_ordinary:
        content["kinds"] = list(model.kinds or bytes([NORMAL]) * len(entries))
    if isinstance(model, Unigram):
        if not model.fuse_unk:
            content["fuse_unk"] = False
        if model.single_precision:
            content["single_precision"] = True
        if model.fixed_point:
            content["fixed_point"] = True
    return content
