"""Describe how a tokenizer arrived at the tokens of one text: merge by merge, match by match, or over the lattice.

The steps are those of the textbook algorithms in ``teaching``, run on the tokenizer's own tables; the tokens they
end at are compared with what the tokenizer makes of the text. Here stands what is recorded: frozen values, whose texts
are the bytes of tokens as they are written.

- ``pieces``: the pieces of a text, the special tokens between them, and what the walks of all models share.
- ``merging``, ``matching``, ``lattice``, ``fewest``: one family of models each.
- ``record``: a text from piece to piece.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class StepToken:
    """A token: its id and its bytes."""

    token_id: int
    content: bytes


@dataclass(frozen=True, slots=True)
class Spelling:
    """What becomes tokens in another way than by being one.

    Attributes:
        text: The character (or the part of a piece), with what is written around it.
        way: It becomes the tokens of its bytes, or the unknown token; it is "fused" with the unknown text
            before it, "left out", or "taken back" to what it was merged from.
    """

    text: bytes
    way: Literal["bytes", "unknown", "fused", "left out", "taken back"]
    tokens: tuple[StepToken, ...]
    times: int = 1


@dataclass(frozen=True, slots=True)
class Symbols:
    """Symbols in order: all of them, or those around the one at issue.

    Attributes:
        at: Which of ``contents`` is at issue; None if none is.
    """

    contents: tuple[bytes, ...]
    before: int = 0
    after: int = 0
    at: int | None = None


@dataclass(frozen=True, slots=True)
class Rival:
    """A pair that could merge at a step.

    Attributes:
        rank: As that of a step; None with scores.
        score: Likewise; None with ranks.
        times: At how many places it occurs.
        taken: Whether it merges in this step; if it occurs at several places, the leftmost one does.
        tied: Whether it is as good as the pair that merges, which is further to the left.
    """

    rank: int | None
    score: float | None
    left: bytes
    right: bytes
    product: bytes
    times: int
    taken: bool
    tied: bool


@dataclass(frozen=True, slots=True)
class MergeStep:
    """One merge.

    Attributes:
        rank: Place of the pair in the list of merges, or id of what is made, both from 0; None with scores.
        score: Score of what is made; None with ranks.
        candidates: The best of the pairs that could merge, if they were asked for.
        candidate_count: How many pairs could merge.
    """

    rank: int | None
    score: float | None
    left: bytes
    right: bytes
    product: bytes
    symbols: Symbols
    candidates: tuple[Rival, ...] = ()
    candidate_count: int = 0


@dataclass(frozen=True, slots=True)
class SplitStep:
    """One token that an event takes apart; ``rank`` is the event's place in the list, from 0."""

    rank: int
    token: bytes
    parts: tuple[bytes, ...]
    symbols: Symbols


@dataclass(frozen=True, slots=True)
class MergeWalk:
    """How merging arrived.

    Attributes:
        whole: The piece is a token, and is taken before any merging: the steps are those that there would
            be; None: it is merged.
        spelt: Characters that are no symbols.
        ends: What is not a token after merging, or is taken back.
    """

    whole: StepToken | None
    spelt: tuple[Spelling, ...]
    start: Symbols
    steps: tuple[MergeStep | SplitStep, ...]
    more: int
    ends: tuple[Spelling, ...]
    merged: tuple[StepToken, ...]
    tokens: tuple[StepToken, ...]
    family: Literal["merges"] = "merges"


@dataclass(frozen=True, slots=True)
class MatchStep:
    """One look at what a rest begins with.

    Attributes:
        rest: What is left of the piece, as it is looked up: with the prefix inside a word; perhaps cut.
        tried: How many beginnings of the rest were looked up, the longest first.
        fits: The tokens that the rest begins with, the longest first: the first one is taken.
        taken: The token: the longest, or the unknown one; None where there is none.
        way: Whether the token fits ("token"); else the text is unknown, by itself or together with the
            unknown text before it ("fused"), or is left out.
    """

    rest: bytes
    cut: int
    tried: int
    fits: tuple[StepToken, ...]
    taken: StepToken | None
    way: Literal["token", "unknown", "fused", "left out"]
    text: bytes


@dataclass(frozen=True, slots=True)
class MatchWalk:
    """How taking the longest token from the left arrived.

    Attributes:
        longest_tried: The longest beginning that is looked up, in characters; None: whatever is left.
        too_long: Characters of the piece, if that is more than are looked at (``limit``): it is unknown.
        dead_end: Whether no token begins the last rest, so that the whole piece is unknown.
    """

    steps: tuple[MatchStep, ...]
    more: int
    longest_tried: int | None
    too_long: int | None
    limit: int | None
    dead_end: bool
    tokens: tuple[StepToken, ...]
    family: Literal["longest-from-left"] = "longest-from-left"


@dataclass(frozen=True, slots=True)
class CutStep:
    """A token that is cut out of the piece, wherever it stands, or laid over it.

    Attributes:
        number: Its place in the order in which tokens are tried, from 0.
        parts: The piece in parts afterwards; ``at`` is this one.
    """

    number: int
    token: StepToken
    parts: Symbols


