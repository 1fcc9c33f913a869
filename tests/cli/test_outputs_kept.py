"""Outputs never replace what is read, two outputs are never one, and a closed stdout is an error like any other."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys

import pytest

from tests import forking
from tests.cli_runner import call, error, surroundings
from tests.needs import only_where

TOKENIZER = call("train", "-T", "one two", "-s", "256", "-q").out
WAY_OUT = "write to another file, and move it there when all is well"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a text, and the files that commands make of it."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "in.txt").write_text("hello world\n")
    assert call("train", "in.txt", "-s", "258", "-o", "t.json", "-q", cwd=folder).status == 0
    assert call("compare", "in.txt", "-t", "gpt2", "--json", "-o", "base.json", cwd=folder).status == 0
    assert call("encode", "-T", "a", "--to", "bin", "-o", "x.bin", "-q", cwd=folder).status == 0
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def folder(tmp_path, made):
    for name, content in made.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "link.txt").symlink_to("in.txt")
    (tmp_path / "hard.txt").hardlink_to(tmp_path / "in.txt")
    (tmp_path / "ids").write_text("1 2\n")
    (tmp_path / "en.txt").write_text("hello\n")
    for name in ("t", "base"):  # of which no name says that it is another thing
        shutil.copy(tmp_path / f"{name}.json", tmp_path / name)
    for name in ("list", "in.l.json"):
        (tmp_path / name).write_text("in.txt\n")
    (tmp_path / "in").write_text("hello\n")
    (tmp_path / "in.json").write_text("[]\n")
    for name in ("u.json", "x.ids.json"):
        (tmp_path / name).write_bytes((tmp_path / "t.json").read_bytes())
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "vocab.json").write_text("hello\n")
    return tmp_path


COMPARE = ("compare", "in.txt", "-t", "t.json")
INSPECT = ("inspect", "in.txt", "-t", "t.json")
BINARY = ("encode", "-t", "t.json", "--to", "bin")
CUT = ("encode", "in", "-t", "t.json", "--to", "segmented")
CHAT = ("encode", "--chat", "in", "-t", "gpt-4o")
ADD = ("convert", "x.ids.json", "--add-tokens", "in")
EXTEND = ("convert", "gpt2", "-s", "50258", "--extend")
PRUNE = ("convert", "t.json", "--prune-to", "257", "--counts-from")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*COMPARE, "--against", "base", "--html", "./base"), "--html would replace the report of --against"),
        ((*COMPARE, "--json", "-o", "in.txt"), "-o would replace the input in.txt"),
        ((*COMPARE, "--html", "link.txt"), "--html would replace the input in.txt"),
        ((*COMPARE, "--csv", "-o", "hard.txt"), "-o would replace the input in.txt"),
        (("compare", "in.txt", "-t", "t", "--html", "./t"), "--html would replace a tokenizer"),
        (("compare", "in.txt", "-t", "gpt2", "--baseline", "t", "--html", "./t"), "--html would replace a tokenizer"),
        ((*COMPARE, "--parallel", "en=en.txt", "--html", "en.txt"), "--html would replace the parallel texts"),
        ((*INSPECT, "--html", "link.txt"), "--html would replace the input in.txt"),
        (("inspect", "in.txt", "-t", "t", "--svg", "./t"), "--svg would replace the tokenizer"),
        (("encode", "in.txt", "-t", "t.json", "-o", "link.txt"), "-o would replace the input in.txt"),
        (("encode", "in.txt", "-t", "t", "-o", "./t"), "-o would replace the tokenizer"),
        (("encode", "./", "-t", "t.json", "-o", "en.txt"), "-o would replace the input ./en.txt"),
        (("encode", "@list", "-t", "t.json", "-o", "./list"), "-o would replace the list of inputs list"),
        (("train", "@list", "-s", "258", "-o", "./list"), "-o would replace the list of inputs list"),
        ((*BINARY, "@in.l.json", "-o", "in.l"), "the record of -o would replace the list of inputs in.l.json"),
        ((*COMPARE, "@list", "--html", "./list"), "--html would replace the list of inputs list"),
        (("decode", "ids", "-t", "t.json", "-o", "./ids"), "-o would replace the input ids"),
        (("train", "in.txt", "-s", "258", "-o", "hard.txt"), "-o would replace the input in.txt"),
        (("train", "--from-counts", "ids", "-s", "258", "-o", "./ids"), "-o would replace the counts"),
        (("convert", "t.json", "-o", "./t.json"), "-o would replace the tokenizer"),
        ((*BINARY, "in", "-o", "in"), "-o would replace the input in"),
        ((*BINARY, "in.json", "-o", "in"), "the record of -o would replace the input in.json"),
        ((*BINARY, ".", "-o", "in"), "-o would replace the input ./in"),
        ((*CUT, "--vocabulary", "base", "-o", "./base"), "-o would replace the vocabulary"),
        ((*CHAT, "--tools", "base", "-o", "./base"), "-o would replace the list of tools"),
        ((*CHAT, "--chat-template", "base", "-o", "./base"), "-o would replace the chat template"),
        (("decode", "x.bin", "--from", "bin", "-o", "x.bin.json"), "-o would replace the record of x.bin"),
        (
            ("convert", "t.json", "--add-tokens", "in", "-o", "./in", "-f", "bpe.json"),
            "-o would replace the list of tokens",
        ),
        (("convert", "t.json", "--merge", "u.json", "-o", "./u.json"), "-o would replace the tokenizer of --merge"),
        ((*ADD, "-o", "x", "-f", "bpe.json"), "the map of ids would replace the tokenizer"),
        ((*ADD, "-o", "y.json", "--id-map", "in"), "--id-map would replace the list of tokens"),
        ((*EXTEND, "in.txt", "-o", "./in.txt", "--format", "bpe.json"), "-o would replace the input in.txt"),
        ((*EXTEND, "in.txt", "-o", "y.json", "--id-map", "link.txt"), "--id-map would replace the input in.txt"),
        ((*EXTEND, "out", "-o", "out/", "--format", "vocab-merges"), "-o would replace the input out/vocab.json"),
        ((*PRUNE, "in.txt", "-o", "hard.txt", "--format", "bpe.json"), "-o would replace the input in.txt"),
    ],
    ids=str,
)
def test_what_is_read_is_not_replaced(arguments, message, folder):
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert call(*arguments, "-q", cwd=folder) == (2, b"", error(message, WAY_OUT))
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Tokenizers of several files each, and a text."""
    folder = tmp_path_factory.mktemp("folders")
    (folder / "in.txt").write_text("hello\n")
    (folder / "t.json").write_bytes(call("train", "-T", "one two", "-s", "258", "--pattern", "gpt2", "-q").out)
    for name, kind in (("vm", "vocab-merges"), ("hf", "huggingface")):
        assert call("convert", "t.json", "-o", f"{name}/", "-f", kind, "-q", cwd=folder).status == 0
    (folder / "hf" / "chat_template.jinja").write_text("{{ messages }}")
    (folder / "link").symlink_to("hf")
    (folder / "hf" / "notes.txt").write_text("no file of a tokenizer\n")
    return folder


