"""The commands of a session give the same in this process as in bash, and bash runs those that need it."""

from __future__ import annotations

import shlex

import pytest

from tests.cli_runner import COMMAND
from tests.sessions import PLAIN, in_bash, run_here

BPE = shlex.join(COMMAND)


@pytest.fixture
def desk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        "bpe encode -T 'über \"low\"  é' -t gpt2 --to tokens",
        'bpe encode -T "<|endoftext|>" -t gpt2 --special error',
        "bpe encode no-such-file -t gpt2",
        "bpe encode -T hi -t gpt2 --vocab",
        "bpe train -T 'low lower lowest' -s 260",
    ],
)
def test_both_ways_give_the_same(command, desk):
    assert PLAIN.fullmatch(command)
    here = run_here(command)
    assert here == in_bash(command.replace("bpe", BPE, 1), desk, 0)
    assert here.text


@pytest.mark.parametrize(
    "command",
    ["bpe encode a | head", "bpe encode *.txt", "bpe a; bpe b", "bpe encode {a,b}", "bpe encode > a", "bpe -T $a",
     'bpe -T "$a"', r"bpe -T a\ b", "bpe a &", "A=1 bpe", "echo $?", "bpe ~/a", "bpe -T '", "bpe a\nbpe b",
     "bpe -T `a`", "bpe a # b", "bpe (a)", "bpe a?"],
)  # fmt: skip
def test_bash_runs_what_is_a_shells(command):
    assert not PLAIN.fullmatch(command)
