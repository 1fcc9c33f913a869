"""``bpe`` itself: help, versions, and what is said about a command line that cannot be."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from bpe_cli.cli import other_names
from bpe_cli.cli.app import load
from bpe_cli.cli.options import Option, parameters_of
from tests.cli_runner import SCRIPT, call, error, run, surroundings

COMMANDS = ("train", "encode", "decode", "inspect", "compare", "convert", "prepare", "completions")

OPTIONS = {
    command: {
        name for _, each in parameters_of(load(command).run).values() if isinstance(each, Option) for name in each.names
    }
    for command in COMMANDS
}
"""The options of each command, by all their names."""

KINDS = (
    "'wordpiece', 'unigram', 'mingram', 'picky', 'scaffold', 'greedtok', "
    "'char', 'word', 'ngram', 'byte', 'maxmatch', 'list'"
)


def test_no_arguments_show_the_help():
    result = run()
    assert (result.status, result.err) == (2, "")
    assert result.out.strip() == run("--help").out.strip()
    assert "Train, run, inspect, compare and convert tokenizers." in result.text


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_version(option):
    result = call(option)
    assert (result.status, result.err) == (0, "")
    assert re.fullmatch(
        r"bpe \d+\.\d+\.\d+\w* \(Unicode \d+\.\d+\.\d+, regex [\d.]+, Python \d+\.\d+\.\d+\)\n", result.text
    )


def test_module_and_script_are_one_program():
    command = [sys.executable, "-m", "bpe_cli", "encode", "-T", "hi"]
    done = subprocess.run(command, capture_output=True, env=surroundings(None), check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"3686\n", b"")
    if SCRIPT.exists():
        assert run("encode", "-T", "hi") == (0, b"3686\n", "")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_leads_with_examples(command):
    result = call(command, "--help")
    assert (result.status, result.err) == (0, "")
    assert result == call(command, "-h")
    text = result.text
    _, usage, text = text.partition(f"Usage: bpe {command} ")
    _, examples, text = text.partition("\nExamples:\n")
    assert (bool(usage), bool(examples)) == (True, True)
    assert 0 <= text.index(f"  bpe {command} ") < text.index("\nArguments:\n")


def test_the_help_lists_every_command():
    listed = re.findall(r"^  ([a-z]+) +[A-Z]", call("--help").text, re.MULTILINE)
    assert listed == list(COMMANDS)


def test_a_file_in_place_of_a_command(tmp_path):
    (tmp_path / "a.txt").write_text("low")
    assert call("a.txt", "-q", cwd=tmp_path) == (
        2, b"", error("there is no command before a.txt", "`bpe encode a.txt -q` does it")
    )  # fmt: skip


def test_other_tools_names_are_none_of_ours_and_what_they_are_called_here_is():
    for name, (command, options) in other_names.COMMANDS.items():
        assert name not in COMMANDS
        assert command in COMMANDS
        assert {word for word in options.split() if word.startswith("-")} <= OPTIONS[command]
    for name, template in other_names.TEMPLATES.items():
        command, *words = template.split()
        assert name not in {*COMMANDS, *other_names.COMMANDS}
        assert {word for word in words if word.startswith("-")} <= OPTIONS[command]
    for commands, names in other_names.OPTIONS.items():
        for theirs, ours in names.items():
            for command in commands:
                assert not {f"--{name}" for name in theirs} & OPTIONS[command], command
                assert {word.strip(",") for word in ours.split() if word.startswith("-")} <= OPTIONS[command], command
    for (command, option), values in other_names.VALUES.items():
        said = call(command, option, "xyz").err
        assert "is not one of" in said
        for theirs, ours in values.items():
            of = "prepare" if ours.startswith("bpe prepare ") else command
            assert {word.strip(",") for word in ours.split() if word.startswith("-")} <= OPTIONS[of]
            assert f"'{theirs}'" not in said


def test_templates_in_hints_work(tmp_path):
    """With something in place of the words in capital letters."""
    (tmp_path / "in").write_text("low lower lowest newest\n" * 9)
    for name, size in (("a.json", "262"), ("b.json", "260")):
        assert call("train", "in", "-s", size, "-o", name, "-q", cwd=tmp_path).status == 0
    names = {"A": "a.json", "B": "b.json", "CORPUS": "in", "TEXT": "in", "OUT": "c.json", "CODES": "codes"}
    for name in sorted(other_names.TEMPLATES, key="learn-bpe".__ne__):  # that one makes the codes
        template = re.fullmatch(".*\n\nhint: here it is `bpe (.*)`\n", call(name, "-x", "y", cwd=tmp_path).err)[1]
        names["N"] = "264" if name == "extend" else "260"
        words = [names.get(word, word.replace("merges=N", "merges=9")) for word in template.split()]
        done = call(*words, "-q", input=b"low lower lowest\n" * 3, cwd=tmp_path)
        assert done.status == 0, f"{name}: {done.err}"
        (tmp_path / "c.json").unlink(missing_ok=True)


@pytest.mark.parametrize("name", sorted(other_names.COMMANDS.keys() - {"play"}))  # that one waits for a browser
def test_commands_in_hints_work(tmp_path, name):
    (tmp_path / "in").write_text("low lower")
    (tmp_path / "ids").write_text("1 2\n")
    asked = {"decode": "ids", "train": "in -s 260", "verify": "gpt2 gpt2 -T low"}
    words = asked.get(name, asked.get(other_names.COMMANDS[name][0], "in")).split()
    line = re.fullmatch(".*\n\nhint: `bpe (.*)` does it\n", call(name, *words, cwd=tmp_path).err)[1]
    assert call(*line.split(), "-q", cwd=tmp_path).status == 0


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (("nosuch",), "no such command 'nosuch'", "bpe --help explains it"),
        (("inspct",), "no such command 'inspct'", "did you mean inspect?"),
        (
            ("count", "a b.txt", "-t", "gpt2"),
            "there is no command 'count'",
            "`bpe encode 'a b.txt' -t gpt2 --to count` does it",
        ),
        (("chunk", "x"), "there is no command 'chunk'", "`bpe encode x --to chunks --size 256` does it"),
        (("truncate",), "there is no command 'truncate'", "`bpe encode --to text --truncate 256` does it"),
        (("verify", "a", "b"), "there is no command 'verify'", "`bpe compare a b --ids` does it"),
        (("play",), "there is no command 'play'", "`bpe inspect --live` does it"),
        (
            ("apply_bpe", "-c", "x"),
            "there is no command 'apply_bpe'",
            "here it is `bpe encode -t CODES --to segmented`",
        ),
        (
            ("hello it's", "-t", "gpt2"),
            """there is no command before 'hello it'"'"'s'""",
            """`bpe encode -T 'hello it'"'"'s' -t gpt2` does it""",
        ),
        (("a\nb",), "there is no command before 'a⏎b'", "`bpe encode -T 'a⏎b'` does it"),
        (("C:\\x",), r"no such command 'C:\\x'", "bpe --help explains it"),
        (("caf\udce9",), r"no such command 'caf\udce9'", "bpe --help explains it"),
        (("train", "--vocab_size", "9"), "no such option: --vocab_size", "did you mean --vocab-size?"),
        (
            ("train", "--num-merges", "9"),
            "no such option: --num-merges",
            "here it is -s, which counts the tokens before the first merge too",
        ),
        (("encode", "--encoding", "gpt2"), "no such option: --encoding", "here it is -t"),
        (("encode", "-m", "gpt-4"), "no such option: -m", "here it is -t"),
        (("decode", "-i", "x"), "no such option: -i", "inputs are named without an option"),
        (("encode", "--decode"), "no such option: --decode", "here it is bpe decode"),
        (("encode", "--encode"), "no such option: --encode", "here it is --to ids"),
        (("encode", "--allow-special"), "no such option: --allow-special", "here it is --special all"),
        (("encode", "--num_proc", "4"), "no such option: --num_proc", "here it is -j"),
        (("convert", "gpt2", "--to", "gguf"), "no such option: --to", "here it is --format"),
        (("decode", "--input", "x"), "no such option: --input", "inputs are named without an option"),
        (
            ("train", "-a", "SentencePiece"),
            "invalid value for '--algorithm' / '-a': there is no 'SentencePiece'",
            "here it is -a bpe or -a unigram with --compat sentencepiece",
        ),
        (
            ("train", "-a", "BPE"),
            "invalid value for '--algorithm' / '-a': there is no 'BPE'",
            "did you mean bpe or bbpe?",
        ),
        (
            ("encode", "--to", "parquet"),
            "invalid value for '--to': there is no 'parquet'",
            "here it is bpe prepare --to parquet",
        ),
        (("--nosuch",), "no such option: --nosuch", "bpe --help explains it"),
        (("encode", "--linse"), "no such option: --linse", "did you mean --lines or --plain or --size?"),
        (("encode", "-T"), "option '-T' requires an argument", "bpe encode --help explains it"),
        (("train", "x", "-s"), "option '-s' requires an argument", "bpe train --help explains it"),
        (
            ("train", "-T", "x", "-s", "0"),
            "--vocab-size 0 is neither a whole number above 0 nor several separated by commas",
            "for example: -s 32000, or -s 8000,16000,32000",
        ),
        (("train", "-a", "gru"), "'gru' is not one of 'bbpe', 'bpe', " + KINDS, "bpe train --help explains it"),
        (
            ("encode", "--to", "xml"),
            (
                "invalid value for '--to': 'xml' is not one of "
                "'ids', 'tokens', 'jsonl', 'npy', 'bin', 'count', 'segmented', 'chunks', 'text'"
            ),
            "bpe encode --help explains it",
        ),
        (
            ("decode", "--errors", "lax"),
            "invalid value for '--errors': 'lax' is not one of 'strict', 'replace', 'ignore'",
            "bpe decode --help explains it",
        ),
        (
            ("convert", "gpt2", "-o", "x", "--format", "toknizer"),
            "invalid value for '--format' / '-f': there is no 'toknizer'",
            "did you mean tokenizer.json?",
        ),
        (("convert", "gpt2"), "missing option '--output' / '-o'", "bpe convert --help explains it"),
        (("convert",), "missing argument 'SOURCE'", "bpe convert --help explains it"),
        (
            ("convert", "a", "b", "-o", "c"),
            "got unexpected extra argument(s) (b)",
            "bpe convert --help explains it",
        ),
        (("train", "-T", "x"), "how many tokens? --vocab-size is missing", "32000 is usual for one language: -s 32000"),
        (
            ("train", "-T", "x", "-s", "300", "--from-counts", "c"),
            "--from-counts replaces the corpus: give one or the other",
            None,
        ),
        (("encode", "--lines", "--jsonl"), "--lines and --jsonl cannot be used together", None),
        (
            ("encode", "x", "-T", "y"),
            "a text and files cannot be used together",
            "drop --text, or the names of the files",
        ),
        (("encode", "-", "-"), "- is given twice, but stdin can be read only once", None),
        (
            ("encode", "-T", "x", "--special", "all", "--special", "y"),
            "--special all excludes other special tokens",
            None,
        ),
        (("encode", "-T", "x", "--with", "tokens,ids"), "--with knows tokens and spans, not ids", None),
        (
            ("encode", "-T", "x", "--with", "spans"),
            "tokens and spans go into jsonl only, not into ids",
            "use --to jsonl",
        ),
        (
            ("encode", "-T", "x", "--to", "bin", "--eot", "<eos>"),
            "--eot '<eos>' is neither a special token of this tokenizer nor one of its ids",
            "its special tokens are <|endoftext|>, <|endofprompt|>",
        ),
    ],
)
def test_usage(arguments, message, hint):
    result = call(*arguments)
    assert (result.status, result.out) == (2, b"")
    if message.startswith(("input", "'gru'")):  # what the parser puts before is its own
        assert result.err.endswith(f": {message}\n\nhint: {hint}\n")
        assert result.err.startswith("error: invalid value for '--")
    else:
        assert result.err == error(message, hint)


@pytest.mark.parametrize(
    ("words", "first", "second"),
    [
        ("encode --chat -t gpt-4 --tools -", "the input", "the list of tools"),
        ("inspect --chat - -t gpt-4 --tools -", "the input", "the list of tools"),
        ("encode --chat -t gpt-4 x.json --tools - --chat-template -", "the chat template", "the list of tools"),
        ("compare - --words -", "the input", "the words of --words"),
        ("compare - --parallel -", "the input", "the parallel texts"),
        ("compare --parallel en=- --words -", "the parallel texts", "the words of --words"),
    ],
)
def test_stdin_is_read_by_one_alone(words, first, second):
    message = f"{first} and {second} would both be read from stdin, which can be read only once"
    assert call(*words.split(), input=b"hi") == (2, b"", error(message, "name a file for one of them"))


def test_stdin_has_other_names():
    for other in ("/dev/stdin", "/dev/fd/0"):
        result = run("encode", "-", other, "--to", "count", input=b"hi")
        assert result == (2, b"", error(f"- and {other} are both stdin, which can be read only once"))
        assert run("encode", other, "--to", "count", input=b"hi").out == b"1\n"


def test_debug_shows_where_an_error_comes_from():
    quiet = run("encode", "nosuch.txt")
    assert quiet.status == 2
    for arguments in (("--debug", "encode", "nosuch.txt"), ("encode", "nosuch.txt", "--debug")):
        result = run(*arguments)
        assert (result.status, result.out) == (2, b"")
        assert result.err.startswith("Traceback (most recent call last):\n")
        assert result.err.endswith(quiet.err)
    assert run("encode", "--", "--debug").err == error(
        "cannot read --debug: no such file", "--text takes a text itself"
    )


@pytest.mark.parametrize("text", ["--debug", "--no-config", "--all", "--help", "-h", "--"])
def test_a_value_that_looks_like_an_option_stays_a_value(text, tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.bpe_cli.encode]\nto = 'tokens'\n")
    note = 'note: to = "tokens", from pyproject.toml\n'
    for words in (("encode", "-T", text), ("encode", "--text", text), ("encode", "-t", "gpt2", "-T", text)):
        assert call(*words, cwd=tmp_path).text.replace(" ", "") == f"{text}\n"
        assert call(*words, cwd=tmp_path).err == note
        assert call(*words, "--debug", "-q", cwd=tmp_path).text.replace(" ", "") == f"{text}\n"
        assert call(*words, "--to", "ids", "--no-config", cwd=tmp_path).err == ""
    assert call("encode", "-qT", text, cwd=tmp_path).text.replace(" ", "") == f"{text}\n"
    assert call("encode", "-qT", text, "--help", "--all", cwd=tmp_path).out == call("encode", "--help", "--all").out


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("encode", "-T", "a"), "try a smaller --block-size, or fewer --threads"),
        (("inspect", "-T", "a"), "try smaller inputs, or one at a time"),
    ],
)
def test_the_way_out_of_memory_is_one_that_the_command_has(words, hint, monkeypatch):
    def fail(*_):
        raise MemoryError

    monkeypatch.setattr("bpe_cli.jobs.tokenizers.TokenizerChoice.load", fail)
    assert call(*words) == (2, b"", error("there is not enough memory", hint))
