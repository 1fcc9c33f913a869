"""Reading as a whole: order, notes, hashes, progress, one file at a time."""

from __future__ import annotations

import builtins
import gzip
import hashlib
import io
import os
import threading

import pytest

from bpe_cli.corpus import Source, read_blocks
from bpe_cli.errors import InputError, UsageError
from tests.needs import only_where


def read(*paths, stdin=b"", **options):
    keys = ("on_skip", "on_note", "on_bytes", "hashes", "inputs")
    calls = {key: options.pop(key) for key in keys if key in options}
    blocks = read_blocks(Source(tuple(map(str, paths)), **options), stdin=io.BytesIO(stdin), **calls)
    return [bytes(document) for block in blocks for document in block.documents()]


@pytest.fixture
def files(tmp_path):
    paths = [tmp_path / name for name in ("a", "b", "c.gz")]
    for path, data in zip(paths, (b"one\n", b"", gzip.compress(b"three")), strict=True):
        path.write_bytes(data)
    return paths


def test_inputs_come_in_the_order_given_and_twice_if_named_twice(files):
    a, b, c = files
    assert read(c, a, "-", b, a, stdin=b"in") == [b"three", b"one\n", b"in", b"", b"one\n"]
    assert read(c, a, b, documents="lines") == [b"three", b"one"]


def test_bytes_on_disk_are_counted_and_hashed(files):
    counted, hashes = [], []
    read(*files, on_bytes=counted.append, hashes=hashes)
    assert sum(counted) == sum(path.stat().st_size for path in files)
    assert hashes == [(str(path), hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_size) for path in files]


def test_a_text_is_one_input():
    hashes = []
    blocks = list(read_blocks(Source(text="é\n"), stdin=io.BytesIO(b"unread"), hashes=hashes))
    assert [bytes(block.data) for block in blocks] == ["é\n".encode()]
    assert hashes[0][0] == "--text"
    with pytest.raises(UsageError):
        Source(("a",), text="b")


def test_named_binary_files_are_taken_as_they_are_with_one_note(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"ab\0c\0")
    notes = []
    assert read(path, path, on_note=notes.append) == [b"ab\0c\0"] * 2
    assert notes == [f"{path} looks binary (NUL at byte 2); its bytes are taken as they are"]
    path.write_bytes(b"x" * 8192 + b"\0")
    read(path, on_note=notes.append)
    assert len(notes) == 1


def test_pipes_are_read(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(b"through"))
    writer.start()
    assert read(pipe) == [b"through"]
    writer.join()


def test_short_reads_of_a_pipe_change_nothing():
    class Dripping(io.BytesIO):
        def read1(self, size=-1):
            return super().read1(1)

    blocks = list(read_blocks(Source(), stdin=Dripping(gzip.compress(b"slowly"))))
    assert b"".join(bytes(block.data) for block in blocks) == b"slowly"


def test_files_are_opened_one_at_a_time_and_closed(tmp_path, monkeypatch):
    opened = []
    real = builtins.open

    def watch(*args, **options):
        assert all(file.closed for file in opened)
        opened.append(real(*args, **options))
        return opened[-1]

    for number in range(5):
        (tmp_path / str(number)).write_bytes(b"x")
    monkeypatch.setattr(builtins, "open", watch)
    blocks = read_blocks(Source((str(tmp_path),), block_bytes=1), stdin=io.BytesIO())
    next(blocks)
    blocks.close()
    assert opened
    assert all(file.closed for file in opened)


def test_a_failing_read_names_the_input(tmp_path):
    class Broken(io.BytesIO):
        def read1(self, size=-1):
            raise OSError(5, "Input/output error")

    with pytest.raises(InputError, match="cannot read stdin: input/output error"):
        list(read_blocks(Source(), stdin=Broken()))
    path = tmp_path / "gone"
    path.write_bytes(b"x")
    blocks = read_blocks(Source((str(path),)), stdin=io.BytesIO())
    path.unlink()
    with pytest.raises(InputError, match="no such file"):
        next(blocks)


def test_a_stdin_that_does_not_wait_is_refused():
    class Empty(io.BytesIO):
        def read1(self, size=-1):
            return None

    with pytest.raises(InputError, match="does not wait"):
        list(read_blocks(Source(), stdin=Empty()))


def test_no_more_is_read_of_a_file_than_was_there(tmp_path):
    """Twice: of one that grows with each read, by name and as stdin, and of one that has no size to be told."""
    path = tmp_path / "f"
    path.write_bytes(b"a" * 3_000_000)

    def grow(_: int) -> None:
        with path.open("ab") as file:
            file.write(b"b" * 2_000_000)

    notes = []
    blocks = read_blocks(Source((str(path),)), stdin=io.BytesIO(), on_bytes=grow, on_note=notes.append)
    assert b"".join(bytes(block.data) for block in blocks) == b"a" * 3_000_000
    assert notes == [f"{path} has grown; what came after its first 3,000,000 bytes is not read"]
    path.write_bytes(b"a" * 3_000_000)
    with path.open("rb") as stdin:
        stdin.read(5)
        blocks = read_blocks(Source(), stdin=stdin, on_bytes=grow)
        assert b"".join(bytes(block.data) for block in blocks) == b"a" * 2_999_995


@only_where(os.path.exists("/proc/self/status"), "needs /proc, whose files say that they are empty")
def test_files_that_say_they_are_empty_are_read():
    assert os.stat("/proc/self/status").st_size == 0
    blocks = read_blocks(Source(("/proc/self/status",)), stdin=io.BytesIO())
    assert b"".join(bytes(block.data) for block in blocks).startswith(b"Name:")