ENCODE = ("encode", "in.txt", "-t")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*ENCODE, "vm", "-o", "vm/merges.txt"), "-o would replace the tokenizer"),
        ((*ENCODE, "vm/vocab.json", "-o", "vm/merges.txt"), "-o would replace the tokenizer"),
        ((*ENCODE, "link", "-o", "hf/chat_template.jinja"), "-o would replace the tokenizer"),
        (("inspect", "-T", "a", "-t", "hf", "--html", "hf/chat_template.jinja"), "--html would replace the tokenizer"),
        (("compare", "-T", "a", "-t", "vm", "--json", "-o", "vm/vocab.json"), "-o would replace a tokenizer"),
        (("convert", "hf", "-o", "hf/"), "-o would replace the tokenizer"),
        (("convert", "hf", "-o", "link"), "-o would replace the tokenizer"),
        (("convert", "hf", "-o", "hf/tokenizer.json"), "-o would replace the tokenizer"),
        (("convert", "hf/tokenizer.json", "-o", "hf/"), "-o would replace the tokenizer"),
        (("convert", "hf", "-o", "hf", "--add-tokens", "in.txt"), "-o would replace the tokenizer"),
        (("convert", "hf", "-o", "hf", "--extend", "in.txt", "-s", "260"), "-o would replace the tokenizer"),
        (("convert", "t.json", "-o", "vm", "-f", "vocab-merges", "--merge", "vm"),
         "-o would replace the tokenizer of --merge"),
        (("convert", "hf", "-o", "x.json", "--merge", "vm", "--id-map", "vm/merges.txt"),
         "--id-map would replace the tokenizer of --merge"),
    ],
    ids=str,
)  # fmt: skip
def test_no_file_of_a_folder_is_replaced(arguments, message, folders):
    """The merges of a pair were replaced by ids, and a folder was converted in place, where one file is refused."""
    before = {path: path.read_bytes() for path in folders.rglob("*") if path.is_file()}
    assert call(*arguments, "-q", cwd=folders) == (2, b"", error(message, WAY_OUT))
    assert {path: path.read_bytes() for path in folders.rglob("*") if path.is_file()} == before


