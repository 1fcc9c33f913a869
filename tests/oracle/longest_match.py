"""Cut a word by its longest tokens, without merges: anywhere in it first, or from the left.

Source: the encoder of many BPE tutorials, after Lei Mao's "Byte Pair Encoding". It keeps the
vocabulary only, so it needs no merges, and it often disagrees with ``encode``. Three slips that are copied
along with it are not made here: text in which no token occurs was dropped unless all tokens had been
tried before, a token with a dot never matched, and a mark was cut like text (the token ``w`` was found in
``</w>``).

The tutorials describe their encoder as going "from left to right"; that is another one, which is here too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from bpe_cli.teaching.longest_match import Marks, Units

TUTORIALS = Marks()
"""The marks of the tutorials."""


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


def encode(word: str, tokens: Sequence[str], unknown: str = "<unk>", marks: Marks = TUTORIALS) -> list[str]:
    """Cut a word at the first token that occurs in it, and what is left by the tokens after that.

    Args:
        word: The word, with its end mark.
        tokens: Tokens in the order in which they are tried.
        unknown: What stands for a stretch in which no token occurs.
        marks: What is not cut.

    >>> encode("newest</w>", ["est</w>", "new"]), encode("old", ["l"]), encode("hi</w>", ["hi", "w", "</w>"])
    (['new', 'est</w>'], ['<unk>', 'l', '<unk>'], ['hi', '</w>'])
    """
    return cut(marks.token(word), [(marks.token(token), token) for token in tokens], unknown)


def cut(word: Units, tokens: Sequence[tuple[Units, str]], unknown: str = "<unk>") -> list[str]:
    """Cut a word in units; ``encode`` in every other respect."""
    if not word:
        return []
    for place, (units, token) in enumerate(tokens):
        parts = _split(word, units)
        if len(parts) > 1:
            first, *others = (cut(part, tokens[place + 1 :], unknown) for part in parts)
            return first + [found for other in others for found in (token, *other)]
    return [unknown]


def _split(word: Units, units: Units) -> list[Units]:
    """Take units out of a word wherever they stand, from the left; give what is left between."""
    parts, start, place = [], 0, 0
    while units and place + len(units) <= len(word):
        if word[place : place + len(units)] == units:
            parts.append(word[start:place])
            start = place = place + len(units)
        else:
            place += 1
    return [*parts, word[start:]]


def encode_from_left(word: str, tokens: Collection[str], unknown: str = "<unk>", marks: Marks = TUTORIALS) -> list[str]:
    """Take the longest token that the word begins with, then what follows.

    Characters with which no token begins become one unknown token together with their neighbours.

    >>> encode_from_left("xxabcd", ["ab", "abc", "bcd", "d"]), encode("abcd", ["bcd", "abc", "d"])
    (['<unk>', 'abc', 'd'], ['<unk>', 'bcd'])
    """
    return cut_from_left(marks.token(word), {marks.token(token): token for token in tokens}, unknown)


def cut_from_left(word: Units, tokens: Mapping[Units, str], unknown: str = "<unk>") -> list[str]:
    """Cut a word in units; ``encode_from_left`` in every other respect."""
    found: list[str] = []
    after_unknown = False
    while word:
        longest = max((units for units in tokens if units and word[: len(units)] == units), key=len, default=())
        if longest or not after_unknown:
            found.append(tokens[longest] if longest else unknown)
        after_unknown = not longest
        word = word[len(longest) or 1 :]
    return found


def segment(text: str, dictionary: Collection[str]) -> list[str]:
    """Take the longest word of a dictionary at each place from the left; else one character.

    >>> segment("他是学者。", {"他是", "是学", "学者"})
    ['他是', '学者', '。']
    """
    longest = max(map(len, dictionary), default=1)
    words = []
    place = 0
    while place < len(text):
        lengths = range(min(longest, len(text) - place), 1, -1)
        length = next((length for length in lengths if text[place : place + length] in dictionary), 1)
        words.append(text[place : place + length])
        place += length
    return words
