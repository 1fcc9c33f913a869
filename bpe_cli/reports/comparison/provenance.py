"""Describe what was compared, so that a report that is stored can be held against another one later."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from bpe_cli.tokenizer.fingerprint import fingerprint

if TYPE_CHECKING:
    from bpe_cli.reports.comparison.comparison import Comparison
    from bpe_cli.support.blocks import Block
    from bpe_cli.tokenizer import Tokenizer


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


class Digests:
    """Take the sha256 of inputs while they are read.

    It is of the documents' bytes one after the other, as they are compared: without line ends where each line
    is a document, unpacked where a file is compressed.
    """

    def __init__(self) -> None:
        self._digests = []  # type: list[hashlib._Hash]

    def watch(self, inputs: Iterable[tuple[str, Iterable[Block]]]) -> Iterator[tuple[str, Iterable[Block]]]:
        """Pass on inputs."""
        for name, blocks in inputs:
            self._digests.append(hashlib.sha256())
            yield name, self._pass_on(blocks, self._digests[-1])

    @staticmethod
    def _pass_on(blocks: Iterable[Block], digest: hashlib._Hash) -> Iterator[Block]:
        for block in blocks:
            digest.update(block.data)
            yield block

    def hexdigests(self) -> list[str]:
        """Return one per input, in order."""
        return [digest.hexdigest() for digest in self._digests]


def identified(report: Comparison, tokenizers: Sequence[Tokenizer], digests: Digests, settings: Settings) -> Comparison:
    """Add to a comparison what tells its tokenizers, texts and settings from others.

    Raises:
        ValueError: They are not those of this comparison.
    """
    rows = zip(report.rows, digests.hexdigests(), strict=True)
    if len(tokenizers) != len(report.tokenizers):
        raise ValueError("the tokenizers are not those that were compared")
    return replace(
        report,
        rows=tuple(replace(row, sha256=digest) for row, digest in rows),
        fingerprints=tuple(map(fingerprint, tokenizers)),
        settings=settings,
    )
