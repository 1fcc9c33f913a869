"""``bpe train``: what it learns, what it says, and where it puts it."""

from __future__ import annotations

import hashlib
import json

import pytest

from bpe_cli import _core
from tests.cli_runner import call, check_golden, error, run

WALK = b"low " * 5 + b"lower " * 2 + b"newest " * 6 + b"widest " * 3
SENTENCES = b"""\
This is the Hugging Face Course.
This chapter is about tokenization.
This section shows several tokenizer algorithms.
Hopefully, you will be able to understand how they are trained and generate tokens.
"""
MERGES = (
    "Ġ t, i s, e r, Ġ a, Ġt o, e n, T h, Th is, o u, s e, Ġto k, Ġtok en, n d, Ġ is, Ġt h, Ġth e, i n, Ġa b, "
    "Ġtoken i, Ġtokeni z"
)
GPT2_STYLE = ("--compat", "minbpe", "--pattern", "gpt2", "--initial-alphabet", "seen", "--lines")


def model_of(data):
    return json.loads(data)["model"]


def merges_of(data):
    return [tuple(merge) for merge in model_of(data)["merges"]]


def test_summary_and_file(tmp_path):
    (tmp_path / "corpus.txt").write_bytes(WALK)
    result = run("train", "corpus.txt", "-s", "262", "-o", "tokenizer.json", cwd=tmp_path)
    summary = "17 pieces, 6 different -> 262 tokens: 256 bytes, 6 merges, 0 special\n"
    assert result == (0, b"", f"{summary}-> tokenizer.json\n")
    trained = (tmp_path / "tokenizer.json").read_bytes()
    assert merges_of(trained)[:3] == [("e", "s"), ("es", "t"), ("l", "o")]
    assert model_of(trained)["unicode_version"].count(".") == 2
    encoded = run("encode", "-T", "lowest", "-t", "tokenizer.json", "--to", "tokens", cwd=tmp_path)
    assert encoded == (0, b"low est\n", "")


def test_a_pipe_gets_the_same_file(tmp_path):
    path = tmp_path / "t.json"
    assert run("train", "-s", "262", "-o", path, "-q", input=WALK) == (0, b"", "")
    piped = run("train", "-", "-s", "262", input=WALK)
    assert piped == (0, path.read_bytes(), "17 pieces, 6 different -> 262 tokens: 256 bytes, 6 merges, 0 special\n")


def test_steps_of_the_walk_through():
    words = b"\n".join([b"low"] * 5 + [b"lower"] * 2 + [b"newest"] * 6 + [b"widest"] * 3)
    options = ("--pattern", "none", "--initial-alphabet", "seen", "--min-frequency", "2", "--compat", "minbpe")
    result = run("train", "--lines", *options, "-s", "100", "--steps", input=words)
    assert result.status == 0
    assert result.err == (
        "16 pieces, 4 different -> 22 tokens: 10 bytes, 12 merges, 0 special\n"
        "note: the vocabulary has 22 tokens, not 100: no pair is left that occurs 2 times or more\n"
    )
    check_golden("steps-walk.txt", result.out)


def test_steps_in_the_way_of_gpt2():
    result = run("train", *GPT2_STYLE, "-s", "50", "--steps", input=SENTENCES)
    assert (result.status, result.err) == (
        0, "36 pieces, 30 different -> 50 tokens: 30 bytes, 20 merges, 0 special\n",
    )  # fmt: skip
    check_golden("steps-gpt2.txt", result.out)


def test_the_example_in_the_way_of_gpt2(tmp_path):
    path = tmp_path / "t.json"
    assert call("train", *GPT2_STYLE, "-s", "50", "-q", "-o", path, input=SENTENCES) == (0, b"", "")
    assert [" ".join(merge) for merge in merges_of(path.read_bytes())] == MERGES.split(", ")
    assert len(model_of(path.read_bytes())["vocab"]) == 50
    encoded = call("encode", "-T", "This is not a token.", "-t", path, "--to", "tokens")
    assert encoded == (0, "This Ġis Ġ n o t Ġa Ġtoken .\n".encode(), "")


def test_steps_beside_a_file(tmp_path):
    path = tmp_path / "t.json"
    result = call("train", "-T", "aaabdaaabac", "-s", "258", "--pattern", "none", "--steps", "-o", path)
    assert result.err == f"1 piece, 1 different -> 258 tokens: 256 bytes, 2 merges, 0 special\n-> {path}\n"
    check_golden("steps-aaab.txt", result.out)
    assert merges_of(path.read_bytes()) == [("a", "a"), ("a", "b")]


