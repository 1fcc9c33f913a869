"""Characters, words, n-grams and bytes: what is counted gets numbers, and nothing is merged."""

from __future__ import annotations

import json
import random
import string
from collections import Counter

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli import formats
from bpe_cli.errors import TrainingError, UsageError
from bpe_cli.stages import BertPreTokenizer, FixedLength, Lowercase, Split, Whitespace, WhitespaceSplit
from bpe_cli.teaching.steps import by_count
from bpe_cli.trainers.counts import new_counts
from bpe_cli.trainers.unmerged import Byte, ByteOptions, Char, CharOptions, Ngram, NgramOptions, Word, WordOptions
from bpe_cli.views.training_steps import training_lines
from tests.counted import at_least, compared
from tests.oracle import characters as textbook
from tests.unit.trainers.staged_runs import counted, counted_by, decode, encode, pipeline_of, spans, tokens

SENTENCE = "我们相信AI可以让世界变得更美好"

# The 65 characters of the lecture's Shakespeare.
SHAKESPEARE = "\n !$&',-.3:;?" + string.ascii_letters

TEXTS = st.text("abc 你é\udcff\n", max_size=30)

# -- characters ------------------------------------------------------------------------------------


def test_characters_of_the_sentence() -> None:
    options = CharOptions(unk_token=None)
    trained = Char().train(counted(SENTENCE), options)
    assert sorted(tokens(trained.tokenizer)) == sorted({*SENTENCE})
    assert trained.tokenizer.pre_tokenizer == (FixedLength(1),)
    pipeline = pipeline_of(trained.tokenizer)
    assert (
        "/".join(text.decode() for _, text in spans(pipeline, SENTENCE))
        == "我/们/相/信/A/I/可/以/让/世/界/变/得/更/美/好"
    )


def test_table_of_the_lecture() -> None:
    assert len(SHAKESPEARE) == 65
    trained = Char().train(counted(SHAKESPEARE[::-1]), CharOptions(order="sorted", unk_token=None))
    ids = tokens(trained.tokenizer)
    assert "".join(ids) == "".join(sorted(SHAKESPEARE))
    assert [ids[each] for each in "hii there"] == [46, 47, 47, 1, 58, 46, 43, 56, 43]
    pipeline = pipeline_of(trained.tokenizer)
    assert encode(pipeline, "hii there") == [46, 47, 47, 1, 58, 46, 43, 56, 43]
    assert decode(pipeline, trained.tokenizer, encode(pipeline, "hii there")) == b"hii there"


def test_top_characters_and_the_unknown_one() -> None:
    counts = counted("aaabbc")
    assert tokens(Char().train(counts, CharOptions(vocab_size=3)).tokenizer) == {"a": 1, "b": 2}
    assert tokens(Char().train(counts, CharOptions(vocab_size=3, order="sorted")).tokenizer) == {"a": 1, "b": 2}
    assert tokens(Char().train(counts, CharOptions(min_frequency=3)).tokenizer) == {"a": 1}
    special = CharOptions(special_tokens=("<pad>", "<unk>"))
    trained = Char().train(counts, special)
    assert trained.tokenizer.model.unk_id == 1
    assert tokens(trained.tokenizer) == {"a": 2, "b": 3, "c": 4}
    assert trained.summary == ("3 characters", "2 special")
    assert Char().train(counts, CharOptions(vocab_size=9)).shortfall is not None


@pytest.mark.parametrize(("coverage", "expected"), [(1.0, "abc"), (0.9, "ab"), (0.91, "abc"), (0.8, "a"), (0.1, "a")])
def test_coverage_is_reckoned_without_rounding(coverage, expected) -> None:
    trained = Char().train(counted("aaaaaaaabc"), CharOptions(coverage=coverage))
    assert "".join(tokens(trained.tokenizer)) == expected
    assert textbook.covering(Counter("aaaaaaaabc"), str(coverage)) == [*expected]


def test_character_that_is_a_special_token_has_one_id() -> None:
    trained = Char().train(counted("ab_"), CharOptions(special_tokens=("_",)))
    assert tokens(trained.tokenizer) == {"a": 2, "b": 3}


