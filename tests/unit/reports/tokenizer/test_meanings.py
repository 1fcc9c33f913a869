"""What tokens stand for: by hand, and as decoding has it."""

from __future__ import annotations

from array import array

import pytest

from bpe_cli import stages
from bpe_cli.reports.tokenizer.contents import meaning_of
from bpe_cli.reports.tokenizer.vocabulary_report import TokenKinds, describe
from bpe_cli.stages import CharacterBpe, ScoredBpe, WordLevel, WordPiece
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer
from tests.counted import at_least, compared
from tests.unit.reports.published import published


def tokenizer_of(texts, *, normalizer=(), pre_tokenizer=(), model=WordLevel, **options):
    vocabulary = Vocabulary.from_tokens(text.encode() for text in texts)
    return Tokenizer(model(vocabulary, **options), pre_tokenizer, normalizer=normalizer)


MARKED = ["▁", "▁the", "▁▁", "the", "▁7", "12", "a▁b"]
PLAIN = ["▁", "▁the", "▁▁", "the", "▁7", "12", "a▁b"]
BLANKS = [" ", " the", "  ", "the", " 7", "12", "a b"]


@pytest.mark.parametrize(
    ("normalizer", "pre_tokenizer", "meanings"),
    [
        ((), (), PLAIN),
        ((stages.Lowercase(),), (stages.Whitespace(),), PLAIN),
        ((), (stages.Metaspace(),), BLANKS),
        ((stages.SpaceMarks(),), (), BLANKS),
        ((stages.SpaceMarks(escape_whitespaces=False),), (), PLAIN),
        ((stages.Prepend("▁"), stages.Replace(" ", "▁", literal=True)), (), BLANKS),
        ((stages.Replace(" ", ""),), (), PLAIN),
        ((stages.Replace(r"\s+", " "),), (), PLAIN),
    ],
)
def test_blanks(normalizer, pre_tokenizer, meanings):
    tokenizer = tokenizer_of(MARKED, normalizer=normalizer, pre_tokenizer=pre_tokenizer)
    assert [meaning_of(tokenizer)(text.encode()).decode() for text in MARKED] == meanings


def test_bytes_by_name():
    texts = ["<0x41>", "<0x0A>", "<0xE8>", "<0xe8>", "<0x411>", "▁<0x41>", "▁a"]
    options = {"scores": array("d", [0.0] * len(texts)), "unk_id": 0, "model": ScoredBpe}
    marks = (stages.SpaceMarks(),)
    spelt = tokenizer_of(texts, normalizer=marks, byte_fallback=True, **options)
    meanings = [b"A", b"\n", b"\xe8", b"<0xe8>", b"<0x411>", b" <0x41>", b" a"]
    assert [meaning_of(spelt)(text.encode()) for text in texts] == meanings
    kinds = describe(spelt).kinds
    assert kinds == TokenKinds(single_bytes=3, not_utf8=1, leading_space=2, white_space=1, digits=0)
    plain = tokenizer_of(texts, normalizer=marks, **options)
    assert meaning_of(plain)(b"<0x41>") == b"<0x41>"


def test_ends_of_words_and_the_byte_alphabet():
    texts = ["a</w>", "a", "Ġ7</w>", "è°", "</w>", "谁</w>", "12</w>", "Ġ"]
    tokenizer = tokenizer_of(
        texts, pre_tokenizer=(stages.ByteLevel(),), model=CharacterBpe, merges=Merges(array("I")),
        end_of_word_suffix="</w>",
    )  # fmt: skip
    meanings = [b"a", b"a", b" 7", b"\xe8\xb0", b"</w>", "谁".encode(), b"12", b" "]
    assert [meaning_of(tokenizer)(text.encode()) for text in texts] == meanings
    kinds = describe(tokenizer).kinds
    assert kinds == TokenKinds(single_bytes=3, not_utf8=1, leading_space=1, white_space=1, digits=1)


def test_inner_parts_of_words():
    texts = ["[UNK]", "##a", "a", "##12", "##", "#"]
    tokenizer = tokenizer_of(texts, model=WordPiece, unk_id=0)
    assert [meaning_of(tokenizer)(text.encode()).decode() for text in texts] == ["[UNK]", "a", "a", "12", "##", "#"]
    assert describe(tokenizer).kinds == TokenKinds(3, 0, 0, 0, 1)


@at_least(2450)
@pytest.mark.parametrize("name", ["phi-3-mini", "llama2-repaired", "mistral-spm-v1", "t5-small", "rwkv-world"])
def test_meanings_are_what_decoding_gives(shared, name):
    """A token means what it adds to a decoded text, if it is UTF-8."""
    tokenizer = published(shared / "vocabs" / name).tokenizer
    meaning = meaning_of(tokenizer)
    first = tokenizer.encode("a")[-1]
    before = len(tokenizer.decode_bytes([first]))
    ordinary = [(i, token) for i, token in tokenizer.model.vocabulary.items() if i not in tokenizer.special_ids]
    for token_id, token in ordinary[:: max(1, len(ordinary) // 3000)]:
        added = tokenizer.decode_bytes([first, token_id])[before:]
        meant = meaning(token)
        try:
            meant.decode()
        except UnicodeDecodeError:
            continue
        assert added == meant, token
        compared()


def test_counts_of_published_tokenizers(shared):
    """Their bytes are 256, whether they are named or spelt; llama's two formats have the same tokens."""
    kinds = {
        name: published(shared / "vocabs" / name).report.kinds
        for name in ("rwkv-world", "llama2-repaired", "gguf-llama-spm", "clip")
    }
    assert kinds["llama2-repaired"] == kinds["gguf-llama-spm"]
    assert kinds["llama2-repaired"].single_bytes == 256 + 96  # the printable ones have a piece as well
    assert kinds["llama2-repaired"].leading_space == 16391
    assert kinds["rwkv-world"].single_bytes == 256
    assert kinds["clip"].single_bytes == 512  # each ends a word or does not
