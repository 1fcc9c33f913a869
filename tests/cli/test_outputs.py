"""Output that cannot be written, readers that go away, and runs that are stopped: nothing half-done is left."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import contextmanager

import pytest

from tests.cli_runner import as_a_user, call, error, run, signals, start
from tests.needs import NO_LIMITS, only_where, posix, skip

GPT2 = ("-t", "gpt2")
FULL = error("cannot write stdout: no space left on device")
# More than any buffer and pipe between here and there holds.
BIG = b"all work and no play makes a dull line\n" * 20_000

pytestmark = only_where(os.path.exists("/dev/full"), "needs Linux, for /dev/full")


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


# -- where nothing can be written ------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ("encode", "-T", "hi", *GPT2),
        ("decode", *GPT2, "ids"),
        ("train", "-T", "hi", "-s", "256"),
        ("train", "-T", "hi hi", "-s", "257", "--steps"),
        ("inspect", "-T", "hi", *GPT2),
        ("inspect", "-T", "hi", *GPT2, "--json"),
        ("compare", "-T", "hi", *GPT2),
        ("--help",),
        ("--version",),
    ],
    ids=" ".join,
)
def test_a_full_disk_behind_stdout(tmp_path, arguments):
    (tmp_path / "ids").write_bytes(b"1 2 3\n")
    with open("/dev/full", "wb") as full:
        result = run(*arguments, cwd=tmp_path, stdout=full)
    assert (result.status, result.err.removeprefix("2 pieces, 1 different -> ")) == (2, FULL)


@pytest.mark.parametrize(
    "arguments",
    [
        ("encode", "-T", "hi", *GPT2, "-o"),
        ("decode", "ids", *GPT2, "-o"),
        ("train", "-T", "hi", "-s", "256", "-o"),
        ("train", "-T", "hi", "--counts-out"),
        ("convert", "gpt2", "-f", "tiktoken", "-o"),
    ],
    ids=" ".join,
)
def test_output_that_cannot_be(tmp_path, arguments):
    (tmp_path / "ids").write_bytes(b"1 2 3\n")
    (tmp_path / "folder").mkdir()
    for target, message in {
        "/dev/full": "cannot write /dev/full: no space left on device",
        "folder": "cannot write folder: it is a folder",
        "no/x": f"cannot write no/x: no such folder {tmp_path}/no",
        "ids/x": f"cannot write ids/x: no such folder {tmp_path}/ids",
        "/proc/x": "cannot write /proc/x: no such file or directory",
        "": "cannot write to a file without a name",
        "x" * 300: f"cannot write {'x' * 300}: file name too long",
    }.items():
        is_data_set = (arguments[0], target) == ("encode", "folder")
        hint = "`bpe prepare` makes a data set in a folder" if is_data_set else None
        assert call(*arguments, target, cwd=tmp_path) == (2, b"", error(message, hint))
    assert names_in(tmp_path) == ["folder", "ids"]


def test_a_full_disk_counts_more_than_a_check(tmp_path):
    """What the check is about did not arrive."""
    for name in ("low", "new"):
        assert call("train", "-T", f"{name} {name}", "-s", "258", "-q", "-o", f"{name}.json", cwd=tmp_path).status == 0
    with open("/dev/full", "wb") as full:
        result = run("compare", "low.json", "new.json", "--ids", "--json", cwd=tmp_path, stdout=full)
    assert (result.status, result.err) == (2, FULL)


def test_the_sidecar_is_checked_before_the_work(tmp_path):
    (tmp_path / "x.json").mkdir()
    result = run("encode", "nosuch", "--to", "bin", "-o", "x", cwd=tmp_path)
    assert result == (2, b"", error("cannot write x.json: it is a folder"))
    assert names_in(tmp_path) == ["x.json"]


@pytest.mark.parametrize("place", ["/dev/stdout", "/dev/fd/1"])
def test_nothing_is_written_beside_what_is_not_a_file(tmp_path, place):
    """A user may write no other file into /dev, nor into /dev/fd, which is what bash makes of >(command)."""
    options = *GPT2, "-T", "hello world", "--to"
    told = f"1 document, 2 tokens -> {place}\n"
    result = run("encode", *options, "bin", "-o", place, cwd=tmp_path, **as_a_user())
    assert result == (0, call("encode", *options, "bin").out, told)
    assert call("encode", *options, "npy", "-o", "in.npy", cwd=tmp_path).status == 0
    with (tmp_path / "out").open("wb") as file:  # a pipe cannot take npy, whose header is completed at the end
        result = run("encode", *options, "npy", "-o", place, cwd=tmp_path, stdout=file, **as_a_user())
    assert result == (0, b"", told)
    assert (tmp_path / "out").read_bytes() == (tmp_path / "in.npy").read_bytes()
    assert names_in(tmp_path) == ["in.npy", "in.npy.json", "out"]


def test_a_pipe_takes_a_tokenizer_or_its_map_of_ids(tmp_path):
    """A pipe, or a device, is not a file that another file could replace."""
    assert call("train", "-T", "low lower", "-s", "258", "-q", "-o", "t.json", cwd=tmp_path).status == 0
    (tmp_path / "list").write_text("wide\n")
    add = ("convert", "t.json", "--add-tokens", "list", "-q")
    assert call(*add, "-o", "out.json", cwd=tmp_path) == (0, b"", "")
    tokenizer, table = ((tmp_path / name).read_bytes() for name in ("out.json", "out.json.ids.json"))
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    assert call(*add, "-o", "other.json", "--id-map", "pipe", cwd=tmp_path) == (0, b"", "")
    assert (os.read(reader, 1 << 16), (tmp_path / "other.json").read_bytes()) == (table, tokenizer)
    assert call(*add, "-o", "pipe", "-f", "tokenizer.json", "--id-map", "map", cwd=tmp_path) == (0, b"", "")
    assert (os.read(reader, 1 << 16), (tmp_path / "map").read_bytes()) == (tokenizer, table)
    os.close(reader)
    assert (tmp_path / "pipe").is_fifo()
    piped = run(*add, "-o", "/dev/stdout", "-f", "tokenizer.json", "--id-map", "map", cwd=tmp_path)
    assert piped == (0, tokenizer, "")


def test_a_folder_for_a_pair_that_cannot_be_made(tmp_path):
    (tmp_path / "x").touch()
    trained = ("-T", "low", "--pattern", "gpt2", "-s", "257", "-q", "-o", "t.json")
    assert call("train", *trained, cwd=tmp_path) == (0, b"", "")
    result = run("convert", "t.json", "-f", "vocab-merges", "-o", "x", cwd=tmp_path)
    assert result == (2, b"", error("cannot make the folder x: file exists"))


def test_a_folder_that_may_not_be_written_to(tmp_path):
    (tmp_path / "x").mkdir(mode=0o555)
    result = run("encode", "-T", "a", "-o", "x/y", cwd=tmp_path, **as_a_user())
    assert result == (2, b"", error(f"cannot write x/y: the folder {tmp_path}/x may not be written to"))


def test_a_file_that_grows_too_large(tmp_path):
    """A limit on the size of files stops the writing in its middle, as a full disk does."""
    resource = posix("resource", NO_LIMITS)
    (tmp_path / "out").write_bytes(b"old")
    limit = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))}
    for to in ("ids", "npy", "jsonl"):
        result = run("encode", *GPT2, "--to", to, "-o", "out", input=BIG, cwd=tmp_path, **limit)
        assert result == (2, b"", error("cannot write out: file too large"))
    result = run("convert", "gpt2", "-f", "tiktoken", "-o", "out", cwd=tmp_path, **limit)
    message = "what is written cannot be read back as a proof: file too large"
    assert result == (2, b"", error(message, "TMPDIR names a folder with room for temporary files"))
    assert names_in(tmp_path) == ["out"]
    assert (tmp_path / "out").read_bytes() == b"old"


def test_a_temporary_file_that_grows_too_large(tmp_path):
    """It is named, and nothing is said beside that."""
    resource = posix("resource", NO_LIMITS)
    (tmp_path / "tmp").mkdir()
    words = (bytes(97 + number // 26**place % 26 for place in range(5)) for number in range(100_000))
    (tmp_path / "in.txt").write_bytes(b"\n".join(words))
    limit = {
        "preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000)),
        "env": os.environ | {"TMPDIR": str(tmp_path / "tmp")},
    }
    trained = ("in.txt", "-s", "300", "--max-memory", "1", "-q", "-o", "t.json")
    counts = f"cannot write the counts to a temporary file in {tmp_path}/tmp: file too large"
    room = "set TMPDIR to a folder with more room, or raise --max-memory"
    assert run("train", *trained, cwd=tmp_path, **limit) == (2, b"", error(counts, room))
    prepared = ("in.txt", "--lines", *GPT2, "-q", "--to", "mds", "-o", "out")
    mds = "cannot write out/part-00000.mds: file too large"
    assert run("prepare", *prepared, cwd=tmp_path, **limit) == (2, b"", error(mds))
    assert names_in(tmp_path) == ["in.txt", "tmp"]
    assert not names_in(tmp_path / "tmp")


@contextmanager
def small_disk(folder):
    """Mount a disk of 64 kB; skip where that is not allowed."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode != 0:
        skip("needs the right to mount a small disk")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk(tmp_path):
    with small_disk(tmp_path / "disk"):
        result = run("encode", *GPT2, "-o", "disk/out", input=BIG, cwd=tmp_path)
        assert result == (2, b"", error("cannot write disk/out: no space left on device"))
        assert names_in(tmp_path / "disk") == []


