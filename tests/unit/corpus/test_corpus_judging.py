"""Nothing is taken for text that is none, and a run has inputs of one kind."""

from __future__ import annotations

import gzip
import io

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bpe_cli.corpus import Source, read_blocks
from bpe_cli.errors import BpeError, InputError, UsageError

LINES = b'{"id": "7", "body": "one two"}\n{"id": "8", "body": "three"}\n'
WAY_OUT = '`documents="jsonl"` `field=body` takes the text of each; `plain` takes the lines as they are'
AS_TEXT = "JSON lines, which would be read as text with their keys and quotes"


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(**files):
        for name, data in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)

    return write


def read(*paths, stdin=b"", notes=None, **options):
    tell = (lambda _: None) if notes is None else notes.append
    blocks = read_blocks(Source(paths, **options), stdin=io.BytesIO(stdin), on_skip=tell, on_note=tell)
    found = []
    for block in blocks:
        parts = [bytes(document) for document in block.documents()]
        if block.continued:
            found[-1] += parts.pop(0)
        found += parts
    return found


def refused(*paths, **options) -> BpeError:
    with pytest.raises(BpeError) as caught:
        read(*paths, **options)
    return caught.value


@pytest.mark.parametrize("documents", ["whole", "lines"])
@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson", "a.txt", "a.gz"])
def test_json_lines_are_no_text(write, documents, name):
    write(**{name: gzip.compress(LINES) if name == "a.gz" else LINES})
    error = refused(name, documents=documents)
    assert (type(error), error.message, error.hint) == (UsageError, f"{name} holds {AS_TEXT}", WAY_OUT)
    lines = [LINES] if documents == "whole" else LINES.splitlines()
    assert read(name, documents=documents, plain=True) == lines
    assert read(name, documents="jsonl", field="body") == [b"one two", b"three"]


def test_all_json_lines_are_counted(write):
    write(**{"a.jsonl": LINES, "b.jsonl": LINES, "c.jsonl": b""})
    assert refused("*.jsonl").message == f"a.jsonl and 2 more files hold {AS_TEXT}"
    assert refused("a.jsonl", "b.jsonl").message == f"a.jsonl and one more file hold {AS_TEXT}"


def test_a_name_alone_is_enough(write):
    write(**{"a.jsonl": b"prose", "empty.jsonl": b""})
    assert refused("a.jsonl").hint == WAY_OUT.replace("body", "NAME")
    assert refused("empty.jsonl").hint == WAY_OUT.replace("body", "NAME")


def test_keys_are_named_where_no_field_looks_like_the_text(write):
    write(a=b'{"id": 1, "messages": []}\n{"id": 2}\n')
    assert refused("a").hint.startswith("`documents=\"jsonl\"` `field=NAME` (the keys are 'id', 'messages') takes")


@pytest.mark.parametrize(
    "data", [b"{}", b'{"a": 1}\n', b'{\n  "a": {\n  }\n}\n', b"{}\nis empty\n", b"\xff\xfe\0binary", b"%!PS"]
)
def test_what_may_be_text_is_text(write, data):
    write(a=data)
    assert read("a") == read("-", stdin=data) == read("a", plain=True) == [data]


def test_a_text_is_never_judged():
    assert read(text=LINES.decode()) == [LINES]


@pytest.mark.parametrize("block_bytes", [1, 7, 1 << 20])
@pytest.mark.parametrize("data", [LINES, gzip.compress(LINES, mtime=0), b"\n" + LINES.rstrip()])
def test_stdin_is_judged_too(data, block_bytes):
    error = refused(stdin=data, block_bytes=block_bytes)
    assert (type(error), error.message, error.hint) == (UsageError, f"stdin holds {AS_TEXT}", WAY_OUT)
    assert read(stdin=LINES, plain=True) == [LINES]
    assert read(stdin=LINES, documents="jsonl", field="body") == [b"one two", b"three"]


class Slowly(io.BytesIO):
    """A pipe that has so many bytes at a time."""

    size = 1

    def read1(self, _=-1):
        return super().read1(self.size)


