"""A server of objects on 127.0.0.1, for tests: it speaks as much of S3, Google's, Azure's and the hub's as is asked.

What it cannot show, that a real store takes these requests, tests/integrations/test_object_stores.py does.
"""

from __future__ import annotations

import hashlib
import json
import re
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from urllib.parse import parse_qs, quote, unquote, urlsplit
from xml.sax.saxutils import escape

import pytest

from bpe_cli.corpus.objects import reading, stores
from tests.needs import needs

DATE = "Mon, 02 Jan 2023 03:04:05 GMT"
PAGE = 3
"""So many objects are in a page of a list."""


@dataclass
class Shelf:
    """What a server has, and how it behaves.

    Attributes:
        objects: The bytes of each object, by ``bucket/key``.
        ranges: Whether it knows ranges.
        marks: Whether it says ETags and dates.
        lengths: Whether it says how long an answer is.
        faults: What goes wrong: called with the number of a request, from 1, and its path; gives ``500``, ``503``,
            ``reset``, ``cut``, or nothing; other numbers are the status of an answer too.
        seen: Method, path and range of each request.
        token: What the hub asks for, if anything.
        large: The ending of the files that the hub keeps elsewhere, by another name of this server.
        leaked: Tokens that were sent there.
        url: Where it serves.
    """

    objects: dict[str, bytes] = field(default_factory=dict)
    ranges: bool = True
    marks: bool = True
    lengths: bool = True
    faults: Callable[[int, str], str | None] = lambda number, path: None
    seen: list[tuple[str, str, str]] = field(default_factory=list)
    token: str | None = None
    large: str | None = None
    leaked: list[str] = field(default_factory=list)
    url: str = ""
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def etag(self, name: str) -> str:
        return hashlib.md5(self.objects[name]).hexdigest()


def every(number: int, *faults: str) -> Callable[[int, str], str | None]:
    """Return faults that happen at each so many requests, in turn."""
    turn = iter(faults * 100_000)
    lock = threading.Lock()

    def fault(request: int, _: str) -> str | None:
        with lock:
            return None if request % number else next(turn)

    return fault


def environment(shelf: Shelf) -> dict[str, str]:
    """Return what makes the libraries of all stores ask the server, and nobody else."""
    return {
        "AWS_ENDPOINT_URL": shelf.url, "AWS_ACCESS_KEY_ID": "name", "AWS_SECRET_ACCESS_KEY": "key",
        "AWS_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true",
        "GOOGLE_BASE_URL": shelf.url, "GOOGLE_SKIP_SIGNATURE": "true",
        "AZURE_STORAGE_ACCOUNT_NAME": "account", "AZURE_STORAGE_ENDPOINT": shelf.url, "AZURE_SKIP_SIGNATURE": "true",
        "HF_ENDPOINT": shelf.url, "HF_TOKEN": "token", "NO_PROXY": "*", "no_proxy": "*",
    }  # fmt: skip


