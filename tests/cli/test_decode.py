"""``bpe decode``: the way back from everything that ``bpe encode`` writes."""

from __future__ import annotations

import gzip
import json
import struct

import pytest

from bpe_cli import load
from tests.cli_runner import call, error, run

GPT2 = ("-t", "gpt2")
EOT = ("--eot", "<|endoftext|>")
# Every byte, characters of all lengths, line ends of all kinds, and texts like special tokens.
ALL = (
    bytes(range(256)) + " naïve Straße 你是谁 👩‍👩‍👧 ".encode() + b"\r\n\r \n\n <|endoftext|> \xe4\xbd \xff\xfe 12345\t"
)
LINES = b"".join(ALL.replace(b"\r", b"").replace(b"\n", b"_")[at : at + 9] + b"\n" for at in range(0, 300, 9)) + b"\n\n"


@pytest.mark.parametrize("to", ["ids", "tokens", "jsonl", "bin", "npy"])
@pytest.mark.parametrize("tokenizer", ["gpt2", "cl100k_base", "o200k_base"])
def test_bytes_come_back(tmp_path, to, tokenizer):
    path = tmp_path / "ids"
    assert call("encode", "-t", tokenizer, "--to", to, "-o", path, "-q", input=ALL) == (0, b"", "")
    assert call("decode", "-t", tokenizer, "--from", to, path) == (0, ALL, "")


@pytest.mark.parametrize("to", ["ids", "tokens", "jsonl", "bin", "npy"])
def test_lines_come_back(tmp_path, to):
    eot = EOT if to in ("bin", "npy") else ()
    path = tmp_path / "ids"
    options = ("--special", "<|endoftext|>") if to == "jsonl" else ()  # tokens by their names come back too
    assert call("encode", *GPT2, "--lines", "--to", to, *eot, *options, "-o", path, "-q", input=LINES).status == 0
    assert call("decode", *GPT2, "--from", to, "--lines", path) == (0, LINES, "")


@pytest.mark.parametrize("to", ["ids", "tokens", "jsonl", "bin"])
def test_fields_come_back_through_pipes(to):
    texts = ["one", "", "two\nlines", "drei \x00"]
    data = "".join(json.dumps({"a": {"b": text}}) + "\n" for text in texts).encode()
    encoded = run("encode", *GPT2, "--jsonl", "--field", "a.b", "--to", to, input=data)
    assert (encoded.status, encoded.err) == (0, "")
    assert run("decode", *GPT2, "--from", to, input=encoded.out) == (0, "".join(texts).encode(), "")


def test_several_inputs_one_of_them_a_pipe(tmp_path):
    (tmp_path / "a").write_bytes(b"5303\n")
    assert run("decode", *GPT2, "a", "-", "a", input=b"198", cwd=tmp_path) == (0, b"hi\nhi", "")
    assert call("decode", *GPT2, "--lines", tmp_path / "a", tmp_path / "a").out == b"hi\nhi\n"


def test_to_a_file_with_a_summary(tmp_path):
    result = run("decode", *GPT2, "-o", "out", input=b"5303\n\n198 198", cwd=tmp_path)
    assert result == (0, b"", "3 documents, 3 tokens -> out\n")
    assert (tmp_path / "out").read_bytes() == b"hi\n\n"
    assert call("decode", *GPT2, "-o", "out", input=b"5303", cwd=tmp_path).err == "1 document, 1 token -> out\n"
    assert call("decode", *GPT2, "-q", "-o", "out", input=b"5303", cwd=tmp_path).err == ""


# -- not UTF-8 -------------------------------------------------------------------------------------

# 你 without its last byte, a letter, then all of 你.
CUT = b"19526 64\n19526 254"


@pytest.mark.parametrize(
    ("errors", "text"),
    [
        ((), b"\xe4\xbda\xe4\xbd\xa0"),
        (("--errors", "replace"), "\N{REPLACEMENT CHARACTER}a你".encode()),
        (("--errors", "ignore"), "a你".encode()),
    ],
)
def test_errors(errors, text):
    assert call("decode", *GPT2, *errors, input=CUT) == (0, text, "")


