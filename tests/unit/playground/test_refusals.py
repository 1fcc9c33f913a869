"""What the server of the playground refuses: other hosts, other pages, other paths, too much, too slow."""

from __future__ import annotations

import socket
import threading

import pytest

import bpe_cli
from bpe_cli.playground import Playground, server
from bpe_cli.playground.requests import LARGEST_REQUEST, LARGEST_TEXT
from tests.playground import Notes, ask, ids_in, raw, rest_of, send, serves_again

EVIL_HOSTS = [
    None, "", "evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example", "127.0.0.2",
    "0.0.0.0", "[::]", "localhost:x", "localhost:80:80", "127.0.0.1 evil.example", "LOCALHOST.", "127.1",
    "evil.example#@127.0.0.1", ["127.0.0.1", "evil.example"],
]  # fmt: skip


@pytest.mark.parametrize("host", EVIL_HOSTS, ids=str)
def test_another_host_is_refused(playground, path, host):
    for method, place, body in (("GET", path, None), ("POST", f"{path}show", b"{}")):
        status, headers, answer = send(playground, method, place, body, Host=host)
        assert status == 403
        assert headers["Content-Type"] == "text/plain; charset=utf-8"
        assert b"<" not in answer


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:8000", "LocalHost", "[::1]:8000"])
def test_through_a_tunnel_names_and_ports_differ(playground, path, host):
    assert send(playground, "GET", path, Host=host)[0] == 200
    body = b'{"tokenizers": [0], "text": "hi"}'
    assert send(playground, "POST", f"{path}show", body, Host=host, Origin=f"http://{host}")[0] == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Origin": "http://127.0.0.1"},
        {"Origin": "https://127.0.0.1:PORT"},
        {"Origin": "http://localhost:PORT"},
        {"Origin": ["http://127.0.0.1:PORT", "http://evil.example"]},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Sec_Fetch_Site": "none"},
    ],
    ids=str,
)
def test_another_page_is_refused(playground, path, headers):
    port = str(playground.port)
    headers = {
        name: [each.replace("PORT", port) for each in (value if isinstance(value, list) else [value])]
        for name, value in headers.items()
    }
    assert send(playground, "POST", f"{path}show", b'{"tokenizers": [0], "text": "hi"}', **headers)[0] == 403


def test_what_a_form_could_send_is_refused(playground, path):
    body = b'{"tokenizers": [0], "text": "hi"}'
    for kind in (
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        None,
        "text/json",
    ):
        assert send(playground, "POST", f"{path}show", body, Content_Type=kind)[0] == 415
    for method in ("OPTIONS", "PUT", "DELETE", "CONNECT", "PATCH", "X" * 50):
        status, headers, _ = send(playground, method, path)
        assert status == 501
        assert headers["Access-Control-Allow-Origin"] is None


def test_other_paths_are_not_there(playground, path):
    secret = path.strip("/")
    others = [
        "/", "/x/", f"/{secret}", f"/{secret}/show", f"/{secret}//", f"{path}?x=1", f"{path}#x",
        f"{path}../", f"{path}%2e%2e/", f"/{secret[:-1]}/", f"/{secret}x/", f"/{secret.swapcase()}/", f"{path}x", "*",
        f"http://evil.example{path}", "/../../etc/passwd", f"{path}../../etc/passwd", f"{path}page.css", "/favicon.ico",
    ]  # fmt: skip
    for other in others:
        assert send(playground, "GET", other)[0] == 404, other
    assert raw(playground, f"GET /{secret}\xe9/ HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()).startswith(
        b"HTTP/1.0 404 "
    )
    for other in ("", "x", "show/", "show?x", "../show"):
        assert send(playground, "POST", path + other, b"{}")[0] == 404, other


def test_the_path_is_another_one_each_time(path):
    with Playground(["gpt2"]) as other:
        assert send(other, "GET", path)[0] == 404
        assert len(other.url.split("/")[3]) >= 32


def test_the_size_of_a_request_is_limited(playground, path):
    for length in (str(LARGEST_REQUEST + 1), "9" * 15, "9" * 5000):
        assert send(playground, "POST", f"{path}show", b"", Content_Length=length)[0] == 413
    for length in ("-1", "x", "1_0", "٣", "0x10", ""):
        assert send(playground, "POST", f"{path}show", b"", Content_Length=length.encode())[0] == 400
    assert send(playground, "POST", f"{path}show", b"", Content_Length=["2", "2"])[0] == 411
    assert send(playground, "POST", f"{path}show", b"", Content_Length=None)[0] == 411
    assert send(playground, "POST", f"{path}show", b"", Transfer_Encoding="chunked")[0] == 411
    largest = "\0" * LARGEST_TEXT  # six bytes each in JSON
    status, _, answer = ask(playground, text=largest)
    assert (status, "262,144" in answer) == (200, True)
    status, _, answer = ask(playground, text=largest + "x")
    assert (status, "262,145 bytes" in answer) == (400, True)


