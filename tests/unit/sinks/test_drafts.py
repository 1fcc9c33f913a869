"""Drafts that have a name, where the system has no nameless files: those of the dead go, those of the living stay."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import bpe_cli.corpus
from bpe_cli.corpus import Source, read_blocks
from bpe_cli.jobs.prepare import PrepareOptions, prepare
from bpe_cli.sinks import draft
from tests.needs import skip


def test_drafts_of_the_dead_are_removed(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    unasked = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, unasked.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and nobody has asked how
    here = draft._host()
    ours = f".a.bin.{here}-{os.getpid()}.part"  # of an earlier process that had this number
    gone = {
        ours,
        f".x.{here}-{unasked.pid}.part",
        f".part-0.json.{here}-{dead.pid}.part",
        f".x.{here}-{dead.pid}.7.part",
        ".x.elsewhere-1.part",
    }
    kept = {f".x.{here}-1.part", ".x.other-1.part", ".x.part", "x.part", f"x.{here}-{dead.pid}.part", ".hidden"}
    for name in gone | kept:
        (tmp_path / name).touch()
    os.utime(tmp_path / ".x.elsewhere-1.part", (0, 0))
    with draft.Draft(str(tmp_path / "new")) as new:
        new.prepare()
        under_way = os.path.basename(new._part)
        draft.remove_leftovers(str(tmp_path))
        assert {path.name for path in tmp_path.iterdir()} == kept | {under_way}
    draft.remove_leftovers(str(tmp_path / "nowhere"))
    unasked.wait()


class _Node:
    def __init__(self, name):
        self.nodename = name


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("queue1-dy-queue1-c5xlarge-10", "queue1-dy-queue1-c5xlarge-11"),
        ("tokenize-shards-worker-0-x8f2k", "tokenize-shards-worker-1-p9zzq"),
        ("", "a" * 64),
    ],
)
def test_drafts_of_another_machine_stay_whatever_it_is_called(ours, theirs, tmp_path, monkeypatch):
    """The names of a cluster differ at their ends; on a network's disk drafts have names."""
    monkeypatch.setattr(draft.Draft, "_open_nameless", lambda _: None)
    monkeypatch.setattr(os, "uname", lambda: _Node(ours))
    longest = tmp_path / ("x" * 200)
    with draft.Draft(str(longest)) as new:
        new.stream.write(b"work")
        monkeypatch.setattr(os, "uname", lambda: _Node(theirs))
        monkeypatch.setattr(draft.UNFINISHED, "paths", set())
        monkeypatch.setattr(draft, "_lives", lambda *_: False)  # here nobody has its number
        draft.remove_leftovers(str(tmp_path))
        new.prepare()
        new.publish()
    assert longest.read_bytes() == b"work"


def test_drafts_of_another_container_stay(tmp_path, monkeypatch):
    """It may have the same name, and its processes have other numbers there than here."""
    stat, name = os.stat, f".x.{draft._host()}-1.part"
    (tmp_path / name).touch()
    monkeypatch.setattr(draft, "_lives", lambda *_: False)
    elsewhere = {"/proc/self/ns/pid": tmp_path}
    monkeypatch.setattr(os, "stat", lambda path, **more: stat(elsewhere.get(path, path), **more))
    draft.remove_leftovers(str(tmp_path))
    assert os.listdir(tmp_path) == [name]


def test_drafts_of_the_living_stay_however_old_they_are(tmp_path, monkeypatch):
    """A file that is written at the end of a part does not change until then."""
    monkeypatch.setattr(draft, "_LONG_AGO", -1.0)
    name = f".x.{draft._host()}-{os.getppid()}.part"
    for each in (name, ".x.elsewhere-1.part"):
        (tmp_path / each).touch()
    draft.remove_leftovers(str(tmp_path))
    assert os.listdir(tmp_path) == [name]


def test_another_process_may_have_the_number_by_now(tmp_path):
    if not os.path.exists("/proc/self/stat"):
        skip("only Linux says when a process began")
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        names = [f".{name}.{draft._host()}-{process.pid}.part" for name in ("old", "new")]
        for name in names:
            (tmp_path / name).touch()
        then = (tmp_path / names[0]).stat().st_mtime - 2 * draft._CLOCKS_DIFFER
        os.utime(tmp_path / names[0], (then, then))
        draft.remove_leftovers(str(tmp_path))
        assert os.listdir(tmp_path) == names[1:]
        process.communicate(b"\n")


@pytest.mark.parametrize("last", [float("-inf"), float("inf")])
def test_drafts_under_way_are_touched(last, tmp_path, monkeypatch):
    """All files of a part, with each block of its inputs: some are written when the last was read."""
    monkeypatch.setattr(draft.Draft, "_open_nameless", lambda _: None)
    monkeypatch.setattr(draft, "_touched", last)  # long ago, or just now
    (tmp_path / "in.txt").write_text("one\ntwo\n")
    seen = []

    def aged(*args, **options):
        for block in read_blocks(*args, **options):
            drafts = list((tmp_path / "out").glob(".part-00000.*.part"))
            for each in drafts:
                os.utime(each, (0, 0))
            yield block
            seen.append([each.stat().st_mtime > 0 for each in drafts])

    monkeypatch.setattr(bpe_cli.corpus, "read_blocks", aged)
    source = Source((str(tmp_path / "in.txt"),), documents="lines")
    prepare(source, "gpt2", PrepareOptions(to="megatron"), folder=tmp_path / "out", processes=1)
    (touched,) = seen  # what is written to has changed anyway
    assert (len(touched), all(touched)) == (2, last < 0)
