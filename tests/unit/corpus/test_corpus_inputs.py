"""Names, folders and patterns become files; what is wrong with them is said before any work."""

from __future__ import annotations

import glob
import gzip
import io
import os
import random
import socket

import pytest

from bpe_cli.corpus import Input, Inputs, Source, open_stream, read_blocks, waits_for_keyboard
from bpe_cli.corpus.matching import matching
from bpe_cli.errors import InputError, UsageError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, data in {
        "b.txt": b"b",
        "a.txt": b"aa",
        "empty.txt": b"",
        ".hidden.txt": b"h",
        "sub/z.txt": b"zzz",
        "sub/deep/y.txt": b"y",
        ".git/config": b"g",
        "image.png": b"\x89PNG\0\0",
        "late.bin": b"x" * 9000 + b"\0",
    }.items():
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "data"


def paths_of(*paths, **options):
    return [item.path for item in Inputs.resolve(paths, **options).items]


def message_of(*paths):
    with pytest.raises(InputError) as caught:
        Inputs.resolve(paths)
    return caught.value.message, caught.value.hint


def test_folder_is_walked_in_order_without_hidden_and_binary_files(folder):
    skipped = []
    found = Inputs.resolve(["data"], on_skip=skipped.append)
    assert [item.path for item in found.items] == [
        "data/a.txt", "data/b.txt", "data/empty.txt", "data/late.bin", "data/sub/deep/y.txt", "data/sub/z.txt"
    ]  # fmt: skip
    assert skipped == ["data/image.png skipped: it looks binary (NUL at byte 4)"]
    assert found.total_bytes == 2 + 1 + 0 + 9001 + 1 + 3


def test_who_looks_for_something_else_says_what_a_folder_holds(folder):
    def look(path):
        return None if path.endswith("b.txt") else (None, b"" if path.endswith(".png") else b"\0")

    skipped = []
    assert paths_of("data", "data/b.txt", on_skip=skipped.append, look=look) == ["data/image.png", "data/b.txt"]
    names = ("a.txt", "empty.txt", "late.bin", "sub/deep/y.txt", "sub/z.txt")
    assert skipped == [f"data/{name} skipped: it looks binary (NUL at byte 0)" for name in names]


def test_links_to_folders_are_not_followed_and_pipes_not_opened(folder):
    (folder / "loop").symlink_to(folder)
    (folder / "link.txt").symlink_to(folder / "a.txt")
    os.mkfifo(folder / "pipe")
    skipped = []
    assert "data/link.txt" in paths_of("data", on_skip=skipped.append)
    assert skipped[1:] == [
        "data/loop skipped: it is a link to a folder",
        "data/pipe skipped: it is not a file",
    ]


@pytest.mark.parametrize("way", ["data", "data/*"])
def test_links_that_lead_nowhere_stop_nothing(folder, way):
    (folder / "gone.txt").symlink_to("nowhere/a.txt")
    (folder / "loop.txt").symlink_to("loop.txt")
    (folder / "inside.txt").symlink_to("a.txt/inside")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("data/socket")
        os.mkfifo(folder / "pipe")
        skipped = []
        assert paths_of(way, on_skip=skipped.append)[:3] == ["data/a.txt", "data/b.txt", "data/empty.txt"]
    assert [sentence for sentence in skipped if "image" not in sentence] == [
        "data/gone.txt skipped: it is a link to nowhere/a.txt, which does not exist",
        "data/inside.txt skipped: it is a link to a.txt/inside, which does not exist",
        "data/loop.txt skipped: it is a link that leads back to itself",
        "data/pipe skipped: it is not a file",
        "data/socket skipped: it is not a file",
    ]
    assert message_of("data/loop.txt")[0] == "cannot read data/loop.txt: too many levels of symbolic links"


def test_a_pattern_of_links_that_lead_nowhere_matches_nothing(folder):
    (folder / "gone.md").symlink_to("nowhere")
    assert message_of("data/*.md") == ("no file matches data/*.md", None)


@pytest.mark.parametrize("way", ["data", "data/*.txt"])
def test_what_may_not_be_read_stops_all_before_anything_is_read(folder, monkeypatch, way):
    """What lies there is text perhaps, and would be missing."""
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: path != "data/b.txt" and real(path, mode))  # root may all
    assert message_of(way) == ("cannot read data/b.txt: permission denied", None)


