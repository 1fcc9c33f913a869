"""A used tokenizer goes wherever programs take it: into other processes, by every way, and into threads."""

from __future__ import annotations

import multiprocessing
import pickle
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest

import bpe_cli
from tests import forking
from tests.encoded import Encoded
from tests.every_format import trained
from tests.needs import needs, only_where

TEXTS = ["hello world", "naïve 你好", "", "<|endoftext|> x"] * 20

FORKED_WHILE_COMPILING = """
import os, pickle, signal, threading, warnings
import bpe_cli
from bpe_cli.tokenizer.engine import compiled

warnings.simplefilter("ignore")  # of a fork with threads, since Python 3.12
one, other = [pickle.loads(pickle.dumps(bpe_cli.load(name))) for name in ("gpt2", "gpt-4o")]  # nothing is compiled
inside, go = threading.Event(), threading.Event()
core = compiled._core

class Slow:
    def __getattr__(self, name):
        if name == "Encoder" and threading.current_thread() is not threading.main_thread():
            inside.set()
            go.wait()
        return getattr(core, name)

compiled._core = Slow()
thread = threading.Thread(target=one.encode, args=("hello",))
thread.start()
inside.wait()
child = os.fork()
if child == 0:
    signal.alarm(60)  # ends a deadlock
    try:
        print(one.encode("hello"), other.encode("hello"), flush=True)
    finally:
        os._exit(0)
status = os.waitpid(child, 0)[1]
go.set()
thread.join()
print(status, one.encode("hello"))
"""


def used(kind: str):
    tokenizer = bpe_cli.load(kind) if kind == "gpt2" else trained(kind)
    tokenizer.encode_batch(TEXTS, threads=2)
    assert tokenizer.vocab
    return tokenizer


def encode(tokenizer, text: str) -> list[int]:
    return tokenizer.encode(text, specials="all")


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_processes_however_they_begin(method):
    tokenizers = {kind: used(kind) for kind in ("gpt2", "bbpe", "wordpiece")}  # before there are processes to fork
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        for kind, tokenizer in tokenizers.items():
            data = Encoded(tokenizer, TEXTS)
            found = list(pool.map(data.__getitem__, range(len(TEXTS)), chunksize=8))
            assert found == [tokenizer.encode(text) for text in TEXTS], kind


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_the_workers_of_a_data_loader(method):
    torch = needs("torch.utils.data", "torch")
    tokenizer = used("gpt2")
    loader = torch.DataLoader(
        Encoded(tokenizer, TEXTS), batch_size=16, num_workers=2, collate_fn=list, multiprocessing_context=method
    )
    assert [ids for batch in loader for ids in batch] == [tokenizer.encode(text) for text in TEXTS]


@pytest.mark.parametrize("kind", ["gpt2", "bbpe"])
def test_datasets_with_several_processes(kind, tmp_path, monkeypatch):
    datasets = needs("datasets")
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    datasets.disable_progress_bars()
    tokenizer = used(kind)
    data = datasets.Dataset.from_dict({"text": TEXTS})
    mapped = data.map(
        lambda batch: {"ids": tokenizer.encode_batch(batch["text"], threads=1).to_lists()},
        batched=True, batch_size=16, num_proc=2,
    )  # fmt: skip
    assert mapped["ids"][:] == [tokenizer.encode(text) for text in TEXTS]


def test_a_tokenizer_is_told_apart_by_what_datasets_hashes():
    """The cache of ``map`` goes by this: a used tokenizer is the same as one that is not."""
    needs("datasets")
    from datasets.fingerprint import Hasher

    fresh = pickle.loads(pickle.dumps(trained("bbpe")))
    before = Hasher.hash(fresh)
    fresh.encode_batch(TEXTS)
    assert Hasher.hash(fresh) == before


def test_threads_share_one():
    tokenizer = pickle.loads(pickle.dumps(trained("bbpe")))  # nothing of it is compiled yet
    expected = [encode(trained("bbpe"), text) for text in TEXTS]
    ready = threading.Barrier(8)

    def work(_: int) -> list[list[int]]:
        ready.wait()
        return [encode(tokenizer, text) for text in TEXTS]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(8))) == [expected] * 8


@only_where(hasattr(__import__("os"), "fork"), "needs os.fork, which Windows has not")
def test_a_child_of_a_fork_goes_on():
    """Also while a thread of the parent's is encoding."""
    tokenizer = used("gpt2")
    stop = threading.Event()
    busy = threading.Thread(target=lambda: [tokenizer.encode_batch(TEXTS, threads=2) for _ in iter(stop.is_set, True)])
    busy.start()
    try:
        context = multiprocessing.get_context("fork")
        queue = context.SimpleQueue()
        child = context.Process(target=lambda: queue.put(tokenizer.encode_batch(TEXTS, threads=2).to_lists()))
        with pytest.warns(DeprecationWarning, match="fork") if _warns() else _nothing():
            child.start()
        found = queue.get()
        child.join(60)
    finally:
        stop.set()
        busy.join()
    assert found == tokenizer.encode_batch(TEXTS).to_lists()


@only_where(hasattr(__import__("os"), "fork"), "needs os.fork, which Windows has not")
def test_a_child_goes_on_though_a_thread_was_compiling(repository):
    """Whatever it encodes with: the tokenizer that was being compiled, or another."""
    done = forking.run(FORKED_WHILE_COMPILING, cwd=repository)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"[31373] [24912]\n0 [31373]\n", b"")


def _warns() -> bool:
    import sys

    return sys.version_info >= (3, 12)


def _nothing():
    from contextlib import nullcontext

    return nullcontext()
