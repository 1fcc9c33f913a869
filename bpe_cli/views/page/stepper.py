"""Write steps as a page for slides: each step with the words before and after it, and what competed.

A browser without scripts shows all steps, one below the other. With ``stepper.js`` it shows one at a time; the arrow
keys, a slider and the address (``#step-3``) choose which.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from bpe_cli.teaching.record import record
from bpe_cli.teaching.steps import Candidate, Change, Counted, Entry
from bpe_cli.views.labels import count, whole
from bpe_cli.views.page.markup import escape, marked
from bpe_cli.views.page.page import foot, head
from bpe_cli.views.training_steps import verdict, worth

if TYPE_CHECKING:
    from bpe_cli.reports.text.steps import Rival
    from bpe_cli.teaching.steps import Record, RecordedStep, Steps

Symbol = str | bytes

MOST_WORDS = 60
"""Words of a step that are shown, unless all are asked for."""
MOST_TOKENS = 300
"""Tokens of a step that are shown, unless all are asked for."""

OWN = "stepper"
"""The style and the script of these pages."""

BAR = """\
<nav id="slides" aria-label="Steps" hidden><button type="button" title="back: ←">◀</button>
<input type="range" min="0" max="0" value="0" step="1" aria-label="Step">
<output>1</output><button type="button" title="on: →">▶</button>
<button type="button" aria-pressed="false">all</button></nav>
"""


def training_page(steps: Steps, algorithm: str, most: int | None = 10) -> Iterator[str]:
    """Write the steps of a training as they are made, with up to so many candidates in each; None for all of all."""
    recorded = record(steps, most)
    writer = _Writer(full=most is None)
    yield from head(f"The training of {algorithm}, step by step", "wide", OWN)
    yield BAR
    if recorded.words or recorded.tokens:
        yield from slide(0, "Start", writer.start(recorded))
    number = 0
    for number, step in enumerate(recorded.steps, 1):
        yield from slide(number, writer.heading(step), writer.step(step))
    if recorded.vocabulary:
        heading = f"Vocabulary <small>{count(len(recorded.vocabulary), 'token')}</small>"
        yield from slide(number + 1, heading, writer.vocabulary(recorded.vocabulary))
    yield from foot(OWN)


def slide(number: int, heading: str, parts: Iterable[str]) -> Iterator[str]:
    """Write one step: a section with an address."""
    yield f'<section class="step" id="step-{number}">\n<h2>{heading}</h2>\n'
    yield from parts
    yield "</section>\n"


def symbol(content: Symbol, kind: str = "", note: str = "") -> str:
    """Write a symbol in a box, with a note under it.

    >>> symbol(b"a<", "made")
    '<span class="sym made">a&lt;</span>'
    """
    text = content if isinstance(content, str) else content.decode("utf-8", "surrogateescape")
    said = f"<small>{escape(note)}</small>" if note else ""
    return f'<span class="sym{" " + kind if kind else ""}">{marked(text)}{said}</span>'


def before_and_after(change: Change) -> tuple[str, str]:
    """Write a word before and after a step, with what was merged and its product highlighted.

    >>> before, after = before_and_after(Change((("a", "a"), ("a",)), ("aa", "a"), 1))
    >>> before.count("pair"), after.count("made")
    (2, 1)
    """
    before, after = [], []
    for made, parts in change.aligned():
        is_new = len(parts) > 1
        before += [symbol(part, "pair" if is_new else "") for part in parts]
        after.append(symbol(made, "made" if is_new else ""))
    return "".join(before), "".join(after)


def fate(each: Candidate | Rival) -> str:
    """Return the kind of a row: ``taken``, ``tied`` or neither."""
    return "taken" if each.taken else "tied" if each.tied else ""


def table(label: str, kind: str, headers: Sequence[str], rows: Iterable[str]) -> Iterator[str]:
    """Write a table of rows that are written already, as a region with a label."""
    yield f'<div class="scroll" role="region" tabindex="0" aria-label="{label}"><table class="{kind}">\n'
    yield f"<thead><tr>{''.join(f'<th scope=col>{each}</th>' for each in headers)}</tr></thead><tbody>\n"
    yield from rows
    yield "</tbody></table></div>\n"


def candidate_row(parts: str, product: str, worth: str, said: str, kind: str = "") -> str:
    """Write a row of what competed: the candidate, what it would make, its worth, and its fate.

    Its kind is that of ``fate``.
    """
    attribute = f' class="{kind}"' if kind else ""
    cells = f'<td>{parts}</td><td class="start">{product}</td><td>{worth}</td><td class="said">{said}</td>'
    return f"<tr{attribute}>{cells}</tr>\n"


class _Writer:
    """Write the steps of one training."""

    def __init__(self, *, full: bool) -> None:
        self._words = None if full else MOST_WORDS
        self._tokens = None if full else MOST_TOKENS

    def start(self, recorded: Record) -> Iterator[str]:
        """Write the corpus, and the tokens in use."""
        words = recorded.words
        total = sum(each.count for each in words)
        yield f'<p class="note">{count(len(words), "different word")}, {count(total, "word")} in all</p>\n'
        rows = (
            f"<tr><td>{whole(each.count)}</td><td>{''.join(map(symbol, each.symbols))}</td></tr>\n"
            for each in words[: self._words]
        )
        yield from table("Words", "words", ("times", "word"), rows)
        yield from self._more(len(words), self._words, "word")
        yield from self._left("Tokens in use", recorded.tokens)

    def heading(self, step: RecordedStep) -> str:
        """Write the heading of a step: what it does."""
        if step.kind == "merge":
            (taken,) = step.taken
            pair = " + ".join(symbol(part, "pair") for part in taken.parts)
            value = worth(taken) if taken.score is not None else count(taken.count or 0, "time")
            return f"Step {step.number}: {pair} → {symbol(taken.product, 'made')} <small>{escape(value)}</small>"
        if step.kind == "split":
            (taken,) = step.taken
            parts = " + ".join(symbol(part, "made") for part in taken.parts)
            times = count(taken.count or 0, "time")
            return f"Step {step.number}: {symbol(taken.product, 'gone')} → {parts} <small>{times}</small>"
        if step.kind == "placement":
            (taken,) = step.taken
            fewer = f"{count(taken.count or 0, 'piece')} fewer"
            return f"Step {step.number}: {symbol(taken.product, 'made')} <small>{fewer}</small>"
        if step.kind == "round":
            return f"Round {step.number} <small>joined where the count is above {step.threshold:g}</small>"
        if step.kind == "threshold":
            return f"Threshold {step.threshold:g} <small>{count(step.size, 'token')}</small>"
        what = {"seeds": "Seeds", "expectation": f"{step.number}. Expectation", "pruning": f"{step.number}. Pruned"}
        cost = "" if step.cost is None else f"; the corpus costs {step.cost:.4f}"
        return f"{what[step.kind]} <small>{count(step.size, 'token')}{cost}</small>"

    def step(self, step: RecordedStep) -> Iterator[str]:
        """Write what a step changes, what competed, and the tokens that are left."""
        if step.kind in ("expectation", "pruning") and step.taken:
            gone = "".join(symbol(each.product, "gone") for each in step.taken[: self._tokens])
            yield f"<p>{count(len(step.taken), 'token')} {'goes' if len(step.taken) == 1 else 'go'}: {gone}</p>\n"
            yield from self._more(len(step.taken), self._tokens, "token")
        yield '<div class="beside"><div>\n'
        yield from self._changes(step)
        yield "</div><div>\n"
        yield from self._candidates(step)
        yield "</div></div>\n"
        size = count(step.size, "token")
        change = "" if step.size_change is None or step.kind == "seeds" else f" ({step.size_change:+d})"
        in_use = " in use" if step.kind in ("merge", "split", "placement") else ""
        yield from self._left(f"{size}{in_use}{change}", step.tokens)

    def _changes(self, step: RecordedStep) -> Iterator[str]:
        if not step.changes:
            return
        rows = []
        for change in step.changes[: self._words]:
            before, after = before_and_after(change)
            rows.append(f"<tr><td>{whole(change.count)}</td><td>{before}</td><td>→</td><td>{after}</td></tr>\n")
        yield from table("Words that change", "words", ("times", "before", "", "after"), rows)
        yield from self._more(len(step.changes), self._words, "word that changes", "words that change")

    def _candidates(self, step: RecordedStep) -> Iterator[str]:
        """Write the table of what competed."""
        if not step.candidates:
            return
        is_pair = len(step.candidates[0].parts) == 2
        headers = (*(("pair", "makes") if is_pair else ("token", "")), _worth_of(step.candidates[0]), "")
        rows = (
            candidate_row(
                " + ".join(map(symbol, each.parts)), symbol(each.product) if is_pair else "", escape(worth(each)),
                verdict(each), fate(each),
            )
            for each in step.candidates
        )  # fmt: skip
        yield from table("What competed", "pairs", headers, rows)
        if step.more:
            noun = "more pair" if is_pair or step.kind == "round" else "more token"
            tied = f", {whole(step.more_tied)} of them tied" if step.more_tied else ""
            yield f'<p class="note">and {count(step.more, noun)}{tied}</p>\n'

    def _left(self, summary: str, tokens: Sequence[Counted | Entry]) -> Iterator[str]:
        """Write the tokens that are left, folded."""
        if not tokens:
            return
        boxes = "".join(
            symbol(each.symbols[0], note=whole(each.count))
            if isinstance(each, Counted)
            else symbol(each.token, note="" if each.score is None else f"{each.score:.4f}")
            for each in tokens[: self._tokens]
        )
        yield f"<details><summary>{summary}</summary>{boxes}"
        yield from self._more(len(tokens), self._tokens, "token")
        yield "</details>\n"

    def vocabulary(self, entries: Sequence[Entry]) -> Iterator[str]:
        """Write the table of the vocabulary."""
        has_counts = any(each.count is not None for each in entries)
        value = "count" if has_counts else "score"
        rows = (
            f"<tr><td>{each.token_id}</td><td>{symbol(each.token)}</td><td>{_value(each)}</td></tr>\n"
            for each in entries[: self._tokens]
        )
        yield from table("Vocabulary", "words", ("id", "token", value), rows)
        yield from self._more(len(entries), self._tokens, "token")

    def _more(self, number: int, most: int | None, noun: str, nouns: str | None = None) -> Iterator[str]:
        if most is not None and number > most:
            left = number - most
            said = f"{whole(left)} more {nouns}" if nouns and left != 1 else count(left, f"more {noun}")
            yield f'<p class="note">and {said}; --full shows all</p>\n'


def _worth_of(candidate: Candidate) -> str:
    """Name what candidates are compared by."""
    return "score" if candidate.score is not None else "loss" if candidate.loss is not None else "count"


def _value(entry: Entry) -> str:
    if entry.count is not None:
        return whole(entry.count)
    return "" if entry.score is None else f"{entry.score:.4f}"
