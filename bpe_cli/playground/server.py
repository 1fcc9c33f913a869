"""Serve the playground to browsers of this machine, and to nobody else.

A page from anywhere can make a browser ask a server on the same machine, and on a machine of several users each of them
can. So the server listens on 127.0.0.1 alone; its address has a random part that nobody guesses; a request must name
this machine as its host, or a name that somebody else's DNS points here would do (DNS rebinding); what is asked for by
POST must come from the page itself (``Origin``), as JSON, which no form of another page can send. What comes is
limited: bytes, seconds, connections at a time. One request a connection, so that none waits for a next one.

It is the server of the standard library: a few hundred bytes between one browser and one process, all of whose checks
would have to stand here with any other too (docs/internals/playground.md).
"""

from __future__ import annotations

import hmac
import io
import os
import secrets
import socket
import socketserver
import sys
import threading
import time
import traceback
import webbrowser
from collections.abc import Callable, Iterable
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any, BinaryIO, Self, cast

from bpe_cli.chat import LAYOUTS
from bpe_cli.corpus.opening import read_whole
from bpe_cli.errors import FormatError, InputError, OutputError, UsageError
from bpe_cli.playground.answers import Answer, Answers
from bpe_cli.playground.choices import Choices
from bpe_cli.playground.escapes import needs_escapes, written
from bpe_cli.playground.requests import LARGEST_REQUEST, LARGEST_TEXT, check_size, read_request
from bpe_cli.support.core_arguments import bytes_of, whole_number
from bpe_cli.support.listening import SILENCE, Listener, heard
from bpe_cli.views.page.playground import page, policy, refusal

if TYPE_CHECKING:
    from bpe_cli.jobs.tokenizers import AnyTokenizer
    from bpe_cli.playground.requests import Request

ADDRESS = "127.0.0.1"
NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})
"""What a browser on this machine calls it; through a tunnel (``ssh -L``) the port may be another one."""
MOST_CONNECTIONS = 32
"""At a time. A browser has six."""
SECONDS = 10.0
"""That a client has to send its request, and again to take the answer."""

_FOREIGN_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Playground:
    """Serve a page on which one types a text and sees its tokens.

    Args:
        tokenizers: Tokenizers, or what ``load`` takes, in the order in which the page offers them, the first one
            chosen. After them, it offers those that need no file.
        text: The text in the page at first, any bytes; a path for the content of the file.
        port: The port of 127.0.0.1 to listen on; 0 for a free one.
        listener: Receives a note of each request that failed because of an error in the playground.
        stdin: The file that the path ``-`` reads.

    Attributes:
        url: The address of the page, a secret: any program on this machine that knows it can use the page.
        port: The port of 127.0.0.1.

    >>> import urllib.request
    >>> with Playground(["gpt2"], text="hello") as playground:
    ...     page = urllib.request.urlopen(playground.url).read()
    >>> page[:15]
    b'<!doctype html>'

    Raises:
        UsageError: if there is no such tokenizer.
        InputError: if a file cannot be read, or the text is too long.
        OutputError: if the port is not free.
        TypeError: if an argument is of a wrong type.
    """

    def __init__(
        self,
        tokenizers: Iterable[AnyTokenizer] = ("o200k_base",),
        *,
        text: str | bytes | os.PathLike[str] = "",
        port: int = 0,
        listener: Listener = SILENCE,
        stdin: BinaryIO | None = None,
    ) -> None:
        if isinstance(text, os.PathLike):
            content = read_whole(os.fspath(text), stdin=stdin or io.BytesIO())
        else:
            content = bytes_of(text)
        check_size(len(content))
        if whole_number("port", port) >= 1 << 16:
            raise UsageError(f"there is no port {port:,}", hint="they go up to 65,535")
        choices = Choices(tokenizers)
        escaped = needs_escapes(content)
        shown = written(content) if escaped else content.decode()
        path = secrets.token_urlsafe(24)
        start = "".join(page(choices.names(), choices.given, shown, escapes=escaped, templates=tuple(LAYOUTS))).encode()
        self._server = _Server(port, path, start, Answers(choices), len(choices), heard(listener))
        self._thread: threading.Thread | None = None
        self._begun = False  # a server that never begins to answer cannot be shut down
        self.port = self._server.port
        self.url = f"http://{ADDRESS}:{self.port}/{path}/"

    def serve(self) -> None:
        """Answer until the process ends, or ``close`` is called in another thread."""
        self._begun = True
        self._server.serve_forever()

    def start(self) -> None:
        """Answer in a thread of its own, and return at once."""
        if self._thread is None:
            self._begun = True
            self._thread = threading.Thread(target=self.serve, name="playground", daemon=True)
            self._thread.start()

    def open(self) -> bool:
        """Open the page in a browser; return whether there is one."""
        return webbrowser.open(self.url)

    def close(self) -> None:
        """Stop answering, and free the port."""
        if self._begun:
            with suppress(OSError):  # closed before, or a system that does not let a listening socket be shut down
                self._server.socket.shutdown(socket.SHUT_RDWR)  # wakes it, which else looks up twice a second
            self._server.shutdown()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        self._server.server_close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def browsable() -> bool:
    """Return whether a browser opened here would be seen by the user: not over ssh, nor without a display.

    A ``BROWSER`` in the environment names one that is, as editors set it that run on another machine.
    """
    if os.environ.get("BROWSER"):
        return True
    if os.environ.get("SSH_CONNECTION"):
        return False
    graphical = sys.platform in ("win32", "darwin")
    return graphical or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


