"""What is left on a terminal: the bar is gone before anything else is written, and the summary says how fast it was."""

from __future__ import annotations

import json
import re
import subprocess

import pytest

from bpe_cli.cli.console import LONG, ConsoleListener
from bpe_cli.support.messages import size_of
from tests.cli_runner import Result, Terminal, call, run_in_terminal, start

TEXT = b"low lower lowest newest widest\n" * 400
TOOK = re.compile(r" \((?:[\d.]+ [kMG]?B at [\d.,]+ MB/s, )?[\d.]+ s\)$", re.MULTILINE)
FAST = re.compile(r" \(12\.4 kB at [\d.,]+ MB/s, [\d.]+ s\)$", re.MULTILINE)
PLAIN = {"NO_COLOR": "1", "COLUMNS": "100"}
STYLE = re.compile(r"\x1b\[[\d;]*m")


def left_on(shown):
    """Return what a terminal shows in the end: a carriage return goes back, and what follows is written over."""
    lines = []
    for line in STYLE.sub("", shown).split("\n"):
        cells = []
        for part in line.split("\r"):
            cells[: len(part)] = part
        lines.append("".join(cells).rstrip())
    return "\n".join(lines)


def test_the_emulator():
    assert left_on("a bar 10%\r         \rdone\nnext\rN") == "done\nNext"


@pytest.fixture
def desk(tmp_path):
    (tmp_path / "in.txt").write_bytes(TEXT)
    return tmp_path


SUMMED_UP = {
    "encode": ("encode", "in.txt", "-t", "gpt2", "-o", "out.bin"),
    "segmented": ("encode", "in.txt", "-t", "gpt2", "--to", "segmented", "-o", "out.txt"),
    "train": ("train", "in.txt", "-s", "260", "-o", "t.json"),
    "counts": ("train", "in.txt", "--counts-out", "c.counts"),
    "prepare": ("prepare", "in.txt", "-t", "gpt2", "-o", "set/"),
    "tally": ("compare", "in.txt", "-t", "gpt2", "--tallies-dir", "tallies", "--part", "1/1"),
}


@pytest.mark.parametrize("name", SUMMED_UP)
def test_the_summary_says_how_fast_it_was(name, desk):
    status, shown = run_in_terminal(*SUMMED_UP[name], env=PLAIN, cwd=desk)
    assert status == 0
    left = left_on(shown)
    assert FAST.search(left), left
    again = call(*SUMMED_UP[name], cwd=desk)
    assert (again.status, again.out) == (0, b"")
    assert again.err.replace(" (0 new)", "") == TOOK.sub("", left), (
        "without a terminal the summary is the same every time"
    )


@pytest.mark.parametrize(
    "line", [("convert", "gpt2", "-o", "x.tiktoken"), ("decode", "ids", "-t", "gpt2", "-o", "text")], ids=lambda x: x[0]
)
def test_a_summary_of_seconds(line, desk):
    (desk / "ids").write_text("5303\n")
    status, shown = run_in_terminal(*line, env=PLAIN, cwd=desk)
    assert status == 0
    assert TOOK.search(left_on(shown))
    assert run_in_terminal(*line, "-q", env=PLAIN, cwd=desk) == (0, "")


REPORTS = {
    "inspect": ("inspect", "gpt2"),
    "token": ("inspect", "gpt2", "--corpus", "in.txt", "--token", "262"),
    "compare": ("compare", "in.txt", "-t", "gpt2", "-t", "o200k_base"),
    "ids": ("encode", "in.txt", "-t", "gpt2"),
    "count": ("encode", "in.txt", "-t", "gpt2", "--to", "count"),
    "steps": ("train", "in.txt", "-s", "258", "--steps"),
}


@pytest.fixture(scope="module")
def examined():
    """Return what ``inspect gpt2`` prints, which takes a second: with its bar alone on a terminal, and all of it."""
    terminal = Terminal()
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": terminal.side}
    with start(*REPORTS["inspect"], env=PLAIN, **pipes) as process:
        out = process.stdout.read()
        bar = terminal.read_all()
        status = process.wait(timeout=120)
    return Result(status, out, bar), run_in_terminal(*REPORTS["inspect"], env=PLAIN)


