"""Write the health report on a tokenizer, and what is known of single tokens, as plain JSON."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from bpe_cli.views.json_values import name_value, text_value
from bpe_cli.views.tokenizer.as_json import vocabulary_json
from bpe_cli.views.tokenizer.reachability import reachability_json

if TYPE_CHECKING:
    from bpe_cli.reports.tokenizer.contents import NamedToken
    from bpe_cli.reports.tokenizer.corpus_report import CorpusReport
    from bpe_cli.reports.tokenizer.findings import Finding
    from bpe_cli.reports.tokenizer.health import HealthReport
    from bpe_cli.reports.tokenizer.lookup import TokenCard
    from bpe_cli.reports.tokenizer.scripts import ScriptCount
    from bpe_cli.reports.tokenizer.structure import Structure, TreeNode

TOKENS_SCHEMA = "bpe.inspect.tokens/1"


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
    return [{"good": finding.good, "about": finding.about, "text": finding.text} for finding in found]


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
    scripts, shape = structure.scripts, structure.merges
    return {
        "scripts": {
            "counts": [_script(each) for each in scripts.counts],
            "several": _script(scripts.several),
            "without": _script(scripts.without),
            "not_utf8": _script(scripts.not_utf8),
            "examples": [{**_token(token), "scripts": list(names)} for token, names in scripts.examples],
        },
        "character_lengths": [list(pair) for pair in structure.character_lengths],
        "merge_tree": None if shape is None else {
            "made": shape.made,
            "depths": [list(pair) for pair in shape.depths],
            "mean_depth": shape.mean_depth,
            "leaves": shape.leaves,
            "leaf_share": shape.leaf_share,
            "deepest": [
                {"token": _token(each.token), "depth": each.depth, "tree": _tree(each.tree)}
                for each in structure.deepest
            ],
        },
        "cuts": [
            {
                "name": cut.name,
                "tokens": cut.tokens,
                "single_bytes": cut.single_bytes,
                "examples": [_token(token) for token in cut.examples],
            }
            for cut in structure.cuts
        ],
        "white_space": [
            {
                "kind": run.kind,
                "tokens": run.tokens,
                "lengths": [list(each) for each in run.stretches],
                "longest": run.longest,
            }
            for run in structure.white_space
        ],
        "digits": [
            {
                "digits": run.length,
                "possible": run.possible,
                "tokens": run.present,
                "tokens_with_space": run.present_spaced,
                "missing": list(run.missing),
            }
            for run in structure.digits
            if run.length <= 15  # more is no exact number for many who read JSON
        ],
        "duplicates": {
            "kinds": [
                {"differ_by": kind.name, "groups": kind.groups, "redundant": kind.redundant, "share": kind.share}
                for kind in structure.duplicates.kinds
            ],
            "examples": [[_token(token) for token in group] for group in structure.duplicates.examples],
        },
        "unseen": [
            {"name": kind.name, "tokens": kind.tokens, "examples": [_token(token) for token in kind.examples]}
            for kind in structure.unseen
        ],
        "repeats": {
            "tokens": structure.repeat_count,
            "longest": [
                {
                    "unit": text_value(repeat.unit.encode()),
                    "tokens": repeat.tokens,
                    "times": repeat.times,
                    "token": _token(repeat.longest),
                }
                for repeat in structure.repeats
            ],
        },
    }  # fmt: skip


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
    broken, single, others = report.unused_by_kind
    return {
        "document_count": report.document_count,
        "byte_count": report.byte_count,
        "token_count": report.token_count,
        "used": report.used,
        "unused": report.unused,
        "unused_share": report.unused_share,
        "special_used": report.special_used,
        "unknown": report.unknown,
        "at_most": [list(pair) for pair in report.at_most],
        "mean_count": report.mean_count,
        "unused_is_rarer_than": report.bound,
        "rare": [
            {"frequency": each.frequency, "tokens": each.tokens, "needed": each.needed, "known": each.known}
            for each in report.rare
        ],
        "head": [{**_token(each.token), "count": each.count, "frequency": each.frequency} for each in report.head],
        "coverage": [list(pair) for pair in report.coverage],
        "unused_ids": list(report.unused_ids),
        "unused_by_kind": {"not_utf8": broken, "single_characters": single, "others": others},
        "unused_parts": report.unused_parts,
        "residues": None if report.residue_count is None else {
            "count": report.residue_count,
            "never_final": report.never_final,
            "most_made": [
                {**_token(each.token), "final": each.final, "made": each.made, "ratio": each.ratio}
                for each in report.residues
            ],
        },
    }  # fmt: skip


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
    return {"schema": TOKENS_SCHEMA, "tokenizer": name_value(name), "tokens": [_card(card) for card in cards]}


def _card(card: TokenCard) -> dict[str, Any]:
    verdict, occurrence = card.verdict, card.occurrence
    return {
        **_token(card.token),
        "bytes": card.token.content.hex(),
        "written": text_value(card.written),
        "character_count": card.character_count,
        "kind": card.kind,
        "score": card.score if card.score is not None and isfinite(card.score) else None,
        "rank": card.rank,
        "depth": card.depth,
        "tree": _tree(card.tree),
        "tree_is_cut": card.tree_is_cut,
        "children": [_token(token) for token in card.children],
        "child_count": card.child_count,
        "descendant_count": card.descendant_count,
        "dead_merges": [
            {
                "rank": each.number, "left": _token(each.left), "right": _token(each.right),
                "product": _token(each.product),
            }
            for each in card.dead_merges
        ],
        "dead_merge_count": card.dead_merge_count,
        "variants": [{**_token(each.token), "differs_by": each.differs_by} for each in card.variants],
        "reachable": None if verdict is None else {
            "reachable": verdict.reachable,
            "layer": verdict.layer,
            "witness": None if verdict.witness is None else text_value(verdict.witness),
            "reason": name_value(verdict.reason),
        },
        "corpus": None if occurrence is None else {
            "count": occurrence.count,
            "frequency": occurrence.frequency,
            "made": occurrence.made,
        },
    }  # fmt: skip


def _token(token: NamedToken) -> dict[str, Any]:
    return {"id": token.token_id, "text": text_value(token.content)}


def _script(each: ScriptCount) -> dict[str, Any]:
    return {"name": each.name, "tokens": each.tokens, "share": each.share}


def _tree(nodes: Sequence[TreeNode]) -> list[dict[str, Any]]:
    return [{"level": node.level, **_token(node.token), "made": node.made} for node in nodes]
