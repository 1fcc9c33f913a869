"""What runs the proofs, keeps what they tried and shows it; and how files are changed into mutants."""

from __future__ import annotations

import ast
import json
import operator
import os
import shutil
import subprocess
from collections import Counter
from contextlib import contextmanager
from random import Random

import pytest

from benchmarks import machine
from bpe_cli.errors import BpeError
from bpe_cli.formats import load
from tests.every_format import files_of, pattern_for, put
from tests.needs import only_where
from tests.proof import __main__ as runner
from tests.proof import render, results
from tests.proof.attempts import Found, Proof, named
from tests.proof.child import child
from tests.proof.kinds import core_mutations, mutating, mutations
from tests.proof.kinds.mutating_whole import change_everywhere
from tests.proof.running import LONGEST_SENTENCE, run


@contextmanager
def desk(folder):
    assert not list(folder.iterdir())
    yield folder


def draw(_, chance, number):
    """Draw a number, and find every tenth attempt wrong."""
    drawn = chance.randrange(1000)
    if number % 10 == 0:
        raise Found(f"attempt {number} drew {drawn}", {"": b"the file", "a/b": b"another"})
    return Counter({"drawn": drawn, "attempts": 1})


def fail(_, chance, number):
    """Fail in a way that nobody foresaw."""
    raise KeyError("x" * 2000)


DRAW = Proof("Draws, at random", "Nothing is drawn ten times.", desk, draw, lambda _: {"gpt2": (2.5, "b'a|`'")})
FAIL = Proof("Failures", "It fails.", desk, fail)


def stop(_, chance, number):
    raise KeyboardInterrupt


# -- running ---------------------------------------------------------------------------------------


def test_it_stops_at_the_first_finding_with_what_repeats_it():
    done = run(DRAW, 7, most=100)
    assert (done.attempts, done.last, done.counts["attempts"]) == (10, 10, 9)
    again = run(DRAW, 7, first=10, most=1)
    assert again.finding == done.finding
    assert again.files == done.files == {"": b"the file", "a/b": b"another"}
    assert named(done.files) == {"file": b"the file", "a_b": b"another"}


def test_attempts_depend_on_the_seed_and_on_their_number_alone():
    whole = run(DRAW, 1, most=9)
    parts = [run(DRAW, 1, first=number, most=1) for number in range(1, 10)]
    assert sum((part.counts for part in parts), Counter()) == whole.counts
    assert run(DRAW, 2, most=9).counts != whole.counts


def test_it_runs_for_a_time():
    assert run(DRAW, 0, seconds=0).attempts == 1


def test_what_nobody_foresaw_is_found():
    done = run(FAIL, 0)
    assert done.attempts == 1
    assert done.finding is not None
    assert done.finding.startswith("KeyError: 'xxx")
    assert len(done.finding) == LONGEST_SENTENCE
    assert b"Traceback" in done.files["traceback.txt"]


def test_an_interrupt_keeps_what_was_tried():
    done = run(Proof("", "", desk, stop), 0)
    assert (done.attempts, done.interrupted, done.finding) == (0, True, None)


# -- a process that may end ------------------------------------------------------------------------


def test_a_child_answers_and_its_death_is_found():
    """It is asked for functions of modules that it has, for it imports what others are in."""
    with child(os.getpid) as process:
        assert process.ask(operator.mul, 21, 2) == 42
        with pytest.raises(Found, match="_exit ended its process with status 3"):
            process.ask(os._exit, 3)
        assert process.ask(operator.mul, 4, 2) == 8  # another one
        with pytest.raises(Found, match=r"int raised ValueError: .*'not today'") as caught:
            process.ask(int, "not today", files={"text": b"x"})
        assert caught.value.files.keys() == {"text", "traceback.txt"}
        assert process.ask(operator.mul, 5, 2) == 10


# -- results and the page --------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Return the arguments of the runner, which has two proofs here and writes into a folder of the test."""
    monkeypatch.setattr(runner, "PROOFS", {"draws": DRAW, "failures": FAIL})
    monkeypatch.setattr(results.machine, "last_change", lambda _: "0123456789ab")
    return ["--results", str(tmp_path / "results.json"), "--evidence", str(tmp_path / "evidence")]


