"""A validation set beside the training set: by the text of each document, and by nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

import pytest

import bpe_cli
from bpe_cli.corpus import Source
from bpe_cli.errors import UsageError
from bpe_cli.jobs.parts import Share
from bpe_cli.jobs.prepare import PrepareOptions, check, finish, prepare
from bpe_cli.jobs.prepare.documents import is_validation, text_hash
from bpe_cli.sinks.dataset import DATASETS
from tests.needs import needs
from tests.plain_sets import workers_for

EOT = 50256
TEXTS = [f"document {number} " + "naïve 日本\n" * (number % 5) for number in range(40)]


@pytest.fixture
def corpus(tmp_path: Path) -> Source:
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS), encoding="utf-8")
    return Source((str(tmp_path / "in.jsonl"),), documents="jsonl")


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def table(folder: Path) -> list[dict[str, list[int]]]:
    parquet = needs("pyarrow.parquet")
    return [row for path in sorted(folder.glob("*.parquet")) for row in parquet.read_table(path).to_pylist()]


# -- a validation set ----------------------------------------------------------------------------------------


def test_the_side_is_that_of_the_text() -> None:
    """The stated rule, by hand."""
    for text in TEXTS:
        digest = blake2b(text.encode(), digest_size=16, person=b"bpe document").digest()
        assert text_hash(text.encode()).digest() == digest
        assert is_validation(digest, 0.3) == (int.from_bytes(digest[:8], "big") / 2**64 < 0.3)
    share = sum(is_validation(text_hash(str(number).encode()).digest(), 0.01) for number in range(100_000)) / 100_000
    assert abs(share - 0.01) < 0.0015  # five times the standard deviation


@pytest.mark.parametrize("to", sorted(DATASETS))
def test_both_sets_are_whole(to: str, corpus: Source, tmp_path: Path) -> None:
    options = PrepareOptions(to=to, eot="auto", val=0.3, part_bytes=900)
    done = prepare(corpus, "gpt2", options, folder=tmp_path / "one", processes=1)
    prepare(corpus, "gpt2", options, folder=tmp_path / "two", processes=workers_for(to, "megatron"))
    for number in (2, 1):
        prepare(corpus, "gpt2", options, folder=tmp_path / "three", share=Share(number, 2), processes=1)
    (tmp_path / "three/manifest.json").unlink()
    finish(tmp_path / "three")
    files = contents(tmp_path / "one")
    assert files == contents(tmp_path / "two") == contents(tmp_path / "three")
    assert check(tmp_path / "one").documents == done.documents == len(TEXTS)
    for side in ("train", "val"):
        assert {f"{side}/{name}" for name in DATASETS[to].indexes} <= files.keys()
    assert ("dataset_dict.json" in files) == (to == "datasets")
    record = json.loads(files["part-00001.json"])
    assert record["documents"] == sum(side["documents"] for side in record["sides"].values())


def test_documents_keep_their_side_and_their_order(corpus: Source, tmp_path: Path) -> None:
    """Whatever their neighbours, their number, the size of parts or of blocks."""
    tokenizer = bpe_cli.load("gpt2")
    expected: dict[str, list[list[int]]] = {"train": [], "val": []}
    for text in TEXTS:
        side = "val" if is_validation(text_hash(text.encode()).digest(), 0.3) else "train"
        expected[side].append([*tokenizer.encode(text), EOT])
    assert all(expected.values())
    for number, (part_bytes, block_bytes) in enumerate(((900, 8 << 20), (1 << 20, 8 << 20), (1 << 20, 16))):
        source = replace(corpus, block_bytes=block_bytes)
        options = PrepareOptions(to="parquet", eot="auto", val=0.3, part_bytes=part_bytes)
        prepare(source, "gpt2", options, folder=tmp_path / str(number), processes=1)
        for side, rows in expected.items():
            assert [row["input_ids"] for row in table(tmp_path / str(number) / side)] == rows


@pytest.mark.parametrize("to", ["npy-offsets", "megatron", "mds", "parquet", "webdataset"])
def test_each_set_is_read_back(to: str, corpus: Source, tmp_path: Path) -> None:
    needs("numpy")
    tokenizer = bpe_cli.load("gpt2")
    prepare(corpus, "gpt2", PrepareOptions(to=to, eot="auto", val=0.3), folder=tmp_path / "out", processes=1)
    for side, is_val in (("train", False), ("val", True)):
        rows = bpe_cli.TokenDataset(tmp_path / "out", side=side, check=True)  # type: ignore[arg-type]
        mine = [text for text in TEXTS if is_validation(text_hash(text.encode()).digest(), 0.3) == is_val]
        assert [row.tolist() for row in rows] == [[*tokenizer.encode(text), EOT] for text in mine]
        assert rows.documents == len(mine)
    with pytest.raises(UsageError, match="holds two sets"):
        bpe_cli.TokenDataset(tmp_path / "out")
    prepare(corpus, "gpt2", PrepareOptions(to=to), folder=tmp_path / "one", processes=1)
    with pytest.raises(UsageError, match="is one set"):
        bpe_cli.TokenDataset(tmp_path / "one", side="val")


def test_values_that_are_kept_go_with_their_documents(tmp_path: Path) -> None:
    lines = "".join(json.dumps({"text": text, "id": number}) + "\n" for number, text in enumerate(TEXTS))
    (tmp_path / "in.jsonl").write_text(lines, encoding="utf-8")
    source = Source((str(tmp_path / "in.jsonl"),), documents="jsonl", block_bytes=64)
    options = PrepareOptions(to="parquet", val=0.3, keep=("id:int64",), columns=("seq_lengths",), part_bytes=900)
    tokenizer = bpe_cli.load("gpt2")
    for name, changes in (("whole", {}), ("split", {"length": 8, "way": "split"})):
        prepare(source, "gpt2", replace(options, **changes), folder=tmp_path / name, processes=1)  # type: ignore[arg-type]
        found: dict[int, list[int]] = {}
        for side in ("train", "val"):
            for row in table(tmp_path / name / side):
                found.setdefault(row["id"], []).extend(row["input_ids"])  # type: ignore[call-overload]
        assert found == {number: tokenizer.encode(text) for number, text in enumerate(TEXTS)}


def test_datasets_reads_both_sets(corpus: Source, tmp_path: Path) -> None:
    module = needs("datasets")
    prepare(corpus, "gpt2", PrepareOptions(to="datasets", val=0.3), folder=tmp_path / "out", processes=1)
    both = module.load_from_disk(str(tmp_path / "out"))
    assert sorted(both) == ["train", "val"]
    assert both["train"].num_rows + both["val"].num_rows == len(TEXTS)


@pytest.mark.parametrize("val", [0, 1, -0.5, float("nan")])
def test_a_share_is_between_none_and_all(val: float) -> None:
    with pytest.raises(UsageError, match="must be a share between 0 and 1"):
        PrepareOptions(val=val)
