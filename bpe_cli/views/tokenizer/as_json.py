"""Write the report on a tokenizer, and what is known of single tokens, as plain JSON with a ``schema`` field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bpe_cli.reports.tokenizer.corpus_report import CorpusReport
from bpe_cli.reports.tokenizer.lookup import TokenCard
from bpe_cli.reports.tokenizer.reachability import LAYERS
from bpe_cli.reports.tokenizer.structure import Structure
from bpe_cli.reports.tokenizer.vocabulary_report import VocabularyReport
from bpe_cli.views.json_values import JsonWalker, Shape
from bpe_cli.views.tokenizer.reachability import listed_layers

if TYPE_CHECKING:
    from bpe_cli.reports.tokenizer.health import Finding, HealthReport
    from bpe_cli.reports.tokenizer.reachability import Reachability
    from bpe_cli.tokenizer.usage import Fact

VOCABULARY_SCHEMA = "bpe.inspect.tokenizer/1"
TOKENS_SCHEMA = "bpe.inspect.tokens/1"

MOST_DIGITS = 15
"""Longer numbers are no exact ones for many who read JSON."""


def _pairs(pairs: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"what": what, "value": value} for what, value in pairs]


def _facts(facts: Sequence[tuple[str, Fact]]) -> dict[str, Any]:
    """Return settings as an object.

    >>> _facts([("a", 1), ("b", "x"), ("b", "y")])
    {'a': 1, 'b': ['x', 'y']}
    """
    values: dict[str, list[Any]] = {}
    for name, value in facts:
        values.setdefault(name, []).append(value)
    return {name: each[0] if len(each) == 1 else each for name, each in values.items()}


SHAPES = {
    "vocabulary_report.VocabularyReport": Shape(
        "schema name fingerprint kind algorithm ordinary_count special_count merge_count dead_merge_count highest_id "
        "unused_count unused_ranges patterns prefix_space ignore_merges unicode_version special_tokens settings "
        "bytes_without_token kinds mean_length lengths longest facts format usage",
        schema=lambda _: VOCABULARY_SCHEMA,
        special_tokens=lambda report: [
            {"id": token.token_id, "token": token.content, "special": token.special} for token in report.special_tokens
        ],
        settings=lambda report: _pairs(report.settings),
        bytes_without_token=lambda report: (
            None if report.bytes_without_token is None else list(report.bytes_without_token)
        ),
        facts=lambda report: _facts(report.facts),
        usage=lambda report: _pairs(report.usage),
    ),
    "vocabulary_report.LongToken": Shape("id=token_id token=content byte_count character_count"),
    "contents.NamedToken": Shape("id=token_id text=content"),
    "structure.Structure": Shape(
        "scripts character_lengths merge_tree cuts white_space digits duplicates unseen repeats",
        merge_tree=lambda structure: structure.merges and {**_value(structure.merges), "deepest": structure.deepest},
        digits=lambda structure: [run for run in structure.digits if run.length <= MOST_DIGITS],
        repeats=lambda structure: {"tokens": structure.repeat_count, "longest": structure.repeats},
    ),
    "structure.Scripts": Shape(
        "counts several without not_utf8 examples",
        examples=lambda scripts: [{**_value(token), "scripts": names} for token, names in scripts.examples],
    ),
    "merge_tree.MergeShape": Shape("made depths mean_depth leaves leaf_share"),
    "structure.TreeNode": Shape("level id=token.token_id text=token.content made"),
    "odd_tokens.WhiteSpaceRun": Shape("kind tokens lengths=stretches longest"),
    "odd_tokens.DigitRun": Shape("digits=length possible tokens=present tokens_with_space=present_spaced missing"),
    "contents.Redundancy": Shape("differ_by=name groups redundant share"),
    "odd_tokens.Repeat": Shape("unit tokens times token=longest"),
    "corpus_report.CorpusReport": Shape(
        "document_count byte_count token_count used unused unused_share special_used unknown at_most mean_count "
        "unused_is_rarer_than=bound rare head coverage unused_ids unused_by_kind unused_parts residues",
        unused_by_kind=lambda report: dict(
            zip(("not_utf8", "single_characters", "others"), report.unused_by_kind, strict=True)
        ),
        residues=lambda report: None if report.residue_count is None else {
            "count": report.residue_count, "never_final": report.never_final, "most_made": report.residues,
        },
    ),
    "corpus_report.UsedToken": Shape("id=token.token_id text=token.content count frequency"),
    "corpus_report.Residue": Shape("id=token.token_id text=token.content final made ratio"),
    "lookup.TokenCard": Shape(
        "id=token.token_id text=token.content bytes written character_count kind score rank depth tree tree_is_cut "
        "children child_count descendant_count dead_merges dead_merge_count variants reachable=verdict "
        "corpus=occurrence",
        bytes=lambda card: card.token.content.hex(),
    ),
    "lookup.DeadMerge": Shape("rank=number left right product"),
    "lookup.Variant": Shape("id=token.token_id text=token.content differs_by"),
    "reachability.Verdict": Shape("reachable layer witness reason"),
}  # fmt: skip
"""What is called otherwise than in the report, what is left out, and what is derived."""

_value: JsonWalker = JsonWalker(SHAPES)


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
    return dict(_value(report))


def health_json(report: HealthReport, *, full: bool = False) -> dict[str, Any]:
    """Return the report on a tokenizer.

    Fields:
        Those of ``vocabulary_json``, and ``findings``, ``structure``, ``reachability`` and ``corpus`` (null without a
        corpus): see ``findings_json``, ``structure_json``, ``reachability_json`` and ``corpus_json``.
    """
    return {
        **vocabulary_json(report.vocabulary),
        "findings": findings_json(report.findings),
        "structure": structure_json(report.structure),
        "reachability": reachability_json(report.reachability, full=full),
        "corpus": None if report.corpus is None else corpus_json(report.corpus),
    }


def findings_json(found: Sequence[Finding]) -> list[dict[str, Any]]:
    """Return the summary: each finding with ``good`` (else it is to be looked at), ``about`` and ``text``."""
    return list(_value(found))


def structure_json(structure: Structure) -> dict[str, Any]:
    """Return how a vocabulary is built.

    A token is an object with ``id`` and ``text``, which is what it stands for. Shares are parts of all ordinary tokens.

    Fields:
        scripts: Each with ``name``, ``tokens``, ``share``, most first; ``several``, ``without`` and
            ``not_utf8`` count the tokens that are in none of them. ``examples``: tokens of several
            scripts, with ``scripts``.
        character_lengths: [characters, tokens] pairs, ascending.
        merge_tree: ``made``, ``depths`` ([merges on top of each other, tokens] pairs), ``mean_depth``, ``leaves``
            (tokens that no merge builds on), ``leaf_share``, ``deepest`` (each with ``token``, ``depth`` and ``tree``:
            from the root, left parts first, each with ``level``, ``id``, ``text``, and ``made``: whether its parts
            follow); null if the model does not merge.
        cuts: How tokens that are not UTF-8 cut characters: ``name``, ``tokens``, ``single_bytes``, ``examples``.
        white_space: Tokens of white space only: ``kind``, ``tokens``, ``lengths`` as [first, last], ``longest``.
        digits: For each length up to 15: ``digits``, ``possible``, ``tokens``, ``tokens_with_space``,
            ``missing`` (the first).
        duplicates: ``kinds``, each with ``differ_by``, ``groups``, ``redundant``, ``share``; and ``examples``:
            groups of tokens.
        unseen: Tokens with characters that nobody sees: ``name``, ``tokens``, ``examples``.
        repeats: ``tokens``, how many repeat one thing four times or more, and ``longest`` of each thing: ``unit``,
            ``tokens``, ``times``, ``token``.
    """
    return dict(_value(structure))


def reachability_json(reachability: Reachability, *, full: bool = False) -> dict[str, Any]:
    """Return what is known of which tokens text can become, as plain JSON.

    Fields:
        examined, reachable, unreachable, undecided: Numbers of tokens; special tokens that no text becomes
            are in none of the last three.
        layers: Each with ``layer``, ``tokens`` and ``meaning``.
        tokens: Those that are not plainly reachable, by id; without ``full`` also without those of the layers
            ``context``, ``completion``, ``fallback`` and ``special``. Each with ``id``, ``token``,
            ``reachable`` (null: undecided), ``layer``, ``witness`` and ``reason`` (either can be null).
    """
    layers = (*listed_layers(full=full), "special", "plain") if full else listed_layers(full=full)
    return {
        "examined": reachability.examined,
        "reachable": reachability.reachable_count,
        "unreachable": reachability.unreachable_count,
        "undecided": reachability.undecided_count,
        "layers": [
            {"layer": layer, "tokens": tokens, "meaning": LAYERS[layer]} for layer, tokens in reachability.counts
        ],
        "tokens": [
            _value({"id": token_id, "token": reachability.contents[token_id], **_value(verdict)})
            for token_id, verdict in reachability.verdicts.items()
            if verdict.layer in layers
        ],
    }


def corpus_json(report: CorpusReport) -> dict[str, Any]:
    """Return what a corpus uses of a vocabulary; tokens are ordinary ones, if nothing else is said.

    Fields:
        document_count, byte_count, token_count: Of the corpus; ``token_count`` includes special tokens.
        used, unused, unused_share, special_used: How many tokens of the vocabulary occur, or do not.
        unknown: How often the unknown token occurs; null if the model has none.
        at_most: [limit, tokens that occur at most so often] pairs.
        mean_count: How often each would occur if all were equal, or null.
        unused_is_rarer_than: With 95% confidence, a token that does not occur is; null for an empty corpus.
        rare: Each with ``frequency``, ``tokens`` below it, ``needed`` tokens to say so of one that does not occur, and
            ``known``: whether the corpus has so many.
        head: The most frequent tokens, special ones included: ``id``, ``text``, ``count``, ``frequency``.
        coverage: [share, how many of the most frequent tokens make up at least that share] pairs.
        unused_ids: All that do not occur, ascending.
        unused_by_kind: How many of them are ``not_utf8``, ``single_characters``, ``others``.
        unused_parts: How many of them are parts of tokens that occur, or null.
        residues: Tokens that are made to be merged on: how many (``count``), how many of them never stay a token
            (``never_final``), and the ``most_made``, each with ``id``, ``text``, ``final``, ``made``,
            ``ratio``; or null.
    """
    return dict(_value(report))


def cards_json(name: str | None, cards: Sequence[TokenCard]) -> dict[str, Any]:
    """Return what is known of single tokens.

    Fields:
        schema: ``bpe.inspect.tokens/1``.
        tokenizer: Its name, or null.
        tokens: Each with ``id``, ``text`` (what it stands for), ``bytes`` (the same, in hexadecimal), ``written``
            (how the vocabulary writes it), ``character_count`` (null if it is not UTF-8), ``kind``, ``score`` and
            ``rank`` (or null), ``depth``, ``tree`` (as in ``merge_tree.deepest``; ``tree_is_cut`` if it goes on),
            ``children`` (the first tokens that are built on it), ``child_count`` and ``descendant_count`` (null without
            merge tree), ``dead_merges`` (the first merges that are left out and would make or use it; ``rank``,
            ``left``, ``right``, ``product``) and ``dead_merge_count``, ``variants`` (each with ``id``, ``text``,
            ``differs_by``), ``reachable`` (null if that was not examined; ``reachable``, ``layer``, ``witness``,
            ``reason``), ``corpus`` (null without one; ``count``, ``frequency``, ``made``).
    """
    return {"schema": TOKENS_SCHEMA, "tokenizer": _value(name), "tokens": _value(cards)}