def test_the_runner_keeps_what_it_found_and_goes_on(files, tmp_path, capsys):
    assert runner.main([*files, "--count", "20"]) == 1
    parts = json.loads((tmp_path / "results.json").read_bytes())["proofs"]
    assert parts.keys() == {"draws", "failures"}
    (kept,) = parts["draws"]["rounds"]
    assert (kept["seed"], kept["first"], kept["attempts"], kept["counts"]["attempts"]) == (0, 1, 10, 9)
    assert kept["machine"]["cores"] >= 1
    (found,) = kept["findings"]
    assert found["repeat"] == "python -m tests.proof --only draws --seed 0 --first 10 --count 1 --dry-run"
    assert (tmp_path / "evidence" / "draws-0-10" / "a_b").read_bytes() == b"another"
    assert found["what"] in (tmp_path / "evidence" / "draws-0-10" / "finding.txt").read_text()
    assert "draws: 10 attempts" in capsys.readouterr().out


def test_a_dry_run_keeps_nothing(files, tmp_path):
    assert runner.main([*files, "--only", "draws", "--count", "3", "--dry-run"]) == 0
    assert list(tmp_path.iterdir()) == []


def test_rounds_add_up_and_none_counts_twice(files, tmp_path, monkeypatch):
    path = tmp_path / "results.json"
    for seed, first in (("1", "1"), ("2", "1"), ("2", "4"), ("2", "1")):
        assert runner.main([*files, "--only", "draws", "--seed", seed, "--first", first, "--count", "5"]) == 0
    part = results.load(path)["proofs"]["draws"]
    # The third round begins within the second, and the last again within the third.
    assert [(each["seed"], each["first"]) for each in part["rounds"]] == [(1, 1), (2, 1)]
    assert results.totals(part)["attempts"] == 10
    monkeypatch.setattr(results.machine, "last_change", lambda _: "fedcba987654")
    assert runner.main([*files, "--only", "draws", "--count", "1"]) == 0
    assert results.totals(results.load(path)["proofs"]["draws"])["attempts"] == 1


def test_a_program_that_was_changed_adds_to_nothing(files, tmp_path, monkeypatch):
    monkeypatch.setattr(results.machine, "last_change", lambda _: "0123456789ab+")
    for seed in ("1", "2"):
        assert runner.main([*files, "--only", "draws", "--seed", seed, "--count", "1"]) == 0
    assert len(results.load(tmp_path / "results.json")["proofs"]["draws"]["rounds"]) == 1


def test_results_of_another_schema_are_refused(tmp_path):
    (tmp_path / "results.json").write_text('{"schema": "other"}')
    with pytest.raises(ValueError, match="does not hold results of bpe-proof/1"):
        results.load(tmp_path / "results.json")
    assert render.main(["--results", str(tmp_path / "results.json"), "--page", str(tmp_path / "page.md")]) == 2


def test_the_page_says_what_was_tried_and_found(files, tmp_path):
    runner.main([*files, "--only", "draws", "--count", "9"])
    found = results.load(tmp_path / "results.json")
    page = render.page_of(found, {"draws": DRAW, "failures": FAIL})
    assert page is not None
    assert "| [Draws, at random](#draws-at-random) | 9 | 0 s | 0 | `0123456789ab` |" in page
    assert "## Draws, at random\n\nNothing is drawn ten times.\n" in page
    assert "| attempts | 9 |" in page
    assert "| gpt2: `b'a\\|''` | 2.5 |" in page
    assert "Nothing was found." in page
    assert "Failures" not in page
    runner.main([*files, "--only", "failures"])
    page = render.page_of(results.load(tmp_path / "results.json"), {"draws": DRAW, "failures": FAIL})
    assert page is not None
    assert "| `KeyError: 'xxx" in page
    assert "--only failures --seed 0 --first 1 --count 1" in page


