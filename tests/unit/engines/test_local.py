"""Processes of this machine: results are those of one, none outlives its parent, and a lost one is made up for."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bpe_cli.engines.local import Local
from bpe_cli.errors import BpeError, InputError, UsageError
from tests.cli_runner import signals
from tests.killing import wait_for
from tests.parts import Part, work_in

PARTS = [Part(number) for number in range(7)]


@pytest.mark.parametrize("processes", [1, 2, 9])
def test_each_part_is_done_once(tmp_path: Path, processes: int) -> None:
    amounts: list[int] = []
    results = list(Local(processes).run(work_in(tmp_path), PARTS, amounts.append))
    assert sorted(results) == [(number**2, True) for number in range(7)]
    assert sum(amounts) == 70
    assert list(Local(processes).run(work_in(tmp_path), [])) == []


@pytest.mark.parametrize("fate", ["killed once", "killed late"])
def test_a_part_whose_process_is_killed_is_done_again(tmp_path: Path, fate: str) -> None:
    amounts: list[int] = []
    notes: list[str] = []
    parts = [*PARTS, Part(7, fate)]
    results = list(Local(2).run(work_in(tmp_path), parts, amounts.append, notes.append))
    assert sorted(results) == [(number**2, True) for number in range(8)]
    assert notes == ["the process that made part 7 was lost (killed by SIGKILL); it is tried again"]
    assert sum(amounts) == 80


@pytest.mark.parametrize(("fate", "how"), [("killed", "killed by SIGKILL"), ("exits", "it ended with status 3")])
def test_a_part_that_ends_its_process_twice_is_named(tmp_path: Path, fate: str, how: str) -> None:
    results = []
    with pytest.raises(BpeError, match=f"the process that made part 3 was lost 2 times: {how}") as caught:
        results.extend(Local(2).run(work_in(tmp_path), [*PARTS[:3], Part(3, fate)]))
    assert sorted(results) == [(0, True), (1, True), (4, True)]
    assert "memory" in (caught.value.hint or "")


def test_what_is_given_up_with_it_is_named(tmp_path: Path) -> None:
    with pytest.raises(BpeError, match=r"part 1 was lost 2 times.*; given up with it: part 0"):
        list(Local(2).run(work_in(tmp_path), [Part(0, "sleeps"), Part(1, "killed")]))
    assert not list(tmp_path.glob("*.woke"))


def test_workers_that_never_begin_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(BpeError, match="worker processes end before they start: killed by SIGKILL") as caught:
        list(Local(2).run(work_in(tmp_path, beginning="killed"), PARTS))
    assert "__main__" in (caught.value.hint or "")
    with pytest.raises(InputError, match="there is no tokenizer"):
        list(Local(2).run(work_in(tmp_path, beginning="raises"), PARTS))


def test_errors_come_as_they_were_raised(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a broken line") as foreseen:
        list(Local(2).run(work_in(tmp_path), [*PARTS, Part(7, "raises")]))
    assert (foreseen.value.hint, getattr(foreseen.value, "__notes__", [])) == ("mend it", [])
    with pytest.raises(MemoryError, match="no room") as python:
        list(Local(2).run(work_in(tmp_path), [*PARTS, Part(7, "raises of Python")]))
    assert "in a worker process:" in python.value.__notes__[0]
    with pytest.raises(RuntimeError, match="Strange: 1 and 2"):
        list(Local(2).run(work_in(tmp_path), [*PARTS, Part(7, "raises strangely")]))


def prepared(folder: str, processes: int | None) -> str:
    """Prepare several parts in this process; return what becomes of it."""
    import bpe_cli

    Path(folder).mkdir()
    for name in "ab":
        Path(folder, f"{name}.txt").write_text("one two\n" * 10)
    try:
        done = bpe_cli.prepare("gpt2", f"{folder}/*.txt", f"{folder}/set", processes=processes, part_bytes=50)
    except UsageError as error:
        return f"{error.message}; {error.hint}"
    return str(done.tokens)


def test_a_daemonic_process_does_parts_itself(tmp_path: Path) -> None:
    """It was an AssertionError of multiprocessing's: such a process may start no others."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = [
            pool.apply(prepared, (str(tmp_path / str(number)), processes))
            for number, processes in enumerate((None, 1, 3))
        ]
    assert found[:2] == ["60", "60"]
    assert found[2].startswith(
        "3 processes are asked for in a daemonic process, such as a worker of a multiprocessing.Pool"
    )
    assert "processes=1" in found[2]
    assert "ProcessPoolExecutor" in found[2]


def is_there(process: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().split(")")[1].split()[0] != "Z"
    return False


def test_an_iterator_that_is_closed_ends_its_processes(tmp_path: Path) -> None:
    results = Local(2).run(work_in(tmp_path), [*PARTS, Part(7, "sleeps")])
    next(results)
    workers = children_of(os.getpid())
    assert workers
    results.close()  # type: ignore[attr-defined]
    assert not any(map(is_there, workers))


def children_of(process: int) -> list[int]:
    """Return the worker processes of a process."""
    numbers = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [int(each) for each in numbers if b"spawn_main" in Path(f"/proc/{each}/cmdline").read_bytes()]


SCRIPT = """
import sys
from bpe_cli.engines.local import Local
from tests.killing import wait_for
from tests.parts import Part, work_in

if __name__ == "__main__":
    print(list(Local(2).run(work_in(sys.argv[1]), [Part(0, "sleeps"), Part(1, "sleeps")])))
"""


@pytest.mark.parametrize("number", signals("SIGKILL", "SIGTERM", "SIGINT"))
def test_workers_end_with_their_parent(tmp_path: Path, number: int, repository: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    environment = os.environ | {"PYTHONPATH": str(repository)}
    parent = subprocess.Popen([sys.executable, script, tmp_path], env=environment, stderr=subprocess.PIPE)
    assert wait_for(lambda: len(list(tmp_path.glob("*.begun"))) == 2)
    workers = children_of(parent.pid)
    assert len(workers) == 2
    parent.send_signal(number)
    _, err = parent.communicate(timeout=30)
    assert wait_for(lambda: not any(map(is_there, workers)))
    assert (b"Traceback" in err, b"resource_tracker" in err) == (number == signal.SIGINT, False)


@pytest.mark.parametrize("size", [0, 1 << 20])
def test_a_script_without_a_guard_is_explained(tmp_path: Path, repository: Path, size: int) -> None:
    """What all parts have in common may be more than a pipe holds: a tokenizer. Then it waited for ever."""
    script = tmp_path / "script.py"
    text = SCRIPT.replace('if __name__ == "__main__":', "if True:")
    script.write_text(text.replace("sys.argv[1])", f"sys.argv[1], ballast=bytes({size}))"))
    environment = os.environ | {"PYTHONPATH": str(repository)}
    done = subprocess.run(
        [sys.executable, script, tmp_path], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert "worker processes end before they start" in done.stderr
