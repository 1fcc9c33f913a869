"""Count the tokens that differ from another only by case or by a space before them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bpe_cli.reports.tokenizer.contents import Contents, NamedToken

EXAMPLES = 5
"""How many groups are reported."""

Key = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Redundancy:
    """How many tokens differ from an earlier one only in some way.

    Attributes:
        name: In what way: ``same text``, ``leading space``, ``case``, ``leading space and case``.
        groups: Groups of at least two tokens that are equal but for that.
        redundant: Tokens in those groups beyond one in each.
        share: ``redundant`` as a part of all ordinary tokens, 0 to 1.
    """

    name: str
    groups: int
    redundant: int
    share: float


@dataclass(frozen=True, slots=True)
class Duplicates:
    """What ordinary tokens have in common.

    Attributes:
        kinds: One for each way of being equal. All but ``same text`` look at different texts only.
        examples: The largest groups of leading space and case together, then by the lowest id.
    """

    kinds: tuple[Redundancy, ...]
    examples: tuple[tuple[NamedToken, ...], ...]


def without_space(text: str) -> str:
    """Leave out a leading space, if more than white space follows it.

    >>> without_space(" the"), without_space("  "), without_space("  the")
    ('the', '  ', ' the')
    """
    return text[1:] if text[0] == " " and not text.isspace() else text


def folded(text: str) -> str:
    """Leave out what a leading space and case decide."""
    return without_space(text).lower()


def count_duplicates(contents: Contents) -> Duplicates:
    """Count the tokens that are equal but for case or a leading space.

    Case is Unicode's (``str.lower``).
    """
    total = len(contents.meanings) or 1
    first: dict[bytes, int] = {}
    for token_id, content in contents.meanings.items():
        first.setdefault(content, token_id)
    several: dict[bytes, int] = defaultdict(int)
    for content in contents.meanings.values():
        several[content] += 1
    texts = [(token_id, contents.texts[token_id]) for token_id in first.values() if token_id in contents.texts]
    together = _groups(texts, folded)
    kinds = [
        _redundancy("same text", (size for size in several.values() if size > 1), total),
        _redundancy("leading space", map(len, _groups(texts, without_space)), total),
        _redundancy("case", map(len, _groups(texts, str.lower)), total),
        _redundancy("leading space and case", map(len, together), total),
    ]
    largest = sorted(together, key=lambda group: (-len(group), group[0]))[:EXAMPLES]
    return Duplicates(tuple(kinds), tuple(tuple(map(contents.example, group)) for group in largest))


def variants_of(contents: Contents, text: str) -> list[int]:
    """Return the tokens that are equal to a text but for case or a leading space, the text itself included."""
    key = folded(text)
    return [token_id for token_id, other in contents.texts.items() if folded(other) == key]


def _groups(texts: Iterable[tuple[int, str]], key: Key) -> list[list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for token_id, text in texts:
        found[key(text)].append(token_id)
    return [group for group in found.values() if len(group) > 1]


def _redundancy(name: str, sizes: Iterable[int], total: int) -> Redundancy:
    groups = redundant = 0
    for size in sizes:
        groups += 1
        redundant += size - 1
    return Redundancy(name, groups, redundant, redundant / total)