@pytest.mark.parametrize("name", REPORTS)
def test_no_bar_lies_among_the_lines(name, desk, request):
    """stdout and stderr are one terminal: what is on it in the end is what a file would hold, and the summary."""
    if name == "inspect":
        (*plain, _), (status, shown) = request.getfixturevalue("examined")
        plain = Result(*plain, "")
    else:
        plain = call(*REPORTS[name], env={"COLUMNS": "100"}, cwd=desk)
        status, shown = run_in_terminal(*REPORTS[name], env=PLAIN, cwd=desk)
    assert (status, plain.status) == (0, 0)
    left = TOOK.sub("", left_on(shown))
    out = "\n".join(line.rstrip() for line in plain.text.split("\n"))
    assert left in (out + plain.err, plain.err + out)
    assert len(out) > 1
    # A bar that was drawn is wiped out before the first line of the output.
    bare = STYLE.sub("", shown)
    assert bare.rfind("examining:") < bare.find(out.split("\n")[0])


@pytest.mark.parametrize("term", ["dumb", "unknown"])
def test_a_terminal_that_moves_no_cursor_has_no_bars(term, examined):
    """The same run as that with a bar alone on a terminal."""
    terminal = Terminal()
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": terminal.side}
    with start(*REPORTS["inspect"], env=PLAIN | {"TERM": term}, **pipes) as process:
        assert terminal.read_all() == ""
        assert process.wait(timeout=120) == 0
    assert examined[0].err != ""


def test_a_bar_of_steps_has_no_speed(examined):
    _, (_, shown) = examined
    assert "examining: " in shown
    assert "step/s" not in shown


def test_a_redirected_stdout_has_its_lines_and_the_terminal_the_bar(examined):
    """Of the lines another test says that they are those of a terminal, where no bar lies among them."""
    redirected, _ = examined
    assert redirected.status == 0
    assert "examining: " in redirected.err
    assert left_on(redirected.err) == ""
    assert "\r" not in redirected.text


@pytest.mark.parametrize(
    ("options", "around"),
    [
        ((), ""),
        (("--eot", "auto"), " (with those of --eot)"),
        (("--bos", "0", "--eot", "auto"), " (with those of --bos and --eot)"),
    ],
)
def test_the_summary_agrees_with_the_record_beside_the_ids(options, around, desk):
    (desk / "in.txt").write_text("low\nlower\n")
    done = call("encode", "in.txt", "--lines", "-t", "gpt2", *options, "-o", "out.bin", cwd=desk)
    tokens = json.loads((desk / "out.bin.json").read_text())["tokens"]
    assert done.err == f"2 documents, {tokens} tokens{around} -> out.bin\n"
    assert tokens == (desk / "out.bin").stat().st_size / 2
    done = call("prepare", "in.txt", "--lines", "-t", "gpt2", *options, "-o", "set/", cwd=desk)
    assert done.err == f"1 part, 2 documents, {tokens} tokens{around} -> set/\n"


def test_what_is_called_here_prints_the_same_on_a_slow_machine(monkeypatch, desk):
    monkeypatch.setattr("bpe_cli.cli.console.LONG", 0)
    done = call("encode", "-T", "low", "-t", "gpt2", "-o", "out.ids", cwd=desk)
    assert done.err == "1 document, 1 token -> out.ids\n"


def test_what_a_listener_measures():
    listener = ConsoleListener(quiet=True)
    with listener.task("encoding", 10) as advance:
        advance(4)
        advance(6)
    with listener.task("training", 10, "token") as advance:
        advance(10)
    assert listener.took() == "", "no terminal, and not long"
    listener._began -= LONG
    listener._seconds_of_reading = 0.5
    assert listener.took() == " (10 B at 0.0 MB/s, 30 s)"
    assert [size_of(number) for number in (10, 12_400, 10**9)] == ["10 B", "12.4 kB", "1.0 GB"]


def test_a_dry_run_shows_names_as_they_are(desk):
    """And no emoji for what looks like its code."""
    (desk / "[bold]:bug:.txt").write_bytes(TEXT)
    words = ("prepare", "[[]bold]:bug:.txt", "-t", "gpt2", "--to", "npy", "-o", "out", "--dry-run", "-q")
    status, shown = run_in_terminal(*words, cwd=desk, env=PLAIN)
    assert (status, left_on(shown).splitlines()[1].split()[-1]) == (0, "[bold]:bug:.txt")
