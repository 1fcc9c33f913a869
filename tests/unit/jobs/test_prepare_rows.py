"""Broken rows are counted and kept, and values of other fields stand beside the ids, whatever made the parts."""

from __future__ import annotations

import base64
import contextlib
import json
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_cli
from bpe_cli.corpus import Source
from bpe_cli.errors import CheckFailed, InputError, UsageError
from bpe_cli.jobs.prepare import PrepareOptions, Share, check, finish, prepare
from tests.needs import needs

GOOD = st.text(st.sampled_from("ab é"), max_size=8).map(lambda text: json.dumps({"text": text}).encode())
BROKEN = {
    b'{"text": 1}': "type",
    b'{"text": null}': "type",
    b'{"body": "a"}': "field",
    b"[1]": "type",
    b"not json": "json",
    b'{"text": "a"': "json",
    b'{"text": "\xff"}': "utf-8",
    b'{"text": "a"} {': "json",
}
TOKENIZER = "gpt2"


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def documents(folder: Path) -> list[list[int]]:
    return [row.tolist() for row in bpe_cli.TokenDataset(folder)]


def quarantined(folder: Path) -> list[dict[str, Any]]:
    files = sorted(folder.glob("*.quarantine.jsonl"))
    return [json.loads(line) for file in files for line in file.read_bytes().splitlines()]


def data_of(row: dict[str, Any]) -> bytes:
    return base64.b64decode(row["base64"]) if "base64" in row else row["raw"].encode()


def ids(texts: list[str]) -> list[list[int]]:
    tokenizer = bpe_cli.load(TOKENIZER)
    return [tokenizer.encode(text) for text in texts]


@given(st.lists(st.one_of(GOOD, st.sampled_from([*BROKEN, b"", b"  "]))), st.integers(1, 60), st.booleans())
def test_good_lines_are_encoded_and_broken_ones_kept(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], part_bytes: int, ends: bool
) -> None:
    folder = tmp_path_factory.mktemp("lines")
    data = b"\n".join(lines) + b"\n" * ends
    (folder / "x.jsonl").write_bytes(data)
    source = Source((str(folder / "x.jsonl"),), documents="jsonl")
    for on_error in ("quarantine", "skip"):
        options = PrepareOptions(to="megatron", eot="auto", on_error=on_error, part_bytes=part_bytes)  # type: ignore[arg-type]
        done = prepare(source, TOKENIZER, options, folder=folder / on_error, processes=1)
        expected = [line for line in lines if line in BROKEN]
        assert [each[:-1] for each in documents(folder / on_error)] == ids(
            [json.loads(x)["text"] for x in lines if x.strip() and x not in BROKEN]
        )
        kinds = [BROKEN[line] for line in expected]
        assert done.broken == {kind: kinds.count(kind) for kind in set(kinds)}
        assert check(folder / on_error).broken == done.broken
    rows = quarantined(folder / "quarantine")
    assert [data_of(row) for row in rows] == expected
    assert [row["kind"] for row in rows] == kinds
    for row, line in zip(rows, expected, strict=True):
        assert data[row["offset"] :].startswith(line)
        assert row["input"] == str(folder / "x.jsonl")
        assert "line" not in row or lines[row["line"] - 1] == line
    assert not quarantined(folder / "skip")
    with contextlib.nullcontext() if not expected else pytest.raises(InputError):
        prepare(source, TOKENIZER, PrepareOptions(to="megatron"), folder=folder / "fail", processes=1)


def corpus(folder: Path) -> Source:
    folder.mkdir()
    for name in "abc":
        lines = [json.dumps({"text": f"{name} {number}", "id": number}).encode() for number in range(40)]
        lines[7] = b'{"text": "\xff'
        lines[23] = b'{"text": 5}'
        (folder / f"{name}.jsonl").write_bytes(b"\n".join(lines[:40] if name != "c" else lines[8:20]))
    return Source((str(folder),), documents="jsonl")


