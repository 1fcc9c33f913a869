"""An input that changes but keeps its size is noticed: no part is kept that was made of what was there before."""

from __future__ import annotations

import gzip
import io
import os
import shutil
import tarfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bpe_cli.corpus import Source
from bpe_cli.engines.local import Local
from bpe_cli.errors import CheckFailed, InputError, UsageError
from bpe_cli.jobs.parts import Share
from bpe_cli.jobs.prepare import PrepareOptions, check, check_deep, finish, prepare
from bpe_cli.jobs.prepare.encoding import encode_part
from bpe_cli.jobs.prepare.output import PartOutput
from bpe_cli.support.listening import Silence
from tests.needs import NO_PROC, needs, skip

OPTIONS = PrepareOptions(to="npy-offsets", eot="auto", part_bytes=100)


class Notes(Silence):
    """Hold the notes of a job."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, message: str) -> None:
        self.notes.append(message)


@pytest.fixture
def corpus(tmp_path: Path) -> Source:
    """Make two files of lines, of several parts each."""
    (tmp_path / "in").mkdir()
    for name in "ab":
        path = tmp_path / f"in/{name}.txt"
        path.write_text("".join(f"{name} has line {number:2}\n" for number in range(20)))
        _set_back(path)
    return Source((str(tmp_path / "in"),), documents="lines")


def _set_back(path: Path) -> None:
    """Make a file an hour older."""
    then = path.stat().st_mtime_ns - 3600 * 10**9
    os.utime(path, ns=(then, then))


def _change(path: Path) -> None:
    """Change the last line, which keeps its length."""
    path.write_bytes(path.read_bytes()[:-3] + b"XX\n")


def _contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def _prepare(corpus: Source, folder: Path, options: PrepareOptions = OPTIONS, **more: Any) -> Any:
    return prepare(corpus, "gpt2", options, folder=folder, processes=1, **more)


def test_what_has_changed_is_named_and_made_again(corpus: Source, tmp_path: Path) -> None:
    folder, listener = tmp_path / "out", Notes()
    parts = _prepare(corpus, folder).parts
    _change(tmp_path / "in/a.txt")
    with pytest.raises(UsageError, match=r"part-00002: .*a\.txt changed since it was made") as caught:
        _prepare(corpus, folder)
    assert caught.value.hint == "`overwrite` makes them again"
    done = _prepare(corpus, folder, overwrite=True, listener=listener)
    assert (done.made, done.kept) == (1, parts - 1)  # the other extents of the file hold what they held
    assert [note.partition("in/")[2] for note in listener.notes] == ["a.txt changed since: 1 part is made again"]
    _prepare(corpus, tmp_path / "fresh")
    assert _contents(folder) == _contents(tmp_path / "fresh")


@pytest.mark.parametrize("shuffle", [None, "documents"])
def test_what_changes_while_its_part_is_made_is_noticed(shuffle: Any, corpus: Source, tmp_path: Path) -> None:
    """The record of a part is written when all is read, and the input may be another one by then."""
    folder, options = tmp_path / "out", replace(OPTIONS, shuffle=shuffle)
    place = "shuffle" if shuffle else "making"

    def encode_and_change(job: Any, part: Any, *more: Any) -> Any:
        done = encode_part(job, part, *more)
        if part.number == 2:
            _change(tmp_path / "in/a.txt")
            time.sleep(0.05)  # the clock of files goes by steps
        return done

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(f"bpe_cli.jobs.prepare.{place}.encode_part", encode_and_change)
        with pytest.raises(InputError, match=r"a\.txt changed while the data set in .*out was made") as caught:
            _prepare(corpus, folder, options)
    assert caught.value.hint == "run the same command with `overwrite` when nobody writes to the inputs"
    assert not (folder / "manifest.json").exists()
    with pytest.raises(UsageError, match=r"part-00002: .*a\.txt changed since it was made|part-00000: "):
        _prepare(corpus, folder, options)
    assert _prepare(corpus, folder, options, overwrite=True).made > 0
    _prepare(corpus, tmp_path / "fresh", options)
    assert _contents(folder) == _contents(tmp_path / "fresh")


class _Replaces(Silence):
    """Replace a file by another version when the first part is there."""

    def __init__(self, path: Path, old: bytes, new: bytes) -> None:
        self._path, self._old, self._new = path, old, new

    def event(self, what: str, facts: Any) -> None:
        if what == "part" and facts["part"] == 0:
            new = self._path.with_suffix(".new")
            new.write_bytes(self._path.read_bytes().replace(self._old, self._new))
            new.replace(self._path)


def test_a_data_set_of_two_versions_of_a_file_gets_no_manifest(corpus: Source, tmp_path: Path) -> None:
    """Each part is of one version, but the parts of the file are not of the same."""
    folder, path = tmp_path / "out", tmp_path / "in/a.txt"
    with pytest.raises(InputError, match=r"a\.txt changed while"):
        _prepare(corpus, folder, listener=_Replaces(path, b"line", b"LINE"))
    with pytest.raises(CheckFailed, match=r"there is no manifest\.json"):
        check(folder)
    assert _prepare(corpus, folder, overwrite=True).made == 1
    _prepare(corpus, tmp_path / "fresh")
    assert _contents(folder) == _contents(tmp_path / "fresh")

    _remove(folder, 0, record=True)
    with pytest.raises(InputError, match=r"a\.txt changed while"):
        _prepare(corpus, folder, listener=_Replaces(path, b"LINE", b"line"))
    assert not (folder / "manifest.json").exists()  # that of the data set as it was


@pytest.mark.parametrize("shuffle", [None, "documents"])
@pytest.mark.parametrize("kind", ["txt", "gz", "csv"])
@pytest.mark.parametrize("more", [True, False])
def test_a_file_of_another_size_than_the_plan_says_is_refused(
    more: bool, kind: str, shuffle: Any, tmp_path: Path
) -> None:
    """It is read whole, whenever its turn comes: what it has lost by then is in no part, and no record says so."""
    short, long = b"text\none\n", b"text\none\ntwo\nthree\n"
    if kind == "gz":
        short, long = gzip.compress(short, mtime=0), gzip.compress(long, mtime=0)
    before, after = (short, long) if more else (long, short)
    path, folder = tmp_path / f"in.{kind}", tmp_path / "out"
    path.write_bytes(before)

    class Late(Local):
        def run(self, *args: Any) -> Any:
            path.write_bytes(after)
            return Local.run(self, *args)

    source, options = Source((str(path),), documents="lines"), PrepareOptions(to="npy-offsets", shuffle=shuffle)
    changed = rf"in\.{kind} has {len(after)} bytes in place of {len(before)}: it changed since its parts were made$"
    with pytest.raises(InputError, match=changed) as caught:
        prepare(source, "gpt2", options, folder=folder, engine=Late(1))
    assert "overwrite" in str(caught.value.hint)
    assert not [*folder.glob("**/part-*")]
    assert _prepare(source, folder, options, overwrite=True).is_whole
    _prepare(source, tmp_path / "fresh", options)
    assert _contents(folder) == _contents(tmp_path / "fresh")


@pytest.mark.parametrize("shuffle", [None, "documents"])
def test_a_divided_file_of_another_size_is_refused(shuffle: Any, corpus: Source, tmp_path: Path) -> None:
    """Its parts are read one after the other, and those of two versions would make one data set."""
    path, options = tmp_path / "in/a.txt", replace(OPTIONS, shuffle=shuffle)
    size = path.stat().st_size

    class Late(Local):
        def run(self, *args: Any) -> Any:
            path.write_bytes(path.read_bytes()[::-1] + b"more\n")
            return Local.run(self, *args)

    changed = rf"a\.txt has {size + 5} bytes in place of {size}: it changed since its parts were made$"
    with pytest.raises(InputError, match=changed):
        prepare(corpus, "gpt2", options, folder=tmp_path / "out", engine=Late(1))
    assert _prepare(corpus, tmp_path / "out", options, overwrite=True).is_whole
    _prepare(corpus, tmp_path / "fresh", options)
    assert _contents(tmp_path / "out") == _contents(tmp_path / "fresh")


def test_a_file_without_a_size_is_read(tmp_path: Path) -> None:
    """Those of /proc have a size of 0, and something in them."""
    if not Path("/proc/version").is_file():
        skip(NO_PROC)
    done = _prepare(Source(("/proc/version",)), tmp_path / "out")
    assert done.tokens > 1


def test_with_overwrite_times_do_not_matter(corpus: Source, tmp_path: Path) -> None:
    _prepare(corpus, tmp_path / "out")
    _change(tmp_path / "in/b.txt")
    _set_back(tmp_path / "in/b.txt")
    assert _prepare(corpus, tmp_path / "out", overwrite=True).made == 1
    _prepare(corpus, tmp_path / "fresh")
    assert _contents(tmp_path / "out") == _contents(tmp_path / "fresh")


def test_shares_do_not_mix_versions(corpus: Source, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    _prepare(corpus, folder, share=Share(1, 2))
    _change(tmp_path / "in/a.txt")
    with pytest.raises(UsageError, match="part-00002"):
        _prepare(corpus, folder, share=Share(2, 2))
    assert not _prepare(corpus, folder, share=Share(2, 2), overwrite=True).is_whole
    assert _prepare(corpus, folder, share=Share(1, 2)).is_whole
    _prepare(corpus, tmp_path / "fresh")
    assert _contents(folder) == _contents(tmp_path / "fresh")


def test_all_parts_of_a_shuffle_depend_on_what_has_changed(corpus: Source, tmp_path: Path) -> None:
    options = PrepareOptions(to="npy-offsets", eot="auto", part_bytes=100, shuffle="documents")
    folder = tmp_path / "out"
    _prepare(corpus, folder, options)
    _change(tmp_path / "in/a.txt")
    with pytest.raises(UsageError, match="part-00000"):
        _prepare(corpus, folder, options)
    assert _prepare(corpus, folder, options, overwrite=True).kept == 0
    _prepare(corpus, tmp_path / "fresh", options)
    assert _contents(folder) == _contents(tmp_path / "fresh")


def test_a_change_between_the_passes_is_noticed(corpus: Source, tmp_path: Path) -> None:
    options = PrepareOptions(to="npy-offsets", eot="auto", part_bytes=100, shuffle="documents")
    folder, listener = tmp_path / "out", Notes()
    _prepare(corpus, folder, options, share=Share(2, 2))  # has only its share of the first pass
    _change(tmp_path / "in/b.txt")
    _prepare(corpus, folder, options, listener=listener)
    assert len(listener.notes) == 1
    _prepare(corpus, tmp_path / "fresh", options)
    assert _contents(folder) == _contents(tmp_path / "fresh")


def test_parts_of_a_shuffle_go_if_the_first_pass_was_of_what_has_changed(corpus: Source, tmp_path: Path) -> None:
    options = PrepareOptions(to="npy-offsets", eot="auto", part_bytes=100, shuffle="documents")
    folder = tmp_path / "out"

    def output(job: Any, part: Any, *more: Any, **named: Any) -> PartOutput:
        if part.number == 2:
            raise InterruptedError
        return PartOutput(job, part, *more, **named)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("bpe_cli.jobs.prepare.shuffle.PartOutput", output)
        with pytest.raises(InterruptedError):
            _prepare(corpus, folder, options)
    assert (folder / "part-00001.json").exists()
    _change(tmp_path / "in/a.txt")  # part 2 reads its end
    with pytest.raises(UsageError, match=r"part-00000: .*; part-00001: "):
        _prepare(corpus, folder, options)
    assert _prepare(corpus, folder, options, overwrite=True).kept == 0
    _prepare(corpus, tmp_path / "fresh", options)
    assert _contents(folder) == _contents(tmp_path / "fresh")


def _remove(folder: Path, number: int, *, record: bool) -> None:
    """Remove the files of a part, and its record perhaps."""
    for path in folder.glob(f"part-{number:05}.*"):
        if record or path.suffix != ".json":
            path.unlink()


@pytest.mark.parametrize("what", ["documents", "sequences"])
@pytest.mark.parametrize("record", [True, False])
def test_a_part_that_is_gone_is_not_mixed_with_what_has_changed(
    what: Any, record: bool, corpus: Source, tmp_path: Path
) -> None:
    """The first pass is gone too, and with the record what its inputs were: other parts have documents of them."""
    options = replace(OPTIONS, shuffle=what, length=None if what == "documents" else 16)
    folder, listener = tmp_path / "out", Notes()
    parts = _prepare(corpus, folder, options).parts
    _remove(folder, parts - 1, record=record)
    done = _prepare(corpus, folder, options, overwrite=not record)
    assert (done.made, done.kept) == (1, parts - 1)  # nothing has changed
    whole = _contents(folder)

    _change(tmp_path / "in/b.txt")  # its end, which only the last part reads
    _remove(folder, parts - 1, record=record)
    if record:
        with pytest.raises(UsageError, match="part-00000: an input of the data set changed since") as caught:
            _prepare(corpus, folder, options)
        assert caught.value.hint == "`overwrite` makes them again"
        with pytest.raises(CheckFailed, match="is missing"):
            check(folder)
    done = _prepare(corpus, folder, options, overwrite=True, listener=listener)
    assert (done.made, done.kept, done.is_whole) == (parts, 0, True)
    assert f"an input of the data set changed since: {parts - 1} parts are made again" in listener.notes
    _prepare(corpus, tmp_path / "fresh", options)
    assert _contents(folder) == _contents(tmp_path / "fresh") != whole
    assert check_deep(corpus, "gpt2", options, folder=folder).is_whole


def test_parts_that_are_mixed_are_found_and_made_again(corpus: Source, tmp_path: Path) -> None:
    """Runs that share the parts may have read an input before and after it changed."""
    options, folder = replace(OPTIONS, shuffle="documents"), tmp_path / "out"
    _prepare(corpus, folder, options)
    _change(tmp_path / "in/a.txt")
    _prepare(corpus, tmp_path / "fresh", options)
    for path in (tmp_path / "fresh").glob("part-00002.*"):
        shutil.copy2(path, folder)
    for job in (check, finish):
        with pytest.raises(CheckFailed, match="part-00000: an input of the data set changed since it was made"):
            job(folder)
    with pytest.raises(UsageError, match="part-00000: an input of the data set changed since it was made"):
        _prepare(corpus, folder, options)
    assert _prepare(corpus, folder, options, overwrite=True).is_whole
    assert _contents(folder) == _contents(tmp_path / "fresh")


def _tar(path: Path) -> None:
    with tarfile.open(path, "w") as file:
        for number in range(3):
            entry = tarfile.TarInfo(f"{number}.txt")
            entry.size = 3
            file.addfile(entry, io.BytesIO(b"abc"))
    path.write_bytes(path.read_bytes() + bytes(1 << 20))


def _table(kind: str, path: Path) -> None:
    needs("pyarrow")
    import pyarrow as pa
    from pyarrow import feather, parquet

    table = pa.table({"text": ["one", "two"], "other": [1, 2]})
    (parquet.write_table if kind == "parquet" else feather.write_feather)(table, path)


@pytest.mark.parametrize("kind", ["txt", "lines", "jsonl", "gz", "csv", "tar", "parquet", "arrow"])
def test_a_file_that_was_only_touched_is_the_same(kind: str, tmp_path: Path) -> None:
    path, documents = tmp_path / f"in.{kind}", None
    if kind == "tar":
        _tar(path)
    elif kind in ("parquet", "arrow"):
        _table(kind, path)
    elif kind == "gz":
        path.write_bytes(gzip.compress(b"some text") + gzip.compress(b" and more"))
    elif kind == "csv":
        path.write_text("text,other\none,1\n")
    elif kind == "jsonl":
        path.write_text('{"text": "some text"}\n' * 30)
        documents = kind
    else:
        path.write_text("some text\nmore" * 20)
        documents = "lines" if kind == "lines" else None
    more = {"documents": documents} if documents else {}
    source = Source((str(path),), **({"member": "txt"} if kind == "tar" else more))  # type: ignore[arg-type]
    done = _prepare(source, tmp_path / "out")
    os.utime(path)
    listener = Notes()
    again = _prepare(source, tmp_path / "out", listener=listener)
    assert (again.made, again.parts, listener.notes) == (0, done.parts, [])
    assert _prepare(source, tmp_path / "out", overwrite=True).made == 0
    assert check(tmp_path / "out").tokens == done.tokens
