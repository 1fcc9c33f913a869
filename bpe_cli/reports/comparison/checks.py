"""Check conditions on a comparison, for CI: ``bytes_per_token < 4``, ``any: unknown_share > 0.1%``.

The grammar, with whitespace where one likes::

    condition = [scope ":"] metric comparison number ["%"]
    metric    = the name of a metric, or its label in tables
    scope     = "any" | "total" | the name of an input
    number    = digits, with a point or an exponent; "%" where the metric is a share

Without a scope a condition is on all inputs together; ``any`` is each input, not all together. The scope ends at the
last colon, so that a name may have some; an input that is called ``any`` or ``total`` is ``./any``.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from bpe_cli.errors import InputError, UsageError
from bpe_cli.reports.comparison.changes import Change, Changes
from bpe_cli.reports.comparison.comparison import Comparison, Metric, metric_named, rows_of
from bpe_cli.reports.comparison.measures import Measure
from bpe_cli.support.messages import did_you_mean, nearest

_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
    "==": operator.eq,
    "!=": operator.ne,
}

ANY, TOTAL = "any", "total"
"""The scopes that are no names: each input (a limit's: and all together), and all together."""

NUMBER = r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,4})?"
"""A number as one may write it; no metric is negative."""

_FORM = re.compile(
    rf"\s*(?:(?P<scope>.*):)?\s*(?P<metric>[^\W\d][^:<>=!]*?)\s*(?P<comparison><=|>=|==|!=|<|>)"
    rf"\s*(?P<sign>[+-]?)(?P<number>{NUMBER})\s*(?P<percent>%?)\s*",
    re.ASCII | re.DOTALL,
)


_ROUNDING = 1e-12  # of a quotient of floats: 101 of 100 is 1% more, not more than 1%


@dataclass(frozen=True, slots=True)
class Failure:
    """A place where a check failed.

    Attributes:
        source: The input's name; None for all inputs together.
        statement: What is true of it; it holds names of metrics and numbers only.
    """

    tokenizer: str
    source: str | None
    statement: str

    def __str__(self) -> str:
        return f"{self.tokenizer}{'' if self.source is None else f' on {self.source}'}: {self.statement}"


@dataclass(frozen=True, slots=True)
class Check:
    """The result of a check."""

    option: str
    value: str
    failures: tuple[Failure, ...]


