"""Find how tokens that are not UTF-8 cut characters."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from bpe_cli.reports.tokenizer.contents import Contents, NamedToken

EXAMPLES = 5
"""How many tokens of each kind are reported."""

STARTS_INSIDE, ENDS_INSIDE, BOTH, IMPOSSIBLE = "starts inside", "ends inside", "both", "impossible"


@dataclass(frozen=True, slots=True)
class Cut:
    """Tokens that cut characters in one way.

    Attributes:
        name: ``starts inside`` a character: begins with bytes that only go on; ``ends inside`` one; ``both``;
            ``impossible``: no UTF-8 text has these bytes, whatever stands around them.
        tokens: How many.
        single_bytes: How many of them are one byte, which a byte-level vocabulary must have.
        examples: The first of them that are not single bytes.
    """

    name: str
    tokens: int
    single_bytes: int
    examples: tuple[NamedToken, ...]


def count_cuts(contents: Contents) -> tuple[Cut, ...]:
    """Count the ordinary tokens that are not UTF-8 by how they cut characters; kinds without tokens are left out."""
    found: dict[str, list[int]] = defaultdict(list)
    for token_id, content in contents.meanings.items():
        if token_id not in contents.texts:
            found[kind_of_cut(content)].append(token_id)
    cuts = []
    for name in (STARTS_INSIDE, ENDS_INSIDE, BOTH, IMPOSSIBLE):
        if token_ids := found[name]:
            longer = [token_id for token_id in token_ids if len(contents.meanings[token_id]) > 1]
            examples = contents.examples(longer, EXAMPLES)
            cuts.append(Cut(name, len(token_ids), len(token_ids) - len(longer), examples))
    return tuple(cuts)


def kind_of_cut(content: bytes) -> str:
    r"""Return how bytes that are not UTF-8 cut characters.

    Up to three bytes that only go on end some character, whatever they are. What follows them has to be
    UTF-8 but for a character that is begun and not ended.

    >>> [kind_of_cut(content) for content in (b"\x81 a", b" \xe8\xb0", b"\x81\xe8", b"\xc0", b"\x80\x80\x80\x80")]
    ['starts inside', 'ends inside', 'both', 'impossible', 'impossible']
    """
    going_on = 0
    while going_on < len(content) and 0x80 <= content[going_on] < 0xC0:
        going_on += 1
    if going_on > 3:
        return IMPOSSIBLE
    try:
        content[going_on:].decode()
    except UnicodeDecodeError as error:
        # CPython says this of a proper beginning of a character, and only of that.
        if error.reason != "unexpected end of data":
            return IMPOSSIBLE
        return BOTH if going_on else ENDS_INSIDE
    return STARTS_INSIDE
