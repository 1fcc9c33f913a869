"""``bpe inspect --live``: what it prints, what it refuses, and how it ends."""

from __future__ import annotations

import json
import signal
import subprocess
import urllib.request

import pytest

from bpe_cli.cli.argv_fast import is_flag
from bpe_cli.cli.inspect import run
from bpe_cli.cli.options import parameters_of
from tests.cli_runner import COMMAND, call, error, heed_signals, signals, surroundings


@pytest.fixture
def started(tmp_path):
    """Start the command in a folder, and give the process and the address that it prints."""
    running = []

    def start(*arguments, text=None, **variables):
        heed_signals()
        process = subprocess.Popen(
            [*COMMAND, "inspect", "--live", *arguments], cwd=tmp_path, env=surroundings(variables), text=True,
            stdin=subprocess.DEVNULL if text is None else subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )  # fmt: skip
        running.append(process)
        if text is not None:
            process.stdin.write(text)
            process.stdin.close()
        return process, process.stdout.readline().rstrip("\n")

    yield start
    for process in running:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def read(address):
    with urllib.request.urlopen(address, timeout=60) as answer:
        return answer.read().decode()


def ask(address, **fields):
    request = urllib.request.Request(
        f"{address}json", json.dumps(fields).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def end(process, number=signal.SIGINT):
    process.send_signal(number)
    process.wait(60)
    return process.returncode, process.stdout.read(), process.stderr.read()


def test_the_address_is_all_that_goes_to_stdout(started):
    process, address = started("-T", "hello", "-t", "gpt2", "-t", "gpt-4o")
    assert address.startswith("http://127.0.0.1:")
    assert "hello</textarea>" in read(address)
    assert [each["id"] for each in ask(address, tokenizers=[0], text="hello")["tokens"]] == [31373]
    assert ask(address, tokenizers=[1], text="hello")["tokenizer"] == "gpt-4o"
    assert end(process) == (
        130, "", "open this address in a browser on this machine\npress Ctrl-C to stop it\ninterrupted\n",
    )  # fmt: skip


@pytest.mark.parametrize("name", [each.name for each in signals("SIGTERM", "SIGHUP")])
def test_other_signals_end_it_too(started, name):
    number = getattr(signal, name)
    process, address = started("--quiet")
    read(address)
    assert end(process, number) == (-number, "", "")


def test_over_ssh_it_says_how_to_get_there(started):
    process, address = started("--no-open", SSH_CONNECTION="10.0.0.1 5 10.0.0.2 22")
    read(address)
    port = address.split("/")[2].split(":")[1]
    assert f"over ssh: run ssh -L {port}:127.0.0.1:{port} HOST" in end(process)[2]


def test_a_browser_is_opened_where_one_is_named(started, tmp_path):
    browser = tmp_path / "browser"
    browser.write_text('#!/bin/sh\nprintf %s "$1" > opened\n')
    browser.chmod(0o755)
    process, address = started("-q", BROWSER=str(browser))
    read(address)
    assert end(process) == (130, "", "interrupted\n")
    assert (tmp_path / "opened").read_text() == address
    (tmp_path / "opened").unlink()
    process, address = started("--no-open", BROWSER=str(browser))
    read(address)
    end(process)
    assert not (tmp_path / "opened").exists()


def test_the_first_text_is_what_is_given(started, tmp_path):
    (tmp_path / "notes.txt").write_bytes(b"from a file\r\n")
    for arguments, text, shown in (
        (("notes.txt",), None, "from a file\\r\n</textarea>"),
        (("-",), "from stdin\n", "from stdin\n</textarea>"),
        ((), "from a pipe", "from a pipe</textarea>"),
        ((), None, "\n</textarea>"),
    ):
        process, address = started(*arguments, text=text)
        assert shown in read(address)
        end(process)


def test_a_projects_defaults_for_other_runs_do_not_stop_it(started, tmp_path):
    (tmp_path / "pyproject.toml").write_text(
        '[tool.bpe_cli]\nlines = true\nfield = "body"\nspecial = ["all"]\n'
        '[tool.bpe_cli.inspect]\nids = true\ndate = "2025-06-28"\n',
        encoding="utf-8",
    )
    process, address = started("-T", "hello", "-t", "gpt2")
    assert "hello</textarea>" in read(address)
    assert end(process)[0] == 130


def test_inputs_that_are_tokenizers_are_offered(started, tmp_path):
    assert call("train", "-T", "low lower", "-s", "258", "-o", "own.json", cwd=tmp_path).status == 0
    process, address = started("own.json", "gpt2")
    page = read(address)
    assert '<option value="0">own.json</option><option value="1">gpt2</option><hr>' in page
    end(process)
    process, address = started("-t", "own.json", "--add-special", "<|x|>=300")
    found = ask(address, tokenizers=[0], text="<|x|>", specials=True)
    assert [each["id"] for each in found["tokens"]] == [300]
    end(process)


TAKEN = {
    "live", "port", "no_open", "tokenizer", "inputs", "text", "pattern", "add_special", "inference", "color", "quiet",
    "threads",
}  # fmt: skip
"""The options of inspect that the playground has a use for; the last three change no result, and are never refused."""
OPTIONS = {name: each for name, each in parameters_of(run).items() if name not in TAKEN}


@pytest.mark.parametrize("option", OPTIONS)
def test_what_has_no_effect_is_refused(tmp_path, option):
    kind, declared = OPTIONS[option]
    name = declared.names[0].partition("/")[0]
    value = () if is_flag(kind) else (next(iter(declared.settings.get("choices") or ()), "3"),)
    assert call("inspect", "--live", name, *value, cwd=tmp_path) == (
        2, b"", error(f"{name} has no effect on the playground", "leave it out, or --live"),
    )  # fmt: skip
    assert len(OPTIONS) > 20


def test_what_is_for_the_playground_is_refused_without(tmp_path):
    for words in (("--port", "8000"), ("--no-open",)):
        assert call("inspect", "-T", "hi", *words) == (2, b"", error(f"{words[0]} is for --live"))
    several = call("inspect", "-T", "hi", "-t", "gpt2", "-t", "gpt-4o")
    assert (several.status, several.out) == (2, b"")
    assert several.err == error(
        "bpe inspect shows a text by one tokenizer, and there are 2",
        "set them side by side with bpe compare -t gpt2 -t gpt-4o, or in a playground with --live",
    )


def test_what_cannot_be_served_is_refused(started, tmp_path):
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "b.txt").write_text("b")
    (tmp_path / "large.txt").write_text("x" * 300_000)
    for words, told in (
        (("a.txt", "b.txt"), "the playground begins with one text, and there are 2"),
        (("a.txt", "-T", "b"), "--text and files cannot be used together"),
        (("large.txt",), "the text has 300,000 bytes"),
        (("missing.txt",), "missing.txt"),
        (("-t", "nosuch"), "nosuch"),
        (("--port", "0"), "--port"),
        (("--port", "65536"), "--port"),
    ):
        result = call("inspect", "--live", *words, cwd=tmp_path)
        assert (result.status, result.out) == (2, b""), words
        assert told in result.err
    process, address = started()
    port = address.split("/")[2].split(":")[1]
    taken = call("inspect", "--live", "--port", port, cwd=tmp_path)
    assert (taken.status, taken.out) == (2, b"")
    assert taken.err.startswith(f"error: cannot listen on port {port} of 127.0.0.1: ")
    assert taken.err.endswith("\n\nhint: without --port, a free one is taken\n")
    end(process)


def test_it_is_not_set_in_a_file(tmp_path):
    for line in ("live = true", "port = 8000", "no-open = true"):
        (tmp_path / "pyproject.toml").write_text(f"[tool.bpe_cli.inspect]\n{line}\n")
        result = call("inspect", "-T", "hi", cwd=tmp_path)
        assert (result.status, "this cannot be set in a file" in result.err) == (2, True)


def test_the_projects_tokenizer_is_the_first(started, tmp_path):
    (tmp_path / "pyproject.toml").write_text('[tool.bpe_cli]\ntokenizer = "gpt2"\n')
    process, address = started()
    assert '<option value="0">gpt2</option><hr>' in read(address)
    end(process)
