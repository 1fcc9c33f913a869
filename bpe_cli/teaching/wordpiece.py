"""Learn word pieces by the score of pairs or from the top down, and cut words with them, as the textbooks do.

Sources: Schuster and Nakajima, "Japanese and Korean Voice Search", ICASSP 2012 (the model); the score as
Hugging Face's course reconstructs it, since Google never published its trainer; Devlin et al., arXiv:1810.04805,
with its tokenizer (``encode_word``).

``learn`` is TensorFlow Text's trainer (``wordpiece_tokenizer_learner_lib.py``), with its defaults: it keeps frequent
strings, the longest first. For each threshold, it goes over the words several times. Each time, it counts all strings
that begin where a token of the last vocabulary begins (at first: anywhere), and keeps the frequent ones. A binary
search finds the threshold that gives a vocabulary of the requested size.

A *symbol* is a character as it is written: the first one of a word as it is, the others with a prefix, ``##``.
A word is a string here and comes with its frequency; nothing is fast: every step recounts everything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Literal, get_args

from bpe_cli.teaching.bpe import count_pairs, count_symbols, decorate, merge_words

Pair = tuple[str, str]

ScoreTie = Literal["most-frequent", "first-seen"]
"""Which of several pairs with the highest score is taken; see ``choose``."""


def spell(
    words: Mapping[str, int], *, prefix: str = "##", alphabet: Collection[str] | None = None
) -> dict[tuple[str, ...], int]:
    """Write words as symbols, keeping how often each occurs; symbols outside the alphabet are dropped.

    >>> spell({"word": 2})
    {('w', '##o', '##r', '##d'): 2}
    """
    spelt: dict[tuple[str, ...], int] = {}
    for word, frequency in words.items():
        symbols = decorate(word, prefix=prefix)
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
    """Return the pair with the highest score; among equals, the one that the rule ``tie`` selects.

    ``most-frequent``: the highest count; among these, the smallest (left, right). ``first-seen``: the earliest in
    the corpus as it is segmented now, which is the rule of the course.

    >>> scored = dict.fromkeys([("b", "##a"), ("c", "##a"), ("a", "##a")], Fraction(1, 2))
    >>> counts = {("b", "##a"): 1, ("c", "##a"): 2, ("a", "##a"): 2}
    >>> choose(scored, counts, "most-frequent"), choose(scored, counts, "first-seen")
    (('a', '##a'), ('b', '##a'))
    """
    best = max(scored.values())
    tied = [pair for pair, score in scored.items() if score == best]
    return tied[0] if tie == "first-seen" else min(tied, key=lambda pair: (-counts[pair], pair))


def join(pair: Pair, prefix: str = "##") -> str:
    """Write two symbols as one: the right one's prefix is dropped.

    >>> join(("##g", "##s")), join(("h", "##u"))
    ('##gs', 'hu')
    """
    return pair[0] + pair[1].removeprefix(prefix)


@dataclass(frozen=True, slots=True)
class Step:
    """The effect of one merge.

    Attributes:
        number: Counted from 1.
        pair: The two symbols that are merged.
        count: How often they were next to each other before.
        left_count: How often the left one occurred.
        right_count: How often the right one occurred.
        product: The symbol that they became.
        token_id: Its id: a new one, unless the product already was a token.
        words: The corpus after the merge.
        counts: All pairs that could be merged, with their counts, in first-seen order.
        symbols: How often each symbol occurred before.
    """

    number: int
    pair: Pair
    count: int
    left_count: int
    right_count: int
    product: str
    token_id: int
    words: Mapping[tuple[str, ...], int]
    counts: Mapping[Pair, int]
    symbols: Mapping[str, int]

    @property
    def score(self) -> Fraction:
        """The score for which the pair was chosen."""
        return Fraction(self.count, self.left_count * self.right_count)


@dataclass(frozen=True, slots=True)
class Training:
    """A corpus and settings; each iteration trains from the start, and yields a ``Step`` for each merge.

    The attributes are the arguments of ``train``; ``words`` are spelt.
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
                number, pair, counts[pair], symbols[pair[0]], symbols[pair[1]], product, ids[product], words,
                {each: counts[each] for each in frequent}, symbols,
            )  # fmt: skip

    def merges(self) -> list[Pair]:
        """Train, and return the merged pairs in order."""
        return [step.pair for step in self]

    def tokens(self) -> list[str]:
        """Train, and return all tokens by id: the initial ones, then every new product."""
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
        words: Words with their frequencies; their order matters only for ``first-seen``.
        vocab_size: Stop at this number of tokens, of all kinds.
        special: Tokens that get the first ids.
        alphabet: The symbols, as they are written, that get the next ids; others are dropped from the
            words. Default: all that occur, sorted.
        min_frequency: Rarer pairs are not merged.
        tie: Which of several pairs with the highest score is taken.
        prefix: The mark before symbols inside a word.

    Raises:
        ValueError: if ``tie`` is unknown.

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


def encode_word(
    word: str, tokens: Collection[str], *, unknown: str = "[UNK]", prefix: str = "##", max_characters: int = 100
) -> list[str]:
    """Take the longest token that the rest begins with, again and again; if there is none, the word is unknown.

    >>> tokens = ["b", "h", "p", "##g", "##n", "##s", "##u", "##gs", "hu", "hug"]
    >>> [encode_word(word, tokens) for word in ("hugs", "bugs", "bum")]
    [['hug', '##s'], ['b', '##u', '##gs'], ['[UNK]']]
    """
    if len(word) > max_characters:
        return [unknown]
    cut = []
    start = 0
    while start < len(word):
        mark = prefix if start else ""
        end = len(word)
        while end > start and mark + word[start:end] not in tokens:
            end -= 1
        if end == start:
            return [unknown]
        cut.append(mark + word[start:end])
        start = end
    return cut


