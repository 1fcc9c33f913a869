"""Check the unigram trainer: the textbook by its oracle, expectation maximisation by its invariants."""

from __future__ import annotations

from array import array
from collections import Counter
from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli import _core
from bpe_cli.errors import TrainingError, UsageError
from bpe_cli.teaching import unigram as teaching
from bpe_cli.teaching.steps import Pruning
from bpe_cli.trainers import unigram
from bpe_cli.trainers.base import Trained
from bpe_cli.trainers.counts import new_counts
from bpe_cli.trainers.unigram import Options
from bpe_cli.views.training_steps import training_lines

WORDS = {"▁hug": 10, "▁pug": 5, "▁pun": 12, "▁bun": 4, "▁hugs": 5}


def counted(words: dict[str, int]) -> _core.Counts:
    counts = new_counts()
    pieces = [word.encode() for word in words]
    counts.add_pieces(b"".join(pieces), array("Q", accumulate(map(len, pieces))), array("Q", words.values()))
    return counts


def tokens_of(trained: Trained) -> dict[str, float]:
    model = trained.tokenizer.model
    assert isinstance(model, unigram.Unigram)
    return {token.decode(): model.scores[token_id] for token_id, token in model.vocabulary.items()}


def test_gives_a_tokenizer() -> None:
    options = Options(vocab_size=14, special_tokens=("<s>", "</s>"))
    trained = unigram.TRAINER.train(counted(WORDS), options)
    tokenizer = trained.tokenizer
    assert [(token.token_id, token.content) for token in tokenizer.special_tokens] == [
        (0, b"<unk>"),
        (1, b"<s>"),
        (2, b"</s>"),
    ]
    tokens = tokens_of(trained)
    assert {"▁", *"hugpnbs"} <= tokens.keys()
    assert tokenizer.vocab_size <= 14
    assert unigram.TRAINER.untrained(options).vocab_size == 3
    assert trained.summary[0] == "8 characters"


def test_bytes_come_before_what_is_learnt() -> None:
    trained = unigram.TRAINER.train(counted(WORDS), Options(vocab_size=270, byte_fallback=True))
    model = trained.tokenizer.model
    assert isinstance(model, unigram.Unigram)
    assert model.vocabulary.token(1) == b"<0x00>"
    assert model.kinds[:2] == bytes([2, 6])
    assert model.kinds[257] == 1


def test_threads_change_nothing() -> None:
    options = Options(vocab_size=12)
    first = tokens_of(unigram.TRAINER.train(counted(WORDS), options, threads=1))
    assert tokens_of(unigram.TRAINER.train(counted(WORDS), options, threads=3)) == first


def test_progress_reaches_its_end() -> None:
    calls: list[tuple[int, int]] = []
    unigram.TRAINER.train(counted(WORDS), Options(vocab_size=12), lambda done, wanted: calls.append((done, wanted)))
    assert calls == sorted(calls)
    assert calls[-1][0] == calls[-1][1]

    def stop(_done: int, _wanted: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        unigram.TRAINER.train(counted(WORDS), Options(vocab_size=12), stop)


def test_refuses_contradictions() -> None:
    with pytest.raises(TrainingError, match="no text"):
        unigram.TRAINER.train(new_counts(), Options(vocab_size=12))
    with pytest.raises(TrainingError, match="smaller than its 8 characters"):
        unigram.TRAINER.train(counted(WORDS), Options(vocab_size=5))
    special: list[dict[str, object]] = [{"special_tokens": ("<unk>",)}, {"special_tokens": ("",)}]
    unused: list[dict[str, object]] = [{"split_digits": True}, {"character_coverage": 0.9}, {"sub_iterations": 1}]
    for wrong in unused:
        with pytest.raises(UsageError, match=f"{next(iter(wrong))} has no effect with rule=textbook"):
            Options(vocab_size=9, rule="textbook", **wrong)  # type: ignore[arg-type]
    for wrong in [{"rule": "bpe"}, {"input_sentence_size": 0}, *special]:
        with pytest.raises(UsageError):
            Options(vocab_size=9, **wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="the model has a token '<unk>' of its own"):
        Options(vocab_size=9, special_tokens=("<unk>",))
    with pytest.raises(UsageError, match="the model has a token '<0x41>' of its own"):
        Options(vocab_size=300, special_tokens=("<0x41>",), byte_fallback=True)


@given(
    st.dictionaries(st.text("abc", min_size=1, max_size=6), st.integers(1, 9), min_size=1, max_size=12),
    st.integers(4, 20),
    st.integers(3, 40),
)
def test_the_textbook_is_the_oracle(words: dict[str, int], vocab_size: int, initial: int) -> None:
    options = Options(vocab_size=vocab_size, rule="textbook", seed_size=initial)
    *_, expected = teaching.train(words, vocab_size - 1, initial)
    found = tokens_of(unigram.TRAINER.train(counted(words), options))
    assert list(found) == list(expected)
    costs = teaching.costs(expected)
    assert all(-found[token] == cost for token, cost in costs.items())


def test_the_textbook_tells_its_steps() -> None:
    lines = list(training_lines(unigram.TRAINER.steps(counted(WORDS), Options(vocab_size=12, rule="textbook"))))
    assert lines[0].startswith("31 characters and substrings to begin with")
    assert lines.index("") == len(list(teaching.train(WORDS, 11)))


@pytest.mark.parametrize(
    ("words", "refused"),
    [
        ({"ab" * 100 + "c": 1}, "is for words of up to 200 characters, and one has 201"),
        (
            {f"{number:09}{'ab' * 25}{number:09}cdefg": 1 for number in range(200)},
            r"would look up \d+,\d{3},\d{3} parts of words in its first round",
        ),
    ],
)
def test_steps_of_words_too_long(words: dict[str, int], refused: str) -> None:
    options = Options(vocab_size=290, rule="textbook")
    with pytest.raises(UsageError, match=refused):
        unigram.TRAINER.steps(counted(words), options)
    assert unigram.TRAINER.train(counted(words), options).tokenizer.vocab_size <= 290


def test_steps_of_a_long_word() -> None:
    options = Options(vocab_size=39, rule="textbook", seed_size=40)
    steps = unigram.TRAINER.steps(counted({"ab" * 100: 1}), options)
    assert isinstance(steps, Pruning)
    assert [len(tokens) for tokens in steps.rounds] == [40, 36]


def test_a_larger_vocabulary_says_the_corpus_better(corpora: Path) -> None:
    text = (corpora / "languages" / "en.txt").read_text("utf-8")
    words = Counter(f"▁{word}" for word in text.split())
    costs = []
    for size in (150, 300, 600):
        tokens = tokens_of(unigram.TRAINER.train(counted(words), Options(vocab_size=size)))
        model = {token: -score for token, score in tokens.items()}
        found = [(teaching.encode(word, model, 0.0)[1], count) for word, count in words.items()]
        costs.append(sum(count * cost for cost, count in found if cost is not None))
    assert costs[0] > costs[1] > costs[2]
