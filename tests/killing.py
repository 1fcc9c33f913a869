"""``kill -9`` at any moment of ``bpe prepare``: of the command, of one of its workers, or of all at once.

``python -m tests.killing 200`` kills at 200 random moments, lets each run go on to its end, compares every byte with
one undisturbed run on one process, and says how the runs went; a test does it a few times. Half of the runs have no
nameless files, as on a network's disk: their drafts have names all the time.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tests.cli_runner import COMMAND, surroundings

REPOSITORY = Path(__file__).resolve().parent.parent

VICTIMS = ("command", "worker", "group")
NAMED_ONLY = """
import os
if os.environ.get("NO_NAMELESS"):
    with __import__("contextlib").suppress(AttributeError):
        del os.O_TMPFILE
"""


def write_inputs(folder: Path, megabytes: int) -> None:
    """Write JSON lines, and what takes nameless files from a Python that finds it."""
    chance = random.Random(5)
    words = (REPOSITORY / "README.md").read_text(encoding="utf-8").split()
    with open(folder / "in.jsonl", "w", encoding="utf-8") as file:
        while file.tell() < megabytes << 20:
            file.write(json.dumps({"text": " ".join(chance.choices(words, k=chance.randrange(300)))}) + "\n")
    (folder / "python").mkdir()
    (folder / "python/sitecustomize.py").write_text(NAMED_ONLY)


def command(folder: Path, to: str, processes: int, out: str) -> list[str]:
    """Return the command line of a run."""
    options = ["--jsonl", "-t", "gpt2", "--eot", "auto", "--to", to, "--part-size", "1", "-q"]
    return [*COMMAND, "prepare", str(folder / "in.jsonl"), *options, "-j", str(processes), "-o", str(folder / out)]


def begin(folder: Path, line: list[str], *, nameless: bool = True) -> subprocess.Popen[bytes]:
    """Begin a run in a process group of its own."""
    env = surroundings({"PYTHONPATH": os.pathsep.join([str(folder / "python"), str(REPOSITORY)])})
    env |= {} if nameless else {"NO_NAMELESS": "1"}
    return subprocess.Popen(line, env=env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)


def contents(folder: Path) -> dict[str, bytes]:
    """Read all files of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def workers_of(process: int) -> list[int]:
    """Return the worker processes of a run."""
    with contextlib.suppress(OSError):
        numbers = Path(f"/proc/{process}/task/{process}/children").read_text().split()
        return [int(each) for each in numbers if b"spawn_main" in Path(f"/proc/{each}/cmdline").read_bytes()]
    return []


def is_there(process: int) -> bool:
    """Return whether a process goes on."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def wait_for(condition: Callable[[], object], seconds: float = 60) -> bool:
    """Wait until something is so, or about so many seconds; return whether it is."""
    for _ in range(round(seconds / 0.02)):
        if condition():
            return True
        time.sleep(0.02)
    return bool(condition())


class Job:
    """A data set, what it is when nothing disturbs it, and runs that are disturbed."""

    def __init__(self, folder: Path, to: str = "megatron", megabytes: int = 8) -> None:
        """Make it once, on one process."""
        self.folder, self.to = folder, to
        write_inputs(folder, megabytes)
        self.seconds = {1: 60.0, 2: 60.0}
        for number, processes in enumerate((1, 2)):
            began = time.monotonic()
            run = begin(folder, command(folder, to, processes, f"whole{number}"))
            assert run.communicate(timeout=120) == (None, b"")
            self.seconds[processes] = min(self.seconds[processes], time.monotonic() - began)
        self.whole = contents(folder / "whole0")
        assert contents(folder / "whole1") == self.whole

    def fault(self, victim: str, processes: int, moment: float, *, nameless: bool) -> tuple[str, str | None]:
        """Kill a run after ``moment`` of its time; return what became of it, and what is wrong with that."""
        import shutil

        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        line = command(self.folder, self.to, processes, "out")
        run = begin(self.folder, line, nameless=nameless)
        time.sleep(moment * self.seconds[processes])
        workers = workers_of(run.pid)
        became = "there was no worker"
        if victim == "worker":
            if workers:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(random.choice(workers), signal.SIGKILL)
                    became = "made up for"
        elif run.poll() is None:
            (os.killpg if victim == "group" else os.kill)(run.pid, signal.SIGKILL)
        try:
            _, err = run.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            return "hung", f"a run hung whose {victim} was killed"
        if run.returncode not in ((0,) if victim == "worker" else (0, -signal.SIGKILL)):
            return "failed", f"status {run.returncode}: {err[-500:].decode()}"
        if victim != "worker":
            became = "ended before" if run.returncode == 0 else "killed before the folder"
        if out.exists():
            there = contents(out)
            records = [name for name in there if name in self.whole and name.startswith("part-") and ".json" in name]
            became = became if run.returncode == 0 else "killed at work" if records else "killed before a part"
            # Its workers may still be ending: only what has a name for good is looked at.
            wrong = [name for name, data in there.items() if name[0] != "." and self.whole.get(name) != data]
            missing = [
                name for record in records for name in (f"{record[:10]}.bin", f"{record[:10]}.idx") if name not in there
            ]
            if self.to == "megatron" and (wrong or missing):
                return became, f"not whole: {wrong}; missing: {missing}"
            if "manifest.json" in there and there.keys() < self.whole.keys():
                return became, "a manifest, and not all parts"
        again = begin(self.folder, command(self.folder, self.to, 3 - processes, "out"), nameless=nameless)
        _, err = again.communicate(timeout=120)
        if again.returncode:
            return became, f"it did not go on: {err[-500:].decode()}"
        if not wait_for(lambda: not any(map(is_there, workers)), 10):
            return became, "workers outlive their parent"
        if contents(out) != self.whole:
            there = contents(out)
            other = sorted(name for name in there.keys() | self.whole.keys() if there.get(name) != self.whole.get(name))
            return became, f"other bytes when it had gone on: {other}"
        return became, None


def main() -> None:
    """Kill at random moments, and say what became of the runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=int)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    random.seed(arguments.seed)
    became: Counter[tuple[str, int, str]] = Counter()
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        job = Job(Path(folder))
        for number in range(arguments.runs):
            victim, processes = VICTIMS[number % 3], 2 if VICTIMS[number % 3] == "worker" else 1 + number % 2
            how, fault = job.fault(victim, processes, random.random(), nameless=number // 6 % 2 == 0)
            became[victim, processes, how] += 1
            if fault is not None:
                faults.append((victim, processes, fault))
                print("wrong:", *faults[-1], flush=True)
    for (victim, processes, how), count in sorted(became.items()):
        print(f"{count:5}  {victim} of {processes}: {how}")
    print(f"{arguments.runs} runs, {len(faults)} wrong")
    raise SystemExit(bool(faults))


if __name__ == "__main__":
    main()
