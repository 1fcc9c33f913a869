"""The members of an archive are those that ``tarfile`` wrote; nothing of a hostile one is believed."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.corpus import Source, archive, kinds, read_blocks
from bpe_cli.corpus.archive import pack_archive
from bpe_cli.corpus.documents import Packer
from bpe_cli.corpus.rows import ALL_WHOLE, BrokenRow, Place, Rows
from bpe_cli.errors import InputError, UsageError
from tests.needs import needs

FORMATS = (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)
PLACE = Place("x.tar", "x.tar", 1, 0)


def tar(members: Sequence[tuple[str, bytes]], format_: int = tarfile.PAX_FORMAT, **more: Any) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=format_, **more) as into:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            into.addfile(info, io.BytesIO(data))
    return file.getvalue()


def documents(
    data: bytes, ending: str = "txt", rows: Rows = ALL_WHOLE, size: int = 1 << 20, field: str = "text"
) -> list[bytes]:
    packer = Packer(1 << 20)
    chunks = (data[start : start + size] for start in range(0, len(data), size))
    blocks = [*pack_archive(chunks, packer, PLACE, ending, field, rows), *packer.flush()]
    return [bytes(document) for block in blocks for document in block.documents()]


NAMES = st.text(st.sampled_from("ab/é. "), min_size=1, max_size=12).map(lambda name: name.strip("/ ") or "a")


@given(
    st.lists(st.tuples(NAMES, st.sampled_from([".txt", ".TXT", ".json", ""]), st.binary(max_size=1100)), max_size=5),
    st.sampled_from(FORMATS),
    st.integers(1, 2000),
)
def test_members_are_those_that_were_written(members: list[tuple[str, str, bytes]], format_: int, size: int) -> None:
    named = [(f"{name}{ending}", data) for name, ending, data in members]
    expected = [
        data for name, data in named if name.lower().endswith(".txt") and not name.rpartition("/")[2].startswith(".")
    ]
    written = tar(named, format_)
    if expected or not named:
        assert documents(written, size=size) == expected
    else:
        with pytest.raises(InputError, match="has no member"):
            documents(written, size=size)


@pytest.mark.parametrize("format_", FORMATS)
def test_long_names_are_read(format_: int) -> None:
    deep = "/".join(["folder"] * 15)
    names = [f"{deep}/a.txt", "a.b.txt"] + ([] if format_ == tarfile.USTAR_FORMAT else ["x" * 5000 + ".txt"])
    assert documents(tar([(name, name.encode()) for name in names], format_)) == [name.encode() for name in names]


def test_what_is_not_asked_for_is_left_out() -> None:
    data = tar([("000.txt", b"a"), ("000.json", b"{}"), ("._000.txt", b"?"), ("d/001.txt", b""), ("001.en.txt", b"b")])
    assert documents(data) == [b"a", b"", b"b"]
    assert documents(data, "en.txt") == [b"b"]
    assert documents(tar([])) == []
    with pytest.raises(InputError, match=r"x\.tar has no member that ends in \.cls") as caught:
        documents(data, "cls")
    assert caught.value.hint == "`member` names the ending of the texts in it; there is .txt, .json"


@pytest.mark.parametrize("names", [["README"], ["d/a", "._a", ".txt", "._b.txt", "b"]])
def test_members_without_an_ending_are_no_texts_either(names: list[str]) -> None:
    with pytest.raises(InputError, match=r"x\.tar has no member that ends in \.txt") as caught:
        documents(tar([(name, b"a") for name in names]))
    assert caught.value.hint == "`member` names the ending of the texts in it; no name in it has one"


def test_members_of_json_have_a_field() -> None:
    data = tar([("0.json", b'{"a": {"b": "x"}}\n'), ("1.json", b"{"), ("2.json", b'{"a": 1}'), ("3.json", b"\xff")])
    found: list[BrokenRow] = []
    assert documents(data, "json", Rows(found.append), field="a.b") == [b"x"]
    assert [(row.place.member, row.kind, row.data) for row in found] == [
        ("1.json", "json", b"{"), ("2.json", "type", b'{"a": 1}'), ("3.json", "utf-8", b"\xff"),
    ]  # fmt: skip
    with pytest.raises(InputError, match=r"x\.tar, member 1\.json, byte 2: invalid JSON"):
        documents(data, "json", field="a.b")


def test_endings_that_end_in_json_are_json() -> None:
    data = tar([("0.meta.json", b'{"text": "x"}'), ("0.json", b"{"), ("0.xjson", b"[")])
    assert documents(data, "meta.json") == [b"x"]
    assert documents(data, "xjson") == [b"["]
    assert [kinds.has_fields(kinds.TAR, ending) for ending in ("meta.json", "xjson")] == [True, False]


@pytest.mark.parametrize("ending", ["jsonl", ".JSONL.gz", "a.ndjson"])
def test_json_lines_in_an_archive_are_refused(ending: str) -> None:
    with pytest.raises(UsageError, match="JSON lines in an archive are not read"):
        Source(("x.tar",), member=ending)


@pytest.mark.parametrize("ending", ["txt.gz", "zst", "json.xz"])
def test_compressed_members_are_refused(ending: str) -> None:
    with pytest.raises(UsageError, match=rf"compressed members .* such as those in \.{ending}"):
        Source(("x.tar",), member=ending)


def hostile(*kinds: bytes, **fields: Any) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT) as into:
        for kind in kinds:
            info = tarfile.TarInfo("evil.txt")
            info.type, info.linkname = kind, "/etc/passwd"
            into.addfile(info)
        into.addfile(tarfile.TarInfo("good.txt"))
    return file.getvalue()


def test_links_and_the_like_are_no_documents() -> None:
    data = hostile(tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.GNUTYPE_SPARSE, b"?")
    found: list[BrokenRow] = []
    assert documents(data, rows=Rows(found.append)) == [b""]
    assert {row.kind for row in found} == {"member"}
    assert [row.reason.removesuffix(", not a plain file") for row in found] == [
        "it is a link", "it is a hard link", "it is a device", "it is a pipe", "it is a sparse file",
        "it is of the unknown type b'?'",
    ]  # fmt: skip
    with pytest.raises(InputError, match=r"x\.tar, member evil\.txt: it is a link, not a plain file"):
        documents(data)


def test_sizes_are_not_believed() -> None:
    for size in (1 << 33, (1 << 62) + 5):
        info = tarfile.TarInfo("a.txt")
        info.size = size
        for format_ in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
            with pytest.raises(InputError, match="it ends too early"):
                documents(info.tobuf(format_) + b"x" * 5000)
    header = tarfile.TarInfo("a.txt")
    header.size = archive.LARGEST_JSON + 1
    found: list[BrokenRow] = []
    header.name = "a.json"
    with pytest.raises(InputError, match="ends too early"):
        documents(header.tobuf(), "json", Rows(found.append))
    assert found[0].reason == "it is larger than 268,435,456 bytes"
    long_name = tarfile.TarInfo("a")
    long_name.type, long_name.size = b"L", archive.LARGEST_EXTENSION + 1
    with pytest.raises(InputError, match="an extended header has 1,048,577 bytes"):
        documents(long_name.tobuf())


def extended(kind: bytes, *records: tuple[bytes, bytes]) -> bytes:
    """Return an extended header, with its records."""
    body = b""
    for key, value in records:
        length = len(key) + len(value) + 3  # a blank, ``=`` and a line end
        digits = next(digits for digits in range(1, 9) if len(str(length + digits)) == digits)
        body += b"%d %s=%s\n" % (length + digits, key, value)
    info = tarfile.TarInfo("extended")
    info.type, info.size = kind, len(body)
    return info.tobuf(tarfile.USTAR_FORMAT) + body + bytes(-len(body) % 512)


def member(name: str, data: bytes) -> bytes:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    return info.tobuf(tarfile.USTAR_FORMAT) + data + bytes(-len(data) % 512)


@pytest.mark.parametrize("kind", [b"g", b"x"])
def test_of_extended_headers_only_what_is_asked_for_is_kept(kind: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Global ones hold for each member behind them: with all their keys, a small archive took all memory, or hours."""
    kept: list[dict[str, bytes]] = []
    read_records = archive._pax

    def noted(data: bytes, stream: Any) -> dict[str, bytes]:
        kept.append(read_records(data, stream))
        return kept[-1]

    monkeypatch.setattr(archive, "_pax", noted)
    many = [(b"key%d" % number, b"value") for number in range(1000)]
    headers = [extended(kind, *many[start : start + 10]) for start in range(0, 1000, 10)]
    data = b"".join([*headers, extended(kind, *many, (b"path", b"b.txt"), (b"size", b"3")), member("a", b"abc")])
    assert documents(data + bytes(1024)) == [b"abc"]
    assert kept == [{}] * 100 + [{"path": b"b.txt", "size": b"3"}]


