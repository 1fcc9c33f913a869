"""Measure how many tokens languages need for the same sentences (Petrov et al., arXiv:2305.15425)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import TYPE_CHECKING

from bpe_cli.errors import UsageError
from bpe_cli.reports.comparison.boundaries import Cutter

if TYPE_CHECKING:
    from bpe_cli.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class LanguageCost:
    """What one language costs with one tokenizer.

    Attributes:
        premium: Tokens per token of the pivot: a ratio of sums; None where the pivot has no tokens.
        mean_premium: The mean over lines of each line's ratio.
        median_premium: The median over lines of each line's ratio.
        unknown_count: Tokens that stand for text not in the vocabulary, or characters that are left out as the
            model has no such token. Where there are any, few tokens are no merit: the text is lost.
    """

    token_count: int
    premium: float | None
    mean_premium: float | None
    median_premium: float | None
    unknown_count: int = 0


@dataclass(frozen=True, slots=True)
class LanguageResult:
    """What one tokenizer makes of the languages.

    Attributes:
        gini: Gini's coefficient of the languages' tokens for the same lines: 0 when all cost the same.
        worst: Numbers of the languages with the most tokens; empty when all have as many.
    """

    costs: tuple[LanguageCost, ...]
    gini: float | None
    worst: tuple[int, ...]

    @property
    def loses_text(self) -> bool:
        """Whether something is not in the vocabulary: then all comparisons flatter."""
        return any(cost.unknown_count for cost in self.costs)


@dataclass(frozen=True, slots=True)
class LanguageProbe:
    """The same lines in several languages.

    Attributes:
        pivot: The number of the language that the others are compared with.
    """

    source: str
    languages: tuple[str, ...]
    pivot: int
    line_count: int
    byte_counts: tuple[int, ...]
    results: tuple[LanguageResult, ...]


def probe_languages(
    tokenizers: Sequence[Tokenizer],
    texts: Mapping[str, Sequence[bytes]],
    *,
    pivot: str | None = None,
    source: str = "parallel texts",
    threads: int = 1,
) -> LanguageProbe:
    """Count the tokens of parallel lines.

    Args:
        texts: The lines of each language, as many in each.
        pivot: The language that the others are compared with; ``en`` if there is one, else the first.

    Raises:
        UsageError: if there are no two languages, their lines do not pair, or the pivot is not among them.
        InputError: if a byte of a text has no token.
    """
    languages = tuple(texts)
    if len(languages) < 2:
        raise UsageError("premiums compare languages, and there are not two", hint="give the same lines in another one")
    line_counts = {len(each) for each in texts.values()}
    if len(line_counts) > 1:
        listed = ", ".join(f"{name} {len(each):,}" for name, each in texts.items())
        raise UsageError(f"the languages have different numbers of lines: {listed}")
    if pivot is None:
        pivot = "en" if "en" in texts else languages[0]
    if pivot not in texts:
        raise UsageError(f"the pivot {pivot!r} is not among the languages", hint=f"they are {', '.join(languages)}")
    number = languages.index(pivot)
    results = []
    for tokenizer in tokenizers:
        cutter = Cutter(tokenizer, threads=threads)
        counts = [cutter.count(texts[language]) for language in languages]
        unknown = [cutter.unknown(texts[language]) for language in languages]
        results.append(_result(counts, unknown, number))
    sizes = tuple(sum(map(len, each)) for each in texts.values())
    return LanguageProbe(source, languages, number, line_counts.pop(), sizes, tuple(results))


def _result(counts: list[list[int]], unknown: list[int], pivot: int) -> LanguageResult:
    sums = [sum(each) for each in counts]
    base = sums[pivot]
    costs = []
    for each, total, lost in zip(counts, sums, unknown, strict=True):
        ratios = [mine / other for mine, other in zip(each, counts[pivot], strict=True) if other]
        costs.append(
            LanguageCost(
                total,
                total / base if base else None,
                fmean(ratios) if ratios else None,
                median(ratios) if ratios else None,
                lost,
            )
        )
    most = max(sums)
    worst = tuple(number for number, total in enumerate(sums) if total == most > min(sums))
    return LanguageResult(tuple(costs), gini(sums), worst)


def gini(values: Sequence[int]) -> float | None:
    """Return Gini's coefficient: the sum of all differences by 2 n² times the mean; None where all are 0.

    Of tokens per parallel line, not per byte: a script whose characters have more bytes would look cheap.

    Complexity: O(n log n); the differences are summed from the sorted values.

    >>> gini([1, 1, 1]), gini([0, 0, 3])
    (0.0, 0.6666666666666666)
    """
    total = sum(values)
    if not total:
        return None
    count = len(values)
    # Sorted, value i (from 0) is added i times and taken away count - 1 - i times, for both orders of a pair.
    differences = 2 * sum((2 * place - count + 1) * value for place, value in enumerate(sorted(values)))
    return differences / (2 * count * total)
