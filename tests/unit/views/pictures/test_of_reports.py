"""The charts of reports hold what the reports do: every value, its interval, and what is left out."""

from __future__ import annotations

from dataclasses import replace

from bpe_cli.reports.comparison.comparison import METRICS, Probes
from bpe_cli.reports.comparison.probe_languages import LanguageCost, LanguageProbe, LanguageResult
from bpe_cli.reports.tokenizer.health import examine_health
from bpe_cli.tokenizer.named_encodings import named
from bpe_cli.views.pictures import COMPARISON_PICTURES
from bpe_cli.views.pictures.charts import MOST_GROUPS
from bpe_cli.views.pictures.of_comparison import comparison_charts
from bpe_cli.views.pictures.of_tokenizer import tokenizer_charts
from tests.unit.reports.comparison.handmade import comparison, difference, hostile, row


def charts_of(report, metric=None):
    return {chart.name: chart for chart in comparison_charts(report, metric)}


def test_inputs_and_ratios():
    report = comparison()
    charts = charts_of(report)
    assert list(charts) == ["inputs", "ratios"], "by hand there are neither lengths nor frequencies"
    assert charts["inputs"].groups == ("en.txt", "de.txt")
    assert [[mark.text for mark in marks] for marks in charts["inputs"].marks] == [
        ["3,000", "2,730 [2,670, 2,790]"], ["2,000", "2,010 [1,960, 2,060]"],
    ]  # fmt: skip
    assert charts["ratios"].groups == ("en.txt", "de.txt", "total")
    assert [marks[0].text for marks in charts["ratios"].marks] == [
        "0.91 [0.89, 0.93]", "1.00 [0.98, 1.03]", "0.95 [0.93, 0.96]",
    ]  # fmt: skip
    assert charts["ratios"].colors == (1,), "as the bars of the same tokenizer"
    assert charts["ratios"].notes == ("lines: 95% interval of the ratio, paired bootstrap over 240 documents",)


def test_all_together_stand_only_beside_what_compares():
    report = comparison()
    assert charts_of(report, METRICS["bytes_per_token"])["inputs"].groups == ("en.txt", "de.txt", "total")
    assert charts_of(report, METRICS["used_ids"])["inputs"].groups == ("en.txt", "de.txt")
    assert charts_of(report, METRICS["bytes_per_token"])["inputs"].title == "Bytes/token by input"


def test_another_baseline():
    report = replace(comparison(), baseline=1)
    assert charts_of(report)["ratios"].series == ("mine.json",)
    assert charts_of(report)["ratios"].line == "1: as many as gpt2"


def test_one_tokenizer_has_no_ratio():
    one = comparison(("gpt2",), rows=[row("a", [5])], total=row("total", [5]))
    assert list(charts_of(one)) == ["inputs"]
    assert charts_of(one)["inputs"].marks[0][0].text == "5"


def test_who_loses_text_has_a_mark():
    lossy = row("a", [30, 20], unknown_tokens=(0, 9), unknown_bytes=(0, 9000))
    drawn = charts_of(comparison(rows=[lossy], total=lossy))["inputs"]
    assert [mark.text for mark in drawn.marks[0]] == ["30", "20?"]
    assert any(note.startswith("? gpt2: 9,000 bytes became unknown tokens") for note in drawn.notes)


def test_a_folder_is_left_out_of_names_and_many_inputs_of_the_picture():
    rows = [row(f"texts/languages/{number}.txt", [9, 8]) for number in range(MOST_GROUPS + 7)]
    drawn = charts_of(comparison(rows=rows))["inputs"]
    assert drawn.groups[:2] == ("0.txt", "1.txt")
    assert len(drawn.groups) == MOST_GROUPS
    assert "and 7 more inputs: the tables have all" in drawn.notes


def test_names_are_harmless():
    charts = charts_of(hostile())
    assert charts
    for chart in charts.values():
        for text in (*chart.groups, *chart.series, chart.title, *chart.notes):
            assert text.isprintable()


def test_premiums():
    costs = (LanguageCost(10, 1.0, 1.0, 1.0), LanguageCost(25, 2.5, 2.4, 2.6, 3), LanguageCost(0, None, None, None))
    result = LanguageResult(costs, 0.2, (1,))
    probe = LanguageProbe("built in", ("en", "de", "ar"), 0, 40, (1, 2, 3), (result, result))
    report = replace(comparison(), probes=Probes(languages=probe))
    drawn = charts_of(report)["premiums"]
    assert [[mark.text for mark in marks] for marks in drawn.marks] == [["1.00"] * 2, ["2.50?"] * 2, ["–"] * 2]
    assert drawn.notes[0] == "the same 40 lines: built in"
    assert len(drawn.notes) == 2
    assert [*charts_of(report)] == [name for name in COMPARISON_PICTURES if name in ("inputs", "ratios", "premiums")]


def test_a_tokenizer():
    report = examine_health(named("gpt2"))
    lengths, scripts = tokenizer_charts(report)
    counts = dict(report.vocabulary.lengths)
    assert sum(lengths.counts[0]) == report.vocabulary.ordinary_count == sum(counts.values())
    for (first, last), count in zip(lengths.bins, lengths.counts[0], strict=True):
        assert count == sum(number for length, number in counts.items() if first <= length <= (last or length))
    assert [last - first for first, last in lengths.bins[:-1]] == [0] * (len(lengths.bins) - 1)
    shown = dict(zip(scripts.groups, (marks[0].value for marks in scripts.marks), strict=True))
    assert shown["Latin"] == next(each.tokens for each in report.structure.scripts.counts if each.name == "Latin")


def test_intervals_do_not_leave_their_values_out():
    measured = row("a", [100, 50], differences=(None, difference(0.5, 0.4, 0.62)))
    drawn = charts_of(comparison(rows=[measured], total=measured))["inputs"]
    mark = drawn.marks[0][1]
    assert mark.interval[0] <= mark.value <= mark.interval[1]
