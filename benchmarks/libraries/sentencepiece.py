"""SentencePiece's own library."""

from __future__ import annotations

from array import array
from typing import Any

from benchmarks.jobs import Job, Task


class SentencePiece:
    """Encodes lists of strings into lists of numbers."""

    distribution = "sentencepiece"
    stride = 4
    ways = ("",)
    operations = ("encode",)
    kinds = ("unigram", "sentencepiece")
    slow = True

    def load_from(self, job: Job) -> Any:
        """Read a model."""
        from sentencepiece import SentencePieceProcessor

        return SentencePieceProcessor(model_file=job.sentencepiece)

    def encode(self, job: Job, documents: list[bytes]) -> Task:
        """Encode a list of strings into lists of numbers."""
        model, texts = self.load_from(job), [document.decode() for document in documents]
        return Task(
            lambda: model.encode(texts, num_threads=job.threads),
            lambda lists: array("I", [token_id for ids in lists for token_id in ids]),
        )
