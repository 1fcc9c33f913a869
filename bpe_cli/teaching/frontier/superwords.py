"""Learn superwords as the textbook does: first merges inside words, then merges that may cross the spaces between them.

Liu, Hayase, Hofmann, Oh, Smith and Choi, "SuperBPE: Space Travel for Language Models", arXiv:2503.13423; the rules are
those of the authors' trainer (alisawuffles/tokenizers-superbpe).

A corpus is cut twice, each line by itself with its end: by the first pattern into words, by the second into *runs* of
words, which end before numbers and at marks. The first stage is plain BPE over words. The second takes over its merges
in their order, and goes on over runs. Nothing here cuts text, and nothing is fast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from bpe_cli.teaching import bpe
from bpe_cli.teaching.bpe import Step, Tie, merge_words

Pair = tuple[bytes, bytes]
Words = Mapping[tuple[bytes, ...], int]


def lines_of(text: bytes) -> list[bytes]:
    r"""Return the lines of a text, each with its end: no word and no run goes on in the next line.

    >>> lines_of(b"a\nb\r\n\nc")
    [b'a\n', b'b\r\n', b'\n', b'c']
    """
    *ended, last = text.split(b"\n")
    return [line + b"\n" for line in ended] + ([last] if last else [])


def word_count(token: bytes) -> int:
    """Count the words of a token, that is, the texts between its spaces.

    >>> [word_count(token) for token in (b" of the", b"of  ", b"  ")]
    [2, 1, 0]
    """
    return sum(1 for word in token.split(b" ") if word)


def is_superword(token: bytes) -> bool:
    """Return whether a token has a space after a word.

    >>> [is_superword(token) for token in (b" of the", b" of", b"of ", b"a b")]
    [True, False, True, True]
    """
    return b" " in token.lstrip(b" ")


def may_be(token: bytes, *, max_words: int | None, never_within: Sequence[bytes]) -> bool:
    """Return whether the second stage may make a token.

    >>> [may_be(token, max_words=2, never_within=[b": "]) for token in (b" of the", b" of the s", b": a")]
    [True, False, False]
    """
    if max_words is not None and word_count(token) > max_words:
        return False
    return not any(text in token for text in never_within)


def inherit(runs: Words, merges: Iterable[Pair]) -> tuple[dict[tuple[bytes, ...], int], list[Pair]]:
    """Apply the merges of the first stage to runs, in their order, each once.

    A pair that was in no run at any time before its turn is left out. If earlier merges have used up all its places,
    a pair is kept, but merges nothing.

    Returns:
        The runs, merged; and the merges that were kept.

    >>> inherit({(b"a", b"b", b"c"): 1}, [(b"a", b"b"), (b"b", b"c"), (b"c", b"a"), (b"ab", b"c")])
    ({(b'abc',): 1}, [(b'a', b'b'), (b'b', b'c'), (b'ab', b'c')])
    """
    merged, kept = dict(runs), []
    met = set[Pair]().union(*map(pairwise, merged))
    for left, right in merges:
        if (left, right) in met:
            kept.append((left, right))
            merged = merge_words(merged, (left, right), left + right)
            met.update(*(pairwise(run) for run in merged if left + right in run))
    return merged, kept


@dataclass(frozen=True, slots=True)
class Training:
    """Two stages; each iteration trains from the start, and yields the steps of both. Attributes: as for ``train``."""

    words: bpe.Training[bytes]
    runs: Words
    max_words: int | None
    never_within: tuple[bytes, ...]

    @property
    def initial(self) -> tuple[bytes, ...]:
        """The tokens that exist before the first merge."""
        return self.words.initial

    def second(self, merges: Iterable[Pair]) -> tuple[list[Pair], bpe.Training[bytes]]:
        """Return the merges that the second stage takes over, and the training of the runs after them."""
        runs, kept = inherit(self.runs, merges)
        products = dict.fromkeys(left + right for left, right in kept)
        tokens = [*self.initial, *(product for product in products if product not in self.initial)]
        first, longest = self.words.allow, self.words.max_token_length

        def allow(token: bytes) -> bool:
            if longest is not None and len(token) > longest:
                return False
            vetoed = not may_be(token, max_words=self.max_words, never_within=self.never_within)
            return not vetoed and (first is None or first(token))

        return kept, replace(
            self.words, words=runs, initial=tuple(tokens), num_merges=None, max_token_length=None, allow=allow
        )

    def merges(self) -> list[Pair]:
        """Train, and return the merged pairs in order: those taken over, and the new ones."""
        kept, runs = self.second(self.words.merges())
        return kept + runs.merges()

    def __iter__(self) -> Iterator[Step[bytes]]:
        yield from self.words
        yield from self.second(self.words.merges())[1]


def train(
    words: Mapping[bytes, int],
    runs: Mapping[bytes, int],
    *,
    initial: Sequence[bytes],
    vocab_size: int,
    switch: int,
    max_words: int | None = 4,
    never_within: Sequence[bytes] = (b": ",),
    min_frequency: int = 1,
    tie: Tie = "lowest-ids",
    max_token_length: int | None = None,
    allow: Callable[[bytes], bool] | None = None,
) -> Training:
    """Describe a training run in two stages; iterate over the result to run it.

    Args:
        words: The pieces of the first pattern, with their counts.
        runs: The pieces of the second pattern, with their counts.
        initial: Tokens that exist before the first merge, numbered from 0.
        vocab_size: Stop at this number of tokens.
        switch: The number of merges in the first stage.
        max_words: The maximum number of words in a token of the second stage; None for no limit.
        never_within: Texts that no such token contains.
        min_frequency: End a stage when its most frequent pair occurs less often.
        tie: Which of several equally frequent pairs is taken.
        max_token_length: The maximum length of a token in bytes.
        allow: Whether a token with this text may be made, in both stages.

    >>> training = train({b"ab": 9, b" ab": 9}, {b"ab ab": 9}, initial=[b" ", b"a", b"b"], vocab_size=6, switch=2)
    >>> training.merges()
    [(b'a', b'b'), (b' ', b'ab'), (b'ab', b' ab')]
    """
    first = bpe.train(
        bpe.byte_words(words),
        initial=initial,
        vocab_size=vocab_size,
        num_merges=switch,
        min_frequency=min_frequency,
        tie=tie,
        max_token_length=max_token_length,
        allow=allow,
    )
    return Training(first, bpe.byte_words(runs), max_words, tuple(never_within))


def balanced_switch(at: Callable[[int], Training], most: int, *, parts: int = 128) -> int:
    """Find the number of merges inside words with which both stages go equally deep. The rule is ours.

    A merge saves as many tokens as its pair has occurrences. The later the switch, the rarer the last pair of the first
    stage, and the more frequent the last one of the second. Bisection finds the latest switch whose last superword is
    no more frequent than its last word. This counts as true if the second stage has run out of pairs, and as false if
    it has no room for a merge.

    Args:
        at: Returns the training run with a given switch.
        most: The number of merges that the first stage can make.
        parts: The switch is found to this share of ``most``.

    >>> words = {b"abab": 9, b" abab": 5, b"cd": 3}
    >>> def at(switch):
    ...     return train(words, {b"abab abab": 5}, initial=[b" ", b"a", b"b", b"c", b"d"], vocab_size=9, switch=switch)
    >>> balanced_switch(at, 4)
    3
    """
    early, late = 0, most + 1
    step = max(1, -(-most // parts))
    while late - early > step:
        switch = (early + late) // 2
        if goes_deep_enough(at(switch)):
            early = switch
        else:
            late = switch
    return early


def goes_deep_enough(training: Training) -> bool:
    """Return whether the last superword is no more frequent than the last word, or there is none left to learn."""
    *_, last_word = training.words
    superwords = training.second(training.words.merges())[1]
    counts = [step.count for step in superwords]
    if len(superwords.tokens()) < (superwords.vocab_size or 0):
        return True
    return bool(counts) and counts[-1] <= last_word.count