def test_steps_are_for_small_corpora(corpora):
    assert call("train", corpora / "languages" / "*.txt", "-s", "300", "--steps") == (
        2, b"", error(
            "--steps is for small corpora: up to 20,000 bytes of different pieces",
            "leave --steps out, or train on a sample",
        ),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ((), "note: the vocabulary has 271 tokens, not 999: no pair is left to merge\n"),
        (
            ("--min-frequency", "6"),
            "note: the vocabulary has 265 tokens, not 999: no pair is left that occurs 6 times or more\n",
        ),
        (
            ("--max-token-length", "2"),
            "note: the vocabulary has 263 tokens, not 999: no pair is left that makes a token of at most 2 bytes\n",
        ),
        (
            ("--min-frequency", "6", "--max-token-length", "2"),
            (
                "note: the vocabulary has 260 tokens, not 999: no pair is left that occurs 6 times or more and makes a "
                "token of at most 2 bytes\n"
            ),
        ),
    ],
)
def test_a_vocabulary_that_cannot_be_filled_is_no_error(options, says):
    result = call("train", "-s", "999", *options, input=WALK)
    assert (result.status, result.err.partition("\n")[2]) == (0, says)
    lengths = [len(left + right) for left, right in merges_of(result.out)]
    assert max(lengths) <= (2 if "--max-token-length" in options else 7)


def test_special_tokens_come_first_and_in_order(tmp_path):
    path = tmp_path / "t.json"
    options = ("--special", "<|end|>", "--special", "<pad>", "-s", "260", "-o", path)
    result = call("train", "-T", "low low<|end|>", *options)
    assert result.err.startswith("5 pieces, 5 different -> 260 tokens: 256 bytes, 2 merges, 2 special\n")
    added = json.loads(path.read_bytes())["added_tokens"]
    assert [(token["id"], token["content"], token["special"]) for token in added] == [
        (0, "<|end|>", True), (1, "<pad>", True),
    ]  # fmt: skip
    assert call("encode", "-T", "<|end|>", "-t", path, "--special", "all").out == b"0\n"


def test_split_special_leaves_them_out():
    options = ("-T", "low low<|end|>low", "--special", "<|end|>", "-s", "260")
    assert call("train", *options).err.startswith("6 pieces,")
    assert call("train", *options, "--split-special").err.startswith("3 pieces, 2 different")


def test_prefix_space_and_pattern_are_kept_in_the_file(tmp_path):
    path = tmp_path / "t.json"
    assert call("train", "-T", "low", "--prefix-space", "--pattern", "gpt2", "-s", "260", "-o", path).status == 0
    assert call("encode", "-T", "low", "-t", path, "--to", "tokens").text == "Ġlow\n"
    assert call("inspect", "-t", path, "--json").text.count('"prefix_space": true') == 1


def test_a_pattern_that_refers_to_a_group_takes_the_slow_way():
    result = call("train", "-T", "a1b22", "--pattern", r"([0-9])\1*", "-s", "257")
    assert result.status == 0
    assert result.err == (
        "note: the core has no scanner for the pattern '([0-9])\\\\1*'; the `regex` module runs it, on one thread and "
        "many times slower\n"
        "4 pieces, 4 different -> 257 tokens: 256 bytes, 1 merge, 0 special\n"
    )
    assert merges_of(result.out) == [("2", "2")]


@pytest.mark.parametrize(
    ("compat", "special_id", "first"),
    [("hf", 0, "!"), ("subword-nmt", 0, "!"), ("rustbpe", 257, "Ā"), ("minbpe", 257, "Ā")],
)
def test_compat_decides_how_ids_are_given_out(compat, special_id, first):
    options = ("--compat", compat, "--special", "<s>", "-s", "258")
    trained = json.loads(call("train", "-T", "low low low", *options).out)
    assert trained["added_tokens"][0]["id"] == special_id
    letters = sorted((number, token) for token, number in trained["model"]["vocab"].items() if token != "<s>")
    assert letters[0][1] == first


def test_compat_decides_ties():
    options = ("--pattern", "none", "--min-frequency", "1", "-s", "257")
    chosen = {
        compat: merges_of(call("train", "-T", "ba ab ca", "--compat", compat, *options).out)
        for compat in ("hf", "minbpe", "subword-nmt")
    }
    assert chosen == {"hf": [("a", "b")], "minbpe": [("b", "a")], "subword-nmt": [("c", "a")]}


