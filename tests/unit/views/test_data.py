"""Reports on ids as they are shown."""

from __future__ import annotations

from bpe_cli.reports.data import DataReport, Ends
from bpe_cli.views.data import DataView


def test_names_are_harmless():
    names = {"name": "a\x1b[2J.bin", "tokenizer": "b\x1b[2J.json"}
    report = DataReport(**names, format="bin", dtype="u32", unit="document", rows=0, tokens=0, lengths=None,
        ends=Ends(None, 0, None, 0), unknown=0, first_unknown=None, shown=())  # fmt: skip
    title = str(next(iter(DataView(report).blocks())))
    assert "\x1b" not in title
    assert title.endswith("[2J.json)")
