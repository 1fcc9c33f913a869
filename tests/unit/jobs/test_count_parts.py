"""Counts that are made part by part are those of one run, are never made twice, and are never taken for others.

Length: one small folder of inputs that all of it is tried on.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import tarfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.corpus import Input, Inputs, Source
from bpe_cli.engines.local import Local
from bpe_cli.errors import FormatError, InputError, OutputError, UsageError
from bpe_cli.formats import dump
from bpe_cli.jobs.count import count_corpus, load_counts
from bpe_cli.jobs.count_parts import COUNTS, add_up, count_parts
from bpe_cli.jobs.merge_counts import FAN_IN, merge_in_tree, remove_merged
from bpe_cli.jobs.parts import Part, Share, divide
from bpe_cli.jobs.parts.doing import PartsFolder, extended
from bpe_cli.jobs.parts.kept import KeptParts
from bpe_cli.jobs.train import TrainJob, train_file
from bpe_cli.jobs.train_options import options_for
from bpe_cli.trainers import ALGORITHMS
from bpe_cli.trainers.counts import items_of
from bpe_cli.training import train
from tests.cli.test_killed_between import NO_SUCH_STEP, interrupted
from tests.cli_runner import call, error
from tests.thorough import more

MEMORY = 1 << 30
OPTIONS = options_for("bbpe", {"vocab_size": 300})
SIZES = {
    "bbpe": 300,
    "bpe": 80,
    "wordpiece": 80,
    "unigram": 40,
    "mingram": 300,
    "picky": 80,
    "scaffold": 80,
    "greedtok": 300,
}
OF_LINES = Source(("in",), documents="lines")


def line(number: int) -> str:
    return f"line {number} {'low lower ' * (number % 4)}newest{number % 7} naïve 日本\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make small files, a compressed one, and one that is cut into extents; work beside them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    for number, name in enumerate("abde"):
        (tmp_path / f"in/{name}.txt").write_text("".join(map(line, range(number, number + 2))))
    (tmp_path / "in/c.txt.gz").write_bytes(gzip.compress("".join(map(line, range(9))).encode()))
    (tmp_path / "in/f.txt").write_text("".join(map(line, range(40))))
    return tmp_path


def counted(counts: str = "counts", source: Source = OF_LINES, **options):
    more = {name: options.pop(name) for name in ("share", "overwrite") if name in options}
    place = PartsFolder(counts, part_bytes=200, **more)
    return count_parts(source, options.pop("trained", OPTIONS), place, max_memory=MEMORY, engine=Local(1), **options)


def items(source: Source = OF_LINES) -> list[tuple[bytes, int]]:
    return list(items_of(count_corpus(source, OPTIONS)))


def added(counts: str = "counts") -> list[tuple[bytes, int]]:
    return list(items_of(add_up(counts, OPTIONS, MEMORY)[0]))


def contents(counts: str = "counts") -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(counts).iterdir() if not path.name.startswith(".")}


def times(counts: str = "counts") -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in Path(counts).glob("part-*")}


def test_the_sum_of_the_parts_is_the_whole_in_its_order(folder: Path) -> None:
    done = counted()
    assert (done.made, done.kept, done.is_whole) == (done.parts, 0, True)
    assert done.parts >= 12
    assert added() == items()
    assert done.total == sum(count for _, count in items())
    before = times()
    again = counted()
    assert (again.made, again.kept, again.total) == (0, done.parts, done.total)
    assert times() == before


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_what_is_learnt_is_the_same(algorithm: str, folder: Path) -> None:
    if algorithm == "list":  # whose lines are tokens with their counts
        for path in (Path("in/c.txt.gz").replace("in/c.txt"), *Path("in").glob("*.txt")):
            path.write_text("".join(f"{path.stem}{each % 7}\t{each}\n" for each in range(90)))
    size = {"vocab_size": SIZES[algorithm]} if algorithm in SIZES else {}
    made = train(Path("in"), algorithm, documents="lines", **size)
    assert train(Path("in"), algorithm, documents="lines", counts_dir="all", **size) == made
    options = options_for(algorithm, size)
    place = PartsFolder("counts", part_bytes=200)
    train_file(TrainJob(options, OF_LINES, counts_folder=place), "t.json")
    train_file(TrainJob(options, counts_folder=place), "again.json")
    expected = dump(made, "bpe.json", ["ids"])[""]
    assert Path("t.json").read_bytes() == Path("again.json").read_bytes() == expected


def test_processes_and_the_size_of_parts_change_nothing(folder: Path) -> None:
    counted()
    count_parts(OF_LINES, OPTIONS, PartsFolder("two", part_bytes=200), max_memory=MEMORY, engine=Local(2))
    assert contents("two") == contents()
    for size in (50, 777, 100_000):
        count_parts(OF_LINES, OPTIONS, PartsFolder(str(size), part_bytes=size), max_memory=MEMORY, engine=Local(1))
        assert added(str(size)) == items()


def test_shares_together_make_the_same_folder(folder: Path) -> None:
    counted()
    for number in (2, 3, 1):
        done = counted("shared", share=Share(number, 3))
        assert done.is_whole == (number == 1)
        if not done.is_whole:
            with pytest.raises(InputError, match="it is missing"):
                add_up("shared", OPTIONS, MEMORY)
    assert contents("shared") == contents()
    job = TrainJob(OPTIONS, OF_LINES, counts_folder=PartsFolder("shared", Share(1, 3)))
    with pytest.raises(UsageError, match="counts some of the parts trains nothing"):
        train_file(job, "t.json")


def test_more_data_costs_the_new_parts_alone(folder: Path) -> None:
    first = counted()
    before = times()
    (folder / "in/g.txt").write_text(line(99))  # behind all others
    (folder / "in/c.txt").write_text(line(98))  # before a part of its own
    more = counted()
    assert (more.made, more.kept) == (2, first.parts)
    assert {name: time for name, time in times().items() if name in before} == before
    assert added() == items()
    group = next(part for part in json.loads(Path("counts/plan.json").read_bytes())["parts"] if len(part) > 1)
    Path(group[0]["path"] + ".more.txt").write_text(line(97))  # between two files of a part
    between = counted()
    assert between.made >= 1
    assert added() == items()
    names = {path.stem for path in Path("counts").glob("part-*")}
    assert len(names) == between.parts  # of the part that was divided nothing is left


def test_what_has_changed_is_named_and_counted_again(folder: Path) -> None:
    counted()
    plan = json.loads(Path("counts/plan.json").read_bytes())["parts"]
    before = contents()
    with open("in/f.txt", "a") as file:
        file.write(line(5))
    with pytest.raises(UsageError, match=r"the counts in counts are of files that have changed: in/f\.txt") as caught:
        counted()
    assert "keeps the counts of all others" in str(caught.value.hint)
    assert contents() == before
    again = counted(overwrite=True)
    assert again.kept == len([part for part in plan if part[0]["path"] != "in/f.txt"])
    assert added() == items()
    os.unlink("in/a.txt")
    with pytest.raises(UsageError, match=r"also of files that are not named now: in/a\.txt"):
        counted()
    counted(overwrite=True)
    assert added() == items()


def test_what_has_changed_and_kept_its_size_is_named_and_counted_again(folder: Path) -> None:
    counted()
    parts = json.loads(Path("counts/plan.json").read_bytes())["parts"]
    before = contents()
    path = Path("in/f.txt")
    path.write_bytes(path.read_bytes()[:-3] + b"XX\n")
    with pytest.raises(UsageError, match=r"the counts in counts are of files that have changed: in/f\.txt$") as caught:
        counted()
    assert "keeps the counts of all others" in str(caught.value.hint)
    assert contents() == before
    os.utime(path, ns=(0, 0))  # as a file that was written long ago and moved here
    with pytest.raises(UsageError, match="have changed"):
        counted()
    again = counted(overwrite=True)
    assert again.made == len([part for part in parts if part[0]["path"] == "in/f.txt"][-1:]) == 1
    assert added() == items()


def test_what_changes_while_its_part_is_counted_is_noticed(folder: Path) -> None:
    """The record of a part is written when all is read, and the input may be another one by then."""
    write = KeptParts.write

    def change_and_write(kept: KeptParts, part: Part, *more: Any) -> None:
        if part.number == 0:
            path = Path(part.inputs[0].path)
            path.write_bytes(path.read_bytes()[:-3] + b"XX\n")
            time.sleep(0.05)  # the clock of files goes by steps
        write(kept, part, *more)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(KeptParts, "write", change_and_write)
        with pytest.raises(InputError, match=r"in/a\.txt changed while the counts in counts were made") as caught:
            counted()
    assert caught.value.hint == "run the same command with `overwrite` when nobody writes to the inputs"
    with pytest.raises(UsageError, match=r"the counts in counts are of files that have changed: in/a\.txt$"):
        counted()
    assert counted(overwrite=True).made == 1
    assert added() == items()


def test_a_file_of_another_size_than_the_plan_says_is_refused(folder: Path) -> None:
    class Late(Local):
        def run(self, *args: Any) -> Any:
            os.truncate("in/b.txt", 5)
            return Local.run(self, *args)

    size = os.stat("in/b.txt").st_size
    with pytest.raises(InputError, match=rf"^in/b\.txt has 5 bytes in place of {size}: it changed since") as caught:
        count_parts(OF_LINES, OPTIONS, PartsFolder("counts"), max_memory=MEMORY, engine=Late(1))
    assert "overwrite" in str(caught.value.hint)
    assert not os.path.exists("counts")
    assert counted(overwrite=True).is_whole
    assert added() == items()


def test_a_share_counts_what_has_changed_again_if_it_is_its_own(folder: Path) -> None:
    counted(share=Share(1, 2))
    counted(share=Share(2, 2))
    path = Path("in/f.txt")
    path.write_bytes(path.read_bytes()[:-3] + b"XX\n")
    for number in (1, 2):
        with pytest.raises(UsageError, match="have changed"):
            counted(share=Share(number, 2))
    made = [counted(share=Share(number, 2), overwrite=True).made for number in (1, 2)]
    assert sorted(made) == [0, 1]
    assert added() == items()


def test_other_settings_are_named(folder: Path) -> None:
    counted()
    other = options_for("bbpe", {"vocab_size": 300, "pattern": "gpt2"})
    with pytest.raises(UsageError, match="were made with other settings: cutting"):
        counted(trained=other)
    with tarfile.open("x.tar", "w") as archive:
        archive.add("in/a.txt")
        archive.add("in/b.txt", "b.md")
    sources = {ending: Source(("x.tar",), member=ending) for ending in ("md", "txt")}
    for ending, source in sources.items():
        counted(ending, source)
        for another in sources.values():  # the settings of one have no ending
            if another is not source:
                with pytest.raises(UsageError, match=r"were made with other settings: member$"):
                    counted(ending, another)
    with pytest.raises(UsageError, match="were made with other settings: documents"):
        counted(source=Source(("in",)))
    larger = options_for("bbpe", {"vocab_size": 400})  # which changes no count
    assert counted(trained=larger).made == 0
    done = counted(trained=other, overwrite=True)
    assert done.made == done.parts == len(list(Path("counts").glob("*.counts")))
    with pytest.raises(UsageError):
        add_up("counts", options_for("bbpe", {"vocab_size": 300, "pattern": "cl100k"}), MEMORY)


def test_which_sentences_are_chosen_is_a_setting(folder: Path) -> None:
    short = options_for("bpe", {"vocab_size": 80, "compat": "sentencepiece", "max_sentence_length": 50})
    longer = options_for("bpe", {"vocab_size": 80, "compat": "sentencepiece"})
    counted(trained=short)
    with pytest.raises(UsageError, match="were made with other settings: chosen"):
        counted(trained=longer)
    with pytest.raises(UsageError, match="chosen with other options"):
        add_up("counts", longer, MEMORY)
    expected = count_corpus(OF_LINES, short)
    assert list(items_of(add_up("counts", short, MEMORY)[0])) == list(items_of(expected))
    sample = options_for("unigram", {"vocab_size": 80, "input_sentence_size": 9})
    with pytest.raises(UsageError, match="draws a sample of the whole corpus"):
        counted("other", trained=sample)


@pytest.mark.parametrize(
    ("ending", "harm", "reason"),
    [
        (".counts", lambda path: path.unlink(), "its counts are missing"),
        (".counts", lambda path: path.write_bytes(path.read_bytes()[:-1]), "and its record says otherwise"),
        (".json", lambda path: path.write_bytes(b"{"), "its record is damaged"),
        (".json", lambda path: path.write_bytes(b'{"schema": "bpe-counts-part/1"}'), "its record is damaged"),
        (
            ".json",
            lambda path: path.write_bytes(path.read_bytes().replace(b'"bytes": 5', b'"bytes": 6')),
            "(says otherwise|other options or inputs)",
        ),
    ],
)
def test_what_is_damaged_is_named(folder: Path, ending: str, harm, reason: str) -> None:
    done = counted()
    path = sorted(Path("counts").glob(f"part-*{ending}"))[1]
    before = contents()
    if b'"bytes": 5' not in before[path.with_suffix(".json").name]:
        path = next(each for each in Path("counts").glob("*.json") if b'"bytes": 5' in before[each.name])
        path = path.with_suffix(ending)
    harm(path)
    for check in (counted, added):
        with pytest.raises((UsageError, InputError), match=f"{path.stem}: .*{reason}"):
            check()
    again = counted(overwrite=True)
    assert (again.made, again.kept) == (1, done.parts - 1)
    assert contents() == before


def test_counts_that_were_changed_are_not_added(folder: Path) -> None:
    counted()
    path = sorted(Path("counts").glob("*.counts"))[0]
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(FormatError, match=f"{path.name}: the counts do not have the checksum") as caught:
        added()
    assert caught.value.hint == "remove the file, and count again with `overwrite`"


def test_what_cannot_be_divided_is_refused(folder: Path) -> None:
    for source in (Source(), Source(("-",)), Source(text="low")):
        with pytest.raises(UsageError, match="not stdin or a text"):
            counted(source=source)
    with pytest.raises(UsageError, match="is not a plain file, and parts are made only of files"):
        counted(source=Source(("/dev/null",)))
    with pytest.raises(OutputError, match="is not a folder"):
        counted("in/a.txt")
    Path("other").mkdir()
    Path("other/notes.txt").write_text("")
    with pytest.raises(UsageError, match=r"is not empty, and has no counts in it: notes\.txt"):
        counted("other")
    counted()
    with pytest.raises(UsageError, match="is in the folder of the counts"):
        counted(source=Source(("in", "counts/plan.json"), documents="lines"))
    with pytest.raises(InputError, match="there are no counts in nowhere"):
        added("nowhere")
    Path("counts/plan.json").write_text('{"schema": "bpe-counts-plan/1", "settings": {}, "parts": [[{}]]}')
    with pytest.raises(InputError, match="is not the plan of counts"):
        counted()
    assert counted(overwrite=True).is_whole
    with pytest.raises(UsageError, match="`output` is in the folder of the counts"):
        train_file(TrainJob(OPTIONS, OF_LINES, counts_folder=PartsFolder("counts")), "counts/t.json")
    with pytest.raises(UsageError, match="the corpus is texts"):
        train(["low"], counts_dir="counts", vocab_size=300)


def test_a_file_that_is_named_twice_counts_twice(folder: Path) -> None:
    source = Source(("in/f.txt", "in/a.txt", "in/f.txt", "in/a.txt"), documents="lines")
    counted(source=source)
    assert added() == items(source)
    assert counted(source=source).made == 0


@pytest.mark.parametrize("how", ["kill", "no room"])
def test_who_is_interrupted_anywhere_loses_the_part_under_way_alone(folder: Path, how: str) -> None:
    arguments = ("train", "in/a.txt", "in/c.txt.gz", "in/b.txt", "--lines", "--counts-dir", "counts", "-j", "1", "-q")
    (folder / "in/c.txt.gz").write_bytes(gzip.compress(b"low lower " * (1 << 17) + b"\n", 0))  # a part of its own
    size = ("--part-size", "1")
    assert call(*arguments, *size, "--counts-dir", "whole").status == 0
    expected = contents("whole")
    assert len(expected) >= 5
    # The two take turns, but for a hunt.
    for at in range(more(1 + (how == "no room"), 1), 61, more(2, 1)):
        for path in Path("counts").glob("*"):
            path.unlink()
        status = interrupted(folder, at, how, *arguments, *size)
        whole = [path.stem for path in Path("counts").glob("part-*.json")]
        assert all(expected[f"{name}.counts"] == Path(f"counts/{name}.counts").read_bytes() for name in whole)
        before = times()
        assert call(*arguments, *size).status == 0
        assert contents() == expected
        assert all(times()[f"{name}.json"] == before[f"{name}.json"] for name in whole)
        if status == NO_SUCH_STEP:
            break
    assert status == NO_SUCH_STEP


@given(
    st.lists(st.integers(0, 300), min_size=1, max_size=12),
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 300)), max_size=4),
    st.sets(st.integers(0, 20)),
    st.tuples(st.integers(1, 200), st.integers(1, 200)),
)
def test_parts_cover_the_inputs_in_order_and_stay(sizes, more, lost, part_bytes) -> None:
    source = Source(("x",))
    first = [Input(f"{number:02}", size) for number, size in enumerate(sizes)]
    plan = [part.described() for part in divide(Inputs(tuple(first)), source, part_bytes[0])]
    later = list(first)
    for place, size in more:
        later.insert(place, Input(f"new {len(later)}", size))
    parts = extended(plan, Inputs(tuple(later)), source, part_bytes[1])
    assert [item for part in parts for item in part.inputs] == later
    new = [part.described() for part in parts]
    order = [item.path for item in later]
    for part in plan:
        paths = [each["path"] for each in part]
        if all(order.index(right) == order.index(left) + 1 for left, right in pairwise(paths)):
            assert part in new  # what still follows each other is not counted again
    assert [part.described() for part in extended(new, Inputs(tuple(later)), source, part_bytes[0])] == new
    # A machine that shares the work begins when the plan of another is there, or is not: with the same parts.
    there = [part for number, part in enumerate(new) if number not in lost or part in plan]
    assert [part.described() for part in extended(plan, Inputs(tuple(later)), source, part_bytes[1])] == new
    assert [item for part in extended(there, Inputs(tuple(later)), source, 99) for item in part.inputs] == later


def test_dividing_asks_each_input_for_its_size_a_few_times() -> None:
    """However many small ones share a part."""
    asked = 0

    class Asked(Input):
        __slots__ = ()

        def __getattribute__(self, name: str) -> Any:
            nonlocal asked
            asked += name == "size"
            return super().__getattribute__(name)

    items = tuple(Asked(f"{number:04}", 1) for number in range(1000))
    assert [len(part.inputs) for part in divide(Inputs(items), Source(("x",)), 900)] == [900, 100]
    assert asked <= 3000


def test_the_command_line_says_what_is_there(folder: Path) -> None:
    shared = ("train", "in", "--lines", "--counts-dir", "counts")
    (folder / "big.txt").write_text(line(3) * 30_000)
    shared = (*shared[:1], "big.txt", *shared[1:], "--part-size", "1")
    assert call(*shared, "--part", "2/2").err == "1 of 3 parts, 195,000 pieces -> counts\n"
    assert call(*shared).err == "3 parts (2 new), 390,567 pieces -> counts\n"
    assert call(*shared).err == "3 parts (0 new), 390,567 pieces -> counts\n"
    shutil.copytree("counts", "lost")
    next(Path("lost").glob("*.counts")).unlink()
    lost = call("train", "--counts-dir", "lost", "-s", "300", "-q")
    assert (lost.status, "its counts are missing" in lost.err) == (2, True)  # 1 is for checks that were asked for
    trained = call("train", "--counts-dir", "counts", "-s", "300", "-q")
    assert trained.out == call("train", "big.txt", "in", "--lines", "-s", "300", "-q").out
    assert trained.out == call(*shared, "-s", "300", "-q").out
    kept = call(*shared, "--counts-out", "all.counts", "-q")
    assert kept.status == 0
    assert call("train", "--from-counts", "all.counts", "-s", "300", "-q").out == trained.out
    for option in (("--part", "1/2"), ("--part-size", "9"), ("--overwrite",)):
        result = call("train", "in", "--lines", "-s", "300", *option)
        assert result.err == error(f"{option[0]} needs --counts-dir")
    both = call("train", "--counts-dir", "counts", "--from-counts", "all.counts", "-s", "300")
    assert both.err == error("--from-counts and --counts-dir cannot be used together")
    assert call(*shared, "--part", "x").err == error("--part 'x' is not K/N", "for example: --part 3/8")
    assert call("train", "-T", "low", "--counts-dir", "counts").status == 2


def test_a_tree_of_files_adds_up_to_the_same(folder: Path) -> None:
    counted()
    found = KeptParts.of(COUNTS, "counts", json.loads(Path("counts/plan.json").read_bytes())["settings"])
    plan = json.loads(Path("counts/plan.json").read_bytes())["parts"]
    files = [found.path(each) for each in plan]
    hashes = [each.sha256 for each in found.all_found(plan)]
    assert len(files) > FAN_IN
    left = merge_in_tree("counts/merged", files, hashes, MEMORY, Local(1))
    assert len(left) <= FAN_IN
    assert list(items_of(load_counts(left, OPTIONS, MEMORY)[0])) == items()
    made = {path.name: path.stat().st_mtime_ns for path in Path("counts/merged").iterdir()}
    Path(left[0]).unlink()  # a run was lost before it made this one
    assert merge_in_tree("counts/merged", files, hashes, MEMORY, Local(1)) == left
    again = {path.name: path.stat().st_mtime_ns for path in Path("counts/merged").iterdir()}
    assert {name for name in made if made[name] != again[name]} == {os.path.basename(left[0])}
    one, two = (add_up("counts", OPTIONS, MEMORY, engine=Local(number))[0].dump() for number in (1, 2))
    assert one == two
    assert not Path("counts/merged").exists()


def test_the_sum_is_not_that_of_counts_that_were_there_before(folder: Path) -> None:
    counted()
    engine = Local(2)
    plan = json.loads(Path("counts/plan.json").read_bytes())
    found = KeptParts.of(COUNTS, "counts", plan["settings"])
    files = [found.path(each) for each in plan["parts"]]
    hashes = [each.sha256 for each in found.all_found(plan["parts"])]
    merge_in_tree("counts/merged", files, hashes, MEMORY, engine)  # a run that was lost before it trained
    text = Path("in/f.txt").read_text()
    Path("in/f.txt").write_text(text.replace("low", "new"))  # of the same size, so nobody sees that it has changed
    for described in plan["parts"]:
        if described[0]["path"] == "in/f.txt":
            Path(found.path(described)).unlink()
    counted(overwrite=True)
    assert list(items_of(add_up("counts", OPTIONS, MEMORY, engine=engine)[0])) == items()


@pytest.mark.parametrize("moment", ["made", "read"])
def test_another_run_may_remove_the_sums(moment: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two train on the same counts at a time, and the first that is done removes the sums that both use."""
    counted()

    def merged_and_lost(place: str, *arguments: Any) -> list[str]:
        left = merge_in_tree(place, *arguments)
        remove_merged(os.path.dirname(place))
        if moment == "made":
            os.path.getsize(left[0])  # as at the next level of the tree
        return left

    monkeypatch.setattr("bpe_cli.jobs.count_parts.merge_in_tree", merged_and_lost)
    assert list(items_of(add_up("counts", OPTIONS, MEMORY, engine=Local(2))[0])) == items()


