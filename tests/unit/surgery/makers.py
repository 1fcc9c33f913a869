"""Small corpora and tokenizers to operate on."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from itertools import accumulate

from hypothesis import strategies as st

from bpe_cli import _core
from bpe_cli.stages import ByteFallback, CharacterBpe, Fuse
from bpe_cli.stages.spelling import BYTE_TEXTS
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.support.blocks import Block
from bpe_cli.surgery import count_pieces
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers import bbpe, bpe, train
from bpe_cli.trainers.counts import new_counts

WORDS = st.lists(st.text("abcd", min_size=1, max_size=9), min_size=1, max_size=14)
"""Words of few letters, so that merges meet and overlap."""


def counts_of(pieces: Iterable[bytes]) -> _core.Counts:
    """Count pieces that are cut already."""
    parts = list(pieces)
    counts = new_counts()
    counts.add_pieces(b"".join(parts), array("Q", accumulate(map(len, parts))), None)
    return counts


def counted(tokenizer: Tokenizer, text: str, threads: int = 1) -> _core.Counts:
    """Count a text's pieces by a tokenizer's own stages."""
    counts = new_counts()
    count_pieces(tokenizer, [Block.of([text.encode()])], counts, threads, specials="all")
    return counts


def byte_level(words: Iterable[str], merges: int, **options: object) -> Tokenizer:
    """Train byte-level BPE on words between blanks."""
    size = 256 + merges + len(options.get("special_tokens", ()))  # type: ignore[arg-type]
    return train([" ".join(words)], bbpe.Options(vocab_size=size, pattern="[a-z]+| +", **options))  # type: ignore[arg-type]


def characters(words: Iterable[str], merges: int, **options: object) -> Tokenizer:
    """Train BPE over characters, with a suffix at the ends of words."""
    return train([" ".join(words)], bpe.Options(merges=merges, min_frequency=1, **options))  # type: ignore[arg-type]


def with_byte_tokens(alphabet: str) -> Tokenizer:
    """Make BPE over characters, without merges; what is not in the alphabet becomes the tokens of its bytes."""
    texts = [b"<unk>", *BYTE_TEXTS, *(character.encode() for character in alphabet)]
    model = CharacterBpe(Vocabulary.from_tokens(texts), Merges.from_pairs(()), unk_id=0, byte_fallback=True)
    return Tokenizer(model, decoder=(ByteFallback(), Fuse()))
