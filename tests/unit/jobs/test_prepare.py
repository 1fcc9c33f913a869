"""A data set is the same whatever made its parts, is never made twice, and says what is wrong with it."""

from __future__ import annotations

import json
import os
import shutil
from array import array
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_cli
from bpe_cli.corpus import Source
from bpe_cli.corpus.extents import read_lines_in
from bpe_cli.corpus.inputs import Input, Inputs
from bpe_cli.errors import CheckFailed, InputError, UsageError
from bpe_cli.jobs.parts import Share, divide
from bpe_cli.jobs.prepare import PrepareOptions, check, check_deep, estimate, finish, prepare
from bpe_cli.jobs.prepare.deep import drawn
from bpe_cli.jobs.prepare.folder import plan_in
from bpe_cli.jobs.prepare.records import Plan
from bpe_cli.sinks.dataset import DATASETS
from bpe_cli.sinks.dataset.columns import COLUMNS
from tests.needs import needs
from tests.plain_sets import workers_for

OPTIONS = PrepareOptions(to="megatron", eot="auto", part_bytes=300)


def texts(count: int) -> list[str]:
    return [f"document {number} " + "naïve 日本\n" * (number % 5) for number in range(count)]


@pytest.fixture
def corpus(tmp_path: Path) -> Source:
    """Make two files of JSON lines, one of them compressed."""
    import gzip

    (tmp_path / "in").mkdir()
    lines = [json.dumps({"text": text}).encode() + b"\n" for text in texts(40)]
    (tmp_path / "in/a.jsonl").write_bytes(b"".join(lines[:30]))
    (tmp_path / "in/b.jsonl.gz").write_bytes(gzip.compress(b"".join(lines[30:])))
    return Source((str(tmp_path / "in"),), documents="jsonl")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_data_set_holds_the_documents_in_order(corpus: Source, tmp_path: Path) -> None:
    done = prepare(corpus, "gpt2", OPTIONS, folder=tmp_path / "out", processes=1)
    tokenizer = bpe_cli.load("gpt2")
    expected = [id_ for text in texts(40) for id_ in (*tokenizer.encode(text), 50256)]
    manifest = json.loads((tmp_path / "out/manifest.json").read_bytes())
    ids = array("H")
    for part in manifest["parts"]:
        ids.frombytes((tmp_path / "out" / part["files"][0]["name"]).read_bytes())
    assert ids.tolist() == expected
    assert (done.documents, done.tokens, done.is_whole) == (40, len(expected), True)
    assert done.parts == len(manifest["parts"]) > 3
    assert check(tmp_path / "out").tokens == len(expected)


@pytest.mark.parametrize("pack", ["gzip", "bz2", "lzma", "zstandard"])
def test_a_compressed_file_is_one_part_whatever_packed_it(pack: str, tmp_path: Path) -> None:
    compress = needs(pack).compress
    words = [f"{number} {os.urandom(9).hex()}" for number in range(99)]
    for documents in ("jsonl", "lines"):
        rows = words if documents == "lines" else [json.dumps({"text": word}) for word in words]
        path = tmp_path / f"in.{documents}"
        path.write_bytes(compress("".join(f"{row}\n" for row in rows).encode()))
        assert path.stat().st_size > 3 * OPTIONS.part_bytes
        source = Source((str(path),), documents=documents)
        done = prepare(source, "gpt2", OPTIONS, folder=tmp_path / f"out {documents}", processes=1)
        assert (done.parts, done.documents) == (1, 99)


def test_processes_and_shares_change_no_byte(corpus: Source, tmp_path: Path) -> None:
    for name, count in (("one", 1), ("two", 2)):
        prepare(corpus, "gpt2", OPTIONS, folder=tmp_path / name, processes=count)
    for number in (2, 3, 1):
        done = prepare(corpus, "gpt2", OPTIONS, folder=tmp_path / "three", share=Share(number, 3), processes=1)
        assert done.is_whole == (number == 1)
    (tmp_path / "three/manifest.json").unlink()
    assert finish(tmp_path / "three").is_whole
    assert contents(tmp_path / "one") == contents(tmp_path / "two") == contents(tmp_path / "three")


