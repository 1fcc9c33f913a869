"""Give reports as plain JSON values, with a ``schema`` field that says which version of which form.

In all of them a text from outside (a token, a name, a grapheme cluster) is a string when it is UTF-8,
else an object ``{"bytes": "e8b0"}`` with its bytes in hexadecimal. A number that there is not is null.
Strings are not made harmless for terminals: write them with ``ensure_ascii``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bpe_cli.reports.comparison import Comparison, Row
from bpe_cli.reports.segmentation import Segmentation
from bpe_cli.reports.vocabulary_report import VocabularyReport

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bpe_cli.usage import Fact

    Json = Mapping[str, Any]

SEGMENTATION_SCHEMA = "bpe.inspect.text/1"
TEXTS_SCHEMA = "bpe.inspect.texts/1"
VOCABULARY_SCHEMA = "bpe.inspect.tokenizer/1"
COMPARISON_SCHEMA = "bpe.compare/1"


def to_json(report: Segmentation | VocabularyReport | Comparison) -> dict[str, Any]:
    """Give a report as JSON: see ``segmentation_json``, ``vocabulary_json`` and ``comparison_json``."""
    if isinstance(report, Segmentation):
        return segmentation_json(report)
    if isinstance(report, VocabularyReport):
        return vocabulary_json(report)
    return comparison_json(report)


def segmentation_json(report: Segmentation) -> dict[str, Any]:
    """Give a text as tokens.

    Fields:
        schema: ``bpe.inspect.text/1``.
        tokenizer: Its name, or null.
        token_count, byte_count, character_count: Totals.
        bytes_per_token, characters_per_token: Numbers, or null.
        round_trip: Whether decoding gives exactly the text; if not, ``differs_at`` is the first byte
            that differs (else null).
        tokens: In order, each with ``id``, ``token``, ``bytes`` and ``characters`` ([start, end) in
            the text), ``special`` and ``piece`` (number of its piece; null for special tokens).
        split: Grapheme clusters that lie in several tokens, each with ``text``, ``tokens``
            ([first, end) numbers) and ``contents`` (hexadecimal, one per token).
    """
    return {
        "schema": SEGMENTATION_SCHEMA,
        "tokenizer": _name(report.tokenizer),
        "token_count": report.token_count,
        "byte_count": report.byte_count,
        "character_count": report.character_count,
        "bytes_per_token": report.bytes_per_token,
        "characters_per_token": report.characters_per_token,
        "round_trip": report.round_trip,
        "differs_at": report.differs_at,
        "tokens": [
            {
                "id": token.token_id,
                "token": _text(token.content),
                "bytes": [token.start, token.end],
                "characters": [token.character_start, token.character_end],
                "special": token.special,
                "piece": token.piece,
            }
            for token in report.tokens
        ],
        "split": [
            {
                "text": _name(split.text),
                "tokens": [split.first, split.first + len(split.contents)],
                "contents": [content.hex() for content in split.contents],
            }
            for split in report.splits
        ],
    }


def texts_json(reports: Sequence[Segmentation]) -> dict[str, Any]:
    """Write one text as ``segmentation_json`` does, and several as one object.

    Schema ``bpe.inspect.texts/1``: ``texts`` is a list of ``bpe.inspect.text/1`` objects, in order.
    """
    if len(reports) == 1:
        return segmentation_json(reports[0])
    return {"schema": TEXTS_SCHEMA, "texts": [segmentation_json(report) for report in reports]}


def vocabulary_json(report: VocabularyReport) -> dict[str, Any]:
    """Give a tokenizer's report.

    Fields:
        schema: ``bpe.inspect.tokenizer/1``.
        name, fingerprint, unicode_version: Strings, or null.
        kind, algorithm: As ``bpe-ranks`` or ``unigram``, and the same in words.
        ordinary_count, special_count, unused_count: Numbers of ids; ``merge_count`` and
            ``highest_id`` can be null.
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
        "name": _name(report.name),
        "fingerprint": report.fingerprint,
        "kind": report.kind,
        "algorithm": report.algorithm,
        "ordinary_count": report.ordinary_count,
        "special_count": report.special_count,
        "merge_count": report.merge_count,
        "highest_id": report.highest_id,
        "unused_count": report.unused_count,
        "unused_ranges": [list(stretch) for stretch in report.unused_ranges],
        "patterns": [
            {"name": pattern.name, "regex": _name(pattern.regex), "fast": pattern.fast} for pattern in report.patterns
        ],
        "prefix_space": report.prefix_space,
        "ignore_merges": report.ignore_merges,
        "unicode_version": report.unicode_version,
        "special_tokens": [
            {"id": token.token_id, "token": _text(token.content), "special": token.special}
            for token in report.special_tokens
        ],
        "settings": [{"what": what, "value": _name(value)} for what, value in report.settings],
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
                "token": _text(token.content),
                "byte_count": token.byte_count,
                "character_count": token.character_count,
            }
            for token in report.longest
        ],
        "facts": _facts(report.facts),
        "format": report.format,
        "usage": [{"what": what, "value": _name(value)} for what, value in report.usage],
    }


