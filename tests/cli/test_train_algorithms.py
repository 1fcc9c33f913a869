"""Every algorithm from the command line: inputs, counts, each way to write ids, reports."""

from __future__ import annotations

import json
import re
import tempfile
from array import array
from functools import cache
from pathlib import Path

import pytest

from bpe_cli.formats import load
from bpe_cli.sinks.lines import visible_table
from tests.cli.training_kinds import KINDS
from tests.cli_runner import call

TEXT = "low lower newest widest, été \\ and \\x41 a_b  two\tthree\nnext line 12 345\n" * 4
NEW = "lower été \\ and \\x41 a_b  two\tthree\nwidest q🙂 12\n"
"""Holds what a line of tokens must escape, a tab, two blanks, and characters that no corpus here has."""

LOSSLESS = {"bbpe", "bbpe minbpe", "bbpe rustbpe", "bbpe subword-nmt", "byte", "mingram", "greedtok"}
WORDS = "lower été \\ and \\x41 a_b two\tthree widest"
LOWERED = "lower ete \\ and \\ x41 a _ b two three widest [UNK] 12"
MARKED = "lower été \\ and \\x41 a_b two three widest  ⁇  12"
# What decoders promise where text cannot come back: blanks of all kinds become one between words, stages that
# rewrite text cannot be undone, what has no token is the unknown token, and words without blanks have none.
DECODED = {
    "bpe": f"{WORDS} <unk><unk>12",
    "bpe hf": f"{WORDS} <unk><unk>12",
    "bpe subword-nmt": f"{WORDS} <unk><unk>12",
    "bpe 0.1": f"{WORDS} <unk><unk> 12",
    "bpe bytes": f"{WORDS} q🙂 12",
    "bpe sentencepiece": MARKED,
    "wordpiece": LOWERED,
    "wordpiece hf": LOWERED,
    "wordpiece tensorflow": LOWERED,
    "wordpiece score": LOWERED,
    "unigram": NEW.replace("q🙂", "<unk>"),
    "unigram textbook": NEW.replace("q🙂", "<unk>"),
    "unigram sentencepiece": MARKED,
    "picky": "lower été \\ and \\x41 a_b two three widest <unk><unk> 12",
    "scaffold": "lower été \\ and \\x41 a_b two three widest <unk><unk> 12",
    "char": NEW.replace("q🙂", "<unk><unk>"),
    "char sentencepiece": MARKED,
    "word": "lower été \\ and \\ x41 a_b two three widest <unk> <unk> 12",
    "word sentencepiece": "lower été \\ and \\x41 a_b two three ⁇  12",
    "ngram": NEW.replace("\nw", "<unk>w").replace(" q🙂", "<unk>" * 3).replace("12\n", "1<unk>\n"),
    "ngram strided": "low" + "<unk>" * 16,
    "maxmatch": "lowerété\\and\\x41a_btwothree\nwidest<unk><unk>12\n",
}


@cache
def trained(kind):
    result = call("train", *KINDS[kind], "-q", input=TEXT.encode())
    assert (result.status, result.err) == (0, "")
    return result.out


