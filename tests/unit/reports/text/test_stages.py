"""What each stage makes of a text: by hand, by its laws, and as Hugging Face's library has it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.errors import InputError, UsageError
from bpe_cli.reports.text.segmentation import segment
from bpe_cli.reports.text.stages import LARGEST_TEXT, Change, show_stages
from bpe_cli.stages import (
    NFC,
    CharacterBpe,
    Lowercase,
    MergeBpe,
    PrefixSpace,
    Replace,
    SpecialToken,
    Split,
    Strip,
    WhitespaceSplit,
    WordLevel,
)  # fmt: skip
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.named_encodings import find
from tests.needs import needs
from tests.unit.reports.published import published

GPT2 = find("gpt2")
LETTERS = [bytes([byte]) for byte in range(256)]
BERT = '{"type": "BertProcessing", "sep": ["b", 98], "cls": ["a", 97]}'


def shown(tokenizer, text, specials=()):
    content = text if isinstance(text, bytes) else text.encode()
    return show_stages(tokenizer, content, segment(tokenizer, content, specials), specials)


def characters(**stages):
    tokens = [b"<unk>", *(character.encode() for character in "abcdefghijklmnopqrstuvwxyz é")]
    model = CharacterBpe(Vocabulary.from_tokens(tokens), Merges.from_pairs([]), unk_id=0)
    return Tokenizer(model, **stages)


def test_pieces_of_a_text_that_is_only_split():
    report = shown(GPT2, "naïve  x<|endoftext|>y", "all")
    assert [(each.content, each.start, each.end) for each in report.pieces] == [
        ("naïve".encode(), 0, 6), (b" ", 6, 7), (b" x", 7, 9), (b"<|endoftext|>", 9, 22), (b"y", 22, 23),
    ]  # fmt: skip
    assert [(each.first, each.token_end, each.special) for each in report.pieces] == [
        (0, 2, False), (2, 3, False), (3, 4, False), (4, 5, True), (5, 6, False),
    ]  # fmt: skip
    assert report.normalizers == ()
    assert report.pre_tokenizers == ("Split gpt2",)
    assert report.decoded == "naïve  x<|endoftext|>y".encode()


def test_a_space_that_is_put_before():
    model = MergeBpe(Vocabulary.from_tokens(LETTERS), Merges.from_pairs([]))
    report = shown(Tokenizer(model, (PrefixSpace(), Split(r" ?\w+|\s"))), "ab cd")
    assert [(each.content, each.start, each.end, each.token_end) for each in report.pieces] == [
        (b" ab", 0, 2, 3), (b" cd", 2, 5, 6),
    ]  # fmt: skip


def test_normalizers_one_after_the_other():
    report = shown(characters(normalizer=(NFC(), Lowercase(), Strip())), " E\u0301B ")
    assert [(each.name, each.content.decode()) for each in report.normalizers] == [
        ("NFC", " ÉB "), ("Lowercase", " éb "), ("Strip", "éb"),
    ]  # fmt: skip
    assert [each.changes for each in report.normalizers] == [
        (Change(1, 4, "E\u0301".encode(), "É".encode()),),
        (Change(1, 5, "ÉB".encode(), "éb".encode()),),
        (Change(0, 1, b" ", b""), Change(5, 6, b" ", b"")),
    ]


def test_special_tokens_are_not_normalized():
    tokenizer = characters(
        normalizer=(Lowercase(),), pre_tokenizer=(WhitespaceSplit(),), special_tokens=(SpecialToken(b"<S>", 99),)
    )
    report = shown(tokenizer, "A <S> B", "all")
    assert report.normalizers[0].content == b"a <S> b"
    assert [(each.content, each.start, each.end, each.special) for each in report.pieces] == [
        (b"a", 0, 1, False), (b"<S>", 2, 5, True), (b"b", 6, 7, False),
    ]  # fmt: skip


def test_the_post_processor():
    model = MergeBpe(Vocabulary.from_tokens(LETTERS), Merges.from_pairs([]))
    report = shown(Tokenizer(model, post_processor=BERT), "xy")
    assert report.post_processor == ("BertProcessing",)
    assert report.processed.ids == [97, 120, 121, 98]
    assert report.contents == (b"a", b"x", b"y", b"b")
    assert report.special == (True, False, False, True)
    assert [token.token_id for token in report.segmentation.tokens] == [120, 121]


def test_what_cannot_be_shown():
    with pytest.raises(InputError, match="1 MiB"):
        show_stages(GPT2, b"a" * (LARGEST_TEXT + 1), segment(GPT2, b""))
    added = characters(
        normalizer=(Lowercase(), Replace("x", "yy")),
        pre_tokenizer=(WhitespaceSplit(),),
        special_tokens=(SpecialToken(b"Ab", 99, special=False, normalized=True),),
    )
    assert [each.content for each in shown(added, "cd").pieces] == [b"cd"]
    with pytest.raises(UsageError, match="in normalized text"):
        shown(added, "c aB d")


def test_unknown_pieces_may_share_a_token():
    model = WordLevel(Vocabulary.from_tokens([b"<unk>", b"a"]), unk_id=0, fuse_unk=True)
    report = shown(Tokenizer(model, pre_tokenizer=(WhitespaceSplit(),)), "x y a z")
    assert [(each.first, each.token_end) for each in report.pieces] == [(0, 1), (0, 1), (1, 2), (2, 3)]
    assert report.segmentation.token_count == 3


REAL = [
    "bert-base-uncased/vocab.txt", "t5-small/tokenizer.json", "llama2/tokenizer.model", "clip/tokenizer.json",
    "falcon/tokenizer.json", "hf-qwen2_5/tokenizer.json", "rwkv-world/rwkv_vocab_v20230424.txt",
    "xlnet-base-cased/spiece.model", "roberta-base/tokenizer.json", "subword-nmt-ref/bpe.ref",
]  # fmt: skip
texts = st.text(max_size=12).map(str.encode) | st.text(alphabet="aB é\u0301谁ﬁ  12\n_▁Ġ", max_size=15).map(str.encode)


@pytest.mark.parametrize("path", REAL)
@given(text=texts)
def test_laws(shared, path, text):
    tokenizer = published(shared / "vocabs" / path).tokenizer
    try:
        report = shown(tokenizer, text)
    except InputError:
        assert "falcon" in path, "a vocabulary that lacks bytes"
        return
    # Pieces come in order, and every token is of one of them.
    assert [each.first for each in report.pieces] == [0, *(each.token_end for each in report.pieces)][:-1][
        : len(report.pieces)
    ]
    assert (report.pieces[-1].token_end if report.pieces else 0) == report.segmentation.token_count
    assert all(0 <= each.start <= each.end <= len(text) for each in report.pieces)
    # The last normalizer gives what the core makes of all of them together.
    if report.normalizers:
        assert report.normalizers[-1].content == tokenizer.engine.normalize(text)
    # With its changes made, each text is the next one; the first one's offsets are those of the text.
    for stage in report.normalizers[:1]:
        position, made = 0, []
        for change in stage.changes:
            made += [text[position : change.start], change.after]
            assert text[change.start : change.end] == change.before
            position = change.end
        assert b"".join([*made, text[position:]]) == stage.content


@pytest.mark.parametrize("path", ["t5-small/tokenizer.json", "hf-qwen2_5/tokenizer.json", "clip/tokenizer.json"])
def test_pieces_are_those_of_an_independent_library(shared, path):
    tokenizers = needs("tokenizers")
    ours = published(shared / "vocabs" / path).tokenizer
    theirs = tokenizers.Tokenizer.from_file(str(shared / "vocabs" / path))
    for text in ("Hello  Wörld, it's 12345 ﬁne", "谁 e\u0301 x", "a\n\nb"):
        report = shown(ours, text)
        normal = theirs.normalizer.normalize_str(text)
        assert report.normalizers[-1].content.decode() == normal
        pieces = [piece for piece, _ in theirs.pre_tokenizer.pre_tokenize_str(normal)]
        contents = [each.content for each in report.pieces]
        spelt = path.startswith("hf-qwen")  # there bytes are the model's, and theirs are spelt
        from bpe_cli.stages.spelling import from_visible

        assert [piece if not spelt else from_visible(piece).decode() for piece in pieces] == [
            each.decode() for each in contents
        ]