@pytest.mark.parametrize("to", ["megatron", "mds", "datasets"])  # two with an index of their data files
def test_who_makes_the_parts_changes_no_byte(to: str, tmp_path: Path) -> None:
    source, options = corpus(tmp_path / "in"), PrepareOptions(to=to, on_error="quarantine", part_bytes=400)
    prepare(source, TOKENIZER, options, folder=tmp_path / "one", processes=1)
    prepare(source, TOKENIZER, options, folder=tmp_path / "two", processes=2)
    for number in (2, 1):
        prepare(source, TOKENIZER, options, folder=tmp_path / "three", share=Share(number, 2), processes=1)
    whole = contents(tmp_path / "one")
    assert whole == contents(tmp_path / "two") == contents(tmp_path / "three")
    manifest = json.loads(whole["manifest.json"])
    assert manifest["broken"] == {"type": 2, "utf-8": 2}
    assert manifest["settings"]["on_error"] == "quarantine"
    files = {part["quarantine"]["name"] for part in manifest["parts"] if "quarantine" in part}
    assert files == {name for name in whole if "quarantine" in name}
    assert 1 < len(files) < len(manifest["parts"])
    assert all(not part["broken"] for part in manifest["parts"] if "quarantine" not in part)
    (tmp_path / "one/manifest.json").unlink()
    assert finish(tmp_path / "one").quarantined == len(files)
    assert contents(tmp_path / "one") == whole


def test_quarantined_rows_are_checked_like_all_files(tmp_path: Path) -> None:
    source, options = corpus(tmp_path / "in"), PrepareOptions(on_error="quarantine", part_bytes=400)
    folder = tmp_path / "out"
    prepare(source, TOKENIZER, options, folder=folder, processes=1)
    whole = contents(folder)
    name = min(name for name in whole if "quarantine" in name)
    (folder / name).write_bytes(whole[name].replace(b"input", b"inpux"))
    with pytest.raises(CheckFailed, match=f"{name} has other bytes"):
        check(folder)
    (folder / name).unlink()
    with pytest.raises(CheckFailed, match=f"{name} is missing"):
        check(folder)
    with pytest.raises(UsageError, match=f"{name} is missing"):
        prepare(source, TOKENIZER, options, folder=folder, processes=1)
    prepare(source, TOKENIZER, options, folder=folder, processes=1, overwrite=True)
    assert contents(folder) == whole
    # Made in another way, nothing is left of the broken rows of before.
    prepare(source, TOKENIZER, PrepareOptions(on_error="skip", part_bytes=400), folder=folder, overwrite=True)
    fresh = prepare(source, TOKENIZER, PrepareOptions(on_error="skip", part_bytes=400), folder=tmp_path / "fresh")
    assert contents(folder) == contents(tmp_path / "fresh")
    assert (fresh.broken, fresh.quarantined) == ({"type": 2, "utf-8": 2}, 0)


def test_the_plan_of_a_data_set_of_before_is_the_same(tmp_path: Path) -> None:
    """What nobody asked for leaves no trace: older data sets are gone on with."""
    (tmp_path / "x.jsonl").write_text('{"text": "a"}\n')
    prepare(Source((str(tmp_path / "x.jsonl"),), documents="jsonl"), TOKENIZER, folder=tmp_path / "out")
    plan, record, manifest = (
        json.loads((tmp_path / "out" / name).read_bytes()) for name in ("plan.json", "part-00000.json", "manifest.json")
    )
    assert not {"on_error", "keep", "member"} & plan["settings"].keys()
    assert not {"broken", "nulls", "quarantine"} & (record.keys() | manifest.keys())


def test_what_is_broken_as_a_whole_is_an_error(tmp_path: Path) -> None:
    import gzip

    lines = b'{"text": "a"}\n' * 1000
    cases = {
        "x.jsonl.gz": gzip.compress(lines)[:-4],
        "x.parquet": b"PAR1" + b"x" * 20 + b"PAR1",
        "x.csv": b'text\n"a\n',
    }
    for name, data in cases.items():
        (tmp_path / name).write_bytes(data)
        source = Source((str(tmp_path / name),), documents="jsonl" if "jsonl" in name else "whole")
        with pytest.raises(InputError, match=name):
            prepare(source, TOKENIZER, PrepareOptions(on_error="skip"), folder=tmp_path / f"{name}.out", processes=1)
    with pytest.raises(UsageError, match="`on_error` cannot be 'ignore'"):
        PrepareOptions(on_error="ignore")  # type: ignore[arg-type]


