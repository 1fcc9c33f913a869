"""Merges that can be taken away one at a time, and what they make of a piece.

The core compiles a model once and runs it fast; here a model changes with every token that goes, so a
piece is merged in Python instead, which does the same (the tests hold it to the core).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bpe_cli.stages import CharacterBpe, MergeBpe
from bpe_cli.tokenizer.merging import merged


class MergeRules:
    """Hold merges by the pair they join, with who makes and who uses each token.

    Args:
        merges: (left, right, product) in order of priority; of a pair that stands twice the last counts.
    """

    def __init__(self, merges: Iterable[tuple[int, int, int]]) -> None:
        self._rules: dict[tuple[int, int], tuple[int, int]] = {}
        self._makers: dict[int, list[tuple[int, int]]] = {}
        self._uses: dict[int, int] = {}
        last = {(left, right): (priority, product) for priority, (left, right, product) in enumerate(merges)}
        for (left, right), (priority, product) in last.items():
            self.add(left, right, product, priority)

    def add(self, left: int, right: int, product: int, priority: int) -> None:
        """Take in a merge of a pair that has none; the lowest priority comes first."""
        self._rules[left, right] = (priority, product)
        self._makers.setdefault(product, []).append((left, right))
        for part in (left, right):
            self._uses[part] = self._uses.get(part, 0) + 1

    def __contains__(self, pair: tuple[int, int]) -> bool:
        return pair in self._rules

    def is_leaf(self, token_id: int) -> bool:
        """Return whether no merge uses a token as a part."""
        return not self._uses.get(token_id)

    def is_made(self, token_id: int) -> bool:
        """Return whether a merge makes a token."""
        return bool(self._makers.get(token_id))

    def remove(self, token_id: int) -> list[int]:
        """Take away the merges that make a leaf; gives the parts of which it was made."""
        parts = []
        for pair in self._makers.pop(token_id, ()):
            del self._rules[pair]
            for part in pair:
                self._uses[part] -= 1
                parts.append(part)
        return parts

    def parts(self, token_id: int) -> tuple[int, int] | None:
        """Return the two tokens of which one is made, by the merge that comes first; None if by none."""
        makers = self._makers.get(token_id)
        return min(makers, key=lambda pair: self._rules[pair][0]) if makers else None

    def spell(self, token_id: int) -> list[int]:
        """Return the symbols that a token is made of in the end."""
        symbols: list[int] = []
        waiting = [token_id]
        while waiting:
            token = waiting.pop()
            pair = self.parts(token)
            if pair is None:
                symbols.append(token)
            else:
                waiting += reversed(pair)
        return symbols

    def apply(self, symbols: Sequence[int]) -> list[int]:
        """Merge symbols: always the pair whose merge comes first, the leftmost of equals.

        Complexity: n log n.
        """
        return merged(symbols, lambda left, right: self._rules.get((left, right)))


def made_of(
    old: MergeBpe | CharacterBpe, new: MergeBpe | CharacterBpe, token_ids: Iterable[int]
) -> dict[int, tuple[int, ...]]:
    """Return what the old merges make of the text of new tokens; nothing of a text that has a new symbol.

    Args:
        old: A model.
        new: The same with further tokens and merges.
        token_ids: The tokens that only the new one has.
    """
    both, own = MergeRules(new.merges), MergeRules(old.merges)
    found = {}
    for token_id in token_ids:
        symbols: list[int | None] = [*both.spell(token_id)]
        if symbols == [token_id] and isinstance(new, MergeBpe):  # no merge makes it: it is a piece as a whole
            content = new.vocabulary.token(token_id)
            symbols = [new.vocabulary.id_of(content[at : at + 1]) for at in range(len(content))]
        known = [symbol for symbol in symbols if symbol is not None and symbol < old.vocabulary.size]
        found[token_id] = tuple(own.apply(known)) if len(known) == len(symbols) else ()
    return found
