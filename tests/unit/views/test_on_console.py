"""Test that tables on a console lose nothing, however narrow it is."""

from __future__ import annotations

from collections import Counter

import pytest

from bpe_cli.views.blocks import Blocks, Line, Sheet, Value, numbers
from tests.unit.views.golden import render

WIDTHS = [2, 7, 12, 20, 30, 40, 100]


def table():
    sheet = Sheet(*numbers("id"), "token", *numbers("count", "of those \nmeasured"), "mainly becomes")
    sheet.add_row("31,373", Line(("東京", "bold"), "x"), Value("1,234,567", "best", " *"), "12.5%", "dictionary")
    return sheet


def facts():
    sheet = Sheet.of_facts()
    sheet.add_row("split pattern", "gpt2")
    sheet.add_row("", "31,373")
    return sheet


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("make", [table, facts])
def test_nothing_is_left_out(make, width):
    shown, whole = (Counter("".join(render(Blocks(make()), width=each).split())) for each in (width, 1000))
    del whole["─"]
    assert not whole - shown


def test_what_does_not_fit_as_a_table_is_lines():
    assert render(Blocks(table()), width=24) == (
        "\nid: 31,373\ntoken: 東京x\ncount: 1,234,567 *\nof those measured: 12.5%\nmainly becomes: \ndictionary\n"
    )
    assert render(Blocks(facts()), width=12) == "split \npattern\ngpt2\n31,373\n"
