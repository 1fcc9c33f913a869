"""Train GreedTok: counts of words -> the tokens that cover most of them -> a tokenizer.

Lim, Choo and Lauw (arXiv:2501.06246; package greedtok). Tokens are chosen one after the other: the one that makes the
number of pieces of all words smaller by most. Encoding lays them in the order chosen, which is that of their ids.
``bpe_cli/teaching/frontier/greedy_cover.py`` is the textbook.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bpe_cli import _core
from bpe_cli.errors import TrainingError, UsageError
from bpe_cli.stages import GreedyCover
from bpe_cli.stages.spelling import to_visible
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.support.core_arguments import options_json
from bpe_cli.support.messages import plural
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers.base import Progress, Trained
from bpe_cli.trainers.byte_words import BYTES, ByteWordOptions, ByteWords, assemble
from bpe_cli.trainers.counts import DEFAULT_MAX_MEMORY, cut_tokens, items_of, refuse_nothing, small

if TYPE_CHECKING:
    from bpe_cli.teaching.steps import Steps

LONGEST = 32
"""The most bytes of a token, if nobody says otherwise: memory and time grow with it where words are long."""


@dataclass(frozen=True, slots=True)
class GreedTokOptions(ByteWordOptions):
    """Define what to train.

    Attributes:
        vocab_size: The size of the vocabulary, including special tokens and bytes.
        pattern: The split pattern, a regular expression; ``""`` does not split. If None, that of o200k.
        special_tokens: The texts of the special tokens, which get the first ids. Where they occur in the corpus, they
            are ordinary text, unless ``split_special`` is set.
        split_special: Whether to remove special tokens from the corpus and split the text there.
        max_token_length: The maximum length of a token in bytes.
        min_word_count: Words that occur less often are left out. Most words are rare, so this saves memory and time.
        candidate_memory: The maximum number of bytes of memory for the substrings of words, each of which is a
            candidate.
    """

    vocab_size: int
    pattern: str | None = None
    special_tokens: tuple[str, ...] = ()
    split_special: bool = False
    max_token_length: int = LONGEST
    min_word_count: int = 1
    candidate_memory: int = DEFAULT_MAX_MEMORY

    def __post_init__(self) -> None:
        self.check_special_tokens()
        if self.max_token_length < 2:
            raise UsageError(f"`max_token_length` is {self.max_token_length}; a learnt token has 2 bytes or more")
        if self.candidate_memory < 1:
            raise UsageError(f"substrings do not fit into {self.candidate_memory} bytes")


def _assemble(options: GreedTokOptions, tokens: Sequence[bytes]) -> Tokenizer:
    """Put the bytes and then the tokens, in visible characters, after the special tokens."""
    learnt = (to_visible(token).encode() for token in (*BYTES, *tokens))
    return assemble(options, GreedyCover(Vocabulary.from_tokens([*(b"" for _ in options.special_tokens), *learnt])))


def _shortfall(counts: _core.Counts, options: GreedTokOptions) -> str:
    """Explain why there are fewer tokens than requested."""
    reason = "no other token makes any word shorter"
    if any(count < options.min_word_count and len(word) > 1 for word, count in items_of(counts)):
        return f"{reason} that occurs at least {options.min_word_count:,} times (`min_word_count`)"
    return reason


class GreedTokTrainer(ByteWords[GreedTokOptions]):
    """Train tokens that cover most of the words."""

    Options = GreedTokOptions

    def train(
        self, counts: _core.Counts, options: GreedTokOptions, progress: Progress | None = None, threads: int = 1
    ) -> Trained:
        """Choose tokens by counts of words.

        The result does not depend on the threads.
        """
        refuse_nothing(counts)
        options.check_size()
        try:
            trained = _core.train_greedtok(
                counts,
                options_json(
                    tokens=options.learnt,
                    max_token_length=options.max_token_length,
                    min_word_count=options.min_word_count,
                    reserved=options.reserved,
                    max_memory=options.candidate_memory,
                    threads=threads,
                ),
                progress,
            )
        except _core.MemoryBoundError as error:
            raise TrainingError(
                f"the words have too many different substrings: {error}",
                hint="leave rare words out (`min_word_count=2`), lower `max_token_length`, split the text more finely, "
                "or raise `candidate_memory`",
            ) from error
        tokens = cut_tokens(*trained.tokens())
        tokenizer = _assemble(options, tokens)
        return Trained(
            tokenizer,
            (
                plural(len(BYTES), "byte"),
                f"{plural(len(tokens), 'longer token')} of {trained.candidates:,} substrings",
                f"{len(options.special_tokens)} special",
            ),
            _shortfall(counts, options) if tokenizer.vocab_size < options.vocab_size else None,
        )

    def untrained(self, options: GreedTokOptions) -> Tokenizer:
        """Return a tokenizer of the same kind without learnt tokens."""
        options.check_size()
        return _assemble(options, ())

    def steps(self, counts: _core.Counts, options: GreedTokOptions) -> Steps:
        """Return the textbook's training, token by token."""
        from bpe_cli.teaching.frontier import greedy_cover as textbook
        from bpe_cli.teaching.steps import Covering

        options.check_size()
        cover = textbook.Cover(
            {word: count for word, count in small(counts).items() if word},
            max_token_length=options.max_token_length + 1,
            min_word_count=options.min_word_count,
            reserved=options.reserved,
        )
        return Covering(cover, options.learnt, options.vocab_size - options.learnt)


TRAINER = GreedTokTrainer()
Options = GreedTokOptions
