"""Cut a text into the fewest tokens that its vocabulary allows.

Source: Schmidt et al., "Tokenization Is More Than Compression", arXiv:2402.18376; kensho-technologies/pathpiece at
1764d9f, ``src/lib.rs``. The text is not split into pieces first: a token may begin and end at any byte.

The fewest tokens up to each place are found from left to right; if several ways are equally short, the rule for ties
selects the last token. ``longest_from_the_left`` is what the paper compares with: greedy, without looking back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TypeVar

from bpe_cli.teaching.longest_match import Units

Text = TypeVar("Text", bytes, Units)
"""A text or a token: in bytes, or a word in units where tokens have marks."""

Draw = Callable[[int], int]
"""Returns a random number from 1 to its argument."""


def fewest(text: Text, vocabulary: Collection[Text], draw: Draw | None = None) -> list[Text]:
    """Return as few tokens as possible.

    Args:
        text: Any bytes, or the units of a word.
        vocabulary: All tokens.
        draw: Chooses among equally good last tokens, each with the same probability; without it, the longest is taken.

    Raises:
        ValueError: if no sequence of tokens gives the text.

    The longest token from the left is not always a good beginning:

    >>> vocabulary = {b"a", b"b", b"c", b"d", b"e", b"ab", b"abc", b"cde", b"bcde"}
    >>> longest_from_the_left(b"abcde", vocabulary), fewest(b"abcde", vocabulary)
    ([b'abc', b'd', b'e'], [b'a', b'bcde'])

    ``ab cde`` is equally short; ties go to the longer last token, or are decided at random:

    >>> fewest(b"abcde", vocabulary, draw=lambda ways: 2)
    [b'ab', b'cde']
    """
    longest = max(map(len, vocabulary), default=0)
    best: list[int | None] = [0]  # at each end: how many tokens are needed up to there; None if no tokens end there
    widths = [0]  # at each end: how long the last of them is
    for end in range(1, len(text) + 1):
        number, width, ties = None, 0, 0
        for length in range(1, min(longest, end) + 1):
            before = best[end - length]
            if before is None or text[end - length : end] not in vocabulary:
                continue
            if number is None or before + 1 < number:
                number, width, ties = before + 1, length, 1
            elif before + 1 == number:
                ties += 1
                if draw is None or draw(ties) == 1:
                    width = length
        best.append(number)
        widths.append(width)
    if best[-1] is None:
        raise ValueError("no tokens give this text: the vocabulary lacks some of its bytes")
    tokens = []
    end = len(text)
    while end:
        tokens.append(text[end - widths[end] : end])
        end -= widths[end]
    return tokens[::-1]


def longest_from_the_left(text: bytes, vocabulary: Collection[bytes]) -> list[bytes]:
    """Take the longest token again and again.

    Raises:
        ValueError: if it reaches a place where no token begins.

    >>> longest_from_the_left(b"abcd", {b"a", b"d", b"ab", b"abc", b"bcd"})
    [b'abc', b'd']
    """
    longest = max(map(len, vocabulary), default=0)
    tokens: list[bytes] = []
    start = 0
    while start < len(text):
        widths = range(min(longest, len(text) - start), 0, -1)
        width = next((width for width in widths if text[start : start + width] in vocabulary), 0)
        if not width:
            raise ValueError(f"no token begins at byte {start}")
        tokens.append(text[start : start + width])
        start += width
    return tokens
