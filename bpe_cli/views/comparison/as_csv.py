"""Give a comparison as CSV: RFC 4180, UTF-8, lines that end in CR LF.

A row per input and tokenizer, numbers as Python reads them back, nothing where there is no value. A name is written
harmlessly (``visible.harmless``), and one that begins with ``= + - @`` or an apostrophe has an apostrophe before it:
a spreadsheet would run it as a formula.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from bpe_cli.reports.comparison.choosing import differences_of
from bpe_cli.reports.comparison.metrics import METRICS
from bpe_cli.reports.comparison.stored import finite
from bpe_cli.views.visible import harmless

if TYPE_CHECKING:
    from bpe_cli.reports.comparison.comparison import Comparison

COUNTS = ("input", "tokenizer", "vocab_size", "document_count", "byte_count", "character_count")
INTERVAL = ("ratio_low", "ratio_high", "ratio_p", "ratio_p_adjusted")

_FORMULA = ("=", "+", "-", "@", "'")


def comparison_csv(report: Comparison) -> str:
    """Give a header and the rows."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow((*COUNTS, *METRICS, *INTERVAL))
    for row in report.rows:
        counts = (row.document_count, row.byte_count, row.character_count)
        for name, size, measure, difference in zip(
            report.tokenizers, report.vocab_sizes, row.measures, differences_of(row), strict=True
        ):
            values = [finite(metric.of(measure)) for metric in METRICS.values()]
            known = difference and (difference.low, difference.high, difference.p, difference.p_adjusted)
            writer.writerow((cell(row.name), cell(name), size, *counts, *values, *(known or (None,) * len(INTERVAL))))
    return out.getvalue()


def cell(name: str) -> str:
    """Write a name so that no program takes it for more than a text.

    >>> cell("en.txt"), cell("=cmd|' /C calc'!A0"), cell("'t")
    ('en.txt', "'=cmd|' /C calc'!A0", "''t")
    """
    shown = harmless(name)
    return f"'{shown}" if shown.startswith(_FORMULA) else shown
