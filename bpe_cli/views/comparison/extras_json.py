"""Write what a comparison holds besides its measures as plain JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bpe_cli.reports.comparison.probes.code import FRAGMENTS, INDENTS
from bpe_cli.reports.comparison.probes.data import LAYOUTS
from bpe_cli.reports.comparison.probes.numbers import EXAMPLES
from bpe_cli.views.json_values import name_value, text_value

if TYPE_CHECKING:
    from bpe_cli.reports.comparison.comparison import Comparison
    from bpe_cli.reports.comparison.disagreements import Difference, Disagreement
    from bpe_cli.reports.comparison.overlap import Alone, Overlap
    from bpe_cli.reports.comparison.probes import Probes
    from bpe_cli.reports.comparison.probes.code import CodeProbe
    from bpe_cli.reports.comparison.probes.data import DataProbe
    from bpe_cli.reports.comparison.probes.languages import LanguageProbe
    from bpe_cli.reports.comparison.probes.numbers import NumberProbe


def extras_json(report: Comparison) -> dict[str, Any]:
    """Return the fields of a comparison that are there only when they were asked for.

    Fields:
        probes: An object with those that were asked of ``languages``, ``code``, ``data`` and ``numbers``: see
            ``languages_json``, ``code_json``, ``data_json`` and ``numbers_json``.
        overlaps: See ``overlap_json``; one per tokenizer after the first.
        disagreements: See ``disagreement_json``; one per tokenizer after the first.
    """
    fields: dict[str, Any] = {}
    if report.probes is not None:
        fields["probes"] = _probes(report.probes)
    if report.overlaps:
        fields["overlaps"] = [overlap_json(each) for each in report.overlaps]
    if report.disagreements:
        fields["disagreements"] = [disagreement_json(each) for each in report.disagreements]
    return fields


def _probes(probes: Probes) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if probes.languages is not None:
        found["languages"] = languages_json(probes.languages)
    if probes.code is not None:
        found["code"] = code_json(probes.code)
    if probes.data is not None:
        found["data"] = data_json(probes.data)
    if probes.numbers is not None:
        found["numbers"] = numbers_json(probes.numbers)
    return found


def languages_json(probe: LanguageProbe) -> dict[str, Any]:
    """Return what parallel lines cost.

    Fields:
        source: Where the lines are from.
        languages: Their names; ``byte_counts`` and ``costs`` stand in their order.
        pivot: The name of the language that the others are compared with.
        line_count: Lines that each has.
        byte_counts: Bytes that each has.
        results: Per tokenizer ``gini``, ``worst`` (names of the languages with the most tokens) and ``costs``: each
            with ``token_count``, ``premium`` (tokens per token of the pivot, a ratio of sums), ``median_premium`` and
            ``mean_premium`` (of the lines' ratios), and ``unknown_count`` (tokens that stand for unknown text).
    """
    return {
        "source": name_value(probe.source),
        "languages": [name_value(language) for language in probe.languages],
        "pivot": name_value(probe.languages[probe.pivot]),
        "line_count": probe.line_count,
        "byte_counts": list(probe.byte_counts),
        "results": [
            {
                "gini": result.gini,
                "worst": [name_value(probe.languages[number]) for number in result.worst],
                "costs": [
                    {
                        "token_count": cost.token_count,
                        "premium": cost.premium,
                        "median_premium": cost.median_premium,
                        "mean_premium": cost.mean_premium,
                        "unknown_count": cost.unknown_count,
                    }
                    for cost in result.costs
                ],
            }
            for result in probe.results
        ],
    }


def code_json(probe: CodeProbe) -> dict[str, Any]:
    """Return what code costs.

    Fields:
        source: Where the files are from.
        names: The files; counts of files stand in their order.
        byte_count, blank_bytes, blank_share: Bytes of all, and how many of them are white space.
        fragments: The operators, brackets and line ends that were asked.
        results: Per tokenizer ``token_count``, ``blank_tokens`` and ``blank_share`` (tokens that are only white
            space), ``as_written`` (tokens of each file), ``reindented`` (for each indentation the tokens of each
            file), ``tabs_per_spaces`` (tokens with tabs per token with four spaces), ``indents`` (for each
            indentation what 1 to 8 levels add to a line), ``fragments`` (tokens of each) and ``lossless`` (whether
            the tokens decode to the files).
    """
    return {
        "source": name_value(probe.source),
        "names": [name_value(name) for name in probe.names],
        "byte_count": probe.byte_count,
        "blank_bytes": probe.blank_bytes,
        "blank_share": probe.blank_share,
        "fragments": list(FRAGMENTS),
        "results": [
            {
                "token_count": result.token_count,
                "blank_tokens": result.blank_tokens,
                "blank_share": result.blank_share,
                "as_written": list(result.as_written),
                "reindented": {name: list(counts) for name, counts in zip(INDENTS, result.reindented, strict=True)},
                "tabs_per_spaces": result.tabs_per_spaces,
                "indents": {name: list(counts) for name, counts in zip(INDENTS, result.indents, strict=True)},
                "fragments": list(result.fragments),
                "lossless": result.lossless,
            }
            for result in probe.results
        ],
    }


def data_json(probe: DataProbe) -> dict[str, Any]:
    """Return what formats cost.

    Fields:
        source: Where the objects are from.
        names: What the objects are called.
        byte_counts: Bytes in each layout: ``json`` and ``yaml`` as they are written, ``json_compact`` without white
            space, ``json_2_spaces``, ``json_4_spaces`` and ``json_tabs`` indented.
        results: Per tokenizer ``token_counts`` (in each layout), ``objects`` (the same for each object),
            ``yaml_per_json`` and ``yaml_per_compact`` (ratios of sums) and ``lossless`` (whether the tokens decode to
            the texts).
    """
    return {
        "source": name_value(probe.source),
        "names": [name_value(name) for name in probe.names],
        "byte_counts": dict(zip(LAYOUTS, probe.byte_counts, strict=True)),
        "results": [
            {
                "token_counts": dict(zip(LAYOUTS, result.sums, strict=True)),
                "objects": [dict(zip(LAYOUTS, counts, strict=True)) for counts in result.counts],
                "yaml_per_json": result.yaml_per_json,
                "yaml_per_compact": result.yaml_per_compact,
                "lossless": result.lossless,
            }
            for result in probe.results
        ],
    }


def numbers_json(probe: NumberProbe) -> dict[str, Any]:
    """Return how numbers are cut.

    Fields:
        results: Per tokenizer ``one_token`` and ``one_token_spaced`` (of 0 to 9999), ``grouping`` (``left to right``,
            ``right to left``, ``single digits`` or ``irregular``), ``group_size`` (null where irregular),
            ``consistency`` (share of numbers that are cut as is usual for their length), ``lengths`` (each with
            ``digits``, ``numbers`` asked, ``mean_tokens``, ``fewest``, ``most``, ``usual`` cut and its share
            ``consistency``) and ``examples`` (each with ``text`` and its ``parts``).
    """
    return {
        "results": [
            {
                "one_token": result.one_token,
                "one_token_spaced": result.one_token_spaced,
                "grouping": result.grouping,
                "group_size": result.group_size,
                "consistency": result.consistency,
                "lengths": [
                    {
                        "digits": each.digits,
                        "numbers": each.numbers,
                        "mean_tokens": each.mean_tokens,
                        "fewest": each.fewest,
                        "most": each.most,
                        "usual": list(each.usual),
                        "consistency": each.consistency,
                    }
                    for each in result.lengths
                ],
                "examples": [
                    {"text": text, "parts": [text_value(part) for part in parts]}
                    for text, parts in zip(EXAMPLES, result.examples, strict=True)
                ],
            }
            for result in probe.results
        ],
    }


def overlap_json(overlap: Overlap) -> dict[str, Any]:
    """Return what two vocabularies have in common. Lists of two are of the first tokenizer and of the other.

    Fields:
        first, second: Numbers of the tokenizers.
        sizes: Different texts that tokens stand for.
        shared: Texts that both have a token for.
        jaccard: Shared ones among all.
        containment: Share of each's own that the other has too.
        weighted: Share of each's tokens on the inputs whose text the other has a token for; null without inputs.
        rank_correlation: Kendall's tau-b of the ids of shared tokens.
        equal_merges: How many merges agree from the first on; null unless both are byte pair encoding.
        alone: What each has alone: ``count``, ``scripts`` (by the first letter; ``none`` without one, ``bytes`` where
            it is no UTF-8, ``other``; each with ``script``, ``count`` and ``examples``) and the ``longest``.
    """
    return {
        "first": overlap.first,
        "second": overlap.second,
        "sizes": list(overlap.sizes),
        "shared": overlap.shared,
        "jaccard": overlap.jaccard,
        "containment": list(overlap.containment),
        "weighted": list(overlap.weighted),
        "rank_correlation": overlap.rank_correlation,
        "equal_merges": overlap.equal_merges,
        "alone": [_alone(overlap.first_alone), _alone(overlap.second_alone)],
    }


def _alone(alone: Alone) -> dict[str, Any]:
    return {
        "count": alone.count,
        "scripts": [
            {"script": each.script, "count": each.count, "examples": [text_value(text) for text in each.examples]}
            for each in alone.scripts
        ],
        "longest": [text_value(meaning) for meaning in alone.longest],
    }


def disagreement_json(found: Disagreement) -> dict[str, Any]:
    """Return how differently two tokenizers cut the same texts. Lists of two are of the first and of the other.

    Fields:
        first, second: Numbers of the tokenizers.
        byte_count: Bytes of the texts; ``whole`` tells whether that is all of the inputs, or their beginnings.
        boundaries, common_boundaries: Offsets inside a text at which a token ends, of each and of both.
        jaccard, precision, recall, f1: Of the other's boundaries against the first's.
        words, words_alike, words_finer, words_coarser: Stretches without white space; those cut at the same places,
            those in which the other has all the first's boundaries, and the other way round.
        segments, kinds: Segments cut differently (a segment lies between two common boundaries), and how many
            different ones.
        unknown_counts: Tokens of each that stand for unknown text.
        differences: The most costly: ``text`` (its beginning, if ``byte_count`` says that there is more),
            ``ends`` (where each's tokens end in it), ``token_counts``, ``times``, ``cost`` (tokens more, times
            ``times``), and of the first occurrence ``input``, ``document``, ``offset``, ``before`` and ``after``.
    """
    return {
        "first": found.first,
        "second": found.second,
        "byte_count": found.byte_count,
        "whole": found.whole,
        "boundaries": list(found.boundaries),
        "common_boundaries": found.common,
        "jaccard": found.jaccard,
        "precision": found.precision,
        "recall": found.recall,
        "f1": found.f1,
        "words": found.words,
        "words_alike": found.words_alike,
        "words_finer": found.words_finer,
        "words_coarser": found.words_coarser,
        "segments": found.segments,
        "kinds": found.kinds,
        "unknown_counts": list(found.unknown),
        "differences": [_difference(each) for each in found.differences],
    }


def _difference(each: Difference) -> dict[str, Any]:
    return {
        "text": text_value(each.text),
        "byte_count": each.byte_count,
        "ends": [list(each.first_ends), list(each.second_ends)],
        "token_counts": [each.first_tokens, each.second_tokens],
        "times": each.times,
        "cost": each.cost,
        "input": name_value(each.source),
        "document": each.document,
        "offset": each.offset,
        "before": text_value(each.before),
        "after": text_value(each.after),
    }
