"""Pictures from the command line: which go where, what cannot be drawn, and that nothing depends on how it was done."""

from __future__ import annotations

import json
import struct
from xml.etree import ElementTree

import pytest

import bpe_cli
from bpe_cli.views.pictures import COMPARISON_PICTURES
from tests.cli_runner import call, error
from tests.needs import needs

SVG = "{http://www.w3.org/2000/svg}"
TWO = ("-t", "gpt2", "-t", "o200k_base")
LINES = "".join(f"line {number} of the text, {'word ' * (number % 7)}\n\n" for number in range(40))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "en.txt").write_text(LINES)
    (tmp_path / "de.txt").write_text(LINES.replace("line", "Zeile").replace("word", "Wörter"))
    return tmp_path


@pytest.fixture(scope="module")
def small():
    """Return a tokenizer that is examined in no time, which gpt2 is not."""
    return call("train", "-s", "300", "--pattern", "gpt2", "-q", input=LINES.encode()).out


@pytest.fixture
def with_small(folder, small):
    (folder / "small.json").write_bytes(small)
    return folder


def title_of(path):
    return ElementTree.parse(path).getroot().findtext(f"{SVG}title")


def test_a_text_is_drawn_as_by_the_library(folder):
    done = call("inspect", "-T", "naïve 東京", "-t", "gpt2", "--ids", "--svg", "text.svg", "-q", cwd=folder)
    assert (done.status, done.err) == (0, "")
    report = bpe_cli.inspect("gpt2", "naïve 東京")
    assert report.to_svg(ids=True) == (folder / "text.svg").read_text()
    needs("resvg_py")
    done = call("inspect", "-T", "naïve 東京", "-t", "gpt2", "--ids", "--png", "text.png", "-q", cwd=folder)
    assert (done.status, done.err, report.to_png(ids=True)) == (0, "", (folder / "text.png").read_bytes())


def test_each_picture_of_a_comparison_to_a_folder(folder):
    done = call("compare", "en.txt", "de.txt", *TWO, "--lines", "--probe", "languages", "--svg", "figures/", cwd=folder)
    names = COMPARISON_PICTURES
    assert done == (0, b"", "".join(f"wrote figures/{name}.svg\n" for name in names))
    assert sorted(path.name for path in (folder / "figures").iterdir()) == sorted(f"{name}.svg" for name in names)
    assert [title_of(folder / "figures" / f"{name}.svg") for name in names] == [
        "Tokens by input", "Tokens per token of gpt2", "Lengths of documents in tokens",
        "Share of the text that the most frequent tokens make up", "Premium by language: tokens per token of en",
    ]  # fmt: skip


def test_one_by_its_name_and_all_in_one(folder):
    options = ("--svg", "ratios=r.svg", "--svg", "all.svg", "--metric", "bytes_per_token", "--svg", "inputs=b.svg")
    done = call("compare", "en.txt", "de.txt", *TWO, *options, cwd=folder)
    assert done == (0, b"", "wrote r.svg\nwrote all.svg\nwrote b.svg\n")
    assert [title_of(folder / name) for name in ("r.svg", "all.svg", "b.svg")] == [
        "Tokens per token of gpt2", "4 pictures", "Bytes/token by input",
    ]  # fmt: skip
    described = ElementTree.parse(folder / "b.svg").getroot().findtext(f"{SVG}desc")
    table = call("compare", "en.txt", "de.txt", *TWO, "--csv", cwd=folder).text.splitlines()
    place = table[0].split(",").index("bytes_per_token")
    for line in table[1:]:
        assert f"{float(line.split(',')[place]):.2f}" in described


def test_a_program_draws_the_same(folder):
    call("compare", "en.txt", *TWO, "--svg", "all.svg", "--svg", "use=use.svg", "-q", cwd=folder)
    report = bpe_cli.compare(["gpt2", "o200k_base"], folder / "en.txt")
    # A path is what the input is called, and that is longer here.
    assert report.to_svg("use").encode() == (folder / "use.svg").read_bytes()
    again = bpe_cli.compare(["gpt2", "o200k_base"], folder / "en.txt", threads=1)
    assert report.to_svg() == again.to_svg()
    with pytest.raises(bpe_cli.BpeError, match="no picture 'premiums'"):
        report.to_svg("premiums")


