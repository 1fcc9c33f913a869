"""``bpe train --valid``: what sizes of a vocabulary make of held-out text."""

from __future__ import annotations

import json
import os
from xml.etree import ElementTree

import pytest

from tests.cli_runner import call, error

CORPUS = ("low lower lowest newest newest widest slow slower slowest\n" * 3).encode()
HELD_OUT = b"the slowest newer widow\nflows\n"
SIZES = (257, 265, 278)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in.txt").write_bytes(CORPUS)
    (tmp_path / "held.txt").write_bytes(HELD_OUT)
    return tmp_path


def measured(folder, *more):
    sizes = ",".join(map(str, SIZES))
    result = call("train", "in.txt", "-s", sizes, "--valid", "held.txt", "-q", *more, cwd=folder)
    assert (result.status, result.err) == (0, "")
    return result


def test_a_pipe_is_no_text_for_several_sizes(folder):
    os.mkfifo(folder / "pipe")  # which nobody writes to: it is refused before it is opened
    assert call("train", "in.txt", "-s", "257,265", "--valid", "pipe", cwd=folder) == (
        2, b"", error("held-out text is read once for each size, and pipe can be read only once", "name a file"),
    )  # fmt: skip


def test_the_table(folder):
    assert (
        measured(folder, "--d-model", "10").text
        == """\
measured on 1 document, 30 bytes

 vocabulary   tokens   bytes/token   saved   per doubling   used   embeddings, tied   untied
 ───────────────────────────────────────────────────────────────────────────────────────────
        257       28         1.071       –              –   5.4%              2,570    5,140
      265 ←       20         1.500   28.6%         100.0%   6.4%              2,650    5,300
        278       17         1.765   15.0%          90.5%   5.4%              2,780    5,560

saved: the share of tokens that a size saves against the one before, and per doubling of the size
embeddings: size × 10 parameters, once if input and output are tied, else twice
knee: 265, where the curve is farthest above the line between its ends (0.23 of its height); with
other ends, the knee may be elsewhere
"""
    )


def test_the_numbers_are_those_of_encoding(folder):
    sizes = ",".join(map(str, SIZES))
    result = call(
        "train", "in.txt", "-s", sizes, "-o", "{size}.json", "--valid", "held.txt", "--json", "-q", "--lines",
        cwd=folder,
    )  # fmt: skip
    report = json.loads(result.out)
    assert (report["schema"], report["documents"], report["bytes"]) == ("bpe.train.sizes/1", 2, 28)
    assert [each["asked"] for each in report["sizes"]] == list(SIZES)
    for each in report["sizes"]:
        ids = call("encode", "held.txt", "--lines", "-t", f"{each['asked']}.json", cwd=folder).text.split()
        assert (each["tokens"], each["used"]) == (len(ids), len(set(ids)))
        assert each["bytes_per_token"] == 28 / len(ids)


def test_threads_and_blocks_change_nothing(folder):
    assert measured(folder, "--json", "-j", "3", "--block-size", "5").out == measured(folder, "--json", "-j", "1").out


def test_pictures_markdown_and_plots(folder):
    assert measured(folder, "--svg", "curve.svg", "--svg", "curve=again.svg").out == b""
    svg = (folder / "curve.svg").read_text()
    assert svg == (folder / "again.svg").read_text()
    assert "265: bytes per token 1.500, marked knee; 278: bytes per token 1.765, marked –" in ElementTree.fromstring(
        svg
    ).findtext("{http://www.w3.org/2000/svg}desc")
    lines = measured(folder, "--markdown").text.splitlines()
    assert lines[2].startswith("| vocabulary | tokens | bytes/token | saved | per doubling | used |")
    assert lines[5].startswith("| **265** ← | 20 |")
    assert measured(folder, "--plot").text.count("█") > 30


def test_one_size_has_no_knee(folder):
    text = call("train", "in.txt", "-s", "260", "--valid", "held.txt", "-q", cwd=folder).text
    assert text.endswith("knee: none (it takes three sizes)\n")


def test_one_size_that_is_not_reached(folder):
    report = json.loads(call("train", "in.txt", "-s", "900", "--valid", "held.txt", "--json", "-q", cwd=folder).out)
    assert [(each["asked"], each["vocab_size"]) for each in report["sizes"]] == [(900, 278)]


def test_text_that_a_vocabulary_does_not_know(folder):
    text = call("train", "in.txt", "-a", "bpe", "-s", "40,60", "--valid", "held.txt", "-q", cwd=folder).text
    assert text.splitlines()[2].split() == [
        "vocabulary", "tokens", "bytes/token", "saved", "per", "doubling", "used", "unknown",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        ("--d-model 64", "--d-model is for --valid", "--valid FILE measures vocabularies on held-out text"),
        ("--plot", "--plot is for --valid", "--valid FILE measures vocabularies on held-out text"),
        ("--json", "--json is for --steps", "--steps shows the training step by step"),
        ("--valid absent", "cannot read absent: no such file", None),
        ("--valid held.txt --steps", "--steps and --valid show different things", "ask for one at a time"),
        (
            "--valid held.txt --json --markdown",
            "--json and --markdown cannot be used together",
            None,
        ),
        (
            "--valid held.txt --markdown --plot",
            "--plot draws below the table, and Markdown has none",
            "ask for one of them",
        ),
        (
            "--valid - ",
            "held-out text is read once for each size, and stdin cannot be",
            "name a file",
        ),
        (
            "--valid held.txt -o held.txt",
            "-o would replace the input held.txt",
            "write to another file, and move it there when all is well",
        ),
        (
            "--valid held.txt --svg held.txt",
            "--svg would replace the input held.txt",
            "write to another file, and move it there when all is well",
        ),
        (
            "--valid held.txt --svg nothing=x.svg",
            "--svg nothing=x.svg: there is no picture 'nothing'",
            "they are curve",
        ),
    ],
)  # fmt: skip
def test_refusals(words, message, hint, folder):
    assert call("train", "in.txt", "-s", "260", *words.split(), cwd=folder) == (2, b"", error(message, hint))
    assert sorted(each.name for each in folder.iterdir()) == ["held.txt", "in.txt"]
    assert (folder / "held.txt").read_bytes() == HELD_OUT


def test_an_empty_text_is_refused(folder):
    (folder / "held.txt").write_bytes(b"")
    result = call("train", "in.txt", "-s", "260", "--valid", "held.txt", "-q", cwd=folder)
    assert (result.status, result.err) == (2, error("the held-out text is empty"))


def test_a_text_without_tokens_is_refused(folder):
    (folder / "held.txt").write_bytes(b"   \n")
    result = call("train", "in.txt", "-a", "bpe", "-s", "21,23", "--valid", "held.txt", "-q", cwd=folder)
    assert result.status == 2
    assert result.err.startswith("error: the held-out text has no tokens with 21 tokens to choose from")
