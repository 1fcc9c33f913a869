"""Describe what is known of a token: whether any text becomes it, with a proof either way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Layer = Literal[
    "plain",
    "whole",
    "context",
    "completion",
    "fallback",
    "ill-formed",
    "special",
    "shadowed",
    "merges",
    "scores",
    "pieces",
    "undecided",
]

LAYERS: dict[Layer, str] = {
    "plain": "its own text becomes it",
    "whole": "its own text becomes it, but only as a whole piece: merging does not come to it",
    "context": "its text becomes it with other text beside it",
    "completion": "its bytes become it as parts of whole characters",
    "fallback": "the model gives it where it knows no better",
    "ill-formed": "only bytes that are not UTF-8 become it",
    "special": "a special, control or unused token: text becomes it where special tokens are asked for, if at all",
    "shadowed": "the normalizer, an added token or another token takes its text",
    "merges": "merging does not come to it",
    "scores": "another segmentation always scores higher",
    "pieces": "no piece can hold it",
    "undecided": "no text was found, and no proof that there is none",
}
"""What each layer means, from the plainest to the least known."""

REACHABLE: tuple[Layer, ...] = ("plain", "whole", "context", "completion", "fallback", "ill-formed")
"""Layers whose tokens have a witness; those of the others but ``undecided`` have a reason why none exists."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is known of one token.

    Attributes:
        token_id: Its id.
        reachable: Whether any bytes become it with special tokens left alone; None: undecided.
        layer: By what; a key of ``LAYERS``.
        witness: Text whose ids were seen to hold this one; None unless it is reachable.
        reason: Why no text becomes it, or what was tried in vain; None where a witness says all.
    """

    token_id: int
    reachable: bool | None
    layer: Layer
    witness: bytes | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Reachability:
    """Which tokens of a tokenizer text can become.

    Attributes:
        examined: How many tokens were examined.
        counts: (layer, how many of these tokens), in the order of ``LAYERS``, without empty layers.
        verdicts: By id, ascending: those that are not ``plain``, or of all tokens that were asked for.
        contents: The bytes of the tokens that ``verdicts`` has, as the vocabulary writes them.
    """

    examined: int
    counts: tuple[tuple[Layer, int], ...]
    verdicts: Mapping[int, Verdict]
    contents: Mapping[int, bytes]

    @property
    def reachable_count(self) -> int:
        """How many of the examined tokens have a witness."""
        return sum(count for layer, count in self.counts if layer in REACHABLE)

    @property
    def undecided_count(self) -> int:
        """Of how many neither is known."""
        return dict(self.counts).get("undecided", 0)

    @property
    def unreachable_count(self) -> int:
        """How many of the examined tokens no text becomes, proven; special tokens are none of them."""
        silent = (*REACHABLE, "special", "undecided")
        return sum(count for layer, count in self.counts if layer not in silent)
