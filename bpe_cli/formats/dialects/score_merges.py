"""Translate between the two ways to order BPE merges: by scores of pieces, and by a list of pairs.

By scores (SentencePiece) any two neighbours may merge whose concatenation is a piece; by merges
(Hugging Face) only the pairs of a list. What makes the two exchangeable:

Invariant: What merging does inside of a stretch of text whose borders it has not crossed is what it
does to that stretch alone, for what comes first is decided by the pair, and among equals by the place.
So a piece that is ever made of two neighbours is made of the same two whenever its text stands alone:
its *own pair*. A piece that its text alone does not become (one that is not *reached*) is never made.

So scores say the same as merges if the own pairs of all reached pieces are in the list in the order of
the scores, no two of which are equal; other pairs of the list are never neighbours, wherever they stand
in it. The other way round, one thing more is needed: two tokens that together are a token that is not
reached must not be what is left of its text, for scores would merge them.

Equal scores are common in one case: runs of one character (Llama's blanks); see ``run_merges``.
"""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from bpe_cli.errors import FormatError
from bpe_cli.stages import CharacterBpe, ScoredBpe
from bpe_cli.stages.spelling import NORMAL, UNUSED
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.support.blocks import Block
from bpe_cli.support.messages import quote
from bpe_cli.tokenizer import Tokenizer

HINT = "write bpe.json or a .model, which hold scores"


def spelt_alone(model: ScoredBpe | CharacterBpe, texts: Sequence[bytes]) -> list[list[int]]:
    """Return the ids that a model makes of each text by itself, without any other stage."""
    ids, ends = Tokenizer(model).encode_block(Block.of(texts))
    starts = [0, *ends]
    return [ids[start:end].tolist() for start, end in zip(starts, ends, strict=False)]


def normal_pieces(model: ScoredBpe) -> dict[str, int]:
    """Return the pieces that merging can make or use: text -> id."""
    kinds = model.kinds
    return {
        piece.decode(): token_id
        for token_id, piece in model.vocabulary.items()
        if not kinds or kinds[token_id] == NORMAL
    }


def merges_of_scores(model: ScoredBpe) -> Merges:
    """Return the merges that do what scores do: all pairs that make a piece, by score.

    Among pairs of equal scores the one with the longer left part stands first, as Hugging Face's
    converters write them.

    Complexity: of each piece every cut is tried; the core takes none that is longer than 1,024 bytes.
    """
    if UNUSED in model.kinds:
        raise FormatError(
            f"a list of merges cannot say that pieces are unused, and {model.kinds.count(UNUSED):,} are", hint=HINT
        )
    pieces = normal_pieces(model)
    longer = [(text, token_id) for text, token_id in pieces.items() if len(text) > 1]
    spelt = spelt_alone(model, [text.encode() for text, _ in longer])
    groups: dict[float, list[str]] = {}
    for (text, token_id), ids in zip(longer, spelt, strict=True):
        if ids != [token_id]:
            continue  # it is never made, so its score does not matter
        groups.setdefault(model.scores[token_id], []).append(text)
        stranger = next((character for character in text if character not in pieces), None)
        if stranger is not None:
            raise FormatError(
                f"the piece {quote(text)} is made of {quote(stranger)}, which is not a piece itself, and merges join "
                "pieces",
                hint=HINT,
            )
    places: dict[str, dict[tuple[int, int], int]] = {}
    for score, group in groups.items():
        if len(group) > 1:
            above = [text for text, token_id in longer if model.scores[token_id] >= score]
            below = [text for other, texts in groups.items() if other < score for text in texts]
            places |= _places_of_equal(group, above, below, pieces, score)
    written = []
    for text, token_id in longer:
        for middle in range(1, len(text)):
            left, right = text[:middle], text[middle:]
            if left in pieces and right in pieces:
                place = places.get(text, {}).get((len(left), len(right)), len(pieces))
                written.append((-model.scores[token_id], place, pieces[left], pieces[right], token_id))
    triples = array("I")
    for *_, left_id, right_id, token_id in sorted(written):
        triples.extend((left_id, right_id, token_id))
    return Merges(triples)


