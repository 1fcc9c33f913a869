"""Describe what has changed since a stored comparison, or between the baseline and the other tokenizers.

A stored comparison is what two comparisons of different days have in common: names, what identifies texts and
tokenizers, and the values of metrics. Its JSON is documented with ``views.comparison.files``; it is not read
with ``formats.read_file``, for reports may know nothing of formats, and a report's mistakes are named otherwise.

Length: the form that is stored, its reader and what compares two such forms change together.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bpe_cli.errors import InputError, UsageError
from bpe_cli.reports.comparison.comparison import METRICS, Comparison, Metric, Row, differences_of, rows_of
from bpe_cli.reports.comparison.measures import LOST_SHARE, Difference
from bpe_cli.support.core_arguments import ordered_specials
from bpe_cli.support.messages import plural

SCHEMA = "bpe.compare/2"
"""The schema that is written and read."""

_KINDS = {dict: "an object", list: "an array", str: "a string", int: "a whole number"}

_AGAIN = "make the report anew with bpe compare --json"

_LARGEST = 1 << 63


@dataclass(frozen=True, slots=True)
class StoredTokenizer:
    """A tokenizer of a stored comparison; ``fingerprint`` is None where nobody took it."""

    name: str
    vocab_size: int
    fingerprint: str | None


@dataclass(frozen=True, slots=True)
class StoredRow:
    """An input of a stored comparison, or all of them together.

    Attributes:
        sha256: Of the documents' bytes; None where nobody took it.
        values: Per tokenizer its metrics by name; None where there is no value.
    """

    name: str
    document_count: int
    byte_count: int
    sha256: str | None
    values: tuple[Mapping[str, float | None], ...]


@dataclass(frozen=True, slots=True)
class StoredComparison:
    """A comparison as it is stored.

    Attributes:
        specials: Which special tokens were looked for: ``all``, or their texts.
        baseline: The number of the tokenizer that ratios are to.
    """

    tokenizers: tuple[StoredTokenizer, ...]
    rows: tuple[StoredRow, ...]
    total: StoredRow
    specials: str | tuple[str, ...]
    baseline: int = 0

    @classmethod
    def of(cls, report: Comparison) -> StoredComparison:
        """Return what of a comparison is stored."""
        fingerprints: Sequence[str | None] = report.fingerprints or (None,) * len(report.tokenizers)
        tokenizers = zip(report.tokenizers, report.vocab_sizes, fingerprints, strict=True)
        return cls(
            tuple(StoredTokenizer(*each) for each in tokenizers),
            tuple(_row_of(row) for row in report.rows),
            _row_of(report.total),
            report.settings.specials if report.settings else (),
            report.baseline,
        )

    @classmethod
    def parse(cls, data: bytes, name: str) -> StoredComparison:
        """Read what ``bpe compare --json`` printed.

        Raises:
            InputError: if the data is not such a report; the message names the field.
        """
        from bpe_cli.support.safe_orjson import orjson

        try:
            value = orjson.loads(data)
        except orjson.JSONDecodeError as error:
            raise InputError(f"{name} is not JSON: {error}", hint="give what bpe compare --json printed") from error
        return _read_report(_Field(value, name))


def finite(value: float | None) -> float | None:
    """Return a value that JSON can hold."""
    return value if value is not None and math.isfinite(value) else None


_LOST = "unknown_bytes"
"""The metric that says which share of the text is lost."""


def _loses_more(before: float | None, now: float | None) -> bool:
    """Return whether so much more of the text is lost than before that few tokens are no merit."""
    return (now or 0) - (before or 0) > LOST_SHARE


def _row_of(row: Row) -> StoredRow:
    values = tuple({name: finite(metric.of(each)) for name, metric in METRICS.items()} for each in row.measures)
    return StoredRow(row.name, row.document_count, row.byte_count, row.sha256, values)


@dataclass(frozen=True, slots=True)
class _Field:
    """A value of a stored report and its place there; what is not as it must be is an error that names the place."""

    value: Any
    report: str
    path: str = ""

    def wrong(self, what: str) -> InputError:
        return InputError(f"{self.report}: {self.path} {what}", hint=_AGAIN)

    def of(self, kind: type) -> Any:
        if not isinstance(self.value, kind) or isinstance(self.value, bool):
            raise self.wrong(f"is not {_KINDS[kind]}")
        return self.value

    def get(self, key: str) -> _Field:
        """Return a member of an object, null where it is missing."""
        return _Field(self.of(dict).get(key), self.report, f"{self.path}.{key}" if self.path else key)

    def __getitem__(self, key: str) -> _Field:
        member = self.get(key)
        if key not in self.value:
            raise member.wrong("is missing")
        return member

    def items(self) -> list[_Field]:
        return [_Field(each, self.report, f"{self.path}[{number}]") for number, each in enumerate(self.of(list))]

    def optional(self) -> str | None:
        return None if self.value is None else self.of(str)

    def count(self) -> int:
        number: int = self.of(int)
        if not 0 <= number < _LARGEST:
            raise self.wrong("is out of range")
        return number

    def text(self) -> str:
        """Read a text, or its bytes where it is not UTF-8."""
        value = self.value
        if isinstance(value, dict) and set(value) == {"bytes"} and isinstance(value["bytes"], str):
            try:
                return bytes.fromhex(value["bytes"]).decode("utf-8", "surrogateescape")
            except ValueError:
                raise self.wrong("has bytes that are not hexadecimal") from None
        text: str = self.of(str)
        return text

    def metric(self) -> float | None:
        if self.value is None:
            return None
        if isinstance(self.value, bool) or not isinstance(self.value, (int, float)):
            raise self.wrong(f"is not a number but {self.value!r}"[:100])
        if not 0 <= self.value < _LARGEST:
            raise self.wrong("is out of range")
        return self.value


def _read_report(report: _Field) -> StoredComparison:
    schema = report.value.get("schema") if isinstance(report.value, dict) else None
    if not isinstance(schema, str):
        raise InputError(
            f"{report.report} is not a report of bpe compare: it has no schema", hint="give what --json printed"
        )
    if schema != SCHEMA:
        raise InputError(
            f"{report.report} has the schema {schema[:60]!r}, not {SCHEMA!r}",
            hint=_AGAIN if schema.startswith("bpe.compare/") else "give what bpe compare --json printed",
        )
    tokenizers = tuple(
        StoredTokenizer(each["name"].text(), each["vocab_size"].count(), each.get("fingerprint").optional())
        for each in report["tokenizers"].items()
    )
    if not tokenizers:
        raise report["tokenizers"].wrong("is empty")
    if len({each.name for each in tokenizers}) < len(tokenizers):
        raise report["tokenizers"].wrong("has a name twice")
    count = len(tokenizers)
    rows = tuple(_read_row(each, count) for each in report["inputs"].items())
    total = _read_row(report["total"], count)
    specials = report["settings"].get("specials")
    listed = "all" if specials.value == "all" else ordered_specials([each.text() for each in specials.items()])
    baseline = report["baseline"]
    if baseline.count() >= count:
        raise baseline.wrong(f"is out of range for {count:,} tokenizers")
    return StoredComparison(tokenizers, rows, total, listed, baseline.count())


def _read_row(row: _Field, tokenizers: int) -> StoredRow:
    results = row["results"].items()
    if len(results) != tokenizers:
        raise row["results"].wrong(f"has {len(results):,} entries for {tokenizers:,} tokenizers")
    return StoredRow(
        row["name"].text(),
        row["document_count"].count(),
        row["byte_count"].count(),
        row.get("sha256").optional(),
        # Metrics that this version does not know are of no use.
        tuple({name: each[name].metric() for name in METRICS if name in each.of(dict)} for each in results),
    )


SIGNIFICANT = 0.05
"""A difference with an adjusted p below this is beyond noise."""

BY_TOKENS = frozenset({"tokens", "ratio", "bytes_per_token", "characters_per_token"})
"""On the same text these say the same as the ratio of tokens, so that its interval is theirs."""


@dataclass(frozen=True, slots=True)
class Change:
    """A metric of one tokenizer on one input, then and now.

    Attributes:
        source: The input's name; None for all together.
        before: The value it is compared with; None if there was none.
        now: The value now; None if there is none.
        difference: How sure that is; None where nothing tells.
        loses_text: Whether the value now cannot count as good, since text is lost that was not lost before.
    """

    metric: Metric
    tokenizer: str
    source: str | None
    before: float | None
    now: float | None
    difference: Difference | None = None
    loses_text: bool = False

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
    def incomparable(self) -> bool:
        """Whether it may have become worse by anything: a value is missing, or text is lost."""
        return self.missing or self.loses_text

    @property
    def verdict(self) -> Literal["worse", "better", "same", "unknown"]:
        """Which way it went; unknown where a value is missing, or text is lost."""
        if self.relative is None or self.loses_text:
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
        changes: Per metric and tokenizer: the inputs, then all together if they are the same as then.
        renamed: Names then and now of tokenizers and inputs that were taken for the same, being the only ones.
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
        UsageError: if there is only one tokenizer, or neither more nor less of a metric is better.
    """
    _check_judged(metrics)
    if len(report.tokenizers) < 2:
        raise UsageError(
            "`limits` has nothing to compare with",
            hint="`against=REPORT` names a stored report, or a second tokenizer is compared with the first",
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
                metric.flattered and _loses_more(
                    row.measures[baseline].unknown_bytes_share, row.measures[number].unknown_bytes_share
                ),
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

    Raises:
        UsageError: if neither more nor less of a metric is better.
        InputError: if an input has other bytes than then, special tokens were looked for otherwise, ratios are to
            another tokenizer, there is nothing to compare, or the report has no values of a metric.
    """
    _check_judged(metrics)
    if now.specials != before.specials:
        raise InputError(
            f"{reference} was made with other special tokens: {_specials(before)}, now {_specials(now)}",
            hint="the numbers of one do not say anything about the other; give the same `specials`",
        )
    tokenizers = _pairs([each.name for each in before.tokenizers], [each.name for each in now.tokenizers])
    inputs = _pairs([each.name for each in before.rows], [each.name for each in now.rows])
    if not tokenizers.both or not inputs.both:
        what, known = ("input", before.rows) if tokenizers.both else ("tokenizer", before.tokenizers)
        raise InputError(
            f"{reference} has no {what} that is compared now",
            hint=f"it has {', '.join(each.name for each in known[:5])}",
        )
    if any(metric.name == "ratio" for metric in metrics) and (before.baseline, now.baseline) not in tokenizers.both:
        names = before.tokenizers[before.baseline].name, now.tokenizers[now.baseline].name
        raise InputError(
            f"the ratios of {reference} are to {names[0]}, and now they are to {names[1]}",
            hint="give the same baseline, or judge another metric, such as tokens",
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
        metric_changes = [
            Change(
                metric, now.tokenizers[this].name, source,
                old.values[then].get(metric.name), new.values[this].get(metric.name),
                loses_text=metric.flattered
                and _loses_more(old.values[then].get(_LOST), new.values[this].get(_LOST)),
            )
            for then, this in tokenizers.both
            for source, old, new in rows
        ]  # fmt: skip
        if all(each.before is None for each in metric_changes) and any(each.now is not None for each in metric_changes):
            raise InputError(f"{reference} has no values of {metric.name}", hint="make it anew, with the same options")
        changes += metric_changes
    return Changes(
        reference,
        True,
        tuple(changes),
        (*tokenizers.renamed, *inputs.renamed),
        new_tokenizers=tokenizers.new,
        gone_tokenizers=tokenizers.gone,
        new_inputs=inputs.new,
        gone_inputs=inputs.gone,
    )


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Numbers of what both have, those with names then and now that differ, and names that only one has."""

    both: tuple[tuple[int, int], ...]
    renamed: tuple[tuple[str, str], ...]
    new: tuple[str, ...]
    gone: tuple[str, ...]


def _pairs(before: Sequence[str], now: Sequence[str]) -> _Pairs:
    """Match names: of several that are the same the first with the first, and the only one with the only one.

    >>> _pairs(["a", "b"], ["b", "c"])
    _Pairs(both=((1, 0),), renamed=(), new=('c',), gone=('a',))
    >>> _pairs(["a"], ["b"])
    _Pairs(both=((0, 0),), renamed=(('a', 'b'),), new=(), gone=())
    """
    places = {key: number for number, key in enumerate(_numbered(before))}
    both = [(places[key], number) for number, key in enumerate(_numbered(now)) if key in places]
    if len(before) == len(now) == 1:
        both = [(0, 0)]
    then, this = {old for old, _ in both}, {new for _, new in both}
    return _Pairs(
        tuple(both),
        tuple((before[old], now[new]) for old, new in both if before[old] != now[new]),
        tuple(name for number, name in enumerate(now) if number not in this),
        tuple(name for number, name in enumerate(before) if number not in then),
    )


def _numbered(names: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Distinguish inputs of the same name by how often it came before."""
    occurrences = Counter[str]()
    for name in names:
        yield name, occurrences[name]
        occurrences[name] += 1


def _check_judged(metrics: Sequence[Metric]) -> None:
    for metric in metrics:
        if metric.better is None:
            raise UsageError(f"{metric.name} cannot become worse: neither more nor less of it is better")


def _check_same_text(before: StoredRow, now: StoredRow, reference: str) -> None:
    counts = (before.document_count, before.byte_count) != (now.document_count, now.byte_count)
    digests = before.sha256 is not None and now.sha256 is not None and before.sha256 != now.sha256
    if counts or digests:
        sizes = f"{plural(before.byte_count, 'byte')} in {plural(before.document_count, 'document')} then, "
        sizes += f"{now.byte_count:,} in {now.document_count:,} now"
        raise InputError(
            f"{now.name} is not the text that {reference} was made from ({sizes if counts else 'other bytes'})",
            hint="only the same text tells tokenizers apart: make the report anew with the old tokenizer, "
            "or leave this input out",
        )


def _specials(report: StoredComparison) -> str:
    return report.specials if isinstance(report.specials, str) else ", ".join(map(repr, report.specials)) or "none"
