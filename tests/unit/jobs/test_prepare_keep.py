"""Values of other fields stand beside the ids of their documents, in types that depend on no value."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.corpus import Source
from bpe_cli.corpus.rows import KeptField
from bpe_cli.errors import InputError, UsageError
from bpe_cli.jobs.prepare import PrepareOptions, prepare
from bpe_cli.jobs.prepare.scratch import Item
from bpe_cli.jobs.prepare.scratch_kept import KeptReader, KeptWriter
from bpe_cli.sinks.atomic import Output
from bpe_cli.sinks.beside import Strip
from tests.needs import needs
from tests.thorough import more
from tests.unit.jobs.test_prepare_rows import TOKENIZER, contents, corpus, ids


def rows_of(folder: Path) -> list[dict[str, Any]]:
    ipc = needs("pyarrow.ipc")
    rows = []
    for path in sorted(folder.glob("*.arrow")):
        rows += ipc.open_file(path).read_all().to_pylist()
    return rows


VALUES: dict[str, st.SearchStrategy[Any]] = {
    "string": st.one_of(st.none(), st.text(max_size=5), st.integers(), st.booleans(), st.lists(st.integers())),
    "int64": st.one_of(st.none(), st.integers(-(1 << 63), (1 << 63) - 1)),
    "double": st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)),
    "bool": st.one_of(st.none(), st.booleans()),
}


@given(st.data(), st.integers(20, 200), st.sampled_from([None, "split", "truncate"]))
def test_each_row_has_the_values_of_its_document(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, part_bytes: int, way: Any
) -> None:
    folder = tmp_path_factory.mktemp("keep")
    texts = data.draw(st.lists(st.text(st.sampled_from("a b"), max_size=9), max_size=8))
    rows = [{"text": text} | {name: data.draw(each) for name, each in VALUES.items()} for text in texts]
    (folder / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    length = None if way is None else 2
    options = PrepareOptions(
        to="arrow", keep=tuple(f"{name}:{name}" for name in VALUES), part_bytes=part_bytes, length=length,
        way=way or "concatenate",
    )  # fmt: skip
    source = Source((str(folder / "x.jsonl"),), documents="jsonl", block_bytes=5)
    prepare(source, TOKENIZER, options, folder=folder / "out", processes=1)
    expected = []
    for row, row_ids in zip(rows, ids(texts), strict=True):
        pieces = [row_ids[at : at + 2] for at in range(0, len(row_ids), 2)] if length else [row_ids]
        for piece in pieces[:1] if way == "truncate" else pieces:
            text = row["string"]
            if text is not None and not isinstance(text, str):
                text = json.dumps(text, separators=(",", ":"))
            expected.append({"input_ids": piece} | {name: row[name] for name in VALUES} | {"string": text})
    assert rows_of(folder / "out") == expected


def test_many_rows_keep_their_values(tmp_path: Path) -> None:
    """More than a batch of rows holds."""
    (tmp_path / "x.csv").write_text("id,text\n" + "".join(f"{number},a\n" for number in range(70_000)))
    options = PrepareOptions(to="arrow", keep=("id:int64",))
    prepare(Source((str(tmp_path / "x.csv"),)), TOKENIZER, options, folder=tmp_path / "out", processes=1)
    assert [row["id"] for row in rows_of(tmp_path / "out")] == list(range(70_000))


def groups_of(path: Path) -> list[int]:
    """Return how many rows each record batch of an Arrow file has."""
    ipc = needs("pyarrow.ipc")
    with ipc.open_file(path) as file:
        return [file.get_batch(number).num_rows for number in range(file.num_record_batches)]


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
@pytest.mark.parametrize("block_bytes", [3, 1 << 20])
def test_a_batch_ends_when_its_values_are_large(
    block_bytes: int, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few ids may have much beside them. Where batches end depends on the rows alone."""
    arrow, parquet = needs("pyarrow"), needs("pyarrow.parquet")
    monkeypatch.setattr("bpe_cli.jobs.prepare.keeping.BYTES_AT_ONCE", 100)
    monkeypatch.setattr("bpe_cli.jobs.prepare.scratch_kept.BYTES_AT_ONCE", 100)
    values = ["x" * 99, "", None, "日" * 33, "y" * 300, "z", "z"]  # 日 has three bytes
    rows = [{"text": "a", "html": value, "tags": [value]} for value in values]
    path = tmp_path / f"in.{kind}"
    if kind == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        parquet.write_table(arrow.Table.from_pylist(rows), path, row_group_size=2)
    source = Source((str(path),), documents="jsonl" if kind == "jsonl" else "whole", block_bytes=block_bytes)
    options = PrepareOptions(to="arrow", keep=("html",))
    prepare(source, TOKENIZER, options, folder=tmp_path / "out", processes=1)
    assert groups_of(tmp_path / "out/part-00000.arrow") == [4, 1, 2]
    assert [row["html"] for row in rows_of(tmp_path / "out")] == values

    prepare(source, TOKENIZER, replace(options, length=1, way="split"), folder=tmp_path / "split", processes=1)
    assert groups_of(tmp_path / "split/part-00000.arrow") == [4, 1, 2]

    prepare(source, TOKENIZER, replace(options, keep=("tags",)), folder=tmp_path / "tags", processes=1)
    assert groups_of(tmp_path / "tags/part-00000.arrow")[-1] == 2
    tags: list[Any] = [[value] for value in values]
    kept = [row["tags"] for row in rows_of(tmp_path / "tags")]
    assert kept == ([json.dumps(each, ensure_ascii=False) for each in tags] if kind == "jsonl" else tags)

    shuffled = replace(options, shuffle="documents", val=0.5)
    prepare(source, TOKENIZER, shuffled, folder=tmp_path / "mixed", processes=1)
    monkeypatch.undo()
    prepare(source, TOKENIZER, shuffled, folder=tmp_path / "at_once", processes=1)
    found = [row["html"] for side in ("train", "val") for row in rows_of(tmp_path / "mixed" / side)]
    assert found == [row["html"] for side in ("train", "val") for row in rows_of(tmp_path / "at_once" / side)]
    assert sorted(found, key=str) == sorted(values, key=str)


