"""The benchmark's machinery: texts, workers and plan. No test says how long anything takes."""

from __future__ import annotations

import json
import subprocess
import sys
from array import array
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import entries, instructions, machine, plan, processes, render, run, texts, vocabularies, worker
from benchmarks.jobs import Job
from benchmarks.libraries import LIBRARIES, OURS, TRAINING_RULES
from benchmarks.operations import OPERATIONS, growth
from benchmarks.operations.learning import LearnModels, quality
from benchmarks.processes import TooSlow, WorkerFailed
from bpe_cli import load
from bpe_cli.stages.patterns import PATTERNS
from tests.counted import at_least, compared
from tests.needs import NO_TRAP, skip
from tests.unit.benchmarks.rounds import cell

DOCUMENTS = [b"Hello, world! 123\n", "你好\r\n".encode(), b"  x = [1, 2]\n\n"] * 5
QUICK = plan.Options("part", 2, tuple(OPERATIONS), ("python",), ("cl100k_base", "o200k_base"), 1_000_000)


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


@pytest.mark.parametrize("data", [b"", b"a\0b", b"\xff", b"the <s> tag"])
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
        Job("encode", OURS, load="cl100k_base", text=str(text.path), stride=2, passes=2, ids=str(ids))
    )
    tokenizer = load("cl100k_base")
    expected = array("I", [token for document in DOCUMENTS[::2] for token in tokenizer.encode(document)])
    assert array("I", ids.read_bytes()) == expected
    assert (answer["tokens"], answer["digest"]) == (len(expected), worker.digest_of([expected.tobytes()]))
    assert (answer["bytes"], answer["documents"]) == (sum(map(len, DOCUMENTS[::2])), 8)
    assert len(answer["passes"]) == 2
    assert answer["imported"] == []
    decoded = processes.work(
        Job("decode", OURS, load="cl100k_base", text=str(text.path), stride=2, passes=2, ids=str(ids))
    )
    assert (decoded["digest"], decoded["tokens"]) == (True, len(expected))


def test_worker_gives_the_right_results_of_small_calls(text, made_ids):
    files = Job("", OURS, load="cl100k_base", text=str(text.path))
    tokenizer = load("cl100k_base")
    tokens = [token for document in DOCUMENTS for token in tokenizer.tokens(document)]
    places = ([token.token_id for token in tokens], [(token.char_start, token.char_end) for token in tokens])
    expected = worker.digest_of([repr(each).encode() for each in places])
    for way in ("", "columns"):
        answer = processes.work(replace(files, operation="tokens", way=way))
        assert (answer["digest"], answer["tokens"]) == (expected, len(tokens))
    short = processes.work(replace(files, operation="short"))
    assert short["digest"] == worker.digest_of([array("I", places[0]).tobytes()])
    assert short["documents"] == len(DOCUMENTS)
    for operation, ids in (("decode_batch", "lists"), ("stream", "ids")):
        answer = processes.work(replace(files, operation=operation, ids=str(made_ids[ids])))
        assert (answer["digest"], answer["tokens"]) == (True, len(tokens))


def test_one_text_and_separate_ones_are_encoded_as_such(text):
    files = Job("encode", OURS, load="cl100k_base", text=str(text.path))
    tokenizer = load("cl100k_base")
    for way, ids in (("", tokenizer.encode(b"".join(DOCUMENTS))), ("buffers", tokenizer.encode_batch(DOCUMENTS).ids)):
        assert processes.work(replace(files, way=way))["digest"] == worker.digest_of([array("I", ids).tobytes()])


def test_a_pass_that_takes_longer_than_its_limit_is_stopped(text, tmp_path):
    many = texts.store("many", [b"%d" % (number * 7919) for number in range(3_000_000)], "made up", tmp_path)
    job = Job("short", OURS, load="cl100k_base", text=str(many.path), limit=1)
    with pytest.raises(TooSlow, match="stopped after 1 s"):
        processes.work(job)
    entry = entries.Entry({"": cell("short", "", "bpe", [])}, 3, lambda: processes.work(job))
    entry.run()
    assert (entry.first.status, entry.first.limit, entry.first.runs) == ("too slow", 1, 1)


