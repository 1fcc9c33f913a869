"""Measure vocabularies of several sizes on held-out text: what a larger one saves, and what it costs.

The knee is where the curve of bytes per token over the logarithm of the size is farthest above the chord between its
ends: Kneedle's rule without smoothing (Satopää, Albrecht, Irwin and Raghavan, ICDCSW 2011). It depends on the ends.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bpe_cli.errors import InputError
from bpe_cli.support.fast_dataclass import dataclass

if TYPE_CHECKING:
    from bpe_cli.reports.tokenizer.corpus_report import Frequencies


@dataclass(frozen=True, slots=True)
class SizePoint:
    """A vocabulary of one size, measured.

    Attributes:
        asked: The size that was asked for.
        vocab_size: The size that it has, without tokens that were taken back: text never becomes them.
        tokens: How many tokens the text takes.
        bytes_per_token: The bytes of the text for each.
        used: How many different tokens occur in the text.
        unknown: How often the unknown token occurs; None if the model has none.
        saved: The share of tokens that it saves against the size before; None for the first.
        saved_per_doubling: The share that a vocabulary of twice the size would save at this rate; None if the size
            before is the same, or so close that the share is not finite.
        embedding_parameters: The parameters of an embedding matrix: one serves input and output if they are tied, and
            there are two if not. None if no dimension is given.
    """

    asked: int
    vocab_size: int
    tokens: int
    bytes_per_token: float
    used: int
    unknown: int | None
    saved: float | None
    saved_per_doubling: float | None
    embedding_parameters: int | None


@dataclass(frozen=True, slots=True)
class VocabularyCurve:
    """Vocabularies of several sizes on the same text.

    Attributes:
        documents: How many documents the text has.
        bytes: How many bytes it has.
        d_model: The dimension of an embedding; None if none is given.
        sizes: The vocabularies, by their size, ascending.
        knee: The size asked for at the knee; None where the curve has none.
        knee_distance: How far the curve is above the chord there, where both axes go from 0 to 1; None likewise.
    """

    documents: int
    bytes: int
    d_model: int | None
    sizes: tuple[SizePoint, ...]
    knee: int | None
    knee_distance: float | None


def vocabulary_curve(
    measured: Sequence[tuple[int, int, Frequencies, int | None]], d_model: int | None = None
) -> VocabularyCurve:
    """Put measurements of the same text together.

    Args:
        measured: For each size the one asked for, the one that it has, how often each token occurs, and the id of the
            unknown token, if there is one; ascending.
        d_model: The dimension of an embedding; None to leave its cost out.

    Raises:
        InputError: if the text is empty, was not the same for all sizes, or has no token of a vocabulary.
    """
    text = measured[0][2]
    if not text.byte_count:
        raise InputError("the held-out text is empty")
    if any(found.byte_count != text.byte_count for _, _, found, _ in measured):
        raise InputError("the held-out text changed between one size and the next")
    for asked, _, found, _ in measured:
        if not found.token_count:
            raise InputError(
                f"the held-out text has no tokens with {asked:,} tokens to choose from",
                hint="give text that the vocabulary can encode: nothing becomes of blanks, for example, if they only "
                "divide words",
            )
    points: list[SizePoint] = []
    for asked, size, found, unk_id in measured:
        before = points[-1] if points else None
        saved = None if before is None else 1 - found.token_count / before.tokens
        doublings = 0.0 if before is None else math.log2(size / before.vocab_size)
        points.append(
            SizePoint(
                asked, size, found.token_count, found.byte_count / found.token_count,
                sum(1 for _ in found.items()), None if unk_id is None else found.of(unk_id), saved,
                None if saved is None else _per_doubling(saved, doublings),
                None if d_model is None else size * d_model,
            )
        )  # fmt: skip
    place, distance = knee([(point.vocab_size, point.bytes_per_token) for point in points])
    return VocabularyCurve(
        text.document_count, text.byte_count, d_model, tuple(points),
        None if place is None else points[place].asked, distance,
    )  # fmt: skip


def _per_doubling(saved: float, doublings: float) -> float | None:
    """Return the share that doubling the size would save, extrapolated from a smaller step; None if it is not finite.

    >>> _per_doubling(0.2, 2.0) == 1 - 0.8**0.5, _per_doubling(0.2, 0.0), _per_doubling(-1.0, 1e-4)
    (True, None, None)
    """
    try:
        return 1 - (1 - saved) ** (1 / doublings) if doublings > 0 else None
    except OverflowError:  # one more token made the text much longer: that says nothing about twice as many
        return None


def knee(points: Sequence[tuple[int, float]]) -> tuple[int | None, float | None]:
    """Return the number of the point that is farthest above the chord, and how far; of equals the first.

    Both axes are scaled from 0 to 1, that of the sizes by the logarithm. There is no knee with fewer than three
    sizes, where the last value is not above the first, and where no point is above the chord.

    >>> place, distance = knee([(1000, 2.0), (2000, 3.0), (4000, 3.5), (8000, 3.6)])
    >>> place, round(distance, 6)
    (1, 0.291667)
    >>> knee([(1000, 2.0), (2000, 3.0)]), knee([(1000, 1.0), (2000, 2.0), (4000, 4.0)])
    ((None, None), (None, None))
    """
    (first, low), (last, high) = points[0], points[-1]
    if len(points) < 3 or high <= low or last <= first:
        return None, None
    wide = math.log(last / first)
    above = [(value - low) / (high - low) - math.log(size / first) / wide for size, value in points]
    best = max(range(len(points)), key=above.__getitem__)
    return (best, above[best]) if above[best] > 1e-9 else (None, None)
