"""Learn merges, and take a token back once it hardly occurs except as a part of longer ones.

Source: Chizhov et al., "BPE Gets Picky: Efficient Vocabulary Refinement During Tokenizer Training", arXiv:2409.04599;
pchizhov/picky_bpe at 038fcb9, ``bpe_trainer.py`` and ``picky_tokenize.py``. The published trainer walks through sets
that are ordered by memory address, so its runs differ; here words are walked in order of first appearance, and ties
go to the pair that was counted first ("birth") or to the lowest ids.

After the merge of ``a b``, the share of ``a`` that it took is the merge's count divided by the earlier count of ``a``.
If this is more than the threshold, ``a`` is *split* into its parts again, everywhere. A later merge may bring it back.

Pairs are counted as in the code, with its slip: if a token is made in a second way (an *additional* merge), the
pairs of its earlier occurrences in the same words are counted twice, and the token counts twice in the size. ``exact``
trains without this slip, as ``bpe train -a picky`` does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from bpe_cli.teaching.bpe import merge_word
from bpe_cli.teaching.stand_in import StandIn

Pair = tuple[str, str]

SPECIAL = tuple(map(StandIn, ("<PAD>", "<UNK>", "<BOS>", "<EOS>")))
"""The first tokens. Text that spells their names is text here; in the code, it becomes these tokens."""
UNKNOWN = SPECIAL[1]
WORD_START = "▁"


@dataclass(frozen=True, slots=True)
class Merge:
    """A merge: its pair, the pair's count, and how often it was really merged."""

    pair: Pair
    count: int
    merged: int


@dataclass(frozen=True, slots=True)
class Split:
    """A token taken back, and what it became."""

    token: str
    parts: tuple[str, ...]


Event = Merge | Split


@dataclass(slots=True)
class Token:
    """A token.

    Attributes:
        token_id: Its id; a token that comes back has its old one.
        frequency: How often it occurs now.
        parents: The first pair that made it; None for characters and special tokens.
        present: Whether it has not been taken back.
    """

    token_id: int
    frequency: int = 0
    parents: Pair | None = None
    present: bool = True


def words_of(text: str) -> dict[str, int]:
    """Count the words of a text, in order of first appearance.

    >>> words_of("low lower\\nlow")
    {'▁low': 2, '▁lower': 1}
    """
    return dict(Counter(WORD_START + word for word in text.split()))


def covered_characters(words: Mapping[str, int], coverage: float) -> list[str]:
    """Return the characters that become tokens, in order of first appearance: all except the rarest.

    If a text is so small that not even its rarest character may go, the code removes all characters, and so does this.

    >>> covered_characters({"aab": 10, "bc": 1}, 0.9), covered_characters({"aab": 10, "bc": 3}, 0.95)
    (['a', 'b'], [])
    """
    counts: Counter[str] = Counter()
    for word, frequency in words.items():
        for character in word:
            counts[character] += frequency
    total = sum(counts.values())
    rest = total - round(coverage * total)
    if rest <= 0:
        return list(counts)
    from_rarest = sorted(counts, key=counts.__getitem__, reverse=True)[::-1]  # of equals, the last seen is first
    removed = seen = 0
    for character in from_rarest:
        seen += counts[character]
        if seen >= rest:
            break
        removed += 1
    gone = set(from_rarest[:removed] if removed else from_rarest)
    return [character for character in counts if character not in gone]


def pairs_of(word: Sequence[str]) -> Iterator[Pair]:
    """Yield the pairs of a word, except those with a special token.

    >>> list(pairs_of(["a", "b", UNKNOWN, "c"])), list(pairs_of(["a", "<UNK>"]))
    ([('a', 'b')], [('a', '<UNK>')])
    """
    return (pair for pair in pairwise(word) if not set(pair) & set(SPECIAL))


def split_word(word: tuple[str, ...], token: str, parts: tuple[str, ...]) -> tuple[str, ...]:
    """Replace a token by its parts everywhere.

    >>> split_word(("ab", "c", "ab"), "ab", ("a", "b"))
    ('a', 'b', 'c', 'a', 'b')
    """
    return tuple(new for old in word for new in (parts if old == token else (old,)))


