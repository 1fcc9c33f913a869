"""Each format of data sets is what its description says, by a reader of some lines, wherever the blocks are cut."""

from __future__ import annotations

import io
import json
import struct
import tarfile
from array import array
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.errors import InputError, UsageError
from bpe_cli.sinks import SinkOptions
from bpe_cli.sinks import numbers as binary
from bpe_cli.sinks.atomic import Output
from bpe_cli.sinks.dataset import DATASETS, litdata, mds, tables
from bpe_cli.tokenizer.usage import Edges
from tests.needs import needs

DOCUMENTS = [[97, 256, 32], [], [10, 13, 0, 200, 259], [258]]
TABLES = ("arrow", "parquet", "datasets")


def write(stubs, folder: Path, to: str, documents: Sequence[list[int]], cuts=(), **options) -> SimpleNamespace:
    """Write a part; return what its record would say."""
    kind = DATASETS[to]
    tokenizer = stubs.Tokenizer()
    paths = [folder / f"part-00000{ending}" for ending in kind.endings]
    with ExitStack() as stack:
        outputs = [Output(stack.enter_context(open(path, "w+b")), path.name, str(path)) for path in paths]
        sink = kind.open(outputs, tokenizer, SinkOptions(**options))
        for encoded in stubs.encoded_blocks(tokenizer, documents, cuts):
            sink.write(encoded.block, encoded.ids, encoded.ends)
        sink.finish()
    files = [SimpleNamespace(name=path.name, size=path.stat().st_size, sha256=f"hash of {path.name}") for path in paths]
    return SimpleNamespace(rows=sink.documents, tokens=sink.tokens, dtype=sink.dtype, files=files)


def numbers(data: bytes, dtype: str) -> list[int]:
    return array({"u16": "H", "u32": "I", "u64": "Q", "i64": "q"}[dtype], data).tolist()


def cut(ids: list[int], ends: Sequence[int]) -> list[list[int]]:
    return [ids[start:end] for start, end in pairwise([0, *ends])]


def read_npy(data: bytes) -> list[int]:
    assert data[:8] == b"\x93NUMPY\x01\0"
    start = 10 + int.from_bytes(data[8:10], "little")
    dtype = {"<u2": "u16", "<u4": "u32", "<i8": "i64"}[data[10:start].decode().split("'")[3]]
    return numbers(data[start:], dtype)


def read_npy_offsets(folder: Path, dtype: str) -> list[list[int]]:
    offsets = read_npy((folder / "part-00000.offsets.npy").read_bytes())
    assert offsets[0] == 0
    return cut(read_npy((folder / "part-00000.npy").read_bytes()), offsets[1:])


def read_datatrove(folder: Path, dtype: str) -> list[list[int]]:
    ids = numbers((folder / "part-00000.ds").read_bytes(), dtype)
    name, count, short = (folder / "part-00000.ds.metadata").read_text().split("\n")
    assert (name.split("|")[1], count) == ("2" if dtype == "u16" else "4", str(len(ids)))
    assert short.endswith("T")
    return cut(ids, numbers((folder / "part-00000.ds.index").read_bytes(), "u64"))


def read_megatron(folder: Path, dtype: str) -> list[list[int]]:
    index = (folder / "part-00000.idx").read_bytes()
    magic, _version, _code, sequences, documents = struct.unpack_from("<9sQBQQ", index)
    assert magic == b"MMIDIDX\0\0"
    lengths = struct.unpack_from(f"<{sequences}i", index, 34)
    firsts = struct.unpack_from(f"<{documents}q", index, 34 + 12 * sequences)
    rows = iter(cut(numbers((folder / "part-00000.bin").read_bytes(), dtype), ends_of(lengths)))
    return [next(rows) if second > first else [] for first, second in pairwise(firsts)]


def ends_of(lengths: Sequence[int]) -> list[int]:
    return [sum(lengths[: number + 1]) for number in range(len(lengths))]


def read_mds(folder: Path, dtype: str) -> list[list[int]]:
    data = (folder / "part-00000.mds").read_bytes()
    count = int.from_bytes(data[:4], "little")
    offsets = struct.unpack_from(f"<{count + 1}I", data, 4)
    config = json.loads(data[8 + 4 * count : offsets[0]])
    assert config["column_encodings"] == ["ndarray:uint16" if dtype == "u16" else "ndarray:int32"]
    documents = []
    for start, end in pairwise(offsets):
        assert int.from_bytes(data[start : start + 4], "little") == end - start - 4
        width = 1 << data[start + 4] % 4
        documents.append(numbers(data[start + 5 + width : end], dtype))
        assert (data[start + 4] >> 2, int.from_bytes(data[start + 5 : start + 5 + width], "little")) == (
            1,
            len(documents[-1]),
        )
    assert offsets[-1] == len(data)
    return documents


