"""SentencePiece's words and Hugging Face's: what is exact, what is named, what is refused."""

from __future__ import annotations

import random
from array import array
from dataclasses import replace

import pytest

from bpe_cli.errors import FormatError
from bpe_cli.formats.dialects import EDGES, to_hugging_face, to_sentencepiece
from bpe_cli.formats.dialects.models import LLAMA_CPP, pieces_split_at, split_at
from bpe_cli.formats.dialects.score_merges import merges_of_scores, order_of_runs, scores_of_merges, spelt_alone
from bpe_cli.formats.features import LOSSES
from bpe_cli.stages import (
    CharacterBpe,
    Charsmap,
    Metaspace,
    MetaspaceDecoder,
    Prepend,
    Replace,
    ScoredBpe,
    SpaceMarks,
    SpaceMarksDecoder,
    SpecialToken,
    Split,
    Unigram,
    WordLevel,
)
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer
from tests.charsmaps import in_base64

AGREED = frozenset({EDGES})
UNK = SpecialToken(b"<unk>", 0)


def scored(pieces: dict[str, float], kinds: dict[str, int] | None = None, **fields: object) -> ScoredBpe:
    """Make a model whose id 0 is the unknown token."""
    kinds = kinds or {}
    return ScoredBpe(
        Vocabulary.from_tokens([b"", *(piece.encode() for piece in pieces)]),
        array("d", [0.0, *pieces.values()]),
        0,
        bytes([2, *(kinds.get(piece, 1) for piece in pieces)]),
        **fields,
    )


def merged(pieces: list[str], merges: list[tuple[str, str]], **fields: object) -> CharacterBpe:
    ids = {piece: number for number, piece in enumerate(pieces, start=1)}
    triples = [(ids[left], ids[right], ids[left + right]) for left, right in merges]
    vocabulary = Vocabulary.from_tokens([b"", *(piece.encode() for piece in pieces)])
    return CharacterBpe(vocabulary, Merges.from_pairs(triples), 0, fuse_unk=True, **fields)


def in_words(model: ScoredBpe | CharacterBpe, merges: Merges) -> list[str]:
    texts = dict(model.vocabulary.items())
    return [f"{texts[left].decode()} {texts[right].decode()}" for left, right, _ in merges]


# -- worked examples -------------------------------------------------------------------------------


def test_merges_are_all_pairs_in_the_order_of_scores():
    model = scored({"a": -9, "b": -9, "c": -9, "bc": -1, "abc": -2, "ab": -3})
    assert in_words(model, merges_of_scores(model)) == ["b c", "a bc", "ab c", "a b"]


def test_scores_count_down_in_the_order_in_which_tokens_are_made():
    model = merged(["a", "b", "c", "abc", "bc", "ab"], [("ab", "c"), ("b", "c"), ("a", "bc"), ("a", "b")])
    pieces = {token.decode(): token_id for token_id, token in model.vocabulary.items()}
    # "abc" is made of "a" and "bc", whatever the list says first: its own pair is the third.
    named = {
        piece: score for piece, token_id in pieces.items() for score in [scores_of_merges(model, pieces)[token_id]]
    }
    assert named == {"bc": 0, "abc": -1, "ab": -2, "a": -3, "b": -4, "c": -5}


def test_llama_says_the_same_in_both_words():
    model = scored({"▁": -5, "a": -6, "b": -7, "▁a": -1, "ab": -2})
    theirs = Tokenizer(
        model,
        (),
        (UNK,),
        normalizer=(SpaceMarks(remove_extra_whitespaces=False),),
        decoder=(SpaceMarksDecoder(remove_extra_whitespaces=False),),
    )
    ours = to_hugging_face(theirs)
    assert isinstance(ours.model, CharacterBpe)
    assert ours.normalizer == (Prepend("▁"), Replace(" ", "▁", literal=True))
    assert ours.pre_tokenizer == ()
    back, lost = to_sentencepiece(ours)
    assert not lost
    assert back.model.vocabulary == model.vocabulary
    assert (back.normalizer, back.decoder) == (theirs.normalizer, theirs.decoder)
    for text in ("", " ", "ab", " ab", "ab  ab ", "xab", "a x yb", "▁", "▁▁ a▁"):
        assert ours.encode(text) == theirs.encode(text) == back.encode(text), text
        ids = theirs.encode(text)
        assert ours.decode_bytes(ids) == theirs.decode_bytes(ids), text


def test_what_is_nothing_to_translate_comes_back_as_it_is():
    plain = Tokenizer(merged(["a"], []))
    assert to_hugging_face(plain) is plain
    marked = Tokenizer(scored({"a": 0}), normalizer=(SpaceMarks(),))
    assert to_sentencepiece(marked) == (marked, {})
    assert to_sentencepiece(marked)[0] is marked


