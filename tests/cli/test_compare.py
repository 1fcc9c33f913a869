"""``bpe compare``: tokenizers side by side."""

from __future__ import annotations

import json

import pytest

from tests.cli_runner import call, check_golden, error


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "en.txt").write_text("The quick brown fox jumps over the lazy dog.\n", encoding="utf-8")
    (tmp_path / "zh.txt").write_text("你是谁? 我叫小明。\n", encoding="utf-8")
    return tmp_path


def test_a_text_by_the_usual_ones():
    result = call("compare", "-T", "naïve Straße 東京")
    assert (result.status, result.err) == (0, "")
    check_golden("compare-text.txt", result.out)


def test_files_and_a_tokenizer_of_your_own(folder):
    assert call("train", "en.txt", "-s", "270", "-o", "mine.json", "-q", cwd=folder) == (0, b"", "")
    result = call("compare", "en.txt", "zh.txt", "-t", "gpt2", "-t", "gpt-4o", "-t", "mine.json", cwd=folder)
    assert (result.status, result.err) == (0, "")
    check_golden("compare-files.txt", result.out)


def test_json(folder):
    result = call("compare", "en.txt", "zh.txt", "-t", "gpt2", "-t", "gpt-4o", "--json", cwd=folder)
    assert (result.status, result.err) == (0, "")
    report = json.loads(result.out)
    assert report["schema"] == "bpe.compare/2"
    assert [(row["name"], row["vocab_size"]) for row in report["tokenizers"]] == [
        ("gpt2", 50257), ("o200k_base", 200019),
    ]  # fmt: skip
    counts = {row["name"]: [cell["token_count"] for cell in row["results"]] for row in report["inputs"]}
    for name, numbers in counts.items():
        for tokenizer, number in zip(("gpt2", "gpt-4o"), numbers, strict=True):
            assert call("encode", name, "-t", tokenizer, "--to", "count", cwd=folder).text == f"{number}\n"
    assert [cell["token_count"] for cell in report["total"]["results"]] == [
        sum(column) for column in zip(*counts.values(), strict=True)
    ]


@pytest.mark.parametrize("options", [(), ("--json",), ("--lines",)])
def test_threads_and_blocks_change_nothing(options, corpora, tmp_path):
    text = tmp_path / "hi.txt"  # its beginning, for a block of one byte takes as long as one of thousands
    text.write_bytes(b"".join((corpora / "languages" / "hi.txt").read_bytes().splitlines(keepends=True)[:12]))
    assert text.stat().st_size > 1024
    two = ("-t", "gpt2", "-t", "cl100k_base")
    arguments = ("compare", text, corpora / "misc" / "special.txt", *two, "--special", "all")
    results = {
        call(*arguments, *options, "--block-size", size, "-j", threads)
        for size, threads in (("1", "1"), ("7", "4"), ("512", "2"), ("1000000", "1"))
    }
    assert len(results) == 1
    assert results.pop().status == 0


def test_the_fewest_tokens_are_a_lower_bound(corpora):
    text = corpora / "languages" / "en.txt"
    result = call("compare", text, "-t", "gpt2", "-t", "mine=cl100k_base", "--fewest", "--json")
    assert (result.status, result.err) == (0, "")
    report = json.loads(result.out)
    names = [row["name"] for row in report["tokenizers"]]
    assert names == ["gpt2", "gpt2, fewest", "mine", "mine, fewest"]
    merged, least, *others = [cell["token_count"] for cell in report["total"]["results"]]
    assert merged > least
    assert others[0] > others[1]
    table = call("compare", text, "-t", "gpt2", "-t", "mine=cl100k_base", "--fewest").text
    for name, more, fewest in (("gpt2", merged, least), ("mine", *others)):
        assert f"\n{name}: {more / fewest - 1:.1%} above the fewest tokens that its vocabulary allows\n" in table
    counted = call("encode", text, "-t", "gpt2", "--inference", "fewest", "--to", "count")
    assert counted.text == f"{least}\n"
    first = call("compare", text, "-t", "gpt2", "--fewest", "--baseline", "gpt2, fewest", "--json")
    assert [row["name"] for row in json.loads(first.out)["tokenizers"]] == ["gpt2, fewest", "gpt2"]


def test_the_fewest_tokens_of_a_model_that_has_no_such_way(folder):
    call("train", "en.txt", "-a", "ngram", "-s", "60", "-o", "mine.json", "-q", cwd=folder)
    refused = call("compare", "en.txt", "-t", "mine.json", "--fewest", cwd=folder)
    message = "mine.json: the fewest tokens cannot be found for a model of the kind n-gram"
    assert (refused.status, refused.err) == (2, error(message))


def test_inputs_of_all_kinds(folder):
    (folder / "x.jsonl").write_text('{"a": "one"}\n{"a": "two"}\n')
    documents = call("compare", "x.jsonl", "--jsonl", "--field", "a", "-t", "gpt2", cwd=folder).text
    assert documents.startswith("x.jsonl: 2 documents, 6 bytes, 6 characters\n")
    assert call("compare", "-t", "gpt2", input=b"one").text.startswith("stdin: 1 document, 3 bytes, 3 characters\n")
    assert call("compare", "*.txt", "-t", "gpt2", cwd=folder).text.startswith("2 inputs: 2 documents,")
    (folder / "b.dat").write_bytes(b"a\0")
    (folder / "x.jsonl").unlink()
    assert call("compare", ".", "-t", "gpt2", cwd=folder).err == (
        "note: ./b.dat skipped: it looks binary (NUL at byte 1)\n"
    )


def test_special_tokens():
    text = "<|endoftext|>"
    for options, tokens in (((), 7), (("--special", "all"), 1), (("--special", text), 1)):
        report = json.loads(call("compare", "-T", text, "-t", "gpt2", "--json", *options).out)
        assert report["total"]["results"][0]["token_count"] == tokens
    assert call("compare", "-T", text, "--special", "error") == (
        2, b"", error("--special error is for encode: compare counts special tokens as text, or with --special all"),
    )  # fmt: skip


def test_a_tokenizer_that_cannot_encode_the_text(tmp_path):
    options = ("--initial-alphabet", "seen", "-s", "10", "-o", "t.json", "-q")
    assert call("train", "-T", "abc", *options, cwd=tmp_path).status == 0
    result = call("compare", "-T", "abd", "-t", "gpt2", "-t", "t.json", cwd=tmp_path)
    assert (result.status, result.out) == (2, b"")
    assert result.err.startswith("error: t.json cannot encode text: byte 0x64 ")


def test_tokenizers_among_the_texts_are_noticed(tmp_path):
    """``--ids`` takes them there, and so does ``inspect``."""
    assert call("convert", "gpt2", "-o", "a.json", "-q", cwd=tmp_path).status == 0
    (tmp_path / "text.txt").write_text("low lower")
    for named in ((), ("-t", "a.json")):
        done = call("compare", "gpt2", "o200k_base", *named, cwd=tmp_path)
        assert done == (2, b"", error(
            "gpt2 is a tokenizer, not a file that can be read as text",
            "-t names a tokenizer: bpe compare TEXT -t gpt2 -t o200k_base",
        ))  # fmt: skip
    for files, noted in ((("a.json",), True), (("a.json", "a.json"), True), (("text.txt", "a.json"), False)):
        done = call("compare", *files, cwd=tmp_path)
        assert (done.status, "to compare tokenizers, name each with -t" in done.err) == (0, noted)
    for options in (("-t", "gpt2"), ("--plain",), ("-q",)):
        assert call("compare", "a.json", *options, cwd=tmp_path)[::2] == (0, "")
