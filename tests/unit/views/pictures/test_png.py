"""PNG: the same twice, an error where it cannot be made, never a picture without its letters."""

from __future__ import annotations

import struct
import sys

import pytest

from bpe_cli.errors import OutputError, UsageError
from bpe_cli.views.pictures import png as module
from bpe_cli.views.pictures.choosing import chosen_png
from bpe_cli.views.pictures.png import ZOOM, png
from tests.needs import needs
from tests.unit.views.pictures.test_drawing import BARS, DOTS

SQUARE = '<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{0}"><rect width="100%" height="100%"/></svg>'


@pytest.fixture(autouse=True)
def fonts_anew():
    module._fonts.cache_clear()
    yield
    module._fonts.cache_clear()


def test_a_picture_has_its_size_and_is_the_same_twice():
    needs("resvg_py", "resvg-py")
    drawn = chosen_png([BARS, DOTS])
    assert drawn == chosen_png([BARS, DOTS])
    assert drawn != chosen_png([BARS, DOTS], "ratios")
    assert struct.unpack(">2I", png(SQUARE.format(7))[16:24]) == (7 * ZOOM, 7 * ZOOM)
    with pytest.raises(UsageError, match="no picture 'use'"):
        chosen_png([BARS, DOTS], "use")
    with pytest.raises(UsageError, match="has no pictures"):
        chosen_png([])


def test_without_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(UsageError, match="drawn by resvg, which is not installed") as refused:
        png(SQUARE.format(7))
    assert refused.value.hint == "pip install 'bpe-cli[png]'"


def test_without_fonts(monkeypatch):
    needs("resvg_py", "resvg-py")
    monkeypatch.setattr(module, "_SANS", ("No Such Font",))
    with pytest.raises(OutputError, match="none of the usual fonts"):
        chosen_png([BARS])


def test_what_cannot_be_drawn():
    needs("resvg_py", "resvg-py")
    with pytest.raises(OutputError, match="cannot be drawn as PNG"):
        png("<svg")
