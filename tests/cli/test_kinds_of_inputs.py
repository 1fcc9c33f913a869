"""Every command that reads a corpus refuses what is not text, says the way out, and --plain is one."""

from __future__ import annotations

import io
import json
import tarfile

import pytest

import bpe_cli
from bpe_cli.cli import app
from bpe_cli.cli.options import parameters_of
from tests.cli_runner import call, error, run

ROWS = [{"id": "7", "body": "one two one two"}, {"id": "8", "body": "three"}]
LINES = b"".join(json.dumps(row).encode() + b"\n" for row in ROWS)

COMMANDS = [
    "encode INPUT -t gpt2",
    "encode INPUT -t gpt2 --lines",
    "encode INPUT -t gpt2 --to bin -o out",
    "encode INPUT -t gpt2 --to segmented",
    "train INPUT -s 258 -o out",
    "train INPUT -a unigram -s 40 -o out",
    "train INPUT --counts-out out",
    "inspect INPUT -t gpt2",
    "inspect INPUT -t gpt2 --steps",
    "inspect larger.json --corpus INPUT",
    "inspect larger.json --corpus INPUT --token 257",
    "compare INPUT -t gpt2",
    "compare INPUT -t gpt2 -t cl100k_base --diff",
    "convert small.json --extend INPUT -s 258 -o out.json",
    "convert larger.json --prune-to 258 --counts-from INPUT -o out.json",
]


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory):
    """Return a tokenizer without merges, and one with some that may go."""
    folder = tmp_path_factory.mktemp("tokenizers")
    for name, size in (("small.json", "256"), ("larger.json", "260")):
        assert call("train", "-T", "one two one two", "-s", size, "-o", name, "-q", cwd=folder).status == 0
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def folder(tmp_path, tokenizers):
    (tmp_path / "a.jsonl").write_bytes(LINES)
    (tmp_path / "unnamed").write_bytes(LINES)
    (tmp_path / "shards").mkdir()
    (tmp_path / "shards" / "part-0").write_bytes(LINES)
    (tmp_path / "shards" / "README.md").write_bytes(b"# Data\n")
    (tmp_path / "mixed").mkdir()
    (tmp_path / "mixed" / "part-0").write_bytes(LINES)
    (tmp_path / "mixed" / "notes.txt").write_bytes(b"text\n")
    (tmp_path / "x.zip").write_bytes(b"PK\x03\x04\x14\0")
    for name, content in tokenizers.items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


def words(command: str, name: str) -> list[str]:
    return [name if word == "INPUT" else word for word in command.split()]


