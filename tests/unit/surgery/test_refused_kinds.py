"""What a kind of model does not allow is said first: before texts are read, and before what a format cannot hold."""

from __future__ import annotations

from pathlib import Path

import pytest

import bpe_cli
from bpe_cli.errors import FormatError
from bpe_cli.trainers import picky, train, unigram
from tests.cli_runner import call

TEXT = "hug hug hugs pug thug " * 3
MISSING = Path("no such text.txt")


@pytest.mark.parametrize("change", [{"add": 5}, {"replace": 5, "counts_from": MISSING}])
def test_a_model_that_cannot_be_trained_further(change: dict[str, object]) -> None:
    tokenizer = train([TEXT], unigram.Options(vocab_size=12))
    with pytest.raises(FormatError, match="can be trained further, and this is unigram"):
        bpe_cli.extend(tokenizer, MISSING, **change)


@pytest.mark.parametrize("change", [["--prune-to", "9", "--counts-from", "-"], ["--extend", "-", "--add", "1"]])
def test_before_what_the_format_cannot_hold(change: list[str], tmp_path: Path) -> None:
    """It said that no tokenizer.json holds such a model, and to write bpe.json, which is refused as well."""
    tokenizer = train([TEXT], picky.Options(vocab_size=12))
    tokenizer.save(tmp_path / "picky.bpe.json", format="bpe.json")
    done = call(
        "convert", str(tmp_path / "picky.bpe.json"), *change, "-o", str(tmp_path / "out.json"), input=TEXT.encode()
    )
    assert done.status == 2
    assert "this is bpe-events" in done.err or "bpe-events cannot be pruned" in done.err