def test_stray_bytes_are_unknown() -> None:
    trained = Char().train(counted_by(Char().front(CharOptions()), [b"a\xff\xe4\xbd"]), CharOptions())
    assert [*tokens(trained.tokenizer)] == ["a"]
    assert trained.summary == ("1 character", "1 special", "3 left out that are not UTF-8")
    assert trained.tokenizer.encode(b"a\xffa") == [1, 0, 1]


def test_stray_bytes_take_no_room() -> None:
    corpus = [b"\xff \xff \xff \xfe \xfe \xfe c b b"]
    options = CharOptions(vocab_size=3, order="sorted")
    assert [*tokens(Char().train(counted_by(Char().front(options), corpus), options).tokenizer)] == [" ", "b"]
    words = WordOptions(vocab_size=3, rule="space")
    assert [*tokens(Word().train(counted_by(Word().front(words), corpus), words).tokenizer)] == ["b", "c"]
    with pytest.raises(TrainingError, match="too small for the 3 characters"):
        Char().train(counted_by(Char().front(options), corpus), CharOptions(vocab_size=2, unk_token=None))
    with pytest.raises(TrainingError, match="nothing in UTF-8 that is frequent enough"):
        Word().train(counted_by(Word().front(words), [b"a\xff"]), WordOptions())


def test_vocabulary_without_unknown_holds_all_characters() -> None:
    with pytest.raises(TrainingError, match="too small for the 3 characters") as caught:
        Char().train(counted("abc"), CharOptions(vocab_size=2, unk_token=None))
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("ask for 3 or more")


# -- words -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "stage"),
    [
        (WordOptions(), Whitespace()),
        (WordOptions(rule="whitespace"), Whitespace()),
        (WordOptions(rule="punctuation"), BertPreTokenizer()),
        (WordOptions(rule="space"), WhitespaceSplit()),
        (WordOptions(rule="pattern", pattern="a+"), Split("a+")),
        (WordOptions(pattern="a+"), Split("a+")),
    ],
)
def test_rule_is_a_stage(options, stage) -> None:
    assert Word().front(options).pre_tokenizer == (stage,)
    assert Word().untrained(options).pre_tokenizer == (stage,)


def test_top_words() -> None:
    counts = counted(["to", "be", "or", "not", "to", "be"])
    trained = Word().train(counts, WordOptions(vocab_size=4))
    assert tokens(trained.tokenizer) == {"be": 1, "to": 2, "not": 3}
    assert trained.summary == ("3 words", "1 special")
    pipeline = pipeline_of(trained.tokenizer)
    assert encode(pipeline, "not to question") == [3, 2, 0]


def test_words_are_normalized_if_asked() -> None:
    options = WordOptions(rule="space", normalizer=(Lowercase(),))
    counts = counted_by(Word().front(options), ["To to TO be"])
    assert tokens(Word().train(counts, options).tokenizer) == {"to": 1, "be": 2}


def test_words_of_hugging_face(shared) -> None:
    expected = json.loads(
        (shared / "expected/train/hf-tokenizers/wordlevel.botchan.1000/vocab.json").read_text("utf-8")
    )
    text = (shared / "corpora/default/en-botchan.txt").read_text(encoding="utf-8")
    counts = counted(regex.findall(r"\w+|[^\w\s]+", text))
    trained = Word().train(counts, WordOptions(vocab_size=1000, unk_token="[UNK]"))
    assert {"[UNK]": 0} | tokens(trained.tokenizer) == expected


def test_words_of_hugging_face_when_the_core_cuts(shared) -> None:
    expected = json.loads(
        (shared / "expected/train/hf-tokenizers/wordlevel.botchan.1000/vocab.json").read_text("utf-8")
    )
    options = WordOptions(vocab_size=1000, unk_token="[UNK]")
    counts = counted_by(Word().front(options), [(shared / "corpora/default/en-botchan.txt").read_bytes()])
    assert {"[UNK]": 0} | tokens(Word().train(counts, options).tokenizer) == expected