def said(error: FormatError, words: str) -> None:
    assert words in error.message


# -- scores and merges on random vocabularies -------------------------------------------------------


def random_model(chance: random.Random) -> tuple[str, ScoredBpe]:
    """Make a model of few characters, where pieces overlap and scores are often equal."""
    alphabet = chance.choice(("ab", "abc"))
    runs = chance.random() < 0.4
    pieces = {
        "a" * chance.randint(2, 9) if runs else "".join(chance.choices(alphabet, k=chance.randint(2, 5)))
        for _ in range(chance.randint(1, 12))
    }
    texts = [*alphabet, *sorted(pieces)]
    chance.shuffle(texts)
    depth = chance.choice((5, 30))
    equal = chance.random() < 0.5

    def score(text: str) -> float:
        if equal and len(set(text)) == 1:
            return -float(depth)
        return -chance.randint(0, depth) - (chance.random() if equal else 0.0)

    return alphabet, scored({text: score(text) for text in texts})


def texts_of(alphabet: str, chance: random.Random) -> list[bytes]:
    texts = ["".join(chance.choices(alphabet + "x" * (chance.random() < 0.1), k=25)) for _ in range(40)]
    return [text.encode() for text in (*texts, *("a" * length for length in range(1, 40)))]


@pytest.mark.parametrize("seed", range(6))
def test_merges_do_what_scores_do(seed):
    chance = random.Random(seed)
    exact = 0
    for _ in range(60):
        alphabet, model = random_model(chance)
        try:
            merges = merges_of_scores(model)
        except FormatError as error:
            said(error, "same score")
            continue
        exact += 1
        texts = texts_of(alphabet, chance)
        other = CharacterBpe(model.vocabulary, merges, 0, fuse_unk=True)
        assert spelt_alone(other, texts) == spelt_alone(model, texts), model
    assert exact > 30


@pytest.mark.parametrize("seed", range(6))
def test_scores_do_what_any_merges_do(seed):
    chance = random.Random(seed)
    exact = 0
    for _ in range(60):
        alphabet, model = random_model(chance)
        pieces = {token.decode(): token_id for token_id, token in model.vocabulary.items()}
        pairs = [
            (pieces[text[:middle]], pieces[text[middle:]], token_id)
            for text, token_id in pieces.items()
            for middle in range(1, len(text))
            if text[:middle] in pieces and text[middle:] in pieces and chance.random() < 0.8
        ]
        chance.shuffle(pairs)
        by_merges = CharacterBpe(model.vocabulary, Merges.from_pairs(pairs), 0, fuse_unk=True)
        try:
            scores = scores_of_merges(by_merges, pieces)
        except FormatError as error:
            said(error, "no merge makes")
            continue
        exact += 1
        by_scores = replace(
            model, scores=array("d", [0.0, *(scores[token_id] for token_id in range(1, len(pieces) + 1))])
        )
        texts = texts_of(alphabet, chance)
        assert spelt_alone(by_scores, texts) == spelt_alone(by_merges, texts), pairs
    assert exact > 20


def test_runs_of_one_score_grow_from_the_left():
    lengths = [*range(2, 15), 16]  # what Mistral's models have: no run of 15
    ids = {1: 99} | {length: length for length in lengths}
    order = order_of_runs(lengths, ids)
    # In the order of ids, 14 and 3 would come of 17, for a run of 2 grows before 14 and 2 become 16.
    assert order is not None
    assert order.index((14, 2)) < order.index((2, 1)) < order.index((1, 1))
    model = scored({"▁" * length: -1.0 for length in lengths} | {"▁": -9.0})
    (ids_of_17,) = spelt_alone(CharacterBpe(model.vocabulary, merges_of_scores(model), 0), ["▁".encode() * 17])
    assert [len(model.vocabulary.token(each).decode()) for each in ids_of_17] == [16, 1]
    # Where there is a run of each length, the order of ids does it, which is the one in published files.
    assert order_of_runs([2, 3], {1: 9, 2: 1, 3: 2}) == [(2, 1), (1, 2), (1, 1)]
    assert order_of_runs([3], {1: 1, 3: 2}) is None


# -- refused, and named ------------------------------------------------------------------------------


def refused(tokenizer: Tokenizer, agreed: frozenset[str] = AGREED) -> str:
    with pytest.raises(FormatError) as caught:
        to_hugging_face(tokenizer, agreed)
    assert caught.value.hint
    return caught.value.message


def test_equal_scores_are_refused_where_order_matters():
    assert "the same score" in refused(Tokenizer(scored({"a": 0, "b": 0, "ab": -1, "ba": -1}), (), (UNK,)))
    # "abc" is never made, since neither "ab" nor "bc" is there: nothing depends on its score.
    model = scored({"a": 0, "b": 0, "c": 0, "ca": -1, "abc": -1})
    assert len(to_hugging_face(Tokenizer(model, (), (UNK,))).model.merges) == 1


