"""The proof that fuzzes, without a fuzzer: what it asks for, what it reads, and what it takes for a finding."""

from __future__ import annotations

import json
import sys
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.needs import NO_FUZZER, Skipped
from tests.proof import __main__ as runner
from tests.proof import merge, render, results
from tests.proof.attempts import ROOT, Proof
from tests.proof.fuzzing import libfuzzer, reached, sides, small_core
from tests.proof.fuzzing.libfuzzer import Said
from tests.proof.kinds import fuzzing
from tests.proof.registry import PROOFS
from tests.proof.running import run

QUIET = """\
INFO: Running with entropic power schedule (0xFF, 100).
INFO: Seed: 1
INFO: Loaded 1 modules   (24611 inline 8-bit counters): 24611 [0x5, 0x6),
INFO:       17 files found in corpus
#18\tINITED cov: 540 ft: 1811 corp: 17/299b exec/s: 0 rss: 47Mb
#2048\tNEW    cov: 1702 ft: 5120 corp: 93/1820b lim: 21 exec/s: 1024 rss: 51Mb L: 9/21 MS: 1 EraseBytes-
#30000\tREDUCE cov: 1688 ft: 5121 corp: 93/1819b lim: 21 exec/s: 1024 rss: 51Mb L: 8/21 MS: 1 EraseBytes-
Done 30211 runs in 3 second(s)
stat::number_of_executed_units: 30211
stat::average_exec_per_sec:     10070
"""

PANIC = """\
#18\tINITED cov: 540 ft: 1811 corp: 17/299b exec/s: 0 rss: 47Mb

thread '<unnamed>' (77) panicked at targets/round_trip.rs:37:9:
assertion `left == right` failed
  left: [1]
==77== ERROR: libFuzzer: deadly signal
artifact_prefix='{prefix}'; Test unit written to {prefix}crash-0123
stat::number_of_executed_units: 44
"""

LIKE_LIBFUZZER = """\
import os, sys
given = dict(word[1:].split("=") for word in sys.argv[1:] if word.startswith("-"))
folder = sys.argv[-1]
assert given["seed"] != "0" and given["print_final_stats"] == "1", given
open(os.path.join(folder, "kept"), "w").write("new")
if os.path.exists(os.path.join(folder, "bad")):
    path = given["artifact_prefix"] + "crash-5"
    open(path, "w").write("bad")
    print(" === Uncaught Python exception: ===\\nFound: the law is broken\\nTraceback:")
    print("Test unit written to " + path)
    sys.exit(77)
print("#1\\tDONE cov: 3 ft: 4 corp: 1/1b\\nstat::number_of_executed_units: 12")
"""


@contextmanager
def desk(made):
    yield made


def proof(made: fuzzing.Desk) -> Proof:
    """Return the proof, which searches nothing but what it is given."""
    return Proof("Fuzzing", "", lambda _: desk(made), fuzzing.attempt, fuzzing.PROOF.notes, over_life=True)


@pytest.fixture
def side(tmp_path, monkeypatch):
    """Return what makes a side whose targets keep their inputs in folders of the test."""
    monkeypatch.setattr(fuzzing, "FOUND", tmp_path / "found")

    def prepare(name):
        corpus = tmp_path / name
        corpus.mkdir(exist_ok=True)
        return sides.Search(["search", name], [corpus], 100, f"search {name} FILE")

    return lambda name, *targets: sides.Side(name, targets, prepare)


# -- what libFuzzer says ---------------------------------------------------------------------------


def test_its_last_figures_are_read():
    assert libfuzzer.said(QUIET) == Said(30211, 1702, 24611, None)
    assert libfuzzer.said("") == Said(0, 0, 0, None)
    assert libfuzzer.said(PANIC.format(prefix="/a b/core-x-")).written == Path("/a b/core-x-crash-0123")


