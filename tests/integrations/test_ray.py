"""Ray runs the parts: on two nodes of this machine, one of which is lost; bytes are those of one process."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from bpe_cli.corpus import Source
from bpe_cli.engines.local import Local
from bpe_cli.engines.ray import RayCluster
from bpe_cli.errors import BpeError, InputError
from bpe_cli.jobs.compare import CompareJob, CompareOptions, compare_and_check
from bpe_cli.jobs.count import count_corpus
from bpe_cli.jobs.count_parts import add_up, count_parts
from bpe_cli.jobs.merge_counts import FAN_IN
from bpe_cli.jobs.parts.doing import PartsFolder
from bpe_cli.jobs.prepare import Prepared, PrepareOptions, prepare
from bpe_cli.jobs.tally_parts import ByParts
from bpe_cli.jobs.train_options import options_for
from bpe_cli.support.listening import SILENCE, Listener
from tests.cli_runner import signals, surroundings
from tests.killing import wait_for
from tests.needs import needs_reader
from tests.parts import Part, work_in

pytestmark = pytest.mark.filterwarnings("ignore")  # theirs
REPOSITORY = Path(__file__).resolve().parents[2]
ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # 127.0.0.1 stays what it is
    "PYTHONPATH": str(REPOSITORY),
}
OPTIONS = PrepareOptions(to="megatron", eot="auto", part_bytes=1 << 20)
MEMORY = 64 << 20
PARTS = [Part(number) for number in range(7)]


class Nodes:
    """A cluster: a head with one processor, and more nodes."""

    def __init__(self, folder: Path) -> None:
        os.environ.update(ENVIRONMENT)
        os.environ["RAY_TMPDIR"] = str(folder)
        (folder / "ray").mkdir()  # where Ray notes which cluster runs; it makes it for its own folder only
        ray = needs_reader("ray")
        needs_reader("grpc", "grpcio")
        from ray.cluster_utils import Cluster

        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.ray = ray
        self.settings = {"num_cpus": 1, "node_ip_address": "127.0.0.1", "object_store_memory": 80 << 20}
        self.cluster = Cluster(
            initialize_head=True,
            head_node_args={
                **self.settings, "include_dashboard": False, "ray_client_server_port": port, "temp_dir": str(folder),
            },
        )  # fmt: skip
        self.client = f"ray://127.0.0.1:{port}"
        os.environ["RAY_ADDRESS"] = self.cluster.address

    @contextmanager
    def one_more(self) -> Iterator[Any]:
        """Have one more node, unless the test takes it away."""
        node = self.cluster.add_node(**self.settings)
        self.cluster.wait_for_nodes()
        try:
            yield node
        finally:
            if node in self.cluster.list_all_nodes():
                self.cluster.remove_node(node)

    def lose(self, node: Any) -> int:
        """Kill all that runs on a node, as a loss of power does; return how many workers were at work."""
        raylet = node.all_processes["raylet"][0].process.pid
        at_work = workers_at_work(node)
        for each in (*children_of(raylet), raylet):
            os.kill(each, signal.SIGKILL)
        self.cluster.remove_node(node, allow_graceful=False)
        return len(at_work)


def children_of(process: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def workers_at_work(node: Any) -> list[int]:
    """Return the workers of a node that do a part, which Ray writes into their names."""
    workers = children_of(node.all_processes["raylet"][0].process.pid)
    return [each for each in workers if b"ray::part" in Path(f"/proc/{each}/cmdline").read_bytes()]


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    import tempfile

    before = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="ray", ignore_cleanup_errors=True) as folder:  # a socket's path is short
        try:
            nodes = Nodes(Path(folder))
            yield nodes
            nodes.cluster.shutdown()
        finally:
            os.environ.clear()
            os.environ.update(before)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Source:
    folder = tmp_path_factory.mktemp("in")
    chance = random.Random(3)
    words = (REPOSITORY / "README.md").read_text(encoding="utf-8").split()
    with open(folder / "a.jsonl", "w", encoding="utf-8") as file:
        while file.tell() < 20 << 20:
            file.write(json.dumps({"text": " ".join(chance.choices(words, k=chance.randrange(300)))}) + "\n")
    return Source((str(folder / "a.jsonl"),), documents="jsonl")


@pytest.fixture(scope="module")
def whole(corpus: Source, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("whole") / "out"
    prepare(corpus, "gpt2", OPTIONS, folder=folder, processes=1)
    return contents(folder)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def on_ray(corpus: Source, folder: Path, listener: Listener = SILENCE, **settings: Any) -> Prepared:
    engine = RayCluster(memory=MEMORY, **settings)
    return prepare(corpus, "gpt2", OPTIONS, folder=folder, engine=engine, listener=listener)


class Watch:
    """A listener that does something at the first amount."""

    def __init__(self, act: Any = None) -> None:
        self.act, self.amount, self.notes = act, 0, []

    @contextmanager
    def task(self, what: str, total: int | None, unit: str = "B") -> Iterator[Any]:
        yield self.advance

    def advance(self, amount: int) -> None:
        if self.act is not None and not self.amount:
            self.act()
        self.amount += amount

    def note(self, message: str) -> None:
        self.notes.append(message)


def test_bytes_are_those_of_one_process(
    nodes: Nodes, corpus: Source, whole: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    watch = Watch()
    with nodes.one_more():
        done = on_ray(corpus, Path("relative/out"), watch)
    assert (done.made, done.is_whole) == (done.parts, True)
    assert contents(tmp_path / "relative/out") == whole
    assert (watch.amount, watch.notes) == (os.path.getsize(corpus.paths[0]), [])
    again = on_ray(corpus, Path("relative/out"))
    assert (again.made, again.kept) == (0, done.parts)
    assert done.parts > 19


def test_a_node_that_is_lost_costs_nothing_but_time(
    nodes: Nodes, corpus: Source, whole: dict[str, bytes], tmp_path: Path
) -> None:
    with nodes.one_more() as node:
        done = on_ray(corpus, tmp_path / "out", Watch(lambda: nodes.lose(node)))
    assert (done.made, done.is_whole) == (done.parts, True)
    assert contents(tmp_path / "out") == whole


def test_what_was_under_way_on_it_is_done_again(nodes: Nodes, tmp_path: Path) -> None:
    with nodes.one_more() as node:
        results = RayCluster(memory=MEMORY).run(work_in(tmp_path), [Part(number, "naps") for number in range(15)])
        first = next(iter(results))
        assert wait_for(lambda: workers_at_work(node))
        time.sleep(0.3)  # it has left its mark, and goes on for a second
        assert nodes.lose(node)
        assert sorted(square for square, _ in [first, *results]) == [number**2 for number in range(15)]
    begun = [path.read_text().split() for path in tmp_path.glob("*.begun")]
    assert sorted(map(len, begun)) == [*[1] * 14, 2]


def test_what_is_common_is_begun_once_a_worker(nodes: Nodes, tmp_path: Path) -> None:
    """The mark of a worker cannot be made twice."""
    amounts: list[int] = []
    results = list(RayCluster(memory=MEMORY, processes=2).run(work_in(tmp_path), PARTS, amounts.append))
    assert sorted(results) == [(number**2, True) for number in range(7)]
    assert (amounts, len(list(tmp_path.glob("*.worker")))) == ([10] * 7, 1)
    # The same worker, another job in another folder.
    (tmp_path / "other").mkdir()
    assert len(list(RayCluster(memory=MEMORY).run(work_in(tmp_path / "other"), PARTS))) == 7
    assert len(list((tmp_path / "other").glob("*.begun"))) == 7


def test_a_worker_that_is_killed_is_made_up_for(nodes: Nodes, tmp_path: Path) -> None:
    parts = [*PARTS, Part(7, "killed once")]
    results = list(RayCluster(memory=MEMORY).run(work_in(tmp_path), parts))
    assert sorted(square for square, _ in results) == [number**2 for number in range(8)]


def test_a_part_that_ends_its_process_always_is_named(nodes: Nodes, tmp_path: Path) -> None:
    with pytest.raises(BpeError, match="part 3 was lost with its process or its node, time and again"):
        list(RayCluster(memory=MEMORY, retries=1).run(work_in(tmp_path), [*PARTS[:3], Part(3, "killed")]))


def test_errors_come_as_they_were_raised(nodes: Nodes, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a broken line") as foreseen:
        list(RayCluster(memory=MEMORY).run(work_in(tmp_path), [*PARTS, Part(7, "raises")]))
    assert foreseen.value.hint == "mend it"
    with pytest.raises(MemoryError, match="no room"):
        list(RayCluster(memory=MEMORY).run(work_in(tmp_path), [Part(7, "raises of Python")]))
    with pytest.raises(InputError, match="there is no tokenizer"):
        list(RayCluster(memory=MEMORY).run(work_in(tmp_path, beginning="raises"), PARTS))


def test_what_is_under_way_is_cancelled(nodes: Nodes, tmp_path: Path) -> None:
    ray = nodes.ray
    ray.init(address="auto", log_to_driver=False)  # the program's own connection stays
    try:
        results = RayCluster(memory=MEMORY).run(work_in(tmp_path), [Part(0), *[Part(n, "sleeps") for n in range(1, 5)]])
        assert next(iter(results)) == (0, True)
        results.close()  # type: ignore[attr-defined]
        assert wait_for(lambda: ray.available_resources().get("CPU", 0) >= 1, 20)
        assert not list(tmp_path.glob("*.woke"))
        assert ray.is_initialized()
    finally:
        ray.shutdown()


def test_what_no_node_can_hold_is_said(nodes: Nodes, tmp_path: Path) -> None:
    notes: list[str] = []
    engine = RayCluster(memory=1 << 50)
    results = engine.run(work_in(tmp_path), PARTS, note=lambda message: notes.append(message) or nodes_full())

    class Full(Exception):
        pass

    def nodes_full() -> None:
        raise Full

    with pytest.raises(Full):
        next(iter(results))
    assert notes == ["no node of the Ray cluster has a processor and 1073741824 MiB for a part: waiting for one"]


def test_counts_and_tallies_are_those_of_one_process(nodes: Nodes, corpus: Source, tmp_path: Path) -> None:
    """More parts than become one at a time: their counts come back as files of a tree."""
    engine, options = RayCluster(memory=MEMORY), options_for("bbpe", {"vocab_size": 400})
    with nodes.one_more() as node:
        place = PartsFolder(str(tmp_path / "counts"), part_bytes=1 << 20)
        watch = Watch(lambda: nodes.lose(node))
        done = count_parts(corpus, options, place, max_memory=MEMORY, engine=engine, listener=watch)
        assert (done.made, done.is_whole) == (done.parts, True)
        assert done.parts > 2 * FAN_IN
    summed = add_up(place.path, options, MEMORY, engine=engine)[0]
    assert summed.dump() == count_corpus(corpus, options).dump()
    alone = PartsFolder(str(tmp_path / "alone"), part_bytes=1 << 20)
    count_parts(corpus, options, alone, max_memory=MEMORY, engine=Local(1))
    assert contents(Path(place.path)) == contents(Path(alone.path))
    folder = tmp_path / "in"
    folder.mkdir()
    lines = Path(corpus.paths[0]).read_bytes().splitlines(keepends=True)
    for number in range(5):
        (folder / f"{number}.jsonl").write_bytes(b"".join(lines[number::100]))
    names, texts = ("gpt2", "cl100k_base"), Source((str(folder),), documents="jsonl")
    by_parts = ByParts(PartsFolder(str(tmp_path / "tallies"), part_bytes=1), engine)
    found, expected = (
        compare_and_check(CompareJob(names, texts, CompareOptions(), by_parts=each)) for each in (by_parts, None)
    )
    assert found == expected


def test_a_client_from_elsewhere(nodes: Nodes, corpus: Source, whole: dict[str, bytes], tmp_path: Path) -> None:
    """In a process of its own: the rest of this one is connected otherwise."""
    for _ in range(3):  # Ray gives the server of a client 30 seconds to begin, which may be too few on a busy machine
        run = bpe(corpus, tmp_path, "--engine", nodes.client)
        done = run.communicate(timeout=180)
        if b"cannot connect" not in done[1]:
            break
    assert (run.returncode, done[0]) == (0, b""), done[1].decode()
    assert contents(tmp_path / "out") == whole


def bpe(corpus: Source, folder: Path, *more: str) -> subprocess.Popen[bytes]:
    line = [sys.executable, "-m", "bpe_cli", "prepare", *corpus.paths, "--jsonl", "-t", "gpt2", "--eot", "auto"]
    line += ["--to", "megatron", "--part-size", "1", "-o", "out", *more]
    env = surroundings({"RAY_ADDRESS": os.environ["RAY_ADDRESS"]}) | ENVIRONMENT
    return subprocess.Popen(line, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.mark.parametrize(
    ("number", "status"), [*zip(signals("SIGINT", "SIGTERM", "SIGKILL"), (130, -15, -9), strict=False)]
)
def test_a_command_that_is_ended_ends_its_tasks(
    nodes: Nodes, corpus: Source, whole: dict[str, bytes], tmp_path: Path, number: int, status: int
) -> None:
    run = bpe(corpus, tmp_path, "--engine", "ray")
    assert wait_for(lambda: list(tmp_path.glob("out/part-*.json")))
    run.send_signal(number)
    out, err = run.communicate(timeout=60)
    assert run.returncode in (status, 0), err
    assert (out, b"Traceback" in err) == (b"", False)
    time.sleep(3)  # Ray ends the workers of a program that is gone
    there = contents(tmp_path / "out")
    assert all(whole[name] == data for name, data in there.items() if name[0] != ".")
    time.sleep(1)
    assert contents(tmp_path / "out").keys() == there.keys(), "a worker goes on"
    run = bpe(corpus, tmp_path, "--engine", "ray")
    out, err = run.communicate(timeout=120)
    assert (run.returncode, out, err.count(b"\n")) == (0, b"", 1), err
    assert contents(tmp_path / "out") == whole
