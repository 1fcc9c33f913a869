"""Find metrics by name, and say which values are best."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bpe_cli.errors import UsageError
from bpe_cli.reports.comparison.comparison import Row
from bpe_cli.reports.comparison.measures import Difference
from bpe_cli.reports.comparison.metrics import METRICS, Metric
from bpe_cli.support.failures import every
from bpe_cli.support.messages import did_you_mean, nearest

ALL = "all"
"""Stands for all metrics but speed, which takes more time and differs from run to run."""

USUAL = ("tokens", "bytes_per_token", "characters_per_token", "ratio")
"""The metrics that are shown unless others are asked for."""


def metric_named(name: str) -> Metric:
    """Return a metric by its name, or by its label as tables have it, in capitals or not.

    >>> metric_named("fertility").name, metric_named("tokens/word").name, metric_named("Failed round trips").name
    ('fertility', 'fertility', 'failed_round_trips')

    Raises:
        UsageError: There is none of that name; the hint has those that are near, or all.
    """
    by_label = {metric.label.casefold(): metric for metric in METRICS.values()}
    found = METRICS.get(name) or by_label.get(" ".join(name.casefold().split()))
    if found is None:
        near = nearest(name.replace(" ", "_"), METRICS)
        raise UsageError(
            f"there is no metric {name!r}",
            hint=did_you_mean(near, f"there are {', '.join(METRICS)}"),
        )
    return found


def metrics_named(names: Iterable[str]) -> tuple[Metric, ...]:
    """Return metrics in the order in which they are asked for, each once; ``all`` is all but speed.

    Raises:
        UsageError: There is none of such a name.
    """
    chosen = every(lambda name: _without_speed() if name == ALL else [metric_named(name)], names)
    return tuple({metric.name: metric for metrics in chosen for metric in metrics}.values())


def _without_speed() -> list[Metric]:
    return [metric for metric in METRICS.values() if metric.kind != "speed"]


def best_of(row: Row, metric: Metric) -> tuple[int, ...]:
    """Return the numbers of the tokenizers with the best value: none where nothing tells them apart.

    One that loses text is no contender in what that flatters (``Metric.flattered``).

    >>> best_of(Row.of("a.txt", 1, 12, 12, [4, 3]), METRICS["bytes_per_token"])
    (1,)
    """
    values = [None if metric.doubtful(measure) else metric.of(measure) for measure in row.measures]
    known = [value for value in values if value is not None]
    if metric.better is None or len(known) < 2 or min(known) == max(known):
        return ()
    best = min(known) if metric.better == "less" else max(known)
    return tuple(number for number, value in enumerate(values) if value == best)


def differences_of(row: Row) -> Sequence[Difference | None]:
    """Return one for each tokenizer, also where a row was made without."""
    return row.differences or (None,) * len(row.measures)