@pytest.mark.parametrize(
    ("output", "line"),
    [
        (PANIC, "thread '<unnamed>' (77) panicked at targets/round_trip.rs:37:9: assertion `left == right` failed"),
        (" === Uncaught Python exception: ===\nKeyError: 'x'\nTraceback", "KeyError: 'x'"),
        ("==7==ERROR: AddressSanitizer: heap-buffer-overflow on address\n#0", "ERROR: AddressSanitizer: heap-buffer-"),
        ("==7== ERROR: libFuzzer: out-of-memory (used: 2049Mb)", "ERROR: libFuzzer: out-of-memory (used: 2049Mb)"),
        ("no module\n", "no module"),
        ("", "it said nothing"),
    ],
)
def test_what_it_found_is_one_line(output, line):
    assert fuzzing.about(output).startswith(line)
    assert len(fuzzing.about(output + "x" * 1000)) <= fuzzing.ABOUT


def test_a_process_is_measured():
    done = libfuzzer.ended([sys.executable, "-c", "print(sum(range(10**6))); raise SystemExit(3)"])
    assert (done.status, done.output) == (3, "499999500000\n")
    assert 0 < done.cpu < 600


def test_nothing_is_left_of_a_process_that_ends_at_once():
    script = """
import os
from tests.proof.fuzzing.targets import folder
(folder() / "left").write_text("x")
print(folder(), flush=True)
os._exit(0)
"""
    done = libfuzzer.ended([sys.executable, "-c", script])
    place = Path(done.output.strip())
    assert place.name.startswith("fuzz-")
    assert place.parent.is_dir()
    assert not place.exists()


# -- a search --------------------------------------------------------------------------------------


def test_targets_take_turns_and_what_they_tried_is_counted(side):
    commands = []

    def search(command):
        commands.append(command)
        return libfuzzer.Ended(0, QUIET, 7.6)

    made = fuzzing.Desk([side("core", "a", "b"), side("Python parsers", "x", "y", "z")], search=search)
    done = run(proof(made), 5, most=6)
    assert done.finding is None
    assert [command[1] for command in commands] == ["a", "x", "b", "y", "a", "z"]
    assert done.counts == Counter({
        "searches": 6, "CPU seconds: core": 24, "CPU seconds: Python parsers": 24, "inputs tried": 6 * 30211,
        "inputs of core: a": 2 * 30211, "inputs of core: b": 30211,
        **{f"inputs of Python parsers: {name}": 30211 for name in "xyz"},
    })  # fmt: skip
    assert done.notes["edges reached by core: a"] == (1702, "of 24,611, with 0 inputs kept")
    assert f"-max_total_time={fuzzing.SECONDS}" in commands[0]
    assert len({word for command in commands for word in command if word.startswith("-seed=")}) == 6
    assert run(proof(made), 5, first=2, most=1).counts["CPU seconds: core"] == 0
    assert commands[-1] == commands[1]


def test_an_input_that_breaks_a_law_is_found_with_what_was_said(side, tmp_path):
    (tmp_path / "fake.py").write_text(LIKE_LIBFUZZER)

    def prepare(name):
        corpus = tmp_path / name
        corpus.mkdir(exist_ok=True)
        return sides.Search([sys.executable, str(tmp_path / "fake.py")], [corpus], 100, f"again {name} FILE")

    made = fuzzing.Desk([sides.Side("Python parsers", ("x",), prepare)])
    done = run(proof(made), 0, most=1)
    assert (done.finding, done.counts["inputs tried"], done.notes["edges reached by Python parsers: x"]) == (
        None, 12, (3, "with 1 inputs kept"),
    )  # fmt: skip
    (tmp_path / "x" / "bad").write_text("")
    done = run(proof(made), 0)
    assert done.finding == "Python parsers: x: Found: the law is broken; the input alone: again x FILE"
    assert done.files["input"] == b"bad"
    assert b"Uncaught Python exception" in done.files["report.txt"]
    assert (tmp_path / "found" / "python-x-crash-5").read_text() == "bad"


