import importlib
import json
import pkgutil
from dataclasses import is_dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli import reports, teaching
from bpe_cli.reports.text.segmentation import segment
from bpe_cli.reports.tokenizer.vocabulary_report import describe
from bpe_cli.support.blocks import Block
from bpe_cli.views.as_json import SHAPES, json_value, segmentation_json, texts_json
from bpe_cli.views.comparison import files as comparison_as_json
from bpe_cli.views.comparison.files import comparison_json
from tests.unit.reports.comparison.handmade import compared
from tests.unit.reports.fake_tokenizer import FakeSpecial, FakeTokenizer

TINY = FakeTokenizer([b"\xe8\xb0", b"ab"], name="tiny", specials=[FakeSpecial(b"<s>", 300)])


def test_text_by_hand():
    assert segmentation_json(segment(TINY, "ab谁<s>".encode(), "all")) == {
        "schema": "bpe.inspect.text/1",
        "tokenizer": "tiny",
        "token_count": 4,
        "byte_count": 8,
        "character_count": 6,
        "bytes_per_token": 2.0,
        "characters_per_token": 1.5,
        "round_trip": True,
        "differs_at": None,
        "tokens": [
            {
                "id": 1,
                "token": "ab",
                "bytes": [0, 2],
                "characters": [0, 2],
                "special": False,
                "piece": 0,
                "score": None,
            },
            {
                "id": 0,
                "token": {"bytes": "e8b0"},
                "bytes": [2, 4],
                "characters": [2, 3],
                "special": False,
                "piece": 0,
                "score": None,
            },
            {
                "id": 131,
                "token": {"bytes": "81"},
                "bytes": [4, 5],
                "characters": [2, 3],
                "special": False,
                "piece": 0,
                "score": None,
            },
            {
                "id": 300,
                "token": "<s>",
                "bytes": [5, 8],
                "characters": [3, 6],
                "special": True,
                "piece": None,
                "score": None,
            },
        ],
        "split": [{"text": "谁", "tokens": [1, 3], "contents": ["e8b0", "81"]}],
    }


def test_tokenizer():
    report = json_value(describe(TINY, fingerprint="f"))
    assert report["schema"] == "bpe.inspect.tokenizer/1"
    assert report["special_tokens"] == [{"id": 300, "token": "<s>", "special": True}]
    assert report["longest"][0] == {"id": 0, "token": {"bytes": "e8b0"}, "byte_count": 2, "character_count": None}
    assert report["lengths"] == [[1, 256], [2, 2]]
    assert report["unused_ranges"] == [[258, 299]]
    assert report["bytes_without_token"] == []
    assert report["facts"] == {}
    assert report == json.loads(json.dumps(report))


def test_what_the_file_states():
    facts = (("byte_fallback", True), ("input", "a\udcff"), ("input", "b"), ("coverage", 0.5))
    report = json_value(replace(describe(TINY), facts=facts))
    assert report["facts"] == {"byte_fallback": True, "input": [{"bytes": "61ff"}, "b"], "coverage": 0.5}


def test_comparison():
    report = comparison_json(compared([TINY, FakeTokenizer(name="tokenizer")], [("a\udcff", [Block.of([b"abab"])])]))
    assert report["schema"] == "bpe.compare/2"
    assert report["tokenizers"] == [
        {"name": "tiny", "vocab_size": 301, "vocabulary": 301, "fingerprint": None},
        {"name": "tokenizer", "vocab_size": 256, "vocabulary": 256, "fingerprint": None},
    ]
    (row,) = report["inputs"]
    assert row["name"] == {"bytes": "61ff"}
    assert row["results"][1].items() >= {
        "token_count": 4, "bytes_per_token": 1, "characters_per_token": 1, "ratio": 2,
    }.items()  # fmt: skip
    assert row["best"] == [0]
    assert report["total"]["results"] == row["results"]
    assert report["passages"][0]["segmentations"][0]["schema"] == "bpe.inspect.text/1"
    assert report == json.loads(json.dumps(report))


@given(st.binary(max_size=30))
def test_any_text_is_plain_json(text):
    report = segmentation_json(segment(TINY, text, "all"))
    assert report == json.loads(json.dumps(report, ensure_ascii=False).encode())
    spans = [token["bytes"] for token in report["tokens"]]
    assert b"".join(text[start:end] for start, end in spans) == text


def test_several_texts_are_one_object():
    values = [segmentation_json(segment(TINY, text)) for text in (b"Hello", b"")]
    assert texts_json(values[:1], [("a", 1)]) == values[0]
    assert texts_json(values, [("a", 1), ("a", 2)]) == {
        "schema": "bpe.inspect.texts/1",
        "texts": [{"input": "a", "document": number, **value} for number, value in enumerate(values, 1)],
    }


@pytest.mark.parametrize(
    ("shapes", "classes"),
    [(SHAPES, 11 + 20 + 4), (comparison_as_json.SHAPES, 11 + 20 + 4 + 23)],
)
def test_every_shape_is_that_of_a_report(shapes, classes):
    """A class that moves to a module of another name takes its shape along."""
    known = set()
    of_trainings = pkgutil.walk_packages(teaching.__path__, "bpe_cli.teaching.")
    for module in (*pkgutil.walk_packages(reports.__path__, "bpe_cli.reports."), *of_trainings):
        for name, value in vars(importlib.import_module(module.name)).items():
            if is_dataclass(value) and value.__module__ == module.name:
                known.add(f"{module.name.rpartition('.')[2]}.{name}")
    assert (shapes.keys() - known, len(shapes)) == (set(), classes)
