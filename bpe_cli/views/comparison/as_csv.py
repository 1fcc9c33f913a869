r"""Write a comparison as CSV: RFC 4180, UTF-8, lines that end in CR LF.

A row per input and tokenizer and, last, a row of all inputs together per tokenizer, whose input is ``total``. Numbers
are written as Python reads them back, and nothing where there is no value. A name is the one that the JSON form has,
so that the two can be joined, with these exceptions: bytes that are not UTF-8 and control characters are written as
``\xff``, and one that begins with ``= + - @`` has an apostrophe before it, or a spreadsheet would run it as a formula.
"""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

from bpe_cli.reports.comparison.changes import finite
from bpe_cli.reports.comparison.comparison import METRICS, differences_of

if TYPE_CHECKING:
    from bpe_cli.reports.comparison.comparison import Comparison

COUNTS = ("input", "tokenizer", "vocab_size", "document_count", "byte_count", "character_count")
INTERVAL = ("ratio_low", "ratio_high", "ratio_p", "ratio_p_adjusted")

TOTAL = "total"
"""What the input of all together is called, as in tables and conditions."""

_FORMULA = ("=", "+", "-", "@")
_UNWRITABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\udc80-\udcff]")


def comparison_csv(report: Comparison) -> str:
    """Return a header and the rows."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow((*COUNTS, *METRICS, *INTERVAL))
    for source, row in [*((row.name, row) for row in report.rows), (TOTAL, report.total)]:
        counts = (row.document_count, row.byte_count, row.character_count)
        for name, size, measure, difference in zip(
            report.tokenizers, report.vocab_sizes, row.measures, differences_of(row), strict=True
        ):
            values = [finite(metric.of(measure)) for metric in METRICS.values()]
            known = difference and (difference.low, difference.high, difference.p, difference.p_adjusted)
            writer.writerow((cell(source), cell(name), size, *counts, *values, *(known or (None,) * len(INTERVAL))))
    return out.getvalue()


def cell(name: str) -> str:
    r"""Write a name so that no program takes it for more than a text.

    >>> cell("日本.txt"), cell("=cmd|' /C calc'!A0"), cell("\x1b[2J\udcff")
    ('日本.txt', "'=cmd|' /C calc'!A0", '\\x1b[2J\\xff')
    """
    shown = _UNWRITABLE.sub(_escaped, name)
    return f"'{shown}" if shown.startswith(_FORMULA) else shown


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code - 0xDC00 if code >= 0xDC80 else code:02x}"
