"""Record the merges of a piece: by ranks, by a list of pairs, over characters, by scores.

Source of merging by scores, and of taking unused pieces apart again: google/sentencepiece ``bpe_model.cc``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import TYPE_CHECKING, TypeVar

from bpe_cli.reports.text.characters import bytes_of, text_of
from bpe_cli.reports.text.steps import MergeStep, MergeWalk, Rival, Spelling, StepToken
from bpe_cli.reports.text.steps.pieces import check_length, collected, contents_around, window
from bpe_cli.stages.spelling import BYTE, NORMAL, UNUSED, USER_DEFINED
from bpe_cli.teaching import bpe
from bpe_cli.tokenizer.merging import Merge, Order, merges

if TYPE_CHECKING:
    from bpe_cli.reports.text.steps.pieces import Limits, Names
    from bpe_cli.stages import CharacterBpe, MergeBpe, RankBpe, ScoredBpe
    from bpe_cli.stages.vocabulary import Merges


class UserDefined(str):
    """A piece of a user's own: found before all else, and never merged."""

    __slots__ = ()


def spell(piece: str, user_defined: Collection[str] = ()) -> list[str]:
    """Spell a piece in characters, and in pieces of a user's own, the longest at each place.

    >>> spell("abcd", {"bc", "b"})
    ['a', 'bc', 'd']
    """
    lengths = sorted({len(token) for token in user_defined}, reverse=True)
    symbols: list[str] = []
    place = 0
    while place < len(piece):
        own = next((piece[place : place + n] for n in lengths if piece[place : place + n] in user_defined), None)
        symbols.append(piece[place] if own is None else UserDefined(own))
        place += len(symbols[-1])
    return symbols


def order_of_scores(scores: Mapping[str, float]) -> Order[str]:
    """Order merges by the score of what they make, the highest first.

    >>> order_of_scores({"ab": -2.0})("a", "b")
    (2.0, 'ab')
    """

    def order(left: str, right: str) -> tuple[float, str] | None:
        score = scores.get(left + right)
        if score is None or isinstance(left, UserDefined) or isinstance(right, UserDefined):
            return None
        return -score, left + right

    return order


