"""What typer reads: only the command that a line names is put together for it, which changes nothing."""

from __future__ import annotations

from functools import cache

import pytest

from bpe_cli.cli import app, argv_typer
from bpe_cli.errors import UsageError

MODULES = {name: app.load(name) for name in app.COMMANDS}
LINES = [
    *(f"{name} {rest}" for name in app.COMMANDS for rest in ("--nonsense", "x -- --to y")),
    "", "-", "--", "nonsense", "encod in.txt", "diff a b", "--nonsense encode", "--versio", "-V compare", "-qq decode",
    "-- encode -T x", "- encode -T x", "--debug encode -Thi", "encode compare train", "train -s x", "inspect --nbest 0",
    "encode -T compare --li", "encode --to idz", "completions bas", "-- -T encode",
]  # fmt: skip


def outcome(words: list[str]) -> tuple[object, object]:
    """Return what a line calls, or what is wrong with it."""
    calls: list[tuple[str, object]] = []
    try:
        status = argv_typer.run(
            words, app.root, MODULES, lambda run, values: calls.append((run.__module__, dict(values)))
        )
    except UsageError as error:
        return str(error), error.hint
    return status, calls


@cache
def usual(line: str) -> tuple[object, object]:
    return outcome(line.split())


@pytest.mark.parametrize("line", LINES)
def test_the_other_commands_need_only_their_names(line, monkeypatch):
    expected = usual(line)
    build = argv_typer._application
    monkeypatch.setattr(argv_typer, "_application", lambda *given: build(*given[:5]))
    assert outcome(line.split()) == expected


@pytest.mark.parametrize("value", ["complete_bash", "source_zsh", "x"])
def test_a_variable_that_asks_typer_to_complete_is_not_heard(value, monkeypatch):
    """``argv_fast`` does not know it either."""
    expected = usual("encode -Thi")
    monkeypatch.setenv("_BPE_COMPLETE", value)
    assert outcome(["encode", "-Thi"]) == expected


def test_lines_end_in_every_way():
    ends = [usual(line) for line in LINES]
    assert any(status == 0 and calls for status, calls in ends)
    assert any("no such command" in str(each) for each, _ in ends)
    assert any("no such option" in str(each) for each, _ in ends)


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("encode --max-tokens 8k", "'8k' is not a whole number"),
        ("encode --max-tokens -1", "'-1' is less than 0"),
        ("encode -j 0", "'0' is less than 1"),
        ("encode --dropout some", "'some' is not a number"),
        ("inspect --nbest 1025", "'1025' is more than 1024"),
    ],
)
def test_a_number_that_is_none_is_shown(line, wrong):
    message, hint = outcome(line.split())
    assert str(message).endswith(f": {wrong}")
    assert hint == f"bpe {line.split()[0]} --help explains it"
