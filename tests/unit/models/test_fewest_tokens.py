"""The fewest tokens of words whose tokens have marks: by the book, and never more than by the model's own way."""

from __future__ import annotations

from array import array

from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.stages import CharacterBpe, FewestTokens, SpecialToken, WhitespaceSplit, WordPiece
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.teaching.frontier.path_piece import fewest
from bpe_cli.teaching.longest_match import Marks
from bpe_cli.tokenizer import Tokenizer

LETTERS = ["a", "b", "é"]
LONGER = st.lists(st.text("abé", min_size=2, max_size=5), max_size=14, unique=True)
UNK = 0
UNKNOWN = (SpecialToken(b"<unk>", UNK),)


def vocabulary(tokens: list[str]) -> Vocabulary:
    """Number tokens from 1 on: 0 is the unknown token, which no text becomes."""
    return Vocabulary.from_tokens([b"", *(token.encode() for token in tokens)])


@given(LONGER, st.text("abé", min_size=1, max_size=16), st.sampled_from(["", "</w>"]), st.sampled_from(["", "##"]),
       st.booleans(), st.data())  # fmt: skip
def test_words_are_cut_by_the_book(
    longer: list[str], word: str, suffix: str, prefix: str, glued: bool, data: st.DataObject
) -> None:
    ends = st.sampled_from(["", suffix])
    drawn = [data.draw(st.sampled_from(["", prefix])) + each + data.draw(ends) for each in longer]
    known = [before + letter + after for letter in LETTERS for before in ("", prefix) for after in ("", suffix)]
    tokens = list(dict.fromkeys([*known, *filter(None, (suffix,)), *drawn]))
    marks = Marks(suffix, glued, prefix)
    spelt = {marks.token(token): token for token in tokens}
    tokenizer = Tokenizer(FewestTokens(vocabulary(tokens), UNK, False, suffix, not glued, prefix))
    ids = tokenizer.encode(word)
    assert [tokens[token_id - 1] for token_id in ids] == [spelt[each] for each in fewest(marks.word(word), spelt)]
    assert tokenizer.count(word) == len(ids)


@given(LONGER, st.text("abé #x", max_size=20), st.sampled_from([3, 100]))
def test_word_pieces_are_never_more(longer: list[str], text: str, limit: int) -> None:
    letters = [*LETTERS, *(f"##{letter}" for letter in LETTERS)]
    tokens = list(dict.fromkeys([*letters, *longer, *(f"##{token}" for token in longer[::2])]))
    model = WordPiece(vocabulary(tokens), UNK, max_input_chars_per_word=limit)
    greedy = Tokenizer(model, (WhitespaceSplit(),), UNKNOWN)
    least = greedy.with_fewest_tokens()
    ids, usual = least.tokens(text), greedy.tokens(text)
    assert len(ids) <= len(usual)
    # With all letters at hand, the same words are unknown.
    unknown = [[(each.start, each.end) for each in tokens if each.token_id == UNK] for tokens in (ids, usual)]
    assert unknown[0] == unknown[1]
    assert (ids[-1].end if ids else 0) == (usual[-1].end if usual else 0)


@given(LONGER, st.text("abéx ", max_size=20), st.booleans(), st.booleans())
def test_ends_of_words_are_never_more(longer: list[str], text: str, separate: bool, fused: bool) -> None:
    tokens = [*LETTERS, *(f"{letter}</w>" for letter in LETTERS), *(["</w>"] if separate else [])]
    pairs = []
    for token in longer:
        for end in ("", "</w>"):
            # Each token is merged from its first letter and the rest, if that is a token.
            left, right, whole = token[0], token[1:] + end, token + end
            if right in tokens and whole not in tokens:
                tokens.append(whole)
                pairs.append(tuple(tokens.index(each) + 1 for each in (left, right, whole)))
    merges = Merges(array("I", [number for pair in pairs for number in pair]))
    model = CharacterBpe(
        vocabulary(tokens), merges, UNK, fused, end_of_word_suffix="</w>", separate_suffix=separate
    )  # fmt: skip
    merged = Tokenizer(model, (WhitespaceSplit(),), UNKNOWN)
    least = merged.with_fewest_tokens()
    assert len(least.encode(text)) <= len(merged.encode(text))
    assert least.decode_bytes(least.encode(text)) == merged.decode_bytes(merged.encode(text))


def test_spans_and_unknown_characters() -> None:
    model = FewestTokens(vocabulary(["a", "ab</w>", "</w>"]), UNK, False, "</w>", separate_suffix=True)
    tokenizer = Tokenizer(model, special_tokens=UNKNOWN)
    spans = [(token.token_id, token.start, token.end) for token in tokenizer.tokens("éaab")]
    assert spans == [(UNK, 0, 2), (1, 2, 3), (2, 3, 5)]
    assert tokenizer.encode(b"\xe9a") == [UNK, 1, 3]
    fused = Tokenizer(FewestTokens(vocabulary(["a"]), UNK, True), special_tokens=UNKNOWN)
    assert fused.encode("xyaéé") == [UNK, 1, UNK]
    assert Tokenizer(FewestTokens(vocabulary(["a"]))).encode("xya") == [1]
    left_out = Tokenizer(FewestTokens(vocabulary(["a"]), None, True))
    spans = [(token.token_id, token.start, token.end) for token in left_out.tokens("xyayyaxx")]
    assert spans == [(1, 2, 3), (1, 5, 6)]  # where no token stands for what is unknown, none is joined to it
