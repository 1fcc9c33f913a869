"""Train tokenizers: one module an algorithm, each an options dataclass and the calls into the core."""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType
from typing import TYPE_CHECKING, Any

from bpe_cli.trainers import base, bbpe, bpe, byte, char, maxmatch, ngram, sentencepiece, unigram, word, wordpiece

if TYPE_CHECKING:
    from bpe_cli import _core
    from bpe_cli.support.blocks import Block
    from bpe_cli.tokenizer import Tokenizer

TRAINERS: dict[str, ModuleType] = {
    "bbpe": bbpe,
    "bpe": bpe,
    "wordpiece": wordpiece,
    "unigram": unigram,
    "char": char,
    "word": word,
    "ngram": ngram,
    "byte": byte,
    "maxmatch": maxmatch,
}
"""The algorithms of ``train -a``, by name; ``base`` says what such a module has."""


def count(trainer: ModuleType, blocks: Iterable[Block], options: Any, counts: _core.Counts, threads: int = 1) -> None:
    """Send documents through an algorithm's stages and add their pieces to counts.

    Raises:
        TrainingError: There are more different pieces than the counts' memory holds.
    """
    if trainer is bbpe:  # its splitters have a shorter way
        bbpe.count(blocks, options, counts, threads)
        return
    split = options.special_tokens if getattr(options, "split_special", False) else ()
    base.count(blocks, trainer.front(options), counts, threads, split)


def train(texts: Iterable[str | bytes], options: Any) -> Tokenizer:
    """Train a tokenizer on texts that fit into memory, each a document; the options choose the algorithm.

    >>> tokenizer = train(["low lower lowest"] * 3, bbpe.Options(vocab_size=258))
    >>> [tokenizer.token_bytes(token_id) for token_id in (256, 257)]
    [b'lo', b'low']

    Raises:
        TrainingError: There is no text, or the vocabulary is smaller than its alphabet.
        UsageError: The options contradict each other, or a number is too large.
    """
    from bpe_cli.support.blocks import Block

    base.check_numbers(options)
    modules = (*TRAINERS.values(), sentencepiece)
    trainer = next(module for module in modules if isinstance(options, module.Options))
    documents = [text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text for text in texts]
    if trainer.documents(options) == "lines":
        documents = [line for document in documents for line in document.splitlines()]
    counts = base.new_counts()
    blocks: Iterable[Block] = [Block.of(documents)]
    if hasattr(trainer, "chosen"):
        blocks = trainer.chosen(blocks, options)
    count(trainer, blocks, options, counts)
    trained: base.Trained = trainer.train(counts, options)
    return trained.tokenizer
