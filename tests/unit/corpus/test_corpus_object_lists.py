"""Objects are found and listed as files are, whichever store they are in."""

from __future__ import annotations

import glob
import io
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bpe_cli.corpus import Inputs
from bpe_cli.corpus.objects import stores
from bpe_cli.corpus.objects.listing import translated
from bpe_cli.corpus.opening import SCHEMES, is_url, read_chunks
from bpe_cli.errors import InputError, UsageError
from bpe_cli.support import lazy_modules
from tests.counted import at_least, compared
from tests.object_store import Shelf, in_reach, put, roots

EACH = pytest.mark.parametrize("scheme", ["s3", "gs", "az", "hf", "http"])
LISTED = pytest.mark.parametrize("scheme", ["s3", "gs", "az", "hf"])


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shelf]:
    with in_reach(monkeypatch, {}) as shelf:
        yield shelf


def whole(url: str, **known: object) -> bytes:
    return b"".join(read_chunks(url, stdin=io.BytesIO(), **known))  # type: ignore[arg-type]


# -- what is a URL, and what it needs -----------------------------------------------------------------


def test_each_scheme_has_a_store(shelf: Shelf) -> None:
    assert {"s3", "gs", "az", "hf", "http", "https"} == SCHEMES
    for scheme in SCHEMES:
        assert type(stores.store_of(f"{scheme}://bucket/key")).__name__ in ("CloudStore", "HubStore", "WebStore")
    assert not any(map(is_url, ("", "s3", "s3:/a", "a/s3://b", "C://a", "-", "s3x://a")))


