"""What type checkers are told of the public calls: each answer has the type that its arguments make it have."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.needs import needs

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = '''
from pathlib import Path
from typing import assert_type

import bpe_cli
from bpe_cli.datasets.inspect import InspectedData
from bpe_cli.results import ChatReport, ComparisonReport, IdsComparison, SizesReport
from bpe_cli.results import StepsReport, TextReport, TokenizerReport

tokenizer = bpe_cli.load("gpt2")
assert_type(tokenizer.truncate("a", 1), str)
assert_type(tokenizer.truncate(b"a", 1, side="both"), bytes)
assert_type(tokenizer.truncate(bytearray(b"a"), 1), bytes)
talk = [{"role": "user", "content": "hello"}]
assert_type(tokenizer.apply_chat_template(talk), list[int])
assert_type(tokenizer.apply_chat_template(talk, chat_template="chatml", tokenize=True), list[int])
assert_type(tokenizer.apply_chat_template(talk, tokenize=False), str)
assert_type(bpe_cli.inspect("gpt2", "a"), TextReport)
assert_type(bpe_cli.inspect("gpt2", Path("a"), documents="lines", steps=False), TextReport)
assert_type(bpe_cli.inspect("gpt2", "a", steps=True, pairs=3), StepsReport)
assert_type(bpe_cli.inspect("gpt2", "[]", chat=True), ChatReport)
assert_type(bpe_cli.inspect("gpt2", "[]", chat="chatml", add_generation_prompt=True), ChatReport)
assert_type(bpe_cli.inspect("gpt2"), TokenizerReport)
assert_type(bpe_cli.inspect(None, data="ids.npy", rows=(1, 2)), InspectedData)
assert_type(bpe_cli.compare(["gpt2", tokenizer], "a"), ComparisonReport)
assert_type(bpe_cli.compare(["gpt2", tokenizer], "a", ids=False), ComparisonReport)
assert_type(bpe_cli.compare(["gpt2", tokenizer], ids=True), IdsComparison)
assert_type(bpe_cli.compare(["gpt2"], Path("a"), tallies_dir="b", share=(1, 2)), None)
assert_type(bpe_cli.train(["a"], sizes=[300, 400]), SizesReport)
bpe_cli.compare(["gpt2"], "a").to_markdown(["tokens", "fertility"])


def either(steps: bool, tokenize: bool, text: str | bytes, texts: str | None) -> None:
    """Options that are known only when the program runs."""
    bpe_cli.inspect("gpt2", texts, steps=steps).to_json()
    assert_type(tokenizer.apply_chat_template(talk, tokenize=tokenize), list[int] | str)
    assert_type(tokenizer.truncate(text, 1), str | bytes)
'''


@pytest.mark.slow
def test_the_types_of_answers(tmp_path):
    needs("mypy")
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", "program.py"],
        cwd=tmp_path, env=os.environ | {"MYPYPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (run.stdout, run.returncode) == ("Success: no issues found in 1 source file\n", 0)
