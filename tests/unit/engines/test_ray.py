"""The engine of Ray with a stand-in for Ray, which does each task when it is asked whether it is done.

tests/integrations/test_ray.py has real clusters.
"""

from __future__ import annotations

import copy
import signal
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from bpe_cli.engines import engine_named, ray
from bpe_cli.engines.local import Local
from bpe_cli.engines.ray import RayCluster
from bpe_cli.errors import BpeError, InputError, UsageError
from tests.parts import Part, work_in

PARTS = [Part(number) for number in range(9)]


class Reference:
    """What Ray hands out for a value or a task."""

    def __init__(self, make: Any) -> None:
        self.make, self.is_cancelled = make, False

    def hex(self) -> str:
        return f"{id(self):x}"


class StandIn(types.ModuleType):
    """As much of Ray as the engine uses."""

    def __init__(self, *, fails_to_connect: Exception | None = None, loses: tuple[str, ...] = ()) -> None:
        super().__init__("ray")
        self.fails, self.loses = fails_to_connect, loses
        self.asked: list[dict[str, Any]] = []
        self.most, self.is_up, self.up_by = 0, False, ""
        exceptions = types.SimpleNamespace(RayError=type("RayError", (Exception,), {}))
        exceptions.RayTaskError = type("RayTaskError", (exceptions.RayError,), {"cause": ValueError("no module")})
        exceptions.NodeDiedError = type("NodeDiedError", (exceptions.RayError,), {})
        self.exceptions = exceptions

    def is_initialized(self) -> bool:
        return self.is_up

    def init(self, address: str, **_: Any) -> None:
        signal.signal(signal.SIGTERM, lambda *_: None)
        if self.fails is not None:
            raise self.fails
        self.is_up, self.up_by = True, address

    def shutdown(self) -> None:
        self.is_up = False

    def put(self, value: Any) -> Reference:
        return Reference(lambda: copy.deepcopy(value))

    def get(self, reference: Reference) -> Any:
        return reference.make()

    def remote(self, **settings: Any) -> Any:
        def decorated(function: Any, more: dict[str, Any] | None = None) -> Any:
            def remote(*arguments: Any) -> Reference:
                asked = settings | (more or {})
                self.asked.append(asked)
                if asked.get("name") in self.loses:
                    error = self.exceptions.NodeDiedError if "lost" in self.loses else self.exceptions.RayTaskError
                    return Reference(lambda: (_ for _ in ()).throw(error()))
                return Reference(lambda: function(*arguments))

            return types.SimpleNamespace(options=lambda **more: decorated(function, more), remote=remote)

        return decorated

    def wait(self, waiting: list[Reference], num_returns: int = 1, timeout: float | None = None) -> Any:
        self.most = max(self.most, len(waiting))
        return (waiting[-1:], waiting[:-1]) if num_returns == 1 or not timeout else (waiting[:-1], waiting[-1:])

    def cancel(self, reference: Reference, force: bool = False) -> None:
        reference.is_cancelled = True

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 3.0}

    def nodes(self) -> list[dict[str, Any]]:
        return [{"Alive": True, "Resources": {"CPU": 3.0, "memory": float(1 << 30)}}]


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Any:
    def use(**settings: Any) -> StandIn:
        module = StandIn(**settings)
        monkeypatch.setitem(sys.modules, "ray", module)
        worker = types.SimpleNamespace(_worker_logs_enabled=True)
        monkeypatch.setitem(sys.modules, "ray._private", types.SimpleNamespace(worker=worker))
        monkeypatch.setattr(ray._Kept, "key", None)
        return module

    return use


def test_parts_are_tasks_that_spread(stand_in: Any, tmp_path: Path) -> None:
    module = stand_in()
    amounts: list[int] = []
    before = signal.getsignal(signal.SIGTERM)
    results = list(RayCluster().run(work_in(tmp_path), PARTS, amounts.append))
    assert sorted(results) == [(number**2, True) for number in range(9)]
    assert amounts == [10] * 9
    assert module.asked[0] == {
        "num_cpus": 1, "memory": 512 << 20, "max_retries": 5, "name": "part 0", "scheduling_strategy": "SPREAD",
    }  # fmt: skip
    assert (module.most, module.up_by, module.is_up) == (6, "auto", False)
    assert signal.getsignal(signal.SIGTERM) is before
    assert len(list(tmp_path.glob("*.worker"))) == 1  # begun once
    assert list(RayCluster().run(work_in(tmp_path), [])) == []


