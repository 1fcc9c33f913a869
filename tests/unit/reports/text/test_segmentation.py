import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.reports.text.characters import split_graphemes
from bpe_cli.reports.text.segmentation import Part, TextReader, first_difference, segment
from tests.unit.reports.fake_tokenizer import FakeSpecial, FakeTokenizer
from tests.unit.reports.published import published

END = FakeSpecial(b"<|end|>", 300)


def spans(segmentation):
    return [(t.content, t.start, t.end, t.character_start, t.character_end) for t in segmentation.tokens]


def test_ascii_by_hand():
    result = segment(FakeTokenizer([b"He", b"ll", b"Hell", b" x"], name="tiny"), b"Hello x")
    assert spans(result) == [(b"Hell", 0, 4, 0, 4), (b"o", 4, 5, 4, 5), (b" x", 5, 7, 5, 7)]
    assert [t.piece for t in result.tokens] == [0, 0, 1]
    assert (result.token_count, result.byte_count, result.character_count) == (3, 7, 7)
    assert result.bytes_per_token == result.characters_per_token == 7 / 3
    assert result.round_trip
    assert result.tokenizer == "tiny"


def test_character_in_two_tokens_by_hand():
    result = segment(FakeTokenizer([b"\xe8\xb0"]), "a谁b".encode())
    assert spans(result) == [(b"a", 0, 1, 0, 1), (b"\xe8\xb0", 1, 3, 1, 2), (b"\x81", 3, 4, 1, 2), (b"b", 4, 5, 2, 3)]
    groups = list(result.groups())
    assert [(g.first, g.end) for g in groups] == [(0, 1), (1, 3), (3, 4)]
    assert groups[1].parts == (Part("谁", 1, (b"\xe8\xb0", b"\x81"), split=True),)
    assert (result.byte_count, result.character_count) == (5, 3)


def test_a_group_shows_what_stands_beside_the_split_character():
    tokens = FakeTokenizer([b"b\xe8", b"ab\xe8", b"\x81c", b"\xb0\x81c"])
    result = segment(tokens, "ab谁c".encode())
    (group,) = result.groups()
    assert group.parts == (
        Part("ab", 0, (b"ab",)),
        Part("谁", 0, (b"\xe8", b"\xb0\x81"), split=True),
        Part("c", 1, (b"c",)),
    )


def test_grapheme_cluster_of_whole_characters_is_one_group():
    text = "e\u0301x"
    result = segment(FakeTokenizer(["\u0301".encode()]), text.encode())
    groups = list(result.groups())
    assert [g.parts[0].text for g in groups] == ["e\u0301", "x"]
    assert groups[0].parts[0].contents == (b"e", b"\xcc\x81")


def test_carriage_return_and_line_feed_are_apart():
    assert not list(split_graphemes([b"\r", b"\n", "é".encode()]))


def test_clusters_do_not_reach_over_special_tokens():
    result = segment(FakeTokenizer(specials=[END]), "<|end|>\u0301".encode(), "all")
    assert [g.parts[0].special for g in result.groups()] == [True, False]
    assert [t.piece for t in result.tokens] == [None, 0, 0]
    assert result.tokens[0].token_id == 300


def test_special_tokens_are_text_unless_asked_for():
    assert segment(FakeTokenizer(specials=[END]), b"<|end|>").token_count == 7
    result = segment(FakeTokenizer(specials=[END]), b"a<|end|>b", ["<|end|>"])
    assert [(t.content, t.special, t.start, t.end, t.piece) for t in result.tokens] == [
        (b"a", False, 0, 1, 0),
        (b"<|end|>", True, 1, 8, None),
        (b"b", False, 8, 9, 1),
    ]


def test_prefix_space_belongs_to_no_byte():
    result = segment(FakeTokenizer([b" h"], prefix_space=True), b"hi")
    assert spans(result) == [(b" h", 0, 1, 0, 1), (b"i", 1, 2, 1, 2)]
    assert result.differs_at == 0
    assert not result.round_trip
    assert result.byte_count == 2


