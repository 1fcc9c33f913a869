"""Every kind of input there is makes the same data set of the same texts."""

from __future__ import annotations

import gzip
import json
import os
from hashlib import sha256
from pathlib import Path

import pytest

from bpe_cli.corpus import Source
from bpe_cli.errors import InputError, UsageError
from bpe_cli.jobs.prepare import PrepareOptions, check, prepare
from tests.needs import needs
from tests.unit.jobs.test_prepare_changed import Notes
from tests.unit.jobs.test_prepare_keep import rows_of
from tests.unit.jobs.test_prepare_rows import TOKENIZER, documents, ids, quarantined

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


def test_names_that_no_record_can_hold_are_refused(tmp_path: Path) -> None:
    for name in ("naïve.txt", os.fsdecode(b"\xff.txt")):
        (tmp_path / name).write_text("a")
    with pytest.raises(UsageError, match=r"/\\xff\.txt is not UTF-8, and records cannot hold it"):
        prepare(Source((f"{tmp_path}/*.txt",)), TOKENIZER, folder=tmp_path / "out", processes=1)
    assert prepare(Source((str(tmp_path / "naïve.txt"),)), TOKENIZER, folder=tmp_path / "out", processes=1).is_whole


def test_a_document_that_is_refused_is_named(tmp_path: Path) -> None:
    """In a part of a file documents are counted from its first byte on; in a table, each row is one."""
    lines, table = tmp_path / "x.txt", tmp_path / "x.csv"
    lines.write_text("line 000\n" * 20 + "<|endoftext|>\n")
    table.write_text("text\na\n<|endoftext|>\n")
    options = PrepareOptions(specials="all", refuse_specials=True, part_bytes=100)
    for source, name in (
        (Source((str(lines),), documents="lines"), r"x\.txt, document 10 from byte 97 on"),
        (Source((str(table),)), r"x\.csv, document 2"),
    ):
        with pytest.raises(InputError, match=rf"{name}, byte 0: the text contains the special token"):
            prepare(source, "gpt2", options, folder=tmp_path / "out", overwrite=True, processes=1)


def test_what_is_read_twice_or_looks_binary_is_noted(tmp_path: Path) -> None:
    """Parts are made by processes, which say nothing; and nobody sees that a folder holds what was named too."""
    folder, listener = tmp_path / "in", Notes()
    folder.mkdir()
    for name, data in {"a.txt": b"one", "b.txt": b"two"}.items():
        (folder / name).write_bytes(data)
    named = [str(folder), str(folder / "b.txt")]
    for number, paths in enumerate((named[:1], named, [*named, str(folder / ".." / "in" / "a.txt")])):
        source = Source(tuple(paths))
        done = prepare(source, TOKENIZER, folder=tmp_path / f"out{number}", processes=1, listener=listener)
        assert done.documents == number + 2
    again = f"{folder / '..' / 'in' / 'a.txt'}"
    assert listener.notes == [
        f"1 input was named before, and is read again: {folder / 'b.txt'}",
        f"2 inputs were named before, and are read again: {folder / 'b.txt'}, {again}",
    ]
    listener.notes.clear()
    wide, packed = tmp_path / "wide.txt", tmp_path / "wide.txt.gz"
    wide.write_text("a" * 20, encoding="utf-16-le")
    packed.write_bytes(gzip.compress(wide.read_bytes()))
    for number, source in enumerate((Source((str(wide),), documents="lines"), Source((str(wide), str(packed))))):
        prepare(source, TOKENIZER, folder=tmp_path / f"wide{number}", processes=1, listener=listener)
    assert listener.notes == [
        f"{wide} looks binary (NUL at byte 1); its bytes are taken as they are",
        f"2 inputs look binary, and their bytes are taken as they are: {wide}, {packed}",
    ]
