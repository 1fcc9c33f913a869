"""Hold the textbook's models over characters against the older formulation, and against Hugging Face's."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.teaching.bpe import character_words, train
from tests.needs import needs
from tests.oracle.character_bpe import byte_token, encode_by_scores, merge, order_of_merges, spell
from tests.oracle.encode import encode_by_merges
from tests.oracle.strategies import TEXT_WORDS

# -- worked examples -------------------------------------------------------------------------------


def test_the_end_of_a_word() -> None:
    assert spell("low", set("low") | {"w</w>"}, suffix="</w>") == ["l", "o", "w</w>"]
    assert spell("low", {*"low", "</w>"}, suffix="</w>", separate_suffix=True) == ["l", "o", "w", "</w>"]
    assert spell("", {"</w>"}, suffix="</w>", separate_suffix=True) == ["</w>"]


def test_unknown_characters() -> None:
    assert spell("axyb", "ab") == ["a", "b"]
    assert spell("axyb", "ab", unknown="?") == ["a", "?", "?", "b"]
    assert spell("axyb", "ab", unknown="?", fuse_unknown=True) == ["a", "?", "b"]
    in_bytes = {byte_token(byte) for byte in "é".encode()}
    assert spell("aéy", {"a"} | in_bytes, unknown="?", byte_fallback=True) == ["a", "<0xC3>", "<0xA9>", "?"]
    assert spell("é", {"<0xC3>"}, unknown="?", byte_fallback=True) == ["?"]  # one byte is missing


def test_a_product_leaves_out_a_prefix() -> None:
    order = order_of_merges([("##b", "##c"), ("a", "##bc")], prefix="##")
    assert merge(["a", "##b", "##c"], order) == ["abc"]


def test_scores() -> None:
    scores = {"▁": -9, "a": -9, "ab": -2, "bc": -1, "▁a": -1.5}
    assert encode_by_scores("▁abc", scores) == ["▁a", "bc"]
    assert encode_by_scores("▁abxy", scores) == ["▁a", "<unk>"]
    assert encode_by_scores("▁aé", scores, byte_fallback=True) == ["▁a", "<0xC3>", "<0xA9>"]
    assert encode_by_scores("abab", {"ab": 0, "ba": 0}) == ["ab", "ab"]


def test_a_users_own_pieces() -> None:
    scores = {"ab": 0.0, "bc": -1.0, "d": -2.0}
    assert encode_by_scores("abcd", scores, user_defined=["a"]) == ["a", "bc", "d"]
    assert encode_by_scores("abcd", scores, user_defined=["bc", "bcd"]) == ["<unk>", "bcd"]


def test_unused_pieces_are_taken_apart() -> None:
    scores = {"a": -9, "b": -9, "c": -9, "ab": -1, "abc": -2}
    assert encode_by_scores("abcab", scores, unused=["abc"]) == ["ab", "c", "ab"]
    assert encode_by_scores("abcab", scores, unused=["ab", "abc"]) == ["a", "b", "c", "a", "b"]


# -- properties ------------------------------------------------------------------------------------


@given(TEXT_WORDS, st.integers(0, 30), st.text("abßλ你𐍈", min_size=1, max_size=20))
def test_merges_are_merged_as_before(words: dict[str, int], size: int, piece: str) -> None:
    training = train(character_words(words, end=""), num_merges=size)
    merges, tokens = training.merges(), training.tokens()
    known = [character for character in piece if character in tokens]
    assert spell(piece, tokens) == known
    assert merge(known, order_of_merges(merges)) == encode_by_merges(known, merges)


@given(TEXT_WORDS, st.integers(0, 30), st.text("abßλ你𐍈", min_size=1, max_size=20))
def test_scores_in_the_order_of_merges_are_merges(words: dict[str, int], size: int, piece: str) -> None:
    training = train(character_words(words, end=""), num_merges=size)
    tokens = training.tokens()
    scores = {token: -float(number) for number, token in enumerate(tokens)}
    known = [character for character in piece if character in tokens]
    assert encode_by_scores("".join(known), scores) == encode_by_merges(known, training.merges())


@given(TEXT_WORDS, st.integers(0, 30), st.text("abßλ你x", min_size=1, max_size=20), st.booleans(), st.booleans())
def test_merges_are_hugging_face(words: dict[str, int], size: int, piece: str, fuse: bool, end: bool) -> None:
    tokenizers = needs("tokenizers")
    suffix = "</w>" if end else ""
    training = train(character_words(words, end=suffix, glued=True), num_merges=size)
    tokens = training.tokens()
    model = tokenizers.models.BPE(
        {token: number for number, token in enumerate([*tokens, "?"])},
        training.merges(),
        unk_token="?",
        fuse_unk=fuse,
        **({"end_of_word_suffix": suffix} if end else {}),
    )
    symbols = spell(piece, tokens, unknown="?", fuse_unknown=fuse, suffix=suffix)
    assert merge(symbols, order_of_merges(training.merges())) == [token.value for token in model.tokenize(piece)]
