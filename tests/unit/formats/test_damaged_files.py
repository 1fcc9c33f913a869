"""Damaged files of every format: a tokenizer or a sentence, never a traceback, a hang or all the memory."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from bpe_cli import formats
from bpe_cli.errors import BpeError
from tests.every_format import FORMATS, files_of, pattern_for, put
from tests.needs import only_where
from tests.thorough import more

every_format = pytest.mark.parametrize("name", FORMATS)


def attempt(name: str, path: Path) -> None:
    """Read a file, use what came of it, and write it again: an error is one for the user."""
    try:
        tokenizer = formats.load(path, pattern_for(name))
        tokenizer.decode_bytes(tokenizer.encode("low new 12"))
        formats.dump(tokenizer, name)
    except BpeError as error:
        assert error.message  # noqa: PT017  # whichever it is


def attempt_all(name: str, folder: Path, damage) -> None:
    files = files_of(name)
    for file in files:
        for changed in damage(files[file]):
            attempt(name, put({**files, file: changed}, folder))


def cuts(data: bytes):
    """Cut near the beginning, near the end and at places between."""
    ends = {
        *range(min(more(10, 40), len(data))),
        *range(max(0, len(data) - 20), len(data)),
        *range(0, len(data), len(data) // more(8, 40) + 1),
    }
    return [data[:end] for end in sorted(ends)]


def flips(data: bytes):
    chance = random.Random(len(data))
    for _ in range(more(10, 150)):
        changed = bytearray(data)
        for _ in range(chance.choice((1, 1, 1, 4))):
            changed[chance.randrange(min(len(changed), chance.choice((64, 512, len(changed)))))] ^= (
                1 << chance.randrange(8)
            )
        yield bytes(changed)


def maxima(data: bytes):
    """Set fields of four and eight bytes to their maximum, wherever one may be, and written numbers to huge ones."""
    chance = random.Random(len(data))
    places = [*range(min(more(20, 64), len(data))), *(chance.randrange(len(data)) for _ in range(more(10, 60)))]
    largest = [(width, bytes([0xFF]) * (width - 1) + bytes([byte])) for width in (4, 8) for byte in (0xFF, 0x7F)]
    for place in places:
        for width, number in more([chance.choice(largest)], largest):
            yield data[:place] + number + data[place + width :]
    digits = [place for place in range(len(data)) if data[place : place + 1].isdigit()]
    for place in chance.sample(digits, min(more(6, 40), len(digits))):
        yield data[:place] + b"9" * chance.choice((5, 9, 10, 19, 20, 400, 5000)) + data[place + 1 :]


@every_format
@pytest.mark.parametrize("damage", [cuts, flips, maxima], ids=lambda damage: damage.__name__)
def test_damage_is_survived(name, damage, tmp_path):
    attempt_all(name, tmp_path, damage)


LIMITED = """
import resource, signal, sys
from pathlib import Path
from bpe_cli import formats
from bpe_cli.errors import BpeError, FormatError
import bpe_cli.formats, bpe_cli.tokenizer
from bpe_cli.cli import app
formats.find_tokenizer("gpt2").encode("warm")
used = int(next(line for line in open("/proc/self/status") if line.startswith("VmSize")).split()[1]) * 1024
resource.setrlimit(resource.RLIMIT_AS, (used + (100 << 20),) * 2)
signal.alarm(60)
for name in sys.argv[1:]:
    try:
        formats.load(Path(name))
    except FormatError:
        print(Path(name).name, "FormatError")
    except BpeError as error:
        print(Path(name).name, type(error).__name__)
    else:
        print(Path(name).name, "loaded")
"""

NESTED = {
    "list.json": b'{"model": ' + b"[" * 1_000_000,
    "object.json": b'{"added_tokens": ' + b'{"a":' * 1_000_000,
    "closed.json": b'{"model": ' + b"[" * 1_000_000 + b"]" * 1_000_000 + b"}",
    "tekken.json": b'{"config": ' + b"[" * 1_000_000 + b"]" * 1_000_000 + b', "vocab": []}',
    "rwkv.txt": b"1 " + b"(" * 1_000_000 + b" 1\n2 'b' 1\n",
    "one-line": b"a" * 10_000_000,
    "lines": b"\n" * 1_000_000,
    "numbers": b"1 2 3\n" * 1_000_000,
}


@only_where(sys.platform == "linux", "needs Linux, to limit memory")
def test_nested_and_endless_files_need_little_memory(tmp_path):
    for name, content in NESTED.items():
        (tmp_path / name).write_bytes(content)
    paths = [str(tmp_path / name) for name in NESTED]
    done = subprocess.run([sys.executable, "-c", LIMITED, *paths], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:-1] == [f"{name} FormatError" for name in NESTED]


DAMAGED = """
import resource, signal, sys
from pathlib import Path
from tests.unit.formats.test_damaged_files import FORMATS, attempt, files_of, maxima, put
cases = [(name, file, changed) for name in FORMATS for file, data in files_of(name).items()
         for changed in list(maxima(data))[::4]]
used = int(next(line for line in open("/proc/self/status") if line.startswith("VmSize")).split()[1]) * 1024
resource.setrlimit(resource.RLIMIT_AS, (used + (200 << 20),) * 2)
signal.alarm(120)
for number, (name, file, changed) in enumerate(cases):
    attempt(name, put({**files_of(name), file: changed}, Path(sys.argv[1]) / str(number)))
print(len(cases))
"""


@only_where(sys.platform == "linux", "needs Linux, to limit memory")
def test_the_largest_numbers_need_little_memory_in_every_format(tmp_path, pytestconfig):
    done = subprocess.run(
        [sys.executable, "-c", DAMAGED, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=pytestconfig.rootpath,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 10 * len(FORMATS)
