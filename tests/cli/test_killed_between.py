"""Files that belong together, and a run that is killed, or has no room left, at every step of writing them."""

from __future__ import annotations

import json

import pytest

from tests import forking
from tests.cli_runner import call

GPT2 = ("-t", "gpt2")
OLD, NEW = b"the old text", b"any new words"  # of as many tokens, so that no size tells them apart
STEPS = ("replace", "fsync", "link", "unlink", "fchmod")
MOST_STEPS = 60
NO_SUCH_STEP = 77

PAIR = ("-f", "vocab-merges", "--allow-loss", "pattern,ids")

# Counts the calls that change a folder, and at the one with the given number dies, or finds no room.
SCRIPT = f"""
import errno, os, sys
at, how, calls = int(sys.argv[1]), sys.argv[2], 0
def watched(name, original):
    def step(*arguments, **options):
        global calls
        calls += 1
        if calls == at:
            if how == "kill":
                os._exit(9)
            raise OSError(errno.ENOSPC, "No space left on device")
        done = original(*arguments, **options)
        if calls == at - 1 and how == "kill after":
            os._exit(9)
        return done
    return step
for name in {STEPS}:
    setattr(os, name, watched(name, getattr(os, name)))
from bpe_cli.cli.app import main
status = main(sys.argv[3:])
sys.exit(status if calls >= at else {NO_SUCH_STEP})
"""


def interrupted(folder, at, how, *arguments):
    """Run a command that comes to grief at a step; give its status, which is 0 too where it finds another way."""
    done = forking.run(SCRIPT, str(at), how, *arguments, cwd=folder)
    assert done.returncode in (0, 2, 9, NO_SUCH_STEP), done.stderr
    assert (b"no space left on device" in done.stderr) == (done.returncode == 2)
    return done.returncode


def every_step(folder, how, prepare, *arguments):
    """Come to grief at every step, each time from what ``prepare`` makes; yield the status of each run."""
    for at in range(1, MOST_STEPS):
        for path in folder.iterdir():
            path.unlink() if path.is_file() else None
        prepare()
        status = interrupted(folder, at, how, *arguments)
        yield status
        if status == NO_SUCH_STEP:
            return
    pytest.fail(f"more than {MOST_STEPS} steps")


def without_hash(path):
    """Make a description as earlier versions wrote it."""
    about = json.loads(path.read_bytes())
    path.write_text(json.dumps({key: value for key, value in about.items() if key not in ("sha256", "bytes", "bos")}))


@pytest.mark.parametrize("how", ["kill", "no room"])
@pytest.mark.parametrize("before", ["nothing", "a pair", "an older pair"])
@pytest.mark.parametrize("to", ["bin", "npy"])
def test_ids_and_what_describes_them(tmp_path, to, before, how):
    """A reader sees the old pair, the new one, or is told that there is none."""
    folder = tmp_path / "work"
    folder.mkdir()
    name = f"x.{to}"

    def prepare():
        (folder / "in").write_bytes(NEW)
        if before != "nothing":
            call("encode", "-T", OLD.decode(), *GPT2, "--eot", "0", "-o", name, "-q", cwd=folder)
        if before == "an older pair":
            without_hash(folder / f"{name}.json")

    seen = set()
    for status in every_step(folder, how, prepare, "encode", "in", *GPT2, "--eot", "1", "-o", name, "-q"):
        read = call("decode", name, *GPT2, cwd=folder)
        if read.status == 0:
            assert read.out in (OLD, NEW)
            seen.add("old" if read.out == OLD else "new")
            about = json.loads((folder / f"{name}.json").read_bytes())
            assert about["eot"] == (0 if read.out == OLD else 1)
        elif not (folder / name).exists():
            assert before == "nothing"
            seen.add("none")
        else:
            assert read.err.startswith(f"error: {name} has other numbers than {name}.json describes\n\nhint: one of")
            seen.add("told")
        assert status not in (0, NO_SUCH_STEP) or read.out == NEW
        if how != "kill":
            assert [path.name for path in folder.iterdir() if path.name.endswith(".part")] == []
    first = "none" if before == "nothing" else "old"
    assert {first, "new"} <= seen
    assert ("told" in seen) == (before != "nothing")


@pytest.mark.parametrize("how", ["kill", "no room"])
def test_vocabulary_and_merges(tmp_path, how):
    """The two never come from different runs; without room nothing changes unless the renaming itself fails."""
    folder = tmp_path / "work"
    folder.mkdir()
    (tmp_path / "old").mkdir()
    (tmp_path / "new").mkdir()
    for name, size in (("old", "258"), ("new", "259")):
        call("train", "-T", "low low lower", "-s", size, "-o", f"{name}.json", "-q", cwd=tmp_path)
        call("convert", f"{name}.json", *PAIR, "-o", name, "-q", cwd=tmp_path)
    files = ("vocab.json", "merges.txt")
    old, new = ([(tmp_path / name / each).read_bytes() for each in files] for name in ("old", "new"))

    def prepare():
        for each, content in zip(files, old, strict=True):
            (folder / each).write_bytes(content)

    told = 0
    for _ in every_step(folder, how, prepare, "convert", "../new.json", *PAIR, "-o", ".", "-q"):
        found = [(folder / each).read_bytes() if (folder / each).exists() else None for each in files]
        if found not in (old, new):
            assert found[0] is None, "the vocabulary stands beside other merges"
            read = call("encode", "-T", "low", "-t", ".", cwd=folder)
            assert (read.status, read.out) == (2, b"")
            told += 1
    assert told, "no step lies between the two"


def test_a_map_of_ids_and_its_tokenizer(tmp_path):
    """The map is not written beside an older tokenizer."""
    folder = tmp_path / "work"
    folder.mkdir()
    call("train", "-T", "low low lower", "-s", "258", "-o", "../t.json", "-q", cwd=folder)
    old = (tmp_path / "t.json").read_bytes()

    def prepare():
        (folder / "grown.json").write_bytes(old)
        (folder / "more").write_text("<new>\n")

    arguments = ("convert", "../t.json", "--add-tokens", "more", "-o", "grown.json", "--id-map", "map.json", "-q")
    beside_the_old = [
        (folder / "map.json").exists()
        for _ in every_step(folder, "kill", prepare, *arguments)
        if (folder / "grown.json").exists() and (folder / "grown.json").read_bytes() == old
    ]
    assert beside_the_old
    assert not any(beside_the_old)


def test_a_pair_is_refused_that_is_of_two_runs(tmp_path):
    for number, text in enumerate((OLD, NEW)):
        call("encode", "-T", text.decode(), *GPT2, "-q", "-o", f"{number}.bin", cwd=tmp_path)
    (tmp_path / "0.bin.json").replace(tmp_path / "1.bin.json")
    read = call("decode", "1.bin", *GPT2, "-o", "out", cwd=tmp_path)
    assert (read.status, read.out) == (2, b"")
    assert read.err == (
        "error: 1.bin has other numbers than 1.bin.json describes\n\nhint: one of the two is from another run: encode "
        "again, or move the .json file away and give --dtype and --eot yourself\n"
    )
    assert not (tmp_path / "out").exists()
    # The way out.
    (tmp_path / "1.bin.json").unlink()
    assert call("decode", "1.bin", *GPT2, "--dtype", "u16", cwd=tmp_path) == (0, NEW, "")
