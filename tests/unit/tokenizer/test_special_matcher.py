"""Special and added tokens in text: worked examples, against plain Python, against tokenizers."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli import _core
from bpe_cli.stages import WordLevel
from bpe_cli.stages.component_json import core_model
from bpe_cli.stages.splitters import segments
from bpe_cli.stages.vocabulary import Vocabulary
from tests.counted import at_least, compared
from tests.needs import needs
from tests.oracle.added_tokens import AddedToken, find_added_tokens

LSTRIP, RSTRIP, SINGLE_WORD, NORMALIZED = 1, 2, 4, 8
PIECES = ["a", "b", "ab", "<", ">", "é", " ", "  ", "\u3000", "\n", "_", "٣", "-", "\u0301"]

contents = st.lists(st.sampled_from(PIECES), min_size=1, max_size=3).map("".join)
texts = st.lists(st.one_of(st.sampled_from(PIECES), contents), max_size=14).map("".join)
tokens_with_flags = st.tuples(contents, st.integers(0, 15))
token_lists = st.lists(tokens_with_flags, min_size=1, max_size=5, unique_by=lambda token: token[0])


def compile_tokens(tokens, stages=None) -> _core.SpecialMatcher:
    return _core.SpecialMatcher(
        [content.encode() for content, _ in tokens],
        list(range(1, len(tokens) + 1)),
        bytes(flags for _, flags in tokens),
        stages,
    )


def in_bytes(text: str, found) -> list[tuple[int, int, int]]:
    ends = [0]
    for character in text:
        ends.append(ends[-1] + len(character.encode()))
    return [(ends[start], ends[end], token_id) for start, end, token_id in found]


def by_hand(text: str, tokens) -> list[tuple[int, int, int]]:
    """Two passes with the textbook's function, the second one in the stretches that the first one leaves."""
    passes = [
        [
            AddedToken(content, number, bool(flags & SINGLE_WORD), bool(flags & LSTRIP), bool(flags & RSTRIP))
            for number, (content, flags) in enumerate(tokens, 1)
            if bool(flags & NORMALIZED) == second
        ]
        for second in (False, True)
    ]
    found, taken = [], 0
    for start, end, token_id in [*find_added_tokens(text, passes[0]), (len(text), len(text), 0)]:
        if start > taken:
            inner = find_added_tokens(text[taken:start], passes[1])
            found += [(taken + first, taken + last, number) for first, last, number in inner]
        if token_id:
            found.append((start, end, token_id))
        taken = end
    return found


def by_tokenizers(text: str, tokens, normalizer=None):
    tokenizers = needs("tokenizers")
    rival = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    rival.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    if normalizer is not None:
        rival.normalizer = normalizer
    rival.add_tokens(
        [
            tokenizers.AddedToken(
                content,
                lstrip=bool(flags & LSTRIP),
                rstrip=bool(flags & RSTRIP),
                single_word=bool(flags & SINGLE_WORD),
                normalized=bool(flags & NORMALIZED),
            )
            for content, flags in tokens
        ]
    )
    encoding = rival.encode(text)
    found = zip(encoding.offsets, encoding.ids, strict=True)
    return [(start, end, token_id) for (start, end), token_id in found if token_id]


def test_flags_by_example():
    matcher = compile_tokens([("<l>", LSTRIP), ("<r>", RSTRIP), ("der", SINGLE_WORD), ("er", 0)])
    assert matcher.find_all(b"a  <l> b") == [(1, 6, 1)]
    assert matcher.find_all(b"a <r>  b") == [(2, 7, 2)]
    # Turned down inside `under`, `der` has used up the text of its `er`.
    assert matcher.find_all(b"under der over") == [(6, 9, 3), (12, 14, 4)]
    assert matcher.find(b"under der over") == (6, 9, 3)
    assert matcher.find(b"nothing") is None


def test_white_space_that_was_taken_is_not_found_again():
    """Theirs panics at more than one space: it cuts out a token that ends before it begins."""
    matcher = compile_tokens([("a", RSTRIP), (" ", LSTRIP)])
    assert matcher.find_all(b"xa b") == [(1, 3, 1)]
    assert by_tokenizers("xa b", [("a", RSTRIP), (" ", LSTRIP)]) == [(1, 3, 1)]
    assert matcher.find_all(b"xa    b ") == [(1, 6, 1), (7, 8, 2)]


def test_a_stray_byte_is_a_letter():
    matcher = compile_tokens([("ab", SINGLE_WORD)])
    assert matcher.find_all(b"\xffab ab\xe4 ab") == [(8, 10, 1)]


@given(texts, token_lists)
def test_as_the_textbook_finds_them(text, tokens):
    assert compile_tokens(tokens).find_all(text.encode()) == in_bytes(text, by_hand(text, tokens))


@at_least(10)
@given(texts, token_lists)
def test_as_tokenizers_finds_them(text, tokens):
    if any(flags & LSTRIP and not content.strip() for content, flags in tokens):
        return  # theirs may panic, see above
    ours = compile_tokens(tokens).find_all(text.encode())
    assert ours == in_bytes(text, by_tokenizers(text, tokens))
    compared()


