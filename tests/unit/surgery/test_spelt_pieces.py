"""Surgery of tokenizers that spell bytes as visible characters, though their models are not over bytes."""

from __future__ import annotations

from collections import Counter

import pytest

from bpe_cli.stages import ByteLevel, ByteLevelDecoder, CharacterBpe
from bpe_cli.stages.spelling import to_visible
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.support.blocks import Block
from bpe_cli.surgery import count_pieces, prune, replace_tokens
from bpe_cli.surgery.growing import extend
from bpe_cli.surgery.merge_rules import composite
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers import greedtok, mingram, train
from bpe_cli.trainers.counts import new_counts

TEXTS = ["éà"] * 9 + ["xy"] * 2 + ["na\u00efve \u732b"] * 5 + ["xyz éà na"] * 3


def counted(tokenizer, texts=TEXTS):
    counts = new_counts()
    count_pieces(tokenizer, [Block.of([text.encode() for text in texts])], counts)
    return counts


def pairs() -> Tokenizer:
    """Make BPE over visible characters that stand for bytes, which Hugging Face's library has too."""
    texts = [to_visible(bytes([byte])) for byte in range(256)]
    merged = [("Ã", "©"), ("Ã", "ł"), ("Ã©", "Ãł"), ("x", "y"), ("n", "a"), ("xy", "z"), ("Ġ", "n")]
    texts += [left + right for left, right in merged]
    ids = {text: number for number, text in enumerate(texts)}
    merges = Merges.from_pairs([(ids[left], ids[right], ids[left + right]) for left, right in merged])
    model = CharacterBpe(Vocabulary.from_tokens([text.encode() for text in texts]), merges)
    return Tokenizer(model, (ByteLevel(),), decoder=(ByteLevelDecoder(),))


MADE = {
    "mingram": lambda: train(TEXTS, mingram.MinGramOptions(vocab_size=264, pattern=None)),
    "greedtok": lambda: train(TEXTS, greedtok.GreedTokOptions(vocab_size=264, pattern=None)),
    "pairs": pairs,
}


@pytest.fixture(params=MADE)
def tokenizer(request):
    made = MADE[request.param]()
    assert ByteLevel() in made.pre_tokenizer
    assert not made.model.byte_level
    return made


def test_what_goes_first_is_what_the_texts_use_least(tokenizer):
    uses = Counter(token_id for text in TEXTS for token_id in tokenizer.encode(text))
    size = tokenizer.vocab_size
    leaves = composite(tokenizer.model)
    if tokenizer.model.merges is not None:
        leaves -= {part for left, right, _ in tokenizer.model.merges for part in (left, right)}
    first = min(leaves, key=lambda token_id: (uses[token_id], -token_id))
    operation = prune(tokenizer, counted(tokenizer), size - 1)
    assert [old for old, new in operation.old_to_new.items() if new is None] == [first]
    for text in TEXTS:
        assert operation.tokenizer.decode(operation.tokenizer.encode(text)) == text


def test_what_is_replaced_is_what_the_texts_use_least():
    """``éà``, which is spelt as four characters, is the token that the texts use most."""
    made = pairs()
    uses = Counter(token_id for text in TEXTS for token_id in made.encode(text))
    leaves = composite(made.model) - {part for left, right, _ in made.model.merges for part in (left, right)}
    done = replace_tokens(made, 2, counted(made), counted(made, ["qw ws"] * 9))
    gone = [old for old, new in done.old_to_new.items() if new is None]
    assert gone == sorted(sorted(leaves, key=lambda token_id: (uses[token_id], -token_id))[:2])
    assert done.tokenizer.encode("éà") == made.encode("éà")


def test_what_is_learnt_from_texts_is_found_in_them():
    made = pairs()
    grown = extend(made, counted(made), made.vocab_size + 2).tokenizer
    assert sum(len(grown.encode(text)) for text in TEXTS) < sum(len(made.encode(text)) for text in TEXTS)
    assert [grown.decode(grown.encode(text)) for text in TEXTS] == TEXTS
