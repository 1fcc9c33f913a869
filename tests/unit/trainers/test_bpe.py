"""BPE over the characters of words: options, ids, forms, and what can't be asked for."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from itertools import accumulate

import pytest

from bpe_cli import _core
from bpe_cli.errors import FormatError, InputError, TrainingError, UsageError
from bpe_cli.stages import BPEDecoder, ByteLevelNormalizer, CharacterBpe, SpecialToken, Split, WordPieceDecoder
from bpe_cli.stages.named_stages import VISIBLE_WORDS, WORDS
from bpe_cli.stages.spelling import to_visible
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers import TRAINERS, bpe
from bpe_cli.trainers.base import Front, Trained
from bpe_cli.trainers.counts import new_counts
from bpe_cli.views.training_steps import training_lines

WALK = {"low": 5, "lower": 2, "newest": 6, "widest": 3}


def counts_of(words: Mapping[str | bytes, int]) -> _core.Counts:
    pieces = [word if isinstance(word, bytes) else word.encode() for word in words]
    counts = new_counts()
    counts.add_pieces(b"".join(pieces), array("Q", accumulate(map(len, pieces))), array("Q", words.values()))
    return counts


def train(words: Mapping[str | bytes, int], **options) -> Trained:
    return bpe.TRAINER.train(counts_of(words), bpe.Options(**options))


def tokens(tokenizer: Tokenizer) -> list[str]:
    vocabulary = tokenizer.model.vocabulary
    return [vocabulary.token(token_id).decode() for token_id in range(vocabulary.size)]


def merges(tokenizer: Tokenizer) -> list[str]:
    names = tokens(tokenizer)
    return [f"{names[left]} {names[right]}" for left, right, _ in tokenizer.model.merges]


# -- worked examples -------------------------------------------------------------------------------


def test_words_of_the_paper():
    trained = train(WALK, merges=4, compat="subword-nmt")
    assert merges(trained.tokenizer) == ["s t</w>", "e st</w>", "l o", "w est</w>"]
    assert trained.summary == ("20 forms of 10 characters", "4 merges", "1 special")
    assert trained.shortfall is None


@pytest.mark.parametrize(
    ("options", "summary"),
    [
        ({"vocab_size": 9}, ("6 forms of 3 characters", "1 merge", "2 special")),
        ({"vocab_size": 9, "initial_alphabet": "seen"}, ("5 forms of 3 characters", "1 merge", "2 special")),
        ({"merges": 0}, ("6 forms of 3 characters", "0 merges", "2 special")),
        ({"merges": 1, "end_of_word_suffix": ""}, ("3 characters", "1 merge", "2 special")),
        ({"vocab_size": 600, "by_byte": True}, ("512 forms of 256 bytes", "1 merge", "2 special")),
    ],
)
def test_a_summary_adds_up_to_the_vocabulary(options, summary):
    trained = train({"ba": 2, "aé": 1}, special_tokens=("<s>",), **options)
    assert trained.summary == summary
    numbers = [int(part.split()[0]) for part in trained.summary]
    assert sum(numbers) == trained.tokenizer.vocab_size


def test_ids():
    trained = train({"ba": 2, "aé": 1}, vocab_size=99, special_tokens=("<s>",))
    assert tokens(trained.tokenizer) == ["", "", "a", "b", "é", "a</w>", "b</w>", "é</w>", "ba</w>"]
    assert trained.tokenizer.special_tokens == (SpecialToken(b"<unk>", 0), SpecialToken(b"<s>", 1))
    assert trained.tokenizer.model.unk_id == 0
    assert trained.shortfall == "no pair is left that occurs 2 times or more"


def test_forms_that_are_not_seen_can_be_left_out():
    options = {"vocab_size": 99, "unk_token": None, "initial_alphabet": "seen", "min_frequency": 9}
    assert tokens(train({"ba": 2}, **options).tokenizer) == ["a", "b", "a</w>"]


def test_the_suffix_as_a_symbol():
    tokenizer = train({"ab": 2}, vocab_size=99, suffix_form="0.1").tokenizer
    assert tokens(tokenizer) == ["", "a", "b", "</w>", "ab", "ab</w>"]
    assert tokenizer.model.separate_suffix


def test_stages():
    tokenizer = train({"ab": 2}, vocab_size=99).tokenizer
    assert (tokenizer.pre_tokenizer, tokenizer.normalizer, tokenizer.decoder) == ((WORDS,), (), (BPEDecoder("</w>"),))
    tokenizer = train({"ab": 2}, vocab_size=99, end_of_word_suffix="", continuing_subword_prefix="##").tokenizer
    assert tokenizer.decoder == (WordPieceDecoder("##", cleanup=False),)
    assert bpe.TRAINER.front(bpe.Options(9, pre_tokenizer=(Split("x"),))) == Front((), (Split("x"),))


def test_bytes():
    words = {to_visible("ло".encode()): 3, to_visible(b"a</w>"): 1}
    tokenizer = train(words, merges=2, by_byte=True).tokenizer
    assert merges(tokenizer) == ["» Ð", "Ð »Ð"]
    assert len(tokens(tokenizer)) == 1 + 256 + 256 + 2
    assert (tokenizer.normalizer, tokenizer.pre_tokenizer) == ((ByteLevelNormalizer(),), (VISIBLE_WORDS,))
    assert tokens(tokenizer)[1 + ord("a")] == "a"


def test_dictionary():
    lines = {b"low 5": 1, b"  lower 2\r": 1, b"low 1": 2}
    trained = train(lines, merges=1, dictionary=True)
    assert merges(trained.tokenizer) == ["l o"]
    assert bpe.TRAINER.front(bpe.Options(9, dictionary=True)) == Front()
    for broken in (b"low", b"low five", b"low  5", b"low -1", b"a b 5"):
        with pytest.raises(InputError, match="not a word, a blank and a count"):
            train({broken: 1}, merges=1, dictionary=True)


def test_total_symbols():
    # Inside: l o w e n s i d; at the end: w r t. Of 13 symbols 2 are left for merges
    assert len(train(WALK, merges=13, total_symbols=True).tokenizer.model.merges) == 2
    assert len(train(WALK, merges=3, total_symbols=True).tokenizer.model.merges) == 0


def test_an_alphabet_can_be_limited():
    words = {"aab": 3, "cz": 1}
    few = {"vocab_size": 99, "unk_token": None, "end_of_word_suffix": "", "min_frequency": 99}
    assert tokens(train(words, limit_alphabet=3, **few).tokenizer) == ["a", "b", "c"]
    assert tokens(train(words, limit_alphabet=2, characters="z", **few).tokenizer) == ["a", "z"]
    assert tokens(train(words, character_coverage=0.8, **few).tokenizer) == ["a", "b"]
    assert tokens(train({b"a\xff": 3}, **few).tokenizer) == ["a"], "a byte that is not a character is unknown"


@pytest.mark.parametrize("end", ["", "</w>"])
@pytest.mark.parametrize(
    ("options", "crosses"),
    [
        ({}, False),
        ({"fuse_unk": True}, False),
        ({"compat": "subword-nmt"}, False),
        ({"unk_token": None}, True),
        ({"compat": "hf", "min_frequency": 2}, True),
    ],
    ids=str,
)
def test_merges_cross_an_unknown_character_as_in_encoding(options, crosses, end):
    """``ab`` stands nowhere: encoding puts an unknown token in between, or leaves the character out."""
    words = {"a一b": 40, "a丁b": 40, "ac": 3}
    alphabet = {"limit_alphabet": 3, "characters": "c", "end_of_word_suffix": end}
    tokenizer = train(words, vocab_size=99, **alphabet, **options).tokenizer
    assert merges(tokenizer) == [*[f"a b{end}"] * crosses, f"a c{end}"]
    if options.get("compat") != "hf":
        known = [token_id for token_id in tokenizer.encode("a一b") if token_id != tokenizer.model.unk_id]
        assert len(known) == 2 - crosses


def test_bytes_outside_the_alphabet_separate_too():
    words = {to_visible(word): count for word, count in ((b"a\xc3b", 40), (b"a\xc4b", 40), (b"ac", 3))}
    options = {"vocab_size": 99, "by_byte": True, "initial_alphabet": "seen", "limit_alphabet": 3, "characters": "c"}
    for end in ("", "</w>"):
        found = [
            merges(train(words, end_of_word_suffix=end, unk_token=unknown, **options).tokenizer)
            for unknown in ("<unk>", None)
        ]
        assert found == [[f"a c{end}"], [f"a b{end}", f"a c{end}"]]


def test_vetoes():
    words = {"a12": 9, "un|do": 5, "undo": 1}
    tokenizer = train(words, vocab_size=99, max_digits=1, boundary_mark="|", end_of_word_suffix="").tokenizer
    assert merges(tokenizer) == ["a 1", "d o", "u n"]
    tokenizer = train({"undo": 5}, vocab_size=99, boundaries=("un|do",), max_token_length=2).tokenizer
    assert merges(tokenizer) == ["d o</w>", "u n"]


def test_a_special_token_can_be_a_character():
    tokenizer = train({"ab": 3}, vocab_size=99, special_tokens=("a",), unk_token=None).tokenizer
    assert tokens(tokenizer) == ["a", "b", "a</w>", "b</w>", "ab</w>"]


def test_steps_are_the_same_training():
    for extra in ({}, {"suffix_form": "0.1"}, {"continuing_subword_prefix": "##"}, {"initial_alphabet": "seen"},
                  {"limit_alphabet": 6}, {"limit_alphabet": 6, "unk_token": None}):  # fmt: skip
        options = bpe.Options(vocab_size=60, special_tokens=("<s>",), **extra)
        lines = [
            line for line in training_lines(bpe.TRAINER.steps(counts_of(WALK), options)) if line.startswith("step")
        ]
        tokenizer = bpe.TRAINER.train(counts_of(WALK), options).tokenizer
        shown = [" ".join(line.split(": ", 1)[1].split(" -> ")[0].split(" + ")) for line in lines]
        assert shown == merges(tokenizer)
        assert shown


def test_untrained():
    tokenizer = bpe.TRAINER.untrained(bpe.Options(9, special_tokens=("<s>",)))
    assert isinstance(tokenizer.model, CharacterBpe)
    assert tokenizer.special_tokens == (SpecialToken(b"<unk>", 0), SpecialToken(b"<s>", 1))
    with pytest.raises(FormatError):
        bpe.TRAINER.untrained(bpe.Options(9, boundaries=("a||b",)))


def test_it_is_registered():
    assert TRAINERS["bpe"] is bpe.TRAINER


# -- errors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "how many tokens or merges"),
        ({"vocab_size": 1 << 22}, "do not fit"),
        ({"merges": -1}, "must be 0 or more"),
        ({"vocab_size": 9, "total_symbols": True}, "total_symbols"),
        ({"vocab_size": 9, "character_coverage": 1.5}, "not a share"),
        (
            {"vocab_size": 9, "suffix_form": "0.1", "end_of_word_suffix": ""},
            "suffix_form=0.1 makes end_of_word_suffix a symbol of its own, and that is empty",
        ),
        (
            {"vocab_size": 9, "suffix_form": "0.1", "continuing_subword_prefix": "#"},
            "suffix_form=0.1 .* continuing_subword_prefix",
        ),
        ({"vocab_size": 9, "by_byte": True, "pre_tokenizer": ()}, "by_byte cannot be used with `pre_tokenizer`"),
        (
            {"vocab_size": 9, "by_byte": True, "continuing_subword_prefix": "#"},
            "by_byte cannot be used with continuing_subword_prefix",
        ),
        ({"vocab_size": 9, "special_tokens": ("",)}, "needs a text"),
        ({"vocab_size": 9, "special_tokens": ("a", "a")}, "given twice"),
        ({"vocab_size": 9, "compat": "minbpe"}, "no rules called"),
    ],
)
def test_what_contradicts_itself_is_refused(options, message):
    with pytest.raises(UsageError, match=message):
        bpe.Options(**options)


def test_what_cannot_be_trained_is_refused():
    with pytest.raises(TrainingError, match="nothing to train on"):
        bpe.TRAINER.train(new_counts(), bpe.Options(9))
    with pytest.raises(TrainingError, match="smaller than its initial tokens: 20 characters"):
        train(WALK, vocab_size=20)
    with pytest.raises(UsageError, match="words of characters"):
        bpe.TRAINER.steps(counts_of(WALK), bpe.Options(9, by_byte=True))