def test_invalid_bytes_are_characters():
    result = segment(FakeTokenizer(), b"\xff\xe8\xb0")
    assert [(t.character_start, t.character_end) for t in result.tokens] == [(0, 1), (1, 2), (2, 3)]
    assert not result.splits


def test_empty_text():
    result = segment(FakeTokenizer(), b"")
    assert (result.tokens, result.bytes_per_token, result.characters_per_token) == ((), None, None)
    assert result.round_trip
    assert list(result.groups()) == []


def test_excerpt_clips_inside_a_split_character():
    result = segment(FakeTokenizer(), "a谁b".encode())
    excerpt = result.excerpt(2)
    assert excerpt.more == 3
    assert len(excerpt.tokens) == 2
    assert excerpt.groups[-1].parts == (Part("谁", 1, (b"\xe8",), split=True, clipped=True),)
    assert result.excerpt(None).more == result.excerpt(5).more == 0
    assert result.excerpt(0).groups == ()


@pytest.mark.parametrize("text", ["👩\u200d👩\u200d👧!", "नमस्ते", "\u0600123", "🇩🇪🇫🇷", "é1é1x\u0301"])
def test_splits_are_those_of_all_clusters(text):
    data = text.encode()
    expected, position = [], 0
    for cluster in regex.findall(r"\X", text):
        size = len(cluster.encode())
        if size > 1:
            expected.append((position, cluster))
        position += size
    splits = list(split_graphemes([bytes([b]) for b in data]))
    assert [(split.first, split.text) for split in splits] == expected


texts = st.one_of(
    st.binary(max_size=40),
    st.text(max_size=20).map(str.encode),
    st.text(alphabet="aé谁\u0301\u200d👩🏽\r\n \u0600क्षि", max_size=20).map(str.encode),
)
vocabularies = st.lists(st.binary(min_size=2, max_size=4), max_size=8, unique=True)


@given(texts, vocabularies, st.booleans())
def test_spans_and_groups_cover_the_text(text, tokens, prefix_space):
    pairs = [text[i : i + 2] for i in range(0, len(text) - 1, 3)]
    tokenizer = FakeTokenizer(dict.fromkeys([*tokens, *pairs]), specials=[END], prefix_space=prefix_space)
    result = segment(tokenizer, text, "all")
    assert b"".join(text[t.start : t.end] for t in result.tokens) == text
    decoded = text.decode("utf-8", "surrogateescape")
    assert result.character_count == len(decoded)
    offsets = [0]
    for character in decoded:
        offsets.append(offsets[-1] + len(character.encode("utf-8", "surrogateescape")))
    for t in result.tokens:
        if t.start < t.end:
            assert offsets[t.character_start] <= t.start < offsets[t.character_start + 1]
            assert offsets[t.character_end - 1] < t.end <= offsets[t.character_end]
    groups = list(result.groups())
    assert [n for g in groups for n in range(g.first, g.end)] == list(range(result.token_count))
    for g in groups:
        contents = b"".join(t.content for t in result.tokens[g.first : g.end])
        assert b"".join(b"".join(p.contents) for p in g.parts) == contents
        assert all(p.text.encode("utf-8", "surrogateescape") == b"".join(p.contents) for p in g.parts)
        assert sum(len(p.contents) - 1 for p in g.parts) == g.end - g.first - 1
    ordinary = [t.piece for t in result.tokens if t.piece is not None]
    assert ordinary == sorted(ordinary)
    assert set(ordinary) == set(range(max(ordinary, default=-1) + 1))


