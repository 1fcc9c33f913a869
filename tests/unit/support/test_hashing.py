"""A hash computed beside is the hash, whatever comes how fast; no thread is left behind."""

from __future__ import annotations

import threading
from hashlib import sha256

import pytest

from bpe_cli.support.hashing import digest


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("sizes", [[], [0], [5], [1 << 20] * 40, [1, 1 << 22, 3] * 5])
def test_it_is_the_hash(threads, sizes):
    before = threading.active_count()
    parts = [bytes([number % 256]) * size for number, size in enumerate(sizes)]
    hashed = digest(threads)
    for part in parts:
        hashed.update(memoryview(part))
    assert hashed.hexdigest() == sha256(b"".join(parts)).hexdigest()
    assert threading.active_count() == before
    hashed.update(b"more")
    assert hashed.hexdigest() == sha256(b"".join(parts) + b"more").hexdigest()


def test_without_threads_it_is_computed_at_once(monkeypatch):
    def refuse(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    hashed = digest(2)
    hashed.update(b"ab")
    hashed.update(b"c")
    assert hashed.hexdigest() == sha256(b"abc").hexdigest()
