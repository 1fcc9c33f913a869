"""``bpe encode``: every kind of output of every kind of input."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
from itertools import product

import pytest

from tests.cli_runner import call, error, run

# Three documents: a word, nothing, and a letter of two bytes beside a byte that is not UTF-8.
LINES = b"low\n\n caf\xc3\xa9 \xff\n"
GPT2 = ("-t", "gpt2")
EXPECTED = {
    "ids": "9319\n\n40304 220 187\n",
    "tokens": "low\n\nĠcafÃ© Ġ ÿ\n",
    "jsonl": '{"ids":[9319]}\n{"ids":[]}\n{"ids":[40304,220,187]}\n',
    "count": "1\n0\n3\n",
}
TEMPLATE = {
    "type": "TemplateProcessing",
    "single": [
        {"SpecialToken": {"id": "<s>", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": "</s>", "type_id": 0}},
    ],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {
        "<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]},
        "</s>": {"id": "</s>", "ids": [1, 1], "tokens": ["</s>", "</s>"]},
    },
}
ROBERTA = {
    "type": "RobertaProcessing", "sep": ["</s>", 1], "cls": ["<s>", 0], "trim_offsets": True, "add_prefix_space": False,
}  # fmt: skip


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    """A small tokenizer with two special tokens."""
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    options = ("--special", "<s>", "--special", "</s>", "-s", "300", "-o", path)
    assert call("train", *options, input=b"low lower lowest newer newest " * 4).status == 0
    return path


@pytest.mark.parametrize("to", EXPECTED)
def test_text_outputs(to):
    assert run("encode", *GPT2, "--lines", "--to", to, input=LINES) == (0, EXPECTED[to].encode(), "")


def test_jsonl_with_tokens_and_spans():
    result = run("encode", *GPT2, "--lines", "--to", "jsonl", "--with", "tokens,spans", input=LINES)
    assert [json.loads(line) for line in result.out.splitlines()] == [
        {"ids": [9319], "tokens": ["low"], "spans": [[0, 3]]},
        {"ids": [], "tokens": [], "spans": []},
        {"ids": [40304, 220, 187], "tokens": ["ĠcafÃ©", "Ġ", "ÿ"], "spans": [[0, 6], [6, 7], [7, 8]]},
    ]


@pytest.mark.parametrize("to", ["bin", "npy"])
def test_binary_outputs_and_their_sidecar(tmp_path, to):
    result = run(
        "encode", *GPT2, "--lines", "--to", to, "--eot", "<|endoftext|>", "-o", "out", input=LINES, cwd=tmp_path
    )
    assert result == (0, b"", "3 documents, 7 tokens (with those of --eot) -> out\n")
    data = (tmp_path / "out").read_bytes()
    header = b"\x93NUMPY\x01\x00v\x00{'descr': '<u2', 'fortran_order': False, 'shape': (7,), }"
    if to == "npy":
        assert data[:128] == header.ljust(127) + b"\n"
        data = data[128:]
    assert memoryview(data).cast("H").tolist() == [9319, 50256, 50256, 40304, 220, 187, 50256]
    assert json.loads((tmp_path / "out.json").read_bytes()) == {
        "schema": "bpe-ids/1",
        "dtype": "u16",
        "byteorder": "little",
        "bytes": 14,
        "sha256": hashlib.sha256(data).hexdigest(),
        "tokens": 7,
        "documents": 3,
        "bos": None,
        "eot": 50256,
        "tokenizer": {
            "name": "gpt2",
            "sha256": "8464d7c70618c0a878c1a0cbc6a1b7f51c606b2d540c2d408590b92c0e2ac69f",
        },
        "inputs": [{"name": "stdin", "sha256": hashlib.sha256(LINES).hexdigest(), "bytes": len(LINES)}],
    }
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "out.json"]


def test_binary_numbers_are_as_wide_as_the_vocabulary_needs(tmp_path):
    assert call("encode", "-T", "hi", "-t", "o200k_base", "--to", "bin").out == (3686).to_bytes(4, "little")
    assert call("encode", "-T", "hi", *GPT2, "--to", "bin").out == (5303).to_bytes(2, "little")


@pytest.mark.parametrize(
    ("text", "tokenizer", "ids"),
    [
        ("你是谁, my name", "cl100k_base", [57668, 21043, 39013, 223, 11, 856, 836]),
        ("你是谁", "gpt2", [19526, 254, 42468, 164, 108, 223]),
        ("hello world", "gpt-4o", [24912, 2375]),
        ("hello world", "gpt-4", [15339, 1917]),
        ("hello world", "davinci", [31373, 995]),
    ],
)
def test_named_tokenizers_and_models(text, tokenizer, ids):
    assert run("encode", "-T", text, "-t", tokenizer) == (0, " ".join(map(str, ids)).encode() + b"\n", "")


def test_where_the_tokenizer_comes_from():
    from_environment = {"BPE_TOKENIZER": "gpt2"}
    assert run("encode", "-T", "hi") == (0, b"3686\n", "")
    assert run("encode", "-T", "hi", env=from_environment) == (0, b"5303\n", "")
    assert call("encode", "-T", "hi", "-t", "cl100k_base", env=from_environment).out == b"6151\n"
    assert call("encode", "-T", "hi", env={"BPE_TOKENIZER": ""}).out == b"3686\n"


# -- inputs ----------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    """Texts as files, in a folder, compressed, and as JSON lines."""
    (tmp_path / "in" / "deeper").mkdir(parents=True)
    (tmp_path / "in" / "b.txt").write_bytes(b"two")
    (tmp_path / "in" / "a.txt").write_bytes(b"one")
    (tmp_path / "in" / "deeper" / "c.txt").write_bytes(b"three")
    (tmp_path / "d.txt.gz").write_bytes(gzip.compress(b"four"))
    (tmp_path / "e.bz2").write_bytes(bz2.compress(b"five"))
    (tmp_path / "f.jsonl").write_text('{"a": {"b": "one"}}\n\n{"a": {"b": "two\\n"}}', encoding="utf-8")
    return tmp_path


WORDS = {"one": 505, "two": 11545, "three": 15542, "four": 14337, "five": 13261}


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        (("in/a.txt",), "one"),
        (("in/b.txt", "in/a.txt", "in/b.txt"), "two one two"),
        (("in",), "one two three"),
        (("in/*.txt",), "one two"),
        (("in/**/*.txt",), "one two three"),
        (("d.txt.gz", "e.bz2"), "four five"),
        (("in/a.txt", "-"), "one five"),
        (("-",), "five"),
        ((), "five"),
        (("-T", "two"), "two"),
        (("--text=two",), "two"),
    ],
)
def test_inputs(folder, inputs, words):
    ids = "".join(f"{WORDS[word]}\n" for word in words.split())
    assert call("encode", *GPT2, *inputs, input=b"five", cwd=folder) == (0, ids.encode(), "")


def test_inputs_of_the_real_command(folder):
    result = run("encode", *GPT2, "in", "d.txt.gz", "-", input=gzip.compress(b"five"), cwd=folder)
    assert result == (0, "".join(f"{number}\n" for number in WORDS.values()).encode(), "")


def test_fields_of_json_lines(folder):
    result = run("encode", *GPT2, "f.jsonl", "--jsonl", "--field", "a.b", cwd=folder)
    assert result == (0, b"505\n11545 198\n", "")
    assert call("encode", *GPT2, "--jsonl", input=b'{"text": "one"}').out == b"505\n"
    assert call("encode", *GPT2, "--jsonl", "--field", "0.x", input=b'[{"x": "one"}]').out == b"505\n"


@pytest.mark.parametrize(
    ("data", "lines"),
    [(b"", 0), (b"\n", 1), (b"a", 1), (b"a\n", 1), (b"a\r\nb\r", 2), (b"a\n\n", 2), (b"a\rb", 1)],
)
def test_what_a_line_is(data, lines):
    assert call("encode", *GPT2, "--lines", input=data).out.count(b"\n") == lines


def test_an_empty_document_is_an_empty_line():
    assert call("encode", *GPT2, "-T", "") == (0, b"\n", "")
    assert call("encode", *GPT2, "--to", "count", input=b"") == (0, b"0\n", "")


# -- special tokens --------------------------------------------------------------------------------

END = "a<|endoftext|>b<|fim_prefix|>"


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        ((), "64 27 91 8862 728 428 91 29 65 27 91 69 318 14301 91 29"),
        (("--special", "all"), "64 100257 65 100258"),
        (("--special", "<|endoftext|>"), "64 100257 65 27 91 69 318 14301 91 29"),
        (("--special", "<|endoftext|>", "--special", "<|fim_prefix|>"), "64 100257 65 100258"),
    ],
)
def test_special_tokens_in_the_text(options, ids):
    assert call("encode", "-T", END, "-t", "cl100k_base", *options) == (0, f"{ids}\n".encode(), "")


def test_special_tokens_can_be_refused():
    refused = error(
        "stdin, document 2, byte 2: the text contains the special token <|endoftext|>",
        "--special all makes it that token; without --special, it is plain text",
    )
    text = b"plain\nxy<|endoftext|>\n"
    for size in ("1", "7", "4096"):
        result = call("encode", *GPT2, "--lines", "--special", "error", "--block-size", size, input=text)
        assert (result.status, result.err) == (2, refused)
    assert call("encode", *GPT2, "-T", "plain", "--special", "error") == (0, b"25638\n", "")


def test_an_added_special_token():
    options = ("-t", "cl100k_base", "--add-special", "<|im_start|>=100264", "--add-special", "<|im_end|>=100265")
    text = "<|im_start|>user<|im_end|>"
    assert run("encode", "-T", text, *options, "--special", "all") == (0, b"100264 882 100265\n", "")
    assert call("encode", "-T", text, *options, "--special", "<|im_end|>").out.endswith(b" 100265\n")
    assert run("decode", *options, input=b"100264 882 100265\n") == (0, text.encode(), "")


@pytest.mark.parametrize(("processor", "ids"), [(TEMPLATE, "0 {} 1 1"), (ROBERTA, "0 {} 1")])
def test_the_post_processor_is_run_when_asked_for(tmp_path, tokenizer, processor, ids):
    content = json.loads(tokenizer.read_bytes()) | {"post_processor": processor}
    path = tmp_path / "processed.json"
    path.write_text(json.dumps(content))
    plain = call("encode", "-T", "lowest", "-t", path).text.strip()
    assert call("encode", "-T", "lowest", "-t", path, "--add-special-tokens").text.strip() == ids.format(plain)
    for size in ("1", "4096"):
        options = ("-t", path, "--add-special-tokens", "--block-size", size, "--to", "count")
        counted = call("encode", *options, input=b"lowest").text
        assert int(counted) == len(ids.format(plain).split())


# -- checks, and what changes nothing --------------------------------------------------------------


def test_a_budget_of_tokens():
    assert run("encode", *GPT2, "-T", "a b c", "--max-tokens", "3") == (0, b"64 275 269\n", "")
    assert run("encode", *GPT2, "-T", "a b c", "--max-tokens", "2") == (
        1, b"64 275 269\n", error("--text has 3 tokens, more than 2"),
    )  # fmt: skip
    for to, size in product(("count", "jsonl"), ("1", "4096")):
        result = call(
            "encode", *GPT2, "--lines", "--to", to, "--max-tokens", "1", "--block-size", size, input=b"a\na b\n\na b c"
        )
        assert (result.status, result.err) == (
            1,
            error("2 of 4 documents have more than 1 token") + "  stdin:2: 2 tokens\n  stdin:4: 3 tokens\n",
        )


def test_a_budget_names_all_that_pass_it(tmp_path):
    for number in range(13):
        (tmp_path / f"{number:02}.txt").write_text("a " * (1 + number % 3) + "\n")
    found = call("encode", *GPT2, "--to", "count", "--max-tokens", "2", "--lines", ".", "-q", cwd=tmp_path)
    counts = list(map(int, found.out.split()))
    over = "".join(f"  ./{number:02}.txt:1: {n} tokens\n" for number, n in enumerate(counts) if n > 2)
    assert (found.status, over.count("\n")) == (1, 8)
    assert found.err == error("8 of 13 documents have more than 2 tokens") + over
    found = call("encode", *GPT2, "--to", "count", "--max-tokens", "0", "--lines", ".", "-q", cwd=tmp_path)
    over = "".join(f"  ./{number:02}.txt:1: {n} tokens\n" for number, n in enumerate(counts))
    assert found.err == error("13 of 13 documents have more than 0 tokens") + over


def write_three(folder):
    (folder / "a.txt").write_text("hello world")
    (folder / "b.txt").write_text("")
    (folder / "c.txt").write_text("one\ntwo three\n")
    return ("encode", *GPT2, "a.txt", "b.txt", "c.txt", "--to", "count")


def test_several_inputs_are_counted_with_names_and_a_total(tmp_path):
    count = write_three(tmp_path)
    assert call(*count, cwd=tmp_path).text == " 2 a.txt\n 0 b.txt\n 5 c.txt\n 7 total\n"
    assert call(*count, "-q", cwd=tmp_path).text == "2\n0\n5\n"
    assert call(*count, "--lines", cwd=tmp_path).text == " 2 a.txt:1\n 1 c.txt:1\n 2 c.txt:2\n 5 total\n"
    assert call("encode", *GPT2, "a.txt", "--to", "count", cwd=tmp_path).text == "2\n"
    (tmp_path / "rows.csv").write_text("text\nhello\nhello world\n")
    rows = call("encode", *GPT2, "rows.csv", "rows.csv", "--to", "count", cwd=tmp_path).text.splitlines()
    each = ["1 rows.csv, document 1", "2 rows.csv, document 2"]
    assert [row.strip() for row in rows] == [*each, *each, "6 total"]


def test_counts_as_one_json_object(tmp_path):
    count = write_three(tmp_path)
    done = call(*count, "--json", "--max-tokens", "4", cwd=tmp_path)
    assert (done.status, done.err) == (1, error("c.txt has 5 tokens, more than 4"))
    assert json.loads(done.out) == {
        "schema": "bpe.count/1",
        "tokenizer": "gpt2",
        "documents": [
            {"input": name, "document": 1, "tokens": tokens}
            for name, tokens in (("a.txt", 2), ("b.txt", 0), ("c.txt", 5))
        ],
        "total": {"documents": 3, "tokens": 7},
        "max_tokens": 4,
        "over": 1,
    }
    empty = json.loads(call("encode", *GPT2, "b.txt", "--to", "count", "--json", "--lines", cwd=tmp_path).out)
    assert (empty["documents"], empty["total"]) == ([], {"documents": 0, "tokens": 0})
    assert call("encode", *GPT2, "a.txt", "--json", cwd=tmp_path).err == error(
        "--json is for counts", "--to count writes them; --to jsonl writes ids as JSON lines"
    )


@pytest.mark.parametrize("documents", [(), ("--lines",)])
@pytest.mark.parametrize("listing", [(), ("--json",), ("--eot", "0", "--json"), ("--dropout", "0.5")])
def test_blocks_change_no_count(corpora, documents, listing, tmp_path):
    files = [tmp_path / "hi.txt", tmp_path / "de.txt"]
    for file in files:
        whole = (corpora / "languages" / file.name).read_bytes()
        file.write_bytes(b"".join(whole.splitlines(keepends=True)[:16]))
    count = ("encode", *files, *GPT2, "--to", "count", *documents, *listing)
    results = {
        call(*count, "--block-size", size, "-j", threads)
        for size, threads in (("7", "2"), ("500", "1"), ("9999999", "4"))
    }
    assert len(results) == 1
    lines = results.pop().text
    if "--json" in listing:
        value = json.loads(lines)
        counts, total = [each["tokens"] for each in value["documents"]], value["total"]["tokens"]
    else:
        *counts, total = [int(line.split()[0]) for line in lines.splitlines()]
    assert sum(counts) == total


def test_annotations_in_a_github_workflow(tmp_path):
    count = write_three(tmp_path)
    (tmp_path / "d,%.txt").write_text("one two three")
    done = run(*count, "./d,%.txt", "-q", "--lines", "--max-tokens", "1", cwd=tmp_path, env={"GITHUB_ACTIONS": "true"})
    assert done.err.split("\n")[4:] == [
        "::error file=a.txt,line=1,title=3 of 4 documents have more than 1 token::2 tokens",
        "::error file=c.txt,line=2,title=3 of 4 documents have more than 1 token::2 tokens",
        "::error file=d%2C%25.txt,line=1,title=3 of 4 documents have more than 1 token::3 tokens",
        "",
    ]
    one = run("encode", *GPT2, "-T", "a b", "--max-tokens", "1", env={"GITHUB_ACTIONS": "true"})
    assert one.err == error("--text has 2 tokens, more than 1") + (
        "::error title=--text has 2 tokens%2C more than 1::--text: 2 tokens\n"
    )


@pytest.mark.parametrize("to", ["ids", "tokens", "jsonl", "bin", "npy", "count"])
def test_threads_and_blocks_change_nothing(to, corpora, tmp_path):
    text, odd = (
        tmp_path / "hi.txt",
        tmp_path / "odd.txt",
    )  # a beginning: a block of one byte takes as long as a large one
    text.write_bytes(b"".join((corpora / "languages" / "hi.txt").read_bytes().splitlines(keepends=True)[:12]))
    odd.write_bytes((b"low\r\n\n a\rb\r" + b" " * 50 + b"c\n" + b" " * 9) * 3)
    files = (text, odd, corpora / "misc" / "whitespace.txt", corpora / "misc" / "special.txt")
    options = ("encode", *files, "-t", "cl100k_base", "--special", "all", "--to", to)
    options += ("--with", "tokens,spans") if to == "jsonl" else ("--eot", "0") if to in ("bin", "npy") else ()
    for documents in ((), ("--lines",)):
        results = {
            call(*options, *documents, "--block-size", size, "-j", threads)
            for size, threads in (("1", "1"), ("7", "4"), ("4096", "2"), ("1000000", "1"))
        }
        assert len(results) == 1
        assert results.pop().status == 0


def test_threads_from_the_environment():
    assert run("encode", *GPT2, "-T", "hi", env={"BPE_THREADS": "2"}) == (0, b"5303\n", "")
    assert run("encode", *GPT2, "-T", "hi", env={"BPE_THREADS": "none"}) == (
        2, b"", error(
            "invalid value for '--threads' / '-j' (env var: 'BPE_THREADS'): 'none' is not a whole number",
            "bpe encode --help explains it",
        ),
    )  # fmt: skip


def test_quiet_says_nothing_that_is_no_error(tmp_path):
    (tmp_path / "b.dat").write_bytes(b"a\0b")
    assert call("encode", *GPT2, "b.dat", "-q", "-o", "out", cwd=tmp_path) == (0, b"", "")
    assert call("encode", *GPT2, "nosuch", "-q").status == 2


def test_a_pattern_for_a_file_that_holds_none(tmp_path):
    (tmp_path / "r.tiktoken").write_bytes(b"YQ== 0\nYg== 1\nYWI= 2\nYWJi 3\n")
    assert call("encode", "-T", "abbab", "-t", "r.tiktoken", "--pattern", "gpt2", cwd=tmp_path).out == b"3 2\n"
    slow = "note: the core has no scanner for the pattern '(?#slow)a?b'; the `regex` module runs it, on one thread and "
    options = ("-t", "r.tiktoken", "--pattern", "(?#slow)a?b")
    assert call("encode", "-T", "abbab", *options, cwd=tmp_path) == (0, b"2 1 2\n", f"{slow}many times slower\n")
