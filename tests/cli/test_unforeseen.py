"""A mistake of the program's own never looks like an answer; and cases that once were such mistakes."""

from __future__ import annotations

import errno
import os
import re
import shlex
import subprocess
import sys

import pytest

import bpe_cli.tokenizer.named_encodings
from bpe_cli.cli import app
from bpe_cli.support.messages import show_path
from tests import forking
from tests.cli_runner import COMMAND, call, error, run, surroundings

LINE = ("encode", "-T", "a secret", "-t", "gpt2")


class PanicException(BaseException):
    """What a panic of the core becomes, by its name."""


def unforeseen(err: str) -> re.Match[str] | None:
    return re.fullmatch(
        r"error: this is a bug in bpe: (.*) in bpe_cli/([\w/]+\.py), line \d+\n\n"
        r"hint: please report it with this: bpe [\w.]+, Python [\w.]+, \w+, `(.*)`; and, unless there are secrets "
        r"in it, what the same line prints with --debug\n",
        err,
    )


def caused_by(error: BaseException, cause: BaseException) -> BaseException:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("mistake", "what"),
    [
        (ValueError("the text a secret"), "ValueError"),
        (RuntimeError("can't start new thread"), "RuntimeError"),
        (RecursionError("maximum recursion depth exceeded"), "RecursionError"),
        (UnicodeEncodeError("latin-1", "a secret", 0, 1, "no"), "UnicodeEncodeError"),
        (PanicException("index out of bounds"), "its core met a case that it was not written for"),
        (AssertionError(), "AssertionError"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_mistake_has_a_status_of_its_own(monkeypatch, mistake, what):
    def fail(*_):
        raise mistake

    monkeypatch.setattr(bpe_cli.tokenizer.named_encodings, "find", fail)
    result = call(*LINE)
    assert (result.status, result.out) == (70, b"")
    said = unforeseen(result.err)
    assert said is not None, result.err
    assert said.groups() == (what, "jobs/tokenizers.py", "bpe encode -T TEXT -t gpt2")
    shown = call("--debug", *LINE)
    assert (shown.status, shown.out) == (70, b"")
    assert shown.err.startswith("Traceback (most recent call last):\n")
    assert shown.err.endswith(result.err)


@pytest.mark.parametrize(
    ("missing", "arguments"),
    [
        ("bpe_cli._core", ("--version",)),
        ("bpe_cli.cli.app", ("encode", "-T", "x")),
        ("typer", ("encode", "--no-such-option")),
        ("rich", ("inspect", "-T", "x")),
        ("regex", ("train", "-T", "x", "-s", "257", "--pattern", "a|b", "-o", "/dev/null")),
    ],
)
def test_a_broken_installation(missing, arguments):
    """What is missing at the start, and what is missing later."""
    script = f"import sys; sys.modules[{missing!r}] = None; from bpe_cli.__main__ import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True,
        check=False,
        env=surroundings(None),
        timeout=120,
    )
    said = done.stderr.decode()
    assert (done.returncode, done.stdout) == (70, b"")
    assert re.match(r"error: bpe cannot be loaded: .*\n\nhint: install it again, unless a limit", said), said
    assert missing.rpartition(".")[2] in said
    assert "Traceback" not in said


def test_debug_shows_why_it_cannot_be_loaded():
    script = "import sys; sys.modules['bpe_cli.cli.app'] = None; from bpe_cli.__main__ import main; sys.exit(main())"
    command = [sys.executable, "-c", script, "encode", "-T", "x", "--debug"]
    done = subprocess.run(command, capture_output=True, check=False, env=surroundings(None), timeout=120)
    assert (done.returncode, done.stdout) == (70, b"")
    assert done.stderr.startswith(b"Traceback (most recent call last):\n")
    assert b"\nerror: bpe cannot be loaded: " in done.stderr


@pytest.mark.parametrize(
    "refused",
    [
        MemoryError(),
        OSError(errno.ENOMEM, "no", "/a/module"),
        PanicException("PyObject pointer is null"),
        caused_by(SystemError("<built-in function loads> returned a result with an exception set"), MemoryError()),
        SystemError("error return without exception set"),
        SystemError("<function _find_and_load at 0x7f> returned NULL without setting an exception"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_want_of_memory_is_no_mistake(monkeypatch, refused):
    def fail(*_):
        raise refused

    monkeypatch.setattr(bpe_cli.tokenizer.named_encodings, "find", fail)
    hint = "try a smaller --block-size, or fewer --threads"
    assert call(*LINE) == (2, b"", error("there is not enough memory", hint))


@pytest.mark.parametrize(
    "again", [MemoryError(), SystemError(), ImportError("map"), OSError(errno.ENOMEM, "no")], ids=repr
)
def test_memory_that_is_wanting_for_the_message_too_ends_with_a_shorter_one(monkeypatch, capfd, again):
    def fail(*_):
        raise MemoryError

    def fail_again(*_):
        raise again

    monkeypatch.setattr(bpe_cli.tokenizer.named_encodings, "find", fail)
    monkeypatch.setattr(app, "_way_out_of_memory", fail_again)
    assert app.main([*LINE]) == 2
    assert capfd.readouterr() == ("", "error: there is not enough memory\n")


@pytest.mark.parametrize(
    ("arguments", "status"),
    [(("encode", "nosuch"), 2), (("encode", "-T", "hi", "--to", "count", "--max-tokens", "0"), 1), (("nosuch",), 2)],
)
def test_a_message_that_nobody_can_read_changes_no_status(arguments, status):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([sys.executable, "-m", "bpe_cli", *arguments], stderr=full, stdout=subprocess.PIPE,
                              check=False, env=surroundings(None), timeout=120)  # fmt: skip
    assert done.returncode == status


def test_notes_that_nobody_can_read_change_no_status(tmp_path):
    (tmp_path / "in").write_text("hi")
    for arguments in (("encode", "in", "-t", "gpt2", "-o", "out"), ("train", "in", "-s", "999", "-o", "t.json")):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([sys.executable, "-m", "bpe_cli", *arguments], stderr=full, stdout=subprocess.PIPE,
                                  check=False, env=surroundings(None), timeout=120, cwd=tmp_path)  # fmt: skip
        assert done.returncode == 0
    assert (tmp_path / "out").read_bytes() == b"5303\n"


# -- what stdout is encoded in ---------------------------------------------------------------------


LINES = [
    ("inspect", "-T", "hé 你好", "-t", "gpt2"),
    ("inspect", "-T", "hé 你好", "-t", "gpt2", "--html", "-"),
    ("compare", "-T", "hé 你好", "-t", "gpt2", "-t", "p50k_base", "--markdown"),
    ("encode", "-T", "hé 你好", "-t", "gpt2", "--to", "tokens"),
    ("encode", "--help"),
]
"""One of each way to write to stdout."""


@pytest.mark.parametrize("encoding", ["latin-1", "ascii", "utf-16"])
@pytest.mark.parametrize("arguments", LINES, ids=" ".join)
def test_stdout_is_utf_8_whatever_it_was(arguments, encoding):
    """What goes into a file or a pipe; the bytes of texts go there too, and they are not encoded anew."""
    expected = call(*arguments)
    assert (expected.status, expected.err) == (0, "")
    assert call(*arguments, encoding=encoding) == expected


@pytest.mark.parametrize(
    ("env", "arguments"),
    [
        ({"PYTHONIOENCODING": "ascii:strict"}, LINES[0]),
        ({"PYTHONIOENCODING": "utf-16"}, LINES[-1]),
        *(({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, line) for line in LINES),
    ],
    ids=str,
)
def test_stdout_is_utf_8_whatever_the_surroundings(env, arguments):
    assert run(*arguments, env=env) == call(*arguments)


def test_a_name_that_is_no_text_is_shown(tmp_path):
    """A file's name may be any bytes."""
    for name in (b"x\xff.txt", b"t\xff.json"):
        (tmp_path / os.fsdecode(name)).write_bytes(b"hi there" * 40)
    trained = ("train", os.fsdecode(b"x\xff.txt"), "-s", "258", "-q", "-o", "t\udcff.json")
    assert forking.bpe(*trained, cwd=tmp_path) == (0, b"", "")
    for arguments in (
        ("inspect", "-t", "t\udcff.json"),
        ("inspect", "x\udcff.txt", "-t", "t\udcff.json"),
        ("compare", "x\udcff.txt", "-t", "t\udcff.json", "-t", "gpt2"),
        ("compare", "x\udcff.txt", "-t", "t\udcff.json", "-t", "gpt2", "--markdown"),
        ("inspect", "-t", "t\udcff.json", "--json"),
    ):
        done = forking.bpe(*arguments, cwd=tmp_path)
        assert (done.status, done.err) == (0, ""), arguments
        assert done.text
    assert show_path("t\udcff.json").isascii()


# -- sizes of screens ------------------------------------------------------------------------------


@pytest.mark.parametrize("size", ["0", "1", "-5", "x", "²", "99999999999", "9" * 5000, ""])
def test_sizes_that_no_screen_has(size):
    for arguments in (("inspect", "-T", "hi", "-t", "gpt2"), ("encode", "--help")):
        result = call(*arguments, env={"COLUMNS": size, "LINES": size})
        assert (result.status, result.err) == (0, "")
        assert len(result.out) < 100_000


# -- many digits -----------------------------------------------------------------------------------


@pytest.mark.parametrize("digits", [15, 16, 5000])
def test_a_token_of_very_many_digits(tmp_path, digits):
    """Python refuses to write ten to the power of 5,000."""
    number = "9" * digits
    assert (
        call("train", "-T", f"{number} {number}", "-a", "word", "-s", "3", "-q", "-o", "t.json", cwd=tmp_path)[0] == 0
    )
    shown = call("inspect", "-t", "t.json", "--section", "all", cwd=tmp_path)
    assert (shown.status, shown.err) == (0, "")
    assert ("1 of 1,000,000,000,000,000 with 15 digits" if digits == 15 else f"1 of 10^{digits} with") in shown.text
    shown = call("inspect", "-t", "t.json", "--json", cwd=tmp_path)
    assert (shown.status, shown.err) == (0, "")


def test_an_element_of_very_many_digits():
    line = ("encode", "--jsonl", "-t", "gpt2", "-T", '{"a": ["hi", "ho"]}', "--field")
    assert call(*line, "a." + "0" * 5000) == (0, b"5303\n", "")
    assert call(*line, "a.01") == (0, b"8873\n", "")
    for number in ("1" + "0" * 4999, "2", "9" * 20):
        assert f"there is no element {number} in 'a', a list of 2" in call(*line, f"a.{number}").err


# -- threads ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ("encode", "text", "-t", "gpt2"),
        ("encode", "text", "-t", "gpt2", "--block-size", "4096"),
        ("train", "text", "-s", "300", "--lines", "--block-size", "4096", "-o", "/dev/stdout"),
        ("train", "text", "-s", "80", "-a", "unigram", "-o", "/dev/stdout"),
        ("compare", "text", "-t", "gpt2", "-t", "p50k_base", "--json"),
    ],
    ids=" ".join,
)
def test_a_system_without_threads(tmp_path, arguments):
    """No thread gets a stack of 64 TiB: the core does its work on the one that there is."""
    (tmp_path / "text").write_bytes(b"".join(b"all work and no play makes %d dull boys\n" % n for n in range(8_000)))
    expected = run(*arguments, "-j", "1", cwd=tmp_path)
    assert expected.status == 0
    assert run(*arguments, "-j", "4", cwd=tmp_path, env={"RUST_MIN_STACK": str(1 << 46)}) == expected


# -- patterns --------------------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", [r"(?r)\w+", r"a(?r)b", r"(?ri)\p{L}+|."])
def test_a_pattern_that_searches_backwards_is_refused(pattern):
    hint = "leave the flag (?r) out"
    message = f"the pattern {pattern!r} searches backwards, and text is split from its beginning"
    result = call("train", "-T", "ab ba", "-s", "258", "--pattern", pattern, "-o", "x")
    assert result == (2, b"", error(message, hint))


def test_a_failure_of_the_system_has_no_verb_that_may_be_wrong():
    """Where nobody has said what was done with a file: it may have been read."""
    assert app._as_bpe_error(PermissionError(13, "Permission denied", "d1/x"), []).message == "d1/x: permission denied"
    assert app._as_bpe_error(OSError(28, "No space left"), []).message == "cannot write stdout: no space left"


@pytest.mark.parametrize("line", ["encode -T hi -o out", "train -T low -s 260 -o t.json", "prepare /dev/null -o set"])
def test_a_folder_that_is_gone(tmp_path, line):
    """Whoever removed it may be a cleaner of old files, and nothing was written to stdout."""
    (tmp_path / "gone").mkdir()
    script = f"cd gone; rmdir ../gone; exec {shlex.join(COMMAND)} {line}"
    done = subprocess.run(
        ["sh", "-c", script], cwd=tmp_path, capture_output=True, check=False, env=surroundings(None), timeout=120
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode() == error("the current folder has been removed", "change to another one")