@pytest.mark.parametrize(("level", "seen"), [("avx2", 1), ("no-avx", 0)])
def test_hidden_instructions_are_not_seen_and_change_no_result(level, seen, text, tmp_path):
    hider = instructions.build(tmp_path)
    if hider is None:
        skip(NO_TRAP)
    script = (
        "import ctypes, sys; from benchmarks import instructions; instructions.hide(*sys.argv[1:]); "
        "print(ctypes.CDLL(sys.argv[1]).seen())"
    )
    root = Path(plan.__file__).parent.parent
    done = subprocess.run([sys.executable, "-c", script, hider, level], capture_output=True, check=True, cwd=root)
    assert int(done.stdout) & ~seen == 0
    job = Job("encode", OURS, load="cl100k_base", text=str(text.path))
    lesser = replace(job, level=level, hider=str(hider))
    assert processes.work(lesser)["digest"] == processes.work(job)["digest"]


def test_worker_says_when_the_text_does_not_come_back(text, tmp_path):
    (tmp_path / "ids").write_bytes(array("I", [1, 2, 3]).tobytes())
    job = Job("decode", OURS, load="cl100k_base", text=str(text.path), ids=str(tmp_path / "ids"))
    assert processes.work(job)["digest"] is False


def test_worker_that_fails_gives_one_line_without_paths(text):
    with pytest.raises(WorkerFailed, match=r"^FileNotFoundError: .*'absent\.txt'$"):
        processes.work(Job("encode", OURS, load="cl100k_base", text=str(text.path.with_name("absent.txt"))))


def test_a_command_that_is_not_there():
    with pytest.raises(WorkerFailed):
        processes.start(["no-such-command-anywhere"], "x", 1)


def test_last_line_of_stderr_is_the_reason():
    with pytest.raises(WorkerFailed, match=r"^Error: said so$"):
        processes.run(
            [sys.executable, "-c", "import sys; print('noise', file=sys.stderr); sys.exit('Error: said so')"], 1
        )


def test_stopwatch_tells_what_a_process_took(tmp_path):
    taken = processes.timed([sys.executable, "-c", "x = bytearray(50_000_000); print('noise')"], 1)
    assert 50e6 < taken["peak"] < 200e6
    assert 0 < taken["cpu"] <= taken["wall"] * 1.5
    with pytest.raises(WorkerFailed, match=r"^Error: said so$"):
        processes.timed([sys.executable, "-c", "import sys; sys.exit('Error: said so')"], 1)
    with pytest.raises(WorkerFailed, match="stopped after 1 s"):
        processes.timed([sys.executable, "-c", "import time; time.sleep(30)"], 1, limit=1)
    with pytest.raises(WorkerFailed):
        processes.timed([str(tmp_path / "absent")], 1)


def test_a_file_has_the_digest_of_the_ids_in_it(tmp_path):
    path = tmp_path / "ids"
    path.write_bytes(array("I", [1, 2, 3]).tobytes())
    assert processes.digest_of_file(path) == worker.digest_of([path.read_bytes()])


def made_plan(text, folder: Path, repository: Path, **changes: object) -> plan.Plan:
    """Return a plan on a made-up text, and on separate ones."""
    separate = [texts.store(name, DOCUMENTS, "made up", folder) for name in texts.COLLECTIONS]
    return plan.Plan(replace(QUICK, **changes), [text, *separate], folder, repository)


@pytest.fixture
def made_ids(tmp_path):
    """Return files of the ids of the text: all of them, and a list a document."""
    batch = load("cl100k_base").encode_batch(DOCUMENTS)
    files = {"ids": tmp_path / "text.ids", "lists": tmp_path / "text.lists"}
    files["ids"].write_bytes(bytes(batch.ids))
    files["lists"].write_text(json.dumps(batch.to_lists()), encoding="ascii")
    return files


