"""All ranks and workers together have each row once, in the same order for the same seed, wherever they go on."""

from __future__ import annotations

import itertools
import json
import pickle
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_cli
from bpe_cli import TokenDataset
from bpe_cli.datasets.order import Order
from bpe_cli.datasets.stream import StreamOptions, TokenStream
from bpe_cli.errors import UsageError
from tests.needs import needs
from tests.thorough import more

np = needs("numpy")
TAILS = ("keep", "drop", "repeat")


class Numbered:
    """A data set in which each row is its number."""

    sha256 = "hash"

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, row: int) -> int:
        assert 0 <= row < self.count
        return row


def stream_of(count: int, **options: Any) -> TokenStream:
    return TokenStream(Numbered(count), StreamOptions(**options))  # type: ignore[arg-type]


def read(stream: TokenStream, worker: int = 0, workers: int = 1, most: int | None = None, seed: int = 7) -> list[Any]:
    """Read as a worker of a DataLoader does, which PyTorch would say."""
    before = sys.modules.get("torch.utils.data")
    info = SimpleNamespace(id=worker, num_workers=workers, seed=seed + worker)
    stand_in: Any = SimpleNamespace(get_worker_info=lambda: None if workers == 1 else info)
    sys.modules["torch.utils.data"] = stand_in
    try:
        return list(itertools.islice(iter(stream), most))
    finally:
        if before is None:
            del sys.modules["torch.utils.data"]
        else:
            sys.modules["torch.utils.data"] = before


def batches_of_workers(stream: TokenStream, workers: int, seed: int = 7) -> list[list[Any]]:
    """Return the batches in the order in which a DataLoader gives them: from each worker in turn."""
    size = stream.options.batch_size
    of_each = []
    for worker in range(workers):
        rows = read(pickle.loads(pickle.dumps(stream)), worker, workers, seed=seed)
        of_each.append([rows[at : at + size] for at in range(0, len(rows), size)])
    return [batch for turn in itertools.zip_longest(*of_each) for batch in turn if batch is not None]


orders = st.fixed_dictionaries(
    {
        "seed": st.none() | st.integers(0, 5),
        "epoch": st.integers(0, 3),
        "batch_size": st.integers(1, 7),
        "block": st.none() | st.integers(1, 40),
    }
)


