"""Show which tokens of a vocabulary a corpus uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bpe_cli.reports.tokenizer.corpus_report import RESIDUE, RESIDUE_MADE
from bpe_cli.views.blocks import Block, Blocks, Gap, Heading, Line, Sheet, Verbatim
from bpe_cli.views.numbers import count, fraction, percent, whole
from bpe_cli.views.tokenizer.structure import listed, short

if TYPE_CHECKING:
    from bpe_cli.reports.tokenizer.corpus_report import CorpusReport


def corpus_view(report: CorpusReport) -> Blocks:
    """Lay out the report on a corpus in sections."""
    parts: list[Block] = [Heading("On the corpus"), Gap(), _facts(report), Gap()]
    if report.token_count:
        parts += [*_limits(report), *_head(report), *_unused(report), *_residues(report)]
    return Blocks(*parts)


def _facts(report: CorpusReport) -> Sheet:
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
    table.add_row("if all were equal", f"each would occur {fraction(report.mean_count, 1)} times")
    if report.bound is not None:
        table.add_row("what that tells", f"a token never used is rarer than {report.bound:.1e} with 95% confidence")
    ranks = ", ".join(f"{share:.0%} {whole(rank)}" for share, rank in report.coverage)
    table.add_row("most frequent tokens", f"that make up a share of the corpus: {ranks}")
    return table


def _limits(report: CorpusReport) -> Blocks:
    few = Sheet()
    few.add_column("occur at most", right=True)
    few.add_numbers("tokens")
    for limit, tokens in report.at_most:
        few.add_row(whole(limit), whole(tokens))
    rare = Sheet()
    rare.add_column("rarer than", right=True)
    rare.add_numbers("tokens")
    rare.add_column("is the corpus large enough?", overflow="fold")
    for each in report.rare:
        told = "yes" if each.known else f"no: {whole(each.needed)} tokens are needed"
        rare.add_row(f"{each.frequency:g}", whole(each.tokens), told)
    return Blocks(Heading("Under-used tokens"), few, rare)


def _head(report: CorpusReport) -> Blocks:
    table = Sheet()
    table.add_numbers("id")
    table.add_column("token", overflow="fold")
    table.add_numbers("count")
    table.add_numbers("share")
    for each in report.head:
        name = Verbatim(short(each.token.content))
        table.add_row(str(each.token.token_id), name, whole(each.count), percent(each.frequency))
    return Blocks(Heading("Most frequent tokens"), table)


def _unused(report: CorpusReport) -> list[Block]:
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


def _residues(report: CorpusReport) -> list[Block]:
    if report.residue_count is None:
        return []
    lines: list[Block] = [
        Heading("Residues of merging"),
        Line(
            f"{count(report.residue_count, 'token')} made at least {RESIDUE_MADE} times that stay a token at most "
            f"{RESIDUE:.0%} of the times ({whole(report.never_final)} never do): else they are merged on."
        ),
    ]
    if not report.residues:
        return [*lines, Gap()]
    table = Sheet()
    table.add_numbers("id")
    table.add_column("token", overflow="fold")
    table.add_numbers("made")
    table.add_numbers("stays")
    table.add_numbers("share")
    for each in report.residues:
        name = Verbatim(short(each.token.content))
        table.add_row(str(each.token.token_id), name, whole(each.made), whole(each.final), percent(each.ratio))
    return [*lines, table]