def learn(
    words: Mapping[str, int],
    vocab_size: int,
    *,
    reserved: Sequence[str] = (),
    min_frequency: int = 10,
    max_frequency: int = 10_000_000,
    iterations: int = 4,
    max_word_length: int = 50,
    max_alphabet: int = 1000,
    max_words: int = 5_000_000,
    prefix: str = "##",
) -> Iterator[tuple[int, list[str]]]:
    """Look for a threshold that gives a vocabulary of ``vocab_size`` tokens, or up to 5% fewer.

    There may be none, since a higher threshold may give *more* tokens.

    Args:
        words: Words with their frequencies, at least one.
        vocab_size: The maximum number of tokens.
        reserved: Tokens that come first; words that equal one of them are not learnt from.
        min_frequency: The lowest threshold.
        max_frequency: The highest threshold.
        iterations: How often the words are counted for each threshold.
        max_word_length: Longer words are not learnt from.
        max_alphabet: Only words spelt with this many of the most frequent characters are learnt from.
        max_words: Only this many of the most frequent words are learnt from.
        prefix: The mark before tokens inside a word.

    Yields:
        Each threshold that is tried, with its vocabulary. The last one is the result.

    >>> words = {"low": 9, "lower": 5, "lowest": 4, "wide": 3, "wider": 6, "widest": 8}
    >>> tried = list(learn(words, 24, min_frequency=2))
    >>> [(threshold, len(vocabulary)) for threshold, vocabulary in tried]
    [(6, 21), (4, 23)]
    >>> tried[-1][1][9:]
    ['low', 'widest', 'wider', 'lower', 'lowest', '##d', '##e', '##i', '##l', '##o', '##r', '##s', '##t', '##w']
    """
    # Bounds are taken from all words, even those that are not learnt from.
    lower, upper = max(min(words.values()), min_frequency), min(max(words.values()), max_frequency)
    short = {word: n for word, n in words.items() if len(word) <= max_word_length and word not in reserved}
    characters: Counter[str] = Counter()
    for word, count in short.items():
        for character in word:
            characters[character] += count
    allowed = sorted(characters, key=lambda character: (-characters[character], character))[:max_alphabet]
    by_count = sorted(short, key=lambda word: -short[word])
    learnt = {word: short[word] for word in [word for word in by_count if set(word) <= set(allowed)][:max_words]}
    while True:
        threshold = (lower + upper) // 2
        vocabulary = list(dict.fromkeys([*reserved, *tokens_above(learnt, threshold, iterations, prefix)]))
        yield threshold, vocabulary
        size = len(vocabulary)
        near = size <= vocab_size and 20 * (vocab_size - size) <= vocab_size
        if near or lower >= upper or threshold <= 1:
            return
        if size > vocab_size:
            lower = threshold + 1
        else:
            upper = threshold - 1


def tokens_above(words: Mapping[str, int], threshold: int, iterations: int, prefix: str = "##") -> list[str]:
    """Return the characters, sorted, and the tokens that a threshold keeps, by descending count and then by text."""
    characters = sorted(set("".join(words)))
    singles = [*characters, *(prefix + character for character in characters)]
    kept = dict.fromkeys(singles, 1)
    for iteration in range(iterations):
        starts = {word: cuts(word, kept, prefix) if iteration else range(len(word)) for word in words}
        kept = keep(words, starts, threshold, prefix)
        for single in singles:
            kept.setdefault(single, 1)
    return list(dict.fromkeys([*characters, *sorted(kept, key=lambda token: (-kept[token], token))]))


def keep(
    words: Mapping[str, int], starts: Mapping[str, Sequence[int]], threshold: int, prefix: str = "##"
) -> dict[str, int]:
    """Keep the strings that occur often enough, the longest first; subtract the count of each from all its prefixes.

    This is done whether a string is kept or not, as in TensorFlow. What is left of a count is then how often
    a word *ends* there: the word ``low`` is counted, but not its prefix ``lo``.

    >>> keep({"low": 9, "lower": 5}, {"low": [0], "lower": [0, 3]}, 5)
    {'lower': 5, 'low': 9, '##er': 5}
    """
    counts: Counter[tuple[int, str]] = Counter()
    for word, count in words.items():
        for start in starts[word]:
            for end in range(start + 1, len(word) + 1):
                counts[end - start, (prefix if start else "") + word[start:end]] += count
    kept = {}
    for length, token in sorted(counts, key=lambda entry: -entry[0]):
        count = counts[length, token]
        if count >= threshold:
            kept[token] = count
        mark = len(token) - length
        for shorter in range(1, length):
            if (shorter, token[: mark + shorter]) in counts:
                counts[shorter, token[: mark + shorter]] -= count
    return kept


def cuts(word: str, tokens: Collection[str], prefix: str = "##") -> list[int]:
    """Return where the tokens of a word begin, as ``encode_word`` cuts it.

    >>> cuts("lowest", {"low", "##e", "##s", "##t", "##st"})
    [0, 3, 4]
    """
    pieces = encode_word(word, tokens, prefix=prefix, max_characters=len(word))
    lengths = [len(token) - (len(prefix) if place else 0) for place, token in enumerate(pieces)]
    return [*accumulate(lengths, initial=0)][:-1]
