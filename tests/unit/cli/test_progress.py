"""A long job says how it goes on: in lines now and then, or as JSON."""

from __future__ import annotations

import json

import pytest

from bpe_cli.cli import console, progress
from bpe_cli.cli.progress import WorkListener
from tests.cli_runner import call

PART = {"part": 1, "documents": 20, "tokens": 3000}


class Clock:
    """A clock that goes on when it is told to."""

    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


def test_a_line_is_written_now_and_then(clock, capsys):
    listener = WorkListener(quiet=False)
    listener.event("plan", {"to_do": 3})
    with listener.task("preparing", 10_000_000) as advance:
        for _ in range(20):
            clock.now += 5
            advance(100_000)
            if clock.now == 150:
                listener.event("part", PART)
    assert capsys.readouterr().err.splitlines() == [
        "preparing: 600.0 kB of 10.0 MB (6%), 0 of 3 parts, 0 documents, 0 tokens, 0.0 MB/s, 8 min left",
        "preparing: 1.2 MB of 10.0 MB (12%), 1 of 3 parts, 20 documents, 3,000 tokens, 0.0 MB/s, 7 min left",
        "preparing: 1.8 MB of 10.0 MB (18%), 1 of 3 parts, 20 documents, 3,000 tokens, 0.0 MB/s, 7 min left",
    ]


def test_a_short_job_writes_none(clock, capsys):
    with WorkListener(quiet=False).task("checking", 5) as advance:
        clock.now += 29
        advance(5)
    assert capsys.readouterr().err == ""


def test_other_tasks_have_no_parts(clock, capsys):
    with WorkListener("plain", quiet=False).task("checking", None) as advance:
        clock.now += 30
        advance(90_000_000)
    assert capsys.readouterr().err == "checking: 90.0 MB, 3.0 MB/s\n"


def test_json_has_an_object_a_line(clock, capsys):
    listener = WorkListener("json", quiet=False)
    listener.event("plan", {"to_do": 1})
    with listener.task("preparing", 400) as advance:
        clock.now += 10
        advance(100)
    listener.note("a tab\tis one line")
    listener.event("part", PART)
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert {line.pop("schema") for line in lines} == {"bpe-progress/1"}
    assert lines == [
        {"event": "plan", "to_do": 1},
        {"event": "progress", "task": "preparing", "bytes": 100, "bytes_of": 400, "bytes_a_second": 10,
         "seconds_left": 30},
        {"event": "note", "message": "a tab\tis one line"},
        {"event": "part", **PART},
    ]  # fmt: skip


@pytest.mark.parametrize("how", ["auto", "plain", "json"])
def test_quiet_is_quiet(how, clock, capsys):
    listener = WorkListener(how, quiet=True)
    listener.event("plan", {"to_do": 1})
    with listener.task("preparing", 400) as advance:
        clock.now += 99
        advance(100)
    listener.note("a note")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("term", "lines"), [("dumb", 1), ("unknown", 1), ("xterm", 0)])
def test_a_terminal_that_draws_no_bars_has_lines(term, lines, clock, capsys, monkeypatch):
    monkeypatch.setenv("TERM", term)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with WorkListener(quiet=False).task("checking", None) as advance:
        assert (console.shown_bar() is None) == (lines == 1)
        clock.now += 30
        advance(90_000_000)
    assert capsys.readouterr().err.count("checking: 90.0 MB, 3.0 MB/s\n") == lines


def test_a_bar_counts_parts(capsys, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    listener = WorkListener(quiet=False)
    listener.event("plan", {"to_do": 2})
    with listener.task("preparing", 400) as advance:
        listener.event("part", PART)
        bar = console.shown_bar()
        assert bar.postfix == "1 of 2 parts, 20 documents, 3,000 tokens"
        advance(100)
        assert bar.n == 100
    assert console.shown_bar() is None


def test_what_is_left_out_is_told_to_machines_too(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "low low low"}\n{"text":\n')
    line = ("prepare", "a.jsonl", "--jsonl", "-t", "gpt2", "--on-error", "skip", "--progress", "json")
    planned = call(*line, "--dry-run", "-o", "out", cwd=tmp_path)
    done = call(*line, "-o", "out", cwd=tmp_path)
    assert (planned.status, done.status) == (0, 0)
    events = [json.loads(each) for each in (planned.err + done.err).splitlines()]
    assert {each["schema"] for each in events} == {"bpe-progress/1"}
    notes = [each["message"] for each in events if each["event"] == "note"]
    assert (len(notes), notes[-1]) == (5, "1 broken row left out: 1 json")
    assert call(*line[:-2], "-o", "again", cwd=tmp_path).err.endswith(f"\nnote: {notes[-1]}\n")
    (tmp_path / "pyproject.toml").write_text("[tool.bpe_cli]\njsonl = true\n")
    first, *_ = call(*line, "-o", "third", cwd=tmp_path).err.splitlines()
    assert json.loads(first)["message"] == "jsonl = true, from pyproject.toml"
