"""Change an existing tokenizer: add tokens, prune it, train it further, merge two.

Each operation is a function from a tokenizer to an ``Operation``: the new one, and which ids became which,
so that embeddings can be moved.
"""

from __future__ import annotations

from bpe_cli.surgery.growing import add_tokens, extend, with_special_tokens
from bpe_cli.surgery.learning import check_extensible, learns_superwords
from bpe_cli.surgery.operation import Operation, chained, count_pieces, used_ids
from bpe_cli.surgery.pruning import check_prunable, prune, skeleton
from bpe_cli.surgery.replacing import prune_and_extend, replace_tokens
from bpe_cli.surgery.residues import split_residues
from bpe_cli.surgery.uniting import merge

__all__ = [
    "Operation",
    "add_tokens",
    "chained",
    "check_extensible",
    "check_prunable",
    "count_pieces",
    "extend",
    "learns_superwords",
    "merge",
    "prune",
    "prune_and_extend",
    "replace_tokens",
    "skeleton",
    "split_residues",
    "used_ids",
    "with_special_tokens",
]
