"""Tokie, from the tokenizer.json that we write."""

from __future__ import annotations

from array import array
from typing import Any

from benchmarks.jobs import Job, Task


class Tokie:
    """Encodes lists of strings into one flat array."""

    distribution = "tokie"
    stride = 4
    ways = ("",)
    operations = ("encode", "decode")
    kinds = ("byte-level", "wordpiece", "unigram")
    slow = True

    def load_from(self, job: Job) -> Any:
        """Read a tokenizer.json."""
        from tokie import Tokenizer

        return Tokenizer.from_json(job.tokenizer_json)

    def encode(self, job: Job, documents: list[bytes]) -> Task:
        """Encode a list of strings into one flat array."""
        tokenizer, texts = self.load_from(job), [document.decode() for document in documents]
        return Task(
            lambda: tokenizer.encode_batch_flat(texts, add_special_tokens=False),
            lambda flat: array("I", flat[0].tobytes()),
        )

    def decode(self, job: Job, ids: array[int]) -> Task:
        """Decode a list of numbers."""
        tokenizer, numbers = self.load_from(job), ids.tolist()
        return Task(lambda: tokenizer.decode_bytes(numbers), bytes)
