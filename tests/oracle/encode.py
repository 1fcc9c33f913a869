"""Encode one piece with what BPE learnt: three formulations, and the way from ranks to merges.

Sources: Sennrich et al., arXiv:1508.07909, section 3.2 (replay of merges); openai/gpt-2
``src/encoder.py`` (pair with the lowest merge first); openai/tiktoken ``src/lib.rs`` (lowest rank of the
concatenation); karpathy/minbpe ``gpt4.py`` (merges recovered from ranks).

For a vocabulary that unconstrained BPE learnt they agree: no token has two splits, and every merge
stands after those that made its parts. Appended tokens, edits and vetoes break that.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from bpe_cli.teaching.bpe import Symbol, merge_word
from tests.oracle.merging import Order, merge


def _by_rank(rank: Callable[[Symbol, Symbol], int | None]) -> Order[Symbol]:
    def order(left: Symbol, right: Symbol) -> tuple[float, Symbol] | None:
        number = rank(left, right)
        return None if number is None else (number, left + right)

    return order


def _single_bytes(piece: bytes) -> list[bytes]:
    return [piece[place : place + 1] for place in range(len(piece))]


def encode_by_ranks(piece: bytes, ranks: Mapping[bytes, int]) -> list[bytes]:
    """Merge, again and again, the neighbours whose concatenation has the lowest rank (tiktoken).

    A piece that is a token is that token. A byte without a rank is left as it is.

    >>> ranks = {b"a": 0, b"b": 1, b"c": 2, b"bc": 3, b"ab": 4, b"abc": 5}
    >>> encode_by_ranks(b"abcab", ranks), encode_by_ranks(b"abc", ranks)
    ([b'abc', b'ab'], [b'abc'])
    """
    if piece in ranks:
        return [piece]
    return merge(_single_bytes(piece), _by_rank(lambda left, right: ranks.get(left + right)))


def encode_by_merges(
    symbols: Sequence[Symbol],
    merges: Sequence[tuple[Symbol, Symbol]],
    whole: Collection[Symbol] = (),
) -> list[Symbol]:
    """Merge, again and again, the neighbours that stand first in the list of merges (GPT-2).

    Args:
        symbols: The piece, spelt in symbols of the alphabet.
        merges: Pairs in the order learnt; of a pair that appears twice the first counts.
        whole: Tokens that a piece becomes at once, before any merging (``ignore_merges``).

    >>> encode_by_merges("abcab", [("b", "c"), ("a", "b")])
    ['a', 'bc', 'ab']
    >>> encode_by_merges("abcab", [("b", "c"), ("a", "b")], whole={"abcab"})
    ['abcab']
    """
    if not symbols:
        return []
    piece = symbols[0]
    for symbol in symbols[1:]:
        piece += symbol
    if piece in whole:
        return [piece]
    ranks: dict[tuple[Symbol, Symbol], int] = {}
    for number, pair in enumerate(merges):
        ranks.setdefault(pair, number)
    return merge(symbols, _by_rank(lambda left, right: ranks.get((left, right))))


def live_merges(merges: Sequence[tuple[Symbol, Symbol]], special: Collection[Symbol]) -> list[tuple[Symbol, Symbol]]:
    """Leave out the merges that make or use a special token: text is to become none unless somebody asks.

    A merge that builds on such a token is of no use then: nothing makes its part.

    >>> merges = live_merges([("<", "/"), ("</", "s"), ("</s", ">"), ("</s>", "a")], {"</s>"})
    >>> merges, encode_by_merges("</s>a", merges)
    ([('<', '/'), ('</', 's')], ['</s', '>', 'a'])
    """
    return [(left, right) for left, right in merges if not {left, right, left + right} & set(special)]


def replay_merges(symbols: Sequence[Symbol], merges: Sequence[tuple[Symbol, Symbol]]) -> list[Symbol]:
    """Apply every merge once, in the order learnt, wherever its pair stands (the paper).

    >>> replay_merges("abcab", [("b", "c"), ("a", "b")])
    ['a', 'bc', 'ab']
    """
    word = tuple(symbols)
    for left, right in merges:
        word = merge_word(word, (left, right), left + right)
    return list(word)


def recover_merges(ranks: Mapping[bytes, int]) -> tuple[list[tuple[bytes, bytes]], list[bytes]]:
    """Turn ranks into merges: the two parts that merging with lower ranks makes of each token.

    Returns:
        The merges in order of their tokens' ranks, and the tokens that no merge reaches, because
        merging with lower ranks leaves more than two parts of them.

    >>> recover_merges({b"a": 0, b"b": 1, b"ab": 2, b"aab": 3, b"bbb": 4})
    ([(b'a', b'b'), (b'a', b'ab')], [b'bbb'])
    """
    merges: list[tuple[bytes, bytes]] = []
    unreachable: list[bytes] = []
    lower: dict[bytes, int] = {}
    for token, token_rank in sorted(ranks.items(), key=lambda item: item[1]):
        if len(token) > 1:
            parts = merge(_single_bytes(token), _by_rank(lambda left, right: lower.get(left + right)))
            if len(parts) == 2:
                merges.append((parts[0], parts[1]))
            else:
                unreachable.append(token)
        lower[token] = token_rank
    return merges, unreachable
