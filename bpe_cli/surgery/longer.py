"""What the operations share: models whose merges are listed, and such models with further tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from bpe_cli.errors import InputError
from bpe_cli.stages import CharacterBpe, MergeBpe, Model, RankBpe
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.merging import as_merges, as_ranks

Merging = MergeBpe | CharacterBpe


def listed(model: Model) -> Merging | None:
    """Return a model whose merges are listed; None if it does not merge pairs by a list or by ranks."""
    if isinstance(model, CharacterBpe):
        return model
    return as_merges(model) if isinstance(model, (RankBpe, MergeBpe)) else None


def longer(model: Merging, size: int, texts: Iterable[bytes], merges: Merges) -> Merging:
    """Return a model with further tokens, whose ids run from ``size``, and with other merges."""
    present = [model.vocabulary.token(token_id) for token_id in range(model.vocabulary.size)]
    padding = [b""] * (size - len(present))
    return replace(model, vocabulary=Vocabulary.from_tokens([*present, *padding, *texts]), merges=merges)


def as_before(before: Model, longer: Merging, whose: str) -> tuple[Model, list[str]]:
    """Return a model with ranks if it had ranks before, and a note if no ranks do the same."""
    if not (isinstance(before, RankBpe) and isinstance(longer, MergeBpe)):
        return longer, []
    ranks = as_ranks(longer)
    return ranks or longer, [] if ranks else [f"no ranks do the same as the {whose}, so the result has merges"]


def first_few(contents: Sequence[bytes]) -> str:
    """Return the first texts of several, for a note."""
    shown = ", ".join(repr(content.decode("utf-8", "backslashreplace")) for content in contents[:3])
    return f"{shown}{', ...' if len(contents) > 3 else ''}"


def encoded(tokenizer: Tokenizer, content: bytes) -> tuple[int, ...] | None:
    """Return the ids of a text; None if it cannot be encoded."""
    try:
        return tuple(tokenizer.encode(content))
    except InputError:
        return None