@given(st.integers(0, 90), st.integers(1, 5), st.integers(1, 4), st.sampled_from(TAILS), orders)
def test_ranks_and_workers_have_each_row_once(
    count: int, ranks: int, workers: int, tail: str, order: dict[str, Any]
) -> None:
    streams = [stream_of(count, rank=rank, world_size=ranks, tail=tail, **order) for rank in range(ranks)]
    together: Counter[int] = Counter()
    for stream in streams:
        rows = [row for batch in batches_of_workers(stream, workers) for row in batch]
        assert len(rows) == len(stream)
        assert rows == read(stream)  # the same batches in the same order, however many workers there are
        together.update(rows)
    assert together.keys() <= set(range(count))
    whole = order["batch_size"] * ranks
    if tail == "keep":
        assert together == Counter(range(count))
    else:
        assert len({len(stream) for stream in streams}) == 1
        assert len(streams[0]) % order["batch_size"] == 0
    if tail == "drop":
        assert together.total() == count - count % whole
        assert set(together.values()) <= {1}
    if tail == "repeat":
        assert together.total() == -(-count // whole) * whole
        assert together.keys() == set(range(count))


@given(st.integers(0, 90), st.integers(1, 4), orders, st.data())
def test_ranks_share_one_order(count: int, ranks: int, order: dict[str, Any], data: st.DataObject) -> None:
    """Each step takes the next batches of the order: so it is the same for any number of ranks."""
    size = order["batch_size"]
    alone = read(stream_of(count, **order))
    rows = [read(stream_of(count, rank=rank, world_size=ranks, **order)) for rank in range(ranks)]
    steps = range(0, max(map(len, rows), default=0), size)
    assert [row for at in steps for each in rows for row in each[at : at + size]] == alone


@given(st.integers(0, 90), st.integers(1, 3), st.integers(1, 3), st.integers(0, 40), st.sampled_from(TAILS), orders)
def test_a_state_is_gone_on_with(
    count: int, ranks: int, workers: int, most: int, tail: str, order: dict[str, Any]
) -> None:
    def new() -> TokenStream:
        return stream_of(count, rank=ranks - 1, world_size=ranks, tail=tail, **order)

    for worker in range(workers):
        first = new()
        before = read(first, worker, workers, most)
        state = json.loads(json.dumps(first.state_dict()))
        second = new()
        second.set_epoch(77)
        second.load_state_dict(state)
        after = read(second, worker, workers)
        assert before + after == read(new(), worker, workers)
        assert second.epoch == order["epoch"]
        assert read(second, worker, workers) == before + after  # the next pass begins at the start
    # What one process has read, others may go on with.
    first = new()
    before = read(first, most=most)
    second = new()
    second.load_state_dict(first.state_dict())
    assert before + [row for batch in batches_of_workers(second, workers) for row in batch] == read(new())


class Shared:
    """A number in memory that processes share, as a tensor of PyTorch's may be: what is pickled is the same one."""

    all: list[Shared] = []  # noqa: RUF012

    def __init__(self, number: int, dtype: object) -> None:
        self.number = number
        self.place = len(self.all)
        self.all.append(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return shared, (self.place,)

    def __int__(self) -> int:
        return self.number

    def share_memory_(self) -> Shared:
        return self

    def fill_(self, number: int) -> None:
        self.number = number


def shared(place: int) -> Shared:
    return Shared.all[place]


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let streams find as much of PyTorch as they ask for."""
    monkeypatch.setattr(Shared, "all", [])
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(tensor=Shared, int64=None))  # type: ignore[arg-type]
    data = SimpleNamespace(get_worker_info=lambda: None, IterableDataset=SimpleNamespace(register=lambda _: None))
    monkeypatch.setitem(sys.modules, "torch.utils.data", data)  # type: ignore[arg-type]


@pytest.mark.usefixtures("torch")
@pytest.mark.parametrize("new_epochs", [False, True])
def test_only_one_pass_of_workers_goes_on(new_epochs: bool) -> None:
    """The process that loads a state makes no pass itself, and hands the state to the workers of each."""
    options = {"seed": 1, "batch_size": 2}
    first, second = stream_of(30, **options), stream_of(30, **options)
    before = read(first, most=7)
    for _ in range(2):
        second.load_state_dict(first.state_dict())
        for number in range(3):
            if new_epochs:
                second.set_epoch(number)
            rows = [row for batch in batches_of_workers(second, 3, seed=1000 * number) for row in batch]
            whole = read(stream_of(30, **options, epoch=number if new_epochs else 0))
            assert (rows if number else before + rows) == whole
        assert read(second) == whole


def test_a_state_is_of_one_epoch() -> None:
    stream = stream_of(30, seed=1)
    before = read(stream, most=7)
    state = stream.state_dict()
    stream.set_epoch(1)
    later = json.loads(json.dumps(stream.state_dict()))
    other = stream_of(30, seed=1)
    other.load_state_dict(later)
    assert read(other) == read(stream_of(30, seed=1, epoch=1))
    other.load_state_dict(state)
    other.set_epoch(1)
    assert read(other) == read(stream_of(30, seed=1, epoch=1))
    other.load_state_dict(state)
    other.set_epoch(0)
    assert before + read(other) == read(stream_of(30, seed=1))


def test_two_passes_at_a_time_have_all_rows() -> None:
    stream = stream_of(10_000)
    assert list(zip(stream, stream, strict=True)) == [(row, row) for row in range(10_000)]


def test_a_state_is_json_whatever_numbers_are_given() -> None:
    options = {
        "rank": np.int64(1),
        "world_size": np.int32(2),
        "seed": np.uint8(3),
        "epoch": np.int64(4),
        "batch_size": 2,
    }
    stream = stream_of(30, **options)
    before = read(stream, most=5)
    state = json.loads(json.dumps(stream.state_dict()))
    other = stream_of(30, rank=1, world_size=2, seed=3, batch_size=2)
    other.load_state_dict(state)
    assert before + read(other) == read(stream_of(30, **options))


def test_states_that_do_not_belong_to_a_stream_are_refused() -> None:
    stream = stream_of(50, seed=1)
    read(stream, 1, 3, 4)
    state = stream.state_dict()
    for options, message in (
        ({"seed": 2}, "its seed is 1, not 2"),
        ({"seed": 1, "batch_size": 3}, "its batch_size is 1, not 3"),
        ({"seed": 1, "world_size": 2}, "its world_size is 1, not 2"),
    ):
        with pytest.raises(UsageError, match=message):
            stream_of(50, **options).load_state_dict(state)
    with pytest.raises(UsageError, match="its rows is 50, not 51"):
        stream_of(51, seed=1).load_state_dict(state)
    for nothing in ({}, None, {key: value for key, value in state.items() if key != "taken"}):
        with pytest.raises(UsageError, match="not the state of a stream"):
            stream.load_state_dict(nothing)  # type: ignore[arg-type]
    stream.load_state_dict(state)
    with pytest.raises(UsageError, match="is that of worker 1 of 3, and this is worker 1 of 2"):
        read(stream, 1, 2)


def test_options_are_checked() -> None:
    for options, message in (
        ({"rank": 2, "world_size": 2}, "there is no rank 2 of 2"),
        ({"world_size": 0}, "world_size must be 1"),
        ({"batch_size": 0}, "batch_size must be 1"),
        ({"block": 0}, "block must be 1"),
        ({"epoch": -1}, "epoch must be 0"),
        ({"seed": -1}, "seed must be 0"),
        ({"tail": "cut"}, "tail must be 'keep' or 'drop' or 'repeat'"),
    ):
        with pytest.raises(UsageError, match=message):
            stream_of(5, **options)
    with pytest.raises(TypeError, match="seed"):
        stream_of(5, seed="x")


@given(st.integers(0, 300), st.integers(0, 1 << 64), st.integers(0, 3), st.none() | st.integers(1, 50))
def test_an_order_has_each_row_once(count: int, seed: int, epoch: int, block: int | None) -> None:
    order = Order(count, seed, epoch, block)
    positions = np.arange(count, dtype=np.uint64)
    rows = order.rows(positions)
    assert sorted(rows.tolist()) == list(range(count))
    some = range(0, count, more(1 + count // 25, 1))  # each by itself, as a stream asks that goes on there
    assert [order.rows(positions[at : at + 1]).tolist() for at in some] == [[int(rows[at])] for at in some]
    assert positions.tolist() == list(range(count))  # what is given stays as it is


@given(st.integers(1 << 40, 1 << 60), st.integers(0, 9))
def test_an_order_of_very_many_rows_needs_no_list(count: int, seed: int) -> None:
    rows = Order(count, seed).rows(np.arange(1000, dtype=np.uint64) + np.uint64(count - 1000))
    assert len(set(rows.tolist())) == 1000
    assert max(rows.tolist()) < count


def test_an_order_is_always_the_same() -> None:
    """Whoever goes on with another version, or on another machine, has the same rows."""
    positions = np.arange(10, dtype=np.uint64)
    assert Order(10, 1).rows(positions).tolist() == SHUFFLED
    assert Order(10, 1, 0, 4).rows(positions).tolist() == IN_BLOCKS
    assert Order(10, None).rows(positions).tolist() == list(range(10))


def test_each_order_is_as_likely_as_another() -> None:
    """Of the seeds each of the 24 orders of four rows has its share, by the statistic of the chi-square test."""
    positions, share = np.arange(4, dtype=np.uint64), more(100, 250)
    for make in (lambda seed: Order(4, seed), lambda epoch: Order(4, 0, epoch)):
        counts = Counter(tuple(make(number).rows(positions).tolist()) for number in range(24 * share))
        assert len(counts) == 24
        assert sum((count - share) ** 2 / share for count in counts.values()) < 60  # 23 degrees: once in 30,000 times


def test_blocks_stay_together() -> None:
    rows = Order(103, 5, 0, 10).rows(np.arange(103, dtype=np.uint64)).tolist()
    blocks = [{row // 10 for row in rows[at : at + 10]} for at in range(0, 100, 10)]
    assert max(map(len, blocks)) <= 2  # the short block is filled up with rows of another
    assert sum(len(each) == 1 for each in blocks) >= 8
    order = [min(each) for each in blocks]
    assert order != sorted(order)
    assert rows[:10] != sorted(rows[:10])


def test_a_stream_of_a_data_set(tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text("".join(f"line {number}\n" for number in range(30)))
    bpe_cli.prepare("gpt2", tmp_path / "lines.txt", tmp_path / "out", documents="lines", to="npy-offsets", processes=1)
    rows = TokenDataset(tmp_path / "out")
    stream = rows.stream(seed=3, batch_size=4)
    shuffled = [row.tolist() for row in stream]
    assert sorted(shuffled) == sorted(row.tolist() for row in rows)
    assert shuffled != [row.tolist() for row in rows]
    stream.set_epoch(1)
    assert [row.tolist() for row in stream] != shuffled
    copy = pickle.loads(pickle.dumps(stream))
    assert [row.tolist() for row in copy] == [row.tolist() for row in stream]


SHUFFLED = [2, 0, 5, 6, 3, 4, 9, 1, 8, 7]
IN_BLOCKS = [1, 0, 2, 3, 8, 9, 7, 4, 5, 6]