@cache
def examined(kind):
    """Return what a report says of a kind in JSON, from which each test reads its own."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "t.json").write_bytes(trained(kind))
        return call("inspect", "-t", "t.json", "--json", cwd=folder).out


def report_on(kind):
    return json.loads(examined(kind))


@pytest.fixture
def tokenizer(kind, tmp_path):
    path = tmp_path / "t.json"
    path.write_bytes(trained(kind))
    return path


all_kinds = pytest.mark.parametrize("kind", KINDS)


@all_kinds
def test_text_from_everywhere(kind, tmp_path):
    options = (*KINDS[kind], "-q")
    (tmp_path / "corpus.txt").write_text(TEXT)
    assert call("train", "corpus.txt", *options, "-o", "t.json", cwd=tmp_path) == (0, b"", "")
    assert (tmp_path / "t.json").read_bytes() == trained(kind)
    assert call("train", "-T", TEXT, *options).out == trained(kind)
    assert call("train", "-", *options, input=TEXT.encode()).out == trained(kind)


@all_kinds
def test_documents_of_all_forms(kind, tmp_path):
    lines = [line for line in TEXT.splitlines() if line]
    for number, line in enumerate(lines):
        (tmp_path / f"{number}.txt").write_text(line)
    options = (*KINDS[kind], "-q")
    results = [
        call("train", *(f"{number}.txt" for number in range(len(lines))), *options, cwd=tmp_path),
        call("train", "--lines", *options, input=TEXT.encode()),
        call("train", "--jsonl", *options, input="".join(json.dumps({"text": line}) + "\n" for line in lines).encode()),
    ]
    assert [(result.status, result.err) for result in results] == [(0, "")] * 3
    assert results[0].out == results[1].out == results[2].out


@all_kinds
def test_threads_and_blocks_change_nothing(kind):
    for options in (("-j", "3"), ("--block-size", "64", "-j", "1"), ("--block-size", "64", "-j", "3")):
        assert call("train", *KINDS[kind], *options, "-q", input=TEXT.encode()).out == trained(kind), options


@all_kinds
def test_counts_of_shards(kind, tmp_path):
    shards = [TEXT[: len(TEXT) // 2], TEXT[len(TEXT) // 2 :]]
    assert shards[0].endswith("\n")
    for number, shard in enumerate(shards):
        (tmp_path / f"{number}.txt").write_text(shard)
    options = KINDS[kind]
    whole = call("train", "0.txt", "1.txt", *options, "-q", cwd=tmp_path)
    for number in range(2):
        counted = call("train", f"{number}.txt", "--counts-out", f"{number}.c", *options, "-q", cwd=tmp_path)
        assert (counted.status, counted.err) == (0, "")
    joined = call("train", "--from-counts", "0.c", "--from-counts", "1.c", *options, "-q", cwd=tmp_path)
    assert (joined.status, joined.err) == (0, "")
    assert joined.out == whole.out


@all_kinds
def test_every_way_to_write_ids_and_back(kind, tokenizer, tmp_path):
    def encode(*options):
        result = call("encode", "-T", NEW, "-t", tokenizer, *options, "-q", cwd=tmp_path)
        assert (result.status, result.err) == (0, ""), options
        return result.out

    def decode(*options, data=b""):
        result = call("decode", "-t", tokenizer, *options, "-q", input=data, cwd=tmp_path)
        assert (result.status, result.err) == (0, ""), options
        return result.out

    ids = [int(number) for number in encode().split()]
    assert encode("--to", "count") == b"%d\n" % len(ids)
    expected = NEW if kind in LOSSLESS else DECODED[kind]
    assert decode(data=encode()).decode() == expected
    line = encode("--to", "tokens")
    assert len(line.decode().split(" ")) == len(ids)
    assert line.count(b"\n") == 1
    assert decode("--from", "tokens", data=line).decode() == expected
    full = encode("--to", "jsonl", "--with", "tokens,spans")
    document = json.loads(full)
    assert (document["ids"], document["tokens"]) == (ids, line.decode().removesuffix("\n").split(" "))
    size = len(NEW.encode())
    assert all(0 <= start <= end <= size for start, end in document["spans"])
    if kind in LOSSLESS:
        starts, ends = [start for start, _ in document["spans"]], [0, *(end for _, end in document["spans"][:-1])]
        if kind in ("mingram", "greedtok"):  # a pre-tokenizer spells bytes: the tokens of a character have all of it
            assert all(start <= end for start, end in zip(starts, ends, strict=True))
        else:
            assert starts == ends
        assert document["spans"][-1][1] == size
    assert decode("--from", "jsonl", data=full).decode() == expected
    for form in ("npy", "bin"):
        encode("--to", form, "-o", f"o.{form}")
        assert decode("--from", form, f"o.{form}").decode() == expected
    assert array("H", (tmp_path / "o.bin").read_bytes()).tolist() == ids


@all_kinds
def test_encoding_by_threads_and_blocks(kind, tokenizer):
    data = (NEW * 20).encode()
    for to in ("ids", "tokens", "count"):
        first, *others = (
            call("encode", "-t", tokenizer, "--to", to, *options, input=data)
            for options in ((), ("--block-size", "64", "-j", "1"), ("--block-size", "64", "-j", "3"))
        )
        assert (first.status, first.err) == (0, "")
        assert others == [first] * 2


@all_kinds
def test_every_token_is_read_back(kind, tokenizer):
    report = report_on(kind)
    wanted = list(range(report["highest_id"] + 1))
    for first, last in report["unused_ranges"]:
        wanted = [number for number in wanted if not first <= number <= last]
    # An id a document: what a line of tokens says of each must lead back to it, blanks and backslashes too.
    numbers = "".join(f"{number}\n" for number in wanted).encode()
    texts = call("decode", "-t", tokenizer, "--lines", input=numbers)
    assert texts.status == 0
    table = visible_table(load(tokenizer))
    written = "".join(f"{table[number]}\n" for number in wanted).encode()
    assert call("decode", "-t", tokenizer, "--from", "tokens", "--lines", input=written).out == texts.out


@all_kinds
def test_reports(kind, tokenizer):
    alone = call("inspect", "-t", tokenizer, "--section", "totals")
    assert (alone.status, alone.err) == (0, "")
    report = report_on(kind)
    assert report["schema"] == "bpe.inspect.tokenizer/1"
    assert re.search(f"^algorithm +{re.escape(report['algorithm'])} *$", alone.text, re.MULTILINE)
    ids = call("encode", "-T", NEW, "-t", tokenizer).out.split()
    shown = call("inspect", "-T", NEW, "-t", tokenizer)
    same = "round trip ok" if kind in LOSSLESS else "round trip differs from byte "
    assert shown.status == 0
    unfolded = " ".join(shown.text.split())
    assert f" {len(ids)} tokens, {len(NEW)} characters {len(NEW.encode())} bytes, " in unfolded
    assert same in unfolded
    text = json.loads(call("inspect", "-T", NEW, "-t", tokenizer, "--json").out)
    assert [str(token["id"]).encode() for token in text["tokens"]] == ids
    assert text["round_trip"] == (kind in LOSSLESS)
    stages = json.loads(call("inspect", "-T", NEW, "-t", tokenizer, "--stages", "--json").out)["stages"]
    assert stages["pieces"][-1]["tokens"][1] == len(ids)


def test_comparing_kinds(tmp_path):
    chosen = ("bbpe", "wordpiece", "unigram", "char", "maxmatch", "ngram", "word", "bpe")
    for kind in chosen:
        (tmp_path / f"{kind}.json").write_bytes(trained(kind))
    named = [word for kind in chosen for word in ("-t", f"{kind}.json")]
    result = call("compare", "-T", NEW, *named, "--json", cwd=tmp_path)
    assert (result.status, result.err) == (0, "")
    counts = {kind: len(call("encode", "-T", NEW, "-t", f"{kind}.json", cwd=tmp_path).out.split()) for kind in chosen}
    report = json.loads(result.out)
    assert report["schema"] == "bpe.compare/2"
    assert [each["token_count"] for each in report["total"]["results"]] == list(counts.values())
    table = call("compare", "-T", NEW, *named, cwd=tmp_path)
    assert (table.status, table.err) == (0, "")
    assert all(f"{kind}.json" in table.text for kind in chosen)


@all_kinds
def test_converting_changes_nothing(kind, tokenizer, tmp_path):
    assert call("convert", tokenizer, "-o", tmp_path / "copy.json", "-f", "bpe.json", "-q") == (0, b"", "")
    assert (tmp_path / "copy.json").read_bytes() == trained(kind)


@pytest.mark.parametrize("algorithm", ["bpe", "unigram", "char", "word"])
def test_sentencepiece_files(algorithm, tmp_path):
    kind = f"{algorithm} sentencepiece"
    model = tmp_path / "m.model"
    assert call(
        "train", *KINDS[kind], "--format", "sentencepiece", "-o", model, "-q", input=TEXT.encode()
    ) == (0, b"", "")  # fmt: skip
    (tmp_path / "t.json").write_bytes(trained(kind))
    ids = [call("encode", "-T", NEW, "-t", path).out for path in (model, tmp_path / "t.json")]
    assert ids[0] == ids[1]
    assert ids[0] != b"\n"


def test_codes_are_the_default_where_subword_nmt_is_asked_for():
    codes = call("train", "-a", "bpe", "--compat", "subword-nmt", "--set", "merges=2", "-q", input=b"low low lower")
    assert codes == (0, b"#version: 0.2\nl o\nlo w</w>\n", "")


@pytest.mark.parametrize(
    ("algorithm", "tokens"),
    [
        ("char", "a <unk> b \\x20 a"),
        ("word", "<unk> b"),
        ("ngram", "<unk> <unk> b\\x20 \\x20a a"),
        ("maxmatch", "a <unk> ba"),
    ],
)
def test_what_is_not_utf_8_gets_no_token(algorithm, tokens, tmp_path):
    corpus = tmp_path / "bad.txt"
    corpus.write_bytes(b"a\xffb a" if algorithm != "word" else b"a\xff b")
    trained = call("train", corpus, "-a", algorithm, "-o", "t.json", "--format", "bpe.json", cwd=tmp_path)
    assert trained.status == 0, trained.err
    assert " left out that " in trained.err
    assert call("encode", corpus, "-t", "t.json", "--to", "tokens", cwd=tmp_path).text.strip() == tokens
