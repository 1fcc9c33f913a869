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
