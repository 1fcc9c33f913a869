"""Check what ``trainers.wordpiece`` makes of its options, and the tokenizers that it gives."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from itertools import accumulate

import pytest

from bpe_cli import _core
from bpe_cli.errors import TrainingError, UsageError
from bpe_cli.stages import BertNormalizer, BertPreTokenizer, WordPiece, WordPieceDecoder
from bpe_cli.teaching.wordpiece import learn
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers import wordpiece
from bpe_cli.trainers.base import Trained
from bpe_cli.trainers.counts import new_counts
from bpe_cli.views.training_steps import training_lines
from tests.needs import needs
from tests.word_piece_examples import COUNTS, HUG_COUNTS, SPECIAL, VOCABULARY

RULES = ("frequency", "score", "tensorflow")


def counted(words: Mapping[str, int]) -> _core.Counts:
    encoded = [word.encode("utf-8", "surrogateescape") for word in words]
    counts = new_counts()
    counts.add_pieces(b"".join(encoded), array("Q", accumulate(map(len, encoded))), array("Q", words.values()))
    return counts


def train(words: Mapping[str, int], vocab_size: int, **settings) -> Trained:
    return wordpiece.TRAINER.train(counted(words), wordpiece.Options(vocab_size, **settings))


def tokens_of(tokenizer: Tokenizer) -> list[str]:
    return [tokenizer.token_bytes(token_id).decode() for token_id in range(tokenizer.vocab_size)]


def test_the_courses_vocabulary() -> None:
    trained = train(COUNTS, 70, rule="score", tie="first-seen", min_frequency=1, initial_alphabet="seen")
    assert tokens_of(trained.tokenizer) == VOCABULARY
    assert trained.summary == ("40 symbols", "25 word pieces", "5 special")
    assert trained.shortfall is None


def test_bert_is_what_comes_out() -> None:
    tokenizer = train(COUNTS, 90, rule="score").tokenizer
    assert tokenizer.normalizer == (BertNormalizer(),)
    assert tokenizer.pre_tokenizer == (BertPreTokenizer(),)
    assert tokenizer.decoder == (WordPieceDecoder(),)
    assert [token.content.decode() for token in tokenizer.special_tokens] == list(SPECIAL)
    assert isinstance(tokenizer.model, WordPiece)
    assert tokenizer.model.unk_id == 1
    assert [tokenizer.model.vocabulary.token(token_id) for token_id in range(5)] == [b""] * 5
    cased = wordpiece.Options(90, lowercase=False, pre_tokenizer=())
    assert wordpiece.TRAINER.front(cased) == wordpiece.Front((BertNormalizer(lowercase=False),), ())


@pytest.mark.parametrize("rule", RULES)
def test_no_known_letter_makes_a_word_unknown(rule) -> None:
    tokens = tokens_of(train({"ab": 20, "c": 20}, 30, rule=rule).tokenizer)
    assert {"a", "b", "c", "##a", "##b", "##c"} <= set(tokens)


def test_hugging_face_forgets_letters_inside() -> None:
    """Their alphabet has letters as they stand at the beginning: "ac" is unknown, though a and c are not."""
    rival = needs("tokenizers")
    model = rival.Tokenizer(rival.models.WordPiece(unk_token="[UNK]"))
    model.pre_tokenizer = rival.pre_tokenizers.Whitespace()
    trainer = rival.trainers.WordPieceTrainer(vocab_size=30, special_tokens=["[UNK]"], show_progress=False)
    model.train_from_iterator(["ab c"] * 3, trainer)
    assert model.encode("ac").tokens == ["[UNK]"]
    tokens = tokens_of(train({"ab": 3, "c": 3}, 30, special_tokens=("[UNK]",), compat="hf").tokenizer)
    assert set(tokens) == set(model.get_vocab())
    assert "##c" in tokens_of(train({"ab": 3, "c": 3}, 30).tokenizer)


@pytest.mark.parametrize("rule", RULES)
def test_stray_bytes_have_no_tokens(rule) -> None:
    tokens = tokens_of(train({"a\udcffb": 20, "ab": 20}, 12, rule=rule).tokenizer)
    assert set(tokens) >= {"a", "##b"}


@pytest.mark.parametrize("rule", RULES)
def test_rare_letters_are_left_out(rule) -> None:
    tokens = tokens_of(train({"ab": 20, "xa": 10, "by": 11}, 13, rule=rule, limit_alphabet=2).tokenizer)
    assert {"a", "b"} <= set(tokens)
    assert not {"x", "y", "##x", "##y"} & set(tokens)


@pytest.mark.parametrize("rule", RULES)
def test_a_special_token_that_is_a_letter_is_one_token(rule) -> None:
    tokenizer = train({"ab": 20, "ba": 20}, 30, rule=rule, special_tokens=("[UNK]", "a", "ab")).tokenizer
    tokens = tokens_of(tokenizer)
    assert tokens[:3] == ["[UNK]", "a", "ab"]
    assert len(set(tokens)) == len(tokens)
    assert tokenizer.model.vocabulary.token(1) == b"a"
    assert tokenizer.model.vocabulary.token(2) == b"", "text becomes a special token only where that is asked for"


def test_a_special_token_of_one_letter_spells_words_beyond_the_alphabet_as_in_hugging_face() -> None:
    """They look letters up in a vocabulary that has the special tokens already."""
    words, special = {"ab": 9, "b": 7, "aé": 3}, ("[UNK]", "é")
    settings = {"special_tokens": special, "limit_alphabet": 2}
    followed = train(words, 20, compat="hf", **settings).tokenizer
    assert tokens_of(followed) == [*special, "a", "b", "##b", "##é", "ab", "aé"]
    assert followed.model.vocabulary.token(1) == "é".encode()
    assert not {"##é", "aé"} & set(tokens_of(train(words, 20, **settings).tokenizer))


def test_tensorflow() -> None:
    words = {word: count * 10 for word, count in COUNTS.items()}
    trained = train(words, 70, compat="tensorflow")
    *_, (threshold, expected) = learn(words, 70, reserved=SPECIAL)
    assert tokens_of(trained.tokenizer) == expected
    assert trained.summary == (f"threshold {threshold}", "5 special")
    near = "the threshold {} is the first tried that gives as many, or up to 5% fewer"
    if 67 <= len(expected) < 70:
        assert trained.shortfall == near.format(trained.summary[0].removeprefix("threshold "))
    elif len(expected) != 70:
        assert trained.shortfall == "no threshold gives as many, or up to 5% fewer"
    else:
        assert trained.shortfall is None


def test_shortfall() -> None:
    trained = train(HUG_COUNTS, 500, rule="score", min_frequency=6)
    assert trained.shortfall == "no pair is left that occurs 6 times or more"
    assert train(HUG_COUNTS, 500, rule="score", min_frequency=0).shortfall == "no pair is left to merge"
    assert train(HUG_COUNTS, 500, compat="tensorflow").shortfall == "no threshold gives as many, or up to 5% fewer"


@pytest.mark.parametrize("rule", RULES)
def test_untrained_is_of_the_same_kind(rule) -> None:
    tokenizer = wordpiece.TRAINER.untrained(wordpiece.Options(99, rule=rule))
    assert tokens_of(tokenizer)[5:] in (["a", "b", "##a", "##b"], ["##a", "##b", "a", "b"])


def test_steps() -> None:
    counts = counted(HUG_COUNTS)
    lines = list(
        training_lines(wordpiece.TRAINER.steps(counts, wordpiece.Options(20, rule="score", initial_alphabet="seen")))
    )
    assert "step 1: ##g + ##s -> ##gs, score 1/20 = 5 / (20 * 5)" in lines
    tried = list(training_lines(wordpiece.TRAINER.steps(counts, wordpiece.Options(20, compat="tensorflow"))))
    assert tried[0].startswith("threshold 11: ")


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"special_tokens": ("[PAD]",)}, "the unknown token '[UNK]' is not a special token"),
        ({"special_tokens": ("[UNK]", "[UNK]")}, "given twice"),
        ({"special_tokens": ("[UNK]", "")}, "needs a text"),
        ({"compat": "rustbpe"}, "no rules called 'rustbpe'"),
        ({"compat": "hf", "rule": "score"}, 'rule=score is not the rule of `compat="hf"`'),
        ({"limit_alphabet": 0}, "at least 1"),
    ],
)
def test_options_that_contradict_each_other(settings, sentence) -> None:
    with pytest.raises(UsageError) as caught:
        wordpiece.Options(99, **settings)
    assert sentence in caught.value.message


def test_what_cannot_be_trained() -> None:
    with pytest.raises(TrainingError, match="nothing to train on"):
        train({}, 99)
    with pytest.raises(TrainingError, match="smaller than its initial tokens: 58 symbols and 5 special"):
        train(COUNTS, 60, rule="score")
    with pytest.raises(UsageError, match="larger than the"):
        train(COUNTS, 1 << 22)
