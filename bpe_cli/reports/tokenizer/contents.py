"""Read what the ordinary tokens of a tokenizer stand for: the basis of every other part of the health report.

Also what several of those parts need: whitespace, lengths in few bins, and tokens that are equal but for case or a
space before them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bpe_cli.stages.components import ByteLevel, ByteLevelNormalizer, Metaspace, Replace, SpaceMarks
from bpe_cli.stages.spelling import BYTE_TEXT, BYTE_TEXTS, from_visible

if TYPE_CHECKING:
    from bpe_cli.stages import Normalizer, PreTokenizer
    from bpe_cli.tokenizer import Tokenizer


WHITE_SPACE = frozenset(
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""What ``\\s`` is in split patterns (``str.isspace`` adds U+001C to 1F)."""

_ONE = b"(?:%s)" % b"|".join(re.escape(character.encode()) for character in sorted(WHITE_SPACE))

# No character's bytes can be found inside of another's.
STRETCH = re.compile(_ONE + b"+")
"""Finds stretches of whitespace in UTF-8."""
UP_TO_LAST = re.compile(b"(?s).*" + _ONE)
"""Matches from anywhere in UTF-8 to the end of the last whitespace."""


@dataclass(frozen=True, slots=True)
class NamedToken:
    """A token as an example: its id, and the bytes of text that it stands for."""

    token_id: int
    content: bytes