@given(texts, st.data())
def test_group_borders_are_grapheme_borders(text, data):
    cuts = sorted(data.draw(st.sets(st.integers(1, max(len(text) - 1, 1)))))
    contents = [part for part in (text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)) if part]
    decoded = text.decode("utf-8", "surrogateescape")
    borders, position = set(), 0
    for match in regex.finditer(r"\r|\X", decoded):
        position += len(match.group().encode("utf-8", "surrogateescape"))
        borders.add(position)
    splits = list(split_graphemes(contents))
    inside = {first + n for s in splits for first in [s.first + 1] for n in range(len(s.contents) - 1)}
    position = 0
    for number, content in enumerate(contents[:-1], 1):
        position += len(content)
        assert (number in inside) == (position not in borders)


@given(texts, vocabularies, st.booleans(), st.integers(0, 30))
def test_with_details_of_the_first_tokens_the_excerpt_is_the_same(text, tokens, prefix_space, limit):
    text = text + b"<|end|>" + text[::-1]
    pairs = [text[i : i + 3] for i in range(0, len(text) - 1, 3)]
    reader = TextReader(
        FakeTokenizer(dict.fromkeys([*tokens, *pairs]), specials=[END], prefix_space=prefix_space), "all"
    )
    some, whole = reader.segment(text, limit), reader.segment(text)
    assert some.excerpt(limit) == whole.excerpt(limit)
    assert some.tokens == whole.tokens[: len(some.tokens)]
    assert some.splits == tuple(split for split in whole.splits if split.first < len(some.tokens))
    totals = ("token_count", "byte_count", "character_count", "differs_at", "bytes_per_token", "placed")
    assert all(getattr(some, name) == getattr(whole, name) for name in totals)


@pytest.mark.parametrize("limit", [1, 2, 50, 150])
def test_a_cluster_longer_than_what_is_looked_at_first(limit):
    text = ("ab" + "\u0301" * 100 + "c").encode() + b" d" * 200
    reader = TextReader(FakeTokenizer())
    assert reader.segment(text, limit).excerpt(limit) == reader.segment(text).excerpt(limit)


def test_a_cluster_without_end_is_cut():
    text = ("e" + "\u0301" * 20_000).encode()
    some = TextReader(FakeTokenizer()).segment(text, 3)
    (group,) = some.excerpt(3).groups
    assert (len(some.tokens), some.token_count) == (3 + 4096, 40_001)
    assert (group.end, group.parts[0].contents, group.parts[0].clipped) == (3, (b"e", b"\xcc", b"\x81"), True)


def test_few_objects_are_made_where_few_are_wanted():
    some = TextReader(FakeTokenizer()).segment(b"abc " * 1000, 10)
    assert (len(some.tokens), some.token_count, some.excerpt(None).more) == (10, 4000, 3990)


@pytest.mark.parametrize(
    "name", ["gpt2-hf", "llama2-repaired", "bert-base-uncased", "t5-small", "roberta-base", "clip", "rwkv-world"]
)
def test_details_of_real_tokenizers(shared, name):
    paths = sorted(path for path in (shared / "vocabs" / name).iterdir() if path.suffix in {".json", ".model", ".txt"})
    path = next((path for path in paths if path.name in {"tokenizer.json", "tokenizer.model"}), paths[0])
    reader = TextReader(published(path).tokenizer, "all")
    text = ("Hello héllo <pad> <|endoftext|><mask> 谁👩\u200d👩\u200d👧  x\u0301\r\n" * 4).encode() + b"\xff\xe8"
    whole = reader.segment(text)
    for limit in (1, 5, 9, 17, 30):
        assert reader.segment(text, limit).excerpt(limit) == whole.excerpt(limit)
    assert [(t.token_id, t.start, t.end, t.special) for t in whole.tokens] == list(
        zip(whole.placed.ids, whole.placed.starts, whole.placed.ends, map(bool, whole.placed.special), strict=True)
    )


TEXTS = st.binary(max_size=12) | st.text(alphabet="aé谁🙂", max_size=6).map(str.encode)


@given(TEXTS, TEXTS)
def test_the_first_difference_is_that_of_a_walk(one, other):
    shorter = min(len(one), len(other))
    walked = next((place for place in range(shorter) if one[place] != other[place]), shorter)
    assert first_difference(one, other) == (None if one == other else walked)