def test_values_between_the_passes_of_a_shuffle_are_in_memory_some_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs("pyarrow")
    monkeypatch.setattr("bpe_cli.jobs.prepare.keeping.BYTES_AT_ONCE", 100)
    path = tmp_path / "part.kept"
    with path.open("wb") as file:
        writer = KeptWriter(Output(file, "part.kept"), [KeptField("html"), KeptField("n", "int64")])
        for value in ("x" * 50, "y" * 50, None, "z" * 92, "z"):
            writer.add([value, 1])
        writer.finish()
    assert groups_of(path) == [2, 2, 1]
    monkeypatch.setattr("bpe_cli.jobs.prepare.scratch_kept.BYTES_AT_ONCE", 100)
    items = [Item(0, 0, number, 0, Strip.empty(masked=False), kept=number) for number in (4, 3, 2, 1, 0)]
    groups = list(KeptReader([str(path)]).groups(items))
    assert 1 < len(groups) < 5
    assert [item for group, _ in groups for item in group] == items
    found = [str(row.columns[0][row.row].as_py())[0] for _, rows in groups for row in rows]
    assert found == ["z", "z", "N", "y", "x"]


@pytest.mark.parametrize("to", ["arrow", "parquet", "datasets"])
def test_types_of_tables_are_kept(to: str, tmp_path: Path) -> None:
    import datetime

    arrow, parquet, ipc = needs("pyarrow"), needs("pyarrow.parquet"), needs("pyarrow.ipc")
    when = datetime.datetime(2026, 11, 23, 4, 5, 6, 7)  # a column without a zone
    columns = {
        "when": arrow.array([when, None, when] * 1000, arrow.timestamp("ns")),
        "tags": arrow.array([["a"], [], None] * 1000),
        "small": arrow.array([1, 2, None] * 1000, arrow.int8()),
        "site": arrow.array(["x", "y", None] * 1000).dictionary_encode(),
        "meta": arrow.array([{"url": "u", "n": 1}, None, {"url": None, "n": 2}] * 1000),
    }
    table = arrow.table({"text": ["a b", "", "c"] * 1000} | columns)
    (tmp_path / "in").mkdir()
    parquet.write_table(table, tmp_path / "in/a.parquet", row_group_size=700)
    parquet.write_table(table.slice(1, 2), tmp_path / "in/b.parquet")
    keep = ("when", "tags", "small", "site", "meta.url", "meta")
    options = PrepareOptions(to=to, keep=keep, part_bytes=1)
    prepare(Source((str(tmp_path / "in"),)), TOKENIZER, options, folder=tmp_path / "out", processes=1)
    tables = [
        {"arrow": ipc.open_file, "datasets": ipc.open_stream, "parquet": parquet.ParquetFile}[to](path)
        for path in sorted((tmp_path / "out").glob(f"*.{'parquet' if to == 'parquet' else 'arrow'}"))
    ]
    read = [each.read() if to == "parquet" else each.read_all() for each in tables]
    assert len(read) == 2
    assert read[0].schema.remove_metadata() == read[1].schema.remove_metadata()
    for name in ("when", "tags", "small", "meta"):
        assert read[0].schema.field(name).type == table.schema.field(name).type, name
        assert read[0].column(name).to_pylist() == table.column(name).to_pylist()
    assert read[0].column("site").to_pylist() == table.column("site").to_pylist()
    assert read[0].column("meta.url").to_pylist() == ["u", None, None] * 1000
    assert read[1].column("small").to_pylist() == [2, None]
    plan = json.loads((tmp_path / "out/plan.json").read_bytes())
    assert plan["settings"]["keep"][2:4] == [["small", "int8"], ["site", "string"]]


