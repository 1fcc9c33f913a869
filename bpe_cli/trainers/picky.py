"""Train BPE that takes tokens back: counts of words -> merges and splits -> a tokenizer.

PickyBPE (Chizhov et al. 2024, arXiv:2409.04599) takes a token back when a merge takes most of it, Scaffold-BPE (Lian et
al. 2024, arXiv:2404.17808) in the end, if it stands more rarely than what would be merged next. Words are cut at
whitespace and begin with ``▁``; symbols are characters. What is learnt is a list of events, which encoding lets happen
in order. The textbooks are ``picky`` and ``scaffold`` in ``bpe_cli/teaching/frontier``.

Ids: ``unk_token`` and special tokens, characters by code point, products in the order in which they were learnt, and
behind them the tokens that were taken back: events name these, and no text becomes them.
"""

from __future__ import annotations

from abc import abstractmethod
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from bpe_cli import _core
from bpe_cli.errors import TrainingError, UsageError
from bpe_cli.stages import EventBpe, Metaspace, MetaspaceDecoder, Normalizer, SpecialToken, WhitespaceSplit
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.support.core_arguments import options_json
from bpe_cli.support.messages import no_pair, plural
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers.base import Front, Progress, SplittingOptions, Trained, Trainer, check_special_tokens
from bpe_cli.trainers.counts import (
    character_counts,
    cut_tokens,
    kept_characters,
    refuse_nothing,
    small_texts,
    texts,
)

if TYPE_CHECKING:
    from bpe_cli.teaching.frontier import picky
    from bpe_cli.teaching.steps import Steps


@dataclass(frozen=True, slots=True)
class EventOptions(SplittingOptions):
    """The options of both algorithms.

    Attributes:
        vocab_size: The size of the vocabulary, including special tokens and characters, but not the tokens that were
            taken back.
        min_frequency: Pairs that occur less often are not merged.
        character_coverage: The share of all characters in the corpus that the alphabet covers.
        normalizer: The stages that rewrite text before it is split.
        special_tokens: The texts of the special tokens.
        split_special: Whether to remove special tokens from the corpus and split the text there.
        unk_token: The token for characters outside the alphabet; None drops them.
    """

    vocab_size: int
    min_frequency: int = 1
    character_coverage: float = 0.9999
    normalizer: tuple[Normalizer, ...] = ()
    special_tokens: tuple[str, ...] = ()
    split_special: bool = False
    unk_token: str | None = "<unk>"

    def __post_init__(self) -> None:
        check_share("character coverage", self.character_coverage)
        if self.vocab_size > _core.MAX_TOKENS:
            raise UsageError(f"a vocabulary of {self.vocab_size} is larger than the {_core.MAX_TOKENS:,} that fit")
        check_special_tokens(self.special_tokens)
        check_special_tokens(self.specials)

    @property
    def specials(self) -> tuple[str, ...]:
        """The texts of all special tokens in order of id: unknown first, unless its place is given."""
        unknown = () if self.unk_token is None or self.unk_token in self.special_tokens else (self.unk_token,)
        return (*unknown, *self.special_tokens)


@dataclass(frozen=True, slots=True)
class PickyOptions(EventOptions):
    """Define what to train.

    Attributes:
        threshold: A token is taken back if a merge takes more than this share of its occurrences (above 0, at most 1):
            what is left of it is split into its parts again. At 1, no token is taken back, as in byte-pair encoding.
    """

    threshold: float = 0.9

    def __post_init__(self) -> None:
        EventOptions.__post_init__(self)
        check_share("threshold", self.threshold)


@dataclass(frozen=True, slots=True)
class ScaffoldOptions(EventOptions):
    """Define what to train."""


Chosen = TypeVar("Chosen", bound=EventOptions)


def check_share(name: str, share: float) -> None:
    """Check that a number is a share."""
    if not 0 < share <= 1:
        raise UsageError(f"a {name} of {share} is not a share: it must be over 0 and at most 1")


def _initial_tokens(alphabet: list[str], options: EventOptions) -> tuple[list[bytes], list[int]]:
    """Return the tokens that exist before the first merge, and the ids of the alphabet; a special token can be one."""
    initial = [content.encode() if content in alphabet else b"" for content in options.specials]
    ids = {token: token_id for token_id, token in enumerate(initial) if token}
    for character in alphabet:
        if ids.setdefault(character.encode(), len(initial)) == len(initial):
            initial.append(character.encode())
    return initial, [ids[character.encode()] for character in alphabet]


def _front(options: EventOptions) -> Front:
    return Front(options.normalizer, (WhitespaceSplit(), Metaspace(split=False)))


def _alphabet(counts: _core.Counts, options: EventOptions) -> list[str]:
    return kept_characters(character_counts(texts(counts)), coverage=options.character_coverage)


