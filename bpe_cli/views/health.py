"""Show the report on a tokenizer: on one screen, by sections, or whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from bpe_cli.views import ALL, SECTIONS
from bpe_cli.views.blocks import Block, Blocks, Gap, Hanging, Heading, Line
from bpe_cli.views.residues import residues_view
from bpe_cli.views.structure import findings_by_label, findings_view, reachability_view, structure_sections
from bpe_cli.views.vocabulary import corpus_facts, corpus_view, totals_sheet, vocabulary_sections

if TYPE_CHECKING:
    from bpe_cli.reports.tokenizer.health import Finding, HealthReport

_INDENT = 9


def health_view(report: HealthReport, *, full: bool = False) -> Blocks:
    """Lay out the findings and all sections; ``full`` lists everything, however long."""
    return Blocks(findings_view(report.findings), Gap(), *_sections(report, full).values())


def screen_view(report: HealthReport) -> Blocks:
    """Lay out what fits a screen: findings, totals, and the names of the sections."""
    names = [name for name in _sections(report, full=False) if name != "totals"]
    parts: list[Block | Blocks] = [_listed(report.findings), Gap(), totals_sheet(report.vocabulary)]
    if report.corpus is not None:
        parts += [Gap(), corpus_facts(report.corpus, brief=True)]
    more = Line(f"--section NAME shows one of them, or {ALL}; --full shows every line")
    return Blocks(*parts, Gap(), Hanging(Line(", ".join(names)), "sections", 10), Hanging(more, "", 10))


def sections_view(report: HealthReport, names: Iterable[str], *, full: bool = False) -> Blocks:
    """Lay out sections by name, in the order of the report; one that is empty is a heading and "none".

    Args:
        report: The report.
        names: Names of sections; ``all`` is the whole report.
        full: Whether to list everything, however long.
    """
    chosen = set(names)
    if ALL in chosen:
        return health_view(report, full=full)
    there = _sections(report, full)
    return Blocks(
        *(
            there.get(name, Blocks(Heading(title), Gap(), Line("none"), Gap()))
            for name, title in SECTIONS.items()
            if name in chosen
        )
    )


def _sections(report: HealthReport, full: bool) -> dict[str, Blocks]:
    """Return the sections that are not empty, by name, in their order."""
    vocabulary = vocabulary_sections(report.vocabulary, full=full)
    structure = structure_sections(report.structure, full=full)
    sections = vocabulary | structure
    sections["reachability"] = Blocks(reachability_view(report.reachability, full=full), Gap())
    if lengths := [each["lengths"] for each in (vocabulary, structure) if "lengths" in each]:
        sections["lengths"] = Blocks(*lengths)
    if report.corpus is not None:
        sections["corpus"] = corpus_view(report.corpus)
        if report.corpus.residues is not None and report.corpus.token_count:
            sections["residues"] = residues_view(report.corpus.residues, full=full)
    return {name: sections[name] for name in SECTIONS if name in sections}


def _listed(findings: Sequence[Finding]) -> Blocks:
    """List findings, one below the other: what is good, and what to look at."""
    return Blocks(
        *(
            Hanging(Line(text), label="" if number else label, indent=_INDENT)
            for label, texts in findings_by_label(findings)
            for number, text in enumerate(texts)
        )
    )
