"""Show how a tokenizer arrived at the tokens of a text: piece by piece, step by step.

Written like a training's steps (``bpe train --steps``). Where there is colour or bold type, what a step
made stands out; nothing is said by that alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len

from bpe_cli.reports.text.steps import SplitStep
from bpe_cli.reports.text.steps.record import readable
from bpe_cli.stages import ALGORITHMS
from bpe_cli.views.blocks import Gap, Hanging, Line
from bpe_cli.views.labels import count, fraction, whole
from bpe_cli.views.visible import BAR, visible

if TYPE_CHECKING:
    from bpe_cli.reports.text.steps import (
        CutWalk,
        LatticeWalk,
        LookUpWalk,
        MatchStep,
        MatchWalk,
        MergeStep,
        MergeWalk,
        Rival,
        Row,
        Spelling,
        Steps,
        StepToken,
        Symbols,
        Walk,
    )
    from bpe_cli.views.blocks import Block, Part, Screen


RULES = {
    "bpe-ranks": "a piece that is a token is used as it is; otherwise the neighbouring pair whose token has the lowest "
    "rank is merged, again and again",
    "bpe-merges": "the neighbouring pair with the lowest rank in the list of merges is merged, again and again",
    "bpe-characters": "the neighbouring pair with the lowest rank in the list of merges is merged, again and again",
    "bpe-events": "a piece that is a token may be used as it is; otherwise each event of the list, in order, merges a "
    "pair or splits a token",
    "bpe-scores": "the neighbouring pair whose token has the highest score is merged, again and again",
    "wordpiece": "the longest token at the start of the rest is taken, again and again; if there is none, the whole "
    "piece is unknown",
    "word-level": "each piece is looked up as a whole",
    "unigram": "of all segmentations of a piece, the one with the highest sum of scores is taken",
    "longest-match": "the longest tokens are taken, from the left or wherever they occur",
    "fewest-tokens": "of all segmentations of a word, the one with the fewest tokens is taken: each token scores -1",
    "max-match": "the longest token at the start of the rest is taken, or else one character, again and again",
    "greedy-cover": "tokens are laid over the piece in the order of their ids, unless they would cut one that is "
    "already there; the rest becomes single characters",
    "n-gram": "every character begins an n-gram, which is looked up",
}
"""How each kind of model chooses, in one sentence."""

MOST = 24
"""Tokens of one line, and characters without a token, that are shown unless all are asked for."""

_MADE = "bold reverse"
_HEADING = "bold"
_LONGEST_TEXT = 60  # characters of a piece that its heading shows
_MOST_FITS = 6  # tokens shown of those that fit at one place
_LABEL = 10  # columns before what a line says

_WAYS = {
    "bytes": "has no token, and becomes its bytes:",
    "unknown": "has no token, and is unknown:",
    "fused": "has no token, and joins the unknown text before it",
    "left out": "has no token, and is left out",
    "taken back": "serves only for merging, and is split into its parts again",
}

_BECOMES = {"unknown": "is unknown", "fused": "is unknown, together with the text before it", "left out": "is left out"}


class StepsView:
    """Show the steps of a text."""

    def __init__(self, steps: Steps, *, full: bool = False) -> None:
        """Show steps; ``full`` leaves nothing of them out."""
        self._steps = readable(steps)
        self._most = None if full else MOST

    def blocks(self, screen: Screen) -> Iterator[Block]:
        """Yield the blocks for a screen."""
        steps, noun = self._steps, "word" if self._steps.words else "piece"
        yield Hanging(Line(f"{ALGORITHMS[steps.model]}: {RULES[steps.model]}"))
        if steps.words:
            yield Hanging(Line("no token crosses a space, so pieces are shown word by word"))
        for row in steps.rows:
            yield Gap()
            yield from _row(row, noun, screen.width, self._most)
        yield Gap()
        if steps.more:
            more = f"and {count(steps.more, f'more {noun}')}: --full shows all"
            yield Hanging(Line(more))
        if steps.differs_at is not None:
            at = steps.rows[steps.differs_at].number if steps.differs_at < len(steps.rows) else None
            where = "" if at is None else f"{noun} {at}: "
            wrong = f"{where}the steps and the tokenizer give different tokens"
            yield Hanging(Line(f"{wrong}: this is a bug in bpe, please report it"))
        parts = [count(steps.piece_count, noun)]
        if steps.row_count > steps.piece_count:
            between_tags = any(row.walk is not None and row.walk.family == "between-tags" for row in steps.rows)
            other = "other token" if between_tags else "special or added token"
            parts.append(count(steps.row_count - steps.piece_count, other))
        parts += [count(steps.token_count, "token"), count(steps.byte_count, "byte")]
        yield Hanging(Line(", ".join(parts)))


def _row(row: Row, noun: str, width: int, most: int | None) -> Iterator[Block]:
    """Show a piece or a special token."""
    if row.special is not None:
        what = f"looked up as {_brief(row.special.content)}" if row.walk is not None else "a special or added token"
        said = f"  {what}, id {row.special.token_id}"
        yield Hanging(Line((f"token ⟦{_brief(row.text)}⟧", _HEADING), said))
        return
    shown, walk = _brief(row.text), row.walk
    if row.fused:
        yield _heading(row, noun, shown, f"unknown, and one token with the unknown {noun} before it")
    elif walk is None:
        yield _heading(row, noun, shown, f"as {noun} {row.same_as}: {_tokens(row.tokens, most)}")
    elif walk.family == "merges" and walk.whole is not None:
        yield _heading(row, noun, shown, f"a token itself, id {walk.whole.token_id}")
        if walk.steps or walk.merged != walk.tokens:
            same = walk.merged == walk.tokens
            yield _line("", f"looked up before any merging, which would give {'the same' if same else 'other tokens'}:")
            yield from _merges(walk, width, most)
            if not same:
                yield _line("merged", _tokens(walk.merged, most))
    elif walk.family == "look-up" and walk.n is None:
        yield _heading(row, noun, shown, *_looked_up(walk))
    else:
        yield _heading(row, noun, shown, count(len(walk.tokens), "token"))
        yield from _walk(walk, width, most)
        yield _line("tokens", _tokens(walk.tokens, most))


def _walk(walk: Walk, width: int, most: int | None) -> Iterator[Block]:
    if walk.family == "merges":
        yield from _merges(walk, width, most)
    elif walk.family == "longest-from-left":
        yield from _matches(walk)
    elif walk.family == "longest-anywhere" or walk.family == "cover":
        yield from _cuts(walk, most)
    elif walk.family == "look-up":
        yield from _look_ups(walk)
    elif walk.family == "lattice":
        yield from _lattice(walk, most)
    elif walk.family == "left-out":
        yield _line("", f"the steps are left out: {walk.reason}")


# -- merges ------------------------------------------------------------------------------------------


def _merges(walk: MergeWalk, width: int, most: int | None) -> Iterator[Block]:
    yield from _spellings(walk.spelt, most)
    merges = [done_in(step) for step in walk.steps]
    pair_width = max(map(cell_len, merges), default=0)
    symbols = [_symbols(walk.start), *(_symbols(step.symbols) for step in walk.steps)]
    beside = bool(merges) and _LABEL + pair_width + 3 + max(cell_len(str(each)) for each in symbols) <= width
    yield _line("start", " " * (pair_width + 3 if beside else 0), symbols[0])
    for number, (pair, after) in enumerate(zip(merges, symbols[1:], strict=True), start=1):
        if beside:
            yield _line(f"step {number}", _padded(pair, pair_width + 3), after)
        else:
            yield _line(f"step {number}", pair)
            yield _line("", after)
        yield from _rivals(walk.steps[number - 1])
    if walk.more:
        yield _more(walk.more, noun_of(walk))
    yield from _spellings(walk.ends, most)


def noun_of(walk: MergeWalk) -> str:
    """Return what the steps of a walk are called."""
    return "step" if any(isinstance(step, SplitStep) for step in walk.steps) else "merge"


def done_in(step: MergeStep | SplitStep) -> str:
    """Write what merges, or what is taken apart."""
    if isinstance(step, SplitStep):
        return f"{visible(step.token)} -> {' + '.join(map(visible, step.parts))}, rank {whole(step.rank)}"
    chosen = f"rank {chosen_by(step)}" if step.score is None else f"score {chosen_by(step)}"
    return f"{visible(step.left)} + {visible(step.right)} -> {visible(step.product)}, {chosen}"


def chosen_by(step: MergeStep | SplitStep | Rival) -> str:
    """Write the rank or the score that a pair is chosen by."""
    return whole(step.rank) if isinstance(step, SplitStep) or step.score is None else _score(step.score, 0)


def said_of(rival: Rival) -> str:
    """Describe the fate of a pair: whether it is taken or tied, and at how many places it occurs."""
    places = f"at {rival.times} places" if rival.times > 1 else ""
    return ", ".join(filter(None, ("taken" if rival.taken else "tied" if rival.tied else "", places)))


def _rivals(step: MergeStep | SplitStep) -> Iterator[Block]:
    """List the pairs that could merge."""
    if isinstance(step, SplitStep):
        return
    pairs = [f"{visible(each.left)} + {visible(each.right)}" for each in step.candidates]
    numbers = list(map(chosen_by, step.candidates))
    wide, right = max(map(cell_len, pairs), default=0), max(map(len, numbers), default=0)
    for place, (pair, number, each) in enumerate(zip(pairs, numbers, step.candidates, strict=True)):
        line = f"{_padded(pair, wide)}  {number:>{right}}  {said_of(each)}".rstrip()
        yield _line("" if place else "pairs", line)
    if step.candidates and step.candidate_count > len(step.candidates):
        yield _more(step.candidate_count - len(step.candidates), "pair")


def _symbols(symbols: Symbols, between: str = " ") -> Line:
    """Write symbols on a line, the one at issue so that it stands out."""
    parts: list[Part] = [f"({whole(symbols.before)} before) "] if symbols.before else []
    for number, content in enumerate(symbols.contents):
        shown = visible(content, bars=between == BAR)
        parts += [between if number else "", (shown, _MADE if number == symbols.at else "")]
    return Line(*parts, f" ({whole(symbols.after)} after)" if symbols.after else "")


def _spellings(spellings: Sequence[Spelling], most: int | None) -> Iterator[Block]:
    """Describe the parts that become tokens in another way."""
    for spelling in spellings[:most]:
        becomes = _tokens(spelling.tokens, most) if spelling.tokens and spelling.way != "taken back" else ""
        times = f" ({whole(spelling.times)} times)" if spelling.times > 1 else ""
        yield _line("", f"{visible(spelling.text)} {_WAYS[spelling.way]} {becomes}{times}")
    if most is not None and len(spellings) > most:
        yield _more(len(spellings) - most, "text")


# -- longest tokens ----------------------------------------------------------------------------------


def _matches(walk: MatchWalk) -> Iterator[Block]:
    if walk.too_long is not None:
        limit = count(walk.limit or 0, "character")
        yield _line("", f"{whole(walk.too_long)} characters: a piece of more than {limit} is unknown")
        return
    for number, step in enumerate(walk.steps, start=1):
        yield _line(f"step {number}", _match(step))
        yield _line("", _tried(step))
    if walk.more:
        yield _more(walk.more, "step")
    if walk.dead_end:
        yield _line("", "so the whole piece is unknown, whatever was taken before")


def _match(step: MatchStep) -> Line:
    """Write the match, a bar, and the rest."""
    dots = f"... ({whole(step.cut)} more)" if step.cut else ""
    if step.way != "token" or step.taken is None:
        return Line(f"{visible(step.rest, bars=True)}{dots}")
    taken = step.taken.content
    left = step.rest[len(taken) :] if step.rest.startswith(taken) else b""
    return Line((visible(taken, bars=True), _MADE), BAR, visible(left, bars=True), dots)


def _tried(step: MatchStep) -> str:
    tried = f"{count(step.tried, 'beginning')} tried"
    if step.way == "token":
        names = " ".join(visible(token.content) for token in step.fits[:_MOST_FITS])
        more = f" and {len(step.fits) - _MOST_FITS} shorter" if len(step.fits) > _MOST_FITS else ""
        verb = "fits" if len(step.fits) == 1 else "fit"
        return f"{tried}; {len(step.fits)} {verb}: {names}{more}"
    if step.way == "unknown" and step.taken is None:  # and with it the whole piece
        return f"{tried}, none is a token"
    return f"{tried}, none is a token: {visible(step.text)} {_BECOMES[step.way]}"


def _cuts(walk: CutWalk, most: int | None) -> Iterator[Block]:
    for number, step in enumerate(walk.steps, start=1):
        yield _line(f"step {number}", _symbols(step.parts, BAR))
        yield _line("", f"{visible(step.token.content)}, number {whole(step.number + 1)} of those tried")
    if walk.more:
        yield _more(walk.more, "step")
    yield from _spellings(walk.ends, most)


# -- looking up --------------------------------------------------------------------------------------


def _looked_up(walk: LookUpWalk) -> Iterator[str]:
    for step in walk.steps:
        yield f"a token, id {step.token.token_id}" if step.known else f"no token, so unknown: {_token(step.token)}"


def _look_ups(walk: LookUpWalk) -> Iterator[Block]:
    wide = max((cell_len(visible(step.text)) for step in walk.steps), default=0)
    for number, step in enumerate(walk.steps, start=1):
        result = f"id {step.token.token_id}" if step.known else f"no token, so unknown: {_token(step.token)}"
        yield _line(f"step {number}", f"{_padded(visible(step.text), wide)}  {result}")
    if walk.more:
        yield _more(walk.more, "n-gram")


# -- the lattice -------------------------------------------------------------------------------------


def _lattice(walk: LatticeWalk, most: int | None) -> Iterator[Block]:
    yield from _places(walk)
    if walk.more:
        yield _more(walk.more, "place")
    if any(way.token_id is None for place in walk.places for way in place.ways):
        below = f", {walk.penalty:g} below the lowest of all tokens" if walk.penalty else ""
        yield _line("", f"an unknown character scores {_score(walk.unknown_score)}{below}")
    yield _line("path", f"{_score(walk.score)}  {_cut_up((way.text for way in walk.path), most)}")
    yield from _spellings(walk.ends, most)
    scores = [_score(each.score) for each in walk.ranked]
    wide = max(map(len, scores), default=0)
    for number, (each, score) in enumerate(zip(walk.ranked, scores, strict=True), start=1):
        tokens = _cut_up((token.content for token in each.tokens), most)
        yield _line(f"best {number}", f"{score:>{wide}}  p {_probability(each.probability)}  {tokens}")
    if len(walk.ranked) < walk.wanted:
        yield _line("", "there are no more segmentations")


def _places(walk: LatticeWalk) -> Iterator[Block]:
    """List the tokens that end at each place, or begin there."""
    ways = [way for place in walk.places for way in place.ways]
    wide = max([5, *(cell_len(visible(way.text)) for way in ways)])
    score = max([5, *(len(_score(way.score)) for way in ways)])
    total = max([8, *(len(_score(way.total)) for way in ways)])
    beside = "  to" if walk.from_end else "from"
    yield _line("place", f"{_padded('token', wide)}  {'score':>{score}}   {beside}  {'best sum':>{total}}")
    for place in walk.places:
        for number, way in enumerate(place.ways):
            is_best = number == place.best
            shown = visible(way.text)
            length = len(way.text.decode("utf-8", "surrogateescape"))
            other = way.start + length if walk.from_end else way.start
            said = "".join(["  best"] * is_best + ["  unknown"] * (way.token_id is None))
            line = Line(
                (shown, _MADE if is_best else ""),
                " " * (wide - cell_len(shown)),
                f"  {_score(way.score):>{score}}  {other:>5}  {_score(way.total):>{total}}{said}",
            )
            yield _line("" if number else f"{place.place:>5}", line)


def _score(score: float, digits: int = 4) -> str:
    return fraction(score, digits if score.is_integer() else 4)


def _probability(share: float) -> str:
    """Write a share of one; a small one by its order."""
    return f"{share:.4f}" if share >= 0.00005 else f"{share:.0e}"


def _cut_up(contents: Iterable[bytes], most: int | None) -> str:
    """Write texts with bars between."""
    shown = [visible(content, bars=True) for content in contents]
    more = f"{BAR}... ({whole(len(shown) - most)} more)" if most is not None and len(shown) > most else ""
    return BAR.join(shown[:most]) + more


# -- lines -------------------------------------------------------------------------------------------


def _line(label: str, *parts: Part) -> Hanging:
    return Hanging(Line(*parts), f"  {label}", max(_LABEL, len(label) + 3))


def _padded(text: str, width: int) -> str:
    """Fill a text up to a width of columns."""
    return text + " " * (width - cell_len(text))


def _heading(row: Row, noun: str, shown: str, *said: str) -> Hanging:
    said_so = f"  {', '.join(said)}" if said else ""
    return Hanging(Line((f"{noun} {row.number}: {shown}", _HEADING), said_so))


def _more(number: int, noun: str) -> Hanging:
    return _line("", f"and {count(number, f'more {noun}')}")


def _tokens(tokens: Sequence[StepToken], most: int | None) -> str:
    shown = "  ".join(map(_token, tokens[:most]))
    more = f"  and {count(len(tokens) - most, 'more token')}" if most is not None and len(tokens) > most else ""
    return (shown + more) or "none"


def _token(token: StepToken) -> str:
    return f"{visible(token.content)} {token.token_id}" if token.content else str(token.token_id)


def _brief(content: bytes) -> str:
    """Write a piece, or its beginning."""
    text = content[: 8 * _LONGEST_TEXT].decode("utf-8", "surrogateescape")[:_LONGEST_TEXT]
    beginning = text.encode("utf-8", "surrogateescape")
    more = len(content) - len(beginning)
    return visible(beginning) + (f"... ({count(more, 'more byte')})" if more else "")
