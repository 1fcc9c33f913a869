"""A proxy on 127.0.0.1 before a server of HTTP, which fails some of the requests."""

from __future__ import annotations

import socket
import struct
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count, cycle


class FailingProxy:
    """What the proxy does, and did.

    Attributes:
        url: Where it serves.
        failed: How often each thing went wrong.
        requests: How many there were.
    """

    def __init__(self, address: tuple[str, int], every: int, faults: tuple[str, ...]) -> None:
        self.address, self.every = address, every
        self.url = ""
        self.failed: Counter[str] = Counter()
        self.requests = 0
        self._numbers, self._faults, self._lock = count(1), cycle(faults), threading.Lock()

    def next_fault(self) -> str | None:
        """Return what goes wrong with the next request, if anything."""
        with self._lock:
            self.requests = next(self._numbers)
            if self.requests % self.every:
                return None
            fault = next(self._faults)
            self.failed[fault] += 1
            return fault


@contextmanager
def failing(address: tuple[str, int], every: int = 10, faults: tuple[str, ...] = ("500", "reset", "cut")) -> Iterator:
    """Stand before a server, and fail each so many requests: ``cut`` ends a body in its middle."""
    proxy = FailingProxy(address, every, faults)

    class Handler(_Handler):
        failing_proxy = proxy

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # who asked went away
    proxy.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or the body waits 40 ms until the client has acknowledged the head
    failing_proxy: FailingProxy

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        fault = self.failing_proxy.next_fault()
        self.close_connection = fault is not None
        if fault == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            return
        if fault is not None and fault != "cut":
            self.send_response(int(fault))
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        upstream = HTTPConnection(*self.failing_proxy.address, timeout=60)
        try:
            upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():  # the signature is over the host that was asked for
                upstream.putheader(name, value)
            upstream.endheaders()
            answer = upstream.getresponse()
            data = answer.read()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("transfer-encoding", "connection", "content-length", "date", "server"):
                    self.send_header(name, value)
            length = answer.getheader("Content-Length") if self.command == "HEAD" else str(len(data))
            self.send_header("Content-Length", length or "0")
            self.end_headers()
            self.wfile.write(data[: len(data) // 2] if fault == "cut" else data)
        finally:
            upstream.close()

    def do_HEAD(self) -> None:
        self.do_GET()
