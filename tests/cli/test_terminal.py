"""What is different in a terminal: colour, progress, and that nobody's keyboard or screen is misused."""

from __future__ import annotations

import re
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from rich.cells import cell_len

from tests.cli_runner import Terminal, call, error, run, run_in_terminal, start

GPT2 = ("-t", "gpt2")
INSPECT = ("inspect", "-T", "hi there", *GPT2)
COMPARE = ("compare", "-T", "hi there", *GPT2, "-t", "o200k_base")
# An escape sequence that chooses a colour; NO_COLOR leaves bold and the like alone.
COLOR = re.compile(rb"\x1b\[(?:\d+;)*(?:[34][0-8]|9[0-7]|10[0-7])[;m]")


# -- colour ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "env", "colored"),
    [
        ((), {}, False),
        ((), {"FORCE_COLOR": "1"}, True),
        ((), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (("--color", "always"), {}, True),
        (("--color", "always"), {"NO_COLOR": "1"}, True),
        (("--color", "never"), {"FORCE_COLOR": "1"}, False),
        (("--color", "auto"), {"FORCE_COLOR": "1"}, True),
    ],
)
def test_color_in_a_pipe(options, env, colored):
    for command in (INSPECT, COMPARE):
        result = call(*command, *options, env={"NO_COLOR": None} | env)
        assert (result.status, result.err, bool(COLOR.search(result.out))) == (0, "", colored)


@pytest.mark.parametrize(
    ("options", "env", "colored"),
    [
        ((), {}, True),
        ((), {"NO_COLOR": "1"}, False),
        (("--color", "always"), {"NO_COLOR": "1"}, True),
        (("--color", "never"), {"FORCE_COLOR": "1"}, False),
    ],
)
def test_color_in_a_terminal(options, env, colored):
    status, shown = run_in_terminal(*INSPECT, *options, env=env)
    assert (status, bool(COLOR.search(shown.encode()))) == (0, colored)


@pytest.mark.parametrize("term", ["dumb", "unknown"])
@pytest.mark.parametrize(("columns", "widest"), [("40", 40), (None, 100)])
def test_a_terminal_that_moves_no_cursor_has_its_width(term, columns, widest):
    """The terminal has 100 columns; stages that need more go as far as that, and not to 80."""
    stages = ("inspect", *GPT2, "--stages", "-T", "word " * 30)
    status, shown = run_in_terminal(*stages, env={"TERM": term, "COLUMNS": columns})
    assert (status, max(map(cell_len, shown.splitlines()))) == (0, widest)


@pytest.mark.parametrize("size", [{"COLUMNS": "0"}, {"COLUMNS": "000"}, {"LINES": "0"}, {"COLUMNS": "0", "LINES": "0"}])
def test_a_size_of_zero_is_none(size):
    """rich writes nothing into no columns."""
    usual = run_in_terminal(*COMPARE, env={"COLUMNS": None})
    assert "o200k_base" in usual[1]
    assert run_in_terminal(*COMPARE, env={"COLUMNS": None} | size) == usual


def test_no_color_in_a_pipe_of_the_real_command():
    result = run(*INSPECT, env={"NO_COLOR": None})
    numbers = "2 tokens, 8 characters\n8 bytes, 4.00 bytes/token, 4.00 characters/token, round trip ok"
    assert result == (0, f"hi|·there\n\n5303 612\n\n{numbers}\n".encode(), "")


def test_json_has_no_color_anywhere():
    assert b"\x1b" not in call(*INSPECT, "--json", env={"NO_COLOR": None, "FORCE_COLOR": "1"}).out


# -- what a terminal does not get ------------------------------------------------------------------


@pytest.mark.parametrize("to", ["npy", "bin"])
def test_binary_data_is_refused(to):
    status, shown = run_in_terminal("encode", "-T", "hi", "--to", to)
    assert (status, shown) == (
        2,
        error(f"{to} cannot be written to a terminal", "name a file with -o, or pipe it into a program"),
    )


@pytest.mark.parametrize("words", [(*INSPECT, "--png", "-"), (*COMPARE, "--png", "inputs=-")])
def test_a_picture_is_refused(words):
    refused = error("PNG cannot be written to a terminal", "name a file, or pipe it into a program")
    assert run_in_terminal(*words) == (2, refused)


def test_a_tokenizer_is_refused():
    status, shown = run_in_terminal("train", "-T", "hi", "-s", "256")
    assert (status, shown) == (
        2,
        error("a tokenizer cannot be written to a terminal", "name a file: -o tokenizer.json"),
    )


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (
            ("encode",),
            "there is no input: stdin is a terminal",
            "name files, give -T TEXT, or pipe text in (- reads what you type)",
        ),
        (("decode",), "there are no ids: stdin is a terminal", "name files, or pipe ids in"),
    ],
)
def test_nobody_waits_for_a_keyboard_unasked(arguments, message, hint):
    assert run_in_terminal(*arguments) == (2, error(message, hint))


def test_inspect_without_a_text_is_about_the_tokenizer(tmp_path):
    assert call("train", "-T", "low", "-s", "257", "-q", "-o", "t.json", cwd=tmp_path).status == 0
    status, shown = run_in_terminal("inspect", "-t", "t.json", env={"NO_COLOR": "1"}, cwd=tmp_path)
    assert status == 0
    assert "\nname           t.json" in shown.replace("\r", "")


# -- progress --------------------------------------------------------------------------------------


