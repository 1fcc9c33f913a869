"""Conditions on a comparison, for CI: ``bytes_per_token < 4``."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

from bpe_cli.errors import UsageError
from bpe_cli.reports.comparison.comparison import Comparison
from bpe_cli.reports.comparison.measures import Measure
from bpe_cli.reports.comparison.metrics import METRICS

_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
    "==": operator.eq,
    "!=": operator.ne,
}


@dataclass(frozen=True, slots=True)
class Condition:
    """Compare a metric with a number.

    >>> Condition.parse("bytes_per_token<4")
    Condition(metric='bytes_per_token', comparison='<', number=4.0)
    """

    metric: str
    comparison: str
    number: float

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Read METRIC COMPARISON NUMBER.

        Raises:
            UsageError: It is something else.
        """
        match = re.fullmatch(r"\s*([a-z_]+)\s*(<=|>=|==|!=|<|>)\s*(\d+(?:\.\d*)?|\.\d+)\s*", text, re.ASCII)
        if match is None or match[1] not in METRICS:
            raise UsageError(
                f"{text!r} is not a condition",
                hint=f"write METRIC < NUMBER, with one of {', '.join(METRICS)} and one of {' '.join(_COMPARE)}",
            )
        return cls(match[1], match[2], float(match[3]))

    def __str__(self) -> str:
        return f"{self.metric} {self.comparison} {self.number:g}"

    def holds(self, measure: Measure) -> bool:
        """Tell whether it is true of a measure; what has no value makes no condition true."""
        value = METRICS[self.metric].of(measure)
        return value is not None and _COMPARE[self.comparison](value, self.number)


def offenders(comparison: Comparison, conditions: list[Condition]) -> list[str]:
    """Give a sentence for each tokenizer and condition that is true of all inputs together."""
    return [
        f"{name}: {condition} ({METRICS[condition.metric].of(measure):,.6g})"
        for name, measure in zip(comparison.tokenizers, comparison.total.measures, strict=True)
        for condition in conditions
        if condition.holds(measure)
    ]
