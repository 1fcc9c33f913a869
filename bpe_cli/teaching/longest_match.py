"""Split a word by its longest tokens, without merges: anywhere in it first, or from the left.

Source: the encoder of many BPE tutorials, after Lei Mao's "Byte Pair Encoding". It keeps the
vocabulary only, so it needs no merges, and it often disagrees with ``encode``. Two slips that are copied
along with it are not made here: text in which no token occurs was dropped unless all tokens had been
tried before, and a token with a dot never matched.

The tutorials describe their encoder as going "from left to right"; that is another one, which is here too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence


def token_length(token: str, end: str = "</w>") -> int:
    """Count a token's characters, a mark of a word's end being one.

    >>> token_length("est</w>")
    4
    """
    return len(token) - len(end) + 1 if end and token.endswith(end) else len(token)


def longest_first(counts: Mapping[str, int], end: str = "</w>") -> list[str]:
    """Sort tokens by length and then by frequency, both falling; equals keep their order.

    >>> longest_first({"n": 4150, "s</w>": 4698, "in": 3363, "m": 7476})
    ['s</w>', 'in', 'm', 'n']
    """
    return sorted(counts, key=lambda token: (token_length(token, end), counts[token]), reverse=True)


def encode(word: str, tokens: Sequence[str], unknown: str = "<unk>") -> list[str]:
    """Cut a word at the first token that occurs in it, and what is left by the tokens after that.

    Args:
        word: The word, with its end mark.
        tokens: Tokens in the order in which they are tried.
        unknown: What stands for a stretch in which no token occurs.

    >>> encode("newest</w>", ["est</w>", "new"]), encode("old", ["l"])
    (['new', 'est</w>'], ['<unk>', 'l', '<unk>'])
    """
    if not word:
        return []
    for place, token in enumerate(tokens):
        if token in word:
            first, *others = (encode(part, tokens[place + 1 :], unknown) for part in word.split(token))
            return first + [found for other in others for found in (token, *other)]
    return [unknown]


def encode_from_left(word: str, tokens: Collection[str], unknown: str = "<unk>") -> list[str]:
    """Take the longest token that the word begins with, then what follows.

    Characters with which no token begins become one unknown token together with their neighbours.

    >>> encode_from_left("xxabcd", ["ab", "abc", "bcd", "d"]), encode("abcd", ["bcd", "abc", "d"])
    (['<unk>', 'abc', 'd'], ['<unk>', 'bcd'])
    """
    found: list[str] = []
    after_unknown = False
    while word:
        longest = max((token for token in tokens if word.startswith(token)), key=len, default="")
        if longest or not after_unknown:
            found.append(longest or unknown)
        after_unknown = not longest
        word = word[len(longest) or 1 :]
    return found
