"""Ids in memory to text in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.entries import Entry
from benchmarks.libraries import LIBRARIES
from benchmarks.operations.encoding import FIRST_ENCODING, OTHER_ROUNDS

TEXTS = ("english", "chinese")
STRIDE = 4
PASSES = 3


class Decode:
    """Decode the ids of some texts."""

    def entries(self, plan: Any) -> Iterator[Entry]:
        """Yield the processes of a round."""
        vocabulary = plan.vocabularies.get(FIRST_ENCODING)
        if vocabulary is None:
            return
        for text in [plan.texts[name] for name in TEXTS if name in plan.texts] or plan.texts.values():
            for name, library in LIBRARIES.items():
                if "decode" not in library.operations:
                    continue
                job = vocabulary.job(
                    operation="decode", library=name, passes=PASSES, text=str(text.path), stride=STRIDE,
                    ids=str(plan.ids_of(text, vocabulary, STRIDE)),
                )  # fmt: skip
                rounds = OTHER_ROUNDS if library.slow else plan.options.repetitions
                yield plan.entry(job, text.name, vocabulary.name, ("cold", "warm"), rounds)

    def expected(self, *_: Any) -> tuple[object, str]:
        """Return what the worker says when the text came back."""
        return True, "the text"