def read_webdataset(folder: Path, dtype: str) -> list[list[int]]:
    with tarfile.open(folder / "part-00000.tar") as archive:
        members = archive.getmembers()
        assert [member.name for member in members] == [
            f"part-00000-{number:09}.tokens.npy" for number in range(len(members))
        ]
        assert {(member.mtime, member.uid, member.gid, member.uname, member.mode) for member in members} <= {
            (0, 0, 0, "", 0o644)
        }
        return [read_npy(archive.extractfile(member).read()) for member in members]


def read_table(folder: Path, to: str):
    arrow = needs("pyarrow")
    path = folder / f"part-00000{DATASETS[to].endings[0]}"
    if to == "parquet":
        return needs("pyarrow.parquet", "pyarrow").read_table(path)
    return (arrow.ipc.open_file if to == "arrow" else arrow.ipc.open_stream)(path.read_bytes()).read_all()


READERS: dict[str, Callable[[Path, str], list[list[int]]]] = {
    "npy-offsets": read_npy_offsets,
    "datatrove": read_datatrove,
    "megatron": read_megatron,
    "mds": read_mds,
    "webdataset": read_webdataset,
    **{to: lambda folder, dtype, to=to: read_table(folder, to)["input_ids"].to_pylist() for to in TABLES},
}


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_each_format_is_read_here_or_has_no_documents() -> None:
    assert READERS.keys() | {"bin", "npy", "litdata"} == DATASETS.keys()
    assert all(kind.readers and len(set(kind.endings)) == len(kind.endings) for kind in DATASETS.values())


def test_the_page_lists_all_formats() -> None:
    page = (Path(__file__).resolve().parents[3] / "docs" / "how-to" / "prepare.md").read_text(encoding="utf-8")
    for name, kind in DATASETS.items():
        files = "; ".join(", ".join(f"`{each}`" for each in names) for names in (kind.endings, kind.indexes) if names)
        assert f"| `{name}` | {files} | {kind.readers} |" in page


@pytest.mark.parametrize("to", READERS)
@pytest.mark.parametrize("dtype", ["u16", "u32"])
@pytest.mark.parametrize("eot", [None, 5])
@pytest.mark.parametrize("cuts", [(), (1,), (2, 3, 5), range(1, 10), (1003, 1009), (3, 1003)])
def test_documents_come_back(stubs, tmp_path, to, dtype, eot, cuts) -> None:
    part = write(stubs, tmp_path, to, DOCUMENTS, cuts, dtype=dtype, edges=Edges(eot=eot))
    expected = [[*document, *([] if eot is None else [eot])] for document in DOCUMENTS]
    assert READERS[to](tmp_path, dtype) == expected
    assert (part.rows, part.tokens) == (4, sum(map(len, expected)))
    (tmp_path / "whole").mkdir()
    write(stubs, tmp_path / "whole", to, DOCUMENTS, dtype=dtype, edges=Edges(eot=eot))
    assert all((tmp_path / name).read_bytes() == data for name, data in contents(tmp_path / "whole").items())


@pytest.mark.parametrize("to", READERS)
def test_no_documents_are_none(stubs, tmp_path, to) -> None:
    assert write(stubs, tmp_path, to, []).rows == 0
    assert READERS[to](tmp_path, "u16") == []


@given(
    st.sampled_from(sorted(READERS)),
    st.lists(st.lists(st.integers(0, 259), max_size=300), max_size=6),
    st.lists(st.integers(1, 400)),
    st.sampled_from((1, 7, 100, 1 << 16)),
    st.sampled_from((None, 260)),  # which no document has
)
def test_any_documents_and_cuts(stubs, tmp_path_factory, to, documents, cuts, at_once, eot) -> None:
    folder = tmp_path_factory.mktemp("part")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(binary, "_AT_ONCE", at_once)
        write(stubs, folder, to, documents, sorted(set(cuts)), edges=Edges(eot=eot))
    assert READERS[to](folder, "u16") == [[*document, *([] if eot is None else [eot])] for document in documents]


def test_litdata_is_one_chunk(stubs, tmp_path) -> None:
    part = write(stubs, tmp_path, "litdata", DOCUMENTS, (2, 3, 5), edges=Edges(eot=7))
    data = (tmp_path / "part-00000.bin").read_bytes()
    assert struct.unpack_from("<3I", data) == (1, 12, len(data))
    assert numbers(data[12:], "u16") == [97, 256, 32, 7, 7, 10, 13, 0, 200, 259, 7, 258, 7]
    nothing = write(stubs, tmp_path, "litdata", [])
    index = json.loads(litdata.index_of([part, nothing], ())["index.json"])
    assert index["chunks"] == [{"chunk_bytes": 38, "chunk_size": 1, "dim": 13, "filename": "part-00000.bin"}]
    assert index["config"]["data_format"] == ["no_header_tensor:20"]


