"""Write trainings as lines of text, the way textbooks do: what ``bpe train --steps`` prints."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice

from bpe_cli.stages.spelling import to_visible
from bpe_cli.teaching import bpe, wordpiece
from bpe_cli.teaching.bpe import Symbol, count_symbols
from bpe_cli.teaching.maxmatch import learn
from bpe_cli.teaching.steps import (
    ByteIds,
    Estimation,
    Joining,
    NumberedPieces,
    Pruning,
    ScoredPieces,
    Steps,
    ThresholdSearch,
    by_count,
)  # fmt: skip
from bpe_cli.teaching.unigram import corpus_cost, costs


def training_lines(steps: Steps) -> Iterator[str]:
    """Yield the lines of any training, without line ends; it may train while they are taken."""
    match steps:
        case wordpiece.Training():
            return score_lines(steps)
        case NumberedPieces():
            return piece_lines(steps)
        case ByteIds():
            return byte_lines(steps)
        case ScoredPieces():
            return (f"{at:>6}  {score:10.4f}  {display(piece)}" for at, (piece, score) in enumerate(steps.pieces))
        case ThresholdSearch():
            return threshold_lines(steps)
        case Joining():
            return joining_lines(steps)
        case Pruning():
            return pruning_lines(steps)
        case Estimation():
            return estimation_lines(steps)
    return merge_lines(steps)  # type: ignore[misc]  # of text or of bytes


def plural(count: int, noun: str) -> str:
    """Write a number of things, without commas.

    >>> plural(1, "token"), plural(1200, "token")
    ('1 token', '1200 tokens')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def display(symbol: str | bytes) -> str:
    r"""Show a symbol on one line, without blanks: characters as they are, also those that bytes are.

    Bytes of ASCII are written in GPT-2's alphabet, where a blank is ``Ġ``; those that are no whole characters by their
    numbers. A text that cannot be printed, or has blanks, is written as Python writes it.

    >>> display("</w>"), display(b" t"), display("a\n"), display(" ")
    ('</w>', 'Ġt', "'a\\n'", "' '")
    >>> display(" 你是".encode()), display("你".encode()[:2])
    ('Ġ你是', '⟨e4bd⟩')
    """
    if not isinstance(symbol, str):
        return _display_bytes(symbol)
    return symbol if symbol and symbol.isprintable() and " " not in symbol else repr(symbol)


def _display_bytes(symbol: bytes) -> str:
    if symbol.isascii():
        return to_visible(symbol)
    try:
        text = symbol.decode()
    except UnicodeDecodeError:
        return f"⟨{symbol.hex()}⟩"
    shown = "".join(to_visible(each.encode()) if each.isascii() else each for each in text)
    return shown if shown.isprintable() else f"⟨{symbol.hex()}⟩"


def merge_lines(training: bpe.Training[Symbol]) -> Iterator[str]:
    r"""Yield lines, without line ends: the corpus at the start, then what each merge did.

    A step shows the pair and its count, the words that changed, the tokens in use with their counts,
    and the number of these, with its change: +1, +0 or -1. It trains while the lines are taken.

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
    words = training.words
    yield f"start: {plural(len(count_symbols(words)), 'token')} in use"
    yield from _listing(words, words)
    for step in training:
        left, right = map(display, step.pair)
        yield ""
        yield f"step {step.number}: {left} + {right} -> {display(step.product)}, {plural(step.count, 'time')}"
        yield from _listing(_changed(step.words, words), step.words)
        in_use = count_symbols(step.words)
        gone = [display(symbol) for symbol in dict.fromkeys(step.pair) if symbol not in in_use]
        verdict = f": {', '.join(gone)} {'is' if len(gone) == 1 else 'are'} gone" if gone else ""
        yield f"  in use  {step.vocabulary_size} ({step.vocabulary_change:+d}){verdict}"
        words = step.words


def _changed(
    words: Mapping[tuple[Symbol, ...], int], before: Mapping[tuple[Symbol, ...], int]
) -> dict[tuple[Symbol, ...], int]:
    return {word: count for word, count in words.items() if word not in before}


def _listing(listed: Mapping[tuple[Symbol, ...], int], words: Mapping[tuple[Symbol, ...], int]) -> Iterator[str]:
    """Yield a line a word, then one with the tokens in use."""
    for word, frequency in listed.items():
        yield f"{frequency:8}  {' '.join(map(display, word))}"
    yield "  tokens  " + "  ".join(f"{display(symbol)}:{count}" for symbol, count in count_symbols(words).items())


def score_lines(training: wordpiece.Training) -> Iterator[str]:
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
    words = training.words
    yield f"start: {len(count_symbols(words))} tokens in use"
    yield from _listing(words, words)
    for step in training:
        yield ""
        yield (
            f"step {step.number}: {' + '.join(map(display, step.pair))} -> {display(step.product)}, "
            f"score {step.score} = {step.count} / ({step.left_count} * {step.right_count})"
        )
        yield from _listing(_changed(step.words, words), step.words)
        words = step.words


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
      unseen  1 piece is in no token, 1 time
    """
    counts, chosen, specials = pieces.counts, pieces.chosen, pieces.specials
    yield f"start: {len(counts)} different pieces, {sum(counts.values())} in all"
    yield "  tokens  " + "  ".join(f"{display(piece)}:{n}" for piece, n in by_count(counts))
    yield ""
    yield f"vocabulary: {len(specials) + len(chosen)} tokens"
    for token_id, special in enumerate(specials):
        yield f"{token_id:8}  {display(special)}"
    for token_id, piece in enumerate(chosen, len(specials)):
        yield f"{token_id:8}  {display(piece)}  {plural(counts[piece], 'time')}"
    kept = set(chosen)
    left_out = {piece: n for piece, n in counts.items() if piece not in kept}
    if left_out:
        verb = "piece is" if len(left_out) == 1 else "pieces are"
        yield f"  unseen  {len(left_out)} {verb} in no token, {plural(sum(left_out.values()), 'time')}"


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


