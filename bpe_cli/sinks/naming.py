"""Infer from a file's name what is in it, and refuse a name that contradicts what is written."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

from bpe_cli.errors import UsageError
from bpe_cli.support.fast_dataclass import dataclass

ENDINGS: Mapping[str, tuple[str, ...]] = {
    "ids": (".ids",),
    "tokens": (".tokens",),
    "jsonl": (".jsonl", ".ndjson"),
    "npy": (".npy",),
    "bin": (".bin",),
    "count": (".count",),
}
"""How the files of each sink are called; the first is what messages advise. Nothing else says it."""

TEXT = (".txt", ".text")
"""Names of any text: they do not say of which kind it is."""

PACKED = {".gz": "gzip", ".zst": "zstd"}
"""How compressed files are called, and by what they are compressed."""

IN_PLACE = ("npy", "bin")
"""The sinks whose files are read where they lie (``mmap``), which compressed ones cannot be."""

REPORTS = (".json", ".csv", ".tsv", ".md", ".tex", ".html", ".htm", ".svg", ".png")
"""Names of what other options and commands write."""

FOREIGN = (".bz2", ".xz", ".zip", ".parquet", ".arrow", ".feather", ".npz", ".pt", ".safetensors", ".idx")
"""Names of what nothing here writes, and what a program that reads them would choke on."""

_KNOWN = frozenset((*(each for all_of_one in ENDINGS.values() for each in all_of_one), *TEXT, *REPORTS, *FOREIGN))


@dataclass(frozen=True, slots=True)
class Name:
    """What a path says about a file: its ending (``.jsonl``; empty if unknown), and that of its compression."""

    ending: str
    packed: str


def read_name(path: str | None) -> Name:
    """Take the endings off a path.

    >>> read_name("a/x.jsonl.gz"), read_name("X.NPY")
    (Name(ending='.jsonl', packed='.gz'), Name(ending='.npy', packed=''))
    >>> read_name("x.en"), read_name(".zst")
    (Name(ending='', packed=''), Name(ending='', packed=''))
    """
    stem, last = os.path.splitext(os.path.basename(path or "").casefold())
    packed = last if last in PACKED else ""
    if packed:
        last = os.path.splitext(stem)[1]
    return Name(last if last in _KNOWN else "", packed)


def sink_of_name(path: str | None) -> str | None:
    """Return the sink that writes files of such a name; None if the name does not say.

    >>> sink_of_name("x.npy"), sink_of_name("x.jsonl.zst"), sink_of_name("x.txt")
    ('npy', 'jsonl', None)
    """
    ending = read_name(path).ending
    return next((sink for sink, endings in ENDINGS.items() if ending in endings), None)


def check_name(
    option: str,
    path: str | None,
    what: str,
    accepted: Collection[str],
    *,
    packable: bool = False,
    way_out: str | None = None,
) -> None:
    """Check that a file's name does not contradict its contents; unknown endings are accepted.

    Args:
        option: The option that names it.
        path: The file; None for none.
        what: What is written, as messages call it.
        accepted: The endings of such files, the usual one first.
        packable: Whether it is compressed where the name says so.
        way_out: What to do where the name is another kind of file's; None for another name.

    Raises:
        UsageError: if the name is another kind of file's.
    """
    name = read_name(path)
    if name.ending and name.ending not in accepted:
        raise UsageError(
            f"{option} {path} names a {name.ending} file, but what is written is {what}",
            hint=way_out or _way_out(name, accepted),
        )
    if name.packed and not packable:
        raise UsageError(
            f"{option} {path} names a compressed file, but what is written is {what} as it is",
            hint=f"leave {name.packed} out of the name",
        )


def _way_out(name: Name, accepted: Collection[str]) -> str:
    usual = next(iter(accepted), None)
    sink = next((sink for sink, endings in ENDINGS.items() if name.ending in endings), None)
    rename = f"end the name in {usual}" if usual else "end the name in something else"
    return f"{rename}; bpe encode --to {sink} writes {name.ending} files" if sink else rename