def _places_of_equal(
    group: Sequence[str], above: Sequence[str], below: Sequence[str], pieces: Mapping[str, int], score: float
) -> dict[str, dict[tuple[int, int], int]]:
    """Return the order of the merges that make pieces with one score: piece -> (lengths of a pair) -> its place.

    The pieces of the group are all reached; above are all that have this score or a higher one, below the reached ones
    that have a lower one. Refused are pieces that are no runs for which a list of merges does the same, and runs
    between which others come: one with a higher score that a run is part of, or one that is made later and is part of
    these.
    """
    runs: dict[str, list[str]] = {}
    for text in group:
        runs.setdefault(text[0], []).append(text)
    given: dict[str, dict[tuple[int, int], int]] = {}
    held = set(group)
    for character, texts in runs.items():
        others = any(character * 2 in (text[:2], text[-2:]) for text in above if text not in held)
        longest = max(map(len, texts))
        others |= any(text == character * len(text) and len(text) < longest for text in below)
        uniform = all(text.count(character) == len(text) for text in texts)
        ids = {len(text): pieces[text] for text in (character, *texts)}
        order = order_of_runs([len(text) for text in texts], ids) if uniform and not others else None
        if order is None:
            shown = " and ".join(quote(text) for text in group[:2])
            raise FormatError(
                f"the pieces {shown} have the same score ({score:g}), so which is merged first depends on where "
                "they stand, and a list of merges has an order",
                hint=HINT,
            )
        places = {pair: place for place, pair in enumerate(order)}
        given |= dict.fromkeys(texts, places)
    return given


def scores_of_merges(model: CharacterBpe, pieces: Mapping[str, int]) -> dict[int, float]:
    """Return the scores that do what merges do: 0, -1, -2, ... in the order of the own pairs.

    ``pieces`` are the tokens that scores could merge or make; those that merging does not make come last, in order of
    id. The model has neither prefix nor suffix.
    """
    texts = {token_id: text for text, token_id in pieces.items()}
    ranks: dict[tuple[int, int], tuple[int, int]] = {}
    pairs: dict[int, list[tuple[int, int]]] = {}
    for rank, (left, right, product) in enumerate(model.merges):
        known = left in texts and right in texts and product in texts
        if not known or texts[left] + texts[right] != texts[product]:
            raise FormatError(f"merge {rank + 1} does not join two pieces to one, and scores can do nothing else")
        ranks[left, right] = rank, product
        pairs.setdefault(product, []).append((left, right))
    longer = [(text, token_id) for text, token_id in pieces.items() if len(text) > 1]
    merging = CharacterBpe(
        Vocabulary.from_ids({text.encode(): token_id for text, token_id in pieces.items()}), model.merges, model.unk_id
    )
    reached: set[int] = set()
    for (text, token_id), ids in zip(longer, spelt_alone(merging, [text.encode() for text, _ in longer]), strict=True):
        if ids == [token_id]:
            reached.add(token_id)
        elif len(ids) == 2 and all(part in texts for part in ids):
            parts = " and ".join(quote(texts[part]) for part in ids)
            raise FormatError(
                f"no merge makes the token {quote(text)} (id {token_id}) of {parts}, and by scores it would be made"
            )
    whole = {token_id for text, token_id in pieces.items() if len(text) == 1} | reached
    order = []
    for token_id in reached:
        own = [pair for pair in pairs[token_id] if pair[0] in whole and pair[1] in whole]
        rank = ranks[own[0]][0] if len(own) == 1 else _last_rank([pieces[each] for each in texts[token_id]], ranks)
        order.append((rank, token_id))
    ordered = [token_id for _, token_id in sorted(order)]
    ordered += sorted(token_id for token_id in texts if token_id not in reached)
    return {token_id: -float(number) for number, token_id in enumerate(ordered)}