class _Server(socketserver.ThreadingTCPServer):
    """Take connections, a limited number at a time, each in a thread of its own."""

    daemon_threads = True
    block_on_close = False  # none lives longer than its time, and none writes anything
    allow_reuse_address = os.name == "posix"  # elsewhere it would let two programs have one port
    request_queue_size = MOST_CONNECTIONS

    def __init__(
        self, port: int, path: str, start: bytes, answers: Answers, tokenizers: int, listener: Listener
    ) -> None:
        """Listen on the port."""
        self.path, self.start, self.answers, self.tokenizers = path, start, answers, tokenizers
        self._listener = listener
        self._free = threading.BoundedSemaphore(MOST_CONNECTIONS)
        try:
            super().__init__((ADDRESS, port), _Handler)
        except OSError as error:
            raise OutputError(
                f"cannot listen on port {port} of {ADDRESS}: {error.strerror}",
                hint="without `port`, a free one is taken",
            ) from error
        self.port: int = self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        """Begin to answer a client, or turn it away if there are too many."""
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:  # no thread could be started: its place is free again
            self._free.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer a client."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report a mistake of ours; a client that went away is not one."""
        error = sys.exc_info()[1]
        if error is not None and not isinstance(error, OSError):
            self._listener.note("a request failed\n" + "".join(traceback.format_exception(error)))


class _Timed(io.RawIOBase):
    """Read from a connection until a moment; a client that sends a byte now and then gets no more time."""

    def __init__(self, connection: socket.socket, seconds: float) -> None:
        self._connection = connection
        self._end = time.monotonic() + seconds

    def readable(self) -> bool:
        """Return whether it can be read from."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read some bytes.

        Raises:
            TimeoutError: if the time is over.
        """
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError("the request took too long")
        self._connection.settimeout(left)
        try:
            return self._connection.recv_into(buffer)
        finally:
            self._connection.settimeout(SECONDS)