def test_what_else_lies_in_a_folder_may_be_replaced(folders):
    assert call(*ENCODE, "hf", "-o", "hf/notes.txt", "-q", cwd=folders) == (0, b"", "")


STREAM_WAY_OUT = "name another file after the > (which empties it at once)"

READERS = [
    "encode f",
    "encode f -o x",
    "encode f --to segmented",
    "encode f --to count",
    "encode .",
    "encode 'f*'",
    "encode hard",
    "encode link",
    "encode < f",
    "encode - t.json < f",
    "encode --chat f -t gpt-4o",
    "encode --chat t.json --tools f -t gpt-4o",
    "decode f",
    "decode ids hard",
    "train f -s 257 -o x",
    "train f -s 257",
    "train f --counts-out x",
    "train --from-counts f -s 257",
    "inspect f -t gpt2",
    "inspect gpt2 --corpus f",
    "inspect -T a -t f",
    "compare f -t gpt2",
    "compare --parallel en=f -t gpt2",
    "compare -T a -t gpt2 -t f",
    "convert f -o x.json",
    "convert t.json --extend f -s 258 -o x.json",
    "convert t.json --add-tokens f -o x.json",
]


@only_where(os.name == "posix", "redirects as a shell does")
@pytest.mark.parametrize("words", READERS)
def test_no_stream_goes_to_what_is_read(words, tmp_path):
    """``bpe encode f >> f`` read what it wrote, for ever."""
    (tmp_path / "f").write_text("7\n")
    (tmp_path / "hard").hardlink_to(tmp_path / "f")
    (tmp_path / "link").symlink_to("f")
    (tmp_path / "ids").write_text("1\n")
    (tmp_path / "t.json").write_bytes(TOKENIZER)
    for redirection, stream in ((">> f", "stdout"), ("2>> f", "stderr")):
        status, out, err = redirected(words, redirection, tmp_path)
        written = (tmp_path / "f").read_text().removeprefix("7\n")
        assert (status, out, err if stream == "stderr" else written) == (2, "", "")
        said = err + written
        assert said.startswith((f"error: {stream} goes to the ", f"error: {stream} goes to a tokenizer"))
        assert said.endswith(f"\n\nhint: {STREAM_WAY_OUT}\n")
        assert not list(tmp_path.glob("x*"))
        (tmp_path / "f").write_text("7\n")


@only_where(os.name == "posix", "redirects as a shell does")
@pytest.mark.parametrize("words", ["encode @f", "decode @f", "train @f -s 257", "inspect @f -t gpt2"])
def test_no_stream_goes_to_a_list_of_inputs(words, tmp_path):
    (tmp_path / "ids").write_text("1\n")
    (tmp_path / "f").write_text("ids\n")
    said = error("stdout goes to the list of inputs f", STREAM_WAY_OUT)
    assert redirected(words, ">> f", tmp_path) == (2, "", said)
    assert (tmp_path / "f").read_text() == "ids\n"


@only_where(os.name == "posix", "redirects as a shell does")
def test_a_file_that_the_shell_emptied(tmp_path):
    (tmp_path / "f").write_text("text\n")
    assert shell("encode f > f", tmp_path) == (2, "", error("stdout goes to the input f", STREAM_WAY_OUT))


@only_where(os.name == "posix", "redirects as a shell does")
@pytest.mark.parametrize("words", ["encode f -t gpt2 | tee -a f", "encode < f -t gpt2 | tee -a f"])
def test_what_a_file_grows_by_is_not_read(words, tmp_path):
    """Behind a pipe nobody knows whose output it is; no more is read than was there."""
    (tmp_path / "f").write_text("a b\n" * 1_000_000)
    status, out, err = shell(words, tmp_path)
    assert (status, out.split()) == (0, ["64", "275", "198"] * 1_000_000)
    assert err in ("", "note: f has grown; what came after its first 4,000,000 bytes is not read\n")


REDIRECTED = """
import os, sys
from bpe_cli.__main__ import main
number, name, *sys.argv[1:] = sys.argv[1:]
os.dup2(os.open(name, os.O_WRONLY | os.O_APPEND), int(number))
sys.exit(main())
"""


