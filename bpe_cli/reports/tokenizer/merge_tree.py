"""Build the merge tree of a vocabulary: the two tokens that each token is made of.

Whatever stands around a token's text while it is put together has no part in it, so it comes of the same two
parts wherever it does (``tokenizer/merging.py`` has the argument). Where only one merge makes a token, that is the
one; where several could, the merges of ranks say which does if ranks do what the list does, as in files that were made
of ranks. Otherwise the token's own text is merged to see it.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from heapq import nsmallest
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

from bpe_cli.errors import FormatError
from bpe_cli.reports.tokenizer.contents import LengthBin, bins
from bpe_cli.stages import CharacterBpe, EventBpe, MergeBpe, RankBpe, ScoredBpe
from bpe_cli.stages.events import first_merges
from bpe_cli.stages.spelling import NORMAL, UNUSED, USER_DEFINED
from bpe_cli.support.cached import cached_property
from bpe_cli.tokenizer.merging import as_ranks, of_ranks

if TYPE_CHECKING:
    from bpe_cli.stages import Model

LONGEST_MERGED = 256
"""A token of more symbols is not merged to find out its parts: the first merge in a list that makes it counts."""

DEEPEST = 5
"""How many of the deepest tokens are reported."""

NO_PART = 0xFFFF_FFFF

Text = TypeVar("Text", str, bytes)

Find = Callable[[int, int], tuple[float, int] | None]
"""Gives the priority of a pair of tokens (lowest first) and what it becomes; None if it is not merged."""


@dataclass(frozen=True, slots=True)
class Node:
    """A token in a tree that is written down from its root.

    Attributes:
        level: How many tokens stand above it.
        made: Whether its two parts follow, one level deeper; else it is a leaf of this tree.
    """

    level: int
    token_id: int
    made: bool


class MergeTree:
    """The two tokens that each token is made of.

    Args:
        size: The highest id plus one.
        parts: (left, right) by the id of what they make, in the order in which they are merged.

    Attributes:
        order: What merges make, in the same order, but after their parts.

    Invariant: no token is a part of itself. Merges that would make it one are left out.
    """

    def __init__(self, size: int, parts: Mapping[int, tuple[int, int]]) -> None:
        self.left = array("I", [NO_PART]) * size
        self.right = array("I", [NO_PART]) * size
        self.depth = array("I", [0]) * size
        self.order = self._arrange(parts)

    def _arrange(self, parts: Mapping[int, tuple[int, int]]) -> array[int]:
        """Order merges after those that make their parts; return the products in that order.

        Most come in such an order already. The others wait for their parts, without recursion: a tree may
        be as deep as its vocabulary is large.
        """
        order = array("I")
        late: dict[int, tuple[int, int]] = {}
        made = self.left
        for product, (left, right) in parts.items():
            if (left not in parts or made[left] != NO_PART) and (right not in parts or made[right] != NO_PART):
                self._take(product, left, right)
                order.append(product)
            else:
                late[product] = left, right
        waiting: dict[int, list[int]] = defaultdict(list)
        missing: dict[int, int] = {}
        ready = []
        for product, pair in late.items():
            unmade = {part for part in pair if part in late}
            missing[product] = len(unmade)
            for part in unmade:
                waiting[part].append(product)
            if not unmade:
                ready.append(product)
        while ready:
            product = ready.pop()
            self._take(product, *late[product])
            order.append(product)
            for other in waiting.get(product, ()):
                missing[other] -= 1
                if not missing[other]:
                    ready.append(other)
        return order

    def _take(self, product: int, left: int, right: int) -> None:
        self.left[product], self.right[product] = left, right
        self.depth[product] = 1 + max(self.depth[left], self.depth[right])

    def parts(self, token_id: int) -> tuple[int, int] | None:
        """Return the two tokens that a token is made of; None if no merge makes it."""
        if token_id >= len(self.left) or self.left[token_id] == NO_PART:
            return None
        return self.left[token_id], self.right[token_id]

    @cached_property
    def children(self) -> dict[int, list[int]]:
        """What is made of each token directly, in ascending order; of itself twice counts once."""
        children: dict[int, list[int]] = defaultdict(list)
        for product in sorted(self.order):
            for part in {self.left[product], self.right[product]}:
                children[part].append(product)
        return dict(children)

    def descendants(self, token_id: int) -> set[int]:
        """Return every token that a token is a part of, directly or not."""
        descendants: set[int] = set()
        waiting = [token_id]
        while waiting:
            for product in self.children.get(waiting.pop(), ()):
                if product not in descendants:
                    descendants.add(product)
                    waiting.append(product)
        return descendants

    def nodes(self, token_id: int, limit: int | None = None) -> Iterator[Node]:
        """Write down a token's tree from its root, left parts first, up to ``limit`` tokens."""
        waiting = [(0, token_id)]
        while waiting and (limit is None or limit > 0):
            level, token = waiting.pop()
            pair = self.parts(token)
            yield Node(level, token, pair is not None)
            if pair is not None:
                waiting += (level + 1, pair[1]), (level + 1, pair[0])
            if limit is not None:
                limit -= 1

    def times_made(self, uses: Mapping[int, int]) -> list[int]:
        """Count how often each token is made, given how often each is used in the end.

        What is used was made once, and so was each of its parts.
        """
        made = [0] * len(self.left)
        for token_id, times in uses.items():
            if token_id < len(made):
                made[token_id] = times
        for product in reversed(self.order):
            made[self.left[product]] += made[product]
            made[self.right[product]] += made[product]
        return made


