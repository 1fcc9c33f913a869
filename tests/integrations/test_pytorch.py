"""PyTorch reads data sets: by index and as a stream, with workers of every kind, and goes on after a stop."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import bpe_cli
from bpe_cli import TokenDataset
from bpe_cli.datasets.stream import TokenStream
from bpe_cli.sinks.dataset import DATASETS
from tests.needs import needs_reader

torch = needs_reader("torch")
data = needs_reader("torch.utils.data", "torch")
LENGTH = 8


@pytest.fixture(autouse=True)
def _warnings() -> Iterator[None]:
    """Let PyTorch warn of what it will: but not of streams that are longer than they said."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", "Length of IterableDataset")
        yield


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Make a data set of sequences of equal length in every format."""
    place = tmp_path_factory.mktemp("pytorch")
    (place / "lines.txt").write_text("".join(f"line {number} of a text\n" for number in range(120)))
    for to in DATASETS:
        bpe_cli.prepare(
            "gpt2", place / "lines.txt", place / to, documents="lines", eot="auto", to=to, length=LENGTH, pad=0,
            part_bytes=900, processes=1,
        )  # fmt: skip
    return {to: place / to for to in DATASETS}


def dataset(folders: dict[str, Path], to: str = "megatron") -> TokenDataset:
    return TokenDataset(folders[to], dtype="int64")


def listed(batches: Any) -> list[list[list[int]]]:
    return [batch.tolist() for batch in batches]


@pytest.mark.parametrize("to", sorted(DATASETS))
def test_a_loader_with_spawned_workers_reads_every_format(folders: dict[str, Path], to: str) -> None:
    rows = dataset(folders, to)
    expected = [row.tolist() for row in rows]
    loader = data.DataLoader(rows, batch_size=4, num_workers=2, multiprocessing_context="spawn")
    batches = list(loader)
    assert {batch.dtype for batch in batches} == {torch.int64}
    assert [row for batch in batches for row in batch.tolist()] == expected
    stored = data.DataLoader(TokenDataset(folders[to]), batch_size=4)
    assert [row for batch in stored for row in batch.long().tolist()] == expected


def test_a_loader_shuffles_and_shares(folders: dict[str, Path]) -> None:
    rows = dataset(folders)
    seen: list[list[int]] = []
    for rank in range(2):
        sampler = data.DistributedSampler(rows, num_replicas=2, rank=rank, seed=1)
        loader = data.DataLoader(rows, batch_size=3, num_workers=2, sampler=sampler, multiprocessing_context="fork")
        seen += [row for batch in loader for row in batch.tolist()]
    assert {tuple(row) for row in seen} == {tuple(row.tolist()) for row in rows}
    assert len(seen) == -(-len(rows) // 2) * 2  # the sampler fills up


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_stream_is_the_same_with_any_number_of_workers(folders: dict[str, Path], method: str) -> None:
    rows = dataset(folders)
    options: dict[str, Any]
    for options in ({"seed": 1, "rank": 1, "world_size": 2, "tail": "drop"}, *([{}] if method == "fork" else [])):
        stream = rows.stream(batch_size=5, **options)
        assert isinstance(stream, data.IterableDataset)
        expected = listed(data.DataLoader(stream, batch_size=5))
        for workers in (2, 3) if method == "fork" else (2,):
            loader = data.DataLoader(stream, batch_size=5, num_workers=workers, multiprocessing_context=method)
            assert len(loader) == len(expected)
            assert listed(loader) == expected
    assert len({str(row) for batch in expected for row in batch}) == len(stream)


@pytest.mark.parametrize("kept", [False, True])
def test_workers_hear_of_the_next_epoch(folders: dict[str, Path], kept: bool) -> None:
    stream = dataset(folders).stream(batch_size=5, seed=1)
    loader = data.DataLoader(
        stream,
        batch_size=5,
        num_workers=2,
        multiprocessing_context="spawn" if kept else "fork",
        persistent_workers=kept,
    )
    epochs = []
    for epoch in range(3):
        stream.set_epoch(epoch)
        epochs.append(listed(loader))
        assert epochs[-1] == listed(data.DataLoader(dataset(folders).stream(batch_size=5, seed=1, epoch=epoch), 5))
    assert len({str(each) for each in epochs}) == 3


@pytest.mark.parametrize("workers", [0, 2, 3])
def test_a_stateful_loader_goes_on_where_it_was(folders: dict[str, Path], workers: int) -> None:
    stateful = needs_reader("torchdata.stateful_dataloader", "torchdata")

    def new() -> tuple[TokenStream, Any]:
        stream = dataset(folders).stream(batch_size=5, seed=1, rank=1, world_size=2, epoch=1)
        context = "fork" if workers else None
        return stream, stateful.StatefulDataLoader(
            stream, batch_size=5, num_workers=workers, multiprocessing_context=context
        )

    whole = listed(new()[1])
    for at in (0, 1, 4, len(whole) - 1):
        _, loader = new()
        batches = iter(loader)
        before = [next(batches).tolist() for _ in range(at)]
        state = json.loads(json.dumps(loader.state_dict())) if not workers else loader.state_dict()
        del batches
        _, again = new()
        again.load_state_dict(state)
        assert before + listed(again) == whole


def test_a_map_style_loader_goes_on_where_it_was(folders: dict[str, Path]) -> None:
    stateful = needs_reader("torchdata.stateful_dataloader", "torchdata")
    rows = dataset(folders)

    def new() -> Any:
        return stateful.StatefulDataLoader(rows, batch_size=5, shuffle=True, generator=torch.Generator().manual_seed(1))

    whole = listed(new())
    loader = new()
    batches = iter(loader)
    before = [next(batches).tolist() for _ in range(3)]
    again = new()
    again.load_state_dict(loader.state_dict())
    assert before + listed(again) == whole


def test_a_state_without_workers_goes_on_with_some(folders: dict[str, Path]) -> None:
    stream = dataset(folders).stream(batch_size=5, seed=1)
    whole = listed(data.DataLoader(stream, batch_size=5))
    batches = iter(data.DataLoader(stream, batch_size=5))
    before = [next(batches).tolist() for _ in range(3)]
    again = dataset(folders).stream(batch_size=5, seed=1)
    again.load_state_dict(stream.state_dict())
    loader = data.DataLoader(again, batch_size=5, num_workers=2, multiprocessing_context="spawn")
    assert before + listed(loader) == whole
