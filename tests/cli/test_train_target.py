"""``bpe train --target``: what a reader holds exactly; and the nearest way where a conversion is refused."""

from __future__ import annotations

import pytest

import bpe_cli
from bpe_cli.jobs.targets import TARGETS
from tests.cli_runner import call, error
from tests.needs import needs

TEXT = "low lower lowest newest widest, 12 345 don't\n" * 30


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in.txt").write_text(TEXT)
    return tmp_path


@pytest.mark.parametrize(
    ("target", "name"),
    [("llama.cpp", "x.gguf"), ("llama.cpp", "x.json"), ("transformers", "x.json"), ("tiktoken", "x.tiktoken"),
     ("sentencepiece", "x.model"), ("sentencepiece", "x.json")],
)  # fmt: skip
def test_what_is_trained_fits_the_reader(folder, target, name):
    size = "60" if target == "sentencepiece" else "290"
    train = ("train", "in.txt", "-s", size, "--target", target, "-o", name)
    done = call(*train, cwd=folder)
    assert (done.status, done.err.splitlines()[-1]) == (0, f"-> {name}")
    options = ("--pattern", "o200k") if name == "x.tiktoken" else ()
    losses = sorted({"ids", *TARGETS[target].given})
    again = call(
        "convert", name, "--format", TARGETS[target].format, *options, "-o", "y", "-q",
        *(("--allow-loss", ",".join(losses)) if TARGETS[target].given else ()), cwd=folder,
    )  # fmt: skip
    assert again.status == 0, again.err
    ids = call("encode", "in.txt", "-t", name, *options, cwd=folder)
    assert ids.status == 0
    if target != "sentencepiece":  # whose normalizer makes one blank of several, and of a line end
        assert call("decode", "-t", name, *options, input=ids.out, cwd=folder).out == TEXT.encode()


def test_the_file_does_the_same_as_the_tokenizer(folder):
    for name in ("x.gguf", "x.json"):
        assert call("train", "in.txt", "-s", "290", "--target", "llama.cpp", "-o", name, cwd=folder).status == 0
    assert call("compare", "x.gguf", "x.json", "--ids", "in.txt", cwd=folder).status == 0


def test_llama_cpp_reads_bpe_by_scores_too(folder):
    needs("llama_cpp")
    train = ("train", "in.txt", "-s", "340", "--target", "llama.cpp")
    assert call(*train, "-a", "bpe", "-o", "x.gguf", cwd=folder).status == 0
    done = call("compare", "x.gguf", "--ids", "in.txt", "--against", "llama.cpp", cwd=folder)
    assert done.status == 0, done.err
    refused = call(*train, "-a", "unigram", "-o", "y.gguf", cwd=folder)
    assert refused.err == error("llama.cpp reads nothing that unigram trains", "it reads what bbpe, bpe train")


def test_tiktoken_reads_what_is_trained_for_it(folder):
    needs("tiktoken")
    assert call("train", "in.txt", "-s", "290", "--target", "tiktoken", "-o", "x.json", cwd=folder).status == 0
    assert call("compare", "x.json", "--ids", "in.txt", "--against", "tiktoken", cwd=folder).status == 0


@pytest.mark.parametrize("target", ["llama.cpp", "sentencepiece"])
def test_what_does_not_fit_is_refused_before_anything_is_counted(folder, target):
    other = ("--pattern", "o200k") if target == "llama.cpp" else ("-a", "wordpiece")
    done = call("train", "nosuch.txt" if target == "llama.cpp" else "in.txt", "-s", "290", "--target", target, *other,
                "-o", "x.json", cwd=folder)  # fmt: skip
    assert done.status == 2
    expected = {
        "llama.cpp": "error: llama.cpp cannot hold this exactly: a GGUF file cannot hold the split pattern",
        "sentencepiece": "error: sentencepiece reads nothing that wordpiece trains",
    }
    assert done.err.startswith(expected[target])
    assert [each.name for each in folder.iterdir()] == ["in.txt"]


def test_the_same_in_one_call():
    tokenizer = bpe_cli.train([TEXT], vocab_size=290, target="llama.cpp")
    assert tokenizer.patterns == bpe_cli.train([TEXT], vocab_size=290, pattern="qwen2").patterns
    assert bpe_cli.train([TEXT], "unigram", vocab_size=60, target="sentencepiece").model.kind == "unigram"
    with pytest.raises(bpe_cli.UsageError, match="there is no target 'lama'"):
        bpe_cli.train([TEXT], vocab_size=290, target="lama")
    with pytest.raises(bpe_cli.FormatError, match=r"llama\.cpp cannot hold this exactly"):
        bpe_cli.train([TEXT], vocab_size=290, target="llama.cpp", pattern="o200k")


def test_a_refused_conversion_names_the_nearest_way(folder):
    done = call("convert", "cl100k_base", "--format", "sentencepiece", "-o", "x.model", cwd=folder)
    assert done.err == error(
        "a SentencePiece model cannot hold byte-level BPE by ranks",
        "write tiktoken, which holds everything (--format tiktoken); "
        "what is trained with --target sentencepiece fits exactly",
    )
    assert call("train", "in.txt", "-s", "290", "-o", "a.json", cwd=folder).status == 0
    done = call("convert", "a.json", "-o", "a.gguf", cwd=folder)
    assert done.err.endswith("; what is trained with --target llama.cpp fits exactly\n")
