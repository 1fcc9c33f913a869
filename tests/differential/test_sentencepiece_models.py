"""Real SentencePiece models against what the sentencepiece library gives for them."""

from __future__ import annotations

import json

import pytest

from bpe_cli import _core
from bpe_cli.stages.component_json import core_spec
from tests.counted import at_least, compared
from tests.differential.published import loaded
from tests.differential.test_hugging_face_files import character_span
from tests.differential.texts import suite

MODELS = {
    "chatglm-6b": "vocabs/chatglm-6b/ice_text.model",
    "llama2": "vocabs/llama2/tokenizer.model",
    "mistral-spm-v1": "vocabs/mistral-spm-v1/tokenizer.model.v1",
    "mistral-spm-v3": "vocabs/mistral-spm-v3/mistral_instruct_tokenizer_240323.model.v3",
    "spm-bpe_example": "vocabs/spm-bpe_example/*.model",
    "spm-test_ja_model": "vocabs/spm-test_ja_model/*.model",
    "spm-test_model": "vocabs/spm-test_model/*.model",
    "xlnet-base-cased": "vocabs/xlnet-base-cased/*.model",
}
TRAINED = (
    "bpe.botchan.1000", "bpe.llama-style.1200", "bpe.nodummy.suffix.1000", "bpe.nosplit.1000",
    "bpe.required-chars.1000", "bpe.zh.4000", "char.botchan", "unigram.botchan.1000",
    "unigram.bytefallback.zh.4000", "unigram.ja.4000", "unigram.ru.nfkc_cf.1500", "unigram.uds.1000",
    "word.botchan.1000",
)  # fmt: skip


@pytest.fixture(params=[*MODELS, *TRAINED])
def case(request, shared):
    name = request.param
    if name in MODELS:
        (path,) = shared.glob(MODELS[name])
        answers = shared / "expected" / "sentencepiece" / f"{name}.json"
    else:
        path = shared / "expected" / "train" / "sentencepiece" / f"{name}.model"
        answers = path.parent / f"{name}.json"
    return loaded(path), json.loads(answers.read_bytes()), suite(shared)


def test_ids(case):
    tokenizer, reference, texts = case
    wrong = {}
    for name, result in reference["cases"].items():
        ids = tokenizer.encode(texts[name])
        if ids != result["ids"]:
            wrong[name] = (texts[name], ids, result["ids"])
    assert not wrong


@at_least(300)
@pytest.mark.parametrize("case", MODELS, indirect=True)  # of the others it was not recorded
def test_normalized(case):
    tokenizer, reference, texts = case
    for name, result in reference["cases"].items():
        if "normalized" in result:
            normalized = tokenizer.engine.normalize(texts[name].encode())
            assert normalized.decode() == result["normalized"], name
            compared()


def test_pieces(case):
    """Pieces are written as the library writes them; what is unknown it shows as its normalized text."""
    tokenizer, reference, texts = case
    unknown = tokenizer.model.unk_id
    compared = 0
    for name, result in reference["cases"].items():
        if "pieces" not in result:  # left out of the recorded results of very long texts
            continue
        theirs = result["pieces"]
        tokens = tokenizer.tokens(texts[name])
        written = [
            piece if token.token_id == unknown else token.content.decode()
            for token, piece in zip(tokens, theirs, strict=True)
        ]
        assert written == theirs, name
        if not any(piece.startswith("<0x") for piece in theirs):
            normalized = tokenizer.engine.normalize(texts[name].encode())
            assert "".join(written) == normalized.decode(), name
        compared += 1
    assert compared > 280


@at_least(280)
@pytest.mark.parametrize("case", MODELS, indirect=True)  # the offsets of the others were not recorded
def test_offsets(case):
    tokenizer, reference, texts = case
    for name, result in reference["cases"].items():
        if "offsets" not in result:
            continue
        found = [character_span(texts[name], token.start, token.end) for token in tokenizer.tokens(texts[name])]
        found = _last_byte_alone(found, result["pieces"])
        if found != result["offsets"]:
            # A token can end inside what one character was normalized to ("½" to "1⁄2"), or before one that was
            # left out. Ours then goes to the end of its last character; theirs ends where the next one begins.
            stages = _core.Stages(core_spec(tokenizer.normalizer, ()))
            sizes = {len(stages.normalize(each.encode(), continued=True)[0].decode()) for each in texts[name]}
            assert sizes != {1}, name
            # Its first mark stands before what was left out at the beginning, ours behind it.
            assert [span[0] for span in found[1:]] == [span[0] for span in result["offsets"][1:]], name
        compared(found == result["offsets"])


def _last_byte_alone(spans: list[list[int]], pieces: list[str]) -> list[list[int]]:
    """Return spans as sentencepiece counts bytes: the last byte of a character stands for all of it, those
    before it for nothing. Ours all stand for the character."""
    given = [list(span) for span in spans]
    for number, (span, piece) in enumerate(zip(spans, pieces, strict=True)):
        follows = number + 1 < len(pieces) and pieces[number + 1].startswith("<0x") and spans[number + 1] == span
        if piece.startswith("<0x") and follows:
            given[number][1] = span[0]
    return given


def test_decoded(case):
    tokenizer, reference, texts = case
    for name, result in reference["cases"].items():
        decoded = tokenizer.decode_bytes(result["ids"]).decode("utf-8", "replace")
        assert decoded == result.get("decoded", texts[name]), name