class Training:
    """A training run: ``events`` runs it, ``tokens`` is what it has made so far.

    >>> training = Training({"▁hug": 8, "▁hugs": 2, "▁pug": 3}, vocab_size=13, threshold=0.8)
    >>> list(training.tokens)[4:]
    ['▁', 'h', 'u', 'g', 's', 'p']
    >>> for event in training.events():
    ...     print(event)
    Merge(pair=('u', 'g'), count=13, merged=13)
    Merge(pair=('▁', 'h'), count=10, merged=10)
    Merge(pair=('▁h', 'ug'), count=10, merged=10)
    Split(token='▁h', parts=('▁', 'h'))
    Merge(pair=('▁', 'p'), count=3, merged=3)

    ``▁h`` is used only in ``▁hug``, so it is split; ``ug`` stays, because ``pug`` has it too.
    """

    def __init__(
        self,
        words: Mapping[str, int],
        *,
        vocab_size: int,
        threshold: float,
        coverage: float = 1.0,
        tie: Literal["birth", "ids"] = "birth",
        exact: bool = False,
        alphabet: Sequence[str] | None = None,
        min_frequency: int = 1,
        reserved: Collection[str] = (),
    ) -> None:
        """Spell the words as characters.

        Args:
            words: Words with their frequencies, in order of first appearance.
            vocab_size: The number of tokens to stop at. Additional merges also count as tokens: fewer may be present.
            threshold: A token is split if one merge takes more than this share of its occurrences.
            coverage: The share of the characters that get tokens.
            tie: Which of several equally frequent pairs is merged: the one that was counted first, or the lowest ids.
            exact: Whether pairs and tokens are counted correctly, once, after an additional merge.
            alphabet: The characters that become tokens, in the order of their ids; None for those of ``coverage``.
            min_frequency: Pairs that occur less often are not merged.
            reserved: Texts that no token may have.
        """
        self.vocab_size, self.threshold, self.tie, self.exact = vocab_size, threshold, tie, exact
        self.min_frequency, self.reserved = min_frequency, reserved
        alphabet = covered_characters(words, coverage) if alphabet is None else alphabet
        self.tokens = {token: Token(token_id) for token_id, token in enumerate([*SPECIAL, *alphabet])}
        known = set(alphabet)
        self.words = [tuple(each if each in known else UNKNOWN for each in word) for word in words]
        self.frequencies = list(words.values())
        self.words_with: dict[str, set[int]] = {}
        self.counts: dict[Pair, int] = {}
        for number, word in enumerate(self.words):
            for token in word:
                self.words_with.setdefault(token, set()).add(number)
                self.tokens[token].frequency += self.frequencies[number] * (token != UNKNOWN)
            for pair in pairs_of(word):
                self.counts[pair] = self.counts.get(pair, 0) + self.frequencies[number]
        self.size = len(self.tokens)

    def events(self) -> Iterator[Event]:
        """Yield merges and splits in order."""
        while self.size < self.vocab_size and self.counts:
            pair = self.best_pair()
            if pair is None or self.counts[pair] < max(1, self.min_frequency):
                return
            merge = self.take(pair)
            yield merge
            for part in dict.fromkeys(pair):
                self.tokens[part].frequency -= merge.merged * pair.count(part)
                if self.is_hardly_used(part, merge.merged):
                    yield Split(part, self.split(part))
                    self.size -= 1

    def take(self, pair: Pair) -> Merge:
        """Merge a pair, and count the result."""
        count = self.counts.pop(pair)
        product = "".join(pair)
        is_additional = product in self.tokens and self.tokens[product].present
        token = self.tokens.setdefault(product, Token(len(self.tokens), parents=pair))
        token.present = True
        merged = self.merge(pair, product)
        self.size += not (is_additional and self.exact)
        token.frequency += merged
        return Merge(pair, count, merged)

    def counted(self) -> dict[tuple[str, ...], int]:
        """Return the words as they are cut now, with how often each occurs."""
        found: Counter[tuple[str, ...]] = Counter()
        for word, frequency in zip(self.words, self.frequencies, strict=True):
            found[word] += frequency
        return dict(found)

    def allowed(self) -> Mapping[Pair, int]:
        """Return the pairs that may be merged, with their counts."""
        if not self.reserved:
            return self.counts
        return {pair: count for pair, count in self.counts.items() if "".join(pair) not in self.reserved}

    def best_pair(self) -> Pair | None:
        """Return the most frequent pair."""
        counts = self.allowed()
        most = max(counts.values(), default=0)
        tied = (pair for pair, count in counts.items() if count == most)
        if self.tie == "birth":
            return next(tied, None)
        return min(tied, key=lambda pair: tuple(self.tokens[token].token_id for token in pair), default=None)

    def is_hardly_used(self, token: str, merged: int) -> bool:
        """Return whether a merge took most occurrences of a token; its ``frequency`` counts those that are left."""
        return len(token) > 1 and merged / (self.tokens[token].frequency + merged) > self.threshold

    def replace(self, number: int, word: tuple[str, ...]) -> None:
        """Cut a word, given by its number, in another way."""
        for token in self.words[number]:
            self.words_with[token].discard(number)
        for token in word:
            self.words_with.setdefault(token, set()).add(number)
        self.words[number] = word

    def pairs_with(self, token: str | None, number: int) -> Counter[Pair]:
        """Count the pairs of a word that contain a token, or all of them, times the word's frequency."""
        found: Counter[Pair] = Counter()
        for pair in pairs_of(self.words[number]):
            if token is None or token in pair:
                found[pair] += self.frequencies[number]
        return found

    def merge(self, pair: Pair, product: str) -> int:
        """Merge a pair in all words and bring the counts up to date; return how often it was merged."""
        left, right = pair
        merged = 0
        made: Counter[Pair] = Counter()
        gone: Counter[Pair] = Counter()
        for number in sorted(self.words_with[left] & self.words_with[right]):
            before = self.words[number]
            after = merge_word(before, pair, product)
            if after == before:
                continue
            if self.exact:
                gone.update(self.pairs_with(None, number))
            self.replace(number, after)
            merged += (len(before) - len(after)) * self.frequencies[number]
            made.update(self.pairs_with(None if self.exact else product, number))
        for new, count in made.items():
            self.counts[new] = self.counts.get(new, 0) + count
        if not self.exact:
            for (first, second), count in made.items():
                gone[right if first == product else first, left if second == product else second] += count
        for old, count in gone.items():
            if old in self.counts:
                self.counts[old] -= count
                if self.counts[old] <= 0:
                    del self.counts[old]
        return merged

    def parts_of(self, token: str) -> tuple[str, ...]:
        """Return the present tokens and characters that a token is made of."""
        parents = self.tokens[token].parents
        if parents is None or self.tokens[token].present:
            return (token,)
        return tuple(part for parent in parents for part in self.parts_of(parent))

    def split(self, token: str) -> tuple[str, ...]:
        """Take a token back; return its parts."""
        gone = self.tokens[token]
        gone.present = False
        parts = self.parts_of(token)
        for part in parts:
            self.tokens[part].frequency += gone.frequency
        for pair in pairwise(parts):
            self.counts[pair] = self.counts.get(pair, 0) + gone.frequency
        ended: Counter[Pair] = Counter()
        for number in sorted(self.words_with[token]):
            ended.update(self.pairs_with(token, number))
            self.replace(number, split_word(self.words[number], token, parts))
        for (first, second), count in ended.items():
            new = (parts[-1] if first == token else first, parts[0] if second == token else second)
            self.counts[new] = self.counts.get(new, 0) + count
            self.counts.pop((first, second), None)
        gone.frequency = 0
        return parts


