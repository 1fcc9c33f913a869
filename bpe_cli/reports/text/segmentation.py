"""Describe token by token how a tokenizer encodes one text.

Offsets are bytes of the text, and characters of the text as decoded with ``surrogateescape``: a byte
that is not part of well-formed UTF-8 is a character of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from operator import or_
from typing import TYPE_CHECKING

from bpe_cli.reports.text.characters import SplitGrapheme, reading_of, split_words, text_of
from bpe_cli.reports.text.scores import scores_of
from bpe_cli.tokenizer.encoded import CharacterOffsets

if TYPE_CHECKING:
    from bpe_cli.tokenizer import Specials, Tokenizer
    from bpe_cli.tokenizer.encoded import Placed

_OVERLAPPING = ("n-gram",)
"""Kinds of models whose tokens have characters in common, so that those joined are not the text."""

_AHEAD = 64
"""How many tokens behind the wanted ones are looked at first, for where a grapheme cluster ends."""
_FARTHEST = 1 << 12
"""How many at most: no writing has clusters of so many, but a text can hold a megabyte of accents on one letter."""
_LONGEST_CHARACTER = 4
"""Bytes of UTF-8."""


@dataclass(frozen=True, slots=True)
class PlacedToken:
    """A token and where it lies in the text.

    Attributes:
        content: Its bytes. With ``add_prefix_space`` they can be one space longer than the span.
        start: Byte offset of its first byte in the text.
        end: Byte offset after its last byte.
        character_start: Index of the character that its first byte is of.
        character_end: Index after the character that its last byte is of. Tokens that share a
            character overlap here.
        special: Whether it is a special (or added) token that was found in the text, or the unknown one if that is
            special.
        piece: Which piece of the pre-tokenizer it is of, counted from 0; None for a special token, and
            where pieces are rewritten before they become tokens.
        reading: What to show: its bytes, but for a vocabulary that writes bytes otherwise (``reading``).
        score: What the model rated it with, if it has scores; see ``scores``.
    """

    token_id: int
    content: bytes
    start: int
    end: int
    character_start: int
    character_end: int
    special: bool = False
    piece: int | None = None
    reading: bytes = b""
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a group that lies in one token, or one grapheme cluster that lies in several.

    Attributes:
        first: Number of the (first) token.
        contents: The bytes of it that each token has: one for a stretch, several for a split cluster.
        clipped: Whether the tokens after ``contents`` were left out.
    """

    text: str
    first: int
    contents: tuple[bytes, ...]
    special: bool = False
    split: bool = False
    clipped: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """The fewest neighbouring tokens that begin and end between grapheme clusters: from ``first`` to before ``end``.

    Attributes:
        parts: What it reads as; one part unless a cluster is split.
    """

    first: int
    end: int
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The first tokens of a text, and how many more there are."""

    tokens: tuple[PlacedToken, ...]
    groups: tuple[Group, ...]
    more: int


@dataclass(frozen=True, slots=True)
class Segmentation:
    """A text as tokens.

    Attributes:
        placed: All tokens in order, in columns.
        tokens: The tokens in order, with everything there is to say of them; the first ones only where
            ``details`` limited them, up to the end of a group.
        splits: The grapheme clusters that lie in several of these tokens, in order.
        differs_at: The first byte at which the decoded tokens differ from the text; None when decoding
            gives exactly the text.
    """

    tokenizer: str | None
    placed: Placed = field(repr=False)
    tokens: tuple[PlacedToken, ...]
    splits: tuple[SplitGrapheme, ...]
    byte_count: int
    character_count: int
    differs_at: int | None

    @property
    def token_count(self) -> int:
        """Number of tokens of the whole text."""
        return len(self.placed)

    @property
    def round_trip(self) -> bool:
        """Whether decoding gives exactly the text."""
        return self.differs_at is None

    @property
    def bytes_per_token(self) -> float | None:
        """Bytes of the text per token; None when there is no token."""
        return self.byte_count / self.token_count if self.token_count else None

    @property
    def characters_per_token(self) -> float | None:
        """Characters of the text per token; None when there is no token."""
        return self.character_count / self.token_count if self.token_count else None

    def groups(self) -> Iterator[Group]:
        """Yield the groups of ``tokens`` in order; made as they are asked for, since most texts are shown in part."""
        number = 0
        splits = iter(self.splits)
        split = next(splits, None)
        while number < len(self.tokens):
            first, position = number, 0
            token = self.tokens[number]
            parts = []
            while split is not None and split.first == number:
                if split.offset > position:
                    parts.append(_stretch(number, token.reading[position : split.offset]))
                parts.append(Part(split.text, number, split.contents, split=True))
                number += len(split.contents) - 1
                token, position = self.tokens[number], len(split.contents[-1])
                split = next(splits, None)
            if position < len(token.reading) or not parts:
                parts.append(_stretch(number, token.reading[position:], token.special))
            number += 1
            yield Group(first, number, tuple(parts))

    def excerpt(self, limit: int | None) -> Excerpt:
        """Return the first ``limit`` tokens, grouped; all that have details for None."""
        if limit is None or limit >= len(self.tokens):
            return Excerpt(self.tokens, tuple(self.groups()), self.token_count - len(self.tokens))
        groups = []
        for group in self.groups():
            if group.first >= limit:
                break
            groups.append(group if group.end <= limit else _clip(group, limit))
        return Excerpt(self.tokens[:limit], tuple(groups), self.token_count - limit)


def segment(tokenizer: Tokenizer, text: bytes, specials: Specials = ()) -> Segmentation:
    """Encode one text and say everything about its tokens; for many texts see ``TextReader``.

    Raises:
        UsageError: if a name in ``specials`` is unknown.
        InputError: if a byte of the text has no token.

    Complexity: linear; about half a kilobyte of memory per token, so meant for texts, not corpora.
    """
    return TextReader(tokenizer, specials).segment(text)


class TextReader:
    """Segment several texts with one tokenizer, whose properties are looked up once."""

    def __init__(self, tokenizer: Tokenizer, specials: Specials = ()) -> None:
        """Prepare; ``specials`` are looked for in the texts."""
        self._tokenizer = tokenizer
        self._specials = specials
        self.read, self._score_of = reading_of(tokenizer), scores_of(tokenizer)
        self._joined = tokenizer.model.kind not in _OVERLAPPING
        self._suffix: str = tokenizer.model.end_of_word_suffix

    def segment(self, text: bytes, details: int | None = None) -> Segmentation:
        """Encode one text and say everything about its tokens; as ``segment``.

        Args:
            details: Of how many tokens, at least, everything is said: an excerpt of as many is that of the
                whole (but for a cluster that goes on for thousands of tokens, which is cut). None for all.

        Complexity: as ``segment`` for the tokens with details, and 30 bytes for each of the others.
        """
        return self.describe(text, self._unknown_too(self._tokenizer.place(text, self._specials)), details)

    def describe(self, text: bytes, placed: Placed, details: int | None = None) -> Segmentation:
        """Describe the tokens of one text, whose places are known already; the details are those of ``segment``."""
        tokenizer, score_of = self._tokenizer, self._score_of
        content_of = Contents(tokenizer)
        detailed = len(placed) if details is None else min(details, len(placed))
        splits, count = self.shared(placed, detailed, content_of)
        characters = CharacterOffsets(text)
        tokens: list[PlacedToken] = []
        pieces = 0
        for first, end, special in _runs(placed, count):
            last = min(end, count)
            ids = placed.ids[first:last].tolist()
            contents = [content_of[token_id] for token_id in ids]
            readings = contents if special else list(map(self.read, contents))
            numbers: list[int | None] = [None] * len(ids)
            if not special:
                # Where a piece ends can depend on what follows: the whole run is cut.
                put_before = max(len(readings[0]) - (placed.ends[first] - placed.starts[first]), 0)
                ends = tokenizer.piece_ends(
                    readings[0][:put_before] + text[placed.starts[first] : placed.ends[end - 1]]
                )
                if ends is not None:  # else pieces are rewritten before they become tokens
                    numbers[:] = _piece_numbers(readings, ends, pieces)
                    pieces += len(ends)
            spans = zip(placed.starts[first:last], placed.ends[first:last], strict=True)
            for token_id, content, reading, piece, (start, stop) in zip(
                ids, contents, readings, numbers, spans, strict=True
            ):
                character_start, character_end = characters.span(start, stop)
                score = score_of(token_id) if score_of is not None else None
                tokens.append(
                    PlacedToken(
                        token_id, content, start, stop, character_start, character_end, special, piece, reading, score
                    )
                )
        return Segmentation(
            tokenizer.name,
            placed,
            tuple(tokens),
            tuple(splits),
            len(text),
            characters.total(),
            first_difference(text, tokenizer.decode_bytes(placed.ids)),
        )

    def _unknown_too(self, placed: Placed) -> Placed:
        """Mark an unknown token that is a special one as such wherever it stands: it has no text of its own."""
        unk_id = self._tokenizer.model.unk_id
        if unk_id is None or unk_id not in self._tokenizer.special_ids:
            return placed
        return replace(placed, special=bytes(map(or_, placed.special, map(unk_id.__eq__, placed.ids))))

    def shared(self, placed: Placed, detailed: int, content_of: Contents) -> tuple[list[SplitGrapheme], int]:
        """Return the clusters that the first tokens share, and how many tokens the last one's group ends after."""
        if not self._joined:
            return [], detailed
        ahead = _AHEAD
        while True:
            looked = min(detailed + ahead, len(placed))
            splits: list[SplitGrapheme] = []
            for first, end, special in _runs(placed, looked):
                if not special:
                    run = placed.ids[first : min(end, looked)]
                    splits += split_words([self.read(content_of[each]) for each in run], first, self._suffix)
            count = detailed
            for split in splits:
                if split.first < count < split.first + len(split.contents):
                    count = split.first + len(split.contents)
            # Whether clusters part depends on what is before, and on the one character that follows.
            following = placed.ids[count:looked]
            if (
                looked == len(placed)
                or ahead >= _FARTHEST
                or sum(len(content_of[each]) for each in following) >= _LONGEST_CHARACTER
            ):
                return [split for split in splits if split.first < count], count
            ahead *= 2


