"""Find tokens with characters that nobody sees: control characters, invisible ones, such as mean nothing."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from bpe_cli.reports.tokenizer.contents import Contents, NamedToken

EXAMPLES = 5
"""How many tokens of each kind are reported."""

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
