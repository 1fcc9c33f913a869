"""Tokie, from the tokenizer.json that we write."""

from __future__ import annotations

from array import array
from typing import Any

from benchmarks.jobs import Job, Task
from benchmarks.libraries.calls import calls, encoded, spans


class Tokie:
    """Encodes lists of strings into one flat array."""

    distribution = "tokie"
    stride = 4
    ways = ("",)
    operations = ("encode", "count", "tokens", "short", "decode", "decode_batch")
    kinds = ("byte-level", "stages", "wordpiece", "unigram")
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

    def count(self, job: Job, documents: list[bytes]) -> Task:
        """Count the tokens of a list of strings."""
        tokenizer, texts = self.load_from(job), [document.decode() for document in documents]
        return Task(lambda: tokenizer.count_tokens_batch(texts), sum)

    def tokens(self, job: Job, documents: list[bytes]) -> Task:
        """Encode strings with the places of tokens, which it gives in bytes."""
        tokenizer, texts = self.load_from(job), [document.decode() for document in documents]

        def run() -> list[tuple[list[int], list[tuple[int, int]]]]:
            encodings = (tokenizer.encode_with_offsets(text, add_special_tokens=False) for text in texts)
            return [(encoding.ids, encoding.offsets) for encoding in encodings]

        return Task(
            run,
            lambda found: spans(
                [(ids, [start for start, _ in places], [end for _, end in places]) for ids, places in found], texts
            ),
        )

    def short(self, job: Job, texts: list[str], repeats: int) -> Task:
        """Encode each text in a call, and take the ids out."""
        tokenizer = self.load_from(job)
        return calls(lambda text: tokenizer.encode(text, add_special_tokens=False).ids, texts, repeats)

    def decode_batch(self, job: Job, lists: list[list[int]]) -> Task:
        """Decode lists of numbers into strings."""
        tokenizer = self.load_from(job)
        return Task(lambda: tokenizer.decode_batch(lists), encoded)

    def decode(self, job: Job, ids: array[int]) -> Task:
        """Decode a list of numbers."""
        tokenizer, numbers = self.load_from(job), ids.tolist()
        return Task(lambda: tokenizer.decode_bytes(numbers), bytes)
