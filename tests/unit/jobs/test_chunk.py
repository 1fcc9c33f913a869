"""Texts divided into parts, and cut: files in, lines out."""

from __future__ import annotations

import io
import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_cli
from bpe_cli.corpus import Source
from bpe_cli.errors import InputError, UsageError
from bpe_cli.jobs.chunk import SIDES, ChunkOptions, TruncateOptions, divide
from tests.cli_runner import call, error
from tests.counted import at_least, compared

GPT2 = bpe_cli.load("gpt2")
TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=30), min_size=1, max_size=5)


def text_of(value):
    return bytes.fromhex(value["bytes"]) if isinstance(value, dict) else value.encode()


@at_least(3)
@given(
    texts=TEXTS, size=st.integers(4, 9), overlap=st.integers(0, 3), threads=st.integers(1, 3), block=st.integers(1, 99),
    break_at=st.sampled_from(["token", "line", "sentence", "paragraph"]),
)  # fmt: skip
def test_the_parts_are_those_of_the_tokenizer(texts, size, overlap, threads, block, break_at):
    lines = "\n".join(json.dumps({"text": text}) for text in texts)
    source = Source(text=lines, documents="jsonl", block_bytes=block)
    written = io.BytesIO()
    done = divide(source, GPT2, ChunkOptions(size, overlap, break_at, threads=threads), output=written)
    objects = [json.loads(line) for line in written.getvalue().splitlines()]
    expected = [
        {
            "text": part.text,
            "start": part.start,
            "end": part.end,
            "tokens": len(part.ids),
            "input": "--text",
            "document": n,
        }
        for n, text in enumerate(texts, 1)
        for part in GPT2.chunks(text, size, overlap=overlap, break_at=break_at)
    ]
    assert objects == expected
    assert (done.documents, done.chunks) == (len(texts), len(expected))
    assert done.tokens == sum(each["tokens"] for each in expected)
    compared()


@at_least(3)
@given(texts=TEXTS, size=st.integers(0, 9), keep=st.sampled_from(list(SIDES)), threads=st.integers(1, 3))
def test_what_is_kept_is_what_the_tokenizer_keeps(texts, size, keep, threads):
    texts = [text.replace("\n", " ").replace("\r", " ") for text in texts]
    written = io.BytesIO()
    source = Source(text="".join(f"{text}\n" for text in texts), documents="lines", block_bytes=7)
    done = divide(source, GPT2, TruncateOptions(size, keep, threads=threads), output=written)
    kept = [GPT2.truncate(text, size, side=SIDES[keep]) for text in texts]
    assert written.getvalue().decode() == "".join(f"{text}\n" for text in kept)
    assert (done.documents, done.tokens) == (len(texts), sum(map(GPT2.count, kept)))
    compared()


def test_bytes_that_are_not_text(tmp_path):
    data = b"caf\xe9 \xff\xfe one two three"
    (tmp_path / "in.txt").write_bytes(data)
    done = call("encode", "in.txt", "-t", "gpt2", "--to", "chunks", "--size", "3", cwd=tmp_path)
    objects = [json.loads(line) for line in done.out.splitlines()]
    assert b"".join(text_of(each["text"]) for each in objects) == data
    assert [each["start"] for each in objects[1:]] == [each["end"] for each in objects[:-1]]
    kept = call("encode", "in.txt", "-t", "gpt2", "--to", "text", "--truncate", "4", cwd=tmp_path)
    assert kept.out == data[: len(kept.out)] != b""


def test_rows_and_fields_become_objects(tmp_path):
    (tmp_path / "rows.csv").write_text("text\none two three\nfour\n")
    done = call("encode", "rows.csv", "-t", "gpt2", "--to", "text", "--truncate", "2", cwd=tmp_path)
    assert done.out == b'{"text":"one two"}\n{"text":"four"}\n'
    (tmp_path / "rows.jsonl").write_text('{"a": "one two three"}\n\n{"a": ""}\n')
    fields = ("rows.jsonl", "--jsonl", "--field", "a", "-t", "gpt2", "--to")
    done = call("encode", *fields, "text", "--truncate", "1", "--keep", "tail", cwd=tmp_path)
    assert done.out == b'{"text":" three"}\n{"text":""}\n'
    done = call("encode", *fields, "chunks", "--size", "2", "-o", "out.jsonl", cwd=tmp_path)
    assert (done.status, done.err) == (0, "2 documents, 2 chunks, 3 tokens -> out.jsonl\n")
    assert [json.loads(line)["document"] for line in (tmp_path / "out.jsonl").read_text().splitlines()] == [1, 1]


