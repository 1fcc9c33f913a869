"""What all trainers share: how text is sent through stages to be counted, and what training gives.

A trainer is a module with

* ``Options``: a frozen dataclass whose fields are the command line's options by name;
* ``documents(options)``: ``"lines"`` if it learns from lines, ``None`` if from whatever the user says;
* ``front(options)``: the stages that text goes through before it is counted;
* ``train(counts, options, progress, threads)``: counts of pieces -> ``Trained``;
* ``untrained(options)``: a tokenizer of the same kind with next to nothing in it, to see before the
  work begins whether it could be written;
* ``steps(counts, options)``: the textbook's training as lines of text, for small corpora.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any

from bpe_cli import _core
from bpe_cli.errors import TrainingError, UsageError
from bpe_cli.stages import Normalizer, PreTokenizer
from bpe_cli.stages.component_json import core_spec
from bpe_cli.stages.splitters import safe_cutter
from bpe_cli.support.blocks import Block, settle
from bpe_cli.tokenizer import Tokenizer

Progress = Callable[[int, int], None]
"""Called now and then with (done so far, all there is to do)."""

DEFAULT_MAX_MEMORY = 4 << 30
"""Bytes that counts may take; a fixed number, so that what is refused does not depend on the machine."""

_LARGEST = (1 << 63) - 1
_LONGEST = (1 << 32) - 1
_LENGTHS = frozenset({"max_token_length", "max_digits"})
"""Options that are lengths of tokens, which the core keeps in 32 bits."""


@dataclass(frozen=True, slots=True)
class Front:
    """The stages that text goes through before it is counted."""

    normalizer: tuple[Normalizer, ...] = ()
    pre_tokenizer: tuple[PreTokenizer, ...] = ()

    def compile(self) -> _core.Stages:
        """Compile the stages.

        Raises:
            ValueError: A stage cannot be; the sentence says why.
        """
        return _core.Stages(core_spec(self.normalizer, self.pre_tokenizer))


@dataclass(frozen=True, slots=True)
class Trained:
    """What training gave.

    Attributes:
        tokenizer: The tokenizer.
        summary: What it is made of, for the user: ``("45 characters", "955 merges", "2 special")``.
        shortfall: Why the vocabulary is smaller than asked for, as the rest of a sentence
            (``"no pair is left that occurs 2 times or more"``), or None.
    """

    tokenizer: Tokenizer
    summary: tuple[str, ...]
    shortfall: str | None = None


_ALL_MEMORY = (1 << 63) - 1
"""More bytes than any machine addresses."""


def new_counts(max_memory: int = DEFAULT_MAX_MEMORY) -> _core.Counts:
    """Start counting from nothing, in at most ``max_memory`` bytes."""
    return _core.Counts(min(max_memory, _ALL_MEMORY))


def count(
    blocks: Iterable[Block],
    front: Front,
    counts: _core.Counts,
    threads: int = 1,
    split_special: Iterable[str] = (),
) -> None:
    """Send documents through stages and add the pieces that come out to counts.

    The result depends on the documents and their order alone, not on blocks or threads.

    Args:
        blocks: The documents.
        front: The stages.
        counts: What is added to.
        threads: How many to use.
        split_special: Special tokens that are taken out of the text and divide it.

    Raises:
        TrainingError: There are more different pieces than the counts' memory holds.
    """
    stages = front.compile()
    contents = sorted({content.encode() for content in split_special})
    matcher = _core.SpecialMatcher(contents, [0] * len(contents)) if contents else None

    try:
        for block in settle(blocks, safe_cutter(stages, matcher)):
            counts.add_staged(stages, matcher, block.data, block.ends, threads, block.continued)
    except ValueError as error:  # an expression that takes too long, a text that is too long
        raise TrainingError(f"the text cannot be cut: {error}", hint="cut it in another way, or into lines") from error
    except MemoryError as error:
        raise TrainingError(
            f"the corpus has too many different pieces: {error}",
            hint="raise --max-memory, split the text more finely, or train on a sample",
        ) from error


def check_numbers(options: Any) -> None:
    """Make sure that the core has room for the numbers of an algorithm's options.

    Raises:
        UsageError: One is below 0 (an id: below -1, which is for none) or too large, or no number at all.
    """
    for each in fields(options):
        value = getattr(options, each.name)
        for number in value if isinstance(value, tuple) else (value,):
            if isinstance(number, float) and not isfinite(number):
                raise UsageError(f"{each.name} is a number, not {number}")
            if isinstance(number, int):
                lowest = -1 if each.name.endswith("_id") else 0
                largest = _LONGEST if each.name in _LENGTHS else _LARGEST
                if not lowest <= number <= largest:
                    raise UsageError(f"{each.name} is a number from {lowest} to {largest:,}, not {number:,}")


def pieces_of(counts: _core.Counts) -> dict[bytes, int]:
    """Return all pieces with their counts, in order of first occurrence.

    >>> from array import array
    >>> counts = new_counts()
    >>> counts.add_pieces(b"aba", array("Q", [1, 2, 3]), None)
    >>> pieces_of(counts)
    {b'a': 2, b'b': 1}
    """
    step = 1 << 16
    return {piece: n for start in range(0, counts.unique, step) for piece, n in counts.items(start, step)}


STEPS_BYTES = 20_000
"""Bytes of different pieces up to which a textbook's training is shown: it counts all anew at each step."""


def small(counts: _core.Counts) -> dict[bytes, int]:
    """Return all pieces of a corpus that is small enough for a textbook.

    Raises:
        UsageError: It is not.
    """
    pieces = dict(counts.items(0, STEPS_BYTES))
    if sum(map(len, pieces)) > STEPS_BYTES or counts.unique > len(pieces):
        raise UsageError(
            f"--steps is for small corpora: up to {STEPS_BYTES:,} bytes of different pieces",
            hint="leave --steps out, or train on a sample",
        )
    return pieces
