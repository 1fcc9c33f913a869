"""Which passes count: those at the machine's full speed, if all who may be the fastest have enough of them."""

from __future__ import annotations

from benchmarks import machine, pace, results, yardstick
from tests.unit.benchmarks.rounds import cell

FAST, SLOW = 0.002, 0.003


def measured(library: str, wall: list[float], paces: list[float], **more: object) -> results.Cell:
    return cell("encode", "warm", library, wall, pace=paces, **more)


def test_the_work_takes_time():
    assert 0 < yardstick.pace() < 60


def test_processors_are_worth_something(monkeypatch):
    monkeypatch.setattr(machine, "BUSY", 0.01)
    assert 0 < machine.free_cores() <= 1.5 * machine.cores()
    assert machine.worth_of_all(times=1) > 0


def test_passes_at_full_speed_count_alone():
    ours = measured("bpe", [1.0, 1.6, 1.1, 1.7, 1.2], [FAST, SLOW, FAST, SLOW, FAST])
    theirs = measured("gigatoken", [1.3, 2.0, 2.1, 2.2, 1.4, 1.5], [FAST, SLOW, SLOW, SLOW, FAST, FAST])
    slow = measured("tiktoken", [9.0], [SLOW])
    assert pace.choose([ours, theirs, slow]) == 0.5
    assert (ours.passes, ours.seconds) == ([1.0, 1.1, 1.2], 1.1)
    assert (theirs.passes, theirs.seconds) == ([1.3, 1.4, 1.5], 1.4)
    assert slow.passes == [9.0], "who ran once is no contender"
    assert ours.wall == [1.0, 1.6, 1.1, 1.7, 1.2], "nothing is lost"
    assert results.describe(ours)["speed"] == round(10_000_000 / 1.1, 3)


def test_all_count_where_a_contender_has_too_few_at_full_speed():
    ours = measured("bpe", [1.0, 1.1, 1.2, 2.0], [FAST, FAST, FAST, SLOW])
    theirs = measured("gigatoken", [1.3, 1.4, 2.1, 2.2], [FAST, FAST, SLOW, SLOW])
    pace.choose([ours, theirs])
    assert (ours.passes, theirs.passes) == (ours.wall, theirs.wall)
    theirs.wall.append(1.5)
    theirs.cpu.append(1.5)
    theirs.pace.append(FAST)
    pace.choose([ours, theirs])
    assert (ours.passes, theirs.passes) == ([1.0, 1.1, 1.2], [1.3, 1.4, 1.5])


def test_who_cannot_be_the_fastest_decides_nothing():
    ours = measured("bpe", [1.0, 1.1, 1.2, 2.0], [FAST, FAST, FAST, SLOW])
    others = [
        measured("splintr", [2.3, 2.4], [SLOW, SLOW]),
        measured("tokie", [0.5, 0.5], [SLOW, SLOW], status="different"),
        cell("count", "warm", "tokie", [1.0, 1.0], pace=[SLOW, SLOW]),
    ]
    pace.choose([ours, *others])
    assert ours.passes == [1.0, 1.1, 1.2]
    assert [each.passes for each in others] == [each.wall for each in others]


def test_what_is_ranked_by_cpu_time_is_chosen_by_the_same_passes():
    busy = measured("fastokens", [0.5, 0.6, 0.7, 0.8], [FAST, SLOW, FAST, FAST], cpu=[1.0, 1.2, 1.4, 1.6])
    pace.choose([busy])
    assert busy.passes == [1.0, 1.4, 1.6]


def test_of_nothing_there_is_no_share():
    assert pace.choose([]) is None
    assert pace.choose([cell("train", "", "rustbpe", [], status="failed")]) is None
