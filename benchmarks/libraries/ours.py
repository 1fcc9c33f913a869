"""This project."""

from __future__ import annotations

from array import array
from typing import Any

from benchmarks.jobs import Job, Task
from benchmarks.texts import LINE


class Bpe:
    """Encodes blocks of documents, as the command does."""

    distribution = "bpe-cli"
    stride = 1
    ways = ("",)
    operations = ("encode", "count", "decode", "train", "load", "start")
    kinds = ("byte-level", "wordpiece", "unigram", "sentencepiece")
    slow = False

    def load_from(self, job: Job) -> Any:
        """Load a tokenizer, and compile it: the others are compiled when they are loaded."""
        from bpe_cli import load
        from bpe_cli.tokenizer.named_encodings import ENCODINGS

        if job.load in ENCODINGS:
            tokenizer = load(job.load)
        else:
            tokenizer = load(job.load, pattern=job.pattern if job.ranks else None)
        tokenizer.encode("a")
        return tokenizer

    def encode(self, job: Job, documents: list[bytes]) -> Task:
        """Encode a block of documents."""
        from bpe_cli.support.blocks import Block

        tokenizer, block = self.load_from(job), Block.of(documents)
        return Task(lambda: tokenizer.encode_block(block, None, job.threads)[0], lambda ids: array("I", bytes(ids)))

    def count(self, job: Job, documents: list[bytes]) -> Task:
        """Count tokens without making ids."""
        from bpe_cli.support.blocks import Block

        tokenizer, block = self.load_from(job), Block.of(documents)
        return Task(lambda: tokenizer.count_block(block, None, job.threads), sum)

    def decode(self, job: Job, ids: array[int]) -> Task:
        """Decode an array of ids."""
        tokenizer = self.load_from(job)
        return Task(lambda: tokenizer.decode_bytes(ids), bytes)

    def load(self, job: Job) -> Task:
        """Read a tokenizer.json and make it ready to encode."""
        from bpe_cli import load

        def run() -> Any:
            tokenizer = load(job.tokenizer_json)
            tokenizer.encode("a")
            return tokenizer

        return Task(run, lambda tokenizer: array("I", tokenizer.encode(LINE)))

    def train(self, job: Job, documents: list[bytes]) -> Task:
        """Count pieces and learn merges."""
        from bpe_cli.support.blocks import Block
        from bpe_cli.trainers import bbpe

        options = bbpe.BbpeOptions(vocab_size=job.vocab_size, pattern=job.pattern, compat=job.rules)  # type: ignore[arg-type]
        block = Block.of(documents)

        def run() -> Any:
            counts = bbpe.new_counts()
            bbpe.TRAINER.count([block], options, counts, job.threads)
            return bbpe.TRAINER.train(counts, options)

        return Task(run, lambda trained: [token for _, token in trained.tokenizer.model.vocabulary.items()])

    start = "import sys, bpe_cli; print(*bpe_cli.load(sys.argv[1]).encode(sys.argv[2]))"
