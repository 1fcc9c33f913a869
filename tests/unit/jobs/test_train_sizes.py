"""Several sizes, corpora with names and samples, as library calls."""

from __future__ import annotations

import json
import os
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bpe_cli.errors import InputError, UsageError
from bpe_cli.trainers.base import reservoir
from bpe_cli.training import train

ENGLISH = ["low lower lowest newest newest widest"] * 40
THAI = ["กินข้าว กินน้ำ ข้าวผัด"] * 7
SIZES = (258, 262, 270, 276)


@pytest.mark.parametrize("algorithm", ["bbpe", "unigram"])
def test_each_size_is_what_it_is_alone(algorithm):
    sizes = SIZES if algorithm == "bbpe" else (16, 18)
    report = train(ENGLISH, algorithm, sizes=reversed(sizes))
    assert list(report.tokenizers) == list(sizes)
    for size in sizes:
        assert report.tokenizers[size] == train(ENGLISH, algorithm, vocab_size=size)
    assert report.curve is None


def test_a_size_may_end_before_the_switch():
    texts = ["x 1\n" * 50 + "the end of the road\n" * 10]
    options = {"pattern": "gpt2", "superwords": True, "switch": 10}
    for sizes in ((258, 280), (258, 265), (257, 259, 266, 267, 280)):
        report = train(texts, sizes=sizes, **options)
        assert report.tokenizers == {size: train(texts, vocab_size=size, **options) for size in sizes}


def test_held_out_text_may_be_texts_or_files(tmp_path):
    path = tmp_path / "held.txt"
    path.write_text("the newest low widow")
    texts = train(ENGLISH, sizes=SIZES, held_out=["the newest low widow"], d_model=8)
    files = train(ENGLISH, sizes=SIZES, held_out=path, d_model=8, threads=2)
    assert texts == files
    assert texts.curve is not None
    for point in texts.curve.sizes:
        ids = texts.tokenizers[point.asked].encode("the newest low widow")
        assert (point.tokens, point.used) == (len(ids), len(set(ids)))
        assert point.embedding_parameters == 8 * point.vocab_size
    assert json.loads(texts.to_json())["schema"] == "bpe.train.sizes/1"
    assert texts.to_markdown().startswith("measured on 1 document, 20 bytes\n")
    assert ElementTree.fromstring(texts.to_svg("curve")).tag.endswith("svg")
    assert texts.to_svg() == files.to_svg()


def test_tokens_that_were_taken_back_are_not_of_the_vocabulary():
    """Text never becomes them: their ids are behind all others, and need no embeddings."""
    report = train(ENGLISH, "picky", sizes=(14, 16), held_out=ENGLISH, d_model=8, threshold=0.6)
    assert [tokenizer.vocab_size for tokenizer in report.tokenizers.values()] == [15, 22]
    assert report.curve is not None
    assert [(point.vocab_size, point.embedding_parameters) for point in report.curve.sizes] == [(14, 112), (16, 128)]


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"held_out": "some text"}, TypeError, "^`held_out` is one text, and each of its letters"),
        ({"held_out": 5}, TypeError, "^`held_out` is texts or paths, and not of type int"),
        ({"held_out": [5]}, TypeError, "is a str or bytes, and not of type int"),
        ({"held_out": [Path("there.txt"), "some text"]}, TypeError, "give paths alone"),
        ({"held_out": Path("missing.txt")}, InputError, "cannot read missing.txt: no such file"),
        ({"held_out": Path("-")}, UsageError, "held-out text is read once for each size, and stdin cannot be"),
        ({"held_out": ["low"], "d_model": 0}, UsageError, "d_model must be 1 or more, not 0"),
        ({"d_model": 2.5}, TypeError, "d_model must be an int, not float"),
    ],
)
def test_what_is_measured_is_looked_into_before_anything_is_read(given, error, message, tmp_path, monkeypatch):
    """It was found wrong when all had been trained."""
    monkeypatch.chdir(tmp_path)
    Path("there.txt").write_text("some text")
    corpus = iter(ENGLISH)
    with pytest.raises(error, match=message):
        train(corpus, sizes=SIZES, **given)
    assert list(corpus) == ENGLISH


def test_a_pipe_is_not_held_out_for_several_sizes(tmp_path):
    """The second size waited for ever for somebody to write to it."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match=r"held-out text is read once for each size, and .*pipe can be read only once"):
        train(ENGLISH, sizes=SIZES, held_out=tmp_path / "pipe")


def test_there_is_no_curve_without_held_out_text():
    report = train(ENGLISH, sizes=[260])
    with pytest.raises(UsageError, match="there is no curve without held-out text"):
        report.to_json()


def test_corpora_with_names(tmp_path):
    path = tmp_path / "th.txt"
    path.write_text("\n".join(THAI))
    mixed = train({"en": ENGLISH, "th": THAI}, vocab_size=300, weights={"th": 3})
    assert mixed == train([*ENGLISH, *THAI, *THAI, *THAI], vocab_size=300)
    assert mixed != train({"en": ENGLISH, "th": THAI}, vocab_size=300)
    half = train({"en": ENGLISH, "th": path}, vocab_size=300, documents="lines", weights={"th": Fraction(1, 2)})
    assert half == train([*ENGLISH, *ENGLISH, *THAI], vocab_size=300)
    assert half == train({"en": ENGLISH, "th": THAI}, vocab_size=300, weights={"th": "0.5"}, max_memory=1 << 10)
    even = train({"en": ENGLISH, "th": THAI}, vocab_size=300, alpha=0.0)
    assert even == train({"en": ENGLISH, "th": THAI}, vocab_size=300, weights={"en": 100, "th": 341})


def test_a_sample(tmp_path):
    lines = [f"low lower {number}" for number in range(300)]
    path = tmp_path / "lines.txt"
    path.write_text("\n".join(lines))
    drawn = reservoir([line.encode() for line in lines], 9, 4)
    assert train(lines, vocab_size=270, sample=9, seed=4) == train(drawn, vocab_size=270)
    assert train(path, vocab_size=270, documents="lines", sample=9, seed=4) == train(drawn, vocab_size=270)
    assert train({"a": lines}, vocab_size=270, sample=9, seed=4) == train(drawn, vocab_size=270)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sizes": [260], "vocab_size": 260}, "`sizes` and `vocab_size` both say"),
        ({"sizes": []}, "`sizes` are different numbers"),
        ({"sizes": [260, 260]}, "`sizes` are different numbers"),
        ({"vocab_size": 260, "held_out": ["low"]}, "`held_out` and `d_model` measure several sizes"),
        ({"vocab_size": 260, "weights": {"th": 2}}, "there is no corpus 'th' to weigh"),
        ({"vocab_size": 260, "alpha": 0.5}, "`alpha` is for several corpora"),
        ({"vocab_size": 260, "alpha": -0.5}, "`alpha` must be a number such as"),
        ({"vocab_size": 260, "sample": 3, "counts_dir": "x"}, "`counts_dir` keeps counts of all documents"),
    ],
)
def test_refusals(given, message):
    with pytest.raises(UsageError, match=message):
        train(ENGLISH, **given)