def test_a_search_that_ends_early_without_an_input_is_found(side):
    made = fuzzing.Desk([side("core", "a")], search=lambda _: libfuzzer.Ended(-9, "#1\tINITED cov: 3\nno more", 1.0))
    done = run(proof(made), 0)
    assert done.finding == "core: a: the search ended with status -9: no more"
    assert done.files.keys() == {"report.txt"}


@pytest.mark.parametrize(("alone", "finding"), [(25.0, "core: a: an input takes 23 seconds"), (21.5, None)])
def test_what_takes_long_is_judged_by_what_it_takes_of_a_processor(alone, finding, side, tmp_path):
    written = tmp_path / "found" / "core-a-timeout-1"

    def search(command):
        if command[-1] == str(written):
            assert "-timeout=1200" in command
            return libfuzzer.Ended(0, "", alone)
        if "-timeout=1200" in command:
            assert Path(command[-1]).read_bytes() == bytes(8)
            return libfuzzer.Ended(0, "", 2.0)
        written.write_text("slow")
        return libfuzzer.Ended(70, QUIET + f"ERROR: libFuzzer: timeout\nTest unit written to {written}\n", 100.0)

    done = run(proof(fuzzing.Desk([side("core", "a")], search=search)), 0, most=1)
    assert (done.finding or "").startswith(finding or "")
    assert written.exists() == (done.finding is not None) == (finding is not None)
    assert done.counts["runs that took long by the clock, and little of the processor"] == (finding is None)


# -- what is there ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("programs", "modules", "names"),
    [
        ({"cargo", "cargo-fuzz"}, {"atheris"}, ["core", "Python parsers"]),
        ({"cargo", "cargo-fuzz"}, set(), ["core"]),
        ({"cargo"}, {"atheris"}, ["Python parsers"]),
        ({"cargo"}, set(), []),
    ],
)
def test_a_side_without_a_fuzzer_is_left_out(programs, modules, names, monkeypatch):
    monkeypatch.setattr(sides.shutil, "which", lambda name: name if name in programs else None)
    monkeypatch.setattr(sides.importlib.util, "find_spec", lambda name: name if name in modules else None)
    assert [each.name for each in sides.sides()] == names
    if names:
        with fuzzing.begin(Path()) as made:
            assert [each.name for each in made.sides] == names
    else:
        with pytest.raises(Skipped, match=NO_FUZZER):
            run(PROOFS["fuzzing"], 0)


def test_all_targets_are_searched(monkeypatch):
    monkeypatch.setattr(sides.shutil, "which", lambda name: name)
    monkeypatch.setattr(sides.importlib.util, "find_spec", lambda name: name)
    core, python = sides.sides()
    assert {f'name = "{name}"' for name in core.targets} <= {*(ROOT / "core/fuzz/Cargo.toml").read_text().split("\n")}
    assert list(core.targets) == sides.targets_of_core()
    assert set(python.targets) == sides.TARGETS.keys()


def test_a_search_of_python_begins_with_seeds_and_what_is_kept(tmp_path):
    search = sides.of_python("npy", tmp_path)
    there = {path.read_bytes() for path in search.corpora[0].iterdir()}
    assert there == {*sides.seeds_of("npy"), *sides.corpus_of("npy")}
    assert search.longest > max(map(len, there))
    assert search.again == "python -m tests.proof.fuzzing.search npy FILE"


def test_a_small_corpus_is_what_libfuzzer_merges_without_the_seeds(tmp_path):
    for name, inputs in (("corpus", (b"new", b"a", b"a" * 50)), ("seeds", (b"seed",))):
        sides.lay(inputs, tmp_path / name)
    search = sides.Search(["target"], [tmp_path / "corpus", tmp_path / "seeds"], 100, "")

    def merge_all_but_the_long(command):
        assert command[:2] == ["target", "-merge=1"]
        into, *places = map(Path, command[-3:])
        assert places == [tmp_path / "seeds", tmp_path / "corpus"]
        sides.lay({data for place in places for data in small_core.contents(place) if len(data) < 9}, into)
        return libfuzzer.Ended(0, "", 1.0)

    assert small_core.smallest(search, merge_all_but_the_long) == [b"a", b"new"]
    with pytest.raises(OSError, match="ended with status 1: no"):
        small_core.smallest(search, lambda _: libfuzzer.Ended(1, "no", 1.0))