def take_back(
    symbols: Sequence[str], done: Iterable[Merge[str]], unused: Collection[str]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what merging left, each with what it becomes: itself, or the parts of an unused piece, and of theirs.

    >>> from bpe_cli.tokenizer.merging import merges
    >>> done = merges("abc", order_of_scores({"ab": -1.0, "abc": -2.0}))
    >>> list(take_back("abc", done, {"abc", "ab"}))
    [('abc', ('a', 'b', 'c'))]
    """
    # By the place where a symbol begins, every merge that made it, the last one at the end.
    made: dict[int, list[Merge[str]]] = {}
    gone = set()
    for merge in done:
        made.setdefault(merge.place, []).append(merge)
        gone.add(merge.middle)
    for place, symbol in enumerate(symbols):
        if place in gone:
            continue
        here = made.get(place, [])
        whole = here[-1].product if here else symbol
        leaves: list[str] = []
        # What is still to be looked at: the symbol, its place, and how many of the merges there made it.
        waiting = [(whole, place, len(here))]
        while waiting:
            text, at, count = waiting.pop()
            if text not in unused or not count:
                leaves.append(text)
                continue
            last = made[at][count - 1]
            waiting.append((last.right, last.middle, len(made.get(last.middle, ()))))
            waiting.append((last.left, at, count - 1))
        yield whole, tuple(leaves)


Symbol = TypeVar("Symbol")


class ByRanks:
    """Record merging by the rank of the concatenation (``RankBpe``)."""

    def __init__(self, model: RankBpe, names: Names, limits: Limits) -> None:
        self._ranks = model.vocabulary.id_of
        self._names = names
        self._limits = limits

    def walk(self, piece: bytes) -> MergeWalk:
        """Return the steps of one piece."""
        check_length(piece)
        symbols = [piece[at : at + 1] for at in range(len(piece))]
        done = list(merges(symbols, self._order))
        steps, left = _tell(symbols, done, self._limits, self._order, lambda symbol: symbol)
        ids = [rank for symbol in left if (rank := self._ranks(symbol)) is not None]
        return _walk(symbols, steps, len(done), self._names, ids, self._ranks(piece))

    def _order(self, left: bytes, right: bytes) -> tuple[float, bytes] | None:
        rank = self._ranks(left + right)
        return None if rank is None else (rank, left + right)


class ByList:
    """Record merging by a list of pairs of bytes (``MergeBpe``)."""

    def __init__(self, model: MergeBpe, names: Names, limits: Limits) -> None:
        self._order = order_of(model.merges)
        self._vocabulary = model.vocabulary
        self._whole = model.ignore_merges
        self._names = names
        self._limits = limits

    def walk(self, piece: bytes) -> MergeWalk:
        """Return the steps of one piece."""
        check_length(piece)
        whole = self._vocabulary.id_of(piece) if self._whole else None
        spelt = (self._vocabulary.id_of(piece[at : at + 1]) for at in range(len(piece)))
        symbols = [each for each in spelt if each is not None]
        done = list(merges(symbols, self._order))
        steps, left = _tell(symbols, done, self._limits, self._order, self._vocabulary.token)
        start = [self._vocabulary.token(each) for each in symbols]
        return _walk(start, steps, len(done), self._names, left, whole)


class OverCharacters:
    """Record merging of characters by a list of pairs (``CharacterBpe``)."""

    def __init__(self, model: CharacterBpe, names: Names, limits: Limits) -> None:
        self._model = model
        self._order = order_of(model.merges)
        self._ids = {text_of(token): token_id for token_id, token in model.vocabulary.items()}
        self._names = names
        self._limits = limits

    def walk(self, piece: bytes) -> MergeWalk:
        """Return the steps of one piece."""
        check_length(piece)
        model = self._model
        run = model.whole_runs_of and not text_of(piece).strip(model.whole_runs_of)
        whole = self._ids.get(text_of(piece)) if model.ignore_merges or run else None
        decorated = bpe.decorate(
            text_of(piece),
            prefix=model.continuing_subword_prefix,
            suffix=model.end_of_word_suffix,
            separate_suffix=model.separate_suffix,
        )
        symbols: list[int] = []
        spelt = []
        for each in bpe.spellings(
            decorated,
            self._ids,
            unknown="" if model.unk_id is not None else None,
            fuse_unknown=model.fuse_unk,
            byte_fallback=model.byte_fallback,
        ):
            if each.way == "unknown":
                ids = [model.unk_id if model.unk_id is not None else -1]
            else:
                ids = [self._ids[token] for token in each.tokens]
            symbols += ids
            if each.way != "token":
                spelt.append(Spelling(bytes_of(each.symbol), each.way, tuple(map(self._names.token, ids))))
        done = list(merges(symbols, self._order))
        steps, left = _tell(symbols, done, self._limits, self._order, self._content)
        start = [self._content(each) for each in symbols]
        return _walk(start, steps, len(done), self._names, left, whole, spelt)

    def _content(self, token_id: int) -> bytes:
        return self._names.token(token_id).content


class ByScores:
    """Record merging by the scores of pieces (``ScoredBpe``)."""

    def __init__(self, model: ScoredBpe, names: Names, limits: Limits) -> None:
        self._model = model
        self._names = names
        self._limits = limits
        self._ids: dict[str, int] = {}
        self._unused: set[str] = set()
        self._user_defined: set[str] = set()
        self._byte_ids: dict[bytes, int] = {}
        scores: dict[str, float] = {}
        for token_id, token in model.vocabulary.items():
            kind = model.kinds[token_id] if model.kinds else NORMAL
            if kind == BYTE:
                self._byte_ids[token] = token_id
            if kind not in (NORMAL, USER_DEFINED, UNUSED):
                continue
            text = text_of(token)
            if kind == UNUSED:
                self._unused.add(text)
            else:
                self._ids[text] = token_id
            if kind == USER_DEFINED:
                self._user_defined.add(text)
            else:
                scores[text] = model.scores[token_id]
        self._order = order_of_scores(scores)

    def walk(self, piece: bytes) -> MergeWalk:
        """Return the steps of one piece."""
        check_length(piece)
        symbols = spell(text_of(piece), self._user_defined)
        done = list(merges(symbols, self._order))
        steps, _ = _tell(symbols, done, self._limits, self._order, bytes_of, scored=True)
        tokens: list[StepToken] = []
        ends = []
        after_unknown = False
        for whole, parts in take_back(symbols, done, self._unused):
            if parts != (whole,):
                known = (self._names.token(self._ids[part]) for part in parts if part in self._ids)
                ends.append(Spelling(bytes_of(whole), "taken back", tuple(known)))
            for part in parts:
                end = self._end(part, after_unknown)
                after_unknown = end is not None
                if end is None:
                    tokens.append(self._names.token(self._ids[part]))
                else:
                    ends.append(end)
                    tokens += end.tokens
        start = window([bytes_of(each) for each in symbols])
        merged = tuple(tokens)
        return MergeWalk(None, (), start, steps, len(done) - len(steps), collected(ends), merged, merged)

    def _end(self, part: str, after_unknown: bool) -> Spelling | None:
        """Describe what an unknown part becomes; None for a token."""
        if part in self._ids:
            return None
        content = bytes_of(part)
        if self._model.byte_fallback:
            ids = (self._byte_ids[bpe.byte_token(byte).encode()] for byte in content)
            return Spelling(content, "bytes", tuple(map(self._names.token, ids)))
        if after_unknown:
            return Spelling(content, "fused", ())
        return Spelling(content, "unknown", (self._names.token(self._model.unk_id),))


def order_of(merges: Merges) -> Callable[[int, int], tuple[float, int] | None]:
    """Order merges as they stand in a list; of the same pair the first counts."""
    numbers: dict[tuple[int, int], tuple[float, int]] = {}
    for number, (left, right, product) in enumerate(merges):
        numbers.setdefault((left, right), (number, product))
    return lambda left, right: numbers.get((left, right))


def states(symbols: Sequence[Symbol], done: Iterable[Merge[Symbol]]) -> Iterator[tuple[int, list[Symbol]]]:
    """Yield after each merge where its product stands, and all symbols: one list, which goes on changing.

    >>> order = {("a", "b"): (0, "ab"), ("ab", "ab"): (1, "abab")}
    >>> done = merges("abab", lambda *pair: order.get(pair))
    >>> [(at, " ".join(parts)) for at, parts in states("abab", done)]
    [(0, 'ab a b'), (1, 'ab ab'), (0, 'abab')]
    """
    parts = list(symbols)
    starts = list(range(len(parts)))
    for merge in done:
        at = bisect_left(starts, merge.place)
        parts[at : at + 2] = [merge.product]
        del starts[at + 1]
        yield at, parts


MOST_SYMBOLS = 2048
"""The most symbols of a piece whose pairs that could merge are listed."""


def _tell(
    symbols: Sequence[Symbol],
    done: Sequence[Merge[Symbol]],
    limits: Limits,
    order: Order[Symbol],
    content: Callable[[Symbol], bytes],
    *,
    scored: bool = False,
) -> tuple[tuple[MergeStep, ...], list[Symbol]]:
    """Return the first merges, and the symbols that all of them leave."""
    steps = []
    after = states(symbols, done)
    left = list(symbols)
    looks = limits.pairs != 0 and len(left) <= MOST_SYMBOLS
    for merge in islice(done, limits.steps):
        pairs = rivals(left, merge, order, content, scored=scored) if looks else []
        at, left = next(after)
        steps.append(
            MergeStep(
                None if scored else int(merge.number),
                0.0 - merge.number if scored else None,
                content(merge.left),
                content(merge.right),
                content(merge.product),
                contents_around(left, at, content),
                tuple(pairs[: limits.pairs]),
                len(pairs),
            )
        )
    for _, last in after:
        left = last
    return tuple(steps), left


def rivals(
    symbols: Sequence[Symbol],
    merge: Merge[Symbol],
    order: Order[Symbol],
    content: Callable[[Symbol], bytes],
    *,
    scored: bool = False,
) -> list[Rival]:
    """Return the different pairs that could merge, the one that does first.

    >>> ranks = {("a", "b"): (1, "ab"), ("b", "c"): (0, "bc")}
    >>> (done,) = merges("abc", lambda *pair: ranks.get(pair))
    >>> [(each.left, each.right, each.rank, each.taken) for each in rivals(
    ...     "abc", done, lambda *pair: ranks.get(pair), str.encode)]
    [(b'b', b'c', 0, True), (b'a', b'b', 1, False)]
    """
    found: dict[tuple[Symbol, Symbol], tuple[float, Symbol]] = {}
    times: dict[tuple[Symbol, Symbol], int] = {}
    for pair in pairwise(symbols):
        ordered = order(*pair)
        if ordered is not None:
            found.setdefault(pair, ordered)
            times[pair] = times.get(pair, 0) + 1
    taken = (merge.left, merge.right)
    # Equals stay in the order of their first places, of which the leftmost merges.
    return [
        Rival(
            None if scored else int(number), 0.0 - number if scored else None, content(pair[0]), content(pair[1]),
            content(product), times[pair], pair == taken, pair != taken and number == merge.number,
        )
        for pair, (number, product) in sorted(found.items(), key=lambda item: item[1][0])
    ]  # fmt: skip


def _walk(
    start: Sequence[bytes],
    steps: tuple[MergeStep, ...],
    count: int,
    names: Names,
    merged: Iterable[int],
    whole: int | None,
    spelt: Iterable[Spelling] = (),
) -> MergeWalk:
    ends_at = tuple(map(names.token, merged))
    token = None if whole is None else names.token(whole)
    tokens = ends_at if token is None else (token,)
    return MergeWalk(token, collected(spelt), window(start), steps, count - len(steps), (), ends_at, tokens)