def test_files_are_written_over_links_and_modes_are_kept(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "real").chmod(0o640)
    (tmp_path / "link").symlink_to("real")
    assert call("encode", "-T", "hi", *GPT2, "-q", "-o", "link", cwd=tmp_path) == (0, b"", "")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"5303\n"
    assert (tmp_path / "real").stat().st_mode & 0o777 == 0o640


# -- readers that go away --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ("encode", *GPT2, "--lines", "big"),
        ("encode", *GPT2, "--to", "jsonl", "big"),
        ("encode", *GPT2, "--to", "segmented", "big"),
        ("decode", *GPT2, "ids"),
        ("inspect", "-T", "hi", *GPT2, "--json"),
        ("compare", "-T", "hi", *GPT2),
        ("train", "-T", "hi", "-s", "256"),
        ("--help",),
    ],
    ids=" ".join,
)
def test_a_closed_pipe(tmp_path, arguments):
    (tmp_path / "big").write_bytes(BIG)
    (tmp_path / "ids").write_bytes(b"1 2 3\n" * 100_000)
    reading, writing = os.pipe()
    os.close(reading)
    try:
        assert run(*arguments, cwd=tmp_path, stdout=writing) == (141, b"", "")
    finally:
        os.close(writing)


def test_a_pipe_of_which_one_line_is_read(tmp_path):
    (tmp_path / "big").write_bytes(BIG)
    process = start("encode", *GPT2, "--lines", tmp_path / "big", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline() == b"439 670 290 645 711 1838 257 19222 1627\n"
    process.stdout.close()
    assert (process.wait(timeout=120), process.stderr.read()) == (141, b"")
    process.stderr.close()


# -- runs that are stopped -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ("encode", *GPT2, "--block-size", "4096", "-o", "out"),
        ("encode", *GPT2, "--block-size", "4096", "--to", "bin", "-o", "out"),
        ("encode", *GPT2, "--block-size", "4096", "--to", "segmented", "-o", "out"),
        ("train", "--lines", "-s", "1000", "--block-size", "4096", "-o", "out"),
        ("train", "--lines", "--block-size", "4096", "--counts-out", "out"),
        ("decode", *GPT2, "--from", "tokens", "-o", "out"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize(
    ("number", "status", "says"), [*zip(signals("SIGINT", "SIGKILL"), (130, -9), ("interrupted\n", ""), strict=False)]
)
def test_stopped_in_the_middle(tmp_path, arguments, number, status, says):
    (tmp_path / "out").write_bytes(b"old")
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    process = start(*arguments, cwd=tmp_path, **pipes)
    # More than a pipe holds: when it is gone, the program has taken some of it and waits for more.
    process.stdin.write(b"all work and no play\n" * 10_000)
    process.stdin.flush()
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err.decode()) == (status, b"", says)
    assert names_in(tmp_path) == ["out"]
    assert (tmp_path / "out").read_bytes() == b"old"


def test_interrupted_while_stdout_is_a_pipe():
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    process = start("encode", *GPT2, "--lines", "--block-size", "4096", bufsize=0, **pipes)
    process.stdin.write(b"hi\n" * 30_000)
    assert process.stdout.readline() == b"5303\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (130, b"interrupted\n")
    assert out == b"5303\n" * (len(out) // 5)
