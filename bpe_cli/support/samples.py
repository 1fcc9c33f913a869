"""Read the sample texts of the package, for probes without texts of their own and for proofs of conversions.

They lie in ``samples.jsonl`` beside this module, because a wheel holds the package only; docs/generate.py makes that
file of ``corpora/`` and a test says whether it is up to date.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

FOLDERS = ("code", "pairs")
"""The folders of ``corpora/`` that are taken whole."""

FILES = ("languages/parallel.jsonl",)
"""The files that are taken besides."""

PLACE = Path(__file__).with_name("samples.jsonl")


def pack(corpora: Path) -> str:
    """Return the contents of ``samples.jsonl``: an object per file, with its name and its text.

    Args:
        corpora: The folder ``corpora/`` of the repository.
    """
    paths = [path for folder in FOLDERS for path in sorted((corpora / folder).iterdir())]
    paths += [corpora / name for name in FILES]
    return "".join(
        json.dumps(
            {"name": path.relative_to(corpora).as_posix(), "text": path.read_bytes().decode()}, ensure_ascii=False
        )
        + "\n"
        for path in paths
    )


@cache
def samples(folder: str) -> dict[str, bytes]:
    """Return the texts of a folder of ``corpora/`` by their names in it.

    >>> sorted(samples("languages")), len(samples("pairs")) % 2
    (['parallel.jsonl'], 0)
    """
    lines = map(json.loads, PLACE.read_text(encoding="utf-8").rstrip("\n").split("\n"))
    return {
        line["name"].removeprefix(f"{folder}/"): line["text"].encode()
        for line in lines
        if line["name"].startswith(f"{folder}/")
    }
