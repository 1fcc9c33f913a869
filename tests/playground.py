"""Speak to a playground as a browser does, as other programs might, and as nobody should."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import socket
from collections.abc import Iterator

import bpe_cli
from bpe_cli.playground import Playground
from tests.browser import Browser

_ID = re.compile(r'<a id="r(\d)-\d+"[^>]*>(\d+)</a>')


class Notes:
    def __init__(self):
        self.notes = []

    def note(self, message):
        self.notes.append(message)

    def task(self, *_):
        raise AssertionError("there is none")


@contextlib.contextmanager
def serving(*tokenizers: str, text: str = "") -> Iterator[Playground]:
    """Serve a playground, in which nothing goes wrong."""
    notes = Notes()
    with Playground(tokenizers, text=text, listener=notes) as running:
        yield running
    assert notes.notes == []


def path_of(playground: Playground) -> str:
    """Return the secret path of the page."""
    return "/" + playground.url.split("/", 3)[3]


def send(playground, method, path, body=None, **headers):
    """Send a request with these headers, and those alone; return the status, the headers and the body of the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", playground.port, timeout=30)
    try:
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        given = {"Host": f"127.0.0.1:{playground.port}"}
        if body is not None:
            given |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
        for name, value in (given | {name.replace("_", "-"): value for name, value in headers.items()}).items():
            for each in value if isinstance(value, list) else [value]:
                if each is not None:
                    connection.putheader(name, each)
        connection.endheaders(body)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


def ask(playground, what="show", **fields):
    body = json.dumps({"tokenizers": [0], "text": "hi", **fields}).encode()
    status, headers, answer = send(playground, "POST", path_of(playground) + what, body)
    return status, headers["Content-Type"], answer.decode()


def ids_in(answer):
    found = {}
    for column, token_id in _ID.findall(answer):
        found.setdefault(int(column), []).append(int(token_id))
    return found


def raw(playground, content, *, end=True):
    """Send bytes; return all that comes back until the server ends the connection."""
    with socket.create_connection(("127.0.0.1", playground.port), timeout=30) as connection:
        connection.sendall(content)
        if end:
            connection.shutdown(socket.SHUT_WR)
        return rest_of(connection)


def rest_of(connection: socket.socket) -> bytes:
    """Return all that comes until the server ends the connection, in whichever way."""
    received = b""
    try:
        while part := connection.recv(1 << 16):
            received += part
    except ConnectionResetError:
        pass
    return received


def serves_again(playground: Playground) -> bool:
    """Ask until there is an answer: connections that have ended are freed a moment later."""
    for _ in range(1000):
        try:
            return ask(playground)[0] == 200
        except (ConnectionError, http.client.HTTPException):
            continue
    return False


class Page:
    """The playground as a user has it."""

    def __init__(self, opened, url):
        self.opened, self.page, self.url = opened, opened.page, url
        self.page.wait_for_selector(".column")

    def settled(self):
        """Wait until what is shown is what was asked for last."""
        self.page.wait_for_selector("#tokens[aria-busy=false]")
        return self

    def do(self, act, *arguments, **options):
        """Act, and wait for the answer to it."""
        act(*arguments, **options)
        return self.settled()

    def type(self, text):
        return self.do(self.page.fill, "#text", text)

    @property
    def ids(self):
        """The ids of each column."""
        return self.page.evaluate(
            "[...document.querySelectorAll('.column')].map("
            "column => [...column.querySelectorAll('.chips a')].map(id => Number(id.textContent)))"
        )

    @property
    def marked(self):
        return self.page.locator(".on").evaluate_all("nodes => nodes.map(node => node.id)")

    def assert_quiet(self):
        """Fail if the page asked for anything but tokens, or said anything."""
        asked = {each.removeprefix(self.url) for each in self.opened.requests if not each.startswith("blob:")}
        assert asked <= {"show", "page", "json"}
        # The console says so when a text is refused, as one is that has no right escapes.
        said = [each for each in self.opened.messages if "status of 400 " not in each]
        assert (said, self.opened.dialogs) == ([], [])


@contextlib.contextmanager
def visited(browser: Browser, playground: Playground) -> Iterator[Page]:
    """Open the playground, which asks for nothing but tokens."""
    with browser.visit(playground.url) as opened:
        page = Page(opened, playground.url)
        yield page
        page.assert_quiet()


def ids_by(name, text, **options):
    return bpe_cli.load(name).encode(text, **options)