def test_without_results_there_is_no_page(tmp_path, capsys):
    arguments = ["--results", str(tmp_path / "results.json"), "--page", str(tmp_path / "page.md")]
    assert render.main(arguments) == 0
    assert "there is no results.json yet: run make proof" in capsys.readouterr().err
    assert not (tmp_path / "page.md").exists()
    assert render.main([*arguments, "--check"]) == 0
    (tmp_path / "page.md").write_text("figures of nobody")
    assert render.main([*arguments, "--check"]) == 1


def test_the_stored_page_is_what_the_results_say():
    assert render.main(["--check"]) == 0


# -- mutants ---------------------------------------------------------------------------------------

JSON = b'{"a": {"b": [1, 2.50, -0, true, null, "x\\u00e9"]}, "c": {"d": "e"}, "c": []}'
LINES = b"#version: 0.2\na b\nab c\nabc d\n"
BINARY = b"GGUF\0\0\0\3" + b"".join(len(word).to_bytes(8, "little") + word for word in (b"low", b"est", b"lowest"))


def test_json_is_written_as_it_was_read():
    assert mutating.read(mutating.write(mutating.read(JSON))) == mutating.read(JSON)
    assert b'"c": {"d": "e"}, "c": []' in mutating.write(mutating.read(JSON))
    assert b"2.50" in mutating.write(mutating.read(JSON))


@pytest.mark.parametrize("data", [JSON, LINES, BINARY, b"", b"\n", b"[]", b"1"], ids=repr)
def test_mutants_differ_in_many_ways(data):
    made = {mutating.change(Random(seed), data, [JSON, LINES, BINARY]) for seed in range(300)}
    assert len({how for how, _ in made}) > 2
    assert len({changed for _, changed in made}) > 5


def test_mutants_of_json_are_mostly_json():
    changed = [mutating.change(Random(seed), JSON, [JSON])[1] for seed in range(300)]
    read = [each for each in changed if mutating.read_or_none(each) is not None]
    assert len(read) > 200


def test_what_is_swapped_in_a_binary_file_keeps_its_length():
    made = [mutating.change_texts(Random(seed), BINARY) for seed in range(200)]
    assert {len(changed) for _, changed in made} == {len(BINARY)}
    assert {how for how, _ in made} == {"swapped two texts", "set a number to a limit"}


@pytest.mark.parametrize("name", ["tokenizer.json", "subword-nmt", "gguf"])
def test_what_is_changed_everywhere_mostly_loads(name, tmp_path):
    data = files_of(name)[""]
    loaded, ways = 0, set()
    for seed in range(60):
        how, changed = change_everywhere(Random(seed), data, [data])
        ways.add(how)
        try:
            loaded += load(put({"": changed}, tmp_path), pattern_for(name)).vocab_size > 0
        except BpeError:
            continue
    assert len(ways) > 1
    assert loaded > 25


def test_an_id_and_a_token_change_places_wherever_they_stand():
    data = b'{"vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"], "added": [{"id": 2, "content": "ab"}]}'
    made = {change_everywhere(Random(seed), data, [])[1] for seed in range(400)}
    assert b'{"vocab": {"b": 0, "a": 1, "ab": 2}, "merges": ["b a"], "added": [{"id": 2, "content": "ab"}]}' in made
    assert b'{"vocab": {"a": 2, "b": 1, "ab": 0}, "merges": ["a b"], "added": [{"id": 0, "content": "ab"}]}' in made


# -- mutants of the program ------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["bpe_cli/corpus/rows.py", "bpe_cli/support/json_files.py"])
def test_a_mutant_of_a_module_is_another_module(path):
    whole = ast.dump(ast.parse((mutations.ROOT / path).read_bytes()))
    made = mutations.mutants_of(path)
    assert len({each.source for each in made}) == len(made) > 10
    assert whole not in {ast.dump(ast.parse(each.source)) for each in made}


def test_every_module_has_tests_and_every_reason_a_mutant():
    named = {*mutations.TESTS, *(test for tests in mutations.TESTS.values() for test in tests)}
    assert [name for name in named if not (mutations.ROOT / name).exists()] == []
    known = {(each.path, each.change) for path in mutations.TESTS for each in mutations.mutants_of(path)}
    assert mutations.REASONS.keys() <= known


