"""This project."""

from __future__ import annotations

from array import array
from typing import Any

from benchmarks.jobs import Job, Task
from benchmarks.libraries.calls import calls, encoded, spans
from benchmarks.texts import LINE


class Bpe:
    """Encodes one text, or many separate ones (``buffers``), which it lays one behind the other inside the clock."""

    distribution = "bpe-cli"
    stride = 1
    ways = ("", "buffers")
    operations = (
        "encode", "count", "tokens", "short", "decode", "decode_batch", "stream", "train", "load", "start"
    )  # fmt: skip
    kinds = ("byte-level", "stages", "wordpiece", "unigram", "sentencepiece")
    slow = False

    def load_from(self, job: Job) -> Any:
        """Load a tokenizer."""
        from bpe_cli import load
        from bpe_cli.tokenizer.named_encodings import ENCODINGS

        if job.load in ENCODINGS:
            return load(job.load)
        return load(job.load, pattern=job.pattern if job.ranks else None)

    def encode(self, job: Job, documents: list[bytes]) -> Task:
        """Encode the text in one, or a list of byte strings."""
        tokenizer = self.load_from(job)
        if job.way == "buffers":
            return Task(
                lambda: tokenizer.encode_batch(documents, threads=job.threads), lambda batch: array("I", batch.ids)
            )
        from bpe_cli.support.blocks import Block

        whole = b"".join(documents)
        documents.clear()
        return Task(
            lambda: tokenizer.encode_block(Block.of([whole]), None, job.threads)[0], lambda ids: array("I", bytes(ids))
        )

    def count(self, job: Job, documents: list[bytes]) -> Task:
        """Count tokens without making ids."""
        tokenizer = self.load_from(job)
        return Task(lambda: tokenizer.count_batch(documents, threads=job.threads), sum)

    def tokens(self, job: Job, documents: list[bytes]) -> Task:
        """Return the tokens of a text with their offsets: as objects, or in columns."""
        tokenizer, texts = self.load_from(job), [document.decode() for document in documents]
        if job.way == "columns":
            return Task(
                lambda: [tokenizer.place(text) for text in texts],
                lambda placed: spans([(each.ids, each.starts, each.ends) for each in placed], texts),
            )

        def places(found: list[list[Any]]) -> tuple[list[int], list[tuple[int, int]]]:
            tokens = [token for each in found for token in each]
            return [token.token_id for token in tokens], [(token.char_start, token.char_end) for token in tokens]

        return Task(lambda: [tokenizer.tokens(text) for text in texts], places)

    def short(self, job: Job, texts: list[str], repeats: int) -> Task:
        """Encode each text in a call."""
        return calls(self.load_from(job).encode, texts, repeats)

    def decode(self, job: Job, ids: array[int]) -> Task:
        """Decode an array of ids."""
        tokenizer = self.load_from(job)
        return Task(lambda: tokenizer.decode_bytes(ids), bytes)

    def decode_batch(self, job: Job, lists: list[list[int]]) -> Task:
        """Decode lists of numbers into strings."""
        tokenizer = self.load_from(job)
        return Task(lambda: tokenizer.decode_batch(lists), encoded)

    def stream(self, job: Job, ids: array[int]) -> Task:
        """Decode token by token."""
        from bpe_cli import StreamDecoder

        tokenizer, numbers = self.load_from(job), ids.tolist()

        def run() -> str:
            decoder = StreamDecoder(tokenizer)
            parts = [decoder.feed([number]) for number in numbers]
            return "".join(parts) + decoder.finish()

        return Task(run, str.encode)

    def load(self, job: Job) -> Task:
        """Read a tokenizer.json and make it ready to encode."""
        from bpe_cli import load

        def run() -> Any:
            tokenizer = load(job.tokenizer_json)
            tokenizer.encode("a")  # what is compiled at the first text is part of it
            return tokenizer

        return Task(run, lambda tokenizer: array("I", tokenizer.encode(LINE)))

    def train(self, job: Job, documents: list[bytes]) -> Task:
        """Count pieces and learn merges."""
        from bpe_cli.support.blocks import Block
        from bpe_cli.trainers import bbpe

        options = bbpe.BbpeOptions(vocab_size=job.vocab_size, pattern=job.pattern, compat=job.rules)  # type: ignore[arg-type]

        def run() -> Any:
            counts = bbpe.new_counts()
            bbpe.TRAINER.count([Block.of(documents)], options, counts, job.threads)
            return bbpe.TRAINER.train(counts, options)

        return Task(run, lambda trained: [token for _, token in trained.tokenizer.model.vocabulary.items()])

    start = "import sys, bpe_cli; print(*bpe_cli.load(sys.argv[1]).encode(sys.argv[2]))"
