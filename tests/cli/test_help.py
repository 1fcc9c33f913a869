"""``--help`` is short, ``--help --all`` whole; and both are the same however they are asked for."""

from __future__ import annotations

import re
from dataclasses import fields

import pytest

from bpe_cli.cli import argv_typer, help
from bpe_cli.cli.app import COMMANDS, load, root
from bpe_cli.cli.options import Option, choices_of, defaults_of, inner, parameters_of
from bpe_cli.sinks.dataset import DATASETS
from bpe_cli.stages.named_stages import NAMED, NORMALIZERS
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.trainers import ALGORITHMS, trainer_of
from tests.cli_runner import call, run, run_in_terminal

LINES = 45
WORD = r"(?:\w[\w-]*(?:\.\w+)*|\.\.\.)"
WIDE = {"COLUMNS": "80"}
MODULES = {name: load(name) for name in COMMANDS}


def shown(*words, columns="80"):
    result = call(*words, env={"COLUMNS": columns})
    assert (result.status, result.err) == (0, "")
    return result.text


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_it_is_short(command):
    lines = shown(*command.split(), "--help").splitlines()
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= 80
    assert 2 <= sum(line.startswith("  bpe ") for line in lines) <= 3
    assert len(lines) > 10


@pytest.mark.parametrize("command", COMMANDS)
def test_the_usual_options_are_at_most_twenty(command):
    common, parameters = MODULES[command].COMMON, parameters_of(MODULES[command].run)
    assert common.keys() <= parameters.keys()
    assert sum(isinstance(parameters[name][1], Option) for name in common) <= 20


@pytest.mark.parametrize("columns", ["80", "100", "50"])
@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_all_is_whole(command, columns):
    text = shown(*command.split(), "--help", "--all", columns=columns)
    parameters = parameters_of(root if not command else MODULES[command].run)
    written = " ".join(text.split())
    found = 0
    for _, declared in parameters.values():
        assert " ".join(declared.settings.get("help", "").replace("\\[", "[").split()) in written
        for name in declared.names if isinstance(declared, Option) else ():
            long = f"--[no-]{name.partition('/')[0][2:]}" if "/" in name else name
            assert re.search(rf"(^|[ ,]){re.escape(long)}([ ,\n]|$)", text), name
            found += 1
    assert found or command == "completions"
    assert "<bool>" not in text
    assert [line for line in text.splitlines() if len(line) > int(columns) and " " in line.strip()] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_choices_and_defaults_are_said(command):
    text = " ".join(shown(command, "--help", "--all").split())
    defaults = defaults_of(MODULES[command].run)
    for name, (kind, declared) in parameters_of(MODULES[command].run).items():
        for word in choices_of(inner(kind), declared) or ():
            assert re.search(rf"(?<![\w-]){re.escape(word)}(?![\w])", text), (name, word)
        if said := declared.settings.get("show_default"):
            assert f"[default: {said}" in text
        elif isinstance(defaults.get(name), int) and not isinstance(defaults[name], bool):
            assert f"[default: {defaults[name]}" in text


def test_the_choices_that_the_short_help_lists_are_those_that_there_are():
    """A list is whole, but for ``all``, or ends in an ellipsis; and a default among them is the option's."""
    listed = []
    for command in COMMANDS:
        parameters = parameters_of(MODULES[command].run)
        for name, brief in MODULES[command].COMMON.items():
            kind, declared = parameters[name]
            choices = {*(choices_of(inner(kind), declared) or ())}
            sequence = re.search(rf"{WORD}(?:(?:, | or ){WORD})+", brief)
            words = re.split(", | or ", sequence[0]) if sequence else []
            if choices & {*words}:
                listed.append((command, name))
                assert {*words} - {"..."} <= choices, brief
                assert words[-1] == "..." or choices - {"all"} <= {*words}, brief
            default = brief.rpartition(" [")[2].removesuffix("]")
            if default in choices:
                assert declared.settings["show_default"].split()[-1] == default
    assert {("train", "target"), ("encode", "to"), ("decode", "from_"), ("prepare", "to")} <= {*listed}


@pytest.mark.parametrize("command", ["encode", "train"])
@pytest.mark.parametrize("words", [(), ("--all",)])
def test_it_is_the_same_wherever_it_is_asked_for(command, words):
    """The last two lines are typer's to read."""
    text = shown(command, "--help", *words)
    assert shown(command, *words, "-h") == text
    assert shown(*words, command, "--help") == text
    assert shown(command, "-T", "hi", "--help", *words) == text
    assert shown(command, "--lines", *words, "-h", "in.txt") == text


