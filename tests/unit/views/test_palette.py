"""Colours can be told apart, and black reads on them."""

from itertools import pairwise

import pytest
from rich.style import Style

from bpe_cli.views import lines
from bpe_cli.views.lines import token_style

BASIC_COLORS, CUBE_COLORS, TRUE_COLORS = (
    tuple(map(Style.parse, each)) for each in (lines.BASIC_COLORS, lines.CUBE_COLORS, lines.TRUE_COLORS)
)


def luminance(style):
    """Relative luminance of a style's background."""
    return luminance_of_parts(style.bgcolor.get_truecolor())


def luminance_of(color):
    """Relative luminance of a colour as a style sheet writes it."""
    return luminance_of_parts(bytes.fromhex(color.removeprefix("#")))


def luminance_of_parts(parts):
    """Relative luminance as WCAG 2 defines it."""
    channels = (part / 255 for part in parts)
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in channels]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("palette", [TRUE_COLORS, CUBE_COLORS])
def test_black_reads_on_every_colour(palette):
    assert all((luminance(style) + 0.05) / 0.05 >= 7 for style in palette), "WCAG 2, level AAA"


@pytest.mark.parametrize("palette", [TRUE_COLORS, CUBE_COLORS])
def test_neighbours_differ_in_lightness(palette):
    for one, other in pairwise([*palette, palette[0]]):
        light, dark = sorted((luminance(one), luminance(other)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 1.25


@pytest.mark.parametrize("palette", [TRUE_COLORS, CUBE_COLORS, BASIC_COLORS])
def test_neighbours_differ_and_both_sides_are_given(palette):
    styles = [token_style(palette, number) for number in range(20)]
    assert all(one != other for one, other in pairwise(styles))
    assert all(style.color is not None and style.bgcolor is not None for style in styles)


def test_the_colours_of_256_are_in_the_cube():
    levels = {0, *range(95, 256, 40)}
    assert all(set(style.bgcolor.get_truecolor()) <= levels for style in CUBE_COLORS)


def test_no_colours_without_a_palette():
    assert not token_style((), 3)
    assert token_style((), 3, special=True) == "bold"