@dataclass(frozen=True)
class Contents:
    """What the ordinary tokens stand for, by id in ascending order.

    Attributes:
        meanings: The bytes of text of every ordinary token (see ``meaning_of``).
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


Step = Callable[[bytes], bytes]
"""One step of the way back from a token to text."""

_BLANK_MARK = "\u2581".encode()


def meaning_of(tokenizer: Tokenizer) -> Step:
    """Return a function that finds the bytes of text that an ordinary token stands for.

    That a blank is put before a text, or that text was folded, is not undone. A token that is nothing but a
    mark of the model's (an end of a word by itself) stands for no text, and is given as it is written.
    """
    model = tokenizer.model
    if model.byte_level:
        return lambda token: token
    steps: list[Step] = []
    if prefix := model.continuing_subword_prefix:
        steps.append(lambda token: token.removeprefix(prefix.encode()))
    if suffix := model.end_of_word_suffix:
        steps.append(lambda token: token.removesuffix(suffix.encode()))
    steps += _undo(tokenizer.normalizer, tokenizer.pre_tokenizer)
    byte_fallback = model.byte_fallback

    def meaning(token: bytes) -> bytes:
        if byte_fallback and (named := read_named_byte(token)):
            return named
        content = token
        for step in steps:
            content = step(content)
        return content or token

    return meaning


def _undo(normalizer: tuple[Normalizer, ...], pre_tokenizer: tuple[PreTokenizer, ...]) -> Iterator[Step]:
    """Yield the way back through the stages that spell text otherwise, the last one first."""
    for stage in reversed((*normalizer, *pre_tokenizer)):
        if isinstance(stage, (ByteLevel, ByteLevelNormalizer)):
            yield read_visible
        elif isinstance(stage, Metaspace):
            yield _blanks(stage.replacement.encode())
        elif isinstance(stage, SpaceMarks) and stage.escape_whitespaces:
            yield _blanks(_BLANK_MARK)
        elif isinstance(stage, Replace) and stage.pattern == " " and stage.content:
            yield _blanks(stage.content.encode())


def _blanks(mark: bytes) -> Step:
    return lambda content: content.replace(mark, b" ")


def read_visible(content: bytes) -> bytes:
    """Read the visible alphabet of bytes; a text outside it (a user's own token) is itself."""
    try:
        spelt = from_visible(content.decode())
    except UnicodeDecodeError:
        return content
    return content if spelt is None else spelt


def read_named_byte(token: bytes) -> bytes | None:
    """Return the byte that a token of byte fallback names, as in ``<0xE4>``; None for another token."""
    return bytes([int(token[3:5], 16)]) if BYTE_TEXT.fullmatch(token) else None


def character_count(content: bytes) -> int | None:
    """Count the characters of UTF-8 text."""
    try:
        return len(content.decode())
    except UnicodeDecodeError:
        return None


_FIRST_OF_SEVERAL = 0x80
"""From this byte on, a byte is one of several that make a character of UTF-8."""
_LONGEST_SPELT_BYTE = 2
"""Bytes that the visible alphabet of byte-level models takes for one byte, at most."""
_BYTE_TEXT = len(BYTE_TEXTS[0])
"""Bytes of the name of a byte."""


@dataclass(frozen=True, slots=True)
class Fallback:
    """The ids that stand for text the vocabulary has nothing better for.

    Attributes:
        unknown: The model's unknown token; empty if it has none.
        bytes: The tokens of byte fallback (``<0xE4>``, those of ASCII too), and in byte-level models the
            tokens that are one byte from 0x80 on: less than a character.
    """

    unknown: frozenset[int]
    bytes: frozenset[int]


def fallback_ids(tokenizer: Tokenizer) -> Fallback:
    """Classify a tokenizer's ids.

    >>> from bpe_cli.stages import RankBpe
    >>> from bpe_cli.tokenizer import Tokenizer
    >>> from bpe_cli.stages.vocabulary import Vocabulary
    >>> fallback_ids(Tokenizer(RankBpe(Vocabulary.from_tokens([b"a", b"\\xe4", b"\\xe4\\xb8"]))))
    Fallback(unknown=frozenset(), bytes=frozenset({1}))

    Complexity: linear in the vocabulary.
    """
    model = tokenizer.model
    unknown = model.unk_id
    if model.byte_fallback:
        named = (token_id for token_id, token in model.vocabulary.short(_BYTE_TEXT) if BYTE_TEXT.fullmatch(token))
        byte_ids = frozenset(named)
    else:
        byte_ids = frozenset(_single_bytes(tokenizer))
    return Fallback(frozenset() if unknown is None else frozenset({unknown}), byte_ids)


def _single_bytes(tokenizer: Tokenizer) -> list[int]:
    """List the ids of tokens that stand for one byte of a longer character."""
    model = tokenizer.model
    around = model.continuing_subword_prefix, model.end_of_word_suffix
    longest = _LONGEST_SPELT_BYTE + sum(len(mark.encode()) for mark in around)
    meaning = meaning_of(tokenizer)
    ids = []
    for token_id, token in model.vocabulary.short(longest):
        content = meaning(token)
        if len(content) == 1 and content[0] >= _FIRST_OF_SEVERAL:
            ids.append(token_id)
    return ids


_BINS = (*((length, length) for length in range(1, 9)), (9, 12), (13, 16), (17, 32), (33, 64), (65, 128), (129, None))


@dataclass(frozen=True, slots=True)
class LengthBin:
    """How many tokens have a length (in bytes, characters, merges) between ``lowest`` and ``highest``.

    Attributes:
        share: Part of all these tokens, 0 to 1.
        relative: Part of the fullest bin, 0 to 1.
    """

    lowest: int
    highest: int | None
    tokens: int
    share: float
    relative: float


def bins(lengths: Counter[int]) -> tuple[LengthBin, ...]:
    """Sort lengths into few bins.

    >>> [(bin.lowest, bin.highest, bin.tokens, bin.share) for bin in bins(Counter({1: 3, 3: 1}))]
    [(1, 1, 3, 0.75), (2, 2, 0, 0.0), (3, 3, 1, 0.25)]
    """
    total = sum(lengths.values())
    counts = [
        sum(count for length, count in lengths.items() if lowest <= length and (highest is None or length <= highest))
        for lowest, highest in _BINS
    ]
    while counts and not counts[-1]:
        counts.pop()
    return tuple(
        LengthBin(lowest, highest, count, count / total, count / max(counts))
        for (lowest, highest), count in zip(_BINS, counts, strict=False)
    )


EXAMPLES = 5
"""How many groups are reported."""


@dataclass(frozen=True, slots=True)
class Redundancy:
    """How many tokens differ from an earlier one only in some way.

    Attributes:
        name: In what way: ``same text``, ``leading space``, ``case``, ``leading space and case``.
        groups: Groups of at least two tokens that are equal but for that.
        redundant: Tokens in those groups beyond one in each.
        share: ``redundant`` as a part of all ordinary tokens, 0 to 1.
    """

    name: str
    groups: int
    redundant: int
    share: float


@dataclass(frozen=True, slots=True)
class Duplicates:
    """What ordinary tokens have in common.

    Attributes:
        kinds: One for each way of being equal. All but ``same text`` look at different texts only.
        examples: The largest groups of leading space and case together, then by the lowest id.
    """

    kinds: tuple[Redundancy, ...]
    examples: tuple[tuple[NamedToken, ...], ...]


def without_space(text: str) -> str:
    """Leave out a leading space, if more than whitespace follows it.

    >>> without_space(" the"), without_space("  "), without_space("  the")
    ('the', '  ', ' the')
    """
    return text[1:] if text[0] == " " and not text.isspace() else text


def folded(text: str) -> str:
    """Return a text without its leading space, in one case."""
    return without_space(text).lower()


def count_duplicates(contents: Contents) -> Duplicates:
    """Count the tokens that are equal but for case or a leading space.

    Case is Unicode's (``str.lower``).
    """
    total = len(contents.meanings) or 1
    first: dict[bytes, int] = {}
    for token_id, content in contents.meanings.items():
        first.setdefault(content, token_id)
    ids = [token_id for token_id in first.values() if token_id in contents.texts]
    texts = [contents.texts[token_id] for token_id in ids]
    bare = [without_space(text) for text in texts]
    together = _groups(zip(map(str.lower, bare), ids, strict=True))
    kinds = [
        _redundancy("same text", Counter(contents.meanings.values()).values(), total),
        _redundancy("leading space", Counter(bare).values(), total),
        _redundancy("case", Counter(map(str.lower, texts)).values(), total),
        _redundancy("leading space and case", map(len, together), total),
    ]
    largest = sorted(together, key=lambda group: (-len(group), group[0]))[:EXAMPLES]
    return Duplicates(tuple(kinds), tuple(tuple(map(contents.example, group)) for group in largest))


def variants_of(contents: Contents, text: str) -> list[int]:
    """Return the tokens that are equal to a text but for case or a leading space, the text itself included."""
    key = folded(text)
    return [token_id for token_id, other in contents.texts.items() if folded(other) == key]


def _groups(keys: Iterable[tuple[str, int]]) -> list[list[int]]:
    """Return the tokens of each key that several have; most have one of their own, for which no list is made."""
    first: dict[str, int] = {}
    groups: dict[str, list[int]] = {}
    for key, token_id in keys:
        other = first.setdefault(key, token_id)
        if other != token_id:
            groups.setdefault(key, [other]).append(token_id)
    return list(groups.values())


def _redundancy(name: str, sizes: Iterable[int], total: int) -> Redundancy:
    """Sum up groups of tokens, of which those of one token are none."""
    groups = [size for size in sizes if size > 1]
    redundant = sum(groups) - len(groups)
    return Redundancy(name, len(groups), redundant, redundant / total)
