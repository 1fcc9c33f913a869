"""Encode one piece with models over characters: by merges, and by the scores of pieces.

Sources: Sennrich, Haddow and Birch, arXiv:1508.07909 (merges of characters); google/sentencepiece
``bpe_model.cc`` (scores).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from bpe_cli.teaching.bpe import byte_token, decorate, spellings
from tests.oracle.merging import Order, merge


@dataclass(frozen=True, slots=True)
class _Node:
    """A part of a piece and the two that it was merged from."""

    text: str
    parts: tuple[_Node, ...] = ()
    frozen: bool = False

    def without(self, unused: Collection[str]) -> list[_Node]:
        """Return the node, or its parts if it is unused, theirs if they are."""
        if self.text not in unused or not self.parts:
            return [self]
        return [leaf for part in self.parts for leaf in part.without(unused)]


def spell(
    piece: str,
    vocabulary: Collection[str],
    *,
    unknown: str | None = None,
    fuse_unknown: bool = False,
    byte_fallback: bool = False,
    prefix: str = "",
    suffix: str = "",
    separate_suffix: bool = False,
) -> list[str]:
    """Spell a piece in tokens of characters, before any merging.

    Args:
        piece: The text.
        vocabulary: All tokens.
        unknown: The token for a character that has none; None leaves such a character out.
        fuse_unknown: Whether neighbouring unknown characters become one token.
        byte_fallback: Whether an unknown character becomes the tokens of its bytes, if all are there.
        prefix: Written before each character but the first.
        suffix: Written after the last character.
        separate_suffix: Whether the suffix is a symbol of its own.

    >>> spell("abx", {"a", "##b", "##x</w>"}, prefix="##", suffix="</w>")
    ['a', '##b', '##x</w>']
    >>> spell("xyaz", {"a"}, unknown="?", fuse_unknown=True)
    ['?', 'a', '?']
    """
    symbols = decorate(piece, prefix=prefix, suffix=suffix, separate_suffix=separate_suffix)
    spelt = spellings(symbols, vocabulary, unknown=unknown, fuse_unknown=fuse_unknown, byte_fallback=byte_fallback)
    return [token for spelling in spelt for token in spelling.tokens]


def order_of_merges(merges: Sequence[tuple[str, str]], prefix: str = "") -> Order[str]:
    """Order merges as they stand in a list; a product leaves out the right part's prefix.

    >>> order_of_merges([("a", "##b"), ("##b", "##c")], prefix="##")("##b", "##c")
    (1, '##bc')
    """
    numbers: dict[tuple[str, str], int] = {}
    for number, pair in enumerate(merges):
        numbers.setdefault(pair, number)

    def order(left: str, right: str) -> tuple[int, str] | None:
        number = numbers.get((left, right))
        return None if number is None else (number, left + right.removeprefix(prefix))

    return order


def encode_by_scores(
    piece: str,
    scores: Mapping[str, float],
    *,
    unknown: str = "<unk>",
    byte_fallback: bool = False,
    user_defined: Collection[str] = (),
    unused: Collection[str] = (),
) -> list[str]:
    """Merge the neighbours whose concatenation has the highest score (SentencePiece's BPE).

    A character that is no piece can still become part of one. In the end, unknown characters become
    tokens: neighbours one, or each its bytes.

    Args:
        piece: The text, with blanks as marks.
        scores: Score of each piece that text can become.
        unknown: The token for unknown characters.
        byte_fallback: Whether these become the tokens of their bytes.
        user_defined: Pieces that are found first, the longest at each place, and never merged.
        unused: Pieces for merging only: in the end they become what they were merged from, and a character is unknown.

    >>> encode_by_scores("abcx", {"a": -3, "ab": -2, "bc": -1, "abc": -4})
    ['abc', '<unk>']
    >>> encode_by_scores("abcd", {"ab": -1, "bc": 0, "abc": -2}, user_defined=["c"], unused=["ab"])
    ['<unk>', 'c', '<unk>']
    """
    nodes: list[_Node] = []
    place = 0
    while place < len(piece):
        own = max((token for token in user_defined if piece.startswith(token, place)), key=len, default="")
        nodes.append(_Node(own or piece[place], frozen=bool(own)))
        place += len(nodes[-1].text)

    def order(left: _Node, right: _Node) -> tuple[float, _Node] | None:
        score = scores.get(left.text + right.text)
        if score is None or left.frozen or right.frozen:
            return None
        return -score, _Node(left.text + right.text, (left, right))

    nodes = merge(nodes, order)
    found: list[str] = []
    after_unknown = False
    for node in [leaf for tree in nodes for leaf in tree.without(unused)]:
        known = node.frozen or (node.text in scores and node.text not in unused)
        if known:
            found.append(node.text)
        elif byte_fallback:
            found += [byte_token(byte) for byte in node.text.encode()]
        elif not after_unknown:
            found.append(unknown)
        after_unknown = not known
    return found
