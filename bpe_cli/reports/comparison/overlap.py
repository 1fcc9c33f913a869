"""Compare vocabularies by the bytes of text that their tokens stand for, however a model spells them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from heapq import nsmallest
from itertools import starmap
from math import sqrt
from operator import eq
from typing import TYPE_CHECKING

from bpe_cli.reports.tokenizer.contents import meaning_of

if TYPE_CHECKING:
    import regex

    from bpe_cli.tokenizer import Tokenizer


LONGEST = 8
"""Tokens that are named as the longest of those that one vocabulary has alone."""

EXAMPLES = 4
"""Tokens that are named of each script."""

SCRIPTS = (
    "Latin", "Greek", "Cyrillic", "Armenian", "Hebrew", "Arabic", "Devanagari", "Bengali", "Gurmukhi", "Gujarati",
    "Tamil", "Telugu", "Kannada", "Malayalam", "Sinhala", "Thai", "Lao", "Tibetan", "Myanmar", "Georgian", "Ethiopic",
    "Khmer", "Mongolian", "Han", "Hiragana", "Katakana", "Hangul",
)  # fmt: skip
"""The scripts that are told apart; a token belongs to that of its first letter."""

_ASCII_LETTER = re.compile(rb"[A-Za-z]")


@dataclass(frozen=True, slots=True)
class ScriptShare:
    """The tokens of one script that only one vocabulary has.

    Attributes:
        script: One of ``SCRIPTS``, or ``other``, ``none`` (no letter), ``bytes`` (no UTF-8).
        count: How many texts have their first letter in it.
        examples: Those with the lowest ids, which were learned first.
    """

    script: str
    count: int
    examples: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Alone:
    """The tokens that one vocabulary has and the other lacks.

    Attributes:
        scripts: How many texts it has alone, by script, the one with most first.
        longest: The longest of them in bytes; of equally long ones the first in the order of bytes.
    """

    count: int
    scripts: tuple[ScriptShare, ...]
    longest: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Overlap:
    """What the vocabularies of two tokenizers have in common.

    Attributes:
        sizes: How many different texts the ordinary tokens of each stand for (two tokens may stand for one).
        shared: How many texts both have a token for.
        weighted: For each tokenizer the share of its tokens on the inputs whose text the other has a token for; None
            without inputs.
        equal_merges: How many tokens the merges of both make in the same order, from the first on; None unless both
            are byte pair encoding.
        rank_correlation: Kendall's tau-b of the ids of the shared tokens; None without two of them.
    """

    first: int
    second: int
    sizes: tuple[int, int]
    shared: int
    weighted: tuple[float | None, float | None]
    first_alone: Alone
    second_alone: Alone
    equal_merges: int | None
    rank_correlation: float | None

    @property
    def jaccard(self) -> float | None:
        """The shared ones among all that one or the other has."""
        union = sum(self.sizes) - self.shared
        return self.shared / union if union else None

    @property
    def containment(self) -> tuple[float | None, float | None]:
        """For each the share of its own that the other has too."""
        first, second = (self.shared / size if size else None for size in self.sizes)
        return first, second


def overlaps(tokenizers: Sequence[Tokenizer], frequencies: Sequence[Sequence[int]] | None = None) -> list[Overlap]:
    """Compare each tokenizer's vocabulary with that of the first.

    Args:
        frequencies: For each tokenizer how often each id occurred on some text; None to leave weights out.

    Complexity: linear in the vocabularies but for sorting; about a second for two of 200,000 tokens.
    """
    if len(tokenizers) < 2:
        return []
    tables = [_meanings(tokenizer) for tokenizer in tokenizers]
    base = tables[0]
    products = [merge_products(tokenizer) for tokenizer in tokenizers]
    rows = []
    for number, table in enumerate(tables[1:], 1):
        shared = base.keys() & table.keys()
        weighted: tuple[float | None, float | None] = (None, None)
        if frequencies is not None:
            weighted = (
                _weighted(tokenizers[0], frequencies[0], table),
                _weighted(tokenizers[number], frequencies[number], base),
            )
        ordered = sorted(shared, key=base.__getitem__)
        rows.append(
            Overlap(
                0,
                number,
                (len(base), len(table)),
                len(shared),
                weighted,
                _alone(base, shared),
                _alone(table, shared),
                _equal_prefix(products[0], products[number]),
                kendall_tau_b(range(len(ordered)), [table[meaning] for meaning in ordered]),
            )
        )
    return rows


def merge_products(tokenizer: Tokenizer) -> list[bytes] | None:
    """Return the products of the merges of byte pair encoding, in their order; None for other models.

    A token counts where it is made first: some files list every pair that makes it. Where there are ranks and no list
    of merges, the tokens of several bytes are their products, by rank.
    """
    model = tokenizer.model
    merges = model.merges
    meaning = meaning_of(tokenizer)
    if merges is not None:
        token = model.vocabulary.token
        return [meaning(token(product)) for product in dict.fromkeys(merges.triples[2::3])]
    if model.kind == "bpe-ranks":
        return [token for _, token in model.vocabulary.items() if len(token) > 1]
    return None


def _meanings(tokenizer: Tokenizer) -> dict[bytes, int]:
    """Return the lowest id for each text that ordinary tokens stand for."""
    meaning = meaning_of(tokenizer)
    special = tokenizer.special_ids
    table: dict[bytes, int] = {}
    for token_id, content in tokenizer.model.vocabulary.items():
        if token_id not in special:
            table.setdefault(meaning(content), token_id)
    return table


def _weighted(tokenizer: Tokenizer, frequencies: Sequence[int], other: Mapping[bytes, int]) -> float | None:
    """Return the share of occurrences of ordinary tokens whose text another vocabulary has."""
    meaning = meaning_of(tokenizer)
    special = tokenizer.special_ids
    known = total = 0
    for token_id, times in enumerate(frequencies):
        if times and token_id not in special:
            total += times
            known += times * (meaning(tokenizer.token_bytes(token_id)) in other)
    return known / total if total else None


def _alone(table: Mapping[bytes, int], shared: AbstractSet[bytes]) -> Alone:
    # A table is in the order of ids.
    meanings = [meaning for meaning in table if meaning not in shared]
    scripts: dict[str, list[bytes]] = {}
    for meaning in meanings:
        scripts.setdefault(script_of(meaning), []).append(meaning)
    shares = (ScriptShare(script, len(each), tuple(each[:EXAMPLES])) for script, each in scripts.items())
    ranked = tuple(sorted(shares, key=lambda share: (-share.count, share.script)))
    longest = nsmallest(LONGEST, meanings, key=lambda meaning: (-len(meaning), meaning))
    return Alone(len(meanings), ranked, tuple(longest))


@lru_cache(maxsize=1)
def _letters() -> tuple[regex.Pattern[str], regex.Pattern[str]]:
    import regex  # its tables are the same under every Python

    known = "|".join(rf"(?P<{script}>\p{{Script={script}}})" for script in SCRIPTS)
    return regex.compile(r"\p{L}"), regex.compile(known)


def script_of(meaning: bytes) -> str:
    r"""Name the script of a text's first letter.

    >>> [script_of(text) for text in (b" the", " 东".encode(), b" 42", b"\xe4\xb8")]
    ['Latin', 'Han', 'none', 'bytes']
    """
    if meaning.isascii():
        return "Latin" if _ASCII_LETTER.search(meaning) else "none"
    try:
        text = meaning.decode()
    except UnicodeDecodeError:
        return "bytes"
    letter, known = _letters()
    first = letter.search(text)
    if first is None:
        return "none"
    script = known.match(first.group())
    return "other" if script is None or script.lastgroup is None else script.lastgroup


def _equal_prefix(first: list[bytes] | None, second: list[bytes] | None) -> int | None:
    if first is None or second is None:
        return None
    same = starmap(eq, zip(first, second, strict=False))
    return next((place for place, equal in enumerate(same) if not equal), min(len(first), len(second)))


_WIDTH = 2048
"""Bits of a bucket: the seen ranks of one stretch as one integer, which counts them in a few machine words."""


def kendall_tau_b(first: Sequence[int], second: Sequence[int]) -> float | None:
    """Return Kendall's tau-b of pairs of values: 1 for the same order, -1 for the reverse; None without an order.

    >>> kendall_tau_b([1, 2, 3, 4], [1, 2, 4, 3])
    0.6666666666666666

    Complexity: O(n log n) to sort, then O(n²/4096) additions of small numbers, which for 200,000 values are done
    sooner than a tree's O(n log n) in Python.
    """
    pairs = sorted(zip(first, second, strict=True))
    count = len(pairs)
    both = count * (count - 1) // 2
    tied_first = _tied(value for value, _ in pairs)
    tied_second = _tied(value for _, value in pairs)
    tied = _tied(pairs)
    # Equal values get ranks in order of place, so a tie is no inversion.
    ranks = [0] * count
    for rank, place in enumerate(sorted(range(count), key=lambda place: pairs[place][1])):
        ranks[place] = rank
    # Among pairs tied in the first value the second ascends: no inversion there either.
    agreement = both - tied_first - tied_second + tied - 2 * inversions(ranks)
    scale = (both - tied_first) * (both - tied_second)
    return agreement / sqrt(scale) if scale else None


def inversions(permutation: Sequence[int]) -> int:
    """Count the pairs of a permutation of 0 to n - 1 that stand in the wrong order.

    >>> inversions([2, 0, 1])
    2
    """
    buckets = [0] * (len(permutation) // _WIDTH + 1)
    sizes = [0] * len(buckets)
    total = 0
    for value in permutation:
        number, bit = divmod(value, _WIDTH)
        bits = buckets[number]
        total += sum(sizes[number + 1 :]) + (bits >> bit).bit_count()
        buckets[number] = bits | 1 << bit
        sizes[number] += 1
    return total


def _tied(values: Iterable[object]) -> int:
    """Count the pairs of equal values."""
    return sum(times * (times - 1) // 2 for times in Counter(values).values())
