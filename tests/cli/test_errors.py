"""Input that cannot be read and tokenizers that are not there: the exact status and message for each."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from bpe_cli import load
from bpe_cli.errors import UsageError
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.tokenizer.named_encodings import ENCODINGS
from tests.cli_runner import as_a_user, call, error, run

GPT2 = ("-t", "gpt2")
TEXT_HINT = "--text takes a text itself"


def fails(result, message, hint=None):
    assert result == (2, b"", error(message, hint))


# -- inputs ----------------------------------------------------------------------------------------


def test_names_that_are_no_utf_8_are_counted_as_reports_write_them(tmp_path):
    for name in (b"a\xff\xfe.txt", b"b.txt"):
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_bytes(b"hi")
    result = call("encode", ".", "-t", "gpt2", "--to", "count", cwd=tmp_path)
    assert result.text == "1 ./a\\xff\\xfe.txt\n1 ./b.txt\n2 total\n"
    missing = call("encode", os.fsdecode(b"no\xff"), "-t", "gpt2", cwd=tmp_path)
    assert missing.err.startswith("error: cannot read no\\xff: no such file\n")


@pytest.mark.parametrize("command", ["encode", "inspect", "compare", "train"])
def test_a_missing_file(tmp_path, command):
    (tmp_path / "emty.txt").touch()
    options = ("-s", "300") if command == "train" else ()
    real = run(command, "empty.txt", *options, cwd=tmp_path)
    fails(real, "cannot read empty.txt: no such file", "did you mean emty.txt?")
    fails(call(command, "hello world", *options, cwd=tmp_path), "cannot read hello world: no such file", TEXT_HINT)
    fails(call(command, "no/x", *options, cwd=tmp_path), "cannot read no/x: no such file", "there is no folder no")


@pytest.mark.parametrize(
    "line",
    [
        "convert gpt2 --extend missing -s 60000 -o x.json",
        "convert gpt2 --prune-to 1000 --counts-from missing -o x.json",
        "convert gpt2 --replace 9 --by missing --counts-from a.txt -o x.json",
        "train --language a=missing --language b=a.txt -s 300",
        "train --language a=a.txt --language b=a.txt --parity --dev a=missing --dev b=a.txt -s 300",
        "compare missing -t gpt2 --tallies-dir tallies",
        "compare missing -t gpt2 --tallies-dir tallies --part 1/2",
    ],
)
def test_where_a_text_itself_cannot_be_given_no_hint_says_so(tmp_path, line):
    """It suggested --text, which was refused then."""
    (tmp_path / "a.txt").write_text("low lower lowest\n" * 9)
    fails(call(*line.split(), cwd=tmp_path), "cannot read missing: no such file")


def test_missing_ids(tmp_path):
    hint = "ids can be piped in: echo 24912 2375 | bpe decode"
    fails(call("decode", "x", cwd=tmp_path), "cannot read x: no such file", hint)


def test_nothing_is_written_when_an_input_is_missing(tmp_path):
    fails(
        call("encode", "-o", "out", "nosuch", cwd=tmp_path), "cannot read nosuch: no such file", TEXT_HINT,
    )  # fmt: skip
    assert list(tmp_path.iterdir()) == []


def test_no_file_matches(tmp_path):
    (tmp_path / "x").mkdir()
    fails(call("encode", "*.txt", cwd=tmp_path), "no file matches *.txt")
    fails(
        call("encode", "*", cwd=tmp_path), "no file matches *",
        "only folders match; ** goes into them, as in 'data/**/*.txt'",
    )  # fmt: skip


def test_a_folder_without_text(tmp_path):
    (tmp_path / "x").mkdir()
    (tmp_path / ".hidden").write_text("x")
    fails(run("encode", "x", cwd=tmp_path), "there is no text file in the folder x")
    (tmp_path / "x" / "a.bin").write_bytes(b"ab\0")
    assert run("encode", "x", cwd=tmp_path) == (
        2, b"", "note: x/a.bin skipped: it looks binary (NUL at byte 2)\n"
        + error("there is no text file in the folder x"),
    )  # fmt: skip


def test_binary_files(tmp_path):
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "a.bin").write_bytes(b"a\0b")
    (tmp_path / "x" / "b.txt").write_bytes(b"b")
    skipped = "note: x/a.bin skipped: it looks binary (NUL at byte 1)\n"
    assert run("encode", *GPT2, "x", cwd=tmp_path) == (0, b"65\n", skipped)
    taken = "note: x/a.bin looks binary (NUL at byte 1); its bytes are taken as they are\n"
    assert run("encode", *GPT2, "x/a.bin", cwd=tmp_path) == (0, b"64 188 65\n", taken)
    assert call("train", "x/a.bin", "-s", "256", "-o", "t.json", cwd=tmp_path).err.startswith(taken)


JSON = b'{"text": "a"}\n\n{"text": 1, "a": {"b": []}}\n'


@pytest.mark.parametrize(
    ("data", "field", "message", "hint"),
    [
        (b'{"text": "a"}\n{"text":\n', "text", "x.jsonl:2:9: invalid JSON: ", None),
        (b'{"text": "\xff"}', "text", "x.jsonl:1:11: invalid JSON: ", None),
        (JSON, "text", "x.jsonl:3: the field 'text' is a number, not a string", None),
        (JSON, "a.b", "x.jsonl:1: there is no field 'a'", "--field names it; the keys are 'text'"),
        (JSON[15:], "a.c", "x.jsonl:1: there is no field 'c' in 'a'", "--field names it; the keys in 'a' are 'b'"),
        (JSON[15:], "a.b.0", "x.jsonl:1: there is no element 0 in 'a.b', a list of 0", None),
        (b"{}", "text", "x.jsonl:1: there is no field 'text'", "the object is empty"),
        (b'"text"', "text", "x.jsonl:1: the line is a string, which has no field 'text'", None),
        (b"[" * 100_000, "text", "x.jsonl:1:1026: invalid JSON: ", None),
    ],
)
def test_json_lines(tmp_path, data, field, message, hint):
    (tmp_path / "x.jsonl").write_bytes(data)
    for size in ("5", "100000"):
        options = ("--jsonl", "--field", field, "--to", "count", "--block-size", size, "-o", "out")
        result = call("encode", "x.jsonl", *options, cwd=tmp_path)
        assert result.status == 2
        if message.endswith("invalid JSON: "):  # what follows are the parser's words
            assert result.err.startswith(f"error: {message}")
        else:
            assert result.err == error(message, hint)
        assert not (tmp_path / "out").exists()


def test_damaged_compressed_files(tmp_path):
    whole = gzip.compress(b"hello " * 1000)
    (tmp_path / "a.gz").write_bytes(whole[:-9])
    (tmp_path / "b.gz").write_bytes(whole[:20] + b"\xff\xff" + whole[22:])
    fails(
        call("encode", "a.gz", "--to", "count", cwd=tmp_path),
        "cannot read a.gz: its gzip data ends too early, after 6,000 bytes of text",
    )
    damaged = call("encode", "b.gz", "--to", "count", cwd=tmp_path)
    assert damaged.err.startswith("error: cannot read b.gz: its gzip data is damaged, after ")


def test_a_file_that_may_not_be_read(tmp_path):
    (tmp_path / "x").touch(mode=0)
    fails(run("encode", "x", cwd=tmp_path, **as_a_user()), "cannot read x: permission denied")


def test_a_name_that_would_move_the_cursor(tmp_path):
    fails(call("encode", "a\x1b(2J\n", cwd=tmp_path), r"cannot read 'a\x1b(2J\n': no such file", TEXT_HINT)


FORM_HINT = "for example: --add-special '<|im_start|>=100264'"

# -- tokenizers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("cl100k", 'unknown tokenizer "cl100k"', "did you mean cl100k_base?"),
        ("gtp-4o", 'unknown tokenizer "gtp-4o"', "did you mean gpt-4o or gpt-4 or gpt-4.1?"),
        (
            "zzzzzzzz",
            'unknown tokenizer "zzzzzzzz"',
            f"encodings are {', '.join(ENCODINGS)}; or give a path",
        ),
        ("nosuch.json", "cannot read nosuch.json: no such file", None),
        (
            "no/such",
            "cannot read no/such: no such file",
            "for a model on Hugging Face's hub: hf:no/such, once it is fetched",
        ),
        ("openai/gpt-4o", "cannot read openai/gpt-4o: no such file", "did you mean gpt-4o?"),
        ("no/such.json", "cannot read no/such.json: no such file", None),
        ("no/such/folder", "cannot read no/such/folder: no such file", None),
        ("/no/such", "cannot read /no/such: no such file", None),
        ("tests/none", "cannot read tests/none: no such file", None),
    ],
)
def test_an_unknown_tokenizer(name, message, hint):
    fails(call("encode", "-T", "a", "-t", name), message, hint)
    fails(call("encode", "-T", "a", env={"BPE_TOKENIZER": name}), f"BPE_TOKENIZER: {message}", hint)


def test_what_a_variable_names_is_said_to_be_its_value(tmp_path):
    (tmp_path / "text").write_text("low")
    unknown = error('BPE_TOKENIZER: unknown tokenizer "gpt-two"', "did you mean gpt-4o or gpt-5 or gpt-4?")
    for line in ("encode text", "decode text", "inspect -T a", "prepare text --to npy -o new", "inspect --chat text"):
        result = call(*line.split(), cwd=tmp_path, env={"BPE_TOKENIZER": "gpt-two"})
        assert result == (2, b"", unknown), line
    broken = call("encode", "-T", "a", cwd=tmp_path, env={"BPE_TOKENIZER": "text"})
    assert broken.err.startswith("error: BPE_TOKENIZER: text is text that begins 'low', not a tokenizer")


@pytest.mark.parametrize(
    "words",
    [
        "encode -T a -t", "decode -t", "prepare a.txt -o out -t", "inspect -T a -t", "inspect -t",
        "compare -T a -t gpt2 -t", "compare -T a -t gpt2 --baseline", "compare -T a --ids -t gpt2 -t",
    ],
)  # fmt: skip
def test_a_tokenizer_without_a_name_is_not_the_usual_one(words):
    fails(
        call(*words.split(), ""),
        "the name of a tokenizer is empty",
        'if a shell variable holds it, as in -t "$TOK", it may not be set',
    )


def test_a_variable_without_a_name_is_not_set():
    assert call("encode", "-T", "hi", env={"BPE_TOKENIZER": ""}) == (0, b"3686\n", "")
    with pytest.raises(UsageError, match='unknown tokenizer ""'):
        load("")


def test_commands_agree_about_unknown_tokenizers():
    expected = error('unknown tokenizer "cl100k"', "did you mean cl100k_base?")
    for arguments in (
        ("decode", "-t", "cl100k"), ("inspect", "-t", "cl100k"), ("compare", "-T", "a", "-t", "gpt2", "-t", "cl100k"),
        ("convert", "cl100k", "-o", "x.json"),
    ):  # fmt: skip
        assert run(*arguments) == (2, b"", expected)


@pytest.mark.parametrize(
    ("addition", "message", "hint"),
    [
        ("<x>", "--add-special '<x>' is not TEXT=ID", FORM_HINT),
        ("<x>=", "--add-special '<x>=' is not TEXT=ID", FORM_HINT),
        ("=7", "--add-special '=7' is not TEXT=ID", FORM_HINT),
        ("<x>=-1", "--add-special '<x>=-1' is not TEXT=ID", FORM_HINT),
        (
            "<x>=4294967296",
            "--add-special '<x>=4294967296' is not TEXT=ID",
            FORM_HINT,
        ),
        ("<x>=64", "id 64 for the special token '<x>' is taken by 'a'", "the first free id after all others is 50257"),
        (
            "<x>=50256",
            "id 50256 for the special token '<x>' is taken by '<|endoftext|>'",
            "the first free id after all others is 50257",
        ),
        ("<|endoftext|>=60000", "the special token '<|endoftext|>' already has id 50256, not 60000", None),
    ],
)
def test_special_tokens_that_cannot_be_added(addition, message, hint):
    fails(call("encode", "-T", "a", *GPT2, "--add-special", addition), message, hint)


def test_a_special_token_that_is_added_may_be_any_bytes():
    """As those of a text, they come from the command line in whatever encoding."""
    line = ("encode", "-T", "a<\udcff>", *GPT2, "--add-special", "<\udcff>=60000")
    assert call(*line, "--special", "all") == call(*line, "--special", "<\udcff>") == (0, b"64 60000\n", "")


def test_two_added_special_tokens_with_one_id():
    options = ("--add-special", "<x>=60000", "--add-special", "<y>=60000")
    fails(
        run("encode", "-T", "a", *GPT2, *options), "id 60000 for the special token '<y>' is taken by '<x>'",
        "the first free id after all others is 60001",
    )  # fmt: skip


@pytest.mark.parametrize(("name", "shown"), [("<|eot|>", "'<|eot|>'"), ("\udcff", r"'\udcff'")])
def test_a_special_token_that_the_tokenizer_does_not_have(name, shown):
    fails(
        call("encode", "-T", "a", *GPT2, "--special", name), f"{shown} is not a special token of this tokenizer",
        "it has <|endoftext|>",
    )  # fmt: skip


# -- patterns --------------------------------------------------------------------------------------

SYNTAX_HINT = "patterns are written in the syntax of Python's `regex` module; names: `bpe train --help --all`"
KEPT_AROUND = r"has a \K inside a look-around, where a match could begin before the one before it ends"
DEEP = "(" * 5000 + ")" * 5000


@pytest.mark.parametrize(
    ("pattern", "message", "hint"),
    [
        (
            "gtp2",
            "unknown pattern 'gtp2'",
            f"patterns are {', '.join(PATTERNS)}, none, or an expression in the syntax of the `regex` module",
        ),
        ("(a", "the pattern '(a' does not compile: missing ) at position 2", SYNTAX_HINT),
        (DEEP, f"the pattern '{DEEP[:57]}...' does not compile: it is too large or too deep", SYNTAX_HINT),
        (
            "(?r)a",
            "the pattern '(?r)a' searches backwards, and text is split from its beginning",
            "leave the flag (?r) out",
        ),
        (
            r"a|(?<=\Ka)b",
            f"the pattern 'a|(?<=\\\\Ka)b' {KEPT_AROUND}",
            "put \\K outside of (?=...), (?!...), (?<=...) and (?<!...)",
        ),
    ],
    ids=["name", "broken", "deep", "reversed", "kept-around"],
)
def test_patterns(tmp_path, pattern, message, hint):
    (tmp_path / "r.tiktoken").write_bytes(b"YQ== 0\nYg== 1\n")
    fails(run("train", "-T", "a", "-s", "300", "--pattern", pattern), message, hint)
    fails(call("encode", "-T", "a", "-t", "r.tiktoken", "--pattern", pattern, cwd=tmp_path), message, hint)


def test_a_pattern_for_a_tokenizer_that_has_one():
    fails(
        call("encode", "-T", "a", *GPT2, "--pattern", "o200k"),
        "gpt2 has a split pattern of its own; no pattern can be given with it",
    )


# -- training --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        (
            ("-T", "a", "-s", "10"),
            "a vocabulary of 10 is smaller than its initial tokens: 256 bytes",
            "ask for 256 or more, or for --initial-alphabet seen",
        ),
        (
            ("-T", "ab", "-s", "2", "--initial-alphabet", "seen", "--special", "<s>"),
            "a vocabulary of 2 is smaller than its initial tokens: 2 bytes and 1 special token",
            "ask for 3 or more",
        ),
        (("-T", "", "-s", "300"), "there is nothing to train on: the corpus has no text", None),
        (("-T", "a", "-s", "99999999"), "a vocabulary of 99999999 is larger than the 2,097,152 that fit", None),
        (("-T", "a", "-s", "300", "--special", "x", "--special", "x"), "the special token 'x' is given twice", None),
        (("-T", "a", "-s", "300", "--special", ""), "a special token needs a text", None),
        (("-s", "300", "--from-counts", "nosuch"), "cannot read nosuch: no such file", None),
    ],
)
def test_training(options, message, hint):
    fails(call("train", *options), message, hint)


@pytest.mark.parametrize(
    ("option", "message"),
    [(("--eot", "9" * 5000), "is neither a special token"), (("--add-special", "a=" + "9" * 5000), "is not TEXT=ID")],
    ids=["eot", "add-special"],
)
def test_ids_of_thousands_of_digits(option, message):
    """Python refuses to read such a number, with an exception of its own."""
    result = call("encode", "-T", "hi", "-t", "gpt2", *option)
    assert result.status == 2
    assert not result.out
    assert message in result.err


def test_what_is_quoted_is_not_put_into_options(tmp_path):
    """A text may have code in it, marked as messages of the library mark arguments."""
    assert call("train", "-T", "low", "-s", "4", "--initial-alphabet", "seen", "-o", "t.json", cwd=tmp_path).status == 0
    failed = call("encode", "-T", "low `text` low", "-t", "t.json", cwd=tmp_path)
    assert failed.err.startswith("error: --text, byte 3: byte 0x20 has no token in this tokenizer: 'low `text` low'\n")
    assert "or train with --initial-alphabet all, which has every byte\n" in failed.err
