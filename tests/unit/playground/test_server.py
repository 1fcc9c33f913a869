"""The server of the playground: what it answers to its page, and the library's call."""

from __future__ import annotations

import html
import http.client
import json
import re
import socket
import sys
import threading
from dataclasses import replace

import pytest

import bpe_cli
from bpe_cli.errors import InputError, OutputError, UsageError
from bpe_cli.jobs.chat_template import Template
from bpe_cli.playground import Playground, server
from bpe_cli.playground.requests import LARGEST_TEXT
from tests.needs import only_where
from tests.playground import Notes, ask, ids_in, path_of, send


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
    names, beside = (re.findall(r'<option value="\d+">([^<]+)', part) for part in body.split('id="second"'))
    assert names == beside
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


# -- conversations -------------------------------------------------------------------------------

MESSAGES = [{"role": "system", "content": "be <|im_end|> kind"}, {"role": "user", "content": "谁 hi"}]


@pytest.fixture(scope="module")
def models():
    with Playground(["gpt-4", "gpt-3.5-turbo", "gpt2"]) as running:
        yield running


@pytest.mark.parametrize("specials", [False, True])
@pytest.mark.parametrize("opens", [None, True, False])
def test_a_conversation_has_the_ids_of_its_template(models, specials, opens):
    answer = ask(models, messages=MESSAGES, tokenizers=[0, 1], specials=specials, open=opens)[2]
    assert ids_in(answer) == {
        place: bpe_cli.load(name).apply_chat_template(
            MESSAGES, chat_template=layout, add_generation_prompt=opens is not False, specials="all" if specials else ()
        )
        for place, (name, layout) in enumerate({"gpt-4": "gpt-4-32k", "gpt-3.5-turbo": "gpt-3.5"}.items())
    }
    assert answer.count('class="t0 z"') + answer.count('class="t1 z"') > 2


def test_a_tokenizer_gets_the_tokens_of_a_template_once(monkeypatch):
    """It is another tokenizer then, and compiling that takes longer than a conversation may between two keys."""
    fit, fitted = Template.fit, []
    monkeypatch.setattr(Template, "fit", lambda *given: fitted.append(given) or fit(*given))
    with Playground(["gpt-3.5-turbo"]) as running:
        for content in ("a", "<|im_end|> b"):
            said = [{"role": "user", "content": content}]
            expected = bpe_cli.load("gpt-3.5-turbo").apply_chat_template(
                said, chat_template="gpt-3.5", add_generation_prompt=True
            )
            for template in (None, "gpt-3.5"):
                assert ids_in(ask(running, messages=said, template=template)[2]) == {0: expected}
    assert len(fitted) == 2


def test_the_turn_opens_unless_the_model_spoke_last(models):
    said = [*MESSAGES, {"role": "assistant", "content": "I"}]
    by_itself = ask(models, messages=said, tokenizers=[1])
    assert by_itself == ask(models, messages=said, tokenizers=[1], open=False)
    assert by_itself != ask(models, messages=said, tokenizers=[1], open=True)


def test_a_template_of_a_tokenizers_own(tmp_path):
    from bpe_cli.stages import SpecialToken
    from bpe_cli.tokenizer.usage import Usage

    template = "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}{% endfor %}"
    model = bpe_cli.load("gpt2").with_special_tokens([SpecialToken(b"<|user|>", 60000)])
    model = replace(model, usage=Usage(chat_templates=(("default", template),)))
    with Playground([model]) as running:
        found = ids_in(ask(running, messages=[{"role": "user", "content": "a<|user|>"}])[2])
        refused = ask(running, messages=[{"role": "user", "content": "a"}], template="chatml")[2]
    assert found == {0: [60000, *bpe_cli.load("gpt2").encode("a<|user|>")]}
    assert "the layout chatml needs the special token" in refused


def test_a_template_is_a_built_in_one(models, tmp_path):
    """A name from the page opens no file, whatever it is."""
    file = tmp_path / "own.jinja"
    file.write_text("secret")
    for name in (str(file), "own.jinja", "-", "openai", "../x", "default"):
        status, _, answer = ask(models, messages=MESSAGES, tokenizers=[1], template=name)
        assert (status, ids_in(answer)) == (200, {})
        assert "there is no template" in answer
        assert ask(models, "page", messages=MESSAGES, tokenizers=[1], template=name)[0] == 400


def test_a_tokenizer_without_a_template_says_so_in_its_column(models):
    answer = ask(models, messages=MESSAGES, tokenizers=[2, 1])[2]
    assert "this tokenizer has no chat template" in answer
    assert list(ids_in(answer)) == [1]
    assert ask(models, "json", messages=MESSAGES, tokenizers=[2]) == (
        400, "text/plain; charset=utf-8", "this tokenizer has no chat template\n",
    )  # fmt: skip


def test_a_conversation_is_kept(models):
    kept = json.loads(ask(models, "json", messages=MESSAGES, tokenizers=[1])[2])
    assert [each["id"] for each in kept["tokens"]] == bpe_cli.load("gpt-3.5-turbo").apply_chat_template(
        MESSAGES, chat_template="gpt-3.5", add_generation_prompt=True
    )
    page = ask(models, "page", messages=MESSAGES, tokenizers=[1])[2]
    assert page.count('<tr id="r0-') == len(kept["tokens"])


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


def test_a_name_is_whole_in_both_lists(tmp_path):
    named = tmp_path / "those selected.json"
    bpe_cli.train(["low"], vocab_size=258).save(named)
    with Playground([named]) as running:
        page = send(running, "GET", path_of(running))[2].decode()
    assert page.count("those selected.json</option>") == 2


def test_names_are_only_text(tmp_path):
    evil = tmp_path / "<img src=x onerror=alert(1)>\"'.json"
    bpe_cli.train(["low"], vocab_size=258, special_tokens=["<script>alert(2)</script>"]).save(evil)
    with Playground([str(evil)], text="<script>alert(2)</script></textarea><b>") as running:
        page = send(running, "GET", path_of(running))[2].decode()
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
    with Playground(["gpt2"], text=text) as running:
        page = send(running, "GET", path_of(running))[2].decode()
        held = html.unescape(re.search(r"<textarea id=[^>]*>\n(.*?)</textarea>", page, re.DOTALL)[1])
        escapes = 'id="escapes" checked' in page
        answer = ask(running, text=held, escapes=escapes)[2]
    expected = bpe_cli.load("gpt2").encode(text)
    assert ids_in(answer) == ({0: expected} if expected else {})


def test_a_file_is_the_first_text(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_bytes(b"hello\r\n")
    with Playground(["gpt2"], text=path) as running:
        assert b"hello\\r\n</textarea>" in send(running, "GET", path_of(running))[2]


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


def test_what_another_thread_serves_ends_when_it_is_closed():
    running = Playground(["gpt2"])
    thread = threading.Thread(target=running.serve, daemon=True)
    thread.start()
    assert ask(running)[0] == 200
    running.close()
    thread.join(30)
    assert not thread.is_alive()
    running.close()
    Playground(["gpt2"]).close()


@only_where(sys.platform == "linux", "needs Linux, which wakes who listens where nobody can connect any more")
def test_it_is_woken_to_be_closed(monkeypatch):
    """However seldom it looks up by itself whether it is to end."""
    running = Playground(["gpt2"])
    serve_forever = running._server.serve_forever
    monkeypatch.setattr(running._server, "serve_forever", lambda *_: serve_forever(600))
    running.start()
    assert ask(running)[0] == 200
    closing = threading.Thread(target=running.close, daemon=True)
    closing.start()
    closing.join(30)
    assert not closing.is_alive()


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