@dataclass(frozen=True, slots=True)
class MergeShape:
    """The shape of the merge tree, over ordinary tokens.

    Attributes:
        made: Tokens that a merge makes.
        depths: (merges one on top of the other, tokens), ascending; 0: no merge makes it.
        depth_bins: The same in a few bins, from 1.
        mean_depth: Mean over tokens that a merge makes; None if there is none.
        leaves: Tokens that no merge builds on (the leaves of the tree, seen from the symbols).
        leaf_share: Part of all ordinary tokens, 0 to 1.
        deepest: The deepest tokens, then by id, with their depths.
    """

    made: int
    depths: tuple[tuple[int, int], ...]
    depth_bins: tuple[LengthBin, ...]
    mean_depth: float | None
    leaves: int
    leaf_share: float
    deepest: tuple[tuple[int, int], ...]


def shape_of(tree: MergeTree, ordinary: Iterable[int]) -> MergeShape:
    """Measure the shape of a tree."""
    ids = list(ordinary)
    depths = Counter(tree.depth[token_id] for token_id in ids)
    parts = {*tree.left, *tree.right}
    leaves = sum(token_id not in parts for token_id in ids)
    made = len(ids) - depths[0]
    deepest = nsmallest(DEEPEST, ids, key=lambda token_id: (-tree.depth[token_id], token_id))
    return MergeShape(
        made=made,
        depths=tuple(sorted(item for item in depths.items() if item[1])),
        depth_bins=bins(Counter({depth: number for depth, number in depths.items() if depth})),
        mean_depth=sum(depth * count for depth, count in depths.items()) / made if made else None,
        leaves=leaves,
        leaf_share=leaves / len(ids) if ids else 0.0,
        deepest=tuple((token_id, tree.depth[token_id]) for token_id in deepest if tree.depth[token_id]),
    )


def merge_tree(model: Model) -> MergeTree | None:
    """Return the merge tree of a model; None if it does not merge.

    Complexity: linear in the vocabulary's bytes, and for each token that several merges could make, the square
        of its symbols (at most ``LONGEST_MERGED``).
    """
    size = model.vocabulary.size
    if isinstance(model, RankBpe):
        return MergeTree(size, _ranked(model))
    if isinstance(model, (MergeBpe, CharacterBpe)):
        return MergeTree(size, _listed(model))
    if isinstance(model, ScoredBpe):
        return MergeTree(size, _scored(model))
    if isinstance(model, EventBpe):
        return MergeTree(size, first_merges(model))
    return None


def _ranked(model: RankBpe) -> dict[int, tuple[int, int]]:
    """Find the merge of each token whose id is its rank."""
    try:
        return {product: (left, right) for left, right, product in of_ranks(model.vocabulary).merges}
    except FormatError:  # a byte is missing, or the like: the other tokens have their merges all the same
        return _joined(dict(model.vocabulary.items()), float)


def _listed(model: MergeBpe | CharacterBpe) -> dict[int, tuple[int, int]]:
    """Choose the merge of each token from a list; merges of ids that no token has are left out."""
    known = {token_id for token_id, _ in model.vocabulary.items()}
    rules: dict[tuple[int, int], tuple[float, int]] = {}
    for priority, (left, right, product) in enumerate(model.merges):
        if left in known and right in known and product in known:
            rules.setdefault((left, right), (priority, product))  # of a pair that appears twice the first counts
    makers: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for pair, (_, product) in rules.items():
        if product not in pair:
            makers[product].append(pair)
    parts = {}
    has_choice = any(len(pairs) > 1 for pairs in makers.values())
    settled = _settled(model) if has_choice and isinstance(model, MergeBpe) else {}
    for product, pairs in makers.items():
        last_pair = settled.get(product)
        if len(pairs) > 1 and last_pair is None:
            symbols = _symbols(model, product)
            last_pair = _last_merge(symbols, product, lambda left, right: rules.get((left, right))) if symbols else None
        parts[product] = last_pair or pairs[0]
    return dict(sorted(parts.items(), key=lambda item: rules[item[1]]))


