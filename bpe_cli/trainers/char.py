"""Make a vocabulary of characters: each one that occurs, or the most frequent ones.

As in every lecture: ``stoi = {character: id}``. A byte that is no part of UTF-8 is a character by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from bpe_cli import _core
from bpe_cli.errors import TrainingError, UsageError
from bpe_cli.stages import FixedLength, Normalizer
from bpe_cli.trainers.base import Front, pieces_of
from bpe_cli.trainers.most_frequent import Choice, FrequentOptions, MostFrequent, by_count, check_options, number, rare


@dataclass(frozen=True, slots=True)
class CharOptions(FrequentOptions):
    """Define what to train.

    Attributes:
        vocab_size: Most tokens, special ones counted; None for no bound.
        coverage: The most frequent characters are taken until they make up this share of the text;
            above 0, at most 1.
        min_frequency: A character that occurs less often is left out.
        order: Whether ids go by ``count``, falling, or the characters are ``sorted``.
        normalizer: How text is rewritten before it is cut, in order.
        special_tokens: Their texts; they have the first ids.
        unk_token: What stands for a character that has no token; None makes such a one an error.
        split_special: Whether special tokens in the corpus are taken out and divide the text.
    """

    vocab_size: int | None = None
    coverage: float = 1.0
    min_frequency: int = 1
    order: Literal["count", "sorted"] = "count"
    normalizer: tuple[Normalizer, ...] = ()
    special_tokens: tuple[str, ...] = ()
    unk_token: str | None = "<unk>"
    split_special: bool = False

    def __post_init__(self) -> None:
        check_options(self, self.min_frequency)
        if not 0 < self.coverage <= 1:
            raise UsageError(f"a coverage of {self.coverage} is no share of the text: it lies above 0, up to 1")
        if self.order not in ("count", "sorted"):
            raise UsageError(f"characters have no order {self.order!r}", hint="they are in order of count, or sorted")


class Char(MostFrequent[CharOptions]):
    """Number characters."""

    Options = CharOptions
    noun = "character"

    def front(self, options: CharOptions) -> Front:
        """Cut text into characters."""
        return Front(options.normalizer, (FixedLength(1),))

    def pick(self, counts: _core.Counts, options: CharOptions) -> Choice:
        """Choose the most frequent characters that cover the text.

        Raises:
            TrainingError: if there is no text, or the vocabulary is too small for all of them and has no token for
                unknown ones.
        """
        present = pieces_of(counts)
        contents = options.contents
        needed = len(present) + len(contents)
        if options.unk_token is None and options.vocab_size is not None and options.vocab_size < needed:
            raise TrainingError(
                f"a vocabulary of {options.vocab_size} is too small for the {len(present)} characters of the corpus",
                hint=f"ask for {needed} or more, or for a token that stands for unknown characters",
            )
        covered = _covering(by_count(present), present, options.coverage)
        chosen = [character for character in covered if present[character] >= options.min_frequency]
        room = None if options.vocab_size is None else max(0, options.vocab_size - len(contents))
        if options.order == "sorted" and room != 0:
            chosen = sorted(chosen[:room])
        return Choice(
            number(chosen, contents, options.vocab_size),
            (
                "covered" if len(covered) < len(present) else "",
                rare((present[character] for character in covered), options.min_frequency),
            ),
        )


def _covering(ordered: list[bytes], present: dict[bytes, int], coverage: float) -> list[bytes]:
    """Take the first characters that make up a share of the text, reckoned without rounding."""
    needed = Fraction(str(coverage)) * sum(present.values())
    covered = 0
    for place, character in enumerate(ordered):
        if covered >= needed:
            return ordered[:place]
        covered += present[character]
    return ordered


TRAINER = Char()
Options = CharOptions
