"""Tokens laid in the order of their ids: the core against the textbook, and texts without a bound."""

from __future__ import annotations

import random

from bpe_cli.stages import GreedyCover
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.teaching.frontier.greedy_cover import Encoder
from bpe_cli.tokenizer import Tokenizer
from tests.core_model import CoreModel
from tests.counted import at_least, compared


@at_least(300)
def test_it_is_what_the_textbook_encodes() -> None:
    """Few letters make tokens meet: they overlap, repeat and hold each other."""
    chance = random.Random(7)
    covered = 0
    for _ in range(300):
        letters = chance.choice(["ab", "abc", "aé日"])
        sizes = chance.choices([2, 2, 3, 4, 7], k=chance.randint(1, 20))
        chosen = list(dict.fromkeys("".join(chance.choices(letters, k=size)) for size in sizes))
        tokens = [*letters, *chosen]
        core = CoreModel(GreedyCover(Vocabulary.from_tokens(token.encode() for token in tokens)))
        # In the textbook a byte is a letter: another of Latin-1 stands for each.
        as_bytes = str.maketrans(letters, "abc"[: len(letters)])
        encoder = Encoder([token.translate(as_bytes).encode() for token in chosen])
        texts = ["".join(chance.choices(letters, k=chance.randint(1, 30))) for _ in range(10)]
        found = core.encode([text.encode() for text in texts])
        for text, ids in zip(texts, found, strict=True):
            plain = [token.decode() for token in encoder.encode(text.translate(as_bytes).encode())]
            assert [tokens[token_id].translate(as_bytes) for token_id in ids] == plain, (tokens, text)
            covered += len(plain) < len(text)
        compared()
    assert covered > 2000


def test_spans_and_unknown_characters() -> None:
    vocabulary = Vocabulary.from_tokens([b"", b"a", b"ab", "é日".encode()])
    core = CoreModel(GreedyCover(vocabulary, unk_id=0))
    text = "abé日bé".encode()
    assert [(token_id, text[start:end].decode()) for token_id, start, end in core.spans(text)] == [
        (2, "ab"), (3, "é日"), (0, "b"), (0, "é"),
    ]  # fmt: skip


def test_long_runs_take_no_quadratic_time() -> None:
    """All beginnings of a run are tokens: at each place all of them fit, or none does."""
    run = b"a" * 1000
    core = CoreModel(GreedyCover(Vocabulary.from_tokens(run[:length] for length in range(len(run), 0, -1))))
    assert core.ids(b"a" * 400_001) == [0] * 400 + [999]
    half = CoreModel(GreedyCover(Vocabulary.from_tokens([b"a", b"a" * 100_000 + b"b", b"a" * 50_000 + b"b"])))
    assert half.ids(b"a" * 200_000 + b"b" + b"a" * 200_000) == [0] * 100_000 + [1] + [0] * 200_000


def test_threads_and_blocks_change_nothing() -> None:
    tokens = [bytes([byte]) for byte in range(97, 100)] + [b"ab", b"bc", b"abc", b"ca"]
    tokenizer = Tokenizer(GreedyCover(Vocabulary.from_tokens(tokens)))
    chance = random.Random(3)
    texts = ["".join(chance.choices("abc", k=chance.randint(0, 2000))) for _ in range(200)]
    ids = [tokenizer.encode(text) for text in texts]
    assert tokenizer.encode_batch(texts, threads=3) == ids
    assert [tokenizer.decode(each) for each in ids] == texts