def test_extended_headers_hold_for_the_next_member_or_for_all() -> None:
    sparse = (b"GNU.sparse.major", b"1")
    two = member("a.txt", b"a") + member("b.txt", b"b") + bytes(1024)
    for headers, texts, broken in (
        ([extended(b"x", sparse)], [b"b"], 1),
        ([extended(b"g", sparse, (b"GNU.sparse.minor", b"0"))], [], 2),
        ([extended(b"g", (b"path", b"c.txt")), extended(b"x", (b"path", b"d.json"))], [b"b"], 0),
        ([extended(b"g", (b"path", b"c.txt")), extended(b"g", (b"comment", b"GNU.sparse.major"))], [b"a", b"b"], 0),
    ):
        found: list[BrokenRow] = []
        assert documents(b"".join(headers) + two, rows=Rows(found.append)) == texts
        assert [row.reason for row in found] == ["it is a sparse file, not a plain file"] * broken


@given(st.integers(0, 3000), st.integers(0, 255))
def test_damage_is_an_error_or_seen_in_the_texts(place: int, byte: int) -> None:
    """A changed byte never ends in anything but an ``InputError``; one in a header is always found."""
    good = tar([("a.txt", b"x" * 700), ("b.txt", b"y")], tarfile.USTAR_FORMAT)
    data = bytearray(good)
    data[place] = byte
    inside = 512 <= place < 512 + 1024 or 2048 <= place < 2560
    try:
        found = documents(bytes(data))
    except InputError:
        assert not inside
    else:
        assert inside or data == good or found == documents(good)