def test_errors_in_an_extent_say_at_which_byte(tmp_path: Path) -> None:
    lines = [b'{"text": "a"}'] * 30
    lines[20] = b'{"text": x}'
    (tmp_path / "x.jsonl").write_bytes(b"\n".join(lines))
    source = Source((str(tmp_path / "x.jsonl"),), documents="jsonl")
    with pytest.raises(InputError, match=r"x\.jsonl, byte 290: invalid JSON"):
        prepare(source, TOKENIZER, PrepareOptions(part_bytes=100), folder=tmp_path / "out", processes=1)


def test_rows_of_tables_may_be_broken(tmp_path: Path) -> None:
    arrow = needs("pyarrow")
    parquet = needs("pyarrow.parquet")
    table = arrow.table({"text": ["a", None, "c"], "id": ["1", "2", "x"]})
    parquet.write_table(table, tmp_path / "x.parquet")
    source = Source((str(tmp_path / "x.parquet"),))
    done = prepare(source, TOKENIZER, PrepareOptions(on_error="quarantine"), folder=tmp_path / "out", processes=1)
    assert (done.documents, done.broken) == (2, {"type": 1})
    assert quarantined(tmp_path / "out") == [
        {"input": str(tmp_path / "x.parquet"), "row": 2, "kind": "type", "reason": "the column 'text' is null"}
    ]
    options = PrepareOptions(to="arrow", on_error="skip", keep=("id:int64",))
    assert prepare(source, TOKENIZER, options, folder=tmp_path / "kept", processes=1).broken == {"type": 2}


# -- keep -----------------------------------------------------------------------------------------------


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
    for name, processes in (("one", 1), ("two", 2)):
        options = PrepareOptions(to="parquet", on_error="skip", keep=("id:int64",), part_bytes=300)
        prepare(source, TOKENIZER, options, folder=tmp_path / name, processes=processes)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    parquet = needs("pyarrow.parquet")
    numbers: list[int] = []
    for path in sorted((tmp_path / "one").glob("*.parquet")):
        numbers += parquet.read_table(path).column("id").to_pylist()
    assert sum(after < before for before, after in pairwise(numbers)) == 2


# -- inputs ---------------------------------------------------------------------------------------------

TEXTS = ["one", "", 'two\n"quoted", and more', "naïve 日本"]


def write_inputs(folder: Path) -> dict[str, Source]:
    """Write the same texts as every kind of input there is."""
    import bz2
    import csv
    import gzip
    import io
    import lzma
    import tarfile

    arrow, feather, parquet = needs("pyarrow"), needs("pyarrow.feather"), needs("pyarrow.parquet")
    lines = "".join(json.dumps({"text": text}) + "\n" for text in TEXTS).encode()
    table, tabs = io.StringIO(), io.StringIO()
    for stream, delimiter in ((table, ","), (tabs, "\t")):
        csv.writer(stream, delimiter=delimiter).writerows(
            [["id", "text"], *([str(at), x] for at, x in enumerate(TEXTS))]
        )
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as into:
        for number, text in enumerate(TEXTS):
            for ending, data in (("txt", text.encode()), ("json", json.dumps({"text": text}).encode())):
                info = tarfile.TarInfo(f"{number:04}.{ending}")
                info.size = len(data)
                into.addfile(info, io.BytesIO(data))
    packed = {
        "": bytes,
        ".gz": gzip.compress,
        ".bz2": bz2.compress,
        ".xz": lzma.compress,
        ".zst": needs("zstandard").ZstdCompressor().compress,
    }
    for ending, pack in packed.items():
        (folder / f"x.jsonl{ending}").write_bytes(pack(lines))
        (folder / f"x.csv{ending}").write_bytes(pack(table.getvalue().encode()))
        (folder / f"x.tsv{ending}").write_bytes(pack(tabs.getvalue().encode()))
        (folder / f"x.tar{ending}").write_bytes(pack(archive.getvalue()))
    columns = arrow.table({"id": list(range(len(TEXTS))), "text": TEXTS})
    parquet.write_table(columns, folder / "x.parquet", row_group_size=2)
    feather.write_feather(columns, str(folder / "x.feather"))
    with arrow.OSFile(str(folder / "x.arrow"), "wb") as sink, arrow.ipc.new_file(sink, columns.schema) as writer:
        writer.write_table(columns)
    (folder / "saved").mkdir()
    for number, rows in enumerate((columns.slice(0, 1), columns.slice(1))):
        with (
            arrow.OSFile(str(folder / f"saved/data-{number}.arrow"), "wb") as sink,
            arrow.ipc.new_stream(sink, columns.schema) as writer,
        ):
            writer.write_table(rows)
    state = {"_data_files": [{"filename": "data-0.arrow"}, {"filename": "data-1.arrow"}]}
    (folder / "saved/state.json").write_text(json.dumps(state))
    (folder / "saved/dataset_info.json").write_text("{}")
    (folder / "saved/cache-1.arrow").write_bytes(b"not read")
    names = [path.name for path in folder.iterdir()]
    sources = {name: Source((str(folder / name),), documents="jsonl" if "jsonl" in name else "whole") for name in names}
    (folder / "list").write_text(f"# one input\n{folder / 'x.csv'}\n")
    sources["json in x.tar"] = Source((str(folder / "x.tar"),), member="json")
    return sources | {"@list": Source((f"@{folder / 'list'}",))}


