"""What a loss of power may leave: the calls of each run that writes, in their order.

A disk may write what it was given in any order until it is told to sync. So a file's bytes are to be synced before the
file gets its name, and the folder that holds the name afterwards; a folder that is made is synced into its own folder;
and what says that other files are whole gets its name after theirs are on the disk.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath
from random import Random

from tests.cli_runner import COMMAND, surroundings
from tests.interrupting import RUNS, prepare
from tests.proof.attempts import Found, Proof
from tests.proof.kinds.failing import build

SET = ("prepare", "text", "-t", "gpt2", "--lines", "--eot", "50256", "-o", "set", "--to")

WRITERS: Mapping[str, tuple[str, ...]] = {
    **{name: arguments for name, arguments in RUNS.items() if "-o" in arguments},
    "encode npy": ("encode", "text", "-t", "gpt2", "--to", "npy", "-o", "out"),
    "counts": ("train", "text", "-s", "300", "--counts-out", "counts", "-o", "out"),
    "folder": ("convert", "t.json", "-o", "folder", "-f", "huggingface", "-q"),
    "report": ("inspect", "text", "-t", "t.json", "--html", "out.html", "--svg", "out.svg"),
    **{f"data set {to}": (*SET, to) for to in (
        "bin", "npy", "npy-offsets", "megatron", "datatrove", "litdata", "mds", "webdataset", "arrow", "datasets",
        "parquet",
    )},
    "data set of two": (*SET, "bin", "--val", "0.5"),
    "data set shuffled": (*SET, "bin", "--shuffle", "documents"),
    "data set of parts": (*SET, "megatron", "--part-size", "4000"),
    "pictures": ("compare", "text", "-t", "gpt2", "-t", "t.json", "--svg", "pictures/", "-q"),
}  # fmt: skip
"""The runs that write files, those of several too."""

MARKS = re.compile(r"(.*/)?(manifest|part-\d+)\.json")
"""What says of other files that they are whole."""

Call = tuple[str, str, str]
"""What a call does, the path, and what was called that until then."""


class Desk:
    """What all attempts share: the library that writes calls down, and a folder with what the runs read."""

    def __init__(self, folder: Path) -> None:
        """Compile the library."""
        self._library, self._log = build(folder), folder / "calls.log"
        (folder / "runs").mkdir()
        self.folder = (folder / "runs").resolve()
        prepare(self.folder)
        self._before = {path.name for path in self.folder.iterdir()}

    def calls(self, arguments: Sequence[str]) -> tuple[list[Call], set[str], subprocess.CompletedProcess[bytes]]:
        """Run a command; return its calls in their order, the files that are there now, and how it ended."""
        self._log.unlink(missing_ok=True)
        env: dict[str, str | None] = {
            "LD_PRELOAD": str(self._library), "FAIL_UNDER": str(self.folder), "FAIL_LOG": str(self._log),
        }  # fmt: skip
        done = subprocess.run(
            [*COMMAND, *arguments], cwd=self.folder, env=surroundings(env), stdin=subprocess.DEVNULL,
            capture_output=True, check=False, timeout=120,
        )  # fmt: skip
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        return [self._call(line) for line in lines], set(self.made()), done

    def _call(self, line: str) -> Call:
        kind, _, rest = line.partition(" ")
        path, _, old = rest.partition("\t")
        return kind, *(str(self.folder / each) if each else "" for each in (path, old))  # type: ignore[return-value]

    def made(self) -> Iterator[str]:
        """Yield the paths of the files that are there and were not before any run."""
        for path in self.folder.rglob("*"):
            if path.is_file() and path.relative_to(self.folder).parts[0] not in self._before:
                yield str(path)

    def clean(self) -> None:
        """Remove what a run made."""
        for path in self.folder.iterdir():
            if path.name not in self._before:
                shutil.rmtree(path) if path.is_dir() else path.unlink()


@contextmanager
def begin(folder: Path) -> Iterator[Desk]:
    """Write what the runs read."""
    yield Desk(folder)


def attempt(desk: Desk, chance: Random, number: int) -> Counter[str]:
    """Run the next command, where nothing is or over what an earlier run made; look at the order of its calls."""
    name = list(WRITERS)[number % len(WRITERS)]
    arguments = WRITERS[name]
    try:
        over = chance.random() < 0.5
        if over:
            desk.calls(arguments)
            arguments = (*arguments, *(["--overwrite"] if arguments[0] == "prepare" else []))
        calls, made, done = desk.calls(arguments)
    finally:
        desk.clean()
    files = {"calls.txt": "\n".join("\t".join(call) for call in calls).encode(), "stderr.txt": done.stderr}
    what = f"`bpe {' '.join(arguments)}`" + " over an older one" * over
    if done.returncode != 0 or not made:
        raise Found(f"{what} ends with status {done.returncode}: {done.stderr[-300:]!r}", files)
    # A data set that is there already is left as it is.
    if wrong := fault(calls, made if not over else set()):
        raise Found(f"{what}: {wrong}".replace(f"{desk.folder}/", ""), files)
    kinds = Counter(f"calls: {kind}" for kind, _, _ in calls if kind in ("write", "fsync", "link", "rename", "mkdir"))
    return kinds + Counter({"runs that write": 1, f"runs of bpe {arguments[0]}": 1, "files that got their name": sum(
        kind == "rename" for kind, _, _ in calls)})  # fmt: skip


def fault(calls: Sequence[Call], made: set[str]) -> str | None:
    """Return what a loss of power could do between these calls; None if nothing.

    Args:
        calls: The calls in their order.
        made: The files that are to be there in the end.

    >>> draft, there = [("write", "/a/#1", ""), ("fsync", "/a/#1", ""), ("rename", "/a/out", "/a/#1")], {"/a/out"}
    >>> fault([*draft, ("fsync", "/a", "")], there)
    >>> fault(draft, there)
    'nothing makes the name of /a/out durable'
    >>> fault([draft[0], draft[2], ("fsync", "/a", "")], there)
    '/a/out gets its name before its bytes are synced'
    """
    unsynced: set[str] = set()
    names: dict[str, str] = {}  # name -> the folder in which nothing has made it durable yet
    named: set[str] = set()
    for kind, path, old in calls:
        if kind in ("write", "ftruncate"):
            unsynced.add(path)
        elif kind == "fsync":
            unsynced.discard(path)
            names = {name: folder for name, folder in names.items() if folder != path}
        elif kind == "mkdir" and path not in named:  # else it was there, and nothing is made
            named.add(path)
            names[path] = str(PurePath(path).parent)
        elif kind == "unlink":
            unsynced.discard(path)
            names.pop(path, None)
        elif kind in ("link", "rename"):
            if old in unsynced:
                return f"{path} gets its name before its bytes are synced"
            if kind == "rename":
                names.pop(old, None)
            if path.endswith(".part"):
                continue
            if MARKS.fullmatch(path) and (other := not_durable(path, names)):
                return f"{path} says that {other} is there, whose name is not durable yet"
            names[path] = str(PurePath(path).parent)
            named.add(path)
    if left := sorted(made & unsynced):
        return f"the bytes of {left[0]} are never synced"
    if left := sorted(name for name in names if name in made or any(each.startswith(f"{name}/") for each in made)):
        return f"nothing makes the name of {left[0]} durable"
    if strange := sorted(made - named):
        return f"{strange[0]} is written where it lies, and no draft gets its name"
    return None


def not_durable(mark: str, names: Mapping[str, str]) -> str | None:
    """Return a file beside or below what says that it is whole, of whose name nothing has made sure; None without."""
    place = PurePath(mark)
    stem = "" if place.stem == "manifest" else place.stem
    inside = f"{place.parent}/"
    return next((name for name in names if name.startswith(inside) and stem in PurePath(name).name), None)


PROOF = Proof(
    title="Order before a loss of power",
    claim="All system calls of each command that writes are recorded, with and without older files, and for outputs "
    "of several files. A file is synced before it gets its name, and its folder after that; so is the parent of "
    "a new folder. The record of a part and the manifest get their names only after all files that they mention "
    "are synced. We believe the disk when it says that data is synced.",
    begin=begin,
    attempt=attempt,
)
