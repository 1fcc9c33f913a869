"""Learn merges, and leave out the tokens that only help to make others.

Source: Lian et al., "Scaffold-BPE: Enhancing Byte Pair Encoding for Large Language Models with Simple and Effective
Scaffold Token Removal", arXiv:2404.17808. After a merge, a part that occurs less often than the next candidate is a
*scaffold*: merges go on using it, but it is not in the vocabulary. The next candidate is the most frequent pair, or a
scaffold that occurs more often, which is then put back into the vocabulary. At the end, scaffolds are split.

Our choices, where the paper says nothing: characters are never scaffolds; among equals, a scaffold is put back before a
pair is merged; a scaffold that a merge makes from other parts is put back; a token is split as it was first made.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from bpe_cli.teaching.frontier import picky
from bpe_cli.teaching.frontier.picky import Event, Split


class Training(picky.Training):
    """A training run: ``events`` runs it, ``tokens`` is what it has made so far; scaffolds are not ``present``.

    >>> training = Training({"▁hug": 8, "▁hugs": 2, "▁pug": 3}, vocab_size=13, alphabet="▁hugsp")
    >>> for event in training.events():
    ...     print(event)
    Merge(pair=('u', 'g'), count=13, merged=13)
    Merge(pair=('▁', 'h'), count=10, merged=10)
    Merge(pair=('▁h', 'ug'), count=10, merged=10)
    Merge(pair=('▁', 'p'), count=3, merged=3)
    Split(token='▁h', parts=('▁', 'h'))

    ``▁h`` is left nowhere, so it is a scaffold; ``ug`` was one until nothing occurred more often than it does now.
    """

    def __init__(
        self,
        words: Mapping[str, int],
        *,
        vocab_size: int,
        alphabet: Sequence[str],
        min_frequency: int = 1,
        reserved: Collection[str] = (),
    ) -> None:
        """Spell the words as characters.

        Args:
            words: Words with their frequencies.
            vocab_size: The number of tokens to stop at, not counting scaffolds.
            alphabet: The characters that become tokens, in order of their ids.
            min_frequency: Pairs that occur less often are not merged.
            reserved: Texts that no token may have.
        """
        super().__init__(
            words, vocab_size=vocab_size, threshold=1, tie="ids", exact=True, alphabet=alphabet,
            min_frequency=min_frequency, reserved=reserved,
        )  # fmt: skip

    def events(self) -> Iterator[Event]:
        """Yield merges, and at the end splits."""
        least = max(1, self.min_frequency)
        while self.size < self.vocab_size:
            pair = self.best_pair()
            count = 0 if pair is None else self.counts[pair]
            scaffold = max(self.scaffolds(), key=self.frequency, default=None)
            if scaffold is not None and self.frequency(scaffold) >= max(count, least):
                self.tokens[scaffold].present = True
                self.size += 1
                continue
            if pair is None or count < least:
                break
            merge = self.take(pair)
            for part in pair:
                self.tokens[part].frequency -= merge.merged
            yield merge
            pairs = (count for count in self.allowed().values() if count >= least)
            limit = max([*pairs, *map(self.frequency, self.scaffolds())], default=0)
            for part in dict.fromkeys(pair):
                if len(part) > 1 and self.tokens[part].present and self.frequency(part) < limit:
                    self.tokens[part].present = False
                    self.size -= 1
        longest_first = sorted(self.scaffolds(), key=len, reverse=True)
        for token in longest_first:
            self.tokens[token].present = True
        for token in longest_first:
            yield Split(token, self.split(token))

    def scaffolds(self) -> list[str]:
        """Return the scaffolds in the order of their ids."""
        return [token for token, each in self.tokens.items() if not each.present]

    def frequency(self, token: str) -> int:
        """Return how often a token occurs now."""
        return self.tokens[token].frequency
