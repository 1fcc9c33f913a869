"""Signals at any moment of a run: what a run may leave behind, and how it may end.

``python -m tests.interrupting 1000`` sends an interrupt at 1,000 random moments of each command and says how the runs
ended; the tests do it at a few moments that they count out (``AT``).
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tests import forking
from tests.cli_runner import COMMAND, call, heed_signals, surroundings

TEXT = b"all work and no play makes jack a dull boy\n" * 400

CHAT = b'{"messages": [{"role": "user", "content": "hi there"}, {"role": "assistant", "content": "hello"}]}\n' * 20
TEMPLATE = "{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}"

RUNS: dict[str, tuple[str, ...]] = {
    "encode": ("encode", "text", "-t", "gpt2", "--block-size", "4096", "-j", "3", "-o", "out"),
    "encode bin": ("encode", "text", "-t", "gpt2", "--to", "bin", "--lines", "--eot", "50256", "-o", "out"),
    "encode jsonl": ("encode", "text", "-t", "gpt2", "--to", "jsonl", "--lines", "-o", "out"),
    "encode stdout": ("encode", "text", "-t", "gpt2"),
    "decode": ("decode", "ids", "-t", "gpt2", "-o", "out"),
    "decode jsonl": ("decode", "ids.jsonl", "-t", "gpt2", "--from", "jsonl", "-o", "out"),
    "train": ("train", "text", "--lines", "-s", "300", "-j", "3", "--block-size", "4096", "-o", "out"),
    "inspect": ("inspect", "-T", "hi there", "-t", "t.json"),
    "inspect tokenizer": ("inspect", "-t", "t.json", "--json"),
    "compare": ("compare", "text", "-t", "gpt2", "-t", "t.json"),
    "convert": ("convert", "t.json", "-o", "out", "-f", "tokenizer.json"),
    "chat": ("encode", "chat.jsonl", "--chat", "--jsonl", "--chat-template", "plain.jinja", "-t", "gpt-4", "-o", "out"),
}
"""Every command, by short runs; what they write is called ``out``."""


def prepare(folder: Path, text: bytes = TEXT) -> None:
    """Write what the runs read."""
    (folder / "text").write_bytes(text)
    (folder / "chat.jsonl").write_bytes(CHAT)
    (folder / "plain.jinja").write_text(TEMPLATE)
    for arguments in (
        ("train", "text", "-s", "300", "-q", "-o", "t.json"),
        ("encode", "text", "-t", "gpt2", "-q", "-o", "ids"),
        ("encode", "text", "-t", "gpt2", "--lines", "--to", "jsonl", "-q", "-o", "ids.jsonl"),
    ):
        done = call(*arguments, cwd=folder)
        assert done.status == 0, done.err


def files(folder: Path) -> dict[str, bytes]:
    """Read all that lies in a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def run_whole(folder: Path, arguments: tuple[str, ...]) -> subprocess.CompletedProcess[bytes]:
    """Let the command come to its end."""
    return subprocess.run(
        [*COMMAND, *arguments], cwd=folder, env=surroundings(None), stdin=subprocess.DEVNULL, capture_output=True,
        check=False, timeout=120,
    )  # fmt: skip


class Finished:
    """What is there before a run, and what there is more when it has run to its end.

    Attributes:
        before: Name -> content of the files that are there.
        made: The same of those that the run makes.
        out: What it prints.
        seconds: How long it takes.
    """

    def __init__(
        self, folder: Path, arguments: tuple[str, ...],
        run: Callable[[Path, tuple[str, ...]], subprocess.CompletedProcess[bytes]] | None = None,
    ) -> None:  # fmt: skip
        """Run it once, as by ``run`` if that is given; ``folder`` is as it was then."""
        self._folder = folder
        self.before = files(folder)
        began = time.monotonic()
        done = (run or run_whole)(folder, arguments)
        done.check_returncode()
        self.seconds = time.monotonic() - began
        self.out, self._err = done.stdout, done.stderr
        self.made = {name: data for name, data in files(folder).items() if name not in self.before}
        self.clean()

    def clean(self) -> None:
        """Remove what a run has made."""
        for path in self._folder.iterdir():
            if path.name not in self.before:
                path.unlink()

    def fault(self, status: int, out: bytes, err: bytes) -> str | None:
        """Describe what is wrong with an interrupted run; None if nothing is. Cleans up."""
        left = {name: data for name, data in files(self._folder).items() if self.before.get(name) != data}
        self.clean()
        wrong = {name for name, data in left.items() if self.made.get(name) != data}
        if wrong or (status == 0 and left != self.made):
            return f"left {sorted(left)}, of which {sorted(wrong)} are not whole"
        if status == 0 and (out, err) != (self.out, self._err):
            return f"status 0, but {out[:200]!r}, {err[:200]!r}"
        # What it says of a finished run may stand before that it was interrupted.
        if status == 130 and not (self.out.startswith(out) and err.endswith(b"interrupted\n")):
            return f"status 130, but {out[:200]!r}, {err[:200]!r}"
        if status == 130 and err != b"interrupted\n" and not self._err.startswith(err.removesuffix(b"interrupted\n")):
            return f"status 130, but {err[:200]!r}"
        return None if status in (0, 130) else f"status {status}, {out[:200]!r}, {err[-400:]!r}"