def test_errors_strict():
    hint = "--errors replace or ignore decodes them all the same, leaving out --errors gives the bytes as they are"
    assert run("decode", *GPT2, "--errors", "strict", input=CUT) == (
        2, b"", error("stdin, document 1: the decoded bytes are not UTF-8: invalid continuation byte at byte 0", hint),
    )  # fmt: skip
    assert call("decode", *GPT2, "--errors", "strict", input=b"64 254 64\n") == (
        2, b"", error("stdin, document 1: the decoded bytes are not UTF-8: invalid start byte at byte 1", hint),
    )  # fmt: skip
    # A character does not go on in the next document.
    assert call("decode", *GPT2, "--errors", "strict", "--lines", input=b"64\n19526\n254\n") == (
        2,
        b"a\n",
        error("stdin, document 2: the decoded bytes are not UTF-8: unexpected end of data at byte 0", hint),
    )
    assert call("decode", *GPT2, "--errors", "strict", input=b"19526 254") == (0, "你".encode(), "")


# -- binary files ----------------------------------------------------------------------------------


def test_the_sidecar_says_how_numbers_lie(tmp_path):
    options = ("--lines", "--to", "bin", *EOT, "-o", "x", "-q")
    assert call("encode", *GPT2, *options, input=b"hi\n\nyo\n", cwd=tmp_path).status == 0
    assert call("decode", *GPT2, "--from", "bin", "x", "--lines", cwd=tmp_path).out == b"hi\n\nyo\n"
    (tmp_path / "x.json").unlink()
    assert (
        call("decode", *GPT2, "--from", "bin", "x", cwd=tmp_path).out == b"hi<|endoftext|><|endoftext|>yo<|endoftext|>"
    )
    for eot in ("<|endoftext|>", "50256"):
        decoded = call("decode", *GPT2, "--from", "bin", "x", "--lines", "--eot", eot, cwd=tmp_path)
        assert decoded.out == b"hi\n\nyo\n"


def test_dtype():
    assert call("decode", *GPT2, "--from", "bin", "--dtype", "u32", input=b"\xb7\x14\0\0").out == b"hi"
    assert call("decode", *GPT2, "--from", "bin", "--dtype", "u16", input=b"\xb7\x14").out == b"hi"
    assert call("decode", "-t", "o200k_base", "--from", "bin", input=b"\x66\x0e\0\0").out == b"hi"


def test_another_tokenizer_than_encoded(tmp_path):
    assert call("encode", *GPT2, "-T", "hi", "--to", "bin", "-o", "x", "-q", cwd=tmp_path).status == 0
    assert call("decode", "-t", "p50k_base", "--from", "bin", "x", cwd=tmp_path) == (
        0, b"hi", "note: x was encoded with gpt2, which differs from this one\n",
    )  # fmt: skip


@pytest.mark.parametrize(
    "ids",
    [(35615, 8), (10832, 6221), (14333, 22650, 90), (20115, 19797, 22864)],
    ids=["gzip", "zstd", "xz", "npy"],
)
def test_numbers_may_begin_like_something_else(tmp_path, ids):
    """A record that has their size says that they are numbers, and nothing else."""
    (tmp_path / "x.bin").write_bytes(struct.pack(f"<{len(ids)}H", *ids))
    record = {"schema": "bpe-ids/1", "dtype": "u16", "byteorder": "little", "tokens": len(ids), "documents": 1}
    (tmp_path / "x.bin.json").write_text(json.dumps(record))
    for options in ((), ("--from", "bin")):
        assert call("decode", "x.bin", *GPT2, *options, cwd=tmp_path) == (0, load("gpt2").decode_bytes(ids), "")
    found = json.loads(call("inspect", "x.bin", *GPT2, "--json", cwd=tmp_path).out)
    assert (found["format"], found["shown"][0]["ids"]) == ("bin", list(ids))


