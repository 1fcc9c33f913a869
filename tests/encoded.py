"""A data set that goes into other processes; it stands alone, as each of them imports the module that it is in."""

from __future__ import annotations

from bpe_cli.tokenizer import Tokenizer


class Encoded:
    """A data set as PyTorch has them: what a DataLoader hands to its workers."""

    def __init__(self, tokenizer: Tokenizer, texts: list[str]) -> None:
        self.tokenizer, self.texts = tokenizer, texts

    def __len__(self) -> int:
        """Return how many texts there are."""
        return len(self.texts)

    def __getitem__(self, place: int) -> list[int]:
        """Return the ids of a text."""
        return self.tokenizer.encode(self.texts[place])
