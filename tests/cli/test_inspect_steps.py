"""``bpe inspect --steps``: how a text became tokens."""

from __future__ import annotations

import json

import pytest

from tests.cli_runner import call, check_golden, error

STEPS = ("inspect", "-t", "gpt2", "--steps")


@pytest.mark.parametrize(("name", "options"), [("", ()), ("-color", ("--color", "always")), ("-json", ("--json",))])
def test_a_text(name, options):
    result = call(*STEPS, "-T", "hello naïve<|endoftext|>", "--special", "all", *options)
    assert (result.status, result.err) == (0, "")
    check_golden(f"inspect-steps{name}.txt", result.out)


def test_without_a_text():
    for arguments in (STEPS, ("inspect", "--steps")):
        result = call(*arguments)
        assert (result.status, result.err) == (
            2,
            error("--steps needs a text, and none is given", "give one with -T TEXT"),
        )


def test_every_document_and_all_of_it():
    several = call(*STEPS, "--lines", "-", input=b"low\nlow\n").text
    assert several.count("piece 0: low  a token itself, id 9319") == 2
    report = json.loads(call(*STEPS, "--lines", "--json", "-", input=b"low\nlow\n").out)
    assert [text["token_count"] for text in report["texts"]] == [1, 1]
    words = " ".join(map(str, range(40)))
    assert "and 20 more pieces: --full shows all" in call(*STEPS, "-T", words).text
    assert "piece 39: " in call(*STEPS, "-T", words, "--full").text


def test_the_number_of_best_segmentations(tmp_path):
    trained = call(
        "train", "-a", "unigram", "-s", "30", "-T", "low lower lowest " * 9, "-o", "u.json", "-q", cwd=tmp_path
    )
    assert trained.status == 0
    for number in (1, 2, 3):
        shown = call("inspect", "-t", "u.json", "-T", "lower", "--steps", "--nbest", str(number), cwd=tmp_path).text
        assert shown.count("\n  best ") == number


def test_what_cannot_be_told():
    result = call(*STEPS, "-", "--full", input=b"low " * 100_000)
    assert (result.status, result.out) == (2, b"")
    assert "longer than the 256 KiB of which all steps can be shown" in result.err
    assert call(*STEPS, "-", input=b"low " * 100_000).status == 0


def test_only_a_unigram_model_ranks():
    result = call(*STEPS, "-T", "low", "--nbest", "3")
    hint = "-a unigram trains such a tokenizer"
    assert (result.status, result.out) == (2, b"")
    assert result.err == error("only a unigram model ranks segmentations, and this is bpe-ranks", hint)


# -- pairs, and pages ------------------------------------------------------------------------------


def test_pairs_that_could_merge():
    shown = call("inspect", "-T", "hugging", "-t", "gpt2", "--steps", "--pairs", "2").text
    assert "\n  pairs   i + n  259  taken\n          n + g  782\n          and 4 more pairs\n" in shown
    assert "pairs" not in call("inspect", "-T", "hugging", "-t", "gpt2", "--steps").text


def test_json_has_ten_pairs_unless_more_are_asked_for():
    command = ("inspect", "-T", "abcdefghijklmnopqrstuvwxyz", "-t", "gpt2", "--steps", "--json")
    for options, most in ((), 10), (("--pairs", "3"), 3), (("--pairs", "0"), 0):
        first = json.loads(call(*command, *options).out)["rows"][0]["walk"]["steps"][0]
        assert (len(first["candidates"]), first["candidate_count"] > 10) == (most, most > 0)


def test_a_page_of_steps(tmp_path):
    done = call("inspect", "-T", "hugging face", "-t", "gpt2", "--steps", "--html", "s.html", "--json", cwd=tmp_path)
    assert json.loads(done.out)["schema"] == "bpe.inspect.steps/1"
    page = (tmp_path / "s.html").read_text(encoding="utf-8")
    assert page.count('<section class="step"') == 11
    again = call("inspect", "-T", "hugging face", "-t", "gpt2", "--steps", "--html", "-")
    assert again.text == page


def test_pairs_need_steps_of_merges(tmp_path):
    assert call("inspect", "-T", "a", "-t", "gpt2", "--pairs", "2") == (
        2, b"", error("--pairs is for --steps", "--steps shows how a text became its tokens"),
    )  # fmt: skip
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n##a\n")
    assert call("inspect", "-T", "a", "-t", "vocab.txt", "--steps", "--pairs", "2", cwd=tmp_path) == (
        2, b"", error("--pairs is about merges, and this model has none", "leave it out"),
    )  # fmt: skip