def test_small_corpora_of_the_core_are_of_its_targets():
    files = {path.stem: sides.inputs_in(path) for path in sides.KEPT_OF_CORE.glob("*.txt")}
    assert files.keys() == set(sides.targets_of_core())
    for name, kept in files.items():
        assert 0 < len(kept) == len(set(kept)), name
        assert max(map(len, kept)) <= sides.LONGEST_OF_CORE, name


# -- over the life of the project ------------------------------------------------------------------


def a_round(first, attempts, *, seed=1, cpu=100, **more):
    """Return a round as results.json holds it."""
    return {
        "machine": {"cpu": "A", "cores": 2, "system": "Linux"}, "core": "c", "seed": seed, "first": first,
        "attempts": attempts, "seconds": 0.5, "counts": {"CPU seconds: core": cpu},
        "notes": {"edges": [first, "of 9"]}, "findings": [], **more,
    }  # fmt: skip


def after(*given):
    """Return the part of rounds, each a program and a round."""
    found = results.empty()
    for program, each in given:
        found = results.with_round(found, "fuzzing", program, each, over_life=True)
    return found["proofs"]["fuzzing"]


def test_rounds_of_older_programs_stay_with_their_programs():
    part = after(("a", a_round(1, 7)), ("b", a_round(1, 7)), ("b+", a_round(1, 7)), (None, a_round(8, 7)))
    assert part["program"] is None
    assert [each["program"] for each in part["rounds"]] == ["a", "b", "b+", None]
    assert results.totals(part) == {"CPU seconds: core": 400}


def test_rounds_without_a_program_are_of_that_of_their_part():
    old = {"schema": results.SCHEMA, "proofs": {"fuzzing": {"program": "a", "rounds": [a_round(1, 7)]}}}
    part = results.with_round(old, "fuzzing", "b", a_round(1, 7), over_life=True)["proofs"]["fuzzing"]
    assert [each["program"] for each in part["rounds"]] == ["a", "b"]
    again = results.with_round(old, "fuzzing", "b", a_round(1, 7))["proofs"]["fuzzing"]
    assert again == {"program": "b", "rounds": [a_round(1, 7)]}


def test_rounds_that_follow_each_other_become_one():
    found = {"attempt": 9, "what": "x", "repeat": "y", "files": []}
    part = after(("a", a_round(1, 7)), ("a", a_round(8, 2, findings=[found])), ("a", a_round(1, 7, seed=2)))
    assert part["rounds"] == [
        a_round(1, 9, cpu=200, seconds=1.0, notes={"edges": [8, "of 9"]}, findings=[found], program="a"),
        a_round(1, 7, seed=2, program="a"),
    ]
    for other in (a_round(11, 1), a_round(10, 1, seed=3), a_round(10, 1, core="d")):
        assert len(after(("a", a_round(1, 9)), ("a", other))["rounds"]) == 2


def test_of_rounds_with_the_same_attempts_the_longest_counts():
    whole = ("a", a_round(1, 20, cpu=1000))
    assert after(whole, ("a", a_round(7, 1)))["rounds"] == after(whole)["rounds"]
    assert after(("a", a_round(1, 7)), whole)["rounds"] == after(whole)["rounds"]
    assert after(whole, whole)["rounds"] == after(whole)["rounds"]


