"""``bpe inspect`` of ids that were written: files, and folders of data sets."""

from __future__ import annotations

import json

import pytest

import bpe_cli
from bpe_cli.errors import UsageError
from tests.cli_runner import call, error

GPT2 = ("-t", "gpt2")
ONE = """\
train.bin: 3 documents, 8 tokens (bin, u16, gpt2)
every document ends with <|endoftext|> (50256)

tokens per document: 2 to 3, median 3, mean 2.7

 tokens   documents    share
 ────────────────────────────────────────────────────────────
    2–3           3   100.0%   ██████████████████████████████


document 2: 3 tokens
two|·three|⟦<\\|endoftext\\|>⟧
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in.txt").write_text("one\ntwo three\nfour five\n")
    done = call("encode", "in.txt", *GPT2, "--lines", "--eot", "auto", "-o", "train.bin", "-q", cwd=tmp_path)
    assert done.status == 0
    return tmp_path


def test_a_file_of_ids(folder):
    done = call("inspect", "train.bin", "--documents", "2", cwd=folder)
    assert (done.status, done.text, done.err) == (0, ONE, "")
    assert call("inspect", "train.bin", "--documents", "2", *GPT2, cwd=folder).text == ONE
    first = call("inspect", "train.bin", cwd=folder).text
    assert first == call("inspect", "train.bin", "--documents", "1:3", cwd=folder).text
    assert first == call("inspect", "train.bin", "--documents", ":3", "-q", cwd=folder).text
    assert [line for line in first.splitlines() if line.startswith("document ")] == [
        "document 1: 2 tokens", "document 2: 3 tokens", "document 3: 3 tokens",
    ]  # fmt: skip


def test_documents_beyond_the_last_are_said_not_to_be_there(folder):
    done = call("inspect", "train.bin", "--documents", "2:9", cwd=folder)
    shown = [line for line in done.text.splitlines() if line.startswith("document ")]
    assert (done.status, shown) == (0, ["document 2: 3 tokens", "document 3: 3 tokens"])
    assert done.err == "note: train.bin has 3 documents: there are none from 4 to 9\n"
    with pytest.raises(UsageError, match=r"there are no documents from 5 to 9: .* has 3 documents"):
        bpe_cli.inspect(None, data=folder / "train.bin", rows=(5, 9))


def test_the_end_of_documents_is_written_like_any_token(folder):
    """The id that ends documents is an ordinary token of another tokenizer."""
    shown = call("inspect", "train.bin", "-t", "o200k_base", "-q", cwd=folder).text
    assert "\nevery document ends with ·Pokemon (50256)\n" in shown
    odd = [each for each in range(256) if bpe_cli.load("gpt2").id_to_token(each) == "\udcff"]
    for token in odd:
        assert call("encode", "in.txt", *GPT2, "--eot", str(token), "-o", "odd.bin", "-q", cwd=folder).status == 0
        assert f"every document ends with \\xff ({token})\n" in call("inspect", "odd.bin", cwd=folder).text


@pytest.mark.parametrize("to", ["ids", "tokens", "jsonl", "npy", "bin"])
def test_every_kind_of_ids(folder, to):
    options = ("--eot", "auto", "--to", to, "-o", f"out.{to}", "-q", "--lines")
    assert call("encode", "in.txt", *GPT2, *options, cwd=folder).status == 0
    done = call("inspect", f"out.{to}", *GPT2, "--documents", "3:", "--json", cwd=folder)
    value = json.loads(done.out)
    assert (value["format"], value["rows"], value["tokens"]) == (to, 3, 8)
    assert value["eot"] == {"id": 50256, "ended": 3, "first_open": None, "inside": 0}
    assert value["shown"] == [
        {"row": 3, "length": 3, "ids": [14337, 1936, 50256], "tokens": ["four", " five", "<|endoftext|>"]}
    ]


@pytest.mark.parametrize("to", ["bin", "npy-offsets", "megatron", "mds", "webdataset", "datatrove"])
def test_every_kind_of_data_set(folder, to):
    options = ("--lines", "--to", to, "--eot", "auto", "-o", "data", "-q")
    assert call("prepare", "in.txt", *GPT2, *options, cwd=folder).status == 0
    value = json.loads(call("inspect", "data", "--documents", "2", "--json", cwd=folder).out)
    assert (value["name"], value["format"], value["unit"], value["rows"], value["tokens"]) == (
        "data", to, "document", 3, 8,
    )  # fmt: skip
    assert value["shown"][0]["tokens"] == ["two", " three", "<|endoftext|>"]


def test_sequences_have_their_documents_marked(folder):
    options = ("--lines", "--to", "megatron", "--eot", "auto", "--pack", "4", "-o", "data", "-q")
    assert call("prepare", "in.txt", *GPT2, *options, cwd=folder).status == 0
    text = call("inspect", "data", cwd=folder).text
    assert "data: 2 sequences, 8 tokens (megatron, u16, gpt2)\n<|endoftext|> (50256) ends 3 documents in them\n" in text
    assert "sequence 1: 4 tokens\none|⟦<\\|endoftext\\|>⟧|two|·three\n" in text


def test_ends_that_are_missing_or_too_many(tmp_path):
    (tmp_path / "x.ids").write_text("31373 50256\n995 50256 995\n\n60000\n")
    done = call("inspect", "x.ids", *GPT2, "--documents", "1:4", cwd=tmp_path)
    shown = " ".join(done.text.split())
    end = "without <|endoftext|> (50256) at the end, the first 2; it stands inside of documents 1 time"
    assert f"3 documents {end} warning: 1 id without a token" in shown
    assert "the first 60000 in document 4: the ids are another tokenizer's" in shown
    assert "⟦no·token·60000⟧" in done.text


def test_the_tokenizer_is_the_one_that_is_named(folder):
    other = call("inspect", "train.bin", "-t", "o200k_base", cwd=folder)
    assert other.err == "note: train.bin was encoded with gpt2, which differs from this one\n"
    assert call("train", "in.txt", "-s", "260", "-o", "small.json", "-q", cwd=folder).status == 0
    assert call("encode", "in.txt", "-t", "small.json", "--eot", "1", "-o", "small.bin", "-q", cwd=folder).status == 0
    record = json.loads((folder / "small.bin.json").read_text())
    record["tokenizer"]["name"] = "nosuch"
    (folder / "small.bin.json").write_text(json.dumps(record))
    done = call("inspect", "small.bin", cwd=folder)
    assert (done.status, done.err.splitlines()[0].partition(":")[2][:57]) == (
        2, " small.bin was encoded with nosuch, which is not found: u",
    )  # fmt: skip
    record["tokenizer"]["name"] = "gpt2"
    (folder / "small.bin.json").write_text(json.dumps(record))
    assert call("inspect", "small.bin", cwd=folder).err == error(
        "small.bin was encoded with gpt2, and this name now stands for another tokenizer",
        "name the right one: -t FILE",
    )
    assert call("inspect", "small.bin", "-t", "small.json", cwd=folder).status == 0


def test_ids_of_a_conversation_are_looked_at_by_the_same_name(tmp_path):
    talk = '[{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}]'
    done = call("encode", "--chat", "-T", talk, "-t", "gpt-4", "-o", "c.bin", "-q", cwd=tmp_path)
    assert done == (0, b"", "")
    done = call("inspect", "c.bin", "-t", "gpt-4", cwd=tmp_path)
    assert (done.status, done.err) == (0, "")
    assert "⟦<\\|im_start\\|>⟧|user|⟦<\\|im_sep\\|>⟧|hi|" in done.text
    assert "without a token" not in done.text
    assert call("inspect", "c.bin", "-t", "cl100k_base", cwd=tmp_path).err == (
        "note: c.bin was encoded with cl100k_base, which differs from this one\n"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("train.bin --documents x", "--documents 'x' is neither a number nor a range"),
        ("train.bin --documents 0:2", "there are no documents from 0 to 2"),
        ("train.bin --documents 3:2", "there are no documents from 3 to 2"),
        ("train.bin --documents 5:9", "there are no documents from 5 to 9: train.bin has 3 documents"),
        ("train.bin --documents 4:", "there are no documents from 4 on: train.bin has 3 documents"),
        ("train.bin --documents 4 --json", "there is no document 4: train.bin has 3 documents"),
        ("train.bin in.txt --documents 1", "--documents needs one file or folder of ids"),
        ("--documents 1", "--documents needs one file or folder of ids"),
        ("train.bin --documents 1 --steps", "--steps is for texts, and train.bin holds ids"),
        ("nosuch.bin --documents 1", "cannot read nosuch.bin: no such file"),
        ("train.bin --special all", "--special is for texts, and train.bin holds ids"),
        ("train.bin --inference longest", "--pattern, --add-special and --inference need a tokenizer here"),
        ("train.bin --section lengths", "--section is for a report on a tokenizer, and train.bin holds ids"),
        (
            "train.bin --date 2025-01-01",
            "--chat-template, --generation-prompt, --tools and --date are for conversations only",
        ),
        ("train.bin --documents 1 --chat", "--documents is not for conversations"),
        ("train.bin --documents 1 --token 262", "--token is for a report on a tokenizer, and train.bin holds ids"),
        ("train.bin --documents 1 --corpus in.txt", "--corpus is for a report on a tokenizer, and train.bin holds ids"),
        ("train.bin --documents 1 -T hello", "--text is for texts, and train.bin holds ids"),
        ("train.bin --documents 1 --lines", "--lines is for texts, and train.bin holds ids"),
        ("train.bin --documents 1 --field body", "--field is for texts, and train.bin holds ids"),
    ],
)
def test_what_is_refused(folder, words, message):
    done = call("inspect", *words.split(), cwd=folder)
    assert (done.status, done.out, done.err.splitlines()[0]) == (2, b"", f"error: {message}")


def test_one_call_does_the_same(folder):
    report = bpe_cli.inspect(None, data=folder / "train.bin", rows=(2, 2))
    ours = json.loads(report.to_json())
    theirs = json.loads(call("inspect", "train.bin", "--documents", "2", "--json", cwd=folder).out)
    assert ours | {"name": ""} == theirs | {"name": ""}
    assert "tokens per document" in report.to_markdown()
    with pytest.raises(bpe_cli.UsageError, match="texts and data cannot be used together"):
        bpe_cli.inspect("gpt2", "x", data="y")
    with pytest.raises(bpe_cli.UsageError, match="rows needs data"):
        bpe_cli.inspect("gpt2", "x", rows=(1, 2))
    with pytest.raises(bpe_cli.UsageError, match="tokenizer is None"):
        bpe_cli.inspect(None, "x")


def test_what_is_not_whole_is_bad_input(folder):
    """Status 1 is for checks that were asked for, as by ``bpe prepare --check``."""
    assert call("prepare", "in.txt", *GPT2, "--lines", "--eot", "auto", "-o", "set", "-q", cwd=folder).status == 0
    (folder / "set/manifest.json").unlink()
    done = call("inspect", "set", cwd=folder)
    assert (done.status, "set is not complete: there is no manifest.json" in done.err) == (2, True)
    assert call("prepare", "--check", "set", cwd=folder).status == 1
    assert call("prepare", "--finish", "set", cwd=folder).status == 0
    (folder / "set/part-00000.bin").write_bytes(b"")
    for status, *words in ((2, "inspect"), (1, "prepare", "--check"), (1, "prepare", "--finish")):
        done = call(*words, "set", cwd=folder)
        assert (done.status, "part-00000.bin has 0 bytes in place of" in done.err) == (status, True)


@pytest.mark.parametrize("name", ["m.bin", "m.npy"])
def test_documents_whose_ends_are_not_marked_are_counted(tmp_path, name):
    """They were one document, whatever the record said."""
    (tmp_path / "in.txt").write_text("one\ntwo three\n")
    assert call("encode", "in.txt", *GPT2, "--lines", "-o", name, "-q", cwd=tmp_path).status == 0
    done = call("inspect", name, cwd=tmp_path)
    assert (done.status, done.err) == (0, "")
    assert done.text == (
        f"{name}: 2 documents, 3 tokens ({name[2:]}, u16, gpt2)\n"
        "the ends of the documents are not marked: no token was written there\n\n"
        "all documents: 3 tokens\none|two|·three\n"
    )
    said = error(
        f"{name} has 2 documents, whose ends are not marked: none can be shown by itself",
        "encode the texts again with --eot auto, which marks them",
    )
    for documents in ("1", "2", "3:"):
        assert call("inspect", name, "--documents", documents, cwd=tmp_path) == (2, b"", said)
    value = json.loads(call("inspect", name, "--json", cwd=tmp_path).out)
    assert (value["rows"], value["tokens"], value["lengths"], len(value["shown"])) == (2, 3, None, 1)
    call("inspect", name, "--html", "page.html", "-q", cwd=tmp_path)
    assert "<h2>all documents: 3 tokens</h2>" in (tmp_path / "page.html").read_text("utf-8")
    assert call("train", "in.txt", "-s", "256", "-o", "small.json", "-q", cwd=tmp_path).status == 0
    warning = "warning: 3 ids without a token in this tokenizer, the first 505: the ids are another tokenizer's\n"
    assert warning in call("inspect", name, "-t", "small.json", "-q", cwd=tmp_path).text


def test_a_data_set_without_ends_says_both_ways_out(folder):
    assert call("prepare", "in.txt", *GPT2, "-o", "set", "-q", cwd=folder).status == 0
    assert call("inspect", "set", cwd=folder).err.splitlines()[-1] == (
        "hint: prepare it in a format with an index, such as megatron, or with --eot auto; a program can read rows of "
        "N ids with `TokenDataset(folder, length=N)`"
    )
    assert call("prepare", "in.txt", *GPT2, "--eot", "auto", "-o", "marked", "-q", cwd=folder).status == 0
    assert "marked: 1 document, " in call("inspect", "marked", cwd=folder).text


def test_text_is_no_list_of_ids(tmp_path):
    """The hint named --from as if it were an option of inspect."""
    (tmp_path / "in.txt").write_text("one\n")
    hint = "an id is a number from 0 to 4294967295; for decoding, --from names other formats"
    done = call("inspect", "in.txt", "--documents", "1", *GPT2, cwd=tmp_path)
    assert done == (2, b"", error("in.txt:1: 'one' is not a token id", hint))


@pytest.mark.parametrize("name", ["x.ids", "x.jsonl", "x.ids.gz", "x.jsonl.gz"])
def test_lines_of_ids_are_known_without_a_record(tmp_path, name):
    """They were shown as the text that their digits are."""
    assert call("encode", "-T", "hello world", "-t", "gpt2", "-q", "-o", name, cwd=tmp_path).status == 0
    done = call("inspect", name, "-t", "gpt2", cwd=tmp_path)
    assert done.text.endswith("document 1: 2 tokens\nhello|·world\n")
    assert call("inspect", name, "-t", "gpt2", "--documents", "1", cwd=tmp_path) == done
    assert "nothing says which tokenizer the ids" in call("inspect", name, cwd=tmp_path).err
    assert not call("inspect", name, "-t", "gpt2", "--plain", cwd=tmp_path).text.startswith(name)


@pytest.mark.parametrize(
    ("name", "data"), [("x.ids", "the\n"), ("x.ids", "\n"), ("x.tokens", "= Title =\n"), ("x.txt", "7 8\n")]
)
def test_other_files_are_texts_whatever_they_are_called(tmp_path, name, data):
    (tmp_path / name).write_text(data, "utf-8")
    done = call("inspect", name, "-t", "gpt2", cwd=tmp_path)
    assert (done.status, "round trip ok" in done.text) == (0, True)
