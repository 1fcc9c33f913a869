"""A data set made of objects is that made of the same files, whatever their server does meanwhile."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bpe_cli.corpus import Source
from bpe_cli.errors import InputError, OutputError, UsageError
from bpe_cli.jobs.parts import Share
from bpe_cli.jobs.prepare import PrepareOptions, check, check_deep, finish, prepare
from tests.needs import needs
from tests.object_store import Shelf, every, in_reach

OPTIONS = PrepareOptions(to="megatron", eot="auto", part_bytes=3000)


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shelf]:
    """Serve three objects of JSON lines, one of them compressed."""
    documents = (f"document {number} " + "naïve 日本\n" * (number % 5) for number in range(300))
    lines = [json.dumps({"text": document}).encode() for document in documents]
    texts = [b"\n".join(lines[start : start + 100]) + b"\n" for start in (0, 100, 200)]
    objects = {"b/in/a.jsonl": texts[0], "b/in/b.jsonl.gz": gzip.compress(texts[1]), "b/in/deep/c.jsonl": texts[2]}
    with in_reach(monkeypatch, objects) as shelf:
        yield shelf


def source(*paths: str) -> Source:
    return Source(paths or ("s3://b/in/",), documents="jsonl")


def files(folder: Path) -> dict[str, bytes]:
    """Return the files of a data set, but for what names the inputs."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".json"}