def test_mds_is_indexed_with_hashes(stubs, tmp_path) -> None:
    part = write(stubs, tmp_path, "mds", DOCUMENTS)
    nothing = write(stubs, tmp_path, "mds", [])
    index = json.loads(mds.index_of([part, nothing], ())["index.json"])
    assert [(shard["samples"], shard["raw_data"]["basename"]) for shard in index["shards"]] == [(4, "part-00000.mds")]
    assert index["shards"][0]["raw_data"]["hashes"] == {"sha256": "hash of part-00000.mds"}


@pytest.mark.parametrize("to", TABLES)
def test_rows_have_the_columns_that_are_asked_for(stubs, tmp_path, to) -> None:
    write(stubs, tmp_path, to, DOCUMENTS, (3, 1003), columns=("attention_mask", "position_ids"))
    table = read_table(tmp_path, to)
    assert table["attention_mask"].to_pylist() == [[1, 1, 1], [], [1, 1, 1, 1, 1], [1]]
    assert table["position_ids"].to_pylist() == [[0, 1, 2], [], [0, 1, 2, 3, 4], [0]]
    write(stubs, tmp_path, to, DOCUMENTS)
    assert read_table(tmp_path, to).column_names == ["input_ids"]


@pytest.mark.parametrize("to", TABLES)
def test_batches_have_a_bounded_size(stubs, tmp_path, to, monkeypatch) -> None:
    monkeypatch.setattr(tables, "IDS_OF_BATCH", 4)
    monkeypatch.setattr(tables, "ROWS_OF_BATCH", 2)
    documents = [[1], [], [1, 2, 3], [4], [1, 2, 3, 4, 5, 6], [], [], []]
    write(stubs, tmp_path, to, documents, (5,))
    if to != "parquet":
        assert [len(chunk) for chunk in read_table(tmp_path, to)["input_ids"].chunks] == [2, 2, 1, 2, 1]
    else:
        file = needs("pyarrow.parquet", "pyarrow").ParquetFile(tmp_path / "part-00000.parquet")
        assert [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)] == [2, 2, 1, 2, 1]
    assert READERS[to](tmp_path, "u16") == documents


def test_what_a_format_cannot_count_is_refused(stubs, tmp_path, monkeypatch) -> None:
    for module, to in ((litdata, "litdata"), (mds, "mds")):
        monkeypatch.setattr(module, "LARGEST_U32", 20)
        with pytest.raises(InputError, match="at most"):
            write(stubs, tmp_path, to, DOCUMENTS)
    monkeypatch.setattr(tables, "LARGEST_I32", 4)
    with pytest.raises(InputError, match="a document has 5 ids"):
        write(stubs, tmp_path, "arrow", DOCUMENTS)


@pytest.mark.parametrize("to", sorted(DATASETS.keys() - {"bin", "npy", "npy-offsets", "datatrove", "webdataset"}))
def test_ids_beyond_int32_are_refused(to) -> None:
    tokenizer = SimpleNamespace(vocab_size=(1 << 31) + 1)
    with pytest.raises(UsageError, match="as int32, and the tokenizer's run to 2,147,483,648"):
        DATASETS[to].dtype_for(tokenizer, SinkOptions())


def test_without_pyarrow_the_way_out_is_named(monkeypatch) -> None:
    monkeypatch.setattr(tables, "optional", lambda module: None)
    for to in TABLES:
        with pytest.raises(UsageError, match="pyarrow is not installed") as caught:
            DATASETS[to].dtype_for(SimpleNamespace(vocab_size=10), SinkOptions())
        assert caught.value.hint == "pip install pyarrow"


def test_datasets_are_named_by_their_hashes() -> None:
    parts = [SimpleNamespace(files=[SimpleNamespace(name=f"part-0000{n}.arrow", sha256=str(n))]) for n in range(2)]
    state = json.loads(tables.index_of(parts, ())["state.json"])
    assert state["_data_files"] == [{"filename": "part-00000.arrow"}, {"filename": "part-00001.arrow"}]
    assert state["_fingerprint"] != json.loads(tables.index_of(parts[:1], ())["state.json"])["_fingerprint"]
    assert io.BytesIO(tables.index_of(parts, ())["dataset_info.json"]).read(1) == b"{"