def test_folder_without_text_is_refused(folder):
    (folder / "none").mkdir()
    (folder / "none" / "x").write_bytes(b"\0")
    assert message_of("data/none") == ("there is no text file in the folder data/none", None)


def test_patterns_are_expanded_sorted(folder):
    assert paths_of("data/*.txt") == ["data/a.txt", "data/b.txt", "data/empty.txt"]
    assert paths_of("data/**/*.txt")[-2:] == ["data/sub/deep/y.txt", "data/sub/z.txt"]
    assert paths_of("data/[ab].txt", "data/a.txt") == ["data/a.txt", "data/b.txt", "data/a.txt"]
    assert message_of("data/*.md") == ("no file matches data/*.md", None)
    assert message_of("data/su*")[1].startswith("only folders match")


def test_any_depth_goes_into_no_links_to_folders(folder):
    """Documents would be read twice, and two links to the folder itself have no end."""
    (folder / "latest").symlink_to("sub")
    (folder / "sub/loop").symlink_to(".")
    (folder / "sub/over").symlink_to("..")
    notes = [f"data/{name} skipped: it is a link to a folder" for name in ("latest", "sub/loop", "sub/over")]
    texts = ["data/a.txt", "data/b.txt", "data/empty.txt", "data/sub/deep/y.txt", "data/sub/z.txt"]
    skipped = []
    assert paths_of("data/**/*.txt", on_skip=skipped.append) == texts
    assert skipped == notes
    assert paths_of("data/**")[-2:] == texts[-2:]
    assert paths_of("data/**/**/z.txt") == ["data/sub/z.txt"] * 2, "each ** may mean no folder"
    skipped.clear()
    assert paths_of("data/latest/*.txt", "data/*/z.txt", on_skip=skipped.append) == [
        "data/latest/z.txt", "data/latest/z.txt", "data/sub/z.txt"
    ]  # fmt: skip
    assert paths_of("data/latest/**/*.txt")[-1] == "data/latest/z.txt"
    assert skipped == []
    assert "data/latest/z.txt" in paths_of("data/**/latest/*.txt", on_skip=skipped.append)
    assert skipped == notes[1:], "what another part names is not left out"
    assert message_of("data/**/latest")[1].startswith("only folders match")


def test_patterns_mean_what_glob_means_where_no_links_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng, matched = random.Random(0), 0
    names = ["a", "b", ".h", "c.txt", "[x]", "d.d"]
    parts = ["**", "**", "**", "*", "a", "?", "[ab]", ".*", ".h", "*.txt", "b", "", "**a", "[[]x]"]
    folders = [tmp_path]
    for _ in range(60):
        path = rng.choice(folders) / rng.choice(names)
        if not path.exists() and rng.random() < 0.6:
            path.mkdir()
            folders.append(path)
        elif not path.exists():
            path.touch()
    for _ in range(300):
        pattern = rng.choice(["", "./", f"{tmp_path}/"]) + "/".join(rng.choices(parts, k=rng.randrange(1, 5)))
        if pattern.startswith("/") and not pattern.startswith(str(tmp_path)):
            continue
        expected = sorted(path for path in glob.iglob(pattern, recursive=True) if os.path.isfile(path))
        assert [path for path in matching(pattern)[0] if not os.path.isdir(path)] == expected, pattern
        matched += bool(expected)
    assert matched > 50


def test_a_file_may_be_named_like_a_pattern(folder):
    (folder / "a[1].txt").write_bytes(b"1")
    assert paths_of("data/a[1].txt") == ["data/a[1].txt"]


def test_missing_files_are_named_with_what_was_meant(folder):
    assert message_of("data/c.txt")[0] == "cannot read data/c.txt: no such file"
    assert message_of("data/emty.txt") == (
        "cannot read data/emty.txt: no such file", "did you mean data/empty.txt?"
    )  # fmt: skip
    assert message_of("nowhere/a.txt") == ("cannot read nowhere/a.txt: no such file", "there is no folder nowhere")
    assert message_of("Hello world!")[1] is None
    assert message_of("data/a.txt/x")[0] == "cannot read data/a.txt/x: not a directory"
    assert message_of("a\0b")[0].startswith("cannot read 'a\\x00b': ")
    assert "\x1b" not in message_of("\x1b[31m.txt")[0]
    (folder / "dangling").symlink_to("gone")
    assert message_of("data/dangling") == (
        "cannot read data/dangling: it is a link to gone, which does not exist", None
    )  # fmt: skip


