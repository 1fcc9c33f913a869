"""Report on a tokenizer alone: what it is, what it holds and what it lacks."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import TYPE_CHECKING

from bpe_cli.reports.distributions import even_bins
from bpe_cli.reports.tokenizer.contents import WHITE_SPACE, Contents, LengthBin, bins, character_count, read_contents
from bpe_cli.stages import ALGORITHMS
from bpe_cli.stages.component_json import component
from bpe_cli.stages.events import SPLIT, triples
from bpe_cli.stages.patterns import name_of
from bpe_cli.tokenizer.special_tokens import dead_merges

if TYPE_CHECKING:
    from bpe_cli.reports.distributions import LengthBins
    from bpe_cli.stages import Model, SpecialToken
    from bpe_cli.tokenizer import Tokenizer
    from bpe_cli.tokenizer.usage import Fact

LONGEST = 10
"""How many of the longest tokens are reported."""

UNUSED_RANGES = 20
"""How many stretches of unused ids are reported."""


@dataclass(frozen=True, slots=True)
class PatternUse:
    """A split pattern: its name if it has one, and whether the core's own scanner runs it."""

    name: str | None
    regex: str
    fast: bool


@dataclass(frozen=True, slots=True)
class LongToken:
    """One of the longest tokens, as text; ``character_count`` is None when it is not UTF-8."""

    token_id: int
    content: bytes
    byte_count: int
    character_count: int | None


@dataclass(frozen=True, slots=True)
class TokenKinds:
    """How many ordinary tokens are of a kind, by the text that they stand for; a token can be of several.

    The token ``<0x0A>`` is a byte where the model falls back to bytes, and ``▁`` a space where spaces are
    written so: ``contents.py`` has the rules.

    Attributes:
        not_utf8: Not well-formed UTF-8: parts of characters, or bytes that no text has.
        leading_space: A space and something after it.
        white_space: White space only.
        digits: Decimal digits ``0`` to ``9`` only.
    """

    single_bytes: int
    not_utf8: int
    leading_space: int
    white_space: int
    digits: int


@dataclass(frozen=True, slots=True)
class VocabularyReport:
    """What a tokenizer is and holds.

    Attributes:
        algorithm: The kind of the model in words.
        ordinary_count: Ordinary tokens (ids that a special token has are not counted).
        dead_merge_count: The merges that make or use a token that text never becomes.
        highest_id: The highest id of any token; None when there is no token.
        unused_count: Ids below it that no token has.
        unused_ranges: The first of them as (first, last) stretches, at most ``UNUSED_RANGES``.
        settings: (what, value) of stages and model, where there are stages beyond splits of byte-level text.
        ignore_merges: Whether a piece that is a token becomes it before merging; None for ranks,
            which always do.
        unicode_version: The version of the Unicode tables it was trained with, if known.
        bytes_without_token: The bytes that no ordinary token consists of: text with them cannot be encoded.
            None where tokens are text, not bytes.
        mean_length: Mean length of the texts that ordinary tokens stand for, in bytes, each counted once; None
            when there is none.
        lengths: Their lengths: (bytes, how many tokens), ascending.
        length_bins: The same in a few bins, without the empty ones at the end.
        longest: The longest, longest first, then by id.
        fingerprint: The tokenizer's hash, when the caller gave one.
        facts: (setting, value) that the file states of itself, in its words and order.
        format: The format of the file that it was read from; None if it is from no file.
        usage: (what, value) in words: roles of special tokens, chat templates, truncation, padding.
    """

    name: str | None
    kind: str
    algorithm: str
    ordinary_count: int
    special_count: int
    merge_count: int | None
    dead_merge_count: int
    highest_id: int | None
    unused_count: int
    unused_ranges: tuple[tuple[int, int], ...]
    patterns: tuple[PatternUse, ...]
    prefix_space: bool
    ignore_merges: bool | None
    unicode_version: str | None
    special_tokens: tuple[SpecialToken, ...]
    bytes_without_token: bytes | None
    kinds: TokenKinds
    mean_length: float | None
    lengths: tuple[tuple[int, int], ...]
    length_bins: tuple[LengthBin, ...]
    longest: tuple[LongToken, ...]
    fingerprint: str | None = None
    settings: tuple[tuple[str, str], ...] = ()
    facts: tuple[tuple[str, Fact], ...] = ()
    format: str | None = None
    usage: tuple[tuple[str, str], ...] = ()

    @property
    def even_bins(self) -> LengthBins:
        """How many tokens have each length, the longest together (see ``distributions.even_bins``)."""
        return even_bins(self.lengths)