def refusal(name: str) -> str:
    return error(
        f"{name} holds JSON lines, which would be read as text with their keys and quotes",
        "--jsonl --field body takes the text of each; --plain takes the lines as they are",
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_json_lines_are_refused_everywhere(command, folder):
    before = sorted(path.name for path in folder.iterdir())
    for name in ("a.jsonl", "unnamed"):
        assert call(*words(command, name), "-q", cwd=folder) == (2, b"", refusal(name))
    assert call(*words(command, "-"), "-q", cwd=folder, input=LINES)[::2] == (2, refusal("stdin"))
    assert call(*words(command, "shards"), "-q", cwd=folder) == (2, b"", refusal("shards/part-0"))
    assert call(*words(command, "mixed"), "-q", cwd=folder) == (
        2,
        b"",
        error(
            "the inputs are of several kinds: 1 of JSON lines (mixed/part-0), 1 of text (mixed/notes.txt)",
            "name those of one kind, with --jsonl --field body; --plain takes all as text",
        ),
    )
    assert call(*words(command, "x.zip"), "-q", cwd=folder) == (
        2,
        b"",
        error(
            "x.zip is a zip archive, not text",
            "unpack it, as in: unzip -p FILE | bpe ...; --plain takes its bytes as they are",
        ),
    )
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize("command", COMMANDS)
def test_the_ways_out_are_ways_out(command, folder):
    """--jsonl takes what a file of the texts alone holds, --plain what a file of the same bytes holds otherwise."""

    def outcome(name: str, *options: str, data: bytes = LINES) -> tuple[int, bytes, bytes]:
        (folder / "in").write_bytes(data)
        (folder / "in.jsonl").write_bytes(data)
        done = call(*words(command, name), *options, "-q", cwd=folder)
        assert done.status == 0, done.err
        written = b"".join((folder / each).read_bytes() for each in ("out", "out.json") if (folder / each).exists())
        return done.status, done.out.replace(b"in.jsonl", b"in"), written.replace(b"in.jsonl", b"in")

    assert outcome("in.jsonl", "--plain") == outcome("in", "--plain")
    if "--lines" not in command:
        texts = b"".join(row["body"].encode() + b"\n" for row in ROWS)
        fields = outcome("in.jsonl", "--jsonl", "--field", "body")
        as_lines = outcome("in", "--lines", data=texts)
        if "bin" not in command and "compare" not in command:  # which tell of the file, or of its bytes
            assert fields == as_lines


@pytest.mark.parametrize("name", app.NAMES)
def test_whoever_reads_json_lines_reads_them_plain_too(name):
    options = parameters_of(app.load(name).run)
    assert ("plain" in options) == ("jsonl" in options)


@pytest.mark.parametrize("command", [command for command in COMMANDS if "--lines" not in command])
def test_plain_and_jsonl_exclude_each_other(command, folder):
    assert call(*words(command, "a.jsonl"), "--jsonl", "--plain", cwd=folder)[2] == error(
        "--plain and --jsonl cannot be used together", "--plain takes lines of JSON for text"
    )


def test_plain_has_something_to_say(folder):
    hint = "leave --plain out"
    assert call("encode", "-T", "a", "--plain")[2] == error(
        "--plain says how inputs are taken, and --text is text in any case", hint
    )
    assert call("encode", "--chat", "a.jsonl", "--plain", cwd=folder)[2] == error(
        "--chat reads JSON, not text as it is", hint
    )
    assert call("inspect", "gpt2", "--plain")[2] == error(
        "--plain needs a text, and none is given", "give one with -T TEXT"
    )


def test_conversations_are_json_in_any_case(folder):
    line = b'[{"role": "user", "content": "hi"}]'
    (folder / "chat.json").write_bytes(line)
    (folder / "chat.jsonl").write_bytes(b'{"messages": %s}\n' % line * 2)
    one = call("encode", "--chat", "chat.json", "-t", "gpt-4o", "--to", "count", cwd=folder)
    two = call("encode", "--chat", "--jsonl", "chat.jsonl", "-t", "gpt-4o", "--to", "count", cwd=folder)
    assert (one.status, two) == (0, (0, one.out * 2, ""))
    data = (folder / "chat.jsonl").read_bytes()
    assert call("encode", "--chat", "--jsonl", "-t", "gpt-4o", "--to", "count", input=data) == (0, one.out * 2, "")
    zipped = call("encode", "--chat", "x.zip", "-t", "gpt-4o", cwd=folder)
    assert zipped.err.startswith("error: x.zip is a zip archive, not text")


def test_parallel_lines_are_lines_of_text(folder):
    (folder / "en.txt").write_bytes(b"one\ntwo\n")
    (folder / "pair.jsonl").write_bytes(b'{"en": "one", "de": "eins"}\n{"en": "two", "de": "zwei"}\n')
    assert call("compare", "--parallel", "pair.jsonl", "-t", "gpt2", cwd=folder).status == 0
    (folder / "pair").write_bytes((folder / "pair.jsonl").read_bytes())
    for name in ("pair.jsonl", "pair"):
        given = ("compare", "--parallel", "en=en.txt", "--parallel", f"de={name}", "-t", "gpt2")
        assert call(*given, cwd=folder) == (
            2,
            b"",
            error(
                f"{name} holds JSON lines, not the lines of a text",
                "a file with all languages stands alone: --parallel FILE; --plain takes its lines as they are",
            ),
        )
        assert call(*given, "--plain", cwd=folder).status == 0
    zipped = call("compare", "--parallel", "en=x.zip", "--parallel", "de=en.txt", "-t", "gpt2", cwd=folder)
    assert zipped.err.startswith("error: x.zip holds a zip archive, not the lines of a text")


def test_the_real_command_refuses_a_pipe(folder):
    assert run("encode", "-t", "gpt2", input=LINES * 100_000) == (2, b"", refusal("stdin"))


def test_ids_of_ours_are_no_text(folder):
    assert call("encode", "-T", "hello", "-t", "gpt2", "--to", "bin", "-o", "ids", "-q", cwd=folder).status == 0
    assert call("encode", "ids", "-t", "gpt2", cwd=folder) == (
        2,
        b"",
        error(
            "ids is token ids that bpe encode wrote, not text",
            "bpe decode --from bin turns them into text; --plain takes its bytes as they are",
        ),
    )
    assert call("decode", "ids", "--from", "bin", "-t", "gpt2", cwd=folder) == (0, b"hello", "")


@pytest.mark.parametrize("option", ["--lines", "--jsonl"])
def test_a_member_of_an_archive_is_not_divided(folder, option):
    """The option was passed over without a word; in a project's defaults it means only what can be divided."""
    with tarfile.open(folder / "x.tar", "w") as archive:
        member = tarfile.TarInfo("a.txt")
        member.size = 4
        archive.addfile(member, io.BytesIO(b"a\nb\n"))
    refused = error(
        f"{option} reads the lines of files, and x.tar is a tar archive, of which each member is one document",
        f"leave {option} out, or unpack the archive, as in: tar -xf FILE",
    )
    counting = ("encode", "x.tar", "-t", "gpt2", "--to", "count")
    for words in (counting, ("train", "x.tar", "-s", "258", "-o", "t"), ("compare", "x.tar", "-t", "gpt2"),
                  ("prepare", "x.tar", "-t", "gpt2", "-o", "set")):  # fmt: skip
        assert call(*words, option, cwd=folder) == (2, b"", refused)
    assert call(*counting, cwd=folder) == (0, b"4\n", "")
    (folder / "pyproject.toml").write_text(f"[tool.bpe_cli]\n{option[2:]} = true\n")
    assert call(*counting, cwd=folder).out == b"4\n"
    assert call("train", "x.tar", "-s", "256", "-o", "t.json", "-q", "--no-config", cwd=folder) == (0, b"", "")
    assert call("encode", "x.tar", "-t", "gpt2", "--to", "segmented", "--no-config", cwd=folder) == (0, b"a\nb\n", "")
    lines = io.BytesIO()
    assert bpe_cli.segment_files("gpt2", folder / "x.tar", lines).documents == 2
    assert lines.getvalue() == b"a\nb\n"


def test_a_data_set_in_a_folder_is_not_read_as_text(tmp_path):
    """The plan, the manifest and the records of an earlier one were documents of the next."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.txt").write_text("hi\n")
    assert call("prepare", "in", "-t", "gpt2", "-o", "in/out", "-q", cwd=tmp_path).status == 0
    done = call("encode", "in", "-t", "gpt2", "--to", "count", "-q", cwd=tmp_path)
    assert (done.status, done.out) == (0, b"2\n")
    said = "skipped: it is the record of a data set"
    notes = call("encode", "in", "-t", "gpt2", "--to", "count", cwd=tmp_path).err.splitlines()
    records = [f"note: in/out/{name} {said}" for name in ("manifest.json", "part-00000.json", "plan.json")]
    assert [note for note in notes if note.endswith(said)] == records
    done = call("prepare", "in/out", "-t", "gpt2", "-o", "again", cwd=tmp_path)
    assert (done.status, done.err.splitlines()[-1]) == (2, "error: there is no text file in the folder in/out")
