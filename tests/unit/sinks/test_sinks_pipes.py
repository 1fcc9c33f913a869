"""Pipes among the files that belong together: written to as they are, once, and never replaced."""

from __future__ import annotations

import os
import stat

import pytest

from bpe_cli.errors import OutputError
from bpe_cli.sinks import atomic
from bpe_cli.sinks.atomic import open_described, write_together
from bpe_cli.sinks.draft import Draft


def test_a_pipe_among_files_written_together_is_written_to_and_stays(tmp_path):
    """So does a device, such as /dev/null, which no test should put at risk."""
    pipe, file = tmp_path / "pipe", tmp_path / "file"
    os.mkfifo(pipe)
    (tmp_path / "link").symlink_to("pipe")
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_together({str(pipe): b"map", str(file): b"model"})
        assert (os.read(reader, 99), file.read_bytes()) == (b"map", b"model")
        write_together({str(file): b"map", str(pipe): b"model"})
        assert (os.read(reader, 99), file.read_bytes()) == (b"model", b"map")
        write_together({str(pipe): b"map ", str(tmp_path / "link"): b"model"})
        assert os.read(reader, 99) == b"map model"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    with pytest.raises(OutputError, match="it is not a regular file"):
        Draft(str(pipe))
    assert sorted(os.listdir(tmp_path)) == ["file", "link", "pipe"]


def test_a_pipe_with_a_description_is_opened_once(tmp_path, monkeypatch):
    """Its reader takes the closing for the end, and then nobody is left to read."""
    opened = []

    def watched(path, *settings):
        opened.append(path)
        return open(path, *settings)

    monkeypatch.setattr(atomic, "open", watched, raising=False)
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with open_described(pipe, f"{pipe}.json") as (output, beside):
        output.write(b"ids")
    assert (os.read(reader, 99), beside, opened) == (b"ids", None, [pipe])
    os.close(reader)
    assert os.listdir(tmp_path) == ["pipe"]
