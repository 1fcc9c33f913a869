"""Write trainings as lines of text, the way textbooks do: what ``bpe train --steps`` prints.

The best candidates of a step follow below it if they are asked for (``most``, None for all).

Length: a function for each family of trainings, with an example of what it prints.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len

from bpe_cli.stages.spelling import to_visible
from bpe_cli.teaching import bpe, wordpiece
from bpe_cli.teaching.bpe import Symbol
from bpe_cli.teaching.frontier import picky
from bpe_cli.teaching.record import record
from bpe_cli.teaching.steps import (
    ByteIds,
    Candidate,
    Counted,
    Covering,
    Entry,
    Estimation,
    Joining,
    NumberedPieces,
    Pruning,
    Record,
    RecordedStep,
    ScoredPieces,
    Steps,
    ThresholdSearch,
    UseCounts,
)  # fmt: skip
from bpe_cli.views.visible import CIRCLE, needs_circle


def training_lines(steps: Steps, most: int | None = 0) -> Iterator[str]:
    """Yield the lines of any training, without line ends; it may train as they are consumed.

    Args:
        steps: The training.
        most: How many candidates each step shows; None for all, and for all tokens that are dropped.
    """
    match steps:
        case wordpiece.Training():
            return score_lines(steps, most)
        case NumberedPieces():
            return piece_lines(steps)
        case ByteIds():
            return byte_lines(steps)
        case ScoredPieces():
            return (f"{at:>6}  {score:10.4f}  {display(piece)}" for at, (piece, score) in enumerate(steps.pieces))
        case ThresholdSearch():
            return threshold_lines(steps)
        case Joining():
            return joining_lines(steps, most)
        case Pruning():
            return pruning_lines(steps, most)
        case Estimation() | UseCounts():
            return estimation_lines(steps, most)
        case Covering():
            return covering_lines(steps, most)
    return merge_lines(steps, most)  # type: ignore[misc]  # of text or of bytes


def plural(count: int, noun: str) -> str:
    """Write a number of things, without commas.

    >>> plural(1, "token"), plural(1200, "token")
    ('1 token', '1200 tokens')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def display(symbol: str | bytes) -> str:
    r"""Show a symbol on one line, without blanks: characters as they are, also those that bytes are.

    Bytes of ASCII are written in GPT-2's alphabet, where a blank is ``Ġ``; those that are not whole characters by their
    numbers. A text that cannot be printed, or has blanks, is written as Python writes it.

    A combining mark at the beginning is put on a dotted circle; a symbol that has such a circle is quoted.

    >>> display("</w>"), display(b" t"), display("a\n"), display(" ")
    ('</w>', 'Ġt', "'a\\n'", "' '")
    >>> display(" 你是".encode()), display("你".encode()[:2])
    ('Ġ你是', '⟨e4bd⟩')
    >>> display("\u0e31"), display("\u0e31ก".encode()), display("◌")
    ('◌\u0e31', '◌\u0e31ก', "'◌'")
    """
    shown = symbol if isinstance(symbol, str) else _display_bytes(symbol)
    if CIRCLE in shown or not shown or not shown.isprintable() or " " in shown:
        return repr(shown)
    return CIRCLE + shown if needs_circle(shown[0]) else shown


def _display_bytes(symbol: bytes) -> str:
    if symbol.isascii():
        return to_visible(symbol)
    try:
        text = symbol.decode()
    except UnicodeDecodeError:
        return f"⟨{symbol.hex()}⟩"
    shown = "".join(to_visible(each.encode()) if each.isascii() else each for each in text)
    return shown if shown.isprintable() else f"⟨{symbol.hex()}⟩"


