"""A comparison as one call: what it holds, what it tells its listener, and that the command line says the same."""

from __future__ import annotations

import io
import json
from contextlib import contextmanager

import pytest

import bpe_cli
from bpe_cli.corpus import Source
from bpe_cli.errors import UsageError
from bpe_cli.jobs.compare import PROBES, CompareJob, CompareOptions, compare, compare_and_check
from bpe_cli.jobs.files import Streams
from bpe_cli.jobs.tokenizers import load_tokenizer
from bpe_cli.reports.comparison.checks import Condition, Limit
from bpe_cli.reports.comparison.comparison import METRICS
from bpe_cli.results import ComparisonReport
from bpe_cli.tokenizer.named_encodings import named
from bpe_cli.views.comparison.files import comparison_json
from tests.cli_runner import call

TWO = named("gpt2"), named("o200k_base")


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Two whose overlap is soon told: that of 50,000 and 200,000 tokens takes seconds."""
    folder = tmp_path_factory.mktemp("small")
    for text in ("low lower lowest naïve", "new newer newest low"):
        bpe_cli.train([text], vocab_size=266).save(folder / f"{text[:3]}.json")
    return [str(path) for path in sorted(folder.iterdir())]


class Heard:
    def __init__(self):
        self.tasks, self.notes = [], []

    @contextmanager
    def task(self, what, total, unit="B"):
        amounts = []
        yield amounts.append
        self.tasks.append((what, total, unit, sum(amounts)))

    def note(self, message):
        self.notes.append(message)


def test_inputs_are_read_once_and_heard_of(tmp_path):
    (tmp_path / "a.txt").write_text("low lower")
    (tmp_path / "b.txt").write_bytes(b"a\0b")
    heard = Heard()
    paths = tuple(str(tmp_path / name) for name in ("a.txt", "b.txt"))
    report = compare(TWO, Source(paths, plain=True), listener=heard)
    assert [(row.name, row.byte_count) for row in report.rows] == [(paths[0], 9), (paths[1], 3)]
    assert heard.tasks == [("comparing", 12, "B", 12)]
    assert [note.split(" looks ")[1] for note in heard.notes] == [
        "binary (NUL at byte 1); its bytes are taken as they are"
    ]


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ((), CompareOptions()),
        (("--diff", "--overlap"), CompareOptions(differences=10, overlap=True)),
        (("--probe", "code", "--special", "all"), CompareOptions(probes=frozenset({"code"}), specials="all")),
    ],
)
def test_the_command_line_says_the_same(words, options, small):
    names = small if options.overlap else ("gpt2", "o200k_base")
    tokenizers = [load_tokenizer(name) for name in names]
    shown = call("compare", "-t", names[0], "-t", names[1], "-", *words, "--json", input=b"low lower<|endoftext|>")
    report = compare(tokenizers, Source(("-",)), options, stdin=io.BytesIO(b"low lower<|endoftext|>"))
    assert comparison_json(report) == json.loads(shown.out)


def test_without_a_text(small):
    two = [load_tokenizer(name) for name in small]
    report = compare(two, None, CompareOptions(probes=frozenset(PROBES), overlap=True))
    assert (report.rows, report.disagreements, len(report.overlaps)) == ((), (), 1)
    assert None not in (report.probes.languages, report.probes.code, report.probes.data, report.probes.numbers)


@pytest.mark.parametrize("options", [CompareOptions(overlap=True), CompareOptions(differences=3)])
def test_one_tokenizer_differs_from_none(options):
    with pytest.raises(UsageError, match="compared with the first, but there is only one"):
        compare(TWO[:1], Source(text="a"), options)


TEXT = Source(text="low lower naïve")
TOKENS = (METRICS["tokens"],)


def job(*names, **settings):
    return CompareJob(names, TEXT, CompareOptions(), **settings)


def test_a_checked_comparison_is_the_comparison_and_its_checks():
    conditions = (Condition.parse("tokens > 3"), Condition.parse("tokens > 99"))
    done = compare_and_check(job(*TWO, conditions=conditions))
    assert comparison_json(done.comparison) == comparison_json(compare(TWO, TEXT))
    assert [measure.token_count for measure in done.comparison.total.measures] == [3, 4]
    assert [len(check.failures) for check in done.checks] == [1, 0]
    assert done.changes is None


@pytest.mark.parametrize("baseline", ["o200k_base", "gpt-4o", TWO[1]])
def test_the_baseline_is_first_by_whatever_name(baseline):
    done = compare_and_check(job("gpt2", "o200k_base", baseline=baseline, limits=(Limit.parse("1%"),), judged=TOKENS))
    assert list(done.comparison.tokenizers) == ["o200k_base", "gpt2"]
    assert [len(check.failures) for check in done.checks] == [0]
    worse = compare_and_check(job("gpt2", "o200k_base", limits=(Limit.parse("1%"),), judged=TOKENS))
    assert [bool(check.failures) for check in worse.checks] == [True]


def test_a_comparison_has_not_changed_since_itself(tmp_path):
    path = tmp_path / "report.json"
    path.write_text(ComparisonReport(compare(TWO, TEXT)).to_json())
    limits = (Limit.parse("0%"),)
    for streams, against in ((None, str(path)), (Streams(io.BytesIO(path.read_bytes())), "-")):
        done = compare_and_check(job(*TWO, limits=limits, against=against, judged=TOKENS), streams=streams)
        assert done.changes is not None
        assert [check.failures for check in done.checks] == [()]


def test_the_order_of_special_tokens_changes_no_report(tmp_path):
    """They may come in a set, and a stored report may have them in any order."""
    names = ("<|fim_suffix|>", "<|endoftext|>", "<|fim_prefix|>")
    orders = (names, names[::-1], (*names, names[0]))
    reports = [
        ComparisonReport(compare([named("cl100k_base")], TEXT, CompareOptions(specials=order))).to_json()
        for order in orders
    ]
    assert len({*reports}) == 1
    report = json.loads(reports[0])
    assert report["settings"]["specials"] == sorted(names)
    path = tmp_path / "report.json"
    for order in orders:
        path.write_text(json.dumps(report | {"settings": report["settings"] | {"specials": order}}))
        options = CompareOptions(specials=names)
        done = compare_and_check(
            CompareJob(("cl100k_base",), TEXT, options, limits=(Limit.parse("0%"),), against=str(path), judged=TOKENS)
        )
        assert [check.failures for check in done.checks] == [()]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"conditions": (Condition.parse("x.txt: tokens > 4"),)}, "there is no input 'x.txt'"),
        ({"against": "OUT", "outputs": (("-o", "OUT"),)}, "-o would replace the report of `against`"),
    ],
)
def test_what_cannot_be_checked_is_refused_before_the_work(tmp_path, monkeypatch, settings, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "OUT").write_text(ComparisonReport(compare(TWO, TEXT)).to_json())
    with pytest.raises(UsageError, match=message):
        compare_and_check(job(*TWO, **settings))


def test_one_tokenizer_named_twice_is_one():
    with pytest.raises(UsageError, match="`overlap` compares tokenizers with the first, but there is only one"):
        compare_and_check(CompareJob(("gpt2",), TEXT, CompareOptions(overlap=True), baseline="GPT2"))
