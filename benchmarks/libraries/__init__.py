"""The libraries that are measured, each in the ways that suit it best.

An adapter imports its library in the worker's process only, when it is asked for a task. Making the
task is not timed: the tokenizer is loaded, and the documents, byte strings or strings, are in a list as
programs have them (ours of one text: in one byte string). ``Task.run`` is timed: with it what a library
does to them before it can begin, as joining them. Before that, each library has done the same with one
letter, so that nobody's is the first use. Whatever ``result`` does to compare results comes after the
clock has stopped.

Each says ``distribution``, its name where packages are installed from; ``operations`` and ``kinds`` of
tokenizers that it is measured at; ``ways`` of encoding; ``slow`` if it is no rival for the first place,
so that it is measured with one encoding only, and takes every ``stride``-th document there, or it would
take the whole time. ``start`` and ``whole`` are scripts, which are timed as whole processes.

Their arguments: 1 encoding, 2 line, 3 pattern, 4 .tiktoken file, 5 tokenizer.json, 6 gigatoken's name
of the pattern, 7 text with a NUL between documents, 8 where to write u32 ids, 9 threads.
"""

from __future__ import annotations

from typing import Any

from benchmarks.libraries.fastokens import Fastokens
from benchmarks.libraries.gigatoken import Gigatoken
from benchmarks.libraries.ours import Bpe
from benchmarks.libraries.rs_bpe import RsBpe
from benchmarks.libraries.rustbpe import RustBpe
from benchmarks.libraries.sentencepiece import SentencePiece
from benchmarks.libraries.splintr import Splintr
from benchmarks.libraries.tiktoken import Tiktoken
from benchmarks.libraries.tokenizers import Tokenizers
from benchmarks.libraries.tokie import Tokie

LIBRARIES: dict[str, Any] = {
    "bpe": Bpe(),
    "gigatoken": Gigatoken(),
    "fastokens": Fastokens(),
    "splintr": Splintr(),
    "tokie": Tokie(),
    "sentencepiece": SentencePiece(),
    "tiktoken": Tiktoken(),
    "tokenizers": Tokenizers(),
    "rustbpe": RustBpe(),
    "rs_bpe": RsBpe(),
}
"""All of them, the fastest first."""

OURS = "bpe"

TRAINING_RULES = {"bpe": "hf", "gigatoken": "hf", "tokenizers": "hf", "rustbpe": "rustbpe"}
"""How each breaks ties; libraries of one rule must learn the same tokens in the same order."""
