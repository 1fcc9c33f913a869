"""How time and memory grow with the input, and what hostile input costs: ours alone, as whole processes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.entries import Entry
from benchmarks.libraries import OURS
from benchmarks.processes import bpe_command, timed
from benchmarks.results import Cell
from benchmarks.texts import running

TEXT = "english"
TOKENIZER = "o200k_base"
MEGABYTES = {True: (1, 10, 100, 1000), False: (1, 4)}
TRAINED_MEGABYTES = {True: (1, 4, 16, 64), False: (1, 4)}
HOSTILE_BYTES = {True: 20_000_000, False: 1_000_000}
"""What the whole round measures, and a part of one."""

ROUNDS = 1


def random_unicode(generator: random.Random, size: int) -> bytes:
    """Return random characters of all planes."""
    characters = (chr(generator.choice((generator.randrange(0x20, 0xD800), generator.randrange(0xE000, 0x110000))))
                  for _ in range(size // 3))  # fmt: skip
    return "".join(characters).encode()[:size]


HOSTILE: dict[str, Callable[[random.Random, int], bytes]] = {
    "one letter": lambda _, size: b"a" * size,
    "spaces": lambda _, size: b" " * size,
    "no spaces": lambda generator, size: bytes(generator.choices(b"abcdefghijklmnopqrstuvwxyz", k=size)),
    "digits": lambda generator, size: bytes(generator.choices(b"0123456789", k=size)),
    "random bytes": lambda generator, size: generator.randbytes(size),
    "random Unicode": random_unicode,
}
"""Texts that were made to be slow, each one line."""


class Growth:
    """Encode and train on more and more of one text, and encode hostile ones."""

    def entries(self, plan: Any) -> Iterator[Entry]:
        """Yield the processes of a round."""
        text = plan.texts.get(TEXT) or next(iter(plan.texts.values()))
        mode, threads = plan.options.mode == "full", max(plan.threads)
        source = running(text.path)
        for megabytes in MEGABYTES[mode]:
            make = partial(repeated, source, megabytes * 1_000_000)
            yield self.entry("encode", f"{megabytes} MB", threads, make, self.encode(threads))
        for megabytes in TRAINED_MEGABYTES[mode]:
            make = partial(repeated, source, megabytes * 1_000_000)
            yield self.entry("train", f"{megabytes} MB", threads, make, self.train(threads))
        yield self.entry("hostile", "English", 1, partial(repeated, source, HOSTILE_BYTES[mode]), self.encode(1))
        for name, hostile in HOSTILE.items():
            make = partial(written, hostile, HOSTILE_BYTES[mode])
            yield self.entry("hostile", name, 1, make, self.encode(1))

    @staticmethod
    def encode(threads: int) -> list[str]:
        """Return the command that encodes."""
        return ["encode", "{source}", "-t", TOKENIZER, "--to", "bin", "-o", "{target}", "--threads", str(threads)]

    @staticmethod
    def train(threads: int) -> list[str]:
        """Return the command that trains."""
        return ["train", "{source}", "-q", "-s", "32000", "-o", "{target}", "--threads", str(threads)]

    @staticmethod
    def entry(phase: str, text: str, threads: int, make: Callable[[Path], int], command: list[str]) -> Entry:
        """Return one process; its input is made for it and goes away with it."""
        cell = Cell("growth", phase, text, TOKENIZER if phase != "train" else "32k", threads, OURS)
        return Entry({phase: cell}, ROUNDS, partial(run, make, command, threads))

    def expected(self, *_: Any) -> tuple[object, str]:
        """Return nothing: what these processes write is looked at by tests."""
        return None, ""


def repeated(source: Path, size: int, target: Path) -> int:
    """Write a text over and over until it has so many bytes."""
    data = source.read_bytes()
    with target.open("wb") as file:
        for start in range(0, size, len(data)):
            file.write(data[: size - start])
    return size


def written(hostile: Callable[[random.Random, int], bytes], size: int, target: Path) -> int:
    """Write a hostile text."""
    return target.write_bytes(hostile(random.Random(0), size))


def run(make: Callable[[Path], int], command: list[str], threads: int) -> dict[str, Any]:
    """Make the input, run the command, measure it."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="bpe-bench-") as folder:
        source, target = Path(folder, "source.txt"), Path(folder, "target")
        size = make(source)
        filled = [part.format(source=source, target=target) for part in command]
        taken = timed([*bpe_command(), *filled], threads)
        tokens = target.stat().st_size // 4 if command[0] == "encode" else 0
    return {
        "bytes": size, "documents": 1, "tokens": tokens, "passes": [taken], "peak": taken["peak"], "digest": tokens,
    }  # fmt: skip
