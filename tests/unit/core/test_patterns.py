r"""Expressions go through a text from left to right, whoever runs them: no match begins before the last one ended."""

import itertools
import json

import pytest

from bpe_cli import _core
from bpe_cli.errors import UsageError
from bpe_cli.stages import splitters
from bpe_cli.stages.splitters import RegexSplitter
from bpe_cli.support.regex_size import keeps_out_around
from tests.cli_runner import call

BACKWARDS = (r"a|(?<=\Ka)b", r"(?=a\K)", r"(?=ab\K)a", r"(?<=(\Ka))b", r"x(?!(?:y|\K))")
FORWARDS = (r"a\Kb", r"(?<=a)b\K", r"\\K(?=b)|b", r"(?=[ab])a\Kb")

ONE_LENGTH = (
    r"x(?<=\b-?x)", r"\p{L}(?<!\b(?:[\r\n]?)[-a]|\f)", r"(?<=a|\B(?:b|cc))d", r"(?<=-?(?>a)[ax]*)x",
    r"(a|x)(?<=\1x{1,2})", r"x(?<=(?<=x|-)x?)",
)  # fmt: skip


def split(pattern: str, behavior: str = "Isolated") -> _core.Stages:
    stage = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": False}
    return _core.Stages(json.dumps({"pre_tokenizers": [stage]}))


def refused_by_every_component(pattern: str, refused: str) -> None:
    replace = {"type": "Replace", "pattern": {"Regex": pattern}, "content": "-"}
    with pytest.raises(ValueError, match=refused):
        split(pattern)
    with pytest.raises(ValueError, match=refused):
        _core.Stages(json.dumps({"normalizers": [replace]}))
    with pytest.raises(ValueError, match=refused):
        _core.Decoder(json.dumps([replace]))


@pytest.mark.parametrize("pattern", BACKWARDS)
def test_what_would_go_backwards_is_refused_by_every_component(pattern):
    refused = r"has a \\K inside a look-around, where a match could begin before the one before it ends"
    refused_by_every_component(pattern, refused)
    with pytest.raises(UsageError, match=refused):
        RegexSplitter([pattern])


@pytest.mark.parametrize("pattern", ONE_LENGTH)
def test_a_look_behind_that_is_not_tried_at_every_length_is_refused(pattern):
    """The engine of stages would cut otherwise than Hugging Face's and the `regex` module."""
    refused = "has a look-behind that is not tried at every length; write alternatives of one length each"
    refused_by_every_component(pattern, refused)


def test_a_file_with_such_a_look_behind_is_refused_when_it_is_loaded(tmp_path):
    model = {"type": "WordLevel", "vocab": {"x": 0, "[UNK]": 1}, "unk_token": "[UNK]"}
    stage = {"type": "Split", "pattern": {"Regex": ONE_LENGTH[0]}, "behavior": "Isolated", "invert": False}
    (tmp_path / "t.json").write_text(json.dumps({"model": model, "pre_tokenizer": stage}))
    status, out, message = call("encode", "-t", "t.json", "-T", "x", cwd=tmp_path)
    assert (status, out) == (2, b"")
    assert "t.json: pre_tokenizer.pattern: the pattern" in message
    assert "is not tried at every length; write alternatives of one length each" in message


@pytest.mark.parametrize("algorithm", ["bpe", "wordpiece", "unigram", "bbpe", "word"])
def test_no_training_doubles_text(algorithm, tmp_path):
    status, out, message = call(
        "train", "-a", algorithm, "-s", "300", "-T", "abab", "--pattern", BACKWARDS[0], "-o", "t.json", cwd=tmp_path
    )  # fmt: skip
    assert (status, out) == (2, b"")
    assert r"has a \K inside a look-around" in message
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("pattern", BACKWARDS[:3])
def test_an_engine_that_goes_backwards_all_the_same_is_stopped(pattern, monkeypatch):
    monkeypatch.setattr("bpe_cli.support.regex_size.keeps_out_around", lambda _: False)
    with pytest.raises(UsageError, match="goes backwards in this text"):
        RegexSplitter([pattern]).split(b"abab")


@pytest.mark.parametrize(
    ("pattern", "ends"), list(zip(FORWARDS, ([1, 2, 3, 4], [2, 4], [1, 2, 3, 4], [1, 2, 3, 4]), strict=True))
)
def test_what_goes_forward_is_run_by_both_engines(pattern, ends):
    assert list(RegexSplitter([pattern]).split(b"abab")) == ends
    assert list(memoryview(split(pattern).pre_tokenize(b"abab")[2])) == ends
    assert list(memoryview(split(pattern, "MergedWithPrevious").pre_tokenize(b"abab")[2]))[-1] == 4


def test_where_it_is_not_clear_it_counts_as_around():
    assert keeps_out_around(r"(a\K)(?<=(?1))b")
    assert keeps_out_around(r"(?x) a \K (?=b)")
    assert not keeps_out_around(r"(a)(?1)(?=b)")
    assert not any(map(keeps_out_around, FORWARDS))


def test_every_stretch_is_told_once():
    """Whatever is given to it, the slow way loses and doubles nothing."""
    for pattern in map("".join, itertools.product(("a", r"\K", "(?=b)", "(?<=a)"), repeat=3)):
        ends = list(splitters.RegexSplitter([pattern]).split(b"abab"))
        assert ends == sorted(set(ends))
        assert ends[-1] == 4
