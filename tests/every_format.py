"""A tokenizer of every algorithm, trained here, and files of every format made of them."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from bpe_cli.errors import FormatError
from bpe_cli.formats import FORMATS, dump, load
from bpe_cli.formats.features import LOSSES
from bpe_cli.tokenizer import Tokenizer
from tests.cli.training_kinds import KINDS
from tests.cli_runner import call

CORPUS = "low lower lowest\nnew newer newest wide wider widest\nslow slower slowest, 12 345!\n"


@cache
def trained(kind: str) -> Tokenizer:
    """Give a tokenizer of one of ``KINDS``, as ``bpe train`` writes it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.json"
        done = call("train", "-T", CORPUS, *KINDS[kind], "-o", str(path), "-q")
        assert done.status == 0, done
        return load(path)


@cache
def files_of(name: str) -> dict[str, bytes]:
    """Give the files of a format, of the first kind of tokenizer that it can hold with all losses allowed."""
    for kind in KINDS:
        try:
            return dump(trained(kind), name, LOSSES)
        except FormatError:
            continue
    raise AssertionError(f"no kind of tokenizer can be written as {name}")


def put(files: dict[str, bytes], folder: Path) -> Path:
    """Write files, and give the path to read them by."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / (name or "file")).write_bytes(content)
    return folder / "file" if "" in files else folder


def pattern_for(name: str) -> str | None:
    """Give the pattern to read a file of a format with, where it states none."""
    return "none" if name == "tiktoken" else None


__all__ = ["CORPUS", "FORMATS", "KINDS", "files_of", "pattern_for", "put", "trained"]
