"""Options of every trainer, made from its dataclass: a field that is added is tested without anybody thinking of it."""

from __future__ import annotations

import types
import typing
from dataclasses import MISSING, dataclass, fields
from functools import cache
from itertools import chain
from typing import Any, Literal

from bpe_cli.stages.named_stages import normalizers_named, pre_tokenizers_named
from bpe_cli.support.blocks import Block
from bpe_cli.trainers import ALGORITHMS, TRAINERS
from bpe_cli.trainers.base import Trainer
from bpe_cli.trainers.counts import new_counts
from bpe_cli.trainers.sentencepiece_options import OF_MODELS

WORDS = "low low lower lowest newest newest widest slow\nun do undo é 12 a1 ! ## new</w>"

TEXTS = {
    "pattern": (r"\w+|\W", ""),
    "run_pattern": (r"\d+|[^\w ]+", ""),
    "end_of_word_suffix": ("", "_", "</s>"),
    "continuing_subword_prefix": ("##", "@@"),
    "unk_token": ("[U]",),
    "characters": ("xyz",),
    "boundary_mark": ("w",),
    "required_chars": ("xé",),
    "punctuation": ("!", "we"),
    "unk_piece": ("<u>",), "bos_piece": ("<b>",), "eos_piece": ("<e>",), "pad_piece": ("<p>",), "unk_surface": ("?",),
}  # fmt: skip
LISTS = {
    "special_tokens": (("<s>",), ("<s>", "[UNK]", "low"), ("[CLS]", "[SEP]", "[UNK]")),
    "boundaries": (("lo|w", "un|do"),),
    "user_defined": (("<x>", "ne"),),
    "never_within": ((), ("w e", "t")),
    "factors": ((1.0,), (2.0, 0.5)),
}
NUMBERS: dict[str, tuple[float, ...]] = {
    "vocab_size": (30, 60, 256, 700),
    "merges": (5, 12),
    "min_frequency": (1, 2, 3),
    "limit_alphabet": (4, 9),
    "max_token_length": (2, 3),
    "max_digits": (0, 1),
    "max_words": (1, 2),
    "switch": (0, 4, 9),
    "character_coverage": (0.98, 0.99),
    "coverage": (0.5, 0.9),
    "seed_size": (12, 40),
    "shrinking_factor": (0.5, 0.9),
    "sub_iterations": (1, 3),
    "max_piece_length": (2, 4),
    "max_sentence_length": (45,),
    "input_sentence_size": (1,),
    "max_input_chars_per_word": (4,),
    "rounds": (1, 2),
    "min_word_count": (2, 3),
    "overshoot": (1.0, 3.0),
    "delta": (0.0, 0.1),
    "threshold": (0.3, 1.0),
    "lines_per_word": (0.5, 1),
    "lines_per_count": (1,),
    "ratio": (0.5, 3),
    "dictionary_size": (3,),
    "n": (1, 3),
    "max_memory": (1 << 20,),
    "candidate_memory": (1 << 20,),
    "unk_id": (2,), "bos_id": (-1,), "eos_id": (-1,), "pad_id": (3,),
}  # fmt: skip


OF_LANGUAGES = ("parity", "window", "window_alpha", "shared_merges", "pass_over", "ratios", "preload", "languages")
"""Options that need corpora with names: tests/unit/trainers/test_parity.py has them."""


@dataclass(frozen=True)
class Kind:
    """A trainer, and what of its options is fixed."""

    name: str
    trainer: Trainer[Any]
    fixed: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        return self.name

    @property
    def field_names(self) -> list[str]:
        """The options that it has."""
        fixed = dict(self.fixed)
        model = fixed.get("model", "")
        return [
            each.name
            for each in fields(self.trainer.Options)
            if each.name not in fixed
            and each.name not in OF_LANGUAGES
            and (not model or model in OF_MODELS.get(each.name, (model,)))
        ]

    def make(self, chosen: dict[str, Any]) -> Any:
        """Make options: those chosen; what is needed besides has its first value."""
        needed = {each.name for each in fields(self.trainer.Options) if each.default is MISSING}
        usual = {name: self.values(name)[-1] for name in needed - dict(self.fixed).keys()}
        if self.name == "bpe" and "vocab_size" not in chosen and "merges" not in chosen:
            usual["vocab_size"] = 700
        return self.trainer.Options(**{**dict(self.fixed), **usual, **chosen})

    @cache  # noqa: B019  # kinds live as long as the tests
    def values(self, name: str) -> tuple[Any, ...]:
        """Return values of a field other than its default."""
        if (self.name, name) == ("byte", "vocab_size"):
            return (256,)  # it is no choice
        default = next(each.default for each in fields(self.trainer.Options) if each.name == name)
        found = _values(name, typing.get_type_hints(self.trainer.Options)[name])
        return tuple(value for value in found if value != default)


KINDS = [
    *(Kind(name, TRAINERS[name]) for name in ALGORITHMS),
    *(
        Kind(f"{name} {model}", trainer, (("model", model),))
        for name, trainer in TRAINERS.items()
        for model in trainer.follows
    ),
]


def _values(name: str, kind: Any) -> list[Any]:
    if isinstance(kind, types.UnionType) or typing.get_origin(kind) is typing.Union:
        return list(chain.from_iterable([None] if each is type(None) else _values(name, each)
                                        for each in typing.get_args(kind)))  # fmt: skip
    if typing.get_origin(kind) is Literal:
        return list(typing.get_args(kind))
    if kind is bool:
        return [True, False]
    if kind in (int, float):
        return [kind(number) for number in NUMBERS[name]]
    if kind is str:
        return list(TEXTS[name])
    if typing.get_origin(kind) is tuple and typing.get_args(kind)[0] in (str, float):
        return list(LISTS[name])
    if name == "normalizer":
        return [normalizers_named(each) for each in ("lowercase", "nfkc", "none")]
    assert name == "pre_tokenizer", f"{name} needs values in tests/trainer_options.py"
    return [pre_tokenizers_named(each) for each in ("whitespace", "metaspace", "bert", "none")]


def counted(kind: Kind, options: Any, texts: list[bytes]) -> Any:
    """Count texts as ``bpe train`` does."""
    if kind.trainer.takes_lines(options):
        texts = [line for text in texts for line in text.splitlines()]
    counts = new_counts()
    kind.trainer.count([Block.of(texts)], options, counts)
    return counts
