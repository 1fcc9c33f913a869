"""Show how a vocabulary is built and which tokens text can become, without colour and in 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bpe_cli.reports.tokenizer.reachability import LAYERS, REACHABLE
from bpe_cli.views.blocks import Bar, Block, Blocks, Column, Gap, Heading, Line, Sheet, numbers
from bpe_cli.views.labels import count, fraction, percent, whole
from bpe_cli.views.sheets import NARROW, TableWithNotes
from bpe_cli.views.visible import harmless, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bpe_cli.reports.tokenizer.contents import LengthBin, NamedToken
    from bpe_cli.reports.tokenizer.health import Finding
    from bpe_cli.reports.tokenizer.reachability import Layer, Reachability, Verdict
    from bpe_cli.reports.tokenizer.structure import Structure, TreeNode
    from bpe_cli.views.blocks import Screen


SCRIPT_LIMIT = 12
TOKEN_CELLS = 40
TREE_CELLS = 160


def findings_view(findings: Sequence[Finding]) -> Blocks:
    """Sum up a health report in two paragraphs: what is good, what to look at."""
    return Blocks(
        *(Line((f"{label}: ", "bold"), "; ".join(texts) + ".") for label, texts in findings_by_label(findings))
    )


def findings_by_label(findings: Sequence[Finding]) -> Iterator[tuple[str, list[str]]]:
    """Yield the texts of what is good and of what to look at, where there are any, with their labels."""
    for good, label in ((True, "good"), (False, "look at")):
        if texts := [finding.text for finding in findings if finding.good is good]:
            yield label, texts


def structure_sections(structure: Structure, *, full: bool = False) -> dict[str, Blocks]:
    """Lay out each section under its heading, by name, without those that are empty; ``full`` shows all scripts."""
    return {name: Blocks(Heading(title), section) for name, title, section in _sections(structure, full)}


def _sections(structure: Structure, full: bool) -> Iterator[tuple[str, str, Block | Blocks]]:
    if not structure.token_count:
        return
    if structure.character_bins:
        title = "Length of ordinary tokens in characters"
        yield "lengths", title, lengths_table("characters", structure.character_bins)
    yield "scripts", "Scripts", _scripts(structure, full)
    yield "merges", "Merge tree", _merges(structure)
    if structure.cuts:
        yield "utf8", "Tokens that are not UTF-8", _cuts(structure)
    if structure.white_space:
        yield "whitespace", "Only whitespace", _white_space(structure)
    yield "numbers", "Numbers that are one token", _digits(structure)
    yield "duplicates", "Tokens that differ only by", _duplicates(structure)
    if structure.unseen:
        yield "invisible", "Characters that nobody sees", _unseen(structure)
    if structure.repeats:
        yield "repeats", f"Long repeats ({count(structure.repeat_count, 'token')})", _repeats(structure)


def lengths_table(unit: str, bins: Sequence[LengthBin]) -> Sheet:
    """Show a histogram of lengths."""
    table = Sheet(*numbers(unit, "tokens", "share"), Column())
    for each in bins:
        span = f"{each.lowest}+" if each.highest is None else stretch(each.lowest, each.highest)
        table.add_row(span, whole(each.tokens), percent(each.share), Bar(each.relative))
    return table


def stretch(first: int, last: int) -> str:
    """Write a range of numbers.

    >>> stretch(1, 3), stretch(7, 7)
    ('1–3', '7')
    """
    return f"{first:,}" if first == last else f"{first:,}–{last:,}"


def short(content: bytes, cells: int = TOKEN_CELLS) -> str:
    """Write a token, cut when it is long."""
    shown = visible(content)
    return shown if len(shown) <= cells else f"{shown[: cells - 1]}…"


def listed(tokens: Sequence[NamedToken]) -> str:
    """Write tokens with their ids."""
    return ", ".join(f"{short(token.content)} ({token.token_id})" for token in tokens)


def bracketed(tree: Sequence[TreeNode], cells: int = TREE_CELLS) -> str:
    """Write a tree on one line, brackets around the parts of each token; what is cut off ends in ``…``."""
    shown: list[str] = []
    width = 0
    due: list[int] = []  # for each open bracket, how many parts are still to come
    for node in tree:
        if node.made:
            shown.append("[")
            due.append(2)
            width += 1
        else:
            leaf = visible(node.token.content)
            shown.append(leaf)
            width += len(leaf) + 1
            while due:
                due[-1] -= 1
                if due[-1]:
                    shown.append(" ")
                    break
                due.pop()
                shown.append("]")
        if width >= cells:
            break
    return "".join(shown) + ("…" if due else "")


def _scripts(structure: Structure, full: bool) -> Blocks:
    scripts = structure.scripts
    shown = scripts.counts if full else scripts.counts[:SCRIPT_LIMIT]
    rows = [(each.name, whole(each.tokens), percent(each.share)) for each in shown]
    table = Sheet("script", *numbers("tokens", "share"), rows=rows)
    if rest := scripts.counts[len(shown) :]:
        table.add_row(
            f"{len(rest)} more", whole(sum(each.tokens for each in rest)), percent(sum(each.share for each in rest))
        )
    for each in (scripts.several, scripts.without, scripts.not_utf8):
        if each.tokens:
            table.add_row(Line(each.name, style="italic"), whole(each.tokens), percent(each.share))
    parts: list[Block] = [table]
    if scripts.examples:
        parts += [Line(f"several scripts: {listed([token for token, _ in scripts.examples])}"), Gap()]
    return Blocks(*parts)


def _merges(structure: Structure) -> Blocks:
    shape = structure.merges
    if shape is None:
        return Blocks(Line("none: the model does not merge"), Gap())
    facts = Sheet(Column(), Column(), is_list=True)
    facts.add_row("merged tokens", whole(shape.made))
    facts.add_row("leaves", f"{whole(shape.leaves)} ({percent(shape.leaf_share)}): tokens that no merge builds on")
    facts.add_row("mean depth", f"{fraction(shape.mean_depth)} merges one on top of the other")
    depths = Sheet(*numbers("depth", "tokens"), Column())
    for bin_ in shape.depth_bins:
        last = bin_.lowest if bin_.highest is None else bin_.highest
        depths.add_row(stretch(bin_.lowest, last), whole(bin_.tokens), Bar(bin_.relative))
    deepest = TableWithNotes(("id", "depth"), "deepest tokens and their trees")
    for each in structure.deepest:
        tree = bracketed(each.tree)
        deepest.add_row(str(each.token.token_id), whole(each.depth), note=f"{short(each.token.content)}\n{tree}")
    return Blocks(Gap(), facts, depths, *([deepest] if structure.deepest else []))


def _cuts(structure: Structure) -> TableWithNotes:
    table = TableWithNotes(("a character is cut", "tokens", "of one byte"), "examples")
    names = {
        "starts inside": "at the start",
        "ends inside": "at the end",
        "both": "at both ends",
        "impossible": "in no UTF-8 text",
    }
    for cut in structure.cuts:
        table.add_row(names[cut.name], whole(cut.tokens), whole(cut.single_bytes), note=listed(cut.examples[:3]))
    return table


def _white_space(structure: Structure) -> TableWithNotes:
    table = TableWithNotes(("runs of", "tokens"), "lengths")
    for run in structure.white_space:
        table.add_row(run.kind, whole(run.tokens), note=", ".join(stretch(*each) for each in run.stretches))
    return table


def _digits(structure: Structure) -> TableWithNotes:
    table = TableWithNotes(("digits", "tokens", "of", "with space"), "without token")
    for run in structure.digits:
        more = run.possible - run.present - len(run.missing) if run.missing else 0
        missing = ", ".join(run.missing) + (", …" if more else "")
        table.add_row(
            str(run.length), whole(run.present), f"10^{run.length}" if run.length > 5 else whole(run.possible),
            whole(run.present_spaced), note=missing, name=f"without token, {count(run.length, 'digit')}",
        )  # fmt: skip
    return table


def _duplicates(structure: Structure) -> Blocks:
    table = Sheet("what", *numbers("groups", "redundant", "share"))
    names = {"same text": "nothing: the same text"}
    for kind in structure.duplicates.kinds:
        table.add_row(names.get(kind.name, kind.name), whole(kind.groups), whole(kind.redundant), percent(kind.share))
    examples = [Line(listed(group)) for group in structure.duplicates.examples]
    return Blocks(table, *examples, *([Gap()] if examples else []))


def _unseen(structure: Structure) -> TableWithNotes:
    table = TableWithNotes(("tokens with", "tokens"), "examples")
    for kind in structure.unseen:
        table.add_row(kind.name, whole(kind.tokens), note=listed(kind.examples[:3]))
    return table


def _repeats(structure: Structure) -> Sheet:
    table = Sheet("repeated", *numbers("tokens"), Column("most times", right=True), Column("longest", right=True))
    for repeat in structure.repeats:
        unit = short(repeat.unit.encode())
        table.add_row(unit, whole(repeat.tokens), whole(repeat.times), f"id {repeat.longest.token_id}")
    return table


FIRST = 3
"""How many tokens of a layer are shown without ``--full``."""

_TELLING: tuple[Layer, ...] = ("merges", "absent", "scores", "pieces", "shadowed", "undecided", "ill-formed", "whole")
"""Layers of which tokens are shown, those first that concern most."""

_WITNESSED: tuple[Layer, ...] = ("context", "completion", "fallback")
"""Layers that a good tokenizer's tokens can be of, thousands of them: listed with ``--full`` only."""

