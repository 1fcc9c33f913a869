"""The memory of long lists of ids is kept for the next, never while somebody holds them, nor where it is limited."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from bpe_cli import load
from bpe_cli.support.blocks import Block
from tests.needs import NO_PROC, skip

LINE = b"of the whole text some words and some more of them %d\n"
LONG = 8_500_000
"""Bytes of a text whose ids have memory that is kept: an id for each byte is room for 34 MB."""


@pytest.fixture
def tokenizer():
    if not Path("/proc/self/maps").exists():
        skip(NO_PROC)
    tokenizer = load("gpt2")
    tokenizer.clear_cache()
    yield tokenizer
    tokenizer.clear_cache()


def text(seed: int, length: int = LONG) -> bytes:
    line = LINE % seed
    return (line * (length // len(line) + 1))[:length]


def encoded(tokenizer, data: bytes, threads: int = 1) -> np.ndarray:
    return np.asarray(tokenizer.encode_block(Block.of([data]), threads=threads)[0])


@cache
def expected(seed: int) -> np.ndarray:
    """Return the ids of a text as its lines have them, each encoded by itself."""
    line = LINE % seed
    whole, rest = divmod(LONG, len(line))
    one, last = (load("gpt2").encode(part) for part in (line, line[:rest]))
    return np.array(one * whole + last, np.uint32)


def is_mapped(address: int) -> bool:
    """Return whether this process has memory at an address."""
    for line in Path("/proc/self/maps").read_text(encoding="ascii").splitlines():
        start, _, end = line.split()[0].partition("-")
        if int(start, 16) <= address < int(end, 16):
            return True
    return False


def address_after(tokenizer, data: bytes) -> int:
    """Encode a text, let its ids go, and return where they were."""
    ids = encoded(tokenizer, data)
    address = ids.ctypes.data
    assert is_mapped(address)
    del ids
    gc.collect(1)  # of what is new; to look through all that other tests have left takes seconds
    return address


def alone(script: str, repository: Path) -> list[str]:
    """Run a script in a process of its own, whose allocator maps each long list by itself; return what it prints.

    Elsewhere it may take one from a heap that earlier tests made long, which stays mapped when the list is freed.
    """
    if not Path("/proc/self/maps").exists():
        skip(NO_PROC)
    begin = """
from bpe_cli import load
from bpe_cli.support.blocks import Block
from tests.unit.core.test_kept_memory import address_after, is_mapped, text, used
tokenizer = load("gpt2")
"""
    # The GNU C library's own names, from mallopt(3): set, they change no more, and the heap stays short.
    settings = {"MALLOC_MMAP_THRESHOLD_": "1048576", "MALLOC_TRIM_THRESHOLD_": "131072", "MALLOC_TOP_PAD_": "0"}
    command = [sys.executable, "-c", begin + script]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=repository, env=os.environ | settings
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("threads", [1, 2])
def test_the_next_ids_take_the_memory_of_the_last(tokenizer, threads):
    for seed in (1, 22):
        address = address_after(tokenizer, text(333))
        assert is_mapped(address), "kept"
        ids = encoded(tokenizer, text(seed), threads)
        assert ids.ctypes.data == address
        assert np.array_equal(ids, expected(seed))
        del ids


def test_shorter_and_longer_texts_come_out_right(tokenizer):
    line = encoded(tokenizer, text(1, 600_000)).copy()
    for length in (LONG, LONG // 2, 100, LONG + 2_000_000, 3_000_000, LONG):
        ids = encoded(tokenizer, text(1, length))
        assert tokenizer.decode_bytes(ids) == text(1, length)
        shared = min(len(ids), len(line)) - 1
        assert np.array_equal(ids[:shared], line[:shared])
        del ids


def test_a_few_ids_do_not_hold_all_of_it(tokenizer):
    address = address_after(tokenizer, text(1))
    few = encoded(tokenizer, text(1, LONG // 30))
    assert few.ctypes.data != address
    assert is_mapped(address)


def test_ids_that_somebody_holds_stay(tokenizer):
    first = encoded(tokenizer, text(1))
    copy = first.copy()
    second = encoded(tokenizer, text(22))
    assert second.ctypes.data != first.ctypes.data
    view = memoryview(first)[1000:]
    del first
    third = encoded(tokenizer, text(333))
    assert np.array_equal(np.asarray(view), copy[1000:])
    assert third.ctypes.data != second.ctypes.data


CLEARED = """
address = address_after(tokenizer, text(1))
kept = is_mapped(address)
tokenizer.clear_cache()
print(kept, is_mapped(address))
"""


def test_clearing_the_cache_gives_it_back(repository):
    assert alone(CLEARED, repository) == ["True", "False"]


LIMITED = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (1 << 46, -1))
print(is_mapped(address_after(tokenizer, text(1))))
"""


def test_nothing_is_kept_where_addresses_are_limited(repository):
    assert alone(LIMITED, repository) == ["False"]


REFUSED = """
import resource
longer = Block.of([text(1, 12_000_000)])  # whose ids have more room than what is kept
address = address_after(tokenizer, text(1))
kept = is_mapped(address)
resource.setrlimit(resource.RLIMIT_AS, (used() + (6 << 20), -1))
ids, _ = tokenizer.encode_block(longer)
print(kept, is_mapped(address), len(ids))
"""


def used() -> int:
    """Return the bytes of addresses that this process has."""
    status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in status if line.startswith("VmSize")).split()[1]) * 1024


def test_it_is_given_back_before_memory_is_refused(tokenizer, repository):
    """Where addresses are limited only after it was kept, the first request that is refused has it given back."""
    length = len(encoded(tokenizer, text(1, 12_000_000)))
    assert alone(REFUSED, repository) == ["True", "False", str(length)]


def test_a_copy_of_the_process_has_its_own(tokenizer):
    """What a fork copied is written to by both: neither sees the other's ids."""
    ids_of_22 = expected(22)
    address_after(tokenizer, text(1))
    process = os.fork()
    if process == 0:
        os._exit(0 if np.array_equal(encoded(tokenizer, text(22)), ids_of_22) else 1)
    ids = encoded(tokenizer, text(1))
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
    assert np.array_equal(ids, expected(1))


def test_threads_take_it_in_turns(tokenizer):
    seeds = (1, 22)
    of_seed = {seed: expected(seed) for seed in seeds}
    wrong = []

    def work(seed):
        results = (encoded(tokenizer, text(seed)) for _ in range(4))
        wrong.extend(seed for ids in results if not np.array_equal(ids, of_seed[seed]))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in seeds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
