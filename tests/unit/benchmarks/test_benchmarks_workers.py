"""The benchmark's texts and workers, and that all libraries do the same work. No test says how long anything takes."""

from __future__ import annotations

import json
import subprocess
import sys
from array import array
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from benchmarks import entries, instructions, machine, plan, processes, texts, vocabularies, worker
from benchmarks.jobs import Job
from benchmarks.libraries import LIBRARIES, OURS, TRAINING_RULES
from benchmarks.processes import WorkerFailed
from bpe_cli import load
from bpe_cli.stages.patterns import PATTERNS
from tests.counted import at_least, compared
from tests.needs import NO_TRAP, skip
from tests.thorough import more
from tests.unit.benchmarks.rounds import DOCUMENTS, cell

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


def test_worker_gives_the_right_results_of_small_calls(text, tmp_path):
    made_ids = ids_of("cl100k_base", tmp_path)
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


def test_a_pass_that_takes_longer_than_its_limit_is_stopped(tmp_path):
    long = texts.store("long", [b"word " * 20_000], "made up", tmp_path)
    job = Job("short", OURS, load="cl100k_base", text=str(long.path), limit=1)  # a million times: hours
    entry = entries.Entry({"": cell("short", "", "bpe", [])}, 3, lambda: processes.work(job))
    entry.run()
    assert (entry.first.status, entry.first.note) == ("too slow", "stopped after 1 s")
    assert (entry.first.limit, entry.first.runs) == (1, 1)


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


def ids_of(tokenizer: str, folder: Path) -> dict[str, Path]:
    """Return files of the ids of the text: all of them, and a list a document."""
    batch = load(tokenizer).encode_batch(DOCUMENTS)
    files = {"ids": folder / "text.ids", "lists": folder / "text.lists"}
    files["ids"].write_bytes(bytes(batch.ids))
    files["lists"].write_text(json.dumps(batch.to_lists()), encoding="ascii")
    return files


SEVERAL = """
import json, sys
from benchmarks import worker
from benchmarks.jobs import Job
from benchmarks.libraries import LIBRARIES

jobs = [Job(**job) for job in json.loads(sys.argv[1])]
library, loaded = LIBRARIES[jobs[0].library], {}
load_from = getattr(library, "load_from", None)  # what only trains loads nothing

def once(job):
    if job.tokenizer not in loaded:
        loaded[job.tokenizer] = load_from(job)
    return loaded[job.tokenizer]

library.load_from = once
answers = [worker.measure(job) for job in jobs]
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(answers, file)
"""
"""Does jobs of one library as a worker does one."""


@pytest.fixture(scope="module")
def digests(tmp_path_factory):
    """Return what gives the digests of one library's jobs.

    All that are asked for together are done in one process, which loads the library once, and each tokenizer: it is
    not timed here. No job is done twice.
    """
    root, target = Path(plan.__file__).parent.parent, tmp_path_factory.mktemp("answers") / "answers"
    known: dict[Job, object] = {}

    def given(jobs: Sequence[Job]) -> list[object]:
        new = [job for job in dict.fromkeys(jobs) if job not in known]
        if new:
            script = [sys.executable, "-c", SEVERAL, json.dumps([asdict(job) for job in new]), str(target)]
            subprocess.run(script, env=processes.environment(1), cwd=root, stdout=subprocess.DEVNULL, check=True)
            answers = json.loads(target.read_text(encoding="utf-8"))
            for job, answer in zip(new, answers, strict=True):
                came_back = answer["digest"] == answer["expected"] if "expected" in answer else None
                known[job] = answer["digest"] if came_back is None else came_back
        return [known[job] for job in jobs]

    return given


@at_least(1)
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in LIBRARIES if name != OURS])
def test_other_libraries_do_the_same_work(name, text, digests, tmp_path, repository):
    library = LIBRARIES[name]
    if machine.version_of(library.distribution) is None:
        skip(f"needs {library.distribution}, which make bench installs")
    # Of half the size, for they load it each time; one library has none but two of OpenAI's later ones.
    byte_level = "cl100k_base" if name == "rs_bpe" else more("gpt2", "cl100k_base")
    made_ids = ids_of(byte_level, tmp_path)
    stages = more("deepseek-v3", "qwen2.5")
    wanted = {
        "byte-level": byte_level, "stages": stages, "wordpiece": "bert", "unigram": "xlnet", "sentencepiece": "llama2"
    }  # fmt: skip
    theirs: dict[Job, Job | bool] = {}  # a job, and ours that gives the same digest; True: the text comes back
    for kind in library.kinds:
        vocabulary = vocabularies.prepare(wanted[kind], tmp_path, repository)
        if vocabulary is None or (kind == "unigram" and name != "sentencepiece"):
            continue  # it lies beside the repository on some machines, and not all can read it
        if kind == "stages" and name == "tokie":
            continue  # its ids are others
        files = vocabulary.job(operation="encode", library=OURS, way="buffers", text=str(text.path))
        for way in library.ways if kind == "byte-level" else library.ways[-1:]:
            theirs[replace(files, library=name, way=way)] = files
        if kind == "byte-level":
            for operation in ("tokens", "short"):
                job = replace(files, operation=operation, way="")
                theirs[replace(job, library=name)] = job
            for operation, ids in (("decode", "ids"), ("decode_batch", "lists"), ("stream", "ids")):
                theirs[replace(files, operation=operation, library=name, way="", ids=str(made_ids[ids]))] = True
    if "train" in library.operations:
        # Not more than the text gives: gigatoken goes on with pairs that do not occur.
        job = Job("train", name, text=str(text.path), vocab_size=265, pattern=PATTERNS["gpt2"].regex)
        job = replace(job, rules=TRAINING_RULES[name])
        theirs[job] = replace(job, library=OURS)
    theirs = {job: same for job, same in theirs.items() if job.operation in library.operations}
    ours = [same for same in theirs.values() if isinstance(same, Job)]
    expected = {True: True} | dict(zip(ours, digests(ours), strict=True))
    for job, digest in zip(theirs, digests([*theirs]), strict=True):
        assert digest == expected[theirs[job]], (job.operation, job.kind, job.way)
        compared()