def test_jsonl_and_files_of_all_kinds(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"x":{"y":"low low"}}\n\n{"x":{"y":"lower"}}\n')
    result = call("train", "a.jsonl", "--jsonl", "--field", "x.y", "-s", "256", "-o", "t.json", cwd=tmp_path)
    assert result.err.startswith("3 pieces, 3 different -> 256 tokens: 256 bytes, 0 merges, 0 special")


def test_threads_and_blocks_change_nothing(corpora):
    files = (corpora / "languages" / "hi.txt", corpora / "languages" / "en.txt", corpora / "misc" / "whitespace.txt")
    trained = {
        hashlib.sha256(call("train", *files, "-s", "400", *options).out).hexdigest()
        for options in (
            ("--threads", "1"), ("-j", "2"), ("-j", "4"), ("--block-size", "1"), ("--block-size", "7", "-j", "2"),
            ("--block-size", "4096", "-j", "4"),
        )
    }  # fmt: skip
    assert len(trained) == 1


def test_counts_of_shards_train_to_the_same_file(tmp_path, corpora):
    names = [corpora / "languages" / f"{language}.txt" for language in ("de", "ja", "ru")]
    assert call("train", *names, "-s", "400", "-o", tmp_path / "whole.json").status == 0
    for number, name in enumerate(names):
        counted = call("train", name, "--counts-out", f"{number}.counts", cwd=tmp_path)
        assert counted.status == 0
        assert counted.err.endswith(f" different -> {number}.counts\n")
    shards = [f"--from-counts={number}.counts" for number in range(3)]
    assert run("train", *shards, "-s", "400", "-o", "parts.json", "-q", cwd=tmp_path) == (0, b"", "")
    assert (tmp_path / "parts.json").read_bytes() == (tmp_path / "whole.json").read_bytes()


@pytest.mark.parametrize(
    "words", [("-T", "low", "--counts-out", "-"), ("--from-counts", "-", "-s", "257", "-o", "t.json")]
)
def test_counts_have_no_stream(tmp_path, words):
    done = call("train", *words, cwd=tmp_path)
    name = next(word for word in words if "counts" in word)
    assert done == (2, b"", error(f"{name} names a file: counts cannot be piped", "./- is a file of that name"))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("words", [("--steps",), ("--valid", "in.txt")])
def test_stdout_is_named_for_one_thing(tmp_path, words):
    """As a name, ``-`` asks for the tokenizer; without it, what is shown is shown alone."""
    (tmp_path / "in.txt").write_text("low lower low")
    line = ("train", "in.txt", "-s", "258", *words)
    refused = error(f"-o - does not go with {words[0]}", "name a file: -o tokenizer.json")
    assert call(*line, "-o", "-", cwd=tmp_path) == (2, b"", refused)
    assert call(*line, cwd=tmp_path).status == 0


def test_counts_and_a_tokenizer_for_stdout(tmp_path):
    alone = call("train", "-T", "low", "-a", "char", "-q")
    assert alone.out.startswith(b"{")
    both = call("train", "-T", "low", "-a", "char", "-q", "--counts-out", "x.counts", "-o", "-", cwd=tmp_path)
    assert both == alone
    assert call("train", "-T", "low", "-a", "char", "-q", "--counts-out", "x.counts", cwd=tmp_path) == (0, b"", "")


def test_counts_and_a_tokenizer_in_one_go(tmp_path):
    result = call("train", "-s", "257", "--counts-out", "c", "-o", "t.json", input=WALK, cwd=tmp_path)
    assert result.err == (
        "17 pieces, 6 different -> c\n17 pieces, 6 different -> 257 tokens: 256 bytes, 1 merge, 0 special\n-> t.json\n"
    )
    assert call("train", "--from-counts", "c", "-s", "257", cwd=tmp_path).out == (tmp_path / "t.json").read_bytes()