@pytest.mark.parametrize("size", [1, 3, 40])
def test_a_slow_pipe_is_judged_by_the_same_bytes(size):
    for data in (LINES, b"{}\nprose\n", b"{}", b"prose\n" + LINES, b"PK\x03\x04 zip", b"\x93NUMPY"):
        stdin = Slowly(data)
        stdin.size = size
        try:
            blocks = list(read_blocks(Source(documents="lines"), stdin=stdin))
            slow = [bytes(document) for block in blocks for document in block.documents()]
        except BpeError as error:
            slow = error.message
        try:
            whole = read(stdin=data, documents="lines")
        except BpeError as error:
            whole = error.message
        assert slow == whole


def test_containers_have_a_way_out(write):
    write(**{"a": b"PK\x03\x04\x14\0", "b.npy": b"\x93NUMPY\1\0"})
    error = refused("a")
    assert (type(error), error.message) == (InputError, "a is a zip archive, not text")
    assert error.hint == "unpack it, as in: unzip -p FILE | bpe ...; `plain` takes its bytes as they are"
    assert refused("b.npy").message == refused("b.npy", documents="jsonl").message == "b.npy is a NumPy array, not text"
    assert refused(stdin=b"\x93NUMPY\1\0").message == "stdin is a NumPy array, not text"
    assert refused(stdin=b"PAR1\x15\x04").message == "stdin is Parquet, which can only be read from a file"
    assert refused("a", documents="jsonl").hint == "unpack it, as in: unzip -p FILE | bpe ..."  # --plain is no way out
    assert read("a", plain=True) == [b"PK\x03\x04\x14\0"]


def test_a_folder_of_text_is_read_as_ever(write):
    write(**{
        "d/b.txt": b"b", "d/a.txt": b"a", "d/x.zip": b"PK\x03\x04", "d/state.json": b"{}", "d/README.md": b"r",
        "d/empty": b"", "d/_SUCCESS": b"", "d/image": b"\x89PNG\0", "d/.hidden.jsonl": LINES,
    })  # fmt: skip
    notes = []
    assert read("d", notes=notes) == [b"r", b"a", b"b", b"", b"{}"]
    assert notes == [
        "d/image skipped: it looks binary (NUL at byte 4)",
        "d/x.zip skipped: it is a zip archive",
        "d/_SUCCESS skipped: it is the empty mark of a job's end",
    ]


SHARDS = {
    "d/part-0": LINES, "d/part-1.json": b'{"body": "four"}\n', "d/state.json": b'{"a": 1}\n', "d/README.md": b"# Data",
    "d/_SUCCESS": b"", "d/dataset_info.json": b"{\n}",
}  # fmt: skip


def test_a_folder_of_shards(write):
    write(**SHARDS)
    assert (
        refused("d").message == "the inputs are of several kinds: 1 of JSON lines (d/part-0), 1 of text (d/part-1.json)"
    )
    notes = []
    assert read("d", documents="jsonl", field="body", notes=notes) == [b"one two", b"three", b"four"]
    assert notes == [
        f"d/{name} skipped: it is not JSON lines, unlike the files beside it"
        for name in ("README.md", "_SUCCESS", "dataset_info.json", "state.json")
    ]
    write(**{"d/part-1.json": LINES})
    assert refused("d").message == f"d/part-0 and one more file hold {AS_TEXT}"


@pytest.mark.parametrize("paths", [("d",), ("d/a.csv", "d/done")])
def test_an_empty_file_beside_tables_has_no_rows(write, paths):
    write(**{"d/a.csv": b"text\none\n", "d/done": b"", "d/b.csv": b""})
    notes = []
    assert read(*paths, notes=notes) == [b"one"]
    assert notes == ["d/done skipped: it is empty, so it has no rows"]
    write(**{"e/a.jsonl": LINES, "e/done": b""})
    assert read("e", documents="jsonl", field="body", notes=notes) == [b"one two", b"three"]


def test_what_was_named_is_never_left_out(write):
    write(**SHARDS)
    assert refused("d/part-0", "d/README.md", documents="jsonl").message.startswith("the inputs are of several kinds")
    assert refused("d/*", documents="jsonl").message.startswith("the inputs are of several kinds")
    assert refused("d/README.md", documents="jsonl").message.startswith("d/README.md:1:1: invalid JSON")


