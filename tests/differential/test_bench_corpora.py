"""Ids equal tiktoken's on the texts that speed is measured on: their beginnings, or all 184 MB when hunting.

All of it: HYPOTHESIS_PROFILE=slow python -m pytest tests/differential/test_bench_corpora.py
"""

from __future__ import annotations

import lzma
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.differential.rivals import compare_with_tiktoken
from tests.thorough import THOROUGH, more

BLOCK = more(1 << 20, 5 << 19)
"""Bytes of a document: long enough that the core cuts it for its threads, which take 256 KB at a time."""
BEGINNING = more(BLOCK, 5 << 20)


def documents(path: Path, limit: int | None) -> Iterator[str]:
    """Yield a compressed text in documents that end at line ends."""
    with lzma.open(path) as file:
        while (limit is None or limit > 0) and (data := file.read(BLOCK)):
            data += file.readline()
            if limit is not None:
                limit -= len(data)
            yield data.decode()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gpt2", "cl100k_base", "o200k_base"])
@pytest.mark.parametrize("corpus", ["english", "code", "chinese", "multilingual"])
def test_ids_of_bench_corpora(shared, corpus, name):
    total = size = 0
    for text in documents(shared / "corpora" / "bench" / f"{corpus}.txt.xz", None if THOROUGH else BEGINNING):
        total += compare_with_tiktoken(name, [text])
        size += len(text.encode())
    print(f"{corpus} {name}: {size:,} bytes, {total:,} ids")  # shown with -rP
    assert size >= BEGINNING
