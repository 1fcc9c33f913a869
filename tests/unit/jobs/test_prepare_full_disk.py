"""A full disk is one error: nothing else is said when what was begun goes away."""

from __future__ import annotations

import gc
import sys
import tempfile
from array import array
from pathlib import Path
from typing import Any

import pytest

from bpe_cli.corpus import Source
from bpe_cli.errors import OutputError
from bpe_cli.jobs.prepare import PrepareOptions, prepare
from bpe_cli.jobs.prepare.scratch import BucketWriter, Item
from bpe_cli.sinks.atomic import open_output
from bpe_cli.sinks.beside import Strip
from tests.full_disk import on_a_full_disk


@pytest.fixture
def unraisable(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Let temporary files have no room, and collect what nobody catches."""
    said: list[object] = []
    monkeypatch.setattr(tempfile, "TemporaryFile", on_a_full_disk)
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    return said


def refused(function: Any, *args: Any, **named: Any) -> str:
    """Call what fails, forget all that it has held, and return the message."""
    with pytest.raises(OutputError) as caught:
        function(*args, **named)
    message = caught.value.message
    del caught
    gc.collect()
    return message


def test_samples_of_mds(tmp_path: Path, unraisable: list[object]) -> None:
    (tmp_path / "in.txt").write_text("some text\n" * 100)
    source, folder = Source((str(tmp_path / "in.txt"),), documents="lines"), tmp_path / "out"
    message = refused(prepare, source, "gpt2", PrepareOptions(to="mds"), folder=folder, processes=1)
    assert message == f"cannot write {folder}/part-00000.mds: no space left on device"
    assert not unraisable
    assert not folder.exists()


def test_buckets_of_a_shuffle(tmp_path: Path, unraisable: list[object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bpe_cli.jobs.prepare.scratch.RUN_BYTES", 1)
    path = str(tmp_path / "part.items")

    def write() -> None:
        with open_output(path) as output:
            BucketWriter(output, 1).add(Item(0, 0, 0, 0, Strip(array("I", [1, 2, 3]))))

    assert refused(write) == f"cannot write {path}: no space left on device"
    assert not unraisable
    assert not [*tmp_path.iterdir()]