def _settled(model: MergeBpe) -> dict[int, tuple[int, int]]:
    """Return the pairs that ranks merge, if they do what the list does; nothing else."""
    ranks = as_ranks(model)
    return {} if ranks is None else _ranked(ranks)


def _symbols(model: MergeBpe | CharacterBpe, token_id: int) -> list[int] | None:
    """Return the symbols that merging a token's text begins with; None if one of them is not a token."""
    vocabulary = model.vocabulary
    content = vocabulary.token(token_id)
    if isinstance(model, MergeBpe):
        spelt = [content[at : at + 1] for at in range(len(content))]
    else:
        prefix, suffix = model.continuing_subword_prefix, model.end_of_word_suffix
        text = content.decode("utf-8", "replace")
        inner = bool(prefix) and text.startswith(prefix)
        text = text.removeprefix(prefix)
        ends = bool(suffix) and text.endswith(suffix)
        letters = [*text.removesuffix(suffix)]
        if ends and (model.separate_suffix or not letters):
            letters.append(suffix)
        elif ends:
            letters[-1] += suffix
        spelt = [(prefix + each if at or inner else each).encode() for at, each in enumerate(letters)]
    symbol_ids = [vocabulary.id_of(symbol) for symbol in spelt]
    known = [symbol for symbol in symbol_ids if symbol is not None]
    return known if len(known) == len(symbol_ids) else None


def _scored(model: ScoredBpe) -> dict[int, tuple[int, int]]:
    """Find the merge of each of SentencePiece's pieces: neighbours whose joined text has the highest score."""
    kinds, scores = model.kinds, model.scores
    texts = {
        token_id: content.decode("utf-8", "replace")
        for token_id, content in model.vocabulary.items()
        if not kinds or kinds[token_id] in (NORMAL, USER_DEFINED, UNUSED)
    }
    return _joined(texts, lambda token_id: -scores[token_id])


def _joined(texts: Mapping[int, Text], priority: Callable[[int], float]) -> dict[int, tuple[int, int]]:
    """Find the merge of each token where those neighbours are merged whose joined text is a token."""
    ids: dict[Text, int] = {}
    for token_id, text in texts.items():
        ids.setdefault(text, token_id)

    def find(left: int, right: int) -> tuple[float, int] | None:
        token_id = ids.get(texts[left] + texts[right])
        return None if token_id is None else (priority(token_id), token_id)

    parts = {}
    for token_id, text in texts.items():
        if not 2 <= len(text) <= LONGEST_MERGED:
            continue
        cuts = [at for at in range(1, len(text)) if text[:at] in ids and text[at:] in ids]
        if not cuts:
            continue
        pair = ids[text[: cuts[0]]], ids[text[cuts[0] :]]
        if len(cuts) > 1:
            symbols = [ids.get(text[at : at + 1]) for at in range(len(text))]
            known = [symbol for symbol in symbols if symbol is not None]
            merged = _last_merge(known, ids[text], find) if len(known) == len(symbols) else None
            pair = merged or pair
        parts[token_id] = pair
    return dict(sorted(parts.items(), key=lambda item: priority(item[0])))


def _last_merge(symbols: list[int], product: int, find: Find) -> tuple[int, int] | None:
    """Merge symbols, lowest priority first and leftmost of equals; return the pair that becomes the product.

    None if they do not become it.
    """
    if len(symbols) > LONGEST_MERGED:
        return None
    nothing = (float("inf"), NO_PART)
    ids = symbols
    joined = [find(left, right) or nothing for left, right in pairwise(ids)]
    while len(ids) > 2:
        best = min(joined, key=_priority)
        if best is nothing:
            return None
        at = joined.index(best)
        ids = [*ids[:at], best[1], *ids[at + 2 :]]
        del joined[at]
        for place in (at - 1, at):
            if 0 <= place < len(joined):
                joined[place] = find(ids[place], ids[place + 1]) or nothing
    return (ids[0], ids[1]) if len(ids) == 2 and joined[0][1] == product else None


def _priority(rule: tuple[float, int]) -> float:
    return rule[0]
