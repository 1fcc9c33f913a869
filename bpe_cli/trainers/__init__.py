"""Train tokenizers: one module an algorithm, each an options dataclass and the calls into the core."""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType
from typing import TYPE_CHECKING

from bpe_cli.trainers import bbpe

if TYPE_CHECKING:
    from bpe_cli.tokenizer import Tokenizer

TRAINERS: dict[str, ModuleType] = {"bbpe": bbpe}
"""The algorithms of ``train -a``, by name."""


def train(texts: Iterable[str | bytes], options: bbpe.BbpeOptions) -> Tokenizer:
    """Train byte-level BPE on texts that fit into memory, each a document.

    >>> tokenizer = train(["low lower lowest"] * 3, bbpe.BbpeOptions(vocab_size=258))
    >>> [tokenizer.token_bytes(token_id) for token_id in (256, 257)]
    [b'lo', b'low']

    Raises:
        TrainingError: There is no text, or the vocabulary is smaller than its alphabet.
        UsageError: The options contradict each other.
    """
    from bpe_cli.blocks import Block

    documents = (text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text for text in texts)
    counts = bbpe.new_counts()
    bbpe.count([Block.of(documents)], options, counts)
    return bbpe.train(counts, options).tokenizer
