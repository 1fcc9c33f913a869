"""Find text that a model leaves out: what its vocabulary lacks becomes no token at all where none is unknown."""

from __future__ import annotations

from array import array
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

from bpe_cli.stages import CharacterBpe, EventBpe, FewestTokens, LongestMatch
from bpe_cli.stages.vocabulary import Vocabulary

if TYPE_CHECKING:
    from bpe_cli.tokenizer import Tokenizer

_BYTE_TOKENS = [b"<0x%02X>" % byte for byte in range(256)]


def showing_left_out(tokenizer: Tokenizer) -> Tokenizer | None:
    """Return a tokenizer with unknown tokens for what the model leaves out; None for a model that leaves out nothing.

    Its other tokens need not be the same: a merge may reach across what is left out, and not across an unknown token.

    >>> from bpe_cli.stages import LongestMatch
    >>> from bpe_cli.tokenizer import Tokenizer
    >>> tokenizer = Tokenizer(LongestMatch(Vocabulary.from_tokens([b"a", b"b"])))
    >>> tokenizer.encode("axb"), showing_left_out(tokenizer).encode("axb")
    ([0, 1], [0, 2, 1])
    """
    model = tokenizer.model
    if not isinstance(model, (CharacterBpe, EventBpe, FewestTokens, LongestMatch)) or model.unk_id is not None:
        return None
    vocabulary = model.vocabulary
    falls_back = model.byte_fallback and all(vocabulary.id_of(token) is not None for token in _BYTE_TOKENS)
    if model.byte_level or falls_back:
        return None
    unk_id = next(number for number in count(vocabulary.size) if number not in tokenizer.special_ids)
    unused = array("I", [len(vocabulary.blob)]) * (unk_id + 1 - vocabulary.size)  # the unknown token has no text
    longer = Vocabulary(vocabulary.blob, vocabulary.ends + unused)
    return replace(tokenizer, model=replace(model, vocabulary=longer, unk_id=unk_id))
