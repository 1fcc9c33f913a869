"""``bpe encode --inference``: a vocabulary applied by its longest tokens, or the fewest, from the command line."""

from __future__ import annotations

import json

import pytest

from tests.cli_runner import call, error

NOTEBOOK = {"n": 4150, "s</w>": 4698, "in": 3363, "ta": 1009, "ou": 3936, "m": 7476}


def notebook(folder, *order):
    """Save the vocabulary of the notebook, whose ids are in another order than its frequencies."""
    vocab = {token: number for number, token in enumerate(("<unk>", *order))}
    model = {"type": "SuffixBpe", "unk_token": "<unk>", "end_of_word_suffix": "</w>", "vocab": vocab, "merges": []}
    added = [{"id": 0, "content": "<unk>", "special": True}]
    content = {"added_tokens": added, "pre_tokenizer": {"type": "WhitespaceSplit"}, "model": model}
    (folder / "notebook.json").write_text(json.dumps(content))
    (folder / "counts.txt").write_text("".join(f"{token} {count}\n" for token, count in NOTEBOOK.items()))


def test_the_notebook(tmp_path):
    notebook(tmp_path, "ta", "in", "n", "m", "ou", "s</w>")
    shown = call("encode", "-T", "inmountains", "-t", "notebook.json", "--to", "tokens",
                 "--inference", "longest", "--frequencies", "counts.txt", cwd=tmp_path)  # fmt: skip
    assert (shown.status, shown.err, shown.text) == (0, "", "in m ou n ta in s</w>\n")


def test_frequencies_decide_between_equals(tmp_path):
    notebook(tmp_path, "mi", "in", "m", "n")
    for counts, expected in (("mi 2\nin 1\n", "mi n <unk>"), ("mi 1\nin 2\n", "m in <unk>")):
        (tmp_path / "counts.txt").write_text(counts)
        shown = call("encode", "-T", "min", "-t", "notebook.json", "--to", "tokens",
                     "--inference", "longest", "--frequencies", "counts.txt", cwd=tmp_path)  # fmt: skip
        assert (shown.status, shown.text) == (0, f"{expected}\n")


def test_frequencies_that_cannot_be_used(tmp_path):
    notebook(tmp_path, "mi", "in")
    for inference, content, message, hint in (
        ("left-to-right", "mi 1\n",
         "--frequencies says which of equally long tokens is tried first, with --inference longest", None),
        ("longest", "mi@@ 1\n", "the vocabulary has no token 'mi@@', which has a frequency",
         "name tokens as the vocabulary writes them, with their marks"),
        ("longest", "mi\n", 'not a token, a blank and a count: "mi" (counts.txt:1)', None),
    ):  # fmt: skip
        (tmp_path / "counts.txt").write_text(content)
        shown = call("encode", "-T", "min", "-t", "notebook.json", "--inference", inference,
                     "--frequencies", "counts.txt", cwd=tmp_path)  # fmt: skip
        assert (shown.status, shown.err) == (2, error(message, hint))


@pytest.mark.parametrize("prefix", ["", "##"])
@pytest.mark.parametrize("form", ["0.2", "0.1"])
@pytest.mark.parametrize("inference", ["longest", "left-to-right"])
def test_longest_match_never_cuts_a_mark(tmp_path, form, prefix, inference):
    """A word of known characters has no unknown part, whatever its letters: those of the mark too."""
    (tmp_path / "text").write_text("we know new words </ w> # w >\n" * 3)
    train = ("train", "text", "-a", "bpe", "-s", "70", "--set", f"suffix_form={form}", "-q", "-o", "t.json",
             "--set", f"continuing_subword_prefix={prefix}")  # fmt: skip
    if prefix and form == "0.1":
        assert call(*train, cwd=tmp_path).status == 2
    else:
        assert call(*train, cwd=tmp_path).status == 0
        words = "wren w #w new> w/</"
        encode = ("encode", "-T", words, "-t", "t.json", "--inference", inference)
        assert "<unk>" not in call(*encode, "--to", "tokens", cwd=tmp_path).text.split()
        ids = call(*encode, cwd=tmp_path).out
        assert call("decode", "-t", "t.json", input=ids, cwd=tmp_path).text == words


@pytest.mark.parametrize("tokenizer", ["gpt2", "o200k_base"])
def test_blocks_and_threads_change_no_fewest_token(tokenizer, corpora, tmp_path):
    text = tmp_path / "hi.txt"  # its beginning, for a block of one byte takes as long as one of thousands
    text.write_bytes(b"".join((corpora / "languages" / "hi.txt").read_bytes().splitlines(keepends=True)[:12]))
    assert text.stat().st_size > 1024
    results = {
        call("encode", text, "-t", tokenizer, "--inference", "fewest", "--block-size", size, "-j", threads).out
        for size, threads in (("1", "1"), ("7", "2"), ("512", "2"), ("1000000", "1"))
    }
    assert len(results) == 1
    assert call("decode", "-t", tokenizer, input=results.pop()).out == text.read_bytes()


def test_the_fewest_tokens_of_any_vocabulary(tmp_path):
    shown = call("encode", "-T", "on lighthouses", "-t", "gpt2", "--to", "tokens", "--inference", "fewest")
    assert (shown.status, shown.err, shown.text) == (0, "", "on Ġlight houses\n")
    (tmp_path / "text").write_text("we know new words\n" * 3)
    call("train", "text", "-a", "ngram", "-s", "40", "-q", "-o", "t.json", cwd=tmp_path)
    refused = call("encode", "-T", "new", "-t", "t.json", "--inference", "fewest", cwd=tmp_path)
    message = "t.json: the fewest tokens cannot be found for a model of the kind n-gram"
    assert (refused.status, refused.err) == (2, error(message))
    drawn = call("encode", "-T", "new", "-t", "gpt2", "--inference", "fewest", "--sample", "1")
    message = "--inference fewest gives one segmentation of a text, so none can be drawn"
    assert (drawn.status, drawn.err) == (2, error(message, "leave out --sample or --dropout"))
