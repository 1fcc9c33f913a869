"""Random command lines, over all options of all commands, and the laws that each of them obeys.

These are a few, always the same; ``make proof PROOFS=commands`` draws others as long as it is told to, and
``RANDOM_COMMANDS=2000 RANDOM_COMMANDS_SEED=7 pytest tests/cli/test_random_commands.py`` hunts for more.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from bpe_cli.cli import app
from tests.cli.hunt import laws, workshop
from tests.cli.hunt.lines import Line, easier, some_line, undescribed
from tests.thorough import more

LINES = int(os.environ.get("RANDOM_COMMANDS", "200"))
SEED = int(os.environ.get("RANDOM_COMMANDS_SEED", "4"))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("workshop")
    workshop.build(folder)
    return laws.files_in(folder)


def of_a_smaller_vocabulary(line: Line) -> Line:
    """Ask for the report on a whole tokenizer of a quarter of gpt-4o's tokens: each law that runs it again waits."""
    if line.command != "inspect" or line.inputs or line.has("text") or line.value("tokenizer") != "gpt-4o":
        return line
    return line.with_option("tokenizer", more("gpt2", "gpt-4o"))


def test_there_are_values_for_every_option():
    assert undescribed() == []


def test_random_command_lines_obey_the_laws(files):
    drawn, chance = 0, random.Random()
    tally = laws.Tally()
    broken: list[str] = []
    line: Line | None = None
    for _ in range(LINES):
        if line is None:  # each by itself, so that a new option of one command changes no line of the others
            drawn, chance = drawn + 1, random.Random(f"{SEED} {drawn}")
            line = some_line(chance)
        line = of_a_smaller_vocabulary(line)
        with laws.fresh(files) as folder:
            done = laws.run(line, folder, before=files)
            broken += [f"{line}\n  {sentence}" for sentence in laws.judge(done, tally)]
        # What was refused is tried again without one of its options, until something comes of it.
        line = None if done.fine else easier(line, chance)
    assert not broken, "\n".join(broken)
    assert sum(tally.statuses.values()) == LINES
    for command in app.NAMES:
        assert tally.statuses[command, 0] >= LINES // 100, tally
        assert tally.statuses[command, 2] >= LINES // 100, tally
    rarest = min(tally.judged[law.__name__] for law in laws.LAWS)
    assert rarest >= max(1, LINES // 400), tally


def _with(**changes: object) -> Callable[[laws.Run], laws.Run]:
    """Change what a run gave."""
    return lambda done: replace(done, result=done.result._replace(**changes))


def _with_file(name: str, content: bytes) -> Callable[[laws.Run], laws.Run]:
    """Change what a run left in a file."""
    return lambda done: replace(done, after={**done.after, name: content})


ENCODE = Line("encode", ("plain.txt",), (("tokenizer", "-t", "bbpe.json"),))
DRAWN = Line("encode", ENCODE.inputs, (*ENCODE.options, ("dropout", "--dropout", "0.5")))
SAVED = Line("encode", ENCODE.inputs, (*ENCODE.options, ("output", "-o", "new.txt")))
COUNTED = Line("encode", ENCODE.inputs, (*ENCODE.options, ("to", "--to", "count"), ("json", "--json", None)))
SHOWN = Line("inspect", (), (("text", "-T", "low"), ("tokenizer", "-t", "bbpe.json"), ("json", "--json", None)))
TRAIN = Line("train", ("plain.txt",), (("vocab_size", "-s", "260"), ("output", "-o", "new.json")))
CONVERT = Line("convert", ("bbpe.json",), (("output", "-o", "new.json"),))
REFUSED = Line("encode", ("missing.txt",), ())
SPOILED = {
    laws.the_status_is_one_that_is_promised: [(ENCODE, _with(status=70)), (ENCODE, _with(status=1))],
    laws.streams_agree_with_the_status: [
        (ENCODE, _with(err="error: x\n")),
        (REFUSED, _with(err="")),
        (REFUSED, _with(err="error: a sentence.\n")),
        (REFUSED, _with(err="error: <class 'str'> is wrong\n")),
    ],
    laws.nothing_is_written_on_failure: [(REFUSED, _with_file("new", b"")), (REFUSED, _with(out=b"1 2\n"))],
    laws.only_what_was_named_is_written: [(SAVED, _with_file("plain.txt", b"")), (SAVED, _with_file("new.tmp", b""))],
    laws.data_goes_one_way: [(SAVED, _with(out=b"1 2\n"))],
    laws.json_is_json: [(SHOWN, _with(out=b"{\n")), (SHOWN, _with(out=b"{}\n"))],
    laws.threads_and_blocks_change_nothing: [(ENCODE, _with(out=b"1 2\n")), (SAVED, _with_file("new.txt", b"1\n"))],
    laws.twice_is_the_same: [(DRAWN, _with(out=b"1 2\n"))],
    laws.stdin_is_as_good_as_a_file: [(ENCODE, _with(out=b"1 2\n")), (COUNTED, _with(out=b"{}\n"))],
    laws.what_is_encoded_decodes: [(ENCODE, _with(out=b"1 2\n")), (SAVED, _with_file("new.txt", b"1 2\n"))],
    laws.counts_are_of_the_ids: [(ENCODE, _with(out=b"1 2\n"))],
    laws.what_is_noted_is_written: [(SAVED, _with_file("new.txt", b"1 2\n"))],
    laws.what_is_trained_is_as_noted: [
        (TRAIN, _with_file("new.json", b"")),
        (TRAIN, _with(err="1 piece, 1 different -> 7 tokens: a")),
    ],
    laws.what_is_converted_encodes_the_same: [(CONVERT, _with_file("new.json", b"{}"))],
}
"""For each law, runs that obey it and what must be changed of them to break it."""


def test_each_law_can_be_broken(files):
    """A law that no run could break would hold nothing."""
    assert [*SPOILED] == [*laws.LAWS]
    for law, cases in SPOILED.items():
        for line, spoil in cases:
            with laws.fresh(files) as folder:
                done = laws.run(line, folder, before=files)
                assert {*law(done)} <= {laws.LOOKED}, (law, line)
                assert {*law(spoil(done))} - {laws.LOOKED}, (law, line)
