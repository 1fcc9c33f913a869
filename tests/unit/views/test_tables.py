import re
from dataclasses import replace

import pytest
from rich.cells import cell_len

from bpe_cli.reports.comparison.comparison import METRICS
from bpe_cli.reports.tokenizer.vocabulary_report import describe
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.support.blocks import Block
from bpe_cli.views.comparison.tables import comparison_view
from tests.unit.reports.comparison.handmade import compared
from tests.unit.reports.fake_tokenizer import FakeSpecial, FakeTokenizer
from tests.unit.reports.small_tokenizers import byte_level
from tests.unit.views.golden import check, render, vocabulary_view

BYTES = byte_level(name="single-bytes")
TINY = byte_level([b"He", b"ll", b"Hell", b"Hello", b" \n", b"\xe8\xb0"], name="tiny")
MERGED = FakeTokenizer(
    ["谁".encode(), b"Hell", b"12", b" x", b"\x1b[2J"],
    all_bytes=False,
    name="merged\x1b[2J",
    merges=[(0, 1, 2)] * 1234,
    specials=[FakeSpecial(b"<%d>" % number, 10 + 2 * number, number % 2 == 0) for number in range(30)],
)
MERGED.patterns = (PATTERNS["cl100k"].regex, r"[ab]\p{L}+")
MERGED.slow_patterns = (r"[ab]\p{L}+",)
INPUTS = [
    ("notes/hello.txt", [Block.of([b"Hello Hello\n"] * 2)]),
    ("evil\x1b[2J\u202e.txt", [Block.of(["谁Hello ".encode() * 400])]),
    ("empty", []),
]


@pytest.mark.parametrize("width", [80, 40])
def test_golden_vocabulary(width):
    check(f"vocabulary-{width}", render(vocabulary_view(describe(MERGED, fingerprint="sha256:00ff")), width=width))


@pytest.mark.parametrize("width", [100, 80, 40])
def test_golden_comparison(width):
    check(f"comparison-{width}", render(comparison_view(compared([BYTES, TINY, TINY], INPUTS)), width=width))


def test_golden_comparison_in_colour():
    check("comparison-256", render(comparison_view(compared([BYTES, TINY], INPUTS)), width=80, color_system="256"))


def test_many_tokenizers_fit_into_80_columns():
    comparison = compared([BYTES] * 12 + [TINY], INPUTS)
    shown = render(comparison_view(comparison), width=80)
    assert all(cell_len(line) <= 80 for line in shown.splitlines())
    assert shown.count("total ") >= 2
    for row in comparison.rows:
        for measure in row.measures:
            assert f"{measure.token_count:,}" in shown


def test_metrics():
    comparison = compared([BYTES, TINY], INPUTS)
    by_input = [METRICS[name] for name in ("bytes_per_token", "ratio", "characters_per_token")]
    shown = render(comparison_view(comparison, by_input=by_input))
    assert "Bytes/token by input" in shown
    assert re.search(r"hello\.txt +24 +1\.00 +0\.33", shown)
    assert re.search(r"empty +0 +– +–", shown)


def test_one_input_has_no_table_of_inputs():
    shown = render(comparison_view(compared([BYTES, TINY], INPUTS[:1])))
    assert "by input" not in shown
    assert "notes/hello.txt: 2 documents, 24 bytes, 24 characters" in shown


def test_no_input_at_all():
    assert "0 inputs: 0 documents" in render(comparison_view(compared([BYTES], [])))


def test_best_is_bold_and_named():
    shown = render(comparison_view(compared([BYTES, TINY], INPUTS[:1])), color_system="256", width=80)
    assert re.findall(r"\x1b\[1m *([\d.]+) *\x1b\[0m", shown)[:4] == ["8", "3.00", "3.00", "0.33"]
    assert "fewest tokens: tiny" in shown


def test_full_lists_all_special_tokens():
    report = describe(MERGED)
    assert "and 10 more special tokens" in render(vocabulary_view(report))
    assert "<29>" not in render(vocabulary_view(report))
    assert "<29>" in render(vocabulary_view(report, full=True))


def test_what_the_file_states_is_listed_as_it_states_it():
    facts = (("byte_fallback", True), ("input", "a\x1b[2J\n"), ("coverage", 0.5), ("long", "x" * 999), *[("n", 1)] * 99)
    report = replace(describe(TINY), facts=facts)
    shown = render(vocabulary_view(report), width=80)
    assert 'byte_fallback: true\ninput: "a␛[2J⏎\n"\ncoverage: 0.5\n' in shown
    assert "and 43 more settings" in shown
    assert "x" * 999 not in shown.replace("\n", "")
    full = render(vocabulary_view(report, full=True), width=80)
    assert "more setting" not in full
    assert "x" * 999 in full.replace("\n", "")
    assert "Settings" not in render(vocabulary_view(describe(TINY)))


def test_nothing_hostile_passes():
    for renderable in (vocabulary_view(describe(MERGED), full=True), comparison_view(compared([MERGED], []))):
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", render(renderable))


def test_empty_tokenizer():
    assert "none: text is not split" in render(vocabulary_view(describe(_bare())))


def _bare():
    tokenizer = FakeTokenizer(all_bytes=False)
    tokenizer.patterns = tokenizer.slow_patterns = ()
    return tokenizer
