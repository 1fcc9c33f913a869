"""Rewrite text before it is cut, one rule after the other.

Sources: Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers for Language
Understanding", arXiv:1810.04805 (its cleaning of text); Kudo and Richardson, "SentencePiece: A simple and
language independent subword tokenizer and detokenizer for Neural Text Processing", arXiv:1808.06226
(rules applied by the longest match, and blanks as marks).

Categories are those of Python's ``unicodedata``.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

MARK = "\u2581"
"""What a blank is written as: LOWER ONE EIGHTH BLOCK."""

CHINESE = (
    *((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F)),
    *((0x2B740, 0x2B81F), (0x2B820, 0x2CEAF), (0x2F800, 0x2FA1F)),
)
"""Code points of Chinese characters, first and last of each range, as BERT has them."""


def clean(text: str) -> str:
    r"""Leave control characters out and make whitespace spaces.

    >>> clean("a\tb\x00c\u200d\ufffd\u3000")
    'a bc '
    """
    kept = []
    for character in text:
        if character in "\t\n\r":
            kept.append(" ")
        elif character == "\ufffd" or unicodedata.category(character) in {"Cc", "Cf", "Co"}:
            continue
        elif character.isspace():
            kept.append(" ")
        else:
            kept.append(character)
    return "".join(kept)


def space_out_chinese(text: str) -> str:
    """Put a space on both sides of every Chinese character.

    >>> space_out_chinese("a你好")
    'a 你  好 '
    """
    return "".join(
        f" {character} " if any(first <= ord(character) <= last for first, last in CHINESE) else character
        for character in text
    )


def strip_accents(text: str) -> str:
    """Take letters and accents apart and leave the accents out.

    >>> strip_accents("Héllò")
    'Hello'
    """
    return "".join(
        character for character in unicodedata.normalize("NFD", text) if unicodedata.category(character) != "Mn"
    )


def lowercase(text: str) -> str:
    """Write every character in lower case for itself, so that a sigma at the end is none of its own.

    >>> lowercase("ΟΔΟΣ")
    'οδοσ'
    """
    return "".join(character.lower() for character in text)


def bert(text: str) -> str:
    """Clean, space and fold a text as uncased BERT does.

    >>> bert("Héllò\\t你!")
    'hello  你 !'
    """
    return lowercase(strip_accents(space_out_chinese(clean(text))))


def rewrite(text: str, rules: Mapping[str, str]) -> str:
    """Apply the longest rule that fits, from left to right.

    >>> rewrite("ababc", {"a": "1", "ab": "2", "abc": "3"})
    '23'
    """
    done = ""
    while text:
        what = max((rule for rule in rules if text.startswith(rule)), key=len, default="")
        done += rules[what] if what else text[0]
        text = text[len(what) or 1 :]
    return done


def mark_spaces(
    text: str, *, dummy: bool = True, remove_extra: bool = True, escape: bool = True, suffix: bool = False
) -> str:
    """Write blanks as marks, as SentencePiece does.

    Args:
        text: The text; only U+0020 is a blank.
        dummy: Put a mark before the text, so that its first word looks as it does elsewhere.
        remove_extra: Leave out blanks at the ends, and all but one of several.
        escape: Write blanks as marks; else they stay.
        suffix: Put the added mark behind the text, where marks end words.

    >>> mark_spaces(" two  words "), mark_spaces("two words", suffix=True)
    ('▁two▁words', 'two▁words▁')
    """
    if not text or (remove_extra and not text.strip(" ")):
        return ""
    blank = MARK if escape else " "
    if remove_extra:
        text = text.strip(" ")
        while "  " in text:
            text = text.replace("  ", " ")
    text = text.replace(" ", blank)
    if dummy and not suffix:
        text = blank + text
    if remove_extra:
        # A mark that stood in the text looks like a blank by now.
        while text.endswith(blank):
            text = text.removesuffix(blank)
    return text + blank if dummy and suffix else text