def everything(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def on_disk(shelf: Shelf, folder: Path) -> str:
    for name, data in shelf.objects.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return str(folder / "b/in")


def test_it_is_that_of_the_same_files(shelf: Shelf, tmp_path: Path) -> None:
    done = prepare(source(), "gpt2", OPTIONS, folder=tmp_path / "objects", processes=1)
    there = prepare(source(on_disk(shelf, tmp_path)), "gpt2", OPTIONS, folder=tmp_path / "files", processes=1)
    assert (done.documents, done.tokens, done.parts) == (there.documents, there.tokens, there.parts)
    assert done.parts > 5, "plain objects are cut at lines"
    assert files(tmp_path / "objects") == files(tmp_path / "files")
    inputs = json.loads((tmp_path / "objects/manifest.json").read_bytes())["parts"][0]["inputs"][0]
    local = json.loads((tmp_path / "files/manifest.json").read_bytes())["parts"][0]["inputs"][0]
    assert inputs["sha256"] == local["sha256"]
    assert inputs["version"] == shelf.etag("b/in/a.jsonl")
    assert "version" not in local
    assert check(tmp_path / "objects").is_whole
    again = prepare(source("s3://b/in"), "gpt2", OPTIONS, folder=tmp_path / "objects", processes=1)
    assert (again.made, again.kept) == (0, done.parts)


def test_a_store_that_fails_changes_no_byte(shelf: Shelf, tmp_path: Path) -> None:
    prepare(source(), "gpt2", OPTIONS, folder=tmp_path / "calm", processes=1)
    for processes, often in ((1, 3), (2, 6)):  # processes of their own pause for as long as a user's
        shelf.seen.clear()
        shelf.faults = every(often, "500", "reset", "cut")
        folder = tmp_path / f"stormy {processes}"
        prepare(source(), "gpt2", OPTIONS, folder=folder, processes=processes)
        assert everything(folder) == everything(tmp_path / "calm")
        assert len(shelf.seen) >= 3 * often, "each of them happened"


def test_shares_and_formats_of_urls(shelf: Shelf, tmp_path: Path) -> None:
    urls = [f"{shelf.url}/b/in/a.jsonl", "gs://b/in/b.jsonl.gz", "az://b/in/*/c.jsonl"]
    prepare(source(*urls), "gpt2", OPTIONS, folder=tmp_path / "one", processes=1)
    for number in (1, 2):
        prepare(source(*urls), "gpt2", OPTIONS, folder=tmp_path / "two", share=Share(number, 2), processes=1)
    finish(tmp_path / "two")
    assert everything(tmp_path / "one") == everything(tmp_path / "two")
    prepare(source(on_disk(shelf, tmp_path)), "gpt2", OPTIONS, folder=tmp_path / "files", processes=1)
    assert files(tmp_path / "one") == files(tmp_path / "files")


def test_objects_that_change_are_noticed(shelf: Shelf, tmp_path: Path) -> None:
    prepare(source(), "gpt2", OPTIONS, folder=tmp_path / "out", share=Share(1, 2), processes=1)
    there = shelf.objects["b/in/a.jsonl"]
    shelf.objects["b/in/a.jsonl"] = there.replace(b"document", b"DOCUMENT")
    with pytest.raises(UsageError, match="was made of other inputs"):
        prepare(source(), "gpt2", OPTIONS, folder=tmp_path / "out", processes=1)
    shelf.objects["b/in/a.jsonl"] = there


def test_objects_that_change_after_the_plan_was_made_are_noticed(shelf: Shelf, tmp_path: Path) -> None:
    there = shelf.objects["b/in/a.jsonl"]

    def change(number: int, path: str) -> None:
        if (tmp_path / "out/part-00001.json").exists():
            shelf.objects["b/in/a.jsonl"] = there.replace(b"document", b"DOCUMENT")

    shelf.faults = change
    with pytest.raises(InputError, match=r"cannot read s3://b/in/a.jsonl: it has changed since it was listed"):
        prepare(source(), "gpt2", OPTIONS, folder=tmp_path / "out", processes=1)
    assert not (tmp_path / "out/part-00002.json").exists()
    shelf.faults, shelf.objects["b/in/a.jsonl"] = lambda *_: None, there
    assert prepare(source(), "gpt2", OPTIONS, folder=tmp_path / "out", processes=1).kept == 2
    prepare(source(), "gpt2", OPTIONS, folder=tmp_path / "calm", processes=1)
    assert everything(tmp_path / "out") == everything(tmp_path / "calm")


def test_parts_are_made_again_from_the_same_objects(shelf: Shelf, tmp_path: Path) -> None:
    done = prepare(source(), "gpt2", OPTIONS, folder=tmp_path / "out", processes=1)
    assert check_deep(source(), "gpt2", OPTIONS, folder=tmp_path / "out", parts=2).parts == done.parts
    shelf.objects["b/in/a.jsonl"] = shelf.objects["b/in/a.jsonl"].replace(b"document", b"DOCUMENT")
    with pytest.raises(UsageError, match=r"s3://b/in/a\.jsonl is another version of the object"):
        check_deep(source(), "gpt2", OPTIONS, folder=tmp_path / "out")


def test_a_compressed_object_is_not_cut(shelf: Shelf, tmp_path: Path) -> None:
    options = replace(OPTIONS, part_bytes=100)
    for url in ("s3://b/in/b.jsonl.gz", f"{shelf.url}/b/in/b.jsonl.gz"):
        shelf.faults = every(2, "cut")
        folder = tmp_path / url.partition(":")[0]
        done = prepare(source(url), "gpt2", options, folder=folder, processes=1)
        assert (done.parts, done.documents) == (1, 100)


def test_a_server_without_ranges_is_read_from_start_to_end(shelf: Shelf, tmp_path: Path) -> None:
    shelf.ranges = False
    urls = [f"{shelf.url}/{name}" for name in shelf.objects]
    shelf.faults = every(2, "cut")
    done = prepare(source(*urls), "gpt2", OPTIONS, folder=tmp_path / "out", processes=1)
    assert (done.parts, done.documents) == (3, 300), "nothing is cut"
    shelf.lengths = False
    with pytest.raises(UsageError, match="has no size that its server tells"):
        prepare(source(*urls), "gpt2", OPTIONS, folder=tmp_path / "other", processes=1)


def test_tables_have_a_version_in_place_of_a_hash(shelf: Shelf, tmp_path: Path) -> None:
    pyarrow, parquet = needs("pyarrow"), needs("pyarrow.parquet", "pyarrow")
    texts = [f"document {number}" for number in range(100)]
    parquet.write_table(pyarrow.table({"text": texts}), tmp_path / "a.parquet")
    shelf.objects["b/tables/a.parquet"] = (tmp_path / "a.parquet").read_bytes()
    prepare(Source(("s3://b/tables",)), "gpt2", OPTIONS, folder=tmp_path / "objects", processes=1)
    prepare(Source((str(tmp_path / "a.parquet"),)), "gpt2", OPTIONS, folder=tmp_path / "files", processes=1)
    assert files(tmp_path / "objects") == files(tmp_path / "files")
    inputs = json.loads((tmp_path / "objects/part-00000.json").read_bytes())["inputs"]
    assert inputs == [{"path": "s3://b/tables/a.parquet", "bytes": len(shelf.objects["b/tables/a.parquet"]),
                       "version": shelf.etag("b/tables/a.parquet")}]  # fmt: skip
    assert check(tmp_path / "objects").documents == 100


def test_a_data_set_lies_on_a_disk(shelf: Shelf) -> None:
    with pytest.raises(OutputError, match="written into a folder on disk") as caught:
        prepare(source(), "gpt2", OPTIONS, folder="s3://b/out/", processes=1)
    assert "mounted" in str(caught.value.hint)
    assert not shelf.seen


def test_records_keep_no_signature_and_know_a_file_that_was_signed_anew(shelf: Shelf, tmp_path: Path) -> None:
    def signed(by: str) -> Source:
        return source(f"{shelf.url}/b/in/a.jsonl?part=2&X-Amz-Signature={by}&x=3")

    prepare(signed("SECRET"), "gpt2", OPTIONS, folder=tmp_path / "set", processes=1)
    made = everything(tmp_path / "set")
    assert not [name for name, content in made.items() if b"SECRET" in content]
    assert b"a.jsonl?part=2&X-Amz-Signature=...&x=3" in made["plan.json"]
    shelf.seen.clear()
    again = prepare(signed("ANOTHER"), "gpt2", OPTIONS, folder=tmp_path / "set", processes=1)
    assert again.parts > 1
    assert everything(tmp_path / "set") == made
    assert {wanted.partition("-")[0] for method, _, wanted in shelf.seen if method == "GET"} == {"bytes=0"}, "the head"
