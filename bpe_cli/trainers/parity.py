"""Train byte-level BPE on several languages alike: the language that is compressed worst chooses each merge.

Foroutan et al. 2025, Parity-Aware Byte-Pair Encoding (arXiv:2508.04796), by the rules of the authors' code. The counts
of all languages and of their development sets are in one table, in which a mark before each piece says whose it is, so
that they are spilled and trained on as all others. Options are ``bbpe_options.BbpeOptions``.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from bpe_cli import _core
from bpe_cli.errors import TrainingError, UsageError
from bpe_cli.stages.spelling import from_visible, to_visible
from bpe_cli.support.core_arguments import options_json
from bpe_cli.trainers.base import check_list, first_changed
from bpe_cli.trainers.counts import items_of

if TYPE_CHECKING:
    from bpe_cli.trainers.base import Progress

NO_LANGUAGE = (1 << 32) - 1
"""In place of the number of a language: a merge was given, or all languages chose it together."""

MOST_LANGUAGES = 1 << 16
MIN_FREQUENCY = 2
"""How often a pair must occur in the language that chooses, unless the options say so: that of the authors' code."""

_OWN = ("window", "window_alpha", "shared_merges", "pass_over", "ratios", "preload", "languages")
_TRAINING, _DEVELOPMENT = b"\x01", b"\x02"
_MARK_BYTES = 3


def mark_of(language: int, *, development: bool = False) -> bytes:
    """Return what stands before the pieces of a language, or before those of its development set.

    >>> mark_of(0), mark_of(258, development=True)
    (b'\\x01\\x00\\x00', b'\\x02\\x01\\x02')
    """
    return (_DEVELOPMENT if development else _TRAINING) + language.to_bytes(2, "big")


def texts_of(counts: _core.Counts) -> Iterator[tuple[bytes, int]]:
    """Yield the pieces that languages learn from, without their marks; some may be yielded for several languages."""
    for piece, number in items_of(counts):
        if piece.startswith(_TRAINING):
            yield piece[_MARK_BYTES:], number


def check(options: Any) -> None:
    """Check the options about languages.

    Raises:
        UsageError: if one of them needs ``parity``, is out of range, or an option does not go with it.
    """
    if not options.parity:
        if (name := first_changed(options, _OWN)) is not None:
            raise UsageError(f"`{name}` has a meaning only where languages choose the merges", hint="it needs `parity`")
        return
    for name in ("superwords", "boundaries", "boundary_mark"):
        if getattr(options, name):
            raise UsageError(f"`{name}` and `parity` cannot be used together")
    if options.compat != "hf":
        raise UsageError(
            f'`compat="{options.compat}"` has no `parity`, which has its own rules for ties', hint="leave `compat` out"
        )
    if options.window == 0:
        raise UsageError("`window` is the number of choices to remember, 1 or more")
    if options.window is None and first_changed(options, ("window_alpha",)):
        raise UsageError("`window_alpha` is about the choices that are remembered", hint="it needs `window`")
    if options.window_alpha <= 0:
        raise UsageError(f"`window_alpha` must be above 0, not {options.window_alpha:g}")
    if len(options.languages) > MOST_LANGUAGES:
        raise UsageError(f"there are {len(options.languages):,} languages; {MOST_LANGUAGES:,} fit")
    check_list("preload", options.preload)
    _merges_of(options.preload)


def _merges_of(lines: Sequence[str]) -> list[tuple[bytes, bytes]]:
    """Read merges as ``merges.txt`` has them: two texts in the visible alphabet, a space between them.

    >>> _merges_of(["#version: 0.2", "Ġ t"])
    [(b' ', b't')]

    Raises:
        UsageError: if a line is not a merge.
    """
    merges = []
    for number, line in enumerate(lines):
        if number == 0 and line.startswith("#version"):
            continue
        parts = [from_visible(part) for part in line.split(" ")]
        if len(parts) != 2 or not parts[0] or not parts[1]:
            raise UsageError(
                f"merge {number + 1} of `preload` is {line!r}",
                hint="a merge is two texts with a space between them, as in merges.txt: Ġt he",
            )
        merges.append((parts[0], parts[1]))
    return merges


def preloaded(options: Any, initial: Sequence[bytes]) -> tuple[list[tuple[int, int]], int]:
    """Return the pairs that are merged before all others, by the ids of their tokens, and how many tokens they make.

    Args:
        options: What to train.
        initial: The tokens before the first merge, by id; empty for one that no merge makes.

    Raises:
        UsageError: if a merge uses a token that neither is initial nor was made before.
    """
    ids = {token: token_id for token_id, token in enumerate(initial) if token}
    size = len(initial)
    pairs = []
    for left, right in _merges_of(options.preload):
        for part in (left, right):
            if part not in ids:
                raise UsageError(
                    f"a merge of `preload` uses {to_visible(part)!r}, which no merge before it makes",
                    hint="merges stand in the order in which they were learnt",
                )
        pairs.append((ids[left], ids[right]))
        if ids.setdefault(left + right, size) == size:
            size += 1
    return pairs, size - len(initial)


def train(
    counts: _core.Counts, options: Any, merging: dict[str, Any], progress: Progress | None, threads: int
) -> tuple[_core.BpeTraining, array[int]]:
    """Learn merges that languages choose.

    Args:
        counts: Pieces with the marks of their languages; with those of development sets, unless there are ratios.
        options: What to train.
        merging: What any trainer of merges is told, as ``_core.train_bpe`` takes it.
        progress: Called now and then.
        threads: Number of threads. Never changes the result.

    Returns:
        The merges, and for each the number of the language that chose it, or ``NO_LANGUAGE``.

    Raises:
        UsageError: if the languages have no names.
        TrainingError: if every language has chosen too often for the window.
    """
    if not options.languages:
        raise UsageError("`parity` is for several corpora", hint="`corpus={NAME: ...}` names them")
    numbers = range(len(options.languages))
    try:
        trained, chosen_by = _core.train_parity(
            counts,
            options_json(
                merging=merging | {"tie": "largest-visible"},
                training=[mark_of(number) for number in numbers],
                development=[] if options.ratios else [mark_of(number, development=True) for number in numbers],
                ratios=options.ratios,
                shared_merges=options.shared_merges,
                window=options.window,
                alpha=options.window_alpha,
                pass_over=options.pass_over,
                preload=preloaded(options, merging["initial"])[0],
            ),
            threads,
            progress,
        )
    except ValueError as error:
        if options.window is None:
            raise
        raise TrainingError(str(error), hint="use a larger `window`, or a larger `window_alpha`") from error
    return trained, array("I", bytes(chosen_by))
