"""A pipe that is written to slowly: whole documents are encoded as they come, not when a block is full."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        (("--lines",), [b"hello\n", b"hello world\n"]),
        (("--jsonl",), [b'{"text":"hello"}\n', b'{"text":"hello world"}\n']),
    ],
    ids=["lines", "jsonl"],
)
def test_lines_are_encoded_as_they_come(options, lines):
    command = [sys.executable, "-m", "bpe_cli", "encode", "-t", "gpt2", *options]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line, ids in zip(lines, (b"31373\n", b"31373 995\n"), strict=True):
            process.stdin.write(line)
            process.stdin.flush()
            assert process.stdout.readline() == ids
        process.stdin.close()
        assert process.stdout.read() == b""
    assert process.returncode == 0
