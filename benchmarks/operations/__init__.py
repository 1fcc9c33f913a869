"""What is measured, operation by operation.

Each says which processes belong to a round (``entries``) and what the right answer of one is
(``expected``: a digest or None, and whose it is).
"""

from __future__ import annotations

from typing import Any

from benchmarks.instructions import LEVELS
from benchmarks.operations.calls import DecodeBatch, Short, Stream, Tokens
from benchmarks.operations.decoding import Decode
from benchmarks.operations.encoding import Count, Encode, EncodeWithFewer
from benchmarks.operations.growth import Growth
from benchmarks.operations.learning import LearnModels
from benchmarks.operations.starting import Load, Start
from benchmarks.operations.training import Train
from benchmarks.operations.whole import Whole

OPERATIONS: dict[str, Any] = {
    "encode": Encode(),
    **{level: EncodeWithFewer(level) for level in LEVELS},
    "count": Count(),
    "tokens": Tokens(),
    "short": Short(),
    "whole": Whole(),
    "decode": Decode(),
    "decode_batch": DecodeBatch(),
    "stream": Stream(),
    "train": Train(),
    "learn": LearnModels(),
    "start": Start(),
    "load": Load(),
    "growth": Growth(),
}
"""All of them, in the order of the page."""