def test_a_connection_of_the_program_is_used_and_kept(stand_in: Any, tmp_path: Path) -> None:
    module = stand_in()
    module.is_up = True
    assert len(list(RayCluster(processes=2).run(work_in(tmp_path), PARTS))) == 9
    assert (module.most, module.up_by, module.is_up) == (2, "", True)


def test_errors_end_the_run_and_cancel_the_others(stand_in: Any, tmp_path: Path) -> None:
    module = stand_in()
    cancelled: list[bool] = []
    module.cancel = lambda reference, force=False: cancelled.append(force)
    with pytest.raises(InputError, match="a broken line"):
        list(RayCluster().run(work_in(tmp_path), [*PARTS[:3], Part(3, "raises"), *PARTS[4:]]))
    assert cancelled
    assert (sum(cancelled), module.is_up) == (1, False)
    with pytest.raises(InputError, match="there is no tokenizer"):
        list(RayCluster().run(work_in(tmp_path, beginning="raises"), PARTS))


def test_what_is_lost_time_and_again_is_named(stand_in: Any, tmp_path: Path) -> None:
    stand_in(loses=("part 2", "lost"))
    with pytest.raises(BpeError, match="part 2 was lost with its process or its node, time and again: NodeDiedError"):
        list(RayCluster().run(work_in(tmp_path), PARTS))


def test_workers_without_bpe_or_with_another_are_named(
    stand_in: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(loses=("part 2",))
    with pytest.raises(BpeError, match="a worker of the Ray cluster cannot make part 2: no module") as caught:
        list(RayCluster().run(work_in(tmp_path), PARTS))
    assert caught.value.hint == "each node needs bpe-cli, in the same version"
    versions = iter(("1", "2", "2"))
    monkeypatch.setattr(ray, "_version", lambda: next(versions))
    with pytest.raises(BpeError, match="another version of bpe-cli: 2"):
        list(RayCluster(processes=1).run(work_in(tmp_path), PARTS))


@pytest.mark.parametrize(
    ("address", "error", "message"),
    [
        (None, ConnectionError("none"), "there is no Ray cluster: RAY_ADDRESS is not set"),
        (
            None,
            RuntimeError("Version mismatch\nmore"),
            "cannot connect to the Ray cluster of RAY_ADDRESS: Version misma",
        ),
        ("ray://x:1", ConnectionError("timed out"), "cannot connect to the Ray cluster ray://x:1: timed out"),
    ],
)
def test_a_cluster_that_is_not_there(
    stand_in: Any, tmp_path: Path, address: str | None, error: Exception, message: str
) -> None:
    stand_in(fails_to_connect=error)
    with pytest.raises(UsageError, match=message):
        list(RayCluster(address).run(work_in(tmp_path), PARTS))


def test_a_cluster_without_room_is_noted(stand_in: Any, tmp_path: Path) -> None:
    stand_in()
    notes: list[str] = []
    list(RayCluster(memory=1 << 31).run(work_in(tmp_path), PARTS, note=notes.append))
    assert notes == ["no node of the Ray cluster has a processor and 2048 MiB for a part: waiting for one"]


def test_without_ray_it_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match="needs Ray, which is not installed"):
        list(RayCluster().run(work_in(tmp_path), PARTS))


def test_engines_have_names() -> None:
    assert isinstance(engine_named("local"), Local)
    assert engine_named("ray", 3) == RayCluster(None, 3)
    assert engine_named("ray://host:10001") == RayCluster("ray://host:10001")
    for name in ("", "ray:", "ray://", "spark", "Local"):
        with pytest.raises(UsageError, match="there is no engine"):
            engine_named(name)
