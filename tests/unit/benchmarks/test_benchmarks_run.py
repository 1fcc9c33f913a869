"""The benchmark's machinery: texts, workers and plan. No test says how long anything takes."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from array import array
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import machine, plan, processes, texts, worker
from benchmarks.libraries import LIBRARIES, OURS, TRAINING_RULES, Job
from benchmarks.processes import WorkerFailed
from bpe_cli import PATTERNS, named
from tests.unit.benchmarks.rounds import cell

DOCUMENTS = [b"Hello, world! <|endoftext|> 123\n", "你好\r\n".encode(), b"  x = [1, 2]\n\n"] * 5
QUICK = plan.Options("quick", 2, plan.OPERATIONS, ("python",), ("cl100k_base",), 1_000_000, None)


@pytest.fixture
def text(tmp_path):
    return texts.store("some", DOCUMENTS, "made up", tmp_path)


# -- texts -----------------------------------------------------------------------------------------


def test_cut_loses_nothing():
    data = b"ab\ncd\n\nefgh\nx"
    for least in range(15):
        documents = texts.cut(data, least)
        assert b"".join(documents) == data
        assert all(document.endswith(b"\n") for document in documents[:-1])
    assert texts.cut(b"") == []


def test_stored_text_comes_back(text):
    assert texts.read(text.path) == DOCUMENTS
    assert texts.read(text.path, 3) == DOCUMENTS[::3]
    assert (text.size, text.documents) == (sum(map(len, DOCUMENTS)), len(DOCUMENTS))
    assert "path" not in text.describe()


@pytest.mark.parametrize("data", [b"", b"a\0b", b"\xff"])
def test_what_not_all_libraries_can_take_is_left_out(data):
    assert not texts.usable(data)


def test_the_text_that_every_machine_has(tmp_path, repository):
    (prepared,) = texts.prepare(["python", "no such text"], tmp_path, repository, 2_000_000)
    assert 1_000_000 < prepared.size < 4_000_000
    assert "every" in prepared.source
    assert str(repository) not in json.dumps(prepared.describe())


# -- workers ---------------------------------------------------------------------------------------


def test_worker_encodes(text, tmp_path):
    ids = tmp_path / "ids"
    answer = processes.work(
        Job("encode", OURS, encoding="cl100k_base", text=str(text.path), stride=2, passes=2, ids=str(ids))
    )
    tokenizer = named("cl100k_base")
    expected = array("I", [token for document in DOCUMENTS[::2] for token in tokenizer.encode(document)])
    assert array("I", ids.read_bytes()) == expected
    assert (answer["tokens"], answer["digest"]) == (len(expected), worker.digest_of([expected.tobytes()]))
    assert (answer["bytes"], answer["documents"]) == (sum(map(len, DOCUMENTS[::2])), 8)
    assert len(answer["passes"]) == 2
    assert answer["imported"] == []
    decoded = processes.work(
        Job("decode", OURS, encoding="cl100k_base", text=str(text.path), stride=2, passes=2, ids=str(ids))
    )
    assert (decoded["digest"], decoded["tokens"]) == (True, len(expected))


def test_worker_says_when_the_text_does_not_come_back(text, tmp_path):
    (tmp_path / "ids").write_bytes(array("I", [1, 2, 3]).tobytes())
    job = Job("decode", OURS, encoding="cl100k_base", text=str(text.path), ids=str(tmp_path / "ids"))
    assert processes.work(job)["digest"] is False


def test_worker_that_fails_gives_one_line_without_paths(text):
    with pytest.raises(WorkerFailed, match=r"^FileNotFoundError: .*'absent\.txt'$"):
        processes.work(Job("encode", OURS, encoding="cl100k_base", text=str(text.path.with_name("absent.txt"))))


def test_a_command_that_is_not_there():
    with pytest.raises(WorkerFailed):
        processes.start(["no-such-command-anywhere"], "x", 1)


def test_last_line_of_stderr_is_the_reason():
    with pytest.raises(WorkerFailed, match=r"^Error: said so$"):
        processes.run(
            [sys.executable, "-c", "import sys; print('noise', file=sys.stderr); sys.exit('Error: said so')"], 1
        )


def job_files(text, folder: Path) -> Job:
    """Give a job that all libraries can load."""
    return plan.Plan(QUICK, [text], folder).job("cl100k_base", operation="encode", library=OURS, text=str(text.path))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in LIBRARIES if name != OURS])
def test_other_libraries_do_the_same_work(name, text, tmp_path):
    library = LIBRARIES[name]
    if importlib.util.find_spec(library.distribution) is None:
        pytest.skip(f"needs {library.distribution}, which make bench installs")
    files = job_files(text, tmp_path)
    ids = tmp_path / "ids"
    ours = processes.work(replace(files, ids=str(ids)))
    for operation in library.operations:
        for way in library.ways if operation == "encode" else ("",):
            job = replace(
                files, operation=operation, library=name, way=way, ids=str(ids) if operation == "decode" else ""
            )
            if operation == "train":
                rules = TRAINING_RULES[name]
                # Not more than the text gives: gigatoken goes on with pairs that do not occur.
                job = replace(job, vocab_size=280, pattern=PATTERNS["gpt2"].regex, rules=rules)
                expected = processes.work(replace(job, library=OURS))["digest"]
            else:
                expected = True if operation == "decode" else ours["digest"]
            answer = processes.work(job)
            assert answer["digest"] == expected, (operation, way)
            assert answer["imported"] == [], (operation, way)


# -- the plan --------------------------------------------------------------------------------------


def answers(entry: plan.Entry, digest: object = "d") -> dict[str, object]:
    passes = [{"wall": 0.1 * number, "cpu": 0.05 * number} for number in (3, 2, 1)]
    return {"bytes": 10, "documents": 2, "tokens": 5, "digest": digest, "passes": passes, "peak": 1000}


def test_first_pass_is_cold_the_others_are_warm():
    cells = {phase: cell("encode", phase, "tiktoken", []) for phase in ("cold", "warm")}
    entry = plan.Entry(cells, 2, lambda: answers(entry))
    entry.run()
    entry.run()
    assert cells["cold"].wall == pytest.approx([0.3, 0.3])
    assert cells["warm"].wall == pytest.approx([0.2, 0.1, 0.2, 0.1])
    assert (cells["cold"].peak, cells["warm"].peak) == ([1000, 1000], [])
    assert (cells["warm"].bytes, cells["warm"].tokens) == (10, 5)


def test_a_failure_is_noted_once_and_not_repeated():
    calls = []

    def fail():
        calls.append(1)
        raise WorkerFailed("ValueError: no")

    entry = plan.Entry({"": cell("train", "", "rustbpe", [])}, 3, fail)
    entry.run()
    entry.run()
    assert calls == [1]
    assert (entry.first.status, entry.first.note) == ("failed", "ValueError: no")


def test_a_library_that_contradicts_itself_failed():
    digests = iter("ab")
    entry = plan.Entry({"": cell("train", "", "rustbpe", [])}, 3, lambda: answers(entry, next(digests)))
    entry.run()
    entry.run()
    assert entry.first.status == "failed"


def test_a_library_that_is_not_installed_is_recorded_and_not_run(text, tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "version_of", lambda distribution: None if distribution != "bpe-cli" else "0.1.0")
    made = plan.Plan(QUICK, [text], tmp_path)
    assert made.reference_library == OURS
    entries = list(made.entries())
    absent = [entry for entry in entries if entry.first.library not in (OURS, "python")]
    assert {entry.first.library for entry in absent} == set(LIBRARIES) - {OURS}
    for entry in absent:
        entry.run()
        assert all(cell.status == "not installed" and not cell.wall for cell in entry.cells.values())


def test_plan_measures_everything_that_is_promised(text, tmp_path):
    cells = [cell for entry in plan.Plan(QUICK, [text], tmp_path).entries() for cell in entry.cells.values()]
    measured = {(cell.operation, cell.phase, cell.library) for cell in cells}
    for library in ("bpe", "tiktoken", "tokenizers", "gigatoken"):
        assert {("encode", "cold", library), ("encode", "warm", library), ("start", "", library)} <= measured
        assert ("decode", "warm", library) in measured
    for library in ("bpe", "tokenizers", "gigatoken", "rustbpe"):
        assert ("train", "", library) in measured
    assert ("count", "cold", "bpe") in measured
    assert len({(cell.measurement, cell.name) for cell in cells}) == len(cells)


def test_verdicts(text, tmp_path):
    made = plan.Plan(replace(QUICK, operations=("encode", "start")), [text], tmp_path)
    made.references = {("some", "cl100k_base", stride): {"digest": f"d{stride}"} for stride in (1, 4, 10)}
    entries = list(made.entries())
    for entry in entries:
        wrong = entry.first.library == "gigatoken"
        entry.digest = "1 2" if entry.first.operation == "start" else f"d{LIBRARIES[entry.first.library].stride}"
        entry.digest = "wrong" if wrong else entry.digest
    made.judge(entries)
    for entry in entries:
        expected = {"gigatoken": "different", "python": "baseline"}.get(entry.first.library, "same")
        assert {cell.status for cell in entry.cells.values()} <= {expected, "not installed"}


def test_partial_rounds_do_not_replace_the_stored_one(tmp_path):
    script = Path(plan.__file__).with_name("run.py")
    done = subprocess.run(
        [sys.executable, script, "--quick", "--only", "start", "--text", "python"],
        capture_output=True, encoding="utf-8", check=True, cwd=tmp_path,
    )  # fmt: skip
    assert "not stored" in done.stderr
    assert "start-up, `bpe encode`, ms" in done.stdout
    assert "wrote" not in done.stderr
