"""The values of a comparison, frozen, and the metrics that can be asked of it.

``METRICS`` is the one list that tables, files, conditions and the documentation read.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Literal

from bpe_cli.errors import UsageError
from bpe_cli.reports.comparison.measures import Difference, Measure
from bpe_cli.reports.distributions import use_curve
from bpe_cli.support.messages import did_you_mean, every, nearest

if TYPE_CHECKING:
    from bpe_cli.reports.comparison.cut_clusters import CutClusters
    from bpe_cli.reports.comparison.disagreements import Disagreement
    from bpe_cli.reports.comparison.overlap import Overlap
    from bpe_cli.reports.comparison.probe_code import CodeProbe
    from bpe_cli.reports.comparison.probe_data import DataProbe
    from bpe_cli.reports.comparison.probe_languages import LanguageProbe
    from bpe_cli.reports.comparison.probe_numbers import NumberProbe
    from bpe_cli.reports.comparison.probe_words import WordProbe
    from bpe_cli.reports.distributions import LengthRange, UsePoint
    from bpe_cli.reports.text.segmentation import Segmentation


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings on which the numbers of a comparison depend, besides tokenizers and texts.

    Attributes:
        documents: What a document is: a whole input, a line, or a field of a line of JSON.
        field: That field; None where a document is no such thing.
        specials: Which special tokens are looked for in the text: ``all``, or their texts.
    """

    documents: Literal["whole", "lines", "jsonl"] = "whole"
    field: str | None = None
    specials: Literal["all"] | tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """What all tokenizers make of one input, or of all together.

    Attributes:
        character_count: Characters; a byte that is not part of well-formed UTF-8 counts as one.
        best: The tokenizers with the fewest tokens, of those that do not lose text (``Measure.loses_text``); empty
            when there is nothing to tell apart.
        differences: How each stands to the baseline; None for the baseline itself, and where there is nothing to
            tell (``measures.difference`` says when). Empty if the row was not made by a comparison.
        sha256: Of the documents' bytes one after the other, as they are compared: without line ends where each line
            is a document, unpacked where a file is compressed. None where nobody took it, and for all together.
    """

    name: str
    document_count: int
    byte_count: int
    character_count: int
    measures: tuple[Measure, ...]
    best: tuple[int, ...]
    differences: tuple[Difference | None, ...] = ()
    sha256: str | None = None

    @property
    def empty_count(self) -> int:
        """Documents without a byte."""
        return self.measures[0].empty_documents if self.measures else 0

    @classmethod
    def from_measures(
        cls,
        name: str,
        measures: Sequence[Measure],
        differences: Sequence[Difference | None] = (),
        sha256: str | None = None,
    ) -> Row:
        """Put the measures of all tokenizers, at least one, together."""
        tokens = [None if measure.loses_text else measure.token_count for measure in measures]
        known = [count for count in tokens if count is not None]
        differ = len(set(known)) > 1
        best = tuple(number for number, count in enumerate(tokens) if differ and count == min(known))
        first = measures[0]
        return cls(
            name, first.document_count, first.byte_count, first.character_count,
            tuple(measures), best, tuple(differences), sha256,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Passage:
    """A short text as every tokenizer cuts it.

    Attributes:
        source: The name of the input it is from.
        document: Number of the document in that input, from 0.
    """

    source: str
    document: int
    segmentations: tuple[Segmentation, ...]


@dataclass(frozen=True, slots=True)
class Probes:
    """The results of probes, which do not depend on the inputs; None for those that were not asked for."""

    languages: LanguageProbe | None = None
    code: CodeProbe | None = None
    data: DataProbe | None = None
    numbers: NumberProbe | None = None
    words: WordProbe | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Tokenizers side by side.

    Attributes:
        tokenizers: Their names, each different.
        vocab_sizes: Their highest ids plus one.
        total: All inputs together: ratios of sums, not means of ratios.
        passages: The texts of short inputs, token by token (see ``compare.PASSAGE_BYTES``).
        probes: What languages, code, data, numbers and given words cost, where that was asked for.
        overlaps: The vocabulary of each other tokenizer against the first's, where that was asked for.
        disagreements: How each other tokenizer cuts the inputs against the first, where that was asked for.
        cut_clusters: Which split patterns cut characters that readers see, and in which inputs.
        baseline: The number of the tokenizer that the others are compared with.
        fingerprints: What tells the tokenizers' values apart (``tokenizer.fingerprint``); empty where nobody asked.
        settings: What the numbers depend on besides; None where nobody said.
        frequencies: How often each id of each tokenizer's vocabulary occurred (u64), in all inputs together; special
            ids behind it are left out. Not part of the value; empty if it was not made by a comparison.
        lengths: For each tokenizer how many documents have how many tokens (see ``length_ranges``); likewise.
    """

    tokenizers: tuple[str, ...]
    vocab_sizes: tuple[int, ...]
    rows: tuple[Row, ...]
    total: Row
    passages: tuple[Passage, ...]
    probes: Probes | None = None
    overlaps: tuple[Overlap, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    cut_clusters: tuple[CutClusters, ...] = ()
    baseline: int = 0
    fingerprints: tuple[str, ...] = ()
    settings: Settings | None = None
    frequencies: tuple[array[int], ...] = field(default=(), compare=False, repr=False)
    lengths: tuple[tuple[LengthRange, ...], ...] = field(default=(), compare=False, repr=False)

    @property
    def use(self) -> tuple[tuple[UsePoint, ...], ...]:
        """For each tokenizer, which share of all tokens its most frequent ones make up (see ``use_curve``)."""
        return tuple(map(use_curve, self.frequencies))


@dataclass(frozen=True, slots=True)
class Metric:
    """A number that a measure gives.

    Attributes:
        name: As in ``--metric``, ``--fail-if``, JSON and CSV.
        label: As in tables: the name with spaces, but for what has a usual name of its own (``bytes/token``,
            ``tokens/word``, ``MB/s``).
        better: Which way is better, if one is; "less tokens" and "more bytes per token" say the same.
        meaning: One sentence for the documentation, without a period.
        of: Its value; None where there is none.
        flattered: Whether it counts tokens or cut words, of which there are few where text is thrown away.
    """

    name: str
    label: str
    better: Literal["less", "more"] | None
    kind: Literal["count", "ratio", "share", "speed"]
    meaning: str
    of: Callable[[Measure], float | None]
    flattered: bool = False

    def doubtful(self, measure: Measure) -> bool:
        """Return whether its value must not count as good, since text was lost."""
        return self.flattered and measure.loses_text


def _metric(
    name: str,
    label: str,
    better: Literal["less", "more"] | None,
    kind: Literal["count", "ratio", "share", "speed"],
    value: str,
    *,
    meaning: str,
    flattered: bool = False,
) -> Metric:
    """Make a metric of the field or property of a measure that is its value."""
    return Metric(name, label, better, kind, meaning, attrgetter(value), flattered)


_ALL = (
    _metric("tokens", "tokens", "less", "count", "token_count", flattered=True,
            meaning="tokens"),
    _metric("bytes_per_token", "bytes/token", "more", "ratio", "bytes_per_token", flattered=True,
            meaning="bytes of text per token, a ratio of sums"),
    _metric("characters_per_token", "characters/token", "more", "ratio", "characters_per_token", flattered=True,
            meaning="characters per token, a ratio of sums"),
    _metric("ratio", "ratio", "less", "ratio", "ratio", flattered=True,
            meaning="tokens per token of the baseline (NSL: Dagan et al., arXiv:2402.01035), a ratio of sums"),
    _metric("mean_bytes_per_token", "mean bytes/token", "more", "ratio", "mean_bytes_per_token", flattered=True,
            meaning="each document's bytes per token, the mean over documents: a mean of ratios, in which a short "
            "document counts as much as a long one"),
    _metric("fertility", "tokens/word", "less", "ratio", "fertility", flattered=True,
            meaning="tokens per word, a word being a stretch without whitespace (Rust et al., arXiv:2012.15613, "
            "count words otherwise)"),
    _metric("split_words", "split words", "less", "share", "split_share", flattered=True,
            meaning="words that are split over several tokens, of all words (the proportion of continued words "
            "of Rust et al.)"),
    _metric("one_token_words", "one token words", "more", "share", "one_token_share", flattered=True,
            meaning="words that are not split over several tokens, of all words"),
    _metric("one_token_types", "one token types", "more", "share", "one_token_types_share",
            meaning="different words that alone are one token, of those in an input's first 4 MiB (STRR: Nayeem et "
            "al., arXiv:2510.09947)"),
    _metric("one_token_types_spaced", "one token types spaced", "more", "share", "one_token_types_spaced_share",
            meaning="different words that are one token with a space before them, of those in an input's first 4 MiB; "
            "it is the space that the tokenizer puts before any text, if it does (SentencePiece's dummy prefix)"),
    _metric("shannon_efficiency", "Shannon efficiency", "more", "share", "shannon_efficiency",
            meaning="entropy of the tokens' frequencies, relative to what it would be if all ids that occur were "
            "equally frequent (Zouhar et al., arXiv:2306.16842)"),
    _metric("renyi_efficiency", "Rényi efficiency", "more", "share", "renyi_efficiency",
            meaning="Rényi's entropy of order 2.5 of the tokens' frequencies, relative to what it would be if all ids "
            "that occur were equally frequent; it weighs frequent tokens more than Shannon's"),
    _metric("used_ids", "used ids", None, "count", "used_ids",
            meaning="different ids that occur"),
    _metric("vocabulary_used", "vocabulary used", None, "share", "vocabulary_used",
            meaning="different ids that occur, of all that a token has"),
    _metric("coverage_rank", "coverage rank", None, "count", "coverage_rank",
            meaning="how many of the most frequent ids together make up 95% of the tokens"),
    _metric("unknown", "unknown", "less", "share", "unknown_share",
            meaning="tokens that stand for text not in the vocabulary, of all tokens"),
    _metric("unknown_bytes", "unknown bytes", "less", "share", "unknown_bytes_share",
            meaning="bytes of text that unknown tokens stand for, or that a model without one drops, of all bytes"),
    _metric("byte_tokens", "byte tokens", "less", "share", "byte_share",
            meaning="tokens that are only a byte of a character, or a byte spelt out (<0xE4>), of all tokens"),
    _metric("byte_fallback", "byte fallback", "less", "share", "byte_fallback_share",
            meaning="bytes of text that byte tokens stand for, of all bytes"),
    _metric("failed_round_trips", "failed round trips", "less", "count", "failed_round_trips",
            meaning="documents whose tokens do not decode to them, of those that were decoded again"),
    _metric("failed_share", "failed share", "less", "share", "failed_share",
            meaning="documents whose tokens do not decode to them, of those that were decoded again and are not empty"),
    _metric("megabytes_per_second", "MB/s", "more", "speed", "megabytes_per_second",
            meaning="1,000,000 bytes of text encoded per second, if speed was measured"),
)  # fmt: skip

METRICS = {metric.name: metric for metric in _ALL}
"""All metrics by name, in the order in which they are listed."""


ALL = "all"
"""Stands for all metrics but speed, which takes more time and differs from run to run."""

USUAL = ("tokens", "bytes_per_token", "characters_per_token", "ratio")
"""The metrics that are shown unless others are asked for."""


def metric_named(name: str) -> Metric:
    """Return a metric by its name, or by its label as tables have it, in capitals or not.

    >>> metric_named("fertility").name, metric_named("tokens/word").name, metric_named("Failed round trips").name
    ('fertility', 'fertility', 'failed_round_trips')

    Raises:
        UsageError: if there is no metric of that name; the hint lists similar ones, or all.
    """
    by_label = {metric.label.casefold(): metric for metric in METRICS.values()}
    named = METRICS.get(name) or by_label.get(" ".join(name.casefold().split()))
    if named is None:
        near = nearest(name.replace(" ", "_"), METRICS)
        raise UsageError(
            f"there is no metric {name!r}",
            hint=did_you_mean(near, f"there are {', '.join(METRICS)}"),
        )
    return named


def metrics_named(names: Iterable[str]) -> tuple[Metric, ...]:
    """Return metrics in the order in which they are asked for, each once; ``all`` is all but speed.

    Raises:
        UsageError: if there is no metric of one of the names.
    """
    without_speed = [metric for metric in METRICS.values() if metric.kind != "speed"]
    chosen = every(lambda name: without_speed if name == ALL else [metric_named(name)], names)
    return tuple({metric.name: metric for metrics in chosen for metric in metrics}.values())


def best_of(row: Row, metric: Metric) -> tuple[int, ...]:
    """Return the indexes of the tokenizers with the best value; none if all values are alike.

    One that loses text is no contender in what that flatters (``Metric.flattered``).

    >>> row = Row.from_measures("a.txt", [Measure(1, 12, 12, token_count, 4) for token_count in (4, 3)])
    >>> row.best, best_of(row, METRICS["bytes_per_token"])
    ((1,), (1,))
    """
    values = [None if metric.doubtful(measure) else metric.of(measure) for measure in row.measures]
    known = [value for value in values if value is not None]
    if metric.better is None or len(known) < 2 or min(known) == max(known):
        return ()
    best = min(known) if metric.better == "less" else max(known)
    return tuple(number for number, value in enumerate(values) if value == best)


def differences_of(row: Row) -> Sequence[Difference | None]:
    """Return a difference for each tokenizer, None where the row has none."""
    return row.differences or (None,) * len(row.measures)


def interval_of(row: Row, metric: Metric, number: int) -> tuple[float, float] | None:
    """Return the 95% interval of a tokenizer's value; None where the row has none, or the metric counts no tokens.

    It is the interval of the ratio, in the metric's unit: the baseline's tokens, bytes and words stay as they are.

    >>> from bpe_cli.reports.comparison.measures import Difference
    >>> measures = [Measure(9, 800, 800, count, 200) for count in (200, 100)]
    >>> row = Row.from_measures("a", measures, (None, Difference(0.5, 0.4, 0.8, 0.01, 0.01, 9, 1)))
    >>> [interval_of(row, METRICS[name], 1) for name in ("ratio", "tokens", "bytes_per_token", "used_ids")]
    [(0.4, 0.8), (80.0, 160.0), (5.0, 10.0), None]
    """
    difference, measure = differences_of(row)[number], row.measures[number]
    if difference is None:
        return None
    if metric.name == "ratio":
        return difference.low, difference.high
    low, high = (each * measure.baseline_tokens for each in (difference.low, difference.high))
    if metric.name == "tokens":
        return low, high
    if metric.name == "fertility":
        return (low / measure.word_count, high / measure.word_count) if measure.word_count else None
    count = {"bytes_per_token": measure.byte_count, "characters_per_token": measure.character_count}.get(metric.name)
    return (count / high, count / low) if count is not None and low > 0 else None


def rows_of(report: Comparison) -> list[tuple[str | None, Row]]:
    """Return all rows, each with its input's name; None for all together, which come last."""
    return [*((row.name, row) for row in report.rows), (None, report.total)]
