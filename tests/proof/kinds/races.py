"""One tokenizer in many threads at once, with caches that are full, and processes that fork or end in the middle."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

from benchmarks import worst
from bpe_cli.errors import InputError
from bpe_cli.support.blocks import Block
from bpe_cli.support.fast_dataclass import replace
from bpe_cli.tokenizer import Tokenizer, named_encodings
from tests.cli_runner import surroundings
from tests.every_format import KINDS, trained
from tests.needs import posix
from tests.proof.attempts import ROOT, Found, Proof
from tests.proof.child import Child, child
from tests.proof.kinds.texts import any_bytes

THREADS = 16
"""As many as use one tokenizer, each with a text of its own."""

TEXTS = 20
"""How many texts there are, beside one that is full of new words."""

NAMED = ("gpt2", "cl100k_base", "o200k_base")

NEW_WORDS = 400_000
"""Bytes of words that no cache has, in each text that is full of them."""

LONGEST_FORK = 40
"""Seconds after which a copy of a process ends that waits for what only the original can give."""


def fresh(name: str) -> Tokenizer:
    """Return a tokenizer that nobody has used: compiled, and with caches, of its own."""
    tokenizer = named_encodings.named(name) if name in NAMED else trained(name)
    return replace(tokenizer, name=f"{tokenizer.name} again")


def texts_of(seed: int, number: int) -> list[bytes]:
    """Return texts, some of them so full of new words that caches evict what they have."""
    chance = Random(seed)
    random.seed(seed)  # what draws words
    return [*(any_bytes(chance, chance.choice((10, 1000, 30_000))) for _ in range(number)), worst.words(NEW_WORDS)]


def uses(tokenizer: Tokenizer, text: bytes) -> list[Any]:
    """Return what all ways to use a tokenizer make of a text."""
    ids = tokenizer.encode(text)
    block = Block.of([text])
    return [
        ids,
        tokenizer.encode_block(block, threads=2)[0].tolist(),
        tokenizer.count_block(block).tolist(),
        tokenizer.decode_bytes(ids),
        [token.token_id for token in tokenizer.tokens(text)] if len(text) <= 1000 else [],
    ]


def alike(name: str, seed: int, run: Callable[[Tokenizer, list[bytes]], list[Any]]) -> str | None:
    """Return what is wrong with what ``run`` makes of texts, beside a tokenizer that one thread uses alone."""
    texts = [text.decode("utf-8", "ignore").encode() if name not in NAMED else text for text in texts_of(seed, TEXTS)]
    alone = fresh(name)
    known = [text for text in texts if not unknown(alone, text)]
    expected = [uses(alone, text) for text in known]
    found = run(fresh(name), known)
    wrong = [number for number, pair in enumerate(zip(found, expected, strict=True)) if pair[0] != pair[1]]
    return f"{name}: texts {wrong[:10]} of {len(known)} have other results" if wrong else None


def unknown(tokenizer: Tokenizer, text: bytes) -> bool:
    """Return whether a tokenizer has no token for something in a text."""
    try:
        tokenizer.encode(text)
    except InputError:
        return True
    return False


# -- in a process of its own -----------------------------------------------------------------------


def warm() -> None:
    """Load what all attempts use."""
    fresh("gpt2").encode("warm")


def in_threads(name: str, seed: int) -> str | None:
    """Use one tokenizer in many threads, all of which begin at once."""

    def run(tokenizer: Tokenizer, texts: list[bytes]) -> list[Any]:
        barrier = threading.Barrier(max(1, min(THREADS, len(texts))))

        def one(number: int) -> Any:
            if number < barrier.parties:
                barrier.wait()
            return uses(tokenizer, texts[number])

        before = sys.getswitchinterval()
        sys.setswitchinterval(1e-5)
        try:
            with ThreadPoolExecutor(THREADS) as pool:
                return list(pool.map(one, range(len(texts))))
        finally:
            sys.setswitchinterval(before)

    return alike(name, seed, run)


def forked(name: str, seed: int) -> str | None:
    """Fork while threads use a tokenizer, and use it in the copy."""
    import warnings

    warnings.simplefilter("ignore", DeprecationWarning)  # of forking with threads, which is what is tried

    def run(tokenizer: Tokenizer, texts: list[bytes]) -> list[Any]:
        expected = [uses(tokenizer, text) for text in texts]
        over = threading.Event()

        def go_on() -> None:
            while not over.is_set():
                for text in texts:
                    tokenizer.encode(text)

        threads = [threading.Thread(target=go_on) for _ in range(4)]
        for thread in threads:
            thread.start()
        try:
            statuses = []
            for _ in range(5):
                if (pid := os.fork()) == 0:
                    signal.alarm(LONGEST_FORK)
                    status = 1
                    try:
                        status = int([uses(tokenizer, text) for text in texts] != expected)
                    finally:
                        os._exit(status)
                statuses.append(os.waitpid(pid, 0)[1])
        finally:
            over.set()
            for thread in threads:
                thread.join()
        if any(statuses):
            raise RuntimeError(f"copies of the process ended with {statuses}")
        return expected

    return alike(name, seed, run)


EXIT = """
import sys, threading
from tests.proof.kinds.races import fresh, texts_of
tokenizer, texts = fresh(sys.argv[1]), texts_of(int(sys.argv[2]), 5)

def go_on():
    while True:
        for text in texts:
            tokenizer.encode(text.decode("utf-8", "ignore"))

for _ in range(4):
    threading.Thread(target=go_on, daemon=True).start()
threading.Event().wait(float(sys.argv[3]))
"""
"""A program that ends while its threads encode."""


# -- the proof -------------------------------------------------------------------------------------


@contextmanager
def begin(_: Path) -> Iterator[Child]:
    """Have a process in which threads may do what they like."""
    posix("fcntl", "needs processes that fork, which Windows has not")
    with child(warm) as process:
        yield process


def attempt(process: Child, chance: Random, number: int) -> Counter[str]:
    """Let threads, a fork or the end of the interpreter meet a tokenizer at work."""
    name, seed = chance.choice((*NAMED, *KINDS)), chance.getrandbits(32)
    way = number % 3
    if way == 2:
        name = chance.choice(NAMED)
        command = [sys.executable, "-c", EXIT, name, str(seed), f"{chance.random() * 0.3:.3f}"]
        done = subprocess.run(command, cwd=ROOT, env=surroundings(None), capture_output=True, check=False, timeout=120)
        if done.returncode != 0 or done.stderr:
            raise Found(f"the interpreter ends with status {done.returncode} while threads encode with {name}",
                        {"stderr.txt": done.stderr})  # fmt: skip
        return Counter({"interpreters that ended in the middle": 1})
    work = forked if way else in_threads
    wrong = process.ask(work, name, seed)
    if wrong is not None:
        raise Found(f"{work.__name__}, seed {seed}: {wrong}")
    return Counter({"forks in the middle": 5} if way else {f"tokenizers shared by {THREADS} threads": 1})


PROOF = Proof(
    title="Races",
    claim="16 threads begin to use one tokenizer at the same moment, on more new words than its caches hold. Each "
    "gets what a single thread gets: ids, counts, tokens and texts. A process that is forked meanwhile still gives "
    "the right results, and an interpreter that exits meanwhile exits cleanly. `make sanitize` runs the core's own "
    "tests under AddressSanitizer; `make test-schedules` runs them in chosen orders of threads.",
    begin=begin,
    attempt=attempt,
)
