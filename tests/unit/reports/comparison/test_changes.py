"""What has changed: by hand, from JSON and back."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.errors import InputError, UsageError
from bpe_cli.reports.comparison.changes import Change, StoredComparison, changes_from_baseline, changes_since
from bpe_cli.reports.comparison.checks import Limit, sentence
from bpe_cli.reports.comparison.comparison import METRICS, Settings
from tests.counted import at_least, compared
from tests.unit.reports.comparison.handmade import ALL, SIZE, UNKNOWN, comparison, difference, row

TOKENS = METRICS["tokens"]
BYTES = METRICS["bytes_per_token"]


@pytest.fixture(autouse=True)
def more_metrics(monkeypatch):
    for name, metric in ALL.items():
        monkeypatch.setitem(METRICS, name, metric)


def stored(*tokens, names=("t",), inputs=("a.txt", "b.txt"), size=100, sha256=("x", "y"), specials=(), baseline=0):
    """Store counts: per input a list with one count for each tokenizer."""
    rows = [
        row(name, list(counts), documents=1, size=size, sha256=digest)
        for name, counts, digest in zip(inputs, tokens, sha256, strict=False)
    ]
    total = row("total", [sum(each) for each in zip(*tokens, strict=True)], documents=len(rows), size=size * len(rows))
    report = comparison(names, rows=rows, total=total, settings=Settings(specials=specials))
    return StoredComparison.of(replace(report, baseline=baseline))


def failures(now, before, text, metrics=(TOKENS,)):
    return [str(each) for each in Limit.parse(text).check(changes_since(now, before, metrics, "old.json")).failures]


def test_by_hand():
    before, now = stored([100], [200]), stored([102], [190])
    assert failures(now, before, "1%") == ["t on a.txt: tokens 100 -> 102, 2% worse, more than 1%"]
    assert failures(now, before, "2%") == []  # no more than that
    assert failures(now, before, "total: 0%") == []  # 292 of 300
    assert failures(now, before, "b.txt: 0%") == []
    assert failures(before, now, "0%") == [  # the worst first
        "t on b.txt: tokens 190 -> 200, 5.26% worse, more than 0%",
        "t: tokens 292 -> 300, 2.74% worse, more than 0%",
    ]
    verdicts = [change.verdict for change in changes_since(now, before, [TOKENS], "old.json").changes]
    assert verdicts == ["worse", "better", "better"]


def test_who_begins_to_lose_text_has_not_become_better():
    kept, lost = stored([100], [200]), stored([10], [200])

    def losing(share):
        first, *others = lost.rows[0].values
        values = ({**first, "unknown_bytes": share}, *others)
        return replace(lost, rows=(replace(lost.rows[0], values=values), lost.rows[1]))

    lossy = losing(0.5)
    assert failures(lost, kept, "1%") == []
    assert failures(lossy, kept, "1%") == ["t on a.txt: tokens 100 -> 10, cannot be compared: text is lost"]
    assert failures(lossy, kept, "1%", [BYTES]) == [
        "t on a.txt: bytes_per_token 1 -> 10, cannot be compared: text is lost"
    ]
    assert failures(lossy, lossy, "1%") == failures(kept, lossy, "1000%") == []  # it lost as much before
    assert failures(losing(0.5005), lossy, "1%") == []
    assert failures(losing(0.502), lossy, "1%") != []  # it loses more than before, though it lost much
    assert [each.verdict for each in changes_since(lossy, kept, [TOKENS], "x").changes] == ["unknown", "same", "better"]
    report = comparison(total=row("total", [1000, 800], unknown_bytes=[0, 1000]), rows=(row("a", [1000, 800]),))
    (failure,) = Limit.parse("total: 50%").check(changes_from_baseline(report, [TOKENS])).failures
    assert str(failure) == "gpt2: tokens 1,000 -> 800, cannot be compared: text is lost"


def test_more_can_be_better():
    before, now = stored([100], [200]), stored([125], [200])
    assert failures(now, before, "19.9%", [BYTES]) == [
        "t on a.txt: bytes_per_token 1 -> 0.8, 20% worse, more than 19.9%"
    ]
    assert failures(now, before, "20%", [BYTES]) == []
    assert failures(before, now, "0%", [BYTES]) == []


@at_least(14)
@given(st.integers(1, 10**6) | st.integers(1, 10**3).map(lambda number: 1000 * number), st.integers(1, 999))
def test_a_limit_is_not_exceeded_by_itself(before, permille):
    """1% more than 100 is 101, however floats divide."""
    if before * permille % 1000 == 0:
        now = before + before * permille // 1000
        assert failures(stored([now], [1]), stored([before], [1]), f"{permille / 10}%") == []
        assert failures(stored([now + 1], [1]), stored([before], [1]), f"a.txt:{permille / 10}%")
        compared()


def test_from_nothing_to_something_is_worse_than_any_limit():
    def of(unknown):
        rows = (row("a", [10], unknown_tokens=[unknown], sha256="x"),)
        return StoredComparison.of(comparison(("t",), rows=rows, total=row("total", [10], unknown_tokens=[unknown])))

    assert failures(of(1), of(0), "1000%", [UNKNOWN]) == [
        "t on a: unknown_share 0% -> 10%, worse, more than 1000%",
        "t: unknown_share 0% -> 10%, worse, more than 1000%",
    ]
    assert failures(of(0), of(0), "0%", [UNKNOWN]) == []
    assert failures(of(0), of(1), "0%", [UNKNOWN]) == []


def test_names_are_matched():
    before = stored([100, 7], [200, 8], names=("t", "old"))
    now = stored([5, 101], [6, 201], names=("new", "t"))
    changes = changes_since(now, before, [TOKENS], "old.json")
    assert [(each.tokenizer, each.before, each.now) for each in changes.changes] == [
        ("t", 100, 101), ("t", 200, 201), ("t", 300, 302),
    ]  # fmt: skip
    assert (changes.new_tokenizers, changes.gone_tokenizers, changes.renamed) == (("new",), ("old",), ())


def test_the_only_ones_need_not_have_the_same_name():
    before = stored([100], names=("t-2024.json",), inputs=("old/a.txt",))
    now = stored([100], names=("t.json",), inputs=("a.txt",))
    changes = changes_since(now, before, [TOKENS], "old.json")
    assert changes.renamed == (("t-2024.json", "t.json"), ("old/a.txt", "a.txt"))
    assert [each.verdict for each in changes.changes] == ["same", "same"]


def test_inputs_that_only_one_has_are_told_and_all_together_is_not_compared():
    before, now = stored([100], [200]), stored([100], [9], inputs=("a.txt", "c.txt"))
    changes = changes_since(now, before, [TOKENS], "old.json")
    assert (changes.new_inputs, changes.gone_inputs, changes.same_inputs) == (("c.txt",), ("b.txt",), False)
    assert [each.source for each in changes.changes] == ["a.txt"]
    assert Limit.parse("1%").check(changes).failures == ()
    with pytest.raises(InputError, match=r"old\.json has other inputs"):
        Limit.parse("total: 1%").check(changes)
    with pytest.raises(InputError, match=r"'c\.txt: 1%': old\.json has no input 'c\.txt'"):
        Limit.parse("c.txt: 1%").check(changes)


def test_ratios_to_another_tokenizer_are_not_compared():
    before, ratio = stored([100, 80], [200, 90], names=("t", "u")), [METRICS["ratio"]]
    turned = stored([80, 100], [90, 200], names=("u", "t"))
    with pytest.raises(InputError, match=r"the ratios of old\.json are to t, and now they are to u"):
        changes_since(turned, before, ratio, "old.json")
    with pytest.raises(InputError, match="now they are to u"):
        changes_since(stored([100, 80], [200, 90], names=("t", "u"), baseline=1), before, ratio, "old.json")
    assert {each.verdict for each in changes_since(turned, before, [TOKENS], "old.json").changes} == {"same"}
    moved = stored([80, 100], [90, 200], names=("u", "t"), baseline=1)
    assert len(changes_since(moved, before, ratio, "old.json").changes) == 6
    renamed = stored([100], [200], names=("another",))
    assert {each.verdict for each in changes_since(renamed, stored([100], [200]), ratio, "old.json").changes} == {
        "same"
    }


def test_an_input_given_twice_is_two():
    before = stored([100], [200], inputs=("a.txt", "a.txt"))
    assert failures(stored([100], [210], inputs=("a.txt", "a.txt")), before, "a.txt: 1%") == [
        "t on a.txt: tokens 200 -> 210, 5% worse, more than 1%"
    ]


@pytest.mark.parametrize(
    ("now", "message"),
    [
        (stored([100], [200], sha256=("x", "z")), r"b.txt is not the text that old.json was made from \(other bytes\)"),
        (stored([100], [200], size=101), r"\(100 bytes in 1 document then, 101 in 1 now\)"),
        (stored([1], [1], inputs=("c", "d")), "old.json has no input that is compared now"),
        (stored([1, 1], [1, 1], names=("u", "v")), "old.json has no tokenizer that is compared now"),
        (stored([1], [1], specials="all"), "other special tokens: none, now all"),
        (stored([1], [1], specials=("<s>",)), "other special tokens: none, now '<s>'"),
    ],
)
def test_what_cannot_be_compared(now, message):
    with pytest.raises(InputError, match=message) as caught:
        changes_since(now, stored([100], [200]), [TOKENS], "old.json")
    assert caught.value.hint


def test_a_metric_that_the_report_has_not():
    before = stored([100], [200])
    for each in (*before.rows, before.total):
        del each.values[0]["ratio"]
    with pytest.raises(InputError, match=r"old\.json has no values of ratio"):
        changes_since(stored([1], [1]), before, [METRICS["ratio"]], "old.json")


def test_a_metric_without_a_better_way():
    with pytest.raises(UsageError, match="vocabulary cannot become worse"):
        changes_since(stored([1], [1]), stored([1], [1]), [SIZE], "old.json")
    with pytest.raises(UsageError, match="vocabulary cannot become worse"):
        changes_from_baseline(comparison(), [SIZE])


def test_against_the_baseline():
    report = comparison()
    changes = changes_from_baseline(report, [TOKENS, BYTES])
    assert (changes.reference, changes.stored) == ("mine.json", False)
    assert [(each.metric.name, each.source, each.verdict, each.beyond_noise) for each in changes.changes] == [
        ("tokens", "en.txt", "better", True),
        ("tokens", "de.txt", "worse", False),
        ("tokens", None, "better", True),
        ("bytes_per_token", "en.txt", "better", True),
        ("bytes_per_token", "de.txt", "worse", False),
        ("bytes_per_token", None, "better", True),
    ]
    (failure,) = Limit.parse("any: 0.49%").check(changes).failures[:1]
    assert str(failure) == (
        "gpt2 on de.txt: tokens 2,000 -> 2,010, 0.5% worse (within noise: ratio of tokens 0.980 to 1.030 in 95%, "
        "p = 0.6), more than 0.49%"
    )
    with pytest.raises(UsageError, match="nothing to compare with"):
        changes_from_baseline(comparison(("one",), rows=(row("a", [1]),), total=row("total", [1])), [TOKENS])


@pytest.mark.parametrize("text", ["", "1", "x%", "-1%", "1%%", "% 1", "1 per cent", "total 1%"])
def test_limits_that_are_none(text):
    with pytest.raises(UsageError, match="is not a limit in per cent"):
        Limit.parse(text)


def test_sentences():
    assert sentence(Change(TOKENS, "t", None, None, 5)) == "tokens no value -> 5, cannot be compared"
    assert sentence(Change(TOKENS, "t", None, 5, 5)) == "tokens 5 -> 5, the same"
    assert sentence(Change(TOKENS, "t", None, 10**6, 10**6 + 1)) == "tokens 1,000,000 -> 1,000,001, 0.0001% worse"
    text = sentence(Change(TOKENS, "t", None, 100, 98, difference(0.98, 0.97, 0.99)))
    assert "2% better (beyond noise: ratio of tokens 0.970 to 0.990 in 95%, p = 0.0004)" in text


# -- reading what was stored ---------------------------------------------------------------------------------------


def test_fields_are_named_when_they_lie():
    from bpe_cli.views.comparison.files import comparison_json

    good = json.dumps(comparison_json(comparison()))
    assert StoredComparison.parse(good.encode(), "r.json") == StoredComparison.of(comparison())
    for path, value, message in (
        ("schema", "bpe.compare/1", "has the schema 'bpe.compare/1', not 'bpe.compare/2'"),
        ("schema", "bpe.inspect.text/1", "has the schema 'bpe.inspect.text/1'"),
        ("schema", 3, "it has no schema"),
        ("tokenizers", {}, "tokenizers is not an array"),
        ("tokenizers", [], "tokenizers is empty"),
        ("tokenizers.0", 5, r"tokenizers\[0\] is not an object"),
        ("tokenizers.1.name", "mine.json", "tokenizers has a name twice"),
        ("tokenizers.1.name", None, r"tokenizers\[1\].name is not a string"),
        ("tokenizers.1.name", {"bytes": "zz"}, r"tokenizers\[1\].name has bytes that are not hexadecimal"),
        ("tokenizers.1.vocab_size", True, r"vocab_size is not a whole number"),
        ("tokenizers.1.vocab_size", 1.5, r"vocab_size is not a whole number"),
        ("tokenizers.1.vocab_size", 10**30, r"vocab_size is "),
        ("tokenizers.1.vocab_size", -1, r"vocab_size is out of range"),
        ("tokenizers.1.fingerprint", 5, r"tokenizers\[1\].fingerprint is not a string"),
        ("inputs", None, "inputs is not an array"),
        ("inputs.1.results", [], r"inputs\[1\].results has 0 entries for 2 tokenizers"),
        ("inputs.1.results.0", [], r"inputs\[1\].results\[0\] is not an object"),
        ("inputs.1.results.0.tokens", "5", r"inputs\[1\].results\[0\].tokens is not a number but '5'"),
        ("inputs.1.results.0.tokens", True, r"tokens is not a number but True"),
        ("inputs.1.results.0.tokens", -5, r"tokens is out of range"),
        ("inputs.1.results.0.tokens", 1e300, r"tokens is out of range"),
        ("inputs.1.results.0.tokens", [[[]]], r"tokens is not a number"),
        ("inputs.0.sha256", 7, r"inputs\[0\].sha256 is not a string"),
        ("inputs.0.byte_count", "9", r"inputs\[0\].byte_count is not a whole number"),
        ("total", [], "total is not an object"),
        ("settings", [], "settings is not an object"),
        ("settings.specials", "some", "settings.specials is not an array"),
        ("settings.specials", [1], r"settings.specials\[0\] is not a string"),
    ):
        report = json.loads(good)
        *steps, last = path.split(".")
        place = report
        for step in steps:
            place = place[int(step) if step.isdigit() else step]
        place[int(last) if last.isdigit() else last] = value
        with pytest.raises(InputError, match=message) as caught:
            StoredComparison.parse(json.dumps(report).encode(), "r.json")
        assert caught.value.message.startswith("r.json")
    for field in ("schema", "tokenizers", "inputs", "total", "settings"):
        report = json.loads(good)
        del report[field]
        with pytest.raises(InputError, match=f"r.json: {field} is missing|has no schema"):
            StoredComparison.parse(json.dumps(report).encode(), "r.json")


@pytest.mark.parametrize(
    "data", [b"", b"{", b"NaN", b'{"schema": NaN}', b"\xff", b"[" * 100_000, b'"\\ud800"', b"1e999999", b"[1]", b"null"]
)
def test_what_is_no_report(data):
    with pytest.raises(InputError, match=r"^r\.json is not "):
        StoredComparison.parse(data, "r.json")


@given(st.data())
def test_nothing_that_json_holds_crashes(data):
    from bpe_cli.views.comparison.files import comparison_json

    junk = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
        max_leaves=4,
    )
    report = comparison_json(comparison())
    place = report
    goes_on = True
    while goes_on:
        keys = list(place) if isinstance(place, dict) else range(len(place))
        key = data.draw(st.sampled_from(list(keys)))
        goes_on = isinstance(place[key], (dict, list)) and bool(place[key]) and data.draw(st.booleans())
        if goes_on:
            place = place[key]
    place[key] = data.draw(junk)
    try:
        before = StoredComparison.parse(json.dumps(report).encode("utf-8", "surrogatepass"), "r.json")
        found = changes_since(StoredComparison.of(comparison()), before, [TOKENS, BYTES], "r.json")
    except InputError as error:
        assert error.message  # noqa: PT017  # any message will do: what matters is that nothing else is raised
    else:
        assert {change.verdict for change in found.changes} <= {"same", "better", "worse", "unknown"}
