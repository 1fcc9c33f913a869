"""Find added tokens in text: written to be read, never optimised.

Added tokens are cut out of a text before anything else happens to it. At each place, from left to right,
the longest one that stands there is taken. A token may also

- be a *single word*: it does not count with a word character right before or after it. Its text is passed
  over all the same, so that no shorter token is found inside it;
- *strip*: it takes the whitespace to its left or right along, but none that the token before it took.

Hugging Face's tokenizers do it in this way (their ``AddedVocabulary``); so does ``core/src/special.rs``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

WORD_CHARACTER = re.compile(r"\w")
# What Unicode calls White_Space. Python's str.isspace() counts U+001C to U+001F, too.
WHITE_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))


@dataclass(frozen=True)
class AddedToken:
    """A token with its text, and how it is looked for."""

    content: str
    token_id: int
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False


def find_added_tokens(text: str, tokens: Sequence[AddedToken]) -> list[tuple[int, int, int]]:
    """Return (start, end, id) of each added token in a text, in characters.

    >>> find_added_tokens("a <s> b", [AddedToken("<s>", 7, rstrip=True)])
    [(2, 6, 7)]
    >>> find_added_tokens("under_der der", [AddedToken("der", 1, single_word=True), AddedToken("er", 2)])
    [(10, 13, 1)]
    """
    found = []
    taken = 0  # up to here, the text belongs to the tokens found so far
    at = 0
    while at < len(text):
        here = [token for token in tokens if token.content and text.startswith(token.content, at)]
        if not here:
            at += 1
            continue
        token = max(here, key=lambda token: len(token.content))
        start, end = at, at + len(token.content)
        at = end
        if token.single_word and inside_word(text, start, end):
            continue
        if token.lstrip:
            start = max(len(text[:start].rstrip(WHITE_SPACE)), taken)
        if token.rstrip:
            end = len(text) - len(text[end:].lstrip(WHITE_SPACE))
        if start >= end:
            continue  # whitespace that the token before took
        found.append((start, end, token.token_id))
        taken = end
    return found


def inside_word(text: str, start: int, end: int) -> bool:
    """Return whether a word character stands right before or after a part of a text."""
    return bool(WORD_CHARACTER.match(text[start - 1 : start]) or WORD_CHARACTER.match(text[end : end + 1]))
