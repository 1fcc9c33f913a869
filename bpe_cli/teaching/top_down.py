"""Learn word pieces from the top down, as TensorFlow Text does: keep what is frequent, the longest first.

Source: ``wordpiece_tokenizer_learner_lib.py`` of tensorflow-text, with its defaults. For a threshold, it
goes several times over the words. Each time it counts everything that begins where a token of the last
vocabulary begins (at first: anywhere) and keeps what occurs often enough. A binary search looks for the
threshold that gives a vocabulary of the size that is wanted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from bpe_cli.teaching.wordpiece import encode_word


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

    There may be none, for a higher threshold may give *more* tokens.

    Args:
        words: Words with their frequencies, at least one.
        vocab_size: Most tokens.
        reserved: Tokens that come first; words that are one are not learnt from.
        min_frequency: The lowest threshold.
        max_frequency: The highest threshold.
        iterations: How often the words are counted for each threshold.
        max_word_length: Longer words are not learnt from.
        max_alphabet: Words with characters besides the most frequent ones are not learnt from.
        max_words: Words besides the most frequent ones are not learnt from.
        prefix: Written before tokens inside a word.

    Yields:
        Each threshold that is tried, with its vocabulary. The last one counts.

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
    """Return the characters, sorted, and what a threshold keeps, by falling count and then by text."""
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
    """Keep what occurs often enough, the longest first; each takes its count off all its beginnings.

    Whether it is kept or not, it does so, as TensorFlow's does. What is left of a count is then how often
    a word *ends* there: the word ``low`` is counted, but not the beginning ``lo`` of it.

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
    """Return where the tokens begin that ``encode_word`` cuts a word into.

    >>> cuts("lowest", {"low", "##e", "##s", "##t", "##st"})
    [0, 3, 4]
    """
    found = encode_word(word, tokens, prefix=prefix, max_characters=len(word))
    lengths = [len(token) - (len(prefix) if place else 0) for place, token in enumerate(found)]
    return [sum(lengths[:place]) for place in range(len(lengths))]
