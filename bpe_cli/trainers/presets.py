"""Options that go together, by one name: what ``--compat course`` and ``--compat textbook`` stand for.

A preset follows no library. It sets the options with which an algorithm gives, tie by tie, what a text that teaches it
prints; an option that is given by itself counts more. (Byte-level BPE has rules of its own called ``course``: how
ids are given out is no option.)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bpe_cli import _core

_FIRST_SEEN = {"tie": "first-seen", "initial_alphabet": "seen"}

PRESETS: Mapping[str, Mapping[str, Mapping[str, object]]] = {
    # Hugging Face's course, as other tutorials retell it: the words of each line, cased, and all that occurs once.
    "course": {
        "bpe": {
            **_FIRST_SEEN, "min_frequency": 1, "pattern": "gpt2", "end_of_word_suffix": "", "unk_token": None,
        },
        "wordpiece": {**_FIRST_SEEN, "min_frequency": 1, "rule": "score", "lowercase": False},
        "unigram": {"rule": "textbook", "pre_tokenizer": "xlnet"},
    },
    # Sennrich et al.: words with their counts, `</w>` as a symbol of its own, until no pair occurs twice.
    "textbook": {
        "bpe": {
            **_FIRST_SEEN, "min_frequency": 2, "suffix_form": "0.1", "dictionary": True, "merges": _core.MAX_TOKENS,
        },
    },
}  # fmt: skip
"""The options that each preset sets, by algorithm."""

_ONE_OF = ({"pattern", "pre_tokenizer"}, {"vocab_size", "merges"})
"""Options that say the same thing in two ways: where one of them is given, a preset is silent about it."""


def preset_of(algorithm: str, compat: str | None) -> Mapping[str, object] | None:
    """Return the options that ``compat`` stands for; None if it is no preset of the algorithm.

    >>> preset_of("unigram", "course"), preset_of("bpe", "hf")
    ({'rule': 'textbook', 'pre_tokenizer': 'xlnet'}, None)
    """
    return PRESETS.get(compat or "", {}).get(algorithm)


def with_preset(preset: Mapping[str, object], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that are given, and those of a preset that they do not replace.

    >>> with_preset({"rule": "textbook", "pre_tokenizer": "xlnet"}, {"pattern": "gpt2"})
    {'rule': 'textbook', 'pattern': 'gpt2'}
    """
    replaced = set().union(*(names for names in _ONE_OF if names & given.keys()))
    return {name: value for name, value in preset.items() if name not in replaced} | dict(given)
