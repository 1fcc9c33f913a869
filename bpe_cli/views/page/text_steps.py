"""Write how a tokenizer arrived at the tokens of texts as a page for slides: a slide for each step of each piece.

What each family of models shows: merges the symbols before and after, and the pairs that could merge; a longest match
the tokens that fit; the lattice the tokens that end at a place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from bpe_cli.reports.text.steps import SplitStep
from bpe_cli.reports.text.steps.record import readable
from bpe_cli.stages import ALGORITHMS
from bpe_cli.views.labels import count, fraction, whole
from bpe_cli.views.page.markup import escape, name
from bpe_cli.views.page.page import foot, head
from bpe_cli.views.page.stepper import BAR, OWN, candidate_row, fate, slide, symbol, table
from bpe_cli.views.steps import RULES, chosen_by, noun_of, said_of

if TYPE_CHECKING:
    from bpe_cli.reports.text.steps import (
        CutWalk,
        LatticePlace,
        LatticeWalk,
        LookUpWalk,
        MatchWalk,
        MergeStep,
        MergeWalk,
        Row,
        Steps,
        StepToken,
        Symbols,
        Walk,
    )

Slide = tuple[str, list[str]]
"""The heading of a slide, and its parts, both as markup."""

MOST = 200
"""The most tokens of a piece that are shown."""


def steps_page(texts: Iterable[tuple[Steps, str | None]], *, tokenizer: str | None) -> Iterator[str]:
    """Write a page with the steps of texts, each with its title, if it has one."""
    yield from head(f"How {tokenizer or 'a tokenizer'} arrived at its tokens", "wide", OWN)
    yield BAR
    number = 0
    for steps, title in texts:
        for heading, parts in _slides(readable(steps), title):
            yield from slide(number, heading, parts)
            number += 1
    yield from foot(OWN)


def _slides(steps: Steps, title: str | None) -> Iterator[Slide]:
    """Yield the slides of a text: what it becomes, each step of each piece, and what is left out."""
    noun = "word" if steps.words else "piece"
    totals = ", ".join(
        (count(steps.piece_count, noun), count(steps.token_count, "token"), count(steps.byte_count, "byte"))
    )
    tokens = _tokens([token for row in steps.rows for token in row.tokens], steps.token_count)
    yield (
        name(title) if title else "Start",
        [_note(f"{ALGORITHMS[steps.model]}: {RULES[steps.model]}"), _note(totals), tokens],
    )
    for row in steps.rows:
        yield from _row(row, noun)
    if steps.more or steps.differs_at is not None:
        wrong = "the steps and the tokenizer give different tokens: this is a bug in bpe, please report it"
        said = [f"and {count(steps.more, f'more {noun}')}; --full shows all"] if steps.more else []
        yield "End", [_note(each) for each in (*said, *([wrong] if steps.differs_at is not None else []))]


def _row(row: Row, noun: str) -> Iterator[Slide]:
    """Yield the slides of a piece, or of a special token."""
    if row.special is not None:
        yield f"A special or added token: {symbol(row.text)}", [_tokens(row.tokens)]
        return
    where = f"{noun.capitalize()} {row.number}: {symbol(row.text)}"
    if row.walk is None:
        said = f"as {noun} {row.same_as}" if not row.fused else f"unknown, and one token with the {noun} before it"
        yield f"{where} <small>{said}</small>", [_tokens(row.tokens)]
        return
    yield from _walk(row.walk, where)


def _walk(walk: Walk, where: str) -> Iterator[Slide]:
    if walk.family == "merges":
        yield from _merges(walk, where)
    elif walk.family == "longest-from-left":
        yield from _matches(walk, where)
    elif walk.family == "longest-anywhere" or walk.family == "cover":
        yield from _cuts(walk, where)
    elif walk.family == "look-up":
        yield _look_ups(walk, where)
    elif walk.family == "lattice":
        yield from _lattice(walk, where)
    else:
        said = f"the steps are left out: {walk.reason}" if walk.family == "left-out" else "looked up as it stands"
        yield where, [_note(said), _tokens(walk.tokens)]


# -- merges ------------------------------------------------------------------------------------------


def _merges(walk: MergeWalk, where: str) -> Iterator[Slide]:
    start = [_symbols(walk.start)]
    if walk.whole is not None:
        start.append(_note(f"it is a token itself, id {walk.whole.token_id}, and taken before any merging"))
    start += [f"<p>{escape(spelling.way)}: {symbol(spelling.text)}</p>\n" for spelling in walk.spelt]
    if not walk.steps:
        start.append(_tokens(walk.tokens))
    yield f"{where} <small>start</small>", start
    before = walk.start
    for number, step in enumerate(walk.steps, 1):
        kind = "rank" if isinstance(step, SplitStep) or step.score is None else "score"
        done, parts = _split(before, step) if isinstance(step, SplitStep) else _merge(before, step, kind)
        if number == len(walk.steps):
            parts += _more(walk.more, noun_of(walk))
            parts.append(_tokens(walk.tokens))
        yield f"{where} <small>step {number}, {kind} {escape(chosen_by(step))}</small> {done}", parts
        before = step.symbols


def _merge(before: Symbols, step: MergeStep, kind: str) -> Slide:
    pair = f"{symbol(step.left, 'pair')} + {symbol(step.right, 'pair')} → {symbol(step.product, 'made')}"
    parts = [_symbols(before, _pair_in(before, step.symbols)), "<p>→</p>\n", _symbols(step.symbols)]
    parts += table("Pairs that could merge", "pairs", ("pair", "makes", kind, ""), _rivals(step))
    if step.candidate_count > len(step.candidates):
        parts.append(_note(f"and {count(step.candidate_count - len(step.candidates), 'more pair')}"))
    return pair, parts


def _split(before: Symbols, step: SplitStep) -> Slide:
    made = " + ".join(symbol(part, "made") for part in step.parts)
    places = _pair_in(before, step.symbols)[:1]
    parts = [_symbols(before, places), "<p>→</p>\n", _symbols(step.symbols)]
    return f"{symbol(step.token, 'pair')} → {made}", parts


def _pair_in(before: Symbols, after: Symbols) -> tuple[int, ...]:
    """Return the places of the two symbols that merged among those shown before."""
    if after.at is None:
        return ()
    at = after.before + after.at - before.before
    return at, at + 1


def _rivals(step: MergeStep) -> Iterator[str]:
    for each in step.candidates:
        pair = f"{symbol(each.left)} + {symbol(each.right)}"
        yield candidate_row(pair, symbol(each.product), escape(chosen_by(each)), escape(said_of(each)), fate(each))


# -- longest tokens, and looking up ------------------------------------------------------------------


def _matches(walk: MatchWalk, where: str) -> Iterator[Slide]:
    if walk.too_long is not None:
        limit = count(walk.limit or 0, "character")
        said = f"{whole(walk.too_long)} characters: a piece of more than {limit} is unknown"
        yield where, [_note(said), _tokens(walk.tokens)]
        return
    for number, step in enumerate(walk.steps, 1):
        taken = step.taken.content if step.way == "token" and step.taken is not None else b""
        left = step.rest[len(taken) :] if step.rest.startswith(taken) else b""
        boxes = (symbol(taken, "made") if taken else "") + (symbol(left) if left else "")
        boxes += f" ({whole(step.cut)} more)" if step.cut else ""
        rows = (
            candidate_row(symbol(fit.content), "", str(fit.token_id), said, said)
            for place, fit in enumerate(step.fits)
            for said in ("taken" if place == 0 and taken else "",)
        )
        parts = [f"<p>{boxes}</p>\n", _note(f"{count(step.tried, 'beginning')} tried")]
        parts += table("Tokens that fit", "pairs", ("token that fits", "", "id", ""), rows)
        if number == len(walk.steps):
            parts += _more(walk.more, "step")
            if walk.dead_end:
                parts.append(_note("so the whole piece is unknown, whatever was taken before"))
            parts.append(_tokens(walk.tokens))
        yield f"{where} <small>step {number}</small>", parts


def _cuts(walk: CutWalk, where: str) -> Iterator[Slide]:
    for number, step in enumerate(walk.steps, 1):
        parts = [_symbols(step.parts), _note(f"number {whole(step.number + 1)} of those tried")]
        if number == len(walk.steps):
            parts += _more(walk.more, "step")
            parts.append(_tokens(walk.tokens))
        yield f"{where} <small>step {number}</small> {symbol(step.token.content, 'made')}", parts
    if not walk.steps:
        yield where, [_tokens(walk.tokens)]


def _look_ups(walk: LookUpWalk, where: str) -> Slide:
    rows = (
        candidate_row(symbol(step.text), "", str(step.token.token_id), "" if step.known else "unknown")
        for step in walk.steps
    )
    shown = table("Texts that are looked up", "pairs", ("text", "", "id", ""), rows)
    return where, [*shown, *_more(walk.more, "n-gram"), _tokens(walk.tokens)]


# -- the lattice -------------------------------------------------------------------------------------


def _lattice(walk: LatticeWalk, where: str) -> Iterator[Slide]:
    for place in walk.places:
        yield f"{where} <small>place {place.place}</small>", list(_ways(place, walk.from_end))
    rows = (
        candidate_row(_boxes([token.content for token in each.tokens]), "", fraction(each.score, 4),
                      f"p {each.probability:.4g}")
        for each in walk.ranked
    )  # fmt: skip
    ranked = table("The best segmentations", "pairs", ("segmentation", "", "score", ""), rows)
    path = f"<p>{_boxes([way.text for way in walk.path], 'made')}</p>\n"
    parts = [*_more(walk.more, "place"), path, *ranked, _tokens(walk.tokens)]
    yield f"{where} <small>path, {fraction(walk.score, 4)}</small>", parts


def _ways(place: LatticePlace, from_end: bool) -> Iterator[str]:
    """Write the tokens that end at a place, or begin there: the best one is taken."""
    best = place.ways[place.best]
    rows = (
        candidate_row(
            symbol(way.text, "" if way.token_id is not None else "gone"), fraction(way.score, 4),
            fraction(way.total, 4), said, said,
        )
        for number, way in enumerate(place.ways)
        for said in ("taken" if number == place.best else "tied" if way.total == best.total else "",)
    )  # fmt: skip
    label = "Tokens that begin here" if from_end else "Tokens that end here"
    yield from table(label, "pairs", ("token", "score", "best sum", ""), rows)


# -- parts of slides ---------------------------------------------------------------------------------


def _symbols(symbols: Symbols, pair: Sequence[int] = ()) -> str:
    """Write symbols in a line, with a pair highlighted, or the symbol that was just made."""
    boxes = "".join(
        symbol(content, "pair" if number in pair else "made" if number == symbols.at and not pair else "")
        for number, content in enumerate(symbols.contents)
    )
    before = f"({whole(symbols.before)} before) " if symbols.before else ""
    after = f" ({whole(symbols.after)} after)" if symbols.after else ""
    return f"<p>{before}{boxes}{after}</p>\n"


def _boxes(contents: Sequence[bytes], kind: str = "") -> str:
    """Write texts in a line, and how many more there are."""
    return "".join(symbol(content, kind) for content in contents[:MOST]) + _left_out(len(contents) - MOST)


def _tokens(tokens: Sequence[StepToken], total: int | None = None) -> str:
    """Write tokens with their ids, and how many there are: ``total`` if the rest is not among them."""
    number = len(tokens) if total is None else total
    boxes = "".join(symbol(token.content, note=str(token.token_id)) for token in tokens[:MOST])
    return f"<p>{count(number, 'token')}: {boxes}{_left_out(number - len(tokens[:MOST]))}</p>\n"


def _left_out(tokens: int) -> str:
    return f" and {count(tokens, 'more token')}" if tokens > 0 else ""


def _more(number: int, noun: str) -> Iterator[str]:
    """Write how many steps of a piece have no slide, if there are any."""
    if number:
        yield _note(f"and {count(number, f'more {noun}')}; --full shows all")


def _note(said: str) -> str:
    return f'<p class="note">{escape(said)}</p>\n'
