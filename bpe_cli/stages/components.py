"""The components of the stages around the model: normalizers, pre-tokenizers, decoders.

They are Hugging Face's, and where SentencePiece does something else, its own. A normalizer rewrites text before it is
cut; a pre-tokenizer cuts it into the pieces that no token crosses; decoders make text of tokens again: each takes a
list of strings, at first those of the tokens, and gives another; the last one's are joined. A tokenizer without any
decoder joins the bytes of its tokens.
"""

from __future__ import annotations

from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.fast_typing import Literal


@dataclass(frozen=True, slots=True)
class NFC:
    """Compose characters canonically (Unicode Standard Annex 15)."""


@dataclass(frozen=True, slots=True)
class NFD:
    """Decompose characters canonically."""


@dataclass(frozen=True, slots=True)
class NFKC:
    """Decompose characters by compatibility, and compose them canonically."""


@dataclass(frozen=True, slots=True)
class NFKD:
    """Decompose characters by compatibility."""


@dataclass(frozen=True, slots=True)
class Nmt:
    """Leave control characters out, and make every kind of whitespace a space, as for machine translation."""


@dataclass(frozen=True, slots=True)
class Lowercase:
    """Write every character in lower case, each for itself (a final sigma is none)."""


@dataclass(frozen=True, slots=True)
class StripAccents:
    """Leave out marks (``M``); accents on composed characters stay, so NFD goes before."""


@dataclass(frozen=True, slots=True)
class Strip:
    """Leave out whitespace at the ends of a text."""

    strip_left: bool = True
    strip_right: bool = True


@dataclass(frozen=True, slots=True)
class Replace:
    """Put ``content`` in the place of every match.

    Attributes:
        pattern: What to look for: a text if ``literal``, else a regular expression.
        content: What comes in its place, taken literally.
        literal: Whether ``pattern`` is a text.
    """

    pattern: str
    content: str
    literal: bool = False


@dataclass(frozen=True, slots=True)
class Prepend:
    """Put a text before every text that is not empty."""

    prepend: str


@dataclass(frozen=True, slots=True)
class BertNormalizer:
    """Clean, space and fold text as BERT does.

    Attributes:
        clean_text: Leave control characters out and make whitespace spaces.
        handle_chinese_chars: Put spaces around each Chinese character.
        strip_accents: Leave accents out; None: if ``lowercase``.
        lowercase: Write in lower case.
    """

    clean_text: bool = True
    handle_chinese_chars: bool = True
    strip_accents: bool | None = None
    lowercase: bool = True


@dataclass(frozen=True, slots=True)
class Precompiled:
    """Rewrite text by a table of SentencePiece, as Hugging Face does: grapheme cluster by cluster.

    A cluster of less than six bytes becomes, as a whole, what the shortest entry makes of its
    beginning. ``Charsmap`` uses the table as SentencePiece does.

    Attributes:
        precompiled_charsmap: The table in base64: u32 length of a double-array trie, the trie, and
            the replacements, each closed by NUL. Empty: nothing changes.
    """

    precompiled_charsmap: str


@dataclass(frozen=True, slots=True)
class Charsmap:
    """Rewrite text by a table of SentencePiece: the longest entry that matches, from left to right.

    Attributes:
        precompiled_charsmap: As that of ``Precompiled``.
        user_defined: Texts that are left as they are, wherever the table's rules come to one.
    """

    precompiled_charsmap: str
    user_defined: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ByteLevelNormalizer:
    """Spell each byte as its visible character (GPT-2's alphabet)."""


@dataclass(frozen=True, slots=True)
class SpaceMarks:
    """Handle blanks as SentencePiece does: U+0020 becomes the mark U+2581.

    Behind a ``Charsmap``, several blanks side by side in one of its ``user_defined`` texts, or in what a rule puts in,
    are no extra ones, and stay.

    Attributes:
        add_dummy_prefix: Put a mark before the text (after it, with ``treat_whitespace_as_suffix``).
        remove_extra_whitespaces: Leave out blanks at the ends, and all but one of several.
        escape_whitespaces: Write blanks as marks.
        treat_whitespace_as_suffix: Marks belong to the word before them.
    """

    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = True
    treat_whitespace_as_suffix: bool = False


