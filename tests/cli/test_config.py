"""Defaults in [tool.bpe_cli] of pyproject.toml: what counts first, what is refused, what is said."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.cli import config
from bpe_cli.cli.app import NAMES, load
from bpe_cli.cli.options import Option, parameters_of
from tests.cli_runner import as_a_user, call, error, run
from tests.counted import at_least, compared

HI = ("encode", "-T", "hi")
GPT2, O200K = b"5303\n", b"3686\n"
NOTE = 'note: tokenizer = "gpt2", from pyproject.toml\n'


EACH_TIME = "what a run reads, writes and overwrites, and where it runs, belongs on the command line"


@pytest.fixture
def project(tmp_path):
    """Return a function that writes the file, and gives its folder."""

    def write(text: str, name: str = "tool.bpe_cli") -> Path:
        (tmp_path / "pyproject.toml").write_text(f"[project]\nname = 'x'\n\n[{name}]\n{text}\n", encoding="utf-8")
        return tmp_path

    return write


def test_a_tokenizer_for_the_project(project):
    folder = project('tokenizer = "gpt2"')
    assert call(*HI, cwd=folder) == (0, GPT2, NOTE)
    assert call(*HI, "-q", cwd=folder) == (0, GPT2, "")
    assert call("decode", "-", input=b"5303", cwd=folder) == (0, b"hi", NOTE)
    assert run(*HI, cwd=folder) == (0, GPT2, NOTE)


def test_the_command_line_comes_first_then_the_environment_then_the_file(project):
    folder = project('tokenizer = "gpt2"')
    variable = {"BPE_TOKENIZER": "o200k_base"}
    assert call(*HI, "-t", "o200k_base", cwd=folder) == (0, O200K, "")
    assert call(*HI, cwd=folder, env=variable) == (0, O200K, "")
    assert call(*HI, "-t", "gpt2", cwd=folder, env=variable) == (0, GPT2, "")
    assert call(*HI, "--no-config", cwd=folder) == (0, O200K, "")
    assert call("--no-config", *HI, cwd=folder) == (0, O200K, "")
    assert call(*HI, cwd=folder, env={"BPE_NO_CONFIG": "1"}) == (0, O200K, "")


def test_threads_too(project, monkeypatch):
    folder = project("threads = 2")
    seen = []
    monkeypatch.setattr("bpe_cli.cli.encode.run", taker(seen))
    for env, more in (({}, ()), ({"BPE_THREADS": "3"}, ()), ({"BPE_THREADS": "3"}, ("-j", "4"))):
        assert call("encode", *more, cwd=folder, env=env) == (0, b"", "")
    assert seen == [2, 3, 4]


def taker(seen: list[object]):
    """Return a stand-in for a command, which notes the threads that it gets."""
    from bpe_cli.cli import options

    def run(running: options.Running) -> None:
        seen.append(running.threads)

    run.__annotations__ = {"running": options.Running, "return": None}
    return run


def test_for_one_command(project):
    folder = project('to = "tokens"\n[tool.bpe_cli.decode]\nerrors = "replace"', "tool.bpe_cli.encode")
    assert call(*HI, "-t", "gpt2", cwd=folder) == (0, b"hi\n", 'note: to = "tokens", from pyproject.toml\n')
    assert call(*HI, "-t", "gpt2", "--to", "ids", cwd=folder) == (0, GPT2, "")
    assert call("decode", "-t", "gpt2", "-", input=b"158", cwd=folder).out == "\N{REPLACEMENT CHARACTER}".encode()


def test_a_commands_own_table_counts_more(project):
    folder = project('tokenizer = "gpt2"\n[tool.bpe_cli.encode]\ntokenizer = "o200k_base"')
    assert call(*HI, "-q", cwd=folder).out == O200K
    assert call("decode", "-", "-q", input=b"5303", cwd=folder).out == b"hi"


def test_what_changes_no_result_is_not_noted(project):
    assert call(*HI, cwd=project("threads = 1\nquiet = true\nblock-size = 4096")) == (0, O200K, "")
    folder = project("threads = 1\nprocesses = 1")
    (folder / "in.txt").write_text("low")
    prepared = call("prepare", "in.txt", "-t", "gpt2", "-o", "set", cwd=folder)
    assert prepared == (0, b"", "1 part, 1 document, 1 token -> set\n")
    counted = call("train", "in.txt", "--counts-dir", "counts", cwd=folder)
    assert (counted.status, "note: " in counted.err) == (0, False)


def test_a_file_cannot_silence_the_notes_on_itself(project):
    """Only the command line can: else a folder could enable special tokens, and its user would not see it."""
    folder = project('quiet = true\ntokenizer = "gpt2"\n[tool.bpe_cli.encode]\nspecial = ["all"]')
    words = ("encode", "-T", "hi<|endoftext|>")
    noted = 'note: special = ["all"], from pyproject.toml\n' + NOTE
    assert call(*words, cwd=folder) == (0, b"5303 50256\n", noted)
    glued = ("encode", "-Thi<|endoftext|>")  # typer reads these words
    assert call(*glued, cwd=folder) == (0, b"5303 50256\n", noted)
    assert call(*glued, "-q", cwd=folder) == (0, b"5303 50256\n", "")
    assert call(*words, "-q", cwd=folder) == (0, b"5303 50256\n", "")
    (folder / "in.txt").write_text("hi", encoding="utf-8")
    files = ("encode", "in.txt", "-o", "out.u16", "-t", "gpt2", "--special", "<|endoftext|>")
    assert call(*files, cwd=folder) == (0, b"", "")  # quiet all the same
    assert call(*files, "--no-config", cwd=folder).err != ""


def test_a_file_that_silences_notes_changes_no_output(project):
    folder = project("quiet = true")
    for name in ("a.txt", "b.txt"):
        (folder / name).write_text("hi")
    counts = ("encode", "a.txt", "b.txt", "--to", "count")
    assert call(*counts, cwd=folder) == (0, b"1 a.txt\n1 b.txt\n2 total\n", "")
    assert call(*counts, "-q", cwd=folder) == (0, b"1\n1\n", "")


def test_compare_has_tokenizers_of_its_own(project):
    folder = project('tokenizer = "gpt2"\n[tool.bpe_cli.compare]\ntokenizer = ["p50k_base", "o200k_base"]')
    result = call("compare", "-T", "hello", cwd=folder)
    assert result.status == 0
    assert "p50k_base" in result.text
    assert "cl100k_base" not in result.text
    assert result.err == 'note: tokenizer = ["p50k_base", "o200k_base"], from pyproject.toml\n'


def test_a_report_on_a_tokenizer_asks_for_no_other(project):
    folder = project('tokenizer = "gpt2"')
    assert call("inspect", "r50k_base", cwd=folder).err == ""
    assert call("inspect", "-T", "hi", cwd=folder).err == NOTE
    assert call("inspect", "-T", "hi", "--normalizer", "lowercase", cwd=folder).err == ""


@pytest.mark.parametrize("value", ["tok/gpt2.tiktoken", "./tok/gpt2.tiktoken"])
def test_a_path_is_from_the_files_folder(project, value):
    folder = project(f'tokenizer = "{value}"')
    (folder / "tok").mkdir()
    (folder / "deep" / "er").mkdir(parents=True)
    assert call("convert", "gpt2", "-o", "tok/gpt2.tiktoken", "-q", cwd=folder).status == 0
    for cwd, path in ((folder, value), (folder / "deep" / "er", f"../../{value}")):
        result = call(*HI, "--pattern", "gpt2", cwd=cwd)
        place = path.removesuffix(value) + "pyproject.toml"
        assert result == (0, GPT2, f'note: tokenizer = "{path}", from {place}\n')


def test_a_path_behind_a_label_is_from_the_files_folder_too(project):
    folder = project('tokenizer = ["mine=t.json", "gpt2"]\nbaseline = "mine"', "tool.bpe_cli.compare")
    (folder / "deep").mkdir()
    assert call("train", "-T", "low lower", "-s", "260", "-o", "t.json", "-q", cwd=folder).status == 0
    here, deep = (call("compare", "-T", "low", "--csv", "-q", cwd=each) for each in (folder, folder / "deep"))
    assert (here.status, here.err) == (0, "")
    assert deep == here
    assert ",mine," in here.text


def test_a_byte_order_mark_is_no_part_of_the_file(tmp_path):
    (tmp_path / "pyproject.toml").write_bytes(b'\xef\xbb\xbf[tool.bpe_cli]\r\ntokenizer = "gpt2"\r\n')
    assert call(*HI, cwd=tmp_path) == (0, GPT2, NOTE)


def test_a_file_that_may_not_be_read_has_a_way_around(project):
    folder = project('tokenizer = "gpt2"')
    (folder / "pyproject.toml").chmod(0)
    refused = error("cannot read pyproject.toml: permission denied", "--no-config runs without it")
    assert run(*HI, cwd=folder, **as_a_user()) == (2, b"", refused)
    assert run(*HI, "--no-config", cwd=folder, **as_a_user()) == (0, O200K, "")


def test_the_nearest_file_alone_counts(project):
    folder = project('tokenizer = "gpt2"')
    (folder / "inner" / "src").mkdir(parents=True)
    (folder / "inner" / "pyproject.toml").write_text("[project]\nname = 'inner'\n")
    assert call(*HI, cwd=folder / "inner" / "src") == (0, O200K, "")


def test_the_library_never_reads_it(project, monkeypatch):
    import bpe_cli

    monkeypatch.chdir(project('to = "tokens"'))
    (Path.cwd() / "in.txt").write_text("hi")
    bpe_cli.encode_files(bpe_cli.load("o200k_base"), ["in.txt"], "out.txt")
    assert (Path.cwd() / "out.txt").read_bytes() == O200K


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ('tokeniser = "gpt2"', "[tool.bpe_cli] tokeniser: there is no such option", "did you mean tokenizer or"),
        ("max_tokens = 3", "[tool.bpe_cli] max_tokens: there is no such option", None),
        ("threads = 'two'", "[tool.bpe_cli] threads: \"two\" is not an integer", None),
        ("threads = true", "[tool.bpe_cli] threads: true is not an integer", None),
        ("threads = 0", "[tool.bpe_cli] threads: 0 is not at least 1", None),
        ("lines = 1", "[tool.bpe_cli] lines: 1 is not true or false", None),
        ("to = 'idz'", '[tool.bpe_cli] to: there is no "idz"', "did you mean ids?"),
        ("special = 'all'", '[tool.bpe_cli] special: "all" is not a list', "for example: special = [...]"),
        ("text = 'hi'", "[tool.bpe_cli] text: this cannot be set in a file", EACH_TIME),
        ("output = 'x'", "[tool.bpe_cli] output: this cannot be set in a file", EACH_TIME),
        ("encode = 1", None, None),
        ("[tool.bpe_cli.encod]\nto = 'ids'", "[tool.bpe_cli.encod]: there is no such command",
         "did you mean encode or"),
        ("[tool.bpe_cli.encode]\nerrors = 'replace'", "[tool.bpe_cli.encode] errors: bpe encode has no such option",
         None),
    ],
)  # fmt: skip
def test_a_mistake_names_the_key_and_the_file(project, text, message, hint):
    result = call(*HI, cwd=project(text))
    assert (result.status, result.out) == (2, b"")
    assert result.err.startswith("error: pyproject.toml: ")
    if message is not None:
        assert result.err.partition("\n")[0] == f"error: pyproject.toml: {message}"
    if hint is not None:
        assert f"\n\nhint: {hint}" in result.err
    assert call("--version", cwd=project(text)).status == 0
    assert call(*HI, "--help", cwd=project(text)).status == 0
    assert call(*HI, "--no-config", cwd=project(text)) == (0, O200K, "")


def test_a_file_that_is_not_toml(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.bpe_cli]\ntokenizer = \n")
    result = call(*HI, cwd=tmp_path)
    assert result.status == 2
    assert result.err.startswith("error: pyproject.toml is not TOML: ")
    assert result.err.endswith("\nhint: --no-config runs without it\n")


def test_an_option_of_another_command_is_passed_over(project):
    assert call(*HI, "-t", "gpt2", cwd=project('errors = "replace"')) == (0, GPT2, "")


def test_wrong_words_are_still_explained(project):
    assert call("encode", "--nonsense", cwd=project('tokenizer = "gpt2"')) == (
        2, b"", error("no such option: --nonsense", "did you mean --seed?"),
    )  # fmt: skip


@pytest.mark.parametrize("command", NAMES)
def test_each_key_is_the_long_name_of_its_option(command):
    parameters = parameters_of(load(command).run)
    for key, name in config._keys_of(parameters).items():
        assert any(f"--{key}" in names.split("/") for names in parameters[name][1].names), key
    assert len(config._keys_of(parameters)) == sum(isinstance(each, Option) for _, each in parameters.values())


MAY_BE_SET = """
algorithm vocab-size special split-special min-frequency initial-alphabet max-token-length superwords switch compat
set steps full json target format normalizer pre-tokenizer pattern prefix-space part-size part processes max-memory
weight alpha sample seed parity ratio window d-model markdown plot lines jsonl plain field member threads block-size
quiet tokenizer bos eot add-special add-special-tokens inference to with max-tokens chat generation-prompt date
separator glossary vocabulary-threshold size overlap break truncate keep dropout dropout-mode nbest from dtype
errors ids spans scores table stages token residues documents section color baseline fewest metric speed probe
pivot diff diff-limit latex csv fail-if max-regression allow-loss prune-to split-residues add replace columns
positions mask val max-length split pack fit pad shuffle on-error finish check deep dry-run progress
"""
"""The options that a file may set: whoever adds one decides whether it belongs here."""


@pytest.mark.parametrize("command", NAMES)
def test_a_file_sets_these_options_and_no_others(command, project):
    may = set(MAY_BE_SET.split()) | (
        {"pairs"} if command in ("train", "inspect") else set()
    )  # of bpe compare it is a folder
    for key in config._keys_of(parameters_of(load(command).run)):
        # A text, as ``inspect`` without one examines a whole vocabulary.
        text = ("-T", "x") if command == "inspect" else ()
        result = call(command, *text, cwd=project(f"{key} = []", f"tool.bpe_cli.{command}"))
        refused = error(f"pyproject.toml: [tool.bpe_cli.{command}] {key}: this cannot be set in a file", EACH_TIME)
        assert ((result.status, result.err) == (2, refused)) == (key not in may), key
        assert result.status in (0, 2), f"{key}: {result.err}"


@pytest.mark.parametrize(
    ("words", "setting", "message"),
    [
        ("decode", 'from = ["ids"]', 'from: there is no ["ids"]'),
        ("convert", 'format = ["gguf"]', 'format: there is no ["gguf"]'),
        ("encode", "to = {a = 1}", "to: there is no {'a': 1}"),
        ("encode", f"dropout = 1{'0' * 400}", "dropout: the number is too large"),
        ("encode", f"max-tokens = 0x{'f' * 5000}", "max-tokens: the number is too large"),
        ("encode", f"lines = {2**64}", "lines: the number is too large"),
        ("encode", f"glossary = [{2**64}]", "glossary: the number is too large"),
    ],
)
def test_a_value_that_no_option_has(words, setting, message, project):
    table = f"tool.bpe_cli.{words}"
    result = call(words, cwd=project(setting, table))
    assert (result.status, result.out) == (2, b"")
    assert result.err.partition("\n")[0] == f"error: pyproject.toml: [{table}] {message}"


@pytest.mark.parametrize("setting", [f"x = {'9' * 5000}", f"[project.x]\ny = -{'9' * 5000}"])
def test_an_integer_that_python_does_not_read(setting, project):
    told = error("pyproject.toml: an integer has too many digits", "--no-config runs without it")
    assert call(*HI, cwd=project(setting)) == (2, b"", told)


@pytest.mark.parametrize(
    ("when", "env", "colored"),
    [
        ("always", {}, True),
        ("always", {"NO_COLOR": "1"}, False),
        ("always", {"NO_COLOR": ""}, True),
        ("never", {"FORCE_COLOR": "1"}, True),
        ("never", {"FORCE_COLOR": ""}, False),
    ],
)
def test_the_environments_colours_come_before_the_files(when, env, colored, project):
    shown = call("inspect", "-T", "hi there", "-t", "gpt2", cwd=project(f'color = "{when}"'),
                 env={"NO_COLOR": None} | env)  # fmt: skip
    assert (shown.status, shown.err, "\x1b[" in shown.text) == (0, "", colored)


def test_a_tokenizer_without_a_name_is_not_the_usual_one(project):
    result = call(*HI, cwd=project('tokenizer = ""'))
    assert (result.status, result.out) == (2, b"")
    assert "error: the name of a tokenizer is empty\n" in result.err


@pytest.mark.parametrize(
    ("words", "table"),
    [
        (("inspect", "-T", "hello", "-t", "gpt2"), 'svg = ["evil.svg"]'),
        (("train", "-s", "260", "-o", "t.json"), 'language = ["x=a.txt"]'),
        (("train", "a.txt", "-s", "260", "-o", "t.json"), 'set = ["name=@a.txt"]'),
        (("compare", "-T", "hello"), 'against = "a.txt"'),
        (("prepare", "a.txt", "-o", "out"), 'engine = "ray://127.0.0.1:1"'),
        (("encode", "--chat", "a.txt"), 'chat-template = "a.txt"'),
    ],
)
def test_a_run_touches_only_what_its_command_line_names(words, table, project):
    folder = project(table, f"tool.bpe_cli.{words[0]}")
    (folder / "a.txt").write_text("low\nlower\n")
    result = call(*words, cwd=folder)
    assert (result.status, result.out) == (2, b"")
    assert "this cannot be set in a file" in result.err
    assert sorted(path.name for path in folder.iterdir()) == ["a.txt", "pyproject.toml"]


KEYS = st.sampled_from(["tool", "bpe_cli", '"bpe_cli"', "x", "tool.bpe_cli", "tool . 'bpe_cli'", '"bpe\\u005fcli"'])
VALUES = st.sampled_from(
    ["1", '"bpe_cli"', '["bpe_cli"]', "{ bpe_cli = 1 }", "{ bpe_cli.x = 1 }", '{"bpe\\u005fcli" = 1}']
)
LINES = st.lists(st.tuples(KEYS, VALUES).map(" = ".join) | KEYS.map("[{}]".format) | st.just("# bpe_cli"), max_size=2)


@at_least(12)
@given(LINES)
def test_no_table_is_overlooked(lines):
    import tomllib

    text = "\n".join(lines)
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    tool = found.get("tool")
    compared()
    assert config._may_hold(text.encode()) or not (isinstance(tool, dict) and "bpe_cli" in tool)


def test_defaults_that_a_run_has_no_use_for_are_no_mistake(project):
    """What a project's file sets is for those runs that use it; the same on the command line is refused."""
    folder = project('seed = 7\n[tool.bpe_cli.train]\njsonl = true\nfield = "body"\n'
                     '[tool.bpe_cli.compare]\npivot = "en"\ndiff-limit = 5\n')  # fmt: skip
    (folder / "x.jsonl").write_text('{"body": "low lower"}\n')
    assert call(*HI, "-t", "gpt2", cwd=folder).status == 0
    assert call("train", "x.jsonl", "--counts-dir", "counts", cwd=folder).status == 0
    assert call("train", "--counts-dir", "counts", "-s", "258", "-o", "t.json", cwd=folder).status == 0
    assert call("train", "x.jsonl", "--counts-out", "x.counts", cwd=folder).status == 0
    assert call("train", "--from-counts", "x.counts", "-s", "258", "-o", "t.json", cwd=folder).status == 0
    assert call("compare", "-T", "hi", "-t", "t.json", "-t", "t.json", "--ids", cwd=folder).status == 0
    for words in ((*HI, "-t", "gpt2", "--seed", "8"), ("train", "--counts-dir", "counts", "-s", "258", "--lines")):
        assert call(*words, cwd=folder).status == 2
