"""Read and write GGUF files, llama.cpp's, for the tokenizer in their metadata; tensors are never touched.

A tokenizer that is read follows what llama.cpp makes of the file; docs/formats/gguf.md lists where it does
otherwise than the models' own tokenizers. What is written is a file of metadata alone, as llama.cpp's own
vocabulary files are. Keys that are no tokenizer's, such as ``general.*``, are carried along.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from bpe_cli.formats.gguf import container as gguf_reader
from bpe_cli.formats.gguf import to_tokenizer as gguf_reading
from bpe_cli.formats.gguf.container import MAGIC, Metadata
from bpe_cli.formats.gguf.tokens import stands_for_itself
from bpe_cli.formats.gguf.writing import HOLDS, MODELS, dump
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.usage import Origin

NAME = "gguf"
FILES = ("*.gguf",)
__all__ = ["FILES", "HOLDS", "MODELS", "NAME", "dump", "load", "loads", "sniff"]


def sniff(head: bytes) -> bool:
    """Return whether a file begins as GGUF files do."""
    return head.startswith(MAGIC) and len(head) >= 24


def load(path: Path, pattern: str | None = None) -> Tokenizer:
    """Read the tokenizer of a GGUF file.

    Args:
        path: The file.
        pattern: For byte-level BPE: an expression in the place of the split that the file names.

    Raises:
        InputError: if the file cannot be read.
        FormatError: if it is broken, or has no tokenizer, or one that is not read.
        UsageError: if a pattern is given for a model that has no splits.
    """
    return _tokenizer(gguf_reader.read(path), pattern)


def loads(data: bytes, source: str = "GGUF", pattern: str | None = None) -> Tokenizer:
    """Read the content of a GGUF file."""
    return _tokenizer(gguf_reader.parse(data, source), pattern)


def _tokenizer(metadata: Metadata, pattern: str | None) -> Tokenizer:
    tokenizer = gguf_reading.tokenizer_of(metadata, pattern)
    facts = tuple((key, metadata.shown(key)) for key in metadata.fields if key.startswith(("tokenizer.", "general.")))
    carried = []
    for key in metadata.fields:
        value = None if stands_for_itself(key, metadata.text("tokenizer.ggml.model")) else metadata.encoded(key)
        if value is not None:
            carried.append((key, value))
    origin = Origin(NAME, (("GGUF.version", metadata.version), *facts), tuple(carried))
    return replace(tokenizer, origin=origin)
