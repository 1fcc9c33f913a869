"""Decoders: what makes text of tokens again. Hugging Face's components, and one of SentencePiece's.

Each takes a list of strings, at first those of the tokens, and gives another; the last one's are joined.
A tokenizer without any joins the bytes of its tokens.
"""

from __future__ import annotations

from bpe_cli.support.fast_dataclass import dataclass


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
