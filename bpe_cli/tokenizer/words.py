"""Find the piece of a text that each of its tokens belongs to: Hugging Face's library calls them word ids.

A special token that is found in the text is a piece as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from operator import eq, lt

from bpe_cli.stages import ByteLevel
from bpe_cli.support.blocks import Block
from bpe_cli.support.fast_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bpe_cli.tokenizer.any_tokenizer import AnyTokenizer
    from bpe_cli.tokenizer.encoded import PieceSpans, Placed

Span = tuple[int, int]


def words_of(tokenizer: AnyTokenizer, data: bytes, placed: Placed) -> list[int | None]:
    """Return the piece of a text that each of its tokens belongs to.

    Where an added token is found in normalized text, what stands around it is cut as if it had been found before. So if
    the normalizer takes something off at the ends of texts, Hugging Face's library may count other pieces there.

    Args:
        tokenizer: The tokenizer.
        data: The text.
        placed: Its tokens.
    """
    spans, ids = list(zip(placed.starts, placed.ends, strict=True)), placed.ids.tolist()
    words: list[int | None] = []
    pieces = position = first = 0
    for last in (*compress(range(len(ids)), placed.special), len(ids)):
        start, end = spans[last] if last < len(ids) else (len(data), len(data))
        own: list[int | None] = [None] * (last - first)
        count = 0
        if start > position:
            cut = tokenizer.engine.pieces(data[position:start], first=position == 0)
            count = len(cut)
            begins, ends = ([at + position for at in each] for each in (cut.source_starts, cut.source_ends))
            if any(map(eq, begins, ends)) or any(map(lt, begins[1:], ends)):  # they have no text, or the same
                own = _by_encoding(tokenizer, cut, ids[first:last]) or own
            if None in own:
                own = word_ids(spans[first:last], list(zip(begins, ends, strict=True)))
        # What stands for no text of these pieces, as a mark before a special token, is a piece by itself.
        words += [pieces + (count if each is None else each) for each in own]
        pieces += count + (None in own)
        if last < len(ids):
            words.append(pieces)
            pieces += 1
            position = max(position, end)
        first = last + 1
    return words


def _by_encoding(tokenizer: AnyTokenizer, cut: PieceSpans, ids: list[int]) -> list[int | None] | None:
    """Return the piece of each id where several pieces are of one character: each is encoded; None if not to these."""
    contents = cut.contents()
    if tokenizer.model.byte_level and any(isinstance(stage, ByteLevel) for stage in tokenizer.pre_tokenizer):
        from bpe_cli.stages.spelling import from_visible

        spelt = [from_visible(each.decode("utf-8", "surrogateescape")) for each in contents]
        contents = [each if plain is None else plain for each, plain in zip(contents, spelt, strict=True)]
    found, ends = tokenizer.engine.bare.encode(Block.of(contents))
    if found.tolist() != ids:
        return None
    starts = (0, *ends[:-1])
    return [piece for piece, (at, to) in enumerate(zip(starts, ends, strict=True)) for _ in range(at, to)]


def word_ids(spans: Sequence[Span], pieces: Sequence[Span]) -> list[int | None]:
    """Return the piece of a text that each token belongs to, by their spans.

    A token belongs to the first piece, from that of the token before it on, which ends behind the
    token's beginning; a token that stands for nothing (an empty span) stays with the piece it is at.

    Args:
        spans: Start and end of each token, ascending.
        pieces: Start and end of each piece of the text, ascending.

    >>> word_ids([(0, 2), (2, 3), (4, 5)], [(0, 3), (4, 5)])
    [0, 0, 1]
    """
    words: list[int | None] = []
    piece = 0
    for start, end in spans:
        while piece < len(pieces) and (pieces[piece][1] <= start if end > start else pieces[piece][1] < start):
            piece += 1
        words.append(piece if piece < len(pieces) else None)
    return words
