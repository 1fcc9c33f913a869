"""Long and odd inputs: endless streams in flat memory, many documents and files, odd names, files that change."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from array import array
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from random import Random
from typing import IO

from bpe_cli.tokenizer import named_encodings
from tests.cli_runner import COMMAND, call, surroundings
from tests.needs import skip
from tests.proof.attempts import Found, Proof

UNITS = (
    b"all work and no play makes jack a dull boy\n",
    b"def f(x):\n    return x ** 2  # squared\n",
    "東京タワー、333メートル。\n".encode(),
    b"0123456789" * 3 + b"\n",
)
"""Lines of which a text is made: as each ends a piece, its ids are those of its lines."""

STREAM_MEMORY = 200 << 20
"""Bytes that a process takes for a stream, however long that is."""

LINE_MEMORY = 5
"""Bytes for each byte of a line of JSON, which is held whole, beside those of a stream."""

LARGEST = 30
"""Streams grow from a megabyte to 2 to this power."""

GIANT, FIRST_GIANT = 100 * 10**9, 1001
"""Streams have so many bytes from this attempt on, which only who asks for it comes to (``--first``)."""

MOST_TINY = 1 << 27
"""Bytes of tiny documents, of which what is printed is held."""

WRITTEN_AT_ONCE = 1 << 20

ODD_NAMES = (
    b"\xff\xfe", b"a\nb", b"-", b"--help", b" ", b"a\tb", b"*", b"[x]", b"x" * 250, b"\x1b[2J", "\u202eb".encode(),
    b"~", b"$(x)", b"'", b'"', b"a,b", b"a=b", b"con", "é".encode(), "e\u0301".encode(),
)  # fmt: skip
"""Names that a file may have on Linux."""


UNSEEN = re.compile(rb"[\x00-\x09\x0b-\x1f\x7f]|\xe2\x80\xae")
"""What a message may not hold: control characters, and what turns the direction of text."""


@cache
def tokens_of(unit: bytes) -> int:
    """Return how many ids a unit has."""
    return len(named_encodings.named("gpt2").encode(unit))


def size_of(number: int) -> int:
    """Return how long an attempt's input is: ever longer, up to a limit, and then from the beginning.

    >>> [size_of(number) >> 20 for number in (1, 7, 70, 77, FIRST_GIANT)]
    [1, 2, 1024, 1, 95367]
    """
    if number >= FIRST_GIANT:
        return GIANT
    return 1 << 20 + number // len(KINDS) % (LARGEST - 19)


def encode(*arguments: str, **options: object) -> subprocess.Popen[bytes]:
    """Start ``bpe encode`` with GPT-2's tokenizer."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    return subprocess.Popen([*COMMAND, "encode", "-t", "gpt2", "-q", *arguments], env=surroundings(None), **pipes)


