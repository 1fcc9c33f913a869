"""Training that goes on gives what training at once gives."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli import extend as extend_text
from bpe_cli.errors import FormatError, InputError, TrainingError, UsageError
from bpe_cli.formats import dump
from bpe_cli.formats.huggingface import tokenizer_json as hf_json
from bpe_cli.stages import MergeBpe, RankBpe, SpecialToken
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.support.listening import Silence
from bpe_cli.surgery import extend
from bpe_cli.teaching import bpe as textbook
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers import bbpe, bpe, train, unigram
from bpe_cli.trainers.counts import new_counts
from tests.counted import at_least, compared
from tests.needs import needs

from .makers import WORDS, byte_level, characters, counted

TIES = {"hf": "lowest-ids", "rustbpe": "lowest-ids", "minbpe": "first-seen", "subword-nmt": "largest-text"}


def texts_of(tokenizer: Tokenizer) -> list[tuple[bytes, ...]]:
    """Return the merges as texts: ids differ where special tokens stand between."""
    return [tuple(map(tokenizer.model.vocabulary.token, merge)) for merge in tokenizer.model.merges]


@at_least(10)
@given(WORDS, st.integers(0, 8), st.integers(1, 8), st.sampled_from([*TIES]), st.sampled_from(["", "<s>"]))
def test_bytes_at_once_and_in_two_goes(words, first, second, compat, special):
    options = {"compat": compat, "special_tokens": (special,) if special else (), "min_frequency": 1}
    once = byte_level(words, first + second, **options)
    begun = byte_level(words, first, **options)
    counts = counted(begun, " ".join(words))
    if len(once.model.merges) == len(begun.model.merges):  # nothing is left to learn
        assert extend(begun, counts, begun.vocab_size + second, tie=TIES[compat]).made_of == {}
        return
    size = begun.vocab_size + len(once.model.merges) - len(begun.model.merges)
    extended = extend(begun, counts, size, tie=TIES[compat]).tokenizer
    assert texts_of(extended) == texts_of(once)
    assert extended.special_tokens == begun.special_tokens
    if not special or compat in ("hf", "subword-nmt"):  # special tokens have the first ids
        assert extended == once
    compared()


@at_least(10)
@given(st.lists(WORDS.map(" ".join), min_size=2, max_size=6), st.integers(0, 12), st.integers(0, 6), st.integers(1, 8))
def test_superwords_at_once_and_in_two_goes(lines, switch, first, second):
    text = ".\n".join(lines).replace("d", ":") + "\n"

    def trained(merges: int) -> Tokenizer:
        options = bbpe.Options(vocab_size=256 + merges, superwords=True, switch=switch, pattern="[a-z]+| +")
        return train([text], options)

    once, begun = trained(switch + first + second), trained(switch + first)
    added = len(once.model.merges) - len(begun.model.merges)
    if added == 0:
        return
    assert extend_text(begun, [text], add=added).tokenizer == once
    compared()


def test_superwords_stay_within_lines_and_rules(tmp_path):
    text = "Q: of the a b c\nA: of the a b c\n" * 4
    begun = train([text + "xyz uvw\n" * 9], bbpe.Options(vocab_size=264, superwords=True, switch=6))
    (tmp_path / "text.txt").write_text(text)
    for change in ({"add": 20}, {"replace": 2, "counts_from": [text]}):
        notes: list[str] = []
        listener = Silence()
        listener.note = notes.append
        done = extend_text(begun, tmp_path / "text.txt", listener=listener, **change)
        new = [done.tokenizer.token_bytes(token_id) for token_id in done.made_of]
        assert new
        assert not [token for token in new if b"\n" in token[:-1] or b": " in token or len(token.split()) > 4]
        assert any("at most 4 words" in note for note in notes)


@at_least(12)
@given(
    WORDS,
    st.integers(0, 8),
    st.integers(1, 8),
    st.sampled_from(["lowest-ids", "first-seen", "largest-text"]),
    st.sampled_from(
        [
            {},
            {"suffix_form": "0.1"},
            {"end_of_word_suffix": "", "continuing_subword_prefix": "##"},
            {"limit_alphabet": 2},
            {"limit_alphabet": 2, "unk_token": None},
        ]
    ),
)
def test_characters_at_once_and_in_two_goes(words, first, second, tie, options):
    once = characters(words, first + second, tie=tie, **options)
    begun = characters(words, first, tie=tie, **options)
    missing = len(once.model.merges) - len(begun.model.merges)
    size = begun.vocab_size + once.vocab_size - begun.vocab_size
    if size == begun.vocab_size:  # nothing is left to learn, or only other ways to what there is
        return
    extended = extend(begun, counted(begun, " ".join(words)), size, tie=tie, min_frequency=1).tokenizer
    assert missing > 0
    assert texts_of(extended)[: len(once.model.merges)] == texts_of(once)[: len(extended.model.merges)]
    assert extended.model.vocabulary == once.model.vocabulary
    compared()


@given(
    WORDS, WORDS, st.integers(0, 6), st.integers(1, 6), st.sampled_from(["lowest-ids", "first-seen", "largest-text"])
)
def test_another_corpus_against_the_textbook(words, others, first, second, tie):
    """The textbook trains on what the first tokenizer makes of the second corpus."""
    begun = byte_level(words, first)
    counts = counted(begun, " ".join(others))
    ids = range(begun.vocab_size)
    spelt: dict[tuple[bytes, ...], int] = {}
    bare = Tokenizer(begun.model)
    for piece, number in counts.items(0, counts.unique):
        spelt[tuple(map(begun.token_bytes, bare.encode(piece)))] = number
    training = textbook.train(
        spelt, initial=[begun.token_bytes(token_id) for token_id in ids], vocab_size=len(ids) + second, tie=tie
    )
    operation = extend(begun, counts, len(ids) + second, tie=tie)
    vocabulary = operation.tokenizer.model.vocabulary
    assert [token for _, token in vocabulary.items()] == training.tokens()
    learnt = [*operation.tokenizer.model.merges][len(begun.model.merges) :]
    assert [(vocabulary.token(left), vocabulary.token(right)) for left, right, _ in learnt] == training.merges()


@given(WORDS, WORDS, st.integers(0, 6), st.integers(1, 6))
def test_only_new_tokens_change_an_encoding(words, others, first, second):
    begun = byte_level(words, first)
    operation = extend(begun, counted(begun, " ".join(others)), begun.vocab_size + second)
    for word in words + others:
        taken_back = [old for new in operation.tokenizer.encode(word) for old in operation.made_of.get(new, (new,))]
        assert taken_back == begun.encode(word)
    old, new = Tokenizer(begun.model), Tokenizer(operation.tokenizer.model)
    for token_id, parts in operation.made_of.items():
        content = operation.tokenizer.token_bytes(token_id)
        assert list(parts) == old.encode(content)
        assert new.encode(content) == [token_id]


def test_worked_example():
    """(e, r) stands there 3 times; then (e, w), (n, e) and (w, er) twice each, and the lowest ids win."""
    begun = byte_level(["low", "low", "lower"], 2)
    operation = extend(begun, counted(begun, "newer newer lower"), begun.vocab_size + 2)
    assert [operation.tokenizer.token_bytes(each) for each in (256, 257, 258, 259)] == [b"lo", b"low", b"er", b"ew"]
    e, r, w = (begun.encode(letter)[0] for letter in "erw")
    assert operation.made_of == {258: (e, r), 259: (e, w)}
    assert operation.old_to_new == {each: each for each in range(258)}
    assert operation.summary == ("2 new tokens", "2 merges")
    assert operation.notes == ()


def test_ids_begin_after_special_tokens_and_gaps():
    begun = byte_level(["ab"], 1).with_special_tokens([SpecialToken(b"<x>", 300)])
    operation = extend(begun, counted(begun, "cd<x>cd"), 303)
    assert [*operation.made_of] == [301]
    assert operation.tokenizer.encode("<x>ab cd", specials="all") == [300, 256, begun.encode(" ")[0], 301]
    assert operation.notes == ("no pair is left to merge: the vocabulary has 302 ids, not 303",)
    operation = extend(begun, counted(begun, "cd<x>cd ef"), 304, min_frequency=2)
    expected = "no pair is left that occurs 2 times or more: the vocabulary has 302 ids, not 304"
    assert operation.notes == (expected,)


def test_ranks_stay_ranks():
    whole = byte_level(["low", "lower", "lowest"], 4, compat="minbpe")
    ranks = Tokenizer(RankBpe(whole.model.vocabulary), whole.pre_tokenizer)
    counts = counted(ranks, "newest newest widest")
    extended = extend(ranks, counts, ranks.vocab_size + 5).tokenizer
    by_merges = extend(whole, counts, whole.vocab_size + 5).tokenizer
    assert isinstance(extended.model, RankBpe)
    assert extended.model.vocabulary == by_merges.model.vocabulary
    assert dump(extended, "tiktoken", frozenset({"pattern"}))
    for word in ("newest", "lowest", "widenew", "est est"):
        assert extended.encode(word) == by_merges.encode(word)


def test_pieces_that_are_tokens_whole():
    """With ignore_merges a piece that no merge makes is a token all the same, and merging goes on elsewhere."""
    alphabet = [bytes([byte]) for byte in range(256)]
    vocabulary = Vocabulary.from_tokens([*alphabet, b"abc"])
    begun = Tokenizer(
        MergeBpe(vocabulary, Merges.from_pairs(()), ignore_merges=True), byte_level(["a"], 0).pre_tokenizer
    )
    operation = extend(begun, counted(begun, "abc abc abcd abcd"), 258)
    assert operation.tokenizer.token_bytes(257) == b"ab"
    assert operation.tokenizer.encode("abc") == [256]
    assert operation.tokenizer.encode("abd") == [257, ord("d")]


def test_unknown_characters_divide():
    begun = characters(["ab", "ba"], 0, end_of_word_suffix="", pre_tokenizer=())
    counts = counted(begun, "a?ba?ba?b")
    extended = extend(begun, counts, begun.vocab_size + 1).tokenizer
    assert texts_of(extended) == [(b"b", b"a", b"ba")]
    assert extended.decode(extended.encode("ba")) == "ba"


def test_an_unknown_token_that_merges_use_divides_nothing():
    """It is a symbol like any other then, so no second token of its text is learnt."""
    begun = characters(["ab", "ab"], 1, end_of_word_suffix="", pre_tokenizer=())
    a = begun.model.vocabulary.id_of(b"a")
    begun = replace(begun, model=replace(begun.model, unk_id=a))
    extended = extend(begun, counted(begun, "abab abab"), begun.vocab_size + 1, min_frequency=1).tokenizer
    assert texts_of(extended)[1:] == [(b"ab", b"ab", b"abab")]
    assert extended.encode("abab") == [extended.model.vocabulary.id_of(b"abab")]


def test_special_tokens_are_taken_out_of_texts():
    begun = byte_level(["x"], 0, special_tokens=("ab",), compat="rustbpe")
    assert extend(begun, counted(begun, "ab ab cd"), begun.vocab_size + 1).tokenizer.token_bytes(257) == b"cd"


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_change_nothing(corpora, threads):
    text = (corpora / "languages" / "de.txt").read_text(encoding="utf-8")
    begun = train([text], bbpe.Options(vocab_size=400))
    extended = extend(begun, counted(begun, text, threads), 600)
    assert extended.tokenizer == train([text], bbpe.Options(vocab_size=600))


@pytest.mark.parametrize("kind", ["bytes", "characters"])
def test_like_the_tokenizers_library(corpora, kind):
    """The file that is written gives the same ids there."""
    hf = needs("tokenizers")
    english, german = ((corpora / "languages" / f"{name}.txt").read_text(encoding="utf-8") for name in ("en", "de"))
    options = bbpe.Options(vocab_size=400) if kind == "bytes" else bpe.Options(vocab_size=400, compat="hf")
    begun = train([english], options)
    extended = extend(begun, counted(begun, german), 700).tokenizer
    theirs = hf.Tokenizer.from_str(dump(extended, "tokenizer.json")[""].decode())
    assert extended.vocab_size == theirs.get_vocab_size() == 700
    for line in (german + english).splitlines()[:200]:
        assert theirs.encode(line, add_special_tokens=False).ids == extended.encode(line)
    assert hf_json.loads(dump(extended, "tokenizer.json")[""]) == extended


def test_what_cannot_be():
    begun = byte_level(["ab"], 1)
    counts = counted(begun, "cd")
    with pytest.raises(UsageError, match="ids run to 256: it cannot be extended to 257 tokens"):
        extend(begun, counts, 257)
    with pytest.raises(UsageError, match="larger than the 2,097,152 that fit"):
        extend(begun, counts, 1 << 22)
    with pytest.raises(TrainingError, match="no text"):
        extend(begun, new_counts(), 300)
    with pytest.raises(FormatError, match="this is unigram"):
        extend(train(["a b"], unigram.Options(vocab_size=6)), counts, 300)
    seen = byte_level(["ab"], 0, initial_alphabet="seen")
    with pytest.raises(InputError):
        extend(seen, counted(seen, "xyz"), seen.vocab_size + 1)
