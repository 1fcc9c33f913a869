"""Notes on stderr: short, whatever a file says."""

from __future__ import annotations

from types import SimpleNamespace

from bpe_cli.cli.console import ConsoleListener
from bpe_cli.jobs.tokenizers import note_slow_patterns


def say_slow(patterns, *, quiet):
    note_slow_patterns(SimpleNamespace(slow_patterns=patterns), ConsoleListener(quiet=quiet))


def test_three_slow_patterns_are_named(capsys):
    say_slow(["a+", "b+", "c+"], quiet=False)
    assert "for the pattern 'a+', 'b+', 'c+'; the" in capsys.readouterr().err
    say_slow([f"{'x' * 5000}{number}" for number in range(20_000)], quiet=False)
    message = capsys.readouterr().err
    assert "and 19,997 more; the" in message
    assert len(message) < 500
    say_slow(["a+"], quiet=True)
    say_slow([], quiet=False)
    assert capsys.readouterr().err == ""
