"""A pattern that was compiled to see whether it can be run is not compiled again to be run."""

from __future__ import annotations

import base64
import json

import pytest

import bpe_cli
from bpe_cli import _core
from bpe_cli.errors import FormatError, UsageError
from bpe_cli.formats.byte_level import tekken
from bpe_cli.formats.gguf.splits import SPLITS
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.stages.splitters import RegexSplitter, compile_splitter
from tests.cli_runner import call
from tests.unit.reports.small_tokenizers import byte_level


def test_patterns_are_compiled_once():
    patterns = ("[a-f]+|[^a-f]+", "b")
    assert compile_splitter(patterns) is compile_splitter((*patterns,))
    assert compile_splitter(patterns) is not compile_splitter(patterns[:1])
    assert [*memoryview(compile_splitter(patterns).split(b"abcxyab"))] == [1, 2, 3, 5, 6, 7]
    slow = compile_splitter((r"(a)\1",))
    assert isinstance(slow, RegexSplitter)
    assert compile_splitter((r"(a)\1",)) is slow


def test_what_does_not_compile_is_refused_each_time():
    for _ in range(2):
        with pytest.raises(UsageError, match="does not compile"):
            compile_splitter(("(",))


SETS = {
    r"[\p{L}&&[^\p{Han}]]+|.": "&&", r"[a-z--[aeiou]]": "--", "[a~~b]": "~~", "[[a]": "[", "[^a[b]]": "[",
    "[+--]": "--", r"\s|[\w--\d]": "--", "(?x) [a&&b]": "&&", r"[]a&&b]": "&&", r"[\]a[]": "[",
}  # fmt: skip
CHARACTERS = (
    r"[\[\&\&\-\-\~\~]", "&&|--|~~", r"\[a&&b\]", "[[:alpha:]]", "[a&~-]", "[||]", r"\[\[", "(?#[[)a", r"[a\--z]",
)  # fmt: skip


@pytest.mark.parametrize("pattern", SETS)
def test_a_set_in_a_class_is_refused(pattern):
    """It was read as characters, and cut otherwise than in tiktoken, without a word."""
    with pytest.raises(UsageError) as caught:
        compile_splitter((r"\p{N}", pattern))
    assert f"has {SETS[pattern]} in a class, " in caught.value.message
    assert "begin the pattern with (?V1)" in caught.value.hint
    with pytest.raises(ValueError, match="expression"):
        _core.Splitter(json.dumps([{"type": "Pattern", "pattern": pattern}]))


@pytest.mark.parametrize("pattern", CHARACTERS)
def test_characters_that_could_stand_for_sets_are_none(pattern):
    assert [*memoryview(compile_splitter((pattern,)).split(b"1"))] == [1]


def test_known_patterns_have_no_such_class():
    for patterns in (*SPLITS.values(), *((pattern.regex,) for pattern in PATTERNS.values())):
        assert isinstance(compile_splitter(patterns), _core.Splitter)


KIMI_LIKE = r"[\p{L}&&[^\p{Han}]]+|\p{Han}+|\s+"


def test_sets_are_had_from_a_rank_file_by_asking_for_them(tmp_path):
    path = tmp_path / "t.tiktoken"
    byte_level([b"ab"]).save(path, allow_loss=["pattern"])
    with pytest.raises(UsageError, match="has && in a class"):
        bpe_cli.load(path, pattern=KIMI_LIKE).encode("ab东")
    tokenizer = bpe_cli.load(path, pattern=f"(?V1){KIMI_LIKE}")
    pieces = tokenizer.engine.pieces("ab 东京c".encode()).contents()
    assert [piece.decode() for piece in pieces] == ["ab", " ", "东京", "c"]
    done = call("encode", "-t", "t.tiktoken", "-T", "ab东", "--pattern", KIMI_LIKE, cwd=tmp_path)
    assert (done.status, done.out) == (2, b"")
    assert "has && in a class" in done.err
    assert "(?V1)" in done.err
    done = call("encode", "-t", "t.tiktoken", "-T", "ab东", "--pattern", f"(?V1){KIMI_LIKE}", cwd=tmp_path)
    assert (done.status, done.out) == (0, " ".join(map(str, tokenizer.encode("ab东"))).encode() + b"\n")


def test_no_training_takes_a_set_for_characters():
    with pytest.raises(UsageError, match="has && in a class"):
        bpe_cli.train(["ab ab"], vocab_size=257, pattern=KIMI_LIKE)
    trained = bpe_cli.train(["ab ab东东"], vocab_size=257, pattern=f"(?V1){KIMI_LIKE}")
    assert trained.vocab_size == 257
    assert trained.token_bytes(256) == b"ab"


def test_a_tekken_file_with_sets_is_refused_when_it_is_loaded():
    """tiktoken, which runs it at Mistral's, reads sets there."""
    entries = [{"rank": n, "token_bytes": base64.b64encode(bytes([n])).decode()} for n in range(256)]
    config = {"version": "v3", "pattern": r"\p{L}+|.", "num_vocab_tokens": 256}
    config |= {"default_vocab_size": 257, "default_num_special_tokens": 1}
    document = {"config": config, "vocab": entries}
    assert tekken.loads(json.dumps(document).encode()).encode("a") == [98]
    config["pattern"] = KIMI_LIKE
    with pytest.raises(FormatError, match=r"config\.pattern: the pattern .* has && in a class"):
        tekken.loads(json.dumps(document).encode())
