"""Under a limit on addresses, a training or a comparison ends with an error, or with what it gives without one."""

from __future__ import annotations

import json
import subprocess
import sys
from random import Random

import pytest

from tests.needs import only_where
from tests.thorough import more

LIMITED = """
import hashlib, json, os, resource, sys
from pathlib import Path
import bpe_cli

text, small = Path(sys.argv[1]), Path(sys.argv[2])
job, limits, every = sys.argv[3], json.loads(sys.argv[4]), sys.argv[5] == "every"
tokenizers = [bpe_cli.load("gpt2"), bpe_cli.load("cl100k_base")]

def work(text):
    if job == "compare":
        return bpe_cli.compare(tokenizers, text, threads=1).to_json()
    trained = bpe_cli.train(text, job, vocab_size=600, threads=1)
    return [trained.token_bytes(number) for number in range(600)]

def limited(megabytes):
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        used = int(next(line for line in open("/proc/self/status") if line.startswith("VmSize")).split()[1]) * 1024
        if megabytes:
            resource.setrlimit(resource.RLIMIT_AS, (used + int(megabytes * 2**20), -1))
        try:
            said = "gives " + hashlib.sha256(repr(work(text)).encode()).hexdigest()
        except (MemoryError, bpe_cli.BpeError) as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        said = pipe.read().decode()
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    return said if status == 0 else f"status {status}"

work(small)  # all that it imports
said = [limited(0)]
for megabytes in limits:
    said.append(limited(megabytes))
    if said[-1] == said[0] and not every:
        break
print(json.dumps(said))
"""

LIMITS = more(
    [2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20, 25, 32, 40, 50, 64, 100],
    [*(1.15**step for step in range(43)), 400],
)
"""Megabytes beyond what the process has when the work begins; the first that is enough is the last, but in a hunt."""


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    draw, lines = Random(3), more(7500, 15_000)
    words = ["".join(draw.choices("etaoinshrdlucmf", k=draw.randrange(2, 12))) for _ in range(4 * lines)]
    (folder / "text").write_text("\n".join(" ".join(draw.choices(words, k=12)) for _ in range(lines)), "utf-8")
    (folder / "small").write_text(" ".join(words[:2000]), "utf-8")
    return folder / "text", folder / "small"


@pytest.mark.parametrize("job", ["bbpe", "wordpiece", "unigram", "picky", "mingram", "greedtok", "compare"])
@only_where(sys.platform == "linux", "needs Linux, to limit memory")
def test_it_ends_with_an_error_or_with_its_result(job, texts, pytestconfig):
    which = more("until it is enough", "every")
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, *map(str, texts), job, json.dumps(LIMITS), which], capture_output=True,
        check=True, cwd=pytestconfig.rootpath, env={"MALLOC_ARENA_MAX": "1"},
    )  # fmt: skip
    unlimited, *said = json.loads(done.stdout)
    assert unlimited.startswith("gives ")
    assert said[-1] == unlimited
    refused = [each for each in said if each != unlimited]
    assert len(refused) > 5
    assert [each for each in refused if not each.startswith("MemoryError")] == []
