"""Learn word pieces by the score of pairs, and cut words by them, as the textbooks do.

Sources: Schuster and Nakajima, "Japanese and Korean Voice Search", ICASSP 2012 (the model); the score as
Hugging Face's course guesses it, for Google never published its trainer; Devlin et al., arXiv:1810.04805,
with its tokenizer (``encode_word``). ``top_down`` has another trainer.

A *symbol* is a character as it is written: the first of a word bare, the others with a prefix, ``##``.
A word is a string here and comes with its frequency; nothing is fast: every step counts everything anew.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

from bpe_cli.teaching.bpe import count_pairs, count_symbols, merge_words

Pair = tuple[str, str]

ScoreTie = Literal["most-frequent", "first-seen"]
"""Which of the pairs with the highest score is taken; see ``choose``."""


# -- training by score ------------------------------------------------------------------------------


def spell(
    words: Mapping[str, int], *, prefix: str = "##", alphabet: Collection[str] | None = None
) -> dict[tuple[str, ...], int]:
    """Write words as symbols, keeping how often each occurs; symbols outside the alphabet are left out.

    >>> spell({"word": 2})
    {('w', '##o', '##r', '##d'): 2}
    """
    spelt: dict[tuple[str, ...], int] = {}
    for word, frequency in words.items():
        symbols = (prefix + character if place else character for place, character in enumerate(word))
        known = tuple(symbol for symbol in symbols if alphabet is None or symbol in alphabet)
        spelt[known] = spelt.get(known, 0) + frequency
    return spelt


def scores(words: Mapping[tuple[str, ...], int]) -> dict[Pair, Fraction]:
    """Return count(pair) / (count(left) * count(right)) of each pair, in first-seen order.

    >>> {pair: str(score) for pair, score in scores({("h", "##u", "##g"): 10, ("p", "##u", "##g"): 5}).items()}
    {('h', '##u'): '1/15', ('##u', '##g'): '1/15', ('p', '##u'): '1/15'}
    """
    symbols = count_symbols(words)
    return {
        (left, right): Fraction(count, symbols[left] * symbols[right])
        for (left, right), count in count_pairs(words).items()
    }


def choose(scored: Mapping[Pair, Fraction], counts: Mapping[Pair, int], tie: ScoreTie) -> Pair:
    """Take the pair with the highest score, and among several the one that the rule ``tie`` names.

    ``most-frequent``: the highest count, of these the smallest (left, right). ``first-seen``: earliest in
    the corpus as now segmented, the rule of the course.

    >>> scored = dict.fromkeys([("b", "##a"), ("c", "##a"), ("a", "##a")], Fraction(1, 2))
    >>> counts = {("b", "##a"): 1, ("c", "##a"): 2, ("a", "##a"): 2}
    >>> choose(scored, counts, "most-frequent"), choose(scored, counts, "first-seen")
    (('a', '##a'), ('b', '##a'))
    """
    best = max(scored.values())
    tied = [pair for pair, score in scored.items() if score == best]
    return tied[0] if tie == "first-seen" else min(tied, key=lambda pair: (-counts[pair], pair))


def join(pair: Pair, prefix: str = "##") -> str:
    """Write two symbols as one: the right one's prefix is left out.

    >>> join(("##g", "##s")), join(("h", "##u"))
    ('##gs', 'hu')
    """
    return pair[0] + pair[1].removeprefix(prefix)


@dataclass(frozen=True, slots=True)
class Step:
    """Record what one merge did.

    Attributes:
        number: Counted from 1.
        pair: The two symbols merged.
        count: How often they stood side by side before.
        left_count: How often the left one occurred.
        right_count: How often the right one did.
        product: What they became.
        token_id: Its id: a new one, unless the product was a token already.
        words: The corpus after the merge.
    """

    number: int
    pair: Pair
    count: int
    left_count: int
    right_count: int
    product: str
    token_id: int
    words: Mapping[tuple[str, ...], int]

    @property
    def score(self) -> Fraction:
        """What the pair was chosen for."""
        return Fraction(self.count, self.left_count * self.right_count)


@dataclass(frozen=True, slots=True)
class Training:
    """Hold a corpus and settings; each iteration trains anew and yields a ``Step`` per merge.

    Attributes are the arguments of ``train``; ``words`` are spelt.
    """

    words: Mapping[tuple[str, ...], int]
    initial: tuple[str, ...]
    vocab_size: int
    min_frequency: int
    tie: ScoreTie
    prefix: str

    def __iter__(self) -> Iterator[Step]:
        words = self.words
        ids = {token: token_id for token_id, token in enumerate(self.initial) if token}
        token_count = len(self.initial)
        number = 0
        while token_count < self.vocab_size:
            counts = count_pairs(words)
            frequent = {pair: score for pair, score in scores(words).items() if counts[pair] >= self.min_frequency}
            if not frequent:
                return
            pair = choose(frequent, counts, self.tie)
            symbols = count_symbols(words)
            product = join(pair, self.prefix)
            if product not in ids:
                ids[product] = token_count
                token_count += 1
            words = merge_words(words, pair, product)
            number += 1
            yield Step(
                number, pair, counts[pair], symbols[pair[0]], symbols[pair[1]], product, ids[product], words
            )  # fmt: skip

    def merges(self) -> list[Pair]:
        """Train, and give the merged pairs in order."""
        return [step.pair for step in self]

    def tokens(self) -> list[str]:
        """Train, and give all tokens by id: the initial ones, then every new product."""
        tokens = list(self.initial)
        for step in self:
            if step.token_id == len(tokens):
                tokens.append(step.product)
        return tokens


def train(
    words: Mapping[str, int],
    vocab_size: int,
    *,
    special: Sequence[str] = (),
    alphabet: Sequence[str] | None = None,
    min_frequency: int = 1,
    tie: ScoreTie = "most-frequent",
    prefix: str = "##",
) -> Training:
    """Describe a training by score; iterate over the result to run it step by step.

    Args:
        words: Words with their frequencies; their order matters to ``first-seen`` alone.
        vocab_size: Stop when so many tokens exist, all counted.
        special: Tokens that have the first ids.
        alphabet: The symbols, as they are written, that have the next ones; others are left out of the
            words. Default: all that occur, sorted.
        min_frequency: Pairs that are rarer are not merged.
        tie: Which of the pairs with the highest score is taken.
        prefix: Written before symbols inside a word.

    Raises:
        ValueError: ``tie`` is unknown.

    >>> training = train({"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}, 9)
    >>> training.tokens()
    ['##g', '##n', '##s', '##u', 'b', 'h', 'p', '##gs', 'pu']
    >>> [f"{step.score} = {step.count} / ({step.left_count} * {step.right_count})" for step in training]
    ['1/20 = 5 / (20 * 5)', '1/36 = 17 / (17 * 36)']
    """
    if tie not in get_args(ScoreTie):
        raise ValueError(f"tie is one of {', '.join(get_args(ScoreTie))}, not {tie!r}")
    if alphabet is None:
        alphabet = sorted(count_symbols(spell(words, prefix=prefix)))
    initial = (*special, *(symbol for symbol in alphabet if symbol not in special))
    spelt = spell(words, prefix=prefix, alphabet=set(alphabet))
    return Training(spelt, initial, vocab_size, max(1, min_frequency), tie, prefix)


# -- encoding ---------------------------------------------------------------------------------------


def encode_word(
    word: str, tokens: Collection[str], *, unknown: str = "[UNK]", prefix: str = "##", max_characters: int = 100
) -> list[str]:
    """Take the longest token that a word begins with, again and again; if there is none, all is unknown.

    >>> tokens = ["b", "h", "p", "##g", "##n", "##s", "##u", "##gs", "hu", "hug"]
    >>> [encode_word(word, tokens) for word in ("hugs", "bugs", "bum")]
    [['hug', '##s'], ['b', '##u', '##gs'], ['[UNK]']]
    """
    if len(word) > max_characters:
        return [unknown]
    found = []
    start = 0
    while start < len(word):
        mark = prefix if start else ""
        end = len(word)
        while end > start and mark + word[start:end] not in tokens:
            end -= 1
        if end == start:
            return [unknown]
        found.append(mark + word[start:end])
        start = end
    return found
