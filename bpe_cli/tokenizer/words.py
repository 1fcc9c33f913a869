"""Find the piece of a text that each of its tokens belongs to: Hugging Face's library calls them word ids.

A special token that is found in the text is a piece as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import eq, lt

from bpe_cli import _core
from bpe_cli.stages import ByteLevel
from bpe_cli.support.blocks import Block
from bpe_cli.support.fast_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bpe_cli.tokenizer.any_tokenizer import AnyTokenizer
    from bpe_cli.tokenizer.encoded import PieceSpans, Placed

Span = tuple[int, int]


def words_of(
    tokenizer: AnyTokenizer, data: bytes, placed: Placed, matcher: _core.SpecialMatcher | None
) -> list[int | None]:
    """Return the piece of a text that each of its tokens belongs to.

    Where an added token is found in normalized text, what stands around it is cut as if it had been found before. So if
    the normalizer takes something off at the ends of texts, Hugging Face's library may count other pieces there.

    Args:
        tokenizer: The tokenizer.
        data: The text.
        placed: Its tokens.
        matcher: What is looked for in it.
    """
    spans, ids = list(zip(placed.starts, placed.ends, strict=True)), placed.ids.tolist()
    words: list[int | None] = []
    pieces = position = 0
    for start, end, special_id in (*_found(tokenizer, data, placed, matcher), (len(data), len(data), None)):
        first, last = len(words), len(spans)
        if special_id is not None:
            its_tokens = (each for each in range(first, last) if ids[each] == special_id and spans[each][0] >= start)
            last = next(its_tokens, -1)
            if last < 0:
                continue
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
        if special_id is not None:
            words.append(pieces)
            pieces += 1
            position = max(position, end)
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


def _found(
    tokenizer: AnyTokenizer, data: bytes, placed: Placed, matcher: _core.SpecialMatcher | None
) -> Iterator[tuple[int, int, int]]:
    """Yield (start, end, id) of the special tokens in a text, in order."""
    if matcher is None:
        return
    found = {(start, token_id): end for start, end, token_id in matcher.find_all(data)}
    if matcher.looks_in_normalized:  # only the encoder finds those; of what is unknown, the text says another thing
        unk_id = tokenizer.model.unk_id
        for token_id, start, end, special in zip(placed.ids, placed.starts, placed.ends, placed.special, strict=True):
            if special and (token_id != unk_id or tokenizer.token_bytes(token_id) in data[start:end]):
                found.setdefault((start, token_id), end)
    for (start, token_id), end in sorted(found.items()):
        yield start, end, token_id


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
