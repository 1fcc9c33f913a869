"""Read what the ordinary tokens of a tokenizer stand for: what every other part of the health report counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bpe_cli.reports.tokenizer.meanings import meaning_of

if TYPE_CHECKING:
    from bpe_cli.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class NamedToken:
    """A token as an example: its id, and the bytes of text that it stands for."""

    token_id: int
    content: bytes


@dataclass(frozen=True)
class Contents:
    """What the ordinary tokens stand for, by id in ascending order.

    Attributes:
        meanings: The bytes of text of every ordinary token (see ``meanings.py``).
        texts: The same as text, without the tokens that are not UTF-8.
    """

    meanings: dict[int, bytes]
    texts: dict[int, str]

    def example(self, token_id: int) -> NamedToken:
        """Return a token as an example."""
        return NamedToken(token_id, self.meanings[token_id])

    def examples(self, token_ids: list[int], limit: int) -> tuple[NamedToken, ...]:
        """Return the first tokens of a list as examples."""
        return tuple(map(self.example, token_ids[:limit]))


def read_contents(tokenizer: Tokenizer) -> Contents:
    """Read what the ordinary tokens stand for; ids that a special token has are left out."""
    meaning, special_ids = meaning_of(tokenizer), tokenizer.special_ids
    meanings = {
        token_id: meaning(token)
        for token_id, token in tokenizer.model.vocabulary.items()
        if token_id not in special_ids
    }
    texts = {}
    for token_id, content in meanings.items():
        try:
            texts[token_id] = content.decode()
        except UnicodeDecodeError:
            continue
    return Contents(meanings, texts)
