"""What a row may have beside its ids, where it is written, and how it is made of the pieces that a row consists of.

A piece is what a row has of one document. Where the pieces are known, masks, positions and numbers of segments follow
from them, and are the same as in the columns of a format that has them; ids that are in no piece only fill the row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from bpe_cli.datasets.order import numpy
from bpe_cli.errors import UsageError
from bpe_cli.sinks.dataset.columns import COLUMNS, TYPES
from bpe_cli.support.messages import listed, show_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.integer[Any]]

IDS = "input_ids"
SPANS = "spans"
MASK = "loss_mask"

Known = Literal["spans", "seq_lengths", "segment_ids", "attention_mask", "rows"]
"""What says which pieces a row has: the spans, a column, or that each row is one document and nothing else."""


def pieces_known(settings: dict[str, Any]) -> Known | None:
    """Return what says which pieces the rows of a data set have; None if nothing does."""
    columns: Sequence[str] = settings["columns"]
    known: Known
    for known in ("spans", "seq_lengths", "segment_ids"):
        if known in columns:
            return known
    if settings["length"] is None or settings["way"] in ("truncate", "split"):
        if settings["length"] is None or settings["pad"] is None:
            return "rows"
        if "attention_mask" in columns:
            return "attention_mask"
    return None


def fields_of(settings: dict[str, Any], known: Known | None) -> tuple[str, ...]:
    """Return what a row of a data set may have, its ids first, by what is known of its pieces."""
    columns: Sequence[str] = settings["columns"]
    there = {name for name in columns if name in COLUMNS}
    if known is not None:
        there |= {*COLUMNS, SPANS}
    elif settings["pad"] is None:
        there.add("attention_mask")
    kept = [name for name, _ in settings.get("keep") or ()]
    named = [name for name in (*COLUMNS, SPANS) if name in there and name not in kept]
    return (IDS, *named, *([MASK] if MASK in columns else []), *kept)


def check_fields(fields: Sequence[str], there: Sequence[str], folder: str) -> tuple[str, ...]:
    """Check that rows have the fields that are asked for; return these.

    Raises:
        UsageError: if one is named twice, or nothing says what it is; the message says which there are.
    """
    for number, name in enumerate(fields):
        if name in fields[:number]:
            raise UsageError(f"fields names {name} twice")
        if name not in there:
            writes = '`columns="spans"` writes where documents lie in sequences; '
            hint = writes if name in (*COLUMNS, SPANS) else "`mask` writes one; " if name == MASK else ""
            raise UsageError(
                f"nothing in {show_path(folder)} says what the {name} of a row is",
                hint=f"{hint}there are {listed(there, len(there), ', ')}",
            )
    return tuple(fields)


def made_of(name: str, starts: Numbers, ends: Numbers, length: int) -> NDArray[Any]:
    """Make a field of a row of the places of its pieces, which ascend.

    >>> import numpy
    >>> made_of("position_ids", numpy.array([0, 2]), numpy.array([2, 5]), 6).tolist()
    [0, 1, 0, 1, 2, 0]
    >>> made_of("spans", numpy.array([0, 2]), numpy.array([2, 5]), 6).tolist()
    [[0, 2], [2, 5]]
    """
    np = numpy()
    lengths = ends - starts
    made: NDArray[Any]
    if name == SPANS:
        made = np.stack([starts, ends], axis=1).astype(np.int64)
        return made
    if name == "seq_lengths":
        made = lengths.astype(TYPES[name])
        return made
    before = np.cumsum(lengths) - lengths
    total = int(lengths.sum())
    made = np.zeros(length, TYPES[name])
    values: Any = 1
    if name == "position_ids":
        values = np.arange(total) - np.repeat(before, lengths)
    elif name == "segment_ids":
        values = np.repeat(np.arange(1, len(lengths) + 1), lengths)
    made[np.arange(total) + np.repeat(starts - before, lengths)] = values
    return made


def are_pieces(known: Known, value: Numbers, length: int) -> bool:
    """Return whether a column can say which pieces a row of this length has.

    >>> import numpy
    >>> are_pieces("seq_lengths", numpy.array([2, 3]), 6), are_pieces("seq_lengths", numpy.array([2, 3]), 4)
    (True, False)
    """
    if ((value < 0) | (value > length)).any():
        return False
    return (int(value.sum(dtype=numpy().int64)) <= length) if known == "seq_lengths" else len(value) == length


def pieces_in(known: Known, value: Numbers | None, length: int) -> tuple[Numbers, Numbers]:
    """Return where the pieces of a row begin and end, by a column of the row, or by its length."""
    np = numpy()
    if known == "rows" or value is None:
        lengths = np.array([length] if length else [], np.int64)
    elif known == "seq_lengths":
        lengths = value.astype(np.int64)
    elif known == "segment_ids":
        lengths = np.bincount(value)[1:] if len(value) else np.empty(0, np.int64)
    else:
        lengths = np.array([count] if (count := np.count_nonzero(value)) else [], np.int64)
    ends = np.cumsum(lengths)
    return ends - lengths, ends


class Spans:
    """Where the pieces of documents lie among all ids of a part."""

    def __init__(self, starts: Numbers, ends: Numbers) -> None:
        """Take where each begins and ends; both ascend."""
        self._starts = starts
        self._ends = ends

    def within(self, start: int, end: int) -> tuple[Numbers, Numbers]:
        """Return where the pieces of a row begin and end in it: cut at its borders, those without ids left out."""
        np = numpy()
        first = int(np.searchsorted(self._ends, start, "right"))
        last = int(np.searchsorted(self._starts, end, "left"))
        starts = np.clip(self._starts[first:last], start, end).astype(np.int64) - start
        ends = np.clip(self._ends[first:last], start, end).astype(np.int64) - start
        some = ends > starts
        return starts[some], ends[some]