@contextmanager
def in_reach(monkeypatch: pytest.MonkeyPatch, objects: dict[str, bytes]) -> Iterator[Shelf]:
    """Serve objects, and let all stores be here; what fails is tried again at once."""
    needs("obstore")
    needs("huggingface_hub")
    monkeypatch.setattr(reading, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(reading, "LONGEST_PAUSE", 0.002)
    with serving(Shelf(objects)) as shelf:
        for name, value in environment(shelf).items():
            monkeypatch.setenv(name, value)
        # The library reads its environment when it is imported.
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", shelf.url)
        template = f"{shelf.url}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
        monkeypatch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", template)
        stores._store.cache_clear()
        yield shelf
    stores._store.cache_clear()


def roots(shelf: Shelf) -> dict[str, str]:
    """Return the folder ``bucket/data/`` as each kind of URL names it."""
    return {
        "s3": "s3://bucket/data/", "gs": "gs://bucket/data/", "az": "az://bucket/data/",
        "hf": "hf://datasets/bucket/data/", "http": f"{shelf.url}/bucket/data/",
    }  # fmt: skip


def put(shelf: Shelf, folder: Path, tree: dict[str, bytes]) -> None:
    """Put a tree into the folder ``bucket/data`` of a server, and into one on the disk."""
    for name, data in tree.items():
        shelf.objects[f"bucket/data/{name}"] = data
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


@contextmanager
def serving(shelf: Shelf) -> Iterator[Shelf]:
    """Serve what is on a shelf."""

    class Handler(_Handler):
        server_shelf = shelf

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # who asked went away
    shelf.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield shelf
    finally:
        with suppress(OSError):  # not every system wakes who listens
            server.socket.shutdown(socket.SHUT_RDWR)
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or the body waits 40 ms until the client has acknowledged the head
    server_shelf: Shelf

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self._answer(b"", head=True)

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers["Content-Length"])))

    def do_GET(self) -> None:
        self._answer(b"")

    def _answer(self, content: bytes, *, head: bool = False) -> None:
        shelf, split = self.server_shelf, urlsplit(self.path)
        path = unquote(split.path).lstrip("/")
        number = next(shelf.numbers)
        shelf.seen.append((self.command, path, self.headers.get("Range", "")))
        fault = shelf.faults(number, path)
        if fault == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.close_connection = True
            return
        if fault not in (None, "cut"):
            self._send(int(fault), b"<Error><Code>SlowDown</Code></Error>", {"Retry-After": "0"}, head)
            return
        query = {key: values[0] for key, values in parse_qs(split.query, keep_blank_values=True).items()}
        if path.startswith("api/"):
            self._hub(path, query, content)
        elif "list-type" in query or query.get("comp") == "list":
            self._list(path, query)
        else:
            self._object(path, head, fault)

    def _object(self, path: str, head: bool, fault: str | None) -> None:
        shelf = self.server_shelf
        resolved = re.fullmatch(r"(?:datasets/)?([\w-]+/[\w-]+)/resolve/([^/]+)/(.*)", path)
        if resolved:
            if shelf.token and self.headers.get("Authorization") != f"Bearer {shelf.token}":
                self._send(401, b"", {}, head)
                return
            path = f"{resolved[1]}/{resolved[3]}"
            if shelf.large and path.endswith(shelf.large):
                place = f"http://localhost:{self.server.server_address[1]}/elsewhere/{quote(path)}"
                linked = f'"{hashlib.sha256(shelf.objects[path]).hexdigest()}"'
                self._send(302, b"", {"Location": place, "X-Linked-ETag": linked}, head)
                return
        if path.startswith("elsewhere/"):
            shelf.leaked += filter(None, [self.headers.get("Authorization")])
            path = path.removeprefix("elsewhere/")
        if path not in shelf.objects:
            self._send(404, b"<Error><Code>NoSuchKey</Code></Error>", {}, head)
            return
        data, status = shelf.objects[path], 200
        headers = {"ETag": f'"{shelf.etag(path)}"', "Last-Modified": DATE} if shelf.marks else {}
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if wanted and shelf.ranges:
            start, end, size = int(wanted[1]), int(wanted[2] or len(data) - 1) + 1, len(data)
            if start >= size:
                self._send(416, b"", {"Content-Range": f"bytes */{size}"}, head)
                return
            data, status = data[start:end], 206
            headers["Content-Range"] = f"bytes {start}-{start + len(data) - 1}/{size}"
        self._send(status, data, headers, head, cut=fault == "cut")

    def _send(self, status: int, data: bytes, headers: dict[str, str], head: bool, *, cut: bool = False) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if self.server_shelf.lengths:
            self.send_header("Content-Length", str(len(data)))
        else:
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        if cut:
            self.close_connection = True
            data = data[: len(data) // 2]
        if not head:
            self.wfile.write(data)

    def _list(self, path: str, query: dict[str, str]) -> None:
        """Answer as S3 and Google do, or as Azure: a page at a time."""
        shelf, bucket = self.server_shelf, path.rstrip("/").rpartition("/")[2]
        azure = query.get("comp") == "list"
        prefix = f"{bucket}/{query.get('prefix', '')}"
        after = query.get("marker" if azure else "continuation-token", "")
        names = [name for name in sorted(shelf.objects) if name.startswith(prefix) and name > after]
        rows = []
        for name in names[:PAGE]:
            key, size, etag = escape(name.partition("/")[2]), len(shelf.objects[name]), shelf.etag(name)
            rows.append(
                f"<Blob><Name>{key}</Name><Properties><Last-Modified>{DATE}</Last-Modified><Content-Length>{size}"
                f"</Content-Length><Content-Type>x</Content-Type><Etag>{etag}</Etag></Properties></Blob>"
                if azure
                else f"<Contents><Key>{key}</Key><LastModified>2023-01-02T03:04:05.000Z</LastModified>"
                f"<ETag>&quot;{etag}&quot;</ETag><Size>{size}</Size></Contents>"
            )
        more = escape(names[PAGE - 1]) if len(names) > PAGE else ""
        text = (
            f"<EnumerationResults><Blobs>{''.join(rows)}</Blobs><NextMarker>{more}</NextMarker></EnumerationResults>"
            if azure
            else f"<ListBucketResult><IsTruncated>{'true' if more else 'false'}</IsTruncated>{''.join(rows)}"
            + (f"<NextContinuationToken>{more}</NextContinuationToken>" if more else "")
            + "</ListBucketResult>"
        )
        self._send(200, text.encode(), {"Content-Type": "application/xml"}, False)

    def _hub(self, path: str, query: dict[str, str], content: bytes) -> None:
        """Answer as the hub does: the tree of a repository, or what it knows of some paths."""
        shelf = self.server_shelf
        match = re.fullmatch(r"api/(?:datasets|models)/([\w-]+/[\w-]+)/(tree|paths-info)/([^/]+)/?(.*)", path)
        if shelf.token and self.headers.get("Authorization") != f"Bearer {shelf.token}":
            self._send(401, b"{}", {"Content-Type": "application/json"}, False)
            return
        if match is None:  # the library asks for more than is needed here
            self._send(404, b"{}", {"Content-Type": "application/json"}, False)
            return
        root = f"{match[1]}/"
        names = [name for name in sorted(shelf.objects) if name.startswith(root + match[4])]
        if match[2] == "paths-info":
            asked = json.loads(content)["paths"] if content.startswith(b"{") else parse_qs(content.decode())["paths"]
            names = [root + each for each in asked if root + each in shelf.objects]
        rows = [
            {"type": "file", "path": name.removeprefix(root), "size": len(shelf.objects[name]), "oid": shelf.etag(name)}
            for name in names
        ]
        for row, name in zip(rows, names, strict=True):
            if shelf.large and name.endswith(shelf.large):
                oid = hashlib.sha256(shelf.objects[name]).hexdigest()
                row["lfs"] = {"oid": oid, "size": row["size"], "pointerSize": 1}
        self._send(200, json.dumps(rows).encode(), {"Content-Type": "application/json"}, False)
