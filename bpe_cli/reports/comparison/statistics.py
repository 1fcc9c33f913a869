"""Measure how sure a difference between tokenizers is.

The unit is a document, never a token: tokens of one document are not independent. Of more than
``MOST_UNITS`` documents neighbours are taken together, two by two, until there are few enough, so memory
is bounded, and neighbours, which often resemble each other, are not counted as if they were independent.

The interval is a percentile interval of the paired bootstrap (Efron and Tibshirani, 1993): units are drawn
with replacement, with both tokenizers' counts. The test swaps the two tokenizers' counts at random, unit by
unit (approximate randomization: Noreen, 1989). Holm's method (1979) adjusts for the number of tests.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import replace

from bpe_cli import _core
from bpe_cli.reports.comparison.measures import Difference

MOST_UNITS = 8192
"""There are never more units than this."""

LEAST_UNITS = 6
"""With fewer units there is no difference to be told: of the 2**n ways to swap n units two are as extreme as
can be, so that p cannot fall below 2 / 2**n, and 2 / 2**5 is over 5%."""

RESAMPLES = 10_000
"""How often units are drawn, and swapped."""

LEAST_RESAMPLES = 39
"""With fewer there is none below, or above, 95% of them."""

SEED = 0


def difference(
    units: _core.Units, baseline: _core.Units, *, resamples: int = RESAMPLES, threads: int = 1
) -> Difference | None:
    """Compare a tokenizer's tokens with the baseline's on the same documents.

    Units without a token of either are left out. None where fewer than ``LEAST_UNITS`` are left, where the
    two have the same number of tokens in every unit, and where a ratio could be infinite.

    Returns:
        The difference, as yet without an adjustment of p for other tests.

    >>> def units(counts):
    ...     found = _core.Units(MOST_UNITS)
    ...     found.extend(array("Q", counts))
    ...     return found
    >>> found = difference(units([2, 4, 2, 6, 2, 2]), units([1, 2, 1, 3, 1, 1]))
    >>> found.ratio, found.low, found.high, found.units
    (2.0, 2.0, 2.0, 6)
    """
    pairs = zip(memoryview(units.counts), memoryview(baseline.counts), strict=True)
    told = [pair for pair in pairs if any(pair)]
    if len(told) < LEAST_UNITS or all(one == other for one, other in told):
        return None
    first, second = (array("Q", column) for column in zip(*told, strict=True))
    interval = _core.bootstrap_interval(first, second, resamples, SEED, threads)
    if interval is None:
        return None
    p = _core.sign_flip(first, second, resamples, SEED, threads)
    low, high = interval
    return Difference(sum(first) / sum(second), low, high, p, p, len(told), units.unit_documents)


def holm(probabilities: Sequence[float]) -> list[float]:
    """Adjust p by Holm's method: the i-th smallest of m times m - i + 1, none below a smaller one's, at most 1.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(probabilities)), key=probabilities.__getitem__)
    adjusted = [1.0] * len(probabilities)
    largest = 0.0
    for place, number in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - place) * probabilities[number]))
        adjusted[number] = largest
    return adjusted


def adjust(rows: Sequence[Sequence[Difference | None]]) -> list[tuple[Difference | None, ...]]:
    """Adjust the differences of several rows by Holm's method, as one family of tests."""
    family = [found.p for row in rows for found in row if found is not None]
    adjusted = iter(holm(family))
    return [tuple(found and replace(found, p_adjusted=next(adjusted)) for found in row) for row in rows]
