"""Normalizers: what rewrites text before it is cut. Hugging Face's components, and two of SentencePiece's."""

from __future__ import annotations

from bpe_cli.support.fast_dataclass import dataclass


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
    """Leave control characters out, and make every kind of white space a space, as for machine translation."""


@dataclass(frozen=True, slots=True)
class Lowercase:
    """Write every character in lower case, each for itself (a final sigma is none)."""


@dataclass(frozen=True, slots=True)
class StripAccents:
    """Leave out marks (``M``); accents on composed characters stay, so NFD goes before."""


@dataclass(frozen=True, slots=True)
class Strip:
    """Leave out white space at the ends of a text."""

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
        clean_text: Leave control characters out and make white space spaces.
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