@pytest.mark.parametrize(("url", "package"), [("s3://b/k", "obstore"), ("hf://datasets/a/b/c", "huggingface_hub")])
def test_what_is_not_installed_is_named(url: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stores._store.cache_clear()
    for module in ("cloud", "hub"):
        monkeypatch.setattr(f"bpe_cli.corpus.objects.{module}.optional", lambda _: None)
    with pytest.raises(InputError, match="is not installed") as caught:
        Inputs.resolve([url])
    assert caught.value.hint == f"pip install {package}, or bpe-cli[object-stores]"
    assert lazy_modules.optional("no_such_module") is None


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("s3://", "names no bucket"),
        ("hf://datasets/a", "names no repository"),
        ("s3://a b/c", "no bucket is called 'a b'"),
        ("s3:///c", "names no bucket"),
        ("https://", "names no server"),
        ("http:///a", "names no server"),
        ("http://[a/b", "is not a URL"),
        ("http://a:b/c", "is not a URL"),
        ("hf://", "names no repository"),
    ],
)
def test_a_url_that_is_not_complete(shelf: Shelf, url: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Inputs.resolve([url])


@pytest.mark.parametrize(
    "url",
    [
        "s3://me:secret@bucket/a.txt", "gs://secret@bucket/", "az://me:secret@bucket", "http://me:secret@host/a",
        "https://secret@host?a", "http://me:secret@host:port/a", "http://me:secret@[host/a", "http://me:secret@",
    ],
)  # fmt: skip
def test_a_password_would_be_written_down(shelf: Shelf, url: str) -> None:
    with pytest.raises(UsageError, match="the URL has a user or a password in it") as caught:
        Inputs.resolve([url])
    assert "secret" not in f"{caught.value.message} {caught.value.hint}"


# -- finding ------------------------------------------------------------------------------------------

TREE = {
    "b.txt": b"b", "a/z.txt": b"z", "a-b/c.txt": b"c", "a.txt": b"a", "a/b/c/d.txt": b"deep", ".hidden": b"h",
    "a/.git/x.txt": b"x", "image.png": b"\x89PNG\0", "ü b#%20[1].txt": b"odd",
}  # fmt: skip


@LISTED
@pytest.mark.parametrize("examined", [True, False])
def test_a_folder_is_listed_as_one_of_a_disk(scheme: str, examined: bool, shelf: Shelf, tmp_path: Path) -> None:
    put(shelf, tmp_path, TREE)
    shelf.objects["bucket/data/empty/"] = b""  # stands for a folder
    shelf.objects["bucket/database/other.txt"] = b"not in it"
    notes: list[str] = []
    there = Inputs.resolve([str(tmp_path)], examined=examined).items
    for root in (roots(shelf)[scheme], roots(shelf)[scheme].rstrip("/")):
        found = Inputs.resolve([root], on_skip=notes.append, examined=examined).items
        names = [item.path.removeprefix(roots(shelf)[scheme]) for item in found]
        assert names == [os.path.relpath(item.path, tmp_path) for item in there]
        assert [(item.size, item.kind) for item in found] == [(item.size, item.kind) for item in there]
        assert all(item.version for item in found)
    assert any("image.png skipped: it looks binary" in note for note in notes)


@LISTED
def test_patterns_match_as_those_of_a_disk(scheme: str, shelf: Shelf, tmp_path: Path) -> None:
    put(shelf, tmp_path, TREE)
    for pattern in ("*.txt", "**/*.txt", "a*/*", "a/**/?.txt", "[!a]*.txt", "a/b/c/d.txt"):
        found = Inputs.resolve([roots(shelf)[scheme] + pattern]).items
        there = Inputs.resolve([os.path.join(glob.escape(str(tmp_path)), pattern)]).items
        names = [item.path.removeprefix(roots(shelf)[scheme]) for item in found]
        assert names == [os.path.relpath(item.path, tmp_path) for item in there]
    name = "ü b#%20[1].txt"
    assert whole(Inputs.resolve([roots(shelf)[scheme] + name]).items[0].path) == b"odd", "an object has that very name"


NAMES = st.text("ab.[]!-^\\*?é", min_size=1, max_size=3).filter(lambda name: name not in (".", ".."))
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
PATTERNS = st.lists(
    st.one_of(st.just("**"), st.text("ab.[]!-^*?\\é", min_size=1, max_size=5)).filter(lambda n: n not in (".", "..")),
    min_size=1, max_size=3,
).map("/".join)  # fmt: skip


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("trees")


@at_least(100)
@given(paths=st.lists(PATHS, min_size=1, max_size=5), pattern=PATTERNS)
@example(paths=["a", "b/a"], pattern="**")
@example(paths=["[", "a]", "^"], pattern="[]a^]*")
@example(paths=["\\", "b"], pattern="[a\\]")
@example(paths=["a", "-", "b"], pattern="[b-a]")
@example(paths=["-"], pattern="-/**")
@settings(max_examples=150, deadline=None)
def test_patterns_mean_what_glob_says(trees: Path, paths: list[str], pattern: str) -> None:
    folder = trees / str(len(os.listdir(trees)))
    files = []
    for path in paths:
        target = folder / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(b"")
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            continue
        files.append(path)
    folder.mkdir(exist_ok=True)
    found = glob.glob(pattern, root_dir=folder, recursive=True)
    expected = {path for path in found if os.path.isfile(os.path.join(folder, path))}  # "a/" is none, also if "a" is
    fits = re.compile(translated(pattern)).fullmatch
    assert {path for path in files if fits(path)} == expected
    compared()


def test_folders_of_the_web_cannot_be_listed(shelf: Shelf) -> None:
    shelf.objects["bucket/data/a.txt"] = b"a"
    with pytest.raises(UsageError, match="cannot be listed"):
        Inputs.resolve([f"{shelf.url}/bucket/data/"])
    shelf.objects["bucket/a?b=*"] = b"a"  # a query's signs are no pattern's
    shelf.objects["bucket/a"] = b"with a query"
    assert Inputs.resolve([f"{shelf.url}/bucket/a?x=*"]).items[0].size == 12


@pytest.mark.parametrize(
    "name", ["X-Amz-Signature", "X-Goog-Credential", "sig", "AWSAccessKeyId", "access_token", "api_key"]
)
def test_messages_do_not_show_what_signs_a_url(name: str, shelf: Shelf) -> None:
    with pytest.raises(InputError, match="there is no such object") as caught:
        Inputs.resolve([f"{shelf.url}/bucket/a.txt?part=2&{name}=se%2Fcret&x=3"])
    assert "secret" not in caught.value.message.replace("%2F", "")
    assert f"/bucket/a.txt?part=2&{name}=...&x=3" in caught.value.message


@EACH
def test_what_is_not_there(scheme: str, shelf: Shelf) -> None:
    shelf.objects["bucket/data/a.txt"] = b"a"
    with pytest.raises(InputError, match="there is no such object"):
        Inputs.resolve([roots(shelf)[scheme] + "b.txt"])
    if scheme != "http":
        with pytest.raises(InputError, match="no object matches"):
            Inputs.resolve([roots(shelf)[scheme] + "*.json"])
    assert len(shelf.seen) < 12, "nothing was tried again"


def test_revisions_of_a_repository(shelf: Shelf) -> None:
    shelf.objects["org/name/sub/a.txt"] = b"text"
    shelf.token = "token"
    item = Inputs.resolve(["hf://datasets/org/name@refs%2Fpr%2F1/sub"]).items[0]
    assert (item.path, whole(item.path)) == ("hf://datasets/org/name@refs%2Fpr%2F1/sub/a.txt", b"text")
    shelf.token = "another"
    with pytest.raises(InputError, match="permission denied"):
        whole(item.path)
