"""Record a training run step by step, with the candidates of each step: pairs by count or score, tokens by loss.

Every step recounts everything, so all candidates are known; ``most`` limits how many are kept. Among equals, the one
that the rule for ties selects comes first, so the first candidate of a merge is the one that was taken.

Length: a function for each kind of training.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from typing import Any

from bpe_cli.teaching import bpe, unigram, wordpiece
from bpe_cli.teaching.frontier import picky
from bpe_cli.teaching.frontier.greedy_cover import Cover
from bpe_cli.teaching.maxmatch import Round, learn
from bpe_cli.teaching.steps import (
    ByteIds,
    Candidate,
    Change,
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
    Symbol,
    ThresholdSearch,
    UseCounts,
    by_count,
)


def record(steps: Steps, most: int | None = 10) -> Record:
    """Record a training run, which goes on as the steps are consumed.

    Args:
        steps: The training run.
        most: How many candidates to keep for each step; None for all.

    >>> step = next(record(bpe.train({("l", "o", "w"): 2})).steps)
    >>> [("".join(each.parts), each.count, each.taken, each.tied) for each in step.candidates]
    [('lo', 2, True, False), ('ow', 2, False, True)]
    """
    match steps:
        case wordpiece.Training():
            return Record("scores", _counted(steps.words), _by_score(steps, most), _in_use(steps.words), tie=steps.tie)
        case picky.Training():
            words = steps.counted()
            return Record("events", _counted(words), _events(steps, most), _in_use(words), tie="lowest-ids")
        case NumberedPieces():
            return Record("pieces", _sorted(steps.counts), iter(()), vocabulary=_numbered(steps))
        case ByteIds():
            return Record("bytes", (), iter(()), vocabulary=_byte_entries(steps))
        case ScoredPieces():
            entries = tuple(Entry(at, piece, score=score) for at, (piece, score) in enumerate(steps.pieces))
            return Record("scored-pieces", (), iter(()), vocabulary=entries)
        case ThresholdSearch():
            return Record("thresholds", (), _thresholds(steps))
        case Joining():
            lines = tuple(Counted(tuple(line), 1) for line in steps.lines)
            entries = tuple(Entry(at, token) for at, token in enumerate(steps.tokens))
            return Record("rounds", lines, _rounds(steps, most), vocabulary=entries)
        case Pruning():
            entries = _scored(steps.reserved, steps.tokens)
            return Record("losses", _sorted(steps.words), _losses(steps, most), vocabulary=entries)
        case Estimation():
            entries = _scored(steps.reserved, steps.tokens)
            return Record("estimation", _sorted(steps.words), _estimated(steps, most), vocabulary=entries)
        case UseCounts():
            numbered = _numbered(NumberedPieces(steps.tokens, list(steps.tokens), steps.reserved))
            return Record("estimation", _sorted(steps.words), _used(steps, most), vocabulary=numbered)
        case Covering():
            words_at_first = _pieces(steps.cover)
            return Record("cover", _counted(words_at_first), _placed(steps, most), _in_use(words_at_first))
    return Record("merges", _counted(steps.words), _merges(steps, most), _in_use(steps.words), tie=steps.tie)


def ranked(
    counts: Mapping[tuple[Any, Any], int], tie: bpe.Tie, ids: Mapping[Any, int]
) -> list[tuple[tuple[Any, Any], int]]:
    """Sort pairs: the most frequent first, equally frequent ones by the rule for ties.

    >>> counts = {("b", "a"): 2, ("c", "a"): 2, ("a", "b"): 2, ("a", "c"): 1}
    >>> for tie in ("lowest-ids", "first-seen", "largest-text"):
    ...     print(*("".join(pair) for pair, _ in ranked(counts, tie, {"a": 0, "b": 1, "c": 2})))
    ab ba ca ac
    ba ca ab ac
    ca ba ab ac
    """
    pairs = list(counts.items())
    if tie == "largest-text":
        pairs.sort(reverse=True)
    elif tie == "lowest-ids":
        pairs.sort(key=lambda item: (ids[item[0][0]], ids[item[0][1]]))
    return sorted(pairs, key=lambda item: -item[1])


def ranked_by_score(step: wordpiece.Step, tie: wordpiece.ScoreTie) -> list[tuple[wordpiece.Pair, Fraction]]:
    """Sort pairs: the highest score first, equal scores by the rule for ties.

    >>> step = next(iter(wordpiece.train({"hug": 2, "hugs": 1}, 6)))
    >>> [("".join(pair), str(score)) for pair, score in ranked_by_score(step, "most-frequent")]
    [('##u##g', '1/3'), ('h##u', '1/3'), ('##g##s', '1/3')]
    """
    symbols = step.symbols
    scored = [(pair, Fraction(count, symbols[pair[0]] * symbols[pair[1]])) for pair, count in step.counts.items()]
    if tie == "most-frequent":
        scored.sort(key=lambda item: (-step.counts[item[0]], item[0]))
    return sorted(scored, key=lambda item: -item[1])


# -- one kind of training each ---------------------------------------------------------------------


def _merges(training: bpe.Training[Any], most: int | None) -> Iterator[RecordedStep]:
    """Yield the merges of training by count."""
    words = training.words
    ids = {token: token_id for token_id, token in enumerate(training.initial) if token}
    for step in training:
        first, *others = (
            Candidate(pair, training.join(*pair), count, taken=pair == step.pair)
            for pair, count in (ranked(step.counts, training.tie, ids) if most != 0 else [(step.pair, step.count)])
        )
        tied = sum(1 for count in step.counts.values() if count == step.count) - 1
        yield RecordedStep(
            "merge", step.number, (first,), _best(first, others, tied, most), len(step.counts), tied,
            _changes(words, step.pair, step.product), _in_use(step.words), step.vocabulary_size,
            step.vocabulary_change, step.token_id,
        )  # fmt: skip
        ids.setdefault(step.product, step.token_id)
        words = step.words


def _placed(covering: Covering, most: int | None) -> Iterator[RecordedStep]:
    """Yield the tokens that are placed."""
    cover = covering.cover
    before = _pieces(cover)
    for number in range(1, covering.tokens + 1):
        best = cover.best()
        if best is None:
            return
        first, *others = (
            Candidate((token,), token, score, taken=token == best.token)
            for token, score in (cover.ranked() if most != 0 else [(best.token, best.score)])
        )
        tied = sum(1 for score in cover.scores.values() if score == best.score) - 1
        count = sum(1 for score in cover.scores.values() if score)
        cover.place(best.token)
        after = _pieces(cover)
        changes = (
            Change(_parts_of(old, new), new, times)
            for (old, times), new in zip(before.items(), after, strict=True)
            if old != new
        )
        in_use, earlier = _in_use(after), _in_use(before)
        yield RecordedStep(
            "placement", number, (first,), _best(first, others, tied, most), count, tied, tuple(changes), in_use,
            len(in_use), len(in_use) - len(earlier), covering.first_id + number - 1,
        )  # fmt: skip
        before = after


def _pieces(cover: Cover) -> dict[tuple[bytes, ...], int]:
    """Return the words, as their pieces, with their counts."""
    return {cover.pieces(number): count for number, count in enumerate(cover.counts)}


def _events(training: picky.Training, most: int | None) -> Iterator[RecordedStep]:
    """Yield merges, and the splits of tokens that are taken back."""
    events = training.events()
    size = len(_in_use(training.counted()))
    number = 0
    while True:
        words, counts = training.counted(), dict(training.allowed())
        ids = {token: each.token_id for token, each in training.tokens.items()}
        event = next(events, None)
        if event is None:
            return
        number += 1
        in_use = _in_use(training.counted())
        change, size = len(in_use) - size, len(in_use)
        if isinstance(event, picky.Split):
            left = bpe.count_symbols(words).get(event.token, 0)
            split = Candidate(event.parts, event.token, left, taken=True)
            changes = tuple(_split(word, event, count) for word, count in words.items() if event.token in word)
            yield RecordedStep("split", number, (split,), changes=changes, tokens=in_use, size=size, size_change=change)
            continue
        first, *others = (
            Candidate(pair, "".join(pair), count, taken=pair == event.pair)
            for pair, count in (ranked(counts, "lowest-ids", ids) if most != 0 else [(event.pair, event.count)])
        )
        tied = sum(1 for count in counts.values() if count == event.count) - 1
        yield RecordedStep(
            "merge", number, (first,), _best(first, others, tied, most), len(counts), tied,
            _changes(words, event.pair, "".join(event.pair)), in_use, size, change,
        )  # fmt: skip


def _split(word: tuple[str, ...], split: picky.Split, count: int) -> Change:
    """Return how a word changes when one of its tokens is split."""
    nothing: tuple[str, ...] = ()
    rest = [nothing] * (len(split.parts) - 1)
    parts = (((each,), *rest) if each == split.token else ((each,),) for each in word)
    return Change(tuple(chain.from_iterable(parts)), picky.split_word(word, split.token, split.parts), count)


def _by_score(training: wordpiece.Training, most: int | None) -> Iterator[RecordedStep]:
    """Yield the merges of training by score."""
    words = training.words
    for step in training:
        pairs = ranked_by_score(step, training.tie)
        first, *others = (
            Candidate(
                pair, wordpiece.join(pair, training.prefix), step.counts[pair], step.symbols[pair[0]],
                step.symbols[pair[1]], score, taken=pair == step.pair,
            )
            for pair, score in pairs
        )  # fmt: skip
        tied = sum(1 for _, score in pairs if score == step.score) - 1
        in_use = _in_use(step.words)
        yield RecordedStep(
            "merge", step.number, (first,), _best(first, others, tied, most), len(pairs), tied,
            _changes(words, step.pair, step.product), in_use, len(in_use), len(in_use) - len(step.symbols),
            step.token_id,
        )  # fmt: skip
        words = step.words


def _rounds(joining: Joining, most: int | None) -> Iterator[RecordedStep]:
    """Yield the rounds in which neighbours are joined."""
    lines: Sequence[Sequence[str]] = joining.lines
    for each in learn(lines, joining.rounds, joining.rules):
        changes = tuple(
            Change(_parts_of(before, after), tuple(after), 1)
            for before, after in zip(lines, each.lines, strict=True)
            if list(before) != list(after)
        )
        joined = {word for change in changes for word, parts in change.aligned() if len(parts) > 1}
        candidates = _of_round(each, joined)
        taken = tuple(candidate for candidate in candidates if candidate.taken)
        words = bpe.count_symbols({tuple(line): 1 for line in map(tuple, each.lines)})
        yield RecordedStep(
            "round", each.number, taken, candidates[:most], len(candidates), 0, changes,
            tuple(Counted((word,), count) for word, count in words.items()), len(words), threshold=each.threshold,
        )  # fmt: skip
        lines = each.lines


def _of_round(each: Round, joined: set[Symbol]) -> tuple[Candidate, ...]:
    return tuple(Candidate((word,), word, count, taken=word in joined) for word, count in each.words)


def _parts_of(before: Sequence[Symbol], after: Sequence[Symbol]) -> tuple[tuple[Symbol, ...], ...]:
    """Return the words from which each word of a line was joined, or the pieces that each piece covers."""
    left = iter(before)
    found = []
    for word in after:
        parts = [next(left)]
        while sum(map(len, parts)) < len(word):
            parts.append(next(left))
        found.append(tuple(parts))
    return tuple(found)


def _losses(pruning: Pruning, most: int | None) -> Iterator[RecordedStep]:
    """Yield the rounds that drop the least useful tokens, each with the cost of doing without a token."""
    before: Mapping[str, int] = {}
    for number, tokens in enumerate(pruning.rounds):
        if not number:
            yield RecordedStep("seeds", 0, **_left(pruning.words, unigram.costs(tokens)), size_change=len(tokens))
            before = tokens
            continue
        losses = unigram.losses(pruning.words, unigram.costs(before)) if most != 0 else {}
        taken, candidates, tied = _dropped(losses, [token for token in before if token not in tokens])
        yield RecordedStep(
            "pruning", number, taken, candidates[:most], len(candidates), tied,
            **_left(pruning.words, unigram.costs(tokens)), size_change=len(tokens) - len(before),
        )  # fmt: skip
        before = tokens


def _left(words: Mapping[str, int], costs: Mapping[str, float]) -> dict[str, Any]:
    """Return the tokens that are left, and what the corpus costs with them."""
    tokens = tuple(Entry(at, token, score=-cost) for at, (token, cost) in enumerate(costs.items()))
    return {"tokens": tokens, "size": len(tokens), "cost": unigram.corpus_cost(words, costs)}


def _estimated(estimation: Estimation, most: int | None) -> Iterator[RecordedStep]:
    """Yield the steps of expectation maximisation and pruning."""
    before: Mapping[str, float] = {}
    number = 1
    for step, tokens in estimation.rounds:
        gone = [token for token in before if token not in tokens]
        losses: Mapping[str, float] = {}
        if step == "pruning" and most != 0:
            losses = unigram.likelihood_losses(estimation.words, before)
        taken, candidates, tied = _dropped(losses, gone)
        kind: Any = step
        yield RecordedStep(
            kind, 0 if step == "seeds" else number, taken, candidates[:most], len(candidates), tied,
            tokens=tuple(Entry(at, token, score=score) for at, (token, score) in enumerate(tokens.items())),
            size=len(tokens), size_change=len(tokens) - len(before),
        )  # fmt: skip
        number += step == "pruning"
        before = tokens


def _used(training: UseCounts, most: int | None) -> Iterator[RecordedStep]:
    """Yield the rounds that count uses, and those that drop the least used tokens."""
    before: Mapping[str, int] = {}
    number = 1
    for step, tokens in training.rounds:
        gone = [token for token in before if token not in tokens]
        uses: Mapping[str, int] = before if step == "pruning" else {}
        taken = tuple(Candidate((token,), token, uses.get(token, 0), taken=True) for token in gone)
        last = max((each.count or 0 for each in taken), default=None)
        candidates: tuple[Candidate, ...] = ()
        if most != 0:
            learnt = [(token, count) for token, count in uses.items() if len(token) > 1]
            candidates = tuple(
                Candidate((token,), token, count, taken=token not in tokens, tied=token in tokens and count == last)
                for token, count in sorted(learnt, key=lambda item: (item[1], item[0] in tokens))
            )
        yield RecordedStep(
            step, 0 if step == "seeds" else number, taken, candidates[:most], len(candidates),
            sum(1 for each in candidates if each.tied),
            tokens=tuple(Entry(at, token, count) for at, (token, count) in enumerate(tokens.items())),
            size=len(tokens), size_change=len(tokens) - len(before),
        )  # fmt: skip
        number += step == "pruning"
        before = tokens


def _dropped(
    losses: Mapping[str, float], gone: Sequence[str]
) -> tuple[tuple[Candidate, ...], tuple[Candidate, ...], int]:
    """Return the dropped tokens, all candidates in the order of their losses, and how many of them are tied."""
    dropped = set(gone)
    last = max((losses[token] for token in gone if token in losses), default=None)
    candidates = tuple(
        Candidate(
            (token,), token, loss=loss, taken=token in dropped, tied=token not in dropped and loss == last
        )
        for token, loss in sorted(losses.items(), key=lambda item: (item[1], item[0] not in dropped))
    )  # fmt: skip
    taken = tuple(Candidate((token,), token, loss=losses.get(token), taken=True) for token in gone)
    return taken, candidates, sum(1 for each in candidates if each.tied)


def _thresholds(search: ThresholdSearch) -> Iterator[RecordedStep]:
    """Yield the thresholds that are tried."""
    for number, (threshold, vocabulary) in enumerate(search.tried, 1):
        tokens = tuple(Entry(at, token) for at, token in enumerate(vocabulary))
        yield RecordedStep("threshold", number, tokens=tokens, size=len(tokens), threshold=threshold)


# -- words and vocabularies ------------------------------------------------------------------------


def _best(first: Candidate, others: Sequence[Candidate], tied: int, most: int | None) -> tuple[Candidate, ...]:
    """Return the first candidates; tied ones come right after the first one."""
    marked = (replace(each, tied=True) for each in others[:tied])
    return (first, *marked, *others[tied:])[:most]


def _changes(words: Mapping[tuple[Any, ...], int], pair: tuple[Any, Any], product: Symbol) -> tuple[Change, ...]:
    """Return the words that contain a pair, before and after."""
    merged = ((word, bpe.merge_word(word, pair, product), count) for word, count in words.items())
    return tuple(Change(_merged_from(before, pair), after, count) for before, after, count in merged if before != after)


def _merged_from(word: tuple[Any, ...], pair: tuple[Any, Any]) -> tuple[tuple[Symbol, ...], ...]:
    """Return the symbols that each symbol was merged from: the pair from left to right, never overlapping.

    >>> _merged_from(("a", "a", "a"), ("a", "a"))
    (('a', 'a'), ('a',))
    """
    found: list[tuple[Symbol, ...]] = []
    place = 0
    while place < len(word):
        size = 2 if word[place : place + 2] == pair else 1
        found.append(word[place : place + size])
        place += size
    return tuple(found)


def _in_use(words: Mapping[tuple[Any, ...], int]) -> tuple[Counted, ...]:
    return tuple(Counted((symbol,), count) for symbol, count in bpe.count_symbols(words).items())


def _counted(words: Mapping[tuple[Any, ...], int]) -> tuple[Counted, ...]:
    return tuple(Counted(word, count) for word, count in words.items())


def _sorted(counts: Mapping[str, int]) -> tuple[Counted, ...]:
    return tuple(Counted((piece,), count) for piece, count in by_count(counts))


def _numbered(pieces: NumberedPieces) -> tuple[Entry, ...]:
    specials = [Entry(at, special) for at, special in enumerate(pieces.specials)]
    chosen = (Entry(at, piece, pieces.counts[piece]) for at, piece in enumerate(pieces.chosen, len(specials)))
    return (*specials, *chosen)


def _byte_entries(ids: ByteIds) -> tuple[Entry, ...]:
    every_byte = [bytes([byte]) for byte in range(256)]
    ordered: list[Symbol] = [*ids.specials, *every_byte] if ids.special_first else [*every_byte, *ids.specials]
    return tuple(Entry(at, token) for at, token in enumerate(ordered))


def _scored(reserved: Sequence[str], tokens: Mapping[str, float]) -> tuple[Entry, ...]:
    """Return the reserved tokens, then the learnt ones with their scores, except those that equal a reserved one."""
    learnt = [(token, score) for token, score in tokens.items() if token not in reserved]
    first = (Entry(at, token) for at, token in enumerate(reserved))
    return (*first, *(Entry(at, token, score=score) for at, (token, score) in enumerate(learnt, len(reserved))))
