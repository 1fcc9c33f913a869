"""What stands beside the ids of a data set is read by the software that it is for, or by ten lines where that cannot.

All values are compared with those of the plain way.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from bpe_cli import TokenDataset
from bpe_cli.jobs.prepare import PrepareOptions
from bpe_cli.sinks.dataset import DATASETS
from bpe_cli.sinks.dataset.columns import COLUMNS
from tests.needs import needs, needs_reader
from tests.oracle import data_sets as plain
from tests.plain_sets import CHAT, listed, made, written

pytestmark = pytest.mark.filterwarnings("ignore")  # theirs
np = needs("numpy")
PACKED: dict[str, Any] = {"length": 24, "way": "best-fit", "pad": 5}
ALL = ("input_ids", *COLUMNS, "loss_mask")


@pytest.fixture(params=[{}, PACKED], ids=["documents", "packed"])
def shape(request: pytest.FixtureRequest) -> dict[str, Any]:
    return request.param


def talks(tmp_path: Path, to: str, **options: Any) -> tuple[Path, list[plain.Row]]:
    """Prepare conversations with their masks; return the folder, and the rows by the plain way."""
    (tmp_path / "in").mkdir()
    lines = written(tmp_path / "in")
    return tmp_path / to, made(lines, tmp_path / to, PrepareOptions(to=to, **CHAT, **options))[None]


def parts_in(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the first file of each part without its ending, and its record."""
    for part in json.loads((folder / "manifest.json").read_bytes())["parts"]:
        yield folder / part["files"][0]["name"].partition(".")[0], part


def columns_of(row: plain.Row, names: tuple[str, ...] = ALL) -> dict[str, Any]:
    return {name: row.fields()[name] for name in names}


def test_megatron_reads_masks_as_a_second_data_set(tmp_path: Path, shape: dict[str, Any]) -> None:
    module = needs_reader("megatron.core.datasets.indexed_dataset", "megatron-core")
    columns = ("spans",) if shape else ()
    folder, expected = talks(tmp_path, "megatron", columns=columns, **shape)
    found = []
    for stem, _ in parts_in(folder):
        ids, mask = module.IndexedDataset(str(stem)), module.IndexedDataset(f"{stem}.mask")
        assert ids.document_indices.tolist() == mask.document_indices.tolist()
        assert ids.sequence_lengths.tolist() == mask.sequence_lengths.tolist()
        for first, last in pairwise(ids.document_indices.tolist()):
            pieces = [ids[number].tolist() for number in range(first, last)]
            marks = [mark for number in range(first, last) for mark in mask[number].tolist()]
            found.append(([id_ for piece in pieces for id_ in piece], marks, list(map(len, pieces))))
    assert mask[0].dtype == np.uint8
    with_rest = [row.pieces + [len(row.ids) - sum(row.pieces)] * (len(row.ids) > sum(row.pieces)) for row in expected]
    assert found == [(row.ids, row.mask, pieces) for row, pieces in zip(expected, with_rest, strict=True)]


def test_streaming_reads_columns(tmp_path: Path, shape: dict[str, Any]) -> None:
    module = needs_reader("streaming", "mosaicml-streaming")
    module.base.util.clean_stale_shared_memory()
    folder, expected = talks(tmp_path, "mds", columns=COLUMNS, **shape)
    dataset = module.StreamingDataset(local=str(folder), batch_size=1, shuffle=False, validate_hash="sha256")
    found = [listed(dataset[number]) for number in range(len(dataset))]
    assert [{"input_ids": row.pop("tokens"), **row} for row in found] == [columns_of(row) for row in expected]
    torch = needs_reader("torch")
    batches = torch.utils.data.DataLoader(dataset, batch_size=1)
    assert [batch["loss_mask"][0].tolist() for batch in batches] == [row.mask for row in expected]


def test_webdataset_reads_columns(tmp_path: Path, shape: dict[str, Any]) -> None:
    module = needs_reader("webdataset")
    folder, expected = talks(tmp_path, "webdataset", columns=COLUMNS, **shape)
    urls = [f"{stem}.tar" for stem, _ in parts_in(folder)]
    names = {name: f"{'tokens' if name == 'input_ids' else name}.npy" for name in ALL}
    samples = module.WebDataset(urls, shardshuffle=False, empty_check=False).decode()
    found = [{name: sample[member].tolist() for name, member in names.items()} for sample in samples]
    assert found == [columns_of(row) for row in expected]


@pytest.mark.parametrize("to", ["datasets", "arrow", "parquet"])
def test_datasets_reads_columns(to: str, tmp_path: Path, shape: dict[str, Any]) -> None:
    module = needs("datasets")
    keep = () if shape else ("id:int64",)
    folder, expected = talks(tmp_path, to, columns=COLUMNS, keep=keep, **shape)
    names = (*ALL, *(["id"] if keep else []))
    if to == "datasets":
        table = module.load_from_disk(str(folder))
    else:
        paths = [f"{stem}.{to}" for stem, part in parts_in(folder) if part["documents"]]
        table = module.load_dataset(to, data_files=paths, split="train", cache_dir=str(tmp_path / "cache"))
    assert table.to_list() == [columns_of(row, names) for row in expected]
    # What the page about data sets makes of the mask.
    labels = table.map(lambda row: {
        "labels": [i if m else -100 for i, m in zip(row["input_ids"], row["loss_mask"], strict=True)]
    })  # fmt: skip
    assert labels["labels"][:] == [
        [id_ if mark else -100 for id_, mark in zip(row.ids, row.mask, strict=True)] for row in expected
    ]


