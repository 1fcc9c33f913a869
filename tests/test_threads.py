"""One tokenizer and one table of counts, used by several Python threads at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from bpe_cli.support.blocks import Block
from bpe_cli.tokenizer import named_encodings
from bpe_cli.trainers import bbpe
from tests import forking
from tests.differential.texts import corpus
from tests.thorough import more


@pytest.mark.parametrize("name", ["gpt2", "o200k_base"])
def test_a_tokenizer_is_shared(name):
    tokenizer = named_encodings.named(name)
    texts = [text.encode() for text in corpus().values()] * 5
    expected = [tokenizer.encode(text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(tokenizer.encode, texts)) == expected
        assert list(pool.map(tokenizer.decode_bytes, expected)) == texts
        counts = pool.map(lambda text: tokenizer.count_block(Block.of([text])).tolist(), texts)
        assert list(counts) == [[len(ids)] for ids in expected]


def test_counts_are_added_to_by_several():
    """In which order is then up to chance, and so is the order of the pieces; their counts are not."""
    options = bbpe.BbpeOptions(300)
    texts = [text.encode() for text in corpus().values()]
    alone, shared = bbpe.new_counts(), bbpe.new_counts()
    bbpe.TRAINER.count([Block.of(texts)], options, alone)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda text: bbpe.TRAINER.count([Block.of([text])], options, shared, 2), texts))
    assert sorted(shared.items(0, 1 << 30)) == sorted(alone.items(0, 1 << 30))


PREPARE = """
import random
import threading
from bpe_cli.support.blocks import Block
from bpe_cli.trainers import bbpe

chance = random.Random(0)
options = bbpe.BbpeOptions(1000)

def counted(letters):
    counts = bbpe.new_counts()
    words = " ".join("".join(chance.choices(letters, k=8)) for _ in range(20_000))
    bbpe.TRAINER.count([Block.of([words.encode()])], options, counts)
    return counts

counts = counted("abcdefghij")
"""
ASKED_IN_PROGRESS = """
bbpe.TRAINER.train(counts, options, progress=lambda *_: counts.unique)
"""
ASKED_BY_ANOTHER = """
training = threading.Thread(target=bbpe.TRAINER.train, args=(counts, options))
training.start()
while training.is_alive():
    counts.total
"""
MERGED_BOTH_WAYS = f"""
import sys
from bpe_cli import _core
sys.setswitchinterval(1e-5)
dumps = [counted(letters).dump() for letters in ("abcdefghij", "klmnopqrst")]

def merge(one, two):
    for _ in range(25):  # counts grow by half each time, and are refused from 2^64 on
        one.merge(two)

for _ in range({more(10, 40)}):
    one, two = [_core.Counts.load(dump, 1 << 30) for dump in dumps]
    threads = [threading.Thread(target=merge, args=pair) for pair in ((one, two), (two, one))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


@pytest.mark.parametrize("code", [ASKED_IN_PROGRESS, ASKED_BY_ANOTHER, MERGED_BOTH_WAYS], ids=["own", "other", "merge"])
def test_counts_in_use_can_be_used(code, repository):
    """Nobody waits for a lock that whoever holds it cannot give back; the limit of time is there to end a deadlock."""
    done = forking.run(PREPARE + code, cwd=repository)
    assert (done.returncode, done.stderr) == (0, b"")