def test_numbers_like_compressed_data_without_a_record(tmp_path):
    text = load("gpt2").decode_bytes([35615]) + b")"
    assert call("encode", *GPT2, "-o", "x.bin", "-q", input=text, cwd=tmp_path) == (0, b"", "")
    numbers = (tmp_path / "x.bin").read_bytes()
    assert numbers[:3] == gzip.compress(b"")[:3]
    assert call("decode", "x.bin", *GPT2, cwd=tmp_path) == (0, text, "")
    (tmp_path / "x.bin.json").unlink()
    hint = (
        "hint: ids can begin like compressed data: encode them into a file, whose record says that they are not "
        "compressed, or with --to npy\n"
    )
    for done in (
        call("decode", "x.bin", *GPT2, cwd=tmp_path),
        call("decode", "--from", "bin", *GPT2, input=numbers),
    ):
        assert (done.status, done.out, done.err[-len(hint) :]) == (2, b"", hint)
    assert "hint" not in call("decode", "--from", "ids", *GPT2, input=numbers).err
    for name in ("x.bin.gz", "y.bin"):
        (tmp_path / name).write_bytes(gzip.compress(numbers))
        assert call("decode", name, *GPT2, cwd=tmp_path) == (0, text, "")


@pytest.mark.parametrize("to", ["bin", "npy"])
def test_what_begins_documents_is_left_out_of_each(tmp_path, to):
    """It was left out of the first one only, and text in all others."""
    text, bos = b"hi\n\nyo\nhi\n", ("--bos", "<|endoftext|>")
    made = call("encode", *GPT2, "--lines", *bos, "--to", to, "-o", "x", "-q", input=text, cwd=tmp_path)
    assert made == (0, b"", "")
    assert call("decode", *GPT2, "--from", to, "x", "--lines", cwd=tmp_path) == (0, text, "")
    assert call("decode", *GPT2, "--from", to, "x", "-o", "out", cwd=tmp_path).err == "4 documents, 7 tokens -> out\n"
    (tmp_path / "x.json").unlink()
    assert call("decode", *GPT2, "--from", to, "x", "--lines", *bos, cwd=tmp_path) == (0, text, "")
    decoded = call("decode", *GPT2, "--from", to, "x", cwd=tmp_path).out
    assert decoded.replace(b"<|endoftext|>", b"\n") == b"\n" + text[:-1]


def test_what_begins_documents_and_is_text_too(tmp_path):
    """With 64, which is "a", as the beginning: what is between documents cannot be told from text."""
    made = call("encode", *GPT2, "--lines", "--bos", "64", "-o", "x.bin", "-q", input=b"a!\nhi\n", cwd=tmp_path)
    assert made == (0, b"", "")
    refused = error(
        "x.bin has 2 documents, and 3 times the id 64, which begins each of them",
        "move the .json file away: then that id is decoded too, wherever it is",
    )
    assert call("decode", *GPT2, "x.bin", "-o", "out", cwd=tmp_path) == (2, b"", refused)
    assert not (tmp_path / "out").exists()
    (tmp_path / "x.bin.json").unlink()
    assert call("decode", *GPT2, "x.bin", "--from", "bin", cwd=tmp_path) == (0, b"aa!ahi", "")
    assert call("decode", *GPT2, "x.bin", "--from", "bin", "--bos", "64", cwd=tmp_path) == (0, b"a!ahi", "")
    (tmp_path / "one.txt").write_bytes(b"a!")
    assert call("encode", *GPT2, "one.txt", "--bos", "64", "-o", "y.bin", "-q", cwd=tmp_path) == (0, b"", "")
    assert call("decode", *GPT2, "y.bin", cwd=tmp_path) == (0, b"a!", "")


# -- what is not an id ---------------------------------------------------------------------------------

ID_HINT = "an id is a number from 0 to 4294967295; for decoding, --from names other formats"
JSONL_HINT = 'each line is an object: {"ids": [1, 2, 3]}'
OTHER_HINT = "are these the ids of another tokenizer?"


