"""A file is there whole or not at all."""

from __future__ import annotations

import errno
import gc
import hashlib
import io
import os
import re
import signal
import stat
import subprocess
import sys
import threading

import pytest

from bpe_cli.errors import OutputError
from bpe_cli.sinks import atomic, draft
from bpe_cli.sinks.atomic import (
    HashedOutput,
    check_writable,
    made_folder,
    open_output,
    open_stdout,
    write_file,
    write_together,
)
from tests.cli_runner import signals


@pytest.fixture(params=["nameless", "part"])
def way(request, monkeypatch):
    """Both ways to draft a file; the second is that of systems without O_TMPFILE."""
    if request.param == "part":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    return request.param


def message_of(path, function=check_writable):
    with pytest.raises(OutputError) as caught:
        function(str(path))
    return caught.value.message


def test_a_file_appears_at_the_end(way, tmp_path):
    path = tmp_path / "out"
    with open_output(str(path)) as output:
        output.write(b"one ")
        output.flush()
        assert not path.exists()
        names = os.listdir(tmp_path)
        assert names == ([] if way == "nameless" else [f".out.{draft._host()}-{os.getpid()}.part"])
        output.write(b"two")
    assert path.read_bytes() == b"one two"
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_an_exception_leaves_the_folder_as_it_was(way, tmp_path, error):
    path = tmp_path / "out"
    path.write_bytes(b"old")
    with pytest.raises(error), open_output(str(path)) as output:  # noqa: PT012
        output.write(b"new" * 1_000_000)
        raise error
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["out"]


def test_modes_are_kept_and_the_umask_is_honoured(way, tmp_path):
    old = os.umask(0o027)
    try:
        write_file(str(tmp_path / "new"), b"x")
        assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
        (tmp_path / "new").chmod(0o755)
        write_file(str(tmp_path / "new"), b"y")
        assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o755
    finally:
        os.umask(old)


