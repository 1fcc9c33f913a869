"""Tokenizer files that are cut, damaged or malicious: a sentence for each, never a traceback."""

from __future__ import annotations

import json

import pytest

from bpe_cli import formats
from tests.cli_runner import call, error, run

BASE = {
    "version": "1.0",
    "added_tokens": [],
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True},
    "decoder": {"type": "ByteLevel"},
    "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]},
}
IDS = "ids are integers from 0 to 4,294,967,295"
KNOWN = (
    "BPE", "SuffixBpe", "EventBpe", "Unigram", "ScoredBpe",
    "WordPiece", "WordLevel", "LongestMatch", "FewestTokens", "MaxMatch", "GreedyCover", "NGram",
)  # fmt: skip
STAGES = ("pre_tokenizer", "post_processor", "decoder", "model")
SPLIT = "t.json: pre_tokenizer.pretokenizers[0].pattern"
SYNTAX_HINT = "patterns are written in the syntax of Python's `regex` module; names: `bpe train --help --all`"
FORMATS = f"formats are {', '.join(formats.FORMATS)}"


def changed(path, value):
    """Return BASE with one value in another way, as JSON."""
    content = json.loads(json.dumps(BASE))
    *parents, last = path.split(".")
    inner = content
    for parent in parents:
        inner = inner[parent]
    inner[last] = value
    return json.dumps(content)


def split_by(regex):
    stages = [
        {"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": False},
        {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False},
    ]
    return changed("pre_tokenizer", {"type": "Sequence", "pretokenizers": stages})


def test_the_base_is_fine(tmp_path):
    (tmp_path / "t.json").write_text(json.dumps(BASE))
    assert call("encode", "-T", "abba", "-t", "t.json", cwd=tmp_path) == (0, b"2 1 0\n", "")


@pytest.mark.parametrize(
    ("content", "message", "hint"),
    [
        ("", "t.json is empty, not a tokenizer in a format that can be read", FORMATS),
        (
            "hello\n",
            "t.json is text that begins 'hello', not a tokenizer in a format that can be read",
            f"{FORMATS}; -a list trains one from a list of tokens",
        ),
        ("\0\1\2", "t.json is binary, not a tokenizer in a format that can be read", FORMATS),
        ('{"a": {"b": 1}}', "t.json is JSON with the keys a, not a tokenizer in a format that can be read", FORMATS),
        (
            json.dumps(BASE)[:-9],
            "not valid JSON: unexpected end of data (t.json:1:{})",
            "the file is cut short, or a bracket is missing",
        ),
        ('{"model":' + "[" * 100_000, "not valid JSON: depth limit exceeded (t.json:1:1034)", None),
        ('{"model":' + "[" * 900 + "]" * 900 + "}", "t.json: model must be an object, not an array", None),
        (changed("model.vocab", {"a": 0, "b": 10**30}), f't.json: model.vocab gives "b" the id 1e+30; {IDS}', None),
        (changed("model.vocab", {"a": 0, "b": -1}), f't.json: model.vocab gives "b" the id -1; {IDS}', None),
        (changed("model.vocab", {"a": 0, "b": 1.5}), f't.json: model.vocab gives "b" the id 1.5; {IDS}', None),
        (changed("model.vocab", {"a": 0, "b": "1"}), f't.json: model.vocab gives "b" the id str; {IDS}', None),
        (changed("model.vocab", {"a": 0, "b": 0}), 't.json: model.vocab gives the id 0 to "a" and to "b"', None),
        (
            changed("model.vocab", {"a": 0, "b": 4_000_000_000, "ab": 2}),
            't.json: the token "b" has id 4,000,000,000; ids run to 2,097,151',
            None,
        ),
        (changed("model.vocab", [1]), "t.json: model.vocab must be an object, not an array", None),
        (changed("model.merges", "a b"), "t.json: model.merges must be an array, not a string", None),
        (
            changed("model.merges", ["a b", "a b c"]),
            't.json: model.merges has merge 2, "a b c": that is not two tokens and one space between',
            None,
        ),
        (
            changed("model.merges", [1]),
            't.json: model.merges has merge 1 in another form than "a b" or ["a", "b"]',
            None,
        ),
        (
            changed("model.merges", ["a z"]),
            't.json: merge 1 ("a", "z"): the token "z" is not in the vocabulary',
            None,
        ),
        (
            changed("model.type", "Magic"),
            't.json: model.type is "Magic", a model that is not known',
            f"known are {', '.join(KNOWN)}",
        ),
        (
            split_by("(a"),
            f"{SPLIT}: the pattern '(a' does not compile: missing ) at position 2",
            SYNTAX_HINT,
        ),
        (
            split_by("(" * 5000 + ")" * 5000),
            f"{SPLIT}: the pattern '{'(' * 57}...' does not compile: it is too large or too deep",
            SYNTAX_HINT,
        ),
        (
            changed("dangerous", True),
            't.json has a field that this version does not know: "dangerous"',
            f"known are version, truncation, padding, added_tokens, normalizer, {', '.join(STAGES)}, usage, trained",
        ),
    ],
)
def test_tokenizer_json(tmp_path, content, message, hint):
    (tmp_path / "t.json").write_text(content)
    message = message.format(len(content) + 1) if message.endswith(":{})") else message
    assert call("encode", "-T", "ab", "-t", "t.json", cwd=tmp_path) == (2, b"", error(message, hint))


