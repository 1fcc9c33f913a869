"""Make a vocabulary of the 256 bytes, for text and any other file: there is nothing to learn.

ByT5 (Xue et al., arXiv:2105.13626) puts three special tokens first, so that a byte's id is its value
plus 3; bGPT (Wu et al., arXiv:2402.19155) has one after the bytes, with id 256.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bpe_cli import _core
from bpe_cli.errors import UsageError
from bpe_cli.stages import MergeBpe, SpecialToken
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers.base import Front, Progress, SplittingOptions, Trained, Trainer, check_special_tokens

if TYPE_CHECKING:
    from bpe_cli.teaching.steps import Steps


@dataclass(frozen=True, slots=True)
class ByteOptions(SplittingOptions):
    """Describe what to make.

    Attributes:
        vocab_size: None, or 256 and the number of special tokens.
        special_tokens: Their texts.
        special_first: Whether they have the ids before the bytes, or those after them.
        split_special: Has no effect: nothing is learnt from the corpus.
    """

    vocab_size: int | None = None
    special_tokens: tuple[str, ...] = ()
    special_first: bool = False
    split_special: bool = False

    def __post_init__(self) -> None:
        check_special_tokens(self.special_tokens)
        size = 256 + len(self.special_tokens)
        if size > _core.MAX_TOKENS:
            raise UsageError(f"{size:,} tokens are more than the {_core.MAX_TOKENS:,} that fit")
        if self.vocab_size not in (None, size):
            raise UsageError(
                f"a vocabulary of bytes has {size} tokens here, not {self.vocab_size}",
                hint="leave --vocab-size out; its size is 256 and the number of special tokens",
            )


class Byte(Trainer[ByteOptions]):
    """Return the 256 bytes: nothing is learnt."""

    Options = ByteOptions

    def front(self, options: ByteOptions) -> Front:
        """Do nothing to text."""
        return Front()

    def train(
        self, counts: _core.Counts, options: ByteOptions, progress: Progress | None = None, threads: int = 1
    ) -> Trained:
        """Return the tokenizer, which is the same for every corpus, also for none."""
        return Trained(self.untrained(options), ("256 bytes", f"{len(options.special_tokens)} special"))

    def untrained(self, options: ByteOptions) -> Tokenizer:
        """Return the tokenizer.

        >>> options = ByteOptions(special_tokens=("<pad>", "</s>", "<unk>"), special_first=True)
        >>> TRAINER.untrained(options).encode(b"\\x00A")
        [3, 68]
        """
        first = options.special_tokens if options.special_first else ()
        alphabet = [bytes([byte]) for byte in range(256)]
        return Tokenizer(
            model=MergeBpe(Vocabulary.from_tokens([b""] * len(first) + alphabet), Merges(array("I"))),
            special_tokens=tuple(
                SpecialToken(content.encode("utf-8", "surrogateescape"), (0 if options.special_first else 256) + place)
                for place, content in enumerate(options.special_tokens)
            ),
        )

    def steps(self, counts: _core.Counts, options: ByteOptions) -> Steps:
        """Return the table of ids."""
        from bpe_cli.teaching.steps import ByteIds

        return ByteIds(options.special_tokens, options.special_first)


TRAINER = Byte()
Options = ByteOptions
