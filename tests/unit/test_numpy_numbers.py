"""Numbers of NumPy's are numbers: what takes an int or a float takes them, and keeps Python's own."""

from __future__ import annotations

import json

import numpy as np
import pytest

import bpe_cli

GPT2 = bpe_cli.load("gpt2")
TEXTS = ["low lower lowest"] * 3


def test_an_id_before_and_after_a_text():
    assert GPT2.encode("a", bos=np.int64(50256), eot=np.uint16(0)) == [50256, 64, 0]
    assert GPT2.encode_batch(["a"], eot=np.int32(50256))[0] == [64, 50256]
    with pytest.raises(TypeError, match=r"^bos must be a str or an int, not float64$"):
        GPT2.encode("a", bos=np.float64(3))


def test_options_of_training(tmp_path):
    trained = bpe_cli.train(TEXTS, vocab_size=np.int64(258))
    assert trained == bpe_cli.train(TEXTS, vocab_size=258)
    assert trained.save(tmp_path / "t.json")
    mixed = {"a": TEXTS, "b": ["slow"]}
    by_numpy = bpe_cli.train(mixed, vocab_size=258, weights={"a": np.int64(2), "b": np.float32(0.5)})
    assert by_numpy == bpe_cli.train(mixed, vocab_size=258, weights={"a": 2, "b": 0.5})
    sizes = bpe_cli.train(TEXTS, "unigram", vocab_size=np.uint16(20), shrinking_factor=np.float32(0.75))
    assert sizes == bpe_cli.train(TEXTS, "unigram", vocab_size=20, shrinking_factor=0.75)


def test_a_sampling_holds_numbers_of_python():
    drawn = bpe_cli.Sampling("dropout", np.float32(0.5), nbest=np.int64(0), seed=np.uint64(7))
    assert json.dumps([drawn.number, drawn.nbest, drawn.seed]) == "[0.5, 0, 7]"
    assert drawn == bpe_cli.Sampling("dropout", 0.5, seed=7)
    assert GPT2.encode("hello world", sampling=drawn) == GPT2.encode(
        "hello world", sampling=bpe_cli.Sampling("dropout", 0.5, seed=7)
    )
    with pytest.raises(TypeError, match=r"^seed must be an int, not bool$"):
        bpe_cli.Sampling("dropout", 0.5, seed=True)


def test_a_share_of_documents(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n" * 20, encoding="utf-8")
    made = bpe_cli.prepare("gpt2", tmp_path / "a.txt", tmp_path / "out", documents="lines", val=np.float32(0.5))
    assert made.documents == 40