def test_text_beside_json_lines_is_an_error(write):
    write(**{"d/a.jsonl": LINES, "d/b.jsonl": LINES, "d/deep/notes.txt": b"text"})
    for documents in ("whole", "lines", "jsonl"):
        error = refused("d", documents=documents)
        assert type(error) is UsageError
        assert (
            error.message
            == "the inputs are of several kinds: 2 of JSON lines (d/a.jsonl, ...), 1 of text (d/deep/notes.txt)"
        )
        assert (
            error.hint == "name those of one kind, as in 'd/*.jsonl', with `documents=\"jsonl\"` `field=body`; "
            "`plain` takes all as text"
        )
    assert read("d", plain=True) == [LINES, LINES, b"text"]
    write(**{"e/deep/a.jsonl.gz": gzip.compress(LINES), "e/notes.txt": b"text"})
    assert "as in 'e/**/*.jsonl.gz', with" in refused("e").hint
    assert read("e/**/*.jsonl.gz", documents="jsonl", field="body") == [b"one two", b"three"]


def test_a_broken_shard_is_never_left_out(write):
    write(**{"d/a.json": LINES, "d/b.json": b"broken" + LINES})
    assert "1 of text (d/b.json)" in refused("d", documents="jsonl").message


def test_decompressing_nothing_is_judging_nothing(write):
    write(**{"a.jsonl": LINES})
    assert read("a.jsonl", decompress=False) == [LINES]


def test_a_mark_alone_is_what_it_is(write):
    write(**{"d/_SUCCESS": b""})
    assert read("d") == [b""]


POOL = {
    "a.txt": ("text", b"one two"),
    "b.md": ("text", b"# three\n"),
    "empty": ("nothing", b""),
    "single.json": ("object", b'{"body": "four"}\n'),
    "pretty.json": ("text", b'{\n  "body": "five"\n}\n'),
    "part-0": ("lines", LINES),
    "part-1.gz": ("lines", gzip.compress(LINES)),
    "c.jsonl": ("lines", LINES),
    "x.zip": ("archive", b"PK\x03\x04"),
    "README.md": ("companion", b"# Data\n"),
    "state.json": ("companion", b'{"a": 1}\n'),
    "_SUCCESS": ("mark", b""),
}  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sets(st.sampled_from(sorted(POOL)), min_size=1), st.sampled_from(["whole", "jsonl"]), st.booleans())
def test_a_folder_is_read_as_one_kind_or_not_at_all(tmp_path, names, documents, named):
    """What is read is what the documentation says, and everything else is an error: nothing is mixed."""
    folder = tmp_path / f"{'-'.join(sorted(names))}-{documents}-{named}"
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_bytes(POOL[name][1])
    kinds = {name: POOL[name][0] for name in sorted(names)}
    if not named:
        has_lines = "lines" in kinds.values()
        kinds = {name: kind for name, kind in kinds.items() if kind != "archive"}
        kinds = {name: kind for name, kind in kinds.items() if not (has_lines and kind == "companion")}
        kinds = {name: kind for name, kind in kinds.items() if kind != "mark" or len(kinds) == 1}
    as_read = {
        name: "lines" if documents == "jsonl" and (kind == "object" or name == "state.json") else
        kind if kind in ("lines", "archive") else "nothing" if kind in ("nothing", "mark") else "text"
        for name, kind in kinds.items()
    }  # fmt: skip
    expected = set(as_read.values()) - {"nothing"}
    paths = [str(folder / name) for name in sorted(names)] if named else [str(folder)]
    readable = expected <= {"lines"} if documents == "jsonl" else expected <= {"text"}
    if not kinds or not readable or (documents == "jsonl" and "state.json" in as_read):  # which has no such field
        assert refused(*paths, documents=documents, field="body" if documents == "jsonl" else "text")
    elif documents == "jsonl":
        lines = {"object": [b"four"], "lines": [b"one two", b"three"]}
        wanted = [text for kind in kinds.values() for text in lines.get(kind, [])]
        assert read(*paths, documents=documents, field="body") == wanted
    else:
        assert read(*paths, documents=documents) == [POOL[name][1] for name in kinds]
