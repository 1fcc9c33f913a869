"""Conditions on a comparison, for CI: ``bytes_per_token < 4``."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

from bpe_cli.errors import UsageError
from bpe_cli.reports.comparison.comparing import Comparison, Measure

_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
    "==": operator.eq,
    "!=": operator.ne,
}

_METRICS: dict[str, Callable[[Measure], float | None]] = {
    "tokens": lambda measure: measure.token_count,
    "bytes_per_token": lambda measure: measure.bytes_per_token,
    "characters_per_token": lambda measure: measure.characters_per_token,
    "ratio": lambda measure: measure.ratio,
}
"""What a condition can be about: of all inputs together; ``ratio`` is tokens to the first tokenizer's."""


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
        if match is None or match[1] not in _METRICS:
            raise UsageError(
                f"{text!r} is not a condition",
                hint=f"write METRIC < NUMBER, with one of {', '.join(_METRICS)} and one of {' '.join(_COMPARE)}",
            )
        return cls(match[1], match[2], float(match[3]))

    def __str__(self) -> str:
        return f"{self.metric} {self.comparison} {self.number:g}"

    def holds(self, measure: Measure) -> bool:
        """Tell whether it is true of a measure; what has no value makes no condition true."""
        value = _METRICS[self.metric](measure)
        return value is not None and _COMPARE[self.comparison](value, self.number)


def offenders(comparison: Comparison, conditions: list[Condition]) -> list[str]:
    """Give a sentence for each tokenizer and condition that is true of all inputs together."""
    return [
        f"{name}: {condition} ({_METRICS[condition.metric](measure):,.6g})"
        for name, measure in zip(comparison.tokenizers, comparison.total.measures, strict=True)
        for condition in conditions
        if condition.holds(measure)
    ]
