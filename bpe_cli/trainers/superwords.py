"""Train superwords, a second stage of byte-level BPE: tokens of several words.

Liu et al. 2025, SuperBPE (arXiv:2503.13423), by the rules of the authors' trainer. Text is cut twice, each line by
itself: into words, and into runs of words. Both are counted in one table, in which a mark stands before each piece, so
that counts with two cuts are saved, added up and spilled as all others. Options are ``bbpe_options.BbpeOptions``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from bpe_cli import _core
from bpe_cli.errors import UsageError
from bpe_cli.stages.counting import ALL_MEMORY, SplitText, lines_of
from bpe_cli.support.blocks import Block
from bpe_cli.support.core_arguments import options_json
from bpe_cli.trainers.base import check_list, first_changed
from bpe_cli.trainers.counts import items_of, new_counts

if TYPE_CHECKING:
    from bpe_cli.trainers.base import Progress

WORD_MARK = b"\x01"
"""What stands before the pieces of the first pattern."""

RUN_MARK = b"\x02"
"""What stands before the pieces of the second pattern."""

_OWN = ("switch", "run_pattern", "max_words", "never_within")


class TwoCuts:
    """Cut each line of a text, with its end, into words, and again into runs of words.

    Args:
        words: What cuts into words.
        runs: What cuts into runs.
    """

    def __init__(self, words: SplitText, runs: SplitText) -> None:
        self._cuts = ((WORD_MARK, words), (RUN_MARK, runs))

    def safe_cut(self, data: bytes | memoryview, /) -> int:
        """Return the offset behind the last line end; 0 for none."""
        return bytes(data).rfind(b"\n") + 1

    def count_pieces(
        self, counts: _core.Counts, block: Block, matcher: _core.SpecialMatcher | None, threads: int
    ) -> None:
        """Add the pieces of both cuts to counts, each with its mark."""
        lines = lines_of(block)
        for mark, cut in self._cuts:
            own = new_counts(ALL_MEMORY)
            cut.count_pieces(own, lines, matcher, threads)
            counts.add_marked(own, mark)


def runs_of(counts: _core.Counts) -> Iterator[tuple[bytes, int]]:
    """Yield the runs of words with their counts; they have all text between them."""
    for piece, number in items_of(counts):
        if piece.startswith(RUN_MARK):
            yield piece[len(RUN_MARK) :], number


def check(options: Any) -> None:
    """Check the options about superwords.

    Raises:
        UsageError: if one of them needs ``superwords``, or an option does not go with it.
    """
    if not options.superwords:
        if (name := first_changed(options, _OWN)) is not None:
            raise UsageError(f"`{name}` is about the second stage of training", hint="it needs `superwords`")
        return
    refused: dict[str, object] = {
        "prefix_space": options.prefix_space,
        "boundaries": options.boundaries,
        "boundary_mark": options.boundary_mark,
    }
    for name, value in refused.items():
        if value:
            raise UsageError(f"`{name}` cannot be used with `superwords`, whose tokens go across words")
    if options.rules.lines:
        raise UsageError(f'`compat="{options.compat}"` has no `superwords`: its lines are documents without their ends')
    if options.split_special and any("\n" in content for content in options.special_tokens):
        raise UsageError(
            "a special token with a line end in it cannot be split off with `superwords`: lines are cut apart first"
        )
    if options.max_words == 0:
        raise UsageError(
            "max_words must be 1 or more, not 0: no text could be learnt in the second stage",
            hint="with 1 no token has several words",
        )
    check_list("never_within", options.never_within)
    if "" in options.never_within:
        raise UsageError("never_within has an empty text, which every token contains")


def switch_of(options: Any, initial: int, size: int) -> int | None:
    """Return how many merges stay inside words, given how many tokens there are before the first and at the end.

    None: the core finds it.
    """
    if options.switch == "auto":
        return None
    return max(0, size * 9 // 10 - initial) if options.switch is None else int(options.switch)


def said_of(switch: int, taken_over: int, merges: int) -> tuple[str, ...]:
    """Return what the summary says of the switch: merges of the first stage, those of them taken over, and all.

    >>> said_of(16, 16, 24), said_of(16, 12, 14), said_of(16, 16, 9)
    (('switch at 16',), ('switch at 16',), ('switch at 9', 'no superwords'))
    """
    if merges > taken_over:
        return (f"switch at {switch:,}",)
    return (f"switch at {min(switch, merges):,}", "no superwords")


def train(
    counts: _core.Counts, options: Any, words: dict[str, Any], progress: Progress | None, threads: int
) -> tuple[_core.BpeTraining, int, int]:
    """Learn merges in two stages.

    Args:
        counts: Pieces of both cuts, as ``TwoCuts`` counts them.
        options: What to train.
        words: What both stages have in common, as ``_core.train_bpe`` takes it.
        progress: Called now and then.
        threads: Number of threads. Never changes the result.

    Returns:
        The merges, how many the first stage made, and how many of these the second took over.
    """
    never_within = [text.encode("utf-8", "surrogateescape") for text in options.never_within]
    switch = switch_of(options, len(words["initial"]), words["vocab_size"])
    return _core.train_superwords(
        counts,
        options_json(
            words=words | {"max_merges": switch},
            runs=words["vetoes"] | {"max_words": options.max_words, "never_within": never_within},
            word_mark=WORD_MARK,
            run_mark=RUN_MARK,
        ),
        threads,
        progress,
    )
