"""The libraries that are measured, each in the ways that suit it best.

An adapter is loaded in a process of its own and imports its library only there, when it is asked for
a task. Making the task (tokenizer loaded, documents in the type that the library wants) is not
timed; ``Task.run`` is. Whatever ``result`` does to compare results comes after the clock has stopped.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.texts import SEPARATOR


@dataclass(frozen=True, slots=True)
class Job:
    """What one worker process is to do; goes to it as JSON.

    Attributes:
        operation: ``encode``, ``count``, ``decode`` or ``train``.
        library: Key of ``LIBRARIES``.
        way: One of the library's ways, ``""`` for the only one.
        threads: How many threads it may use.
        passes: How often to run; the first is cold.
        text: File of the documents.
        stride: Take every n-th document.
        encoding: Our name of the tokenizer.
        pattern: Its split pattern, or that to train with.
        scheme: What gigatoken calls the pattern.
        ranks: Its ``.tiktoken`` file.
        tokenizer_json: Its ``tokenizer.json``.
        ids: File of u32 ids: read by ``decode``, written by ``encode`` if given.
        vocab_size: Tokens to train.
        rules: Whose tie-breaks to train with, where there is a choice.
    """

    operation: str
    library: str
    way: str = ""
    threads: int = 1
    passes: int = 1
    text: str = ""
    stride: int = 1
    encoding: str = ""
    pattern: str = ""
    scheme: str = ""
    ranks: str = ""
    tokenizer_json: str = ""
    ids: str = ""
    vocab_size: int = 0
    rules: str = "hf"


@dataclass(frozen=True, slots=True)
class Task:
    """Something to time, and how to look at what it gave.

    ``result`` gives ids as a u32 array (encode), their number (count), bytes (decode), or the tokens
    that were learnt in their order (train).
    """

    run: Callable[[], Any]
    result: Callable[[Any], Any]


class Bpe:
    """This project."""

    distribution = "bpe-cli"
    stride = 1
    ways = ("",)
    operations = ("encode", "count", "decode", "train")

    def encode(self, job: Job, documents: list[bytes]) -> Task:
        """Encode a block of documents."""
        from bpe_cli import named
        from bpe_cli.blocks import Block

        tokenizer, block = named(job.encoding), Block.of(documents)
        _ = tokenizer.runner.engine  # the others are compiled when they are loaded
        return Task(lambda: tokenizer.encode_block(block, None, job.threads)[0], lambda ids: array("I", bytes(ids)))

    def count(self, job: Job, documents: list[bytes]) -> Task:
        """Count tokens without making ids."""
        from bpe_cli import named
        from bpe_cli.blocks import Block

        tokenizer, block = named(job.encoding), Block.of(documents)
        _ = tokenizer.runner.engine
        return Task(lambda: tokenizer.count_block(block, None, job.threads), sum)

    def decode(self, job: Job, ids: array[int]) -> Task:
        """Decode an array of ids."""
        from bpe_cli import named

        tokenizer = named(job.encoding)
        _ = tokenizer.runner.engine
        return Task(lambda: tokenizer.decode(ids), bytes)

    def train(self, job: Job, documents: list[bytes]) -> Task:
        """Count pieces and learn merges."""
        from bpe_cli.blocks import Block
        from bpe_cli.trainers import bbpe

        options = bbpe.BbpeOptions(vocab_size=job.vocab_size, pattern=job.pattern, compat=job.rules)  # type: ignore[arg-type]
        block = Block.of(documents)

        def run() -> Any:
            counts = bbpe.new_counts()
            bbpe.count([block], options, counts, job.threads)
            return bbpe.train(counts, options)

        return Task(run, lambda trained: [token for _, token in trained.tokenizer.model.vocabulary.items()])


class Tiktoken:
    """Tiktoken, its encoding built from our ranks, so that nothing is fetched."""

    distribution = "tiktoken"
    stride = 4
    ways = ("",)
    operations = ("encode", "decode")

    def load(self, job: Job) -> Any:
        """Read the ranks as tiktoken reads its cached ones."""
        import tiktoken
        from tiktoken.load import load_tiktoken_bpe

        ranks = load_tiktoken_bpe(job.ranks)
        return tiktoken.Encoding(job.encoding, pat_str=job.pattern, mergeable_ranks=ranks, special_tokens={})

    def encode(self, job: Job, documents: list[bytes]) -> Task:
        """Encode a list of strings into lists of numbers."""
        encoding, texts = self.load(job), [document.decode() for document in documents]
        return Task(
            lambda: encoding.encode_ordinary_batch(texts, num_threads=job.threads),
            lambda lists: array("I", [token_id for ids in lists for token_id in ids]),
        )

    def decode(self, job: Job, ids: array[int]) -> Task:
        """Decode a list of numbers: twice as fast as an array."""
        encoding, numbers = self.load(job), ids.tolist()
        return Task(lambda: encoding.decode_bytes(numbers), bytes)


class Tokenizers:
    """Hugging Face's tokenizers, from the tokenizer.json that we write."""

    distribution = "tokenizers"
    stride = 10
    ways = ("",)
    operations = ("encode", "decode", "train")

    def encode(self, job: Job, documents: list[bytes]) -> Task:
        """Encode a list of strings into its Encoding objects, without offsets."""
        from tokenizers import Tokenizer

        tokenizer, texts = Tokenizer.from_file(job.tokenizer_json), [document.decode() for document in documents]
        tokenizer.encode_special_tokens = True  # as plain text, as all others take them
        return Task(
            lambda: tokenizer.encode_batch_fast(texts, add_special_tokens=False),
            lambda encodings: array("I", [token_id for encoding in encodings for token_id in encoding.ids]),
        )

    def decode(self, job: Job, ids: array[int]) -> Task:
        """Decode a list of numbers into a string."""
        from tokenizers import Tokenizer

        tokenizer, numbers = Tokenizer.from_file(job.tokenizer_json), ids.tolist()
        return Task(lambda: tokenizer.decode(numbers, skip_special_tokens=False), str.encode)

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
            from bpe_cli.byte_alphabet import from_visible

            learnt = tokenizer.get_vocab()
            return [from_visible(token) or b"" for token in sorted(learnt, key=learnt.__getitem__)]

        return Task(lambda: tokenizer.train_from_iterator(texts, trainer, length=len(texts)), tokens)


