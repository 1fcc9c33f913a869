"""Tokens are read as text, and what is less than a character is tied to it, in every kind of vocabulary."""

from array import array

import pytest

from bpe_cli.reports.text.characters import reading_of
from bpe_cli.reports.text.segmentation import segment
from bpe_cli.stages import ByteLevel, CharacterBpe, NGram, SpecialToken, Unigram
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer
from tests.unit.reports.published import published


def parts(result):
    return [[(part.text, part.contents) for part in group.parts] for group in result.groups()]


def test_byte_fallback_by_hand():
    names = [b"<unk>", b"a", b"<0xE8>", *(f"<0x{byte:02X}>".encode() for byte in range(256) if byte != 0xE8)]
    model = Unigram(Vocabulary.from_tokens(names), array("d", [-1.0] * 258), 0, byte_fallback=True)
    result = segment(Tokenizer(model), "a谁".encode())
    assert [token.content for token in result.tokens] == [b"a", b"<0xE8>", b"<0xB0>", b"<0x81>"]
    assert parts(result) == [[("a", (b"a",))], [("谁", (b"\xe8", b"\xb0", b"\x81"))]]


def test_the_visible_alphabet_by_hand():
    vocabulary = Vocabulary.from_tokens([b"a", "é".encode(), "Ġ</w>".encode(), "Ŀ".encode()])
    model = CharacterBpe(vocabulary, Merges.from_pairs([]), end_of_word_suffix="</w>")
    read = reading_of(Tokenizer(model, pre_tokenizer=(ByteLevel(),)))
    assert [read(token) for token in (b"a", "é".encode(), "Ġ</w>".encode(), "谁".encode())] == [
        b"a", b"\xe9", b" </w>", "谁".encode(),
    ]  # fmt: skip


def test_a_cluster_ends_with_its_word():
    tokens = [b"a</w>", "\u0301</w>".encode()]
    model = CharacterBpe(Vocabulary.from_tokens(tokens), Merges.from_pairs([]), end_of_word_suffix="</w>")
    from bpe_cli.stages import CharDelimiterSplit

    result = segment(Tokenizer(model, pre_tokenizer=(CharDelimiterSplit(" "),)), "a \u0301".encode())
    assert [token.reading for token in result.tokens] == tokens
    assert result.splits == ()


def test_overlapping_tokens_share_no_clusters():
    tokens = ["é".encode(), "e\u0301".encode(), b"e", "\u0301".encode()]
    result = segment(Tokenizer(NGram(Vocabulary.from_tokens(tokens), n=2)), "e\u0301".encode())
    assert result.splits == ()


def test_a_special_token_is_read_as_it_is():
    model = CharacterBpe(Vocabulary.from_tokens([b"a"]), Merges.from_pairs([]))
    tokenizer = Tokenizer(model, pre_tokenizer=(ByteLevel(),), special_tokens=(SpecialToken("Ġ".encode(), 9),))
    assert [token.reading for token in segment(tokenizer, "aĠ".encode(), "all").tokens] == [b"a", "Ġ".encode()]


@pytest.mark.parametrize(
    ("path", "contents"),
    [
        ("llama2/tokenizer.model", [b"\xe8", b"\xb0", b"\x81"]),
        ("hf-qwen2_5/tokenizer.json", [b"\xe8", b"\xb0", b"\x81"]),
        ("clip/tokenizer.json", [b"\xe8", b"\xb0", b"\x81"]),
    ],
)
def test_real_vocabularies(shared, path, contents):
    result = segment(published(shared / "vocabs" / path).tokenizer, "x 谁".encode())
    assert [(split.text, list(split.contents)) for split in result.splits] == [("谁", contents)]


FAMILY, JAMO, CONJUNCT = "👩‍👩‍👧", "\u1112\u1161\u11ab", "क्षि"


@pytest.mark.parametrize("cluster", [FAMILY, JAMO, CONJUNCT])
@pytest.mark.parametrize("path", ["llama2/tokenizer.model", "rwkv-world/rwkv_vocab_v20230424.txt"])
def test_clusters_of_several_characters(shared, path, cluster):
    result = segment(published(shared / "vocabs" / path).tokenizer, f"a {cluster} b".encode())
    assert [split.text for split in result.splits] == [cluster]
