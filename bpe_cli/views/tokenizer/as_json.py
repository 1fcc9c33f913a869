"""Write the report on a tokenizer as plain JSON, with a ``schema`` field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bpe_cli.views.json_values import name_value, text_value

if TYPE_CHECKING:
    from bpe_cli.reports.tokenizer.vocabulary_report import VocabularyReport
    from bpe_cli.tokenizer.usage import Fact

VOCABULARY_SCHEMA = "bpe.inspect.tokenizer/1"


def vocabulary_json(report: VocabularyReport) -> dict[str, Any]:
    """Return a tokenizer's report.

    Fields:
        schema: ``bpe.inspect.tokenizer/1``.
        name, fingerprint, unicode_version: Strings, or null.
        kind, algorithm: As ``bpe-ranks`` or ``unigram``, and the same in words.
        ordinary_count, special_count, unused_count: Numbers of ids; ``merge_count`` and
            ``highest_id`` can be null.
        dead_merge_count: Number of merges that make or use a special token, which text never becomes.
        unused_ranges: [first, last] of the first 20 stretches of unused ids.
        patterns: Each with ``name`` (or null), ``regex`` and ``fast``.
        prefix_space, ignore_merges: Booleans; ``ignore_merges`` is null for ranks.
        special_tokens: Each with ``id``, ``token`` and ``special`` (false: found in any text).
        settings: Each with ``what`` and ``value``, in words: stages and model beyond byte-level BPE.
        bytes_without_token: Numbers of the bytes that have no token; null where tokens are text.
        kinds: How many ordinary tokens are ``single_bytes``, ``not_utf8``, ``leading_space``,
            ``white_space``, ``digits``; they overlap.
        mean_length: Bytes, or null.
        lengths: [bytes, tokens] pairs, ascending.
        longest: Each with ``id``, ``token``, ``byte_count``, ``character_count`` (or null).
        facts: What the file states of itself: setting -> value, or the list of its values where it states
            several; empty where it states nothing.
        format: The format of the file that it was read from, or null.
        usage: Each with ``what`` and ``value``, in words: roles of special tokens, chat templates, ...
    """
    return {
        "schema": VOCABULARY_SCHEMA,
        "name": name_value(report.name),
        "fingerprint": report.fingerprint,
        "kind": report.kind,
        "algorithm": report.algorithm,
        "ordinary_count": report.ordinary_count,
        "special_count": report.special_count,
        "merge_count": report.merge_count,
        "dead_merge_count": report.dead_merge_count,
        "highest_id": report.highest_id,
        "unused_count": report.unused_count,
        "unused_ranges": [list(stretch) for stretch in report.unused_ranges],
        "patterns": [
            {"name": pattern.name, "regex": name_value(pattern.regex), "fast": pattern.fast}
            for pattern in report.patterns
        ],
        "prefix_space": report.prefix_space,
        "ignore_merges": report.ignore_merges,
        "unicode_version": report.unicode_version,
        "special_tokens": [
            {"id": token.token_id, "token": text_value(token.content), "special": token.special}
            for token in report.special_tokens
        ],
        "settings": [{"what": what, "value": name_value(value)} for what, value in report.settings],
        "bytes_without_token": None if report.bytes_without_token is None else list(report.bytes_without_token),
        "kinds": {
            "single_bytes": report.kinds.single_bytes,
            "not_utf8": report.kinds.not_utf8,
            "leading_space": report.kinds.leading_space,
            "white_space": report.kinds.white_space,
            "digits": report.kinds.digits,
        },
        "mean_length": report.mean_length,
        "lengths": [list(pair) for pair in report.lengths],
        "longest": [
            {
                "id": token.token_id,
                "token": text_value(token.content),
                "byte_count": token.byte_count,
                "character_count": token.character_count,
            }
            for token in report.longest
        ],
        "facts": _facts(report.facts),
        "format": report.format,
        "usage": [{"what": what, "value": name_value(value)} for what, value in report.usage],
    }


def _facts(facts: Sequence[tuple[str, Fact]]) -> dict[str, Any]:
    """Return settings as an object.

    >>> _facts([("a", 1), ("b", "x"), ("b", "y")])
    {'a': 1, 'b': ['x', 'y']}
    """
    values: dict[str, list[Any]] = {}
    for name, value in facts:
        values.setdefault(name, []).append(name_value(value) if isinstance(value, str) else value)
    return {name: each[0] if len(each) == 1 else each for name, each in values.items()}
