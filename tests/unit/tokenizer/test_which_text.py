"""An error about one of several texts says which one, and quotes no other."""

from __future__ import annotations

import pytest

import bpe_cli
from bpe_cli.errors import InputError, NoTokenError, UsageError

BYTES = bpe_cli.train(["low lower"] * 3, initial_alphabet="seen", vocab_size=10)
DROPOUT = bpe_cli.Sampling("dropout", 0.1)


@pytest.mark.parametrize(
    "call",
    [
        BYTES.encode_batch,
        BYTES.count_batch,
        BYTES.model_inputs,
        lambda texts: BYTES.encode_batch(texts, threads=3),
        lambda texts: BYTES.encode_batch(texts, sampling=DROPOUT),
        lambda texts: BYTES.encode_batch(iter(texts)),
    ],
)
def test_a_byte_without_a_token_is_in_one_text(call):
    with pytest.raises(NoTokenError) as caught:
        call(["low" * 20, "", b"", "low\u4f60we", "x"])
    message = "texts[3]: byte 0xE4 at offset 3 has no token in this tokenizer: 'low\u4f60we'"
    assert (caught.value.message, caught.value.offset) == (message, 3)


def test_a_file_s_document_is_quoted_alone(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text("low\nlo\u4f60we\nlow\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        bpe_cli.encode_files(BYTES, path, tmp_path / "x.ids", documents="lines")
    assert caught.value.message.endswith("document 2, byte 2: byte 0xE4 has no token in this tokenizer: 'lo\u4f60we'")


def test_texts_of_model_inputs_are_named_by_their_places():
    with pytest.raises(TypeError, match=r"^texts\[1\] must be a str or bytes, or a tuple of two, not list$"):
        BYTES.model_inputs(["low", ["low", "low"]])
    with pytest.raises(TypeError, match=r"^second text of texts\[1\] must be a str or bytes, not int$"):
        BYTES.model_inputs(["low", ("low", 3)])
    with pytest.raises(UsageError, match=r"^texts\[0\] has 3 texts, and a pair has two$"):
        BYTES.model_inputs([("low", "low", "low")])
    with pytest.raises(NoTokenError, match=r"^second text of texts\[1\]: byte 0xE4 at offset 1 "):
        BYTES.model_inputs(["low", ("low", "l\u4f60")])
    with pytest.raises(NoTokenError, match=r"^second text of a pair: byte 0xE4 at offset 1 "):
        BYTES.encode_pair("low", "l\u4f60")


def test_padding_says_what_it_takes():
    with pytest.raises(UsageError, match=r"^padding must be 'longest' or a number of ids, not 'max_length'$") as caught:
        BYTES.model_inputs(["low"], padding="max_length", pad_id=0)
    assert caught.value.hint == "a number pads to so many ids: padding=128"
