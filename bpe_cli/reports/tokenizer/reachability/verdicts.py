"""Say what is known of a token: whether any text becomes it, with a proof either way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Layer = Literal[
    "plain",
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
    "plain": "reachable: the token's own text becomes it",
    "context": "reachable: its text with other text beside it",
    "completion": "reachable: its bytes as a part of whole characters",
    "fallback": "reachable: what the model gives where it knows no better",
    "ill-formed": "reachable by bytes alone that are not UTF-8",
    "special": "unreachable: a special or control token, none that text becomes",
    "shadowed": "unreachable: the normalizer or an added token takes its text",
    "merges": "unreachable: merging does not come to it",
    "scores": "unreachable: another segmentation always wins",
    "pieces": "unreachable: no piece can hold it",
    "undecided": "undecided: no text was found, and no proof that there is none",
}
"""What each layer means, from the plainest to the least known. Tokens of the first five are reachable."""

REACHABLE: tuple[Layer, ...] = ("plain", "context", "completion", "fallback", "ill-formed")
"""Layers whose tokens have a witness."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is known of one token.

    Attributes:
        token_id: Its id.
        reachable: Whether any bytes become it with special tokens left alone; None: undecided.
        layer: By what; a key of ``LAYERS``.
        witness: Text whose ids were seen to hold this one; None unless it is reachable.
        reason: Why no text becomes it, or what was tried in vain; None if it is reachable.
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
    """

    examined: int
    counts: tuple[tuple[Layer, int], ...]
    verdicts: Mapping[int, Verdict]

    @property
    def unreachable_count(self) -> int:
        """How many of the examined tokens no text becomes, proven."""
        return sum(count for layer, count in self.counts if layer not in (*REACHABLE, "undecided"))

    @property
    def undecided_count(self) -> int:
        """Of how many neither is known."""
        return dict(self.counts).get("undecided", 0)
