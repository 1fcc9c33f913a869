"""Speak to a playground as a browser does, as other programs might, and as nobody should."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import socket
from collections.abc import Iterator

from bpe_cli.playground import Playground

_ID = re.compile(r'<a id="r(\d)-\d+"[^>]*>(\d+)</a>')


class Notes:
    def __init__(self):
        self.notes = []

    def note(self, message):
        self.notes.append(message)

    def task(self, *_):
        raise AssertionError("there is none")


@contextlib.contextmanager
def example() -> Iterator[Playground]:
    """Serve a playground, in which nothing goes wrong."""
    notes = Notes()
    with Playground(["gpt-4o", "gpt2"], text="<b>hi</b>\n", listener=notes) as running:
        yield running
    assert notes.notes == []


def send(playground, method, path, body=None, **headers):
    """Send a request with these headers, and those alone; give the status, the headers and the body of the answer."""
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
    path = "/" + playground.url.split("/", 3)[3]
    status, headers, answer = send(playground, "POST", path + what, body)
    return status, headers["Content-Type"], answer.decode()


def ids_in(answer):
    found = {}
    for column, token_id in _ID.findall(answer):
        found.setdefault(int(column), []).append(int(token_id))
    return found


def raw(playground, content, *, end=True):
    """Send bytes; give all that comes back until the server ends the connection."""
    with socket.create_connection(("127.0.0.1", playground.port), timeout=30) as connection:
        connection.sendall(content)
        if end:
            connection.shutdown(socket.SHUT_WR)
        received = b""
        try:
            while part := connection.recv(1 << 16):
                received += part
        except ConnectionResetError:
            pass
        return received