@dataclass(frozen=True, slots=True)
class CutWalk:
    """How cutting out the longest tokens arrived, or laying them in the order of their ids.

    Attributes:
        ends: Stretches in which no token is.
    """

    steps: tuple[CutStep, ...]
    more: int
    ends: tuple[Spelling, ...]
    tokens: tuple[StepToken, ...]
    family: Literal["longest-anywhere", "cover"] = "longest-anywhere"


@dataclass(frozen=True, slots=True)
class LookUp:
    """One text that is looked up; ``token`` is the unknown one unless it is ``known``."""

    text: bytes
    token: StepToken
    known: bool


@dataclass(frozen=True, slots=True)
class LookUpWalk:
    """How looking up arrived: a whole piece, or its n-grams of ``n`` characters.

    Attributes:
        n: Characters of an n-gram; None: the piece is looked up whole.
    """

    n: int | None
    steps: tuple[LookUp, ...]
    more: int
    tokens: tuple[StepToken, ...]
    family: Literal["look-up"] = "look-up"


@dataclass(frozen=True, slots=True)
class Way:
    """A token that ends at a place of the lattice, or begins there if its search goes from the end.

    Attributes:
        token_id: Its id; None for an unknown character.
        total: The best sum up to its beginning with its score added; from the end, the best sum behind it.
    """

    text: bytes
    token_id: int | None
    start: int
    score: float
    total: float


@dataclass(frozen=True, slots=True)
class LatticePlace:
    """A place of the lattice.

    Attributes:
        ways: The tokens that end here, those from furthest to the left first; from the end, those that begin
            here, the longest first.
        best: Which of them the best segmentation up to here ends with, or from here on begins with.
    """

    place: int
    ways: tuple[Way, ...]
    best: int


@dataclass(frozen=True, slots=True)
class RankedPath:
    """One of the best segmentations of a piece: its tokens, the sum of their scores, its share of all."""

    tokens: tuple[StepToken, ...]
    score: float
    probability: float


@dataclass(frozen=True, slots=True)
class LatticeWalk:
    """How Viterbi's algorithm arrived.

    Attributes:
        penalty: How far ``unknown_score`` lies below the lowest score of a token; 0 if it does not hang on those.
        path: The best segmentation as it is found, the last token first turned round: texts with scores.
        ends: Unknown characters, and what they become.
        ranked: The best segmentations of the lattice, best first.
        from_end: Whether the search goes from the end of the piece to its beginning, and so do the places.
    """

    unknown_score: float
    penalty: float
    places: tuple[LatticePlace, ...]
    more: int
    path: tuple[Way, ...]
    score: float
    ends: tuple[Spelling, ...]
    ranked: tuple[RankedPath, ...]
    wanted: int
    tokens: tuple[StepToken, ...]
    from_end: bool = False
    family: Literal["lattice"] = "lattice"


@dataclass(frozen=True, slots=True)
class TooMuch:
    """A piece whose steps are left out because there are too many."""

    reason: str
    tokens: tuple[StepToken, ...]
    family: Literal["left-out"] = "left-out"


@dataclass(frozen=True, slots=True)
class TagWalk:
    """A tag, or a word between tags, which is looked up as it stands and is no piece."""

    tokens: tuple[StepToken, ...]
    family: Literal["between-tags"] = "between-tags"


Walk = MergeWalk | MatchWalk | CutWalk | LookUpWalk | LatticeWalk | TooMuch | TagWalk


@dataclass(frozen=True, slots=True)
class Row:
    """A special token found in the text, or one piece of it.

    Attributes:
        number: Number of the piece (or word of one), from 0; None for a special token.
        text: The piece as the model gets it: normalized, with marks for spaces; the text of a special token.
        special: The special or added token, or the one that was found between tags; None for a piece.
        walk: How the model arrived, or the look-up between tags; None for a special token, and for a piece that stood
            before.
        same_as: Number of an equal piece whose steps were recorded before; None if it is new.
        fused: Whether its (unknown) token is one with the last token of the row before.
    """

    number: int | None
    text: bytes
    special: StepToken | None
    walk: Walk | None
    same_as: int | None
    fused: bool
    tokens: tuple[StepToken, ...]


@dataclass(frozen=True, slots=True)
class Steps:
    """How a tokenizer arrived at the tokens of a text.

    Attributes:
        spelt: Whether texts are written in GPT-2's alphabet, a character for each byte.
        words: Whether each "piece" here is a word: no token goes over a blank, so pieces are recorded word by word.
        differs_at: Place among the rows, from 0, of the first whose steps do not end at the tokenizer's tokens:
            an error of this program; None as it should be.
    """

    tokenizer: str | None
    model: str
    byte_count: int
    token_count: int
    row_count: int
    piece_count: int
    rows: tuple[Row, ...]
    spelt: bool
    words: bool
    differs_at: int | None

    @property
    def more(self) -> int:
        """How many pieces and special tokens there are after the rows."""
        return self.row_count - len(self.rows)
