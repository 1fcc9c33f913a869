"""Train tokenizers: one module an algorithm, each an options dataclass and a ``Trainer`` that calls the core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bpe_cli.trainers import base, bbpe, bpe, maxmatch, sentencepiece, unigram, wordpiece
from bpe_cli.trainers.base import Options, Trainer
from bpe_cli.trainers.counts import new_counts
from bpe_cli.trainers.unmerged import Byte, Char, Ngram, Word

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bpe_cli.tokenizer import Tokenizer

__all__ = ["ALGORITHMS", "TRAINERS", "Options", "Trainer", "compats_of", "train", "trainer_for", "trainer_of"]

TRAINERS: dict[str, Trainer[Any]] = {
    "bbpe": bbpe.TRAINER,
    "bpe": bpe.TRAINER,
    "wordpiece": wordpiece.TRAINER,
    "unigram": unigram.TRAINER,
    "char": Char(),
    "word": Word(),
    "ngram": Ngram(),
    "byte": Byte(),
    "maxmatch": maxmatch.TRAINER,
    "sentencepiece": sentencepiece.TRAINER,
}
"""All trainers by name."""

ALGORITHMS = tuple(name for name, trainer in TRAINERS.items() if not trainer.follows)
"""The algorithms of ``train -a``: the trainers but those that train another's algorithm by rules of their own."""


def compats_of(algorithm: str) -> tuple[str, ...]:
    """Name whose rules an algorithm can follow.

    >>> compats_of("char"), compats_of("byte")
    (('sentencepiece',), ())
    """
    others = (name for name, trainer in TRAINERS.items() if algorithm in trainer.follows)
    return (*TRAINERS[algorithm].compats, *others)


def trainer_of(algorithm: str, compat: str | None = None) -> Trainer[Any]:
    """Return who trains an algorithm by somebody's rules: a trainer of that name, if it follows the algorithm.

    >>> trainer_of("bpe", "sentencepiece") is TRAINERS["sentencepiece"], trainer_of("bpe", "hf") is TRAINERS["bpe"]
    (True, True)
    """
    other = TRAINERS.get(compat) if compat is not None else None
    return other if other is not None and algorithm in other.follows else TRAINERS[algorithm]


def trainer_for(options: Options) -> Trainer[Any]:
    """Return whose options these are.

    Raises:
        TypeError: if they are nobody's.
    """
    for trainer in TRAINERS.values():
        if isinstance(options, trainer.Options):
            return trainer
    raise TypeError(f"options are made by a trainer's module, as bbpe.Options(...), and not a {type(options).__name__}")


def train(texts: Iterable[str | bytes], options: Options) -> Tokenizer:
    """Train a tokenizer on texts that fit into memory, each a document; the options choose the algorithm.

    >>> tokenizer = train(["low lower lowest"] * 3, bbpe.Options(vocab_size=258))
    >>> [tokenizer.token_bytes(token_id) for token_id in (256, 257)]
    [b'lo', b'low']

    Raises:
        TrainingError: if there is no text, or the vocabulary is smaller than its alphabet.
        UsageError: if the options contradict each other, or a number is too large.
    """
    from bpe_cli.support.blocks import Block

    trainer = trainer_for(options)
    base.check_numbers(options)
    documents = [text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text for text in texts]
    if trainer.takes_lines(options):
        documents = [line for document in documents for line in document.splitlines()]
    counts = new_counts()
    trainer.count([Block.of(documents)], options, counts)
    return trainer.train(counts, options).tokenizer
