"""The core's WordPiece equals the textbook's: three trainers, and the model."""

from __future__ import annotations

import json
import random
from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli import _core
from bpe_cli.stages import WordLevel, WordPiece
from bpe_cli.stages.component_json import core_model
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.support.core_arguments import options_json
from bpe_cli.teaching import wordpiece
from tests.thorough import more
from tests.word_piece_examples import (
    ALPHABET,
    COUNTS,
    HUG_ALPHABET,
    HUG_COUNTS,
    SENTENCE,
    SENTENCE_TOKENS,
    SPECIAL,
    VOCABULARY,
)

TIES = ("first-seen", "most-frequent")


def counted(words: Mapping[str, int] | Mapping[bytes, int]) -> _core.Counts:
    pieces = [word.encode() if isinstance(word, str) else word for word in words]
    counts = _core.Counts(1 << 30)
    counts.add_pieces(
        b"".join(pieces), array("Q", accumulate(len(piece) for piece in pieces)), array("Q", words.values())
    )
    return counts


def cut(blob: bytes, ends: _core.U32Array) -> list[str]:
    return [blob[start:end].decode() for start, end in pairwise([0, *memoryview(ends)])]


def by_likelihood(
    words: Mapping[str, int] | Mapping[bytes, int],
    initial: Sequence[str],
    vocab_size: int,
    tie: str,
    min_frequency: int = 1,
    prefix: str = "##",
) -> tuple[list[tuple[str, str]], list[str], list[int]]:
    """Return merges, tokens and counts; special tokens among the initial ones stand in brackets."""
    training = _core.train_by_likelihood(
        counted(words),
        options_json(
            initial=[token.encode() for token in initial],
            symbols=[number for number, token in enumerate(initial) if token not in SPECIAL],
            continuing_subword_prefix=prefix.encode(),
            vocab_size=vocab_size,
            min_frequency=min_frequency,
            tie=tie,
        ),
    )
    tokens = cut(*training.tokens())
    numbers = iter(memoryview(training.merges).tolist())
    merges = [(tokens[left], tokens[right]) for left, right, _ in zip(*[numbers] * 3, strict=True)]
    return merges, tokens, memoryview(training.counts).tolist()


def from_the_top_down(words: Mapping[str, int], vocab_size: int, **settings) -> list[str]:
    usual = {"reserved": [], "continuing_subword_prefix": "##", "min_frequency": 10, "max_frequency": 10**7,
             "iterations": 4, "max_word_length": 50, "max_alphabet": 1000, "max_words": 10**6}  # fmt: skip
    blob, ends, _ = _core.train_top_down(counted(words), options_json(vocab_size=vocab_size, **usual | settings))
    return cut(blob, ends)


def encode(model: WordPiece | WordLevel, words: Iterable[bytes]) -> list[list[int]]:
    """Encode each word as a piece."""
    stages = _core.Stages(json.dumps({"normalizers": [], "pre_tokenizers": []}))
    vocabulary = model.vocabulary
    pipeline = _core.Encoder(stages, core_model(model), (vocabulary.blob, vocabulary.ends))
    listed = list(words)
    ids, ends = pipeline.encode(b"".join(listed), array("Q", accumulate(map(len, listed))), None, 1)
    return [memoryview(ids)[start:end].tolist() for start, end in pairwise([0, *memoryview(ends)])]


# -- worked examples -------------------------------------------------------------------------------


def test_hugs() -> None:
    merges, tokens, counts = by_likelihood(HUG_COUNTS, HUG_ALPHABET, 10, "first-seen")
    assert merges == [("##g", "##s"), ("h", "##u"), ("hu", "##gs")]
    assert tokens == [*HUG_ALPHABET, "##gs", "hu", "hugs"]
    assert counts == [5, 15, 5]


def test_sentences() -> None:
    merges, tokens, _ = by_likelihood(COUNTS, [*SPECIAL, *ALPHABET], 70, "first-seen")
    assert merges[0] == ("a", "##b")
    assert tokens == VOCABULARY


