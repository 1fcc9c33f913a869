"""A row of an Arrow column is a document; of a saved data set the files that hold its rows are read."""

from __future__ import annotations

import gzip
import io
import json
import os
import struct

import pytest

from bpe_cli.corpus import Source, columns, read_blocks
from bpe_cli.corpus.inputs import Input
from bpe_cli.corpus.kinds import ARROW, PARQUET
from bpe_cli.corpus.rows import ALL_WHOLE, KeptField, Rows
from bpe_cli.errors import BpeError, InputError
from tests.needs import needs

pyarrow = needs("pyarrow")
ROWS = ["a", "", "é", "a b"]


def table(rows, kind=None):
    return pyarrow.table(
        {"id": list(range(len(rows))), "text": pyarrow.array(rows, kind), "image": [b"\0"] * len(rows)}
    )


def write(path, rows, way="stream", kind=None, batch=2):
    from pyarrow import feather, ipc

    path.parent.mkdir(parents=True, exist_ok=True)
    content = table(rows, kind)
    if way == "feather":
        feather.write_feather(content, str(path))
        return str(path)
    with (ipc.new_stream if way == "stream" else ipc.new_file)(str(path), content.schema) as writer:
        writer.write_table(content, max_chunksize=batch)
    return str(path)


def read(*paths, field="text", **options):
    blocks = read_blocks(Source(paths, field=field), stdin=io.BytesIO(), **options)
    return [bytes(document) for block in blocks for document in block.documents()]


@pytest.mark.parametrize("way", ["stream", "file", "feather"])
@pytest.mark.parametrize("name", ["x.arrow", "x"])
def test_rows_are_documents_and_hashed_and_counted(tmp_path, way, name):
    path = write(tmp_path / name, ROWS * 1000, way)
    counted, hashes = [], []
    assert read(path, on_bytes=counted.append, hashes=hashes) == [row.encode() for row in ROWS] * 1000
    data = (tmp_path / name).read_bytes()
    import hashlib

    assert hashes == [(path, hashlib.sha256(data).hexdigest(), len(data))]
    assert sum(counted) == len(data)


@pytest.mark.parametrize("way", ["stream", "file"])
def test_binaries_dictionaries_and_structs(tmp_path, way):
    path = tmp_path / "x"
    assert read(write(path, [b"\xff", b"b"], way, pyarrow.binary())) == [b"\xff", b"b"]
    assert read(write(path, [b"b"], way, pyarrow.large_string())) == [b"b"]
    assert read(write(path, pyarrow.array(["a", "b", "a"]).dictionary_encode(), way)) == [b"a", b"b", b"a"]
    assert read(write(path, [{"b": "x", "c": 1}, {"b": "y", "c": 2}], way), field="text.b") == [b"x", b"y"]
    assert read(write(path, [], way, pyarrow.string())) == []
    if hasattr(pyarrow, "string_view"):
        assert read(write(path, ["a", "b" * 100], way, pyarrow.string_view())) == [b"a", b"b" * 100]


@pytest.mark.parametrize(
    ("rows", "field", "message"),
    [
        (["a", "b", None], "text", "row 3: the column 'text' is null"),
        (["a"], "body", "there is no column 'body'"),
        (["a"], "text.b", "there is no column 'text.b'"),
        ([1], "text", "the column 'text' holds int64, not strings"),
    ],
)
def test_wrong_columns_are_named(tmp_path, rows, field, message):
    with pytest.raises(InputError, match=message):
        read(write(tmp_path / "x", rows), field=field)


@pytest.mark.parametrize("way", ["stream", "file"])
def test_damage_is_named(tmp_path, way):
    path = write(tmp_path / "x.arrow", ROWS * 100, way)
    data = (tmp_path / "x.arrow").read_bytes()
    for wrong in (b"", b"text", data[:20], data[: len(data) // 2 + 5]):
        (tmp_path / "x.arrow").write_bytes(wrong)
        with pytest.raises(InputError, match=r"cannot read .*x\.arrow: its Arrow data is damaged"):
            read(path)


def changed(path, before, after):
    """Write other numbers of 32 bits in the place of some."""
    old, new = (struct.pack(f"<{len(each)}i", *each) for each in (before, after))
    data = path.read_bytes()
    assert data.count(old) == 1
    path.write_bytes(data.replace(old, new))
    return str(path)


@pytest.mark.parametrize("way", ["stream", "file"])
@pytest.mark.parametrize("offsets", [(0, 5, 4000), (0, 5, -5), (-4000, 5, 11), (0, 5, 2**31 - 1)])
@pytest.mark.parametrize("keep", [(), (KeptField("id", "int64"),)])
def test_offsets_that_lead_out_of_the_column_are_damage(tmp_path, way, offsets, keep):
    write(tmp_path / "x", [b"hello", b"world!"], way, pyarrow.binary())
    path = changed(tmp_path / "x", (0, 5, 11), offsets)
    kept = []
    rows = Rows(keep=keep, on_kept=kept.append) if keep else ALL_WHOLE
    with pytest.raises(InputError, match=r"its Arrow data is damaged \(.*[Oo]ffset"):
        read(path, rows=rows)
    assert not kept


def test_numbers_of_no_text_of_a_dictionary_are_damage(tmp_path):
    rows = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0, 1, 0, 1], "int32"), ["a", "b"])
    write(tmp_path / "x", rows, batch=4)
    path = changed(tmp_path / "x", (0, 1, 0, 1), (0, 1, 1 << 28, 1))
    with pytest.raises(InputError, match=r"its Arrow data is damaged \(.*out of bounds"):
        read(path)


