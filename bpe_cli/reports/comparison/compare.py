"""Compare tokenizers on the same texts, which are read once and in bounded memory."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from bpe_cli.reports.comparison.comparison import Comparison, Passage, Row, Settings
from bpe_cli.reports.comparison.input_accounts import TextSize
from bpe_cli.reports.comparison.measures import LEAST_RESAMPLES, RESAMPLES, adjust, difference
from bpe_cli.reports.comparison.tallies import InputTally, TalliedInput, TokenizerTally, tally_input
from bpe_cli.reports.distributions import length_ranges
from bpe_cli.reports.text.segmentation import segment
from bpe_cli.tokenizer import fingerprint

if TYPE_CHECKING:
    from bpe_cli.support.blocks import Block
    from bpe_cli.tokenizer import Specials, Tokenizer


PASSAGE_BYTES = 2048
"""An input of at most so many bytes, and documents, is also shown token by token."""

ALL_PASSAGES_BYTES = 8 * PASSAGE_BYTES
"""Inputs after so many bytes of passages are not shown any more."""


def compare(
    tokenizers: Sequence[Tokenizer],
    inputs: Iterable[tuple[str, Iterable[Block]]],
    *,
    names: Sequence[str] | None = None,
    specials: Specials = (),
    threads: int = 1,
    progress: Callable[[int], None] | None = None,
    baseline: int = 0,
    speed: bool = False,
    resamples: int = RESAMPLES,
    settings: Settings | None = None,
) -> Comparison:
    """Measure what several tokenizers make of inputs.

    Nothing in the result depends on ``threads`` or on how the inputs come in blocks, but for ``seconds``.

    Args:
        inputs: For each its name and its blocks, which are read once, and only as fast as the slowest
            tokenizer goes.
        names: What to call the tokenizers instead of their own names.
        progress: Called with the number of bytes of each block read.
        baseline: The number of the tokenizer that the others are compared with.
        speed: Whether to measure how long encoding takes, for which each text is encoded once more.
        resamples: How often documents are drawn to tell how sure a difference is; at least 39.
        settings: What the numbers depend on besides. Where it is known, the comparison holds also what tells its
            tokenizers and texts from others, so that it can be stored and held against another one later.

    Raises:
        ValueError: if ``tokenizers`` is empty, ``baseline`` is out of range, or ``resamples`` is too small.
        UsageError: if a name in ``specials`` is unknown to a tokenizer.
        InputError: if a byte has no token; the message says of which tokenizer and input.

    Memory: a few blocks, what ``Tokenizer.settle`` must hold of a document that cannot be cut, what
    ``RoundTrips`` holds, the first ``WORD_BYTES`` of an input, and two numbers per tokenizer and id.
    """
    if not tokenizers:
        raise ValueError("there is no tokenizer to compare")
    labels = labels_of(tokenizers, names)
    tallies = [TokenizerTally(tokenizer, specials, threads, speed=speed) for tokenizer in tokenizers]
    tallied = (
        tally_input(
            name, blocks, tallies, labels, short=PASSAGE_BYTES, hashed=settings is not None, threads=threads,
            progress=progress, on_documents=[tally.total.take_lengths for tally in tallies],
        )
        for name, blocks in inputs
    )  # fmt: skip
    return put_together(tallies, tallied, labels, baseline=baseline, resamples=resamples, settings=settings)


def put_together(
    tallies: Sequence[TokenizerTally],
    inputs: Iterable[TalliedInput],
    labels: Sequence[str],
    *,
    baseline: int = 0,
    resamples: int = RESAMPLES,
    settings: Settings | None = None,
) -> Comparison:
    """Return the comparison of inputs that were tallied, as ``compare`` does.

    Args:
        tallies: The tokenizers; the units of their totals have the documents of all inputs that were yielded.
        inputs: The inputs, in their order.
        labels: What to call the tokenizers.
        baseline: As for ``compare``; ``resamples`` and ``settings`` too.
        resamples: As for ``compare``.
        settings: As for ``compare``.

    Raises:
        ValueError: if ``baseline`` is out of range, or ``resamples`` is too small.
    """
    if not 0 <= baseline < len(tallies):
        raise ValueError(f"there is no tokenizer number {baseline} to compare the others with")
    if resamples < LEAST_RESAMPLES:
        raise ValueError(f"{resamples} resamples are too few: it takes {LEAST_RESAMPLES} to tell 95% of them")
    tokenizers, threads = [tally.tokenizer for tally in tallies], tallies[0].threads

    def row_of(name: str, row_tallies: Sequence[InputTally], size: TextSize, sha256: str | None = None) -> Row:
        tokens = row_tallies[baseline].token_count
        measures = [each.measure(size, tokens) for each in row_tallies]
        differences = [
            None if number == baseline
            else difference(each.units, row_tallies[baseline].units, resamples=resamples, threads=threads)
            for number, each in enumerate(row_tallies)
        ]  # fmt: skip
        return Row.from_measures(name, measures, differences, sha256)

    rows: list[Row] = []
    sizes: list[TextSize] = []
    passages: list[Passage] = []
    room = ALL_PASSAGES_BYTES
    for tallied in inputs:
        for tally, each in zip(tallies, tallied.tallies, strict=True):
            tally.total.include(each)
        sizes.append(tallied.size)
        rows.append(row_of(tallied.name, tallied.tallies, tallied.size, tallied.sha256))
        if tallied.short is None or tallied.size.bytes > room:
            continue
        room -= tallied.size.bytes
        for document, text in enumerate(tallied.short):
            if text:
                segmented = (segment(tally.tokenizer, text, tally.specials) for tally in tallies)
                passages.append(Passage(tallied.name, document, tuple(segmented)))
    if len(rows) == 1:  # the same numbers: not drawn once more
        total = replace(rows[0], name="total", sha256=None)
    else:
        total = row_of("total", [tally.total for tally in tallies], TextSize.total(sizes))
    adjusted = adjust([row.differences for row in rows])
    rows = [replace(row, differences=differences) for row, differences in zip(rows, adjusted, strict=True)]
    total = replace(total, differences=adjust([total.differences])[0])
    vocab_sizes = tuple(tokenizer.vocab_size for tokenizer in tokenizers)
    return Comparison(
        tuple(labels), vocab_sizes, tuple(rows), total, tuple(passages), baseline=baseline, settings=settings,
        fingerprints=() if settings is None else tuple(map(fingerprint, tokenizers)),
        frequencies=tuple(array("Q", tally.total.frequencies.tobytes()) for tally in tallies),
        lengths=tuple(length_ranges(tally.total.length_bits) for tally in tallies),
    )  # fmt: skip


def labels_of(tokenizers: Sequence[Tokenizer], names: Sequence[str] | None = None) -> tuple[str, ...]:
    """Return what to call tokenizers: their names, or others; each is different."""
    return _distinct(names or [tokenizer.name or "tokenizer" for tokenizer in tokenizers])


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    """Number the names that come again.

    >>> _distinct(["a", "b", "a", "a"])
    ('a', 'b', 'a (2)', 'a (3)')
    """
    given: list[str] = []
    for name in names:
        number, label = 1, name
        while label in given:
            number += 1
            label = f"{name} ({number})"
        given.append(label)
    return tuple(given)
