"""Compare tokenizers on the same texts, read once and in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from bpe_cli.errors import InputError
from bpe_cli.reports.comparison.comparison import Comparison, Passage, Row, Settings
from bpe_cli.reports.comparison.input_accounts import FanOut, Reading
from bpe_cli.reports.comparison.statistics import LEAST_RESAMPLES, RESAMPLES, adjust, difference
from bpe_cli.reports.comparison.tallying import InputTally, TokenizerTally
from bpe_cli.reports.text.segmentation import segment
from bpe_cli.tokenizer import fingerprint

if TYPE_CHECKING:
    from bpe_cli.support.blocks import Block
    from bpe_cli.tokenizer import Specials, Tokenizer

PASSAGE_BYTES = 2048
"""An input of at most so many bytes is also shown token by token."""

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
        tokenizers: At least one.
        inputs: For each its name and its blocks, which are read once, and only as fast as the slowest
            tokenizer goes.
        names: What to call the tokenizers instead of their own names.
        specials: Which special tokens are looked for in the text.
        threads: How many threads count.
        progress: Called with the number of bytes of each block read.
        baseline: The number of the tokenizer that the others are compared with.
        speed: Whether to measure how long encoding takes, for which each text is encoded once more.
        resamples: How often documents are drawn to tell how sure a difference is; at least 39.
        settings: What the numbers depend on besides. Where it is known, the comparison holds also what tells its
            tokenizers and texts from others, so that it can be stored and held against another one later.

    Raises:
        ValueError: if there is no tokenizer, or none with the number ``baseline``, or ``resamples`` are too few.
        UsageError: if a name in ``specials`` is unknown to a tokenizer.
        InputError: if a byte has no token; the message says of which tokenizer and input.

    Memory: a few blocks, what ``Tokenizer.settle`` must hold of a document that cannot be cut, what
    ``RoundTrips`` holds, the first ``WORD_BYTES`` of an input, and two numbers per tokenizer and id.
    """
    if not tokenizers:
        raise ValueError("there is no tokenizer to compare")
    if not 0 <= baseline < len(tokenizers):
        raise ValueError(f"there is no tokenizer number {baseline} to compare the others with")
    if resamples < LEAST_RESAMPLES:
        raise ValueError(f"{resamples} resamples are too few: it takes {LEAST_RESAMPLES} to tell 95% of them")
    labels = _distinct(names or [tokenizer.name or "tokenizer" for tokenizer in tokenizers])
    tallies = [TokenizerTally(tokenizer, specials, threads, speed=speed) for tokenizer in tokenizers]

    def row_of(
        name: str,
        found: Sequence[InputTally],
        documents: int,
        empty: int,
        size: int,
        characters: int,
        sha256: str | None = None,
    ) -> Row:
        tokens = found[baseline].token_count
        measures = [each.measure(documents, empty, size, characters, tokens) for each in found]
        differences = [
            None if number == baseline
            else difference(each.units, found[baseline].units, resamples=resamples, threads=threads)
            for number, each in enumerate(found)
        ]  # fmt: skip
        return Row.from_measures(name, measures, differences, sha256)

    rows: list[Row] = []
    passages: list[Passage] = []
    room = ALL_PASSAGES_BYTES
    for name, blocks in inputs:
        reading = Reading(blocks, min(PASSAGE_BYTES, room), progress, hashed=settings is not None)
        found = [tally.begin() for tally in tallies]
        _read(name, reading, tallies, found, labels)
        types = reading.head.types(threads)
        for each in found:
            each.add_types(types)
            each.finish()
        sha256 = None if reading.digest is None else reading.digest.hexdigest()
        counts = reading.documents, reading.empty, reading.bytes_read, reading.characters.total
        rows.append(row_of(name, found, *counts, sha256))
        for document, text in enumerate(reading.short or ()):
            if text:
                room -= len(text)
                segmented = (segment(tokenizer, bytes(text), specials) for tokenizer in tokenizers)
                passages.append(Passage(name, document, tuple(segmented)))
    if len(rows) == 1:  # the same numbers: not drawn once more
        total = replace(rows[0], name="total", sha256=None)
    else:
        total = row_of(
            "total",
            [tally.total for tally in tallies],
            sum(row.document_count for row in rows),
            sum(row.empty_count for row in rows),
            sum(row.byte_count for row in rows),
            sum(row.character_count for row in rows),
        )
    adjusted = adjust([row.differences for row in rows])
    rows = [replace(row, differences=differences) for row, differences in zip(rows, adjusted, strict=True)]
    total = replace(total, differences=adjust([total.differences])[0])
    sizes = tuple(tokenizer.vocab_size for tokenizer in tokenizers)
    return Comparison(
        labels, sizes, tuple(rows), total, tuple(passages), baseline=baseline, settings=settings,
        fingerprints=() if settings is None else tuple(map(fingerprint, tokenizers)),
        frequencies=tuple(tally.total.frequencies for tally in tallies),
    )  # fmt: skip


def _read(
    name: str,
    reading: Reading,
    tallies: Sequence[TokenizerTally],
    found: Sequence[InputTally],
    labels: Sequence[str],
) -> None:
    """Read an input once, and have each tokenizer tally it."""
    fan_out = FanOut(reading, len(tallies))
    streams = {
        number: tally.tokenizer.settle(fan_out.reader(number), tally.matcher) for number, tally in enumerate(tallies)
    }
    while streams:
        number = max(streams, key=fan_out.waiting)  # who has read the least: nobody lags behind
        try:
            block = next(streams[number], None)
            if block is None:
                del streams[number]
            else:
                found[number].add(block)
        except InputError as error:
            raise InputError(f"{labels[number]} cannot encode {name}: {error.message}", hint=error.hint) from error


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
