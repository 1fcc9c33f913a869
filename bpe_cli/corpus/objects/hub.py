"""Repositories of Hugging Face's hub: ``hf://datasets/ORG/NAME/PATH``, with ``@REVISION`` after the name.

The library huggingface_hub lists them, and finds the user's token; files are read as those of any web server. The
version of a file is the hash of its bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from bpe_cli.corpus.objects.base import Body, Found, TransientError
from bpe_cli.corpus.objects.web import open_at
from bpe_cli.errors import InputError, UsageError
from bpe_cli.support.lazy_modules import optional
from bpe_cli.support.messages import show_path

_URL = re.compile(
    r"(?P<root>hf://(?:(?P<type>dataset|model|space)s/)?(?P<name>(?!(?:dataset|model|space)s/)[\w.-]+/[\w.-]+)"
    r"(?:@(?P<revision>refs/(?:convert/[\w.-]+|pr/\d+)|[^/]+))?)(?:/(?P<path>.*))?",
    re.DOTALL,
)


class HubStore:
    """The hub."""

    def __init__(self) -> None:
        """Import its library.

        Raises:
            InputError: if that is not installed.
        """
        self._library: Any = optional("huggingface_hub")
        if self._library is None:
            raise InputError(
                "cannot read hf://: the library for Hugging Face's hub is not installed",
                hint="pip install huggingface_hub, or bpe-cli[object-stores]",
            )
        self._api = self._library.HfApi()
        clients = filter(None, map(optional, ("httpx2", "httpx")))  # what it sends requests by, by its version
        self._failures: tuple[type[Exception], ...] = (OSError, ValueError, *(each.HTTPError for each in clients))

    def find(self, url: str) -> Found:
        """Return what is known of a file."""
        place = _place(url)
        if not place["path"]:
            raise FileNotFoundError(url)
        with self._errors_of(url):
            rows = self._api.get_paths_info(
                place["name"], [place["path"]], revision=place["revision"], repo_type=place["type"]
            )
        files = [row for row in rows if row.path == place["path"] and hasattr(row, "blob_id")]
        if not files:
            raise FileNotFoundError(url)
        return _found(place["root"], files[0])

    def list(self, url: str) -> Iterable[Found]:
        """Return all files in a folder."""
        place = _place(url)
        folder = place["path"].rstrip("/")
        with self._errors_of(url):
            for row in self._api.list_repo_tree(
                place["name"], folder or None, recursive=True, revision=place["revision"], repo_type=place["type"]
            ):
                if hasattr(row, "blob_id"):  # and is no folder
                    yield _found(place["root"], row)

    def open(self, url: str, start: int, end: int | None) -> Body:
        """Begin to read a file."""
        place = _place(url)
        address = self._library.hf_hub_url(
            place["name"], place["path"], repo_type=place["type"], revision=place["revision"]
        )
        token = self._library.get_token()
        return open_at(url, address, start, end, {"Authorization": f"Bearer {token}"} if token else {})

    @contextmanager
    def _errors_of(self, url: str) -> Iterator[None]:
        """Turn the library's errors into those that a store raises; it has the status, if there was an answer."""
        try:
            yield
        except (FileNotFoundError, PermissionError):
            raise
        except self._failures as error:
            answer = getattr(error, "response", None)
            status = getattr(answer, "status_code", 0)
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            if status in (401, 403):
                raise PermissionError(f"{status}: it is private or gated, or does not exist") from error
            if status == 404:
                raise FileNotFoundError(url) from error
            if status and status < 500 and status not in (408, 429):
                raise InputError(f"cannot read {show_path(url)}: {reason}") from error
            raise TransientError(reason) from error


def _place(url: str) -> dict[str, Any]:
    """Return the parts of a URL.

    Raises:
        UsageError: if it names no repository.
    """
    match = _URL.fullmatch(url)
    if match is None:
        raise UsageError(f"{show_path(url)} names no repository", hint="for example: hf://datasets/ORG/NAME/FOLDER/")
    place = match.groupdict()
    return place | {"type": place["type"] or "model", "path": place["path"] or ""}


def _found(root: str, row: Any) -> Found:
    lfs = getattr(row, "lfs", None)
    return Found(f"{root}/{row.path}", row.size, row.blob_id if lfs is None else lfs.sha256)
