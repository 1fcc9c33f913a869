"""Splintr, from our .tiktoken file or tokenizer.json."""

from __future__ import annotations

import itertools
from array import array
from pathlib import Path
from typing import Any

from benchmarks.jobs import Job, Task
from benchmarks.libraries.calls import calls, encoded


class Splintr:
    """Encodes lists of strings into one flat buffer."""

    distribution = "splintr-rs"
    stride = 2
    ways = ("",)
    operations = ("encode", "short", "decode_batch", "stream", "start", "whole")
    kinds = ("byte-level", "stages", "wordpiece", "unigram", "sentencepiece")
    slow = True

    def load_from(self, job: Job) -> Any:
        """Read ranks, or a tokenizer.json."""
        import splintr

        if job.ranks:
            # With ours of a known encoding it fails.
            pattern = getattr(splintr, f"{job.tokenizer.upper()}_PATTERN", job.pattern)
            return splintr.Tokenizer.from_bytes(Path(job.ranks).read_bytes(), pattern)
        return splintr.from_json(job.tokenizer_json)

    def encode(self, job: Job, documents: list[bytes]) -> Task:
        """Encode a list of strings into one flat buffer.

        It puts the special tokens of a tokenizer.json around each document; they are taken away for
        the comparison.
        """
        tokenizer, texts = self.load_from(job), [document.decode() for document in documents]
        around = list(tokenizer.encode("")) if not job.ranks else []
        bare = list(tokenizer.encode_raw("a")) if around else []
        before = list(tokenizer.encode("a")).index(bare[0]) if around else 0
        after = len(around) - before

        def ids(flat: Any) -> array[int]:
            numbers, ends = array("I", flat[0]), array("Q", flat[1])
            if not around:
                return numbers
            kept = array("I")
            for start, end in itertools.pairwise(ends):
                kept += numbers[start + before : end - after]
            return kept

        return Task(lambda: tokenizer.encode_batch_flat(texts), ids)

    def short(self, job: Job, texts: list[str], repeats: int) -> Task:
        """Encode each text in a call."""
        return calls(self.load_from(job).encode_ordinary, texts, repeats)

    def decode_batch(self, job: Job, lists: list[list[int]]) -> Task:
        """Decode lists of numbers into strings."""
        tokenizer = self.load_from(job)
        return Task(lambda: tokenizer.decode_batch(lists), encoded)

    def stream(self, job: Job, ids: array[int]) -> Task:
        """Decode token by token."""
        tokenizer, numbers = self.load_from(job), ids.tolist()

        def run() -> str:
            decoder = tokenizer.streaming_decoder()
            parts = [decoder.add_token(number) for number in numbers]
            return "".join(part for part in parts if part) + decoder.flush()

        return Task(run, str.encode)

    _LOADING = """\
import sys, splintr
pattern = getattr(splintr, sys.argv[1].upper() + "_PATTERN")
tokenizer = splintr.Tokenizer.from_bytes(open(sys.argv[4], "rb").read(), pattern)
"""
    start = _LOADING + "print(*tokenizer.encode_ordinary(sys.argv[2]))"
    whole = (
        _LOADING
        + """\
documents = open(sys.argv[7], encoding="utf-8", newline="").read().split("\\0")
open(sys.argv[8], "wb").write(tokenizer.encode_batch_flat(documents)[0])"""
    )