def test_every_kind_of_input_gives_the_same_data_set(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    sources = write_inputs(tmp_path / "in")
    assert len(sources) == 20 + 4 + 2
    for name, source in sources.items():
        folder = tmp_path / name.replace("/", "-")
        done = prepare(source, TOKENIZER, PrepareOptions(to="megatron", eot="auto"), folder=folder, processes=1)
        assert [row[:-1] for row in documents(folder)] == ids(TEXTS), name
        assert (done.documents, check(folder).is_whole) == (len(TEXTS), True)
    record = json.loads((tmp_path / "x.csv.gz/part-00000.json").read_bytes())
    data = (tmp_path / "in/x.csv.gz").read_bytes()
    assert [(each["bytes"], each["sha256"]) for each in record["inputs"]] == [(len(data), sha256(data).hexdigest())]
    record = json.loads((tmp_path / "x.tar.zst/part-00000.json").read_bytes())
    data = (tmp_path / "in/x.tar.zst").read_bytes()
    assert record["inputs"][0]["sha256"] == sha256(data).hexdigest()


def test_a_table_is_never_cut(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("text\n" + '"a\nb"\n' * 100)
    options = PrepareOptions(to="megatron", part_bytes=50)
    for documents_ in ("whole", "lines", "jsonl"):
        source = Source((str(tmp_path / "x.csv"),), documents=documents_)  # type: ignore[arg-type]
        done = prepare(source, TOKENIZER, options, folder=tmp_path / documents_, processes=1)
        assert (done.parts, done.documents) == (1, 100)


def test_members_may_be_broken_and_have_values(tmp_path: Path) -> None:
    import io
    import tarfile

    needs("pyarrow")
    with tarfile.open(tmp_path / "x.tar", "w") as into:
        for name, data in (("0.json", b'{"text": "a", "id": 1}'), ("1.json", b"{"), ("2.json", b'{"text": "b"}')):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            into.addfile(info, io.BytesIO(data))
    source = Source((str(tmp_path / "x.tar"),), member="json")
    options = PrepareOptions(to="arrow", on_error="quarantine", keep=("id:int64",))
    prepare(source, TOKENIZER, options, folder=tmp_path / "out", processes=1)
    assert [row["id"] for row in rows_of(tmp_path / "out")] == [1, None]
    (row,) = quarantined(tmp_path / "out")
    assert (row["member"], row["offset"], row["raw"], row["kind"]) == ("1.json", 1024, "{", "json")
    plan = json.loads((tmp_path / "out/plan.json").read_bytes())
    assert plan["settings"]["member"] == "json"