class Gigatoken:
    """Gigatoken, without special tokens: it knows no other way to take them for plain text."""

    distribution = "gigatoken"
    stride = 1
    ways = ("buffers", "file")
    operations = ("encode", "decode", "train")

    def load(self, job: Job) -> Any:
        """Read the ranks."""
        from gigatoken import Tokenizer

        return Tokenizer.from_tiktoken(job.ranks, pretokenizer=job.scheme, special_tokens={})

    def encode(self, job: Job, documents: list[bytes]) -> Task:
        """Encode borrowed buffers, or a file that it reads itself."""
        import awkward
        import numpy
        from gigatoken import BytesSource, TextFileSource

        tokenizer, parallel = self.load(job), job.threads > 1
        # Gigatoken imports awkward when it first needs it, for 0.3 s: that is loading, not encoding.
        awkward.flatten(tokenizer.encode_batch(BytesSource([]), parallel=False))

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

        tokenizer, numbers = self.load(job), numpy.frombuffer(ids, dtype=numpy.uint32)
        return Task(lambda: tokenizer.decode(numbers), bytes)

    def train(self, job: Job, documents: list[bytes]) -> Task:
        """Train with GPT-2's pattern, the only one it trains with."""
        from gigatoken import train_bpe

        data = SEPARATOR.join(documents)

        def tokens(trained: Any) -> list[bytes]:
            vocabulary = trained[0]
            return [vocabulary[token_id] for token_id in sorted(vocabulary)]

        return Task(lambda: train_bpe(data, job.vocab_size, [], separator=SEPARATOR), tokens)


class RustBpe:
    """Rustbpe, which only trains."""

    distribution = "rustbpe"
    stride = 1
    ways = ("",)
    operations = ("train",)

    def train(self, job: Job, documents: list[bytes]) -> Task:
        """Train on an iterator of strings."""
        from rustbpe import Tokenizer

        tokenizer, texts = Tokenizer(), [document.decode() for document in documents]

        def tokens(_: None) -> list[bytes]:
            return [bytes(token) for token, _ in sorted(tokenizer.get_mergeable_ranks(), key=lambda rank: rank[1])]

        return Task(lambda: tokenizer.train_from_iterator(texts, job.vocab_size, pattern=job.pattern), tokens)


LIBRARIES: dict[str, Any] = {
    "bpe": Bpe(),
    "gigatoken": Gigatoken(),
    "tiktoken": Tiktoken(),
    "tokenizers": Tokenizers(),
    "rustbpe": RustBpe(),
}
"""All of them. ``stride``: a slow library encodes every n-th document only, or it would take the whole time."""

OURS = "bpe"

TRAINING_RULES = {"bpe": "hf", "gigatoken": "hf", "tokenizers": "hf", "rustbpe": "rustbpe"}
"""How each breaks ties; libraries of one rule must learn the same tokens in the same order."""

STARTUP = {
    "bpe": "import sys, bpe_cli; print(*bpe_cli.named(sys.argv[1]).encode(sys.argv[2]))",
    "gigatoken": """\
import sys, gigatoken
tokenizer = gigatoken.Tokenizer.from_tiktoken(sys.argv[4], pretokenizer=sys.argv[6], special_tokens={})
print(*tokenizer.encode(sys.argv[2]))""",
    "tiktoken": """\
import sys, tiktoken
from tiktoken.load import load_tiktoken_bpe
ranks = load_tiktoken_bpe(sys.argv[4])
encoding = tiktoken.Encoding(sys.argv[1], pat_str=sys.argv[3], mergeable_ranks=ranks, special_tokens={})
print(*encoding.encode_ordinary(sys.argv[2]))""",
    "tokenizers": """\
import sys
from tokenizers import Tokenizer
print(*Tokenizer.from_file(sys.argv[5]).encode(sys.argv[2], add_special_tokens=False).ids)""",
}
"""Scripts that print the ids of a line.

Arguments: encoding, line, pattern, .tiktoken file, tokenizer.json, gigatoken's name of the pattern.
"""