def test_datatrove_merges_masks(tmp_path: Path, shape: dict[str, Any]) -> None:
    """Its merger is what reads them of its software; then they are numbers, one behind the other, as the ids."""
    needs_reader("torch")
    tokens = needs_reader("datatrove.pipeline.tokens", "datatrove")
    files = needs_reader("datatrove.utils.dataset", "datatrove")
    columns = ("spans",) if shape else ()
    folder, expected = talks(tmp_path, "datatrove", columns=columns, **shape)
    merger = tokens.DocumentTokenizerMerger(
        str(folder), str(tmp_path / "merged"), "all", shuffle=False, save_loss_metadata=True
    )
    merger.run(None, 0, 1)
    (path,) = (tmp_path / "merged").glob("*.ds")
    ids = [id_ for row in expected for id_ in row.ids]
    masks = [mark for row in expected for mark in row.mask]
    assert list(Path(f"{path}.loss").read_bytes()) == masks
    whole = files.DatatroveFileDataset(str(path), seq_len=len(ids) - 1, token_size=4)
    assert whole[0]["input_ids"].tolist() == ids


@pytest.mark.parametrize("to", ["bin", "npy", "npy-offsets", "litdata", "datatrove"])
def test_side_files_are_read_by_numpy(to: str, tmp_path: Path) -> None:
    """The ten lines of the page about data sets: for what has no place for a mask, or for spans."""
    folder, expected = talks(tmp_path, to, columns=("spans",), **PACKED)
    ids, masks, segments = [], [], []
    for stem, part in parts_in(folder):
        if to == "litdata":
            ids += np.fromfile(f"{stem}.bin", "<i4", offset=12).tolist()
        elif to.startswith("npy"):
            ids += np.load(f"{stem}.npy", mmap_mode="r").tolist()
        else:
            ids += np.fromfile(f"{stem}.{to if to == 'bin' else 'ds'}", "<u4").tolist()
        endings = {"bin": ".mask.bin", "datatrove": ".ds.loss"}
        mask = np.fromfile(f"{stem}{endings[to]}", np.uint8) if to in endings else np.load(f"{stem}.mask.npy")
        masks += mask.tolist()
        of_part = np.zeros(part["tokens"], int)
        for start, end in np.load(f"{stem}.spans.npy"):
            of_part[start:end] = of_part[start - start % 24 : start].max(initial=0) + 1
        segments += of_part.tolist()
    assert ids == [id_ for row in expected for id_ in row.ids]
    assert masks == [mark for row in expected for mark in row.mask]
    assert segments == [number for row in expected for number in row.fields()["segment_ids"]]


def test_litdata_reads_ids_beside_masks(tmp_path: Path) -> None:
    """Its loader cuts chunks at each multiple of a length, and so the mask beside is cut."""
    module = needs_reader("litdata")
    folder, expected = talks(tmp_path, "litdata", columns=("spans",), **PACKED)
    dataset = module.StreamingDataset(str(folder), item_loader=module.TokensLoader(block_size=24), shuffle=False)
    masks = np.concatenate([np.load(f"{stem}.mask.npy").reshape(-1, 24) for stem, _ in parts_in(folder)])
    assert [dataset[number].tolist() for number in range(len(dataset))] == [row.ids for row in expected]
    assert masks.tolist() == [row.mask for row in expected]


@pytest.mark.parametrize(
    ("to", "method"), [*((to, "fork") for to in sorted(DATASETS)), ("parquet", "spawn"), ("bin", "spawn")]
)
def test_a_loader_of_pytorch_batches_fields(to: str, method: str, tmp_path: Path) -> None:
    torch = needs_reader("torch")
    kind = DATASETS[to]
    columns = ("spans",) if "spans" in kind.all_columns else ("segment_ids",)
    folder, expected = talks(tmp_path, to, columns=columns, **PACKED)
    fields = ("input_ids", "loss_mask", "position_ids", "attention_mask")
    rows = TokenDataset(folder, dtype="int64", fields=fields)
    loader = torch.utils.data.DataLoader(rows, batch_size=4, num_workers=2, multiprocessing_context=method)
    found = [
        {name: batch[name][at].tolist() for name in fields} for batch in loader for at in range(len(batch[fields[0]]))
    ]
    assert found == [columns_of(row, fields) for row in expected]


@pytest.mark.parametrize("workers", [0, 2])
def test_a_stream_of_fields_goes_on_where_it_was(workers: int, tmp_path: Path) -> None:
    needs_reader("torch")
    stateful = needs_reader("torchdata.stateful_dataloader", "torchdata")
    folder, expected = talks(tmp_path, "megatron", columns=("spans",), **PACKED)
    fields = ("input_ids", "loss_mask", "segment_ids")

    def new(rank: int = 0, ranks: int = 1) -> Any:
        rows = TokenDataset(folder, dtype="int64", fields=fields)
        stream = rows.stream(batch_size=3, seed=1, rank=rank, world_size=ranks)
        context = "fork" if workers else None
        return stateful.StatefulDataLoader(stream, batch_size=3, num_workers=workers, multiprocessing_context=context)

    def rows_in(batches: Any) -> list[dict[str, Any]]:
        return [
            {name: batch[name][at].tolist() for name in fields}
            for batch in batches
            for at in range(len(batch[fields[0]]))
        ]

    whole = rows_in(new())
    by_plain = [columns_of(row, fields) for row in expected]
    assert sorted(map(str, whole)) == sorted(map(str, by_plain))
    assert sorted(map(str, (row for rank in range(2) for row in rows_in(new(rank, 2))))) == sorted(map(str, by_plain))
    loader = new()
    batches = iter(loader)
    before = rows_in([next(batches) for _ in range(2)])
    state = loader.state_dict()
    del batches
    again = new()
    again.load_state_dict(state)
    assert before + rows_in(again) == whole