@at_least(40)
def test_words_of_hugging_face_at_random() -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    draw = random.Random(5)
    for _ in range(60):
        words = draw.choices([*"abé你", "ab", "ba", "aé", "好a"], k=draw.randrange(1, 30))
        size, minimum = draw.randrange(2, 10), draw.randrange(1, 3)
        theirs = Tokenizer(models.WordLevel(unk_token="<unk>"))
        theirs.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        theirs.train_from_iterator(
            [" ".join(words)],
            trainers.WordLevelTrainer(
                vocab_size=size, min_frequency=minimum, special_tokens=["<unk>"], show_progress=False
            ),
        )
        expected = {token: token_id for token, token_id in theirs.get_vocab().items() if token != "<unk>"}
        options = WordOptions(vocab_size=size, min_frequency=minimum)
        if not expected:
            with pytest.raises(TrainingError, match="frequent enough"):
                Word().train(counted(words), options)
            continue
        assert tokens(Word().train(counted(words), options).tokenizer) == expected
        compared()


# -- Hugging Face's file ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("trained", "text"),
    [
        (Char().train(counted("hii there"), CharOptions(special_tokens=("<pad>",))), "there, é\n!"),
        (Word().train(counted(["to", "be", ","]), WordOptions()), "to be, or not"),
        (Ngram().train(counted(["ab", "c"]), NgramOptions(strided=True)), "abxbc"),
    ],
)
def test_hugging_face_loads_and_agrees(trained, text) -> None:
    from tokenizers import Tokenizer

    content = formats.dump(trained.tokenizer, "tokenizer.json")[""]
    theirs = Tokenizer.from_str(bytes(content).decode())
    ids = theirs.encode(text).ids
    assert theirs.get_vocab_size() == trained.tokenizer.vocab_size
    assert 0 in ids  # something is unknown
    assert encode(pipeline_of(trained.tokenizer), text) == ids


# -- n-grams ---------------------------------------------------------------------------------------


def test_bigrams_of_the_sentence() -> None:
    trained = Ngram().train(counted([SENTENCE]), NgramOptions())
    pipeline = pipeline_of(trained.tokenizer)
    shown = "我们/们相/相信/信A/AI/I可/可以/以让/让世/世界/界变/变得/得更/更美/美好/好"
    assert "/".join(text.decode() for _, text in spans(pipeline, SENTENCE)) == shown
    assert "/".join(textbook.ngrams(SENTENCE)) == shown
    assert decode(pipeline, trained.tokenizer, encode(pipeline, SENTENCE)).decode() == SENTENCE


def test_unknown_ngram_has_a_span() -> None:
    trained = Ngram().train(counted(["abc"]), NgramOptions())
    assert trained.summary == ("3 2-grams", "1 special")
    assert spans(pipeline_of(trained.tokenizer), "abxc") == [(1, b"ab"), (0, b"bx"), (0, b"xc"), (3, b"c")]
    strict = Ngram().train(counted(["abc"]), NgramOptions(unk_token=None))
    with pytest.raises(ValueError, match="byte 0x62 has no token") as caught:
        encode(pipeline_of(strict.tokenizer), "abxc")
    assert caught.value.args[1] == 1


def test_strides() -> None:
    options = NgramOptions(n=3, strided=True)
    trained = Ngram().train(counted(textbook.strides(SENTENCE, 3)), options)
    assert trained.tokenizer.pre_tokenizer == (FixedLength(3),)
    pipeline = pipeline_of(trained.tokenizer)
    assert [text.decode() for _, text in spans(pipeline, SENTENCE)] == textbook.strides(SENTENCE, 3)


@at_least(12)
@given(st.lists(TEXTS, min_size=1, max_size=4), TEXTS, st.integers(1, 4))
def test_ngrams_are_the_textbook(corpus, text, n) -> None:
    if not any(corpus):
        return
    counts = textbook.count(each for document in corpus for each in textbook.ngrams(document, n))
    texts = [piece for piece, _ in by_count(counts) if "\udcff" not in piece]
    if not texts:
        return
    trained = Ngram().train(counted(corpus), NgramOptions(n=n))
    ids = {piece: place for place, piece in enumerate(texts, 1)}
    assert tokens(trained.tokenizer) == ids
    pipeline = pipeline_of(trained.tokenizer)
    assert encode(pipeline, text) == textbook.encode(textbook.ngrams(text, n), ids, unknown=0)
    for document in corpus:
        if "\udcff" not in document:
            assert decode(pipeline, trained.tokenizer, encode(pipeline, document)) == document.encode()
    compared()


