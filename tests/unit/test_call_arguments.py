"""Arguments that would be of no effect are refused; results say what there is, in a few lines."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

import bpe_cli
from bpe_cli.errors import InputError, UsageError
from bpe_cli.tokenizer.usage import Origin


@pytest.mark.parametrize("given", [{"documents": "lines"}, {"documents": "jsonl"}, {"field": "x"}, {"member": "md"}])
def test_several_texts_are_not_divided(given):
    """They were taken whole in silence: lines of JSON were trained on with their braces."""
    (name,) = given
    with pytest.raises(UsageError, match=rf"^`{name}` is for files, and the corpus is texts") as caught:
        bpe_cli.train(['{"x": "low"}\n'] * 2, vocab_size=258, **given)
    assert caught.value.hint == "give files as pathlib.Path(name)"
    for call in (
        lambda: bpe_cli.inspect("gpt2", ["a\nb", "c"], **given),
        lambda: bpe_cli.compare(["gpt2"], ["a\nb", "c"], **given),
    ):
        with pytest.raises(UsageError, match=rf"^`{name}` is for files or a single text"):
            call()


def test_files_and_a_single_text_are_divided(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"x": "low"}\n{"x": "lower"}\n', encoding="utf-8")
    trained = bpe_cli.train(path, vocab_size=258, documents="jsonl", field="x")
    assert trained == bpe_cli.train(["low", "lower"], vocab_size=258)
    assert trained == bpe_cli.train(iter(["low", "lower"]), vocab_size=258, documents="whole")
    both = bpe_cli.train(["low"], sizes=[257, 258], held_out=path, documents="jsonl", field="x")
    assert [size.tokens for size in both.curve.sizes] == [6, 4]
    found = bpe_cli.inspect("gpt2", path.read_text(encoding="utf-8"), documents="jsonl", field="x").value
    assert [document.content for document, _ in found] == [b"low", b"lower"]


@pytest.mark.parametrize("name", ["encode_files", "segment_files", "decode_files"])
def test_streams_of_text_are_no_place_for_bytes(name, tmp_path):
    call, path = getattr(bpe_cli, name), tmp_path / "a.txt"
    path.write_text("64 275\n", encoding="utf-8")
    with pytest.raises(TypeError, match=r"^output must be a str, a path or a binary stream, not StringIO$"):
        call("gpt2", path, io.StringIO())
    for mode in ("r", "rb"):
        with path.open(mode) as file, pytest.raises(TypeError, match=r"^files must be a str, a path, or several, not "):
            call("gpt2", file, io.BytesIO())


def test_segmented_files_are_named(tmp_path):
    (tmp_path / "a.txt").write_text("low lower\n", encoding="utf-8")
    text, words = str(tmp_path / "b.txt"), str(tmp_path / "words.txt")
    assert bpe_cli.segment_files("gpt2", tmp_path / "a.txt", text).files == (text,)
    done = bpe_cli.segment_files("gpt2", tmp_path / "a.txt", text, write_vocabulary=words)
    assert (done.files, done.subwords) == ((text, words), 2)
    assert bpe_cli.segment_files("gpt2", tmp_path / "a.txt", io.BytesIO()).files == ()


def test_what_is_printed_is_no_file():
    texts = ["low lower lowest", "newest widest"] * 40
    trained = bpe_cli.train(texts, "sentencepiece", vocab_size=40)
    kept = replace(trained, origin=Origin("sentencepiece", carried=(("file", b"x" * 100_000),)))
    assert len(repr(kept)) < 3000
    assert repr(kept).startswith("Tokenizer(model=")
    assert len(repr(bpe_cli.load("gpt-4o"))) < 3000
    assert len(repr(bpe_cli.prune("gpt2", texts, 300))) < 3000
    assert repr(bpe_cli.load("gpt2")).endswith("origin=None, name='gpt2')")


def test_a_folder_that_no_file_can_have(tmp_path):
    with pytest.raises(InputError, match="embedded null byte"):
        bpe_cli.TokenDataset(f"{tmp_path}/a\0b")
