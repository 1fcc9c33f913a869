"""A comparison by parts is that of one run, byte for byte; tallies are never made twice, nor taken for others."""

from __future__ import annotations

import gzip
import json
import random
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe_cli
from bpe_cli.corpus import Source
from bpe_cli.engines.local import Local
from bpe_cli.errors import FormatError, InputError, UsageError
from bpe_cli.formats import dump
from bpe_cli.jobs.compare import CompareJob, CompareOptions, compare, compare_and_check, tally
from bpe_cli.jobs.parts import Share
from bpe_cli.jobs.parts.doing import PartsFolder
from bpe_cli.jobs.tally_parts import ByParts, tallied_inputs
from bpe_cli.results import ComparisonReport
from bpe_cli.stages import RankBpe
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.tokenizer import Tokenizer
from tests.cli.test_killed_between import NO_SUCH_STEP, interrupted
from tests.cli_runner import call, error
from tests.thorough import more

NAMES = ("small.json", "large.json")
"""Two that are trained here: where parts end is the same for them, and nobody looks through 100,000 tokens."""
WORDS = ["low", "lower", "newest", "naïve", "東京", "\t\n🙂", "x", "=", "1"]
OF_LINES = Source(("in",), documents="lines")


@cache
def trained(name: str) -> bytes:
    size = {"small.json": 270, "large.json": 300}[name]
    return dump(bpe_cli.train([" ".join(WORDS * 3)], vocab_size=size), "tokenizer.json")[""]


def write_tokenizers(folder: Path) -> None:
    for name in NAMES:
        (folder / name).write_bytes(trained(name))