def test_what_is_there_is_not_made_again(corpus: Source, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    first = prepare(corpus, "gpt2", OPTIONS, folder=folder, processes=1)
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    again = prepare(corpus, "gpt2", OPTIONS, folder=folder, processes=1)
    assert (again.made, again.kept) == (0, first.made)
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before
    whole = contents(folder)
    for path in ("part-00001.json", "manifest.json"):
        (folder / path).unlink()
    assert prepare(corpus, "gpt2", OPTIONS, folder=folder, processes=1).made == 1
    assert contents(folder) == whole


def test_a_compressed_file_is_never_cut(corpus: Source, tmp_path: Path) -> None:
    whole = PrepareOptions(to="megatron", eot="auto", part_bytes=100)
    assert (tmp_path / "in/b.jsonl.gz").stat().st_size > 100
    assert prepare(corpus, "gpt2", whole, folder=tmp_path / "out", processes=1).documents == 40
    assert estimate(corpus, "gpt2", whole).parts[-1].inputs == (str(tmp_path / "in/b.jsonl.gz"),)


@pytest.mark.parametrize("to", sorted(DATASETS))
def test_every_format_is_the_same_whatever_made_it(to: str, corpus: Source, tmp_path: Path) -> None:
    kind = DATASETS[to]
    columns = tuple(name for name in kind.columns if name in COLUMNS)
    options = PrepareOptions(to=to, eot="auto", part_bytes=900, columns=columns)
    prepare(corpus, "gpt2", options, folder=tmp_path / "one", processes=1)
    prepare(corpus, "gpt2", options, folder=tmp_path / "two", processes=workers_for(to, "datasets"))
    whole = contents(tmp_path / "one")
    assert whole == contents(tmp_path / "two")
    manifest = json.loads(whole["manifest.json"])
    assert [each["name"] for each in manifest["index"]] == sorted(kind.indexes)
    names = {file["name"] for each in (*manifest["parts"], manifest) for file in each.get("files", each.get("index"))}
    assert whole.keys() - {"plan.json", "manifest.json"} - {f"part-0000{n}.json" for n in range(9)} == names
    assert check(tmp_path / "one").is_whole


@pytest.mark.parametrize("to", sorted(name for name, kind in DATASETS.items() if kind.indexes))
def test_what_covers_all_parts_is_checked_and_made_again(to: str, corpus: Source, tmp_path: Path) -> None:
    folder, options = tmp_path / "out", PrepareOptions(to=to, part_bytes=900)
    for number in (1, 2):
        done = prepare(corpus, "gpt2", options, folder=folder, share=Share(number, 2), processes=1)
        assert done.is_whole == all((folder / name).exists() for name in DATASETS[to].indexes) == (number == 2)
    whole = contents(folder)
    for name in DATASETS[to].indexes:
        (folder / name).unlink()
        with pytest.raises(CheckFailed, match=rf"there is no {name}"):
            check(folder)
        prepare(corpus, "gpt2", options, folder=folder, processes=1)
        (folder / name).write_bytes(whole[name] + b" ")
        with pytest.raises(CheckFailed, match=rf"{name} does not belong to these parts"):
            check(folder)
        finish(folder)
        assert contents(folder) == whole
    # Another data set in its place: there is no moment at which the old index stands beside new parts.
    with open(tmp_path / "in/z.jsonl", "w") as file:
        file.write('{"text": 5}\n' * 30)
    with pytest.raises(InputError, match=r"z\.jsonl"):
        prepare(corpus, "gpt2", options, folder=folder, processes=1, overwrite=True)
    assert not any((folder / name).exists() for name in ("manifest.json", *DATASETS[to].indexes))


def test_columns_that_a_format_lacks_are_refused(corpus: Source, tmp_path: Path) -> None:
    for to, columns, hint in (
        ("npy", ("position_ids",), "it may have spans"),
        ("litdata", ("position_ids",), "it may have spans"),
        ("arrow", ("labels",), "it may have attention_mask, position_ids, segment_ids, seq_lengths"),
    ):
        with pytest.raises(UsageError, match=f"the format {to} has no column {columns[0]}") as caught:
            prepare(corpus, "gpt2", PrepareOptions(to=to, columns=columns), folder=tmp_path / "out")
        assert caught.value.hint == hint


def test_a_column_is_named_once() -> None:
    with pytest.raises(UsageError, match="`columns` names position_ids twice"):
        PrepareOptions(to="arrow", columns=("position_ids", "segment_ids", "position_ids"))


def test_an_index_counts_sequences(corpus: Source, tmp_path: Path) -> None:
    options = PrepareOptions(to="mds", eot="auto", length=16, way="split", part_bytes=900)
    prepare(corpus, "gpt2", options, folder=tmp_path / "out", processes=1)
    manifest, index = (json.loads((tmp_path / "out" / name).read_bytes()) for name in ("manifest.json", "index.json"))
    assert sum(shard["samples"] for shard in index["shards"]) == manifest["sequences"] > manifest["documents"]


@pytest.mark.parametrize("damage", ["longer", "shorter", "gone", "record", "manifest", "byte"])
def test_damage_is_named_and_refused(damage: str, corpus: Source, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    prepare(corpus, "gpt2", OPTIONS, folder=folder, processes=1)
    whole = contents(folder)
    numbers = folder / "part-00002.bin"
    if damage == "longer":
        numbers.write_bytes(whole[numbers.name] + b"x")
    elif damage == "shorter":
        os.truncate(numbers, 10)
    elif damage == "gone":
        numbers.unlink()
    elif damage == "record":
        (folder / "part-00002.json").write_bytes(b'{"schema": 1')
    elif damage == "manifest":
        (folder / "manifest.json").write_bytes(b"{}")
    else:
        numbers.write_bytes(b"\0" + whole[numbers.name][1:])
    with pytest.raises(CheckFailed, match=r"manifest\.json" if damage == "manifest" else "part-00002"):
        check(folder)
    if damage not in ("manifest", "byte"):
        with pytest.raises(UsageError, match="part-00002"):
            prepare(corpus, "gpt2", OPTIONS, folder=folder, processes=1)
        prepare(corpus, "gpt2", OPTIONS, folder=folder, processes=1, overwrite=True)
        assert contents(folder) == whole


@pytest.mark.parametrize("to", sorted(DATASETS))
def test_parts_are_made_again_and_compared(to: str, corpus: Source, tmp_path: Path) -> None:
    folder, options = tmp_path / "out", PrepareOptions(to=to, eot="auto", part_bytes=900)
    made = prepare(corpus, "gpt2", options, folder=folder, processes=1)
    whole = contents(folder)
    for parts, again in ((1, 1), (3, 3), (99, made.parts), (None, made.parts)):
        assert check_deep(corpus, "gpt2", options, folder=folder, parts=parts).again == again
    assert contents(folder) == whole


def test_what_inputs_do_not_make_is_named(corpus: Source, tmp_path: Path) -> None:
    """Files, records and manifest agree with each other, but not with the inputs: only making them again shows it."""
    import hashlib

    folder = tmp_path / "out"
    prepare(corpus, "gpt2", OPTIONS, folder=folder, processes=1)
    data = bytearray((folder / "part-00002.bin").read_bytes())
    data[0] ^= 1
    (folder / "part-00002.bin").write_bytes(data)
    record = json.loads((folder / "part-00002.json").read_bytes())
    record["files"][0]["sha256"] = hashlib.sha256(data).hexdigest()
    (folder / "part-00002.json").write_text(json.dumps(record))
    finish(folder)
    assert check(folder).is_whole
    with pytest.raises(CheckFailed, match=r"out: part-00002\.bin is not what its inputs make$"):
        check_deep(corpus, "gpt2", OPTIONS, folder=folder, parts=None)
    record["documents"] += 1
    (folder / "part-00003.json").write_text(
        (folder / "part-00003.json").read_text().replace('"left_out": 0', '"left_out": 1')
    )
    finish(folder)
    with pytest.raises(CheckFailed, match=r"the record of part-00003 is not what its inputs make$"):
        check_deep(corpus, "gpt2", OPTIONS, folder=folder, parts=None)


def test_what_cannot_be_compared_says_why(corpus: Source, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    prepare(corpus, "gpt2", OPTIONS, folder=folder, processes=1)
    with pytest.raises(UsageError, match="made with other settings: after, dtype, eot, tokenizer"):
        check_deep(corpus, "cl100k_base", OPTIONS, folder=folder)
    with pytest.raises(UsageError, match="made with other settings: after, eot"):
        check_deep(corpus, "gpt2", PrepareOptions(to="megatron", part_bytes=300), folder=folder)
    path = tmp_path / "in/a.jsonl"
    data = path.read_bytes()
    path.write_bytes(data.replace(b"document", b"Document"))
    with pytest.raises(CheckFailed, match=r"part-00000 cannot be compared: .*a\.jsonl changed since"):
        check_deep(corpus, "gpt2", OPTIONS, folder=folder, parts=None)
    path.write_bytes(data + b"\n")
    with pytest.raises(UsageError, match=r"other inputs: .*a\.jsonl has .* bytes in place of"):
        check_deep(corpus, "gpt2", OPTIONS, folder=folder)
    path.unlink()
    with pytest.raises(UsageError, match=r"other inputs: .*a\.jsonl is missing"):
        check_deep(corpus, "gpt2", OPTIONS, folder=folder)
    path.write_bytes(data)
    (tmp_path / "in/z.txt").write_text("")
    with pytest.raises(UsageError, match=r"other inputs: .*z\.txt is new"):
        check_deep(corpus, "gpt2", OPTIONS, folder=folder)
    (tmp_path / "in/z.txt").unlink()
    assert check_deep(corpus, "gpt2", OPTIONS, folder=folder).again == 1


def test_the_same_parts_are_drawn_again(corpus: Source, tmp_path: Path) -> None:
    inputs = Inputs(tuple(Input(f"{number}.txt", 10) for number in range(100)))
    parts = divide(inputs, Source(("x",)), 10)
    drawn_first = [part.number for part in drawn(parts, Plan({"a": 1}, []), 5)]
    assert [part.number for part in drawn(parts, Plan({"a": 1}, []), 5)] == drawn_first == sorted(set(drawn_first))
    assert len(drawn_first) == 5
    assert [part.number for part in drawn(parts, Plan({"a": 2}, []), 5)] != drawn_first
    assert set(drawn_first) <= {part.number for part in drawn(parts, Plan({"a": 1}, []), 6)}
    assert drawn(parts, Plan({"a": 1}, []), None) == parts


def test_other_options_or_inputs_are_refused(corpus: Source, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    prepare(corpus, "gpt2", OPTIONS, folder=folder, processes=1)
    with pytest.raises(UsageError, match="made with other settings: eot, after"):
        prepare(corpus, "gpt2", PrepareOptions(to="megatron", part_bytes=300), folder=folder, processes=1)
    with pytest.raises(UsageError, match="made with other settings: dtype, tokenizer"):
        prepare(corpus, "cl100k_base", PrepareOptions(to="megatron", dtype="u32", part_bytes=300), folder=folder)
    with open(tmp_path / "in/c.jsonl", "w") as file:
        file.write('{"text": "more"}\n')
    with pytest.raises(UsageError, match=r"made of other inputs: \S*c\.jsonl is new$"):
        prepare(corpus, "gpt2", OPTIONS, folder=folder, processes=1)
    (tmp_path / "in/a.jsonl").write_text('{"text": "a"}\n')
    with pytest.raises(
        UsageError, match=r"made of other inputs: \S*c\.jsonl is new; \S*a\.jsonl has 14 bytes in place of "
    ):
        prepare(corpus, "gpt2", OPTIONS, folder=folder, processes=1)
    done = prepare(corpus, "gpt2", OPTIONS, folder=folder, processes=1, overwrite=True)
    assert done.is_whole
    fresh = prepare(corpus, "gpt2", OPTIONS, folder=tmp_path / "fresh", processes=1)
    assert contents(folder) == contents(Path(fresh.folder))


@pytest.mark.parametrize("to", sorted(DATASETS))
def test_what_is_overwritten_leaves_no_file_behind(to: str, corpus: Source, tmp_path: Path) -> None:
    """Files of other formats, parts beyond the new ones, and indexes are removed; files that belong to no part stay."""
    folder = tmp_path / "out"
    prepare(corpus, "gpt2", PrepareOptions(to=to, part_bytes=300), folder=folder, processes=1)
    (folder / "notes.txt").write_text("mine")
    (folder / "part-00001.notes").write_text("mine")
    other = PrepareOptions(to="datatrove" if to == "megatron" else "megatron", part_bytes=2000)
    again = prepare(corpus, "gpt2", other, folder=folder, processes=workers_for(to, "parquet"), overwrite=True)
    fresh = prepare(corpus, "gpt2", other, folder=tmp_path / "fresh", processes=1)
    assert again.parts < len(estimate(corpus, "gpt2", PrepareOptions(part_bytes=300)).parts)
    mine = {"notes.txt": b"mine", "part-00001.notes": b"mine"}
    assert contents(folder) == contents(Path(fresh.folder)) | mine


def test_a_damaged_plan_is_refused_and_overwritten(corpus: Source, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    prepare(corpus, "gpt2", OPTIONS, folder=folder, processes=1)
    whole = contents(folder)
    (folder / "plan.json").write_bytes(b"{")
    with pytest.raises(InputError, match=r"plan\.json is damaged"):
        prepare(corpus, "gpt2", OPTIONS, folder=folder, processes=1)
    prepare(corpus, "gpt2", OPTIONS, folder=folder, processes=1, overwrite=True)
    assert contents(folder) == whole


def test_a_record_names_no_file_of_anything_else(corpus: Source, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    prepare(corpus, "gpt2", OPTIONS, folder=folder, processes=1)
    record = json.loads((folder / "part-00000.json").read_bytes())
    record["files"] += [{"name": name, "bytes": 4, "sha256": ""} for name in ("notes.txt", "part-00001.bin")]
    (folder / "part-00000.json").write_text(json.dumps(record))
    (folder / "notes.txt").write_text("mine")
    prepare(corpus, "gpt2", OPTIONS, folder=folder, processes=1, overwrite=True)
    assert (folder / "notes.txt").read_text() == "mine"
    (folder / "notes.txt").unlink()
    assert check(folder).is_whole


def test_a_folder_of_something_else_is_refused(corpus: Source, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/notes.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"is not empty, and has no data set in it: notes\.txt"):
        prepare(corpus, "gpt2", OPTIONS, folder=tmp_path / "mine", processes=1)
    with pytest.raises(InputError, match="there is no data set"):
        check(tmp_path / "mine")
    with pytest.raises(UsageError, match="stdin"):
        prepare(Source(()), "gpt2", OPTIONS, folder=tmp_path / "out")
    with pytest.raises(UsageError, match="is in the folder of"):
        prepare(corpus, "gpt2", OPTIONS, folder=tmp_path / "in", overwrite=True)
    with pytest.raises(UsageError, match="no part 3 of 2"):
        Share(3, 2)


def test_a_run_that_fails_before_its_first_part_leaves_no_trace(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"text": 5}\n')
    source = Source((str(tmp_path / "in.jsonl"),), documents="jsonl")
    (tmp_path / "empty").mkdir()
    for folder in ("new/below", "empty"):
        with pytest.raises(InputError):
            prepare(source, "gpt2", OPTIONS, folder=tmp_path / folder, processes=1)
    assert {path.name for path in tmp_path.rglob("*")} == {"in.jsonl", "empty"}
    # Others who share the parts may be at work by this plan.
    with pytest.raises(InputError):
        prepare(source, "gpt2", OPTIONS, folder=tmp_path / "empty", share=Share(1, 2), processes=1)
    assert [path.name for path in (tmp_path / "empty").iterdir()] == ["plan.json"]


def test_an_error_in_a_part_keeps_the_others(corpus: Source, tmp_path: Path) -> None:
    with open(tmp_path / "in/z.jsonl", "w") as file:
        file.write('{"text": 5}\n' * 30)
    for processes in (1, 2):
        with pytest.raises(InputError, match=r"z\.jsonl"):
            prepare(corpus, "gpt2", OPTIONS, folder=tmp_path / "out", processes=processes)
    assert not (tmp_path / "out/manifest.json").exists()
    there = plan_in(str(tmp_path / "out"))
    assert there is not None
    assert not (tmp_path / f"out/part-{len(there.parts) - 1:05}.json").exists()
    (tmp_path / "in/z.jsonl").unlink()
    assert prepare(corpus, "gpt2", OPTIONS, folder=tmp_path / "out", overwrite=True).kept > 3


@given(st.lists(st.binary(max_size=12), max_size=12), st.integers(1, 20))
def test_every_line_belongs_to_one_extent(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], size: int
) -> None:
    path = tmp_path_factory.mktemp("lines") / "x.txt"
    data = b"\n".join(lines)
    path.write_bytes(data)
    parts = divide(Inputs((Input(str(path), len(data)),)), Source((str(path),), documents="lines"), size)
    extents = [item.extent for part in parts for item in part.inputs if item.extent is not None]
    assert (len(extents) > 1) == (len(data) > size)
    read = [b"".join(read_lines_in(str(path), *extent)) for extent in extents]
    assert not extents or b"".join(read) == data
    assert all(not each or each.endswith(b"\n") for each in read[:-1] if data.endswith(b"\n"))
    shutil.rmtree(path.parent)
