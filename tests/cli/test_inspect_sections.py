"""``bpe inspect TOKENIZER``: one screen, and the sections that ``--section`` and ``--full`` show."""

from __future__ import annotations

import json
import subprocess

import pytest

from bpe_cli import load
from bpe_cli.jobs.inspect import inspect
from bpe_cli.reports.tokenizer.health import examine_health
from bpe_cli.views import ALL, SECTIONS
from tests.cli_runner import Terminal, call, error, start
from tests.thorough import more

LINES = 25
MORE = "--section NAME shows one of them, or all; --full shows every line"
READABLE = (
    "gpt2", "bert-base-uncased", "clip", "rwkv-world", "spm-bpe_example", "t5-small",
    *more([], ["bert-base-chinese", "gguf-llama-spm", "gguf-qwen2", "hf-llama3", "llama2-repaired",
               "mistral-spm-v3", "tekken-240718", "whisper-tiny", "xlnet-base-cased"]),
)  # fmt: skip
"""One of each kind of model, and the others of a kind for a hunt."""


@pytest.fixture
def trained(tmp_path):
    options = ("--pattern", "gpt2", "--special", "<s>", "-s", "270", "-o", "t.json", "-q")
    assert call("train", *options, input=b"low lower lowest newest widest\n" * 40, cwd=tmp_path) == (0, b"", "")
    return tmp_path


def on_screen(*arguments, columns="80", cwd=None):
    result = call("inspect", *arguments, cwd=cwd, env={"COLUMNS": columns})
    assert (result.status, result.err) == (0, "")
    return result.text


@pytest.mark.parametrize("name", READABLE)
def test_a_report_is_one_screen(name, shared):
    lines = on_screen(name if name == "gpt2" else str(shared / "vocabs" / name)).splitlines()
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith(("good     ", "look at  "))
    assert lines[-1].strip() == MORE


def test_a_report_on_a_corpus_is_one_screen(trained):
    (trained / "in.txt").write_text("low lower new\n" * 50)
    shown = on_screen("t.json", "--corpus", "in.txt", cwd=trained)
    assert len(shown.splitlines()) <= LINES
    assert "tokens used  " in shown
    assert "reachability, corpus, residues, lengths" in " ".join(shown.split())


def test_the_last_line_names_the_sections_that_there_are(trained):
    shown = " ".join(on_screen("t.json", cwd=trained).split())
    names = shown.partition("sections ")[2].removesuffix(f" {MORE}").split(", ")
    assert names == [
        "reachability", "lengths", "scripts", "merges", "utf8", "whitespace", "numbers", "duplicates", "longest",
        "special", "settings",
    ]  # fmt: skip
    for name in (*names, ALL):
        assert len(on_screen("t.json", "--section", name, cwd=trained).splitlines()) > 3


def test_all_sections_are_the_whole(trained):
    (trained / "in.txt").write_text("low lower new\n" * 50)
    corpus = ("t.json", "--corpus", "in.txt")
    whole = on_screen(*corpus, "--section", ALL, cwd=trained)
    sections = {name: on_screen(*corpus, "--section", name, cwd=trained) for name in SECTIONS}
    rest = whole
    found = 0
    for name, section in sections.items():
        if section.endswith("\nnone\n\n"):
            assert section.startswith(SECTIONS[name])
            continue
        assert section in rest, name
        rest = rest[rest.index(section) + len(section) :]
        found += 1
    assert found >= 8
    assert rest == ""


def test_several_sections_stand_in_the_order_of_the_report(trained):
    names = ("--section", "special", "--section", "scripts", "--section", "special")
    assert on_screen("t.json", *names, cwd=trained) == on_screen(
        "t.json", "--section", "scripts", cwd=trained
    ) + on_screen("t.json", "--section", "special", cwd=trained)


def test_a_section_in_full(tmp_path):
    special = [option for number in range(256) for option in ("--special", f"<|reserved_{number}|>")]
    assert (
        call("train", "-T", "low lower lowest", *special, "-s", "520", "-o", "t.json", "-q", cwd=tmp_path).status == 0
    )
    short, full = (on_screen("t.json", "--section", "special", *options, cwd=tmp_path) for options in ((), ("--full",)))
    assert "and 236 more special tokens" in short
    assert len(full.splitlines()) > 256


