"""Which tokens are fallbacks, in vocabularies small enough to see, and in real ones."""

from array import array

import pytest

from bpe_cli.reports.tokenizer.contents import Fallback, fallback_ids
from bpe_cli.stages import ByteLevel, CharacterBpe, RankBpe, Unigram, WordPiece
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.named_encodings import find
from tests.unit.reports.published import published

NOTHING = frozenset()


def test_bytes_of_longer_characters_are_fallbacks_of_byte_level_models():
    model = RankBpe(Vocabulary.from_tokens([b"a", b"\x7f", b"\x80", b"\xff", b"\xe4\xb8", "é".encode()]))
    assert fallback_ids(Tokenizer(model)) == Fallback(NOTHING, frozenset({2, 3}))


def test_bytes_that_are_spelt_visibly_are_read():
    vocabulary = Vocabulary.from_tokens(["Ġ".encode(), "Ģ".encode(), "Ģ</w>".encode(), b"a</w>", "é".encode()])
    model = CharacterBpe(vocabulary, Merges.from_pairs([]), end_of_word_suffix="</w>")
    # Ġ is a space, Ģ is 0x80 and é is 0xE9: one byte of a character each, but for the space.
    assert fallback_ids(Tokenizer(model, pre_tokenizer=(ByteLevel(),))).bytes == {1, 2, 4}
    assert fallback_ids(Tokenizer(model)) == Fallback(NOTHING, NOTHING)


def test_named_bytes_count_only_where_the_model_falls_back_on_them():
    vocabulary = Vocabulary.from_tokens([b"<unk>", b"a", b"<0x0A>", b"<0xE4>", b"<0xe4>"])
    scores = array("d", [0.0] * 5)
    assert fallback_ids(Tokenizer(Unigram(vocabulary, scores, 0, byte_fallback=True))) == Fallback(
        frozenset({0}), frozenset({2, 3})
    )
    assert fallback_ids(Tokenizer(Unigram(vocabulary, scores, 0))) == Fallback(frozenset({0}), NOTHING)


def test_a_model_of_words_has_only_its_unknown_token():
    model = WordPiece(Vocabulary.from_tokens([b"[UNK]", b"a", b"##a"]), unk_id=0)
    assert fallback_ids(Tokenizer(model)) == Fallback(frozenset({0}), NOTHING)


@pytest.mark.parametrize(
    ("path", "unknown", "byte_count"),
    [
        ("llama2/tokenizer.model", 1, 256),
        ("t5-small", 1, 0),
        ("bert-base-uncased", 1, 0),
        ("hf-qwen2_5", 0, 128),
    ],
)
def test_real_vocabularies(shared, path, unknown, byte_count):
    found = fallback_ids(published(shared / "vocabs" / path).tokenizer)
    assert (len(found.unknown), len(found.bytes)) == (unknown, byte_count)


def test_a_named_encoding():
    assert len(fallback_ids(find("cl100k_base")).bytes) == 128
