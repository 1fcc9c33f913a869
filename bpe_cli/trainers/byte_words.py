"""Train without merges on the words of byte-level BPE: what the trainers of tokens over bytes have in common.

Text is cut, and counted, as for byte-level BPE. The tokens are written in visible characters, one for each byte, after
the special ones.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from bpe_cli import _core
from bpe_cli.errors import TrainingError, UsageError
from bpe_cli.stages import ByteLevel, ByteLevelDecoder, Model, SpecialToken
from bpe_cli.stages.counting import Cutter, Cutting
from bpe_cli.stages.spelling import ALPHABET_ORDER, CHAR_TO_BYTE, from_visible
from bpe_cli.support.messages import plural
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers import bbpe
from bpe_cli.trainers.base import Front, SplittingOptions, Trainer

BYTES = tuple(bytes([byte]) for byte in ALPHABET_ORDER)
"""The tokens that are always there, as Hugging Face's byte-level BPE orders them."""


class ByteWordOptions(SplittingOptions):
    """The options that these trainers share.

    Attributes:
        vocab_size: The size of the vocabulary, including special tokens and bytes.
        pattern: The split pattern, a regular expression; ``""`` does not split. If None, that of o200k.
    """

    __slots__ = ()
    vocab_size: int
    pattern: str | None

    def merging(self) -> bbpe.BbpeOptions:
        """Return the options of byte-level BPE that cuts text in the same way."""
        return bbpe.BbpeOptions(
            self.vocab_size, self.pattern, special_tokens=self.special_tokens, split_special=self.split_special
        )

    def check_special_tokens(self) -> None:
        """Check that no special token is written as a byte is.

        Raises:
            UsageError: if one is, or is empty or given twice.
        """
        self.merging()  # which checks what it has itself
        for content in self.special_tokens:
            if content in CHAR_TO_BYTE:
                raise UsageError(
                    f"the special token {content!r} is also how tokenizer.json writes a byte",
                    hint="give it another name, such as <|end|>",
                )

    def check_size(self) -> None:
        """Check that the vocabulary has room for the bytes.

        Raises:
            TrainingError: if it has none.
            UsageError: if it is larger than any.
        """
        if self.learnt < 0:
            number = len(self.special_tokens)
            special = f" and {plural(number, 'special token')}" if number else ""
            raise TrainingError(
                f"a vocabulary of {self.vocab_size} is smaller than its initial tokens: {len(BYTES)} bytes{special}",
                hint=f"ask for {self.vocab_size - self.learnt} or more",
            )
        if self.vocab_size > _core.MAX_TOKENS:
            raise UsageError(f"a vocabulary of {self.vocab_size} is larger than the {_core.MAX_TOKENS:,} that fit")

    @property
    def learnt(self) -> int:
        """How many tokens are to be learnt, besides special ones and bytes; negative if there is no room for those."""
        return self.vocab_size - len(BYTES) - len(self.special_tokens)

    @property
    def reserved(self) -> list[bytes]:
        """What no token may be, as it would be written like a special token."""
        return [text for content in self.special_tokens if (text := from_visible(content))]


Chosen = TypeVar("Chosen", bound=ByteWordOptions)


class ByteWords(Trainer[Chosen]):
    """Train on the words of byte-level BPE."""

    smaller = bbpe.TRAINER.smaller

    def front(self, options: Chosen) -> Front:
        """Return the stages that text goes through before it is counted, as bytes."""
        return bbpe.TRAINER.front(options.merging())

    def cutter(self, options: Chosen) -> Cutter:
        """Compile the cutter of texts."""
        return bbpe.TRAINER.cutter(options.merging())

    def slow_patterns(self, options: Chosen) -> tuple[str, ...]:
        """Return the patterns without a scanner of the core, which cut text many times slower."""
        return bbpe.TRAINER.slow_patterns(options.merging())

    def cutting(self, options: Chosen) -> Cutting:
        """Return the settings that decide about pieces, to be stored with their counts."""
        return bbpe.TRAINER.cutting(options.merging())

    def adopt(self, options: Chosen, cutting: Cutting) -> Chosen:
        """Return the options with the pattern by which counts were cut.

        Raises:
            UsageError: if the options have another, or the counts are not of pieces as this cuts them.
        """
        if cutting.prefix_space:
            raise UsageError(
                "the counts were made with a space before each document, which this algorithm does not put there",
                hint="count again without `prefix_space`",
            )
        return replace(options, pattern=bbpe.TRAINER.adopt(options.merging(), cutting).pattern)


def assemble(options: ByteWordOptions, model: Model) -> Tokenizer:
    """Return a tokenizer of a model over visible characters; special tokens have the first ids."""
    merging = options.merging()
    return Tokenizer(
        model=model,
        pre_tokenizer=(*bbpe.TRAINER.front(merging).pre_tokenizer, ByteLevel()),
        decoder=(ByteLevelDecoder(),),
        special_tokens=tuple(
            SpecialToken(content.encode(), token_id) for token_id, content in enumerate(options.special_tokens)
        ),
        unicode_version=bbpe.TRAINER.cutting(merging).unicode_version,
    )
