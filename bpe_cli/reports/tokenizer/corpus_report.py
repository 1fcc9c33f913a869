"""Report which tokens of a tokenizer a corpus uses, and which it hardly uses.

A token that a model's training text never had keeps the embedding that it began with, and the model behaves
oddly where it occurs ("SolidGoldMagikarp"; Land and Bartolo, arXiv:2405.05417). Text like the training text shows
the candidates. Of a token that does not occur among N, one can say with 95% confidence that its frequency is
below -ln(0.05) / N, about 3 / N, and no more.

Which tokens serve as steps of merging only is measured in ``residues.py``.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bpe_cli import _core
from bpe_cli.reports.distributions import use_curve
from bpe_cli.reports.tokenizer.contents import NamedToken
from bpe_cli.reports.tokenizer.residues import SHARE, find_residues

if TYPE_CHECKING:
    from bpe_cli.reports.distributions import UsePoint
    from bpe_cli.reports.tokenizer.residues import Residues
    from bpe_cli.reports.tokenizer.structure import Anatomy
    from bpe_cli.support.blocks import Block
    from bpe_cli.tokenizer import Specials, Tokenizer


_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Frequencies:
    """How often each token occurs in a corpus.

    Attributes:
        counts: By id (u64).
        beyond: The same of ids behind the end of ``counts``: a special token's id can be any u32.
    """

    counts: array[int]
    beyond: dict[int, int] = field(default_factory=dict)
    document_count: int = 0
    byte_count: int = 0
    token_count: int = 0

    def of(self, token_id: int) -> int:
        """Return how often a token occurs."""
        return self.counts[token_id] if token_id < len(self.counts) else self.beyond.get(token_id, 0)

    def items(self) -> Iterable[tuple[int, int]]:
        """Yield (id, how often) of the tokens that occur, in order of id."""
        yield from ((token_id, count) for token_id, count in enumerate(self.counts) if count)
        yield from sorted(self.beyond.items())


def count_ids(ids: memoryview, into: array[int]) -> dict[int, int]:
    """Add ids (a buffer of u32) to counts by id (u64).

    Returns:
        How often ids occur that lie behind the end of the counts.
    """
    beyond: Counter[int] = Counter()
    for start in range(0, len(ids), _CHUNK):
        for token_id, count in Counter(ids[start : start + _CHUNK]).items():
            if token_id < len(into):
                into[token_id] += count
            else:
                beyond[token_id] += count
    return beyond


def count_frequencies(
    tokenizer: Tokenizer,
    blocks: Iterable[Block],
    *,
    specials: Specials = (),
    threads: int = 1,
) -> Frequencies:
    """Encode a corpus and count its tokens; the result depends on the documents alone.

    Raises:
        UsageError: if a name in ``specials`` is unknown.
        InputError: if a byte of the text has no token.

    Memory: a few blocks, and 8 bytes for each id.
    """
    matcher = tokenizer.matcher(specials)
    counts = array("Q", bytes(8 * min(tokenizer.vocab_size, _core.MAX_TOKENS)))
    beyond: Counter[int] = Counter()
    documents = size = tokens = 0
    for block in tokenizer.settle(blocks, matcher):
        ids, _ = tokenizer.encode_block(block, matcher, threads)
        beyond.update(count_ids(memoryview(ids), counts))
        tokens += len(ids)
        size += len(block.data)
        documents += block.ended
    return Frequencies(counts, dict(beyond), documents, size, tokens)


HEAD = 20
"""How many of the most frequent tokens are reported."""

EXAMPLES = 20
"""How many unused tokens are reported as examples."""

FEW = (1, 2, 5, 10, 100)
"""A token that occurs at most so often is counted as under-used, by each of these limits."""

RARE = (1e-6, 1e-7, 1e-8)
"""Frequencies below which a token's embedding is hardly trained."""

COVERAGES = (0.5, 0.8, 0.9, 0.95, 0.99, 1.0)
"""Shares of the corpus for which it is said how many of the most frequent tokens make them up."""

_CONFIDENT = -math.log(0.05)


@dataclass(frozen=True, slots=True)
class UsedToken:
    """A token with its count, and its frequency (part of all tokens of the corpus)."""

    token: NamedToken
    count: int
    frequency: float


@dataclass(frozen=True, slots=True)
class RareTokens:
    """Tokens below a frequency.

    Attributes:
        tokens: Ordinary tokens that occur less often in this corpus, those that do not occur included.
        needed: How many tokens a corpus needs before a token that does not occur is below it with 95% confidence.
        known: Whether this corpus has so many.
    """

    frequency: float
    tokens: int
    needed: int
    known: bool


