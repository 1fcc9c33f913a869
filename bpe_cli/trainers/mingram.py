"""Train MinGram: counts of pieces -> tokens with which text takes as few of them as possible -> a tokenizer.

Land 2026 (arXiv:2606.27019). Byte-pair encoding makes a tenth more tokens than are wanted, hard expectation
maximisation scores them, and those that are used least go. The result is a unigram model over visible characters, one
for each byte. Its scores are 10^12 * (delta * ln(p) - 1), rounded to whole numbers: for that model, too, the best
segmentation is the one with the fewest tokens, and the likeliest of several. ``bpe_cli/teaching/frontier/mingram.py``
is the textbook; it says where the paper's code differs.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bpe_cli import _core
from bpe_cli.errors import UsageError
from bpe_cli.stages import Unigram
from bpe_cli.stages.spelling import to_visible
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.support.core_arguments import options_json
from bpe_cli.support.messages import no_pair, plural
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers.base import Progress, Trained
from bpe_cli.trainers.byte_words import BYTES, ByteWordOptions, ByteWords, assemble
from bpe_cli.trainers.counts import cut_tokens, refuse_nothing, small

if TYPE_CHECKING:
    from bpe_cli.teaching.steps import Steps

LONGEST = 128
"""The most bytes of a token, if nobody says otherwise: so many spaces are a token of cl100k and o200k."""

MOST_ROUNDS = 100
"""More rounds change nothing: uses settle in a few."""

MOST_OVERSHOOT = 100.0
"""Byte-pair encoding has no more use for tokens long before."""


@dataclass(frozen=True, slots=True)
class MinGramOptions(ByteWordOptions):
    """Define what to train.

    Attributes:
        vocab_size: The size of the vocabulary, including special tokens and bytes.
        pattern: The split pattern, a regular expression; ``""`` does not split. If None, that of o200k.
        min_frequency: Pairs that occur less often make no seed token.
        special_tokens: The texts of the special tokens, which get the first ids. Where they occur in the corpus, they
            are ordinary text, unless ``split_special`` is set.
        split_special: Whether to remove special tokens from the corpus and split the text there.
        max_token_length: The maximum length of a token in bytes. In training and in encoding, each byte of a text
            takes as many steps as the tokens that begin there are long, which matters in runs of one letter.
        character_boundaries: Whether each token must consist of whole characters, or of the beginning of a single one
            (Land and Arnett, arXiv:2505.24689).
        overshoot: How many tokens byte-pair encoding makes to begin with, in addition to the bytes, for each one that
            is wanted.
        rounds: How many times uses are counted before the least used tokens are removed, and again after that.
        delta: The weight of the natural logarithm of a token's probability, in tokens. At 0, likelihood never decides
            between segmentations with equally many tokens; near 1, a likelier segmentation may have more tokens.
    """

    vocab_size: int
    pattern: str | None = None
    min_frequency: int = 1
    special_tokens: tuple[str, ...] = ()
    split_special: bool = False
    max_token_length: int = LONGEST
    character_boundaries: bool = False
    overshoot: float = 1.1
    rounds: int = 2
    delta: float = 1e-5

    def __post_init__(self) -> None:
        self.check_special_tokens()
        if not 1 <= self.overshoot <= MOST_OVERSHOOT:
            raise UsageError(f"an overshoot of {self.overshoot} is not between 1 and {MOST_OVERSHOOT:g}")
        if not 1 <= self.rounds <= MOST_ROUNDS:
            raise UsageError(f"{self.rounds} rounds are not between 1 and {MOST_ROUNDS}")
        if not 0 <= self.delta <= 1:
            raise UsageError(f"a delta of {self.delta} is not between 0 and 1")

    @property
    def seeds(self) -> int:
        """How many tokens to begin with, bytes counted."""
        return len(BYTES) + int(self.learnt * self.overshoot)


def _check_size(options: MinGramOptions) -> None:
    """Check that the vocabulary has room for the bytes, and byte-pair encoding for its tokens."""
    options.check_size()
    most = _core.MAX_TOKENS
    if options.seeds > most:
        raise UsageError(
            f"a vocabulary of {options.vocab_size} with an overshoot of {options.overshoot} begins with "
            f"{options.seeds:,} tokens, and {most:,} fit"
        )


def _shortfall(options: MinGramOptions, trained: _core.MinGramTraining) -> str:
    """Explain why there are too few tokens."""
    if trained.exhausted and trained.seeds < len(BYTES) + options.learnt:
        return no_pair(
            max(1, options.min_frequency), unit="byte", max_token_length=options.max_token_length,
            character_boundaries=options.character_boundaries,
        )  # fmt: skip
    return (
        f"the shortest segmentations need no more of the {trained.seeds:,} tokens that training began with; "
        "a larger overshoot begins with more"
    )


def _assemble(options: MinGramOptions, learnt: Sequence[bytes], scores: Sequence[float]) -> Tokenizer:
    """Put the tokens, in visible characters, after the special ones."""
    specials = options.special_tokens
    model = Unigram(
        Vocabulary.from_tokens([*(b"" for _ in specials), *learnt]),
        array("d", [*(0.0 for _ in specials), *scores]),
    )
    return assemble(options, model)


class MinGramTrainer(ByteWords[MinGramOptions]):
    """Train tokens for segmentations into the fewest."""

    Options = MinGramOptions

    def train(
        self, counts: _core.Counts, options: MinGramOptions, progress: Progress | None = None, threads: int = 1
    ) -> Trained:
        """Learn tokens and their scores from counts of pieces.

        The result does not depend on the threads.
        """
        refuse_nothing(counts)
        _check_size(options)
        trained = _core.train_mingram(
            counts,
            options_json(
                seed={
                    "initial": BYTES,
                    "symbols": list(range(len(BYTES))),
                    "vocab_size": options.seeds,
                    "min_frequency": max(1, options.min_frequency),
                    "tie": "lowest-ids",
                    "vetoes": {
                        "max_token_length": options.max_token_length,
                        "character_boundaries": options.character_boundaries,
                        "reserved": options.reserved,
                    },
                },
                vocab_size=len(BYTES) + options.learnt,
                rounds=options.rounds,
                delta=options.delta,
                threads=threads,
            ),
            progress,
        )
        learnt = cut_tokens(*trained.tokens())
        tokenizer = _assemble(options, learnt, trained.scores)
        return Trained(
            tokenizer,
            (
                plural(len(BYTES), "byte"),
                f"{plural(len(learnt) - len(BYTES), 'longer token')} of {trained.seeds - len(BYTES):,}",
                f"{len(options.special_tokens)} special",
            ),
            _shortfall(options, trained) if tokenizer.vocab_size < options.vocab_size else None,
        )

    def untrained(self, options: MinGramOptions) -> Tokenizer:
        """Return a tokenizer of the same kind without learnt tokens."""
        _check_size(options)
        return _assemble(options, [to_visible(token).encode() for token in BYTES], [-1.0] * len(BYTES))

    def steps(self, counts: _core.Counts, options: MinGramOptions) -> Steps:
        """Return the textbook's training, round by round."""
        from bpe_cli.teaching.bpe import keeps_characters
        from bpe_cli.teaching.frontier import mingram as textbook
        from bpe_cli.teaching.steps import UseCounts

        _check_size(options)
        pieces = {piece: count for piece, count in small(counts).items() if piece}
        not_made = set(options.reserved)
        seeds = textbook.seeds_of(
            pieces,
            BYTES,
            options.seeds,
            min_frequency=max(1, options.min_frequency),
            max_token_length=options.max_token_length,
            allow=lambda product: (
                product not in not_made and (not options.character_boundaries or keeps_characters(product))
            ),
        )
        wanted = len(BYTES) + options.learnt
        rounds = list(textbook.train(pieces, wanted, seeds, rounds=options.rounds, delta=options.delta))
        last = rounds[-1]
        return UseCounts(
            {to_visible(piece): count for piece, count in pieces.items()},
            [(step.kind, {to_visible(token): uses for token, uses in step.uses.items()}) for step in rounds],
            options.special_tokens,
            {to_visible(token): last.uses[token] for token in last.tokens()},
        )


TRAINER = MinGramTrainer()
Options = MinGramOptions