class _RefusedError(Exception):
    """Refuse a request."""

    def __init__(self, status: HTTPStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


class _Handler(BaseHTTPRequestHandler):
    """Answer one request. The protocol is HTTP/1.0 to us, so that the connection ends with the answer."""

    server_version = "bpe"
    sys_version = ""
    timeout = SECONDS

    def setup(self) -> None:
        """Open the connection, with a limit on how long the request may take."""
        super().setup()
        self.rfile.close()
        self.rfile = io.BufferedReader(_Timed(self.connection, SECONDS))

    @property
    def _playground(self) -> _Server:
        return cast("_Server", self.server)

    def do_GET(self) -> None:
        """Send the page."""
        try:
            self._what_is_asked("")
        except _RefusedError as refused:
            self._refuse(refused)
        else:
            self._send(HTTPStatus.OK, Answer("text/html", self._playground.start), policy())

    do_HEAD = do_GET  # noqa: N815  # as the standard library calls it

    def do_POST(self) -> None:
        """Send what the page asks for."""
        answers = self._playground.answers
        ways: dict[str, Callable[[Request], Answer]] = {
            "show": answers.show, "page": answers.page, "json": answers.json,
        }  # fmt: skip
        asked = ""
        try:
            asked = self._what_is_asked(*ways)
            answer = ways[asked](read_request(self._body(), self._playground.tokenizers))
        except _RefusedError as refused:
            self._refuse(refused, as_document=asked == "show")
        except (UsageError, InputError, FormatError) as error:
            self._refuse(_RefusedError(HTTPStatus.BAD_REQUEST, error.message), as_document=asked == "show")
        else:
            self._send(HTTPStatus.OK, answer)

    def _what_is_asked(self, *offered: str) -> str:
        """Return which of the things on offer is asked for.

        Raises:
            _RefusedError: if it is something else, or the asker is not the playground's page.
        """
        host = self.headers.get_all("Host") or []
        if len(host) != 1 or _name_of(host[0]) not in NAMES:
            raise _RefusedError(HTTPStatus.FORBIDDEN, "this is a server for the machine that it runs on")
        folder, _, asked = self.path.rpartition("/")
        known = hmac.compare_digest(folder.encode(), f"/{self._playground.path}".encode())
        if not known or asked not in offered:
            raise _RefusedError(HTTPStatus.NOT_FOUND, "there is nothing here")
        if self.command == "POST":
            origin = self.headers.get_all("Origin") or []
            site = self.headers.get("Sec-Fetch-Site", "same-origin")
            if (origin and origin != [f"http://{host[0]}"]) or site != "same-origin":
                raise _RefusedError(HTTPStatus.FORBIDDEN, "only the playground's own page may ask")
        return asked

    def _body(self) -> bytes:
        """Return the body of the request.

        Raises:
            _RefusedError: if it has none, too much of it, or of another kind.
        """
        if self.headers.get_content_type() != "application/json":
            raise _RefusedError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "a request is application/json")
        lengths = self.headers.get_all("Content-Length") or []
        if "Transfer-Encoding" in self.headers or len(lengths) != 1:
            raise _RefusedError(HTTPStatus.LENGTH_REQUIRED, "a request has one Content-Length")
        if not (lengths[0].isascii() and lengths[0].isdigit()):
            raise _RefusedError(HTTPStatus.BAD_REQUEST, "Content-Length is not a number")
        if len(lengths[0]) > 15 or int(lengths[0]) > LARGEST_REQUEST:
            raise _RefusedError(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"the text is too long: the playground takes {LARGEST_TEXT:,} bytes, and a request {LARGEST_REQUEST:,}",
            )
        body = self.rfile.read(int(lengths[0]))
        if len(body) < int(lengths[0]):
            raise _RefusedError(HTTPStatus.BAD_REQUEST, "the request ends too early")
        return body

    def _refuse(self, refused: _RefusedError, *, as_document: bool = False) -> None:
        """Send the reason, as a document if that is what the page reads."""
        if as_document:
            self._send(refused.status, Answer("text/html", refusal(refused.reason).encode()))
        else:
            self._send(refused.status, Answer("text/plain", f"{refused.reason}\n".encode()))
        self._read_on()

    def _read_on(self) -> None:
        """Read what the client still sends, as long as it may: else it would be cut off before it has the answer."""
        with suppress(OSError):  # it went away, or took too long
            self.connection.shutdown(socket.SHUT_WR)
            while self.rfile.read(1 << 16):
                pass

    def _send(self, status: HTTPStatus, answer: Answer, allowed: str = _FOREIGN_POLICY) -> None:
        """Send an answer; nothing in its head comes from the request."""
        self.send_response(status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Security-Policy", allowed)
        self.send_header("Content-Type", f"{answer.kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(answer.content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.content)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse what is not HTTP as this server speaks it."""
        self._refuse(_RefusedError(HTTPStatus(code), HTTPStatus(code).phrase))

    def log_message(self, *_: object) -> None:
        """Write nothing."""


def _name_of(host: str) -> str:
    """Return the name in a header ``Host``, without the port.

    >>> _name_of("localhost:8000"), _name_of("[::1]:80"), _name_of("localhost"), _name_of("localhost:x")
    ('localhost', '[::1]', 'localhost', 'localhost:x')
    """
    name, colon, port = host.rpartition(":")
    return name.lower() if colon and port.isascii() and port.isdigit() else host.lower()