@dataclass(frozen=True, slots=True)
class CorpusReport:
    """What a corpus uses of a vocabulary. Tokens are ordinary ones, if nothing else is said.

    Attributes:
        token_count: Tokens of the corpus, special ones included.
        used: Tokens of the vocabulary that occur.
        unused: Those that do not.
        unused_share: Part of all ordinary tokens, 0 to 1.
        special_used: Special and added tokens that occur.
        unknown: How often the unknown token occurs; None if the model has none.
        at_most: (limit, how many tokens occur at most so often), 0 first.
        mean_count: How often a token would occur if all occurred equally often; None without ordinary tokens.
        bound: A token that does not occur is rarer than this with 95% confidence; None for an empty corpus.
        rare: How many are below some frequencies, and whether the corpus is large enough to say so.
        coverage: (share, how many of the most frequent tokens make up at least this share of the corpus).
        unused_ids: All ordinary tokens that do not occur, ascending.
        unused_by_kind: How many of them are (not UTF-8, single bytes or characters, all others).
        unused_examples: The first of all others by id: merged early, so frequent where the tokenizer was trained.
        unused_parts: How many tokens that do not occur are parts of ones that do; None without a merge tree.
        residues: Tokens that serve as steps of merging only; None likewise.
        curve: Which share of the corpus the most frequent tokens make up, for a picture (see ``use_curve``).
    """

    document_count: int
    byte_count: int
    token_count: int
    used: int
    unused: int
    unused_share: float
    special_used: int
    unknown: int | None
    at_most: tuple[tuple[int, int], ...]
    mean_count: float | None
    bound: float | None
    rare: tuple[RareTokens, ...]
    head: tuple[UsedToken, ...]
    coverage: tuple[tuple[float, int], ...]
    unused_ids: tuple[int, ...]
    unused_by_kind: tuple[int, int, int]
    unused_examples: tuple[NamedToken, ...]
    unused_parts: int | None
    residues: Residues | None
    curve: tuple[UsePoint, ...] = ()


def examine_corpus(anatomy: Anatomy, frequencies: Frequencies, residue_share: float = SHARE) -> CorpusReport:
    """Report which tokens a corpus uses; of a residue at most ``residue_share`` stays."""
    contents, tree = anatomy.contents, anatomy.tree
    total, unk_id = frequencies.token_count, anatomy.tokenizer.model.unk_id
    counts = {token_id: frequencies.of(token_id) for token_id in contents.meanings}
    unused = [token_id for token_id, count in counts.items() if not count]
    broken = [token_id for token_id in unused if token_id not in contents.texts]
    single = [token_id for token_id in unused if token_id in contents.texts and len(contents.texts[token_id]) == 1]
    apart = {*broken, *single}
    others = [token_id for token_id in unused if token_id not in apart]
    ranked = sorted(frequencies.items(), key=lambda item: (-item[1], item[0]))
    made = tree.times_made(counts) if tree else None
    residues = None
    if tree is not None and made is not None:
        residues = find_residues(anatomy, tree, counts, made, total, residue_share)
    return CorpusReport(
        document_count=frequencies.document_count,
        byte_count=frequencies.byte_count,
        token_count=total,
        used=len(counts) - len(unused),
        unused=len(unused),
        unused_share=len(unused) / len(counts) if counts else 0.0,
        special_used=sum(token_id not in counts for token_id, _ in ranked),
        unknown=None if unk_id is None else frequencies.of(unk_id),
        at_most=tuple((limit, sum(count <= limit for count in counts.values())) for limit in (0, *FEW)),
        mean_count=total / len(counts) if counts else None,
        bound=min(_CONFIDENT / total, 1.0) if total else None,
        rare=tuple(_rare(limit, counts.values(), total) for limit in RARE),
        head=tuple(UsedToken(anatomy.named(token_id), count, count / total) for token_id, count in ranked[:HEAD]),
        coverage=_coverage([count for _, count in ranked], total),
        unused_ids=tuple(unused),
        unused_by_kind=(len(broken), len(single), len(others)),
        unused_examples=contents.examples(others, EXAMPLES),
        unused_parts=None if made is None else sum(made[token_id] > 0 for token_id in unused),
        residues=residues,
        curve=use_curve(count for _, count in ranked),
    )


def _rare(limit: float, counts: Iterable[int], total: int) -> RareTokens:
    needed = math.ceil(_CONFIDENT / limit)
    return RareTokens(limit, sum(count < limit * total or not count for count in counts), needed, total >= needed)


def _coverage(ranked: list[int], total: int) -> tuple[tuple[float, int], ...]:
    """Return how many of the most frequent tokens make up at least each share of the corpus.

    >>> _coverage([6, 3, 1], 10)
    ((0.5, 1), (0.8, 2), (0.9, 2), (0.95, 3), (0.99, 3), (1.0, 3))
    """
    reached = []
    covered = rank = 0
    for share in COVERAGES:
        # Compared in whole numbers: shares are hundredths, and 0.95 * total need not be what it seems.
        while rank < len(ranked) and 100 * covered < round(100 * share) * total:
            covered += ranked[rank]
            rank += 1
        reached.append((share, rank))
    return tuple(reached)
