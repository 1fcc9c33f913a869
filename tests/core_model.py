"""A model of the core by itself: what it makes of pieces, without stages before it."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

from bpe_cli import _core
from bpe_cli.stages import Model
from bpe_cli.stages.component_json import core_model, core_spec
from bpe_cli.support.blocks import Block
from bpe_cli.support.core_arguments import options_json


class CoreModel:
    """A model behind no stages; every document is one piece (unless the model can cut it unnoticed)."""

    def __init__(self, model: Model) -> None:
        merges = model.merges
        self.pipeline = _core.Encoder(
            _core.Stages(core_spec((), ())),
            core_model(model),
            (model.vocabulary.blob, model.vocabulary.ends),
            merges=model.events if merges is None else merges.triples,
            scores=model.frequencies if model.scores is None else model.scores,
            kinds=model.kinds or None,
        )

    def spans(self, piece: bytes) -> list[tuple[int, int, int]]:
        """Return (id, start, end) of each token."""
        return list(zip(*map(memoryview, self.pipeline.spans(piece, None)), strict=True))

    def encode(self, pieces: Sequence[bytes]) -> list[list[int]]:
        """Return the ids of each piece."""
        return self._split(*self.pipeline.encode(b"".join(pieces), _ends(pieces), None, 1))

    def ids(self, piece: bytes) -> list[int]:
        """Return the ids of one piece."""
        return self.encode([piece])[0]

    def sample(self, piece: bytes, way: str, probability: float, times: int) -> Counter[tuple[int, ...]]:
        """Count what a piece becomes, so many times, with one seed."""
        pieces = [piece] * times
        number = {"alpha": probability, "nbest": 0} if way == "segmentation" else probability
        found = self.pipeline.sample(Block.of(pieces), variation({way: number}, seed=5), None, 1)
        return Counter(map(tuple, self._split(*found)))

    @staticmethod
    def _split(ids: _core.U32Array, ends: _core.U64Array) -> list[list[int]]:
        flat, bounds = list(memoryview(ids)), [0, *memoryview(ends)]
        return [flat[start:end] for start, end in pairwise(bounds)]


def variation(sampling: Mapping[str, object], seed: int) -> bytes:
    """Return the options of ``sample`` for a block at the beginning of an input."""
    return options_json(sampling=sampling, **{"from": {"seed": seed, "document": 0, "offset": 0}})


def _ends(pieces: Sequence[bytes]) -> array[int]:
    ends = array("Q")
    for piece in pieces:
        ends.append((ends[-1] if ends else 0) + len(piece))
    return ends