Normalizer = (
    NFC
    | NFD
    | NFKC
    | NFKD
    | Nmt
    | Lowercase
    | StripAccents
    | Strip
    | Replace
    | Prepend
    | BertNormalizer
    | Precompiled
    | Charsmap
    | ByteLevelNormalizer
    | SpaceMarks
)


# -- pre-tokenizers --------------------------------------------------------------------------------

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
    """Cut at whitespace, which is left out, and around each punctuation character (as ``Punctuation``)."""


@dataclass(frozen=True, slots=True)
class Whitespace:
    r"""Take the matches of ``\w+|[^\w\s]+`` and leave the rest out."""


@dataclass(frozen=True, slots=True)
class WhitespaceSplit:
    """Cut at whitespace, which is left out."""


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


# -- decoders --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ByteLevelDecoder:
    """Read visible characters as the bytes they spell; tokens whose bytes are known need it not."""


@dataclass(frozen=True, slots=True)
class WordPieceDecoder:
    """Put a space before each token that does not begin with ``prefix``, and take the prefix off the others.

    Attributes:
        prefix: What marks a token that goes on from the one before.
        cleanup: Take out spaces before punctuation and in English contractions.
    """

    prefix: str = "##"
    cleanup: bool = True


@dataclass(frozen=True, slots=True)
class MetaspaceDecoder:
    """Read the mark as a space, and leave out the one that was put before the text."""

    replacement: str = "▁"
    prepend_scheme: str = "always"
    split: bool = True


@dataclass(frozen=True, slots=True)
class BPEDecoder:
    """Read a suffix as a space, but at the end, where it is left out."""

    suffix: str = "</w>"


@dataclass(frozen=True, slots=True)
class CTC:
    """Read what a model trained with connectionist temporal classification says."""

    pad_token: str = "<pad>"
    word_delimiter_token: str = "|"
    cleanup: bool = True


@dataclass(frozen=True, slots=True)
class ByteFallback:
    """Read runs of ``<0x41>`` as bytes."""


@dataclass(frozen=True, slots=True)
class Fuse:
    """Join all strings to one."""


@dataclass(frozen=True, slots=True)
class StripDecoder:
    """Take up to ``start`` and ``stop`` characters that are ``content`` off the ends of each string."""

    content: str = " "
    start: int = 0
    stop: int = 0


@dataclass(frozen=True, slots=True)
class ReplaceDecoder:
    """Put ``content`` in the place of every match of a text or an expression."""

    pattern: str
    content: str
    literal: bool = True


@dataclass(frozen=True, slots=True)
class SpaceMarksDecoder:
    """Read marks as SentencePiece does: the exact way back of ``SpaceMarks``, with bytes and unknown tokens.

    Attributes:
        add_dummy_prefix: A mark was put before the text, and is left out.
        remove_extra_whitespaces: All blanks before the text were left out, and all are.
        treat_whitespace_as_suffix: Marks belong to the word before them. The one that was put after the
            text stays all the same: SentencePiece reads it as a blank.
        unk_surface: What an unknown token reads as.
        byte_fallback: Whether ``<0x41>`` reads as a byte.
    """

    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    treat_whitespace_as_suffix: bool = False
    unk_surface: str = " ⁇ "
    byte_fallback: bool = True


Decoder = (
    ByteLevelDecoder
    | WordPieceDecoder
    | MetaspaceDecoder
    | BPEDecoder
    | CTC
    | ByteFallback
    | Fuse
    | StripDecoder
    | ReplaceDecoder
    | SpaceMarksDecoder
)
