"""Hugging Face's tokenizers, from the tokenizer.json that we write."""

from __future__ import annotations

from array import array
from typing import Any

from benchmarks.jobs import Job, Task
from benchmarks.libraries.calls import calls, encoded
from benchmarks.texts import LINE


class Tokenizers:
    """Encodes lists of strings into its Encoding objects."""

    distribution = "tokenizers"
    stride = 20
    ways = ("",)
    operations = ("encode", "tokens", "short", "decode", "decode_batch", "stream", "train", "load", "start")
    kinds = ("byte-level", "stages", "wordpiece", "unigram", "sentencepiece")
    slow = True

    def load_from(self, job: Job) -> Any:
        """Read tokenizer.json, to take special tokens for plain text, as all others do."""
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(job.tokenizer_json)
        tokenizer.encode_special_tokens = True
        return tokenizer

    def encode(self, job: Job, documents: list[bytes]) -> Task:
        """Encode a list of strings, without offsets."""
        tokenizer, texts = self.load_from(job), [document.decode() for document in documents]
        return Task(
            lambda: tokenizer.encode_batch_fast(texts, add_special_tokens=False),
            lambda encodings: array("I", [token_id for encoding in encodings for token_id in encoding.ids]),
        )

    def tokens(self, job: Job, documents: list[bytes]) -> Task:
        """Encode a list of strings, with the places of tokens."""
        tokenizer, texts = self.load_from(job), [document.decode() for document in documents]

        def run() -> list[tuple[list[int], list[tuple[int, int]]]]:
            return [(each.ids, each.offsets) for each in tokenizer.encode_batch(texts, add_special_tokens=False)]

        def joined(found: list[tuple[list[int], list[tuple[int, int]]]]) -> tuple[list[int], list[tuple[int, int]]]:
            return [number for ids, _ in found for number in ids], [place for _, places in found for place in places]

        return Task(run, joined)

    def short(self, job: Job, texts: list[str], repeats: int) -> Task:
        """Encode each text in a call, and take the ids out."""
        tokenizer = self.load_from(job)
        return calls(lambda text: tokenizer.encode(text, add_special_tokens=False).ids, texts, repeats)

    def decode(self, job: Job, ids: array[int]) -> Task:
        """Decode a list of numbers into a string."""
        tokenizer, numbers = self.load_from(job), ids.tolist()
        return Task(lambda: tokenizer.decode(numbers, skip_special_tokens=False), str.encode)

    def decode_batch(self, job: Job, lists: list[list[int]]) -> Task:
        """Decode lists of numbers into strings."""
        tokenizer = self.load_from(job)
        return Task(lambda: tokenizer.decode_batch(lists, skip_special_tokens=False), encoded)

    def stream(self, job: Job, ids: array[int]) -> Task:
        """Decode token by token."""
        from tokenizers.decoders import DecodeStream

        tokenizer, numbers = self.load_from(job), ids.tolist()

        def run() -> str:
            stream = DecodeStream(skip_special_tokens=False)
            parts = [stream.step(tokenizer, number) for number in numbers]
            return "".join(part for part in parts if part is not None)

        return Task(run, str.encode)

    def load(self, job: Job) -> Task:
        """Read a tokenizer.json."""
        from tokenizers import Tokenizer

        return Task(
            lambda: Tokenizer.from_file(job.tokenizer_json),
            lambda tokenizer: array("I", tokenizer.encode(LINE, add_special_tokens=False).ids),
        )

    def train(self, job: Job, documents: list[bytes]) -> Task:
        """Train on an iterator of strings (its file mode cuts at every line)."""
        from tokenizers import Tokenizer, models, pre_tokenizers, trainers

        tokenizer, texts = Tokenizer(models.BPE()), [document.decode() for document in documents]
        byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False)  # with GPT-2's pattern
        tokenizer.pre_tokenizer = byte_level
        trainer = trainers.BpeTrainer(
            vocab_size=job.vocab_size, show_progress=False, initial_alphabet=byte_level.alphabet()
        )

        def tokens(_: None) -> list[bytes]:
            from bpe_cli.stages.spelling import from_visible

            learnt = tokenizer.get_vocab()
            return [from_visible(token) or b"" for token in sorted(learnt, key=learnt.__getitem__)]

        return Task(lambda: tokenizer.train_from_iterator(texts, trainer, length=len(texts)), tokens)

    start = """\
import sys
from tokenizers import Tokenizer
print(*Tokenizer.from_file(sys.argv[5]).encode(sys.argv[2], add_special_tokens=False).ids)"""
