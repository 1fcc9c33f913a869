"""Tiktoken, its encoding built from our ranks, so that nothing is fetched."""

from __future__ import annotations

from array import array
from typing import Any

from benchmarks.jobs import Job, Task
from benchmarks.libraries.calls import calls, encoded


class Tiktoken:
    """Encodes lists of strings into lists of numbers."""

    distribution = "tiktoken"
    stride = 8
    ways = ("",)
    operations = ("encode", "short", "decode", "decode_batch", "start", "whole")
    kinds = ("byte-level",)
    slow = True

    def load_from(self, job: Job) -> Any:
        """Read the ranks as tiktoken reads its cached ones."""
        import tiktoken
        from tiktoken.load import load_tiktoken_bpe

        ranks = load_tiktoken_bpe(job.ranks)
        return tiktoken.Encoding(job.tokenizer, pat_str=job.pattern, mergeable_ranks=ranks, special_tokens={})

    def encode(self, job: Job, documents: list[bytes]) -> Task:
        """Encode a list of strings into lists of numbers."""
        encoding, texts = self.load_from(job), [document.decode() for document in documents]
        return Task(
            lambda: encoding.encode_ordinary_batch(texts, num_threads=job.threads),
            lambda lists: array("I", [token_id for ids in lists for token_id in ids]),
        )

    def decode(self, job: Job, ids: array[int]) -> Task:
        """Decode a list of numbers: twice as fast as an array."""
        encoding, numbers = self.load_from(job), ids.tolist()
        return Task(lambda: encoding.decode_bytes(numbers), bytes)

    def short(self, job: Job, texts: list[str], repeats: int) -> Task:
        """Encode each text in a call."""
        return calls(self.load_from(job).encode_ordinary, texts, repeats)

    def decode_batch(self, job: Job, lists: list[list[int]]) -> Task:
        """Decode lists of numbers into strings."""
        encoding = self.load_from(job)
        return Task(lambda: encoding.decode_batch(lists, num_threads=job.threads), encoded)

    _LOADING = """\
import sys, tiktoken
from tiktoken.load import load_tiktoken_bpe
ranks = load_tiktoken_bpe(sys.argv[4])
encoding = tiktoken.Encoding(sys.argv[1], pat_str=sys.argv[3], mergeable_ranks=ranks, special_tokens={})
"""
    start = _LOADING + "print(*encoding.encode_ordinary(sys.argv[2]))"
    whole = (
        _LOADING
        + """\
import os
from array import array
documents = open(sys.argv[7], encoding="utf-8", newline="").read().split("\\0")
with open(sys.argv[8], "wb") as file:
    for ids in encoding.encode_ordinary_batch(documents, num_threads=int(sys.argv[9])):
        array("I", ids).tofile(file)"""
    )
