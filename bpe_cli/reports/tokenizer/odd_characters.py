"""Find tokens that are not UTF-8, and how they cut characters; and tokens with characters that nobody sees."""

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


_KINDS = {
    "control characters": r"[\p{Cc}--[\t\n\r]]",
    "invisible characters": r"[[\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]--[\ufe00-\ufe0f]]",
    "replacement characters": r"\ufffd",
    "private or unassigned characters": r"[\p{Co}\p{Cn}]",
}


@dataclass(frozen=True, slots=True)
class Unseen:
    """Tokens that hold characters of a kind.

    Attributes:
        name: ``control characters`` (without tab, line feed and carriage return), ``invisible characters``
            (format characters and other default-ignorable ones, without variation selectors),
            ``replacement characters`` (U+FFFD, where text was decoded wrongly), ``private or unassigned characters``.
        tokens: How many tokens; those of a single byte are not counted, which a byte-level vocabulary must have.
        examples: The first of them.
    """

    name: str
    tokens: int
    examples: tuple[NamedToken, ...]


def count_unseen(contents: Contents) -> tuple[Unseen, ...]:
    """Count the tokens with characters that nobody sees; kinds without tokens are left out."""
    import regex

    patterns = {name: regex.compile(expression, regex.VERSION1) for name, expression in _KINDS.items()}
    kind_of = {}
    for character in set().union(*contents.texts.values()):
        if name := next((name for name, pattern in patterns.items() if pattern.match(character)), None):
            kind_of[character] = name
    found: dict[str, list[int]] = defaultdict(list)
    unseen = set(kind_of)
    for token_id, text in contents.texts.items():
        if not unseen.isdisjoint(text) and len(contents.meanings[token_id]) > 1:
            for name in {kind_of[character] for character in text if character in unseen}:
                found[name].append(token_id)
    return tuple(
        Unseen(name, len(found[name]), contents.examples(found[name], EXAMPLES)) for name in _KINDS if name in found
    )
