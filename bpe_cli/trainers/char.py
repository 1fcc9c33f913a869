"""Make a vocabulary of characters: each one that occurs, or the most frequent ones.

As in every lecture: ``stoi = {character: id}``. A byte that is no part of UTF-8 is a character by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from bpe_cli import _core
from bpe_cli.errors import TrainingError, UsageError
from bpe_cli.stages import FixedLength, Normalizer, WordLevel
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers import most_frequent
from bpe_cli.trainers.base import Front, Progress, Trained, pieces_of, small


@dataclass(frozen=True, slots=True)
class CharOptions:
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
        most_frequent.check_options(self.vocab_size, self.min_frequency, self.special_tokens, self.unk_token)
        if not 0 < self.coverage <= 1:
            raise UsageError(f"a coverage of {self.coverage} is no share of the text: it lies above 0, up to 1")
        if self.order not in ("count", "sorted"):
            raise UsageError(f"characters have no order {self.order!r}", hint="they are in order of count, or sorted")

    @property
    def contents(self) -> list[str]:
        """The texts of special tokens by id, the unknown one among them."""
        return most_frequent.special_contents(self.special_tokens, self.unk_token)


def documents(_: CharOptions) -> None:
    """Learn from documents as the user cuts them."""
    return


def front(options: CharOptions) -> Front:
    """Cut text into characters."""
    return Front(options.normalizer, (FixedLength(1),))


def train(
    counts: _core.Counts,
    options: CharOptions,
    progress: Progress | None = None,  # noqa: ARG001  # it takes no time
    threads: int = 1,  # noqa: ARG001  # one is enough
) -> Trained:
    """Number the characters that were counted.

    Raises:
        TrainingError: There is no text; or the vocabulary is too small for all characters, and there is
            no token for unknown ones.
    """
    vocabulary = _choose(counts, options)
    present = pieces_of(counts)
    covered = _covering(most_frequent.by_count(present), present, options.coverage)
    return Trained(
        _assemble(options, vocabulary),
        most_frequent.summarise(vocabulary, "character", options.contents),
        most_frequent.shortfall(
            vocabulary, options.vocab_size, "character",
            "covered" if len(covered) < len(present) else "",
            most_frequent.rare((present[character] for character in covered), options.min_frequency),
        ),
    )  # fmt: skip


def _choose(counts: _core.Counts, options: CharOptions) -> Vocabulary:
    if counts.unique == 0:
        raise TrainingError("there is nothing to train on: the corpus has no text")
    present = pieces_of(counts)
    contents = options.contents
    needed = len(present) + len(contents)
    if options.unk_token is None and options.vocab_size is not None and options.vocab_size < needed:
        raise TrainingError(
            f"a vocabulary of {options.vocab_size} is too small for the {len(present)} characters of the corpus",
            hint=f"ask for {needed} or more, or for a token that stands for unknown characters",
        )
    chosen = _covering(most_frequent.by_count(present), present, options.coverage)
    chosen = [character for character in chosen if present[character] >= options.min_frequency]
    room = None if options.vocab_size is None else max(0, options.vocab_size - len(contents))
    if options.order == "sorted" and room != 0:
        chosen = sorted(chosen[:room])
    return most_frequent.number(chosen, contents, options.vocab_size)


def _covering(ordered: list[bytes], present: dict[bytes, int], coverage: float) -> list[bytes]:
    """Take the first characters that make up a share of the text, reckoned without rounding."""
    needed = Fraction(str(coverage)) * sum(present.values())
    covered = 0
    for place, character in enumerate(ordered):
        if covered >= needed:
            return ordered[:place]
        covered += present[character]
    return ordered


def untrained(options: CharOptions) -> Tokenizer:
    """Return a tokenizer of this kind that knows one character."""
    return _assemble(options, Vocabulary.from_tokens([b""] * len(options.contents) + [b"a"]))


def _assemble(options: CharOptions, vocabulary: Vocabulary) -> Tokenizer:
    return Tokenizer(
        model=WordLevel(vocabulary, most_frequent.unk_id_of(options.contents, options.unk_token)),
        normalizer=options.normalizer,
        pre_tokenizer=front(options).pre_tokenizer,
        special_tokens=most_frequent.special_stages(options.contents),
    )


def steps(counts: _core.Counts, options: CharOptions) -> Iterator[str]:
    """Write the training out as lines of text."""
    return most_frequent.steps(small(counts), _choose(counts, options), options.contents)


Options = CharOptions