@pytest.mark.parametrize(
    ("source", "data", "message", "hint"),
    [
        ("ids", b"1 2\n3 four", "stdin:2: 'four' is not a token id", ID_HINT),
        ("ids", b"1\n\n-5", "stdin:3: '-5' is not a token id", ID_HINT),
        ("ids", b"99999999999", "stdin:1: '99999999999' is not a token id", ID_HINT),
        ("ids", b"1.5", "stdin:1: '1.5' is not a token id", ID_HINT),
        (
            "ids",
            b"1\n2 50257",
            "stdin, document 2, token 2: id 50257 is not in the vocabulary (ids run to 50256)",
            OTHER_HINT,
        ),
        (
            "ids",
            b"1 4294967295",
            "stdin, document 1, token 2: id 4294967295 is not in the vocabulary (ids run to 50256)",
            OTHER_HINT,
        ),
        ("tokens", "low\nlow 你".encode(), "stdin:2: '你' is not a token of this tokenizer", None),
        ("jsonl", b'{"ids":[1]}\n{"ids":[1,}', "stdin:2:11: invalid JSON: unexpected character", None),
        ("jsonl", b'{"ids":[1,-2]}', "stdin:1: -2 in 'ids' is not a token id", None),
        ("jsonl", b'{"ids":[1,2.0]}', "stdin:1: '2.0' in 'ids' is not a token id", None),
        ("jsonl", b'{"ids":"1"}', "stdin:1: it has no list called 'ids'", JSONL_HINT),
        ("jsonl", b"[1]", "stdin:1: it has no list called 'ids'", JSONL_HINT),
        ("bin", b"abc", "stdin: it ends inside a number of 2 bytes, after 1 whole number", None),
        (
            "bin",
            b"\xff\xff",
            "stdin, document 1, token 1: id 65535 is not in the vocabulary (ids run to 50256)",
            OTHER_HINT,
        ),
        ("npy", b"", "stdin: it is empty, or ends too early", None),
        ("npy", b"12345678", "stdin: this is not an .npy file", None),
    ],
)
def test_what_is_no_id(source, data, message, hint):
    result = call("decode", *GPT2, "--from", source, input=data)
    assert (result.status, result.err.partition(", expected")[0].rstrip("\n")) == (2, error(message, hint).rstrip("\n"))


def test_lying_lengths(tmp_path):
    assert call("encode", *GPT2, "-T", "hi there", "--to", "npy", "-o", "x", "-q", cwd=tmp_path).status == 0
    whole = (tmp_path / "x").read_bytes()
    (tmp_path / "x").write_bytes(whole[:-1])
    assert call("decode", *GPT2, "--from", "npy", "x", cwd=tmp_path) == (
        2, b"hi", error("x: it ends inside a number of 2 bytes, after 1 whole number"),
    )  # fmt: skip
    (tmp_path / "x").write_bytes(whole.replace(b"(2,), }" + 12 * b" ", b"(9999999999999,), }"))
    assert call("decode", *GPT2, "--from", "npy", "x", cwd=tmp_path).err == error(
        "x: it ends after 2 of the 9,999,999,999,999 numbers that its header promises"
    )


def test_a_sidecar_of_another_file(tmp_path):
    assert call("encode", *GPT2, "-T", "hi there", "--to", "bin", "-o", "x", "-q", cwd=tmp_path).status == 0
    (tmp_path / "x").write_bytes(b"\0\0")
    assert call("decode", *GPT2, "--from", "bin", "x", cwd=tmp_path) == (
        2, b"", error(
            "x has 2 bytes, but x.json speaks of 2 ids of 2 bytes",
            "one of the two is from another run: encode again, or move the .json file away and give --dtype and --eot "
            "yourself",
        ),
    )  # fmt: skip


def test_what_is_left_out_of_a_folder_is_said(tmp_path):
    folder = tmp_path / "d"
    folder.mkdir()
    (folder / "a").write_text("31373\n")
    (folder / "b").write_bytes(b"\0")
    (folder / "c").symlink_to("gone")
    left_out = (
        "d/b skipped: it looks binary (NUL at byte 0)",
        "d/c skipped: it is a link to gone, which does not exist",
    )
    notes = "".join(f"note: {each}\n" for each in left_out)
    assert call("decode", *GPT2, "d", cwd=tmp_path) == (0, b"hello", notes)


