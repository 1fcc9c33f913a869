"""A comparison as one call: what it holds, what it tells its listener, and that the command line says the same."""

from __future__ import annotations

import io
import json
from contextlib import contextmanager

import pytest

from bpe_cli.corpus import Source
from bpe_cli.errors import UsageError
from bpe_cli.jobs.compare import PROBES, CompareOptions, compare
from bpe_cli.tokenizer.named_encodings import named
from bpe_cli.views.comparison.as_json import comparison_json
from tests.cli_runner import call

TWO = named("gpt2"), named("o200k_base")


class Heard:
    def __init__(self):
        self.tasks, self.notes = [], []

    @contextmanager
    def task(self, what, total, unit="B"):
        amounts = []
        yield amounts.append
        self.tasks.append((what, total, unit, sum(amounts)))

    def note(self, message):
        self.notes.append(message)


def test_inputs_are_read_once_and_heard_of(tmp_path):
    (tmp_path / "a.txt").write_text("low lower")
    (tmp_path / "b.txt").write_bytes(b"a\0b")
    heard = Heard()
    paths = tuple(str(tmp_path / name) for name in ("a.txt", "b.txt"))
    report = compare(TWO, Source(paths, plain=True), listener=heard)
    assert [(row.name, row.byte_count) for row in report.rows] == [(paths[0], 9), (paths[1], 3)]
    assert heard.tasks == [("comparing", 12, "B", 12)]
    assert [note.split(" looks ")[1] for note in heard.notes] == [
        "binary (NUL at byte 1); its bytes are taken as they are"
    ]


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ((), CompareOptions()),
        (("--diff", "--overlap"), CompareOptions(differences=10, overlap=True)),
        (("--probe", "code", "--special", "all"), CompareOptions(probes=frozenset({"code"}), specials="all")),
    ],
)
def test_the_command_line_says_the_same(words, options):
    shown = call("compare", "-t", "gpt2", "-t", "o200k_base", "-", *words, "--json", input=b"low lower<|endoftext|>")
    report = compare(TWO, Source(("-",)), options, stdin=io.BytesIO(b"low lower<|endoftext|>"))
    assert comparison_json(report) == json.loads(shown.out)


def test_without_a_text():
    report = compare(TWO, None, CompareOptions(probes=frozenset(PROBES), overlap=True))
    assert (report.rows, report.disagreements, len(report.overlaps)) == ((), (), 1)
    assert None not in (report.probes.languages, report.probes.code, report.probes.data, report.probes.numbers)


@pytest.mark.parametrize("options", [CompareOptions(overlap=True), CompareOptions(differences=3)])
def test_one_tokenizer_differs_from_none(options):
    with pytest.raises(UsageError, match="compared with the first, and there is one"):
        compare(TWO[:1], Source(text="a"), options)
