"""Learn merges within pieces and, as soon as pieces are single tokens, merges of whole pieces: *superwords*.

Source: Schmidt et al., "Boundless Byte Pair Encoding: Breaking the Pre-tokenization Barrier", arXiv:2504.00178;
kensho-technologies/boundlessbpe at 9c7ef2e, ``FasterHalfDirectRegexTokenizer`` and ``FasterRegexInference``.

There are two states. The words are the different pieces, spelt in bytes, with their frequencies; merges and PickyBPE's
deletions change them. The documents are sequences of whole pieces; *supermerges* change them. A piece takes part in a
supermerge once it is *unlocked*: some piece has become that one token, and it is text that may be joined.

Where the code differs from the paper, this follows the code: a deleted token keeps its place in the vocabulary, so it
counts, and is never learnt again; a superword of two equal parts stays locked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

import regex

from bpe_cli.teaching.bpe import byte_words, merge_word
from bpe_cli.teaching.frontier.words import Words

Pair = tuple[bytes, bytes]

MAY_JOIN = regex.compile(r"^(?=.+\p{L})(?:\p{L}\p{M}*|[ _'’])+$")
"""Letters with their marks, spaces, underscores and apostrophes, with something before some letter: not just ``a``."""


@dataclass(frozen=True, slots=True)
class Merge:
    """A merge of two tokens in words."""

    pair: Pair
    count: int


@dataclass(frozen=True, slots=True)
class Deletion:
    """The removal of a token from all words; ``count`` is that of the merge that caused it."""

    token: bytes
    count: int


@dataclass(frozen=True, slots=True)
class Supermerge:
    """A merge of two neighbouring pieces or superwords."""

    pair: Pair
    count: int


Event = Merge | Deletion | Supermerge


def may_join(piece: bytes) -> bool:
    """Return whether a piece may be part of a superword.

    >>> [may_join(piece.encode()) for piece in (" a", "don't", "我们", "a", "我", " 1", "x!", " ")]
    [True, True, True, False, False, False, False, False]
    """
    try:
        return MAY_JOIN.match(piece.decode()) is not None
    except UnicodeDecodeError:
        return False


def pairs_of(word: Sequence[bytes]) -> Iterator[Pair]:
    """Yield the pairs of neighbours; in a run of one token, only every second pair.

    >>> [len(list(pairs_of([b"a"] * length))) for length in range(2, 7)]
    [1, 1, 2, 2, 3]
    """
    counted_last = None
    for pair in pairwise(word):
        if pair == counted_last:
            counted_last = None
        else:
            yield pair
            counted_last = pair


def best_of(counts: Mapping[Pair, int]) -> tuple[int, Pair | None]:
    """Return the highest count and its pair (among equals, the smallest); -1 and None if there are no pairs.

    >>> best_of({(b"b", b"a"): 2, (b"a", b"b"): 2, (b"a", b"a"): 1}), best_of({})
    ((2, (b'a', b'b')), (-1, None))
    """
    if not counts:
        return -1, None
    most = max(counts.values())
    return most, min(pair for pair, count in counts.items() if count == most)


def in_bytes(token: bytes) -> tuple[bytes, ...]:
    """Spell a token in bytes.

    >>> in_bytes(b"ab")
    (b'a', b'b')
    """
    return tuple(token[place : place + 1] for place in range(len(token)))


def split_word(word: tuple[bytes, ...], token: bytes, parts: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """Replace a token by its parts everywhere.

    >>> split_word((b"ab", b"c"), b"ab", (b"a", b"b"))
    (b'a', b'b', b'c')
    """
    return tuple(new for old in word for new in (parts if old == token else (old,)))


class Training:
    """A training run: ``events`` runs it, ``vocabulary`` is what it has made so far, by id.

    >>> training = Training([[" of", " the"], [" of", " the"], [" of", "!"]], vocab_size=262, threshold=0.9)
    >>> for event in training.events():
    ...     print(event)
    Merge(pair=(b' ', b'o'), count=3)
    Merge(pair=(b' o', b'f'), count=3)
    Deletion(token=b' o', count=3)
    Merge(pair=(b' ', b't'), count=2)
    Merge(pair=(b' t', b'h'), count=2)
    Deletion(token=b' t', count=2)
    Merge(pair=(b' th', b'e'), count=2)
    Deletion(token=b' th', count=2)
    Supermerge(pair=(b' of', b' the'), count=2)
    """

    def __init__(
        self, documents: Iterable[Sequence[str]], *, vocab_size: int, threshold: float, blow_up: bool = True
    ) -> None:
        """Count the pieces, and lay the documents out.

        Args:
            documents: The documents, each as its pieces.
            vocab_size: The number of tokens to stop at, including the 256 bytes and deleted tokens.
            threshold: A token is deleted if one merge takes at least this share of its occurrences; single bytes are
                never deleted.
            blow_up: Whether a deleted token becomes single bytes (as in the paper), or the pair that first made it.
        """
        self.vocab_size, self.threshold, self.blow_up = vocab_size, threshold, blow_up
        self.vocabulary = dict.fromkeys(bytes([byte]) for byte in range(256))  # by id, and quick to ask
        self.first_pairs: dict[bytes, Pair] = {}
        self.unlocked: set[bytes] = set()
        in_pieces = [[piece.encode() for piece in document] for document in documents]
        counts = Counter(piece for document in in_pieces for piece in document)
        self.words = Words(byte_words(counts), self._pairs_to_learn)
        self.occurrences: Counter[bytes] = Counter()
        for word, frequency in zip(self.words.words, self.words.frequencies, strict=True):
            for byte in word:
                self.occurrences[byte] += frequency
        # Pieces that never join cut the documents into stretches, which are all that supermerges ever see.
        joins = {piece: len(piece) > 1 and may_join(piece) for piece in counts}
        stretches = [
            (tuple(stretch), document)
            for document in in_pieces
            for joined, stretch in groupby(document, key=joins.__getitem__)
            if joined
        ]
        self.stretches = Words([(stretch, 1) for stretch, _ in stretches], self._unlocked_pairs)
        self.is_document = [len(stretch) == len(document) for stretch, document in stretches]
        self.stretches_with: dict[bytes, set[int]] = {}
        for number, (stretch, _) in enumerate(stretches):
            for piece in stretch:
                self.stretches_with.setdefault(piece, set()).add(number)

    def _pairs_to_learn(self, word: tuple[bytes, ...]) -> Iterator[Pair]:
        """Yield the pairs whose product is not a token yet."""
        return (pair for pair in pairs_of(word) if pair[0] + pair[1] not in self.vocabulary)

    def _unlocked_pairs(self, stretch: tuple[bytes, ...]) -> Iterator[Pair]:
        return (pair for pair in self._pairs_to_learn(stretch) if self.unlocked.issuperset(pair))

    def events(self) -> Iterator[Event]:
        """Yield merges, deletions and supermerges in order, until there are enough tokens or no pairs."""
        while len(self.vocabulary) < self.vocab_size:
            count, pair = best_of(self.words.counts)
            super_count, super_pair = best_of(self.stretches.counts)
            if pair is not None and count > super_count:
                yield from self.merge(pair, count)
            elif super_pair is not None:
                yield self.supermerge(super_pair, super_count)
            else:
                return

    def add(self, product: bytes) -> None:
        """Assign an id to a product. From then on, other pairs that would make the same product are skipped."""
        self.vocabulary[product] = None
        for place in range(1, len(product)):
            self.words.forget((product[:place], product[place:]))
            self.stretches.forget((product[:place], product[place:]))

    def merge(self, pair: Pair, count: int) -> Iterator[Merge | Deletion]:
        """Merge a pair in all words, and delete its parts if it took nearly all of their occurrences."""
        product = b"".join(pair)
        before = [self.occurrences[part] for part in pair]
        length = self.words.length
        changed = self.words.merge(pair, product)
        merged = length - self.words.length
        for part in pair:
            self.occurrences[part] -= merged
        self.occurrences[product] += merged
        self.first_pairs[product] = pair
        self.add(product)
        yield Merge(pair, count)
        for part, occurrences in zip(pair, before, strict=True):
            if len(part) > 1 and count / occurrences >= self.threshold:
                self.delete(part)
                yield Deletion(part, count)
        if any(self.words.words[number] == (product,) for number in changed) and may_join(product):
            self.unlock(product)

    def delete(self, token: bytes) -> None:
        """Remove a token from all words; it stays in the vocabulary, and stays unlocked in the documents."""
        parts = in_bytes(token) if self.blow_up else self.first_pairs[token]
        for number, word in enumerate(self.words.words):
            if token in word:
                self.words.replace(number, split_word(word, token, parts))
        for part in parts:
            self.occurrences[part] += self.occurrences[token]
        self.occurrences[token] = 0

    def unlock(self, token: bytes) -> None:
        """Let a token take part in supermerges."""
        self.stretches.recount(self.stretches_with.get(token, ()), lambda: self.unlocked.add(token))

    def supermerge(self, pair: Pair, count: int) -> Supermerge:
        """Merge a pair in all documents."""
        product = b"".join(pair)
        if pair[0] != pair[1]:
            self.unlock(product)
        changed = self.stretches.merge(pair, product)
        self.stretches_with.setdefault(product, set()).update(changed)
        if any(self.stretches.words[number] == (product,) and self.is_document[number] for number in changed):
            self.unlock(product)
        self.add(product)
        return Supermerge(pair, count)


def encode(pieces: Sequence[str], events: Sequence[Event], *, blow_up: bool = True) -> list[bytes]:
    """Encode a document: of the events that it allows, apply the first one after the last one, everywhere, and repeat.

    A supermerge joins any two neighbours that are one token each, whatever was unlocked when it was learnt.

    Args:
        pieces: The pieces of the document.
        events: The learnt events.
        blow_up: As in training.

    >>> training = Training([[" of", " the"], [" of", " the"], [" of", "!"]], vocab_size=262, threshold=0.9)
    >>> events = list(training.events())
    >>> encode(["!", " of", " the"], events), encode([" off", " the"], events)
    ([b'!', b' of the'], [b' of', b'f', b' the'])
    """
    return Encoder(events, blow_up=blow_up).encode(pieces)


class Encoder:
    """The events by pair and by token; see ``encode``. Only the last event of a pair or a token counts."""

    def __init__(self, events: Sequence[Event], *, blow_up: bool = True) -> None:
        """Number the events."""
        self.events, self.blow_up = events, blow_up
        self.merges: dict[Pair, int] = {}
        self.supermerges: dict[Pair, int] = {}
        self.deletions: dict[bytes, int] = {}
        self.first_pairs: dict[bytes, Pair] = {}
        for number, event in enumerate(events):
            if isinstance(event, Deletion):
                self.deletions[event.token] = number
            elif isinstance(event, Supermerge):
                self.supermerges[event.pair] = number
            else:
                self.merges[event.pair] = number
                self.first_pairs.setdefault(b"".join(event.pair), event.pair)

    def possible(self, words: Sequence[tuple[bytes, ...]]) -> Iterator[int | None]:
        """Yield the numbers of all events that can be applied now."""
        for word in words:
            yield from map(self.merges.get, pairwise(word))
            yield from map(self.deletions.get, word)
        for left, right in pairwise(words):
            if len(left) == len(right) == 1:
                yield self.supermerges.get((left[0], right[0]))

    def encode(self, pieces: Sequence[str]) -> list[bytes]:
        """Return the tokens of a document."""
        words = [in_bytes(piece.encode()) for piece in pieces]
        last = -1
        while later := [number for number in self.possible(words) if number is not None and number > last]:
            last = min(later)
            words = self.apply(self.events[last], words)
        return [token for word in words for token in word]

    def apply(self, event: Event, words: list[tuple[bytes, ...]]) -> list[tuple[bytes, ...]]:
        """Apply an event everywhere, from left to right, never overlapping."""
        if isinstance(event, Merge):
            return [merge_word(word, event.pair, b"".join(event.pair)) for word in words]
        if isinstance(event, Deletion):
            parts = in_bytes(event.token) if self.blow_up else self.first_pairs[event.token]
            return [split_word(word, event.token, parts) for word in words]
        joined: list[tuple[bytes, ...]] = []
        place = 0
        while place < len(words):
            if [*words[place : place + 2]] == [(part,) for part in event.pair]:
                joined.append((b"".join(event.pair),))
                place += 2
            else:
                joined.append(words[place])
                place += 1
        return joined