def feed_until(process, terminal, text):
    """Return the program more and more to do until the terminal shows a text."""
    for _ in range(2_000):
        if text in terminal.shown:
            return
        process.stdin.write(b"all work and no play\n" * 5_000)
        process.stdin.flush()
        while terminal.is_ready() and terminal.read_some():
            pass
    pytest.fail(f"200 MB of input and no {text!r} in {terminal.shown!r}")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("encode", *GPT2, "--to", "count", "-o", "out"), b"encoding"),
        (("train", "--lines", "-s", "257", "-o", "out"), b"counting"),
    ],
    ids=["encode", "train"],
)
def test_progress_in_a_terminal(tmp_path, arguments, text):
    terminal = Terminal()
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": terminal.side}
    with start(*arguments, "--block-size", "50000", cwd=tmp_path, **pipes) as process:
        feed_until(process, terminal, text)
        process.stdin.close()
        shown = terminal.read_all()
        assert (process.wait(timeout=120), process.stdout.read()) == (0, b"")
    assert "B/s" in shown
    # The bar is wiped out, and the summary stands alone.
    assert re.search(r"-> out\n$|MB/s, [\d.]+ (s|min)\)(\n-> out)?\n$", shown.rpartition("\r")[2])
    assert text.decode() not in shown.rpartition("\r")[2]


def test_no_progress_when_quiet_or_in_a_pipe(tmp_path):
    """As much work as made a bar appear above, without a terminal and with --quiet in one."""
    data = b"all work and no play\n" * 400_000
    (tmp_path / "big").write_bytes(data)
    options = ("encode", *GPT2, "--to", "count", "--block-size", "10000", "-j", "1", "big")
    result = run(*options, "-o", "out", cwd=tmp_path)
    assert result == (0, b"", "1 document, 2,400,000 tokens -> out\n")
    assert run_in_terminal(*options, "-q", "-o", "out", cwd=tmp_path) == (0, "")


BAR = re.compile(rb"\r\w+ing: ")


def fed_slowly(arguments, line, cwd, rounds=None, **pipes):
    """Feed a line now and then, so many times or until there is a bar; give how often, and all that is shown."""
    terminal = Terminal()
    streams = {"stdout": terminal.side, "stderr": terminal.side} | pipes
    fed = 0
    with start(*arguments, cwd=cwd, stdin=subprocess.PIPE, **streams) as process:
        while fed < (rounds or 200) and (rounds or not BAR.search(terminal.shown)):
            process.stdin.write(line)
            process.stdin.flush()
            fed += 1
            time.sleep(0.1)
            while terminal.is_ready() and terminal.read_some():
                pass
        process.stdin.close()
        shown = terminal.read_all()
        assert process.wait(timeout=120) == 0
    return fed, shown


CHAT = b'{"messages": [{"role": "user", "content": "hi"}]}\n'
WRITERS = {
    "ids": (("encode", *GPT2, "--lines"), b"all work\n"),
    "jsonl": (("encode", *GPT2, "--lines", "--to", "jsonl"), b"all work\n"),
    "segmented": (("encode", *GPT2, "--to", "segmented"), b"all work\n"),
    "decode": (("decode", *GPT2, "--lines"), b"439 670\n"),
    "chat": (("encode", "--chat", "--jsonl", "-t", "gpt-4"), CHAT),
    "chat text": (("encode", "--chat", "--jsonl", "-t", "gpt-4", "--to", "text"), CHAT),
    "billed": (("encode", "--chat", "--jsonl", "-t", "gpt-4o", "--to", "count"), CHAT),
}


def test_no_progress_among_the_lines_of_the_output(tmp_path):
    """For every writer, all at once: what takes time is waiting for bars."""
    with ThreadPoolExecutor(2 * len(WRITERS)) as pool:

        def until_there_is_a_bar(name):
            elsewhere = Terminal().side if name == "ids" else subprocess.DEVNULL
            return fed_slowly(*WRITERS[name], tmp_path, stdout=elsewhere)

        rounds = {}
        for name, (count, shown) in zip(WRITERS, pool.map(until_there_is_a_bar, WRITERS), strict=True):
            assert BAR.search(shown.encode()), f"{name}: where nothing else is shown there is a bar"
            rounds[name] = count + 3
        # In this process, so before others are started with its surroundings.
        plain = {
            name: call(*arguments, input=line * rounds[name], cwd=tmp_path)
            for name, (arguments, line) in WRITERS.items()
        }
        fed = {
            (name, options): pool.submit(fed_slowly, (*arguments, *options), line, tmp_path, rounds[name])
            for name, (arguments, line) in WRITERS.items()
            for options in ((), ("-o", "/dev/stdout"))
        }
        for name, (status, out, err) in plain.items():
            assert (status, err) == (0, ""), name
            assert fed[name, ()].result()[1].encode() == out, name
            _, named = fed[name, ("-o", "/dev/stdout")].result()
            # What is told is told when all is written.
            assert named.encode().startswith(out), name
            assert named[len(out) :].count("\n") <= 1, name
            assert "\r" not in named, name


def test_a_note_does_not_lie_in_the_bar(tmp_path):
    """A note that comes while a bar stands takes its line, and the bar goes on below."""
    (tmp_path / "zeros").write_bytes(b"a\0")
    _, shown = fed_slowly(("encode", *GPT2, "-", "zeros", "-o", "out"), b"all work\n", tmp_path)
    assert BAR.search(shown.encode())
    assert re.search(r"\r *\rnote: zeros looks binary [^\r]*\n", shown), shown
