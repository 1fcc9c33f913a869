"""Fastokens, in the way that makes it fastest: from a .tiktoken file if it knows the pattern by name."""

from __future__ import annotations

from array import array
from typing import Any

from benchmarks.jobs import Job, Task
from benchmarks.libraries.calls import calls, encoded

KNOWN = ("cl100k_base", "o200k_base")
"""Encodings whose patterns it scans by hand; any other it runs as a regular expression."""


class Fastokens:
    """Encodes lists of strings into one flat buffer."""

    distribution = "fastokens"
    stride = 1
    ways = ("",)
    operations = ("encode", "short", "decode_batch", "whole")
    kinds = ("byte-level", "stages")
    slow = False

    def load_from(self, job: Job) -> Any:
        """Read ranks or a tokenizer.json."""
        from fastokens import Tokenizer

        if job.tokenizer in KNOWN:
            return Tokenizer.from_tiktoken(job.ranks, encoding=job.tokenizer, special_tokens={})
        return Tokenizer.from_file(job.tokenizer_json)

    def encode(self, job: Job, documents: list[bytes]) -> Task:
        """Encode a list of strings into one flat buffer."""
        tokenizer, texts = self.load_from(job), [document.decode() for document in documents]
        return Task(lambda: tokenizer.encode_batch_flat(texts), lambda flat: array("I", flat[0]))

    def short(self, job: Job, texts: list[str], repeats: int) -> Task:
        """Encode each text in a call, and take the ids out."""
        tokenizer = self.load_from(job)
        return calls(lambda text: tokenizer.encode(text).ids, texts, repeats)

    def decode_batch(self, job: Job, lists: list[list[int]]) -> Task:
        """Decode lists of numbers into strings."""
        tokenizer = self.load_from(job)
        return Task(lambda: tokenizer.decode_batch(lists), encoded)

    whole = """\
import sys, fastokens
tokenizer = fastokens.Tokenizer.from_tiktoken(sys.argv[4], encoding=sys.argv[1], special_tokens={})
documents = open(sys.argv[7], encoding="utf-8", newline="").read().split("\\0")
open(sys.argv[8], "wb").write(tokenizer.encode_batch_flat(documents)[0])"""