def test_a_program_draws_the_same_of_a_tokenizer(with_small, monkeypatch):
    monkeypatch.chdir(with_small)
    call("inspect", "small.json", "--svg", "small.svg", "--html", "small.html", "-q")
    health = bpe_cli.inspect("small.json")
    assert health.to_svg().encode() == (with_small / "small.svg").read_bytes()
    assert health.to_html().encode() == (with_small / "small.html").read_bytes()


def test_the_picture_in_the_documentation_is_what_is_drawn(repository):
    three = ("-t", "gpt2", "-t", "cl100k_base", "-t", "o200k_base")
    drawn = call("compare", "--probe", "languages", *three, "--svg", "-").out
    assert (repository / "docs" / "languages.svg").read_bytes() == drawn


def test_parts_and_threads_change_no_picture(folder):
    inputs = ("compare", "en.txt", "de.txt", *TWO, "--lines", "--svg", "-")
    drawn = call(*inputs, cwd=folder).out
    assert drawn == call(*inputs, "-j", "1", "--block-size", "16", cwd=folder).out
    assert drawn == call(*inputs, "--tallies-dir", "tallies", "--part-size", "1", "-q", cwd=folder).out


def test_what_stdout_gets(folder):
    assert ElementTree.fromstring(call("compare", "-T", "a", "--svg", "-").out).tag == f"{SVG}svg"
    beside = call("compare", "-T", "a", *TWO, "--svg", folder / "a.svg", "-o", "-", "-q")
    assert " o200k_base " in beside.text
    assert (folder / "a.svg").exists()
    done = call("compare", "-T", "a", "--svg", folder / "b.svg", "--json", "-q")
    assert json.loads(done.out)["schema"].startswith("bpe.compare/")


