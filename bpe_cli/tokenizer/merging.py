"""Merge the symbols of one piece, and tell every merge: for what the core does not do.

The core compiles a model once and runs it fast. Here stands the loop for a model that changes with every token that
goes, for the parts that a single token comes of, and for who wants to see each merge. Source: google/sentencepiece
``bpe_model.cc``. The tests hold it to the core, and to the textbooks' way of looking through all neighbours.

A *symbol* is anything that can be compared: bytes, text, an id.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Any, Generic, NamedTuple, TypeVar

from bpe_cli import _core
from bpe_cli.errors import FormatError
from bpe_cli.stages import MergeBpe, RankBpe
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.messages import quote

Symbol = TypeVar("Symbol")

Order = Callable[[Symbol, Symbol], tuple[float, Symbol] | None]
"""Gives the number of two neighbours' merge, of which the lowest comes first, and what it makes."""


class Merge(NamedTuple, Generic[Symbol]):
    """One merge of two neighbours.

    Attributes:
        number: What it was chosen by: lower numbers come first, and the leftmost of equals.
        place: Number of the first symbol's beginning, counted in the symbols that merging began with.
        middle: Where the second one begins, counted alike.
        left: The first symbol.
        right: The second.
        product: What they became.
    """

    number: float
    place: int
    middle: int
    left: Symbol
    right: Symbol
    product: Symbol


def merges(symbols: Sequence[Symbol], order: Order[Symbol]) -> Iterator[Merge[Symbol]]:
    """Yield every merge, from a queue of those that can be done. Complexity: n log n.

    A merge changes two neighbourhoods only: what it makes may merge with the symbol before it and with
    the one after it. Those are put into the queue; what stands there of the parts has become void.

    >>> order = {("b", "c"): (0, "bc"), ("a", "bc"): (1, "abc")}
    >>> [(step.place, step.product) for step in merges("abcbc", lambda *pair: order.get(pair))]
    [(1, 'bc'), (3, 'bc'), (0, 'abc')]
    """
    return map(Merge._make, _run(symbols, order))


def _run(symbols: Sequence[Symbol], order: Order[Symbol]) -> Iterator[tuple[float, int, int, Any, Any, Any]]:
    # By place: the symbol that begins there, None where it was merged into the one before it.
    parts: list[Any] = list(symbols)
    count = len(parts)
    before = list(range(-1, count - 1))
    after = list(range(1, count + 1))
    queue = []
    for place, (left, right) in enumerate(pairwise(symbols)):
        rule = order(left, right)
        if rule is not None:
            queue.append((rule[0], place, place + 1, left, right, rule[1]))
    heapify(queue)
    while queue:
        merge = heappop(queue)
        _, place, middle, left, right, product = merge
        if parts[place] != left or after[place] != middle or parts[middle] != right:
            continue  # one of them was merged with another
        yield merge
        parts[place], parts[middle] = product, None
        end = after[place] = after[middle]
        start = before[place]
        if end < count:
            before[end] = place
            rule = order(product, parts[end])
            if rule is not None:
                heappush(queue, (rule[0], place, end, product, parts[end], rule[1]))
        if start >= 0:
            rule = order(parts[start], product)
            if rule is not None:
                heappush(queue, (rule[0], start, place, parts[start], product, rule[1]))


def merged(symbols: Sequence[Symbol], order: Order[Symbol]) -> list[Symbol]:
    """Return what merging leaves.

    >>> order = {("b", "c"): (0, "bc"), ("a", "bc"): (1, "abc")}
    >>> merged("abcbc", lambda *pair: order.get(pair))
    ['abc', 'bc']
    """
    parts: list[Symbol | None] = list(symbols)
    for _, place, middle, _, _, product in _run(symbols, order):
        parts[place], parts[middle] = product, None
    return [part for part in parts if part is not None]


# --------------------------------------------------------------------------------------------------
# Turn ranks into the merges that do the same, and such merges into ranks.
#
# Merging by ranks takes, again and again, the two neighbours whose joined bytes are the token of lowest rank,
# the leftmost of equals. Take any token, and any place in any text where its bytes stand and no merge has
# crossed their edges: so far these bytes were merged in the order in which they would be on their own, since of
# two places in them the same one is always taken first. So if two neighbours ever join to that token, they are
# the last two parts that its own bytes come to: every token has at most one merge. These merges in order of
# rank therefore find, at every step, the same places in the same order as the ranks do.
#
# A token whose bytes do not come to two parts arises only as a whole piece, which ranks look up before they
# merge, and ``ignore_merges`` too.


LONGEST_TOKEN = 1024
"""The longest token in bytes whose parts are looked for: the core runs no longer ones by ranks."""


