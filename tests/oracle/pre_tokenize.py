"""Cut text into words before any model sees it, and say where in the text each word lies.

Every function gives pairs ``(piece, (start, end))``, as Hugging Face's ``pre_tokenize_str`` does: the
piece as the model will see it, and the characters of the text that it stands for.

The four splits are those of BERT (Devlin et al., arXiv:1810.04805), GPT-2 (Radford et al. 2019), T5
(Raffel et al., arXiv:1910.10683) and XLNet (Yang et al., arXiv:1906.08237). What is whitespace and what
is a letter is up to the Unicode version of Python and of its ``regex`` module.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.stages.spelling import to_visible

Piece = tuple[str, tuple[int, int]]
"""A piece, and the first and the last (exclusive) character of the text that it stands for."""

WHITE_SPACE = frozenset("\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000") | {
    chr(code) for code in range(0x2000, 0x200B)
}
"""Unicode's property White_Space. (``str.isspace`` also takes U+001C to U+001F, which separate records.)"""

MARK = "▁"
"""What T5 and XLNet write for a space (U+2581)."""


def is_punctuation(character: str) -> bool:
    """Return whether a character is punctuation: Unicode's category P, and all symbols of ASCII.

    >>> [is_punctuation(character) for character in "!$。a€"]
    [True, True, True, False, False]
    """
    in_ascii = "!" <= character <= "~" and not character.isalnum()
    return in_ascii or unicodedata.category(character).startswith("P")


def _group(text: str, kinds: Iterable[int]) -> list[Piece]:
    """Join neighbouring characters of the same kind; kind 0 is left out, and a negative one stands alone."""
    pieces: list[Piece] = []
    before = 0
    for place, (character, kind) in enumerate(zip(text, kinds, strict=True)):
        if kind > 0 and kind == before:
            piece, (start, _) = pieces.pop()
            pieces.append((piece + character, (start, place + 1)))
        elif kind != 0:
            pieces.append((character, (place, place + 1)))
        before = kind
    return pieces


def whitespace_split(text: str) -> list[Piece]:
    """Cut at whitespace and leave it out.

    >>> whitespace_split(" how are  you?")
    [('how', (1, 4)), ('are', (5, 8)), ('you?', (10, 14))]
    """
    return _group(text, (0 if character in WHITE_SPACE else 1 for character in text))


def punctuation(text: str) -> list[Piece]:
    """Make each punctuation character a piece, and all that lies between two of them.

    >>> punctuation("Hi, you...")
    [('Hi', (0, 2)), (',', (2, 3)), (' you', (3, 7)), ('.', (7, 8)), ('.', (8, 9)), ('.', (9, 10))]
    """
    return _group(text, (-1 if is_punctuation(character) else 1 for character in text))


def digits(text: str, individual: bool = False) -> list[Piece]:
    """Make each run of numbers a piece (or each number), and all that lies between.

    >>> digits("in 1984!"), digits("42", individual=True)
    ([('in ', (0, 3)), ('1984', (3, 7)), ('!', (7, 8))], [('4', (0, 1)), ('2', (1, 2))])
    """
    number = -1 if individual else 2
    return _group(text, (number if unicodedata.category(character).startswith("N") else 1 for character in text))


def whitespace(text: str) -> list[Piece]:
    r"""Take the runs of word characters and the runs of others, and leave whitespace out: ``\w+|[^\w\s]+``.

    >>> whitespace("Hey there -- you!?")
    [('Hey', (0, 3)), ('there', (4, 9)), ('--', (10, 12)), ('you', (13, 16)), ('!?', (16, 18))]
    """
    import regex

    return [(found[0], found.span()) for found in regex.finditer(r"\w+|[^\w\s]+", text)]


def bert(text: str) -> list[Piece]:
    """Cut at whitespace, which is left out, and around each punctuation character.

    >>> bert("Hello, how are  you?")
    [('Hello', (0, 5)), (',', (5, 6)), ('how', (7, 10)), ('are', (11, 14)), ('you', (16, 19)), ('?', (19, 20))]
    """
    return [
        (piece, (begins + start, begins + end))
        for word, (begins, _) in whitespace_split(text)
        for piece, (start, end) in punctuation(word)
    ]


def gpt2(text: str) -> list[Piece]:
    """Cut by GPT-2's pattern, where a space goes with the word after it, and spell the bytes visibly.

    >>> gpt2("Hello, how are  you?")[2:]
    [('Ġhow', (6, 10)), ('Ġare', (10, 14)), ('Ġ', (14, 15)), ('Ġyou', (15, 19)), ('?', (19, 20))]
    """
    import regex

    pattern = PATTERNS["gpt2"].regex
    return [(to_visible(found[0].encode()), found.span()) for found in regex.finditer(pattern, text)]


def t5(text: str) -> list[Piece]:
    """Cut at whitespace and put a mark before each word, which stands for no character.

    >>> t5("Hello, how are  you?")
    [('▁Hello,', (0, 6)), ('▁how', (7, 10)), ('▁are', (11, 14)), ('▁you?', (16, 20))]
    """
    return [(word if word.startswith(MARK) else MARK + word, span) for word, span in whitespace_split(text)]


xlnet = t5
"""Cut as XLNet does, which is as T5 does."""


def metaspace(text: str) -> list[Piece]:
    """Write spaces as marks, with one before the text, and cut before each mark.

    >>> metaspace("Hey  you")
    [('▁Hey', (0, 3)), ('▁', (3, 4)), ('▁you', (4, 8))]
    """
    marked = text.replace(" ", MARK)
    pieces: list[Piece] = []
    for place, character in enumerate(marked):
        if character == MARK or not pieces:
            prefix = "" if character == MARK else MARK
            pieces.append((prefix + character, (place, place + 1)))
        else:
            piece, (start, _) = pieces.pop()
            pieces.append((piece + character, (start, place + 1)))
    return pieces