class Encoder:
    """Encode words: of the events that a word allows, apply the first one that does not come before the last one.

    >>> training = Training({"▁hug": 8, "▁hugs": 2, "▁pug": 3}, vocab_size=13, threshold=0.8)
    >>> events = list(training.events())
    >>> encoder = Encoder({token: each.present for token, each in training.tokens.items()}, events)
    >>> encoder.encode("▁hug"), encoder.encode("▁hugs"), encoder.encode("▁pugz")
    (['▁hug'], ['▁hug', 's'], ['▁p', 'ug', '<UNK>'])
    """

    def __init__(self, present: Mapping[str, bool], events: Sequence[Event]) -> None:
        """Record what each pair and token can become, and when.

        Args:
            present: For each token, whether it is still there, that is, not taken back.
            events: The learnt events.
        """
        self.present, self.events = present, events
        self.numbers: dict[Pair | str, list[int]] = {}
        for number, event in enumerate(events):
            self.numbers.setdefault(event.pair if isinstance(event, Merge) else event.token, []).append(number)

    def concerning(self, symbols: tuple[str, ...]) -> Iterator[int]:
        """Yield the numbers of the events of all pairs and tokens in a word."""
        for pair in pairwise(symbols):
            yield from self.numbers.get(pair, ())
        for token in symbols:
            yield from self.numbers.get(token, ())

    def encode(self, word: str) -> list[str]:
        """Return the tokens of a word, which begins with its mark."""
        if self.present.get(word):
            return [word]
        symbols = tuple(character if character in self.present else UNKNOWN for character in word)
        last = -1
        while possible := [number for number in self.concerning(symbols) if number >= last]:
            last = min(possible)
            event = self.events[last]
            if isinstance(event, Merge):
                symbols = merge_word(symbols, event.pair, "".join(event.pair))
            else:
                symbols = split_word(symbols, event.token, event.parts)
        return list(symbols)
