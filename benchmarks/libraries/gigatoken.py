"""Gigatoken, without special tokens: it knows no other way to take them for plain text."""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import Any

from benchmarks.jobs import Job, Task
from benchmarks.libraries.calls import calls, encoded
from benchmarks.texts import SEPARATOR


class Gigatoken:
    """Encodes borrowed buffers, or files that it reads itself."""

    distribution = "gigatoken"
    stride = 1
    ways = ("file", "buffers")
    operations = ("encode", "short", "decode", "decode_batch", "train", "start", "whole")
    kinds = ("byte-level", "stages", "sentencepiece")
    slow = False

    def load_from(self, job: Job) -> Any:
        """Read ranks, or a tokenizer.json where it has no name for the pattern."""
        from gigatoken import Tokenizer

        if not job.scheme:
            return Tokenizer.from_json(Path(job.tokenizer_json).read_text(encoding="utf-8"))
        return Tokenizer.from_tiktoken(job.ranks, pretokenizer=job.scheme, special_tokens={})

    def encode(self, job: Job, documents: list[bytes]) -> Task:
        """Encode borrowed buffers, or a file that it reads itself."""
        import awkward
        import numpy
        from gigatoken import BytesSource, TextFileSource

        tokenizer, parallel = self.load_from(job), job.threads > 1

        def ids(encoded: Any) -> array[int]:
            return array("I", numpy.asarray(awkward.flatten(encoded), dtype=numpy.uint32).tobytes())

        if job.way == "file":
            if job.stride != 1:
                raise ValueError("a file is read whole")
            documents.clear()
            return Task(
                lambda: tokenizer.encode_files(TextFileSource([job.text], separator=SEPARATOR), parallel=parallel), ids
            )
        return Task(lambda: tokenizer.encode_batch(BytesSource(documents), parallel=parallel), ids)

    def decode(self, job: Job, ids: array[int]) -> Task:
        """Decode a NumPy array, which it borrows."""
        import numpy

        tokenizer, numbers = self.load_from(job), numpy.frombuffer(ids, dtype=numpy.uint32)
        return Task(lambda: tokenizer.decode(numbers), bytes)

    def short(self, job: Job, texts: list[str], repeats: int) -> Task:
        """Encode each text in a call."""
        return calls(self.load_from(job).encode, texts, repeats, lambda ids: ids.tolist())

    def decode_batch(self, job: Job, lists: list[list[int]]) -> Task:
        """Decode lists of numbers into byte strings, one after the other: it knows no batches."""
        tokenizer = self.load_from(job)
        return Task(lambda: [tokenizer.decode(numbers).decode() for numbers in lists], encoded)

    def train(self, job: Job, documents: list[bytes]) -> Task:
        """Train with GPT-2's pattern, the only one it trains with."""
        from gigatoken import train_bpe

        def tokens(trained: Any) -> list[bytes]:
            vocabulary = trained[0]
            return [vocabulary[token_id] for token_id in sorted(vocabulary)]

        return Task(lambda: train_bpe(SEPARATOR.join(documents), job.vocab_size, [], separator=SEPARATOR), tokens)

    _LOADING = """\
import sys, gigatoken
tokenizer = gigatoken.Tokenizer.from_tiktoken(sys.argv[4], pretokenizer=sys.argv[6], special_tokens={})
"""
    start = _LOADING + "print(*tokenizer.encode(sys.argv[2]))"
    whole = (
        _LOADING
        + """\
import awkward, numpy
source = gigatoken.TextFileSource([sys.argv[7]], separator=b"\\0")
encoded = tokenizer.encode_files(source, parallel=sys.argv[9] != "1")
numpy.asarray(awkward.flatten(encoded), dtype=numpy.uint32).tofile(sys.argv[8])"""
    )