def _last_rank(symbols: list[int], ranks: Mapping[tuple[int, int], tuple[int, int]]) -> int:
    """Merge symbols to one, and return the rank of the last merge."""
    following = [*range(1, len(symbols)), -1]
    before = [*range(-1, len(symbols) - 1)]
    queue: list[tuple[int, int, int, int]] = []

    def offer(places: Iterable[int]) -> None:
        for place in places:
            after = following[place] if place >= 0 else -1
            if after >= 0 and (symbols[place], symbols[after]) in ranks:
                rank, product = ranks[symbols[place], symbols[after]]
                heapq.heappush(queue, (rank, place, after, product))

    offer(range(len(symbols)))
    last = -1
    while queue:
        rank, place, after, product = heapq.heappop(queue)
        if following[place] != after or ranks.get((symbols[place], symbols[after]), (-1, 0))[0] != rank:
            continue  # one of the two has become part of something else
        last = rank
        symbols[place] = product
        following[place] = following[after]
        following[after] = -1
        if following[place] >= 0:
            before[following[place]] = place
        symbols[after] = -1
        offer((before[place], place))
    return last


# --------------------------------------------------------------------------------------------------
# Find the merges that do with runs of one character what equal scores do.
#
# Models of Llama's family have a piece for 2, 3, ... 16 blanks, all with one score. Scores merge the
# leftmost of equals, so a run is eaten up from its left end: at any time it is a few finished pieces, and
# behind them single characters. A list of merges has an order and takes the leftmost only of the same pair.
# It does the same if, in each state that a run goes through, the pair that is leftmost is also the first
# in the list of those that are there. States come again once a piece is finished that no piece goes on
# from, so the states up to there are all that need be looked at.


Pair = tuple[int, int]
"""A merge of two runs, as the lengths of both."""


def order_of_runs(lengths: Collection[int], ids: Mapping[int, int]) -> list[Pair] | None:
    """Return the order of the merges of one character's runs; None if no order that is tried does what scores do.

    The lengths are those of the runs that have one score, all made of runs among them; the ids are those of the
    character (1) and of these runs.

    >>> order_of_runs([2, 3], {1: 0, 2: 1, 3: 2})
    [(2, 1), (1, 2), (1, 1)]
    """
    products = set(lengths)
    pairs = [(left, total - left) for total in products for left in range(1, total)]
    pairs = [pair for pair in pairs if pair[0] in ids and pair[1] in ids]
    # The first is the order in which Hugging Face's converters write them.
    for order in (
        sorted(pairs, key=lambda pair: (ids[pair[0]], ids[pair[1]])),
        sorted(pairs, key=lambda pair: (-pair[0], -pair[1])),
    ):
        if _does_the_same(products, order):
            return order
    return None


def _does_the_same(products: Collection[int], order: Sequence[Pair]) -> bool:
    """Return whether the leftmost pair of each state is the first of its pairs in an order."""
    ranks = {pair: rank for rank, pair in enumerate(order)}
    finished: list[int] = []
    for _ in range(4 * max(products)):
        if finished and not any(total > finished[-1] for total in products):
            return True  # nothing goes on from it: what follows is as at the beginning
        there = list(_pairs(finished, ranks))
        if not there:
            return False
        place, pair = there[0]
        if min(ranks[other] for _, other in there) != ranks[pair]:
            return False
        finished[place : place + 2] = [sum(pair)]
    return False


def _pairs(finished: Sequence[int], ranks: Mapping[Pair, int]) -> Iterator[tuple[int, Pair]]:
    """Yield the pairs of a state that can merge, from the left: (place, lengths)."""
    state = [*finished, 1, 1]
    for place in range(len(state) - 1):
        pair = state[place], state[place + 1]
        if pair in ranks:
            yield place, pair