def test_unused_pieces_and_foreign_characters_are_refused():
    assert "unused" in refused(Tokenizer(scored({"a": 0, "b": 0, "ab": -1}, {"ab": 5}), (), (UNK,)))
    assert 'made of "b"' in refused(Tokenizer(scored({"a": 0, "ab": -1}), (), (UNK,)))


def test_marks_behind_words_are_refused():
    normalizer = (SpaceMarks(treat_whitespace_as_suffix=True),)
    assert "after the text" in refused(Tokenizer(scored({"a": 0}), (), (UNK,), normalizer=normalizer))


def test_words_are_refused():
    model = WordLevel(Vocabulary.from_tokens([b"", b"a"]), 0, fuse_unk=True)
    assert "unknown words" in refused(Tokenizer(model, (), (UNK,)))


def test_token_that_only_scores_would_make_is_refused():
    tokenizer = Tokenizer(merged(["a", "b", "ab"], []), (), (UNK,), normalizer=(Prepend("▁"),))
    assert 'no merge makes the token "ab"' in refused_by_sentencepiece(tokenizer)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"end_of_word_suffix": "</w>"}, "</w>"),
        ({"continuing_subword_prefix": "##"}, "##"),
        ({"byte_fallback": True}, "<0x00>"),
    ],
)
def test_what_sentencepiece_has_no_words_for_is_named(fields, said):
    assert said in refused_by_sentencepiece(Tokenizer(merged(["a"], [], **fields), (), (UNK,)))


def refused_by_sentencepiece(tokenizer: Tokenizer) -> str:
    with pytest.raises(FormatError) as caught:
        to_sentencepiece(tokenizer)
    return caught.value.message


def test_no_unknown_token_is_refused():
    assert "unknown token" in refused_by_sentencepiece(Tokenizer(replace(merged(["a"], []), unk_id=None)))


def test_other_stages_are_named():
    model = merged(["▁", "a"], [])
    other = Tokenizer(model, (Split("x"),), (UNK,))
    assert "(Split)" in refused_by_sentencepiece(other)
    undecoded = Tokenizer(model, (), (UNK,), normalizer=(Prepend("▁"), Replace(" ", "▁", literal=True)))
    assert "its decoder: none" in refused_by_sentencepiece(undecoded)


def unigram(**fields: object) -> Unigram:
    tokens = [b"", "▁a".encode(), "▁".encode(), b"a", b"b"]
    return Unigram(Vocabulary.from_tokens(tokens), array("d", [0.0, -1.0, -2.0, -3.0, -4.0]), 0, **fields)


def test_an_unknown_token_that_text_becomes_is_an_edge():
    pieces = {"a": -1.0, "b": -2.0, "ab": -3.0}
    model = replace(scored(pieces), unk_id=1, kinds=b"")
    tokenizer = Tokenizer(model)
    with pytest.raises(FormatError, match='the text "a", the unknown token\'s, beside unknown characters'):
        to_hugging_face(tokenizer, frozenset())
    written = to_hugging_face(tokenizer, AGREED)
    assert (tokenizer.encode("zab"), written.encode("zab")) == ([1, 3], [1, 3])
    assert (tokenizer.encode("za"), written.encode("za")) == ([1], [1, 1])


def test_edges_are_named_and_can_be_agreed_to():
    assert EDGES in LOSSES
    tokenizer = Tokenizer(
        unigram(single_precision=True, kinds=bytes([2, 1, 1, 1, 1])),
        (),
        (UNK,),
        normalizer=(SpaceMarks(),),
        decoder=(SpaceMarksDecoder(),),
    )
    with pytest.raises(FormatError, match="single and Hugging Face's library in double precision") as caught:
        to_hugging_face(tokenizer)
    assert f'`allow_loss=["{EDGES}"]`' in caught.value.hint
    written = to_hugging_face(tokenizer, AGREED)
    assert written.encode(" a  b x") == tokenizer.encode(" a  b x")
    assert not written.model.single_precision
    assert not written.model.kinds


def test_text_that_a_table_makes_a_special_token_is_an_edge():
    model = unigram(single_precision=True, kinds=bytes([2, 1, 1, 1, 1]))
    end = SpecialToken(b"</s>", 5)
    for specials, named in (((UNK,), False), ((UNK, end), True)):
        tokenizer = Tokenizer(model, (), specials, normalizer=(Charsmap(in_base64("nfkc")), SpaceMarks()))
        with pytest.raises(FormatError, match="its table of rules") as caught:
            to_hugging_face(tokenizer)
        assert (
            'text that the table makes "</s>", which then becomes the special token' in caught.value.message
        ) is named


