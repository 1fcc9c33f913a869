"""Lay out probes: what languages, code, data and numbers cost in tokens, a column per tokenizer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from bpe_cli.reports.comparison.probe_code import FRAGMENTS, INDENTS, LEVELS
from bpe_cli.reports.comparison.probe_data import LAYOUTS
from bpe_cli.reports.comparison.probe_numbers import EXAMPLES
from bpe_cli.views.blocks import Block, Blocks, Heading, Line
from bpe_cli.views.comparison.values import UNKNOWN_TEXT, left_out
from bpe_cli.views.labels import ABSENT, count, fraction, percent, whole
from bpe_cli.views.sheets import Grid, Values
from bpe_cli.views.visible import harmless, visible

if TYPE_CHECKING:
    from bpe_cli.reports.comparison.comparison import Probes
    from bpe_cli.reports.comparison.probe_code import CodeProbe
    from bpe_cli.reports.comparison.probe_data import DataProbe
    from bpe_cli.reports.comparison.probe_languages import LanguageCost, LanguageProbe
    from bpe_cli.reports.comparison.probe_numbers import LengthResult, NumberProbe
    from bpe_cli.reports.comparison.probe_words import WordProbe

MOST_LANGUAGES = 20
"""How many languages, or files of words, are shown without ``--full``."""

_EXAMPLE_CELLS = 24

_LAYOUT_LABELS = dict(
    zip(
        LAYOUTS,
        ("JSON as written", "JSON, no blanks", "JSON, 2 spaces", "JSON, 4 spaces", "JSON, tabs", "YAML as written"),
        strict=True,
    )
)


def probes_view(names: Sequence[str], probes: Probes, *, full: bool = False) -> Blocks:
    """Show the requested probes of tokenizers; ``full`` shows all languages and files of words, however many."""
    most = None if full else MOST_LANGUAGES
    return Blocks(
        *(() if probes.languages is None else _languages(names, probes.languages, most)),
        *(() if probes.code is None else _code(names, probes.code)),
        *(() if probes.data is None else _data(names, probes.data)),
        *(() if probes.numbers is None else _numbers(names, probes.numbers)),
        *(() if probes.words is None else _words(names, probes.words, most)),
    )


def share(value: float | None) -> str:
    """Write a share of one, where there is one."""
    return ABSENT if value is None else percent(value)


def _languages(names: Sequence[str], probe: LanguageProbe, most: int | None) -> Iterator[Block]:
    pivot = harmless(probe.languages[probe.pivot])
    languages = [harmless(language) for language in probe.languages]
    costs = [[result.costs[number] for result in probe.results] for number in range(len(languages))]
    lines = f"{count(probe.line_count, 'line')} in {count(len(languages), 'language')}"
    yield Heading(f"Languages: the same {lines}, {harmless(probe.source)}", apart=True)
    yield Line(f"tokens, and the premium: tokens per token of {pivot}, a ratio of sums")
    sums = [
        (language, [f"{whole(cost.token_count)} {_premium(cost):>5}" for cost in row])
        for language, row in zip(languages, costs, strict=True)
    ]
    summary: list[Values] = [
        ("Gini", [fraction(result.gini, 3) + "?" * result.loses_text for result in probe.results]),
        ("most", [", ".join(languages[each] for each in result.worst) or ABSENT for result in probe.results]),
    ]
    shown = sums[:most]
    sizes = [*map(whole, probe.byte_counts[: len(shown)]), "", ""]
    yield Grid("language", names, [shown, summary], first=("bytes", sizes))
    yield from left_out(len(sums) - len(shown), "language")
    yield Line("the premium line by line: the median of the lines' ratios, and their mean")
    ratios = [
        (language, [f"{fraction(cost.median_premium)} {fraction(cost.mean_premium):>6}" for cost in row])
        for number, (language, row) in enumerate(zip(languages, costs, strict=True))
        if number != probe.pivot
    ]
    shown = ratios[:most]
    yield Grid("language", names, [shown])
    yield from left_out(len(ratios) - len(shown), "language")
    if any(result.loses_text for result in probe.results):
        yield Line(UNKNOWN_TEXT)


def _premium(cost: LanguageCost) -> str:
    return fraction(cost.premium) + "?" * bool(cost.unknown_count)


def _code(names: Sequence[str], probe: CodeProbe) -> Iterator[Block]:
    size = f"{count(probe.byte_count, 'byte')}, {share(probe.blank_share)} of them whitespace"
    files = f"{count(len(probe.names), 'file')}, {size}"
    yield Heading(f"Code: {harmless(probe.source)}, {files}", apart=True)
    results = probe.results
    written: list[Values] = [
        ("tokens as written", [whole(result.token_count) for result in results]),
        ("only whitespace", [share(result.blank_share) for result in results]),
    ]
    units: list[Values] = [
        (f"indented by {name}", [whole(result.reindented_sums[number]) for result in results])
        for number, name in enumerate(INDENTS)
    ]
    units.append(("tabs per 4 spaces", [fraction(result.tabs_per_spaces, 3) for result in results]))
    single = [(f"one token, of {len(FRAGMENTS)} parts", [whole(result.one_token_fragments) for result in results])]
    yield Grid("", names, [written, units, single])
    yield Line(f"tokens that indentation adds to a line, by levels 1 to {LEVELS}")
    levels: list[Values] = [
        (name, [" ".join(map(str, result.indents[number])) for result in results])
        for number, name in enumerate(INDENTS)
    ]
    yield Grid("indented by", names, [levels])
    yield Line("operators, brackets and line ends that are more than one token")
    for name, result in zip(names, results, strict=True):
        parts = [
            visible(part.encode()) for part, tokens in zip(FRAGMENTS, result.fragments, strict=True) if tokens != 1
        ]
        yield Line(f"  {harmless(name)}: {'  '.join(parts) or 'none'}")
    yield from _lossy(names, [result.lossless for result in results])


def _lossy(names: Sequence[str], lossless: Sequence[bool]) -> Iterator[Line]:
    """Warn of tokenizers that drop what they do not count."""
    losing = [harmless(name) for name, kept in zip(names, lossless, strict=True) if not kept]
    if losing:
        verb = "does" if len(losing) == 1 else "do"
        yield Line(f"{', '.join(losing)} {verb} not give these texts back: what is lost costs nothing")


def _data(names: Sequence[str], probe: DataProbe) -> Iterator[Block]:
    yield Heading(
        f"Data: {count(len(probe.names), 'object')} as JSON and as YAML, {harmless(probe.source)}", apart=True
    )
    layouts = [
        (_LAYOUT_LABELS[layout], [whole(result.sums[number]) for result in probe.results])
        for number, layout in enumerate(LAYOUTS)
    ]
    ratios: list[Values] = [
        ("YAML per JSON as written", [fraction(result.yaml_per_json) for result in probe.results]),
        ("YAML per JSON, no blanks", [fraction(result.yaml_per_compact) for result in probe.results]),
    ]
    sizes = probe.byte_counts
    of_bytes = [fraction(probe.yaml_per_json), fraction(probe.yaml_per_compact)]
    yield Grid("tokens", names, [layouts, ratios], first=("bytes", [*map(whole, sizes), *of_bytes]))
    yield from _lossy(names, [result.lossless for result in probe.results])


def _numbers(names: Sequence[str], probe: NumberProbe) -> Iterator[Block]:
    yield Heading("Numbers", apart=True)
    results = probe.results
    facts: list[Values] = [
        ("one token, of 0 to 9999", [whole(result.one_token) for result in results]),
        ("with a space before", [whole(result.one_token_spaced) for result in results]),
        ("digits in a group", [whole(result.group_size) for result in results]),
        ("grouped", [result.grouping for result in results]),
        ("cut as usual for their length", [percent(result.consistency) for result in results]),
    ]
    yield Grid("", names, [facts])
    yield Line("tokens per number by digits, the usual cut, and its share if not all are cut so")
    lengths = [
        (str(result.digits), [_length(each.lengths[number]) for each in results])
        for number, result in enumerate(results[0].lengths)
    ]
    yield Grid("digits", names, [lengths])
    yield Line("as they stand in texts")
    examples = [
        (example, ["|".join(visible(part, bars=True) for part in result.examples[number]) for result in results])
        for number, example in enumerate(EXAMPLES)
    ]
    yield Grid("number", names, [examples], left=True, most=_EXAMPLE_CELLS)


def _length(result: LengthResult) -> str:
    share = "" if result.consistency == 1 else f" {result.consistency:4.0%}"
    return f"{fraction(result.mean_tokens)} {'-'.join(map(str, result.usual))}{share}"


def _words(names: Sequence[str], probe: WordProbe, most: int | None) -> Iterator[Block]:
    shown = probe.names[:most]
    for number, name in enumerate(shown):
        costs = [result[number] for result in probe.results]
        sizes = f"{count(costs[0].word_count, 'word')} in {count(probe.text_counts[number], 'text')}"
        yield Heading(f"Given words: {harmless(name)}, {sizes}", apart=True)
        lost = ["?" * bool(cost.unknown_count) for cost in costs]
        counts: list[Values] = [
            ("tokens", [whole(cost.token_count) + mark for cost, mark in zip(costs, lost, strict=True)]),
            ("tokens/word", [fraction(cost.fertility) + mark for cost, mark in zip(costs, lost, strict=True)]),
        ]
        words: list[Values] = [
            ("one token", [share(cost.one_token_share) for cost in costs]),
            ("not cut", [share(cost.uncut_share) for cost in costs]),
        ]
        borders: list[Values] = [
            ("boundaries between words", [share(cost.precision) for cost in costs]),
            ("borders of words found", [share(cost.recall) for cost in costs]),
            ("F1", [fraction(cost.f1, 3) for cost in costs]),
        ]
        yield Grid("", names, [counts, words, borders])
        if any(lost):
            yield Line(UNKNOWN_TEXT)
    yield from left_out(len(probe.names) - len(shown), "file")