@dataclass(frozen=True, slots=True)
class Condition:
    """Compare a metric with a number.

    Attributes:
        number: What the metric is compared with; a share as a part of one.
        scope: ``any``, ``total`` or the name of an input.

    >>> condition = Condition.parse("de.txt: bytes_per_token<4")
    >>> condition.scope, condition.metric.name, condition.comparison, condition.number
    ('de.txt', 'bytes_per_token', '<', 4.0)
    """

    metric: Metric
    comparison: str
    number: float
    scope: str = TOTAL
    text: str = ""

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Read a condition (see the module's grammar).

        Raises:
            UsageError: if the text is not a condition, there is no such metric, or the number does not fit it.
        """
        match = _FORM.fullmatch(text)
        if match is None:
            raise UsageError(
                f"{text!r} is not a condition",
                hint=f"write METRIC < NUMBER, as in 'bytes_per_token < 4' or 'any: bytes_per_token < 4'; "
                f"there are {' '.join(_COMPARE)}",
            )
        metric = metric_named(match["metric"])
        if match["sign"]:
            raise UsageError(f"{text!r} is not a condition: no metric is below 0, so numbers have no sign")
        number = number_of(match["number"], bool(match["percent"]), text)
        if match["percent"] and metric.kind != "share":
            raise UsageError(f"{text!r}: {metric.name} is not a share, so its number has no %")
        if metric.kind == "share" and number > 1:
            raise UsageError(
                f"{text!r}: {metric.name} is a share, at most 1", hint=f"for per cent write {match['number']}%"
            )
        return cls(metric, match["comparison"], number, (match["scope"] or TOTAL).strip(), text)

    def __str__(self) -> str:
        number = f"{self.number * 100:.6g}%" if self.metric.kind == "share" else f"{self.number:.6g}"
        return f"{self.metric.name} {self.comparison} {number}"

    def holds(self, measure: Measure) -> bool:
        """Return whether the condition is true of a measure; it is false without a value."""
        value = self.metric.of(measure)
        return value is not None and _COMPARE[self.comparison](value, self.number)

    def check(self, report: Comparison) -> Check:
        """Find the measures for which the condition is true or cannot be decided.

        A measure without a value fails: the condition would pass on nothing at all. With ``any`` that is so of all
        inputs together only, of which nothing else is asked: a corpus may have an empty file.
        """
        return Check("--fail-if", self.text or str(self), tuple(self._failures(report)))

    def _failures(self, report: Comparison) -> Iterator[Failure]:
        for source, row in rows_of(report):
            if not in_scope(self.scope, source):
                continue
            for name, measure in zip(report.tokenizers, row.measures, strict=True):
                if self.metric.of(measure) is None:
                    if self.scope != ANY or source is None:
                        yield Failure(name, source, f"{self.metric.name} has no value{self._why_none(measure)}")
                elif self.scope == ANY and source is None and report.rows:
                    continue  # a sum of many inputs says nothing about one of them
                elif self.holds(measure):
                    yield Failure(name, source, self._statement(measure))

    def _why_none(self, measure: Measure) -> str:
        if not measure.token_count:
            return ": there are no tokens"
        if self.metric.name in ("failed_round_trips", "failed_share"):
            return ": no document was decoded again, since they are too long"
        return ""

    def _statement(self, measure: Measure) -> str:
        value = self.metric.of(measure) or 0
        percent = self.metric.kind == "share"
        shown, limit = amount(value, percent), amount(self.number, percent)
        if shown == limit and value != self.number:  # equal only as far as they are written out
            shown = f"{value * 100 if percent else value!r}{'%' if percent else ''}"
        return f"{self.metric.name} {shown} {self.comparison} {limit}"


def number_of(digits: str, percent: bool, text: str) -> float:
    """Read a number, or one in per cent, to the nearest float.

    Raises:
        UsageError: if the number is too large for a float.
    """
    number = float(Decimal(digits) / 100 if percent else Decimal(digits))
    if number == float("inf"):
        raise UsageError(f"{text!r}: the number is too large")
    return number


def amount(value: float, percent: bool) -> str:
    """Format a value for a sentence.

    >>> amount(1234567, False), amount(3.21456789, False), amount(0.00125, True)
    ('1,234,567', '3.21457', '0.125%')
    """
    if percent:
        return f"{value * 100:.6g}%"
    return f"{int(value):,}" if float(value).is_integer() and value < 1e15 else f"{value:,.6g}"


def in_scope(scope: str, source: str | None) -> bool:
    """Return whether a scope covers an input, or all inputs together (None)."""
    if scope in (ANY, TOTAL):
        return scope == ANY or source is None
    return scope == source


def check_scope(scope: str, text: str, inputs: Sequence[str]) -> None:
    """Check that a scope covers something.

    Raises:
        UsageError: if no input has that name.
    """
    if scope not in (ANY, TOTAL, *inputs):
        near = nearest(scope, [*inputs, ANY, TOTAL], cutoff=0.5)
        raise UsageError(
            f"{text!r}: there is no input {scope!r}",
            hint=did_you_mean(near, "any means each input, total all together"),
        )


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit on how much a metric may have become worse.

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
            UsageError: if the text is not of this form.
        """
        match = re.fullmatch(rf"\s*(?:(.*):)?\s*({NUMBER})\s*%\s*", text, re.ASCII | re.DOTALL)
        if match is None:
            raise UsageError(f"{text!r} is not a limit in per cent", hint="write 1%, or 'total: 1%'")
        return cls(number_of(match[2], True, text), (match[1] or ANY).strip(), text)

    def check(self, changes: Changes) -> Check:
        """Find the changes that are worse than the limit, or not certain to be within it; the worst first.

        Where neither side has a value, nothing could have become worse. Where text is lost that was not lost before,
        few tokens are no merit.

        Raises:
            InputError: if the total of all inputs is asked for, and they are not the inputs of the stored report, or if
                an input is asked for that the report lacks.
        """
        if self.scope == TOTAL and not changes.same_inputs:
            raise InputError(
                f"{changes.reference} has other inputs, so all of them together cannot be compared",
                hint="leave out 'total:' to compare those that both have, or make the report anew",
            )
        if self.scope in changes.new_inputs and all(change.source != self.scope for change in changes.changes):
            raise InputError(
                f"{self.text!r}: {changes.reference} has no input {self.scope!r}",
                hint="make the report anew, with this input",
            )
        return Check("--max-regression", self.text, tuple(self._failures(changes)))

    def _failures(self, changes: Changes) -> Iterator[Failure]:
        for change in sorted(changes.changes, key=badness):
            if not in_scope(self.scope, change.source):
                continue
            if change.incomparable:  # it may have become worse by anything
                yield Failure(change.tokenizer, change.source, sentence(change))
            elif change.worsening > self.most + _ROUNDING:
                statement = f"{sentence(change)}, more than {amount(self.most, True)}"
                yield Failure(change.tokenizer, change.source, statement)


def badness(change: Change) -> tuple[bool, float]:
    """Return a key that sorts changes: what cannot be compared, then what has become worse, then the rest in order."""
    return not change.incomparable, -max(change.worsening, 0)


def sentence(change: Change) -> str:
    """Describe a change: the values before and after, the difference, and whether that is more than noise.

    >>> from bpe_cli.reports.comparison.comparison import METRICS
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
    if change.loses_text:
        return f"{change.metric.name} {values}, cannot be compared: text is lost"
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