def test_inputs_of_other_types_are_refused_or_cast(tmp_path: Path) -> None:
    arrow, parquet = needs("pyarrow"), needs("pyarrow.parquet")
    for name, kind in (("a", arrow.int64()), ("b", arrow.int32())):
        table = arrow.table({"text": ["x"], "id": arrow.array([7], kind)})
        parquet.write_table(table, tmp_path / f"{name}.parquet")
    source = Source(tuple(str(tmp_path / f"{name}.parquet") for name in "ab"))
    options = PrepareOptions(to="arrow", keep=("id",))
    with pytest.raises(InputError, match=r"b\.parquet: the column 'id' holds int32, in the first input int64"):
        prepare(source, TOKENIZER, options, folder=tmp_path / "out", processes=1)
    options = PrepareOptions(to="arrow", keep=("id:string",))
    prepare(source, TOKENIZER, options, folder=tmp_path / "text", processes=1)
    assert [row["id"] for row in rows_of(tmp_path / "text")] == ["7", "7"]
    with pytest.raises(InputError, match="there is no column 'url'"):
        prepare(source, TOKENIZER, PrepareOptions(to="arrow", keep=("url",)), folder=tmp_path / "no", processes=1)


@pytest.mark.parametrize(
    ("lines", "keep", "broken"),
    [
        (['{"text":"a","v":1}', '{"text":"b","v":1.5}', '{"text":"c","v":true}'], "v:int64", 2),
        (['{"text":"a","v":9223372036854775807}', '{"text":"b","v":9223372036854775808}'], "v:int64", 1),
        (['{"text":"a","v":1}', '{"text":"b","v":9007199254740993}', '{"text":"c","v":"1"}'], "v:double", 2),
        (['{"text":"a","v":0}', '{"text":"b"}'], "v:bool", 1),
        (['{"text":"a","v":{"b":[123456789012345678901234567890]}}'], "v", 0),
    ],
)
def test_what_a_type_cannot_hold_is_a_fault(lines: list[str], keep: str, broken: int, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text("\n".join(lines))
    source = Source((str(tmp_path / "x.jsonl"),), documents="jsonl")
    done = prepare(
        source,
        TOKENIZER,
        PrepareOptions(to="arrow", keep=(keep,), on_error="skip"),
        folder=tmp_path / "out",
        processes=1,
    )
    assert sum((done.broken or {}).values()) == broken
    if broken:
        with pytest.raises(InputError, match="the field 'v', which is kept, is not of the type"):
            prepare(source, TOKENIZER, PrepareOptions(to="arrow", keep=(keep,)), folder=tmp_path / "no", processes=1)


def test_big_numbers_stay_exact_in_strings(tmp_path: Path) -> None:
    number = "123456789012345678901234567890"
    (tmp_path / "x.jsonl").write_text(f'{{"text":"a","v":{number},"w":[{number}]}}\n')
    source = Source((str(tmp_path / "x.jsonl"),), documents="jsonl")
    prepare(source, TOKENIZER, PrepareOptions(to="arrow", keep=("v", "w")), folder=tmp_path / "out", processes=1)
    assert [(row["v"], row["w"]) for row in rows_of(tmp_path / "out")] == [(number, f"[{number}]")]


def test_csv_has_types_too(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(
        "text,s,i,d,b\na,,,,\nb,x,-5,1e3,True\nc,1,+7,.5,false\nd,,1_0,,\ne,,,inf,\nf,,,,yes\n"
    )
    keep = ("s", "i:int64", "d:double", "b:bool")
    done = prepare(
        Source((str(tmp_path / "x.csv"),)), TOKENIZER, PrepareOptions(to="arrow", keep=keep, on_error="skip"),
        folder=tmp_path / "out", processes=1,
    )  # fmt: skip
    assert done.broken == {"type": 3}
    assert [tuple(row[name] for name in "sidb") for row in rows_of(tmp_path / "out")] == [
        ("", None, None, None),
        ("x", -5, 1000.0, True),
        ("1", 7, 0.5, False),
    ]
    assert done.nulls == {"s": 0, "i": 1, "d": 1, "b": 1}


def test_values_that_cannot_be_kept_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"text": "a"}\n')
    (tmp_path / "x.txt").write_text("a")
    jsonl = Source((str(tmp_path / "x.jsonl"),), documents="jsonl")
    text = Source((str(tmp_path / "x.txt"),))
    for source, options, message in (
        (jsonl, PrepareOptions(to="npy", keep=("id",)), "the format npy has no columns"),
        (jsonl, PrepareOptions(to="arrow", keep=("id",), length=8), "a packed row is several documents"),
        (jsonl, PrepareOptions(to="arrow", keep=("id", "id:int64")), "names 'id' twice"),
        (jsonl, PrepareOptions(to="arrow", keep=("",)), "names a field without a name"),
        (jsonl, PrepareOptions(to="arrow", keep=("input_ids",)), "which a row has already"),
        (text, PrepareOptions(to="arrow", keep=("id",)), "there are none"),
    ):
        with pytest.raises(UsageError, match=message):
            prepare(source, TOKENIZER, options, folder=tmp_path / "out", processes=1)
        assert not (tmp_path / "out/plan.json").exists()


def test_rows_are_in_order_across_parts(tmp_path: Path) -> None:
    source = corpus(tmp_path / "in")
    for name, processes in (("one", 1), ("two", more(1, 2))):
        options = PrepareOptions(to="parquet", on_error="skip", keep=("id:int64",), part_bytes=300)
        prepare(source, TOKENIZER, options, folder=tmp_path / name, processes=processes)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    parquet = needs("pyarrow.parquet")
    numbers: list[int] = []
    for path in sorted((tmp_path / "one").glob("*.parquet")):
        numbers += parquet.read_table(path).column("id").to_pylist()
    assert sum(after < before for before, after in pairwise(numbers)) == 2


def test_types_that_cannot_be_kept_are_refused(tmp_path: Path) -> None:
    arrow, ipc = needs("pyarrow"), needs("pyarrow.ipc")
    table = arrow.table({
        "text": ["a"],
        "inner": arrow.StructArray.from_arrays([arrow.array(["x"]).dictionary_encode()], ["name"]),
        "long": arrow.array([5], arrow.duration("s")),
        "months": arrow.array([(1, 2, 3)], arrow.month_day_nano_interval()),
    })  # fmt: skip
    with arrow.OSFile(str(tmp_path / "x.arrow"), "wb") as sink, ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    source = Source((str(tmp_path / "x.arrow"),))
    with pytest.raises(InputError, match="dictionaries inside of others are not kept"):
        prepare(source, TOKENIZER, PrepareOptions(to="arrow", keep=("inner",)), folder=tmp_path / "out")
    with pytest.raises(UsageError, match="the format cannot hold a column that `keep` names"):
        prepare(source, TOKENIZER, PrepareOptions(to="parquet", keep=("months",)), folder=tmp_path / "no", processes=1)
    options = PrepareOptions(to="arrow", keep=("inner:int64",))
    with pytest.raises(InputError, match="which cannot be int64"):
        prepare(source, TOKENIZER, options, folder=tmp_path / "never", processes=1)
    prepare(source, TOKENIZER, PrepareOptions(to="arrow", keep=("long",)), folder=tmp_path / "long", processes=1)
    assert ipc.open_file(tmp_path / "long/part-00000.arrow").read_all().schema.field("long").type == arrow.duration("s")