def fed(process: subprocess.Popen[bytes], unit: bytes, size: int) -> tuple[int, int]:
    """Write a unit again and again, about so many bytes; return how many units, and the process's peak of memory."""
    block = unit * (WRITTEN_AT_ONCE // len(unit) + 1)
    blocks = max(1, size // len(block))
    with suppress(BrokenPipeError):  # its status says why
        for _ in range(blocks):
            process.stdin.write(block)
        process.stdin.flush()
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process.pid}/status").read_text())
    return blocks * (len(block) // len(unit)), int(found[1]) << 10 if found else 0


def ended(what: str, process: subprocess.Popen[bytes]) -> bytes:
    """Return what a process prints until its end.

    Raises:
        Found: if it fails.
    """
    out, err = process.communicate()
    if process.returncode != 0:
        raise Found(f"{what}: status {process.returncode}, {err[-300:]!r}")
    return out


def stream(chance: Random, _: Path, size: int) -> Counter[str]:
    """Encode one document that comes through a pipe, and read its ids; they are those of a unit, again and again."""
    unit = chance.choice(UNITS)
    ids = array("H", named_encodings.named("gpt2").encode(unit)).tobytes()
    process = encode("--to", "bin", "-j", str(chance.choice((1, 2))))
    read: list[int] = []
    reader = threading.Thread(target=lambda: read.append(repeated(process.stdout, ids)))
    with process:
        reader.start()
        units, peak = fed(process, unit, size)
        process.stdin.close()
        reader.join()
        if process.wait() != 0:
            raise Found(f"a stream: status {process.returncode}, {process.stderr.read()[-300:]!r}")
    done = judged("a stream of one document", units * len(unit), peak, STREAM_MEMORY, b"%d" % read[0], units * len(ids))
    return done + Counter({"bytes of ids that were read": read[0]})


def repeated(pipe: IO[bytes], ids: bytes) -> int:
    """Read all of a pipe and return how many bytes there are, as long as they are some bytes again and again."""
    expected = ids * (2 * WRITTEN_AT_ONCE // len(ids) + 1)
    size = 0
    while part := pipe.read1(WRITTEN_AT_ONCE):
        begin = size % len(ids)
        if part != expected[begin : begin + len(part)]:
            while pipe.read1(WRITTEN_AT_ONCE):  # so that the other side ends
                pass
            return -1
        size += len(part)
    return size


def tiny_documents(chance: Random, _: Path, size: int) -> Counter[str]:
    """Count the ids of many documents, of a few bytes each."""
    unit = chance.choice((b"\n", b"a\n", b"ab cd\n"))
    process = encode("--to", "count", "--lines")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(process.stdout.read()))
    with process:
        reader.start()
        units, peak = fed(process, unit, min(size // 8, MOST_TINY))
        process.stdin.close()
        reader.join()
        if process.wait() != 0:
            raise Found(f"{units:,} documents: status {process.returncode}, {process.stderr.read()[-300:]!r}")
    each = len(named_encodings.named("gpt2").encode(unit.rstrip(b"\n")))
    if read[0] != b"%d\n" % each * units:
        told = f"{units:,} documents {unit!r} are counted otherwise than one by one"
        raise Found(told, {"out.txt": read[0][:100_000]})
    done = judged("tiny documents", units * len(unit), peak, STREAM_MEMORY, b"0", 0)
    return done + Counter({"tiny documents": units})


def long_line(chance: Random, _: Path, size: int) -> Counter[str]:
    """Count the ids of one long line of JSON."""
    unit = chance.choice(UNITS)
    units = min(size, 1 << 26) // len(unit)
    line = json.dumps({"text": (unit * units).decode()}).encode() + b"\n"
    with encode("--to", "count", "--jsonl") as process:
        _, peak = fed(process, line, 1)
        out = ended("a long line", process)
    most = STREAM_MEMORY + LINE_MEMORY * len(line)
    return judged("a line of JSON", len(line), peak, most, out, units * tokens_of(unit))


def judged(what: str, size: int, peak: int, most: int, out: bytes, tokens: int) -> Counter[str]:
    """Return what was tried.

    Raises:
        Found: if it took too much memory, or gave another number of ids.
    """
    if peak > most:
        raise Found(f"{what} of {size:,} bytes takes {peak >> 20} MB of memory, and may take {most >> 20}")
    if int(out.split()[0]) != tokens:
        raise Found(f"{what} of {size:,} bytes has {tokens:,} ids, and is counted as {out[:100]!r}")
    return Counter({f"bytes: {what}": size, "bytes": size})


def many_files(chance: Random, folder: Path, size: int) -> Counter[str]:
    """Encode a folder of many small files."""
    place = folder / "many"
    place.mkdir(exist_ok=True)
    number = min(200_000, size >> 12)
    for each in range(len(os.listdir(place)), number):
        (place / f"{each:06}.txt").write_bytes(b"a b")
    there = len(os.listdir(place))
    done = call("encode", str(place), "-t", "gpt2", "-q")
    if (done.status, done.out) != (0, b"64 275\n" * there):
        raise Found(f"{there:,} files: status {done.status}, {done.err[-300:]!r}", {"out.txt": done.out[:100_000]})
    return Counter({"files of one run, added up": there})


def odd_names(chance: Random, folder: Path, _: int) -> Counter[str]:
    """Read and write files whose names are odd, and hear of one that is not there."""
    name, other = (os.fsdecode(each) for each in chance.sample(ODD_NAMES, 2))
    place = folder / "odd"
    place.mkdir(exist_ok=True)
    (place / name).write_bytes(b"a b")
    with encode("-o", f"./{other}", "--", f"./{name}", cwd=place, stdin=subprocess.DEVNULL) as process:
        _, err = process.communicate()
    (place / name).unlink()
    written = place / other
    if process.returncode != 0 or written.read_bytes() != b"64 275\n":
        raise Found(f"from {name!r} to {other!r}: status {process.returncode}, {err[-300:]!r}")
    written.unlink()
    with encode("--", f"./{name}", cwd=place, stdin=subprocess.DEVNULL) as process:
        _, err = process.communicate()
    if process.returncode != 2 or err.count(b"error: ") != 1 or UNSEEN.search(err):
        raise Found(f"{name!r} is missing: status {process.returncode}, {err!r}")
    return Counter({"odd names": 2})


def fifo(chance: Random, folder: Path, size: int) -> Counter[str]:
    """Read from a pipe that has a name."""
    path = folder / "fifo"
    os.mkfifo(path)
    unit = chance.choice(UNITS)
    units = min(size, 1 << 24) // len(unit)
    writer = threading.Thread(target=lambda: path.write_bytes(unit * units), daemon=True)
    writer.start()
    try:
        with encode("--to", "count", str(path), stdin=subprocess.DEVNULL) as process:
            out = ended("a FIFO", process)
        writer.join(10)
    finally:
        path.unlink()
    return judged("a FIFO", units * len(unit), 0, 1, out, units * tokens_of(unit))


def changing_file(chance: Random, folder: Path, size: int) -> Counter[str]:
    """Cut a file short, or make it longer, while it is read: a result of what it once was, or a message."""
    path = folder / "changing.txt"
    unit = chance.choice(UNITS)
    path.write_bytes(unit * (min(size, 1 << 26) // len(unit)))
    shorter = chance.random() < 0.6
    with encode("--to", "count", str(path), stdin=subprocess.DEVNULL) as process:
        for _ in range(20):
            if shorter:
                os.truncate(path, int(path.stat().st_size * chance.random()))
            else:
                with open(path, "ab") as file:
                    file.write(unit * 1000)
            with suppress(subprocess.TimeoutExpired):
                process.wait(chance.random() * 0.02)
        _, err = process.communicate()
    if process.returncode not in (0, 2) or b"Traceback" in err:
        raise Found(f"a file that gets {'shorter' if shorter else 'longer'}: {process.returncode}, {err[-300:]!r}")
    return Counter({"files that change while they are read": 1})


KINDS = (stream, tiny_documents, long_line, many_files, odd_names, fifo, changing_file)


@contextmanager
def begin(folder: Path) -> Iterator[Path]:
    """Return the folder to work in."""
    if sys.platform != "linux":
        skip("needs Linux, to measure memory")
    yield folder


def attempt(folder: Path, chance: Random, number: int) -> Counter[str]:
    """Try one kind of input, of a length that grows with the number."""
    return KINDS[number % len(KINDS)](chance, folder, size_of(number))


PROOF = Proof(
    title="Long and odd",
    claim="Streams of any length, one document or many, are encoded in 200 MB of memory; a line of JSON takes at "
    "most five times its length on top of that. There are as many ids as in the parts; where the stream is one "
    "document, the ids themselves are compared. Folders of up to 200,000 files, names that are not UTF-8 or look "
    "like options, named pipes, and files that shrink or grow while they are read end with a result or a message.",
    begin=begin,
    attempt=attempt,
)