def test_where_sums_cannot_be_kept_the_parts_are_added_up_without_them(folder: Path) -> None:
    counted()
    Path("counts/merged").write_text("somebody's")
    result = call("train", "--counts-dir", "counts", "--processes", "2", "-s", "300")
    assert "cannot make the folder counts/merged: file exists; the parts are added up one after the other" in result.err
    assert result.out == call("train", "--counts-dir", "counts", "-s", "300", "-q").out
    assert Path("counts/merged").read_text() == "somebody's"


def test_the_library_counts_a_share(folder: Path) -> None:
    expected = train(Path("in"), vocab_size=300, documents="lines")
    for number in (1, 2):
        assert train(Path("in"), vocab_size=300, documents="lines", counts_dir="shared", share=(number, 2)) is None
    before = times("shared")
    assert train(Path("in"), vocab_size=300, documents="lines", counts_dir="shared", processes=2) == expected
    assert times("shared") == before
    for options in ({"share": (1, 2)}, {"processes": 2}, {"engine": "ray"}):
        with pytest.raises(UsageError, match=f"`{next(iter(options))}` needs `counts_dir`"):
            train(Path("in"), vocab_size=300, **options)
    for wrong in ((1,), [1, 2], ("a", 1), 3):
        with pytest.raises(TypeError, match="share must be"):
            train(Path("in"), vocab_size=300, counts_dir="shared", share=wrong)
    with pytest.raises(UsageError, match="no engine 'cluster'"):
        train(Path("in"), vocab_size=300, counts_dir="shared", engine="cluster")


def test_the_command_has_engines(folder: Path) -> None:
    whole = ["train", "in", "--lines", "-s", "300", "-o", "one.json", "-q"]
    call(*whole)
    call(*whole[:4], "300", "-o", "two.json", "-q", "--counts-dir", "counts", "--engine", "local", "--processes", "2")
    assert Path("one.json").read_bytes() == Path("two.json").read_bytes()
    for option, value in (("--engine", "ray"), ("--processes", "2")):
        refused = call(*whole, option, value)
        assert (refused.status, refused.err) == (2, error(f"{option} needs --counts-dir"))
    refused = call(*whole, "--counts-dir", "counts", "--engine", "rays")
    assert (refused.status, "there is no engine 'rays'" in refused.err) == (2, True)
