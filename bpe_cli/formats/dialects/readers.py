"""State who reads what is in SentencePiece's words: that library, or llama.cpp, which goes by the same."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reader:
    """A program that runs SentencePiece's models.

    Attributes:
        name: What messages call it.
        holder: What they call its file.
        single_precision: Whether it adds scores as f32, or as f64.
    """

    name: str
    holder: str
    single_precision: bool


SENTENCEPIECE = Reader("SentencePiece", "a SentencePiece model", single_precision=True)
LLAMA_CPP = Reader("llama.cpp", "a GGUF file", single_precision=False)
