"""Make vocabularies without merging: of characters, n-grams, words, or the 256 bytes.

A word is what no rule cuts further, looked up as Hugging Face's ``WordLevel`` does. Of bytes there is nothing to learn:
ByT5 (Xue et al., arXiv:2105.13626) puts three special tokens first, so that a byte's id is its value plus 3; bGPT
(Wu et al., arXiv:2402.19155) has one after the bytes, with id 256.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from bpe_cli import _core
from bpe_cli.errors import TrainingError, UsageError
from bpe_cli.stages import (
    BertPreTokenizer,
    Decoder,
    FixedLength,
    MergeBpe,
    NGram,
    PreTokenizer,
    Split,
    Whitespace,
    WhitespaceSplit,
    WordLevel,
    WordPieceDecoder,
)
from bpe_cli.stages.models import Model
from bpe_cli.stages.splitters import compile_splitter
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.support.texts import is_utf8
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers.base import (
    Front,
    Progress,
    SplittingOptions,
    Trained,
    Trainer,
    check_special_tokens,
)
from bpe_cli.trainers.counts import DEFAULT_MAX_MEMORY, pieces_of
from bpe_cli.trainers.most_frequent import FrequentOptions, MostFrequent, by_count, rare, special_stages

if TYPE_CHECKING:
    from bpe_cli.teaching.steps import Steps

LONGEST = 64
"""Most characters of an n-gram: counting takes n times the text."""


@dataclass(frozen=True, slots=True)
class CharOptions(FrequentOptions):
    """Define what to train.

    Attributes:
        coverage: Keep the most frequent characters until they make up this share of the text; above 0, at most 1.
        order: The order of ids: by ``count``, the most frequent character first, or ``sorted`` by bytes.
    """

    coverage: float = 1.0
    order: Literal["count", "sorted"] = "count"

    def __post_init__(self) -> None:
        FrequentOptions.__post_init__(self)
        if not 0 < self.coverage <= 1:
            raise UsageError(
                f"a coverage of {self.coverage} is not a share of the text: it must be over 0 and at most 1"
            )
        if self.order not in ("count", "sorted"):
            raise UsageError(f"characters have no order {self.order!r}", hint="they are in order of count, or sorted")


class Char(MostFrequent[CharOptions]):
    """Number characters."""

    Options = CharOptions

    def noun(self, options: CharOptions) -> str:
        """Return the noun for a piece in messages."""
        return "character"

    def front(self, options: CharOptions) -> Front:
        """Cut text into characters."""
        return Front(options.normalizer, (FixedLength(1),))

    def pick(self, counts: _core.Counts, options: CharOptions) -> tuple[Iterable[bytes], tuple[str, ...]]:
        """Choose the most frequent characters that cover the text.

        Raises:
            TrainingError: if the vocabulary is too small for all of them and has no token for unknown ones.
        """
        present = pieces_of(counts)
        contents = options.contents
        characters = sum(map(is_utf8, present))
        needed = characters + len(contents)
        if options.unk_token is None and options.vocab_size is not None and options.vocab_size < needed:
            raise TrainingError(
                f"a vocabulary of {options.vocab_size} is too small for the {characters} characters of the corpus",
                hint=f"ask for {needed} or more, or for a token that stands for unknown characters",
            )
        covered = _covering(by_count(present), present, options.coverage)
        chosen = [character for character in covered if present[character] >= options.min_frequency]
        room = None if options.vocab_size is None else max(0, options.vocab_size - len(contents))
        if options.order == "sorted" and room != 0:
            # What is not text takes no room.
            odd = [character for character in chosen if not is_utf8(character)]
            chosen = sorted([character for character in chosen if is_utf8(character)][:room]) + odd
        return chosen, (
            "covered" if len(covered) < len(present) else "",
            rare((present[character] for character in covered), options.min_frequency),
        )


def _covering(ordered: list[bytes], present: dict[bytes, int], coverage: float) -> list[bytes]:
    """Return the first characters that make up a share of the text, calculated without rounding."""
    needed = Fraction(str(coverage)) * sum(present.values())
    covered = 0
    for place, character in enumerate(ordered):
        if covered >= needed:
            return ordered[:place]
        covered += present[character]
    return ordered


Rule = Literal["whitespace", "punctuation", "space", "pattern"]

RULES: dict[Rule, PreTokenizer | None] = {
    "whitespace": Whitespace(),
    "punctuation": BertPreTokenizer(),
    "space": WhitespaceSplit(),
    "pattern": None,
}
"""What cuts text into words by each rule."""


@dataclass(frozen=True, slots=True)
class WordOptions(FrequentOptions):
    """Define what to train.

    Attributes:
        rule: What splits text into words: ``whitespace`` (each match of ``\\w+|[^\\w\\s]+``), ``punctuation``
            (at whitespace and around each punctuation character, as in BERT), ``space`` (at whitespace only), or
            ``pattern``. None for ``pattern`` if there is one, otherwise ``whitespace``.
        pattern: A regular expression; its matches are words, and so is the text between two matches.
    """

    rule: Rule | None = None
    pattern: str | None = None

    def __post_init__(self) -> None:
        FrequentOptions.__post_init__(self)
        if self.rule not in (None, *RULES):
            raise UsageError(f"words are not cut by {self.rule!r}", hint=f"they are cut by {', '.join(RULES)}")
        if self.pattern == "" or (self.rule == "pattern" and self.pattern is None):
            raise UsageError("there is no pattern to cut words by")
        if self.pattern is not None and self.rule not in (None, "pattern"):
            raise UsageError(f"words are cut by the rule {self.rule!r} or by a pattern, not by both")
        if self.pattern is not None:
            compile_splitter((self.pattern,))


class Word(MostFrequent[WordOptions]):
    """Number words."""

    Options = WordOptions
    counted = "words"

    def noun(self, options: WordOptions) -> str:
        """Return the noun for a piece in messages."""
        return "word"

    def front(self, options: WordOptions) -> Front:
        """Cut text into words."""
        cut = RULES[options.rule or "whitespace"] if options.pattern is None else None
        return Front(options.normalizer, (cut or Split(options.pattern or ""),))

    def pick(self, counts: _core.Counts, options: WordOptions) -> tuple[Iterable[bytes], tuple[str, ...]]:
        """Choose the most frequent words."""
        words = _core.most_frequent(counts, options.min_frequency, options.vocab_size)
        if len(words) == options.vocab_size and not all(is_utf8(word) for word, _ in words):
            words = _core.most_frequent(counts, options.min_frequency, None)
        is_rare = options.min_frequency > 1 and len(words) < counts.unique
        return (word for word, _ in words), ("frequent enough" if is_rare else "",)

    def decoder(self, options: WordOptions) -> tuple[Decoder, ...]:
        """Return the decoder that puts a blank between words, unless an expression may have kept the blanks."""
        return () if options.pattern is not None else (WordPieceDecoder(cleanup=False),)


@dataclass(frozen=True, slots=True)
class NgramOptions(FrequentOptions):
    """Define what to train.

    Attributes:
        n: The number of characters in each n-gram.
        strided: Whether each n-gram begins where the previous one ends, instead of one character after its start.
        max_memory: The maximum number of bytes of memory for the counts of overlapping n-grams.
    """

    n: int = 2
    strided: bool = False
    max_memory: int = DEFAULT_MAX_MEMORY

    def __post_init__(self) -> None:
        FrequentOptions.__post_init__(self)
        if not 1 <= self.n <= LONGEST:
            raise UsageError(f"an n-gram has from 1 to {LONGEST} characters, not {self.n}")
        if self.max_memory < 1:
            raise UsageError(f"counts do not fit into {self.max_memory} bytes")


class Ngram(MostFrequent[NgramOptions]):
    """Number n-grams; at the end of a text stand shorter ones, which are counted, too."""

    Options = NgramOptions

    def noun(self, options: NgramOptions) -> str:
        """Return the noun for a piece in messages."""
        return f"{options.n}-gram"

    def front(self, options: NgramOptions) -> Front:
        """Cut text into strides; n-grams that overlap are counted in whole documents, over the end of none."""
        return Front(options.normalizer, (FixedLength(options.n),) if options.strided else ())

    def pick(self, counts: _core.Counts, options: NgramOptions) -> tuple[Iterable[bytes], tuple[str, ...]]:
        """Choose the most frequent n-grams."""
        ngrams = _ngrams(counts, options)
        return by_count(ngrams, options.min_frequency), (rare(ngrams.values(), options.min_frequency),)

    def model(self, vocabulary: Vocabulary, options: NgramOptions) -> Model:
        """Return the model that looks n-grams up."""
        if options.strided:
            return WordLevel(vocabulary, options.unk_id)
        return NGram(vocabulary, options.n, options.unk_id)

    def shown(self, counts: _core.Counts, options: NgramOptions) -> dict[bytes, int]:
        """Return the n-grams of a corpus."""
        return _ngrams(counts, options)


def _ngrams(counts: _core.Counts, options: NgramOptions) -> dict[bytes, int]:
    if options.strided:
        return pieces_of(counts)
    try:
        return pieces_of(_core.count_ngrams(counts, options.n, options.max_memory))
    except _core.MemoryBoundError as error:
        raise TrainingError(
            f"the corpus has too many different {options.n}-grams: {error}",
            hint="raise `max_memory`, ask for a smaller n, or train on a sample",
        ) from error


@dataclass(frozen=True, slots=True)
class ByteOptions(SplittingOptions):
    """Describe what to make.

    Attributes:
        vocab_size: None, or 256 plus the number of special tokens.
        special_tokens: The texts of the special tokens.
        special_first: Whether special tokens get the ids before the bytes, instead of those after them.
        split_special: Has no effect: nothing is learnt from the corpus.
    """

    vocab_size: int | None = None
    special_tokens: tuple[str, ...] = ()
    special_first: bool = False
    split_special: bool = False

    def __post_init__(self) -> None:
        check_special_tokens(self.special_tokens)
        size = 256 + len(self.special_tokens)
        if size > _core.MAX_TOKENS:
            raise UsageError(f"{size:,} tokens are more than the {_core.MAX_TOKENS:,} that fit")
        if self.vocab_size not in (None, size):
            raise UsageError(
                f"a vocabulary of bytes has {size} tokens here, not {self.vocab_size}",
                hint="leave `vocab_size` out; its size is 256 and the number of special tokens",
            )


class Byte(Trainer[ByteOptions]):
    """Return the 256 bytes: nothing is learnt."""

    Options = ByteOptions

    def front(self, options: ByteOptions) -> Front:
        """Return no stages."""
        return Front()

    def uses_counts(self, options: ByteOptions) -> bool:
        """Return False: nothing is learnt."""
        return False

    def train(
        self, counts: _core.Counts, options: ByteOptions, progress: Progress | None = None, threads: int = 1
    ) -> Trained:
        """Return the tokenizer, which is the same for every corpus, also for none."""
        return Trained(self.untrained(options), ("256 bytes", f"{len(options.special_tokens)} special"))

    def untrained(self, options: ByteOptions) -> Tokenizer:
        """Return the tokenizer.

        >>> options = ByteOptions(special_tokens=("<pad>", "</s>", "<unk>"), special_first=True)
        >>> Byte().untrained(options).encode(b"\\x00A")
        [3, 68]
        """
        first = options.special_tokens if options.special_first else ()
        alphabet = [bytes([byte]) for byte in range(256)]
        return Tokenizer(
            model=MergeBpe(Vocabulary.from_tokens([b""] * len(first) + alphabet), Merges(array("I"))),
            special_tokens=special_stages(options.special_tokens, 0 if options.special_first else 256),
        )

    def steps(self, counts: _core.Counts, options: ByteOptions) -> Steps:
        """Return the table of ids."""
        from bpe_cli.teaching.steps import ByteIds

        return ByteIds(options.special_tokens, options.special_first)


CHAR, WORD, NGRAM, BYTE = Char(), Word(), Ngram(), Byte()
