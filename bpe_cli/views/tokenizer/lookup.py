"""Show all about one token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bpe_cli.views.blocks import Blocks, Gap, Line, Sheet, Verbatim
from bpe_cli.views.numbers import count, whole
from bpe_cli.views.tokenizer.structure import listed, short
from bpe_cli.views.visible import harmless, visible

if TYPE_CHECKING:
    from bpe_cli.reports.tokenizer.lookup import Occurrence, TokenCard
    from bpe_cli.reports.tokenizer.reachability import Verdict
    from bpe_cli.reports.tokenizer.structure import TreeNode

TREE_LINES = 40
BYTE_LIMIT = 64
VARIANT_LIMIT = 20

_INDENTED_LEVELS = 12


def card_view(card: TokenCard, *, full: bool = False) -> Blocks:
    """Lay out a token; ``full`` shows its whole tree and all that is like it."""
    title = Line(visible(card.token.content), style="bold", lead=f"token {card.token.token_id}: ", lead_style="")
    return Blocks(title, Gap(), _facts(card, full), Gap())


def _facts(card: TokenCard, full: bool) -> Sheet:
    table = Sheet.of_facts()
    content = card.token.content
    size = count(len(content), "byte")
    if card.character_count is not None:
        size += f", {count(card.character_count, 'character')}"
    shown = content if full else content[:BYTE_LIMIT]
    table.add_row("bytes", f"{shown.hex(' ')}{' …' if len(shown) < len(content) else ''} ({size})")
    if card.written != content:
        table.add_row("written as", Verbatim(visible(card.written)))
    table.add_row("kind", card.kind)
    if card.score is not None:
        table.add_row("score", f"{card.score:.6g}")
    if card.rank is not None:
        table.add_row("rank", whole(card.rank))
    if card.depth is not None:
        table.add_row("made of", _tree(card, full) if card.depth else "itself: no merge makes it")
        table.add_row("built on it", _built(card))
    if card.dead_merges:
        table.add_row("dead merges", _dead(card))
    if card.variants:
        table.add_row("like it", _variants(card, full))
    if card.verdict is not None:
        table.add_row("reachable", _verdict(card.verdict))
    if card.occurrence is not None:
        table.add_row("in the corpus", _occurrence(card.occurrence))
    return table


def _occurrence(occurrence: Occurrence) -> str:
    times = (
        f"{count(occurrence.count, 'time')} ({occurrence.frequency:.2g} of all tokens)" if occurrence.count else "never"
    )
    made = occurrence.made
    if made is None or made == occurrence.count:
        return times
    return f"{times}; made {count(made, 'time')}, alone or as a part of others"


def _tree(card: TokenCard, full: bool) -> Verbatim:
    """Write the tree with a line for each token, parts indented; what is deep stays near the margin."""
    nodes: Sequence[TreeNode] = card.tree if full else card.tree[:TREE_LINES]
    lines: list[str] = []
    for node in nodes[1:]:
        level = node.level - 1
        indent = "  " * min(level, _INDENTED_LEVELS) + (f"({level}) " if level > _INDENTED_LEVELS else "")
        lines.append(f"{indent}{short(node.token.content)} ({node.token.token_id})")
    if card.tree_is_cut or len(nodes) < len(card.tree):
        lines.append("…")
    return Verbatim("\n".join(lines))


def _built(card: TokenCard) -> Verbatim:
    if not card.child_count:
        return Verbatim("nothing: no merge uses it")
    rest = card.child_count - len(card.children)
    more = f" and {whole(rest)} more" if rest else ""
    parts = f"{more}; part of {count(card.descendant_count or 0, 'token')} in all"
    return Verbatim(listed(card.children) + parts)


def _dead(card: TokenCard) -> Verbatim:
    """Name the merges that are left out, and say why."""
    lines = []
    for each in card.dead_merges:
        left, right, product = (short(token.content) for token in (each.left, each.right, each.product))
        lines.append(f"{left} + {right} -> {product}, rank {whole(each.number)}")
    rest = card.dead_merge_count - len(lines)
    lines += [f"and {whole(rest)} more"] if rest else []
    return Verbatim("\n".join([*lines, "text never becomes a special token, so no merge makes or uses one"]))


def _variants(card: TokenCard, full: bool) -> Verbatim:
    shown = card.variants if full else card.variants[:VARIANT_LIMIT]
    rest = len(card.variants) - len(shown)
    named = ", ".join(f"{short(each.token.content)} ({each.token.token_id}: {each.differs_by})" for each in shown)
    return Verbatim(named + (f" and {whole(rest)} more" if rest else ""))


def _verdict(verdict: Verdict) -> Verbatim:
    known = {True: "yes", False: "no", None: "not known"}[verdict.reachable]
    shown = f"{known} ({verdict.layer})"
    if verdict.witness is not None:
        shown += f", as in {short(verdict.witness)}"
    if verdict.reason is not None:
        shown += f": {harmless(verdict.reason)}"
    return Verbatim(shown)
