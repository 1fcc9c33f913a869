"""Small tokenizers that the tests of all formats use."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from bpe_cli.stages import MergeBpe, RankBpe, SpecialToken, Split
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.stages.spelling import ALPHABET_ORDER
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer

GPT2 = Split(PATTERNS["gpt2"].regex)
WORDS = (("h", "e"), ("l", "l"), ("he", "ll"), ("hell", "o"), (" ", "hello"), (" ", "w"), ("o", "!"))

Maker = Callable[..., Tokenizer]


def _build(
    merges: Sequence[tuple[str, str]] = WORDS,
    *,
    alphabet: bytes = ALPHABET_ORDER,
    specials_first: Sequence[str] = (),
    specials: Sequence[SpecialToken] = (),
    pre_tokenizer: tuple[object, ...] = (GPT2,),
    ignore_merges: bool = False,
    ranks: bool = False,
    **fields: object,
) -> Tokenizer:
    """Make a tokenizer as a trainer would: special tokens, the alphabet, then the merges' products."""
    tokens = [b""] * len(specials_first) + [bytes([byte]) for byte in alphabet]
    ids = {token: number for number, token in enumerate(tokens) if token}
    triples = []
    for left, right in merges:
        product = (left + right).encode()
        ids.setdefault(product, len(ids) + len(specials_first))
        triples.append((ids[left.encode()], ids[right.encode()], ids[product]))
    tokens += list(ids)[len(alphabet) :]
    vocabulary = Vocabulary.from_tokens(tokens)
    added = (*(SpecialToken(text.encode(), number) for number, text in enumerate(specials_first)), *specials)
    model = (
        RankBpe(vocabulary) if ranks else MergeBpe(vocabulary, Merges.from_pairs(triples), ignore_merges=ignore_merges)
    )
    return Tokenizer(model, pre_tokenizer, added, **fields)


@pytest.fixture(scope="session")
def make() -> Maker:
    """Make a small tokenizer."""
    return _build


@pytest.fixture(scope="session")
def tiny(make: Maker) -> Tokenizer:
    """Twelve tokens or so, with special tokens before and after: for what is tried thousands of times."""
    return make(
        (("a", "b"), ("ab", "c"), (" ", "a")),
        alphabet=b"abc\xe9 !",
        specials_first=["<s>"],
        specials=[SpecialToken(b"<added>", 10, special=False), SpecialToken("«fin»".encode(), 11)],
        post_processor='{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":false,"use_regex":true}',
        unicode_version="16.0.0",
    )
