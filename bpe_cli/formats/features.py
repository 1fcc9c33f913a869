"""The features of tokenizers that a format may be unable to hold: one list for errors, notes and the docs.

Each format says in ``MODELS`` which kinds of models and in ``HOLDS`` which features it can write. What
changes ids or text is refused unless a caller agrees to lose it, by the feature's name; what is only
about use is left out, and told.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import pairwise

from bpe_cli.errors import FormatError, LossError
from bpe_cli.formats import added_tokens
from bpe_cli.stages import ALGORITHMS, ByteLevel, MergeBpe, Model, PrefixSpace, PreTokenizer, ScoredBpe, Split
from bpe_cli.support.fast_dataclass import dataclass, replace
from bpe_cli.support.messages import accepting, quote
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.model_inputs import trims
from bpe_cli.tokenizer.post_processor import process

EDGES = "sentencepiece-edges"
"""The name of what differs between SentencePiece and others at the edges: see ``dialects``."""


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature that a tokenizer may have.

    Attributes:
        name: Its name, in ``--allow-loss`` and in the table of the docs.
        what: What it is.
        part_of: Returns whether a tokenizer has it, or how a message calls the part that it has.
        about_use: Whether ids and text stay the same without it.
    """

    name: str
    what: str
    part_of: Callable[[Tokenizer], bool | str]
    about_use: bool = False


def _special_tokens(tokenizer: Tokenizer) -> bool | str:
    tokens = tokenizer.special_tokens
    shown = ", ".join(quote(token.content) for token in tokens[:3])
    return f"the special tokens ({len(tokens)}: {shown})" if tokens else False


def _unspelt_tokens(tokenizer: Tokenizer) -> bool | str:
    texts = tokenizer.model.texts
    shown = ", ".join(f"{quote(text)} (id {token_id})" for token_id, text in texts[:3])
    return f"entries that no text becomes, and that are only decoded ({len(texts)}: {shown})" if texts else False


def _codebook(tokenizer: Tokenizer) -> bool | str:
    book = tokenizer.model.codebook
    return f"the words between {quote(book.open)} and {quote(book.close)}" if book is not None else False


def without_codebook(tokenizer: Tokenizer) -> Tokenizer:
    """Return a tokenizer that treats tags as ordinary text; the words between them are only decoded."""
    model = tokenizer.model
    if not isinstance(model, MergeBpe) or model.codebook is None:
        return tokenizer
    return replace(tokenizer, model=replace(model, codebook=None))


def _token_flags(tokenizer: Tokenizer) -> bool | str:
    flags = added_tokens.flags_present(added_tokens.effective_tokens(tokenizer))
    return added_tokens.name_flags(flags) if flags else False


def cuts_otherwise(stage: PreTokenizer) -> bool:
    """Return whether a pre-tokenizer does more than split, put a space before the text or spell bytes."""
    return not isinstance(stage, (ByteLevel, PrefixSpace)) and stage != Split(getattr(stage, "pattern", ""))


def _pre_tokenizer(tokenizer: Tokenizer) -> bool | str:
    others = list(filter(cuts_otherwise, tokenizer.pre_tokenizer))
    return f"the pre-tokenizer {type(others[0]).__name__}" if others else False


def _post_processor(tokenizer: Tokenizer) -> bool:
    """Return whether a post-processor does anything: puts tokens around a text or a pair, or trims spans."""
    try:
        return bool(trims(tokenizer.post_processor)) or any(
            process(tokenizer.post_processor, *texts) != process(None, *texts) for texts in ([[-1]], [[-1], [-2]])
        )
    except FormatError:  # what it does cannot be told
        return True


FEATURES: tuple[Feature, ...] = (
    Feature("ids", "the ids (its readers number tokens anew)", lambda t: True),  # noqa: ARG005  # all have some
    Feature("pattern", "the split pattern", lambda t: bool(t.patterns)),
    Feature("prefix-space", "the space before the text", lambda t: t.prefix_space),
    Feature("pre-tokenizer", "pre-tokenizers that do more than split", _pre_tokenizer),
    Feature("normalizer", "the normalizer", lambda t: bool(t.normalizer)),
    Feature("decoder", "the decoder", lambda t: bool(t.decoder)),
    # Only who puts a tokenizer into the other library's words can tell: ``dialects`` refuses it.
    Feature(EDGES, "what SentencePiece and Hugging Face do differently on rare texts", lambda _: False),
    Feature("special-tokens", "special and added tokens", _special_tokens),
    Feature("unspelt-tokens", "entries that no text becomes, and that are only decoded", _unspelt_tokens),
    Feature("codebook", "what is found between tags", _codebook),
    Feature("token-flags", "how added tokens are looked for", _token_flags),
    Feature("post-processor", "the post-processor", _post_processor),
    Feature("truncation", "the truncation", lambda t: t.usage.truncation is not None, about_use=True),
    Feature("padding", "the padding", lambda t: t.usage.padding is not None, about_use=True),
    Feature("roles", "the roles of special tokens", lambda t: bool(t.usage.roles), about_use=True),
    Feature("chat-templates", "the chat templates", lambda t: bool(t.usage.chat_templates), about_use=True),
    Feature("unicode-version", "the Unicode version of training", lambda t: bool(t.unicode_version), about_use=True),
)
"""All there are, in the order of the stages."""