def test_forbidden_files_are_named(folder, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may read everything
    assert message_of("data/a.txt") == ("cannot read data/a.txt: permission denied", None)


def test_stdin_is_the_default_and_read_once(tmp_path):
    assert Inputs.resolve([]).items == (Input("-", None),)
    with pytest.raises(UsageError, match="given twice"):
        Inputs.resolve(["-", "-"])
    path = tmp_path / "x"
    path.write_bytes(b"12345")
    with path.open("rb") as stdin:
        stdin.read(2)
        assert Inputs.resolve([], stdin=stdin).total_bytes == 3


def test_errors_come_before_the_first_block(tmp_path):
    with pytest.raises(InputError):
        read_blocks(Source((str(tmp_path / "none"),)), stdin=io.BytesIO())


def test_a_terminal_is_noticed():
    class Terminal(io.BytesIO):
        def isatty(self):
            return True

    assert waits_for_keyboard(Source(), Terminal())
    assert waits_for_keyboard(Source(("a", "-")), Terminal())
    assert not waits_for_keyboard(Source(("a",)), Terminal())
    assert not waits_for_keyboard(Source(text="x"), Terminal())
    assert not waits_for_keyboard(Source(), io.BytesIO())


def test_open_stream_reads_files_and_leaves_stdin_open(folder):
    counted = []
    with open_stream("data/late.bin", stdin=io.BytesIO(), on_bytes=counted.append) as stream:
        assert (stream.read(3), len(stream.read())) == (b"xxx", 8998)
    assert sum(counted) == 9001
    stdin = io.BytesIO(b"in")
    with open_stream("-", stdin=stdin) as stream:
        assert stream.read() == b"in"
    assert not stdin.closed


def test_open_stream_gives_bytes_as_they_are_on_disk_if_asked(folder):
    packed = gzip.compress(b"text")
    (folder / "packed").write_bytes(packed)
    for decompressed, expected in ((True, b"text"), (False, packed)):
        with open_stream("data/packed", stdin=io.BytesIO(), decompressed=decompressed) as stream:
            assert stream.read() == expected


def test_lists_name_inputs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a.txt", "b c.txt", "#d.txt", "@e.txt", "@literal"):
        (tmp_path / name).write_text(name)
    (tmp_path / "f").mkdir()
    (tmp_path / "f/g.txt").write_text("g")
    (tmp_path / "list").write_bytes(
        b"\xef\xbb\xbfa.txt\r\n\n# b c.txt\n  \nb c.txt\n./#d.txt\n@e.txt\nf\n*.nothing\na.txt"
    )
    with pytest.raises(InputError, match=r"no file matches \*\.nothing"):
        Inputs.resolve(["@list"])
    (tmp_path / "list").write_bytes((tmp_path / "list").read_bytes().replace(b"*.nothing", b"[a].txt"))
    names = ["a.txt", "b c.txt", "./#d.txt", "@e.txt", "f/g.txt", "a.txt", "a.txt"]
    assert [item.path for item in Inputs.resolve(["@list"]).items] == names
    assert [item.path for item in Inputs.resolve(["a.txt", "@list", "-"]).items] == ["a.txt", *names, "-"]
    assert [item.path for item in Inputs.resolve(["@literal"]).items] == ["@literal"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\n@list\n", "list:2: a list cannot name another list"),
        (b"-\n", "list:1: a list cannot name stdin"),
        (b"a\0b\n", "list:1: no file has such a name"),
        (b"# nothing\n", "list names no inputs"),
        (b"missing.txt\n", "cannot read missing.txt: no such file"),
        (None, "cannot read list: no such file"),
    ],
)
def test_lists_say_what_is_wrong(content, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if content is not None:
        (tmp_path / "list").write_bytes(content)
    with pytest.raises(InputError) as caught:
        Inputs.resolve(["@list"])
    assert caught.value.message == message
