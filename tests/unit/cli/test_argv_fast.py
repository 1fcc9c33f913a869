"""The quick reader of command lines understands what typer does, of every line that it takes on.

``COMMAND_LINES=300000 pytest`` tries more of them.
"""

from __future__ import annotations

import functools
import os
import random
from types import NoneType, SimpleNamespace, UnionType
from typing import get_args, get_origin

import pytest
import typer

from bpe_cli.cli import app, argv_typer
from bpe_cli.cli.argv_fast import Unclear, answer, read
from bpe_cli.cli.options import Argument, Option, choices_of, parameters_of
from bpe_cli.errors import UsageError
from tests.cli_runner import call, error
from tests.thorough import more

LINES = int(os.environ.get("COMMAND_LINES", more("1000", "4000")))
TEXTS = (
    "",
    "-",
    "--",
    "text",
    "a b",
    "naïve 東京",
    "x=y",
    "=",
    "-5",
    "--lines",
    "-T",
    "\udcff",
    "a\x00b",
    "gpt2",
    "@f",
)
NUMBERS = (
    "0", "1", "2", "1024", "1025", "007", "-1", "+1", " 1", "1_0", "1.0", "1.5", ".5", "1.", "1e3", "nan", "inf", "٣",
    "²", "", "0.10", "9" * 17, "9" * 18, "9" * 19, "9" * 40, "0x10", "1,0", "00.5",
)  # fmt: skip
ODD = (
    "-h",
    "--help",
    "--version",
    "--nosuch",
    "--li",
    "-q-",
    "-qq",
    "-qT",
    "-Thi",
    "---",
    "-",
    "--",
    "",
    "-=",
    "--=",
    "--quiet=1",
)


class Runs:
    """Stand in for all commands, and note with what they are called."""

    def __init__(self) -> None:
        self.values: dict[str, object] | None = None
        commands = {name: self.load(name) for name in app.NAMES}
        self.application = typer.main.get_command(argv_typer._application(app.root, commands))

    def load(self, name: str) -> SimpleNamespace:
        module = real_load(name)

        @functools.wraps(module.run)
        def run(**values: object) -> None:
            self.values = flat(module.run, values)

        return SimpleNamespace(run=run, COMMON={}, EPILOG=module.EPILOG)

    def by_typer(self, name: str, words: list[str]) -> dict[str, object] | None:
        """Return what typer calls a command with; None if it does not."""
        self.values = None
        try:
            self.application.main([name, *words], prog_name="bpe", standalone_mode=False)
        except (typer.exceptions.TyperException, UsageError, UnicodeEncodeError):
            return None
        return self.values


def flat(run, values: dict[str, object]) -> dict[str, object]:
    """Return the values of all parameters, those of groups among them."""
    found = {}
    for name, value in values.items():
        kind = run.__annotations__[name]
        found |= (
            {each: getattr(value, each) for each in kind.__match_args__} if isinstance(kind, type) else {name: value}
        )
    return found


real_load = app.load


@pytest.fixture(scope="module")
def runs():
    return Runs()


def by_words(name: str, words: list[str]) -> dict[str, object] | None:
    try:
        return read(app.load(name).run, words, os.environ)
    except Unclear:
        return None


def some_value(kind: object, declared: Option | Argument, chance: random.Random) -> str:
    if isinstance(kind, UnionType):
        kind = next(each for each in get_args(kind) if each is not NoneType)
    if get_origin(kind) is list:
        kind = get_args(kind)[0]
    if chance.random() < 0.05:
        return chance.choice(TEXTS + NUMBERS)
    if kind in (int, float):
        return chance.choice(NUMBERS)
    choices = choices_of(kind, declared)
    if choices is not None:
        value = chance.choice(list(choices))
        return chance.choice((value, value, value, value, value.upper(), value[:-1], value + "x"))
    return chance.choice(TEXTS)


def some_words(name: str, chance: random.Random) -> list[str]:
    parameters = list(parameters_of(app.load(name).run).values())
    words: list[str] = []
    for _ in range(chance.randrange(7)):
        kind, each = chance.choice(parameters)
        if chance.random() < 0.04:
            words.append(chance.choice(ODD))
        elif not isinstance(each, Option):
            words.append(some_value(kind, each, chance))
        else:
            switch = chance.choice([one for names in each.names for one in names.split("/")])
            is_flag = kind is bool or bool in get_args(kind)
            if is_flag and chance.random() < 0.97:
                words.append(switch)
            elif chance.random() < 0.2:
                words.append(f"{switch}={some_value(kind, each, chance)}")
            elif chance.random() < 0.05:
                words.append(switch + some_value(kind, each, chance))
            else:
                words += [switch, some_value(kind, each, chance)]
    if name == "convert" and chance.random() < 0.9:
        words += ["gpt2", "-o", "out"]
    return words


