"""Memory that is refused to a call of the library is a ``MemoryError``: no process ends, and nothing is printed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.needs import only_where

CALLS = """
import os, resource, sys
from array import array
from dataclasses import replace
from bpe_cli import Sampling, load
from bpe_cli.stages import Lowercase, PrefixSpace, Unigram
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.tokenizer import Tokenizer

bytewise = load("gpt2")
spaced = replace(bytewise, pre_tokenizer=(PrefixSpace(), *bytewise.pre_tokenizer))
vocabulary = Vocabulary.from_tokens([b"?", b"x", b"xx", b"a", b" "])
staged = Tokenizer(Unigram(vocabulary, array("d", [0, -2, -3, -3, -3]), unk_id=0), (), normalizer=(Lowercase(),))
text, giant, many, ids = "a b c d e f g h " * (1 << 20), "x" * (8 << 20), [b"hello"] * (1 << 21), [[31373] * (1 << 23)]
calls = {
    "encode": lambda: bytewise.encode(text),
    "encode_batch": lambda: bytewise.encode_batch(many, threads=1),
    "count_batch": lambda: bytewise.count_batch(many, threads=1),
    "decode_batch": lambda: bytewise.decode_batch(ids),
    "decode": lambda: bytewise.decode(ids[0]),
    "tokens": lambda: bytewise.tokens(text[: 1 << 20]),
    "a space before it": lambda: spaced.count(text + text),
    "at random": lambda: bytewise.encode_batch([text], sampling=Sampling("dropout", 0.1), threads=1),
    "one piece": lambda: staged.count(giant),
    "places in one piece": lambda: staged.place(giant),
    "tokens of one piece": lambda: staged.tokens(giant[: 1 << 20]),
}
for tokenizer in (bytewise, spaced, staged):
    tokenizer.tokens("x a")
    tokenizer.count("x a" * 10_000)
bytewise.encode_batch(["a b"], sampling=Sampling("dropout", 0.1), threads=1)
call = calls[sys.argv[1]]
for megabytes in map(int, sys.argv[2:]):
    process = os.fork()
    if process == 0:
        used = int(next(line for line in open("/proc/self/status") if line.startswith("VmSize")).split()[1]) * 1024
        if megabytes:
            resource.setrlimit(resource.RLIMIT_AS, (used + (megabytes << 20), -1))
        try:
            call()
        except MemoryError:
            print("refused", flush=True)
        else:
            print("done", flush=True)
        os._exit(0)
    if os.waitpid(process, 0)[1] != 0:
        print("ended", flush=True)
"""


@pytest.mark.parametrize(
    ("call", "megabytes"),
    [
        ("encode", (40, 70, 100, 120)),
        ("encode_batch", (10, 40, 60, 80, 100, 130)),
        ("count_batch", (10, 40, 60, 80)),
        ("decode_batch", (10, 40, 60, 80, 100)),
        ("decode", (10, 40, 60)),
        ("tokens", (2, 10, 20, 40)),
        ("a space before it", (10, 20, 40)),
        ("at random", (5, 10, 20)),
        ("one piece", (5, 10, 40, 160)),
        ("places in one piece", (5, 20, 80, 160)),
        ("tokens of one piece", (2, 10, 20, 40)),
    ],
)
@only_where(sys.platform == "linux", "needs Linux, to limit memory")
def test_a_call_that_is_refused_memory_raises(call, megabytes, pytestconfig):
    done = subprocess.run(
        [sys.executable, "-c", CALLS, call, "0", *map(str, megabytes)],
        capture_output=True,
        text=True,
        check=False,
        cwd=pytestconfig.rootpath,
    )
    assert (done.returncode, done.stderr) == (0, "")
    without_limit, first, *others = done.stdout.split()
    assert (without_limit, first) == ("done", "refused"), done.stdout
    assert len(others) == len(megabytes) - 1
    assert set(others) <= {"done", "refused"}, others
