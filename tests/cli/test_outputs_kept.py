"""Outputs never replace what is read, two outputs are never one, and a closed stdout is an error like any other."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from tests.cli_runner import call, error, surroundings
from tests.needs import only_where

WAY_OUT = "write to another file, and move it there when all is well"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in.txt").write_text("hello world\n")
    (tmp_path / "link.txt").symlink_to("in.txt")
    (tmp_path / "hard.txt").hardlink_to(tmp_path / "in.txt")
    assert call("train", "in.txt", "-s", "258", "-o", "t.json", "-q", cwd=tmp_path).status == 0
    assert call("compare", "in.txt", "-t", "gpt2", "--json", "-o", "base.json", cwd=tmp_path).status == 0
    (tmp_path / "ids").write_text("1 2\n")
    (tmp_path / "en.txt").write_text("hello\n")
    for name in ("t", "base"):  # of which no name says that it is another thing
        shutil.copy(tmp_path / f"{name}.json", tmp_path / name)
    return tmp_path


COMPARE = ("compare", "in.txt", "-t", "t.json")
INSPECT = ("inspect", "in.txt", "-t", "t.json")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*COMPARE, "--against", "base", "--html", "./base"), "--html would replace the report of --against"),
        ((*COMPARE, "--json", "-o", "in.txt"), "-o would replace the input in.txt"),
        ((*COMPARE, "--html", "link.txt"), "--html would replace the input in.txt"),
        ((*COMPARE, "--csv", "-o", "hard.txt"), "-o would replace the input in.txt"),
        (("compare", "in.txt", "-t", "t", "--html", "./t"), "--html would replace a tokenizer"),
        ((*COMPARE, "--parallel", "en=en.txt", "--html", "en.txt"), "--html would replace the parallel texts"),
        ((*INSPECT, "--html", "link.txt"), "--html would replace the input in.txt"),
        (("inspect", "in.txt", "-t", "t", "--svg", "./t"), "--svg would replace the tokenizer"),
        (("encode", "in.txt", "-t", "t.json", "-o", "link.txt"), "-o would replace the input in.txt"),
        (("encode", "in.txt", "-t", "t", "-o", "./t"), "-o would replace the tokenizer"),
        (("encode", "./", "-t", "t.json", "-o", "en.txt"), "-o would replace the input ./en.txt"),
        (("decode", "ids", "-t", "t.json", "-o", "./ids"), "-o would replace the input ids"),
        (("train", "in.txt", "-s", "258", "-o", "hard.txt"), "-o would replace the input in.txt"),
        (("train", "--from-counts", "ids", "-s", "258", "-o", "./ids"), "-o would replace the counts"),
        (("convert", "t.json", "-o", "./t.json"), "-o would replace the tokenizer"),
    ],
    ids=str,
)
def test_what_is_read_is_not_replaced(arguments, message, folder):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert call(*arguments, cwd=folder) == (2, b"", error(message, WAY_OUT))
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_stdin_can_be_a_file_too(folder):
    with (folder / "in.txt").open("rb") as stdin:
        command = [sys.executable, "-m", "bpe_cli", "encode", "-t", "t.json", "-o", "in.txt"]
        environment = surroundings({"PYTHONPATH": os.pathsep.join(sys.path)})
        done = subprocess.run(command, stdin=stdin, capture_output=True, env=environment, cwd=folder, timeout=60)
    assert (done.returncode, done.stderr.decode()) == (2, error("-o would replace the input stdin", WAY_OUT))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*COMPARE, "--html", "new", "-o", "./new"), "-o and --html would both be written to new"),
        ((*COMPARE, "--html", "-", "-o", "-"), "-o and --html would both be written to stdout"),
        ((*COMPARE, "--html", "-", "--json"), "--json and --html would both be written to stdout"),
        ((*INSPECT, "--html", "./new", "--svg", "new"), "--html and --svg would both be written to new"),
        (
            ("train", "in.txt", "-s", "258", "-o", "new", "--counts-out", "./new"),
            "-o and --counts-out would both be written to ./new",
        ),
    ],
    ids=str,
)
def test_two_outputs_are_not_one(arguments, message, folder):
    assert call(*arguments, cwd=folder) == (2, b"", error(message, "name a file each"))
    assert not (folder / "new").exists()


def test_a_page_and_the_tables(folder):
    tables = call(*COMPARE, cwd=folder).out
    assert call(*COMPARE, "-o", "-", cwd=folder) == (0, tables, "")
    assert call(*COMPARE, "--html", "page.html", "-o", "-", cwd=folder) == (0, tables, "wrote page.html\n")
    assert call(*COMPARE, "--html", "page.html", cwd=folder) == (0, b"", "wrote page.html\n")


@only_where(os.name == "posix", "needs a shell that closes a descriptor")
@pytest.mark.parametrize(
    "words", ["compare -T a -t gpt2 --csv", "compare -T a -t gpt2 --html -", "inspect -T a", "encode -T a"]
)
def test_a_closed_stdout(words, tmp_path):
    command = ["sh", "-c", f'exec "$0" -m bpe_cli {words} >&-', sys.executable]
    environment = surroundings({"PYTHONPATH": os.pathsep.join(sys.path)})
    done = subprocess.run(command, stderr=subprocess.PIPE, env=environment, cwd=tmp_path, timeout=60)
    assert (done.returncode, done.stderr.decode()) == (2, error("cannot write stdout: bad file descriptor"))