def test_sentences_encoding() -> None:
    model = WordPiece(Vocabulary.from_tokens(token.encode() for token in VOCABULARY), VOCABULARY.index("[UNK]"))
    found = encode(model, [word.encode() for word in SENTENCE])
    assert [VOCABULARY[token_id] for ids in found for token_id in ids] == SENTENCE_TOKENS
    assert encode(model, [b"HOgging"]) == [[1]]
    assert encode(model, [b"Hugg\xff"]) == [[1]], "a stray byte is an unknown letter"


def test_spans() -> None:
    vocabulary = Vocabulary.from_tokens([b"[UNK]", b"un", "##ß".encode(), b"##able"])
    stages = _core.Stages(json.dumps({"normalizers": [], "pre_tokenizers": []}))
    model = core_model(WordPiece(vocabulary, 0))
    pipeline = _core.Encoder(stages, model, (vocabulary.blob, vocabulary.ends))
    ids, starts, ends = (memoryview(column).tolist() for column in pipeline.spans("unßable".encode(), None))
    assert list(zip(ids, starts, ends, strict=True)) == [(1, 0, 2), (2, 2, 4), (3, 4, 8)]
    ids, starts, ends = (memoryview(column).tolist() for column in pipeline.spans(b"unknown", None))
    assert (ids, starts, ends) == ([0], [0], [7])


# -- equality with the textbook --------------------------------------------------------------------


def random_words(random_: random.Random, letters: str) -> dict[str, int]:
    return {
        "".join(random_.choices(letters, k=random_.randint(1, 7))): random_.randint(1, 5)
        for _ in range(random_.randint(1, 8))
    }


@pytest.mark.parametrize("tie", TIES)
def test_score_equals_the_textbook(tie) -> None:
    random_ = random.Random(1)
    for number in range(more(300, 1000)):
        words = random_words(random_, random_.choice(["ab", "abc", "aß#", "a"]))
        prefix = random_.choice(["##", "##", "", "#", "a"])
        minimum = random_.choice([1, 1, 2, 4])
        training = wordpiece.train(words, random_.randint(3, 30), tie=tie, min_frequency=minimum, prefix=prefix)
        steps = list(training)
        merges, tokens, counts = by_likelihood(
            words, training.initial, training.vocab_size, tie, min_frequency=minimum, prefix=prefix
        )
        case = (number, words, prefix, minimum, training.vocab_size)
        assert merges == [step.pair for step in steps], case
        assert counts == [step.count for step in steps], case
        assert tokens == training.tokens(), case


@pytest.mark.parametrize("tie", TIES)
def test_score_equals_the_textbook_outside_the_alphabet(tie) -> None:
    random_ = random.Random(2)
    for _ in range(200):
        words = random_words(random_, "abcd")
        alphabet = random_.sample(["a", "b", "c", "d", "##a", "##b", "##c", "##d"], 5)
        training = wordpiece.train(words, 30, special=SPECIAL, alphabet=alphabet, tie=tie)
        _, tokens, _ = by_likelihood(words, training.initial, 30, tie)
        assert tokens == training.tokens()


def test_score_of_a_larger_corpus_equals_the_textbook(corpora) -> None:
    words: dict[str, int] = {}
    for word in (corpora / "misc" / "markdown.md").read_text(encoding="utf-8").split()[:250]:
        words[word] = words.get(word, 0) + 1
    for tie in TIES:
        training = wordpiece.train(words, 150, tie=tie, min_frequency=2)
        assert by_likelihood(words, training.initial, 150, tie, min_frequency=2)[1] == training.tokens()


