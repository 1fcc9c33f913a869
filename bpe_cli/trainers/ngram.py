"""Make a vocabulary of the most frequent n-grams of characters, overlapping or one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bpe_cli import _core
from bpe_cli.errors import TrainingError, UsageError
from bpe_cli.stages import FixedLength, NGram, Normalizer, WordLevel
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers import most_frequent
from bpe_cli.trainers.base import DEFAULT_MAX_MEMORY, Front, Progress, Trained, pieces_of, small

LONGEST = 64
"""Most characters of an n-gram: counting takes n times the text."""


@dataclass(frozen=True, slots=True)
class NgramOptions:
    """Define what to train.

    Attributes:
        n: Characters of each n-gram.
        strided: Whether one begins where the last one ends, instead of one character after it began.
        vocab_size: Most tokens, special ones counted; None for no bound.
        min_frequency: An n-gram that occurs less often is left out.
        normalizer: How text is rewritten before it is cut, in order.
        special_tokens: Their texts; they have the first ids.
        unk_token: What stands for an n-gram that has no token; None makes such a one an error.
        split_special: Whether special tokens in the corpus are taken out and divide the text.
        max_memory: Bytes that counts of overlapping n-grams may take.
    """

    n: int = 2
    strided: bool = False
    vocab_size: int | None = None
    min_frequency: int = 1
    normalizer: tuple[Normalizer, ...] = ()
    special_tokens: tuple[str, ...] = ()
    unk_token: str | None = "<unk>"
    split_special: bool = False
    max_memory: int = DEFAULT_MAX_MEMORY

    def __post_init__(self) -> None:
        most_frequent.check_options(self.vocab_size, self.min_frequency, self.special_tokens, self.unk_token)
        if not 1 <= self.n <= LONGEST:
            raise UsageError(f"an n-gram has from 1 to {LONGEST} characters, not {self.n}")
        if self.max_memory < 1:
            raise UsageError(f"counts do not fit into {self.max_memory} bytes")

    @property
    def contents(self) -> list[str]:
        """The texts of special tokens by id, the unknown one among them."""
        return most_frequent.special_contents(self.special_tokens, self.unk_token)


def documents(_: NgramOptions) -> None:
    """Learn from documents as the user cuts them: no n-gram goes over the end of one."""
    return


def front(options: NgramOptions) -> Front:
    """Cut text into strides; n-grams that overlap are counted in whole documents."""
    return Front(options.normalizer, (FixedLength(options.n),) if options.strided else ())


def train(
    counts: _core.Counts,
    options: NgramOptions,
    progress: Progress | None = None,  # noqa: ARG001  # it takes no time
    threads: int = 1,  # noqa: ARG001  # one is enough
) -> Trained:
    """Number the most frequent n-grams: by count, falling, and of equals the one of lower bytes first.

    At the end of a text stand shorter ones, which are counted, too.

    Raises:
        TrainingError: There is no text, no room for an n-gram, or not enough memory for the counts.
    """
    ngrams = _ngrams(counts, options)
    vocabulary = _choose(ngrams, options)
    noun = f"{options.n}-gram"
    return Trained(
        _assemble(options, vocabulary),
        most_frequent.summarise(vocabulary, noun, options.contents),
        most_frequent.shortfall(
            vocabulary, options.vocab_size, noun, most_frequent.rare(ngrams.values(), options.min_frequency)
        ),
    )


def _ngrams(counts: _core.Counts, options: NgramOptions) -> dict[bytes, int]:
    if counts.unique == 0:
        raise TrainingError("there is nothing to train on: the corpus has no text")
    if options.strided:
        return pieces_of(counts)
    try:
        return pieces_of(_core.count_ngrams(counts, options.n, options.max_memory))
    except MemoryError as error:
        raise TrainingError(
            f"the corpus has too many different {options.n}-grams: {error}",
            hint="raise --max-memory, ask for a smaller n, or train on a sample",
        ) from error


def _choose(ngrams: dict[bytes, int], options: NgramOptions) -> Vocabulary:
    return most_frequent.number(
        most_frequent.by_count(ngrams, options.min_frequency), options.contents, options.vocab_size
    )


def untrained(options: NgramOptions) -> Tokenizer:
    """Return a tokenizer of this kind that knows one character."""
    return _assemble(options, Vocabulary.from_tokens([b""] * len(options.contents) + [b"a"]))


def _assemble(options: NgramOptions, vocabulary: Vocabulary) -> Tokenizer:
    unk_id = most_frequent.unk_id_of(options.contents, options.unk_token)
    return Tokenizer(
        model=WordLevel(vocabulary, unk_id) if options.strided else NGram(vocabulary, options.n, unk_id),
        normalizer=options.normalizer,
        pre_tokenizer=front(options).pre_tokenizer,
        special_tokens=most_frequent.special_stages(options.contents),
    )


def steps(counts: _core.Counts, options: NgramOptions) -> Iterator[str]:
    """Write the training out as lines of text."""
    small(counts)
    ngrams = _ngrams(counts, options)
    return most_frequent.steps(ngrams, _choose(ngrams, options), options.contents)


Options = NgramOptions