@pytest.mark.parametrize(
    ("content", "message", "hint"),
    [
        ("YQ== 0\nYg== 1\nYW", 'not base64, a space and a rank: "YW" (r.tiktoken:3)', None),
        ("YQ== 0\nYg== 0\n", "the rank 0 stands on line 1 already (r.tiktoken:2)", None),
        ("YQ== 0\nYQ== 1\n", 'the token "YQ==" stands on line 1 already (r.tiktoken:2)', None),
        ("YQ== 0\nYg== 2097152\n", 'the rank "2097152" is over 2,097,151 (r.tiktoken:2)', None),
        ("YQ== 0\nYg== " + "9" * 50, f'the rank "{"9" * 50}" is over 2,097,151 (r.tiktoken:2)', None),
        ("YQ== 0\n 1\n", "the token is empty (r.tiktoken:2)", None),
        ("YQ== 0\nYR== 1\n", 'the base64 "YR==" has stray bits at its end (r.tiktoken:2)', None),
        (
            "YQ== 0\r\nYg== 1\r\n",
            'not base64, a space and a rank: "YQ== 0\\r" (r.tiktoken:1)',
            "the file has the line ends of Windows; convert them to LF",
        ),
        (
            "YQ== 0\nYg== 1\n",
            "r.tiktoken holds ranks only: it does not say how text is split before merging",
            "give its pattern, with --pattern: gpt2, cl100k, llama3, nanochat, qwen2, o200k, tekken, or an expression",
        ),
    ],
)
def test_tiktoken(tmp_path, content, message, hint):
    (tmp_path / "r.tiktoken").write_bytes(content.encode())
    pattern = () if hint and "--pattern" in hint else ("--pattern", "gpt2")
    result = call("encode", "-T", "ab", "-t", "r.tiktoken", *pattern, cwd=tmp_path)
    assert result == (2, b"", error(message, hint))


def test_the_real_command_says_the_same(tmp_path):
    (tmp_path / "t.json").write_bytes(b'{"model":' + b"[" * 1_000_000)
    result = run("encode", "-T", "ab", "-t", "t.json", cwd=tmp_path)
    assert result == (2, b"", error("not valid JSON: depth limit exceeded (t.json:1:1034)"))


def test_folders(tmp_path):
    (tmp_path / "x").mkdir()
    hint = (
        "it needs tokenizer.json, vocab.txt, vocab.json with merges.txt, or one file that ends in .json, .model, "
        ".tiktoken, .gguf, .vocab, .codes or .yttm; or name a file in it"
    )
    assert call("encode", "-T", "a", "-t", "x", cwd=tmp_path) == (
        2, b"", error("the folder x holds no tokenizer, it is empty", hint),
    )  # fmt: skip
    (tmp_path / "x" / "vocab.json").write_text('{"a": 0}')
    assert call("encode", "-T", "a", "-t", "x", cwd=tmp_path).err == error(
        "the folder x holds no tokenizer, but vocab.json", hint
    )
    assert call("encode", "-T", "a", "-t", "x/vocab.json", cwd=tmp_path).err == error(
        "x/vocab.json is one of a pair of files, and the other is missing",
        "lay them side by side: vocab.json with merges.txt or encoder.json with vocab.bpe",
    )
    (tmp_path / "x" / "merges.txt").write_text("#version: 0.2\na a\nb\n")
    assert call("encode", "-T", "a", "-t", "x", cwd=tmp_path).err == error(
        'x/merges.txt: merge 1 ("a", "a"): the token "aa" is not in the vocabulary'
    )


def test_what_is_no_file(tmp_path):
    assert call("encode", "-T", "a", "-t", "/dev/null") == (
        2, b"", error("/dev/null is not a regular file", "save it to disk first"),
    )  # fmt: skip
