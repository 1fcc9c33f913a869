"""Broken rows are left out, counted and kept, whatever made the parts."""

from __future__ import annotations

import base64
import contextlib
import importlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe_cli
from bpe_cli.corpus import Source
from bpe_cli.corpus.rows import FAULTS
from bpe_cli.errors import CheckFailed, InputError, UsageError
from bpe_cli.jobs.parts import Share
from bpe_cli.jobs.prepare import PrepareOptions, check, finish, prepare
from tests.needs import needs
from tests.plain_sets import workers_for
from tests.profiles import MANY
from tests.thorough import more

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


@settings(max_examples=more(20, MANY))
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
    prepare(source, TOKENIZER, options, folder=tmp_path / "two", processes=workers_for(to, "megatron"))
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


def in_all(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("on_error", ["skip", "quarantine"])
@pytest.mark.parametrize("shuffle", [None, "documents"])
def test_who_leaves_rows_out_now_goes_on_with_the_parts_that_had_none(
    shuffle: Any, on_error: Any, tmp_path: Path
) -> None:
    """The run stopped at a broken row: what was finished by then is the same either way."""
    source, folder = corpus(tmp_path / "in"), tmp_path / "out"
    lines = [json.dumps({"text": f"0 {number}"}) for number in range(99)]
    (tmp_path / "in/0.jsonl").write_text("\n".join(lines))
    fail = PrepareOptions(part_bytes=400, shuffle=shuffle, val=0.4)
    leave_out = replace(fail, on_error=on_error)
    with pytest.raises(InputError, match=r"a\.jsonl"):
        prepare(source, TOKENIZER, fail, folder=folder, processes=1)
    place = folder / "shuffle" if shuffle else folder
    done = {path: path.stat() for path in place.glob("part-*") if path.suffix != ".json"}
    records = {path.name: path.stat().st_mtime_ns for path in place.glob("part-*.json")}
    assert len(records) > 4

    encoded: list[int] = []
    with pytest.MonkeyPatch.context() as patched:
        where = "shuffle" if shuffle else "making"
        encode = importlib.import_module(f"bpe_cli.jobs.prepare.{where}").encode_part
        patched.setattr(
            f"bpe_cli.jobs.prepare.{where}.encode_part",
            lambda job, part, *more: (encoded.append(part.number), encode(job, part, *more))[1],
        )
        now = prepare(source, TOKENIZER, leave_out, folder=folder, processes=1)
    assert encoded == [*range(len(records), now.parts)]
    fresh = prepare(source, TOKENIZER, leave_out, folder=tmp_path / "fresh", processes=1)
    assert in_all(folder) == in_all(tmp_path / "fresh")
    assert now.broken == fresh.broken == check(folder).broken == {"type": 2, "utf-8": 2}
    if not shuffle:
        assert now.kept == len(records)
        assert all(path.stat().st_ino == status.st_ino for path, status in done.items())
        # The time of a record is when its inputs began to be read, by which changes are found.
        assert {name: (folder / name).stat().st_mtime_ns for name in records} == records


def test_nothing_else_is_gone_on_with(tmp_path: Path) -> None:
    source, folder = corpus(tmp_path / "in"), tmp_path / "out"
    of: dict[str, PrepareOptions] = {
        each: PrepareOptions(part_bytes=400, on_error=each)  # type: ignore[arg-type]
        for each in ("fail", "skip", "quarantine")
    }
    prepare(source, TOKENIZER, of["skip"], folder=folder, processes=1)
    whole = contents(folder)
    for other in (of["fail"], of["quarantine"]):
        with pytest.raises(UsageError, match="was made with other settings: on_error"):
            prepare(source, TOKENIZER, other, folder=folder, processes=1)
    assert contents(folder) == whole
    done = prepare(source, TOKENIZER, of["quarantine"], folder=folder, processes=1, overwrite=True)
    assert done.made == 4 < done.parts  # one for each broken row
    prepare(source, TOKENIZER, of["quarantine"], folder=tmp_path / "fresh", processes=1)
    assert contents(folder) == contents(tmp_path / "fresh")
    with pytest.raises(InputError, match=r"a\.jsonl"):  # what has left rows out is not the work of who takes none
        prepare(source, TOKENIZER, of["fail"], folder=folder, processes=1, overwrite=True)


def test_a_whole_data_set_without_broken_rows_may_be_one_that_leaves_them_out(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"text": "a"}\n' * 99)
    source, folder = Source((str(tmp_path / "x.jsonl"),), documents="jsonl"), tmp_path / "out"
    fail = PrepareOptions(part_bytes=400)
    prepare(source, TOKENIZER, fail, folder=folder, processes=1)
    record = (folder / "part-00001.json").read_bytes()
    now = prepare(source, TOKENIZER, replace(fail, on_error="skip"), folder=folder, processes=1)
    assert (now.made, now.broken, check(folder).broken) == (0, {}, {})
    prepare(source, TOKENIZER, replace(fail, on_error="skip"), folder=tmp_path / "fresh", processes=1)
    assert contents(folder) == contents(tmp_path / "fresh")
    # A run that shares the parts, and began with the old plan, may write such a record later.
    (folder / "part-00001.json").write_bytes(record)
    (folder / "manifest.json").unlink()
    assert finish(folder).broken == {}
    assert contents(folder) == contents(tmp_path / "fresh")


def test_quarantined_rows_are_checked_like_all_files(tmp_path: Path) -> None:
    source, options = corpus(tmp_path / "in"), PrepareOptions(on_error="quarantine", part_bytes=400)
    folder = tmp_path / "out"
    prepare(source, TOKENIZER, options, folder=folder, processes=1)
    whole = contents(folder)
    name = min(name for name in whole if "quarantine" in name)
    (folder / name).write_bytes(whole[name].replace(b"input", b"inpux"))
    with pytest.raises(CheckFailed, match=f"{name} does not match its record"):
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


def test_the_page_names_every_fault() -> None:
    page = (Path(bpe_cli.__file__).parent.parent / "docs/how-to/prepare.md").read_text(encoding="utf-8")
    assert [kind for kind in FAULTS if f"`{kind}`" not in page] == []
