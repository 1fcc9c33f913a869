"""Put text beside a token's own, for tokens that do not come of their text alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import TYPE_CHECKING

from bpe_cli.reports.tokenizer.reachability.searching import LONGEST
from bpe_cli.stages import WordPiece

if TYPE_CHECKING:
    from bpe_cli.reports.tokenizer.reachability.searching import Candidate
    from bpe_cli.tokenizer import Tokenizer

# First a letter that few words begin or end with, which reads well; then a snowman: few vocabularies have
# one, so nothing merges with it.
BEFORE = ("x", "☃", "a", " ", "\n", ".", "1", "'", "X", "é", "中", "☃ ", "a ", "\t", "!!", "\r\n", "￼")
AFTER = ("x", "☃", "a", " ", "\n", ".", "1", "'", "X", "é", "中", " a", "\t", "\n\n", "!!", "\r\n", "s")
CONTEXTS: tuple[tuple[bytes, bytes], ...] = (
    *((before.encode(), b"") for before in BEFORE),
    *((b"", after.encode()) for after in AFTER),
)
"""What stands before and after a token in the first round: a beginning, an end, letters, digits, blanks, ..."""

PAIRS: tuple[tuple[bytes, bytes], ...] = tuple(
    (before.encode(), after.encode()) for before, after in product(BEFORE, AFTER)
)
"""Both together, for what the first round leaves."""

FIRST_CONTEXTS = 2
"""How many of them every token in doubt is tried in; the others are for what is left then."""

MOST_TEXTS = 1 << 19
"""No round encodes more texts than these."""

MOST_IN_PAIRS = 4096
"""For more tokens than this the second round is left out."""

_MOST_BEGINNINGS = 48


def in_contexts(texts: Mapping[int, bytes], contexts: tuple[tuple[bytes, bytes], ...]) -> Iterator[Iterator[Candidate]]:
    """Yield the candidates of each context in turn; tokens taken out of ``texts`` meanwhile are left out."""
    for before, after in contexts:
        yield ((token_id, before + text + after) for token_id, text in list(texts.items()) if len(text) <= LONGEST)


def beginnings(tokenizer: Tokenizer) -> tuple[tuple[bytes, bytes], ...]:
    """Return beginnings of words that are likely to be cut off by longest match: single characters with a token.

    ASCII letters first, and of them and the others those that the fewest tokens begin with.
    """
    model = tokenizer.live_model
    if not isinstance(model, WordPiece):
        return ()
    prefix = model.continuing_subword_prefix.encode()
    beginning: dict[str, int] = {}
    single: list[str] = []
    for _, token in model.vocabulary.items():  # noqa: PERF102  # a Vocabulary has no values()
        if prefix and token.startswith(prefix):
            continue
        text = token.decode()
        beginning[text[0]] = beginning.get(text[0], 0) + 1
        if len(text) == 1:
            single.append(text)
    # Of each count a few, so that not all are of one script that stands apart.
    ordered = sorted(single, key=lambda character: (not character.isalnum(), beginning[character]))
    letters = [character for character in ordered if character.isascii() and character.isalpha()]
    step = max(1, len(ordered) // _MOST_BEGINNINGS)
    chosen = [*letters, *ordered[:16], *ordered[::step][:_MOST_BEGINNINGS]]
    return tuple((character.encode(), b"") for character in dict.fromkeys(chosen))
