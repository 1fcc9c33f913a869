"""Describe what has changed: since a comparison that was stored, or from the baseline to the other tokenizers."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

from bpe_cli.errors import InputError, UsageError
from bpe_cli.reports.comparison.checks import ANY, NUMBER, TOTAL, Check, Failure, amount, in_scope, number_of, rows_of
from bpe_cli.reports.comparison.comparison import Comparison
from bpe_cli.reports.comparison.measures import Difference
from bpe_cli.reports.comparison.metrics import Metric, differences_of
from bpe_cli.reports.comparison.stored import StoredComparison, StoredRow

SIGNIFICANT = 0.05
"""A difference with an adjusted p below this is beyond noise."""

BY_TOKENS = frozenset({"tokens", "ratio", "bytes_per_token", "characters_per_token"})
"""On the same text these say the same as the ratio of tokens, so that its interval is theirs."""

_ROUNDING = 1e-12  # of a quotient of floats: 101 of 100 is 1% more, not more than 1%


@dataclass(frozen=True, slots=True)
class Change:
    """A metric of one tokenizer on one input, then and now.

    Attributes:
        metric: What is compared; one way is better.
        tokenizer: The tokenizer's name now.
        source: The input's name; None for all together.
        before: The value it is compared with; None if there was none.
        now: The value now; None if there is none.
        difference: How sure that is; None where nothing tells.
    """

    metric: Metric
    tokenizer: str
    source: str | None
    before: float | None
    now: float | None
    difference: Difference | None = None

    @property
    def relative(self) -> float | None:
        """The change as a part of the value before; None without values, infinite from 0 to something."""
        if self.before is None or self.now is None:
            return None
        if self.before == 0:
            return float("inf") if self.now else 0.0
        return self.now / self.before - 1

    @property
    def worsening(self) -> float:
        """By what part of the value before it has become worse; negative where it has become better.

        0 where a value is missing, of which ``missing`` and ``verdict`` tell.
        """
        relative = self.relative or 0.0
        return relative if self.metric.better == "less" else -relative

    @property
    def missing(self) -> bool:
        """Whether one of the two has a value and the other has none."""
        return (self.before is None) != (self.now is None)

    @property
    def verdict(self) -> Literal["worse", "better", "same", "unknown"]:
        """Which way it went; unknown where a value is missing."""
        if self.relative is None:
            return "unknown"
        return "worse" if self.worsening > 0 else "better" if self.worsening < 0 else "same"

    @property
    def beyond_noise(self) -> bool | None:
        """Whether it is more than chance among documents; None where nothing tells."""
        return None if self.difference is None else self.difference.p_adjusted < SIGNIFICANT


@dataclass(frozen=True, slots=True)
class Changes:
    """All changes, and what could not be compared.

    Attributes:
        reference: The name of the stored report, or of the baseline tokenizer.
        stored: Whether it is a stored report.
        changes: Per metric and tokenizer: the inputs, then all together if they are the same as then.
        renamed: Names then and now of tokenizers and inputs that were taken for the same, being the only ones.
        new_tokenizers: Tokenizers that the stored report has not.
        gone_tokenizers: Tokenizers that only the stored report has.
        new_inputs: Inputs that the stored report has not.
        gone_inputs: Inputs that only the stored report has.
    """

    reference: str
    stored: bool
    changes: tuple[Change, ...]
    renamed: tuple[tuple[str, str], ...] = ()
    new_tokenizers: tuple[str, ...] = ()
    gone_tokenizers: tuple[str, ...] = ()
    new_inputs: tuple[str, ...] = ()
    gone_inputs: tuple[str, ...] = ()

    @property
    def same_inputs(self) -> bool:
        """Whether all inputs together could be compared."""
        return not self.new_inputs and not self.gone_inputs


def changes_from_baseline(report: Comparison, metrics: Sequence[Metric]) -> Changes:
    """Compare each tokenizer with the baseline, on the same text.

    Raises:
        UsageError: if there is one tokenizer only, or of a metric neither more nor less is better.
    """
    _check_judged(metrics)
    if len(report.tokenizers) < 2:
        raise UsageError(
            "--max-regression has nothing to compare with",
            hint="--against REPORT names a stored report, or a second -t is compared with the first",
        )
    baseline = report.baseline
    return Changes(
        report.tokenizers[baseline],
        False,
        tuple(
            Change(
                metric, report.tokenizers[number], source,
                metric.of(row.measures[baseline]), metric.of(row.measures[number]),
                differences_of(row)[number] if metric.name in BY_TOKENS else None,
            )
            for metric in metrics
            for number in range(len(report.tokenizers))
            if number != baseline
            for source, row in rows_of(report)
        ),
    )  # fmt: skip


def changes_since(
    now: StoredComparison, before: StoredComparison, metrics: Sequence[Metric], reference: str
) -> Changes:
    """Compare with a stored report, by the names of tokenizers and inputs; the only ones need not have the same.

    Args:
        now: What was compared now.
        before: What was compared then.
        metrics: What to compare.
        reference: What to call the stored report.

    Raises:
        UsageError: Of a metric neither more nor less is better.
        InputError: if an input has other bytes than then, special tokens were looked for otherwise, there is nothing
            to compare, or the report has no values of a metric.
    """
    _check_judged(metrics)
    if now.specials != before.specials:
        raise InputError(
            f"{reference} was made with other special tokens: {_specials(before)}, now {_specials(now)}",
            hint="the numbers of one do not say anything about the other; give the same --special",
        )
    tokenizers = _pairs([each.name for each in before.tokenizers], [each.name for each in now.tokenizers])
    inputs = _pairs(_numbered(before.rows), _numbered(now.rows))
    if not tokenizers.both or not inputs.both:
        what, known = ("input", before.rows) if tokenizers.both else ("tokenizer", before.tokenizers)
        raise InputError(
            f"{reference} has no {what} that is compared now",
            hint=f"it has {', '.join(each.name for each in known[:5])}",
        )
    for then, this in inputs.both:
        _check_same_text(before.rows[then], now.rows[this], reference)
    rows: list[tuple[str | None, StoredRow, StoredRow]] = [
        (now.rows[this].name, before.rows[then], now.rows[this]) for then, this in inputs.both
    ]
    if not inputs.new and not inputs.gone:
        rows.append((None, before.total, now.total))
    changes = []
    for metric in metrics:
        found = [
            Change(
                metric, now.tokenizers[this].name, source,
                old.values[then].get(metric.name), new.values[this].get(metric.name),
            )
            for then, this in tokenizers.both
            for source, old, new in rows
        ]  # fmt: skip
        if all(each.before is None for each in found) and any(each.now is not None for each in found):
            raise InputError(f"{reference} has no values of {metric.name}", hint="make it anew, with the same options")
        changes += found
    renamed = [(before.tokenizers[then].name, now.tokenizers[this].name) for then, this in tokenizers.both]
    renamed += [(before.rows[then].name, now.rows[this].name) for then, this in inputs.both]
    return Changes(
        reference,
        True,
        tuple(changes),
        tuple((old, new) for old, new in renamed if old != new),
        new_tokenizers=tuple(now.tokenizers[number].name for number in tokenizers.new),
        gone_tokenizers=tuple(before.tokenizers[number].name for number in tokenizers.gone),
        new_inputs=tuple(now.rows[number].name for number in inputs.new),
        gone_inputs=tuple(before.rows[number].name for number in inputs.gone),
    )


@dataclass(frozen=True, slots=True)
class Limit:
    """State by how much something may have become worse.

    Attributes:
        most: As a part of the value before.
        scope: ``any`` (each input and all together), ``total``, or the name of an input.
        text: As it was given.

    >>> Limit.parse("1%"), Limit.parse("total: .5 %").most
    (Limit(most=0.01, scope='any', text='1%'), 0.005)
    """

    most: float
    scope: str
    text: str

    @classmethod
    def parse(cls, text: str) -> Limit:
        """Read ``[SCOPE:] NUMBER%``.

        Raises:
            UsageError: if it is something else.
        """
        match = re.fullmatch(rf"\s*(?:(.*):)?\s*({NUMBER})\s*%\s*", text, re.ASCII | re.DOTALL)
        if match is None:
            raise UsageError(f"{text!r} is not a limit in per cent", hint="write 1%, or 'total: 1%'")
        return cls(number_of(match[2], True, text), (match[1] or ANY).strip(), text)

    def check(self, changes: Changes) -> Check:
        """Find what has become worse by more than that, or cannot be told to be within it; the worst first.

        Where neither side has a value, nothing could have become worse.

        Raises:
            InputError: All inputs together are asked for, and they are not those of then.
        """
        if self.scope == TOTAL and not changes.same_inputs:
            raise InputError(
                f"{changes.reference} has other inputs, so all of them together cannot be compared",
                hint="leave out 'total:' to compare those that both have, or make the report anew",
            )
        return Check("--max-regression", self.text, tuple(self._failures(changes)))

    def _failures(self, changes: Changes) -> Iterator[Failure]:
        for change in sorted(changes.changes, key=badness):
            if not in_scope(self.scope, change.source):
                continue
            if change.missing:  # it may have become worse by anything
                yield Failure(change.tokenizer, change.source, sentence(change))
            elif change.worsening > self.most + _ROUNDING:
                statement = f"{sentence(change)}, more than {amount(self.most, True)}"
                yield Failure(change.tokenizer, change.source, statement)


def badness(change: Change) -> tuple[bool, float]:
    """Return a key that sorts changes: values that are missing, then what has become worse, then the rest in order."""
    return not change.missing, -max(change.worsening, 0)


def sentence(change: Change) -> str:
    """Write a change: from what to what, by how much, and whether that is more than noise.

    >>> from bpe_cli.reports.comparison.metrics import METRICS
    >>> sentence(Change(METRICS["tokens"], "a", None, 200, 203))
    'tokens 200 -> 203, 1.5% worse'
    >>> sentence(Change(METRICS["tokens"], "a", None, None, 203))
    'tokens no value -> 203, cannot be compared'
    """
    percent = change.metric.kind == "share"
    if change.before is None or change.now is None:
        either = ("no value" if each is None else amount(each, percent) for each in (change.before, change.now))
        return f"{change.metric.name} {' -> '.join(either)}, cannot be compared"
    values = f"{amount(change.before, percent)} -> {amount(change.now, percent)}"
    size = abs(change.worsening)
    if not size:
        return f"{change.metric.name} {values}, the same"
    by = "" if size == float("inf") else f"{amount(float(f'{size:.3g}'), True)} "
    text = f"{change.metric.name} {values}, {by}{change.verdict}"
    if change.difference is not None:
        each = change.difference
        noise = "beyond noise" if change.beyond_noise else "within noise"
        text += f" ({noise}: ratio of tokens {each.low:.3f} to {each.high:.3f} in 95%, p = {each.p_adjusted:.2g})"
    return text


class _Named(Protocol):
    @property
    def name(self) -> str: ...


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Numbers of what both have, what only the new one has and what only the old one has."""

    both: tuple[tuple[int, int], ...]
    new: tuple[int, ...]
    gone: tuple[int, ...]


