"""Learn byte-pair encoding as the textbooks do: count all pairs, merge the most frequent one, repeat.

Sources: Gage, "A New Algorithm for Data Compression", The C Users Journal 12(2), 1994 (bytes of a
file); Sennrich, Haddow and Birch, arXiv:1508.07909 (characters of words, ``</w>`` at the end); Radford
et al., "Language Models are Unsupervised Multitask Learners", 2019 (bytes of pieces).

A *symbol* is a string or a byte string, a *word* a tuple of symbols; words come with their frequency.
Nothing here cuts text into words, and nothing is fast: every step recounts everything.

Known and unknown characters become symbols as in huggingface/tokenizers ``models/bpe``. The limits on what a token may
contain (``allow``) follow Land and Arnett, arXiv:2505.24689, whose tokens respect the boundaries of characters.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, islice, pairwise
from typing import Generic, Literal, TypeVar, get_args

Symbol = TypeVar("Symbol", str, bytes)

Tie = Literal["lowest-ids", "first-seen", "largest-text"]
"""Which of several equally frequent pairs is taken; see ``choose``."""


def byte_words(pieces: Mapping[bytes, int]) -> dict[tuple[bytes, ...], int]:
    """Spell pieces as bytes, keeping how often each occurs.

    >>> byte_words({b"ab": 2})
    {(b'a', b'b'): 2}
    """
    return {tuple(piece[i : i + 1] for i in range(len(piece))): count for piece, count in pieces.items()}


def decorate(piece: str, *, prefix: str = "", suffix: str = "", separate_suffix: bool = False) -> list[str]:
    """Write a piece as symbols: its characters, with the marks before and after them.

    >>> decorate("abc", prefix="##", suffix="</w>"), decorate("ab", suffix="</w>", separate_suffix=True)
    (['a', '##b', '##c</w>'], ['a', 'b', '</w>'])
    """
    symbols = [prefix * (place > 0) + character for place, character in enumerate(piece)]
    if separate_suffix and suffix:
        symbols.append(suffix)
    elif symbols:
        symbols[-1] += suffix
    return symbols


def character_words(
    pieces: Mapping[str, int], *, end: str = "</w>", glued: bool = False, prefix: str = "", mark: str = ""
) -> dict[tuple[str, ...], int]:
    """Spell words as characters, keeping how often each occurs.

    Args:
        pieces: Words with their frequencies.
        end: The mark at the end of a word; empty for no mark.
        glued: Whether the mark is attached to the last character (subword-nmt since version 0.2)
            instead of being a separate symbol (the paper).
        prefix: The mark before every character except the first (WordPiece's ``##``).
        mark: A text that no merge may cross, and that is removed (MorphBPE,
            arXiv:2502.00894); empty for none.

    >>> character_words({"low": 5})
    {('l', 'o', 'w', '</w>'): 5}
    >>> character_words({"low": 5}, glued=True)
    {('l', 'o', 'w</w>'): 5}
    >>> character_words({"low": 5}, end="", prefix="##")
    {('l', '##o', '##w'): 5}
    >>> character_words({"un|do": 5}, glued=True, mark="|")
    {('u', 'n'): 5, ('d', 'o</w>'): 5}
    """
    words: dict[tuple[str, ...], int] = {}
    for piece, count in pieces.items():
        parts = [part for part in (piece.split(mark) if mark else [piece]) if part]
        symbols = iter(decorate("".join(parts), prefix=prefix, suffix=end, separate_suffix=not glued) if parts else ())
        for number, part in enumerate(parts, 1):
            word = tuple(symbols if number == len(parts) else islice(symbols, len(part)))
            words[word] = words.get(word, 0) + count
    return words


def count_symbols(words: Mapping[tuple[Symbol, ...], int]) -> dict[Symbol, int]:
    """Count how often each symbol occurs, in first-seen order.

    >>> count_symbols({("a", "b", "a"): 2})
    {'a': 4, 'b': 2}
    """
    counts: dict[Symbol, int] = {}
    for word, frequency in words.items():
        for symbol in word:
            counts[symbol] = counts.get(symbol, 0) + frequency
    return counts


def count_pairs(words: Mapping[tuple[Symbol, ...], int]) -> dict[tuple[Symbol, Symbol], int]:
    """Count how often each pair of neighbours occurs, in first-seen order.

    Windows overlap: ``a a a`` contains the pair ``a a`` twice, although only one of them can be merged.

    >>> count_pairs({("a", "a", "a", "b"): 2})
    {('a', 'a'): 4, ('a', 'b'): 2}
    """
    counts: dict[tuple[Symbol, Symbol], int] = {}
    for word, frequency in words.items():
        for pair in pairwise(word):
            counts[pair] = counts.get(pair, 0) + frequency
    return counts


def merge_word(word: tuple[Symbol, ...], pair: tuple[Symbol, Symbol], product: Symbol) -> tuple[Symbol, ...]:
    """Replace a pair by its product, from left to right, never overlapping.

    >>> merge_word(("a", "a", "a", "b"), ("a", "a"), "aa")
    ('aa', 'a', 'b')
    """
    if pair[0] not in word or pair not in pairwise(word):  # most words
        return tuple(word)
    merged: list[Symbol] = []
    place = 0
    while place < len(word):
        if word[place : place + 2] == pair:
            merged.append(product)
            place += 2
        else:
            merged.append(word[place])
            place += 1
    return tuple(merged)


def merge_words(
    words: Mapping[tuple[Symbol, ...], int], pair: tuple[Symbol, Symbol], product: Symbol
) -> dict[tuple[Symbol, ...], int]:
    """Replace a pair in every word, keeping the words' order.

    >>> merge_words({("a", "b"): 2, ("b", "a"): 1}, ("a", "b"), "ab")
    {('ab',): 2, ('b', 'a'): 1}
    """
    merged: dict[tuple[Symbol, ...], int] = {}
    for word, frequency in words.items():
        new = merge_word(word, pair, product)
        merged[new] = merged.get(new, 0) + frequency
    return merged


def choose(counts: Mapping[tuple[Symbol, Symbol], int], tie: Tie, ids: Mapping[Symbol, int]) -> tuple[Symbol, Symbol]:
    """Return the most frequent pair; among equals, the one that the rule ``tie`` selects.

    ``lowest-ids``: the smallest (id of left, id of right), Hugging Face's rule. ``first-seen``: the earliest
    in the corpus as it is segmented now, minbpe's rule. ``largest-text``: the largest (left, right), subword-nmt's.

    >>> counts = {("b", "a"): 2, ("c", "a"): 2, ("a", "b"): 2, ("a", "c"): 1}
    >>> [choose(counts, tie, {"a": 0, "b": 1, "c": 2}) for tie in ("lowest-ids", "first-seen", "largest-text")]
    [('a', 'b'), ('b', 'a'), ('c', 'a')]
    """
    most = max(counts.values())
    tied = [pair for pair, count in counts.items() if count == most]
    if tie == "first-seen":
        return tied[0]
    if tie == "largest-text":
        return max(tied)
    return min(tied, key=lambda pair: (ids[pair[0]], ids[pair[1]]))


@dataclass(frozen=True, slots=True)
class Step(Generic[Symbol]):
    """The effect of one merge.

    Attributes:
        number: Counted from 1.
        pair: The two symbols that are merged.
        count: How often they were next to each other before.
        product: The symbol that they became.
        token_id: Its id: a new one, unless the product already was a token (a special one, for example).
        vocabulary_change: The change in the number of different symbols *in use*: the product
            is added, and a part that no longer occurs is removed. So +1: both parts stay,
            0: one goes, -1: both go.
        vocabulary_size: The number of different symbols in use after the merge.
        words: The corpus after the merge.
        counts: All pairs that could be merged, with their counts, in first-seen order.
    """

    number: int
    pair: tuple[Symbol, Symbol]
    count: int
    product: Symbol
    token_id: int
    vocabulary_change: int
    vocabulary_size: int
    words: Mapping[tuple[Symbol, ...], int]
    counts: Mapping[tuple[Symbol, Symbol], int]


@dataclass(frozen=True, slots=True)
class Training(Generic[Symbol]):
    """A corpus and settings; each iteration trains from the start, and yields a ``Step`` for each merge.

    Steps are not kept, because each holds the whole corpus. The attributes are the arguments of ``train``.
    """

    words: Mapping[tuple[Symbol, ...], int]
    initial: tuple[Symbol, ...]
    vocab_size: int | None
    num_merges: int | None
    min_frequency: int
    tie: Tie
    max_token_length: int | None
    prefix: Symbol | None
    allow: Callable[[Symbol], bool] | None

    def join(self, left: Symbol, right: Symbol) -> Symbol:
        """Return the product of two symbols: one after the other, the right one without its prefix."""
        if self.prefix and right.startswith(self.prefix):
            right = right[len(self.prefix) :]
        return left + right

    def __iter__(self) -> Iterator[Step[Symbol]]:
        words = self.words
        ids = {token: token_id for token_id, token in enumerate(self.initial) if token}
        lengths = dict.fromkeys(count_symbols(words), 1)
        token_count = len(self.initial)
        in_use = len(lengths)
        number = 0
        while (self.vocab_size is None or token_count < self.vocab_size) and number != self.num_merges:
            counts = {
                (left, right): count
                for (left, right), count in count_pairs(words).items()
                if self.max_token_length is None or lengths[left] + lengths[right] <= self.max_token_length
                if self.allow is None or self.allow(self.join(left, right))
            }
            if not counts:
                return
            pair = choose(counts, self.tie, ids)
            if counts[pair] < max(1, self.min_frequency):
                return
            product = self.join(*pair)
            if product not in ids:
                ids[product] = token_count
                token_count += 1
            lengths.setdefault(product, lengths[pair[0]] + lengths[pair[1]])
            words = merge_words(words, pair, product)
            in_use_before, in_use = in_use, len(set().union(*words))
            number += 1
            change = in_use - in_use_before
            yield Step(number, pair, counts[pair], product, ids[product], change, in_use, words, counts)

    def merges(self) -> list[tuple[Symbol, Symbol]]:
        """Train, and return the merged pairs in order."""
        return [step.pair for step in self]

    def tokens(self) -> list[Symbol]:
        """Train, and return all tokens by id: the initial ones, then every new product."""
        tokens = list(self.initial)
        for step in self:
            if step.token_id == len(tokens):
                tokens.append(step.product)
        return tokens


def train(
    words: Mapping[tuple[Symbol, ...], int],
    *,
    initial: Sequence[Symbol] | None = None,
    vocab_size: int | None = None,
    num_merges: int | None = None,
    min_frequency: int = 1,
    tie: Tie = "lowest-ids",
    max_token_length: int | None = None,
    prefix: Symbol | None = None,
    unknown_separates: bool = False,
    allow: Callable[[Symbol], bool] | None = None,
) -> Training[Symbol]:
    """Describe a training; iterate over the result to run it step by step.

    Args:
        words: Words with their frequencies; their order matters only for ``first-seen``.
        initial: Tokens that exist before the first merge, numbered from 0: the alphabet and special
            tokens; an empty one is a special token whose text no merge may make. All other symbols are
            removed from the words. Default: the symbols of ``words`` in first-seen order.
        vocab_size: Stop at this number of tokens, including the initial ones.
        num_merges: Stop after this number of merges.
        min_frequency: Stop when the most frequent pair occurs less often.
        tie: Which of several equally frequent pairs is taken.
        max_token_length: The maximum length of a product, in symbols of the alphabet; longer ones are not made.
            (Hugging Face's ``max_token_length=N`` is our ``N - 1``, for N >= 3.) A token that can be
            made in several ways has the length that it had when it was first made.
        prefix: The mark before every symbol of a word except the first; a product drops that of its right part.
        unknown_separates: Whether no merge crosses removed symbols; otherwise, their neighbours become adjacent.
        allow: Whether a product with this text may be made, for example ``keeps_characters``.

    Raises:
        ValueError: if a token appears twice in ``initial``, or ``tie`` is unknown.

    >>> training = train({("a", "b", "c"): 2, ("a", "b"): 1})
    >>> training.merges(), training.tokens()
    ([('a', 'b'), ('ab', 'c')], ['a', 'b', 'c', 'ab', 'abc'])
    >>> [(step.count, step.vocabulary_change, step.vocabulary_size) for step in training]
    [(3, -1, 2), (2, 0, 2)]
    """
    if tie not in get_args(Tie):
        raise ValueError(f"tie is one of {', '.join(get_args(Tie))}, not {tie!r}")
    if initial is None:
        initial = list(count_symbols(words))
    alphabet = {token for token in initial if token}
    if len(alphabet) < sum(1 for token in initial if token):
        raise ValueError("a token appears twice in initial")
    kept: dict[tuple[Symbol, ...], int] = {}
    for word, frequency in words.items():
        runs = [tuple(run) for is_known, run in groupby(word, alphabet.__contains__) if is_known]
        for known in runs if unknown_separates else [tuple(chain(*runs))]:
            kept[known] = kept.get(known, 0) + frequency
    return Training(kept, tuple(initial), vocab_size, num_merges, min_frequency, tie, max_token_length, prefix, allow)


def byte_token(byte: int) -> str:
    """Return the name of the token for a byte.

    >>> byte_token(10)
    '<0x0A>'
    """
    return f"<0x{byte:02X}>"


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a symbol is spelt.

    Attributes:
        symbol: The symbol.
        tokens: What it becomes: itself, its bytes, the unknown token, or nothing.
        way: Which of these it is; "fused" if the unknown token before it also stands for this symbol.
    """

    symbol: str
    tokens: tuple[str, ...]
    way: Literal["token", "bytes", "unknown", "fused", "left out"]


def spellings(
    symbols: Sequence[str],
    vocabulary: Collection[str],
    *,
    unknown: str | None = None,
    fuse_unknown: bool = False,
    byte_fallback: bool = False,
) -> Iterator[Spelling]:
    """Yield how each symbol is spelt.

    Args:
        symbols: The piece, as ``decorate`` writes it.
        vocabulary: All tokens.
        unknown: The token for symbols that have none; None drops them.
        fuse_unknown: Whether several unknown symbols in a row become one token.
        byte_fallback: Whether an unknown symbol becomes the tokens of its bytes, if all of them exist.

    >>> [spelling.way for spelling in spellings("axy", {"a"}, unknown="?", fuse_unknown=True)]
    ['token', 'unknown', 'fused']
    """
    after_unknown = False
    for symbol in symbols:
        in_bytes = tuple(byte_token(byte) for byte in symbol.encode("utf-8", "surrogateescape"))
        if symbol in vocabulary:
            yield Spelling(symbol, (symbol,), "token")
        elif byte_fallback and all(token in vocabulary for token in in_bytes):
            yield Spelling(symbol, in_bytes, "bytes")
        elif unknown is None:
            yield Spelling(symbol, (), "left out")
        elif fuse_unknown and after_unknown:
            yield Spelling(symbol, (), "fused")
            continue
        else:
            yield Spelling(symbol, (unknown,), "unknown")
            after_unknown = True
            continue
        after_unknown = False


def keeps_characters(product: str | bytes) -> bool:
    """Return whether a product consists of whole characters, or is the incomplete beginning of a single one.

    >>> [keeps_characters(product) for product in ("你好".encode(), b"\\xe4\\xbd", b"\\xbd\\xa0", b"a\\xe4")]
    [True, True, False, False]
    """
    data = product.encode("utf-8", "surrogateescape") if isinstance(product, str) else product
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.start == 0 and error.reason == "unexpected end of data"
    return True


def count_digits(product: str | bytes) -> int:
    """Count the numeric characters (Unicode category N) of a product; parts of characters do not count.

    >>> count_digits("a1\u0663"), count_digits(b"12\\xd9"), count_digits(b"\\xd9\\xa3")
    (2, 2, 1)
    """
    text = product if isinstance(product, str) else product.decode("utf-8", "surrogateescape")
    return sum(1 for character in text if unicodedata.category(character).startswith("N"))
