"""Show what vocabularies of several sizes make of held-out text: a table, and where the knee is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from bpe_cli.views.blocks import Block, Blocks, Cell, Line, Sheet, Value, Words, numbers
from bpe_cli.views.labels import ABSENT, count, fraction, percent, whole
from bpe_cli.views.pictures.charts import Trend

if TYPE_CHECKING:
    from bpe_cli.reports.vocabulary_curve import SizePoint, VocabularyCurve


def curve_view(curve: VocabularyCurve) -> Blocks:
    """Lay the curve out: a row for each size, and the knee."""
    return Blocks(*_blocks(curve))


def _blocks(curve: VocabularyCurve) -> Iterator[Block]:
    yield Line(f"measured on {count(curve.documents, 'document')}, {count(curve.bytes, 'byte')}")
    with_cost = curve.d_model is not None
    with_unknown = any(point.unknown for point in curve.sizes)
    columns = ["vocabulary", "tokens", Words("bytes/token"), "saved", "per doubling", "used"]
    columns += ["unknown"] if with_unknown else []
    columns += ["embeddings, tied", "untied"] if with_cost else []
    sheet = Sheet(*numbers(*columns))
    for point in curve.sizes:
        sheet.add_row(*_cells(point, curve, with_unknown=with_unknown))
    yield sheet
    yield Line("saved: the share of tokens that a size saves against the one before, and per doubling of the size")
    if with_cost:
        yield Line(
            f"embeddings: size × {whole(curve.d_model)} parameters, once if input and output are tied, else twice"
        )
    yield Line(_knee(curve))


def _cells(point: SizePoint, curve: VocabularyCurve, *, with_unknown: bool) -> Iterator[Cell]:
    size = whole(point.vocab_size)
    yield Value(size, "best", " ←") if point.asked == curve.knee else size
    yield whole(point.tokens)
    yield fraction(point.bytes_per_token, 3)
    yield ABSENT if point.saved is None else percent(point.saved)
    yield ABSENT if point.saved_per_doubling is None else percent(point.saved_per_doubling)
    yield percent(point.used / point.vocab_size)
    if with_unknown:
        yield whole(point.unknown)
    if point.embedding_parameters is not None:
        yield whole(point.embedding_parameters)
        yield whole(2 * point.embedding_parameters)


def _knee(curve: VocabularyCurve) -> str:
    if curve.knee is None:
        few = " (it takes three sizes)" if len(curve.sizes) < 3 else ""
        return f"knee: none{few}"
    return (
        f"knee: {whole(curve.knee)}, where the curve is farthest above the line between its ends "
        f"({fraction(curve.knee_distance)} of its height); with other ends, the knee may be elsewhere"
    )


def curve_json(curve: VocabularyCurve) -> dict[str, Any]:
    """Return a curve as JSON values: schema ``bpe.train.sizes/1``."""
    from bpe_cli.views.as_json import json_value

    return {"schema": "bpe.train.sizes/1", **json_value(curve)}


def curve_chart(curve: VocabularyCurve) -> Trend:
    """Return the picture: bytes per token by size."""
    points = tuple((point.vocab_size, point.bytes_per_token) for point in curve.sizes)
    marked = next((place for place, point in enumerate(curve.sizes) if point.asked == curve.knee), None)
    return Trend(
        "curve", "Bytes per token by the size of the vocabulary", "tokens in the vocabulary", "bytes per token",
        points, marked, "knee", notes=(_knee(curve),),
    )  # fmt: skip
