"""Statistics and verdicts of the benchmark, on made-up figures."""

from __future__ import annotations

import doctest
import importlib

import pytest

from benchmarks import results
from tests.unit.benchmarks.rounds import cell, some_cells, some_round

MODULES = (
    "forms",
    "libraries.calls",
    "machine",
    "page",
    "plan",
    "plots",
    "processes",
    "render",
    "results",
    "texts",
    "worker",
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    assert doctest.testmod(importlib.import_module(f"benchmarks.{name}")).failed == 0


def test_summary():
    assert results.summary([0.2, 0.1, 0.4, 0.3]) == {"median": 0.25, "min": 0.1, "max": 0.4}
    assert results.summary([]) is None


def test_speed_is_bytes_tokens_or_runs_a_second():
    assert cell("encode", "cold", "bpe", [0.1, 0.2, 0.5]).speed == pytest.approx(50e6)
    assert cell("decode", "warm", "bpe", [0.5]).speed == pytest.approx(4e6)
    assert cell("start", "", "bpe", [0.25]).speed == pytest.approx(4)
    assert cell("short", "", "bpe", [0.5], documents=1000).speed == pytest.approx(2000)
    assert cell("stream", "", "bpe", [0.5], tokens=1000).speed == pytest.approx(2000)
    assert cell("encode", "cold", "bpe", []).speed is None


def test_two_threads_where_one_was_allowed_are_counted_as_two():
    busy = cell("encode", "cold", "fastokens", [0.1])
    busy.cpu = [0.19]
    assert busy.seconds == pytest.approx(0.19)
    busy.threads = 2
    assert busy.seconds == pytest.approx(0.1)
    waiting = cell("encode", "cold", "bpe", [0.1])
    waiting.cpu = [0.02]
    assert waiting.seconds == pytest.approx(0.1), "who waits is not faster for it"


def comparison_of(cells, operation, ours="bpe", tokenizer=None):
    (found,) = (
        item for item in results.compare(cells)
        if (item["operation"], item["ours"]) == (operation, ours) and tokenizer in (None, item["tokenizer"])
    )  # fmt: skip
    return found


def test_ours_against_the_fastest_way_of_the_fastest_other():
    found = comparison_of(some_cells(), "encode")
    assert (found["best_rival"], found["ratio"]) == ("gigatoken (file)", 0.25)


def test_who_gives_something_else_is_not_ranked():
    cells = [cell("encode", "cold", "bpe", [0.2]), cell("encode", "cold", "tokenizers", [0.1], status="different")]
    assert comparison_of(cells, "encode")["ratio"] is None
    cells.append(cell("encode", "cold", "tiktoken", [0.4]))
    found = comparison_of(cells, "encode")
    assert (found["best_rival"], found["ratio"]) == ("tiktoken", 2)


def test_we_are_not_ranked_when_we_give_something_else():
    cells = [cell("encode", "cold", "bpe", [0.1], status="different"), cell("encode", "cold", "tiktoken", [0.4])]
    found = comparison_of(cells, "encode")
    assert (found["best_rival"], found["ratio"]) == ("tiktoken", None)


def test_only_the_same_measurement_is_compared():
    ours = cell("encode", "cold", "bpe", [0.1])
    for other in (
        cell("encode", "warm", "tiktoken", [0.4]),
        cell("encode", "cold", "tiktoken", [0.4], threads=2),
        cell("encode", "cold", "tiktoken", [0.4], text="code"),
        cell("encode", "cold", "tiktoken", [0.4], tokenizer="gpt2"),
    ):
        assert comparison_of([ours, other], "encode")["best_rival"] is None


def test_a_library_that_takes_fewer_documents_is_compared_by_bytes_a_second():
    cells = [cell("encode", "cold", "bpe", [0.1]), cell("encode", "cold", "tiktoken", [0.1], bytes=1_000_000)]
    assert comparison_of(cells, "encode")["ratio"] == 10


def test_counting_is_not_compared_with_encoding():
    found = comparison_of(some_cells(), "count")
    assert (found["best_rival"], found["ratio"], found["verdict"]) == (None, None, "alone")
    found = comparison_of([*some_cells(), cell("count", "cold", "rs_bpe", [0.4])], "count")
    assert (found["best_rival"], found["ratio"], found["verdict"]) == ("rs_bpe", 10, "won")


def test_separate_texts_are_not_compared_with_a_file():
    cells = [*some_cells(), cell("encode", "cold", "bpe", [0.2], way="buffers")]
    assert comparison_of(cells, "encode", "bpe (buffers)")["best_rival"] == "gigatoken (buffers)"
    assert comparison_of(cells, "encode")["best_rival"] == "gigatoken (file)"


@pytest.mark.parametrize(
    ("ours", "theirs", "verdict"),
    [
        ([1.0, 1.0], [3.0, 3.0], "won"),
        ([1.0, 1.0], [1.5, 1.5], "won"),
        ([1.0, 1.0], [1.5], "one run"),
        ([1.0], [1.5, 1.5], "one run"),
        ([1.0], [2.5], "won"),
        ([1.0, 1.0], [0.9], "lost"),
        ([1.0], [1.01], "level"),
    ],
)
def test_one_run_counts_only_when_it_is_far_behind(ours, theirs, verdict):
    found = comparison_of([cell("encode", "cold", "bpe", ours), cell("encode", "cold", "tiktoken", theirs)], "encode")
    assert (found["verdict"], found["runs"]) == (verdict, [len(ours), len(theirs)])


@pytest.mark.parametrize("status", ["different", "failed"])
def test_our_wrong_result_is_a_loss(status):
    cells = [cell("encode", "cold", "bpe", [0.1], status=status), cell("encode", "cold", "tiktoken", [0.4])]
    assert comparison_of(cells, "encode")["verdict"] == "lost"


def test_what_nobody_checked_is_not_ranked():
    cells = [cell("train", "", "bpe", [0.1], status="unchecked"), cell("train", "", "rustbpe", [0.4])]
    assert comparison_of(cells, "train")["verdict"] == "alone"


def test_who_was_stopped_counts_with_the_limit_where_nobody_was_done():
    found = comparison_of(some_cells(), "train", tokenizer="256k")
    assert (found["best_rival"], found["ratio"], found["at_least"], found["verdict"]) == ("gigatoken", 90, True, "won")
    done = cell("train", "", "rustbpe", [3.0], threads=2, tokenizer="256k")
    found = comparison_of([*some_cells(), done], "train", tokenizer="256k")
    assert (found["best_rival"], found["ratio"], found["at_least"]) == ("rustbpe", 3, False)


def test_each_way_of_ours_is_compared():
    assert comparison_of(some_cells(), "start", "bpe (command)")["ratio"] == 0.5
    assert comparison_of(some_cells(), "start", "bpe (library)")["ratio"] == 2.5


def test_a_bare_interpreter_is_nobodys_rival():
    assert comparison_of(some_cells(), "start", "bpe (library)")["best_rival"] == "tiktoken"


@pytest.mark.parametrize(
    ("found", "expected", "status"), [("a", "a", "same"), ("b", "a", "different"), ("a", None, "unchecked")]
)
def test_judge(found, expected, status):
    judged = cell("encode", "cold", "tiktoken", [0.1], status="unchecked")
    results.judge(judged, found, expected, "the ids of tiktoken")
    assert judged.status == status


def test_judge_leaves_failures_alone():
    failed = cell("encode", "cold", "tiktoken", [], status="failed", note="why")
    results.judge(failed, None, None, "")
    assert (failed.status, failed.note) == ("failed", "why")


def test_disturbed_counts_one_thread_passes_that_waited():
    waited = cell("encode", "cold", "bpe", [0.1, 0.1, 0.1, 0.15], cpu=[0.1, 0.1, 0.1, 0.1])
    parallel = cell("encode", "cold", "bpe", [1.0], cpu=[0.1], threads=2)
    short = cell("encode", "cold", "bpe", [0.0005], cpu=[0.0001])
    assert results.disturbed([waited, parallel, short]) == 0.25
    assert results.disturbed([]) == 0


def test_a_round_comes_back_as_it_was_stored(tmp_path):
    path = tmp_path / "results.json"
    results.save(some_round(), path)
    assert results.load(path) == some_round()
    assert [file.name for file in tmp_path.iterdir()] == ["results.json"]


def test_a_failed_write_leaves_the_old_round(tmp_path, monkeypatch):
    path = tmp_path / "results.json"
    path.write_text("old", encoding="utf-8")

    def full(_: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="disk full"):
        results.save(some_round(), path)
    assert path.read_text(encoding="utf-8") == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["results.json"]


@pytest.mark.parametrize("text", ["{}", "[]", '{"schema": "another/1"}', "nonsense"])
def test_what_is_no_round_is_refused(tmp_path, text):
    path = tmp_path / "results.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"not a round|Expecting"):
        results.load(path)