def test_ngrams_take_a_bounded_memory() -> None:
    with pytest.raises(TrainingError, match="too many different 2-grams"):
        Ngram().train(counted([string.printable * 10]), NgramOptions(max_memory=1000))


# -- bytes -----------------------------------------------------------------------------------------


@given(st.binary(max_size=60))
def test_bytes_have_their_values(data) -> None:
    plain = Byte().train(new_counts(), ByteOptions()).tokenizer
    assert plain.encode(data) == [*data]
    offset = Byte().untrained(ByteOptions(special_tokens=("<pad>", "</s>", "<unk>"), special_first=True))
    assert offset.encode(data) == [value + 3 for value in data]
    assert offset.decode_bytes(offset.encode(data)) == data


def test_special_tokens_before_or_after_the_bytes() -> None:
    after = Byte().untrained(ByteOptions(special_tokens=("<end of patch>",)))
    assert after.special_ids[256].content == b"<end of patch>"
    assert (after.vocab_size, after.encode("a<end of patch>", specials="all")) == (257, [97, 256])
    before = Byte().untrained(
        ByteOptions(special_tokens=("<pad>", "</s>", "<unk>"), special_first=True, vocab_size=259)
    )
    assert [token.token_id for token in before.special_tokens] == [0, 1, 2]
    assert before.decode_bytes([1, 68]) == b"</s>A"


# -- what all have in common -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        (CharOptions, {"coverage": 0.0}),
        (CharOptions, {"coverage": 1.1}),
        (CharOptions, {"coverage": float("nan")}),
        (CharOptions, {"order": "random"}),
        (CharOptions, {"vocab_size": 0}),
        (CharOptions, {"min_frequency": 0}),
        (WordOptions, {"rule": "letters"}),
        (WordOptions, {"rule": "pattern"}),
        (WordOptions, {"pattern": ""}),
        (WordOptions, {"rule": "space", "pattern": "a"}),
        (WordOptions, {"pattern": "("}),
        (WordOptions, {"vocab_size": 1 << 30}),
        (NgramOptions, {"n": 0}),
        (NgramOptions, {"n": 65}),
        (NgramOptions, {"special_tokens": ("a", "b", "a")}),
        (ByteOptions, {"vocab_size": 255}),
        (ByteOptions, {"special_tokens": ("",)}),
    ],
)
def test_wrong_options(options, wrong) -> None:
    with pytest.raises(UsageError):
        options(**wrong)


@pytest.mark.parametrize(
    ("trainer", "options"), [(Char(), CharOptions()), (Word(), WordOptions()), (Ngram(), NgramOptions())]
)
def test_empty_corpus(trainer, options) -> None:
    with pytest.raises(TrainingError, match="nothing to train on"):
        trainer.train(new_counts(), options)


@pytest.mark.parametrize(
    ("trainer", "options"), [(Char(), CharOptions), (Word(), WordOptions), (Ngram(), NgramOptions)]
)
def test_no_room(trainer, options) -> None:
    with pytest.raises(TrainingError, match="no room after 1 special token") as caught:
        trainer.train(counted(["a"]), options(vocab_size=1))
    assert caught.value.hint == "ask for 2 or more"
    with pytest.raises(TrainingError, match="frequent enough"):
        trainer.train(counted(["a"]), options(min_frequency=2))


def test_steps() -> None:
    assert [*training_lines(Char().steps(counted("hii"), CharOptions()))] == [
        "start: 2 different pieces, 3 in all",
        "  tokens  i:2  h:1",
        "",
        "vocabulary: 3 tokens",
        "       0  <unk>",
        "       1  i  2 times",
        "       2  h  1 time",
    ]
    assert [*training_lines(Word().steps(counted(["to", "be", "to"]), WordOptions(vocab_size=2)))][-2:] == [
        "       1  to  2 times",
        "  unseen  1 piece has no token, 1 time",
    ]
    assert "       2  bc  1 time" in [*training_lines(Ngram().steps(counted(["abc"]), NgramOptions()))]
    table = [*training_lines(Byte().steps(new_counts(), ByteOptions(special_tokens=("<pad>",), special_first=True)))]
    assert table[5].startswith("      65  @ A B C")
    assert table[-1] == "       0  <pad>"