@pytest.mark.parametrize(
    "content",
    [
        b"", b"\r\n", b"\0\xff\xfe", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"GET / FTP/1.0\r\n\r\n", b"A" * 70_000,
        b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 500 + b"\r\n", b"GET / HTTP/1.1\r\nX: " + b"y" * 70_000,
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n Host: evil\r\n: \r\n\r\n", b"GET /\r\n",
        b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\n\r\nab",
    ],
    ids=lambda content: repr(content[:30]),
)  # fmt: skip
def test_what_is_no_request_ends_with_a_refusal(playground, content):
    answer = raw(playground, content)
    assert b" 200 " not in answer.split(b"\r\n")[0]
    assert playground.url.split("/")[3].encode() not in answer
    assert ask(playground)[0] == 200


def test_a_body_that_ends_too_early(playground, path):
    head = f"POST {path}show HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n"
    assert raw(playground, head.encode() + b'{"a"').startswith(b"HTTP/1.0 400 ")


def test_nothing_of_a_request_gets_into_the_head_of_an_answer(playground, path):
    for place in ("/a%0d%0aX-Evil:%201", "/\x0bX-Evil: 1", "/x\x85X-Evil:1"):
        content = f"GET {place} HTTP/1.1\r\nHost: localhost\r\nX-Evil: 2\r\n\r\n".encode("latin-1")
        assert b"evil" not in raw(playground, content).lower()
    _, headers, _ = send(
        playground, "POST", f"{path}page", b'{"tokenizers": [0], "text": "\\r\\nX-Evil: 1"}', Origin=None
    )
    assert "X-Evil" not in headers


def test_a_slow_client_is_left(monkeypatch, path, playground):
    monkeypatch.setattr(server, "SECONDS", 0.3)
    assert raw(playground, b"GET", end=False) == b""
    head = f"POST {path}show HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n"
    assert raw(playground, head.encode() + b'{"a"', end=False) == b""


def test_a_client_that_sends_a_byte_now_and_then_is_left(monkeypatch, playground):
    """The time is that of the whole request, and not of each byte."""
    monkeypatch.setattr(server, "SECONDS", 0.5)
    gone = threading.Event()
    with socket.create_connection(("127.0.0.1", playground.port), timeout=30) as connection:

        def trickle():
            while not gone.wait(0.1):
                try:
                    connection.sendall(b"x")
                except OSError:
                    return

        sender = threading.Thread(target=trickle)
        sender.start()
        try:
            assert rest_of(connection) == b""
        finally:
            gone.set()
            sender.join()


def test_many_connections(playground):
    """As many as there may be wait for nothing; the next is turned away, and served when they are gone."""
    held = [
        socket.create_connection(("127.0.0.1", playground.port), timeout=30) for _ in range(server.MOST_CONNECTIONS)
    ]
    try:
        extra = socket.create_connection(("127.0.0.1", playground.port), timeout=30)
        with extra:
            assert rest_of(extra) == b""
    finally:
        for each in held:
            each.close()
    assert serves_again(playground)


def test_requests_at_a_time_are_answered_each_with_its_own(playground):
    texts = [f"text number {number} " * 20 for number in range(24)]
    answers = {}

    def run(text):
        answers[text] = ids_in(ask(playground, text=text)[2])

    threads = [threading.Thread(target=run, args=(text,)) for text in texts]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    tokenizer = bpe_cli.load("gpt-4o")
    assert answers == {text: {0: tokenizer.encode(text)} for text in texts}


def test_a_request_that_is_too_large_is_told_why(playground, path):
    """Though it still sends when the answer comes; the page reads what it shows as a document."""
    body = b'{"tokenizers": [0], "text": "%b"}' % (b"x" * (8 << 20))
    for what, kind in (("show", "text/html"), ("page", "text/plain"), ("json", "text/plain")):
        status, headers, answer = send(playground, "POST", path + what, body)
        assert (status, headers["Content-Type"]) == (413, f"{kind}; charset=utf-8")
        assert b"the text is too long: the playground takes 262,144 bytes" in answer


def test_a_thread_that_cannot_be_started_keeps_no_place(monkeypatch):
    notes = Notes()
    with Playground(["gpt2"], listener=notes) as running:
        with monkeypatch.context() as patched:
            patched.setattr(threading.Thread, "start", _no_thread)
            for _ in range(server.MOST_CONNECTIONS):
                assert raw(running, b"") == b""
        assert serves_again(running)
    assert len(notes.notes) == server.MOST_CONNECTIONS


def _no_thread(_):
    raise RuntimeError("can't start new thread")
