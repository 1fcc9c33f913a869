"""Files of web servers, by the standard library: ranges where the server knows them, and the whole where not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPException
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from bpe_cli.corpus.objects.base import (
    CHUNK_BYTES,
    SECONDS,
    Body,
    Found,
    TransientError,
    password_in_url,
    plain_version,
    shorter,
)
from bpe_cli.errors import InputError, UsageError
from bpe_cli.support.messages import reason_of, show_path

if TYPE_CHECKING:
    from collections.abc import Iterable

_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+|\*)")
_IN_URLS = "!#$%&'()*+,/:;=?@[]~"
_WORTH_ANOTHER_TRY = frozenset((408, 425, 429))
_READ = frozenset(("", "identity", "gzip", "x-gzip", "zstd"))
"""Encodings of an answer that are looked through as those of files are."""


class WebStore:
    """All web servers."""

    def find(self, url: str) -> Found:
        """Return what a server says of a file."""
        body = self.open(url, 0, 1)
        body.close()
        return body.found

    def list(self, url: str) -> Iterable[Found]:
        """Refuse: a web server has no list of its files."""
        _check(url, url)
        raise UsageError(
            f"{show_path(url)} is a folder of a web server, which cannot be listed",
            hint="name the files; an object store can be listed: s3:// gs:// az:// hf://",
        )

    def open(self, url: str, start: int, end: int | None) -> Body:
        """Begin to read a file."""
        return open_at(url, url, start, end, {})


def open_at(url: str, address: str, start: int, end: int | None, headers: Mapping[str, str]) -> Body:
    """Begin to read what lies at a web address; messages call it ``url``.

    Raises:
        UsageError, InputError, TransientError, FileNotFoundError, PermissionError: as for a store.
    """
    _check(url, address)
    request = Request(quote(address, safe=_IN_URLS), headers=dict(headers))
    request.add_header("Range", f"bytes={start}-{'' if end is None else end - 1}")
    request.add_header("Accept-Encoding", "identity")
    request.add_header("User-Agent", "bpe-cli")
    with _errors_of():
        try:
            answer = build_opener(_Redirects()).open(request, timeout=SECONDS)
        except HTTPError as error:
            with error:
                if error.code == 416 and start == 0 and error.headers.get("Content-Range", "").endswith("*/0"):
                    return Body(0, Found(url, 0, _version(error.headers)), iter(()), lambda: None)
                raise _judged(url, error) from error
    encoding = answer.headers.get("Content-Encoding", "").lower()
    first, size = _place(answer)
    if first not in (0, start) or encoding not in _READ:
        answer.close()
        what = "another range than it was asked for" if encoding in _READ else f"it compressed by {encoding}"
        raise InputError(f"cannot read {show_path(url)}: its server sends {what}")
    linked = getattr(answer, "linked_version", None) or _version(answer.headers)
    return Body(first, Found(url, size, linked), _chunks(answer), answer.close, answer.status == 206)


def _check(url: str, address: str) -> None:
    """Check that a web address is one."""
    scheme, _, rest = address.partition("://")
    if "@" in re.split("[/?#]", rest, maxsplit=1)[0]:  # before any message that repeats the URL
        raise password_in_url(scheme)
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise UsageError(f"{show_path(url)} is not a URL: {error}") from error
    if not host:
        raise UsageError(f"{show_path(url)} names no server", hint="for example: https://HOST/PATH")


def _place(answer: Any) -> tuple[int, int | None]:
    """Return which byte of the file an answer begins with, and how many the file has."""
    if answer.status == 206:
        place = _RANGE.fullmatch(answer.headers.get("Content-Range", ""))
        return (int(place[1]), None if place[3] == "*" else int(place[3])) if place else (-1, None)
    length = answer.headers.get("Content-Length", "")
    return 0, int(length) if length.isdecimal() else None


def _version(headers: Any) -> str | None:
    return plain_version(headers.get("X-Linked-ETag") or headers.get("ETag")) or headers.get("Last-Modified")


def _chunks(answer: Any) -> Iterator[bytes]:
    while True:
        with _errors_of():
            chunk = answer.read(CHUNK_BYTES)
        if not chunk:
            return
        yield chunk


@contextmanager
def _errors_of() -> Iterator[None]:
    """Turn failures of a connection into those that may pass, but for a certificate that is not trusted."""
    try:
        yield
    except URLError as error:
        reason = error.reason if isinstance(error.reason, Exception) else error
        if type(reason).__name__ == "SSLCertVerificationError":
            raise InputError(f"its server is not trusted: {reason}") from error
        raise TransientError(_said(reason)) from error
    except (OSError, HTTPException) as error:
        if isinstance(error, FileNotFoundError | PermissionError):
            raise
        raise TransientError(_said(error)) from error


def _said(error: Exception) -> str:
    if isinstance(error, HTTPException):
        return "the answer ended early" if type(error).__name__ == "IncompleteRead" else type(error).__name__
    return reason_of(error)


def _judged(url: str, error: HTTPError) -> Exception:
    """Return the error to raise for an answer that is none."""
    said = f"{error.code} {error.reason}".strip()
    if error.code in (404, 410):
        return FileNotFoundError(url)
    if error.code in (401, 403, 407):
        return PermissionError(said)
    if error.code == 416:
        return shorter(url)
    if error.code >= 500 or error.code in _WORTH_ANOTHER_TRY:
        wait = error.headers.get("Retry-After", "")
        return TransientError(said, float(wait) if wait.isdecimal() else 0)
    return InputError(f"cannot read {show_path(url)}: its server says {said}")


class _Redirects(HTTPRedirectHandler):
    """Follow redirects; a token goes to no other server, and the hub's version of a file is remembered."""

    _linked: str | None = None

    def redirect_request(self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Request | None:
        self._linked = plain_version(headers.get("X-Linked-ETag")) or self._linked
        further = super().redirect_request(req, fp, code, msg, headers, newurl)
        if further is not None and urlsplit(newurl)[:2] != urlsplit(req.full_url)[:2]:
            further.remove_header("Authorization")
        return further

    def http_response(self, request: Request, response: Any) -> Any:
        """Hand on what a redirect said."""
        response.linked_version = self._linked
        return response

    https_response = http_response
