"""Rustbpe, which only trains."""

from __future__ import annotations

from benchmarks.jobs import Job, Task


class RustBpe:
    """Trains with ties of its own."""

    distribution = "rustbpe"
    stride = 1
    ways = ("",)
    operations = ("train",)
    kinds = ("byte-level",)
    slow = True

    def train(self, job: Job, documents: list[bytes]) -> Task:
        """Train on an iterator of strings."""
        from rustbpe import Tokenizer

        tokenizer, texts = Tokenizer(), [document.decode() for document in documents]

        def tokens(_: None) -> list[bytes]:
            return [bytes(token) for token, _ in sorted(tokenizer.get_mergeable_ranks(), key=lambda rank: rank[1])]

        return Task(lambda: tokenizer.train_from_iterator(texts, job.vocab_size, pattern=job.pattern), tokens)