def describe(
    tokenizer: Tokenizer, *, fingerprint: str | None = None, contents: Contents | None = None
) -> VocabularyReport:
    """Report on a tokenizer.

    Raises:
        UsageError: if a split pattern does not compile.

    Complexity: linear in the vocabulary's bytes; about 0.2 s for 200,000 tokens.
    """
    model = tokenizer.model
    special_ids = tokenizer.special_ids
    ordinary = (contents or read_contents(tokenizer)).meanings
    lengths = Counter(map(len, ordinary.values()))
    only_decoded = dict(model.texts)
    unused_count, unused_ranges = _unused({*ordinary, *special_ids, *only_decoded})
    slow = set(tokenizer.slow_patterns)
    bytes_present = {token[0] for token in ordinary.values() if len(token) == 1}
    on_bytes = model.byte_level
    if on_bytes:  # a byte is what text is spelt with even if it is a special token besides
        bytes_present |= {tokenizer.token_bytes(token_id)[0] for token_id in tokenizer.withheld.spelling}
    listed = model.kind in ("bpe-merges", "bpe-characters", "bpe-events")
    return VocabularyReport(
        name=tokenizer.name,
        kind=model.kind,
        algorithm=ALGORITHMS[model.kind],
        ordinary_count=len(ordinary),
        special_count=len(tokenizer.special_tokens),
        merge_count=_merge_count(model),
        dead_merge_count=sum(1 for _ in dead_merges(model, tokenizer.withheld)),
        highest_id=tokenizer.vocab_size - 1 if tokenizer.vocab_size else None,
        unused_count=unused_count,
        unused_ranges=unused_ranges,
        patterns=tuple(PatternUse(name_of(regex), regex, regex not in slow) for regex in tokenizer.patterns),
        prefix_space=tokenizer.prefix_space,
        ignore_merges=model.ignore_merges if listed else None,
        unicode_version=tokenizer.unicode_version,
        special_tokens=tuple(sorted(tokenizer.special_tokens, key=lambda token: token.token_id)),
        bytes_without_token=bytes(sorted(set(range(256)) - bytes_present)) if on_bytes else None,
        kinds=_kinds(ordinary.values()),
        mean_length=sum(size * count for size, count in lengths.items()) / len(ordinary) if ordinary else None,
        lengths=tuple(sorted(lengths.items())),
        length_bins=bins(lengths),
        longest=tuple(
            LongToken(token_id, token, len(token), character_count(token))
            for token_id, token in heapq.nsmallest(LONGEST, ordinary.items(), key=lambda item: (-len(item[1]), item[0]))
        ),
        fingerprint=fingerprint,
        settings=() if on_bytes and not tokenizer.normalizer else tuple(_settings(tokenizer)),
        facts=tokenizer.origin.facts if tokenizer.origin else (),
        format=tokenizer.origin.format if tokenizer.origin else None,
        usage=tuple(_usage(tokenizer)),
    )


def _usage(tokenizer: Tokenizer) -> Iterator[tuple[str, str]]:
    """Describe in words how a tokenizer is meant to be used."""
    usage = tokenizer.usage
    for role, token_id in usage.roles:
        yield role, f"{tokenizer.token_bytes(token_id).decode('utf-8', 'replace')} (id {token_id})"
    if usage.chat_templates:
        sizes = (f"{name} ({len(template):,} characters)" for name, template in usage.chat_templates)
        yield "chat templates", ", ".join(sizes)
    for what, value in (("truncation", usage.truncation), ("padding", usage.padding)):
        if value is not None:
            settings = ((each.name, getattr(value, each.name)) for each in fields(value))
            yield what, ", ".join(f"{name} {_short(setting)}" for name, setting in settings)


def _settings(tokenizer: Tokenizer) -> Iterator[tuple[str, str]]:
    """Describe in words what each stage and the model do."""
    for what, stages in (
        ("normalizer", tokenizer.normalizer),
        ("pre-tokenizer", tokenizer.pre_tokenizer),
        ("decoder", tokenizer.decoder),
    ):
        for stage in stages:
            content = component(stage)
            name = content.pop("type")
            yield what, f"{name}({', '.join(f'{key}={_short(value)}' for key, value in content.items())})"
    model = tokenizer.model
    for field in fields(model):
        value = getattr(model, field.name)
        if field.name == "unk_id":
            token = None if value is None else tokenizer.token_bytes(value).decode("utf-8", "replace")
            yield "unknown token", "none" if token is None else f"{token} (id {value})"
        elif isinstance(value, (bool, int, str)) and field.name != "kind":
            yield field.name.replace("_", " "), _short(value)


def _short(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        value = next(iter(value.values()))
    text = str(value)
    return (text if len(text) <= 40 else text[:37] + "...") or '""'


def _kinds(tokens: Iterable[bytes]) -> TokenKinds:
    """Count the kinds of tokens, given what they stand for."""
    single_bytes = not_utf8 = leading_space = white_space = digits = 0
    for token in tokens:
        single_bytes += len(token) == 1
        try:
            text = token.decode()
        except UnicodeDecodeError:
            not_utf8 += 1
            continue
        if text[0] in WHITE_SPACE:
            if WHITE_SPACE.issuperset(text):
                white_space += 1
            elif text[0] == " ":
                leading_space += 1
        else:
            digits += token.isdigit()
    return TokenKinds(single_bytes, not_utf8, leading_space, white_space, digits)


def _merge_count(model: Model) -> int | None:
    """Return how many merges a model lists; None if it lists none."""
    if model.events is not None:
        return sum(right != SPLIT for _, right, _ in triples(model.events))
    return None if model.merges is None else len(model.merges)


def _unused(ids: set[int]) -> tuple[int, tuple[tuple[int, int], ...]]:
    """Count the ids below the highest that are not there, and give the first stretches of them.

    >>> _unused({0, 1, 4, 6})
    (3, ((2, 3), (5, 5)))
    """
    ranges = [(low + 1, high - 1) for low, high in pairwise([-1, *sorted(ids)]) if high - low > 1]
    return max(ids, default=-1) + 1 - len(ids), tuple(ranges[:UNUSED_RANGES])