def test_the_page_names_all_programs_and_of_which_one_something_was_found(tmp_path, monkeypatch):
    wrong = {"attempt": 1, "what": "core: a: it panicked", "repeat": "again", "files": []}
    part = after(("a" * 12, a_round(1, 7, findings=[wrong])), ("b" * 12, a_round(1, 7)), ("b" * 12, a_round(9, 7)))
    shown = Proof("Fuzzing", "No input.", desk, fuzzing.attempt, over_life=True, more=lambda: "| module |\n")
    page = render.page_of({"proofs": {"fuzzing": part}}, {"fuzzing": shown})
    assert "| [Fuzzing](#fuzzing) | 21 | 2 s | 1 | `bbbbbbbbbbbb` and 1 older |" in page
    assert f"{render.OVER_LIFE}: `aaaaaaaaaaaa`, `bbbbbbbbbbbb`; seeds 1; A, 2 cores, Linux." in page
    assert "| `core: a: it panicked`, commit `aaaaaaaaaaaa` | `again` |\n\n| module |\n" in page
    assert "| CPU seconds: core | 300 |" in page


def test_the_runner_keeps_what_older_programs_did(tmp_path, monkeypatch, side):
    made = fuzzing.Desk([side("core", "a")], search=lambda _: libfuzzer.Ended(0, QUIET, 10.0))
    monkeypatch.setattr(runner, "PROOFS", {"fuzzing": proof(made)})
    for program in ("a", "b"):
        monkeypatch.setattr(results.machine, "last_change", lambda _, program=program: program)
        assert runner.main(["--results", str(tmp_path / "results.json"), "--count", "2"]) == 0
    part = json.loads((tmp_path / "results.json").read_bytes())["proofs"]["fuzzing"]
    assert [(each["program"], each["counts"]["CPU seconds: core"]) for each in part["rounds"]] == [("a", 20), ("b", 20)]


def test_rounds_of_another_file_are_added_once(tmp_path):
    mine, other = tmp_path / "results.json", tmp_path / "other.json"
    draws = {"program": "b", "rounds": [a_round(1, 5)]}
    mine.write_text(json.dumps({"schema": results.SCHEMA, "proofs": {"fuzzing": after(("a", a_round(1, 7, seed=2)))}}))
    for rounds in ([("a", a_round(8, 7))], [("a", a_round(8, 7)), ("a", a_round(15, 7)), ("b", a_round(1, 7))]):
        parts = {"fuzzing": after(*rounds), "kills": draws}
        other.write_text(json.dumps({"schema": results.SCHEMA, "proofs": parts}))
        for _ in range(2):
            assert merge.main([str(other), "--results", str(mine)]) == 0
    found = results.load(mine)["proofs"]
    assert found.keys() == {"fuzzing"}
    assert found["fuzzing"]["program"] == "b"
    assert results.totals(found["fuzzing"]) == {"CPU seconds: core": 400}


# -- lines by module -------------------------------------------------------------------------------


def test_lines_are_counted_by_module(tmp_path):
    lines = sorted(reached.lines_of_functions(str(ROOT / "bpe_cli/errors.py")))
    modules = reached.by_module(frozenset((str(ROOT / "bpe_cli/errors.py"), line) for line in [*lines[:2], 10**6]))
    assert modules == {"bpe_cli/errors.py": (2, len(lines))}
    path = tmp_path / "reached.json"
    assert reached.section(path) == ""
    path.write_text(json.dumps({"bpe_cli/a.py": [1, 2], "bpe_cli/b.py": [1500, 1500]}))
    section = reached.section(path)
    assert "these reach 1,501 of 1,502 lines (100%)" in section
    assert section.endswith("| `bpe_cli/a.py` | 1 of 2 | 50% |\n| `bpe_cli/b.py` | 1,500 of 1,500 | 100% |\n")


def test_what_the_page_shows_is_of_modules_that_are_there():
    modules = json.loads(reached.PATH.read_bytes())
    assert [name for name in modules if not (ROOT / name).exists()] == []
    assert all(0 < have <= most for have, most in modules.values())
    assert len(modules) > 50
