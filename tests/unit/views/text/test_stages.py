"""Stages of a small BERT, and warnings, as they are shown."""

import json

import pytest

from bpe_cli.reports.text.segmentation import segment
from bpe_cli.reports.text.stages import show_stages
from bpe_cli.reports.text.warnings import warn
from bpe_cli.stages import (
    NFC,
    BertNormalizer,
    BertPreTokenizer,
    SpecialToken,
    WordPiece,
    WordPieceDecoder,
)  # fmt: skip
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.named_encodings import find
from bpe_cli.views.as_json import segmentation_json
from bpe_cli.views.stages import StagesView
from bpe_cli.views.tokens import Notes, TokenView
from tests.unit.views.golden import CONSOLES, check, render

BERT = Tokenizer(
    WordPiece(
        Vocabulary.from_tokens([b"[UNK]", b"[CLS]", b"[SEP]", b"un", b"##read", b"##able", b",", b"e"]), unk_id=0
    ),
    normalizer=(NFC(), BertNormalizer()),
    pre_tokenizer=(BertPreTokenizer(),),
    decoder=(WordPieceDecoder(),),
    post_processor='{"type": "BertProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]", 1]}',
    special_tokens=tuple(SpecialToken(name, number) for number, name in enumerate((b"[UNK]", b"[CLS]", b"[SEP]"))),
)
TEXT = "Unreadable,\te\u0301 שלום [SEP] <|x|>\x1b[2J\n".encode()


@pytest.mark.parametrize("console", ["plain", "narrow", "256", "truecolor", "no-color"])
def test_golden_stages(console):
    segmentation = segment(BERT, TEXT, "all")
    view = StagesView(
        show_stages(BERT, TEXT, segmentation, "all"), notes=Notes(), warnings=warn(BERT, TEXT, segmentation, "all")
    )
    check(f"stages-{console}", render(view, **CONSOLES[console]))


@pytest.mark.parametrize("console", ["plain", "narrow", "256", "truecolor", "no-color"])
def test_golden_warnings(console):
    text = "\ufeffa\u00a0b <|endoftext|> <|im_start|> 谁 1987 2031\r\n\x1b[2J\xff ".encode() + b"\xff "
    gpt2 = find("gpt2")
    segmentation = segment(gpt2, text)
    check(
        f"warnings-{console}",
        render(TokenView(segmentation, warnings=warn(gpt2, text, segmentation)), **CONSOLES[console]),
    )


def test_a_long_text_is_cut_everywhere():
    text = b"a b " * 600
    gpt2 = find("gpt2")
    view = StagesView(show_stages(gpt2, text, segment(gpt2, text)), notes=Notes(), limit=100)
    shown = render(view, width=100)
    assert shown.count("and 1,101 more") == 2
    assert "and 2,300 more characters" in shown


def test_json():
    segmentation = segment(BERT, TEXT, "all")
    stages = show_stages(BERT, TEXT, segmentation, "all")
    value = segmentation_json(segmentation, warn(BERT, TEXT, segmentation, "all"), stages)
    assert value == json.loads(json.dumps(value))
    assert [each["kind"] for each in value["warnings"]] == ["foreign-special", "normalized", "unknown"]
    assert [each["type"] for each in value["stages"]["normalizer"]] == ["NFC", "BertNormalizer"]
    assert value["stages"]["normalizer"][0]["changes"] == [{"bytes": [12, 15], "before": "e\u0301", "after": "é"}]
    assert value["stages"]["pieces"][0] == {"text": "unreadable", "bytes": [0, 10], "tokens": [0, 3], "special": False}
    assert value["stages"]["post_processor"]["special_mask"][0] == 1