LOSSES = frozenset(feature.name for feature in FEATURES if not feature.about_use)
"""What a caller may agree to lose."""


def losses(tokenizer: Tokenizer, holds: Collection[str]) -> dict[str, str]:
    """Return the lost features that change ids or text: feature -> its name in messages.

    A format that can hold a feature in some cases only adds to this, or takes from it, before
    ``refuse_losses``.
    """
    lost = _missing(tokenizer, holds, about_use=False)
    if "special-tokens" in lost:
        lost.pop("token-flags", None)  # they go with them
    return lost


def left_behind(
    tokenizer: Tokenizer, holds: Collection[str], roles: Mapping[str, str | None] | None = None
) -> list[str]:
    """Return what a file will not say about the use of a tokenizer: worth a note, but no reason to refuse.

    All but the Unicode version, which says how a tokenizer came about and nobody goes by. ``roles`` are those that the
    format knows, with the text that a token must have to be taken for it, None for any; None if it holds whatever role
    any token has.
    """
    left = _missing(tokenizer, holds, about_use=True)
    left.pop("unicode-version", None)
    if "roles" in holds and roles is not None:
        lost = [
            f"{role} ({quote(text)})"
            for role, token_id in tokenizer.usage.roles
            if roles.get(role, "") not in (None, text := tokenizer.token_bytes(token_id).decode("utf-8", "replace"))
        ]
        if lost:
            left["roles"] = f"the role{'s' * (len(lost) > 1)} {', '.join(lost)}"
    return list(left.values())


def _missing(tokenizer: Tokenizer, holds: Collection[str], *, about_use: bool) -> dict[str, str]:
    missing = {}
    for feature in FEATURES:
        if feature.about_use == about_use and feature.name not in holds:
            part = feature.part_of(tokenizer)
            if part:
                missing[feature.name] = feature.what if part is True else part
    return missing


def other_model(model: Model, kinds: Collection[str], holder: str, hint: str | None = None) -> FormatError:
    """Make the error for a model that a format cannot hold; the hint names the kinds that it can.

    The holder is what the file is called, as in "a .tiktoken file".
    """
    held = ", ".join(name for kind, name in ALGORITHMS.items() if kind in kinds)
    return FormatError(
        f"{holder} cannot hold {ALGORITHMS[model.kind]}",
        hint=hint or f'it holds {held}; bpe.json holds every model (`format="bpe.json"`)',
    )


def refuse_losses(lost: Mapping[str, str], allow_loss: Collection[str], holder: str) -> None:
    """Refuse to write a file that loses something without permission."""
    refused = [feature.name for feature in FEATURES if feature.name in lost and feature.name not in allow_loss]
    if refused:
        raise LossError(
            f"{holder} cannot hold {', '.join(lost[name] for name in refused)}",
            hint='write bpe.json, which holds everything (`format="bpe.json"`), or agree to lose it: '
            f"`{accepting(refused)}`",
            losses=tuple(refused),
        )


# --------------------------------------------------------------------------------------------------
# Hold scores to what can be added, compared and written again: finite numbers that a file can tell apart.


LARGEST_SINGLE = float.fromhex("0x1.fffffep+127")
"""The largest number in single precision."""


def check_scores(scores: Sequence[float], text_of: Callable[[int], bytes], where: str, *, single: bool = False) -> None:
    """Refuse scores that cannot be added in double or in single precision."""
    most = LARGEST_SINGLE if single else math.inf
    if all(map(math.isfinite, scores)) and (not single or all(-most <= score <= most for score in scores)):
        return
    token_id = next(n for n, score in enumerate(scores) if not math.isfinite(score) or abs(score) > most)
    why = "that is too large for single precision" if math.isfinite(scores[token_id]) else "that is not a finite number"
    token = f"token {token_id}, {quote(text_of(token_id))},"
    raise FormatError(f"{where}: the score of {token} is {scores[token_id]:g}: {why}")


def check_order(model: ScoredBpe, holder: str) -> None:
    """Refuse a model whose pairs would be merged in another order by scores in single precision."""
    check_scores(model.scores, model.vocabulary.token, holder, single=True)
    rounded = array("f", model.scores)
    if array("d", rounded) == model.scores:
        return
    order = sorted(range(len(rounded)), key=model.scores.__getitem__)
    for low, high in pairwise(order):
        if rounded[low] == rounded[high] and model.scores[low] != model.scores[high]:
            raise FormatError(
                f"{holder} has scores in single precision, in which those of {quote(model.vocabulary.token(low))} "
                f"(id {low}) and {quote(model.vocabulary.token(high))} (id {high}) are equal",
                hint='bpe.json holds them (`format="bpe.json"`)',
            )
