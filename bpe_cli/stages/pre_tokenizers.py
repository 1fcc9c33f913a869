"""Pre-tokenizers: what cuts text into the pieces that no token crosses. Hugging Face's components."""

from __future__ import annotations

from typing import Literal

from bpe_cli.support.fast_dataclass import dataclass

Behavior = Literal["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
"""What becomes of a match: left out, a piece, part of the piece before or after, or a piece with its
neighbouring matches."""


@dataclass(frozen=True, slots=True)
class Split:
    """Cut text into pieces with a regular expression.

    Every match is a piece, and so is every stretch of text between matches: no byte is lost, unless
    ``behavior`` is ``Removed``.

    Attributes:
        pattern: The expression in the syntax of the ``regex`` module, as the field writes it. When
            ``patterns.scanner_for(pattern)`` knows it, the core's own scanner runs it.
        behavior: What becomes of a match.
        invert: Whether what lies between matches counts as matching, and the other way round.
        literal: Whether ``pattern`` is a text to look for.
    """

    pattern: str
    behavior: Behavior = "Isolated"
    invert: bool = False
    literal: bool = False


@dataclass(frozen=True, slots=True)
class PrefixSpace:
    """Put one space before a text segment that does not begin with one.

    This is ``add_prefix_space`` of GPT-2's family; it makes ``decode(encode(x))`` one space longer.
    """


@dataclass(frozen=True, slots=True)
class ByteLevel:
    """Spell each byte as its visible character, for stages that follow and see those.

    Where nothing follows, a byte-level tokenizer has no need of it: its model works on bytes.
    """


@dataclass(frozen=True, slots=True)
class BertPreTokenizer:
    """Cut at white space, which is left out, and around each punctuation character (as ``Punctuation``)."""


@dataclass(frozen=True, slots=True)
class Whitespace:
    r"""Take the matches of ``\w+|[^\w\s]+`` and leave the rest out."""


@dataclass(frozen=True, slots=True)
class WhitespaceSplit:
    """Cut at white space, which is left out."""


@dataclass(frozen=True, slots=True)
class Punctuation:
    """Cut at punctuation: ASCII symbols and category P as of Unicode 8.0, whose tables Hugging Face has."""

    behavior: Behavior = "Isolated"


@dataclass(frozen=True, slots=True)
class Digits:
    """Cut at numbers (category N): each digit for itself, or runs of them."""

    individual_digits: bool = False


@dataclass(frozen=True, slots=True)
class CharDelimiterSplit:
    """Cut at a character, which is left out."""

    delimiter: str


@dataclass(frozen=True, slots=True)
class Metaspace:
    """Write spaces as a mark and, if ``split``, cut before each mark.

    Attributes:
        replacement: The mark, one character.
        prepend_scheme: Put a mark before every piece that has none, before the first of a text, or never.
        split: Whether to cut.
    """

    replacement: str = "▁"
    prepend_scheme: Literal["always", "first", "never"] = "always"
    split: bool = True


@dataclass(frozen=True, slots=True)
class UnicodeScripts:
    """Cut where the script changes; Han, Hiragana and Katakana count as one, spaces as any.

    Scripts are those of Unicode 9.0, whose tables Hugging Face has; a younger character counts as any.
    """


@dataclass(frozen=True, slots=True)
class FixedLength:
    """Cut after every ``length`` characters."""

    length: int = 5


PreTokenizer = (
    Split
    | PrefixSpace
    | ByteLevel
    | BertPreTokenizer
    | Whitespace
    | WhitespaceSplit
    | Punctuation
    | Digits
    | CharDelimiterSplit
    | Metaspace
    | UnicodeScripts
    | FixedLength
)
