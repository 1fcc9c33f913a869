"""Find which tokenizers of a comparison cut characters that readers see, and in which inputs.

Only the beginnings of the first inputs are looked at, so that it costs the same however much is compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from bpe_cli.reports.comparison.input_accounts import Sample
from bpe_cli.reports.text.clusters import worth_telling
from bpe_cli.stages.patterns import SAMPLE

if TYPE_CHECKING:
    from bpe_cli.tokenizer import Tokenizer

MOST_INPUTS = 64
"""So many inputs are looked at, and ``SAMPLE`` bytes of all together."""


@dataclass(frozen=True, slots=True)
class CutClusters:
    """What a tokenizer's split pattern cuts at the beginning of an input.

    Attributes:
        tokenizer: Its number.
        source: The name of the input.
        cluster_count: How many grapheme clusters were looked at.
        cut_count: How many of them have the end of a piece inside.
        example: The first of these.
        pattern: The name of a pattern that does not cut them: at most a tenth as many.
    """

    tokenizer: int
    source: str
    cluster_count: int
    cut_count: int
    example: bytes
    pattern: str

    @property
    def share(self) -> float:
        """The share of clusters that are cut."""
        return self.cut_count / self.cluster_count


def beginnings(inputs: int) -> Sample:
    """Return what keeps as much of each of so many inputs as is looked at."""
    return Sample.shared(min(inputs, MOST_INPUTS), SAMPLE)


def cut_clusters(tokenizers: Sequence[Tokenizer], sample: Sample) -> tuple[CutClusters, ...]:
    """Return what is worth telling of each tokenizer, the input with the largest share first.

    >>> from bpe_cli.reports.comparison.input_accounts import Excerpt
    >>> from bpe_cli.tokenizer.named_encodings import named
    >>> two = [named("cl100k_base"), named("o200k_base")]
    >>> sample = Sample(excerpts=[Excerpt("thai.txt", 0, "กี่ ปี".encode())])
    >>> [(each.tokenizer, each.cut_count, each.cluster_count, each.pattern) for each in cut_clusters(two, sample)]
    [(0, 2, 3, 'o200k')]
    """
    texts = [
        (source, b"\n".join(excerpt.text for excerpt in excerpts))
        for source, excerpts in groupby(sample.excerpts, attrgetter("source"))
    ]
    return tuple(each for number, one in enumerate(tokenizers) for each in _of_one(number, one, texts))


def _of_one(number: int, tokenizer: Tokenizer, texts: Sequence[tuple[str, bytes]]) -> Iterator[CutClusters]:
    found = [
        CutClusters(number, source, cuts.clusters, cuts.cut, cuts.example, better)
        for source, text in texts
        for cuts, better in filter(None, [worth_telling(tokenizer, text)])
    ]
    yield from sorted(found, key=attrgetter("share"), reverse=True)