def test_the_program_helps_too(capsys):
    text = shown("--help")
    assert call(env=WIDE) == (2, text.encode(), "")
    assert shown("-h") == text
    assert shown("--debug", "--help") == text
    assert argv_typer.run(["--help"], root, MODULES) == 0
    assert capsys.readouterr().out.rstrip("\n").startswith("Usage: bpe [OPTION]... COMMAND")


def test_all_alone_is_no_option():
    result = call("encode", "--all")
    assert (result.status, result.out) == (2, b"")
    assert "no such option: --all" in result.err


def test_a_value_is_no_question():
    assert call("encode", "-T", "--help", "-t", "gpt2", "--to", "tokens").text.split() == ["--", "help"]


def test_train_names_all_stages_and_which_algorithms_limit_tokens():
    """It named some of the stages as if they were all, and gave every algorithm a limit on the length of tokens."""
    parameters = parameters_of(MODULES["train"].run)
    help_of = {name: parameters[name][1].settings["help"] for name in parameters}
    for name, known in (("normalizer", NORMALIZERS), ("pre_tokenizer", NAMED), ("pattern", PATTERNS)):
        words = set(re.split(r"[\s,;:.]+", help_of[name]))
        assert {*known} - {*words} == set()
    with_limit, *_ = help_of["max_token_length"].partition(" The others")
    for name in ALGORITHMS:
        limited = "max_token_length" in {each.name for each in fields(trainer_of(name).Options)}
        assert (name in re.split(r"\W+", with_limit.partition(" and, with")[0])) == limited


def test_prepare_says_which_formats_have_which_columns():
    """It said that formats of numbers have all columns, and spans as well."""
    said = parameters_of(MODULES["prepare"].run)["columns"][1].settings["help"]
    tables = [name for name, kind in DATASETS.items() if "position_ids" in kind.all_columns]
    assert f"({', '.join(tables)}); or spans, in the other formats" in said
    assert all((name in tables) == ("spans" not in kind.all_columns) for name, kind in DATASETS.items())


def test_examples_can_be_copied():
    """What one line of the help begins with ``bpe`` is a line to type, whatever the screen."""
    for command in COMMANDS:
        _, _, examples = (MODULES[command].run.__doc__ or "").partition("[bold]Examples[/bold]")
        [*typed] = (line.strip() for line in examples.splitlines() if line.strip())
        for columns in ("70", "80", "100"):
            text = shown(command, "--help", "--all", columns=columns)
            block = text.partition("Examples:\n")[2].partition("\n\n")[0]
            assert [line.strip() for line in re.sub(r" \\\n +", " ", block).splitlines()] == typed


def test_headings_are_bold_in_a_terminal():
    status, text = run_in_terminal("encode", "--help", env={"COLUMNS": "80"})
    assert status == 0
    assert "\x1b[1mOptions:\x1b[0m" in text
    plain = re.sub(r"\x1b\[[01]m", "", text)
    assert plain == shown("encode", "--help")
    for term in ("dumb", "unknown"):
        assert "\x1b" not in run_in_terminal("encode", "--help", env={"TERM": term})[1]


@pytest.mark.parametrize("command", ["", "encode"])
def test_without_docstrings_it_has_what_is_declared(command):
    """As PYTHONOPTIMIZE=2 leaves them out."""
    result = run(*command.split(), "--help", "--all", env={"PYTHONOPTIMIZE": "2", **WIDE})
    assert (result.status, result.err) == (0, "")
    assert ("\nCommands:\n" in result.text, "\nOptions:\n" in result.text) == (not command, True)


def test_the_width_is_the_terminals():
    status, text = run_in_terminal("encode", "--help", "--all", env={"COLUMNS": None, "TERM": "dumb"})
    assert (status, text) == (0, shown("encode", "--help", "--all", columns="100"))
    assert run("encode", "--help", env={"COLUMNS": None}).text == shown("encode", "--help")
    assert shown("encode", "--help", columns="400") == shown("encode", "--help", columns="100")


def test_lines_of_words():
    assert list(help._folded("a bb ccc dddddddd e", 6, indent=1, hanging=2)) == [" a bb", "  ccc", "  dddddddd", "  e"]
