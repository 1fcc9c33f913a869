"""Rasterize SVG for papers and slides, by resvg: an extra, since it has a rasterizer and a text shaper in it.

resvg (its Python package is ``resvg-py``) has no dependencies, one wheel of 1.4 MB for each system, and draws the same
pixels everywhere but for letters: those are of the fonts that are installed. Where there are none it would leave out
the text, so a letter is drawn first. Colours are the light ones. Time and memory grow with the pixels.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from bpe_cli.errors import OutputError, UsageError

ZOOM = 2
"""Pixels of the PNG for one of the picture."""

_SANS = ("DejaVu Sans", "Noto Sans", "Liberation Sans", "Arial", "Helvetica", "Segoe UI", "Ubuntu", "Cantarell")
_MONOSPACED = ("DejaVu Sans Mono", "Noto Sans Mono", "Liberation Mono", "Consolas", "Menlo", "Courier New")


def check_png() -> None:
    """Check that a PNG can be made.

    Raises:
        UsageError: if what makes it is not installed.
        OutputError: if there is no font.
    """
    _fonts()


def png(svg: str) -> bytes:
    """Return a picture as PNG.

    Raises:
        UsageError: if what makes it is not installed.
        OutputError: if there is no font, or it is too large.
    """
    fonts = _fonts()
    try:
        return bytes(_resvg().svg_to_bytes(svg_string=svg, zoom=ZOOM, background="#ffffff", **fonts))
    except ValueError as error:
        raise OutputError(f"this picture cannot be drawn as PNG: {error}", hint="write it as SVG") from error


def _resvg() -> Any:
    try:
        import resvg_py
    except ImportError as error:
        raise UsageError(
            "a PNG is drawn by resvg, which is not installed", hint="pip install 'bpe-cli[png]'"
        ) from error
    return resvg_py


@lru_cache(maxsize=1)
def _fonts() -> dict[str, str]:
    """Return the families that stand for those which this machine may not have."""
    sans = next(filter(_is_there, _SANS), None)
    if sans is None:
        raise OutputError(
            "a PNG cannot have letters: there is none of the usual fonts on this machine",
            hint="install one, such as DejaVu Sans (fonts-dejavu), or write the picture as SVG",
        )
    monospaced = next(filter(_is_there, _MONOSPACED), sans)
    return {"font_family": sans, "sans_serif_family": sans, "monospace_family": monospaced}


def _is_there(family: str) -> bool:
    """Return whether letters of a font are drawn."""
    letters = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20">'
        f'<text y="15" font-family="{family}">{text}</text></svg>'
        for text in ("", "M")
    ]  # fmt: skip
    empty, drawn = (_resvg().svg_to_bytes(svg_string=each) for each in letters)
    return bool(empty != drawn)