def test_full_is_all_sections(trained):
    assert on_screen("t.json", "--full", cwd=trained) == on_screen("t.json", "--section=all", "--full", cwd=trained)


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        ("gpt2 --section numbrs", "invalid value for '--section': there is no 'numbrs'", "did you mean numbers?"),
        (
            "gpt2 --section scripts --json", "--json has all sections, and --section chooses some",
            "leave one of them out",
        ),
        (
            "gpt2 --section corpus", "--section corpus needs a corpus, and none is given",
            "give one with --corpus INPUT",
        ),
        (
            "gpt2 --section scripts --token 5",
            "--section shows parts of a whole report, and --token looks up single tokens",
            None,
        ),
        ("gpt2 --residues 0.1", "--residues needs a corpus, and none is given", "give one with --corpus INPUT"),
        (
            "gpt2 --section residues", "--section residues needs a corpus, and none is given",
            "give one with --corpus INPUT",
        ),
        ("gpt2 --corpus x --residues 1.1", "--residues must be a share from 0 to 1, not 1.1", None),
        (
            "gpt2 --residues 0.1 --token 5",
            "--residues shows parts of a whole report, and --token looks up single tokens",
            None,
        ),
        (
            "-T hi --residues 0.1", "--residues is for a report on a tokenizer, and this is a text",
            "leave the text out, or --residues",
        ),
        (
            "-T hi --section scripts", "--section is for a report on a tokenizer, and this is a text",
            "leave the text out, or --section",
        ),
    ],
)  # fmt: skip
def test_refusals(words, message, hint):
    assert call("inspect", *words.split()) == (2, b"", error(message, hint))


def test_residues(trained):
    """The share that is asked for decides what is listed, in the section and in the JSON."""
    (trained / "in.txt").write_text("low lower new lo\n" * 120)
    corpus = ("t.json", "--corpus", "in.txt")
    few, many = (on_screen(*corpus, "--residues", share, cwd=trained) for share in ("0", "0.5"))
    assert few.startswith("Residues of merging\n")
    assert "at most 0.0% of the times they stay" in " ".join(few.split())
    assert " lo " not in few.partition("mainly becomes")[2]
    assert " lo " in many.partition("mainly becomes")[2]
    assert on_screen(*corpus, "--section", "residues", "--residues", "0.5", cwd=trained) == many
    found = json.loads(on_screen(*corpus, "--residues", "0.5", "--json", cwd=trained))["corpus"]["residues"]
    assert (found["share"], found["count"]) == (0.5, len(found["tokens"]))
    assert [each["ratio"] for each in found["tokens"]] == sorted(each["ratio"] for each in found["tokens"])


def test_residues_in_full(tmp_path, corpora):
    text = (corpora / "languages" / "en.txt").read_bytes()
    (tmp_path / "in.txt").write_bytes(text * 4)
    assert call("train", "-s", "400", "-o", "t.json", "-q", input=text, cwd=tmp_path) == (0, b"", "")
    residues = ("t.json", "--corpus", "in.txt", "--residues", "1")
    assert "more residues; --full shows all" in on_screen(*residues, cwd=tmp_path)
    assert "--full" not in on_screen(*residues, "--full", cwd=tmp_path)


def test_below_a_pager_the_width_is_the_terminals(trained):
    """As in ``bpe inspect t.json | less``: stdout is a pipe, stderr the terminal, which has 60 columns here."""
    import termios

    terminal = Terminal()
    termios.tcsetwinsize(terminal.side, (24, 60))
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": terminal.side}
    with start("inspect", "t.json", "--section", "all", env={"COLUMNS": None}, cwd=trained, **pipes) as process:
        shown = process.stdout.read().decode()
        bar = terminal.read_all()
        assert process.wait(timeout=120) == 0
    assert 50 < max(map(len, shown.splitlines())) <= 60
    assert shown == on_screen("t.json", "--section", "all", columns="60", cwd=trained)
    assert bar.rpartition("\r")[2] == "", "what the bar showed is wiped out"


class Steps:
    """A listener that keeps what it hears."""

    def __init__(self):
        self.tasks = []

    def task(self, what, total, unit="B"):
        from contextlib import contextmanager

        @contextmanager
        def heard():
            steps = []
            self.tasks.append((what, total, unit, steps))
            yield steps.append

        return heard()

    def note(self, message):
        raise AssertionError(message)


def test_a_long_examination_says_how_far_it_is(trained):
    listener = Steps()
    report = inspect(trained / "t.json", listener=listener)
    [(what, total, unit, steps)] = listener.tasks
    assert (what, unit, sum(steps)) == ("examining", "step", total)
    assert len(steps) >= 15
    assert report == examine_health(load(trained / "t.json"))
