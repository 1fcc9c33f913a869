"""``kill -9`` and signals at some moments of ``bpe prepare``: ``python -m tests.killing`` tries many more."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli_runner import signals
from tests.killing import VICTIMS, Job, begin, command, contents, is_there, wait_for, workers_of
from tests.needs import skip
from tests.thorough import more


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    return Job(tmp_path_factory.mktemp("killing"), megabytes=4)


@pytest.mark.parametrize(("nameless", "moments"), [(True, (0.3,)), (False, (0.7,))])
@pytest.mark.parametrize("victim", VICTIMS)
def test_what_is_killed_goes_on_to_the_same_bytes(
    job: Job, victim: str, nameless: bool, moments: tuple[float, ...]
) -> None:
    for moment in more(moments, (0.3, 0.7)):
        assert job.fault(victim, 2, moment, nameless=nameless)[1] is None


SIGNALS = [*zip(signals("SIGINT", "SIGTERM", "SIGHUP"), (130, -15, -1), (b"interrupted\n", b"", b""), strict=False)]


@pytest.mark.parametrize(
    ("number", "status", "message", "nameless"),
    [*((*each, False) for each in SIGNALS), *((*each, True) for each in more(SIGNALS[:1], SIGNALS))],
)
def test_signals_end_all_processes_and_leave_no_draft(
    job: Job, number: int, status: int, message: bytes, nameless: bool, tmp_path: Path
) -> None:
    """Drafts without a name are gone with their process, whichever signal ended it."""
    out = job.folder / f"signal-{number}-{nameless}"
    run = begin(job.folder, command(job.folder, "megatron", 2, out.name), nameless=nameless)
    assert wait_for(lambda: list(out.glob("part-*.json")))
    workers = workers_of(run.pid)
    os.killpg(run.pid, number)  # as a terminal does, and Slurm
    _, err = run.communicate(timeout=60)
    assert (run.returncode, err) in ((status, message), (0, b""))
    assert not any(map(is_there, workers))
    assert [name for name in contents(out) if name.startswith(".")] == []


def test_a_full_disk_keeps_what_is_done(job: Job) -> None:
    """And so it is with each disk that is larger, until there is room for all."""
    disk = job.folder / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        skip("needs the right to mount a small disk")
    try:
        kept = []
        for number, size in enumerate(("200k", "900k", "2m", "3m", "64m")):
            subprocess.run(["mount", "-o", f"remount,size={size}", str(disk)], check=True)
            run = begin(job.folder, command(job.folder, "megatron", 1 + number % 2, "disk/out"), nameless=number != 2)
            _, err = run.communicate(timeout=60)
            there = contents(disk / "out") if (disk / "out").exists() else {}
            kept.append(sum(name.startswith("part-") and name.endswith(".json") for name in there))
            assert all(job.whole[name] == data for name, data in there.items())  # no drafts among them
            if run.returncode == 0:
                break
            assert (run.returncode, b"no space left on device" in err) == (2, True), err
        # How many parts fit beside the drafts of the others depends on who is faster; none is ever lost.
        assert (there, kept[0], kept == sorted(kept)) == (job.whole, 0, True), kept
        assert len(set(kept)) > 2, kept
    finally:
        subprocess.run(["umount", str(disk)], check=True)
