"""Measure how many characters a split pattern cuts: what a reader takes for one, in several pieces.

A token lies within a piece. So if the pattern cuts before combining marks, as ``\\p{L}+`` does, no token can hold a
vowel sign together with its consonant, and scripts such as Thai, Devanagari or Khmer cost many more tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from bpe_cli.reports.text.characters import TextWarning, excerpt, split_graphemes, text_of
from bpe_cli.stages.patterns import PATTERNS, RUNS, RUNS_WITH_MARKS, SAMPLE
from bpe_cli.stages.splitters import compile_splitter

if TYPE_CHECKING:
    from bpe_cli.tokenizer import Tokenizer

_MANY = 0.01
"""The share of clusters from which on it is told."""
_FEW = 0.1
"""How many of these another pattern may cut, at most, to be named."""


@dataclass(frozen=True, slots=True)
class ClusterCuts:
    """How many grapheme clusters of a text are cut.

    Attributes:
        clusters: How many extended grapheme clusters the text has (UAX #29, ``\\X`` of the module ``regex``); a
            carriage return and a line feed count as two.
        cut: How many of them have the end of a piece inside.
        example: The first of these; empty if there is none.
        start: Where that begins, in bytes.
    """

    clusters: int
    cut: int
    example: bytes
    start: int

    @property
    def share(self) -> float:
        """The share of clusters that are cut."""
        return self.cut / self.clusters if self.clusters else 0.0


def cluster_cuts(text: bytes, ends: Iterable[int]) -> ClusterCuts:
    """Count the clusters of a text that are cut at one of these places.

    >>> cluster_cuts("กี่ a".encode(), [3, 9]).cut, cluster_cuts("กี่ a".encode(), [9]).cut
    (1, 0)
    """
    if text.isascii():
        return ClusterCuts(len(text), 0, b"", 0)
    import regex  # imported here: it costs 20 ms

    bounds = sorted({0, *ends, len(text)})
    parts = [text[start:end] for start, end in pairwise(bounds)]
    string = text_of(text)
    total = len(regex.findall(r"\X", string)) + string.count("\r\n")
    cut, example, start = 0, b"", 0
    for split in split_graphemes(parts):
        if not cut:
            example, start = b"".join(split.contents), bounds[split.first] + split.offset
        cut += 1
    return ClusterCuts(total, cut, example, start)


def cuts_of(tokenizer: Tokenizer, text: bytes) -> ClusterCuts:
    """Count the clusters at the beginning of a text that a tokenizer's stages cut."""
    text = text[:SAMPLE]
    if text.isascii():
        return cluster_cuts(text, ())
    pieces = tokenizer.engine.pieces(text)
    # Where one ends and none begins, the text between was left out, such as an accent that a normalizer strips.
    met = {*pieces.source_starts} & {*pieces.source_ends}
    return cluster_cuts(text, met)


def better_pattern(text: bytes, cut: int, instead: Mapping[str, str]) -> str | None:
    """Return the name of the pattern that cuts fewest clusters, if they are few beside so many; else None."""
    text = text[:SAMPLE]
    cuts = {
        name: cluster_cuts(text, memoryview(compile_splitter((pattern,)).split(text))).cut
        for name, pattern in instead.items()
    }
    best = min(cuts, key=lambda name: cuts[name])
    return best if cuts[best] <= _FEW * cut else None


def _instead(tokenizer: Tokenizer) -> dict[str, str]:
    """Return the patterns that may replace a tokenizer's, by name: for superwords, one that cuts as theirs does."""
    if RUNS in tokenizer.patterns:
        return {RUNS_WITH_MARKS: RUNS_WITH_MARKS}
    return {name: pattern.regex for name, pattern in PATTERNS.items()}


def worth_telling(tokenizer: Tokenizer, text: bytes) -> tuple[ClusterCuts, str] | None:
    """Return what a tokenizer's pattern cuts, and the name of one that does not; None if it cuts few, or all do."""
    if not tokenizer.pre_tokenizer or text.isascii():
        return None
    cuts = cuts_of(tokenizer, text)
    better = better_pattern(text, cuts.cut, _instead(tokenizer)) if cuts.share >= _MANY else None
    return None if better is None else (cuts, better)


def sentence(share: float, example: str, where: str = "") -> str:
    """Return the sentence that tells how many characters are cut, with one of them, quoted."""
    return f"the split pattern cuts {share:.1%} of the characters that readers see{where}, {example} first"


def advice(better: str) -> str:
    """Return the hint: why that matters, and which pattern cuts none."""
    return f"no token can hold such a character, and the pattern {better} does not cut them"


def cluster_warning(tokenizer: Tokenizer, text: bytes) -> Iterator[TextWarning]:
    """Warn if a tokenizer's pattern cuts more than a few clusters of a text, and a known pattern does not."""
    if found := worth_telling(tokenizer, text):
        cuts, better = found
        end = cuts.start + len(cuts.example)
        yield TextWarning(
            "clusters", sentence(cuts.share, excerpt(cuts.example)), advice(better), cuts.start, end, cuts.cut
        )
