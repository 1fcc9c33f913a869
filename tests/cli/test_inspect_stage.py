"""``bpe inspect --normalizer`` and ``--pre-tokenizer``: stages by themselves; ``--inference``."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_cli
from bpe_cli.jobs.inspect import Cutting
from bpe_cli.stages.named_stages import normalizers_named, pre_tokenizers_named
from tests.cli_runner import call
from tests.counted import at_least, compared

ALONE = "--normalizer and --pre-tokenizer show stages by themselves, without a tokenizer"


def pieces(text, *words):
    done = call("inspect", "-T", text, *words, "--json")
    assert (done.status, done.err) == (0, "")
    return [(piece["text"], *piece["bytes"]) for piece in json.loads(done.out)["pieces"]]


def test_pieces_and_where_they_lie():
    assert pieces("Héllo, 你", "--normalizer", "bert", "--pre-tokenizer", "bert") == [
        ("hello", 0, 6), (",", 6, 7), ("你", 8, 11),
    ]  # fmt: skip
    assert pieces("a 12", "--pre-tokenizer", "whitespace,digits") == [("a", 0, 1), ("12", 2, 4)]
    assert pieces("Ab", "--normalizer", "lowercase") == [("ab", 0, 2)]
    shown = call("inspect", "-T", "A b", "--normalizer", "lowercase", "--pre-tokenizer", "whitespace").text
    assert shown.startswith("normalizer  Lowercase\na·b\n0–1  A → a\n\npre-tokenizer  ")
    assert "model" not in shown
    value = json.loads(call("inspect", "--lines", "--pre-tokenizer", "bert", "--json", "-T", "a\nb").out)
    assert (value["schema"], [each["document"] for each in value["texts"]]) == ("bpe.inspect.all-pieces/1", [1, 2])


def test_a_text_of_more_pieces_than_are_shown():
    done = call("inspect", "-T", "a " * 1990, "--pre-tokenizer", "whitespace")
    assert (done.status, done.err) == (0, "")
    assert done.text.endswith("and 990 more\n")


@at_least(3)
@given(text=st.text(st.sampled_from("aÉ1 ,你\n"), max_size=20))
def test_a_trained_tokenizer_cuts_alike(text):
    stages = Cutting(normalizers_named("lowercase"), pre_tokenizers_named("bert"))
    trained = bpe_cli.train(["aé1 ,你"], "bpe", vocab_size=20, normalizer="lowercase", pre_tokenizer="bert")
    ours, theirs = (each.engine.pieces(text.encode(), first=True) for each in (stages.tokenizer(), trained))
    assert list(ours.contents()) == [each.removesuffix(b"</w>") for each in theirs.contents()]
    compared()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("gpt2 --pre-tokenizer bert", "--pre-tokenizer needs a text, and none is given"),
        ("-T x -t gpt2 --pre-tokenizer bert",
         "--normalizer and --pre-tokenizer show stages by themselves, and a tokenizer has its own"),
        ("-T x --pre-tokenizer brt", "there is no pre-tokenizer 'brt'"),
        ("-T x --pre-tokenizer bert --steps", "--steps and --pre-tokenizer are different views of a text"),
        ("-T x --normalizer lowercase --pattern gpt2", f"{ALONE}: --pattern would do nothing"),
        ("-T x --pre-tokenizer bert --add-special <x>=256", f"{ALONE}: --add-special would do nothing"),
        ("-T x --normalizer lowercase --special all", f"{ALONE}: --special would do nothing"),
        ("-T x --normalizer lowercase --inference longest", f"{ALONE}: --inference would do nothing"),
    ],
)  # fmt: skip
def test_what_is_refused(words, message):
    done = call("inspect", *words.split())
    assert (done.status, done.out, done.err.splitlines()[0]) == (2, b"", f"error: {message}")


def test_another_inference(tmp_path):
    (tmp_path / "in.txt").write_text("low lower lowest " * 9)
    assert call("train", "in.txt", "-a", "bpe", "-s", "20", "-o", "a.json", "-q", cwd=tmp_path).status == 0
    text = ("-T", "lowest lower", "-t", "a.json", "--inference", "longest")
    ids = [token["id"] for token in json.loads(call("inspect", *text, "--json", cwd=tmp_path).out)["tokens"]]
    assert ids == list(map(int, call("encode", *text, cwd=tmp_path).text.split()))
