"""What a shell is answered at a Tab, and the shells themselves."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.cli import completing
from bpe_cli.cli.app import COMMANDS, load, root
from bpe_cli.cli.completions import SCRIPTS
from bpe_cli.cli.options import Option, parameters_of
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.tokenizer.named_encodings import ENCODINGS, MODELS, encoding_of
from bpe_cli.trainers import ALGORITHMS
from tests.cli_runner import call, error, run, surroundings
from tests.needs import NO_TERMINAL, posix, skip

RUNS = {name: load(name).run for name in COMMANDS}


def answer(*words: str, shell: str = "zsh") -> list[str]:
    """Return the words that a shell is offered, without their meanings."""
    return [line.partition("\t")[0] for line in completing.answer(shell, words, root, RUNS)]


@pytest.mark.parametrize("option", ["-t", "--tokenizer"])
def test_tokenizers(option):
    offered = answer("encode", option, "gp")
    assert offered[-1] == ":files"
    assert {"gpt2", "gpt-4o", "gpt-4"} <= {*offered}
    assert all(name.startswith("gp") and encoding_of(name) for name in offered[:-1])
    assert {*answer("inspect", option, "")} == {*ENCODINGS, *MODELS, ":files"}


def test_patterns_and_algorithms():
    assert answer("train", "--pattern", "g") == [name for name in PATTERNS if name.startswith("g")] != []
    assert answer("train", "-a", "w") == ["wordpiece", "word"]
    assert answer("train", "-a", "") == list(ALGORITHMS)


def test_commands_come_first():
    assert answer("") == list(COMMANDS)
    assert answer("co") == ["compare", "convert", "completions"]
    assert answer("--ve") == ["--version"]
    assert answer("nonsense", "") == []


def test_words_are_offered_as_they_are_written():
    assert answer("encode", "--to", "np") == ["npy"]
    assert answer("encode", "--to=np") == ["--to=npy"]
    assert answer("encode", "-o", "") == answer("encode", "") == answer("encode", "--", "-x") == [":files"]
    assert answer("compare", "--svg", "") == answer("inspect", "--png", "") == [":files"]
    assert answer("encode", "-T", "") == answer("encode", "--max-tokens", "") == []
    assert answer("encode", "--bos", "") == ["auto"]
    assert answer("completions", "z") == ["zsh"]
    assert answer("encode", "-qt", "gp") == answer("encode", "-t", "gp")
    assert answer("encode", "-qtgpt2", "") == answer("encode", "-qq", "") == [":files"]


def test_options_are_offered_once():
    assert "--tokenizer" in answer("encode", "--")
    assert answer("encode", "-t", "gpt2", "--tok") == []
    assert answer("encode", "--tokenizer=gpt2", "--tok") == []
    assert answer("compare", "-t", "gpt2", "--tok") == ["--tokenizer"]  # one can have several
    assert "--no-generation-prompt" in answer("encode", "--no")
    assert not [word for word in answer("encode", "--") if not word.startswith("--")]


def test_lists_go_on_behind_the_comma():
    assert answer("train", "--normalizer", "nfd,low") == ["nfd,lowercase"]


def test_bash_divides_words_at_equals_signs_and_colons():
    assert answer("encode", "--to", "=", "np", shell="bash") == ["npy"]
    assert {*answer("encode", "--to", "=", shell="bash")} > {"npy", "ids"}
    assert answer("encode", "-t", "ft", ":", "x", shell="bash") == [":files"]


def test_meanings_stand_behind_a_tab():
    lines = completing.answer("fish", ["train", "-a", "wordp"], root, RUNS)
    assert lines == ["wordpiece\tBERT's pieces of words"]
    assert completing.answer("bash", ["train", "-a", "wordp"], root, RUNS) == ["wordpiece"]
    assert completing.answer("complete_bash", ["train", ""], root, RUNS) == []  # of a script that typer made


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_offered(command):
    declared = {
        switch
        for _, each in parameters_of(RUNS[command]).values()
        if isinstance(each, Option)
        for names in each.names
        for switch in names.split("/")
    }
    assert {*answer(command, "-")} == declared | {"--help"}


WORDS = st.sampled_from(
    [
        "-t",
        "--to",
        "--to=",
        "=",
        ":",
        "--",
        "-",
        "",
        "gpt2",
        "--pattern",
        "-a",
        "--metric",
        "--nonsense",
        "x,y",
        "é",
        "\n",
    ]
)


@given(
    st.sampled_from(("", *COMMANDS)),
    st.lists(WORDS | st.text(max_size=3), max_size=5),
    st.sampled_from(["zsh", "bash"]),
)
def test_whatever_stands_there_the_answer_goes_on_with_it(command, words, shell):
    words = [command, *words] if command else words
    for word in answer(*words, shell=shell):
        cut = completing._joined(words)[1] if shell == "bash" else 0
        last = (completing._joined(words)[0] if shell == "bash" else words)[-1:] or [""]
        assert word == ":files" or word.startswith(last[0][cut:])


def test_the_program_answers_by_itself():
    result = run("train", "-a", "w", env={"_BPE_COMPLETE": "zsh"})
    assert result == (0, b"wordpiece\tBERT's pieces of words\nword\twords\n", "")
    assert run("encode", "--nonsense", "--debug", "", env={"_BPE_COMPLETE": "fish"}).status == 0


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("encode", "--debug"), ""),  # which is complete
        (("encode", "--no-config"), ""),
        (("--debug",), "--debug\n"),
        (("encode", "--debug", "--lin"), "--lines\n"),
        (("--no-config", "enc"), "encode\n"),
    ],
)
def test_a_word_that_may_stand_anywhere_is_completed_too(words, offered):
    assert call(*words, env={"_BPE_COMPLETE": "bash"}) == (0, offered.encode(), "")


@pytest.mark.parametrize("shell", ["", "1", "csh"])
def test_a_variable_that_names_no_shell_asks_nothing(shell):
    assert call("encode", "-T", "hi", env={"_BPE_COMPLETE": shell}) == (0, b"3686\n", "")


@pytest.mark.parametrize("shell", SCRIPTS)
def test_the_command_prints_the_script_of_the_shell(shell):
    assert call("completions", shell) == (0, SCRIPTS[shell].encode(), "")


def test_other_shells_have_none():
    result = call("completions", "csh")
    assert (result.status, result.out) == (2, b"")
    assert "there is no 'csh'" in result.err
    assert call("completions") == (2, b"", error("no shell is named", "bpe completions bash, zsh or fish"))


# -- in the shells ---------------------------------------------------------------------------------


@pytest.fixture
def desk(tmp_path) -> Path:
    """Return a folder with files to offer, and a program ``bpe``."""
    for name in ("gpx.json", "with blank.txt", "text.txt"):
        (tmp_path / name).write_text("x")
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "bpe"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m bpe_cli "$@"\n')
    program.chmod(0o755)
    return tmp_path


def environment(desk: Path) -> dict[str, str]:
    here = Path(__file__).resolve().parent.parent.parent
    path = f"{desk / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return surroundings({"PATH": path, "PYTHONPATH": str(here), "HOME": str(desk), "TERM": "dumb"})


def shell_of(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        skip(f"needs {name}, which is not installed")
    return found


LINES = {
    "bpe encode -t gpt-4": {"gpt-4", "gpt-4o", "gpt-4.1"},
    "bpe encode -t gp": {"gpt2", "gpt-4o", "gpx.json"},
    "bpe train --pattern g": {"gpt2"},
    "bpe train -a w": {"word", "wordpiece"},
    "bpe convert with": {"with blank.txt"},
    "bpe encode --to=np": {"npy"},
    "bpe comp": {"compare", "completions"},
}


@pytest.mark.parametrize("line", LINES)
def test_in_bash(desk, line):
    bash = shell_of("bash")
    # As readline does: the words are divided at COMP_WORDBREAKS, and `complete` says whom to call.
    words = line.replace("=", " = ").split()
    script = (
        'eval "$(bpe completions bash)"\n'
        f"COMP_WORDS=({shlex.join(words)}); COMP_CWORD={len(words) - 1}\n"
        "function=$(complete -p bpe | sed 's/.*-F \\([^ ]*\\).*/\\1/')\n"
        '"$function" bpe\nprintf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run([bash, "-c", script], env=environment(desk), cwd=desk, capture_output=True, text=True,
                          check=True)  # fmt: skip
    assert (LINES[line] <= {*done.stdout.splitlines()}, done.stderr) == (True, "")


@pytest.mark.parametrize("line", LINES)
def test_in_fish(desk, line):
    fish = shell_of("fish")
    script = f"bpe completions fish | source; complete -C {shlex.quote(line)}"
    done = subprocess.run([fish, "--no-config", "-c", script], env=environment(desk), cwd=desk, capture_output=True,
                          text=True, check=True)  # fmt: skip
    offered = {each.partition("\t")[0].replace("\\ ", " ").removeprefix("--to=") for each in done.stdout.splitlines()}
    assert LINES[line] <= offered


@pytest.mark.parametrize("line", LINES)
def test_in_zsh(desk, line):
    """zsh completes in its line editor alone: a terminal is typed into."""
    zsh = shell_of("zsh")
    pty = posix("pty", NO_TERMINAL)
    (desk / ".zshrc").write_text(
        "PS1='> '; setopt no_beep; LISTMAX=0; autoload -Uz compinit; compinit -u -D\n"
        "zstyle ':completion:*' list-prompt ''\neval \"$(bpe completions zsh)\"\n"
        "finish() { zle -I; print; print -r -- \"LINE ${BUFFER}\"; exit }; zle -N finish; bindkey '^X' finish\n"
    )
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(desk)
        os.execve(zsh, ["zsh", "-i"], environment(desk) | {"ZDOTDIR": str(desk)})
    try:
        until(terminal, lambda text: text.rstrip(b" \x1b[?2004hK").endswith(b">"))
        os.write(terminal, line.encode() + b"\t\t")  # what is common to all, then the list
        wanted = [word.encode().replace(b" ", b"\\ ") for word in LINES[line]]
        shown = until(terminal, lambda text: all(word in text for word in wanted))
        assert all(word in shown for word in wanted), shown
    finally:
        os.write(terminal, b"\x18")
        os.close(terminal)
        os.waitpid(process, 0)


def until(terminal: int, is_enough: Callable[[bytes], bool]) -> bytes:
    """Read what a terminal shows until it is enough, or nothing more comes for a while."""
    import select

    shown = b""
    while not is_enough(shown) and select.select([terminal], [], [], 30)[0]:
        try:
            shown += os.read(terminal, 1 << 16)
        except OSError:  # the shell has gone
            break
    return shown
