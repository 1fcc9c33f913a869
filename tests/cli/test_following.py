"""A pipe that is written to slowly: whole documents are encoded and decoded as they come, not when a block is full."""

from __future__ import annotations

import select
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
    answers_each(["encode", *options], zip(lines, (b"31373\n", b"31373 995\n"), strict=True))


@pytest.mark.parametrize(
    "lines",
    [
        [b"31373\n", b"31373 995\n"],
        [b"hello\n", b"hello \xc4\xa0world\n"],
        [b'{"ids":[31373]}\n', b'{"ids":[31373,995]}\n'],
    ],
    ids=["ids", "tokens", "jsonl"],
)
def test_lines_are_decoded_as_they_come(lines):
    options = ["--from", "tokens"] if lines[0].startswith(b"hello") else []
    answers_each(["decode", "--lines", *options], zip(lines, (b"hello\n", b"hello world\n"), strict=True))


def answers_each(words, exchanges):
    """Check that a command answers each line before it gets the next one."""
    command = [sys.executable, "-m", "bpe_cli", *words, "-t", "gpt2"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line, answer in exchanges:
            process.stdin.write(line)
            process.stdin.flush()
            ready, _, _ = select.select([process.stdout], [], [], 60)
            if not ready:
                process.kill()
            assert ready, "it waits for more"
            assert process.stdout.readline() == answer
        process.stdin.close()
        assert process.stdout.read() == b""
    assert process.returncode == 0
