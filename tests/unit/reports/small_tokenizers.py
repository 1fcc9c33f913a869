"""Real tokenizers that are small enough to work out by hand: byte-level BPE by the order of the tokens."""

from __future__ import annotations

from bpe_cli.stages import PrefixSpace, RankBpe, SpecialToken, Split
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.tokenizer import Tokenizer

PATTERN = r"\n| ?[^\s]+|\s"


def byte_level(tokens=(), *, name=None, specials=(), prefix_space=False, pattern=PATTERN):
    """Make a tokenizer of tokens in order of rank; every byte not among them follows.

    Args:
        tokens: Their bytes.
        name: What to call it.
        specials: (bytes, id) of each special token.
        prefix_space: Whether a space is put before a text that begins with none.
        pattern: What cuts text into pieces; None for nothing.
    """
    every = [bytes([byte]) for byte in range(256)]
    contents = [*tokens, *(byte for byte in every if byte not in tokens)]
    pre_tokenizer = (PrefixSpace(),) * prefix_space + ((Split(pattern),) if pattern else ())
    return Tokenizer(
        RankBpe(Vocabulary.from_tokens(contents)),
        pre_tokenizer,
        tuple(SpecialToken(content, token_id) for content, token_id in specials),
        name=name,
    )
