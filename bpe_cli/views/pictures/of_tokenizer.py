"""Make the charts of a tokenizer's report, and of ids that were written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bpe_cli.views.comparison.values import share_text
from bpe_cli.views.labels import count, percent, whole
from bpe_cli.views.pictures.charts import Curve, Histogram, Mark, Rows
from bpe_cli.views.visible import harmless

if TYPE_CHECKING:
    from bpe_cli.reports.data import DataReport
    from bpe_cli.reports.tokenizer.health import HealthReport
    from bpe_cli.reports.tokenizer.structure import ScriptCount, Scripts
    from bpe_cli.views.pictures.charts import Chart

SCRIPT_LIMIT = 20
"""How many scripts are drawn, the most frequent first."""


def tokenizer_charts(report: HealthReport) -> Iterator[Chart]:
    """Yield the pictures that the report on a tokenizer has."""
    vocabulary, name = report.vocabulary, harmless(report.vocabulary.name or "the tokenizer")
    bins = vocabulary.even_bins
    yield Histogram(
        "lengths", f"Lengths of the ordinary tokens of {name}", "bytes per token", "tokens",
        tuple((first, last) for first, last, _ in bins), (name,), (tuple(number for _, _, number in bins),),
        notes=(count(vocabulary.ordinary_count, "token"),),
    )  # fmt: skip
    yield _scripts(report.structure.scripts, name)
    corpus = report.corpus
    if corpus is not None:
        used = f"{whole(corpus.used)} tokens of the vocabulary occur, {whole(corpus.unused)} do not"
        yield Curve(
            "use", f"Share of the corpus that the most frequent tokens of {name} make up", "most frequent tokens",
            "share of all tokens", (name,), (corpus.curve,),
            (f"{used} ({percent(corpus.unused_share)})",),
        )  # fmt: skip


def _scripts(scripts: Scripts, name: str) -> Rows:
    shown = list(scripts.counts[:SCRIPT_LIMIT])
    rest = scripts.counts[SCRIPT_LIMIT:]
    others = [each for each in (scripts.several, scripts.without, scripts.not_utf8) if each.tokens]
    rows: list[ScriptCount] = [*shown, *others]
    notes = [f"and {count(len(rest), 'script')} with fewer tokens"] if rest else []
    marks = tuple((Mark(each.tokens, f"{whole(each.tokens)} ({share_text(each.share)})"),) for each in rows)
    return Rows(
        "scripts", f"Scripts of the ordinary tokens of {name}", "tokens", "bars", "script",
        tuple(harmless(each.name) for each in rows), ("tokens",), marks, notes=tuple(notes),
    )  # fmt: skip


def data_charts(report: DataReport) -> Iterator[Chart]:
    """Yield the picture that a report on ids has."""
    name, lengths = harmless(report.name), report.lengths
    bins = () if lengths is None else lengths.histogram
    said = "" if lengths is None else f"; median {whole(lengths.median)}"
    if not report.is_marked:
        said = "; their ends are not marked, so there are no lengths"
    yield Histogram(
        "lengths", f"Lengths of the {report.unit}s of {name}", f"tokens per {report.unit}", f"{report.unit}s",
        tuple((first, last) for first, last, _ in bins), (name,),
        (tuple(number for _, _, number in bins),),
        notes=(f"{count(report.rows, report.unit)}, {count(report.tokens, 'token')}{said}",),
    )  # fmt: skip