@given(st.integers(0, 10239))
def test_an_archive_that_ends_too_early_is_an_error(size: int) -> None:
    good = tar([("a.txt", b"x" * 700), ("b.txt", b"y")], tarfile.USTAR_FORMAT)
    if size >= 2560 + 512:  # an empty block ends it
        assert documents(good[:size]) == [b"x" * 700, b"y"]
    else:
        with pytest.raises(InputError, match=r"cannot read x\.tar: the tar archive is damaged after .* bytes: it ends"):
            documents(good[:size])


def test_two_in_one_file_are_an_error() -> None:
    with pytest.raises(InputError, match=r"x\.tar has data after the end of its archive"):
        documents(tar([("a.txt", b"")]) * 2)


@given(st.binary(max_size=2000), st.integers(0, 2))
def test_noise_is_an_error(noise: bytes, kind: int) -> None:
    """Behind a header that promises extended ones."""
    info = tarfile.TarInfo("a.txt")
    info.type, info.size = (b"x", b"g", b"L")[kind], min(len(noise), 40)
    outcome = "read"
    try:
        documents(info.tobuf() + noise.ljust(1024, b"\0") + tar([]))
    except InputError as error:
        outcome = error.message
    assert outcome.startswith(("read", "cannot read x.tar: ", "x.tar has ", "x.tar, member "))


COMPRESS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def read(source: Source) -> list[bytes]:
    blocks = read_blocks(source, stdin=io.BytesIO(), inputs=source.inputs())
    return [bytes(document) for block in blocks for document in block.documents()]


def test_archives_are_inputs_like_others(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    compress: Any = COMPRESS | {".zst": needs("zstandard").ZstdCompressor().compress}
    for number, (ending, pack) in enumerate(compress.items()):
        data = tar([(f"{number}.txt", str(number).encode()), (f"{number}.json", json.dumps({"t": "j"}).encode())])
        (tmp_path / f"in/{number}.tar{ending}").write_bytes(pack(data))
    paths = tuple(str(path) for path in sorted((tmp_path / "in").iterdir()))
    assert read(Source(paths)) == [b"0", b"1", b"2", b"3", b"4"]
    assert read(Source((str(tmp_path / "in"),), member="TXT")) == [b"0", b"1", b"2", b"3", b"4"]
    assert read(Source(paths, member=".json", field="t")) == [b"j"] * 5
    assert read(Source(paths[:1], plain=True))[0].startswith(b"0.txt\0")
    skipped: list[str] = []
    with pytest.raises(InputError, match="there is no text file"):
        Source((str(tmp_path / "in"),)).inputs(on_skip=skipped.append)
    assert skipped[0].endswith("0.tar skipped: it is a tar archive; `member` takes the texts in it")
    for member in ("", ".", "a/b", "jsonl"):
        with pytest.raises(UsageError):
            Source(paths, member=member)


@pytest.mark.parametrize("documents_", ["lines", "jsonl"])
def test_members_are_not_divided_into_lines(tmp_path: Path, documents_: Any) -> None:
    """Lines that were asked for were one document, and JSON lines were text."""
    path = tmp_path / "x.tar"
    path.write_bytes(tar([("a.txt", b"a\nb\n")]))
    asked = Source((str(path),), documents=documents_)
    with pytest.raises(
        UsageError, match=f'^`documents="{documents_}"` reads the lines of files, and .* is a tar'
    ) as it:
        asked.inputs()
    assert it.value.hint == f'leave `documents="{documents_}"` out, or unpack the archive, as in: tar -xf FILE'
    assert read(Source((str(path),), documents=documents_, documents_are_default=True)) == [b"a\nb\n"]
    assert read(Source((str(path),)).by_lines()) == [b"a\nb\n"]