def words(chance: random.Random, count: int) -> str:
    return " ".join(chance.choices(WORDS, k=count))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make files, an empty one and a compressed one; work beside them."""
    monkeypatch.chdir(tmp_path)
    chance = random.Random(5)
    (tmp_path / "in").mkdir()
    write_tokenizers(tmp_path)
    for number, name in enumerate("abcdef"):
        text = "\n".join(words(chance, chance.randrange(9)) for _ in range(number * 7))
        (tmp_path / f"in/{name}.txt").write_text(text)
    (tmp_path / "in/g.txt.gz").write_bytes(gzip.compress(words(chance, 900).encode()))
    return tmp_path


def job(source: Source = OF_LINES, *, place: PartsFolder | None = None, processes: int = 1, **more) -> CompareJob:
    by_parts = None if place is None else ByParts(place, Local(processes))
    options = CompareOptions(**{"differences": 3, "overlap": True, "probes": frozenset({"code"})} | more)
    return CompareJob(NAMES, source, options, by_parts=by_parts)


def json_of(done) -> str:
    return ComparisonReport(done.comparison, done.changes, done.checks).to_json()


def contents(place: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(place).iterdir()}


@pytest.mark.parametrize("documents", ["whole", "lines"])
def test_the_report_is_that_of_one_run(documents: str, folder: Path) -> None:
    source = Source(("in",), documents=documents)
    options = {"overlap": documents == "whole"}  # of the vocabularies, whatever the texts are
    expected = json_of(compare_and_check(job(source, **options)))
    for number, size in enumerate((1, 300, 1 << 20)):
        place = PartsFolder(f"tallies{number}", part_bytes=size)
        assert json_of(compare_and_check(job(source, place=place, **options))) == expected
    two = PartsFolder("two", part_bytes=300)
    processes = 2 if documents == "lines" else more(1, 2)  # starting them takes longer than all they do
    assert json_of(compare_and_check(job(source, place=two, processes=processes, threads=2, **options))) == expected
    assert contents("two") == contents("tallies1")
    before = {path.name: path.stat().st_mtime_ns for path in Path("two").iterdir()}
    assert json_of(compare_and_check(job(source, place=two, **options))) == expected
    assert {path.name: path.stat().st_mtime_ns for path in Path("two").iterdir()} == before


def test_what_has_changed_and_kept_its_size_is_named_and_tallied_again(folder: Path) -> None:
    place = PartsFolder("tallies", part_bytes=300)
    compare_and_check(job(place=place))
    before = contents("tallies")
    path = Path("in/f.txt")
    path.write_bytes(b"yz" + path.read_bytes()[2:])
    with pytest.raises(UsageError, match=r"the tallies in tallies are of files that have changed: in/f\.txt$"):
        compare_and_check(job(place=place))
    assert contents("tallies") == before
    again = compare_and_check(job(place=PartsFolder("tallies", part_bytes=300, overwrite=True)))
    assert json_of(again) == json_of(compare_and_check(job()))
    assert len(contents("tallies").items() - before.items()) == 2, "the tallies of one part and its record"


def test_a_file_of_another_size_than_the_plan_says_is_refused(folder: Path) -> None:
    class Late(Local):
        def run(self, *args):
            with open("in/f.txt", "ab") as file:
                file.write(b" more")
            return Local.run(self, *args)

    size = Path("in/f.txt").stat().st_size
    with pytest.raises(InputError, match=rf"^in/f\.txt has {size + 5} bytes in place of {size}: it changed since"):
        tally(CompareJob(NAMES, OF_LINES, CompareOptions(), by_parts=ByParts(PartsFolder("tallies"), Late(1))))
    assert not Path("tallies").exists()
    again = compare_and_check(job(place=PartsFolder("tallies", overwrite=True)))
    assert json_of(again) == json_of(compare_and_check(job()))


@settings(max_examples=15, deadline=None)
@given(
    texts=st.lists(st.lists(st.sampled_from([*WORDS, "", "abc"]), max_size=40), min_size=1, max_size=9),
    part_bytes=st.integers(1, 200),
    shares=st.integers(1, 3),
    documents=st.sampled_from(["whole", "lines"]),
    most=st.sampled_from([8, 9, 8192]),
    baseline=st.sampled_from([None, "large.json"]),
)
def test_however_inputs_are_divided(
    texts: list[list[str]], part_bytes: int, shares: int, documents: str, most: int, baseline: str | None
) -> None:
    """With few units, documents of neighbouring inputs share one, wherever a part ends."""
    with TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patched:
        patched.setattr("bpe_cli.reports.comparison.tallies.MOST_UNITS", most)
        patched.chdir(place)
        write_tokenizers(Path(place))
        for number, lines in enumerate(texts):
            Path(place, f"{number}.txt").write_text("\n".join(lines))
        source = Source(tuple(f"{place}/{number}.txt" for number in range(len(texts))), documents=documents)
        options = CompareOptions(differences=2)
        expected = compare_and_check(CompareJob(NAMES, source, options, baseline))
        for number in range(shares):
            share = PartsFolder(f"{place}/tallies", Share(number + 1, shares), part_bytes)
            done = tally(CompareJob(NAMES[::-1], source, options, by_parts=ByParts(share, Local(1))))
        assert done.is_whole
        by_parts = ByParts(PartsFolder(f"{place}/tallies", part_bytes=part_bytes), Local(1))
        found = compare_and_check(CompareJob(NAMES, source, options, baseline, by_parts=by_parts))
    assert found == expected
    assert json_of(found) == json_of(expected)
    totals = [[list(each) for each in done.comparison.frequencies] for done in (found, expected)]
    assert totals[0] == totals[1]


def test_more_inputs_cost_themselves(folder: Path) -> None:
    place = PartsFolder("tallies", part_bytes=1)
    first = tally(job(place=place))
    (folder / "in/bb.txt").write_text("low lower\nnewest")
    expected = json_of(compare_and_check(job()))
    before = contents("tallies")
    assert json_of(compare_and_check(job(place=place))) == expected
    after = contents("tallies")
    assert {name: data for name, data in after.items() if name in before and name != "plan.json"} == {
        name: data for name, data in before.items() if name != "plan.json"
    }
    assert len(after) == len(before) + 2
    assert (first.made, first.kept, first.is_whole) == (first.parts, 0, True)


def test_a_special_token_that_is_named_twice_is_the_same(folder: Path) -> None:
    names = ("<s>", "</s>")
    bpe_cli.train([" ".join(WORDS)], vocab_size=270, special_tokens=names).save("special.json")
    by_parts = ByParts(PartsFolder("tallies", part_bytes=300), Local(1))
    made = []
    for specials in (names, (*names[::-1], names[0])):
        options = CompareOptions(specials=specials)
        made.append(tally(CompareJob(("special.json",), OF_LINES, options, by_parts=by_parts)))
    assert made[0].made == made[1].kept == made[1].parts > 0


def test_what_is_wrong_with_tallies_is_named(folder: Path) -> None:
    place = PartsFolder("tallies", part_bytes=300)
    half = PartsFolder("tallies", Share(1, 2), part_bytes=300)
    assert not tally(job(place=half)).is_whole
    with pytest.raises(UsageError, match="tallies some of the parts compares nothing"):
        compare_and_check(job(place=half))
    compare_and_check(job(place=place))
    with pytest.raises(UsageError, match="were made with other settings: documents"):
        compare_and_check(job(Source(("in",)), place=place))
    one = next(Path("tallies").glob("*.tallies"))
    data = one.read_bytes()
    one.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(FormatError, match="does not match the hash in its record"):
        compare_and_check(job(place=place))
    one.write_bytes(data[:-1])
    with pytest.raises(UsageError, match="its tallies have"):
        compare_and_check(job(place=place))
    again = PartsFolder("tallies", part_bytes=300, overwrite=True)
    assert json_of(compare_and_check(job(place=again))) == json_of(compare_and_check(job()))
    assert one.read_bytes() == data
    with pytest.raises(UsageError, match="speed is measured in one run"):
        compare_and_check(job(place=place, speed=True))
    for source in (Source(text="low"), Source(("-",))):
        with pytest.raises(UsageError, match="not stdin or a text"):
            compare([bpe_cli.load("gpt2")], source, by_parts=ByParts(place, Local(1)))
    with pytest.raises(UsageError, match=r"the input .* is in the folder of the tallies"):
        compare_and_check(job(Source(("in", "tallies/plan.json"), documents="lines"), place=place))


@pytest.mark.parametrize("how", ["kill", "no room"])
def test_who_is_interrupted_anywhere_loses_the_part_under_way_alone(folder: Path, how: str) -> None:
    arguments = ("compare", "in/e.txt", "in/g.txt.gz", "-t", NAMES[0], "-q", "-j", "1", "--json", "-o", "report.json")
    (folder / "in/e.txt").write_bytes(b"low \n" * (1 << 18))  # two parts
    parts = ("--tallies-dir", "tallies", "--part-size", "1")
    assert call(*arguments, "--tallies-dir", "whole", *parts[2:]).status == 0
    expected, report = contents("whole"), Path("report.json").read_bytes()
    assert len(expected) == 5
    # The two take turns, but for a hunt.
    for at in range(more(1 + (how == "no room"), 1), 61, more(2, 1)):
        for path in (*Path("tallies").glob("*"), Path("report.json")):
            path.unlink(missing_ok=True)
        status = interrupted(folder, at, how, *arguments, *parts)
        whole = [path.stem for path in Path("tallies").glob("part-*.json")]
        assert all(expected[f"{name}.tallies"] == Path(f"tallies/{name}.tallies").read_bytes() for name in whole)
        before = {path.name: path.stat().st_mtime_ns for path in Path("tallies").glob("part-*.json")}
        assert call(*arguments, *parts).status == 0
        assert (contents("tallies"), Path("report.json").read_bytes()) == (expected, report)
        assert before == {name: Path("tallies", name).stat().st_mtime_ns for name in before}
        if status == NO_SUCH_STEP:
            break
    assert status == NO_SUCH_STEP


def test_what_cannot_be_encoded_is_said_as_in_one_run(folder: Path) -> None:
    letters = Tokenizer(RankBpe(Vocabulary.from_tokens([b"l", b"o", b"w"])), name="letters")
    tokenizers = (bpe_cli.load("gpt2"), letters)
    messages = set()
    for by_parts in (None, ByParts(PartsFolder("tallies"), Local(1))):
        with pytest.raises(InputError) as caught:
            compare(tokenizers, OF_LINES, by_parts=by_parts)
        messages.add(caught.value.message)
    assert len(messages) == 1
    assert "letters cannot encode in/" in messages.pop()
    with pytest.raises(InputError, match="there are no tallies"):
        next(tallied_inputs("in", [], []))


def test_the_command_and_the_library(folder: Path) -> None:
    whole = ["compare", "in", "--lines", "-t", NAMES[0], "-t", NAMES[1], "-q"]
    expected = call(*whole, "--json").out
    parts = ["--tallies-dir", "tallies", "--part-size", "1"]
    done = call(*whole[:-1], *parts, "--part", "1/1")
    assert (done.status, done.out, done.err) == (0, b"", "1 part, 250 documents -> tallies\n")
    assert call(*whole, *parts, "--processes", "2", "--json").out == expected
    assert json.loads(Path("tallies/plan.json").read_bytes())["schema"] == "bpe-tallies-plan/1"
    for option, value in (("--part", "1/2"), ("--engine", "ray"), ("--processes", "2"), ("--part-size", "1")):
        refused = call(*whole, option, value)
        assert (refused.status, refused.err) == (2, error(f"{option} needs --tallies-dir"))
    for further in (["--json"], ["-o", "x"], ["--diff"], ["--fail-if", "tokens > 1"], ["--metric", "tokens"]):
        name = {"-o": "--output"}.get(further[0], further[0])
        message = f"--part tallies and compares nothing, and {name} is for a comparison"
        refused = call(*whole, *parts, "--part", "1/2", *further)
        assert (refused.status, refused.err) == (2, error(message, "compare without --part when all parts are tallied"))
    refused = call("compare", "--overlap", "-t", "gpt2", "-t", "gpt2", *parts)
    assert (refused.status, refused.err) == (2, error("--tallies-dir needs inputs", "name files"))
    report = bpe_cli.compare(NAMES, Path("in"), documents="lines")
    for number in (1, 2):
        shared = {"tallies_dir": "shared", "share": (number, 2), "part_bytes": 100}
        assert bpe_cli.compare(NAMES, Path("in"), documents="lines", **shared) is None
    found = bpe_cli.compare(NAMES, Path("in"), documents="lines", tallies_dir="shared", processes=2)
    assert found.to_json() == report.to_json()
    for further in ({"share": (1, 2)}, {"processes": 2}, {"engine": "ray"}, {"part_bytes": 1}, {"overwrite": True}):
        with pytest.raises(UsageError, match=f"`{next(iter(further))}` needs `tallies_dir`"):
            bpe_cli.compare(NAMES, Path("in"), **further)
