"""Describe how added tokens are looked for: which flags change anything, and what a message calls them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from bpe_cli.stages import SpecialToken
from bpe_cli.support.fast_dataclass import replace
from bpe_cli.support.messages import quote
from bpe_cli.tokenizer import Tokenizer

FLAGS = ("special", "single_word", "lstrip", "rstrip", "normalized")

PLAIN = SpecialToken(b"", 0)
"""A token that has no flag; ``special: false`` is one, since such a token is always found."""


def effective(tokenizer: Tokenizer) -> tuple[SpecialToken, ...]:
    """Return the special tokens with those flags alone that change what is found.

    Where nothing normalizes, normalized text is the text itself. One difference is left: tokens that are
    looked for in normalized text come second, so the flag counts where they overlap with others.

    >>> from bpe_cli.stages import WordLevel
    >>> from bpe_cli.stages.vocabulary import Vocabulary
    >>> model = WordLevel(Vocabulary.from_tokens([b"a"]))
    >>> effective(Tokenizer(model, special_tokens=(SpecialToken(b"ab", 1, normalized=True),)))[0].normalized
    False
    """
    tokens = tokenizer.special_tokens
    late = [token.content for token in tokens if token.normalized]
    early = [token.content for token in tokens if not token.normalized]
    if not late or tokenizer.normalizer or _overlap(late, early) or _overlap(early, late):
        return tokens
    return tuple(replace(token, normalized=False) for token in tokens)


def _overlap(ones: Collection[bytes], others: Collection[bytes]) -> bool:
    """Return whether one of the first can stand in a text such that one of the others begins inside of it."""
    heads = {other[:end] for other in others for end in range(1, len(other) + 1)}
    whole = set(others)
    lengths = {len(other) for other in others}
    return any(
        one[start:] in heads or any(one[start : start + length] in whole for length in lengths)
        for one in ones
        for start in range(len(one))
    )


def of(tokens: Iterable[SpecialToken]) -> dict[str, list[bytes]]:
    """Return the flags that occur: what a message calls one -> the tokens that have it."""
    return differences((token, PLAIN) for token in tokens)


def differences(pairs: Iterable[tuple[SpecialToken, SpecialToken]]) -> dict[str, list[bytes]]:
    """Return the flags that the first of a pair has otherwise than the second, as ``of``."""
    lists: dict[str, list[bytes]] = {}
    for token, other in pairs:
        for flag in FLAGS:
            value = getattr(token, flag)
            if value != getattr(other, flag):
                lists.setdefault(flag if value else f"{flag}: false", []).append(token.content)
    return lists


def named(flags: Mapping[str, Sequence[bytes]], *more: str) -> str:
    """State which flags which tokens have, as a loss; ``more`` are further reasons.

    >>> named({"rstrip": [b"<|end|>", b"<|user|>"]})
    'how added tokens are looked for (rstrip of "<|end|>" and 1 more)'
    """
    parts = [*more, *(f"{flag} of {shown(tokens)}" for flag, tokens in flags.items())]
    return f"how added tokens are looked for ({', '.join(parts)})"


def shown(tokens: Sequence[bytes]) -> str:
    """Name the first of some tokens, and how many more there are."""
    rest = f" and {len(tokens) - 1:,} more" if len(tokens) > 1 else ""
    return quote(tokens[0]) + rest