_Key = TypeVar("_Key", bound=Hashable)


def _pairs(before: Sequence[_Key], now: Sequence[_Key]) -> _Pairs:
    """Match names that are different among themselves.

    >>> _pairs(["a", "b"], ["b", "c"]).both, _pairs(["a"], ["b"]).both
    (((1, 0),), ((0, 0),))
    """
    if len(before) == len(now) == 1:
        return _Pairs(((0, 0),), (), ())
    places = {key: number for number, key in enumerate(before)}
    both = tuple((places[key], number) for number, key in enumerate(now) if key in places)
    return _Pairs(
        both,
        tuple(number for number, key in enumerate(now) if key not in places),
        tuple(sorted(set(range(len(before))) - {then for then, _ in both})),
    )


def _numbered(rows: Iterable[_Named]) -> list[tuple[str, int]]:
    """Distinguish inputs of the same name by how often it came before."""
    seen: dict[str, int] = {}
    keys = []
    for row in rows:
        seen[row.name] = seen.get(row.name, -1) + 1
        keys.append((row.name, seen[row.name]))
    return keys


def _check_judged(metrics: Sequence[Metric]) -> None:
    for metric in metrics:
        if metric.better is None:
            raise UsageError(f"{metric.name} cannot become worse: neither more nor less of it is better")


def _check_same_text(before: StoredRow, now: StoredRow, reference: str) -> None:
    counts = (before.document_count, before.byte_count) != (now.document_count, now.byte_count)
    digests = before.sha256 is not None and now.sha256 is not None and before.sha256 != now.sha256
    if counts or digests:
        sizes = f"{before.byte_count:,} bytes in {before.document_count:,} documents then, "
        sizes += f"{now.byte_count:,} in {now.document_count:,} now"
        raise InputError(
            f"{now.name} is not the text that {reference} was made from ({sizes if counts else 'other bytes'})",
            hint="only the same text tells tokenizers apart: make the report anew with the tokenizer of then, "
            "or leave this input out",
        )


def _specials(report: StoredComparison) -> str:
    return report.specials if isinstance(report.specials, str) else ", ".join(map(repr, report.specials)) or "none"
