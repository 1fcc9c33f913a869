"""Change a tokenizer that there is: add tokens, prune, let training go on, merge two.

Each operation is a function from a tokenizer to an ``Operation``: the new one, and which ids became which,
so that embeddings can be moved.
"""

from __future__ import annotations

from bpe_cli.surgery.growing import add_tokens, extend, merge
from bpe_cli.surgery.operation import Operation, count_pieces, used_ids
from bpe_cli.surgery.pruning import prune, skeleton

__all__ = ["Operation", "add_tokens", "count_pieces", "extend", "merge", "prune", "skeleton", "used_ids"]