def test_metaspace_is_read_with_its_edges():
    tokenizer = Tokenizer(unigram(), (Metaspace(),), (UNK,), decoder=(MetaspaceDecoder(),))
    read, lost = to_sentencepiece(tokenizer)
    assert "begin with a blank" in lost[EDGES]
    assert "adds in single and this tokenizer in double precision" in lost[EDGES]
    assert read.normalizer == (SpaceMarks(remove_extra_whitespaces=False),)
    assert read.pre_tokenizer == ()
    assert read.encode("a b") == tokenizer.encode("a b")


def test_llama_cpp_adds_scores_as_hugging_face_does():
    tokenizer = Tokenizer(unigram(), (Metaspace(prepend_scheme="never"),), (UNK,), decoder=(MetaspaceDecoder(),))
    read, lost = to_sentencepiece(tokenizer, LLAMA_CPP)
    assert not read.model.single_precision
    assert "scores" not in lost[EDGES]
    assert "which llama.cpp reads as a sign of its own" in lost[EDGES]
    finer = replace(unigram(), scores=array("d", [0.0, -1.1, -2.0, -3.0, -4.0]))
    assert (
        "which the file has in single precision"
        in to_sentencepiece(replace(tokenizer, model=finer), LLAMA_CPP)[1][EDGES]
    )
    single = replace(tokenizer, model=unigram(single_precision=True))
    assert "adds in double and this tokenizer in single" in to_sentencepiece(single, LLAMA_CPP)[1][EDGES]


def test_token_across_a_cut_is_refused():
    vocabulary = Vocabulary.from_tokens([b"", "a▁b".encode()])
    tokenizer = Tokenizer(Unigram(vocabulary, array("d", [0.0, -1.0]), 0), (Metaspace(),), (UNK,))
    assert "goes across a mark" in refused_by_sentencepiece(tokenizer)


# -- pieces of a user's own ---------------------------------------------------------------------------


def test_own_pieces_are_cut_out():
    pieces = {"▁": -5, "a": -6, "b": -7, "ab": -1, "ba": -2, "a|b": 0, "(a": 0, "(ab)": 0}
    own = {"a|b": 4, "(a": 4, "(ab)": 4}
    tokenizer = Tokenizer(scored(pieces, own), (), (UNK,), normalizer=(SpaceMarks(),), decoder=(SpaceMarksDecoder(),))
    written = to_hugging_face(tokenizer)
    assert written.model.ignore_merges
    chance = random.Random(1)
    for _ in range(300):
        text = "".join(chance.choices(("a", "b", " ", "(a", "(ab)", "a|b", "ab", "x"), k=chance.randint(1, 9)))
        assert written.encode(text) == tokenizer.encode(text), text
    back, lost = to_sentencepiece(written)
    assert not lost
    assert back.model.kinds == tokenizer.model.kinds
    assert back.normalizer == tokenizer.normalizer


def test_scores_of_own_pieces_are_written_down():
    """Random tokenizer 505 of seed 5, where the highest score had been taken for a factor."""
    model = unigram(kinds=bytes([2, 4, 1, 1, 1]))
    model = replace(model, scores=array("d", [0.0, 0.0, 2.0, -3.0, 1.5]))
    tokenizer = Tokenizer(model, (), (UNK,), normalizer=(SpaceMarks(),), decoder=(SpaceMarksDecoder(),))
    written = to_hugging_face(tokenizer)
    assert written.model.scores[1] == pytest.approx(0.3)  # four bytes
    chance = random.Random(2)
    for _ in range(300):
        text = "".join(chance.choices("ab ▁x", k=chance.randint(1, 12)))
        assert written.encode(text) == tokenizer.encode(text), text


def test_split_at_pieces_reads_back():
    pieces = ["a|b", "\\", "x\ny", "[(", "|", "a"]
    assert sorted(pieces_split_at(split_at(pieces))) == sorted(pieces)
    assert pieces_split_at(Split("a+")) is None
    assert pieces_split_at(Metaspace()) is None


def test_text_of_a_byte_between_own_pieces_is_no_byte():
    pieces = {f"<0x{byte:02X}>": 0.0 for byte in range(256)} | {"▁": -5.0, "<n>": 0.0} | dict.fromkeys("<0x4>", -6.0)
    kinds = dict.fromkeys(list(pieces)[:256], 6) | {"<n>": 4}
    model = scored(pieces, kinds, byte_fallback=True)
    tokenizer = Tokenizer(
        model, (), (UNK,), normalizer=(SpaceMarks(add_dummy_prefix=False),), decoder=(SpaceMarksDecoder(),)
    )
    written = to_hugging_face(tokenizer)
    for text in ("<0x41>", "<n><0x41><n>", "<n><0x41", "a<0x41>", "<n>é<n>", "<0x4><n>"):
        assert written.encode(text) == tokenizer.encode(text), text
