"""The commands of a session give the same in this process as in bash, and bash runs those that need it."""

from __future__ import annotations

import shlex

import pytest

from tests.cli_runner import COMMAND
from tests.sessions import PLAIN, in_bash, run, steps_of

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
    here = run(command, desk, 0)
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


@pytest.mark.parametrize(
    "command",
    [
        "bpe encode *.txt b/{c,d}.txt -t gpt2",
        "bpe encode [ab].txt \\\n-t gpt2 --to tokens",
        'bpe encode -t gpt2 -T "a\\d \\\\ b!"',
        "bpe encode ?.txt -t gpt2 --lines | sort | head -n 1",
        "bpe encode a.txt -t nosuch | wc -l",
        "bpe encode a.txt -t gpt2 | grep -e nothing",
        "bpe encode a.txt -t gpt2 |\npython -c 'print(input()); print(1)'",
        "printf 'low\\nnew' | bpe encode --lines -t gpt2 --to tokens | tr ' ' '|'",
        "bpe encode a.txt -t gpt2 > ids && bpe decode ids -t gpt2 | cmp - a.txt && echo identical",
        "bpe encode a.txt -t gpt2 | bpe decode -t nosuch > text && echo never",
    ],
)
def test_what_bash_has_a_part_in_gives_the_same(command, desk):
    (desk / "b").mkdir()
    for name in ("a.txt", "b.txt", "b/c.txt", "b/d.txt"):
        (desk / name).write_text(f"low\n{name}\n")
    assert steps_of(command)
    here, left = run(command, desk, 0), files(desk)
    assert here == in_bash(command.replace("bpe", BPE), desk, 0)
    assert left == files(desk)


def files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "command",
    ["bpe a; bpe b", "bpe -T $a", 'bpe -T "$a"', "bpe a &", "A=1 bpe", "echo $?", "bpe -T '", r'bpe -T "a\"',
     "bpe a\nbpe b", "bpe -T `a`", "bpe a # b", "bpe (a)", "bpe a | c && d", "bpe a | xargs bpe b", "bpe a | cat; echo",
     "a | bpe b", "bpe a || echo b", "bpe a || bpe b", "cd a && bpe b", "bpe a 2> b", "bpe a >> b", "bpe a > b c",
     "bpe a > $b", "bpe a > b > c", "bpe a < b", "bpe a |& cat", "! bpe a | cat", "echo a > b", "bpe a | tee b"],
)  # fmt: skip
def test_bash_runs_what_takes_more_of_a_shell(command):
    assert steps_of(command) == []
