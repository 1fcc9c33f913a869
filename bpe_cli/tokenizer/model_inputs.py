"""Make encodings fit a model: pairs, truncation with overlapping windows, padding.

An ``Encoding`` is the token ids of a text and, in lists of the same length, what a model wants to know
of each. The operations are Hugging Face's, in its order: ``truncate`` the texts, ``join`` them with what
the post-processor puts around them, ``pad`` the batch; ``prepare`` does all three. They work on short
lists and are not the way of bulk encoding.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from bpe_cli.errors import UsageError
from bpe_cli.support.fast_dataclass import dataclass, replace
from bpe_cli.tokenizer.post_processor import Part, broken, layout
from bpe_cli.tokenizer.usage import Direction, Padding, Truncation

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Encoding:
    """The token ids of a text or a pair of texts, with the data that belongs to each id.

    All fields except ``overflowing`` have one item per id.

    Attributes:
        ids: The ids.
        spans: Start and end of each token in its own text; (0, 0) for tokens that represent no text.
        tokens: The text of each token, with U+FFFD for what is not UTF-8.
        word_ids: The index of the piece that each id belongs to, in its own text, where a special token is a piece too;
            None for the ids that the post-processor or padding added.
        type_ids: The type of each id.
        special_mask: 1 for tokens that the post-processor or padding added.
        attention_mask: 0 for padding.
        sequence_ids: The text that each id belongs to: 0, 1, or None for added tokens.
        overflowing: The windows that truncation left over, each with its own special tokens.
    """

    ids: tuple[int, ...] = ()
    spans: tuple[Span, ...] = ()
    tokens: tuple[str, ...] = ()
    word_ids: tuple[int | None, ...] = ()
    type_ids: tuple[int, ...] = ()
    special_mask: tuple[int, ...] = ()
    attention_mask: tuple[int, ...] = ()
    sequence_ids: tuple[int | None, ...] = ()
    overflowing: tuple[Encoding, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def of(
        cls,
        ids: Sequence[int],
        spans: Sequence[Span] | None = None,
        *,
        tokens: Sequence[str] | None = None,
        word_ids: Sequence[int | None] | None = None,
    ) -> Encoding:
        """Make the encoding of one text; what is not given is empty: spans (0, 0), tokens "" and word ids None.

        >>> from bpe_cli import Encoding
        >>> Encoding.of([5, 6], [(0, 1), (1, 3)]).sequence_ids
        (0, 0)

        Raises:
            UsageError: if the lists differ in length.
        """
        count = len(ids)
        for name, items in (("spans", spans), ("tokens", tokens), ("word ids", word_ids)):
            if items is not None and len(items) != count:
                raise UsageError(f"{count} ids have {len(items)} {name}")
        return cls(
            ids=tuple(ids),
            spans=tuple(spans) if spans is not None else ((0, 0),) * count,
            tokens=tuple(tokens) if tokens is not None else ("",) * count,
            word_ids=tuple(word_ids) if word_ids is not None else (None,) * count,
            type_ids=(0,) * count,
            special_mask=(0,) * count,
            attention_mask=(1,) * count,
            sequence_ids=(0,) * count,
        )

    def window(self, start: int, stop: int) -> Encoding:
        """Return a part of the encoding, without overflowing windows."""
        return Encoding(*(getattr(self, name)[start:stop] for name in _LISTS))

    def __add__(self, other: Encoding) -> Encoding:
        """Put another behind this one, and all windows of both together.

        Each overflowing window of this one goes with the other and with each window of the other; then
        this one goes with each window of the other.
        """
        windows = [left._followed_by(right) for left in self.overflowing for right in (other, *other.overflowing)] + [
            self._followed_by(right) for right in other.overflowing
        ]
        return replace(self._followed_by(other), overflowing=tuple(windows))

    def _followed_by(self, other: Encoding) -> Encoding:
        return Encoding(*(getattr(self, name) + getattr(other, name) for name in _LISTS))


_LISTS = tuple(name for name in Encoding.__match_args__ if name != "overflowing")


def windows(length: int, size: int, stride: int, direction: Direction = "right") -> list[Span]:
    """Return the windows of at most ``size`` items that cover a list, each repeating ``stride`` of the last.

    From the left, or with ``left`` from the right; the last window is the only one that may be smaller.

    >>> windows(7, 3, 1)
    [(0, 3), (2, 5), (4, 7)]
    >>> windows(7, 4, 0, "left")
    [(3, 7), (0, 3)]

    Raises:
        UsageError: if ``stride`` is not smaller than ``size``.
    """
    if not 0 <= stride < size:
        raise UsageError(
            f"a window of {size} tokens cannot repeat {stride} of the one before",
            hint="the stride is at least 0 and less than the length without special tokens",
        )
    spans: list[Span] = []
    start = 0
    while not spans or start + stride < length:
        stop = min(start + size, length)
        spans.append((start, stop) if direction == "right" else (length - stop, length - start))
        start += size - stride
    return spans


def _cut(encoding: Encoding, size: int, truncation: Truncation) -> Encoding:
    if size >= len(encoding):
        return encoding
    if size == 0:
        return replace(encoding.window(0, 0), overflowing=(replace(encoding, overflowing=()),))
    first, *rest = (
        encoding.window(start, stop)
        for start, stop in windows(len(encoding), size, truncation.stride, truncation.direction)
    )
    return replace(first, overflowing=tuple(rest))


def truncate(
    first: Encoding, second: Encoding | None, truncation: Truncation, *, added: int = 0
) -> tuple[Encoding, Encoding | None]:
    """Cut a text, or a pair, to a length; what is cut off becomes ``overflowing`` windows.

    Args:
        first: The text.
        second: The second text of a pair, or None.
        truncation: To what length, and how.
        added: How many ids will be put around them later, which count too.

    Raises:
        UsageError: if the length has no place for the ids that are added; a text that is to be cut alone
            is too short, or not there; or the stride is not smaller than a window.
    """
    room = truncation.max_length - added
    if room < 0 or truncation.max_length < 0:
        raise UsageError(
            f"a length of {truncation.max_length} tokens has no place for the {added} special tokens",
            hint="use a larger length, or encode without special tokens",
        )
    texts = [first] if second is None else [first, second]
    excess = sum(map(len, texts)) - room
    if excess <= 0:
        return first, second
    sizes = [len(text) for text in texts]
    if room == 0:
        sizes = [0] * len(sizes)
    elif truncation.strategy == "longest_first":
        sizes = [room] if second is None else _share(sizes[0], sizes[1], room)
    else:
        which = 0 if truncation.strategy == "only_first" else 1
        if which >= len(texts):
            raise UsageError("there is no second text to truncate", hint="use longest_first or only_first")
        if sizes[which] <= excess:
            raise UsageError(
                f"the {('first', 'second')[which]} text has {sizes[which]} tokens, and {excess} are too many",
                hint="use longest_first, which cuts both texts",
            )
        sizes[which] -= excess
    cut = [_cut(text, size, truncation) for text, size in zip(texts, sizes, strict=True)]
    return cut[0], cut[1] if second is not None else None


def _share(first: int, second: int, room: int) -> list[int]:
    """Divide the room between two texts: the longer one is cut first, then both to halves.

    Of an odd number the longer text, or the second of two equal ones, gets one more.
    """
    shorter = min(first, second)
    if 2 * shorter <= room:
        kept = [shorter, room - shorter]
    else:
        kept = [room // 2, room - room // 2]
    return kept[::-1] if first > second else kept


def join(
    first: Encoding,
    second: Encoding | None = None,
    *,
    post_processor: str | None = None,
    add_special_tokens: bool = True,
) -> Encoding:
    """Join a text, or a pair, with the ids that the post-processor adds; the same for each overflowing window.

    Types are those that the post-processor gives, in overflowing windows too.

    Raises:
        FormatError: as ``post_processor.layout``.
    """
    texts = [first] if second is None else [first, second]
    parts = layout(post_processor, pair=second is not None)
    joined: Encoding | None = None
    for part in parts:
        if part.ids is None:
            piece = _of_text(texts[part.sequence or 0], part)
        elif add_special_tokens:
            piece = _of_ids(part, part.ids)
        else:
            continue
        joined = piece if joined is None else joined + piece
    return Encoding() if joined is None else joined  # an empty one may have windows, and is false


def _of_text(text: Encoding, part: Part) -> Encoding:
    count = len(text)
    return replace(
        text,
        type_ids=(part.type_id,) * count,
        sequence_ids=(part.sequence,) * count,
        overflowing=tuple(_of_text(window, part) for window in text.overflowing),
    )


def _of_ids(part: Part, ids: tuple[int, ...]) -> Encoding:
    encoding = Encoding.of(ids, tokens=part.tokens)
    count = len(ids)
    return replace(
        encoding,
        type_ids=(part.type_id,) * count,
        special_mask=(int(part.special),) * count,
        sequence_ids=(part.sequence,) * count,
    )


def added_tokens(post_processor: str | None, *, pair: bool = False) -> int:
    """Count the ids that a post-processor adds.

    >>> added_tokens('{"type": "BertProcessing", "sep": ["[SEP]", 102], "cls": ["[CLS]", 101]}', pair=True)
    3

    Raises:
        FormatError: as ``post_processor.layout``.
    """
    return sum(len(part.ids) for part in layout(post_processor, pair=pair) if part.ids is not None)


def pad(encodings: Iterable[Encoding], padding: Padding) -> list[Encoding]:
    """Fill encodings and their overflowing windows to one length; longer ones stay as they are.

    Raises:
        UsageError: if a length is negative.
    """
    batch = list(encodings)
    length = padding.length
    if length is None:
        length = max(map(len, batch), default=0)
    multiple = padding.pad_to_multiple_of or 0
    if length < 0 or multiple < 0:
        raise UsageError(f"a length cannot be negative: {min(length, multiple)}")
    if multiple:
        length += -length % multiple
    return [_fill(encoding, length, padding) for encoding in batch]


def _fill(encoding: Encoding, length: int, padding: Padding) -> Encoding:
    overflowing = tuple(_fill(window, length, padding) for window in encoding.overflowing)
    count = length - len(encoding)
    if count > 0:
        filling = replace(
            Encoding.of((padding.pad_id,) * count, tokens=(padding.pad_token,) * count),
            type_ids=(padding.pad_type_id,) * count,
            special_mask=(1,) * count,
            attention_mask=(0,) * count,
            sequence_ids=(None,) * count,
        )
        bare = replace(encoding, overflowing=())
        encoding = bare + filling if padding.direction == "right" else filling + bare
    return replace(encoding, overflowing=overflowing)


def prepare(
    texts: Iterable[tuple[Encoding, Encoding | None]],
    *,
    post_processor: str | None = None,
    add_special_tokens: bool = True,
    truncation: Truncation | None = None,
    padding: Padding | None = None,
) -> list[Encoding]:
    """Truncate, join and pad a batch of texts and pairs.

    Raises:
        UsageError: as ``truncate`` and ``pad``.
        FormatError: as ``post_processor.layout``.
    """
    batch = []
    for first, second in texts:
        if truncation is not None:
            added = added_tokens(post_processor, pair=second is not None) if add_special_tokens else 0
            first, second = truncate(first, second, truncation, added=added)
        batch.append(join(first, second, post_processor=post_processor, add_special_tokens=add_special_tokens))
    return batch if padding is None else pad(batch, padding)


# -- spans without the whitespace at their ends ----------------------------------------------------


def trims(post_processor: str | None) -> tuple[bool, ...]:
    """Return how often whitespace is trimmed off spans, and for each time, whether a space is put before texts.

    Pass each value as ``add_prefix_space`` to ``trim``.

    >>> trims('{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true}')
    (False,)

    Raises:
        FormatError: if the component is broken.
    """
    if post_processor is None:
        return ()
    import json

    try:
        return _trims(json.loads(post_processor))
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise broken() from error


def _trims(component: dict[str, Any]) -> tuple[bool, ...]:
    if component["type"] == "Sequence":
        return tuple(trims for processor in component["processors"] for trims in _trims(processor))
    if component["type"] in ("ByteLevel", "RobertaProcessing") and component.get("trim_offsets", True):
        return (bool(component.get("add_prefix_space", True)),)
    return ()


def trim(spans: Sequence[tuple[int, int]], contents: Sequence[str], *, add_prefix_space: bool) -> list[tuple[int, int]]:
    """Take the spaces at tokens' ends out of their spans, as ``trim_offsets`` asks.

    Args:
        spans: Start and end of each token of a text, in characters.
        contents: Each token as a byte-level vocabulary writes it: ``Ġ`` for a space (``spelling``).
        add_prefix_space: Whether one space before the first token is not the text's own, and stays.

    >>> trim([(0, 2), (2, 6)], ["Ġa", "ĠĠbĠ"], add_prefix_space=False)
    [(1, 2), (4, 5)]
    """
    trimmed = []
    for number, ((start, end), content) in enumerate(zip(spans, contents, strict=True)):
        leading = len(content) - len(content.lstrip(_SPACES))
        trailing = len(content) - len(content.rstrip(_SPACES))
        if number == 0 and add_prefix_space and leading == 1:
            leading = 0
        start = min(start + leading, end)
        if end >= trailing:
            end = max(end - trailing, start)
        trimmed.append((start, end))
    return trimmed


# A space of the byte alphabet, and what added tokens, which are not written in it, may have of whitespace.
_SPACES = "Ġ\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
