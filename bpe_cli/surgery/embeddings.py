"""Make the embeddings of a changed tokenizer from those of the old one, by the map of ids.

Rows of tokens that stay are copied bit by bit. A new token's row is the mean of the rows of its parts, or comes of a
donor's embeddings by orthogonal matching pursuit (Goddard and Fernandes Neto, arXiv:2506.06607).

Rows are made some thousands at a time, and old ones may lie in a memory map.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bpe_cli.errors import FormatError, UsageError
from bpe_cli.support.cached import cached_property
from bpe_cli.support.core_arguments import whole_number, wrong_type
from bpe_cli.support.lazy_modules import numpy_to
from bpe_cli.surgery.operation import SCHEMA, Operation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[Any]
    Floats = NDArray[np.float64]

_ROWS = 4096
"""Rows that are made at a time."""


def numpy() -> Any:
    """Return NumPy, which embeddings need.

    Raises:
        UsageError: if it is not installed.
    """
    return numpy_to("change embeddings")


@dataclass(frozen=True)
class IdMap:
    """Which ids became which: an ``Operation``'s map, or the file that ``convert`` writes.

    Attributes:
        size: The highest new id plus one.
        old_to_new: Each old id -> the new one, or None.
        made_of: Each new token's id -> the old ids of the same text.
        other_to_new: For a union, the other tokenizer's ids -> the new ones.
    """

    size: int
    old_to_new: Mapping[int, int | None]
    made_of: Mapping[int, tuple[int, ...]]
    other_to_new: Mapping[int, int | None]

    @classmethod
    def of(cls, operation: Operation) -> IdMap:
        """Return the map of an operation."""
        other = operation.other_to_new or {}
        return cls(operation.tokenizer.vocab_size, operation.old_to_new, operation.made_of, other)

    @classmethod
    def loads(cls, data: bytes) -> IdMap:
        """Parse the JSON that ``Operation.id_map`` gives.

        Raises:
            FormatError: if it is something else.
        """
        try:
            parsed = json.loads(data)
            if parsed["schema"] != SCHEMA:
                raise ValueError
            first, made, other = (
                {int(key): value for key, value in parsed.get(name, {}).items()}
                for name in ("old_to_new", "made_of", "other_to_new")
            )
            made_of = {new: tuple(old) for new, old in made.items()}
            ids = [*first, *made_of, *other, *(old for parts in made_of.values() for old in parts), parsed["size"]]
            ids += [new for new in (*first.values(), *other.values()) if new is not None]
            if not all(type(each) is int and each >= 0 for each in ids):
                raise ValueError
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise FormatError("this is not a map of ids that bpe convert wrote") from error
        return cls(parsed["size"], first, made_of, other)

    @cached_property
    def sources(self) -> dict[int, int]:
        """Each new id whose row is copied -> the old id."""
        return {new: old for old, new in self.old_to_new.items() if new is not None}

    @cached_property
    def in_place(self) -> bool:
        """Whether no token has moved, so that rows of ids without a token can stay as they are."""
        return all(new is None or new == old for old, new in self.old_to_new.items())

    def rows(self, old: int) -> int:
        """Return how many rows new embeddings have, of so many old ones; padding stays where no row before it goes.

        >>> IdMap(2, {0: 0, 1: 1, 2: None}, {}, {}).rows(4), IdMap(2, {0: 0, 1: 1}, {}, {}).rows(4)
        (2, 4)
        """
        shorter = any(new is None and place >= self.size for place, new in self.old_to_new.items())
        return max(self.size, old) if self.in_place and not shorter else self.size


def moved(
    old: Rows,
    id_map: IdMap | Operation,
    *,
    donor: Rows | None = None,
    sparsity: int = 64,
    scaled: bool = False,
    to_floats: Callable[[Rows], Floats] | None = None,
    from_floats: Callable[[Floats], Rows] | None = None,
) -> Iterator[Rows]:
    """Yield the rows of the new embeddings, some thousands at a time, in order.

    A token that stays has its old row, bit by bit. A new token has the mean of its parts' old rows; without parts, the
    mean of all rows of old tokens. If no token has moved, rows that no token has stay; else they are zero. Those behind
    the last id, with which models are padded, stay if no token has moved, and none at the end has gone.

    With a donor, new tokens that the donor's tokenizer has too come of it instead, as ``by_pursuit`` says.

    Args:
        old: The embeddings, one row per id; a vector holds one number per id, such as a bias.
        id_map: Which ids became which.
        donor: The embeddings of the tokenizer that was merged in; its width may differ.
        sparsity: How many anchors a new token is made of at most.
        scaled: Whether anchors are compared by their directions alone, as ``by_pursuit`` says.
        to_floats: What reads rows as numbers, for types that NumPy has not.
        from_floats: What does the reverse.

    Raises:
        UsageError: if there are fewer rows than the map has old ids, or the map knows nothing of a donor.
    """
    np = numpy()
    table = IdMap.of(id_map) if isinstance(id_map, Operation) else id_map
    read = to_floats or (lambda rows: rows.astype(np.float64))
    write = from_floats or (lambda rows: rows.astype(old.dtype))
    needed = 1 + max((*table.old_to_new, *(part for parts in table.made_of.values() for part in parts)), default=-1)
    if len(old) < needed:
        raise UsageError(f"the embeddings have {len(old):,} rows, and the old ids run to {needed - 1:,}")
    pursued = {} if donor is None else by_pursuit(old, donor, table, sparsity=sparsity, scaled=scaled, to_floats=read)
    count = table.rows(len(old))
    mean_of_all: Floats | None = None
    for start in range(0, count, _ROWS):
        ids = range(start, min(start + _ROWS, count))
        chunk = np.zeros((len(ids), *old.shape[1:]), old.dtype)
        kept = [
            (new - start, old_id) for new in ids
            if (old_id := table.sources.get(new, new if table.in_place and new < len(old) else None)) is not None
        ]  # fmt: skip
        if kept:
            chunk[[place for place, _ in kept]] = old[[old_id for _, old_id in kept]]
        for new in ids:
            parts = table.made_of.get(new)
            if new in pursued:
                row = pursued[new]
            elif parts:
                row = read(old[[*parts]]).mean(axis=0)
            elif parts is not None:
                mean_of_all = mean_of_all if mean_of_all is not None else _mean(old, [*table.old_to_new], read)
                row = mean_of_all
            else:
                continue
            chunk[new - start] = write(row)
        yield chunk


def by_pursuit(
    old: Rows,
    donor: Rows,
    id_map: IdMap,
    *,
    sparsity: int = 64,
    scaled: bool = False,
    to_floats: Callable[[Rows], Floats] | None = None,
) -> dict[int, Floats]:
    """Return the rows of new tokens that a donor has, by orthogonal matching pursuit.

    The rule: the anchors are the tokens that stay and that the donor has too. In the donor's embeddings, a new token's
    row t is approximated by few anchors: the residual is t at first; at each step the anchor a of the largest
    |<residual, a>| is taken, of equals the one with the lowest donor's id, and the residual becomes what is left
    of t orthogonal to all anchors taken. It ends after ``sparsity`` anchors, or if the residual is at most 1e-6 of t.
    The weights are those of least squares. The new row is the sum of the same anchors' old rows with the same weights.

    So far this is what the authors' program does (mergekit's tokensurgeon, ``batch_omp``), which prefers long anchors.
    Textbooks divide by the length, |<residual, a>| / |a|, as ``scaled`` does. On purpose it differs where an anchor is
    made of those that are taken already: that one is passed over here, and there it gets a weight by rounding errors.
    All is reckoned in float64.

    Args:
        old: The embeddings, one row per old id.
        donor: The donor's embeddings, one row per id of the other tokenizer.
        id_map: The map of a union, which has ``other_to_new``.
        sparsity: How many anchors a token is made of at most.
        scaled: Whether anchors are compared by their directions alone.
        to_floats: What reads rows as numbers.

    Raises:
        UsageError: if the map is not of a union, no token is shared, or the donor has too few rows, or single numbers.
        TypeError: if ``sparsity`` or ``scaled`` has the wrong type.
    """
    np = numpy()
    read = to_floats or (lambda rows: rows.astype(np.float64))
    if not id_map.other_to_new:
        raise UsageError("a donor needs the map of a union: one with other_to_new")
    most = whole_number("sparsity", sparsity, 1)
    if not isinstance(scaled, bool):
        raise wrong_type("scaled", "a bool", scaled)
    if donor.ndim != 2:
        raise UsageError("a donor gives rows, and this tensor has one number per id", hint="move it without a donor")
    if len(donor) <= max(id_map.other_to_new):
        raise UsageError(f"the donor has {len(donor):,} rows, and its ids run to {max(id_map.other_to_new):,}")
    anchors: dict[int, int] = {}
    targets: dict[int, int] = {}
    for other, new in sorted(id_map.other_to_new.items()):
        if new is None:
            continue
        if new in id_map.made_of:
            targets[new] = other
        elif new in id_map.sources:
            anchors[other] = id_map.sources[new]
    if not anchors:
        raise UsageError("the two tokenizers share no token, so there are no anchors")
    others, olds = [*anchors], [*anchors.values()]
    most = min(most, len(others), donor.shape[1])  # so many rows can be orthogonal
    norms = np.concatenate([np.linalg.norm(read(donor[part]), axis=1) for part in _parts(others)])
    divisors = np.where(norms > 0, norms, 1) if scaled else np.ones_like(norms)
    rows = {}
    for new, other in targets.items():
        chosen, weights = _pursue(read(donor[other]), donor, others, norms, divisors, most, read)
        rows[new] = weights @ read(old[[olds[place] for place in chosen]])
    return rows


def _pursue(
    target: Floats, donor: Rows, others: list[int], norms: Floats, divisors: Floats, most: int,
    read: Callable[[Rows], Floats],
) -> tuple[list[int], Floats]:  # fmt: skip
    """Return which anchors a target is made of, and their weights."""
    np = numpy()
    residual, chosen = target.copy(), list[int]()
    basis, triangle = list[Any](), np.zeros((most, most))
    usable = norms > 0
    enough = 1e-6 * np.linalg.norm(target)
    while len(chosen) < most and np.linalg.norm(residual) > enough and usable.any():
        products = np.concatenate([read(donor[part]) @ residual for part in _parts(others)])
        scores = np.where(usable, np.abs(products) / divisors, -1)
        place = int(scores.argmax())
        usable[place] = False
        direction = read(donor[others[place]])
        along = np.array([base @ direction for base in basis])
        for base in basis:  # twice is enough
            direction = direction - base * (base @ direction)
        for base in basis:
            direction = direction - base * (base @ direction)
        length = np.linalg.norm(direction)
        if length <= 1e-9 * norms[place]:
            continue  # it is made of those that are taken
        step = len(chosen)
        triangle[:step, step], triangle[step, step] = along, length
        basis.append(direction / length)
        chosen.append(place)
        residual = residual - basis[-1] * (basis[-1] @ residual)
    size = len(chosen)
    goal = np.array([base @ target for base in basis])
    return chosen, np.linalg.solve(triangle[:size, :size], goal) if size else np.zeros(0)


def _parts(ids: list[int]) -> Iterator[list[int]]:
    return (ids[start : start + _ROWS] for start in range(0, len(ids), _ROWS))


def _mean(old: Rows, ids: list[int], read: Callable[[Rows], Floats]) -> Floats:
    total = sum(read(old[part]).sum(axis=0) for part in _parts(sorted(ids)))
    mean: Floats = total / len(ids)
    return mean
