"""The engine that runs a tokenizer, and the values that go through it.

It is compiled of the parts of a tokenizer, and knows no ``Tokenizer``. The core has two ways of encoding, one for
byte-level BPE whose text is only split, one for all others; and a pattern that it cannot run is run by the ``regex``
module. Nobody outside this folder asks which way a text goes.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from bpe_cli.errors import UsageError
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.fast_typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from typing import TypeAlias

    from bpe_cli import _core
    from bpe_cli.stages import Decoder, Model, Normalizer, PreTokenizer, SpecialToken
    from bpe_cli.stages.vocabulary import Vocabulary

Text = str | bytes | bytearray | memoryview
"""A text, or the bytes of one in UTF-8; any other bytes are encoded as well."""

SpecialTable: TypeAlias = "tuple[array[int], bytes, array[int]]"
"""Special tokens for decoding: ids ascending, all bytes, where each ends."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """Vary an encoding at random; the same seed gives the same ids, whatever the threads and blocks.

    >>> import bpe_cli
    >>> dropout = bpe_cli.Sampling("dropout", 0.5, seed=1)
    >>> ids = bpe_cli.load("gpt2").encode("hello world", sampling=dropout)
    >>> len(ids) > 2, bpe_cli.load("gpt2").decode(ids)
    (True, 'hello world')

    Attributes:
        way: ``dropout`` drops each merge with probability ``number``, drawn anew at each step (Provilkov et al.,
            arXiv:1910.13267); ``lasting-dropout`` drops a merge for good, as SentencePiece does; ``segmentation``
            samples segmentations with probabilities raised to the power of ``number``.
        number: The probability, or the exponent.
        nbest: For ``segmentation``, sample from this many best segmentations; 0 for all.
        seed: Any number below 2^64.
    """

    way: Literal["dropout", "lasting-dropout", "segmentation"]
    number: float
    nbest: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        from bpe_cli.support.core_arguments import one_of, plain_number

        one_of("way", self.way, ("dropout", "lasting-dropout", "segmentation"))
        for name in ("number", "nbest", "seed"):  # as Python's own: NumPy's are neither written to JSON nor to the core
            object.__setattr__(self, name, plain_number(name, getattr(self, name), whole=name != "number"))
        if self.way == "segmentation":
            if not 0 <= self.number < float("inf"):
                raise UsageError(f"alpha must be 0 or more, not {self.number}")
        elif not 0 <= self.number <= 1:
            raise UsageError(f"a dropout of {self.number} is not a probability: it must be between 0 and 1")
        if not 0 <= self.nbest <= 1024:
            raise UsageError(f"at most 1,024 of the best are drawn from, not {self.nbest:,}")
        if not 0 <= self.seed < 1 << 64:
            raise UsageError("the seed must be at least 0 and below 2^64")


def sampling_of(sampling: object) -> Sampling | None:
    """Check that a caller's value is a ``Sampling``, and return it.

    Raises:
        TypeError: if the value is not a ``Sampling``.
    """
    if sampling is None or isinstance(sampling, Sampling):
        return sampling
    from bpe_cli.support.core_arguments import wrong_type

    raise wrong_type("sampling", "a Sampling", sampling)


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a block in the whole input.

    Attributes:
        document: The number of its first document, from 0.
        offset: How many bytes of that document came in earlier blocks.
    """

    document: int = 0
    offset: int = 0


def variation(sampling: Sampling, place: Place) -> bytes:
    """Return the core's options to vary a block."""
    from bpe_cli.support.core_arguments import options_json

    number = float(sampling.number)
    is_drawn = sampling.way == "segmentation"
    return options_json(
        sampling={sampling.way: {"alpha": number, "nbest": int(sampling.nbest)} if is_drawn else number},
        **{"from": {"seed": int(sampling.seed), "document": place.document, "offset": place.offset}},
    )


@dataclass(frozen=True, slots=True)
class EngineParts:
    """The parts that an engine is compiled from.

    Attributes:
        model: The model as text meets it; see ``special_tokens``.
        vocabulary: All of the vocabulary, which ids are decoded with.
        normalizer: The stages that rewrite text before it is split, in order.
        pre_tokenizer: The stages that split text into pieces, in order.
        decoder: What makes text of tokens again, in order.
        special_tokens: Special and added tokens, sorted by id.
        special_table: What decoding takes from them in the place of the model's tokens.
        codebook: What else every matcher looks for.
    """

    model: Model
    vocabulary: Vocabulary
    normalizer: tuple[Normalizer, ...]
    pre_tokenizer: tuple[PreTokenizer, ...]
    decoder: tuple[Decoder, ...]
    special_tokens: tuple[SpecialToken, ...]
    special_table: SpecialTable
    codebook: _core.Codebook | None = None


def only_splits(
    model: Model,
    normalizer: Sequence[Normalizer],
    pre_tokenizer: Sequence[PreTokenizer],
    decoder: Sequence[Decoder],
) -> bool:
    """Return whether a tokenizer is byte-level BPE whose text is only split, and by expressions."""
    from bpe_cli.stages import PrefixSpace, Split

    by_expressions = all(
        isinstance(stage, PrefixSpace) or (isinstance(stage, Split) and stage == Split(stage.pattern))
        for stage in pre_tokenizer
    )
    return by_expressions and split_patterns(model, normalizer, pre_tokenizer, decoder) is not None


def split_patterns(
    model: Model,
    normalizer: Sequence[Normalizer],
    pre_tokenizer: Sequence[PreTokenizer],
    decoder: Sequence[Decoder],
) -> tuple[str, ...] | None:
    """Return the expressions that split byte-level BPE's text, one after the other; None if more is done with it."""
    from bpe_cli.stages import MergeBpe, PrefixSpace, RankBpe

    if not isinstance(model, (RankBpe, MergeBpe)) or normalizer or decoder:
        return None
    spaces = [isinstance(stage, PrefixSpace) for stage in pre_tokenizer]
    patterns = [_pattern_of(stage) for stage, is_space in zip(pre_tokenizer, spaces, strict=True) if not is_space]
    if any(spaces[1:]) or None in patterns:
        return None
    return tuple(pattern for pattern in patterns if pattern is not None)


def _pattern_of(stage: PreTokenizer) -> str | None:
    """Return the expression that cuts as a stage does; None if there is none."""
    from bpe_cli.stages import Digits, Split
    from bpe_cli.stages.patterns import scanner_for

    if isinstance(stage, Digits):
        return r"\p{N}" if stage.individual_digits else r"\p{N}+"
    if not isinstance(stage, Split):
        return None
    # Every character is in a match of the known patterns: nothing lies between two, and is removed.
    keeps_all = stage == Split(stage.pattern, "Removed", invert=True) and scanner_for(stage.pattern) is not None
    return stage.pattern if keeps_all or stage == Split(stage.pattern) else None