AT = """
import os, sys
import bpe_cli.__main__ as entrance
kind, number, signal, nameless = sys.argv[1], *map(int, sys.argv[2:5])
sys.argv[1:] = sys.argv[5:]
if not nameless:
    del os.O_TMPFILE
count = 0

def count_on():
    global count
    count += 1
    if count == number:
        os.kill(os.getpid(), signal)

def heed():
    heed_signals()
    if kind == "call":
        sys.setprofile(lambda *_: count_on())
    else:
        sys.addaudithook(lambda event, _: event == "import" and count_on())

heed_signals, entrance._heed_signals = entrance._heed_signals, heed
status = entrance.main()
sys.setprofile(None)
if number == 0:
    sys.stderr.write(f"{count}\\n")
sys.exit(status)
"""
"""Run the command and send it a signal when it calls or returns the Nth time, or is about to import its Nth module."""


def run_at(
    kind: str, number: int, folder: Path, arguments: tuple[str, ...], to_send: int = signal.SIGINT,
    *, nameless: bool = True,
) -> subprocess.CompletedProcess[bytes]:  # fmt: skip
    """Run with a signal at a moment.

    Where calls are counted, the interpreter has imported before what earlier such runs did (``tests.forking``): all
    calls are the command's own, and the second run with no moment counts them.

    Args:
        kind: What counts moments: a ``call`` or an ``import``.
        number: The moment; 0 never comes, and then their count is the last line of stderr.
        folder: Where.
        arguments: The command line.
        to_send: The signal.
        nameless: Whether files that are not whole may be without a name, where the system can.
    """
    given = (kind, str(number), str(int(to_send)), str(int(nameless)), *arguments)
    if kind == "call":
        return forking.run(AT, *given, cwd=folder)
    return subprocess.run(
        [sys.executable, "-c", AT, *given], cwd=folder, env=surroundings(None), stdin=subprocess.DEVNULL,
        capture_output=True, check=False, timeout=120,
    )  # fmt: skip


def before_our_first_line(pid: int) -> bool:
    """Return whether a process is not ours yet: Python alone does not catch SIGTERM, we ignore SIGINT at the end."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:  # it is gone
        return False
    said = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    if said["State"].startswith("Z"):
        return False
    ended = int(said["SigIgn"], 16) >> (signal.SIGINT - 1) & 1
    return not ended and not int(said["SigCgt"], 16) >> (signal.SIGTERM - 1) & 1


def try_once(finished: Finished, folder: Path, arguments: tuple[str, ...], delay: float) -> str:
    """Interrupt a run after a while and say how it ended."""
    process = subprocess.Popen(
        [*COMMAND, *arguments], cwd=folder, env=surroundings(None),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    with process:
        time.sleep(delay)
        not_ours = before_our_first_line(process.pid)
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=120)
    if not_ours:
        finished.clean()
        return "before our first line"
    fault = finished.fault(process.returncode, out, err)
    return f"WRONG: {fault}" if fault else str(process.returncode)


def main() -> None:
    """Interrupt every command at random moments."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("tries", type=int)
    parser.add_argument("runs", nargs="*", help="a choice of: " + ", ".join(RUNS))
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    heed_signals()
    draw = random.Random(asked.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        for run in asked.runs or RUNS:
            finished = Finished(folder, RUNS[run])
            ends: Counter[str] = Counter()
            while sum(ends[end] for end in ends if end != "before our first line") < asked.tries:
                ends[try_once(finished, folder, RUNS[run], draw.random() * finished.seconds)] += 1
            print(run, dict(ends.most_common()), flush=True)


if __name__ == "__main__":
    main()
