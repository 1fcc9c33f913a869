"""Learn dictionaries of Chinese words, for a tokenizer that takes the longest word at each place.

The rule of a segmenter "by the principle of byte-pair encoding" (pluveto/bpe_v3). The core's ``joining``
tells it; ``teaching.maxmatch`` has it as the textbook would.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, Literal

from bpe_cli import _core
from bpe_cli.errors import TrainingError, UsageError
from bpe_cli.stages import MaxMatch, Normalizer, Replace
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.support.core_arguments import options_json
from bpe_cli.support.messages import plural
from bpe_cli.support.texts import is_utf8
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers import most_frequent
from bpe_cli.trainers.base import Front, Progress, Trained, Trainer
from bpe_cli.trainers.counts import small_texts

if TYPE_CHECKING:
    from bpe_cli.teaching.steps import Steps

PUNCTUATION = "。，？！；：、（）「」“”‘’《》【】…—～\u3000" + ".,?!;:()\"'<>[]~" + "#"
"""What no word goes over: the segmenter's lists, and the sign that it writes in their place."""

MOST_ROUNDS = 100


@dataclass(frozen=True, slots=True)
class MaxMatchOptions(most_frequent.UnknownOptions):
    """Define what to train.

    Attributes:
        vocab_size: The maximum size of the vocabulary, including special tokens and characters. If None, there is no
            limit.
        special_tokens: The texts of the special tokens, which get the first ids.
        rounds: How many times pairs are counted and joined; each round makes a dictionary.
        factors: For each round, a rank, as a multiple of the number of lines divided by ``lines_per_word``: only pairs
            that occur more often than the one at this rank are joined. Rounds beyond the last factor use that one.
        lines_per_word: See ``factors``.
        lines_per_count: Only pairs that occur more often than once in this many lines are joined.
        ratio: A pair is not joined if its first word occurs, as a pair, more than this many times as often.
        dictionary_size: The maximum number of words in each dictionary.
        punctuation: Characters that no word crosses.
        white_space: ``removed`` removes whitespace before training and before encoding, so that lines may have spaces
            between all characters; ``break`` keeps it, and no word crosses it, as with punctuation.
        unk_token: The token for characters that did not occur; None makes them an error.
    """

    rounds: int = 4
    factors: tuple[float, ...] = (1.5, 1.3, 1.1, 1.0)
    lines_per_word: float = 12
    lines_per_count: float = 2000
    ratio: float = 1.1
    dictionary_size: int = 10_000
    punctuation: str = PUNCTUATION
    white_space: Literal["removed", "break"] = "removed"

    def __post_init__(self) -> None:
        most_frequent.UnknownOptions.__post_init__(self)
        if not 1 <= self.rounds <= MOST_ROUNDS:
            raise UsageError(f"rounds must be from 1 to {MOST_ROUNDS}, not {self.rounds}")
        if not self.factors:
            raise UsageError("factors must have at least one number: they rank what is joined")
        for name, number in [*(("a factor", factor) for factor in self.factors), ("the ratio", self.ratio)]:
            if not (isfinite(number) and number >= 0):
                raise UsageError(f"{name} must be 0 or more, not {number}")
        for name, number in (("lines per word", self.lines_per_word), ("lines per count", self.lines_per_count)):
            if not (isfinite(number) and number > 0):
                raise UsageError(f"{name} must be above 0, not {number}")
        if self.dictionary_size < 1:
            raise UsageError(f"dictionary_size must be 1 or more, not {self.dictionary_size}")
        if self.white_space not in ("removed", "break"):
            raise UsageError(f"whitespace cannot be {self.white_space!r}", hint="it is removed, or a break")


Words = list[tuple[bytes, int]]
"""Words with their counts."""


@dataclass(frozen=True, slots=True)
class Dictionaries:
    """The results of the rounds.

    Attributes:
        lines: How many different lines the corpus has.
        characters: All characters with their counts in those: most frequent first, of equals the one of
            lower bytes; without whitespace that was removed.
        words: A dictionary for each round, most frequent words first; fewer than asked for if no pair was left.
        thresholds: What a pair's count had to pass in each round.
        joined: At how many places pairs were joined in each round.
    """

    lines: int
    characters: Words
    words: list[Words]
    thresholds: list[float]
    joined: list[int]


def learn(
    counts: _core.Counts, options: MaxMatchOptions, progress: Progress | None = None, threads: int = 1
) -> Dictionaries:
    """Learn the dictionaries; how often a line occurs does not matter. Progress is of rounds.

    Raises:
        TrainingError: if there is no text.
    """
    learnt = _core.train_max_match(
        counts,
        options_json(
            rounds=options.rounds,
            factors=options.factors,
            lines_per_word=options.lines_per_word,
            lines_per_count=options.lines_per_count,
            ratio=options.ratio,
            dictionary_size=options.dictionary_size,
            breaks=list(options.punctuation),
            joins_over_space=options.white_space == "removed",
        ),
        threads,
        progress,
    )
    if learnt.lines == 0:
        raise TrainingError("there is nothing to train on: the corpus has no text")
    return Dictionaries(
        learnt.lines,
        learnt.characters(),
        learnt.dictionaries(),
        [threshold for _, threshold, _ in learnt.rounds],
        [joined for _, _, joined in learnt.rounds],
    )