def redirected(words, redirection, folder):
    """Run a line as a shell does, with a stream that goes to the end of a file."""
    if " < " in words:
        return shell(f"{words} {redirection}", folder)
    sign, name = redirection.split()
    done = forking.run(REDIRECTED, "2" if sign == "2>>" else "1", name, *shlex.split(words), cwd=folder)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def shell(words, folder):
    """Run a line as a shell does."""
    environment = surroundings({"PYTHONPATH": os.pathsep.join(sys.path)})
    command = ["sh", "-c", f'exec "$0" -m bpe_cli {words}', sys.executable]
    done = subprocess.run(command, capture_output=True, env=environment, cwd=folder, timeout=60)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_stdin_can_be_a_file_too(folder):
    with (folder / "in.txt").open("rb") as stdin:
        command = [sys.executable, "-m", "bpe_cli", "encode", "-t", "t.json", "-o", "in.txt"]
        environment = surroundings({"PYTHONPATH": os.pathsep.join(sys.path)})
        done = subprocess.run(command, stdin=stdin, capture_output=True, env=environment, cwd=folder, timeout=60)
    assert (done.returncode, done.stderr.decode()) == (2, error("-o would replace the input stdin", WAY_OUT))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*COMPARE, "--html", "new", "-o", "./new"), "-o and --html would both be written to new"),
        ((*COMPARE, "--html", "-", "-o", "-"), "-o and --html would both be written to stdout"),
        ((*COMPARE, "--html", "-", "--json"), "--json and --html would both be written to stdout"),
        ((*INSPECT, "--html", "./new", "--svg", "new"), "--html and --svg would both be written to new"),
        (
            ("train", "in.txt", "-s", "258", "-o", "new", "--counts-out", "./new"),
            "-o and --counts-out would both be written to ./new",
        ),
    ],
    ids=str,
)
def test_two_outputs_are_not_one(arguments, message, folder):
    assert call(*arguments, cwd=folder) == (2, b"", error(message, "name a file each"))
    assert not (folder / "new").exists()


@pytest.mark.parametrize("kind", ["bin", "npy"])
def test_a_record_replaces_no_other_file(kind, folder):
    """A package.json beside the output ``package`` was lost."""
    encode = ("encode", "-T", "hello", "--to", kind, "-q")
    (folder / "package.json").write_text('{"name": "mine"}\n')
    message = "the record of -o would replace package.json, which is not a description of ids"
    hint = "give the output another name; its record is called so too, with .json at the end"
    assert call(*encode, "-o", "package", cwd=folder) == (2, b"", error(message, hint))
    assert (folder / "package.json").read_text() == '{"name": "mine"}\n'
    assert not (folder / "package").exists()
    (folder / "package.json").write_text("")
    for _ in range(2):
        assert call(*encode, "-o", "package", cwd=folder) == (0, b"", "")


@pytest.mark.parametrize("id_map", ["new/./tokenizer.json", "via/tokenizer_config.json"])
def test_the_map_of_ids_is_no_file_of_the_output(id_map, folder):
    """One of them was lost without a word."""
    (folder / "via").symlink_to("new")
    change = ("convert", "t.json", "--add-tokens", "in", "-o", "new", "-f", "huggingface", "--id-map", id_map)
    message = f"-o and --id-map would both be written to {id_map}"
    assert call(*change, cwd=folder) == (2, b"", error(message, "name a file each"))
    assert not (folder / "new").exists()


def test_a_page_and_the_tables(folder):
    tables = call(*COMPARE, cwd=folder).out
    assert call(*COMPARE, "-o", "-", cwd=folder) == (0, tables, "")
    assert call(*COMPARE, "--html", "page.html", "-o", "-", cwd=folder) == (0, tables, "wrote page.html\n")
    assert call(*COMPARE, "--html", "page.html", cwd=folder) == (0, b"", "wrote page.html\n")


@only_where(os.name == "posix", "needs a shell that closes a descriptor")
@pytest.mark.parametrize(
    "words", ["compare -T a -t gpt2 --csv", "compare -T a -t gpt2 --html -", "inspect -T a", "encode -T a"]
)
def test_a_closed_stdout(words, tmp_path):
    command = ["sh", "-c", f'exec "$0" -m bpe_cli {words} >&-', sys.executable]
    environment = surroundings({"PYTHONPATH": os.pathsep.join(sys.path)})
    done = subprocess.run(command, stderr=subprocess.PIPE, env=environment, cwd=tmp_path, timeout=60)
    assert (done.returncode, done.stderr.decode()) == (2, error("cannot write stdout: bad file descriptor"))
