"""Data sets are read back by the software that they are for; what is not installed skips: see ``needs_reader``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

import bpe_cli
from bpe_cli.corpus import Source
from bpe_cli.jobs.prepare import PrepareOptions, prepare
from tests.needs import needs, needs_reader

pytestmark = pytest.mark.filterwarnings("ignore")  # theirs
TEXTS = [f"document {number} " + "naïve 日本\n" * (number % 5) for number in range(40)]
TOKENIZERS = {"gpt2": 50256, "cl100k_base": 100257}
"""One whose ids are stored in two bytes and one of four, with what ends their documents."""


@pytest.fixture(params=TOKENIZERS)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


def documents_of(name: str) -> list[list[int]]:
    tokenizer = bpe_cli.load(name)
    return [[*tokenizer.encode(text), TOKENIZERS[name]] for text in TEXTS]


def make(folder: Path, to: str, name: str) -> tuple[Path, dict]:
    """Prepare a data set of several parts, one of which has no documents; return its folder and its manifest."""
    (folder / "in").mkdir()
    for number, half in enumerate((TEXTS[:30], [], TEXTS[30:])):
        lines = "".join(json.dumps({"text": text}) + "\n" for text in half)
        (folder / f"in/{number}.jsonl").write_text(lines, encoding="utf-8")
    options = PrepareOptions(to=to, eot="auto", part_bytes=500)
    done = prepare(Source((str(folder / "in"),), documents="jsonl"), name, options, folder=folder / to, processes=1)
    assert done.parts > 3
    return folder / to, json.loads((folder / to / "manifest.json").read_bytes())


def files(manifest: dict) -> Iterator[str]:
    return (part["files"][0]["name"] for part in manifest["parts"])


def test_megatron(tmp_path: Path, name: str) -> None:
    module = needs_reader("megatron.core.datasets.indexed_dataset", "megatron-core")
    folder, manifest = make(tmp_path, "megatron", name)
    rows = []
    for part, path in zip(manifest["parts"], files(manifest), strict=True):
        if not part["tokens"]:
            continue  # it maps no empty file
        dataset = module.IndexedDataset(str(folder / path).removesuffix(".bin"))
        rows += [dataset[number].tolist() for number in range(len(dataset))]
        assert dataset.document_indices.tolist() == list(range(len(dataset) + 1))
    assert rows == documents_of(name)


def test_datatrove(tmp_path: Path, name: str) -> None:
    needs_reader("torch")
    module = needs_reader("datatrove.utils.dataset", "datatrove")
    folder, manifest = make(tmp_path, "datatrove", name)
    width = 2 if name == "gpt2" else 4
    ids = [id_ for document in documents_of(name) for id_ in document]
    positions = [place for document in documents_of(name) for place in range(len(document))]
    start = 0
    for part, path in zip(manifest["parts"], files(manifest), strict=True):
        dataset = module.DatatroveFileDataset(str(folder / path), seq_len=7, token_size=width, return_positions=True)
        assert len(dataset) == part["tokens"] // 8
        for number in range(len(dataset)):
            place = start + 8 * number
            window = dataset[number]
            assert window["input_ids"].tolist() == ids[place : place + 8]
            # It counts from the start of a window, and from the starts of the documents in it.
            expected = [min(back, position) for back, position in enumerate(positions[place : place + 8])]
            assert window["positions"].tolist() == expected
        start += part["tokens"]
    assert start == len(ids)


def test_datatrove_merges(tmp_path: Path) -> None:
    """Its own merger finds documents by the index, and the tokenizer in the text beside it."""
    needs_reader("torch")
    tokens = needs_reader("datatrove.pipeline.tokens", "datatrove")
    folder, manifest = make(tmp_path, "datatrove", "gpt2")
    merger = tokens.DocumentTokenizerMerger(str(folder), str(tmp_path / "merged"), "all", shuffle=False)
    merger.run(None, 0, 1)
    (path,) = (tmp_path / "merged").glob("*.ds")
    whole = b"".join((folder / each).read_bytes() for each in files(manifest))
    assert path.read_bytes() == whole
    assert Path(f"{path}.metadata").read_text(encoding="utf-8").startswith("gpt2|2\n")


def test_litdata(tmp_path: Path, name: str) -> None:
    module = needs_reader("litdata")
    folder, manifest = make(tmp_path, "litdata", name)
    dataset = module.StreamingDataset(str(folder), item_loader=module.TokensLoader(block_size=8), shuffle=False)
    ids = [id_ for document in documents_of(name) for id_ in document]
    expected, start = [], 0
    for part in manifest["parts"]:
        places = range(start, start + part["tokens"] - 7, 8)
        expected += [ids[place : place + 8] for place in places]
        start += part["tokens"]
    assert [dataset[number].tolist() for number in range(len(dataset))] == expected
    batches = list(module.StreamingDataLoader(dataset, batch_size=4))
    assert [row for batch in batches for row in batch.long().tolist()] == expected


def test_streaming(tmp_path: Path, name: str) -> None:
    module = needs_reader("streaming", "mosaicml-streaming")
    torch = needs_reader("torch")
    module.base.util.clean_stale_shared_memory()
    folder, _ = make(tmp_path, "mds", name)
    dataset = module.StreamingDataset(local=str(folder), batch_size=1, shuffle=False, validate_hash="sha256")
    rows = [torch.from_numpy(dataset[number]["tokens"].copy()).to(torch.int64) for number in range(len(dataset))]
    assert [row.tolist() for row in rows] == documents_of(name)  # so LLM Foundry takes them


def test_webdataset(tmp_path: Path, name: str) -> None:
    module = needs_reader("webdataset")
    folder, manifest = make(tmp_path, "webdataset", name)
    urls = [str(folder / path) for path in files(manifest)]
    samples = list(module.WebDataset(urls, shardshuffle=False, empty_check=False).decode())
    assert [sample["tokens.npy"].tolist() for sample in samples] == documents_of(name)
    assert len({sample["__key__"] for sample in samples}) == len(TEXTS)


def test_datasets(tmp_path: Path, name: str) -> None:
    module = needs("datasets")
    folder, _ = make(tmp_path, "datasets", name)
    dataset = module.load_from_disk(str(folder))
    assert dataset["input_ids"][:] == documents_of(name)
    assert dataset[31]["input_ids"] == documents_of(name)[31]
    assert module.load_from_disk(str(folder))._fingerprint == dataset._fingerprint
    (tmp_path / "copy").mkdir()
    dataset.save_to_disk(str(tmp_path / "copy"))
    assert module.load_from_disk(str(tmp_path / "copy"))["input_ids"][:] == documents_of(name)


def test_datasets_has_the_columns_that_are_kept(tmp_path: Path) -> None:
    module = needs("datasets")
    rows = [{"text": text, "id": number, "tags": [number]} for number, text in enumerate(TEXTS)]
    module.Dataset.from_list(rows).save_to_disk(str(tmp_path / "in"))
    options = PrepareOptions(to="datasets", part_bytes=500, keep=("id", "tags"))
    prepare(Source((str(tmp_path / "in"),)), "gpt2", options, folder=tmp_path / "out", processes=1)
    dataset = module.load_from_disk(str(tmp_path / "out"))
    tokenizer = bpe_cli.load("gpt2")
    expected = [{"input_ids": tokenizer.encode(row["text"]), "id": row["id"], "tags": row["tags"]} for row in rows]
    assert dataset.to_list() == expected
    assert dataset.features["id"].dtype == "int64"


@pytest.mark.parametrize("to", ["arrow", "parquet"])
def test_datasets_reads_tables(tmp_path: Path, to: str, name: str) -> None:
    module = needs("datasets")
    folder, manifest = make(tmp_path, to, name)
    # Version 4 stumbles over a table without rows.
    paths = [str(folder / part["files"][0]["name"]) for part in manifest["parts"] if part["documents"]]
    table = module.load_dataset(to, data_files=paths, split="train", cache_dir=str(tmp_path / "cache"))
    assert table["input_ids"][:] == documents_of(name)


def test_numpy_and_offsets(tmp_path: Path, name: str) -> None:
    numpy = needs("numpy")
    folder, manifest = make(tmp_path, "npy-offsets", name)
    rows = []
    for path in files(manifest):
        ids = numpy.load(folder / path, mmap_mode="r") if (folder / path).stat().st_size > 128 else []
        offsets = numpy.load(folder / path.replace(".npy", ".offsets.npy"))
        assert offsets.dtype == numpy.int64
        rows += [ids[start:end].tolist() for start, end in pairwise(offsets)]
    assert rows == documents_of(name)
