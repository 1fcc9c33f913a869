"""The package and its tests get along without what Python has on Linux alone: see tests/elsewhere.py."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ELSEWHERE = os.environ | {"ELSEWHERE": "1", "PYTEST_ADDOPTS": "", "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
BPE = "import sys, tests.elsewhere; from bpe_cli.__main__ import main; sys.exit(main())"


def python(*words: str | Path, **options: object) -> subprocess.CompletedProcess[bytes]:
    """Run Python as it is elsewhere."""
    command = [sys.executable, *map(str, words)]
    return subprocess.run(command, env=ELSEWHERE, capture_output=True, check=False, timeout=600, **options)


def bpe(folder: Path, *words: str, given: bytes = b"") -> bytes:
    """Run the command line and return what it prints."""
    done = python("-c", BPE, *words, input=given, cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def test_what_is_said_to_be_absent_is_absent():
    script = (
        "import tests.elsewhere\n"
        "names = {'__name__': 'bpe_cli.trial'}\n"
        "for line in ('import pty', 'import fcntl', 'from os import fork', 'from signal import SIGHUP'):\n"
        "    try:\n        exec(line, names)\n"
        "    except ImportError:\n        print(line)\n"
        'exec(\'import os, signal; print(os.name, hasattr(os, "O_TMPFILE"), hasattr(signal, "SIGTERM"))\', names)\n'
    )
    done = python("-c", script)
    lines = ["import pty", "import fcntl", "from os import fork", "from signal import SIGHUP", "nt False True"]
    assert (done.stdout.decode().splitlines(), done.stderr) == (lines, b"")


IMPORTING = """
import importlib, pathlib, tests.elsewhere
from tests.needs import Skipped
number = 0
for path in sorted(pathlib.Path("tests").rglob("*.py")):
    if path.name == "__main__.py":
        continue
    try:
        importlib.import_module(".".join(path.with_suffix("").parts).removesuffix(".__init__"))
    except Skipped:
        continue
    number += 1
print(number)
"""


@pytest.mark.slow
def test_all_tests_can_be_imported():
    """All that collecting them does beyond that is the same here."""
    done = python("-c", IMPORTING, cwd=ROOT)
    assert done.returncode == 0, done.stderr.decode()[-4000:]
    assert int(done.stdout) > 500


def test_each_command_runs(tmp_path, corpora):
    text = corpora / "languages" / "en.txt"
    bpe(tmp_path, "train", str(text), "-s", "400", "-o", "t.json", "-q")
    bpe(tmp_path, "encode", str(text), "-t", "t.json", "-o", "ids.npy", "-q")
    assert bpe(tmp_path, "decode", "ids.npy", "-t", "t.json") == text.read_bytes()
    bpe(tmp_path, "convert", "t.json", "-o", "t.bpe.json", "-q")
    assert b"tokens" in bpe(tmp_path, "inspect", "t.bpe.json")
    assert b"fewest tokens" in bpe(tmp_path, "compare", str(text), "-t", "t.json", "-t", "gpt2")
    words = ("prepare", str(text), "-t", "gpt2", "--lines", "--to", "megatron", "-o", "set/", "-q")
    bpe(tmp_path, *words, "--eot", "auto", "-j", "2")
    bpe(tmp_path, "prepare", "--check", "set")
    assert not list(tmp_path.rglob("*.part"))


def test_a_pipe_is_read(tmp_path):
    assert bpe(tmp_path, "encode", "-t", "gpt2", given=b"hello world") == b"31373 995\n"


def test_the_classifiers_say_what_is_so():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lowest = int(project["requires-python"].removeprefix(">=3."))
    named = {each.rsplit(" ", 1)[1] for each in project["classifiers"] if "Python :: 3." in each}
    assert named == {f"3.{minor}" for minor in range(lowest, 15)}