def _check_size(options: EventOptions, initial: int) -> None:
    """Check that the vocabulary has room for the tokens that exist before the first merge."""
    if options.vocab_size < initial:
        characters = plural(initial - len(options.specials), "character")
        raise TrainingError(
            f"a vocabulary of {options.vocab_size} is smaller than its initial tokens: "
            f"{characters} and {len(options.specials)} special",
            hint=f"ask for {initial} or more, or for fewer characters with `character_coverage=X`",
        )


def _assemble(options: EventOptions, tokens: list[bytes], events: array[int]) -> Tokenizer:
    specials = options.specials
    return Tokenizer(
        model=EventBpe(
            Vocabulary.from_tokens(tokens),
            events,
            unk_id=None if options.unk_token is None else specials.index(options.unk_token),
        ),
        normalizer=options.normalizer,
        pre_tokenizer=_front(options).pre_tokenizer,
        decoder=(MetaspaceDecoder(split=False),),
        special_tokens=tuple(SpecialToken(content.encode(), token_id) for token_id, content in enumerate(specials)),
        unicode_version=_core.UNICODE_VERSION,
    )


class EventTrainer(Trainer[Chosen]):
    """Train byte-pair encoding that takes tokens back."""

    @abstractmethod
    def rule(self, options: Chosen) -> object:
        """Return which tokens are taken back, as the core has it."""

    @abstractmethod
    def textbook(self, words: dict[str, int], options: Chosen, **settings: Any) -> picky.Training:
        """Return the textbook's training; its size counts special tokens of its own."""

    def front(self, options: Chosen) -> Front:
        """Return the stages that text goes through: words, each with a mark before it."""
        return _front(options)

    def train(
        self, counts: _core.Counts, options: Chosen, progress: Progress | None = None, threads: int = 1
    ) -> Trained:
        """Learn events from counts of words."""
        refuse_nothing(counts)
        initial, symbols = _initial_tokens(_alphabet(counts, options), options)
        _check_size(options, len(initial))
        trained = _core.train_picky(
            counts,
            options_json(
                initial=initial,
                symbols=symbols,
                vocab_size=options.vocab_size,
                min_frequency=options.min_frequency,
                rule=self.rule(options),
                reserved=[content.encode() for content in options.specials if len(content) > 1],
            ),
            progress,
        )
        tokens = cut_tokens(*trained.tokens())
        return Trained(
            _assemble(options, tokens, array("I", memoryview(trained.events))),
            (
                plural(len(symbols), "character"),
                plural(trained.present - len(initial), "longer token"),
                f"{len(tokens) - trained.present:,} taken back",
                f"{len(options.specials)} special",
            ),
            no_pair(max(1, options.min_frequency)) if trained.exhausted else None,
            trained.present,
        )

    def untrained(self, options: Chosen) -> Tokenizer:
        """Return a tokenizer without characters and events, to see early what could not be done."""
        _check_size(options, len(options.specials))
        return _assemble(options, [b""] * len(options.specials), array("I"))

    def steps(self, counts: _core.Counts, options: Chosen) -> Steps:
        """Return the textbook's training, event by event."""
        from bpe_cli.teaching.frontier.picky import SPECIAL

        words = small_texts(counts)
        initial, symbols = _initial_tokens(_alphabet(counts, options), options)
        _check_size(options, len(initial))
        return self.textbook(
            words,
            options,
            vocab_size=options.vocab_size - len(initial) + len(symbols) + len(SPECIAL),
            alphabet=[initial[symbol].decode() for symbol in sorted(symbols)],
            min_frequency=options.min_frequency,
            reserved=options.specials,
        )


class PickyTrainer(EventTrainer[PickyOptions]):
    """Train PickyBPE."""

    Options = PickyOptions

    def rule(self, options: PickyOptions) -> object:
        """Return the threshold."""
        return {"share": options.threshold}

    def textbook(self, words: dict[str, int], options: PickyOptions, **settings: Any) -> picky.Training:
        """Return the textbook's training, with exact counts."""
        from bpe_cli.teaching.frontier.picky import Training

        return Training(words, threshold=options.threshold, tie="ids", exact=True, **settings)


class ScaffoldTrainer(EventTrainer[ScaffoldOptions]):
    """Train Scaffold-BPE."""

    Options = ScaffoldOptions

    def rule(self, options: ScaffoldOptions) -> object:
        """Return the name of the rule, which has no threshold."""
        return "scaffold"

    def textbook(self, words: dict[str, int], options: ScaffoldOptions, **settings: Any) -> picky.Training:
        """Return the textbook's training."""
        from bpe_cli.teaching.frontier.scaffold import Training

        return Training(words, **settings)


TRAINER = PickyTrainer()
SCAFFOLD = ScaffoldTrainer()
Options = PickyOptions
