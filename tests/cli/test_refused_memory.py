"""Memory that is taken for granted and refused: the command line ends with a sentence, and leaves nothing behind."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.cli_runner import COMMAND, surroundings
from tests.needs import only_where
from tests.proof.kinds.starving import LONGER_TEXT, MEGABYTE, limited
from tests.thorough import more

only_linux = only_where(sys.platform == "linux", "needs Linux, to limit memory")

COUNTING = """
import resource, sys
from array import array
from bpe_cli import _core
words = [b"%x" % (number * 0x9E3779B97F4A7C15 % 2**44) for number in range(150_000)]
ends = array("Q")
for word in words:
    ends.append(len(word) + (ends[-1] if ends else 0))
text, counts = b"".join(words), _core.Counts(1 << 40)
for message in sys.argv[1:]:
    _core.end_without_memory(message.encode(), 3)
used = int(next(line for line in open("/proc/self/status") if line.startswith("VmSize")).split()[1]) * 1024
resource.setrlimit(resource.RLIMIT_AS, (used + (4 << 20), -1))
counts.add_pieces(text, ends)
print("there was enough")
"""


@pytest.mark.parametrize(
    ("messages", "status", "said"),
    [
        (["no memory\n"], 3, "no memory"),
        (["the first counts\n", "not this one\n"], 3, "the first counts"),
        ([], 1, "MemoryError: there is no memory left"),
    ],
)
@only_linux
def test_a_process_ends_as_it_has_said(messages, status, said, pytestconfig):
    done = subprocess.run(
        [sys.executable, "-c", COUNTING, *messages], capture_output=True, text=True, check=False,
        cwd=pytestconfig.rootpath,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (status, "")
    assert done.stderr.splitlines()[-1] == said


PART = LONGER_TEXT[: len(LONGER_TEXT) // 3]
"""For which some of the limits are enough, and others are reached late."""


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("train", "text", "-s", "3000", "-o", "out"), PART),
        (("train", "text", "-a", "unigram", "-s", "1000", "-o", "out"), PART),
        (("compare", "text", "-t", "gpt2", "-t", "cl100k_base"), PART),
    ],
    ids=["bbpe", "unigram", "compare"],
)
@only_linux
def test_commands_end_with_a_sentence(arguments, text, tmp_path):
    (tmp_path / "text").write_bytes(text)
    refused = 0
    for megabytes in range(44, 104, more(12, 6)):
        done = subprocess.run(
            [*COMMAND, *arguments], cwd=tmp_path, env=surroundings(None), stdin=subprocess.DEVNULL,
            capture_output=True, check=False, preexec_fn=limited("RLIMIT_AS", megabytes * MEGABYTE),
        )  # fmt: skip
        if done.returncode != 0:
            assert done.returncode == 2 or done.stderr.startswith(b"error: bpe cannot be loaded"), (megabytes, done)
            assert done.stderr.startswith((b"error: ", b"note: ")), (megabytes, done)
            assert done.stderr.count(b"error: ") == 1, (megabytes, done)
            assert [path.name for path in tmp_path.iterdir()] == ["text"]
            refused += done.returncode == 2
        (tmp_path / "out").unlink(missing_ok=True)
    assert refused > 0


@only_linux
def test_no_traceback_where_even_the_sentence_has_no_room(tmp_path):
    """Of 300 limits four kilobytes apart, six ended in one: the words were put together when there was no memory."""
    (tmp_path / "text").write_bytes(LONGER_TEXT)
    for kilobytes in range(50_800, 51_200, more(32, 16)):
        done = subprocess.run(
            [*COMMAND, "train", "text", "-a", "unigram", "-s", "1000", "-o", "out"], cwd=tmp_path,
            env=surroundings(None), stdin=subprocess.DEVNULL, capture_output=True, check=False,
            preexec_fn=limited("RLIMIT_AS", kilobytes << 10),
        )  # fmt: skip
        assert b"Traceback" not in done.stderr, (kilobytes, done)
        assert b"error: " in done.stderr or done.returncode == 0, (kilobytes, done)
