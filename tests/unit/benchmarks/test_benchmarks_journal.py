"""The journal of a round: what was measured is not measured again, and nothing else is taken for it."""

from __future__ import annotations

import json

import pytest

from benchmarks.entries import Entry
from benchmarks.journal import Journal
from benchmarks.processes import TooSlow, WorkerFailed
from benchmarks.results import TOO_SLOW
from tests.unit.benchmarks.rounds import cell

HEAD = {"commit": "c", "core": "1", "options": {"texts": ("english", "code")}}


class Work:
    """What would take long: gives another answer each time, or raises."""

    def __init__(self, error: Exception | None = None) -> None:
        self.calls = 0
        self.error = error

    def __call__(self) -> dict[str, object]:
        self.calls += 1
        if self.error is not None:
            raise self.error
        passes = [{"wall": float(self.calls), "cpu": 0.5, "pace": 0.002}]
        return {"bytes": 1, "documents": 1, "tokens": 1, "digest": "d", "passes": passes, "peak": None}


def entries_of(work: Work, other: Work) -> list[Entry]:
    """Return an entry of each, and one more that measures the same as the first."""
    libraries = ("bpe", "rustbpe", "bpe")
    works = (work, other, work)
    return [
        Entry({"": cell("train", "", library, [], runs=0)}, 3, each)
        for library, each in zip(libraries, works, strict=True)
    ]


def test_what_was_measured_is_not_measured_again(tmp_path):
    path, work, other = tmp_path / "journal", Work(), Work()
    first = entries_of(work, other)
    journal = Journal(path, HEAD)
    journal.note_free(1.9)
    journal.keep(first)
    for entry in (first[0], first[0], first[1], first[2]):
        entry.run()
    assert (work.calls, other.calls) == (3, 1)

    again = entries_of(work, other)
    journal = Journal(path, HEAD)
    journal.note_free(2.0)
    journal.keep(again)
    for entry in again:
        entry.run()
        entry.run()
    assert (work.calls, other.calls) == (4, 2)
    assert journal.free == [1.9, 2.0]
    assert [entry.first.wall for entry in again] == [[1.0, 2.0], [1.0, 2.0], [3.0, 4.0]]


def test_too_slow_is_remembered_and_a_failure_is_tried_again(tmp_path):
    path, slow, failing = tmp_path / "journal", Work(TooSlow(90)), Work(WorkerFailed("no memory"))
    for _ in range(2):
        entries = entries_of(slow, failing)
        Journal(path, HEAD).keep(entries)
        for entry in entries[:2]:
            entry.run()
        assert (entries[0].first.status, entries[0].first.limit) == (TOO_SLOW, 90)
        assert (entries[1].first.status, entries[1].first.note) == ("failed", "no memory")
    assert (slow.calls, failing.calls) == (1, 2)


def test_a_line_that_was_being_written_is_measured_again(tmp_path):
    path, work, other = tmp_path / "journal", Work(), Work()
    first = entries_of(work, other)
    Journal(path, HEAD).keep(first)
    first[0].run()
    first[1].run()
    path.write_bytes(path.read_bytes()[:-5])
    again = entries_of(work, other)
    Journal(path, HEAD).keep(again)
    again[0].run()
    again[1].run()
    assert (work.calls, other.calls) == (1, 2)
    assert [len(json.loads(line)) for line in path.read_bytes().splitlines()] == [3, 4, 4]


def test_a_journal_of_another_round_is_refused(tmp_path):
    path = tmp_path / "journal"
    Journal(path, HEAD)
    with pytest.raises(WorkerFailed, match="another commit, core: remove it"):
        Journal(path, HEAD | {"commit": "d", "core": "2"})
