"""Show the report on a tokenizer as tables, without colour and in 80 columns, and everything about one token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bpe_cli.views.blocks import Block, Blocks, Column, Folded, Gap, Heading, Line, Sheet, numbers
from bpe_cli.views.labels import ABSENT, count, fraction, percent, whole, yes
from bpe_cli.views.sheets import TableWithNotes
from bpe_cli.views.structure import lengths_table, listed, short
from bpe_cli.views.visible import harmless, visible

if TYPE_CHECKING:
    from bpe_cli.reports.tokenizer.corpus_report import CorpusReport
    from bpe_cli.reports.tokenizer.lookup import Occurrence, TokenCard
    from bpe_cli.reports.tokenizer.reachability import Verdict
    from bpe_cli.reports.tokenizer.structure import TreeNode
    from bpe_cli.reports.tokenizer.vocabulary_report import VocabularyReport
    from bpe_cli.tokenizer.usage import Fact


SPECIAL_LIMIT = 20
FACT_LIMIT = 60
FACT_CELLS = 300

_NAME_CELLS = 34


def vocabulary_sections(report: VocabularyReport, *, full: bool = False) -> dict[str, Blocks]:
    """Lay out each section under its heading, by name, without those that are empty.

    Args:
        report: The report.
        full: Whether to list all special tokens and settings.
    """
    sections = {"totals": Blocks(_facts(report), Gap())}
    if report.length_bins:
        lengths = lengths_table("bytes", report.length_bins)
        sections["lengths"] = Blocks(Heading("Length of ordinary tokens in bytes"), lengths)
    if report.longest:
        sections["longest"] = Blocks(Heading("Longest tokens"), _longest(report))
    if report.special_tokens:
        sections["special"] = Blocks(Heading("Special tokens"), *_special_tokens(report, full))
    if report.facts:
        sections["settings"] = Blocks(Heading("Settings in the file"), *_stated(report, full))
    return sections


def totals_sheet(report: VocabularyReport) -> Sheet:
    """List the values that a first look at a tokenizer is for."""
    table = Sheet.of_facts()
    add = table.add_row
    add("name", harmless(report.name) if report.name else ABSENT)
    add("algorithm", report.algorithm + (f" ({report.format})" if report.format is not None else ""))
    special = count(report.special_count, "special token")
    add("tokens", f"{whole(report.ordinary_count)} and {special}; the highest id is {whole(report.highest_id)}")
    if report.settings:
        for stage in ("normalizer", "pre-tokenizer"):
            stages = [value.partition("(")[0] for what, value in report.settings if what == stage]
            add(stage, harmless(", ".join(stages)) if stages else "none")
    else:
        patterns = ", ".join(pattern.name or "unnamed" for pattern in report.patterns)
        add("split pattern", patterns or "none: text is not split")
    add("mean length", f"{fraction(report.mean_length)} bytes")
    if report.fingerprint is not None:
        add("fingerprint", harmless(report.fingerprint))
    return table


def _facts(report: VocabularyReport) -> Sheet:
    """List the single values."""
    table = Sheet.of_facts()
    add = table.add_row
    add("name", harmless(report.name) if report.name else ABSENT)
    if report.format is not None:
        add("format", report.format)
    add("algorithm", report.algorithm)
    add("ordinary tokens", whole(report.ordinary_count))
    add("special tokens", whole(report.special_count))
    if report.merge_count is not None:
        dead = f" ({whole(report.dead_merge_count)} dead)" if report.dead_merge_count else ""
        add("merges", f"{whole(report.merge_count)}{dead}")
    add("highest id", whole(report.highest_id))
    add("unused ids", _unused(report))
    for what, value in report.settings:
        add(what, harmless(value))
    for pattern in () if report.settings else report.patterns:
        speed = "" if pattern.fast else " (slow: run by the regex module)"
        add("split pattern", f"{pattern.name or 'unnamed'}{speed}")
        add("", Folded(harmless(pattern.regex)))
    if not report.settings:
        if not report.patterns:
            add("split pattern", "none: text is not split")
        add("prefix space", yes(report.prefix_space))
        if report.ignore_merges is not None:
            add("ignore merges", yes(report.ignore_merges))
    for what, value in report.usage:
        add(what, harmless(value))
    add("Unicode version", harmless(report.unicode_version) if report.unicode_version else "unknown")
    if report.bytes_without_token is not None:
        add("bytes without token", _bytes_missing(report.bytes_without_token))
    if report.bytes_without_token is not None or report.kinds.not_utf8:
        add("not UTF-8", f"{count(report.kinds.not_utf8, 'token')}, single bytes included")
    add("single bytes", whole(report.kinds.single_bytes))
    add("with leading space", whole(report.kinds.leading_space))
    add("whitespace only", whole(report.kinds.white_space))
    add("digits only", whole(report.kinds.digits))
    add("mean length", f"{fraction(report.mean_length)} bytes")
    if report.fingerprint is not None:
        add("fingerprint", harmless(report.fingerprint))
    return table


def _unused(report: VocabularyReport) -> str:
    """Name the unused ids."""
    if not report.unused_count:
        return "0"
    stretches = [f"{first}" if first == last else f"{first}–{last}" for first, last in report.unused_ranges]
    named = sum(last - first + 1 for first, last in report.unused_ranges)
    return f"{whole(report.unused_count)}: {', '.join(stretches)}{', …' if named < report.unused_count else ''}"


def _bytes_missing(missing: bytes) -> str:
    """Name the bytes without token, neighbours together."""
    if not missing:
        return "none: any text can be encoded"
    stretches: list[list[int]] = []
    for byte in missing:
        if stretches and stretches[-1][1] == byte - 1:
            stretches[-1][1] = byte
        else:
            stretches.append([byte, byte])
    names = (f"{first:02x}" if first == last else f"{first:02x}–{last:02x}" for first, last in stretches)
    return f"{whole(len(missing))}: {', '.join(names)}"


def _special_tokens(report: VocabularyReport, full: bool) -> list[Block]:
    table = Sheet(*numbers("id"), "token", Column("found in text"))
    shown = report.special_tokens if full else report.special_tokens[:SPECIAL_LIMIT]
    for token in shown:
        when = "when asked for" if token.special else "always"
        table.add_row(str(token.token_id), visible(token.content), when)
    more = len(report.special_tokens) - len(shown)
    return [table, Line(f"and {count(more, 'more special token')}", style="italic"), Gap()] if more else [table]


def _stated(report: VocabularyReport, full: bool) -> list[Block]:
    """List what the file states about itself, in the text format of protocol buffers."""
    shown = report.facts if full else report.facts[:FACT_LIMIT]
    lines: list[Block] = [Folded(f"{harmless(name)}: {_literal(value, full)}") for name, value in shown]
    more = len(report.facts) - len(shown)
    return [Gap(), *lines, *([Line(f"and {count(more, 'more setting')}", style="italic")] if more else [])]


def _literal(value: Fact, full: bool = True) -> str:
    """Write a value: texts in quotes, true and false in lower case.

    >>> [_literal(value) for value in ("a", True, 3, 0.5)]
    ['"a"', 'true', '3', '0.5']
    """
    if isinstance(value, str):
        cut = len(value) > FACT_CELLS and not full
        return f'"{harmless(value[:FACT_CELLS])}…"' if cut else f'"{harmless(value)}"'
    return str(value).lower() if isinstance(value, bool) else str(value)


def _longest(report: VocabularyReport) -> TableWithNotes:
    table = TableWithNotes(("id", "bytes", "characters"), "token")
    for token in report.longest:
        shown = short(token.content, 2 * _NAME_CELLS)
        table.add_row(str(token.token_id), whole(token.byte_count), whole(token.character_count), note=shown)
    return table


def corpus_view(report: CorpusReport) -> Blocks:
    """Lay out the report on a corpus in sections."""
    parts: list[Block] = [Heading("On the corpus"), Gap(), corpus_facts(report), Gap()]
    if report.token_count:
        parts += [*_limits(report), *_most_frequent(report), *_never_used(report)]
    return Blocks(*parts)


def corpus_facts(report: CorpusReport, *, brief: bool = False) -> Sheet:
    """List how a corpus uses the vocabulary; ``brief`` leaves out the rare tokens."""
    table = Sheet.of_facts()
    size = f"{count(report.document_count, 'document')}, {count(report.byte_count, 'byte')}"
    table.add_row("corpus", f"{size}, {count(report.token_count, 'token')}")
    if not report.token_count:
        table.add_row("", "nothing can be said: it has no token")
        return table
    table.add_row("tokens used", whole(report.used))
    table.add_row("never used", f"{whole(report.unused)} ({percent(report.unused_share)})")
    table.add_row("special tokens used", whole(report.special_used))
    if report.unknown is not None:
        table.add_row("unknown token", count(report.unknown, "time"))
    if brief:
        return table
    table.add_row("if all were equal", f"each would occur {fraction(report.mean_count, 1)} times")
    if report.bound is not None:
        table.add_row("what that tells", f"a token never used is rarer than {report.bound:.1e} with 95% confidence")
    ranks = ", ".join(f"{share:.0%} {whole(rank)}" for share, rank in report.coverage)
    table.add_row("most frequent tokens", f"that make up a share of the corpus: {ranks}")
    return table


def _limits(report: CorpusReport) -> Blocks:
    rows = [(whole(limit), whole(tokens)) for limit, tokens in report.at_most]
    few = Sheet(Column("occur at most", right=True), *numbers("tokens"), rows=rows)
    rare = Sheet(Column("rarer than", right=True), *numbers("tokens"), "is the corpus large enough?")
    for each in report.rare:
        answer = "yes" if each.known else f"no: {whole(each.needed)} tokens are needed"
        rare.add_row(f"{each.frequency:g}", whole(each.tokens), answer)
    return Blocks(Heading("Under-used tokens"), few, rare)


def _most_frequent(report: CorpusReport) -> Blocks:
    table = Sheet(*numbers("id"), "token", *numbers("count", "share"))
    for each in report.head:
        name = short(each.token.content)
        table.add_row(str(each.token.token_id), name, whole(each.count), percent(each.frequency))
    return Blocks(Heading("Most frequent tokens"), table)


def _never_used(report: CorpusReport) -> list[Block]:
    broken, single, others = report.unused_by_kind
    if not report.unused:
        return []
    parts = f"; {whole(report.unused_parts)} of all these are parts of used ones" if report.unused_parts else ""
    lines: list[Block] = [
        Heading("Never used"),
        Line(
            f"{count(broken, 'token')} not UTF-8, {whole(single)} of one character, {whole(others)} others{parts}. "
            "Candidates for embeddings that were hardly trained, if the model's training text was like this one"
            + ("; the first by id:" if others else ".")
        ),
    ]
    return [*lines, *([Line(listed(report.unused_examples))] if others else []), Gap()]


TREE_LINES = 40
BYTE_LIMIT = 64
VARIANT_LIMIT = 20

_INDENTED_LEVELS = 12


def card_view(card: TokenCard, *, full: bool = False) -> Blocks:
    """Lay out a token; ``full`` shows its whole tree and all that is like it."""
    title = Line(f"token {card.token.token_id}: ", (visible(card.token.content), "bold"))
    return Blocks(title, Gap(), _card_facts(card, full), Gap())


def _card_facts(card: TokenCard, full: bool) -> Sheet:
    table = Sheet.of_facts()
    content = card.token.content
    size = count(len(content), "byte")
    if card.character_count is not None:
        size += f", {count(card.character_count, 'character')}"
    shown = content if full else content[:BYTE_LIMIT]
    table.add_row("bytes", f"{shown.hex(' ')}{' …' if len(shown) < len(content) else ''} ({size})")
    if card.written != content:
        table.add_row("written as", visible(card.written))
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


def _tree(card: TokenCard, full: bool) -> str:
    """Write the tree with a line for each token, parts indented; what is deep stays near the margin."""
    nodes: Sequence[TreeNode] = card.tree if full else card.tree[:TREE_LINES]
    lines: list[str] = []
    for node in nodes[1:]:
        level = node.level - 1
        indent = "  " * min(level, _INDENTED_LEVELS) + (f"({level}) " if level > _INDENTED_LEVELS else "")
        lines.append(f"{indent}{short(node.token.content)} ({node.token.token_id})")
    if card.tree_is_cut or len(nodes) < len(card.tree):
        lines.append("…")
    return "\n".join(lines)


def _built(card: TokenCard) -> str:
    if not card.child_count:
        return "nothing: no merge uses it"
    rest = card.child_count - len(card.children)
    more = f" and {whole(rest)} more" if rest else ""
    parts = f"{more}; part of {count(card.descendant_count or 0, 'token')} in all"
    return listed(card.children) + parts


def _dead(card: TokenCard) -> str:
    """Name the merges that are left out, and say why."""
    lines = []
    for each in card.dead_merges:
        left, right, product = (short(token.content) for token in (each.left, each.right, each.product))
        lines.append(f"{left} + {right} -> {product}, rank {whole(each.number)}")
    rest = card.dead_merge_count - len(lines)
    lines += [f"and {whole(rest)} more"] if rest else []
    return "\n".join([*lines, "text never becomes a special token, so no merge makes or uses one"])


def _variants(card: TokenCard, full: bool) -> str:
    shown = card.variants if full else card.variants[:VARIANT_LIMIT]
    rest = len(card.variants) - len(shown)
    named = ", ".join(f"{short(each.token.content)} ({each.token.token_id}: {each.differs_by})" for each in shown)
    return named + (f" and {whole(rest)} more" if rest else "")


def _verdict(verdict: Verdict) -> str:
    known = {True: "yes", False: "no", None: "not known"}[verdict.reachable]
    shown = f"{known} ({verdict.layer})"
    if verdict.witness is not None:
        shown += f", as in {short(verdict.witness)}"
    if verdict.reason is not None:
        shown += f": {harmless(verdict.reason)}"
    return shown