def test_counts_must_have_been_cut_alike(tmp_path):
    for name, options in {"a": (), "b": ("--pattern", "gpt2"), "c": ("--prefix-space",)}.items():
        assert call("train", "-T", "low", "--counts-out", name, "-q", *options, cwd=tmp_path) == (0, b"", "")
    assert call("train", "--from-counts", "a", "-s", "300", "--pattern", "gpt2", cwd=tmp_path).err == error(
        "the counts were cut with the pattern o200k, not with the pattern gpt2", "leave --pattern out, or count again"
    )
    spaced = ("--prefix-space", "--pattern", "gpt2")
    assert call("train", "--from-counts", "b", "-s", "300", *spaced, cwd=tmp_path).err == error(
        "the counts were made without --prefix-space", "count again with it"
    )
    splitting = ("--special", "<s>", "--split-special")
    assert call("train", "--from-counts", "a", "-s", "300", *splitting, cwd=tmp_path).err == error(
        "the counts were made with no --split-special",
        "count again with the special tokens to split off",
    )
    result = call("train", "--from-counts", "a", "--from-counts", "c", "-s", "300", cwd=tmp_path)
    assert result == (
        2, b"", error(
            "a and c were not cut in the same way: prefix_space is false in the first and true in the second",
            "counts can be added up only if all that decides about pieces is equal",
        ),
    )  # fmt: skip


def test_what_counts_were_made_with_and_training_does_not_say_is_noted(tmp_path):
    call("train", "-T", "low<s>lower", "--special", "<s>", "--split-special", "--counts-out", "c", "-q", cwd=tmp_path)
    left_out = 'note: the counts were made with --split-special, which leaves "<s>" out\n'
    assert left_out in call("train", "--from-counts", "c", "-s", "257", cwd=tmp_path).err
    again = call("train", "--from-counts", "c", "-s", "258", "--special", "<s>", "--split-special", cwd=tmp_path)
    assert (again.status, "note:" in again.err) == (0, False)
    counted = tmp_path / "c"
    version = b'"unicode_version":"%s"' % _core.UNICODE_VERSION.encode()
    assert version in counted.read_bytes()
    counted.write_bytes(counted.read_bytes().replace(version, b'"unicode_version":"9.0.0"'))
    assert call("train", "--from-counts", "c", "-s", "257", cwd=tmp_path).err.startswith(
        f"{left_out}note: the counts were cut by Unicode 9.0.0, and the tokenizer cuts by Unicode "
        f"{_core.UNICODE_VERSION}: characters that are new in one of them may be cut otherwise\n"
    )
    call("train", "-T", "low", "--pattern", "none", "--counts-out", "c", "-q", cwd=tmp_path)
    counted.write_bytes(counted.read_bytes().replace(version, b'"unicode_version":"9.0.0"'))
    assert "note:" not in call("train", "--from-counts", "c", "-s", "257", cwd=tmp_path).err  # no table is asked


def test_damaged_counts(tmp_path):
    call("train", "-T", "low lower", "--counts-out", "c", cwd=tmp_path)
    whole = (tmp_path / "c").read_bytes()
    for data, message, hint in (
        (b"low", "c is not a counts file", "`bpe train --counts-out` writes them"),
        (whole[:100], "c: the header is cut short", None),
        (
            whole[:-1],
            "c: the counts do not have the checksum that the header gives; they were changed or cut short",
            None,
        ),
    ):
        (tmp_path / "c").write_bytes(data)
        assert call("train", "--from-counts", "c", "-s", "300", cwd=tmp_path) == (2, b"", error(message, hint))


def test_memory_is_bounded():
    few, many = (b"".join(b"%x\n" % number for number in range(size)) for size in (50_000, 300_000))
    options = ("train", "--lines", "--pattern", "none", "-s", "300")
    small, large = (call(*options, "--max-memory", size, input=few) for size in ("1", "100"))
    assert (small.status, small.out) == (0, large.out)
    assert "the counts take more than 1 MiB: they go to temporary files in " in small.err
    result = call(*options, "--max-memory", "1", "-q", input=many)
    assert (result.status, result.err) == (2, error(
        "training needs all 300,000 different pieces in memory: 1 MiB",
        "raise --max-memory, split the text more finely, or train on a sample; "
        "--counts-out saves the counts of a corpus of any size",
    ))  # fmt: skip


def test_what_the_file_cannot_say_is_refused_before_the_work(tmp_path):
    result = call("train", "nosuch", "-s", "300", "--prefix-space", "-o", "t.json", cwd=tmp_path)
    assert result == (
        2, b"", error(
            "tokenizer.json cannot say that a space is put before the text with this split pattern",
            "it can with the gpt2 pattern, or with none",
        ),
    )  # fmt: skip


def test_steps_of_what_cannot_be_written_are_not_printed(tmp_path):
    (tmp_path / "in.txt").write_bytes(b"a \xff b")
    words = ("train", "in.txt", "-s", "258", "--special", "e", "--steps", "-o", "new.json")
    done = call(*words, cwd=tmp_path)
    assert (done.status, done.out) == (2, b""), done
    assert not (tmp_path / "new.json").exists()
