"""The server of the playground, spoken to as a browser does, as other programs might, and as nobody should."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import socket
import threading

import pytest

import bpe_cli
from bpe_cli.errors import InputError, OutputError, UsageError
from bpe_cli.playground import Playground, server
from bpe_cli.playground.requests import LARGEST_REQUEST, LARGEST_TEXT

IDS = re.compile(r'<a id="r(\d)-\d+"[^>]*>(\d+)</a>')


class Notes:
    def __init__(self):
        self.notes = []

    def note(self, message):
        self.notes.append(message)

    def task(self, *_):
        raise AssertionError("there is none")


@pytest.fixture(scope="module")
def playground():
    notes = Notes()
    with Playground(["gpt-4o", "gpt2"], text="<b>hi</b>\n", listener=notes) as running:
        yield running
    assert notes.notes == []


@pytest.fixture
def path(playground):
    return "/" + playground.url.split("/", 3)[3]


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
    for column, token_id in IDS.findall(answer):
        found.setdefault(int(column), []).append(int(token_id))
    return found


def test_the_page_is_there(playground, path):
    status, headers, body = send(playground, "GET", path)
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert b"&lt;b&gt;hi&lt;/b&gt;\n</textarea>" in body
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert {name: headers[name] for name in server._HEADERS} == server._HEADERS
    assert headers["Set-Cookie"] is None
    assert headers["Access-Control-Allow-Origin"] is None
    status, again, body = send(playground, "HEAD", path)
    assert (status, again["Content-Length"], body) == (200, headers["Content-Length"], b"")


@pytest.mark.parametrize("text", ["", "hello world", "naïve 谁 🙂 e\u0301\r\n\t<|endoftext|>", "x" * 5000])
@pytest.mark.parametrize("specials", [False, True])
def test_ids_are_those_of_the_tokenizer(playground, text, specials):
    status, kind, answer = ask(playground, text=text, specials=specials, tokenizers=[0, 1])
    assert (status, kind) == (200, "text/html; charset=utf-8")
    expected = {
        column: bpe_cli.load(name).encode(text, specials="all" if specials else ())
        for column, name in enumerate(["gpt-4o", "gpt2"])
    }
    assert ids_in(answer) == {column: ids[:2000] for column, ids in expected.items() if ids}
    assert re.findall(r"<dt>Tokens</dt><dd>([\d,]+)", answer) == [f"{len(ids):,}" for ids in expected.values()]


def test_bytes_that_are_no_text(playground):
    answer = ask(playground, text=r"a\xff\xe8", escapes=True, tokenizers=[1])[2]
    assert ids_in(answer) == {0: bpe_cli.load("gpt2").encode(b"a\xff\xe8")}
    assert r"\xff" in answer


def test_all_that_need_no_file_are_offered(playground, path):
    body = send(playground, "GET", path)[2].decode()
    names = re.findall(r'<option value="\d+"(?: selected)?>([^<]+)', body.split('id="second"')[0])
    assert names[:2] == ["gpt-4o", "gpt2"]
    assert set(names) >= {"cl100k_base", "o200k_base", "o200k_harmony", "gpt-3.5-turbo"}
    assert len(names) == len(set(names))
    for place, name in enumerate(names):
        answer = ask(playground, text="low lower", tokenizers=[place])[2]
        assert ids_in(answer) == {0: bpe_cli.load(name).encode("low lower")}


def test_more_tokens_than_are_shown(playground):
    answer = ask(playground, text=" a" * 2500)[2]
    assert "and 500 more tokens, which a saved page has" in answer
    page = ask(playground, "page", text=" a" * 2500)[2]
    assert page.count('<tr id="r0-') == 2500


def test_what_is_kept(playground):
    status, kind, page = ask(playground, "page", text="hi <there>", tokenizers=[0, 1])
    assert (status, kind) == (200, "text/html; charset=utf-8")
    assert "<title>Tokens by gpt-4o and gpt2</title>" in page
    assert "<h2>gpt2</h2>" in page
    status, kind, kept = ask(playground, "json", text="hi", tokenizers=[0])
    assert (status, kind) == (200, "application/json; charset=utf-8")
    assert json.loads(kept) == json.loads(bpe_cli.inspect("gpt-4o", "hi").to_json()) | {"tokenizer": "gpt-4o"}
    several = json.loads(ask(playground, "json", text="hi", tokenizers=[0, 1])[2])
    assert several["schema"] == "bpe.inspect.texts/1"
    assert [each["tokenizer"] for each in several["texts"]] == ["gpt-4o", "gpt2"]


def test_a_refusal_says_why(playground):
    assert ask(playground, text=1) == (
        400, "text/html; charset=utf-8",
        "<!doctype html>\n<title>bpe playground</title>\n<p>text is not a string</p>\n",
    )  # fmt: skip
    status, kind, why = ask(playground, "json", text="<b>\\q", escapes=True)
    assert (status, kind) == (400, "text/plain; charset=utf-8")
    assert why.startswith("character 4 begins")
    assert "&lt;" not in why


# -- what is refused -------------------------------------------------------------------------------

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


def test_the_path_is_another_one_each_time(playground):
    with Playground(["gpt2"]) as other:
        assert send(other, "GET", "/" + playground.url.split("/", 3)[3])[0] == 404
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
            with contextlib.suppress(ConnectionResetError):
                assert connection.recv(100) == b""
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
        with extra, contextlib.suppress(ConnectionResetError):
            assert extra.recv(1) == b""
    finally:
        for each in held:
            each.close()
    for _ in range(1000):
        try:
            assert ask(playground)[0] == 200
            return
        except (ConnectionError, http.client.HTTPException):  # the threads of those have not ended yet
            continue
    pytest.fail("the connections were not freed")


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


# -- the library's call ----------------------------------------------------------------------------


def test_a_tokenizer_is_named_by_its_place_alone(tmp_path):
    """Nothing that the page sends opens a file."""
    hidden = tmp_path / "hidden.json"
    bpe_cli.train(["low lower"], vocab_size=260).save(hidden)
    with Playground(["gpt2"]) as running:
        for name in (str(hidden), "hidden.json", f"hf:{tmp_path}", "0"):
            assert ask(running, tokenizers=[name])[0] == 400
    with Playground([hidden, bpe_cli.load("gpt2")]) as running:
        assert ids_in(ask(running, text="low lower")[2]) == {0: bpe_cli.load(hidden).encode("low lower")}


def test_names_are_only_text(tmp_path):
    evil = tmp_path / "<img src=x onerror=alert(1)>\"'.json"
    bpe_cli.train(["low"], vocab_size=258, special_tokens=["<script>alert(2)</script>"]).save(evil)
    with Playground([str(evil)], text="<script>alert(2)</script></textarea><b>") as running:
        page = send(running, "GET", "/" + running.url.split("/", 3)[3])[2].decode()
        shown = ask(running, text="<script>alert(2)</script>", specials=True)[2]
        kept = ask(running, "page", text="<script>alert(2)</script>", specials=True)[2]
    for markup in (page, shown, kept):
        assert "<img" not in markup
        assert "<script>alert" not in markup
        assert "&lt;script&gt;alert(2)&lt;/script&gt;" in markup


@pytest.mark.parametrize(
    "text", ["", "\n\nhi", "</textarea><script>", b"a\r\n\xff\0\\", "a\u2028b\u0085", "&amp;", "\ufeffx"], ids=repr
)
def test_the_first_text_is_whole(text):
    import html

    with Playground(["gpt2"], text=text) as running:
        page = send(running, "GET", "/" + running.url.split("/", 3)[3])[2].decode()
        held = html.unescape(re.search(r"<textarea id=[^>]*>\n(.*?)</textarea>", page, re.DOTALL)[1])
        escapes = 'id="escapes" checked' in page
        answer = ask(running, text=held, escapes=escapes)[2]
    expected = bpe_cli.load("gpt2").encode(text)
    assert ids_in(answer) == ({0: expected} if expected else {})


def test_a_file_is_the_first_text(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_bytes(b"hello\r\n")
    with Playground(["gpt2"], text=path) as running:
        assert b"hello\\r\n</textarea>" in send(running, "GET", "/" + running.url.split("/", 3)[3])[2]


def test_what_cannot_be_served_is_refused(tmp_path):
    with pytest.raises(UsageError, match="nosuch"):
        Playground(["nosuch"])
    with pytest.raises(InputError, match="262,145 bytes"):
        Playground(["gpt2"], text="x" * (LARGEST_TEXT + 1))
    with pytest.raises(InputError):
        Playground(["gpt2"], text=tmp_path / "missing.txt")
    with pytest.raises(UsageError, match="no port 65,536"):
        Playground(["gpt2"], port=65536)
    for wrong in ({"port": "80"}, {"port": -1}, {"text": 3}, {"text": None}):
        with pytest.raises((TypeError, UsageError)):
            Playground(["gpt2"], **wrong)
    with Playground(["gpt2"]) as running, pytest.raises(OutputError, match=f"port {running.port} of 127.0.0.1"):
        Playground(["gpt2"], port=running.port)


def test_a_port_is_free_again():
    with Playground(["gpt2"]) as running:
        port = running.port
        assert ask(running)[0] == 200
    with Playground(["gpt2"], port=port) as running:
        assert ask(running)[0] == 200
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=30)


def test_it_listens_to_this_machine_alone(playground):
    assert playground._server.socket.getsockname()[0] == "127.0.0.1"


def test_a_mistake_of_ours_is_reported(monkeypatch):
    notes = Notes()
    with Playground(["gpt2"], listener=notes) as running:
        monkeypatch.setattr(running._server.answers, "show", lambda _: 1 / 0)
        with pytest.raises((http.client.HTTPException, ConnectionError)):
            ask(running)
        monkeypatch.undo()
        assert ask(running)[0] == 200
    assert len(notes.notes) == 1
    assert "ZeroDivisionError" in notes.notes[0]


@pytest.mark.parametrize(
    ("variables", "platform", "seen"),
    [
        ({}, "linux", False),
        ({"DISPLAY": ":0"}, "linux", True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", True),
        ({"DISPLAY": ":10", "SSH_CONNECTION": "a 1 b 2"}, "linux", False),
        ({"BROWSER": "x", "SSH_CONNECTION": "a 1 b 2"}, "linux", True),
        ({}, "darwin", True),
        ({"SSH_CONNECTION": "a 1 b 2"}, "darwin", False),
        ({}, "win32", True),
    ],
)
def test_where_a_browser_is_seen(monkeypatch, variables, platform, seen):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SSH_CONNECTION", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(server.sys, "platform", platform)
    assert server.browsable() == seen
