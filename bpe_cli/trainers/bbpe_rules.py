"""The rules by which libraries train byte-level BPE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Compat = Literal["hf", "rustbpe", "minbpe", "subword-nmt", "course"]


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one library.

    Attributes:
        tie: Which of the most frequent pairs it merges; see ``_core.train_bpe``.
        pattern: Name of its default pattern.
        min_frequency: Its default.
        special_first: Whether special tokens have the first ids, as in Hugging Face's files, or the
            ids after all others.
        visible_order: Whether the bytes stand in the order of GPT-2's visible alphabet, or by value.
        alphabet: Whether it begins with ``all`` bytes or with those ``seen``.
        lines: Whether each line is a document, as each text of a tutorial's list is.
    """

    tie: Literal["lowest-ids", "first-seen", "largest-text"]
    pattern: str = "o200k"
    min_frequency: int = 1
    special_first: bool = False
    visible_order: bool = False
    alphabet: Literal["all", "seen"] = "all"
    lines: bool = False


COMPAT: dict[Compat, Rules] = {
    "hf": Rules("lowest-ids", special_first=True, visible_order=True),
    "rustbpe": Rules("lowest-ids", pattern="llama3"),
    "minbpe": Rules("first-seen", pattern="llama3"),
    "subword-nmt": Rules("largest-text", min_frequency=2, special_first=True, visible_order=True),
    "course": Rules("first-seen", pattern="gpt2", special_first=True, visible_order=True, alphabet="seen", lines=True),
}
"""tokenizers 0.23 ``BpeTrainer``, rustbpe 0.1, minbpe ``RegexTokenizer``, subword-nmt 0.3 ``learn_bpe``, and the BPE of
Hugging Face's course."""
