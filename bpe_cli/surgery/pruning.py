"""Make a vocabulary smaller by removing the tokens that a corpus uses least.

Models that merge lose leaves of the merge tree, one after the other: a token that no merge uses as a
part. So a token that is left is still reached by the merges that reached it, and nothing else changes
but the pieces that had the leaf; those are encoded anew, since what the leaf's parts do next is not
said by the leaf: freed, they may merge with their neighbours. Counts are exact at every step. Long pieces (a model
without a split pattern has whole documents) are divided where no merge reaches across, so little is encoded anew.

Models without merges lose tokens in rounds: half of what is to go, then the corpus is encoded anew.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from bpe_cli import _core
from bpe_cli.errors import FormatError, TrainingError, UsageError
from bpe_cli.stages import CharacterBpe, EventBpe, MergeBpe, Model, NGram, RankBpe, ScoredBpe, WordLevel
from bpe_cli.stages.vocabulary import Merges
from bpe_cli.surgery.merge_rules import MergeRules, composite, own_merges, without_products
from bpe_cli.surgery.operation import (
    Operation,
    Progress,
    as_spelt,
    count_tokens,
    protected_ids,
    renumber,
    renumbered_model,
    segmented,
    used_ids,
)
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.merging import as_merges, as_ranks

Order = Literal["recounted", "inherited", "last"]
"""Which leaf goes first: the least used one, with exact counts at every step; the least used one, where a leaf that
goes gives its count to its parts, as tokenizer-extension has it (Purason et al., arXiv:2512.03989); or the one with
the highest id, whatever the corpus says."""


def prune(
    tokenizer: Tokenizer,
    counts: _core.Counts,
    size: int,
    *,
    order: Order = "recounted",
    progress: Progress | None = None,
) -> Operation:
    """Make a vocabulary smaller; ids close up in their order, so that they run from 0 to ``size - 1``.

    Special tokens stay, and so do the symbols that everything is spelt with: bytes, characters. Models that look
    up whole characters, words or n-grams are spelt with nothing: any token of theirs can go, and is unknown then. Of
    tokens that are used equally often the one with the highest id goes first.

    Args:
        tokenizer: The tokenizer.
        counts: Pieces of a corpus, as ``count_pieces`` counts them.
        size: How many tokens are to be left, special ones counted.
        order: Which leaf goes first, for models that merge.
        progress: Called now and then with (tokens gone, tokens to go).

    Raises:
        UsageError: if there are not more tokens than that.
        TrainingError: if so few tokens are not possible, or the corpus has no text.
        FormatError: if the model cannot be pruned so that every token stays reachable.
        InputError: if the model has no token for a byte of the corpus.
    """
    check_prunable(tokenizer.model)
    tokenizer = tokenizer.without_dead_merges()
    present = used_ids(tokenizer)
    excess = len(present) - size
    if excess <= 0:
        raise UsageError(f"the tokenizer has {len(present):,} tokens: it cannot be pruned to {size:,}")
    if counts.unique == 0:
        raise TrainingError("there is nothing to count: the corpus has no text")
    counts = as_spelt(tokenizer, counts)
    stay = protected_ids(tokenizer)
    # Ranks are pruned as the merges that they stand for: where a token is looked up as a whole piece, ranks
    # without another one might come to make it, and text would change that has nothing of what went.
    model = as_merges(tokenizer.model) if isinstance(tokenizer.model, RankBpe) else tokenizer.model
    removable = composite(model) - stay
    if isinstance(model, (MergeBpe, CharacterBpe, ScoredBpe)):
        gone = {*choose_leaves(model, counts, removable, excess, progress, order)}
    elif order != "recounted":
        raise UsageError(f"{model.kind} has no leaves: order is for models that merge")
    else:
        gone = _choose_in_rounds(model, counts, removable, excess, progress)
    if len(gone) < excess:
        raise TrainingError(
            f"{len(present) - len(gone):,} of the {len(present):,} tokens must stay: they are special, or what "
            f"everything is spelt with, so the tokenizer cannot be pruned to {size:,}",
            hint=f"ask for {len(present) - len(gone):,} or more",
        )
    left = [token_id for token_id in present if token_id not in gone]
    new_ids: dict[int, int | None] = dict.fromkeys(present)
    new_ids.update((old, new) for new, old in enumerate(left))
    pruned = renumber(replace(tokenizer, model=model), new_ids)
    notes = []
    if isinstance(tokenizer.model, RankBpe) and isinstance(pruned.model, MergeBpe):
        ranks = as_ranks(pruned.model)
        pruned = replace(pruned, model=ranks or pruned.model)
        if ranks is None:
            notes.append("no ranks do the same as the merges that are left, so the result has merges")
    return Operation(pruned, new_ids, summary=(f"{len(gone):,} pruned",), notes=tuple(notes))


def check_prunable(model: Model) -> None:
    """Check that a model is of a kind that can be pruned.

    Raises:
        FormatError: if it is not.
    """
    if isinstance(model, EventBpe):
        raise FormatError(
            f"{model.kind} cannot be pruned: what an event does depends on all events before it",
            hint="train it anew with fewer tokens",
        )
    if isinstance(model, (WordLevel, NGram)) and model.unk_id is None:
        raise FormatError(
            f"{model.kind} without an unknown token cannot be pruned: text of the dropped tokens could not be encoded",
            hint="train it with an unknown token",
        )


def skeleton(tokenizer: Tokenizer) -> Tokenizer:
    """Return the parts that pruning and extending always keep: the stages, the special tokens, and the symbols.

    A format that cannot hold this can hold nothing that either of them gives.

    Raises:
        FormatError: if the post-processor is broken.
    """
    removable = composite(tokenizer.model) - protected_ids(tokenizer)
    left = (token_id for token_id in used_ids(tokenizer) if token_id not in removable)
    return renumber(tokenizer, {old: new for new, old in enumerate(left)})


# -- models that merge -------------------------------------------------------------------------

_Symbols = tuple[int, ...]

_LONG = 64
"""A piece of more tokens than this is divided."""


class _Speller:
    """What merges make of a piece, and where it can be divided: no merge reaches across, whatever goes.

    Args:
        model: The model.
        bare: The same without merges.
        rules: The merges.
    """

    def __init__(self, model: Model, bare: Model, rules: MergeRules) -> None:
        self._bare, self._rules = Tokenizer(bare), rules
        contents = model.vocabulary.tokens()
        texts: list[bytes] | list[str] = [*contents] if model.byte_level else [*map(_decoded, contents)]
        self._joined = {(texts[left][-1:], texts[right][:1]) for left, right in rules.pairs()}
        self._texts = texts

    def merge(self, piece: bytes | _Symbols) -> list[int]:
        """Return the tokens of a piece, or of a part of one."""
        return self._rules.apply(self._bare.encode(piece) if isinstance(piece, bytes) else piece)

    def divide(self, piece: bytes, tokens: list[int]) -> list[_Symbols]:
        """Return the parts of a piece as symbols; none if its tokens are not what merges make of it."""
        parts = [*self._parts(self._bare.encode(piece))]
        merged = {part: self._rules.apply(part) for part in {*parts}}
        return parts if [token for part in parts for token in merged[part]] == tokens else []

    def _parts(self, symbols: Sequence[int]) -> Iterator[_Symbols]:
        start = 0
        for end in range(1, len(symbols)):
            left, right = self._texts[symbols[end - 1]], self._texts[symbols[end]]
            if (left[-1:], right[:1]) not in self._joined:
                yield tuple(symbols[start:end])
                start = end
        yield tuple(symbols[start:])


def _decoded(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")


class _Pieces:
    """The pieces of a corpus as tokens, and which of them hold each token."""

    def __init__(self, model: Model, counts: _core.Counts, speller: _Speller) -> None:
        self.uses: dict[int, int] = {}
        self._speller = speller
        self._texts: list[bytes | _Symbols] = []
        self._numbers: list[int] = []
        self._tokens: list[list[int]] = []
        self._holders: dict[int, list[int]] = {}
        parts: Counter[_Symbols] = Counter()
        for texts, numbers, ids, ends in segmented(model, counts):
            start = 0
            for text, number, end in zip(texts, numbers, ends, strict=True):
                tokens = ids[start:end].tolist()
                start = end
                divided = speller.divide(text, tokens) if len(tokens) > _LONG else []
                for part in divided:
                    parts[part] += number
                if not divided:
                    self._add(text, number, tokens)
        for symbols, number in parts.items():
            self._add(symbols, number, speller.merge(symbols))

    def _add(self, text: bytes | _Symbols, number: int, tokens: list[int]) -> None:
        self._texts.append(text)
        self._numbers.append(number)
        self._tokens.append([])
        self._put(len(self._tokens) - 1, tokens)

    def _put(self, place: int, tokens: list[int]) -> None:
        for token in self._tokens[place]:
            self.uses[token] -= self._numbers[place]
        for token in tokens:
            self.uses[token] = self.uses.get(token, 0) + self._numbers[place]
        for token in {*tokens}.difference(self._tokens[place]):
            self._holders.setdefault(token, []).append(place)
        self._tokens[place] = tokens

    def rewrite(self, token: int) -> set[int]:
        """Encode the pieces that hold a token again; return the tokens whose counts may have changed."""
        changed: set[int] = set()
        for place in self._holders.pop(token, ()):
            if token in self._tokens[place]:
                changed.update(self._tokens[place])
                self._put(place, self._speller.merge(self._texts[place]))
                changed.update(self._tokens[place])
        return changed


def choose_leaves(
    model: MergeBpe | CharacterBpe | ScoredBpe,
    counts: _core.Counts,
    removable: set[int],
    excess: int,
    progress: Progress | None = None,
    order: Order = "recounted",
) -> list[int]:
    """Choose the tokens to remove, in the order in which they go; fewer if there are no more leaves."""
    bare: Model
    unreachable: set[int] = set()
    if isinstance(model, ScoredBpe):
        rules, bare = own_merges(model), without_products(model)
        unreachable = {token for token in removable if not rules.is_made(token)}
    else:
        rules = MergeRules(model.merges)
        bare = replace(model, merges=Merges.from_pairs(()), ignore_merges=False)
        if isinstance(bare, CharacterBpe):
            bare = replace(bare, whole_runs_of="")
    pieces = _Pieces(model, counts, _Speller(model, bare, rules))

    # Scores would merge a piece that is out of reach as soon as what keeps it so is gone: it goes before.
    uses = pieces.uses if order != "last" else dict.fromkeys(removable, 0)
    uses.update(dict.fromkeys(unreachable, -1))
    waiting = [(uses.get(token, 0), -token) for token in removable if rules.is_leaf(token)]
    heapq.heapify(waiting)
    gone: dict[int, None] = {}
    while waiting and len(gone) < excess:
        number, negative = heapq.heappop(waiting)
        token = -negative
        if token in gone or number != uses.get(token, 0):
            continue  # its count has changed since, and it waits with the new one as well
        gone[token] = None
        changed = {*(parts := rules.remove(token))}
        if order == "recounted":
            changed |= pieces.rewrite(token)
        elif order == "inherited":
            for part in parts:
                uses[part] = uses.get(part, 0) + number
        for other in changed:
            if other in removable and other not in gone and rules.is_leaf(other):
                heapq.heappush(waiting, (uses.get(other, 0), -other))
        if progress is not None and len(gone) % 64 == 0:
            progress(len(gone), excess)
    return [*gone]


# -- models without merges ---------------------------------------------------------------------


def _choose_in_rounds(
    model: Model, counts: _core.Counts, removable: set[int], excess: int, progress: Progress | None
) -> set[int]:
    """Choose the tokens to remove: all unused ones, else the less used half, again and again."""
    if len(removable) < excess:
        return removable
    gone: set[int] = set()
    held = {token_id for token_id, _ in model.vocabulary.items()} | {*range(len(model.scores or ()))}
    held |= {model.unk_id} - {None}
    while len(gone) < excess:
        left = sorted(held - gone)
        smaller = renumbered_model(model, {old: new for new, old in enumerate(left)})
        uses = {left[token]: number for token, number in count_tokens(smaller, counts).items()}
        order = sorted(removable - gone, key=lambda token: (uses.get(token, 0), -token))
        unused = sum(token not in uses for token in order)
        rest = excess - len(gone)
        gone.update(order[: min(rest, max(unused, -(-rest // 2)))])
        if progress is not None:
            progress(len(gone), excess)
    return gone