@dataclass(frozen=True, slots=True)
class RankMerges:
    """What ranks come to.

    Attributes:
        merges: The one merge of each token that has one, in order of rank.
        whole: Ids of the tokens of several bytes that have none.
    """

    merges: Merges
    whole: tuple[int, ...]


@lru_cache(maxsize=1)  # a report asks for one vocabulary's several times
def of_ranks(vocabulary: Vocabulary) -> RankMerges:
    """Find the merges of a vocabulary whose ids are ranks.

    Raises:
        FormatError: if a merge needs a byte that is not a token, a token is longer than any that is merged, or
            two are the same.
    """
    try:
        triples, unreached = _core.recover_merges(vocabulary.blob, vocabulary.ends)
    except ValueError as error:  # two tokens of the same bytes
        raise FormatError(f"the vocabulary has no merges: {error}") from error
    recovered = array("I", memoryview(triples).tobytes())
    waiting = memoryview(unreached).tolist()
    if not waiting:
        return RankMerges(Merges(recovered), ())
    # Lower ranks alone do not leave these as two parts; with higher ones some are left so.
    ranks = {token: token_id for token_id, token in vocabulary.items()}
    merges = {product: (left, right) for left, right, product in Merges(recovered)}
    whole = []
    for token_id in waiting:
        token = vocabulary.token(token_id)
        if len(token) > LONGEST_TOKEN:
            raise FormatError(
                f"the token {quote(token)} (id {token_id}) has {len(token):,} bytes, "
                f"and merges are found for tokens of up to {LONGEST_TOKEN:,}"
            )
        parts = _last_parts(token, ranks)
        if parts is None:
            whole.append(token_id)
            continue
        for part in parts:
            if part not in ranks:
                raise FormatError(
                    f"the token {quote(token)} (id {token_id}) is merged of bytes, and the byte {part!r} is not a "
                    "token",
                    hint="keep it as a .tiktoken file",
                )
        merges[token_id] = ranks[parts[0]], ranks[parts[1]]
    ordered = Merges.from_pairs((*merges[product], product) for product in sorted(merges))
    return RankMerges(ordered, tuple(whole))


def _last_parts(token: bytes, ranks: Mapping[bytes, int]) -> tuple[bytes, bytes] | None:
    """Merge a token's bytes by ranks until two parts are left; None if more are."""

    def order(left: bytes, right: bytes) -> tuple[int, bytes] | None:
        rank = ranks.get(left + right)
        return None if rank is None else (rank, left + right)

    starts = set(range(1, len(token)))
    for merge in merges([token[at : at + 1] for at in range(len(token))], order) if len(starts) > 1 else ():
        starts.remove(merge.middle)
        if len(starts) == 1:
            break
    if len(starts) != 1:
        return None
    [middle] = starts
    return token[:middle], token[middle:]


def as_merges(model: RankBpe | MergeBpe) -> MergeBpe:
    """Return byte-level BPE with its merges written out; it makes the same tokens of every piece.

    Whole pieces are looked up only where some token of the ranks arises in no other way.

    Raises:
        FormatError: if ``of_ranks`` does.
    """
    if isinstance(model, MergeBpe):
        return model
    recovered = of_ranks(model.vocabulary)
    return MergeBpe(model.vocabulary, recovered.merges, ignore_merges=bool(recovered.whole))


def as_ranks(model: MergeBpe) -> RankBpe | None:
    """Return the ranks that do what merges do; None if there are none."""
    return RankBpe(model.vocabulary) if why_no_ranks(model) is None else None


def why_no_ranks(model: MergeBpe) -> str | None:
    """Explain why ranks cannot do what merges do; None when they can.

    They can if the merges that do what the ranks do are all there, in the order of the ids: no other
    merge is ever used then. And ranks look up whole pieces; where the model does not, merging is to
    come to the same.
    """
    vocabulary = model.vocabulary
    try:
        recovered = of_ranks(vocabulary)
    except FormatError as error:
        return error.message
    if recovered.whole and not model.ignore_merges:
        return f"no merge reaches {quote(vocabulary.token(recovered.whole[0]))} (id {recovered.whole[0]})"
    missing = set(recovered.merges)
    previous = -1
    for number, merge in enumerate(model.merges, start=1):
        if merge not in missing:
            continue  # it never finds a place
        missing.remove(merge)
        product = merge[2]
        if product < previous:
            return f"merge {number} makes {quote(vocabulary.token(product))} (id {product}) after id {previous}"
        previous = product
    if missing:
        parts = [quote(vocabulary.token(each)) for each in min(missing, key=lambda merge: merge[2])]
        return f"the ranks make {parts[2]} of {parts[0]} and {parts[1]}, and no merge does"
    return None
