"""Probes, overlaps and disagreements as tables and as JSON."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from rich.cells import cell_len

from bpe_cli.reports.comparison.compare import compare
from bpe_cli.reports.comparison.comparison import Probes
from bpe_cli.reports.comparison.disagreements import disagreements
from bpe_cli.reports.comparison.input_accounts import Sample
from bpe_cli.reports.comparison.overlap import overlaps
from bpe_cli.reports.comparison.probe_code import probe_code
from bpe_cli.reports.comparison.probe_data import Pair, probe_data
from bpe_cli.reports.comparison.probe_languages import probe_languages
from bpe_cli.reports.comparison.probe_numbers import probe_numbers
from bpe_cli.support.blocks import Block
from bpe_cli.views.blocks import Blocks, Heading
from bpe_cli.views.comparison.additions import additions_view
from bpe_cli.views.comparison.files import comparison_json, comparison_markdown
from bpe_cli.views.page.comparison import comparison_page
from bpe_cli.views.page.markup import rendered
from bpe_cli.views.sheets import Grid
from tests.unit.reports.comparison.tiny import tiny
from tests.unit.views.comparison.test_files import HOSTILE_NAMES, tokens_of
from tests.unit.views.golden import CONSOLES, check, render

FIRST = tiny(b"ab", b"cd", b"abcd", "и".encode(), b"12", name="first")
SECOND = tiny(b"bc", b"ef", " 谁".encode(), b"\x1b[2J", b"  ", name="evil\x1b[2J\u202e")
TEXT = "abcdef abcd ef 谁 \x1b[2J|\u202e\n".encode() * 3


def all_of(*tokenizers):
    sample = Sample()
    report = compare(tokenizers, [("evil\u202e.txt", sample.watch("evil\u202e.txt", [Block.of([TEXT])]))])
    code = {"a.py": b"if x:\n    y\n\tz\n"}
    texts = {"en": [b"ab", b"x"], "\x1bxx": ["пи".encode(), b"abcdefg"]}
    probes = Probes(
        probe_languages(tokenizers, texts, source="evil\x1b"),
        probe_code(tokenizers, code, source="here"),
        probe_data(tokenizers, [Pair("a", b'{"a": [1, 2]}', b"a: [1, 2]\n")], source="evil\x1b"),
        probe_numbers(tokenizers),
    )
    return replace(
        report,
        probes=probes,
        overlaps=tuple(overlaps(tokenizers, report.frequencies)),
        disagreements=tuple(disagreements(tokenizers, sample)),
    )


@pytest.fixture(scope="module")
def report():
    return all_of(FIRST, SECOND)


@pytest.mark.parametrize("width", [100, 80, 40])
def test_golden(report, width):
    shown = render(additions_view(report), width=width)
    check(f"compare-extras-{width}", shown)
    assert all(cell_len(line) <= width for line in shown.splitlines())


@pytest.mark.parametrize("system", ["standard", "256"])
def test_golden_in_colour(report, system):
    only = replace(report, probes=None, overlaps=())
    check(f"compare-diff-{system}", render(additions_view(only), width=80, color_system=system))


@pytest.mark.parametrize("console", ["256", "truecolor", "no-color"])
def test_golden_of_all_in_colour(report, console):
    check(f"compare-extras-{console}", render(additions_view(report), **CONSOLES[console]))


@pytest.mark.parametrize("width", [120, 80, 50])
def test_nothing_from_outside_reaches_the_terminal(report, width):
    shown = render(additions_view(report), width=width)
    assert "\x1b" not in shown
    assert "\u202e" not in shown


def test_many_tokenizers_go_below_each_other():
    report = all_of(*[FIRST] * 5, SECOND)
    for width in (80, 50):
        shown = render(additions_view(report), width=width)
        assert all(cell_len(line) <= width for line in shown.splitlines())
        assert "first (5)" in shown


def test_nothing_asked_nothing_shown():
    report = compare([FIRST], [])
    assert additions_view(report) is None
    assert not {"probes", "overlaps", "disagreements"} & comparison_json(report).keys()


def test_what_agrees_is_said():
    report = all_of(FIRST, FIRST)
    shown = render(additions_view(replace(report, probes=None)))
    assert "first (2) cuts everything as first does" in shown
    assert "nothing in first and not in first (2)" in shown


def test_a_segment_within_characters_is_shown_with_all_of_them():
    man = "👨".encode()
    text = "x👨 y\n".encode()
    sample = Sample()
    first, second = tiny(name="a"), tiny(man[:2], man[2:], name="b")
    report = compare([first, second], [("t", sample.watch("t", [Block.of([text])]))])
    report = replace(report, disagreements=tuple(disagreements([first, second], sample)))
    wide, narrow = (render(additions_view(report), width=width) for width in (100, 50))
    assert wide.count("x👨·y⏎") == 2
    assert narrow.count("as in: x👨·y⏎") == 2


def test_costs_below_each_other_have_a_unit(report):
    (each,) = report.disagreements
    wide = each.differences[0]
    costs = [replace(wide, first_tokens=1, second_tokens=2, times=times) for times in (1, 4)]
    costs += [replace(wide, first_tokens=2, second_tokens=1, times=1), replace(wide, first_tokens=1, second_tokens=1)]
    shown = render(additions_view(replace(report, disagreements=(replace(each, differences=tuple(costs)),))), width=50)
    for line in ("+1 token, 1 time", "+4 tokens in all, 4 times", "-1 token, 1 time", "0 tokens in all, 6 times"):
        assert f"\n{line}\n" in shown


def test_json_holds_what_the_tables_show(report):
    value = json.loads(json.dumps(comparison_json(report)))
    languages = value["probes"]["languages"]
    assert languages["languages"] == ["en", "\x1bxx"]
    assert [cost["token_count"] for cost in languages["results"][0]["costs"]] == [2, 3 + 4]
    assert languages["results"][0]["worst"] == ["\x1bxx"]
    assert value["probes"]["data"]["results"][0]["token_counts"]["json"] == 13
    assert value["probes"]["code"]["results"][0]["reindented"]["tabs"] == [12]
    assert value["probes"]["numbers"]["results"][0]["examples"][0] == {"text": "-1", "parts": ["-", "1"]}
    (overlap,) = value["overlaps"]
    assert overlap["shared"] == 256
    assert overlap["alone"][0]["scripts"][0] == {"script": "Latin", "count": 3, "examples": ["ab", "cd", "abcd"]}
    (found,) = value["disagreements"]
    assert found["byte_count"] == len(TEXT)
    assert found["differences"][0]["text"] == "abcd"
    assert found["differences"][0]["ends"] == [[4], [1, 3, 4]]
    assert found["differences"][0]["input"] == "evil\u202e.txt"


def test_json_of_what_is_no_text():
    sample = Sample()
    for _ in sample.watch("x", [Block.of([b"\xff\xfe\xff"])]):
        pass
    report = replace(compare([tiny()], []), disagreements=tuple(disagreements([tiny(), tiny(b"\xff\xfe", pattern=r"(?s).+")], sample)))  # fmt: skip  # noqa: E501
    (found,) = comparison_json(report)["disagreements"]
    assert found["differences"][0]["text"] == {"bytes": "fffe"}


@given(HOSTILE_NAMES, HOSTILE_NAMES)
@settings(max_examples=30, deadline=None)
def test_markdown_and_page_hold_names_as_text(report, first, second):
    """Names stand in headings, sentences and tables there, and become neither markup nor more cells."""
    text = comparison_markdown(replace(report, tokenizers=(first, second), rows=()))
    assert "<details>" not in text
    kinds = {token.type for token in tokens_of(text)}
    assert not {"link_open", "image", "em_open", "strong_open", "fence", "bullet_list_open"} & kinds
    outside = re.sub(r"(`+)[^`]*\1|<code>.*?</code>", "", text)
    assert not re.search(r"@|#\d|https?:|www\.|<", outside)
    for table in re.findall(r"(?:^\|.*\n)+", outside, re.MULTILINE):
        assert len({line.count("|") for line in table.splitlines()}) == 1
    page = "".join(comparison_page(replace(report, tokenizers=(first, second), rows=(), passages=())))
    assert page.count("<h2>") == len([part for part in additions_view(report).neutral() if isinstance(part, Heading)])
    assert "<b>" not in page


def test_a_table_on_no_console():
    grid = Grid("", ["a", "b"], [[("x", ["1", "2"])], [("y y", ["3", ""])]], first=("bytes", ["5", "6"]))
    (sheet,) = Blocks(grid).neutral()
    assert sheet.plain() == (
        ("", "bytes", "a", "b"),
        (False, True, True, True),
        [("x", "5", "1", "2"), ("y y", "6", "3", "")],
    )
    page = "".join(rendered(Blocks(grid)))
    assert page.startswith('<div class="scroll" role="region" tabindex="0" aria-label=""><table>')
    assert page.count("<tbody>") == 2
