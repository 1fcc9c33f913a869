"""Name what can be asked of a measure: the one list that tables, files, conditions and the documentation read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from bpe_cli.reports.comparison.measures import Measure


@dataclass(frozen=True, slots=True)
class Metric:
    """A number that a measure gives.

    Attributes:
        name: As in ``--metric``, ``--fail-if``, JSON and CSV.
        label: As in tables.
        better: Which way is better, if one is; "less tokens" and "more bytes per token" say the same.
        kind: How it is written.
        meaning: One sentence for the documentation, without a period.
        of: Its value; None where there is none.
    """

    name: str
    label: str
    better: Literal["less", "more"] | None
    kind: Literal["count", "ratio", "share", "speed"]
    meaning: str
    of: Callable[[Measure], float | None]


_ALL = (
    Metric("tokens", "tokens", "less", "count", "tokens", lambda measure: measure.token_count),
    Metric(
        "bytes_per_token", "bytes/token", "more", "ratio", "bytes of text per token, a ratio of sums",
        lambda measure: measure.bytes_per_token,
    ),
    Metric(
        "characters_per_token", "characters/token", "more", "ratio", "characters per token, a ratio of sums",
        lambda measure: measure.characters_per_token,
    ),
    Metric(
        "ratio", "ratio", "less", "ratio", "tokens per token of the baseline (NSL)",
        lambda measure: measure.ratio,
    ),
    Metric(
        "megabytes_per_second", "MB/s", "more", "speed",
        "1,000,000 bytes of text encoded per second, if speed was asked for",
        lambda measure: measure.megabytes_per_second,
    ),
)  # fmt: skip

METRICS = {metric.name: metric for metric in _ALL}
"""All metrics by name, in the order in which they are listed."""
