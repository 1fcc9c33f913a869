"""Split a word by its longest tokens, without merges: anywhere in it first, or from the left.

Source: the encoder of many BPE tutorials, after Lei Mao's "Byte Pair Encoding". It keeps the
vocabulary only, so it needs no merges, and it often disagrees with ``encode``. Three slips that are copied
along with it are not made here: text in which no token occurs was dropped unless all tokens had been
tried before, a token with a dot never matched, and a mark was cut like text (the token ``w`` was found in
``</w>``).

The tutorials describe their encoder as going "from left to right"; that is another one, which is here too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

Unit = tuple[str, str, str]
"""What is never cut: what is written before a character, the character, and what is written after it."""

Units = tuple[Unit, ...]


@dataclass(frozen=True, slots=True)
class Marks:
    """Describe what is written around the characters of a word.

    Attributes:
        end: Written at the end of a word; empty for nothing.
        glued: Whether ``end`` is part of the last character, or a unit by itself (as in the tutorials).
        prefix: Written before each character of a word but the first; in a token, before its first only.
    """

    end: str = "</w>"
    glued: bool = False
    prefix: str = ""

    def word(self, text: str) -> Units:
        """Spell a word in units, with its marks.

        >>> Marks(prefix="##", glued=True).word("ab")
        (('', 'a', ''), ('##', 'b', '</w>'))
        """
        return self._spell(text, inside=False, ends=bool(self.end))

    def token(self, text: str) -> Units:
        """Spell a token in units: what it ends and begins with may be marks, unless there is nothing beside them.

        >>> Marks().token("s</w>"), Marks(prefix="##").token("##s"), Marks(glued=True).token("w>")
        ((('', 's', ''), ('', '', '</w>')), (('##', 's', ''),), (('', 'w', ''), ('', '>', '')))
        """
        ends = bool(self.end) and text.endswith(self.end) and (not self.glued or text != self.end)
        stem = text[: len(text) - len(self.end)] if ends else text
        inside = bool(self.prefix) and stem.startswith(self.prefix) and stem != self.prefix
        return self._spell(stem[len(self.prefix) :] if inside else stem, inside=inside, ends=ends)

    def length(self, text: str) -> int:
        """Count a token's characters: a mark of a word's end is one, a prefix none.

        >>> Marks().length("est</w>"), Marks(glued=True, prefix="##").length("##est</w>")
        (4, 4)
        """
        units = self.token(text)
        return len(units) + (self.glued and bool(units) and units[-1][2] != "")

    def _spell(self, stem: str, *, inside: bool, ends: bool) -> Units:
        units = [(self.prefix if inside or place else "", character, "") for place, character in enumerate(stem)]
        if ends and self.glued and units:
            before, character, _ = units.pop()
            units.append((before, character, self.end))
        elif ends:
            units.append(("", "", self.end))
        return tuple(units)


TUTORIALS = Marks()
"""The marks of the tutorials."""


def text_of(units: Units) -> str:
    """Write units as a token is written: what stands before the first of them counts, the others' does not.

    >>> text_of((("##", "s", ""), ("##", "t", "</w>")))
    '##st</w>'
    """
    return "".join(units[0][:1]) + "".join(character + after for _, character, after in units) if units else ""


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
