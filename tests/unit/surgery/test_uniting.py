"""Two tokenizers become one that has what both have, as far as text can become it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.errors import FormatError, UsageError
from bpe_cli.formats import dump
from bpe_cli.formats.huggingface.tokenizer_json import loads
from bpe_cli.stages import CharacterBpe, MergeBpe, RankBpe, SpecialToken
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.surgery import extend, merge
from bpe_cli.surgery.operation import used_ids
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers import bbpe, bpe, train, unigram
from tests.needs import needs

from .makers import WORDS, byte_level, characters, counts_of, with_byte_tokens


@given(WORDS, WORDS, st.integers(0, 10), st.integers(0, 10), st.booleans())
def test_bytes(words, others, first, second, ignore):
    ours, theirs = byte_level(words, first), byte_level(others, second, compat="minbpe")
    ours = replace(ours, model=replace(ours.model, ignore_merges=ignore))
    operation = merge(ours, theirs)
    united = operation.tokenizer
    assert used_ids(united) == list(range(united.vocab_size))
    assert operation.old_to_new == {each: each for each in used_ids(ours)}
    bare = Tokenizer(united.model)
    for token_id in range(ours.vocab_size, united.vocab_size):  # all that came can be reached
        assert bare.encode(united.token_bytes(token_id)) == [token_id]
        assert operation.made_of[token_id] == tuple(
            Tokenizer(replace(ours.model, ignore_merges=False)).encode(united.token_bytes(token_id))
        )
    for old, new in operation.other_to_new.items():
        assert new is None or united.token_bytes(new) == theirs.token_bytes(old)
    for text in words + others:  # and new merges come after the old ones
        if not ignore:
            back = [old for new in united.encode(text) for old in operation.made_of.get(new, (new,))]
            assert len(back) >= len(ours.encode(text)) >= len(united.encode(text))
        assert united.decode_bytes(united.encode(text)) == text.encode()


@given(WORDS, WORDS, st.integers(0, 10), st.integers(0, 10))
def test_what_is_left_out_would_never_occur(words, others, first, second):
    """The merges that stay encode as all merges of both would."""
    ours, theirs = byte_level(words, first), byte_level(others, second)
    operation = merge(ours, theirs)
    texts = dict(theirs.model.vocabulary.items())
    everything = {content: token_id for token_id, content in ours.model.vocabulary.items()}
    for content in texts.values():
        everything.setdefault(content, len(everything))
    pairs = {(left, right): product for left, right, product in ours.model.merges}
    for triple in theirs.model.merges:
        left, right, product = (everything[texts[part]] for part in triple)
        pairs.setdefault((left, right), product)
    vocabulary = type(ours.model.vocabulary).from_ids(everything)
    full = MergeBpe(vocabulary, Merges.from_pairs((*pair, product) for pair, product in pairs.items()))
    whole, bare = Tokenizer(full), Tokenizer(operation.tokenizer.model)
    for text in [*words, *others, "".join(words + others)]:
        ids = whole.encode(text)
        assert [vocabulary.token(each) for each in ids] == [bare.token_bytes(each) for each in bare.encode(text)]


@given(WORDS, WORDS, st.integers(0, 10), st.integers(0, 10), st.sampled_from(["0.1", "0.2"]))
def test_characters(words, others, first, second, form):
    ours, theirs = (characters(each, n, suffix_form=form) for each, n in ((words, first), (others, second)))
    operation = merge(ours, theirs)
    united = operation.tokenizer
    assert used_ids(united) == list(range(united.vocab_size))
    assert operation.other_to_new[theirs.model.unk_id] == ours.model.unk_id
    for text in words + others:
        ids = united.encode(text)
        assert united.model.unk_id not in ids
        assert united.decode(ids) == text


def test_worked_example():
    """Of (a, b), (ab, c) and (b, c) the first wins in the merged one, so "bcd" out of (bc, d) stays reachable."""
    ours = byte_level(["abc"] * 3, 2)
    theirs = byte_level(["bcd"] * 3 + ["abc"], 2)
    assert [theirs.token_bytes(each) for each in (256, 257)] == [b"bc", b"bcd"]
    operation = merge(ours, theirs)
    assert [operation.tokenizer.token_bytes(each) for each in range(256, 260)] == [b"ab", b"abc", b"bc", b"bcd"]
    assert (operation.other_to_new[256], operation.other_to_new[257]) == (258, 259)
    assert operation.summary == ("2 new tokens", "2 new merges", "0 special")


def test_a_token_out_of_reach_is_left_out():
    """Where "ca" is merged first, no "bc" stands before an "a" any more."""
    theirs = byte_level(["bca"] * 3, 2)
    operation = merge(byte_level(["ca"], 1), theirs)
    assert (operation.other_to_new[256], operation.other_to_new[257]) == (257, None)
    assert operation.tokenizer.vocab_size == 258
    assert operation.summary == ("1 new token", "1 new merge", "0 special", "1 left out that no text would become")


def test_a_token_that_is_a_run_as_a_whole_comes_along():
    r"""No merge makes ``\n\n\n``, but a piece of nothing else becomes it."""
    model = CharacterBpe(Vocabulary.from_tokens([b"\n", b"a", b"\n\n"]), Merges.from_pairs([(0, 0, 2)]))
    ours = replace(model, whole_runs_of="\n")
    theirs = CharacterBpe(Vocabulary.from_tokens([b"\n", b"\n\n\n", b"aa"]), Merges.from_pairs([]), whole_runs_of="\n")
    operation = merge(Tokenizer(ours), Tokenizer(theirs))
    assert operation.other_to_new == {0: 0, 1: 3, 2: None}
    assert operation.tokenizer.encode("\n\n\n") == [3]
    assert operation.made_of == {3: tuple(Tokenizer(ours).encode("\n\n\n"))} == {3: (2, 0)}
    without = [Tokenizer(replace(each, whole_runs_of="")) for each in (ours, theirs)]
    assert merge(*without).other_to_new == {0: 0, 1: None, 2: None}


def test_bytes_of_unknown_characters_are_the_first_s():
    ours, theirs = with_byte_tokens("ab"), with_byte_tokens("bc")
    moved = Vocabulary.from_tokens([b"", *theirs.model.vocabulary.tokens()])
    theirs = replace(theirs, model=replace(theirs.model, vocabulary=moved, unk_id=1))
    operation = merge(ours, theirs)
    assert operation.other_to_new == {1: 0, **{2 + byte: 1 + byte for byte in range(256)}, 258: 258, 259: 259}
    assert merge(theirs, theirs).other_to_new == {token_id: token_id for token_id in used_ids(theirs)}
    without = replace(ours, model=replace(ours.model, byte_fallback=False))  # where they are texts like any other
    assert {*merge(without, theirs).other_to_new.values()} == {0, 258, 259, None}


def test_text_that_spells_out_a_byte_token_of_the_first_is_left_out():
    """It is decoded to itself, as before, and not to the byte."""
    ours = with_byte_tokens("<0xA>")
    alphabet = Vocabulary.from_tokens(character.encode() for character in "<0xA>")
    theirs = Tokenizer(CharacterBpe(alphabet, Merges.from_pairs(())))
    theirs = extend(theirs, counts_of([b"<0x0A>"] * 3), theirs.vocab_size + 5).tokenizer
    operation = merge(ours, theirs)
    assert theirs.encode("<0x0A>") == [9]
    assert operation.other_to_new == {**{token_id: 257 + token_id for token_id in range(9)}, 9: None}
    assert operation.summary == ("4 new tokens", "4 new merges", "0 special")
    assert operation.notes == ("'<0x0A>': text in the second tokenizer, a byte in the first, and left out",)
    assert operation.tokenizer.decode(operation.tokenizer.encode("<0x0A>\n")) == "<0x0A>\n"


def test_special_tokens_of_the_other():
    ours = byte_level(["ab"], 1, special_tokens=("<s>", "</s>"))
    theirs = byte_level(["cd"], 1, special_tokens=("</s>", "<pad>"), compat="rustbpe")
    theirs = replace(theirs, special_tokens=(*theirs.special_tokens, SpecialToken(b"<m>", 400, lstrip=True)))
    operation = merge(ours, theirs)
    assert operation.tokenizer.special_tokens == (
        SpecialToken(b"<s>", 0),
        SpecialToken(b"</s>", 1),
        SpecialToken(b"<pad>", 260),
        SpecialToken(b"<m>", 261, lstrip=True),
    )
    assert [operation.other_to_new[each] for each in (257, 258, 400)] == [1, 260, 261]
    assert operation.made_of[261] == tuple(ours.encode("<m>"))
    assert operation.summary == ("1 new token", "1 new merge", "2 special")


def test_a_special_token_that_is_an_ordinary_one_of_the_first():
    ours = byte_level(["ab", "ab"], 1)
    theirs = byte_level(["cd"], 1).with_special_tokens([SpecialToken(b"ab", 300), SpecialToken(b"<x>", 301)])
    operation = merge(ours, theirs)
    assert operation.other_to_new[300] == ours.model.vocabulary.id_of(b"ab")
    assert [token.content for token in operation.tokenizer.special_tokens] == [b"<x>"]
    assert operation.notes == (
        "'ab': special in the second tokenizer, and kept as the ordinary token that it is in the first",
    )
    both = ours.with_special_tokens([SpecialToken(b"<x>", 300)])
    assert merge(both, both).notes == ()


@pytest.mark.parametrize("token", [SpecialToken(b"ab", 257), SpecialToken(b"ab", 257, special=False)])
def test_an_ordinary_token_that_is_a_special_or_added_one_of_the_first(token):
    """It is there once, and what the second made of it, or it of that, goes; the rest stays."""
    ours = byte_level(["cd"] * 3, 1).with_special_tokens([token])
    theirs = byte_level(["abc"] * 9 + ["de"] * 3, 3)
    assert [theirs.token_bytes(each) for each in (256, 257, 258)] == [b"ab", b"abc", b"de"]
    operation = merge(ours, theirs)
    united = operation.tokenizer
    assert [operation.other_to_new[each] for each in (256, 257, 258)] == [257, None, 258]
    assert operation.made_of == {258: tuple(ours.encode("de"))}
    assert operation.notes == (
        "'ab': ordinary in the second tokenizer, and kept as the special or added token that it is in the first",
    )
    assert united.special_tokens == (token,)
    expected = [257, *ours.encode("c "), 258]
    assert united.encode("abc de", specials="all") == expected
    assert loads(dump(united, "tokenizer.json")[""]).encode("abc de", specials="all") == expected


def test_ranks_stay_ranks_if_they_can():
    ours, theirs = byte_level(["ab", "ab"], 1, compat="minbpe"), byte_level(["cde"], 2, compat="minbpe")
    ranks = Tokenizer(RankBpe(ours.model.vocabulary), ours.pre_tokenizer)
    operation = merge(ranks, theirs)
    assert isinstance(operation.tokenizer.model, RankBpe)
    assert operation.notes == ()
    other_way = byte_level(["bc", "bc", "abc"], 2)
    abc = byte_level(["ab", "ab", "abc"], 2, compat="minbpe")
    operation = merge(Tokenizer(RankBpe(abc.model.vocabulary), abc.pre_tokenizer), other_way)
    assert isinstance(operation.tokenizer.model, RankBpe), "the other's way to make abc never finds a place"
    united = merge(abc, other_way).tokenizer
    assert [operation.tokenizer.encode(text) for text in ("abc", "aabc", "bcabc")] == [
        united.encode(text) for text in ("abc", "aabc", "bcabc")
    ]
    abcd = Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), b"cd", b"abcd"])
    operation = merge(Tokenizer(RankBpe(abcd), abc.pre_tokenizer), abc)
    assert isinstance(operation.tokenizer.model, MergeBpe)
    assert operation.notes == ("no ranks do the same as the merges of both, so the result has merges",)


def test_stages_are_the_first_s():
    ours = byte_level(["ab"], 1)
    theirs = train(["cd"], bbpe.Options(vocab_size=257, pattern=""))
    operation = merge(ours, theirs)
    assert operation.tokenizer.pre_tokenizer == ours.pre_tokenizer
    assert operation.notes == ("the two rewrite or cut text differently: the result does it as the first one does",)


@pytest.mark.parametrize("options", [bbpe.Options(vocab_size=450), bpe.Options(vocab_size=300, compat="hf")])
def test_like_the_tokenizers_library(corpora, options):
    hf = needs("tokenizers")
    english, german = ((corpora / "languages" / f"{name}.txt").read_text(encoding="utf-8") for name in ("en", "de"))
    united = merge(train([english], options), train([german], options)).tokenizer
    theirs = hf.Tokenizer.from_str(dump(united, "tokenizer.json")[""].decode())
    for line in (english + german).splitlines()[:200]:
        assert theirs.encode(line, add_special_tokens=False).ids == united.encode(line)


def test_what_cannot_be():
    by_bytes, by_characters = byte_level(["ab"], 1), characters(["ab"], 1)
    with pytest.raises(FormatError, match="the first tokenizer merges bytes, the second characters"):
        merge(by_bytes, by_characters)
    with pytest.raises(FormatError, match="the second one is unigram"):
        merge(by_bytes, train(["a b"], unigram.Options(vocab_size=6)))
    with pytest.raises(FormatError, match="end_of_word_suffix is '</w>' in the first and '' in the second"):
        merge(by_characters, characters(["ab"], 1, end_of_word_suffix=""))
    far = replace(by_bytes, special_tokens=(SpecialToken(b"<x>", (1 << 32) - 1),))
    with pytest.raises(UsageError, match="ids of new tokens would run from 4,294,967,296"):
        merge(far, byte_level(["cd"], 1))
    without_a = Tokenizer(RankBpe(Vocabulary.from_tokens([b"b", b"ab"])))
    with pytest.raises(FormatError, match="the byte b'a' is not a token"):
        merge(without_a, by_bytes)
