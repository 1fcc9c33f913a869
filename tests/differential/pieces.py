"""Pieces of the compiled stages as Hugging Face gives them: text, and offsets in characters."""

from __future__ import annotations

import json
from typing import Any

from bpe_cli import _core
from bpe_cli.stages import PreTokenizer
from bpe_cli.stages.component_json import core_spec

Piece = tuple[str, tuple[int, int]]


def stages_of(*pre_tokenizers: PreTokenizer) -> _core.Stages:
    """Compile pre-tokenizers."""
    return _core.Stages(core_spec((), pre_tokenizers))


def stages_of_json(*components: dict[str, Any]) -> _core.Stages:
    """Compile components as they stand in a file: no pattern is run by a scanner."""
    return _core.Stages(json.dumps({"pre_tokenizers": components}))


def raw_pieces(
    stages: _core.Stages, data: bytes, *, continued: bool = False, first: bool = True
) -> list[tuple[bytes, int, int]]:
    """Return each piece with the bytes of the text that it stands for."""
    written, *columns = stages.pre_tokenize(data, continued=continued, first=first)
    rows = zip(*(memoryview(column).tolist() for column in columns), strict=True)
    return [(written[start:end], *origin) for start, end, *origin in rows]


def pieces_with_spans(stages: _core.Stages, text: str) -> list[Piece]:
    """Return each piece with the characters of the text that it stands for."""
    place, places = 0, {}
    for number, character in enumerate(text):
        places[place] = number
        place += len(character.encode())
    places[place] = len(text)
    return [(piece.decode(), (places[start], places[end])) for piece, start, end in raw_pieces(stages, text.encode())]


def pieces_of_rival(rival: Any, text: str) -> list[Piece]:
    """Return what a pre-tokenizer of Hugging Face's makes of a text."""
    return [(piece, tuple(span)) for piece, span in rival.pre_tokenize_str(text)]
