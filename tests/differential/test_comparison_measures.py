"""What a comparison measures, counted again from what the libraries themselves give: ids, bytes, offsets and kinds.

No token, no span and no word comes from our code here.
"""

from __future__ import annotations

import io
import re

import pytest

from bpe_cli.formats.huggingface import tokenizer_json
from bpe_cli.formats.sentencepiece import model as sentencepiece_model
from bpe_cli.reports.comparison.compare import compare
from bpe_cli.support.blocks import Block
from bpe_cli.tokenizer import named_encodings
from tests.differential.rivals import tiktoken_encoding
from tests.needs import needs


@pytest.fixture(scope="module")
def lines(corpora):
    names = ("languages/en", "languages/de", "languages/ja", "languages/hi", "languages/ar", "misc/emoji")
    texts = [(corpora / f"{name}.txt").read_bytes().decode() for name in names]
    return [line for text in texts for line in text.splitlines()[:40] if line]


def counted(lines, tokens_of, unknown=(), single_bytes=(), *, space=" "):
    """Count by hand; ``tokens_of`` gives (id, start, end) in a text's bytes, ``space`` stands before spaced words."""
    document_tokens = [tokens_of(line) for line in lines]
    ids = [token_id for tokens in document_tokens for token_id, _, _ in tokens]
    words = split = 0
    types = set()
    for line, tokens in zip(lines, document_tokens, strict=True):
        for match in re.finditer(r"\S+", line):
            start, end = (len(line[:at].encode()) for at in match.span())
            words += 1
            split += sum(first < end and last > start for _, first, last in tokens) > 1
            types.add(match.group())

    def is_one(text):
        found = [token_id for token_id, _, _ in tokens_of(text)]
        return len(found) == 1 and found[0] not in unknown

    return {
        "token_count": len(ids),
        "fertility": len(ids) / words,
        "split_share": split / words,
        "one_token_share": 1 - split / words,
        "one_token_types_share": sum(map(is_one, types)) / len(types),
        "one_token_types_spaced_share": sum(is_one(f"{space}{word}") for word in types) / len(types),
        "unknown_tokens": sum(token_id in unknown for token_id in ids),
        "unknown_share": sum(token_id in unknown for token_id in ids) / len(ids),
        "byte_tokens": sum(token_id in single_bytes for token_id in ids),
        "byte_share": sum(token_id in single_bytes for token_id in ids) / len(ids),
        "byte_fallback_share": sum(token_id in single_bytes for token_id in ids) / sum(len(x.encode()) for x in lines),
        "used_ids": len(set(ids)),
    }


def assert_counted(tokenizer, lines, expected):
    (measure,) = compare([tokenizer], [("x", [Block.of([line.encode() for line in lines])])]).total.measures
    found = {name: getattr(measure, name) for name in expected}
    assert found == pytest.approx(expected, rel=1e-12)


def laid_out(parts, before=0):
    """Return (id, start, end) of tokens whose bytes follow each other; ``before`` of them are not of the text."""
    tokens, at = [], -before
    for token_id, content in parts:
        tokens.append((token_id, max(at, 0), at + len(content)))
        at += len(content)
    return tokens


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base"])
def test_tiktoken(name, lines):
    theirs = tiktoken_encoding(name)

    def tokens_of(text):
        return laid_out((each, theirs.decode_single_token_bytes(each)) for each in theirs.encode_ordinary(text))

    single = {each for byte in range(0x80, 0x100) for each in [theirs.encode_single_token(bytes([byte]))]}
    expected = counted(lines, tokens_of, single_bytes=single)
    assert expected["byte_tokens"] > 100
    assert_counted(named_encodings.named(name), lines, expected)


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
@pytest.mark.parametrize("fallback", [True, False])
def test_sentencepiece(kind, fallback, lines):
    spm = needs("sentencepiece")
    written = io.BytesIO()
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(line for line in lines if line.isascii()),
        model_writer=written,
        model_type=kind,
        vocab_size=500 if fallback else 250,
        byte_fallback=fallback,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        hard_vocab_limit=False,
        minloglevel=3,
    )
    theirs = spm.SentencePieceProcessor(model_proto=written.getvalue())
    ids = range(theirs.get_piece_size())

    def content(token_id, piece):
        return bytes([int(piece[3:5], 16)]) if theirs.IsByte(token_id) else piece.replace("\u2581", " ").encode()

    def tokens_of(text):
        pieces = zip(theirs.encode(text), theirs.encode(text, out_type=str), strict=True)
        tokens = laid_out(((token_id, content(token_id, piece)) for token_id, piece in pieces), before=1)
        assert not tokens or tokens[-1][2] == len(text.encode())
        return tokens

    unknown = {each for each in ids if theirs.IsUnknown(each)}
    single = {each for each in ids if theirs.IsByte(each)}
    # SentencePiece puts the space before any text itself.
    expected = counted(lines, tokens_of, unknown, single, space="")
    assert expected["byte_tokens" if fallback else "unknown_tokens"] > 100
    assert expected["unknown_tokens" if fallback else "byte_tokens"] == 0
    assert_counted(sentencepiece_model.loads(written.getvalue()), lines, expected)


def test_tokenizers(lines):
    hf = needs("tokenizers")
    theirs = hf.Tokenizer(hf.models.WordPiece(unk_token="[UNK]"))
    theirs.pre_tokenizer = hf.pre_tokenizers.BertPreTokenizer()
    trainer = hf.trainers.WordPieceTrainer(vocab_size=400, special_tokens=["[UNK]"], show_progress=False)
    theirs.train_from_iterator([line for line in lines if line.isascii()], trainer)

    def tokens_of(text):
        found = theirs.encode(text, add_special_tokens=False)
        spans = [tuple(len(text[:at].encode()) for at in span) for span in found.offsets]
        return [(token_id, *span) for token_id, span in zip(found.ids, spans, strict=True)]

    expected = counted(lines, tokens_of, unknown={theirs.token_to_id("[UNK]")})
    assert expected["unknown_tokens"] > 100
    assert_counted(tokenizer_json.loads(theirs.to_str().encode()), lines, expected)
