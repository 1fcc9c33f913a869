"""Compare tokenizers on the same texts, read once and in bounded memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from bpe_cli.errors import InputError
from bpe_cli.reports.comparison.comparison import Comparison, Passage, Row
from bpe_cli.reports.comparison.reading import FanOut, Reading
from bpe_cli.reports.text.segmentation import segment

if TYPE_CHECKING:
    from bpe_cli.blocks import Block
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
    speed: bool = False,
) -> Comparison:
    """Count the tokens of inputs with several tokenizers.

    Args:
        tokenizers: At least one.
        inputs: For each its name and its blocks, which are read once, and only as fast as the slowest
            tokenizer goes.
        names: What to call the tokenizers instead of their own names.
        specials: Which special tokens are looked for in the text.
        threads: How many threads count.
        progress: Called with the number of bytes of each block read.
        speed: Whether to measure how long encoding takes.

    Raises:
        ValueError: There is no tokenizer.
        UsageError: A name in ``specials`` is unknown to a tokenizer.
        InputError: A byte has no token; the message says of which tokenizer and input.

    Memory: a few blocks, and what ``Tokenizer.settle`` must hold of a document that cannot be cut.
    """
    if not tokenizers:
        raise ValueError("there is no tokenizer to compare")
    labels = _distinct(names or [tokenizer.name or "tokenizer" for tokenizer in tokenizers])
    matchers = [tokenizer.matcher(specials) for tokenizer in tokenizers]
    rows: list[Row] = []
    passages: list[Passage] = []
    room = ALL_PASSAGES_BYTES
    for name, blocks in inputs:
        reading = Reading(blocks, min(PASSAGE_BYTES, room), progress)
        fan_out = FanOut(reading, len(tokenizers))
        counts, seconds = [0] * len(tokenizers), [0.0] * len(tokenizers)
        streams = {
            number: tokenizer.settle(fan_out.reader(number), matchers[number])
            for number, tokenizer in enumerate(tokenizers)
        }
        while streams:
            number = max(streams, key=fan_out.waiting)  # who has read the least: nobody lags behind
            try:
                block = next(streams[number], None)
                if block is None:
                    del streams[number]
                else:
                    begun = time.perf_counter()
                    counts[number] += sum(tokenizers[number].count_block(block, matchers[number], threads))
                    seconds[number] += time.perf_counter() - begun
            except InputError as error:
                raise InputError(f"{labels[number]} cannot encode {name}: {error.message}", hint=error.hint) from error
        row = Row.of(name, reading.documents, reading.bytes_read, reading.characters.total, counts)
        rows.append(_timed(row, seconds) if speed else row)
        for document, text in enumerate(reading.short or ()):
            if text:
                room -= len(text)
                segmented = (segment(tokenizer, bytes(text), specials) for tokenizer in tokenizers)
                passages.append(Passage(name, document, tuple(segmented)))
    total = Row.of(
        "total",
        sum(row.document_count for row in rows),
        sum(row.byte_count for row in rows),
        sum(row.character_count for row in rows),
        [sum(row.measures[number].token_count for row in rows) for number in range(len(tokenizers))],
    )
    if speed:
        total = _timed(total, [sum(row.measures[n].seconds or 0 for row in rows) for n in range(len(tokenizers))])
    sizes = tuple(tokenizer.vocab_size for tokenizer in tokenizers)
    return Comparison(labels, sizes, tuple(rows), total, tuple(passages))


def _timed(row: Row, seconds: Sequence[float]) -> Row:
    measures = (replace(each, seconds=taken) for each, taken in zip(row.measures, seconds, strict=True))
    return replace(row, measures=tuple(measures))


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