@at_least(14)
@given(texts, token_lists)
def test_segments_hold_the_whole_text(text, tokens):
    matcher = compile_tokens(tokens)
    found = matcher.find_all(text.encode())
    if all(before[1] <= after[0] for before, after in pairwise(found)):
        assert b"".join(part for part, _ in segments(text.encode(), matcher)) == text.encode()
        assert [token_id for _, token_id in segments(text.encode(), matcher) if token_id] == [
            token_id for *_, token_id in found
        ]
        compared()


@at_least(31)
@given(texts, texts, token_lists)
def test_where_no_token_reaches_a_cut_both_sides_stand_alone(left, right, tokens):
    matcher = compile_tokens(tokens)
    data, cut = (left + right).encode(), len(left.encode())
    # Also as long as what follows is not known.
    for known in (len(data), (len(data) + cut) // 2, min(cut + 1, len(data)), cut):
        if matcher.moves_cut(data[:known], cut) is None:
            apart = matcher.find_all(data[:cut]) + [
                (start + cut, end + cut, token_id) for start, end, token_id in matcher.find_all(data[cut:])
            ]
            assert matcher.find_all(data) == apart
            compared()


@given(st.binary(max_size=12), token_lists)
def test_any_bytes_are_text(data, tokens):
    matcher = compile_tokens(tokens)
    for start, end, _ in matcher.find_all(data):
        assert 0 <= start < end <= len(data)
    assert matcher.moves_cut(data, len(data) // 2) in (None, max(len(data) // 2 - 1, 0))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([b"a"], []), "1 special tokens have 0 ids"),
        (([b"a"], [1], b"\0\0"), "1 special tokens have 2 flags"),
        (([b"a"], [1], b"\x10"), "has the flags 16, which are unknown"),
        (([b""], [1]), "a special token is empty"),
    ],
)
def test_what_contradicts_itself_is_refused(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        _core.SpecialMatcher(*arguments)


# -- behind a normalizer ---------------------------------------------------------------------------


def stages(normalizer: dict[str, object], *pre_tokenizers: dict[str, object]) -> _core.Stages:
    return _core.Stages(json.dumps({"normalizers": [normalizer], "pre_tokenizers": pre_tokenizers}))


def pipeline(normalizer: _core.Stages) -> _core.Encoder:
    """A tokenizer to which every text is unknown, as every word is to the rival's."""
    vocabulary = Vocabulary.from_tokens([b"[UNK]"])
    model = core_model(WordLevel(vocabulary, unk_id=0))
    return _core.Encoder(normalizer, model, (vocabulary.blob, vocabulary.ends))


def found_by(matcher: _core.SpecialMatcher, normalizer: _core.Stages, text: str) -> list[tuple[int, int, int]]:
    data = text.encode()
    ids, starts, ends = pipeline(normalizer).spans(data, matcher)
    columns = (memoryview(column).tolist() for column in (starts, ends, ids))
    return [found for found in zip(*columns, strict=True) if found[2]]


@at_least(12)
@given(
    texts.map(lambda text: text.replace("a", "A")),
    st.lists(tokens_with_flags, min_size=1, max_size=5, unique_by=lambda token: token[0].lower()),
)
def test_normalized_tokens_as_tokenizers_finds_them(text, tokens):
    tokenizers = needs("tokenizers")
    lowercase = stages({"type": "Lowercase"})
    if any(flags & LSTRIP and not content.strip() for content, flags in tokens):
        return  # theirs may panic, see above
    ours = found_by(compile_tokens(tokens, lowercase), lowercase, text)
    assert ours == in_bytes(text, by_tokenizers(text, tokens, tokenizers.normalizers.Lowercase()))
    compared()


def test_contents_are_normalized_and_the_first_of_equal_ones_counts():
    lowercase = stages({"type": "Lowercase"})
    matcher = compile_tokens([("AB", NORMALIZED), ("ab", NORMALIZED), ("Ab", 0)], lowercase)
    assert matcher.looks_in_normalized
    assert found_by(matcher, lowercase, "ab aB Ab") == [(0, 2, 1), (3, 5, 1), (6, 8, 3)]
    assert matcher.find_all(b"ab aB Ab") == [(6, 8, 3)]


def test_content_of_which_nothing_is_left_is_never_found():
    """Theirs finds it everywhere: an empty match splits the text at each place."""
    tokenizers = needs("tokenizers")
    strip = stages({"type": "Strip", "strip_left": True, "strip_right": True})
    tokens = [(" ", NORMALIZED)]
    assert found_by(compile_tokens(tokens, strip), strip, "xay") == []
    rival = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    rival.normalizer = tokenizers.normalizers.Strip()
    rival.add_tokens([tokenizers.AddedToken(" ", normalized=True)])
    assert len(rival.encode("xay").ids) > 1


def test_cuts_behind_a_normalizer_are_answered_from_the_text_around():
    lowercase = stages({"type": "Lowercase"}, {"type": "WhitespaceSplit"})
    matcher = compile_tokens([("MID CUT", NORMALIZED)], lowercase)
    words = b"some words stand here " * 20
    text = words + b"in MiD cUt of " + words
    inside = text.index(b" cUt")
    outside = len(b"some words stand here " * 10) - 1
    assert matcher.moves_cut(text, inside) == inside - 1
    assert matcher.moves_cut(text, outside) is None
    assert matcher.moves_cut(text, 5) == 4, "too little is known of what stands before"