def joining_lines(joining: Joining) -> Iterator[str]:
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
    lines = joining.lines
    yield f"start: {plural(len(lines), 'line')}"
    yield from _cut_lines(lines)
    for each in learn(lines, joining.rounds, joining.rules):
        yield ""
        pairs = plural(len(each.words), "pair")
        yield f"round {each.number}: {pairs}; joined where the count is above {each.threshold:g}"
        yield "   words  " + "  ".join(f"{display(word)}:{count}" for word, count in each.words)
        yield from _cut_lines(each.lines)
    yield ""
    yield f"vocabulary: {plural(len(joining.tokens), 'token')}"
    for token_id, token in enumerate(joining.tokens):
        yield f"{token_id:8}  {display(token)}"


def _cut_lines(lines: Sequence[Sequence[str]]) -> Iterator[str]:
    for line in lines:
        yield "          " + " ".join(map(display, line))


def pruning_lines(pruning: Pruning) -> Iterator[str]:
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
    before: Collection[str] = ()
    for number, tokens in enumerate(pruning.rounds):
        cost = corpus_cost(pruning.words, costs(tokens))
        if number == 0:
            yield f"{len(tokens)} characters and substrings to begin with; the corpus costs {cost:.4f}"
        else:
            yield f"{number}. {_without(before, tokens)}: {plural(len(tokens), 'token')}; the corpus costs {cost:.4f}"
        before = tokens
    yield from _scored(pruning.reserved, pruning.tokens)


def estimation_lines(estimation: Estimation) -> Iterator[str]:
    """Yield a line for each step of expectation maximisation and pruning, and the vocabulary.

    >>> rounds = [("seeds", {"a": -1.0, "ab": -1.0}), ("expectation", {"a": -1.0}), ("pruning", {"a": -1.0})]
    >>> print(*estimation_lines(Estimation(rounds, (), {"a": -1.5})), sep=chr(10))
    2 characters and substrings to begin with
    1. expected anew without ab: 1 token
    1. pruned: 1 token
    <BLANKLINE>
    vocabulary: 1 token
           0  a  -1.5000
    """
    before: Collection[str] = ()
    number = 1
    for step, tokens in estimation.rounds:
        if step == "seeds":
            yield f"{len(tokens)} characters and substrings to begin with"
        else:
            done = "pruned" if step == "pruning" else "expected anew"
            change = " ".join(filter(None, (f"{number}.", done, _without(before, tokens))))
            yield f"{change}: {plural(len(tokens), 'token')}"
        number += step == "pruning"
        before = tokens
    yield from _scored(estimation.reserved, estimation.tokens)


def _scored(reserved: Sequence[str], tokens: Mapping[str, float]) -> Iterator[str]:
    """Yield the vocabulary that training gives: each token's id, the token, and the score of those learnt.

    What was learnt and is spelt like a reserved token is left out.
    """
    learnt = [(token, score) for token, score in tokens.items() if token not in reserved]
    yield ""
    yield f"vocabulary: {plural(len({*reserved, *tokens}), 'token')}"
    for token_id, token in enumerate(reserved):
        yield f"{token_id:8}  {display(token)}"
    for token_id, (token, score) in enumerate(learnt, len(reserved)):
        yield f"{token_id:8}  {display(token)}  {score:.4f}"


def _without(before: Collection[str], tokens: Collection[str]) -> str:
    gone = [display(token) for token in before if token not in tokens]
    return "without " + " ".join(islice(gone, 8)) + (" ..." if len(gone) > 8 else "") if gone else ""