_UNPROVEN: dict[Layer, str] = {"special": "if asked", "undecided": "unknown"}
"""What stands for yes and no in layers that have no proof either way."""

_BEGINNING_CELLS = 60


def reachability_view(reachability: Reachability, *, full: bool = False) -> Blocks:
    """Lay out layers, and the first tokens of those that point to problems.

    With ``full``, all tokens but plain ones, and special ones, which are listed by themselves.
    """
    parts: list[Block] = [Heading("Reachability"), _layers(reachability)]
    shown: list[Verdict] = []
    more = 0
    for layer in listed_layers(full=full):
        of_layer = [verdict for verdict in reachability.verdicts.values() if verdict.layer == layer]
        shown += of_layer if full else of_layer[:FIRST]
        more += 0 if full else max(0, len(of_layer) - FIRST)
    if shown:
        parts.append(_Tokens(reachability, shown))
    if more:
        parts.append(Line(f"and {count(more, 'more token')}; --full shows all", style="italic"))
    return Blocks(*parts)


def listed_layers(*, full: bool) -> tuple[Layer, ...]:
    """Return the layers whose tokens are listed one by one."""
    return (*_TELLING, *_WITNESSED) if full else _TELLING


def _layers(reachability: Reachability) -> TableWithNotes:
    table = TableWithNotes(("layer", "tokens", "reachable"), "what it means")
    for layer, tokens in reachability.counts:
        reached = "yes" if layer in REACHABLE else _UNPROVEN.get(layer, "no")
        table.add_row(layer, whole(tokens), reached, note=LAYERS[layer])
    return table


@dataclass(frozen=True)
class _Tokens:
    """Tokens with their witness or reason; a narrow console has that below each."""

    reachability: Reachability
    verdicts: Sequence[Verdict]

    def blocks(self, screen: Screen) -> Iterator[Block]:
        """Yield a sheet with the witness or reason in its last column, or all of a token in lines."""
        contents = self.reachability.contents
        rows = [
            (str(each.token_id), _beginning(visible(contents[each.token_id])), each.layer, _why(each))
            for each in self.verdicts
        ]
        if screen.width >= NARROW:
            layer = Column("layer", layout={"no_wrap": True})
            yield Sheet(*numbers("id"), "token", layer, "witness or reason", rows=rows)
            return
        for *facts, why in rows:
            yield from (Line("  ".join(facts)), Line(why), Gap())


def _why(verdict: Verdict) -> str:
    """Return the witness, the reason, or both."""
    witness = "" if verdict.witness is None else f"as in {_beginning(visible(verdict.witness))}"
    reason = "" if verdict.reason is None else harmless(verdict.reason)
    return "; ".join(part for part in (witness, reason) if part)


def _beginning(text: str) -> str:
    return text if len(text) <= _BEGINNING_CELLS else f"{text[:_BEGINNING_CELLS]}…"