def merge_lines(training: bpe.Training[Symbol] | picky.Training, most: int | None = 0) -> Iterator[str]:
    r"""Yield lines, without line ends: the corpus at the start, then what each merge or split did.

    A step shows the pair (or token) and its count, the words that changed, the tokens in use with their counts,
    and the number of these, with its change: +1, +0 or -1. It trains as the lines are consumed.

    >>> from bpe_cli.teaching.bpe import train
    >>> print(*merge_lines(train({("l", "o", "w"): 5, ("o", "w", "l"): 2}, num_merges=1)), sep="\n")
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
    recorded = record(training, most)
    yield from _start(recorded)
    for step in recorded.steps:
        pair, product = step.taken[0].parts, step.taken[0].product
        times = plural(step.taken[0].count or 0, "time")
        sides = [" + ".join(map(display, pair)), display(product)]
        old = {product} if step.kind == "split" else dict.fromkeys(pair)
        yield ""
        yield f"step {step.number}: {' -> '.join(reversed(sides) if step.kind == 'split' else sides)}, {times}"
        yield from _candidates(step, "pairs", "pair")
        yield from _effect(step)
        in_use = {symbol for each in step.tokens if isinstance(each, Counted) for symbol in each.symbols}
        gone = [display(symbol) for symbol in old if symbol not in in_use]
        said = f": {', '.join(gone)} {'is' if len(gone) == 1 else 'are'} gone" if gone else ""
        yield f"  in use  {step.size} ({step.size_change:+d}){said}"


def _start(recorded: Record) -> Iterator[str]:
    """Yield how many tokens there are, and the corpus."""
    yield f"start: {plural(len(recorded.tokens), 'token')} in use"
    yield from (_word(word.symbols, word.count) for word in recorded.words)
    yield _tokens(recorded.tokens)


def _effect(step: RecordedStep) -> Iterator[str]:
    """Yield the words that have changed, each once, and the tokens in use."""
    changed: dict[tuple[str | bytes, ...], int] = {}
    for each in step.changes:
        changed[each.after] = changed.get(each.after, 0) + each.count
    yield from (_word(word, count) for word, count in changed.items())
    yield _tokens([each for each in step.tokens if isinstance(each, Counted)])


def _tokens(tokens: Sequence[Counted]) -> str:
    return "  tokens  " + "  ".join(f"{display(each.symbols[0])}:{each.count}" for each in tokens)


def _word(symbols: Sequence[str | bytes], count: int) -> str:
    return f"{count:8}  {' '.join(map(display, symbols))}"


def _candidates(step: RecordedStep, label: str, noun: str) -> Iterator[str]:
    """Yield a line for each candidate, marked if it is taken or tied, then the number of further ones."""
    if not step.candidates:
        return
    shown = [(" + ".join(map(display, each.parts)), worth(each), verdict(each)) for each in step.candidates]
    widths = [max(cell_len(row[column]) for row in shown) for column in (0, 1)]
    for number, (parts, value, said) in enumerate(shown):
        padding = " " * (widths[0] - cell_len(parts))
        aligned = value.ljust(widths[1]) if "=" in value else value.rjust(widths[1])
        line = f"{'' if number else label:>8}  {parts}{padding}  {aligned}"
        yield f"{line}  {said}".rstrip()
    if step.more:
        tied = f", {step.more_tied} of them tied" if step.more_tied else ""
        yield f"{'':8}  and {plural(step.more, f'more {noun}')}{tied}"


def worth(candidate: Candidate) -> str:
    """Write what a candidate is worth: its score as a fraction, its loss, or its count."""
    if candidate.score is not None:
        product = f"({candidate.left_count} * {candidate.right_count})"
        return f"{candidate.score} = {candidate.count} / {product}"
    return f"{candidate.loss:.4f}" if candidate.loss is not None else str(candidate.count)


def verdict(candidate: Candidate) -> str:
    """Describe the fate of a candidate: taken, dropped ("goes"), or tied with the last one taken; else empty."""
    if candidate.taken:
        return "taken" if candidate.loss is None else "goes"
    return "tied" if candidate.tied else ""


def score_lines(training: wordpiece.Training, most: int | None = 0) -> Iterator[str]:
    """Yield a training by score as lines, without line ends, the way a textbook writes it out.

    >>> from bpe_cli.teaching import wordpiece
    >>> print(*score_lines(wordpiece.train({"hug": 2, "hugs": 1}, 5)), sep=chr(10))
    start: 4 tokens in use
           2  h ##u ##g
           1  h ##u ##g ##s
      tokens  h:3  ##u:3  ##g:3  ##s:1
    <BLANKLINE>
    step 1: ##u + ##g -> ##ug, score 1/3 = 3 / (3 * 3)
           2  h ##ug
           1  h ##ug ##s
      tokens  h:3  ##ug:3  ##s:1
    """
    recorded = record(training, most)
    yield from _start(recorded)
    for step in recorded.steps:
        taken = step.taken[0]
        merge = f"{' + '.join(map(display, taken.parts))} -> {display(taken.product)}"
        yield ""
        yield f"step {step.number}: {merge}, score {worth(taken)}"
        yield from _candidates(step, "pairs", "pair")
        yield from _effect(step)


def piece_lines(pieces: NumberedPieces) -> Iterator[str]:
    r"""Yield lines of text, without line ends: what was counted, and the ids that were given out.

    >>> print(*piece_lines(NumberedPieces({"h": 1, "i": 2, "!": 1}, ["i", "h"], ["<unk>"])), sep="\n")
    start: 3 different pieces, 4 in all
      tokens  i:2  !:1  h:1
    <BLANKLINE>
    vocabulary: 3 tokens
           0  <unk>
           1  i  2 times
           2  h  1 time
      unseen  1 piece has no token, 1 time
    """
    recorded = record(pieces)
    yield f"start: {len(pieces.counts)} different pieces, {sum(pieces.counts.values())} in all"
    yield _tokens(recorded.words)
    yield from _vocabulary(recorded.vocabulary)
    kept = set(pieces.chosen)
    left_out = [n for piece, n in pieces.counts.items() if piece not in kept]
    if left_out:
        verb = "piece has" if len(left_out) == 1 else "pieces have"
        yield f"  unseen  {len(left_out)} {verb} no token, {plural(sum(left_out), 'time')}"


def byte_lines(ids: ByteIds) -> Iterator[str]:
    """Yield the table of ids, sixteen bytes a line."""
    offset = len(ids.specials) if ids.special_first else 0
    yield "start: 256 bytes; nothing is learnt"
    for row in range(0, 256, 16):
        yield f"{row + offset:8}  {' '.join(to_visible(bytes([byte])) for byte in range(row, row + 16))}"
    for place, content in enumerate(ids.specials):
        yield f"{place + (0 if ids.special_first else 256):8}  {display(content)}"


def threshold_lines(search: ThresholdSearch) -> Iterator[str]:
    """Yield the search for a threshold as lines, without line ends, and the tokens of the last one.

    >>> from bpe_cli.teaching.wordpiece import learn
    >>> tried = learn({"low": 9, "lower": 5, "lowest": 4}, 17, min_frequency=2)
    >>> print(*threshold_lines(ThresholdSearch(tried, 17)), sep=chr(10))
    threshold 6: 15 of 17 tokens
    threshold 4: 17 of 17 tokens
      tokens  e  l  o  r  s  t  w  low  lower  lowest  ##e  ##l  ##o  ##r  ##s  ##t  ##w
    """
    vocabulary: list[str] = []
    for threshold, vocabulary in search.tried:
        yield f"threshold {threshold}: {len(vocabulary)} of {search.vocab_size} tokens"
    yield "  tokens  " + "  ".join(map(display, vocabulary))


def joining_lines(joining: Joining, most: int | None = 0) -> Iterator[str]:
    r"""Yield lines of text, without line ends: the corpus at the start, then what each round did.

    >>> from bpe_cli.teaching.maxmatch import Rules
    >>> lines = [list("调度实时"), list("实时调度")]
    >>> print(*joining_lines(Joining(lines, 1, Rules(lines_per_word=1), ["调度"])), sep="\n")
    start: 2 lines
              调 度 实 时
              实 时 调 度
    <BLANKLINE>
    round 1: 4 pairs; joined where the count is above 1
       words  调度:2  实时:2  度实:1  时调:1
              调度 实 时
              实时 调 度
    <BLANKLINE>
    vocabulary: 1 token
           0  调度
    """
    lines: Sequence[Sequence[str | bytes]] = joining.lines
    yield f"start: {plural(len(lines), 'line')}"
    yield from _cut_lines(lines)
    recorded = record(joining, None if most == 0 else most)
    for step in recorded.steps:
        yield ""
        pairs = plural(step.candidate_count, "pair")
        yield f"round {step.number}: {pairs}; joined where the count is above {step.threshold:g}"
        if most == 0:
            yield "   words  " + "  ".join(f"{display(each.product)}:{each.count}" for each in step.candidates)
        else:
            yield from _candidates(step, "words", "pair")
        changed = {change.before: change.after for change in step.changes}
        lines = [changed.get(tuple(line), line) for line in lines]
        yield from _cut_lines(lines)
    yield from _vocabulary(recorded.vocabulary)


def _cut_lines(lines: Sequence[Sequence[str | bytes]]) -> Iterator[str]:
    for line in lines:
        yield "          " + " ".join(map(display, line))


def pruning_lines(pruning: Pruning, most: int | None = 0) -> Iterator[str]:
    """Yield a line for each round: what went, how many tokens are left, what the corpus costs; and the vocabulary.

    >>> words = {"hug": 10, "pug": 5, "hugs": 5}
    >>> from bpe_cli.teaching.unigram import train
    >>> rounds = list(train(words, 10, initial_size=11))
    >>> print(*pruning_lines(Pruning(words, rounds, ["<unk>"], {"h": -1.5})), sep=chr(10))
    11 characters and substrings to begin with; the corpus costs 74.1758
    1. without ug: 10 tokens; the corpus costs 70.8347
    <BLANKLINE>
    vocabulary: 2 tokens
           0  <unk>
           1  h  -1.5000
    """
    recorded = record(pruning, most)
    for step in recorded.steps:
        left = plural(step.size, "token")
        if step.kind == "seeds":
            yield f"{step.size} characters and substrings to begin with; the corpus costs {step.cost:.4f}"
        else:
            yield f"{step.number}. {_without(step, most)}: {left}; the corpus costs {step.cost:.4f}"
            yield from _candidates(step, "losses", "token")
    yield from _vocabulary(recorded.vocabulary)


def covering_lines(covering: Covering, most: int | None = 0) -> Iterator[str]:
    """Yield the corpus at the start, then the words that each token changes, and the tokens in use.

    >>> from bpe_cli.teaching.frontier.greedy_cover import Cover
    >>> print(*covering_lines(Covering(Cover({b"low": 2, b"owl": 1}), 1)), sep=chr(10))
    start: 3 tokens in use
           2  l o w
           1  o w l
      tokens  l:3  o:3  w:3
    <BLANKLINE>
    step 1: low, 4 pieces fewer
           2  low
      tokens  low:2  o:1  w:1  l:1
    """
    recorded = record(covering, most)
    yield from _start(recorded)
    for step in recorded.steps:
        taken = step.taken[0]
        yield ""
        yield f"step {step.number}: {display(taken.product)}, {plural(taken.count or 0, 'piece')} fewer"
        yield from _candidates(step, "saved", "token")
        yield from _effect(step)


def estimation_lines(estimation: Estimation | UseCounts, most: int | None = 0) -> Iterator[str]:
    """Yield a line for each step of expectation maximisation, hard or not, and pruning, and the vocabulary.

    >>> rounds = [("seeds", {"a": -1.0, "ab": -1.0}), ("expectation", {"a": -1.0}), ("pruning", {"a": -1.0})]
    >>> print(*estimation_lines(Estimation({}, rounds, (), {"a": -1.5})), sep=chr(10))
    2 characters and substrings to begin with
    1. expectation without ab: 1 token
    1. pruned: 1 token
    <BLANKLINE>
    vocabulary: 1 token
           0  a  -1.5000

    >>> rounds = [("seeds", {"a": 1, "b": 1, "ab": 3}), ("expectation", {"a": 2, "b": 0, "ab": 3})]
    >>> print(*estimation_lines(UseCounts({}, rounds, ["<s>"], {"a": 2, "b": 0, "ab": 3})), sep=chr(10))
    3 tokens of byte-pair encoding to begin with
    1. recounted: 3 tokens
    <BLANKLINE>
    vocabulary: 4 tokens
           0  <s>
           1  a  2 times
           2  b  0 times
           3  ab  3 times
    """
    is_counted = isinstance(estimation, UseCounts)
    begun = "tokens of byte-pair encoding" if is_counted else "characters and substrings"
    expected = "recounted" if is_counted else "expectation"
    recorded = record(estimation, most)
    for step in recorded.steps:
        if step.kind == "seeds":
            yield f"{step.size} {begun} to begin with"
            continue
        done = "pruned" if step.kind == "pruning" else expected
        change = " ".join(filter(None, (f"{step.number}.", done, _without(step, most))))
        yield f"{change}: {plural(step.size, 'token')}"
        yield from _candidates(step, "uses" if is_counted else "losses", "token")
    yield from _vocabulary(recorded.vocabulary)


def _vocabulary(entries: Sequence[Entry]) -> Iterator[str]:
    """Yield the vocabulary in the end: each token's id, the token, and its score or count where it has one."""
    yield ""
    yield f"vocabulary: {plural(len(entries), 'token')}"
    for each in entries:
        line = f"{each.token_id:8}  {display(each.token)}"
        if each.score is not None:
            line += f"  {each.score:.4f}"
        elif each.count is not None:
            line += f"  {plural(each.count, 'time')}"
        yield line


_MOST_GONE = 8


def _without(step: RecordedStep, most: int | None) -> str:
    """Write which tokens go: the first ones, or all of them."""
    gone = [display(each.product) for each in step.taken]
    shown = gone if most is None else gone[:_MOST_GONE]
    return "without " + " ".join(shown) + (" ..." if len(gone) > len(shown) else "") if gone else ""
