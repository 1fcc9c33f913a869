"""Find out which tokens any text can become: the layers, witnesses and proofs of docs/explanation/reachability.md.

``examine.examine`` goes from layer to layer. Here stands what all of them use: verdicts, and the search for texts that
become a token, of which many are encoded at once; a token that does not come of its text alone is looked for beside
other text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, product
from typing import TYPE_CHECKING, Literal

from bpe_cli.errors import InputError
from bpe_cli.stages import WordPiece
from bpe_cli.support.blocks import Block

if TYPE_CHECKING:
    from bpe_cli.tokenizer import Tokenizer


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
    "absent",
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
    "absent": "no event of a list of merges and splits makes it, or a later one splits it for good",
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


Candidate = tuple[int, bytes]
"""A token's id, and a text that might become it."""

LONGEST = 1024
"""Texts of more bytes are not tried, but for a token's own text: see ``LONG_BYTES``."""

LONG_BYTES = 1 << 24
"""Of tokens that are longer, as many are tried as have so many bytes together."""

_TEXTS_AT_ONCE = 1 << 14
_BYTES_AT_ONCE = 1 << 22
_MOST_FAILURES = 1 << 16


class Search:
    """Encode texts with a tokenizer, through all of its stages, special tokens left alone.

    Complexity: that of encoding all texts, in memory for a few megabytes of them.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._matcher = tokenizer.matcher()
        self._failures = 0

    def encoded(self, texts: Iterable[bytes]) -> Iterator[list[int] | None]:
        """Yield the ids of each text; None where it cannot be encoded."""
        batch: list[bytes] = []
        size = 0
        for text in texts:
            batch.append(text)
            size += len(text)
            if size >= _BYTES_AT_ONCE or len(batch) >= _TEXTS_AT_ONCE:
                yield from self._encode(batch)
                batch, size = [], 0
        yield from self._encode(batch)

    def _encode(self, texts: list[bytes]) -> Iterator[list[int] | None]:
        if not texts:
            return
        if self._failures > _MOST_FAILURES:  # a vocabulary that lacks most of its alphabet
            yield from (None for _ in texts)
            return
        try:
            ids, ends = self._tokenizer.encode_block(Block.of(texts), self._matcher)
        except InputError:  # some text has a byte or a character that has no token
            if len(texts) == 1:
                self._failures += 1
                yield None
                return
            middle = len(texts) // 2
            yield from self._encode(texts[:middle])
            yield from self._encode(texts[middle:])
            return
        all_ids = ids.tolist()
        start = 0
        for end in ends.tolist():
            yield all_ids[start:end]
            start = end

    def witnesses(self, candidates: Iterable[Candidate]) -> dict[int, bytes]:
        """Return, for each token that some text becomes, the first such text."""
        witnesses: dict[int, bytes] = {}
        waiting = iter(candidates)
        while batch := list(islice(waiting, _TEXTS_AT_ONCE)):
            for (token_id, text), ids in zip(batch, self.encoded(text for _, text in batch), strict=True):
                if ids is not None and token_id in ids:
                    witnesses.setdefault(token_id, text)
        return witnesses


# First a letter that few words begin or end with, which reads well; then a snowman: few vocabularies have
# one, so nothing merges with it.
BEFORE = ("x", "☃", "a", " ", "\n", ".", "1", "'", "X", "é", "中", "☃ ", "a ", "\t", "!!", "\r\n", "￼")
AFTER = ("x", "☃", "a", " ", "\n", ".", "1", "'", "X", "é", "中", " a", "\t", "\n\n", "!!", "\r\n", "s")
CONTEXTS: tuple[tuple[bytes, bytes], ...] = (
    *((before.encode(), b"") for before in BEFORE),
    *((b"", after.encode()) for after in AFTER),
)
"""What stands before and after a token in the first round: a beginning, an end, letters, digits, blanks, ..."""

PAIRS: tuple[tuple[bytes, bytes], ...] = tuple(
    (before.encode(), after.encode()) for before, after in product(BEFORE, AFTER)
)
"""Both together, for what the first round leaves."""

FIRST_CONTEXTS = 2
"""How many of them every token in doubt is tried in; the others are for what is left then."""

MOST_TEXTS = 1 << 19
"""No round encodes more texts than these."""

MOST_IN_PAIRS = 4096
"""For more tokens than this the second round is left out."""

_MOST_BEGINNINGS = 48


def in_contexts(texts: Mapping[int, bytes], contexts: tuple[tuple[bytes, bytes], ...]) -> Iterator[Iterator[Candidate]]:
    """Yield the candidates of each context in turn; tokens taken out of ``texts`` meanwhile are left out."""
    for before, after in contexts:
        yield ((token_id, before + text + after) for token_id, text in list(texts.items()) if len(text) <= LONGEST)


def beginnings(tokenizer: Tokenizer) -> tuple[tuple[bytes, bytes], ...]:
    """Return beginnings of words that are likely to be cut off by longest match: single characters with a token.

    ASCII letters first, and of them and the others those that the fewest tokens begin with.
    """
    model = tokenizer.live_model
    if not isinstance(model, WordPiece):
        return ()
    prefix = model.continuing_subword_prefix.encode()
    beginning: dict[str, int] = {}
    single: list[str] = []
    for _, token in model.vocabulary.items():  # noqa: PERF102  # a Vocabulary has no values()
        if prefix and token.startswith(prefix):
            continue
        text = token.decode()
        beginning[text[0]] = beginning.get(text[0], 0) + 1
        if len(text) == 1:
            single.append(text)
    # Of each count a few, so that not all are of one script that stands apart.
    ordered = sorted(single, key=lambda character: (not character.isalnum(), beginning[character]))
    letters = [character for character in ordered if character.isascii() and character.isalpha()]
    step = max(1, len(ordered) // _MOST_BEGINNINGS)
    chosen = [*letters, *ordered[:16], *ordered[::step][:_MOST_BEGINNINGS]]
    return tuple((character.encode(), b"") for character in dict.fromkeys(chosen))
