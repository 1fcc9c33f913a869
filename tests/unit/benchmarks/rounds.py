"""A small round with made-up figures, for the tests of the benchmark's tables."""

from __future__ import annotations

from typing import Any

from benchmarks import results
from benchmarks.results import Cell

DOCUMENTS = [b"Hello, world! 123\n", "你好\r\n".encode(), b"  x = [1, 2]\n\n"] * 5
"""A few documents, for the tests of what measures."""


def cell(operation: str, phase: str, library: str, wall: list[float], **more: Any) -> Cell:
    """Return a measured cell: 10 MB of English in one thread, and the right ids, unless it says otherwise."""
    figures = {"text": "english", "tokenizer": "cl100k_base", "threads": 1, "status": "same", "bytes": 10_000_000}
    figures |= {"documents": 1000, "tokens": 2_000_000, "cpu": [*wall], "note": "equal to the ids of tiktoken"}
    figures |= {"runs": len(wall)}
    return Cell(operation=operation, phase=phase, library=library, wall=wall, **(figures | more))


def some_cells() -> list[Cell]:
    """Return cells of all kinds: won, lost, level, wrong, failed and not installed."""
    return [
        cell("encode", "cold", "bpe", [0.2, 0.1, 0.3], peak=[90_000_000]),
        cell("encode", "cold", "gigatoken", [0.1, 0.1, 0.1], way="buffers"),
        cell("encode", "cold", "gigatoken", [0.05, 0.05, 0.05], way="file"),
        cell("encode", "cold", "tiktoken", [0.25], bytes=2_500_000, tokens=500_000),
        cell("encode", "cold", "tokenizers", [0.01], status="different", note="not equal to the ids of tiktoken"),
        cell("count", "cold", "bpe", [0.04]),
        cell("decode", "warm", "bpe", [0.02]),
        cell("decode", "warm", "gigatoken", [0.02], note="equal to the text"),
        cell("decode", "warm", "tiktoken", [], status="failed", note="ValueError: no", bytes=0, tokens=0),
        cell("train", "", "bpe", [0.5], threads=2, tokenizer="32k", tokens=32_000),
        cell("train", "", "rustbpe", [], threads=2, tokenizer="32k", status="not installed", note="", tokens=0),
        cell("train", "", "tokenizers", [5.0], threads=2, tokenizer="32k", tokens=32_000),
        cell("train", "", "bpe", [1.0], threads=2, tokenizer="256k", tokens=256_000),
        cell("train", "", "gigatoken", [], threads=2, tokenizer="256k", status="too slow", limit=90, runs=1, bytes=0),
        cell("learn", "", "bpe", [2.0], threads=2, tokenizer="unigram 32k", tokens=32_000),
        cell("learn", "", "sentencepiece", [9.0], threads=2, tokenizer="unigram 32k", tokens=32_000),
        *(
            cell("growth", phase, "bpe", [seconds], text=f"{size} MB", bytes=size * 1_000_000, peak=[80_000_000])
            for phase, size, seconds in (("encode", 1, 0.1), ("encode", 100, 0.5), ("train", 1, 0.2), ("train", 64, 2))
        ),
        *(
            cell("growth", "hostile", "bpe", [seconds], text=name, bytes=20_000_000, peak=[80_000_000])
            for name, seconds in (("English", 0.2), ("one letter", 0.5))
        ),
        cell("start", "", "bpe", [0.2], way="command", text="one line", bytes=60, tokens=20),
        cell("start", "", "bpe", [0.04], way="library", text="one line", bytes=60, tokens=20),
        cell("start", "", "tiktoken", [0.1], text="one line", bytes=60, tokens=20),
        cell("start", "", "python", [0.01], way="alone", text="one line", status="baseline", bytes=0, tokens=0),
    ]


def some_round(**more: Any) -> dict[str, Any]:
    """Return the contents of a results.json."""
    head = {
        "date": "2026-01-02", "mode": "full", "repetitions": 5, "load": {"start": 0.02, "end": 1.0},
        "free_cores": [1.99, 1.98], "seconds": {"encode": 60.0, "total": 90.0},
        "core": "0123456789ab", "commit": "fedcba987654",
        "machine": {"cpu": "A CPU", "cores": 2, "instruction_sets": ["avx2"], "system": "Linux",
                    "architecture": "x86_64"},
        "versions": {"python": "3.12.1", "bpe": "0.1.0", "gigatoken": "0.10.0", "tiktoken": "0.14.0",
                     "tokenizers": "0.23.3", "sentencepiece": "0.2.3", "rustbpe": None},
        "texts": {"english": {"source": "english.txt", "bytes": 10_000_000, "documents": 1000, "sha256": "ab" * 32}},
    }  # fmt: skip
    return results.build(head | more, some_cells())