@pytest.mark.parametrize("name", ["in.csv", "in.tar", "in.txt"])
def test_the_name_says_whether_what_is_kept_is_json(tmp_path, name):
    import tarfile

    (tmp_path / "in.txt").write_text("one two three")
    (tmp_path / "in.csv").write_text("text\none two three\n")
    with tarfile.open(tmp_path / "in.tar", "w") as archive:
        archive.add(tmp_path / "in.txt", "in.txt")
    is_text = name == "in.txt"
    right, wrong = ("x.txt", "x.jsonl") if is_text else ("x.jsonl", "x.txt")
    way = ("encode", name, "-t", "gpt2", "--to", "text", "--truncate", "2", "-q", "-o")
    refused = call(*way, wrong, cwd=tmp_path)
    assert (refused.status, refused.out) == (2, b"")
    assert f"end the name in {os.path.splitext(right)[1]}" in refused.err
    assert not (tmp_path / wrong).exists()
    assert call(*way, right, cwd=tmp_path) == (0, b"", "")
    assert (tmp_path / right).read_text() == ("one two" if is_text else '{"text":"one two"}\n')


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    (tmp_path / "in.txt").write_text("one two 你")
    done = call("encode", "in.txt", "-t", "gpt2", "--to", "chunks", "--size", "1", "-o", "x.jsonl", cwd=tmp_path)
    assert done.err == error(
        "in.txt: '你' at byte 8 has 2 tokens, and a part may have 1",
        "a character is not cut in two: allow parts of 2 tokens or more",
    )
    assert (done.status, [each.name for each in tmp_path.iterdir()]) == (2, ["in.txt"])


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        ("--to chunks", "--to chunks needs a size", "for example: --size 256"),
        ("--to text", "--to text writes the text of conversations, or the beginning of each text",
         "--chat reads conversations; --truncate 100 keeps 100 tokens"),
        ("--size 3", "--size is for chunks", "--to chunks writes them"),
        ("--overlap 3", "--overlap is for chunks", "--to chunks writes them"),
        ("--to text --truncate 3 --break line", "--break is for chunks", "--to chunks writes them"),
        ("--truncate 3", "--truncate is for text that is cut", "--to text writes it"),
        ("--to chunks --size 2 --keep tail", "--keep is for text that is cut", "--to text writes it"),
        ("--to chunks --size 2 --overlap 2", "--overlap must be less than --size, which is 2, not 2", None),
        (f"--to chunks --size {1 << 63}", f"--size must be {(1 << 63) - 1:,} or less", None),
        (f"--to text --truncate {1 << 63}", f"--truncate must be {(1 << 63) - 1:,} or less", None),
        ("--to chunks --size 2 --max-tokens 2", "parts of texts have no ids, and --max-tokens is only for ids",
         "leave it out"),
        ("--to chunks --size 2 --eot auto", "parts of texts have no ids, and --eot is only for ids", "leave it out"),
        ("--to chunks --size 2 --dropout 0.1", "sampling is for ids, and text is written", None),
        ("--to chunks --size 2 --special error", "--special error is for ids, and text is written", None),
        ("--to chunks --size 2 -o x.txt.png.npy",
         "-o x.txt.png.npy names a .npy file, but what is written is JSON lines",
         "end the name in .jsonl; bpe encode --to npy writes .npy files"),
        ("--chat --to chunks --size 2", "a conversation cannot be divided into chunks",
         "--to text writes what a template makes of it"),
        ("--chat --to text --truncate 2", "--truncate is for texts, and --chat reads conversations", None),
    ],
)  # fmt: skip
def test_options_that_do_not_fit(words, message, hint, tmp_path):
    done = call("encode", "-T", "one two", "-t", "gpt2", *words.split(), cwd=tmp_path)
    assert (done.status, done.out, done.err) == (2, b"", error(message, hint))
    assert list(tmp_path.iterdir()) == []


def test_options_of_programs():
    with pytest.raises(UsageError, match="`size` must be 1 or more, not 0"):
        ChunkOptions(0)
    with pytest.raises(UsageError, match="a part cannot end at a 'word'"):
        ChunkOptions(1, break_at="word")
    with pytest.raises(UsageError, match="a text has no 'end'"):
        TruncateOptions(1, "end")
    with pytest.raises(UsageError, match="`truncate` must be 0 or more"):
        TruncateOptions(-1)
    with pytest.raises(InputError, match=r"--text, document 2: '你' at byte 0"):
        divide(
            Source(text='{"text":"a"}\n{"text":"你"}', documents="jsonl"), GPT2, ChunkOptions(1), output=io.BytesIO()
        )
