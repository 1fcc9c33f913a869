"""The comparison: frozen values, made by ``compare.compare``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from bpe_cli.reports.comparison.measures import Difference, Measure

if TYPE_CHECKING:
    from bpe_cli.reports.comparison.disagreements import Disagreement
    from bpe_cli.reports.comparison.overlap import Overlap
    from bpe_cli.reports.comparison.probes import Probes
    from bpe_cli.reports.text.segmentation import Segmentation


@dataclass(frozen=True, slots=True)
class Settings:
    """What the numbers of a comparison depend on besides tokenizers and texts.

    Attributes:
        documents: What a document is: a whole input, a line, or a field of a line of JSON.
        field: That field; None where a document is no such thing.
        specials: Which special tokens are looked for in the text: ``all``, or their texts.
    """

    documents: Literal["whole", "lines", "jsonl"] = "whole"
    field: str | None = None
    specials: Literal["all"] | tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """What all tokenizers make of one input, or of all together.

    Attributes:
        name: The input's name.
        document_count: Documents.
        byte_count: Bytes.
        character_count: Characters; a byte that is not part of well-formed UTF-8 counts as one.
        measures: One per tokenizer.
        best: The tokenizers with the fewest tokens, of those that do not lose text (``Measure.loses_text``); empty
            when there is nothing to tell apart.
        differences: How each stands to the baseline; None for the baseline itself, and where there is nothing to
            tell (``statistics.difference`` says when). Empty if the row was not made by a comparison.
        sha256: Of the documents' bytes one after the other, as they are compared: without line ends where each line
            is a document, unpacked where a file is compressed. None where nobody took it, and for all together.
    """

    name: str
    document_count: int
    byte_count: int
    character_count: int
    measures: tuple[Measure, ...]
    best: tuple[int, ...]
    differences: tuple[Difference | None, ...] = ()
    sha256: str | None = None

    @property
    def empty_count(self) -> int:
        """Documents without a byte."""
        return self.measures[0].empty_documents if self.measures else 0

    @classmethod
    def of(cls, name: str, documents: int, size: int, characters: int, tokens: Sequence[int]) -> Row:
        """Compute the measures from sums; the first tokenizer is the baseline.

        >>> row = Row.of("a.txt", 1, 12, 12, [4, 3])
        >>> row.measures[1].bytes_per_token, row.measures[1].ratio, row.best
        (4.0, 0.75, (1,))
        """
        return cls.from_measures(name, [Measure(documents, size, characters, count, tokens[0]) for count in tokens])

    @classmethod
    def from_measures(
        cls,
        name: str,
        measures: Sequence[Measure],
        differences: Sequence[Difference | None] = (),
        sha256: str | None = None,
    ) -> Row:
        """Put the measures of all tokenizers, at least one, together."""
        tokens = [None if measure.loses_text else measure.token_count for measure in measures]
        known = [count for count in tokens if count is not None]
        differ = len(set(known)) > 1
        best = tuple(number for number, count in enumerate(tokens) if differ and count == min(known))
        first = measures[0]
        return cls(
            name, first.document_count, first.byte_count, first.character_count,
            tuple(measures), best, tuple(differences), sha256,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Passage:
    """A short text as every tokenizer cuts it.

    Attributes:
        source: The name of the input it is from.
        document: Number of the document in that input, from 0.
        segmentations: One per tokenizer.
    """

    source: str
    document: int
    segmentations: tuple[Segmentation, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Tokenizers side by side.

    Attributes:
        tokenizers: Their names, each different.
        vocab_sizes: Their highest ids plus one.
        rows: One per input, in order.
        total: All inputs together: ratios of sums, not means of ratios.
        passages: The texts of short inputs, token by token (see ``compare.PASSAGE_BYTES``).
        probes: What languages, code, data and numbers cost, where that was asked for.
        overlaps: The vocabulary of each other tokenizer against the first's, where that was asked for.
        disagreements: How each other tokenizer cuts the inputs against the first, where that was asked for.
        baseline: The number of the tokenizer that the others are compared with.
        fingerprints: What tells the tokenizers' values apart (``tokenizer.fingerprint``); empty where nobody asked.
        settings: What the numbers depend on besides; None where nobody said.
        frequencies: How often each id of each tokenizer's vocabulary occurred (u64), in all inputs together; special
            ids behind it are left out. Not part of the value; empty if it was not made by a comparison.
    """

    tokenizers: tuple[str, ...]
    vocab_sizes: tuple[int, ...]
    rows: tuple[Row, ...]
    total: Row
    passages: tuple[Passage, ...]
    probes: Probes | None = None
    overlaps: tuple[Overlap, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    baseline: int = 0
    fingerprints: tuple[str, ...] = ()
    settings: Settings | None = None
    frequencies: tuple[memoryview, ...] = field(default=(), compare=False, repr=False)
