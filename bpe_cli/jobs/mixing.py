"""Mix the counts of several corpora: each is counted as if its text were there a whole number of times.

Temperature sampling draws from corpus k with a share that is proportional to p_k ** alpha, where p_k is its share of
all text (Conneau and Lample 2019, arXiv:1901.07291; Arivazhagan et al. 2019, arXiv:1907.05019). Nothing is drawn here:
the counts of a corpus are multiplied, and so the result is exact and always the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from fractions import Fraction
from math import gcd, lcm
from numbers import Real
from typing import TYPE_CHECKING, TypeAlias

from bpe_cli.errors import TrainingError, UsageError
from bpe_cli.jobs.spilling import Counted, Spilling, held_within, parts_of
from bpe_cli.stages.counting import ALL_MEMORY
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.listening import SILENCE, Listener
from bpe_cli.support.messages import did_you_mean, nearest
from bpe_cli.trainers import trainer_for
from bpe_cli.trainers.counts import add_times, new_counts

if TYPE_CHECKING:
    from bpe_cli.corpus import Source
    from bpe_cli.trainers.base import Options

Weight: TypeAlias = int | float | str | Fraction
"""How often a corpus counts."""

_LARGEST = (1 << 63) - 1
_PARTS = 100
"""Temperature weighs in hundredths of the weight of the largest corpus."""

_FINEST = 1000
_NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9}|/[0-9]{1,9})?")
_LONG_NUMBER = re.compile(r"[0-9]+([./][0-9]+)?")


@dataclass(frozen=True, slots=True)
class Mixture:
    """How much each corpus counts.

    Attributes:
        weights: Weights by the name of the corpus, above 0; one that is not named has 1.
        alpha: The exponent of temperature sampling, 0 to 1: 1 leaves the shares as they are, 0 makes them equal. None
            for weights alone.

    Raises:
        UsageError: if a number is out of range, or there are both weights and an exponent.
    """

    weights: Mapping[str, Fraction]
    alpha: Fraction | None = None

    def __post_init__(self) -> None:
        if self.weights and self.alpha is not None:
            raise UsageError("`weights` and `alpha` both say how much a corpus counts", hint="give one of them")
        for name, weight in self.weights.items():
            if weight <= 0:
                raise UsageError(f"the weight of {name!r} is not above 0", hint="leave the corpus out")
        if self.alpha is not None and (not 0 <= self.alpha <= 1 or self.alpha.denominator > _FINEST):
            raise UsageError(
                f"`alpha` must be from 0 to 1, with at most 3 decimals, not {self.alpha}",
                hint="0.3 is usual: small corpora count for more; 1 leaves the shares as they are",
            )

    def check_names(self, names: Sequence[str]) -> None:
        """Check that all weights are of corpora that there are, and that an exponent has several to weigh.

        Raises:
            UsageError: if not.
        """
        for name in self.weights:
            if name not in names:
                hint = did_you_mean(nearest(name, names), f"the corpora are: {', '.join(names)}" if names else None)
                raise UsageError(
                    f"there is no corpus {name!r} to weigh", hint=hint or "`corpus={NAME: ...}` names them"
                )
        if self.alpha is not None and len(names) < 2:
            raise UsageError("`alpha` is for several corpora", hint="`corpus={NAME: ...}` names them")

    def check_used(self, options: Options) -> None:
        """Check that the result depends on how much a corpus counts.

        Raises:
            UsageError: if the algorithm learns the same however often text occurs.
        """
        if (self.weights or self.alpha is not None) and not trainer_for(options).uses_counts(options):
            raise UsageError(
                f"`{'weights' if self.weights else 'alpha'}` says how often a corpus counts, and the result of this "
                "algorithm does not depend on that",
                hint="leave it out",
            )

    def factors(self, names: Sequence[str], sizes: Sequence[int]) -> list[int]:
        """Return how often each corpus counts, a whole number.

        Weights are multiplied by the least number that makes all of them whole. Of an exponent, the factor is that of
        the largest corpus, 100, times (its bytes / the corpus's bytes) ** (1 - alpha), rounded to the nearest whole
        number (halves up); then all are divided by their greatest common divisor. This is computed without fractions.

        >>> Mixture({"th": Fraction(3, 2)}).factors(["en", "th"], [10, 10])
        [2, 3]
        >>> Mixture({}, Fraction(0)).factors(["en", "th"], [1000, 300]), Mixture({}, Fraction(1)).factors("ab", [9, 1])
        ([100, 333], [1, 1])
        """
        if self.alpha is None:
            weights = [Fraction(self.weights.get(name, 1)) for name in names]
            whole = lcm(*(weight.denominator for weight in weights))
            return [int(weight * whole) for weight in weights]
        found = [_tempered(max(sizes), size, self.alpha) for size in sizes]
        return [factor // gcd(*found) for factor in found]


def _tempered(largest: int, size: int, alpha: Fraction) -> int:
    """Return 100 * (largest / size) ** (1 - alpha), rounded, without any fraction.

    >>> [_tempered(1000, size, Fraction(1, 2)) for size in (1000, 250, 10)]
    [100, 200, 1000]
    """
    power, root = (1 - alpha).numerator, (1 - alpha).denominator
    bound, scale = (2 * _PARTS) ** root * largest**power, size**power
    low, high = _PARTS, 2 * _PARTS
    while (2 * high - 1) ** root * scale <= bound:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if (2 * middle - 1) ** root * scale <= bound else (low, middle)
    return low


def number_of(name: str, value: object) -> Fraction:
    """Read a weight or an exponent: ``3``, ``1.5``, ``3/2``, an int, a Fraction, or a float as it is written.

    >>> number_of("alpha", "0.3"), number_of("alpha", 0.3), number_of("alpha", "3/2")
    (Fraction(3, 10), Fraction(3, 10), Fraction(3, 2))

    Raises:
        UsageError: if it is something else.
    """
    if isinstance(value, Fraction):
        return value
    text = "" if isinstance(value, bool) or not isinstance(value, (str, Real)) else str(value)
    if _LONG_NUMBER.fullmatch(text) and not _NUMBER.fullmatch(text):
        raise UsageError(f"{name} has 9 digits at most before a point or slash, and 9 after it, not {value!r}")
    if not _NUMBER.fullmatch(text) or (text.partition("/")[2] and not int(text.partition("/")[2])):
        raise UsageError(f"{name} must be a number such as 3, 1.5 or 3/2, not {value!r}")
    return Fraction(text)


@dataclass(frozen=True, slots=True)
class NamedCorpus:
    """A corpus with a name."""

    name: str
    source: Source


@dataclass(frozen=True, slots=True)
class Sampled:
    """How many documents are drawn of each corpus, each with the same probability, and where the draw begins."""

    size: int
    seed: int


def mixed(
    counted: Iterable[tuple[str, Counted]],
    mixture: Mixture,
    options: Options,
    max_memory: int,
    *,
    listener: Listener = SILENCE,
) -> Counted:
    """Add up the counts of corpora, each times its factor, in their order.

    Args:
        counted: The name of each corpus and its counts, made when they are asked for, so that few are in memory at a
            time; temporary files among them are gone afterwards.
        mixture: How much each counts.
        options: What is trained: its trainer knows how much text was counted.
        max_memory: Bytes of memory that they may take, and that the sum may; more of it goes to temporary files.
        listener: Receives a note about each corpus.

    Raises:
        TrainingError: if a corpus has no text, or a 64th of all counts does not fit the memory.
        UsageError: if the counts become too large.
        InputError: if a corpus has words with their counts, and a line is not one.
        OutputError: if the temporary files cannot be written.
    """
    with ExitStack() as files:
        held = held_within(counted, max_memory, files, listener)
        return _mixed(held, mixture, options, max_memory, listener)


def _mixed(
    counted: Sequence[tuple[str, Counted]], mixture: Mixture, options: Options, max_memory: int, listener: Listener
) -> Counted:
    trainer = trainer_for(options)
    sizes = [trainer.text_bytes(parts_of(each), options) for _, each in counted]
    for (name, _), size in zip(counted, sizes, strict=True):
        if not size:
            raise TrainingError(f"there is nothing to train on: the corpus {name!r} has no text")
    factors = mixture.factors([name for name, _ in counted], sizes)
    weighted = [factor * size for factor, size in zip(factors, sizes, strict=True)]
    stored = [sum(part.total_bytes for part in parts_of(each)) for _, each in counted]  # with what trainers add to text
    if max(sum(weighted), sum(factor * size for factor, size in zip(factors, stored, strict=True))) > _LARGEST:
        raise UsageError("the weights are too large: the counts pass 2^63", hint="give smaller ones, or simpler ratios")
    total = new_counts(ALL_MEMORY)
    with Spilling(total, max_memory, listener) as spilling:
        for (name, each), factor, size, share in zip(counted, factors, sizes, weighted, strict=True):
            for part in parts_of(each):
                for _ in add_times(total, part, factor):
                    spilling.check()
            times = "once" if factor == 1 else f"{factor:,} times"
            listener.note(f"{name}: {size / sum(sizes):.1%} of the text, counted {times}: {share / sum(weighted):.1%}")
        return spilling.finish()
