"""Write a training out as lines of text, the way a textbook does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from bpe_cli.stages.byte_alphabet import to_visible
from bpe_cli.teaching.bpe import Symbol, Training, count_symbols


def display(symbol: str | bytes) -> str:
    r"""Show a symbol on one line, without blanks: bytes in GPT-2's alphabet, characters as they are.

    What cannot be printed, or has blanks, is written as Python writes it.

    >>> display("</w>"), display(b" t"), display("a\n"), display(" ")
    ('</w>', 'Ġt', "'a\\n'", "' '")
    """
    if not isinstance(symbol, str):
        return to_visible(symbol)
    return symbol if symbol and symbol.isprintable() and " " not in symbol else repr(symbol)


def render(
    training: Training[Symbol], *, show: Callable[[Symbol], str] = display, limit: int | None = None
) -> Iterator[str]:
    r"""Yield lines, without line ends: the corpus at the start, then what each merge did.

    A step shows the pair and its count, the words that changed, the tokens in use with their counts,
    and the number of these, with its change: +1, +0 or -1.

    Args:
        training: It is run while the lines are taken.
        show: Writes a symbol.
        limit: Most words, and most tokens, to list in a step; None for all.

    >>> from bpe_cli.teaching.bpe import train
    >>> print(*render(train({("l", "o", "w"): 5, ("o", "w", "l"): 2}, num_merges=1)), sep="\n")
    start: 3 tokens in use
           5  l o w
           2  o w l
      tokens  l:7  o:7  w:7
    <BLANKLINE>
    step 1: o + w -> ow, 7 times
           5  l ow
           2  ow l
      tokens  l:7  ow:7
      in use  2 (-1): o, w are gone
    """
    words = training.words
    yield f"start: {_number(len(count_symbols(words)), 'token')} in use"
    yield from _listing(words, words, show, limit)
    for step in training:
        left, right = (show(symbol) for symbol in step.pair)
        yield ""
        yield f"step {step.number}: {left} + {right} -> {show(step.product)}, {_number(step.count, 'time')}"
        changed = {word: count for word, count in step.words.items() if word not in words}
        yield from _listing(changed, step.words, show, limit)
        in_use = count_symbols(step.words)
        gone = [show(symbol) for symbol in dict.fromkeys(step.pair) if symbol not in in_use]
        verdict = f": {', '.join(gone)} {'is' if len(gone) == 1 else 'are'} gone" if gone else ""
        yield f"  in use  {step.vocabulary_size} ({step.vocabulary_change:+d}){verdict}"
        words = step.words


def _listing(
    listed: Mapping[tuple[Symbol, ...], int],
    words: Mapping[tuple[Symbol, ...], int],
    show: Callable[[Symbol], str],
    limit: int | None,
) -> Iterator[str]:
    """Yield a line a word, then one with the tokens in use."""
    for word, frequency in list(listed.items())[:limit]:
        yield f"{frequency:8}  {' '.join(show(symbol) for symbol in word)}"
    if limit is not None and len(listed) > limit:
        yield f"          and {_number(len(listed) - limit, 'word')} more"
    in_use = list(count_symbols(words).items())
    shown = [f"{show(symbol)}:{count}" for symbol, count in in_use[:limit]]
    if limit is not None and len(in_use) > limit:
        shown.append(f"and {len(in_use) - limit} more")
    yield "  tokens  " + "  ".join(shown)


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