@at_least(1)
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in LIBRARIES if name != OURS])
def test_other_libraries_do_the_same_work(name, text, made_ids, tmp_path, repository):
    library = LIBRARIES[name]
    if machine.version_of(library.distribution) is None:
        skip(f"needs {library.distribution}, which make bench installs")
    wanted = {"byte-level": "cl100k_base", "wordpiece": "bert", "unigram": "xlnet", "sentencepiece": "llama2"}
    for kind in library.kinds:
        vocabulary = vocabularies.prepare(wanted[kind], tmp_path, repository)
        if vocabulary is None or (kind == "unigram" and name != "sentencepiece"):
            continue  # it lies beside the repository on some machines, and not all can read it
        files = vocabulary.job(operation="encode", library=OURS, way="buffers", text=str(text.path))
        ids = tmp_path / "ids"
        ours = processes.work(replace(files, ids=str(ids)))
        for operation in set(library.operations) & {"encode", "decode"}:
            for way in library.ways if operation == "encode" and kind == "byte-level" else library.ways[-1:]:
                job = replace(files, operation=operation, library=name, way=way, ids="")
                expected = ours["digest"]
                if operation == "decode":
                    if kind != "byte-level":
                        continue
                    job, expected = replace(job, ids=str(ids)), True
                answer = processes.work(job)
                assert answer["digest"] == expected, (operation, kind, way)
                compared()
    files = vocabularies.prepare("cl100k_base", tmp_path, repository).job(
        operation="", library=OURS, text=str(text.path)
    )
    for operation in ("tokens", "short"):
        if operation in library.operations:
            job = replace(files, operation=operation)
            assert processes.work(replace(job, library=name))["digest"] == processes.work(job)["digest"], operation
            compared()
    for operation, ids in (("decode_batch", "lists"), ("stream", "ids")):
        if operation in library.operations:
            answer = processes.work(replace(files, operation=operation, library=name, ids=str(made_ids[ids])))
            assert answer["digest"] is True, operation
            compared()
    if "train" in library.operations:
        rules = TRAINING_RULES[name]
        # Not more than the text gives: gigatoken goes on with pairs that do not occur.
        job = Job("train", name, text=str(text.path), vocab_size=265, pattern=PATTERNS["gpt2"].regex, rules=rules)
        assert processes.work(job)["digest"] == processes.work(replace(job, library=OURS))["digest"]
        compared()


# -- the plan --------------------------------------------------------------------------------------


def answers(entry: entries.Entry, digest: object = "d") -> dict[str, object]:
    passes = [{"wall": 0.1 * number, "cpu": 0.05 * number} for number in (3, 2, 1)]
    return {"bytes": 10, "documents": 2, "tokens": 5, "digest": digest, "passes": passes, "peak": 1000}


def test_first_pass_is_cold_the_others_are_warm():
    cells = {phase: cell("encode", phase, "tiktoken", []) for phase in ("cold", "warm")}
    entry = entries.Entry(cells, 2, lambda: answers(entry))
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
    prepared = texts.prepare([*texts.BENCH_TEXTS, *texts.COLLECTIONS], tmp_path, repository, 1_000_000)
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
    assert run.near([ours, near, far]) == [near]
    assert run.near([ours, far]) == []
    assert run.near([ours, once("rustbpe", 0.5), far])[0].first.library == "rustbpe"


def test_tokenizers_with_stages_are_measured_where_they_lie(text, tmp_path, repository, shared):
    made = made_plan(text, tmp_path, repository, operations=("encode",), tokenizers=plan.TOKENIZERS)
    beside = {}
    for entry in made.entries():
        beside.setdefault(entry.first.tokenizer, set()).add(entry.first.library)
    assert {"splintr", "tokie", "tokenizers"} < beside["bert"]
    assert {"splintr", "tokie", "tokenizers"} < beside["t5"]
    assert beside["xlnet"] == {"bpe", "sentencepiece"}
    assert {"gigatoken", "splintr", "sentencepiece", "tokenizers"} < beside["llama2"]
    assert {"bpe", "gigatoken", "fastokens"} == beside["llama3"]


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
    source = texts.running(text, tmp_path)
    for size in (1, source.stat().st_size, 5 * source.stat().st_size + 3):
        assert growth.repeated(source, size, target) == target.stat().st_size == size
        assert source.read_bytes().startswith(target.read_bytes()[: source.stat().st_size])


def test_whole_processes_write_what_the_reference_does(text, tmp_path, repository):
    made = made_plan(text, tmp_path, repository, operations=("whole",), repetitions=1)
    measured = [entry for entry in made.entries() if entry.first.library == OURS and entry.first.threads == 1]
    for entry in measured:
        entry.run()
    made.judge(measured)
    assert {entry.first.status for entry in measured} == {"same"}
    assert all(entry.first.peak for entry in measured)


def test_partial_rounds_do_not_replace_the_stored_one(tmp_path):
    script = Path(plan.__file__).with_name("run.py")
    done = subprocess.run(
        [sys.executable, script, "--quick", "--only", "start", "--text", "python", "--tokenizer", "cl100k_base"],
        capture_output=True, encoding="utf-8", check=True, cwd=tmp_path,
    )  # fmt: skip
    assert "not stored" in done.stderr
    assert "start-up, `bpe encode -T`, cl100k_base, ms" in done.stdout
    assert "wrote" not in done.stderr