def test_top_down_equals_the_textbook() -> None:
    random_ = random.Random(3)
    for number in range(more(300, 1000)):
        words = random_words(random_, random_.choice(["ab", "abc", "aß#"]))
        size = random_.randint(3, 40)
        prefix = random_.choice(["##", "##", "", "#", "a"])
        settings = {
            "reserved": random_.choice([[], ["[UNK]"], ["[UNK]", "a", "ab"]]),
            "min_frequency": random_.randint(1, 4),
            "max_frequency": random_.choice([6, 10**7]),
            "iterations": random_.choice([1, 2, 4]),
            "max_word_length": random_.choice([4, 50]),
            "max_alphabet": random_.choice([2, 1000]),
            "max_words": random_.choice([3, 1000]),
        }
        *_, (_, expected) = wordpiece.learn(words, size, prefix=prefix, **settings)
        settings["reserved"] = [token.encode() for token in settings["reserved"]]
        found = from_the_top_down(words, size, continuing_subword_prefix=prefix, **settings)
        assert found == expected, (number, words, size, prefix, settings)


def test_top_down_of_a_larger_corpus_equals_the_textbook(corpora) -> None:
    words: dict[str, int] = {}
    for word in (corpora / "misc" / "markdown.md").read_text(encoding="utf-8").split()[:300]:
        words[word] = words.get(word, 0) + 1
    for size in (120, 200):
        *_, (_, expected) = wordpiece.learn(words, size, min_frequency=1)
        assert from_the_top_down(words, size, min_frequency=1) == expected


@given(
    st.lists(st.text("ab#é你", min_size=1, max_size=5), min_size=1, max_size=20, unique=True),
    st.lists(st.text("ab#é你", min_size=1, max_size=12), min_size=1, max_size=30),
    st.sampled_from(["##", "", "#", "a", "你"]),
    st.integers(1, 12),
)
def test_model_equals_the_textbook(tokens, words, prefix, longest) -> None:
    listed = ["[UNK]", *tokens]
    vocabulary = Vocabulary.from_tokens(token.encode() for token in listed)
    model = WordPiece(vocabulary, 0, prefix, max_input_chars_per_word=longest)
    found = encode(model, [word.encode() for word in words])
    expected = [wordpiece.encode_word(word, set(listed), prefix=prefix, max_characters=longest) for word in words]
    assert [[listed[token_id] for token_id in ids] for ids in found] == expected


# -- edges -----------------------------------------------------------------------------------------


def test_word_level() -> None:
    vocabulary = Vocabulary.from_tokens([b"the", b"", b"cat"])
    assert encode(WordLevel(vocabulary, 1), [b"cat", b"the", b"cats", b"\xff"]) == [[2], [0], [1], [1]]
    with pytest.raises(ValueError, match=r'the piece "cats" has no token'):
        encode(WordLevel(vocabulary), [b"the", b"cats"])


def test_stray_bytes_are_no_symbols() -> None:
    words = {b"a\xffb": 1, b"\xe4\xbdab": 1}
    merges, _, _ = by_likelihood(words, ["a", "##a", "##b"], 99, "first-seen")
    assert merges == [("a", "##b"), ("##a", "##b")]


def test_progress_and_its_errors() -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    seen: list[tuple[int, int]] = []
    settings = {"initial": [b"a", b"##b"], "symbols": [0, 1], "continuing_subword_prefix": b"##", "vocab_size": 3,
                "min_frequency": 1, "tie": "first-seen"}  # fmt: skip
    _core.train_by_likelihood(counted({"ab": 1}), options_json(**settings), lambda *report: seen.append(report))
    assert seen == [(2, 3), (3, 3)]
    with pytest.raises(KeyboardInterrupt):
        _core.train_by_likelihood(counted({"ab": 1}), options_json(**settings), stop)
    with pytest.raises(ValueError, match="the option tie cannot be read: unknown variant `none`, expected"):
        _core.train_by_likelihood(counted({"ab": 1}), options_json(**settings | {"tie": "none"}))


def test_huge_counts_are_compared_exactly() -> None:
    """As floats, these two scores are the same."""
    words = {"ab": (1 << 60) + 1, "a": 1, "cd": 1 << 60, "c": 1}
    merges, _, _ = by_likelihood(words, ["a", "c", "##b", "##d"], 5, "first-seen")
    expected = wordpiece.train(words, 5, tie="first-seen").merges()
    assert merges == expected == [("c", "##d")]
