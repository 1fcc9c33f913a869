"""A tokenizer of every algorithm, trained here, and one that each format can hold."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import MappingProxyType
from unittest import mock

from bpe_cli.errors import FormatError
from bpe_cli.formats import FORMATS, load, rehearse, rwkv, youtokentome
from bpe_cli.formats import bert as bert_vocab
from bpe_cli.formats import files as writing
from bpe_cli.formats.features import LOSSES
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers import sentencepiece, train
from tests.cli.training_kinds import KINDS
from tests.cli_runner import call

CORPUS = "low lower lowest\nnew newer newest wide wider widest\nslow slower slowest, 12 345!\n"


@cache
def trained(kind: str) -> Tokenizer:
    """Return a tokenizer of one of ``KINDS``, as ``bpe train`` writes it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.json"
        done = call("train", "-T", CORPUS, *KINDS[kind], "-o", str(path), "-q")
        assert done.status == 0, done
        return load(path)


@cache
def sample(name: str) -> Tokenizer:
    """Return a small tokenizer that a format can hold: a trained one if there is such a kind, else a made one."""
    if name == "bert-vocab":
        return bert_vocab.loads(b"[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nlow\n##est\n")
    if name == "llama2c":
        return train([CORPUS], sentencepiece.Options(285, byte_fallback=True))
    if name == "youtokentome":
        letters = [f"{ord(letter)} {number}" for number, letter in enumerate("▁lowerst", start=4)]
        return youtokentome.loads("\n".join(["8 2", *letters, "5 6 12", "12 7 13", "1 0 2 3", ""]).encode())
    if name == "rwkv":
        tokens = [*(bytes([byte]) for byte in range(256)), b"low", b"est"]
        return rwkv.tokenizer_of({token: number for number, token in enumerate(tokens, start=1)})
    for kind in KINDS:
        try:
            rehearse(trained(kind), name, LOSSES)  # no proof refuses more: see test_proof
        except FormatError:
            continue
        return trained(kind)
    raise AssertionError(f"no kind of tokenizer can be written as {name}")


@cache
def files_of(name: str) -> Mapping[str, bytes]:
    """Return the files of a format, of the tokenizer that it can hold."""
    return MappingProxyType(rehearse(sample(name), name, LOSSES))


def put(files: Mapping[str, bytes], folder: Path) -> Path:
    """Write files, and give the path to read them by."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / (name or "file")).write_bytes(content)
    return folder / "file" if "" in files else folder


@contextmanager
def what_dump_reads() -> Iterator[list[tuple[str | None, Tokenizer]]]:
    """Yield a list that gets what is read back of all that is written: with which pattern, and the tokenizer.

    It is read from files by ``load``, as any file is: a test need not read the same files a second time.
    """
    reads: list[tuple[str | None, Tokenizer]] = []

    def reading(path: Path, pattern: str | None = None) -> Tokenizer:
        reads.append((pattern, load(path, pattern)))
        return reads[-1][1]

    with mock.patch.object(writing, "load", reading):
        yield reads


def pattern_for(name: str) -> str | None:
    """Return the pattern to read a file of a format with, where it states none."""
    return "none" if name == "tiktoken" else None


__all__ = ["CORPUS", "FORMATS", "KINDS", "files_of", "pattern_for", "put", "sample", "trained", "what_dump_reads"]
