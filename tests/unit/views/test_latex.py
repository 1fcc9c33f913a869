"""Tables for papers: what is escaped, and that LaTeX's rows have as many cells as columns."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_cli
from bpe_cli.views.blocks import Sheet, Value, numbers
from bpe_cli.views.latex import escaped, table
from tests.cli_runner import call, error
from tests.counted import at_least, compared

SPECIAL = re.compile(r"(?<!\\)[&%$#_{}~^]")


@at_least(3)
@given(
    cells=st.lists(
        st.tuples(st.text(max_size=6), st.text(st.sampled_from("&\\\\{}_%$#~^<>|ab"), max_size=6)), max_size=4
    )
)
def test_no_cell_breaks_a_row(cells):
    lines = table(Sheet("a&b", *numbers("n"), rows=cells)).split("\n")
    assert (lines[0], lines[-1]) == (r"\begin{tabular}{lr}", r"\end{tabular}")
    rows = lines[4:-2]
    assert len(rows) == len(cells)
    for row in [lines[2], *rows]:
        assert row.endswith(r" \\")
        assert len(re.findall(r"(?<!\\)&", row)) == 1
    compared()


def test_what_is_special_is_escaped():
    assert escaped("50% of $5 & a_b {c} #1 ~^") == (
        r"50\% of \$5 \& a\_b \{c\} \#1 \textasciitilde{}\textasciicircum{}"
    )
    assert SPECIAL.search(escaped("a_b&c%")) is None


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("x-y, 'z' `w` – !", "x-y, 'z' `w` -- !"),
        ("models--x---y", "models{-}{-}x{-}{-}{-}y"),
        ("a–-b", "a{--}{-}b"),
        ("``a''", "{`}{`}a{'}{'}"),
        ("?`!`", "{?}{`}{!}{`}"),
        (",,a", "{,}{,}a"),
    ],
)
def test_no_ligature_makes_another_character(text, written):
    assert escaped(text) == written


def test_a_quotation_mark_needs_no_package():
    r"""LaTeX begins with the font encoding OT1, in which ``\textquotedbl`` is an error."""
    assert escaped('a"b') == r"a{\ttfamily\char34}b"


def test_no_row_begins_with_an_argument():
    first = ["[a]", "*b", " [c", "a[", Value("[d]")]
    lines = table(Sheet("[name]", *numbers("n"), rows=[(each, "1") for each in first])).split("\n")
    rows = [lines[2], *lines[4:-2]]
    assert rows == [
        r"{}[name] & n \\", r"{}[a] & 1 \\", r"{}*b & 1 \\", r"{}[c & 1 \\", r"a[ & 1 \\", r"{}[d] & 1 \\",
    ]  # fmt: skip


def test_a_comparison_as_latex(tmp_path):
    words = ("compare", "-T", "hello world, hello", "-t", "a_1=gpt2", "-t", "b=o200k_base")
    done = call(*words, "--latex")
    assert done.status == 0
    lines = done.text.splitlines()
    assert lines[0].startswith("% text: 1 document, 18 bytes")
    assert lines[1].startswith(r"\begin{tabular}{lr")
    assert lines[5].startswith(r"a\_1 & 50,257 & ")
    assert call(*words, "-o", "x.tex", cwd=tmp_path).status == 0
    assert (tmp_path / "x.tex").read_text() == done.text
    only = call(*words, "--latex", "--metric", "bytes_per_token").text
    assert only.count("&") < done.text.count("&")
    report = bpe_cli.compare(["gpt2", "o200k_base"], "hello world, hello")
    assert r"\toprule" in report.to_latex()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("-T x --latex --csv", "--latex and --csv cannot be used together"),
        ("--probe numbers --latex", "a LaTeX table is of what is measured of inputs, and there are none"),
        ("-T x -o x.tex --markdown", "-o x.tex names a .tex file, but what is written is Markdown"),
    ],
)
def test_what_is_refused(words, message, tmp_path):
    done = call("compare", *words.split(), cwd=tmp_path)
    assert (done.status, done.out, done.err.splitlines()[0]) == (2, b"", error(message).strip())
