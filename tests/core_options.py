"""Options of the core's trainers by their plain names, for tests that call these trainers directly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bpe_cli.support.core_arguments import options_json

VETOES = ("max_token_length", "max_digits", "character_boundaries", "reserved")


def bpe_options(initial: Sequence[bytes], symbols: Sequence[int] | None = None, **options: Any) -> bytes:
    """Return options of ``train_bpe``: all initial tokens are symbols, and there is room, unless they say otherwise."""
    usual: dict[str, Any] = {
        "symbols": list(range(len(initial)) if symbols is None else symbols),
        "vocab_size": 1000,
        "min_frequency": 1,
        "tie": "lowest-ids",
        "decoration": {
            "prefix": options.pop("continuing_subword_prefix", "").encode(),
            "suffix": options.pop("end_of_word_suffix", "").encode(),
            "separate_suffix": options.pop("separate_suffix", False),
        },
        "vetoes": {name: options.pop(name) for name in VETOES if name in options},
    }
    return options_json(initial=list(initial), **usual | options)