def test_columns_of_the_same_name_are_named(tmp_path):
    from pyarrow import ipc, parquet

    columns_of = [pyarrow.array(["a"]), pyarrow.array(["b"])]
    twice = pyarrow.Table.from_arrays(columns_of, ["text", "text"])
    inside = pyarrow.StructArray.from_arrays(columns_of, ["b", "b"])
    for content, field, name in ((twice, "text", "text"), (pyarrow.table({"a": inside}), "a.b", "b")):
        with ipc.new_file(str(tmp_path / "x"), content.schema) as writer:
            writer.write_table(content)
        with pytest.raises(InputError, match=f"x: several columns are called '{name}'"):
            read(str(tmp_path / "x"), field=field)
    parquet.write_table(twice, tmp_path / "y")
    with pytest.raises(InputError, match="y: several columns are called 'text'"):
        read(str(tmp_path / "y"))


def test_a_name_that_is_not_utf8_is_as_good_as_any(tmp_path):
    from pyarrow import parquet

    name = os.fsdecode(b"n\xff")
    write(tmp_path / "x", ROWS)
    (tmp_path / "x").rename(tmp_path / f"{name}.arrow")
    parquet.write_table(table(ROWS), tmp_path / "x")
    (tmp_path / "x").rename(tmp_path / f"{name}.parquet")
    for ending, kind in (("arrow", ARROW), ("parquet", PARQUET)):
        path = str(tmp_path / f"{name}.{ending}")
        assert read(path) == [row.encode() for row in ROWS]
        assert columns.field_of(Input(path, kind=kind), "id").type == "int64"


def test_without_pyarrow_the_way_out_is_said(tmp_path, monkeypatch):
    path = write(tmp_path / "x", ROWS)
    monkeypatch.setattr(columns, "optional", lambda _: None)
    with pytest.raises(InputError) as caught:
        read(path)
    assert (caught.value.message, caught.value.hint) == (
        f"cannot read {path}: it is Arrow, and pyarrow is not installed", "pip install pyarrow"
    )  # fmt: skip


def test_what_is_not_as_it_is_on_disk_is_refused(tmp_path):
    data = (tmp_path / write(tmp_path / "x", ROWS)).read_bytes()
    (tmp_path / "x.gz").write_bytes(gzip.compress(data))
    with pytest.raises(InputError, match="is compressed Arrow, not text"):
        read(str(tmp_path / "x.gz"))
    with pytest.raises(InputError, match="stdin is Arrow, which can only be read from a file"):
        list(read_blocks(Source(), stdin=io.BytesIO(data)))
    plain = read_blocks(Source(plain=True), stdin=io.BytesIO(data))
    assert b"".join(bytes(block.data) for block in plain) == data


@pytest.mark.parametrize("way", ["stream", "file"])
def test_a_batch_is_held_at_a_time(tmp_path, way):
    def most(batches: int) -> int:
        path = write(tmp_path / "x", ["x" * 1000] * 100 * batches, way, batch=100)
        before, found = pyarrow.total_allocated_bytes(), 0
        for _ in read_blocks(Source((path,), block_bytes=10_000), stdin=io.BytesIO()):
            found = max(found, pyarrow.total_allocated_bytes() - before)
        return found

    assert 100_000 <= most(10) < 500_000
    assert most(40) < 1.5 * most(10)