def test_a_check_still_fails(folder):
    options = ("--svg", "c.svg", "--fail-if", "tokens > 0", "-q")
    assert call("compare", "en.txt", *options, cwd=folder).status == 1
    assert (folder / "c.svg").exists()


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        (("--svg", "x.html"), "--svg x.html names a .html file, but what is written is SVG",
         "end the name in .svg"),
        (("--svg", "ratos=x.svg"), "--svg ratos=x.svg: there is no picture 'ratos'",
         "they are inputs, ratios, lengths, use, premiums"),
        (("--svg", "premiums=x.svg"), "--svg premiums=x.svg: there is nothing here that premiums could show",
         "there are inputs, ratios, lengths, use"),
        (("--svg", "x.svg", "--svg", "use=x.svg"), "--svg and --svg would both be written to x.svg",
         "name a file each"),
        (("--svg", "new/", "--svg", "new"), "--svg and --svg would both be written to new", "name a file each"),
        (("--svg", "new/", "--svg", "new/"), "--svg names new/ twice", "leave one of them out"),
        (("--svg", "none/new/"), "cannot write none/new: no such folder {}/none", None),
        (("--svg", "use=none/x.svg"), "cannot write none/x.svg: no such folder {}/none", None),
        (("--svg", "en.txt"), "--svg would replace the input en.txt",
         "write to another file, and move it there when all is well"),
        (("--plot", "--json"), "--plot draws below the tables, and JSON has none", "ask for one of them"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_refused_before_the_work(options, message, hint, folder):
    before = sorted(folder.iterdir())
    done = call("compare", "en.txt", *TWO, *options, cwd=folder)
    assert done.status == 2
    assert done.err == error(message.format(folder), hint)
    assert sorted(folder.iterdir()) == before


def test_what_has_no_picture(folder):
    assert call("compare", "--overlap", *TWO, "--svg", folder / "x.svg").err == error(
        "--svg draws inputs and --probe languages, and there is neither"
    )
    assert call("inspect", "-T", "a", "-t", "gpt2", "--svg", "use=x.svg").err == error(
        "--svg use=x.svg: the picture of a text has no name", "--svg x.svg"
    )
    assert call("inspect", "gpt2", "--svg", "use=").err == error("--svg use= names no file", "as in --svg figure.svg")
    assert call("inspect", "-T", "a", "-t", "gpt2", "--plot").err == error(
        "--plot draws a tokenizer or a data set, and this is a text", "--table lists tokens"
    )
    assert call("inspect", "gpt2", "--svg", f"use={folder}/x.svg").err == error(
        f"--svg use={folder}/x.svg: there is nothing here that use could show", "there are lengths, scripts"
    )
    assert call("inspect", "gpt2", "--plot", "--json").err == error(
        "--plot draws below the tables, and here there are none", "leave it out"
    )


def test_a_tokenizer_and_its_use_of_a_corpus(with_small):
    folder = with_small
    done = call("inspect", "small.json", "--corpus", "en.txt", "--html", "r.html", "--svg", "f/", "--json", cwd=folder)
    assert done.err == "wrote r.html\nwrote f/lengths.svg\nwrote f/scripts.svg\nwrote f/use.svg\n"
    report = json.loads(done.out)
    page = (folder / "r.html").read_text()
    assert page.count("<figure ") == 3
    described = ElementTree.parse(folder / "f" / "scripts.svg").getroot().findtext(f"{SVG}desc")
    for each in report["structure"]["scripts"]["counts"][:20]:
        assert f"{each['name']}: tokens {each['tokens']:,} (" in described


def test_ids_that_were_written(folder):
    ids = ("encode", "en.txt", "--lines", "-t", "gpt2", "--to", "bin", "-q")
    call(*ids, "-o", "en.bin", "--eot", "auto", cwd=folder)
    done = call("inspect", "en.bin", "--html", "d.html", "--svg", "d.svg", cwd=folder)
    assert done == (0, b"", "wrote d.html\nwrote d.svg\n")
    assert "<figure " in (folder / "d.html").read_text()
    lengths = json.loads(call("inspect", "en.bin", "--json", cwd=folder).out)["lengths"]["histogram"]
    described = ElementTree.parse(folder / "d.svg").getroot().findtext(f"{SVG}desc")
    for first, last, number in lengths:
        assert f"{first if first == last else f'{first}–{last}'}: documents {number}, " in described
    assert call("inspect", "en.bin", "--svg", "en.bin.json", cwd=folder).status == 2
    call(*ids, "-o", "unmarked.bin", cwd=folder)
    assert call("inspect", "unmarked.bin", "--svg", "u.svg", cwd=folder).status == 0
    said = "".join(ElementTree.parse(folder / "u.svg").getroot().itertext())
    assert "their ends are not marked, so there are no lengths" in said


def test_png(with_small):
    folder = with_small
    needs("resvg_py", "resvg-py")
    done = call("compare", "en.txt", *TWO, "--png", "use=u.png", "--png", "all/", cwd=folder)
    assert done.status == 0, done.err
    for path in (folder / "u.png", folder / "all" / "use.png"):
        head = path.read_bytes()[:24]
        assert head.startswith(b"\x89PNG")
        assert struct.unpack(">I", head[16:20]) == (1440,)
    assert (folder / "u.png").read_bytes() == (folder / "all" / "use.png").read_bytes()
    assert call("inspect", "-T", "a", "-t", "gpt2", "--png", "-").out.startswith(b"\x89PNG")
    assert call("inspect", "small.json", "--png", "lengths=-", cwd=folder).out.startswith(b"\x89PNG")


def test_small_pictures_on_a_terminal(with_small):
    folder = with_small
    done = call("compare", "en.txt", "de.txt", *TWO, "--lines", "--plot", cwd=folder)
    text = done.text
    for title in ("Tokens by input", "Tokens per token of gpt2", "Lengths of documents in tokens"):
        assert f"\n{title}\n" in text
    assert "A o200k_base; │ 1: as many as gpt2" in text
    narrow = call("compare", "en.txt", "de.txt", *TWO, "--lines", "--plot", cwd=folder, env={"COLUMNS": "44"})
    assert max(map(len, narrow.text.splitlines())) <= 44
    assert "\x1b" not in text
    plots = call("inspect", "small.json", "--corpus", "en.txt", "--plot", cwd=folder).text
    assert "\nShare of the corpus that the most frequent tokens of small.json make up\n" in plots
