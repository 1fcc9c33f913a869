"""Train tokenizers: an algorithm is an options dataclass and a ``Trainer`` that calls the core."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bpe_cli.tokenizer import Tokenizer
    from bpe_cli.trainers.base import Options, Trainer

__all__ = ["ALGORITHMS", "COMPATS", "SUMMARIES", "TRAINERS", "compats_of", "train", "trainer_for", "trainer_of"]


class _Entry(NamedTuple):
    """An algorithm, described without importing its trainer, which takes longer than all of ``--help``.

    Attributes:
        place: The module of its trainer, and after a colon its name there where it is not ``TRAINER``.
        summary: What it is, for the help.
        compats: Whose rules it can follow, presets among them.
    """

    place: str
    summary: str
    compats: tuple[str, ...] = ()


_ENTRIES = {
    "bbpe": _Entry("bbpe", "byte-level BPE", ("hf", "rustbpe", "minbpe", "subword-nmt", "course")),
    "bpe": _Entry("bpe", "BPE over characters", ("subword-nmt", "hf", "sentencepiece", "course", "textbook")),
    "wordpiece": _Entry("wordpiece", "BERT's pieces of words", ("hf", "tensorflow", "course")),
    "unigram": _Entry("unigram", "the most likely pieces", ("sentencepiece", "course")),
    "mingram": _Entry("mingram", "as few tokens as possible"),
    "picky": _Entry("picky", "BPE that takes tokens back"),
    "scaffold": _Entry("picky:SCAFFOLD", "BPE without its scaffolds"),
    "greedtok": _Entry("greedtok", "tokens that cover most of the words"),
    "char": _Entry("unmerged:CHAR", "characters", ("sentencepiece",)),
    "word": _Entry("unmerged:WORD", "words", ("sentencepiece",)),
    "ngram": _Entry("unmerged:NGRAM", "runs of characters"),
    "byte": _Entry("unmerged:BYTE", "the 256 bytes"),
    "maxmatch": _Entry("maxmatch", "dictionaries of Chinese words"),
    "list": _Entry("token_list", "your own list of tokens"),
}
"""The algorithms of ``train -a``: adding one is a module with its trainer, and a line here."""

_FOLLOWING = {"sentencepiece": "sentencepiece"}
"""The modules of trainers that train another's algorithm by rules of their own."""

ALGORITHMS = tuple(_ENTRIES)
"""The algorithms of ``train -a``."""

SUMMARIES: Mapping[str, str] = {name: entry.summary for name, entry in _ENTRIES.items()}
"""What each of them is."""

COMPATS = tuple(dict.fromkeys(compat for entry in _ENTRIES.values() for compat in entry.compats))
"""Whose rules ``train --compat`` can follow, by some algorithm."""


class _Trainers(Mapping[str, "Trainer[Any]"]):
    """Trainers by name, each imported when it is first used."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = places

    def __getitem__(self, name: str) -> Trainer[Any]:
        module, _, attribute = self._places[name].partition(":")
        trainer: Trainer[Any] = getattr(import_module(f"bpe_cli.trainers.{module}"), attribute or "TRAINER")
        return trainer

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, name: object) -> bool:
        return name in self._places


TRAINERS: Mapping[str, Trainer[Any]] = _Trainers({name: entry.place for name, entry in _ENTRIES.items()} | _FOLLOWING)
"""All trainers by name."""


def compats_of(algorithm: str) -> tuple[str, ...]:
    """Return the names of the libraries whose rules an algorithm can follow.

    >>> compats_of("char"), compats_of("byte")
    (('sentencepiece',), ())
    """
    return _ENTRIES[algorithm].compats


def trainer_of(algorithm: str, compat: str | None = None) -> Trainer[Any]:
    """Return the trainer of an algorithm by a library's rules: a trainer of that name, if it knows the algorithm.

    >>> trainer_of("bpe", "sentencepiece") is TRAINERS["sentencepiece"], trainer_of("bpe", "hf") is TRAINERS["bpe"]
    (True, True)
    """
    return TRAINERS[compat if compat in _FOLLOWING and compat in compats_of(algorithm) else algorithm]


def trainer_for(options: Options) -> Trainer[Any]:
    """Return the trainer that these options belong to.

    Raises:
        TypeError: if the options belong to no trainer.
    """
    for trainer in TRAINERS.values():
        if isinstance(options, trainer.Options):
            return trainer
    raise TypeError(f"options are made by a trainer's module, as bbpe.Options(...), and not a {type(options).__name__}")


def train(texts: Iterable[str | bytes], options: Options) -> Tokenizer:
    """Train a tokenizer on texts that fit into memory, each a document; the options choose the algorithm.

    >>> from bpe_cli.trainers import bbpe
    >>> tokenizer = train(["low lower lowest"] * 3, bbpe.Options(vocab_size=258))
    >>> [tokenizer.token_bytes(token_id) for token_id in (256, 257)]
    [b'lo', b'low']

    Raises:
        TrainingError: if there is no text, or the vocabulary is smaller than its alphabet.
        UsageError: if the options contradict each other, a number is too large, or a text of them is not UTF-8.
        InputError: if a text has a lone surrogate.
    """
    from bpe_cli.support.blocks import Block, lines_of
    from bpe_cli.support.core_arguments import bytes_of
    from bpe_cli.trainers.counts import new_counts
    from bpe_cli.trainers.option_checks import check_options

    trainer = trainer_for(options)
    check_options(options)
    documents = [bytes_of(text) for text in texts]
    if trainer.takes_lines(options):
        documents = [line for document in documents for line in lines_of(document)]
    counts = new_counts()
    left_out = trainer.count([Block.of(documents)], options, counts)
    left_out.refuse_nothing(counts.unique)
    return trainer.train(counts, options).tokenizer