@pytest.mark.parametrize(
    ("statuses", "kind", "notes"),
    [((0, 1), "killed", 0), ((0, None), "did not end, which is noticed", 0), ((0, 0), "survived", 1)],
)
def test_what_becomes_of_a_mutant_is_told(statuses, kind, notes, monkeypatch):
    given = iter(statuses)
    monkeypatch.setattr(mutations, "status_of", lambda *_: next(given))
    monkeypatch.setattr(mutations, "REASONS", {})
    done = run(mutations.PROOF, 0, first=16, most=1)
    assert (done.finding, done.counts[f"mutants: {kind}"], len(done.notes)) == (None, 1, notes)


def test_tests_that_fail_without_a_mutant_are_found(monkeypatch):
    monkeypatch.setattr(mutations, "status_of", lambda *_: 1)
    assert "do not pass as it is" in run(mutations.PROOF, 0, first=16, most=1).finding


CORE_MUTANT = {
    "name": "src/x.rs:2:3: replace + with -",
    "diff": "--- src/x.rs\n+++ replace + with -\n@@ -1,3 +1,3 @@\n a\n-b + c\n"
    "+b - /* ~ changed by cargo-mutants ~ */ c\n d\n",
    "span": {"start": {"line": 2}},
}


@pytest.mark.parametrize(
    ("program", "status", "kind", "notes"),
    [
        (None, None, "changes that the compiler refuses", {}),
        ("x", None, "mutants: did not end, which is noticed", {}),
        ("x", 101, "mutants: killed", {}),
        ("x", 0, "mutants: survived", {"survived: core/src/x.rs:2": (1.0, "b + c: replace + with -")}),
    ],
)
def test_what_becomes_of_a_mutant_of_the_core_is_told(program, status, kind, notes, monkeypatch, tmp_path):
    (tmp_path / "src").mkdir()
    source = tmp_path / "src" / "x.rs"
    source.write_text("a\nb + c\nd\n")
    seen = []
    monkeypatch.setattr(core_mutations, "MODULES", ("x",))
    monkeypatch.setattr(core_mutations, "compiled", lambda _: seen.append(source.read_text()) or program)
    monkeypatch.setattr(core_mutations, "status_of", lambda *_: status)
    desk = core_mutations.Desk(tmp_path, {"x": [CORE_MUTANT]})
    assert core_mutations.attempt(desk, Random(1), 1)[kind] == 1
    assert (seen, source.read_text()) == (["a\nb - c\nd\n"], "a\nb + c\nd\n")
    assert desk.survived == notes
    assert core_mutations.attempt(desk, Random(1), 2) == Counter({"drawn again, and not counted": 1})


def test_modules_of_the_core_are_there():
    assert [name for name in core_mutations.MODULES if not (core_mutations.ROOT / f"core/src/{name}.rs").exists()] == []
    with pytest.raises(ValueError, match="another source"):
        core_mutations.changed("a\nb\n", CORE_MUTANT["diff"])


# -- which program it was --------------------------------------------------------------------------


@only_where(shutil.which("git") is not None, "needs git, which is not installed")
def test_the_program_is_the_commit_that_last_changed_it(tmp_path):
    def git(*arguments):
        names = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        command = ["git", *names, "-C", str(tmp_path), *arguments]
        return subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout.strip()

    def commit(name):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("one\n")
        git("add", "--all")
        git("commit", "--quiet", "--no-verify", "--message", name)

    git("init", "--quiet")
    commit("bpe_cli/a.py")
    program = git("rev-parse", "--short=12", "HEAD")
    commit("docs/page.md")
    assert machine.last_change(tmp_path) == program
    assert machine.commit(tmp_path) == git("rev-parse", "--short=12", "HEAD") != program
    (tmp_path / "bpe_cli" / "a.py").write_text("two\n")
    assert machine.last_change(tmp_path) == f"{program}+"
