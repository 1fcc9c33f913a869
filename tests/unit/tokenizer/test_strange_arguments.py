"""Arguments that a program may well pass by mistake, or as another library has them."""

from __future__ import annotations

import pytest

import bpe_cli
from bpe_cli import InputError, SpecialToken, StreamDecoder, UsageError, load
from bpe_cli.trainers import bbpe
from bpe_cli.trainers import train as train_on
from tests.needs import needs


@pytest.fixture(scope="module")
def tokenizer():
    return load("gpt2")


def test_ids_of_numpy_in_any_layout(tokenizer):
    numpy = needs("numpy")
    ids = tokenizer.encode("hello world")
    for dtype in ("<u2", ">u2", ">u4", ">i8", "u4", "i8", object):
        assert tokenizer.decode(numpy.array(ids, dtype=dtype)) == "hello world", dtype
    assert tokenizer.decode(numpy.array([ids, ids])[0]) == "hello world"
    assert tokenizer.decode(numpy.array(ids * 2, dtype="u4")[::-1][::-1]) == "hello worldhello world"
    for wrong in (numpy.array(5), numpy.array([ids]), numpy.zeros((2, 2, 2), "u4")):
        with pytest.raises(TypeError, match="ids must be token ids in one dimension"):
            tokenizer.decode(wrong)
    with pytest.raises(InputError, match=r"'x' at place 1 is not a token id"):
        tokenizer.decode(numpy.array([1, "x"], dtype=object))


def test_padding_may_be_asked_for_as_of_hugging_face(tokenizer):
    texts = ["a b c", "a"]

    def padded(padding):
        return [each.ids for each in tokenizer.model_inputs(texts, padding=padding, pad_id=0)]

    assert padded(True) == padded("longest") == padded(3)
    assert padded(False) == padded(None) != padded(True)
    assert [each.ids for each in tokenizer.model_inputs(texts, padding=False)] == padded(None)


def test_half_a_character_cannot_be_trained_on():
    message = r"character 1 of the text of the corpus is the lone surrogate U\+D800"
    for algorithm in ("bbpe", "wordpiece", "unigram", "char"):
        with pytest.raises(InputError, match=message):
            bpe_cli.train(["ok", "a\ud800"], algorithm, vocab_size=300)
    with pytest.raises(InputError, match=message):
        train_on(["a\ud800"], bbpe.Options(vocab_size=260))
    assert bpe_cli.train(["a\udcff"], vocab_size=257).vocab_size == 257  # it stands for a byte


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ("x", TypeError, "a special token must be a SpecialToken"),
        (SpecialToken("<q>", 50257), TypeError, "the content of a special token must be bytes"),
        (SpecialToken(b"<q>", -1), UsageError, "the id of the special token '<q>' must be 0 or more"),
        (SpecialToken(b"<q>", 1 << 33), UsageError, "the id of the special token '<q>' must be"),
        (SpecialToken(b"<q>", "5"), TypeError, "the id of the special token '<q>' must be an int"),
        (SpecialToken(b"", 50257), UsageError, "a special token needs a text"),
    ],
)
def test_what_is_no_special_token(tokenizer, wrong, error, message):
    with pytest.raises(error, match=message):
        tokenizer.with_special_tokens([wrong])


def test_a_stream_is_of_a_tokenizer(tokenizer):
    with pytest.raises(TypeError, match="tokenizer must be a Tokenizer, not str"):
        StreamDecoder("gpt2")
    with pytest.raises(UsageError, match="errors must be 'strict' or 'replace' or 'ignore', not 'x'"):
        StreamDecoder(tokenizer, errors="x")
    stream = StreamDecoder(tokenizer, errors="strict")
    with pytest.raises(InputError) as caught:
        stream.feed([187])
    assert "`decode_bytes` gives the bytes as they are" in caught.value.hint
    assert tokenizer.decode_bytes([187]) == b"\xff"