def test_a_folder_is_read_that_ids_were_written_to(tmp_path):
    """Numbers have NULs among them, and what describes them is not ids."""
    (tmp_path / "d").mkdir()
    written = {"a.bin": "bin", "b.npy": "npy", "c.ids": "ids", "d": "bin", "e.jsonl": "jsonl"}
    for name, to in written.items():
        made = call("encode", "-T", f"{name}! ", *GPT2, "--to", to, "-o", f"d/{name}", "-q", cwd=tmp_path)
        assert made == (0, b"", "")
    assert sorted(path.name for path in (tmp_path / "d").glob("*.json")) == ["a.bin.json", "b.npy.json", "d.json"]
    assert all(b"\0" in (tmp_path / "d" / name).read_bytes() for name in ("a.bin", "b.npy", "d"))
    assert call("decode", "d", *GPT2, cwd=tmp_path) == (0, b"a.bin! b.npy! c.ids! d! e.jsonl! ", "")
    # Whatever numbers begin like, their folder can be read.
    (tmp_path / "d/a.bin").write_bytes(struct.pack("<8H", 35615, 8, *[11] * 6))
    record = {"schema": "bpe-ids/1", "dtype": "u16", "byteorder": "little", "tokens": 8, "documents": 1}
    (tmp_path / "d/a.bin.json").write_text(json.dumps(record))
    expected = load("gpt2").decode_bytes([35615, 8, *[11] * 6])
    assert call("decode", "d", *GPT2, cwd=tmp_path) == (0, expected + b"b.npy! c.ids! d! e.jsonl! ", "")


@pytest.mark.parametrize("to", ["bin", "npy", "ids", "jsonl"])
def test_no_documents_stay_none(to, tmp_path):
    (tmp_path / "empty.txt").touch()
    made = call("encode", "empty.txt", "--lines", "-t", "gpt2", "--to", to, "-o", "ids", cwd=tmp_path)
    assert made == (0, b"", "0 documents, 0 tokens -> ids\n")
    result = call("decode", "ids", "-t", "gpt2", "--from", to, "--lines", "-o", "out", cwd=tmp_path)
    assert result == (0, b"", "0 documents, 0 tokens -> out\n")
    assert (tmp_path / "out").read_bytes() == b""
    # A document without tokens is one.
    assert call("encode", "empty.txt", "-t", "gpt2", "--to", to, "-o", "ids", cwd=tmp_path).status == 0
    assert call("decode", "ids", "-t", "gpt2", "--from", to, "--lines", cwd=tmp_path).out == b"\n"


def test_counts_are_not_ids(tmp_path):
    (tmp_path / "x.count").write_text("2\n")
    message = "x.count is named like the counts that `bpe encode --to count` writes, which are not ids"
    hint = "encode to ids, or give the file another name if it holds ids"
    for command in ("decode", "inspect --documents 1"):
        assert call(*command.split(), "x.count", *GPT2, cwd=tmp_path) == (2, b"", error(message, hint))
    assert call("decode", "x.count", *GPT2, "--from", "ids", cwd=tmp_path) == (0, b"#", "")


def test_json_that_is_not_in_lines_says_what_lines_are(tmp_path):
    (tmp_path / "in.txt").write_text("hi")
    assert call("prepare", "in.txt", *GPT2, "-o", "set", "-q", cwd=tmp_path).status == 0
    for name in ("set", "set/manifest.json"):
        assert call("decode", name, *GPT2, cwd=tmp_path).err == error(
            "set/manifest.json:1:2: invalid JSON: unexpected end of data", f"{JSONL_HINT}; bpe inspect shows data sets"
        )


# -- which tokenizer -------------------------------------------------------------------------------