def test_links_are_followed(way, tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    write_file(str(tmp_path / "link"), b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_names_may_be_long_and_strange(way, tmp_path):
    for name in ("x" * 255, "é" * 127, "-", " ", "a\nb"):
        write_file(str(tmp_path / name), b"x")
    assert len(os.listdir(tmp_path)) == 5


def test_two_drafts_of_one_file_do_not_meet(way, tmp_path):
    path = str(tmp_path / "out")
    with open_output(path) as first:
        first.write(b"first")
        write_file(path, b"second")
    assert (tmp_path / "out").read_bytes() == b"first"
    assert os.listdir(tmp_path) == ["out"]


def test_a_file_that_cannot_be_linked_is_copied(tmp_path, monkeypatch):
    def refuse(*args, **options):
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", refuse)
    path = tmp_path / "out"
    path.write_bytes(b"old")
    path.chmod(0o600)
    write_file(str(path), b"new" * 1_000_000)
    assert path.read_bytes() == b"new" * 1_000_000
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["out"]


WRITER = """
import sys
if {part}:
    import os
    del os.O_TMPFILE
from bpe_cli.sinks.atomic import open_output
with open_output(sys.argv[1]) as output:
    output.write(b"new" * 1_000_000)
    output.flush()
    print("written", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("number", signals("SIGKILL", "SIGTERM", "SIGINT"))
@pytest.mark.parametrize("part", [False, True])
def test_a_killed_writer_leaves_the_old_file(tmp_path, repository, number, part):
    path = tmp_path / "out"
    path.write_bytes(b"old")
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER.format(part=part), path],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=repository,
    )  # fmt: skip
    with process:
        assert process.stdout.readline() == b"written\n"
        process.send_signal(number)
        process.wait(20)
    assert path.read_bytes() == b"old"
    if not part or number == signal.SIGINT:  # elsewhere a killed process cannot remove its part
        assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
def test_a_full_disk_is_named_and_leaves_nothing(way, tmp_path, monkeypatch, call):
    def full(*args, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "out"
    if call == "write":
        monkeypatch.setattr(draft.io, "BufferedRandom", lambda raw, size: _Full(raw))
    else:
        monkeypatch.setattr(os, call, full)
    assert message_of(path, lambda name: write_file(name, b"x" * 10_000_000)) == (
        f"cannot write {path}: no space left on device"
    )
    assert os.listdir(tmp_path) == []


class _Full(io.BufferedRandom):
    def write(self, data):
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_device_is_named():
    assert message_of("/dev/full", lambda name: write_file(name, b"x")) == (
        "cannot write /dev/full: no space left on device"
    )
    with (
        open("/dev/full", "wb", buffering=0) as full,
        pytest.raises(OutputError, match="cannot write stdout: no space"),
        open_stdout(full) as output,
    ):
        output.write(b"x" * 10)


def test_devices_and_pipes_are_written_to_directly(tmp_path):
    check_writable("/dev/null")
    write_file("/dev/null", b"x")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    check_writable(str(pipe))
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_file(str(pipe), b"through")
    reader.join()
    assert read == [b"through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_dev_stdout_adds_to_what_the_shell_opened(tmp_path, repository):
    code = (
        "from bpe_cli.sinks.atomic import write_file, check_writable as c\nc('/dev/stdout'); write_file({!r}, b'new')"
    )
    for place in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
        path = tmp_path / "out"
        path.write_bytes(b"old ")
        with path.open("ab") as file:
            subprocess.run([sys.executable, "-c", code.format(place)], stdout=file, check=True, cwd=repository)
        assert path.read_bytes() == b"old new"


def test_check_writable_names_what_is_wrong_and_leaves_no_trace(way, tmp_path, monkeypatch):
    check_writable(str(tmp_path / "out"))
    assert os.listdir(tmp_path) == []
    assert message_of(tmp_path) == f"cannot write {tmp_path}: it is a folder"
    assert message_of(tmp_path / "no" / "out") == f"cannot write {tmp_path}/no/out: no such folder {tmp_path}/no"
    (tmp_path / "file").write_bytes(b"")
    assert message_of(tmp_path / "file" / "out") == f"cannot write {tmp_path}/file/out: no such folder {tmp_path}/file"
    assert "cannot write 'a\\x00b': " in message_of("a\0b")
    assert message_of(tmp_path / ("x" * 300)).endswith(": file name too long")
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write everything
    assert message_of(tmp_path / "file") == f"cannot write {tmp_path}/file: permission denied"


@pytest.mark.parametrize(
    ("number", "end"), [(errno.EACCES, "may not be written to"), (errno.EROFS, "is on a read-only disk")]
)
def test_a_read_only_folder_is_named(tmp_path, monkeypatch, number, end):
    def refuse(*args, **options):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "open", refuse)
    assert message_of(tmp_path / "out") == f"cannot write {tmp_path}/out: the folder {tmp_path} {end}"


def test_stdout_is_flushed_and_left_open():
    stdout = io.BytesIO()
    with open_stdout(stdout) as output:
        output.write(b"x")
        assert output.rewritable
    assert stdout.getvalue() == b"x"


def test_a_raw_stdout_is_left_open():
    read, write = os.pipe()
    with os.fdopen(read, "rb") as pipe:
        with os.fdopen(write, "wb", buffering=0) as raw:
            with open_stdout(raw) as output:
                output.write(b"one ")
            del output
            gc.collect(1)  # of what is new; to look through all that other tests have left takes seconds
            raw.write(b"two")
        assert pipe.read() == b"one two"


@pytest.mark.parametrize("folder", ["/dev/fd", "/proc/self/fd"])
def test_a_number_stands_for_an_open_file(folder, tmp_path):
    (tmp_path / "out").write_bytes(b"old ")
    with (tmp_path / "out").open("ab") as file:
        check_writable(f"{folder}/{file.fileno()}")
        write_file(f"{folder}/{file.fileno():09}", b"new")
        write_file(f"{tmp_path}/{file.fileno()}", b"a file of that name")
    assert (tmp_path / "out").read_bytes() == b"old new"
    for number in ("0" * 9 + "1", "7" * 400, "\u0661"):  # too many digits, twice; a digit outside ASCII
        with pytest.raises(OutputError, match="cannot write"):
            write_file(f"{folder}/{number}", b"new")


def test_a_raw_stdout_gets_everything():
    """Under ``python -u`` stdout is raw, and a raw write may write a part only."""
    read, write = os.pipe()
    received = []

    def drain():
        with os.fdopen(read, "rb") as pipe:
            received.append(pipe.read())

    reader = threading.Thread(target=drain)
    reader.start()
    with os.fdopen(write, "wb", buffering=0) as raw, open_stdout(raw) as output:
        output.write(b"x" * 5_000_000)
        assert not output.rewritable
    reader.join()
    assert len(received[0]) == 5_000_000


def test_a_reader_that_went_away_is_a_broken_pipe():
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb", buffering=0) as raw, pytest.raises(BrokenPipeError), open_stdout(raw) as output:
        output.write(b"x" * 5_000_000)


def test_the_start_of_a_plain_file_can_be_rewritten(tmp_path):
    with open_output(str(tmp_path / "out")) as output:
        output.write(b"????" + b"x" * 3_000_000)
        output.rewrite_start(b"head")
        output.write(b"end")
    data = (tmp_path / "out").read_bytes()
    assert (data[:5], data[-4:], len(data)) == (b"headx", b"xend", 3_000_007)
    with open(tmp_path / "out", "ab") as appending, open_stdout(appending) as output:
        assert not output.rewritable
        with pytest.raises(OutputError, match=re.escape("cannot be rewritten")):
            output.rewrite_start(b"x")


def test_a_file_is_hashed_while_it_is_written_or_once_its_start_is_known(tmp_path):
    for starts_late in (False, True):
        with open(tmp_path / "out", "w+b") as stream:
            output = HashedOutput(stream, "out", str(tmp_path / "out"))
            (output.reserve_start if starts_late else output.write)(b"0000")
            output.write(memoryview(b"abc" * 100_000))
            if starts_late:
                output.rewrite_start(b"1234")
            described = output.size_and_hash()
            output.write(b"more")  # the place is still the end
            output.flush()
        data = (tmp_path / "out").read_bytes()
        assert described == (300_004, hashlib.sha256(data[:-4]).hexdigest())
        assert data == (b"1234" if starts_late else b"0000") + b"abc" * 100_000 + b"more"


def test_dev_stderr_is_stderr(capfd):
    write_file("/dev/stderr", b"to stderr")
    write_file("/dev/stdout", b"to stdout")
    assert capfd.readouterr() == ("to stdout", "to stderr")


def test_a_folder_is_kept_unless_the_work_in_it_fails(tmp_path):
    deep = tmp_path / "a" / "b"
    with pytest.raises(ZeroDivisionError), made_folder(str(deep)):
        raise ZeroDivisionError
    assert not (tmp_path / "a").exists()
    with made_folder(str(deep), kept=False):
        assert deep.is_dir()
    assert not (tmp_path / "a").exists()
    with made_folder(str(deep)):
        pass
    assert deep.is_dir()
    with pytest.raises(ZeroDivisionError), made_folder(str(deep / "c")):
        raise ZeroDivisionError
    assert [*deep.iterdir()] == [], "what was there before stays"


def test_a_folder_that_is_made_is_synced_into_those_above(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(atomic, "sync_folder", synced.append)
    with made_folder(str(tmp_path / "a" / "b")):
        assert sorted(synced) == [str(tmp_path), str(tmp_path / "a")]
    with made_folder(str(tmp_path / "a" / "b")), made_folder(str(tmp_path / "c"), kept=False):
        pass
    assert len(synced) == 2


def test_what_others_belong_to_is_taken_away_before_they_change(tmp_path, monkeypatch):
    """Whoever is killed in between leaves a set without its last file, never one of two runs."""
    paths = [str(tmp_path / name) for name in ("model", "codes", "index")]
    write_together(dict.fromkeys(paths, b"old"))
    there, publish = [], draft.Draft.publish

    def watched(each: draft.Draft) -> None:
        there.append(sorted(os.path.basename(path) for path in paths if os.path.exists(path)))
        publish(each)

    monkeypatch.setattr(draft.Draft, "publish", watched)
    write_together(dict.fromkeys(paths, b"new"))
    assert there == [["codes", "model"]] * 3
    assert {path.read_bytes() for path in tmp_path.iterdir()} == {b"new"}
