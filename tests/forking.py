"""Run scripts in processes that need no start: each is a fork of an interpreter that has imported what others did.

For tests that end a command at each of its steps, in a process of its own. The interpreter that is forked has one
thread, opens nothing and changes nothing; after each run that no signal killed it imports what that one had imported.
Where the system cannot fork, each script has an interpreter of its own.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from tests.cli_runner import Result, surroundings

TIMEOUT = 120

SERVER = """
import contextlib, importlib, json, os, signal, sys, traceback
import bpe_cli
from bpe_cli.formats.proof import comparing
bpe_cli.load("gpt2")
for texts in (comparing.tricky, comparing.of_samples, comparing.of_every_character):
    texts()  # they are kept, and every conversion is proven by them
threads = "/proc/self/task"
leave = os._exit

class WithoutPandas:
    def find_spec(self, name, *_):
        if name == "pandas":  # of no use here; pyarrow imports it where it is installed, which takes a while
            raise ImportError(name)

sys.meta_path.insert(0, WithoutPandas())

def run(request):
    def leave_word(status):
        imported = [name for name in [*sys.modules] if name.partition(".")[0] != "pyarrow"]  # which starts threads
        with open(request["imported"], "w") as file:
            json.dump(imported, file)
        leave(status)

    os._exit = leave_word
    os.chdir(request["cwd"])
    for number, name in enumerate((os.devnull, request["out"], request["err"])):
        os.dup2(os.open(name, os.O_RDWR), number)
    signal.alarm(request["timeout"])
    sys.argv = ["-c", *request["arguments"]]
    status = 0
    try:
        exec(request["script"], {"__name__": "__main__"})
    except SystemExit as end:
        status = end.code or 0
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)

for line in sys.stdin:
    request = json.loads(line)
    process = os.fork()
    if process == 0:
        run(request)
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    with open(request["imported"]) as file:
        for name in json.loads(file.read() or "[]"):
            with contextlib.suppress(ImportError):  # some are made by others as these are imported
                importlib.import_module(name)
    assert not os.path.exists(threads) or len(os.listdir(threads)) == 1, "what has threads cannot be forked"
    print(status, flush=True)
"""


class Forked:
    """An interpreter that forks."""

    def __init__(self) -> None:
        """Start it; it ends with this process."""
        self._folder = tempfile.TemporaryDirectory(prefix="bpe-forked-")
        self._process = subprocess.Popen(
            [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=surroundings({"OPENBLAS_NUM_THREADS": "1"}),  # what NumPy has beside it starts the others at once
        )  # fmt: skip
        atexit.register(self._end)

    def run(self, script: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[bytes]:
        """Run a script to its end."""
        paths = {name: Path(self._folder.name) / name for name in ("out", "err", "imported")}
        for path in paths.values():
            path.write_bytes(b"")
        request: dict[str, Any] = {"script": script, "arguments": arguments, "cwd": str(cwd), "timeout": TIMEOUT}
        self._process.stdin.write(json.dumps(request | {name: str(path) for name, path in paths.items()}) + "\n")
        self._process.stdin.flush()
        status = int(self._process.stdout.readline())
        return subprocess.CompletedProcess(arguments, status, paths["out"].read_bytes(), paths["err"].read_bytes())

    def _end(self) -> None:
        self._process.communicate()
        self._folder.cleanup()


@cache
def _forked() -> Forked:
    return Forked()


def bpe(*arguments: str, cwd: Path) -> Result:
    """Run the command in a process of its own; its stdin is /dev/null, which nobody feeds."""
    done = run("import sys; from bpe_cli.__main__ import main; sys.exit(main())", *arguments, cwd=cwd)
    return Result(done.returncode, done.stdout, done.stderr.decode())


def run(script: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    """Run a script in a process of its own, with the surroundings that all runs have."""
    if hasattr(os, "fork"):
        return _forked().run(script, *arguments, cwd=cwd)
    return subprocess.run(
        [sys.executable, "-c", script, *arguments], cwd=cwd, env=surroundings(None), capture_output=True,
        timeout=TIMEOUT, check=False,
    )  # fmt: skip