def _facts(facts: Sequence[tuple[str, Fact]]) -> Json:
    """Give settings as an object.

    >>> _facts([("a", 1), ("b", "x"), ("b", "y")])
    {'a': 1, 'b': ['x', 'y']}
    """
    values: dict[str, list[Any]] = {}
    for name, value in facts:
        values.setdefault(name, []).append(_name(value) if isinstance(value, str) else value)
    return {name: each[0] if len(each) == 1 else each for name, each in values.items()}


def comparison_json(report: Comparison) -> dict[str, Any]:
    """Give a comparison.

    Fields:
        schema: ``bpe.compare/1``.
        tokenizers: Each with ``name`` and ``vocab_size``; results below stand in their order.
        inputs: Each with ``name``, ``document_count``, ``byte_count``, ``character_count``, ``results``
            (per tokenizer ``token_count``, ``bytes_per_token``, ``characters_per_token`` and ``ratio``,
            tokens per token of the first tokenizer) and ``best`` (numbers of the tokenizers with the
            fewest tokens; empty when all are equal).
        total: The same for all inputs together: ratios of sums.
        passages: Short texts, each with ``input``, ``document`` (its number there) and
            ``segmentations``, each as in ``bpe.inspect.text/1``.
    """
    return {
        "schema": COMPARISON_SCHEMA,
        "tokenizers": [
            {"name": _name(name), "vocab_size": size}
            for name, size in zip(report.tokenizers, report.vocab_sizes, strict=True)
        ],
        "inputs": [_row(row) for row in report.rows],
        "total": _row(report.total),
        "passages": [
            {
                "input": _name(passage.source),
                "document": passage.document,
                "segmentations": [segmentation_json(each) for each in passage.segmentations],
            }
            for passage in report.passages
        ],
    }


def _row(row: Row) -> Json:
    return {
        "name": _name(row.name),
        "document_count": row.document_count,
        "byte_count": row.byte_count,
        "character_count": row.character_count,
        "results": [
            {
                "token_count": measure.token_count,
                "bytes_per_token": measure.bytes_per_token,
                "characters_per_token": measure.characters_per_token,
                "ratio": measure.ratio,
            }
            for measure in row.measures
        ],
        "best": list(row.best),
    }


def _text(content: bytes) -> str | dict[str, str]:
    r"""Give bytes as a string, or as an object when they are not UTF-8.

    >>> _text("谁".encode()), _text(b"\xe8\xb0")
    ('谁', {'bytes': 'e8b0'})
    """
    try:
        return content.decode()
    except UnicodeDecodeError:
        return {"bytes": content.hex()}


def _name(name: str | None) -> str | dict[str, str] | None:
    """Give a name, which may hold bytes that are not UTF-8 as lone surrogates."""
    return None if name is None else _text(name.encode("utf-8", "surrogateescape"))
