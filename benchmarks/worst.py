"""Measure the texts that are hardest to encode: ``python benchmarks/worst.py -t gpt2 -t path/of/a/tokenizer``.

Each text is one document, encoded by one thread in a process of its own whose caches are empty. The table says how
many times the CPU seconds of as many bytes of English that takes, and how many bytes of memory the process grows by
for each byte of text: the text itself and its ids, of 4 bytes each, are among them. The first row is English itself.
What was found: notes/worst.md.
"""

from __future__ import annotations

import argparse
import base64
import json
import lzma
import os
import random
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bpe_cli import load
from bpe_cli.support.blocks import Block

ENGLISH = Path(__file__).resolve().parent.parent.parent / "shared" / "corpora" / "bench" / "english.txt.xz"
LETTERS = b"abcdefghijklmnopqrstuvwxyz"


def english(size: int) -> bytes:
    """Return English, from where the other texts for measuring lie, or from the license."""
    if ENGLISH.is_file():
        with lzma.open(ENGLISH) as file:
            return file.read(size)
    text = (Path(__file__).resolve().parent.parent / "LICENSE").read_bytes()
    return repeated(text, size)


def repeated(unit: bytes, size: int) -> bytes:
    r"""Return a text of one unit again and again.

    >>> repeated(b"ab\n", 5)
    b'ab\nab'
    """
    return (unit * (size // len(unit) + 1))[:size]


def letters(alphabet: bytes) -> Callable[[int], bytes]:
    """Return what draws letters at random."""
    return lambda size: bytes(random.choices(alphabet, k=size))


def characters(*ranges: range) -> Callable[[int], bytes]:
    """Return what draws characters at random, each range as often as the others."""

    def draw(size: int) -> bytes:
        drawn = (chr(random.choice(random.choice(ranges))) for _ in range(size // 2))
        return "".join(drawn).encode()[:size].decode(errors="ignore").encode()

    return draw


def words(size: int) -> bytes:
    """Return letters at random between blanks: words that no cache has."""
    drawn = bytes(random.choices(LETTERS, k=size))
    cuts = (random.randint(3, 12) for _ in range(size // 3))
    parts, at = [], 0
    for cut in cuts:
        parts.append(drawn[at : at + cut])
        at += cut + 1
        if at >= size:
            break
    return b" ".join(parts)


TEXTS: dict[str, Callable[[int], bytes]] = {
    "English": english,
    "one letter": lambda size: repeated(b"a", size),
    "a...ab": lambda size: repeated(b"a" * 1000 + b"b", size),
    "two letters": letters(b"ab"),
    "letters": letters(LETTERS),
    "words of letters": words,
    "letters and digits": letters(LETTERS + LETTERS.upper() + b"0123456789"),
    "no spaces": lambda size: re.sub(rb"\W+", b"", english(2 * size)).lower()[:size],
    "digits": letters(b"0123456789"),
    "base64": lambda size: base64.b64encode(random.randbytes(size))[:size],
    "signs": letters(b"!\"#$%&'()*+,-./:;<=>?@[]^_`{|}~"),
    "spaces": lambda size: repeated(b" ", size),
    "newlines": lambda size: repeated(b"\n", size),
    "tabs and spaces": letters(b" \t"),
    "CJK": characters(range(0x4E00, 0x9FFF)),
    "kana": characters(range(0x3041, 0x3097), range(0x30A1, 0x30FB)),
    "Hangul": characters(range(0xAC00, 0xD7A4)),
    "emoji and marks": characters(range(0x1F300, 0x1F650), range(0x300, 0x340), range(0x2581, 0x2583)),
    "combining marks": lambda size: repeated("a\u0301".encode(), 2) + repeated("\u0301\u0323".encode(), size - 6),
    "Cyrillic": characters(range(0x430, 0x450)),
    "bytes": random.randbytes,
}


def memory(field: str) -> int:
    """Return a figure of this process's memory, in bytes."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


def one(tokenizer: Any, text: bytes) -> dict[str, float]:
    """Encode one text in a process of its own; return seconds, ids and bytes of memory."""
    read, write = os.pipe()
    if pid := os.fork():
        os.close(write)
        with open(read, "rb") as pipe:
            said = pipe.read()
        os.waitpid(pid, 0)
        return json.loads(said or b'{"seconds": NaN, "ids": 0, "memory": 0}')
    before = memory("VmRSS") - len(text)
    began = time.process_time()
    ids, _ = tokenizer.encode_block(Block.of([text]), None, 1)
    seconds = time.process_time() - began
    os.write(write, json.dumps({"seconds": seconds, "ids": len(ids), "memory": memory("VmHWM") - before}).encode())
    os._exit(0)


def main() -> None:
    """Print a table: a line a text, a column a tokenizer."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-t", "--tokenizer", action="append", required=True)
    parser.add_argument("--megabytes", type=float, default=8)
    parser.add_argument("--text", action="append", choices=TEXTS, help="only these, beside English")
    parser.add_argument("--runs", type=int, default=3, help="of which the fastest counts")
    options = parser.parse_args()
    size = int(options.megabytes * 1e6)
    tokenizers = {}
    for name in options.tokenizer:
        tokenizers[Path(name).name if os.sep not in name else Path(name).parent.name] = tokenizer = load(name)
        tokenizer.encode("")
    print("| text |", " | ".join(tokenizers), "|\n|---|", "--:|" * len(tokenizers))
    base: dict[str, float] = {}
    for text_name in ("English", *(name for name in options.text or TEXTS if name != "English")):
        random.seed(1)
        text = TEXTS[text_name](size)
        cells = []
        for name, tokenizer in tokenizers.items():
            taken = min((one(tokenizer, text) for _ in range(options.runs)), key=lambda each: each["seconds"])
            cost = taken["seconds"] / len(text)
            times = cost / base.setdefault(name, cost)
            shown = f"{1e9 * cost:.1f} ns" if text_name == "English" else f"{times:.1f}"
            cells.append(f"{shown}, {taken['memory'] / len(text):.1f} B")
        print(f"| {text_name} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
