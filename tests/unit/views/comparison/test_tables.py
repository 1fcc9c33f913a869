"""The tables: golden files in several widths and colours, and what holds in any."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from rich.cells import cell_len

from bpe_cli.reports.comparison.changes import StoredComparison, changes_from_baseline, changes_since
from bpe_cli.reports.comparison.comparison import Settings
from bpe_cli.views.comparison.tables import MOST_ROWS, comparison_view
from bpe_cli.views.comparison.values import MOST_CHANGES
from tests.unit.reports.comparison.handmade import ALL, USUAL, comparison, difference, hostile, row
from tests.unit.views.golden import check, render

WORDS = comparison(
    ("mine.json", "gpt2", "o200k_base"),
    rows=(
        row("corpora/languages/en.txt", [3000, 2730, 2700], word_count=[2000] * 3, unknown_tokens=[9, 0, 0],
            differences=(None, difference(0.91, 0.89, 0.93), difference(0.9, 0.89, 0.91))),
        row("corpora/languages/de.txt", [2000, 2010, 1800], word_count=[900] * 3, unknown_tokens=[0, 0, 0],
            differences=(None, difference(1.005, 0.98, 1.03, 0.6), difference(0.9, 0.85, 0.95))),
    ),
    total=row("total", [5000, 4740, 4500], documents=240, size=24_000, word_count=[2900] * 3, unknown_tokens=[9, 0, 0],
              seconds=[1e-3, 4e-4, 6e-4], used_ids=[900, 800, 700],
              differences=(None, difference(0.948, 0.93, 0.96, units=240), difference(0.9, 0.875, 0.925, units=240))),
)  # fmt: skip


def shown(report, width=100, **options):
    return render(comparison_view(report, **options), width=width)


@pytest.mark.parametrize("width", [100, 80, 60, 40, 20])
def test_golden_widths(width):
    check(f"compare-{width}", shown(WORDS, width))


@pytest.mark.parametrize("width", [100, 40])
def test_golden_all_metrics(width):
    check(f"compare-all-{width}", shown(WORDS, width, metrics=tuple(ALL.values())))


@pytest.mark.parametrize("colour", ["256", "truecolor"])
def test_golden_colours(colour):
    check(f"compare-{colour}", render(comparison_view(WORDS), width=80, color_system=colour))


@pytest.mark.parametrize("width", [100, 40])
def test_golden_hostile_names(width):
    report = hostile()
    changes = changes_from_baseline(report, [USUAL["tokens"]])
    check(f"compare-hostile-{width}", shown(report, width, changes=changes))


@pytest.mark.parametrize("width", [100, 40])
def test_golden_changes(width):
    before = comparison(rows=(replace(WORDS.rows[0], name="old.txt"), WORDS.rows[0], WORDS.rows[1]), total=WORDS.total,
                        names=("mine.json", "gone", "o200k_base"))  # fmt: skip
    stored = StoredComparison.of(before)
    stored.rows[1].values[0]["tokens"] = 2990
    changes = changes_since(StoredComparison.of(WORDS), stored, [USUAL["tokens"]], "old.json")
    check(f"compare-changes-{width}", shown(WORDS, width, changes=changes))


@pytest.mark.parametrize("width", [20, 30, 40, 55, 80, 100, 200])
@pytest.mark.parametrize("metrics", [USUAL, ALL], ids=["usual", "all"])
def test_nothing_is_wider_than_the_console_or_left_out(width, metrics):
    text = shown(WORDS, width, metrics=tuple(metrics.values()))
    assert all(cell_len(line) <= width for line in text.splitlines())
    for value in ("5,000", "4,740", "4,500", "4.80", "5.06", "5.33", "0.95", "0.90"):
        assert value in text
    assert "…" not in re.sub(r"…/?[\w./]*", "", text)  # only names of inputs are shortened


def test_best_of_each_metric_is_bold():
    text = render(comparison_view(WORDS, metrics=(ALL["tokens"], ALL["megabytes_per_second"])), color_system="256")
    summary = text.split("by input")[0]
    assert re.findall(r"\x1b\[1m *([\d.,]+) *\x1b\[0m", summary) == ["60.0", "4,500"]
    assert "best tokens: o200k_base\nbest MB/s: gpt2" in text


def test_what_the_marks_mean_is_said():
    text = shown(WORDS)
    assert "ratio: tokens per token of mine.json" in text
    assert "[low, high]: 95% interval of the ratio, paired bootstrap over 240 documents" in text
    assert "* more than chance among documents: p < 0.05 (sign-flip test, Holm over 2 comparisons)" in text
    lines = replace(WORDS, total=replace(WORDS.total, document_count=251))
    assert "paired bootstrap over 240 documents that are not empty" in shown(lines)
    batches = replace(WORDS, total=replace(
        WORDS.total, differences=(None, difference(0.9, 0.8, 1, 0.5, units=1000, each=7), None)))  # fmt: skip
    assert "over 1,000 batches of 7 documents" in shown(batches)
    assert "no ratio is more than chance among documents: p < 0.05 (sign-flip test)" in shown(batches)
    assert "(sign-flip test, Holm over 4 comparisons)" in shown(batches, by_input=(ALL["ratio"],))


def test_why_there_is_no_interval():
    single = comparison(rows=(row("a", [10, 9], documents=1),), total=row("total", [10, 9], documents=1))
    assert "1 document: no interval; --lines makes each line a document\n" in shown(single)
    lines = replace(single, settings=Settings("lines"))
    assert "1 document: no interval\n" in shown(lines)
    same = comparison(rows=(row("a", [9, 9]),), total=row("total", [9, 9]))
    assert "interval" not in shown(same)
    few = comparison(rows=(row("a", [10, 9], documents=5),), total=row("total", [10, 9], documents=5))
    assert "5 documents: too few for an interval; --lines makes each line a document\n" in shown(few)
    blank = comparison(rows=(row("a", [10, 9], documents=100),), total=row("total", [10, 9], documents=100))
    assert "100 documents: too few have tokens for an interval; --lines makes each line a document\n" in shown(blank)
    alone = comparison(("a",), rows=(row("a", [10]),), total=row("total", [10]))
    assert "interval" not in shown(alone)
    assert "ratio:" not in shown(alone)


def test_another_baseline():
    report = replace(WORDS, baseline=1, total=replace(WORDS.total, differences=()))
    assert "ratio: tokens per token of gpt2" in shown(report)
    changes = changes_from_baseline(report, [USUAL["tokens"]])
    assert changes.reference == "gpt2"
    assert {change.tokenizer for change in changes.changes} == {"mine.json", "o200k_base"}


def test_words_and_speed_are_explained():
    text = shown(WORDS, metrics=(ALL["tokens_per_word"], ALL["megabytes_per_second"]))
    assert "a word is a stretch without whitespace" in text
    assert "differs from run to run" in text
    assert "a word is" not in shown(WORDS)


def test_inputs_by_several_metrics():
    text = shown(WORDS, by_input=(ALL["ratio"], ALL["unknown_share"]))
    assert "Ratio by input" in text
    assert re.search(r"de\.txt +12,000 +1\.00 +1\.00 +0\.90\*", text)
    assert re.search(r"en\.txt +12,000 +0\.3% +0% +0%", text)


def test_no_value_and_no_input():
    empty = comparison(("a", "b"), rows=(row("x", [0, 0], size=100),), total=row("total", [0, 0], size=100))
    assert "–" in shown(empty, metrics=tuple(ALL.values()))
    assert "0 inputs: 0 documents" in shown(
        replace(WORDS, rows=(), total=row("total", [0, 0, 0], documents=0, size=100, differences=()))
    )


def test_nothing_hostile_passes():
    for width in (20, 100):
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\udc80-\udcff]", shown(hostile(), width))


# -- many rows ------------------------------------------------------------------------------------------------------


def many(number, **differences):
    """Compare on so many inputs; each of the second tokenizer's values differs from the first one's."""
    return comparison(
        rows=tuple(row(f"{each:03}.txt", [1000 + each, 2000 + each], **differences) for each in range(number)),
        total=row("total", [770_077, 880_088], **differences),
    )


def inputs_in(text):
    """Return the numbers of the inputs that are shown, in their order."""
    return [int(each) for each in re.findall(r"(\d{3})\.txt", text)]


@pytest.mark.parametrize("width", [100, 40, 20])
@pytest.mark.parametrize("number", [2, 20, 21, 57])
def test_the_first_inputs_are_shown_and_the_rest_is_counted(number, width):
    report = many(number)
    short, full = shown(report, width), shown(report, width, full=True)
    assert inputs_in(full) == [*range(number)]
    assert inputs_in(short) == [*range(min(number, MOST_ROWS))]
    assert "full" not in full
    for text in (short, full):
        assert text.count("770,077") == text.count("880,088") == 2  # in both tables
    if number <= MOST_ROWS:
        assert short == full
    else:
        more = f"and {number - MOST_ROWS} more input{'s' * (number > 21)}; --full shows all"
        assert " ".join(short.split()).count(more) == 1


def test_each_table_counts_what_it_leaves_out():
    text = shown(many(57), by_input=(ALL["tokens"], ALL["bytes_per_token"]))
    assert text.count("by input\n") == text.count("and 37 more inputs; --full shows all\n") == 2
    assert inputs_in(text) == [*range(MOST_ROWS)] * 2


def test_what_is_shown_is_the_same_in_short_and_in_full():
    """The decimals of ratios too, which the narrowest interval of any input asks for."""
    report = many(57, differences=(None, difference(2.0, 1.9, 2.1)))
    narrow = replace(report.rows[50], differences=(None, difference(2.0, 1.99995, 2.00005)))
    report = replace(report, rows=(*report.rows[:50], narrow, *report.rows[51:]))
    metrics = (ALL["tokens"], ALL["ratio"])
    short, full = (shown(report, by_input=metrics, full=each).splitlines() for each in (False, True))
    assert [line for line in short if line not in full] == ["and 37 more inputs; --full shows all"] * 2
    assert len([line for line in short if ".txt" in line]) == 2 * MOST_ROWS
    assert any("2.0000*" in line for line in short)


def test_changes_are_all_shown_if_asked_for():
    report = many(70)
    changes = changes_from_baseline(report, [USUAL["tokens"]])
    short, full = (shown(report, changes=changes, full=each).partition("Changes from")[2] for each in (False, True))
    assert len(inputs_in(short)) + short.count(" total ") == MOST_CHANGES
    assert "and 11 more changes; --full shows all" in short
    assert inputs_in(full) == [*range(70)]
    assert "more change" not in full