def test_what_is_understood_is_what_typer_understands(runs, monkeypatch):
    chance = random.Random(6)
    understood = known = 0
    for number in range(LINES):
        name = chance.choice(app.NAMES)
        words = some_words(name, chance)
        threads = chance.choice((None, None, None, "", "2", "0", "x", "007"))
        if threads is None:
            monkeypatch.delenv("BPE_THREADS", raising=False)
        else:
            monkeypatch.setenv("BPE_THREADS", threads)
        found = by_words(name, words)
        known += (expected := runs.by_typer(name, words)) is not None
        if found is None:
            continue
        understood += 1
        kinds = {key: type(value) for key, value in found.items()}
        assert expected is not None, (number, name, words, threads)
        assert (found, kinds) == (expected, {key: type(value) for key, value in expected.items()}), (name, words)
    assert understood > LINES / 5
    assert understood > known * 0.8, "most of what typer takes is clear"


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("-T hi -t cl100k_base", {"text": "hi", "tokenizer": "cl100k_base"}),
        ("a.txt - --to count b.txt", {"inputs": ["a.txt", "-", "b.txt"], "to": "count"}),
        ("--special <a> --special=<b> -q", {"special": ["<a>", "<b>"], "quiet": True}),
        ("--text=-x -o - -- --lines", {"text": "-x", "output": None, "inputs": ["--lines"]}),
        ("--no-generation-prompt -j 2 -T -q", {"generation_prompt": False, "threads": 2, "text": "-q"}),
    ],
)
def test_worked_examples(runs, line, value):
    found = by_words("encode", line.split())
    assert found == runs.by_typer("encode", line.split())
    assert {name: found[name] for name in value} == value


@pytest.mark.parametrize(
    "line", ["-Thi", "-qT hi", "--help", "-h", "-T", "--nosuch", "-j 0", "-j=2", "--to IDS", "--quiet=1", "--tex hi"]
)
def test_what_is_unclear_is_left_to_typer(line):
    assert by_words("encode", line.split()) is None


ONE = "leave one of them out"


@pytest.mark.parametrize(
    ("command", "line", "option", "hint"),
    [
        ("encode", "-T a -T b", "-T", ONE),
        ("encode", "-Ta --text=a -q", "-T", ONE),
        ("encode", "a.txt -o x --to ids --output x", "-o", ONE),
        ("encode", "-T a -t gpt2 -t cl100k_base", "-t", ONE),
        ("encode", "-T a --to jsonl --with tokens --with spans", "--with",
         "give the names with commas: --with tokens,spans"),
        ("prepare", "a --columns attention_mask --columns position_ids", "--columns",
         "give the names with commas: --columns NAME,..."),
        ("prepare", "a --keep en --keep fr", "--keep", "give the names with commas: --keep NAME,..."),
        ("compare", "a --html a.html --html b.html", "--html", ONE),
        ("inspect", "a --html a.html --html b.html", "--html", ONE),
        ("inspect", "a --normalizer lowercase --normalizer nfc", "--normalizer",
         "give the names with commas: --normalizer NAME,..."),
        ("train", "a --counts-out a --counts-out b", "--counts-out", ONE),
        ("convert", "a -o b --allow-loss pattern --allow-loss special-tokens", "--allow-loss",
         "give the names with commas: --allow-loss NAME,..."),
        ("convert", "a -o b --merge c --merge d", "--merge", ONE),
    ],
)  # fmt: skip
def test_what_may_be_given_only_once(runs, command, line, option, hint):
    """The text, file or name before would be passed over in silence."""
    assert by_words(command, line.split()) is None
    assert runs.by_typer(command, line.split()) is None
    done = call(command, *line.split())
    assert done == (2, b"", error(f"{option} is given twice, but can be given only once", hint))


def test_the_last_of_other_options_counts(runs):
    """A hook has defaults, which who uses it replaces."""
    words = ["-T", "a", "--max-tokens", "1", "--max-tokens", "2"]
    assert by_words("encode", words) == runs.by_typer("encode", words)
    assert by_words("encode", words)["max_tokens"] == 2
    words = ["-T", "a", "--to", "text", "--keep", "head", "--keep", "tail"]  # one word, not several with commas
    assert by_words("encode", words)["keep"] == runs.by_typer("encode", words)["keep"] == "tail"


def test_a_flag_of_bpe_itself_is_answered():
    assert answer(app.root, "--version") is answer(app.root, "-V") is app.show_version
    assert answer(app.root, "--debug") is answer(app.root, "--help") is answer(app.root, "") is None
