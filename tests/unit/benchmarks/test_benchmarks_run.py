"""The benchmark's plan: what a round measures, and its verdicts. No test says how long anything takes."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

import bpe_cli
from benchmarks import again, entries, instructions, machine, pace, plan, render, results, run, texts, vocabularies
from benchmarks.libraries import OURS
from benchmarks.operations import OPERATIONS, growth, starting
from benchmarks.operations.learning import LearnModels, quality
from benchmarks.processes import WorkerFailed
from benchmarks.vocabularies import FROM_FILE, OWN_PATTERN
from bpe_cli import load
from tests.thorough import more
from tests.unit.benchmarks.rounds import DOCUMENTS, cell

QUICK = plan.Options("part", 2, tuple(OPERATIONS), ("python",), ("cl100k_base", "o200k_base"), 1_000_000)

FEW = SimpleNamespace(get_path=lambda _: Path(pytest.__file__).parent)
"""Stands in for ``sysconfig``: all that is installed is one package, whose few files are soon read."""


def made_plan(text, folder: Path, repository: Path, **changes: object) -> plan.Plan:
    """Return a plan on a made-up text, and on separate ones."""
    separate = [texts.store(name, DOCUMENTS, "made up", folder) for name in texts.COLLECTIONS]
    return plan.Plan(replace(QUICK, **changes), [text, *separate], folder, repository)


def answers(entry: entries.Entry, digest: object = "d") -> dict[str, object]:
    passes = [{"wall": 0.1 * number, "cpu": 0.05 * number, "pace": 0.01 * number} for number in (3, 2, 1)]
    return {"bytes": 10, "documents": 2, "tokens": 5, "digest": digest, "passes": passes, "peak": 1000}


def test_first_pass_is_cold_the_others_are_warm():
    cells = {phase: cell("encode", phase, "tiktoken", []) for phase in ("cold", "warm")}
    entry = entries.Entry(cells, 2, lambda: answers(entry))
    entry.run()
    entry.run()
    assert cells["cold"].wall == pytest.approx([0.3, 0.3])
    assert cells["cold"].pace == pytest.approx([0.03, 0.03])
    assert cells["warm"].pace == pytest.approx([0.02, 0.01, 0.02, 0.01])
    assert cells["warm"].wall == pytest.approx([0.2, 0.1, 0.2, 0.1])
    assert (cells["cold"].peak, cells["warm"].peak) == ([1000, 1000], [])
    assert (cells["warm"].bytes, cells["warm"].tokens) == (10, 5)


def test_a_failure_is_noted_once_and_not_repeated():
    calls = []

    def fail():
        calls.append(1)
        raise WorkerFailed("ValueError: no")

    entry = entries.Entry({"": cell("train", "", "rustbpe", [])}, 3, fail)
    entry.run()
    entry.run()
    assert calls == [1]
    assert (entry.first.status, entry.first.note) == ("failed", "ValueError: no")


def test_a_library_that_contradicts_itself_failed():
    digests = iter("ab")
    entry = entries.Entry({"": cell("train", "", "rustbpe", [])}, 3, lambda: answers(entry, next(digests)))
    entry.run()
    entry.run()
    assert entry.first.status == "failed"


def test_a_library_that_is_not_installed_is_recorded_and_not_run(text, tmp_path, repository, monkeypatch):
    monkeypatch.setattr(machine, "version_of", lambda distribution: None if distribution != "bpe-cli" else "0.1.0")
    made = made_plan(text, tmp_path, repository)
    assert made.reference_library(made.vocabularies["cl100k_base"]) == OURS
    absent = [entry for entry in made.entries() if entry.first.library not in (OURS, "python")]
    assert {"gigatoken", "fastokens", "tiktoken", "rustbpe", "rs_bpe"} <= {entry.first.library for entry in absent}
    for entry in absent:
        entry.run()
        assert all(cell.status == "not installed" and not cell.wall for cell in entry.cells.values())


def test_plan_measures_everything_that_is_promised(text, tmp_path, repository):
    made = made_plan(text, tmp_path, repository)
    cells = [cell for entry in made.entries() for cell in entry.cells.values()]
    measured = {(cell.operation, cell.phase, cell.library) for cell in cells}
    for library in ("bpe", "tiktoken", "tokenizers", "gigatoken", "fastokens", "splintr", "tokie"):
        assert {("encode", "cold", library), ("encode", "warm", library)} <= measured
    for library in ("bpe", "tokenizers", "gigatoken", "rustbpe"):
        assert ("train", "", library) in measured
    for library in ("bpe", "tokenizers", "sentencepiece"):
        assert ("learn", "", library) in measured
    for library in ("bpe", "gigatoken", "fastokens", "splintr"):
        assert ("whole", "", library) in measured
    assert {("count", "cold", "bpe"), ("start", "", "rs_bpe"), ("load", "cold", "tokenizers")} <= measured
    assert {("growth", phase, "bpe") for phase in ("encode", "train", "hostile")} <= measured
    assert {name for name, _, _ in measured} == {*OPERATIONS} - (set() if made.hider else {*instructions.LEVELS})
    assert {("tokens", "", "tokenizers"), ("short", "", "rs_bpe"), ("short", "", "tiktoken")} <= measured
    assert {("decode_batch", "", "splintr"), ("stream", "", "tokenizers"), ("count", "cold", "rs_bpe")} <= measured
    assert len({(cell.measurement, cell.name) for cell in cells}) == len(cells)
    assert {cell.text for cell in cells if cell.name == "bpe (buffers)"} == {"some", *texts.COLLECTIONS}
    assert {cell.name for cell in cells if cell.name.startswith("bpe") and cell.text in texts.COLLECTIONS} == {
        "bpe", "bpe (buffers)"
    }  # fmt: skip


def test_every_row_of_the_readme_is_measured(tmp_path, repository, shared, monkeypatch):
    monkeypatch.setattr(machine, "cores", lambda: 2)
    monkeypatch.setattr(texts, "sysconfig", FEW)
    monkeypatch.setattr(plan.Plan, "ids_of", lambda *_: tmp_path / "ids")  # nothing is run that decodes them
    prepared = texts.prepare([*texts.BENCH_TEXTS, *texts.COLLECTIONS], tmp_path, repository, 200_000)
    whole = [replace(text, size=10**8) for text in prepared]  # as if they were
    options = replace(QUICK, texts=tuple(text.name for text in whole), tokenizers=("cl100k_base",))
    cells = [
        cell for entry in plan.Plan(options, whole, tmp_path, repository).entries() for cell in entry.cells.values()
    ]
    assert {*render.README_ROWS} <= {(*cell.measurement, cell.name) for cell in cells}
    trained = {(cell.text, cell.tokenizer) for cell in cells if cell.operation == "train"}
    assert {("english", size) for size in ("32k", "100k", "256k")} <= trained


def test_messages_are_lines_of_the_texts_by_turns(tmp_path):
    documents = [
        b"\n".join(b"%s number %d, long enough" % (letter, number) for number in range(50)) for letter in (b"a", b"b")
    ]
    several = [texts.store(str(number), [document], "made up", tmp_path) for number, document in enumerate(documents)]
    found = texts.messages(several, 10)
    assert len(found) == 10
    assert [line[:1] for line in found] == [b"a", b"b"] * 5
    assert all(len(line) in texts.MESSAGE_BYTES for line in found)


def test_who_ran_once_and_is_near_runs_again():
    def once(library, seconds):
        return entries.Entry({"": cell("train", "", library, [seconds])}, 1, dict)

    ours = entries.Entry({"": cell("train", "", "bpe", [1.0, 1.0, 1.0])}, 3, dict)
    near, far = once("gigatoken", 1.5), once("tokenizers", 9.0)
    assert again.near([ours, near, far]) == [near]
    assert again.near([ours, far]) == []
    assert again.near([ours, once("rustbpe", 0.5), far])[0].first.library == "rustbpe"


@pytest.mark.parametrize(
    ("mine", "others", "is_settled"),
    [
        ([1.0, 1.1, 1.2], [1.3, 1.4, 1.5], True),
        ([1.3, 1.4, 1.5], [1.0, 1.1, 1.2], True),
        ([1.0, 1.1, 1.3], [1.3, 1.4, 1.5], False),
        ([1.0, 1.1, 9.0], [1.3, 1.4, 1.5], False),
        ([1.3, 1.4, 1.5], [1.0, 1.1, 9.0], False),
        ([1.4], [1.0, 2.0], False),
    ],
)
def test_rows_that_chance_may_have_decided_run_more_often(mine, others, is_settled):
    ours = entries.Entry({phase: cell("encode", phase, "bpe", mine) for phase in ("cold", "warm")}, 3, dict)
    best = entries.Entry({"cold": cell("encode", "cold", "gigatoken", others)}, 3, dict)
    far = entries.Entry({"cold": cell("encode", "cold", "tiktoken", [50.0, 60.0])}, 2, dict)
    assert again.unsettled([far, ours, best]) == ([] if is_settled else [ours, best])
    third = entries.Entry({"cold": cell("encode", "cold", "fastokens", [2.0, 2.1])}, 3, dict)
    assert again.unsettled([third, ours, best]) == ([] if is_settled else [third, ours, best]), "it may come out first"
    assert again.unsettled([ours, far]) == []
    best.seconds = 2 * again.SHORT
    assert again.unsettled([ours, best]) == []


def test_what_is_compared_by_cpu_time_is_unsettled_by_cpu_time():
    ours = entries.Entry({"": cell("count", "", "bpe", [1.0, 1.0])}, 2, dict)
    best = entries.Entry({"": cell("count", "", "tokie", [0.6, 0.9], cpu=[1.2, 1.8])}, 2, dict)
    assert again.unsettled([ours, best]) == []
    best.first.threads = ours.first.threads = 2
    best.first.wall = [0.6, 1.1]
    assert again.unsettled([ours, best]) == [ours, best]


def test_what_is_unsettled_runs_until_both_sides_ran_more(text, tmp_path, monkeypatch, capsys):
    """The third library comes next to ours only when the second has run more often."""
    figures = {"bpe": [1.0, 1.0, 3.0, *[1.0] * 6], "gigatoken": [0.9, 0.95, 1.1, *[9.0] * 6], "tokie": [1.95] * 9}
    runs = runs_of(figures, {}, text, tmp_path, monkeypatch)
    assert runs == dict.fromkeys(figures, 3 + again.MORE)
    assert capsys.readouterr().err.count("rounds more") == 2


def test_who_hardly_ever_met_the_full_speed_runs_more_often(text, tmp_path, monkeypatch):
    figures = {library: [1.0] * 18 for library in ("bpe", "gigatoken", "tokie")}
    slow = {"gigatoken": [0.003] * 18, "tokie": [0.003] * 11 + [0.002] * 7}
    runs = runs_of(figures, slow, text, tmp_path, monkeypatch)
    assert runs == {"bpe": 3 + again.MORE, "gigatoken": 3 + again.MOST, "tokie": 11 + pace.ENOUGH}


def runs_of(figures, paces, text, tmp_path, monkeypatch):
    """Measure what takes such seconds, at such a pace, and return how often each library ran."""
    clocks = {library: iter(seconds) for library, seconds in figures.items()}
    beside = {library: iter(paces.get(library, [0.002] * len(seconds))) for library, seconds in figures.items()}

    def answers_of(library):
        return lambda: {
            "digest": 1, "bytes": 9, "documents": 1, "tokens": 1, "peak": None,
            "passes": [dict.fromkeys(("wall", "cpu"), next(clocks[library])) | {"pace": next(beside[library])}],
        }  # fmt: skip

    made = [
        entries.Entry({"": cell("encode", "", library, [], cpu=[], runs=0)}, 3, answers_of(library))
        for library in figures
    ]
    monkeypatch.setattr(plan.Plan, "entries", lambda _: iter(made))
    monkeypatch.setattr(plan.Plan, "judge", lambda *_: None)
    monkeypatch.setattr(texts, "prepare", lambda *_: [text])
    monkeypatch.setattr(machine, "BUSY", 0.01)
    monkeypatch.setattr(machine, "worth_of_all", lambda: 1.9)
    round_ = run.measure(replace(QUICK, repetitions=3), tmp_path)
    return {made["library"]: made["runs"] for made in round_["cells"]}


def test_tokenizers_with_stages_are_measured_where_they_lie(text, tmp_path, repository, shared):
    # mistral is as llama2, and the two largest are in all other plans.
    few = ("gpt2", FROM_FILE, OWN_PATTERN, "llama3", "bert", "t5", "xlnet", "llama2", "qwen2.5")
    chosen = more(few, plan.TOKENIZERS)
    made = made_plan(text, tmp_path, repository, operations=("encode",), tokenizers=chosen)
    beside = {}
    for entry in made.entries():
        beside.setdefault(entry.first.tokenizer, set()).add(entry.first.library)
    assert {"splintr", "tokie", "tokenizers"} < beside["bert"]
    assert {"splintr", "tokie", "tokenizers"} < beside["t5"]
    assert beside["xlnet"] == {"bpe", "sentencepiece"}
    assert {"gigatoken", "splintr", "sentencepiece", "tokenizers"} < beside["llama2"]
    assert {"bpe", "gigatoken", "fastokens"} == beside["llama3"]
    assert {"bpe", "gigatoken", "splintr", "fastokens", "tokie", "tokenizers"} == beside["qwen2.5"]


def test_verdicts(text, tmp_path, repository, monkeypatch):
    made = made_plan(text, tmp_path, repository, operations=("encode", "start"))
    monkeypatch.setattr(
        made, "reference", lambda text, tokenizer, stride, **_: ({"digest": f"{text} {tokenizer} {stride}"}, "x")
    )
    measured = list(made.entries())
    for entry in measured:
        cell = entry.first
        entry.digest = "1 2" if cell.operation == "start" else f"{cell.text} {cell.tokenizer} {entry.stride}"
        entry.digest = "wrong" if cell.library == "gigatoken" else entry.digest
    made.judge(measured)
    for entry in measured:
        expected = {"gigatoken": "different", "python": "baseline"}.get(entry.first.library, "same")
        assert {cell.status for cell in entry.cells.values()} <= {expected, "not installed"}


def test_what_was_learnt_is_judged_by_how_well_it_does():
    tokenizer = load("gpt2")
    assert quality(tokenizer, [b"hello world"]) == round(-2 / 11, 5)
    assert LearnModels.accepts(-0.5, -0.5)
    assert LearnModels.accepts(-0.4, -0.5)
    assert LearnModels.accepts(-0.5005, -0.5)
    assert not LearnModels.accepts(-0.51, -0.5)
    assert not LearnModels.accepts(None, -0.5)


@pytest.mark.parametrize("name", growth.HOSTILE)
def test_hostile_texts_are_the_same_every_time(name, tmp_path):
    for path in (tmp_path / "a", tmp_path / "b"):
        growth.written(growth.HOSTILE[name], 3000, path)
    data = (tmp_path / "a").read_bytes()
    assert data == (tmp_path / "b").read_bytes()
    assert 900 <= len(data) <= 3000


def test_growing_text_has_the_size_that_was_asked_for(text, tmp_path):
    target = tmp_path / "grown"
    source = texts.running(text.path)
    for size in (1, source.stat().st_size, 5 * source.stat().st_size + 3):
        assert growth.repeated(source, size, target) == target.stat().st_size == size
        assert source.read_bytes().startswith(target.read_bytes()[: source.stat().st_size])


def test_documents_that_a_tokenizer_refuses_are_left_out(tmp_path):
    lacking = vocabularies.refused(bpe_cli.train(["low\x03"], vocab_size=4, initial_alphabet="seen"))
    assert (len(lacking), b"\x03" in lacking, b"\x04" in lacking) == (124, False, True)
    stored = texts.store("mixed", [b"low", b"a\x03", b"w\x04", b"ow"], "made up", tmp_path)
    assert texts.without(stored.path, b"") == texts.without(stored.path, b"\x05") == stored.path
    assert texts.read(texts.without(stored.path, b"\x03\x04")) == [b"low", b"ow"]
    assert texts.running(texts.without(stored.path, b"\x03\x04")).read_bytes() == b"lowow"


def test_whole_processes_write_what_the_reference_does(text, tmp_path, repository):
    made = made_plan(text, tmp_path, repository, operations=("whole",), repetitions=1)
    measured = [entry for entry in made.entries() if entry.first.library == OURS and entry.first.threads == 1]
    for entry in measured:
        entry.run()
    made.judge(measured)
    assert {entry.first.status for entry in measured} == {"same"}
    assert all(entry.first.peak for entry in measured)


def test_partial_rounds_do_not_replace_the_stored_one(tmp_path, monkeypatch, capsys):
    script = Path(run.__file__)
    subprocess.run([sys.executable, script, "--help"], capture_output=True, check=True, cwd=tmp_path)  # from anywhere
    part = ["--quick", "--only", "start", "--text", "python", "--tokenizer", "cl100k_base"]
    few, version_of = ("bpe-cli", "tiktoken"), machine.version_of  # nobody looks at what the others take
    monkeypatch.setattr(machine, "version_of", lambda name: version_of(name) if name in few else None)
    monkeypatch.setattr(sys, "argv", [str(script), *part])
    monkeypatch.setattr(machine, "BUSY", 0.05)
    monkeypatch.setattr(machine, "worth_of_all", partial(machine.worth_of_all, times=1))
    monkeypatch.setattr(texts, "sysconfig", FEW)
    monkeypatch.setattr(starting, "RUNS", 1)
    monkeypatch.chdir(tmp_path)
    before, heeded = results.PATH.read_bytes(), signal.getsignal(signal.SIGTERM)
    try:
        assert run.main() == 0
    finally:
        signal.signal(signal.SIGTERM, heeded)
    shown = capsys.readouterr()
    assert "not stored" in shown.err
    assert "start-up, `bpe encode -T`, cl100k_base, ms" in shown.out
    assert "wrote" not in shown.err
    assert results.PATH.read_bytes() == before