class Contents(dict[int, bytes]):
    """The bytes of tokens by their ids, each looked up once."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def __missing__(self, token_id: int) -> bytes:
        content = self[token_id] = self._tokenizer.token_bytes(token_id)
        return content


def _runs(placed: Placed, limit: int) -> Iterator[tuple[int, int, bool]]:
    """Yield (first token, end, whether they are special) of the runs that begin before a token.

    Special tokens stand alone: neither pieces nor grapheme clusters reach over them.
    """
    first = 0
    while first < limit:
        special = bool(placed.special[first])
        end = placed.special.find(0 if special else 1, first)
        end = end if end >= 0 else len(placed)
        yield first, end, special
        first = end


def _piece_numbers(contents: Sequence[bytes], piece_ends: Sequence[int], first: int) -> Iterator[int]:
    """Yield the piece that each token lies in."""
    piece = position = 0
    for content in contents:
        while position >= piece_ends[piece] and piece + 1 < len(piece_ends):
            piece += 1
        yield first + piece
        position += len(content)


def _stretch(number: int, content: bytes, special: bool = False) -> Part:
    return Part(text_of(content), number, (content,), special)


def _clip(group: Group, limit: int) -> Group:
    """Leave out the tokens of a group from number ``limit`` on."""
    parts = []
    for part in group.parts:
        kept = limit - part.first
        if kept <= 0:
            break
        if kept < len(part.contents):
            part = replace(part, contents=part.contents[:kept], clipped=True)
        parts.append(part)
    return Group(group.first, limit, tuple(parts))


def first_difference(one: bytes, other: bytes) -> int | None:
    """Return the first offset at which two byte strings differ, or None.

    >>> first_difference(b"abc", b"abd"), first_difference(b"ab", b"abc"), first_difference(b"", b"")
    (2, 2, None)

    Complexity: linear, in comparisons of whole stretches of memory.
    """
    if one == other:
        return None
    same, end = 0, min(len(one), len(other))
    if one[:end] == other[:end]:
        return end
    while end - same > 1:  # Invariant: equal before ``same``, and not before ``end``
        middle = (same + end) // 2
        if one[same:middle] == other[same:middle]:
            same = middle
        else:
            end = middle
    return same
