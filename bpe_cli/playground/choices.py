"""The tokenizers that a playground offers: a list made when it starts, of which the page names places and nothing else.

So nothing that a page sends can open a file that was not given when the playground was started.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from bpe_cli.jobs.tokenizers import load_tokenizer, name_of
from bpe_cli.tokenizer.named_encodings import ENCODINGS

if TYPE_CHECKING:
    from bpe_cli.jobs.tokenizers import AnyTokenizer
    from bpe_cli.tokenizer import Tokenizer

CHAT_MODELS = ("gpt-3.5-turbo", "gpt-4")
"""Models whose encoding is listed anyway, but which have the layout of a conversation besides."""


class Choices:
    """The tokenizers on offer, in order; each is loaded when it is first used."""

    def __init__(self, given: Iterable[AnyTokenizer]) -> None:
        """List those that are given, which are loaded at once, and behind them all that need no file.

        Raises:
            UsageError: if there is no such tokenizer.
            InputError, FormatError: if a file cannot be read.
        """
        self._offered: list[AnyTokenizer] = list(given)
        self._loaded: dict[int, Tokenizer] = {place: load_tokenizer(each) for place, each in enumerate(self._offered)}
        self.given = len(self._offered)
        names = {name_of(each) for each in self._offered}
        self._offered += [name for name in (*ENCODINGS, *CHAT_MODELS) if name not in names]

    def __len__(self) -> int:
        return len(self._offered)

    def name(self, place: int) -> str:
        """Return what the caller calls the tokenizer at a place."""
        return name_of(self._offered[place]) or f"tokenizer {place + 1}"

    def names(self) -> list[str]:
        """Return all names, in order."""
        return [self.name(place) for place in range(len(self))]

    def load(self, place: int) -> Tokenizer:
        """Return the tokenizer at a place."""
        if place not in self._loaded:
            self._loaded[place] = load_tokenizer(self._offered[place])
        return self._loaded[place]

    def known_name(self, place: int) -> str:
        """Return the name of a tokenizer that needs no file, by which its model is known; empty for others."""
        return self.name(place) if self.load(place).name in ENCODINGS else ""
