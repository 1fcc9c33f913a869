"""Write stages as JSON: as in Hugging Face's files, and as the core takes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from bpe_cli.stages.components import Decoder, Normalizer, PreTokenizer, Replace, ReplaceDecoder, Split
from bpe_cli.stages.models import Model
from bpe_cli.support.fast_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


_SUFFIXES = ("Normalizer", "Decoder")
_OWN_NAMES = {"BertNormalizer", "BPEDecoder"}


def type_name(kind: type) -> str:
    """Return the ``type`` of a component: its class's name, without what only tells classes apart.

    >>> from bpe_cli.stages import BertNormalizer, ByteLevelNormalizer, StripDecoder
    >>> [type_name(kind) for kind in (BertNormalizer, ByteLevelNormalizer, StripDecoder)]
    ['BertNormalizer', 'ByteLevel', 'Strip']
    """
    name = kind.__name__
    if name not in _OWN_NAMES:
        for suffix in _SUFFIXES:
            name = name.removesuffix(suffix)
    return name


def component(stage: Normalizer | PreTokenizer | Decoder) -> dict[str, Any]:
    """Return a component as Hugging Face's files have it.

    >>> from bpe_cli.stages import Replace
    >>> component(Replace(" {2,}", " "))
    {'type': 'Replace', 'pattern': {'Regex': ' {2,}'}, 'content': ' '}
    """
    content = {"type": type_name(type(stage))} | {name: getattr(stage, name) for name in stage.__match_args__}
    literal = content.pop("literal", None)
    if literal is not None:
        content["pattern"] = {"String" if literal else "Regex": content["pattern"]}
    return content


def expressions(stages: Iterable[Normalizer | PreTokenizer | Decoder]) -> Iterator[str]:
    """Yield the regular expressions of stages."""
    for stage in stages:
        if isinstance(stage, (Split, Replace, ReplaceDecoder)) and not stage.literal:
            yield stage.pattern


def core_spec(normalizers: Sequence[Normalizer], pre_tokenizers: Sequence[PreTokenizer]) -> str:
    """Return the stages before the model as the core takes them: JSON for ``_core.Stages``.

    Raises:
        UsageError: if their expressions would take too much memory.
    """
    import json

    from bpe_cli.support.regex_size import check_size

    check_size(expressions((*normalizers, *pre_tokenizers)))
    return json.dumps(
        {
            "normalizers": [component(stage) for stage in normalizers],
            "pre_tokenizers": [_core_pre_tokenizer(stage) for stage in pre_tokenizers],
        }
    )


def _core_pre_tokenizer(stage: PreTokenizer) -> dict[str, Any]:
    from bpe_cli.stages.splitters import known_cuts

    known = None
    if isinstance(stage, Split) and stage.behavior == "Isolated" and not stage.invert and not stage.literal:
        known = known_cuts(stage.pattern)
    return known or component(stage)


_CORE_MODELS = {
    "bpe-characters": "CharacterPairs",
    "bpe-events": "Events",
    "bpe-scores": "ScoredPairs",
    "wordpiece": "WordPiece",
    "word-level": "WordLevel",
    "unigram": "Unigram",
    "longest-match": "LongestMatch",
    "fewest-tokens": "FewestTokens",
    "max-match": "MaxMatch",
    "greedy-cover": "GreedyCover",
    "n-gram": "NGram",
}
_TABLES = {"vocabulary", "merges", "events", "scores", "frequencies", "kinds", "kind"}


def core_model(model: Model) -> str:
    """Return a model, without its tables, as JSON for ``_core.Encoder``."""
    import json

    if model.kind == "bpe-ranks":
        return json.dumps({"type": "BytePairs", "ranks": True, "whole_pieces": True})
    if model.kind == "bpe-merges":
        return json.dumps({"type": "BytePairs", "ranks": False, "whole_pieces": model.ignore_merges})
    settings = {name: getattr(model, name) for name in model.__match_args__ if name not in _TABLES}
    return json.dumps({"type": _CORE_MODELS[model.kind], **settings})
