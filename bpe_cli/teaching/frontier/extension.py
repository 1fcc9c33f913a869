"""Learn more merges after those of a tokenizer, and order its tokens by how easily they can be spared.

Source: Purason et al., "Teaching Old Tokenizers New Words: Efficient Tokenizer Adaptation for Pre-trained Models",
arXiv:2512.03989; taidopurason/tokenizer-extension at 15e9ed7. Merges made from the vocabulary alone are those of
huggingface/transformers, ``convert_slow_tokenizer.generate_merges``.

A token is a string in the visible byte alphabet. A tokenizer is its tokens by id, and its merges in order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import pairwise

from bpe_cli.teaching.frontier.words import Words

Pair = tuple[str, str]


def ranks_of(merges: Iterable[Pair]) -> dict[Pair, int]:
    """Return the place of each merge; the first one if a merge is there twice.

    >>> ranks_of([("a", "b"), ("b", "c"), ("a", "b")])
    {('a', 'b'): 0, ('b', 'c'): 1}
    """
    return {pair: rank for rank, pair in enumerate(dict.fromkeys(merges))}


def segment(word: str, ranks: Mapping[Pair, int]) -> tuple[list[str], list[Pair]]:
    """Apply the merge that comes first in the list, again and again; return the tokens, and the merges made.

    >>> segment("abab", {("a", "b"): 0, ("ab", "a"): 1})
    (['ab', 'ab'], [('a', 'b'), ('a', 'b')])
    """
    tokens, made = list(word), []
    while possible := [(ranks[pair], place) for place, pair in enumerate(pairwise(tokens)) if pair in ranks]:
        _, place = min(possible)
        made.append((tokens[place], tokens[place + 1]))
        tokens[place : place + 2] = ["".join(made[-1])]
    return tokens, made


def learn(
    pieces: Mapping[str, int], merges: Sequence[Pair], number: int, *, max_token_length: int | None = None
) -> list[Pair]:
    """Return merges learnt on top of others: plain byte-pair encoding of what those make of the pieces.

    Args:
        pieces: Pieces with their frequencies.
        merges: The merges of the tokenizer.
        number: The number of new tokens to make; there are fewer if no pairs are left.
        max_token_length: The number of characters that a new token may have; longer pairs are left out.

    Ties go to the smallest text.

    >>> learn({"abab": 3, "abc": 2}, [("a", "b")], 2)
    [('ab', 'ab'), ('ab', 'c')]
    >>> learn({"abab": 3, "abc": 2}, [("a", "b")], 2, max_token_length=3)
    [('ab', 'c')]
    """
    ranks = ranks_of(merges)

    def short_enough(pair: Pair) -> bool:
        return max_token_length is None or len(pair[0]) + len(pair[1]) <= max_token_length

    words = Words(
        [(tuple(segment(piece, ranks)[0]), count) for piece, count in pieces.items()],
        lambda word: filter(short_enough, pairwise(word)),
    )
    learnt: list[Pair] = []
    while len({left + right for left, right in learnt}) < number and words.counts:
        most = max(words.counts.values())
        pair = min(pair for pair, count in words.counts.items() if count == most)
        words.merge(pair, "".join(pair))
        learnt.append(pair)
    return learnt


def merges_of_vocabulary(known: Collection[str], new: Iterable[str]) -> list[Pair]:
    """Return all merges of two known tokens that make the new tokens, each one's longest left part first.

    >>> merges_of_vocabulary({"a", "b", "c", "ab", "bc", "abc"}, ["ab", "abc"])
    [('a', 'b'), ('ab', 'c'), ('a', 'bc')]
    """
    return [
        (token[:place], token[place:])
        for token in new
        for place in range(len(token) - 1, 0, -1)
        if token[:place] in known and token[place:] in known
    ]


@dataclass(frozen=True, slots=True)
class Structure:
    """How tokens are made from each other.

    Attributes:
        splits: The last merge of each token that merges make.
        unreachable: Tokens that merges do not make from their own text.
        uses: The number of splits of other tokens that each token is part of.
    """

    splits: dict[str, Pair]
    unreachable: set[str]
    uses: Counter[str]

    def is_leaf(self, token: str) -> bool:
        """Return whether no other token is made from a token, and it is not in the alphabet."""
        return not self.uses[token] and (token in self.splits or token in self.unreachable)


def structure_of(tokens: Iterable[str], merges: Sequence[Pair]) -> Structure:
    """Find how tokens are made from each other, by making each one from its characters.

    >>> structure_of(["a", "b", "c", "ab", "bc", "abc", "cb"], [("a", "b"), ("b", "c"), ("ab", "c")])
    Structure(splits={'ab': ('a', 'b'), 'bc': ('b', 'c'), 'abc': ('ab', 'c')}, unreachable={'cb'}, \
uses=Counter({'b': 2, 'c': 2, 'a': 1, 'ab': 1}))
    """
    ranks = ranks_of(merges)
    splits: dict[str, Pair] = {}
    unreachable = set()
    for token in tokens:
        made, steps = segment(token, ranks)
        splits |= {"".join(pair): pair for pair in steps}
        if made != [token]:
            unreachable.add(token)
    return Structure(splits, unreachable, Counter(part for pair in splits.values() for part in pair))


def leaves_by(
    tokens: Sequence[str], merges: Sequence[Pair], frequencies: Mapping[str, int] | None = None
) -> Iterator[str]:
    """Yield tokens in the order of pruning: always a leaf, so that no token loses its parts.

    Args:
        tokens: The tokens by id.
        merges: The merges in order.
        frequencies: How often each token occurs. The rarest leaf goes first, and its count is added to those of its
            parts; among equals, the highest id goes first. Without frequencies, it is always the highest id.

    >>> tokens, merges = ["a", "b", "c", "ab", "bc", "abc"], [("a", "b"), ("b", "c"), ("ab", "c")]
    >>> list(leaves_by(tokens, merges)), list(leaves_by(tokens, merges, {"abc": 2, "bc": 3, "ab": 2}))
    (['abc', 'bc', 'ab'], ['abc', 'bc', 'ab'])
    >>> list(leaves_by(tokens, merges, {"abc": 2, "bc": 3}))
    ['abc', 'ab', 'bc']
    """
    structure = structure_of(tokens, merges)
    counts = Counter(frequencies or {})
    ids = {token: token_id for token_id, token in enumerate(tokens)}

    def entry(token: str) -> tuple[int, int]:
        return counts[token] if frequencies is not None else 0, -ids[token]

    waiting = [entry(token) for token in tokens if structure.is_leaf(token)]
    heapify(waiting)
    while waiting:
        token = tokens[-heappop(waiting)[1]]
        yield token
        for part in structure.splits.get(token, ()):
            counts[part] += counts[token]
        for part in structure.splits.get(token, ()):
            structure.uses[part] -= 1
            if structure.is_leaf(part):
                heappush(waiting, entry(part))


def by_frequency(tokens: Sequence[str], frequencies: Mapping[str, int]) -> list[str]:
    """Return all tokens, the rarest first; among equals, the highest id first.

    >>> by_frequency(["a", "b", "ab", "ba"], {"a": 2, "b": 1})
    ['ba', 'ab', 'b', 'a']
    """
    ids = {token: token_id for token_id, token in enumerate(tokens)}
    return sorted(tokens, key=lambda token: (frequencies.get(token, 0), -ids[token]))


def by_merges(tokens: Sequence[str], merges: Sequence[Pair], pieces: Mapping[str, int]) -> list[str]:
    """Return all tokens, those first that encoding needs least, as tokens or as parts of merges on the way.

    Among equals, the longest comes first, then the highest id.

    >>> by_merges(["a", "b", "c", "ab", "abc"], [("a", "b"), ("ab", "c")], {"abc": 1, "a": 1})
    ['abc', 'ab', 'c', 'b', 'a']
    """
    ranks = ranks_of(merges)
    needed: Counter[str] = Counter()
    for piece, count in pieces.items():
        made, steps = segment(piece, ranks)
        for token in [*made, *(part for pair in steps for part in pair)]:
            needed[token] += count
    ids = {token: token_id for token_id, token in enumerate(tokens)}
    return sorted(tokens, key=lambda token: (needed[token], -len(token), -ids[token]))


def without(tokens: Iterable[str], merges: Iterable[Pair], gone: AbstractSet[str]) -> tuple[list[str], list[Pair]]:
    """Return the tokens and merges that are left.

    >>> without(["a", "b", "c", "ab", "abc"], [("a", "b"), ("ab", "c")], {"abc"})
    (['a', 'b', 'c', 'ab'], [('a', 'b')])
    """
    left = [token for token in tokens if token not in gone]
    return left, [pair for pair in merges if gone.isdisjoint((*pair, "".join(pair)))]
