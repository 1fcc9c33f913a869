"""Numbers of options that no machine has: they mean what they say, or are refused; nothing overflows."""

from __future__ import annotations

import pytest

from tests.cli_runner import Result, call

HUGE = (2**31, 2**32, 2**63 - 1, 2**63, 2**64, 10**26)
TEXT = ("-T", "low low lower lowest")
CHAT = ("-T", '[{"role": "user", "content": "hi"}]')


@pytest.fixture(scope="module")
def usual() -> dict[tuple[str, ...], Result]:
    """What lines give without any such option, each from the first test that asks."""
    return {}


@pytest.mark.parametrize("number", HUGE)
@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (("encode", *TEXT, "-t", "gpt2"), "--threads"),
        (("encode", *TEXT, "-t", "gpt2"), "--block-size"),
        (("encode", *TEXT, "-t", "gpt2"), "--max-tokens"),
        (("encode", *TEXT, "-t", "gpt2", "--to", "segmented"), "--threads"),
        (("encode", "--chat", *CHAT, "-t", "gpt-4"), "--threads"),
        (("inspect", "gpt2", "--token", "262", "--corpus", "text"), "--threads"),
        (("compare", *TEXT, "-t", "gpt2", "-t", "cl100k_base", "--diff"), "--threads"),
        (("compare", *TEXT, "-t", "gpt2", "-t", "cl100k_base", "--diff"), "--diff-limit"),
        (("train", *TEXT, "-s", "258"), "--threads"),
        (("train", *TEXT, "-s", "258"), "--block-size"),
        (("train", *TEXT, "-s", "258"), "--max-memory"),
        (("train", *TEXT, "-a", "unigram", "-s", "12"), "--threads"),
    ],
    ids=str,
)
def test_more_than_there_is_changes_nothing(tmp_path, usual, arguments, option, number):
    (tmp_path / "text").write_text("low low lower")
    if arguments not in usual:
        usual[arguments] = call(*arguments, cwd=tmp_path)
    assert usual[arguments].status == 0
    assert call(*arguments, option, str(number), cwd=tmp_path) == usual[arguments]


@pytest.mark.parametrize(
    ("words", "said"),
    [(("--part", f"{'1' * 5000}/3"), "is not K/N"), (("--check", "--deep", "9" * 5000), "is not a number of parts")],
    ids=["part", "deep"],
)
def test_thousands_of_digits_are_no_number(tmp_path, words, said):
    """Python refuses to read them, with an exception of its own."""
    (tmp_path / "text").write_text("low low lower")
    result = call("prepare", "text", "-t", "gpt2", "-o", "out", *words, cwd=tmp_path)
    assert (result.status, result.out, said in result.err) == (2, b"", True)


@pytest.fixture(scope="module")
def unigram(tmp_path_factory) -> bytes:
    """A tokenizer with segmentations to choose from."""
    folder = tmp_path_factory.mktemp("unigram")
    call("train", *TEXT, "-a", "unigram", "-s", "12", "-o", "u.json", "-q", cwd=folder)
    return (folder / "u.json").read_bytes()


@pytest.mark.parametrize("number", HUGE)
@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (("encode", *TEXT, "-t", "gpt2"), "--eot"),
        (("encode", *TEXT, "-t", "gpt2"), "--bos"),
        (("encode", *TEXT, "-t", "u.json", "--sample", "1"), "--nbest"),
        (("inspect", *TEXT, "-t", "u.json"), "--nbest"),
        (("inspect", "gpt2"), "--token"),
        (("train", *TEXT, "-o", "x.json"), "--vocab-size"),
        (("train", *TEXT, "-a", "unigram", "-o", "x.json"), "--vocab-size"),
        (("convert", "gpt2", "--counts-from", "text", "-o", "x.json"), "--prune-to"),
    ],
    ids=str,
)
def test_more_than_can_be_is_refused(tmp_path, unigram, arguments, option, number):
    (tmp_path / "text").write_text("low low lower")
    (tmp_path / "u.json").write_bytes(unigram)
    before = sorted(path.name for path in tmp_path.iterdir())
    result = call(*arguments, option, str(number), cwd=tmp_path)
    if arguments[0] == "train" and "unigram" in arguments and result.status == 0:
        assert "note: the vocabulary has" in result.err  # as many as there are
    else:
        assert (result.status, result.out) == (2, b"")
        assert result.err.startswith("error: ")
        assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.parametrize("number", HUGE)
def test_saved_counts_may_take_more_memory_than_there_is(tmp_path, number):
    assert call("train", *TEXT, "--counts-out", "counts", "-q", cwd=tmp_path).status == 0
    words = ("train", "--from-counts", "counts", "-s", "258")
    assert call(*words, "--max-memory", str(number), cwd=tmp_path) == call(*words, cwd=tmp_path)
