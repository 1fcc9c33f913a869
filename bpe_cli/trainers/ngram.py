"""Make a vocabulary of the most frequent n-grams of characters, overlapping or one after the other."""

from __future__ import annotations

from dataclasses import dataclass

from bpe_cli import _core
from bpe_cli.errors import TrainingError, UsageError
from bpe_cli.stages import FixedLength, NGram, Normalizer, WordLevel
from bpe_cli.stages.models import Model
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.trainers.base import DEFAULT_MAX_MEMORY, Front, pieces_of, small
from bpe_cli.trainers.most_frequent import Choice, FrequentOptions, MostFrequent, by_count, check_options, number, rare

LONGEST = 64
"""Most characters of an n-gram: counting takes n times the text."""


@dataclass(frozen=True, slots=True)
class NgramOptions(FrequentOptions):
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
        check_options(self, self.min_frequency)
        if not 1 <= self.n <= LONGEST:
            raise UsageError(f"an n-gram has from 1 to {LONGEST} characters, not {self.n}")
        if self.max_memory < 1:
            raise UsageError(f"counts do not fit into {self.max_memory} bytes")


class Ngram(MostFrequent[NgramOptions]):
    """Number n-grams; at the end of a text stand shorter ones, which are counted, too."""

    Options = NgramOptions

    def unit(self, options: NgramOptions) -> str:
        """Return what a piece is called."""
        return f"{options.n}-gram"

    def front(self, options: NgramOptions) -> Front:
        """Cut text into strides; n-grams that overlap are counted in whole documents, over the end of none."""
        return Front(options.normalizer, (FixedLength(options.n),) if options.strided else ())

    def pick(self, counts: _core.Counts, options: NgramOptions) -> Choice:
        """Choose the most frequent n-grams.

        Raises:
            TrainingError: if there is none, no room for one, or not enough memory to count them.
        """
        ngrams = _ngrams(counts, options)
        vocabulary = number(by_count(ngrams, options.min_frequency), options.contents, options.vocab_size)
        return Choice(vocabulary, (rare(ngrams.values(), options.min_frequency),))

    def model(self, vocabulary: Vocabulary, options: NgramOptions) -> Model:
        """Return what looks n-grams up."""
        if options.strided:
            return WordLevel(vocabulary, options.unk_id)
        return NGram(vocabulary, options.n, options.unk_id)

    def shown(self, counts: _core.Counts, options: NgramOptions) -> dict[bytes, int]:
        """Return the n-grams of a small corpus.

        Raises:
            UsageError: if it is too large.
        """
        small(counts)
        return _ngrams(counts, options)


def _ngrams(counts: _core.Counts, options: NgramOptions) -> dict[bytes, int]:
    if options.strided:
        return pieces_of(counts)
    try:
        return pieces_of(_core.count_ngrams(counts, options.n, options.max_memory))
    except MemoryError as error:
        raise TrainingError(
            f"the corpus has too many different {options.n}-grams: {error}",
            hint="raise --max-memory, ask for a smaller n, or train on a sample",
        ) from error


TRAINER = Ngram()
Options = NgramOptions
