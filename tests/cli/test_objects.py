"""Commands read the objects of a store as they read files, and can be interrupted while it says nothing."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli_runner import call, error, heed_signals, start
from tests.object_store import Shelf, environment, in_reach, put, roots

LINES = b"".join(json.dumps({"text": f"document {number} of the store"}).encode() + b"\n" for number in range(200))


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Shelf]:
    """Serve a folder of JSON lines, which lies in ``tmp_path/data`` too."""
    with in_reach(monkeypatch, {}) as shelf:
        put(shelf, tmp_path / "data", {"a.jsonl": LINES, "deep/b.jsonl": LINES[:-1]})
        yield shelf


@pytest.mark.parametrize("scheme", ["s3", "http"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("encode", "-t", "gpt2", "--to", "jsonl"),
        ("train", "-s", "300"),
        ("inspect", "-t", "gpt2", "--json"),
        ("compare", "-t", "gpt2", "-t", "cl100k_base", "--json"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_store_is_a_folder(arguments: tuple[str, ...], scheme: str, shelf: Shelf, tmp_path: Path) -> None:
    root = roots(shelf)[scheme]
    urls = [root] if scheme == "s3" else [f"{root}a.jsonl", f"{root}deep/b.jsonl"]
    command, *rest = arguments
    outputs = [["-o", str(tmp_path / name)] if command in ("train", "encode") else [] for name in ("1", "2")]
    there = call(command, *urls, "--jsonl", *rest, *outputs[0], env=dict(environment(shelf)))
    files = call(command, "data", "--jsonl", *rest, *outputs[1], cwd=tmp_path)
    assert (there.status, files.status) == (0, 0), there.err + files.err
    assert there.out.replace(root.encode(), b"data/") == files.out
    if outputs[0]:
        assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes() != b""


def test_a_record_beside_an_object_is_not_read(shelf: Shelf, tmp_path: Path) -> None:
    """What it says of the ids counted for nothing, without a word."""
    put(shelf, tmp_path / "data", {"x.bin": b"\x40\0"})
    url = f"{roots(shelf)['s3']}x.bin"
    done = call("decode", url, "-t", "gpt2", env=dict(environment(shelf)))
    ours = "-t, --dtype, --bos and --eot say what it says"
    said = f"note: the record of {url} is not read, as only one on disk is: {ours}\n"
    assert (done.status, done.out, done.err) == (0, b"a", said)


def test_a_folder_of_ids_in_a_store_is_read(shelf: Shelf, tmp_path: Path) -> None:
    """Numbers are not text, and their record is not ids."""
    put(shelf, tmp_path / "data", {"ids/x.bin": b"\x40\0", "ids/x.bin.json": b'{"schema": "bpe-ids/1"}'})
    done = call("decode", f"{roots(shelf)['s3']}ids/", "-t", "gpt2", "-q", env=dict(environment(shelf)))
    assert done == (0, b"a", "")


def test_a_data_set_in_a_store_is_not_read_as_text(shelf: Shelf, tmp_path: Path) -> None:
    record = b'{\n  "parts": [],\n  "schema": "bpe-dataset-plan/1"\n}\n'
    put(shelf, tmp_path / "data", {"set/a.txt": b"hi", "set/plan.json": record})
    url = f"{roots(shelf)['s3']}set/"
    done = call("encode", url, "-t", "gpt2", "--to", "count", env=dict(environment(shelf)))
    said = f"note: {url}plan.json skipped: it is the record of a data set\n"
    assert (done.status, done.out, done.err) == (0, b"1\n", said)


def test_errors_name_the_url(shelf: Shelf) -> None:
    env = dict(environment(shelf))
    missing = call("encode", "s3://bucket/data/c.jsonl", "-t", "gpt2", env=env)
    what = "there is no such object, and no folder of this name"
    assert (missing.status, missing.err) == (2, error(f"cannot read s3://bucket/data/c.jsonl: {what}"))
    output = call("prepare", "s3://bucket/data", "--jsonl", "-t", "gpt2", "-o", "s3://bucket/out/", env=env)
    assert output.status == 2
    assert output.err.startswith("error: parts are written into a folder on disk, and s3://bucket/out/ is not one")
    dry = call("prepare", "s3://bucket/data", "--jsonl", "-t", "gpt2", "-o", "out", "--dry-run", env=env)
    assert "s3://bucket/data/a.jsonl" in dry.text


@pytest.mark.parametrize("calm", [0, 1, 2])
@pytest.mark.parametrize("scheme", ["s3", "http"])
def test_a_silent_store_can_be_interrupted(scheme: str, calm: int, shelf: Shelf) -> None:
    """It is silent from the first request on, or one of the later ones: finding, looking into it, reading."""
    heed_signals()
    silent, over = threading.Event(), threading.Event()

    def fault(number: int, _: str) -> str | None:
        if number > calm:
            silent.set()
            over.wait(300)
            return "reset"
        return None

    shelf.faults = fault
    url = f"{roots(shelf)[scheme]}a.jsonl"
    process = start("encode", url, "--jsonl", "-t", "gpt2", env=dict(environment(shelf)), stderr=subprocess.PIPE,
                    stdout=subprocess.DEVNULL)  # fmt: skip
    try:
        assert silent.wait(60)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)  # a request that nobody interrupts waits for half a minute
        assert (process.returncode, said) == (130, b"interrupted\n")
    finally:
        over.set()
        process.kill()
