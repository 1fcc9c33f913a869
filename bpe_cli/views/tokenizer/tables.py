"""Show the report on a tokenizer as tables that read without colour and in 80 columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bpe_cli.views.blocks import Block, Blocks, Gap, Heading, Line, Sheet, TableWithNotes, Verbatim
from bpe_cli.views.layout import yes
from bpe_cli.views.numbers import ABSENT, count, fraction, whole
from bpe_cli.views.tokenizer.corpus import corpus_view
from bpe_cli.views.tokenizer.reachability import reachability_view
from bpe_cli.views.tokenizer.structure import findings_view, lengths_table, short, structure_view
from bpe_cli.views.visible import harmless, visible
from bpe_cli.views.writer import Folded

if TYPE_CHECKING:
    from bpe_cli.reports.tokenizer.health import HealthReport
    from bpe_cli.reports.tokenizer.vocabulary_report import VocabularyReport
    from bpe_cli.tokenizer.usage import Fact


SPECIAL_LIMIT = 20
FACT_LIMIT = 60
FACT_CELLS = 300

_NAME_CELLS = 34


def vocabulary_view(
    report: VocabularyReport,
    *,
    full: bool = False,
    first: Sequence[Block | Blocks] = (),
    sections: Sequence[Block | Blocks] = (),
) -> Blocks:
    """Show the report on a tokenizer; ``full`` lists all special tokens.

    Args:
        report: The report.
        full: Whether to list all special tokens and settings.
        first: What to show behind what the tokenizer is, before how its vocabulary is built.
        sections: What else to show of how it is built, before long lists and the settings in the file.
    """
    parts: list[Block | Blocks] = [_facts(report), Gap(), *first]
    if report.length_bins:
        parts += [Heading("Length of ordinary tokens in bytes"), lengths_table("bytes", report.length_bins)]
    parts += sections
    if report.longest:
        parts += [Heading("Longest tokens"), _longest(report)]
    if report.special_tokens:
        parts += [Heading("Special tokens"), *_special_tokens(report, full)]
    if report.facts:
        parts += [Heading("Settings in the file"), *_stated(report, full)]
    return Blocks(*parts)


def _facts(report: VocabularyReport) -> Sheet:
    """List what is one value each."""
    table = Sheet.of_facts()

    def add(label: str, value: str) -> None:
        table.add_row(Verbatim(label), Verbatim(value))

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
        table.add_row("", Folded(harmless(pattern.regex)))
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
    add("white space only", whole(report.kinds.white_space))
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
    table = Sheet()
    table.add_numbers("id")
    table.add_column("token", overflow="fold")
    table.add_column("found in text")
    shown = report.special_tokens if full else report.special_tokens[:SPECIAL_LIMIT]
    for token in shown:
        found = "when asked for" if token.special else "always"
        table.add_row(str(token.token_id), Verbatim(visible(token.content)), found)
    more = len(report.special_tokens) - len(shown)
    return [table, Line(f"and {count(more, 'more special token')}\n", style="italic")] if more else [table]


def _stated(report: VocabularyReport, full: bool) -> list[Block]:
    """List what the file states of itself, as protocol buffers are written as text."""
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


def health_view(report: HealthReport, *, full: bool = False) -> Blocks:
    """Lay out a report; ``full`` lists everything, however long."""
    first: list[Block | Blocks] = [reachability_view(report.reachability, full=full), Gap()]
    if report.corpus is not None:
        first.append(corpus_view(report.corpus))
    sections = [structure_view(report.structure, full=full)]
    return Blocks(
        findings_view(report.findings),
        Gap(),
        vocabulary_view(report.vocabulary, full=full, first=first, sections=sections),
    )