def _shortfall(learnt: Dictionaries, tokenizer: Tokenizer, options: MaxMatchOptions) -> str | None:
    """Explain why there are fewer words than requested."""
    if options.vocab_size is None or tokenizer.vocab_size >= options.vocab_size:
        return None
    if any(len(dictionary) >= options.dictionary_size for dictionary in learnt.words):
        return f"a round's dictionary has at most {plural(options.dictionary_size, 'word')} (dictionary_size)"
    if len(learnt.words) < options.rounds:
        return "no pair is left to join"
    return f"{plural(options.rounds, 'round')} {'gives' if options.rounds == 1 else 'give'} no more words"


def assemble(characters: Words, dictionaries: Sequence[Words], options: MaxMatchOptions) -> Tokenizer:
    """Make a tokenizer of characters and dictionaries.

    Ids: special tokens, characters in the order given, words by dictionary and by their place in it.

    Raises:
        TrainingError: if the vocabulary has no room for the characters.
    """
    contents = options.contents
    alphabet = _alphabet(characters, options)
    needed = len(contents) + len(alphabet)
    if options.vocab_size is not None and options.vocab_size < needed:
        raise TrainingError(
            f"a vocabulary of {options.vocab_size} is too small for {len(alphabet)} characters and "
            f"{plural(len(contents), 'special token')}",
            hint=f"ask for {needed} or more",
        )
    words = (word for dictionary in dictionaries for word, _ in dictionary)
    return _tokenizer(most_frequent.number(dict.fromkeys([*alphabet, *words]), contents, options.vocab_size), options)


def _alphabet(characters: Words, options: MaxMatchOptions) -> list[bytes]:
    """Return the characters; the line end, which no line holds, is one of them, so that files can be encoded."""
    reserved = {content.encode("utf-8", "surrogateescape") for content in options.contents}
    every = dict.fromkeys([*(each for each, _ in characters), b"\n"])
    return [each for each in every if each not in reserved and is_utf8(each)]


def _tokenizer(vocabulary: Vocabulary, options: MaxMatchOptions) -> Tokenizer:
    # The line end stays: no word goes over it, and a file is decoded line by line.
    normalizer: tuple[Normalizer, ...] = (Replace(r"[^\S\n]", ""),) if options.white_space == "removed" else ()
    return Tokenizer(
        model=MaxMatch(vocabulary, options.unk_id),
        normalizer=normalizer,
        special_tokens=most_frequent.special_stages(options.contents),
    )


class MaxMatchTrainer(Trainer[MaxMatchOptions]):
    """Train dictionaries, round by round."""

    Options = MaxMatchOptions

    def takes_lines(self, options: MaxMatchOptions) -> bool:
        """Return True: it learns from lines."""
        return True

    def front(self, options: MaxMatchOptions) -> Front:
        """Return no stages: training itself takes whitespace out of lines."""
        return Front()

    def uses_counts(self, options: MaxMatchOptions) -> bool:
        """Return False: each different line counts once."""
        return False

    def train(
        self, counts: _core.Counts, options: MaxMatchOptions, progress: Progress | None = None, threads: int = 1
    ) -> Trained:
        """Learn dictionaries and make a tokenizer of all their words."""
        learnt = learn(counts, options, progress, threads)
        tokenizer = assemble(learnt.characters, learnt.words, options)
        characters = len(_alphabet(learnt.characters, options))
        words = len(tokenizer.model.vocabulary) - characters
        learnt_texts = dict.fromkeys(text for each in (learnt.characters, *learnt.words) for text, _ in each)
        left_out = most_frequent.not_text(learnt_texts)
        return Trained(
            tokenizer,
            (plural(characters, "character"), plural(words, "word"), f"{len(options.contents)} special", *left_out),
            _shortfall(learnt, tokenizer, options),
        )

    def untrained(self, options: MaxMatchOptions) -> Tokenizer:
        """Return a tokenizer of this kind that knows the line end alone."""
        return _tokenizer(Vocabulary.from_tokens([b""] * len(options.contents) + [b"\n"]), options)

    def steps(self, counts: _core.Counts, options: MaxMatchOptions) -> Steps:
        """Return the training, round by round."""
        from bpe_cli.teaching import maxmatch as textbook
        from bpe_cli.teaching.steps import Joining

        lines = textbook.prepare(
            (line for text in small_texts(counts) for line in text.split("\n")),
            options.punctuation,
            joins_over_space=options.white_space == "removed",
        )
        rules = textbook.Rules(options.factors, options.lines_per_word, options.lines_per_count, options.ratio)
        learnt = learn(counts, options)
        vocabulary = assemble(learnt.characters, learnt.words, options).model.vocabulary
        tokens = (vocabulary.token(token_id).decode("utf-8", "surrogateescape") for token_id in range(vocabulary.size))
        shown = [*options.contents, *islice(tokens, len(options.contents), None)]
        return Joining(lines, options.rounds, rules, shown)


TRAINER = MaxMatchTrainer()
Options = MaxMatchOptions
