"""Record a list of merges and splits: every event that finds a place, and each of its places from left to right."""

from __future__ import annotations

from bisect import bisect_left
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import TYPE_CHECKING

from bpe_cli.reports.text.characters import bytes_of, text_of
from bpe_cli.reports.text.steps import MergeStep, MergeWalk, Spelling, SplitStep
from bpe_cli.reports.text.steps.pieces import check_length, collected, contents_around
from bpe_cli.stages.events import SPLIT, replayed, triples

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from bpe_cli.reports.text.steps.pieces import Limits, Names
    from bpe_cli.stages import EventBpe

Symbol = int | None
"""A token, or a symbol that has none: no event concerns it."""


class ByEvents:
    """Record what a list of events does (``EventBpe``)."""

    def __init__(self, model: EventBpe, names: Names, limits: Limits) -> None:
        self._model, self._names, self._limits = model, names, limits
        self._replay = replayed(model)
        self._events = list(triples(model.events))
        self._numbers: dict[tuple[int, int], list[int]] = {}
        self._splits: dict[int, int] = {}
        for number, (left, right, _) in enumerate(self._events):
            self._numbers.setdefault((left, right), []).append(number)
            if right == SPLIT:
                self._splits[number] = len(self._splits)

    def walk(self, piece: bytes) -> MergeWalk:
        """Return the steps of one piece."""
        check_length(piece)
        model = self._model
        whole = model.vocabulary.id_of(piece) if model.ignore_merges else None
        symbols, spelt = self._spell(piece)
        start = contents_around(symbols, None, self._content)
        steps: list[MergeStep | SplitStep] = []
        count = 0
        for step in self._happen(symbols):
            count += 1
            if self._limits.steps is None or count <= self._limits.steps:
                steps.append(self._told(*step, symbols))
        unknown = -1 if model.unk_id is None else model.unk_id
        ends = tuple(self._names.token(unknown if each is None else each) for each in symbols)
        token = None if whole is None or whole in self._replay.removed else self._names.token(whole)
        tokens = ends if token is None else (token,)
        return MergeWalk(token, collected(spelt), start, tuple(steps), count - len(steps), (), ends, tokens)

    def _spell(self, piece: bytes) -> tuple[list[Symbol], list[Spelling]]:
        model = self._model
        if model.byte_level:
            spelt_in = [piece[at : at + 1] for at in range(len(piece))]
        else:
            spelt_in = [bytes_of(character) for character in text_of(piece)]
        symbols: list[Symbol] = []
        spellings = []
        before: Symbol = 0
        for content in spelt_in:
            token_id = model.vocabulary.id_of(content)
            if token_id is None and model.unk_id is None:
                spellings.append(Spelling(content, "left out", ()))
                continue
            if token_id is None and before is None and model.fuse_unk:
                spellings.append(Spelling(content, "fused", ()))
                continue
            if token_id is None and model.unk_id is not None:
                spellings.append(Spelling(content, "unknown", (self._names.token(model.unk_id),)))
            symbols.append(token_id)
            before = token_id
        return symbols, spellings

    def _happen(self, symbols: list[Symbol]) -> Iterator[tuple[int, int]]:
        """Apply the events to symbols, and yield the number of each and its place in what it leaves."""
        queue = [first for pair in pairwise(symbols) for first in self._next(pair, 0)]
        heapify(queue)
        last = -1
        while queue:
            number = heappop(queue)
            if number == last:
                continue  # it has been applied everywhere
            last = number
            left, right, _ = self._events[number]
            made = self._made(number)
            pattern = [left] if right == SPLIT else [left, right]
            at = 0
            while at < len(symbols):
                if symbols[at : at + len(pattern)] == pattern:
                    symbols[at : at + len(pattern)] = made
                    yield number, at
                    around: Sequence[Symbol] = symbols[max(0, at - 1) : at + len(made) + 1]
                    for each in (*pairwise(around), *((token, SPLIT) for token in made)):
                        for later in self._next(each, number + 1):
                            heappush(queue, later)
                    at += len(made) - 1
                at += 1

    def _made(self, number: int) -> tuple[int, ...]:
        """Return what an event puts in the place of what it takes."""
        _, right, product = self._events[number]
        return self._replay.parts_of(self._splits[number]) if right == SPLIT else (product,)

    def _next(self, pair: tuple[Symbol, Symbol], start: int) -> Iterable[int]:
        """Return the first event of a pair, or of a token and ``SPLIT``, from a number on, if there is one."""
        left, right = pair
        numbers = () if left is None or right is None else self._numbers.get((left, right), ())
        return numbers[(at := bisect_left(numbers, start)) : at + 1]

    def _told(self, number: int, at: int, symbols: Sequence[Symbol]) -> MergeStep | SplitStep:
        left, right, product = self._events[number]
        shown = contents_around(symbols, at, self._content)
        if right == SPLIT:
            return SplitStep(number, self._content(left), tuple(map(self._content, self._made(number))), shown)
        return MergeStep(number, None, self._content(left), self._content(right), self._content(product), shown)

    def _content(self, token_id: Symbol) -> bytes:
        if token_id is None:
            return b"" if self._model.unk_id is None else self._names.token(self._model.unk_id).content
        return self._model.vocabulary.token(token_id)
