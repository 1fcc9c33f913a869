"""Name SentencePiece's types of models, by the numbers that its files write, and what they leave unsaid."""

from __future__ import annotations

UNIGRAM, BPE, WORD, CHAR = 1, 2, 3, 4

UNK_SURFACE = " ⁇ "
"""What an unknown token reads as, unless a file says otherwise."""
