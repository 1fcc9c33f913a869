"""The frozen specifications of the five stages of a tokenizer.

normalizer -> pre-tokenizer -> model -> post-processor, and the decoder for the way back. A stage is
a value: it compares by content and does nothing by itself. ``Tokenizer`` compiles them for the core.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bpe_cli.vocabulary import Merges, Vocabulary


@dataclass(frozen=True, slots=True)
class Split:
    """Cut text into pieces with a regular expression.

    Every match is a piece, and so is every stretch of text between matches: no byte is lost.

    Attributes:
        pattern: The expression in the syntax of the ``regex`` module, as the field writes it. When
            ``patterns.scanner_for(pattern)`` knows it, the core's own scanner runs it.
    """

    pattern: str


@dataclass(frozen=True, slots=True)
class PrefixSpace:
    """Put one space before a text segment that does not begin with one.

    This is ``add_prefix_space`` of GPT-2's family; it makes ``decode(encode(x))`` one space longer.
    """


PreTokenizer = Split | PrefixSpace


@dataclass(frozen=True, slots=True)
class RankBpe:
    """Merge, within a piece, the neighbours whose *concatenation* has the lowest id (tiktoken).

    A piece that is itself a token becomes that token before any merging.
    """

    vocabulary: Vocabulary
    kind: Literal["bpe-ranks"] = "bpe-ranks"


@dataclass(frozen=True, slots=True)
class MergeBpe:
    """Merge, within a piece, the neighbouring pair that stands first in a list (GPT-2, Hugging Face).

    Attributes:
        vocabulary: Token bytes by id.
        merges: Pairs of ids in order of priority, with the id each pair becomes.
        ignore_merges: Whether a piece that is itself a token becomes that token before any merging.
    """

    vocabulary: Vocabulary
    merges: Merges
    ignore_merges: bool = False
    kind: Literal["bpe-merges"] = "bpe-merges"


Model = RankBpe | MergeBpe


@dataclass(frozen=True, slots=True)
class SpecialToken:
    """A token that text never becomes unless the user asks.

    Attributes:
        content: The text that stands for it, as UTF-8 bytes.
        token_id: Its id.
        special: False for a token that was merely *added* to the vocabulary (Hugging Face's
            ``special: false``): such a one is always found in text.
    """

    content: bytes
    token_id: int
    special: bool = True
