"""What a worker process is told to do, and what a library makes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Job:
    """What one worker process is to do; goes to it as JSON.

    Attributes:
        operation: ``encode``, ``count``, ``tokens``, ``short``, ``decode``, ``decode_batch``, ``stream``, ``train``
            or ``load``.
        library: Key of ``LIBRARIES``.
        way: One of the library's ways, ``""`` for the only one.
        threads: How many threads it may use.
        passes: How often to run; the first is cold.
        limit: Seconds after which a pass is stopped; 0 for never.
        text: File of the documents.
        stride: Take every n-th document.
        tokenizer: Our name of the tokenizer.
        kind: What kind of tokenizer it is; see ``vocabularies.py``.
        load: What our library loads it from: the name of an encoding, or a file.
        pattern: Its split pattern, or that to train with.
        scheme: What gigatoken calls the pattern.
        ranks: Its ``.tiktoken`` file, if there is one.
        tokenizer_json: Its ``tokenizer.json``, if there is one.
        sentencepiece: Its SentencePiece model, if there is one.
        ids: File of u32 ids: read by ``decode`` and ``stream``, written by ``encode`` if given. ``decode_batch`` reads
            one of lists of ids, as JSON.
        vocab_size: Tokens to train.
        rules: Whose tie-breaks to train with, where there is a choice.
        level: Which instructions are left, a key of ``instructions.LEVELS``; all if empty.
        hider: The library that hides the others.
    """

    operation: str
    library: str
    way: str = ""
    threads: int = 1
    passes: int = 1
    limit: int = 0
    text: str = ""
    stride: int = 1
    tokenizer: str = ""
    kind: str = "byte-level"
    load: str = ""
    pattern: str = ""
    scheme: str = ""
    ranks: str = ""
    tokenizer_json: str = ""
    sentencepiece: str = ""
    ids: str = ""
    vocab_size: int = 0
    rules: str = "hf"
    level: str = ""
    hider: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """Something to time, and how to look at what it gave.

    ``result`` gives ids as a u32 array (encode, short, load), their number (count), ids and where they lie in
    characters (tokens), bytes (decode, stream), a list of them (decode_batch), or the tokens that were learnt in
    their order (train).
    """

    run: Callable[[], Any]
    result: Callable[[Any], Any]