@pytest.fixture
def recorded(tmp_path):
    """Return a folder with ids of two tokenizers, whose records say so."""
    (tmp_path / "in.txt").write_text("low lower lowest")
    assert call("train", "in.txt", "-s", "260", "-o", "small.json", "-q", cwd=tmp_path).status == 0
    for name, tokenizer, text in (("a.bin", "gpt2", "hello world"), ("b.npy", "small.json", " lower")):
        words = ("-T", text, "-t", tokenizer, "--eot", "50256" if tokenizer == "gpt2" else "0", "-o", name, "-q")
        assert call("encode", *words, cwd=tmp_path) == (0, b"", "")
    return tmp_path


def test_each_input_is_decoded_by_the_tokenizer_that_its_record_names(recorded):
    """Without -t, ids of gpt2 were decoded by o200k_base, and the exit status was 0."""
    assert call("decode", "a.bin", cwd=recorded) == (0, b"hello world", "")
    assert call("decode", "a.bin", "b.npy", "a.bin", cwd=recorded) == (0, b"hello world lowerhello world", "")
    done = call("decode", "a.bin", "b.npy", "-o", "out.txt", cwd=recorded)
    assert (done.status, done.err.startswith("2 documents, ")) == (0, True)
    assert call("encode", "-T", "hi", "-o", "c.bin", "-q", cwd=recorded).status == 0
    assert call("decode", "c.bin", cwd=recorded) == (0, b"hi", "")
    note = "note: a.bin was encoded with gpt2, which differs from this one\n"
    assert call("decode", "a.bin", env={"BPE_TOKENIZER": "p50k_base"}, cwd=recorded) == (0, b"hello world", note)
    (recorded / "pyproject.toml").write_text('[tool.bpe_cli]\ntokenizer = "p50k_base"\n')
    assert call("decode", "a.bin", cwd=recorded).err.endswith(note)


def test_the_help_says_that_records_name_the_tokenizer():
    """It named the default alone, which would decode ids of another tokenizer."""
    text = " ".join(call("decode", "--help", "--all").text.split())
    assert "[default: as INPUT.json says, else o200k_base]" in text
    assert "[by INPUT.json or o200k_base]" in " ".join(call("decode", "--help").text.split())


def test_the_token_around_documents_is_that_tokenizers(recorded):
    assert call("train", "in.txt", "-s", "261", "--special", "[E]", "-o", "e.json", "-q", cwd=recorded).status == 0
    assert call("encode", "-T", "low", "-t", "e.json", "--bos", "[E]", "-o", "e.bin", "-q", cwd=recorded).status == 0
    assert call("decode", "e.bin", "--bos", "[E]", cwd=recorded) == (0, b"low", "")


@pytest.mark.parametrize(
    ("tokenizer", "message"),
    [
        ({"name": "./nosuch", "sha256": "0" * 64}, "a.bin was encoded with ./nosuch, which is not found: "),
        ({"name": "gpt2", "sha256": "0" * 64}, "a.bin was encoded with gpt2, and this name now stands for another"),
        ({"name": None, "sha256": "0" * 64}, "nothing says which tokenizer the ids in a.bin are from"),
    ],
)
def test_a_record_of_a_tokenizer_that_is_not_there(recorded, tokenizer, message):
    record = json.loads((recorded / "a.bin.json").read_text())
    (recorded / "a.bin.json").write_text(json.dumps(record | {"tokenizer": tokenizer}))
    done = call("decode", "a.bin", "-o", "out.txt", cwd=recorded)
    assert (done.status, (recorded / "out.txt").exists()) == (2, False)
    assert done.err.startswith(f"error: {message}")
    assert done.err.endswith("\n\nhint: name the right one: -t FILE\n")
    assert call("decode", "a.bin", *GPT2, "-q", cwd=recorded) == (0, b"hello world", "")


def test_the_tokenizer_that_a_record_names_is_not_replaced(recorded):
    before = (recorded / "small.json").read_bytes()
    done = call("decode", "b.npy", "-o", "small.json", cwd=recorded)
    assert (done.status, done.err.splitlines()[0]) == (2, "error: -o would replace the tokenizer")
    assert (recorded / "small.json").read_bytes() == before