def save(folder, rows, shards=1, **state):
    """Write a data set as the library ``datasets`` saves it."""
    size = -(-len(rows) // shards)
    names = [f"data-{number:05}-of-{shards:05}.arrow" for number in range(shards)]
    for number, name in enumerate(names):
        write(folder / name, rows[number * size : (number + 1) * size])
    (folder / "dataset_info.json").write_text(json.dumps({"features": {"text": {"dtype": "string"}}}, indent=2))
    (folder / "state.json").write_text(
        json.dumps({"_data_files": [{"filename": name} for name in names], "_split": None, **state}, indent=2)
    )


def refused(folder) -> tuple[str, str | None]:
    with pytest.raises(BpeError) as caught:
        read(str(folder))
    return caught.value.message.replace(str(folder), "d"), (caught.value.hint or "").replace(str(folder), "d")


def test_a_saved_data_set_is_its_rows(tmp_path):
    save(tmp_path / "d", ROWS, shards=3)
    write(tmp_path / "d" / "cache-1234.arrow", ["twice"])  # what map() leaves there
    notes = []
    assert read(str(tmp_path / "d"), on_skip=notes.append) == [row.encode() for row in ROWS]
    assert [note.replace(str(tmp_path), "") for note in notes] == [
        "/d/cache-1234.arrow skipped: it is not part of the data set's rows"
    ]


def test_the_order_is_that_of_the_state(tmp_path):
    save(tmp_path / "d", ["1", "2"], shards=2)
    state = json.loads((tmp_path / "d" / "state.json").read_text())
    state["_data_files"].reverse()
    (tmp_path / "d" / "state.json").write_text(json.dumps(state))
    assert read(str(tmp_path / "d")) == [b"2", b"1"]


def test_a_split_is_to_be_named(tmp_path):
    for split in ("train", "test"):
        save(tmp_path / "d" / split, [split])
    (tmp_path / "d" / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    assert refused(tmp_path / "d") == ("the data set d has 2 splits: train, test", "name one, as in d/train")
    assert read(str(tmp_path / "d" / "test")) == [b"test"]
    (tmp_path / "d" / "dataset_dict.json").write_text('{"splits": ["train"]}')
    assert read(str(tmp_path / "d")) == [b"train"]


def test_a_data_set_that_is_not_whole(tmp_path):
    save(tmp_path / "d", ROWS, shards=2)
    (tmp_path / "d" / "data-00001-of-00002.arrow").unlink()
    assert refused(tmp_path / "d")[0] == "the data set d lacks 'data-00001-of-00002.arrow', which its state.json names"
    save(tmp_path / "e", ROWS, _indices_files=[{"filename": "indices.arrow"}])
    assert refused(tmp_path / "e") == (
        "the data set d picks its rows by a table of row numbers, which is not supported",
        "save it again after flatten_indices()",
    )


@pytest.mark.parametrize("state", ["[]", "{", '{"_data_files": []}', '{"_data_files": 1}', "[" * 100_000])
def test_a_state_of_something_else_is_no_data_set(tmp_path, state):
    write(tmp_path / "d" / "x.arrow", ROWS)
    (tmp_path / "d" / "state.json").write_text(state)
    assert read(str(tmp_path / "d")) == [row.encode() for row in ROWS]


def test_tables_and_text_are_never_mixed(tmp_path):
    from pyarrow import parquet

    (tmp_path / "d").mkdir()
    for name in ("a", "b", "_metadata"):  # Spark and Dask put the last one there
        parquet.write_table(table(ROWS), tmp_path / "d" / (name + ".parquet" * (name != "_metadata")))
    (tmp_path / "d" / "README.md").write_text("# Rows")
    notes = []
    assert read(str(tmp_path / "d"), on_skip=notes.append) == [row.encode() for row in ROWS] * 2
    assert [note.rpartition("/")[2] for note in notes] == [
        "README.md skipped: it is not Parquet, unlike the files beside it",
        "_metadata skipped: it tells about the files beside it",
    ]
    (tmp_path / "d" / "notes.txt").write_text("text")
    message = "the inputs are of several kinds: 2 of Parquet (d/a.parquet, ...), 1 of text (d/notes.txt)"
    way_out = "name those of one kind, as in 'd/*.parquet'; `plain` takes all as text"
    assert refused(tmp_path / "d") == (message, way_out)
    write(tmp_path / "d" / "c.arrow", ROWS)
    assert "1 of Arrow (d/c.arrow)" in refused(tmp_path / "d")[0]
    with pytest.raises(BpeError, match="several kinds"):
        read(str(tmp_path / "d" / "a.parquet"), "-")


def test_a_cut_off_table_is_never_text(tmp_path):
    from pyarrow import parquet

    parquet.write_table(table(ROWS), tmp_path / "x")
    (tmp_path / "x").write_bytes((tmp_path / "x").read_bytes()[:-10])
    with pytest.raises(InputError, match="its Parquet data is damaged"):
        read(str(tmp_path / "x"))
