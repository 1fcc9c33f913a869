"""An interrupt at any moment: status 130, one word, and nothing left behind."""

from __future__ import annotations

import signal
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.cli_runner import Terminal, run, signals, start, surroundings
from tests.interrupting import RUNS, Finished, prepare, run_at

MOMENTS = 3
"""How many there are a run and kind; ``python -m tests.interrupting 1000`` tries more."""

FIRST = next(iter(RUNS))
"""The run of which the very first moment is tried: it is the same of all."""


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    folder = tmp_path_factory.mktemp("desk")
    prepare(folder)
    return folder


IMPORTS: dict[str, int] = {}
"""How many modules a run is about to import."""


@cache
def finished_run(desk: Path, run: str) -> Finished:
    """Let a run of ``RUNS`` come to its end, once, and count its imports: whoever meddles with it cleans up."""

    def counted(folder: Path, arguments: tuple[str, ...]) -> subprocess.CompletedProcess[bytes]:
        done = run_at("import", 0, folder, arguments)
        *said, count = done.stderr.splitlines(keepends=True)
        IMPORTS[run] = int(count)
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout, b"".join(said))

    return Finished(desk, RUNS[run], counted)


def calls_of(finished: Finished, desk: Path, run: str, *, nameless: bool = True) -> int:
    """Return how many calls and returns a run has, when all is imported."""
    for _ in range(2):
        whole = run_at("call", 0, desk, RUNS[run], nameless=nameless)
        finished.clean()
        assert whole.returncode == 0, whole.stderr.decode()
    return int(whole.stderr.splitlines()[-1])


@pytest.mark.parametrize("kind", ["call", "import"])
@pytest.mark.parametrize("run", RUNS)
def test_an_interrupt_at_any_moment(desk, run, kind):
    """Moments are counted in calls and returns, and in modules that are about to be imported."""
    finished = finished_run(desk, run)
    count = IMPORTS[run] if kind == "import" else calls_of(finished, desk, run)
    assert count > 2 * MOMENTS
    for number in (*([1] if run == FIRST else []), *(1 + count * part // MOMENTS for part in range(1, MOMENTS))):
        done = run_at(kind, number, desk, RUNS[run])
        assert done.returncode == 130, f"moment {number} of {count}: {done.stderr.decode()}"
        assert finished.fault(done.returncode, done.stdout, done.stderr) is None, f"moment {number} of {count}"


@pytest.mark.parametrize("module", ["orjson", "uuid", "datetime", "dataclasses", "inspect", "json"])
def test_an_interrupt_while_a_compiled_module_imports_others(desk, module):
    """orjson crashes when the import of a module that it needs fails."""
    code = f"""
import os, sys
def audited(event, arguments):
    if event == "import" and arguments[0] == {module!r}:
        os.kill(os.getpid(), {int(signal.SIGINT)})
sys.addaudithook(audited)
from bpe_cli.__main__ import main
sys.exit(main())
"""
    finished = finished_run(desk, "decode")
    done = subprocess.run(
        [sys.executable, "-c", code, *RUNS["decode"]], cwd=desk, env=surroundings(None), stdin=subprocess.DEVNULL,
        capture_output=True, check=False, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"interrupted\n")
    assert finished.fault(done.returncode, done.stdout, done.stderr) is None


@pytest.mark.parametrize(
    ("number", "status"), [*zip(signals("SIGINT", "SIGTERM", "SIGHUP"), (130, -15, -1), strict=False)]
)
def test_a_named_part_is_removed(desk, number, status):
    """Where the system has no nameless files, what is not whole lies beside the target, and goes."""
    finished = finished_run(desk, "encode bin")
    count = calls_of(finished, desk, "encode bin", nameless=False)
    for part in range(1, 2 * MOMENTS):  # in the last half it writes
        moment = count - count * part // (4 * MOMENTS)
        done = run_at("call", moment, desk, RUNS["encode bin"], number, nameless=False)
        assert (done.returncode, b"Traceback" in done.stderr) == (status, False), moment
        assert finished.fault(130, done.stdout, b"interrupted\n") is None, moment


@pytest.mark.parametrize(("number", "status"), [*zip(signals("SIGINT", "SIGTERM"), (130, -15), strict=False)])
def test_a_temporary_folder_is_removed(tmp_path, number, status):
    """That of a deep check, with the part that is made again in it."""
    code = f"""
import os, sys
from bpe_cli.jobs.prepare import deep
make = deep.run_part
def interrupted(*args):
    make(*args)
    assert os.listdir({str(tmp_path / "tmp")!r})
    os.kill(os.getpid(), {int(number)})
deep.run_part = interrupted
from bpe_cli.__main__ import main
sys.exit(main())
"""
    (tmp_path / "in.txt").write_text("hello")
    (tmp_path / "tmp").mkdir()
    words = ["prepare", "in.txt", "-t", "gpt2", "-o", "set"]
    assert run(*words, cwd=tmp_path).status == 0
    done = subprocess.run(
        [sys.executable, "-c", code, *words, "--check", "--deep", "1"], cwd=tmp_path,
        env=surroundings({"TMPDIR": str(tmp_path / "tmp")}), stdin=subprocess.DEVNULL, capture_output=True, check=False,
        timeout=120,
    )  # fmt: skip
    assert (done.returncode, b"Traceback" in done.stderr) == (status, False), done.stderr
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize("number", signals("SIGINT", "SIGHUP", "SIGTERM"))
def test_what_is_ignored_stays_ignored(number):
    """A shell starts its background jobs with SIGINT ignored, and nohup with SIGHUP."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    process = start("encode", "-t", "gpt2", "--lines", "--block-size", "4096", bufsize=0,
                    preexec_fn=lambda: signal.signal(number, signal.SIG_IGN), **pipes)  # fmt: skip
    with process:
        process.stdin.write(b"hi\n" * 30_000)
        process.stdin.flush()
        assert process.stdout.readline() == b"5303\n"
        process.send_signal(number)
        out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err) == (0, b"5303\n" * 29_999, b"")


@pytest.mark.parametrize("number", signals("SIGTERM", "SIGHUP"))
def test_other_signals_kill(number):
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with start("encode", "-t", "gpt2", "--lines", "--block-size", "4096", bufsize=0, **pipes) as process:
        process.stdin.write(b"hi\n" * 30_000)
        process.stdin.flush()
        assert process.stdout.readline() == b"5303\n"
        process.send_signal(number)
        _, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (-number, b"")


def test_an_interrupt_wipes_the_bar_out():
    terminal = Terminal()
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": terminal.side}
    with start("encode", "-t", "gpt2", "--to", "count", env={"TERM": "xterm"}, **pipes) as process:
        while b"encoding" not in terminal.shown:
            process.stdin.write(b"all work and no play\n" * 5_000)
            process.stdin.flush()
            while terminal.is_ready() and terminal.read_some():
                pass
        process.send_signal(signal.SIGINT)
        shown = terminal.read_all()
        process.stdin.close()
        assert process.wait(timeout=120) == 130
    assert shown.endswith("\r" + " " * 99 + "\rinterrupted\n")


def test_tests_that_are_started_with_interrupts_ignored():
    """As ``make test &`` is by a script: what the tests start heeds signals all the same."""
    test = "tests/cli/test_outputs.py::test_interrupted_while_stdout_is_a_pipe"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", test],
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
        cwd=Path(__file__).parents[2], capture_output=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout.decode()
    assert b"1 passed" in done.stdout
