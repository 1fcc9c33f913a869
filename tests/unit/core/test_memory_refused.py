"""Memory for ids that the system refuses is an error with a sentence, and the encoder can be used afterwards."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.needs import only_where

LIMITED = """
import resource, sys
from bpe_cli.stages import RankBpe, Split, WhitespaceSplit, WordLevel
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.support.blocks import Block
from bpe_cli.tokenizer import Tokenizer
vocabulary = Vocabulary.from_tokens([b"?", b"a", b" "])
tokenizer = Tokenizer(RankBpe(vocabulary), (Split(PATTERNS["gpt2"].regex),))
if sys.argv[1] == "1":
    tokenizer = Tokenizer(WordLevel(vocabulary, 0), (WhitespaceSplit(),))
tokenizer.encode_block(Block.of([b"aa"]))
block = Block.of([b"a " * (8 << 20)])
used = int(next(line for line in open("/proc/self/status") if line.startswith("VmSize")).split()[1]) * 1024
resource.setrlimit(resource.RLIMIT_AS, (used + (int(sys.argv[2]) << 20), -1))
try:
    tokenizer.encode_block(block)
except MemoryError as error:
    print(error)
resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
print([token_id for token_id in tokenizer.encode_block(Block.of([b"a a"]))[0] if token_id == 1])
"""


@pytest.mark.parametrize(("stages", "megabytes"), [(False, 40), (True, 30)])
@only_where(sys.platform == "linux", "needs Linux, to limit memory")
def test_refused_memory_is_an_error(stages, megabytes, pytestconfig):
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(int(stages)), str(megabytes)],
        capture_output=True,
        text=True,
        check=False,
        cwd=pytestconfig.rootpath,
    )
    assert done.returncode == 0, done.stderr
    sentence, ids = done.stdout.splitlines()
    assert re.fullmatch(r"there is no memory for \d+ tokens", sentence)
    assert ids == "[1, 1]"


CACHES = """
import hashlib, os, resource, sys
from random import Random
from bpe_cli.support.blocks import Block
from bpe_cli.tokenizer import named_encodings
tokenizer = named_encodings.named("gpt2")
tokenizer.encode_block(Block.of([b"warm"]))
draw = Random(1)
words = ["".join(draw.choices("abcdefghijklmnop", k=draw.randrange(3, 40))) for _ in range(100_000)]
blocks = [Block.of([" ".join(words[start : start + 10_000]).encode()]) for start in range(0, len(words), 10_000)]
for megabytes in map(int, sys.argv[1:]):
    process = os.fork()
    if process == 0:
        used = int(next(line for line in open("/proc/self/status") if line.startswith("VmSize")).split()[1]) * 1024
        if megabytes:
            resource.setrlimit(resource.RLIMIT_AS, (used + (megabytes << 20), -1))
        digest = hashlib.sha256()
        for block in blocks + blocks:
            digest.update(tokenizer.encode_block(block)[0])
        print(megabytes, digest.hexdigest())
        sys.exit()
    if os.waitpid(process, 0)[1] != 0:
        sys.exit(f"it fails with {megabytes} megabytes")
"""
LIMITS = (8, 24, 44)
"""Megabytes. A worker's table wants 32 and its ring 48: neither is had, or one of them."""


@cache
def ids_with(folder: Path) -> dict[int, str]:
    """Return the hash of all ids by what a process gets for them: so many megabytes, or any number for 0."""
    done = subprocess.run(
        [sys.executable, "-c", CACHES, "0", *map(str, LIMITS)], capture_output=True, text=True, check=False, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return {int(megabytes): digest for megabytes, digest in map(str.split, done.stdout.splitlines())}


@pytest.mark.parametrize("megabytes", LIMITS)
@only_where(sys.platform == "linux", "needs Linux, to limit memory")
def test_caches_that_cannot_grow_change_no_id(megabytes, pytestconfig):
    found = ids_with(pytestconfig.rootpath)
    assert found[megabytes] == found[0] != ""


BYTES = """
import resource
from bpe_cli import _core
from bpe_cli.tokenizer import named_encodings
sha256 = named_encodings.named("o200k_base").model.vocabulary.embedded
used = int(next(line for line in open("/proc/self/status") if line.startswith("VmSize")).split()[1]) * 1024
resource.setrlimit(resource.RLIMIT_AS, (used, -1))
kept = []
try:
    while len(kept) < 1000:
        kept.append(_core.embedded_tokens(sha256))
except MemoryError:
    print("refused")
"""


@only_where(sys.platform == "linux", "needs Linux, to limit memory")
def test_bytes_that_are_refused_are_an_error_without_a_traceback(pytestconfig):
    done = subprocess.run([sys.executable, "-c", BYTES], capture_output=True, check=False, cwd=pytestconfig.rootpath)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"refused\n", b"")
