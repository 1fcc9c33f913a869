"""Read a corpus: paths, stdin, globs, folders, compressed files, JSONL, Parquet, Arrow -> blocks of documents.

``source.py`` ties the parts together; ``inputs.py`` finds the files, ``kinds.py`` tells what they hold and
``judging.py`` refuses what must not be taken for text; ``opening.py`` reads their bytes, from disks and, by
``objects/``, from object stores; ``compression.py`` decompresses them, and ``documents.py``,
``jsonl.py`` and ``columns.py`` (Parquet and Arrow) make documents of them.
"""

from __future__ import annotations

from bpe_cli.corpus.inputs import Input, Inputs
from bpe_cli.corpus.opening import open_stream
from bpe_cli.corpus.source import InputHash, Source, read_blocks, reading, reading_each, waits_for_keyboard

__all__ = [
    "Input", "InputHash", "Inputs", "Source", "open_stream", "read_blocks", "reading", "reading_each",
    "waits_for_keyboard",
]  # fmt: skip
